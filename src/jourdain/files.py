"""`jourdain.files.write(ds, path)`: a dataset to a file; `jourdain.files.latex(ds)`: as a table to print."""

from jourdain.data.files import write
from jourdain.data.latex import table as latex

__all__ = ["latex", "write"]
