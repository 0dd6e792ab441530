"""`jourdain.files.write(ds, path)`: a dataset to a file."""

from jourdain.data.files import write

__all__ = ["write"]
