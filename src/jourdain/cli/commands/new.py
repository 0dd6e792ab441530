"""`jourdain new`: a model to start from, in a file of one's own."""

from __future__ import annotations

from importlib.resources import files
from json import dumps
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from jourdain.data.files import check_place, whole_file
from jourdain.errors import BadArgument


def new(
    file: Annotated[Path, typer.Argument(metavar="FILE.py", help="It must not exist yet.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
) -> None:
    """Write a commented model to start from: a rod that strikes a floor, with a drawing and a sweep."""
    if file.suffix != ".py":
        raise BadArgument(f"'{file}' is a Python file, so it ends with .py; write {file.with_suffix('.py')}.")
    if file.exists() or file.is_symlink():
        raise BadArgument(f"'{file}' exists; choose another name, or delete it first.")
    check_place(file)
    text = files("jourdain.cli").joinpath("starter.py").read_text("utf-8")
    if quote(file.name) == file.name:  # else it may not be what a text of Python says
        text = text.replace("FILE.py", file.name)
    with whole_file(file) as part:
        part.write_text(text, "utf-8")
    if as_json:
        typer.echo(dumps({"wrote": str(file), "problems": [f"{file}:rod"]}))
        return
    run, picture = quote(f"{file}:rod"), quote(str(file.with_suffix(".png")))
    typer.echo(f"wrote {file}\n\n  jourdain list {quote(str(file))}\n  jourdain run {run} --plot {picture}")
