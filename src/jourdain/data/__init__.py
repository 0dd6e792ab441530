"""Labelled results: names and addresses of the numbers of an outcome, their text, datasets, columns, files."""
