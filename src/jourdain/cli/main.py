"""The command line: `jourdain list`, `run`, `log`, `testbed`, `reproduce`, `bench`; each is a file beside this one."""

from __future__ import annotations

import io
import sys
import warnings
from importlib.metadata import version
from typing import Annotated, Any

import typer

from jourdain.cli.commands.bench import bench
from jourdain.cli.commands.list import list_problems
from jourdain.cli.commands.log import log
from jourdain.cli.commands.reproduce import reproduce
from jourdain.cli.commands.run import run
from jourdain.cli.commands.testbed import record
from jourdain.errors import Error, RobotWarning

app = typer.Typer(add_completion=False, no_args_is_help=True, help="What happens when a constraint changes.")
app.command("list")(list_problems)
app.command("run")(run)
app.command("log")(log)
app.command("testbed")(record)
app.command("reproduce")(reproduce)
app.command("bench")(bench)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"jourdain {version('jourdain')}")
        raise typer.Exit


@app.callback()
def options(
    shown: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version.")
    ] = False,
) -> None:
    """What happens when a constraint changes."""


def _show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
    """A warning about a robot in one sentence, without the line of source that gives it."""
    if issubclass(category, RobotWarning):
        typer.echo(f"warning: {message}", err=True)
    else:
        _PYTHONS(message, category, *place, **more)


_PYTHONS = warnings.showwarning


def main() -> None:
    """The entry point: a mistake gets one clear sentence and exit code 2."""
    for stream in (sys.stdout, sys.stderr):  # a terminal that has no λ still gets its answer
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    warnings.showwarning = _show
    try:
        app(standalone_mode=True)
    except Error as error:
        typer.echo(f"jourdain: {error}", err=True)
        raise SystemExit(2) from None
