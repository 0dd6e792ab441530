"""Figures as files."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from jourdain.errors import CannotWrite, unknown
from jourdain.inputs import FilePath

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 150
FORMATS = ("png", "svg", "pdf", "eps", "jpg", "jpeg", "tif", "tiff", "webp")
_TIMES = {"svg": "Date", "pdf": "CreationDate"}  # of writing, left out


def check_format(path: Path) -> str:
    """The format that the suffix names; raises if it is none that can be written."""
    suffix = path.suffix.removeprefix(".").lower()
    if not suffix:
        raise CannotWrite(f"'{path}' has no suffix; .png, .svg or .pdf says how it is to be drawn.")
    if suffix in ("gif", "mp4"):
        raise CannotWrite(f"'{path}' is a film, which shows a motion; this is one picture: .png, .svg or .pdf.")
    if suffix not in FORMATS:
        raise unknown("picture format", suffix, FORMATS)
    return suffix


def save(ax: Axes | Figure, path: FilePath) -> None:
    """Write the figure to a file; the suffix says how. The same commands give the same PNG, SVG or PDF."""
    _write(ax, path, check_format(Path(path)))


def svg(ax: Axes | Figure) -> bytes:
    """The figure as SVG without white around it, for a page."""
    file = BytesIO()
    _write(ax, file, "svg", "tight")
    return file.getvalue()


def _write(ax: Axes | Figure, file: FilePath | BytesIO, suffix: str, box: Literal["tight"] | None = None) -> None:
    from matplotlib import rc_context

    figure: Any = ax.figure.figure if ax.figure else ax  # of axes in a part of a figure, the whole
    metadata = {_TIMES[suffix]: None} if suffix in _TIMES else None
    # The names of clip paths would be random; fonts are embedded as TrueType, since publishers refuse Type 3.
    with rc_context({"svg.hashsalt": "jourdain", "pdf.fonttype": 42, "ps.fonttype": 42}):
        figure.savefig(file, format=suffix, dpi=DPI, metadata=metadata, bbox_inches=box)
