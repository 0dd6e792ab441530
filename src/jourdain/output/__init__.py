"""Texts for every output, whatever letters it has."""
