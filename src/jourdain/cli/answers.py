"""The one way in which commands answer: text to print, a dataset to write, a figure or a film to draw."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from jourdain.data.columns import Columns
from jourdain.data.files import check_path, check_place, whole_file, write
from jourdain.data.formats import json
from jourdain.reports.template import check_page, write_page

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from jourdain.reports.record import Report


@dataclass(frozen=True)
class Answer:
    """What a command prints; dataset, figure and film are made only when a file is to hold them."""

    text: str
    dataset: Callable[[], xarray.Dataset | Columns] | None = None
    figure: Callable[[], Axes | Figure] | None = None
    film: Callable[[Path], None] | None = None  # writes it to a file
    notes: Sequence[str] = ()  # warnings
    data: Callable[[], Any] | None = None  # what --json prints; by itself the dataset
    report: Callable[[Sequence[str]], Report] | None = None  # of the words of the command line

    def deliver(
        self,
        out: Path | None,
        plot: Path | None,
        as_json: bool = False,
        report: Path | None = None,
        command: Sequence[str] = (),
    ) -> None:
        """Write the numbers to `out`, the figure or film to `plot`, a page to `report`; then print the text or JSON.

        Each may be None. Figure and page are made first: what cannot be drawn leaves nothing written. The text comes
        last: an output that is closed or full loses no file. `command`: the words of the command line.
        """
        film = self.film if plot is not None and is_film(plot) else None
        figure = self.figure() if plot is not None and film is None and self.figure is not None else None
        page = self.report(command).html() if report is not None and self.report is not None else ""
        if out is not None and self.dataset is not None:
            write(self.dataset(), out)
        if plot is not None:
            (film or partial(save_figure, figure))(plot)
        if report is not None:
            write_page(page, report)
        for text in self.notes:
            typer.echo(f"warning: {text}", err=True)
        if as_json:
            self._print_json()
            return
        typer.echo("\n\n".join([self.text, *(f"wrote {path}" for path in (out, plot, report) if path is not None)]))

    def _print_json(self) -> None:
        if self.data is not None or self.dataset is None:
            typer.echo(dumps({"text": self.text} if self.data is None else self.data(), ensure_ascii=False))
        else:
            found = self.dataset()
            json.write_to(found if isinstance(found, Columns) else Columns(found), sys.stdout)


def without_nan(numbers: Mapping[str, Any]) -> dict[str, float | None]:
    """Numbers as JSON takes them: None for what is not known."""
    return {name: float(value) if np.isfinite(value) else None for name, value in numbers.items()}


def save_figure(figure: Any, path: Path) -> None:
    """Axes or a Figure to a file, which is there in full or not at all."""
    from jourdain.plots import save

    with whole_file(path) as part:
        save(figure, part)


def is_film(path: Path) -> bool:
    """Whether the suffix is that of a film."""
    from jourdain.plots.animation import FILMS

    return path.suffix.removeprefix(".").lower() in FILMS


def check_files(out: Path | None, plot: Path | None, films: bool = False, report: Path | None = None) -> None:
    """Raise, before anything is computed, for a place where no file can be, or a format that is not written."""
    if report is not None:
        check_page(report)
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
