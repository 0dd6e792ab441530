"""The one way in which commands answer: text to print, a dataset to write, a figure or a film to draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from jourdain.data.columns import Columns
from jourdain.data.files import check_path, check_place, whole_file, write

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Answer:
    """What a command prints; dataset, figure and film are made only when a file is to hold them."""

    text: str
    dataset: Callable[[], xarray.Dataset | Columns]
    figure: Callable[[], Axes | Figure] | None = None
    film: Callable[[Path], None] | None = None  # writes it to a file
    notes: Sequence[str] = ()  # warnings

    def deliver(self, out: Path | None, plot: Path | None) -> None:
        """Write the numbers to `out` and the figure or film to `plot`, each may be None; then print the text.

        The figure is drawn first: what cannot be drawn leaves nothing written. The text comes last: an output that is
        closed or full loses no file.
        """
        film = self.film if plot is not None and is_film(plot) else None
        figure = self.figure() if plot is not None and film is None and self.figure is not None else None
        if out is not None:
            write(self.dataset(), out)
        if plot is not None:
            (film or partial(save_figure, figure))(plot)
        for text in self.notes:
            typer.echo(f"warning: {text}", err=True)
        typer.echo("\n\n".join([self.text, *(f"wrote {path}" for path in (out, plot) if path is not None)]))


def save_figure(figure: Any, path: Path) -> None:
    """Axes or a Figure to a file, which is there in full or not at all."""
    from jourdain.plots import save

    with whole_file(path) as part:
        save(figure, part)


def is_film(path: Path) -> bool:
    """Whether the suffix is that of a film."""
    from jourdain.plots.animation import FILMS

    return path.suffix.removeprefix(".").lower() in FILMS


def check_files(out: Path | None, plot: Path | None, films: bool = False) -> None:
    """Raise, before anything is computed, for a place where no file can be, or a format that is not written."""
    if out is not None:
        check_path(out)
    if plot is None:
        return
    if films and is_film(plot):
        from jourdain.plots.animation import check_film

        check_film(plot)
    else:
        from jourdain.plots.saving import check_format

        check_place(plot)
        check_format(plot)
