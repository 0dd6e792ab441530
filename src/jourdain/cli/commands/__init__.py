"""The commands of `jourdain`, one per file; `cli/main.py` registers them."""
