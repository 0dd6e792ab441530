"""Pictures of the command line: places that are refused before anything is computed, files that are there in full."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from jourdain.files import refuse_place, whole


def refuse_picture(path: Path) -> None:
    """Before anything is solved: a place where no file can be, or a format that is not written."""
    from jourdain.plots.files import refuse_format

    refuse_place(path)
    refuse_format(path)


def save_picture(picture: Any, path: Path | None) -> None:
    """To its file, and say so; nothing where there is no picture."""
    if path is not None and picture is not None:
        from jourdain.plots import save

        with whole(path) as part:
            save(picture, part)
        typer.echo(f"\nwrote {path}")
