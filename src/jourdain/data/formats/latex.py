"""LaTeX: a table to print, with the rules of the package booktabs."""

from __future__ import annotations

from pathlib import Path

from jourdain.data.columns import Columns
from jourdain.data.latex import table


def write(columns: Columns, path: Path) -> None:
    """Symbols and units in the header, angles in degrees."""
    path.write_text("% \\usepackage{booktabs, amsmath}\n" + table(columns, degrees=True) + "\n", encoding="utf-8")
