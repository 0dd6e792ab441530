"""How a dataset is written, one file format per file; `data/files.py` chooses by the suffix."""
