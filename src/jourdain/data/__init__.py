"""Labelled results: what the numbers of an outcome are called, datasets, columns, files."""
