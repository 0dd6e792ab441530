"""Peers of jourdain: one heel strike of the walker, computed with other tools for many parameters at once."""
