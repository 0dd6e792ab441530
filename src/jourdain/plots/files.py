"""Figures as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from jourdain.errors import unknown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 150
_TIMES = {"svg": "Date", "svgz": "Date", "pdf": "CreationDate"}  # of writing, left out


def save(ax: Axes | Figure, path: Any) -> None:
    """Write the figure to a file; the suffix says how. The same commands give the same file."""
    from matplotlib import rc_context

    figure: Any = ax.figure.figure if ax.figure else ax  # of axes in a part of a figure, the whole
    suffix = Path(path).suffix.removeprefix(".").lower()
    formats = figure.canvas.get_supported_filetypes()
    if suffix not in formats:
        raise unknown("picture format", suffix, formats)
    metadata = {_TIMES[suffix]: None} if suffix in _TIMES else None
    with rc_context({"svg.hashsalt": "jourdain"}):  # the names of clip paths, else random
        figure.savefig(path, format=suffix, dpi=DPI, metadata=metadata)
