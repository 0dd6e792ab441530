"""The one way in which commands answer: text to print, a dataset to write, a figure or a film to draw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from jourdain.data.files import refuse, refuse_place, whole, write

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True)
class Answer:
    """What a command prints, and what it can write and draw."""

    text: str
    dataset: Callable[[], xarray.Dataset]
    picture: Callable[[], Any]  # Axes or a Figure
    film: Callable[[Path], None] | None = None  # writes it to a file

    def deliver(self, out: Path | None, plot: Path | None) -> None:
        """Print the text, write the numbers to `out` and the picture to `plot`; each may be None.

        The picture is drawn first: what cannot be drawn leaves nothing written.
        """
        film = self.film if plot is not None and is_film(plot) else None
        picture: Any = self.picture() if plot is not None and film is None else None
        typer.echo(self.text)
        if out is not None:
            write(self.dataset(), out)
            typer.echo(f"\nwrote {out}")
        if plot is not None and film is not None:
            film(plot)
            typer.echo(f"\nwrote {plot}")
        elif plot is not None:
            from jourdain.plots import save

            with whole(plot) as part:
                save(picture, part)
            typer.echo(f"\nwrote {plot}")


def is_film(path: Path) -> bool:
    """Whether the suffix is that of a film."""
    from jourdain.plots.animation import FILMS

    return path.suffix.removeprefix(".").lower() in FILMS


def check_files(out: Path | None, plot: Path | None) -> None:
    """Raise, before anything is computed, for a place where no file can be, or a format that is not written."""
    if out is not None:
        refuse(out)
    if plot is not None:
        from jourdain.plots.saving import refuse_format

        refuse_place(plot)
        refuse_format(plot)
