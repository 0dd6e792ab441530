"""`jourdain log`: measured logs to mechanics."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jourdain.cli.answers import Answer, check_files
from jourdain.cli.arguments import pairs
from jourdain.cli.problems import model_of
from jourdain.errors import BadArgument, BadLog, LogWarning
from jourdain.quantities import QUANTITIES

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

    from jourdain.experiment import Repeats, Strike


def log(
    files: Annotated[list[Path], typer.Argument(help="Logs, .csv or .parquet; several are repeats of one experiment.")],
    model: Annotated[str, typer.Option(help="A name from `jourdain list`, or FILE.py:NAME of a Scenario of your own.")],
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="PARAMETER=VALUE of the model, several times; angles in degrees.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option("--column", help="NAME=HEADER: what a column is called in the file, as in q1=EncoderA."),
    ] = None,
    units: Annotated[
        list[str] | None, typer.Option("--unit", help="NAME=UNIT of a column, as in q1=deg, wall=mN, wall=-N.")
    ] = None,
    normal: Annotated[str | None, typer.Option(help="The row that closes; by itself the first that is struck.")] = None,
    number: Annotated[int | None, typer.Option("--strike", help="Which contact of the log, from 1.")] = None,
    onset: Annotated[float | None, typer.Option(help="Of the contact, s; found if not given.")] = None,
    end: Annotated[float | None, typer.Option(help="Of compression, s; found if not given.")] = None,
    window: Annotated[
        float | None, typer.Option(help="s of samples beside the strike that tell velocities; by itself the best.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write T, T_c, T_a over time (of several logs: each strike) to .nc, .csv, .parquet, .json."),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw energies and forces over time (.png, .svg, .pdf).")] = None,
) -> None:
    """Measured logs to mechanics: velocities, T_c, T_a, impulses of a strike, beside what the model predicts."""
    check_files(out, None)
    _check_source("--out", out, files)
    check_files(None, plot)
    _check_source("--plot", plot, files)
    strikes, warned = _strikes(
        files,
        model,
        pairs("--set", "PARAMETER=VALUE", settings or []),
        pairs("--column", "NAME=HEADER", columns or []),
        pairs("--unit", "NAME=UNIT", units or []),
        normal,
        number,
        onset,
        end,
        window,
    )
    answer = _answer(strikes, model.replace("_", " "))
    for text in warned:
        typer.echo(f"warning: {text}", err=True)
    answer.deliver(out, plot)


def _check_source(option: str, path: Path | None, files: list[Path]) -> None:
    """A log is never written over."""
    if path is not None and any(path.resolve() == file.resolve() for file in files):
        raise BadArgument(f"{option} {path} is the log itself; choose another name.")


def _strikes(
    files: Sequence[Path],
    model: str,
    settings: Mapping[str, str],
    columns: Mapping[str, str],
    units: Mapping[str, str],
    normal: str | None,
    number: int | None,
    onset: float | None,
    end: float | None,
    window: float | None,
) -> tuple[list[Strike], list[str]]:
    """The strike of each file, and what there is to warn of."""
    from jourdain.experiment import read

    made, values = model_of(model, settings)
    strikes, warned = [], []
    for path in files:
        before = f"{path}: " if len(files) > 1 else ""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", LogWarning)
            try:
                log = read(path, made, columns, units, normal, values)
                strikes.append(log.strike(number, onset, end, window))
            except BadLog as error:
                raise BadLog(before + as_options(str(error))) from None
        for one in caught:
            if not issubclass(one.category, LogWarning):
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
            else:
                warned.append(before + as_options(str(one.message)))
    return strikes, warned


def _answer(strikes: list[Strike], title: str) -> Answer:
    """One strike beside the model, its curves over time; several averaged, with the quantities of each."""
    from jourdain.experiment import average

    found: Strike | Repeats
    if len(strikes) == 1:
        (strike,) = strikes
        found, text, dataset = strike, f"{strike}\n\n{strike.compare()}", lambda: strike.curves
    else:
        repeats = average(strikes)
        found, text, dataset = repeats, str(repeats), lambda: _table(repeats)

    def picture() -> Axes:
        from jourdain.plots import strike_plot

        return strike_plot(found, title)

    return Answer(text, dataset, picture)


def _table(repeats: Repeats) -> xarray.Dataset:
    """The quantities of each strike."""
    import numpy as np
    import xarray

    rows = [strike.quantities() for strike in repeats.strikes]
    data = {name: ("strike", np.array([row[name] for row in rows]), {"units": _unit(repeats, name)})
            for name in repeats.mean}  # fmt: skip
    return xarray.Dataset(data, {"strike": ("strike", np.arange(1, len(rows) + 1))})


def _unit(repeats: Repeats, address: str) -> str:
    name, _, part = address.partition(".")
    layout = repeats.strikes[0].rig.event.layout
    return layout.unit(name, part) if part else QUANTITIES[name].unit


def as_options(text: str) -> str:
    """What is said in Python's words, in those of the command line.

    >>> as_options("Say units={'q.a': 'deg', …} or so; strike(number=2) takes the second; give end=.")
    'Say --unit q.a=deg or so; --strike 2 takes the second; give --end.'
    """
    text = re.sub(r"units=\{'([^']*)': '([^']*)'(?:, '([^']*)': '([^']*)')?(?:, …)?\}",
                  lambda m: f"--unit {m[1]}={m[2]}" + (f" --unit {m[3]}={m[4]}" if m[3] else ""), text)  # fmt: skip
    text = re.sub(r"columns=\{'([^']*)': …\}", r"--column \1=HEADER", text)
    text = text.replace("columns={…}", "--column NAME=HEADER").replace("columns=", "--column NAME=HEADER")
    text = re.sub(r"(?:strike\()?number=(\d+)\)?", r"--strike \1", text)
    return re.sub(r"\b(onset|end|window)=", r"--\1", text)
