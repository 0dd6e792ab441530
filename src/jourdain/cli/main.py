"""The command line: each command is a file in `commands`."""

from __future__ import annotations

import io
import os
import sys
import warnings
from contextlib import suppress
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from jourdain.cli.arguments import WORDS
from jourdain.cli.commands.bench import bench
from jourdain.cli.commands.list import list_problems
from jourdain.cli.commands.log import log
from jourdain.cli.commands.new import new
from jourdain.cli.commands.reproduce import reproduce
from jourdain.cli.commands.run import run
from jourdain.cli.commands.testbed import record
from jourdain.errors import BadArgument, Error, RobotWarning, shortened
from jourdain.output.printable import FALLBACK


class Once(TyperCommand):
    """A command that raises for an option that is given twice; else the last one would win without a word."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        for one in self.params:
            n = sum(given is one for given in order)
            if n > 1 and not (getattr(one, "multiple", False) or getattr(one, "is_flag", False) or one.nargs == -1):
                raise BadArgument(f"{one.opts[0]} is given {n} times; give it once.")
        ctx.meta[WORDS] = ["jourdain", str(ctx.info_name), *args]
        return super().parse_args(ctx, args)


app = typer.Typer(add_completion=False, no_args_is_help=True, help="What happens when a constraint changes.")
app.command("new", cls=Once)(new)
app.command("list", cls=Once)(list_problems)
app.command("run", cls=Once)(run)
app.command("log", cls=Once)(log)
app.command("testbed", cls=Once)(record)
app.command("reproduce", cls=Once)(reproduce)
app.command("bench", cls=Once)(bench)


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
        with suppress(OSError):  # an output that is closed or full
            typer.echo(f"warning: {message}", err=True)
    else:
        _PYTHONS(message, category, *place, **more)


_PYTHONS = warnings.showwarning


def main() -> None:
    """The entry point: whatever goes wrong gets one clear sentence; exit code 2 for a mistake, 1 for a fault of ours.

    JOURDAIN_TRACEBACK=1 shows where a fault comes from.
    """
    for stream in (sys.stdout, sys.stderr):  # a terminal that has no λ still gets its answer
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=FALLBACK)
    warnings.showwarning = _show
    try:
        app(prog_name="jourdain")
    except Exception as error:
        if os.environ.get("JOURDAIN_TRACEBACK"):
            raise
        text, code = _sentence(error)
        with suppress(OSError):
            typer.echo(f"jourdain: {text}", err=True)
        _drop_output()
        raise SystemExit(code) from None


def _sentence(error: Exception) -> tuple[str, int]:
    """What to say of an error, and the exit code."""
    if isinstance(error, Error):
        return str(error), 2
    if isinstance(error, OSError):
        what = "The output" if error.filename is None else f"'{shortened(str(error.filename))}'"
        how = "cannot be written" if error.filename is None else "cannot be used"
        return f"{what} {how}: {error.strerror or error}.", 2
    if isinstance(error, MemoryError):
        return "The memory is not enough for this; ask for less at a time.", 2
    message = shortened(" ".join(f"{type(error).__name__}: {error}".split())).rstrip(".:")
    return f"An unexpected error, {message}. JOURDAIN_TRACEBACK=1 shows where it comes from; please report it.", 1


def _drop_output() -> None:
    """Forget what a closed or full output did not take; Python would try again at its end, and complain."""
    if sys.stdout is None:  # closed from the beginning
        return
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        return
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
