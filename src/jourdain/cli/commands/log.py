"""`jourdain log`: measured logs to mechanics."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jourdain.cli.answers import Answer, check_files, without_nan
from jourdain.cli.arguments import WORDS, pairs
from jourdain.cli.problems import Problem, problem
from jourdain.errors import BadArgument, BadLog, LogWarning

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

    from jourdain.experiment import Repeats, Strike
    from jourdain.experiment.notices import Keyword
    from jourdain.reports.record import Report


def log(
    context: typer.Context,
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
    report: Annotated[
        Path | None, typer.Option(help="Write one page of HTML to hand to others: strike, model, figures (.html).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the strike as JSON, and nothing else.")] = False,
) -> None:
    """Measured logs to mechanics: velocities, T_c, T_a, impulses of a strike, beside what the model predicts."""
    check_files(out, plot, report=report)
    for option, path in (("--out", out), ("--plot", plot), ("--report", report)):
        if path is not None and path.resolve() in [file.resolve() for file in files]:
            raise BadArgument(f"{option} {path} is the log itself; choose another name.")
    fixed = pairs("--set", "PARAMETER=VALUE", settings or [])
    reading = {"columns": pairs("--column", "NAME=HEADER", columns or []),
               "units": pairs("--unit", "NAME=UNIT", units or []), "normal": normal}  # fmt: skip
    chosen = problem(model, fixed, one_event=True)
    strike = {"number": number, "onset": onset, "end": end, "window": window}
    strikes, warned = _strikes(files, chosen, reading, strike)
    answer = replace(_answer(strikes, chosen.title, warned), notes=warned)
    answer.deliver(out, plot, as_json, report, context.meta[WORDS])


def _strikes(
    files: Sequence[Path], chosen: Problem, reading: Mapping[str, Any], strike: Mapping[str, Any]
) -> tuple[list[Strike], list[str]]:
    """The strike of each file, and warnings. `reading`, `strike`: keywords of `read` and of `Log.strike`."""
    from jourdain.experiment import read

    strikes, warned = [], []
    for path in files:
        before = f"{path}: " if len(files) > 1 else ""
        refused: BadLog | None = None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", LogWarning)
            try:
                log = read(path, chosen.model, parameters=chosen.values, **reading)
                strikes.append(log.strike(**strike))
            except BadLog as error:
                refused = error
        for one in caught:
            if isinstance(one.message, LogWarning):
                warned.append(before + _worded(one.message))
            else:
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        if refused is not None:  # what is doubtful about the log may be the reason
            _print_warnings(warned)
            raise BadLog(before + _worded(refused)) from None
    return strikes, warned


def _print_warnings(warned: Sequence[str]) -> None:
    for text in warned:
        typer.echo(f"warning: {text}", err=True)


def _worded(problem: BadLog | LogWarning) -> str:
    """What is the matter with a log, its remedy in the words of the command line."""
    from jourdain.experiment.notices import Notice

    (notice,) = problem.args
    return notice.worded(as_option) if isinstance(notice, Notice) else str(notice)


def as_option(keyword: Keyword) -> str:
    """A keyword of Python as an option.

    >>> from jourdain.experiment.notices import Keyword
    >>> as_option(Keyword("units", {"q.a": "deg"})), as_option(Keyword("number", 2)), as_option(Keyword("end"))
    ('--unit q.a=deg', '--strike 2', '--end')
    """
    option = {"units": "--unit", "columns": "--column", "number": "--strike"}.get(keyword.name, f"--{keyword.name}")
    if keyword.name in ("units", "columns"):
        known = keyword.value if isinstance(keyword.value, Mapping) else {}
        return " ".join(f"{option} {name}={text or 'HEADER'}" for name, text in (known or {"NAME": ""}).items())
    return option if keyword.value is None else f"{option} {keyword.value}"


def _answer(strikes: list[Strike], title: str, warned: Sequence[str]) -> Answer:
    """One strike beside the model, its curves over time; several averaged, with the quantities of each."""
    from jourdain.experiment import Repeats, average

    measured: Strike | Repeats = strikes[0] if len(strikes) == 1 else average(strikes)

    def dataset() -> xarray.Dataset:
        return _table(measured) if isinstance(measured, Repeats) else measured.curves

    def figure() -> Axes:
        from jourdain.plots import strike_plot

        return strike_plot(measured, title)

    def report(command: Sequence[str]) -> Report:
        from jourdain.reports.strikes import repeats_report, strike_report

        heading = f"{title[:1].upper()}{title[1:]}: measured"
        if isinstance(measured, Repeats):
            return repeats_report(measured, heading, command, warned)
        return strike_report(measured, heading, command, warned)

    if isinstance(measured, Repeats):
        return Answer(str(measured), dataset, figure, data=lambda: _repeats_as_data(measured), report=report)
    comparison = measured.compare()
    data = {**_as_data(measured), "predicted": without_nan(comparison.predicted)}
    return Answer(f"{measured}\n\n{comparison}", dataset, figure, data=lambda: data, report=report)


def _as_data(strike: Strike) -> dict[str, Any]:
    """A strike as JSON takes it, in SI."""
    quantities = strike.quantities()
    times = {"onset": strike.onset, "end": strike.end, "release": strike.release}
    units = {name: strike.unit(name) for name in quantities}
    return {
        **times,
        "measured": without_nan(quantities),
        "uncertainty": without_nan(strike.deviations()),
        "units": units,
    }


def _repeats_as_data(repeats: Repeats) -> dict[str, Any]:
    strikes = [_as_data(strike) for strike in repeats.strikes]
    return {"mean": without_nan(repeats.mean), "spread": without_nan(repeats.spread), "strikes": strikes}


def _table(repeats: Repeats) -> xarray.Dataset:
    """The quantities of each strike."""
    import numpy as np
    import xarray

    rows, unit = [strike.quantities() for strike in repeats.strikes], repeats.strikes[0].unit
    data = {name: ("strike", np.array([row[name] for row in rows]), {"units": unit(name)})
            for name in repeats.mean}  # fmt: skip
    return xarray.Dataset(data, {"strike": ("strike", np.arange(1, len(rows) + 1))})
