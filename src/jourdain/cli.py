"""The command line: `jourdain list`, `run NAME`, `bench`. Angles are degrees here, everything else SI."""

from __future__ import annotations

import inspect
import math
from importlib.metadata import version
from json import dumps
from pathlib import Path
from typing import Annotated, Any

import typer

from jourdain.errors import BadEvent, Error, unknown

app = typer.Typer(add_completion=False, no_args_is_help=True, help="What happens when a constraint changes.")


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


@app.command("list")
def list_problems() -> None:
    """The problems of the gallery, with their parameters."""
    from rich.console import Console
    from rich.table import Table

    from jourdain import gallery

    table = Table("name", "problem", "parameters", box=None, pad_edge=False)
    for name in gallery.__all__:
        problem = getattr(gallery, name)
        scenario = problem()
        shown = [_assignment(parameter, value, scenario.units) for parameter, value in scenario.parameters.items()]
        choices = [f"{key}={parameter.default}" for key, parameter in inspect.signature(problem).parameters.items()]
        table.add_row(name, (problem.__doc__ or "").partition("\n")[0], "  ".join([*choices, *shown]))
    Console().print(table)


@app.command()
def run(
    name: Annotated[str, typer.Argument(help="A name from `jourdain list`.")],
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="PARAMETER=VALUE, several times; angles in degrees.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Write the energy picture to this file (.png, .svg, .pdf).")] = None,
) -> None:
    """Solve a problem of the gallery and print the outcome."""
    from jourdain import gallery

    if name not in gallery.__all__:
        raise unknown("problem", name, gallery.__all__)
    problem = getattr(gallery, name)
    given = dict(_split(setting) for setting in settings or [])
    structure = {key: _like(key, given.pop(key), parameter.default)
                 for key, parameter in inspect.signature(problem).parameters.items() if key in given}  # fmt: skip
    scenario = problem(**structure)
    values = {}
    for parameter, text in given.items():
        if parameter not in scenario.parameters:
            raise unknown("parameter", parameter, [*inspect.signature(problem).parameters, *scenario.parameters])
        values[parameter] = _number(parameter, text) * _degrees(scenario.units.get(parameter, ""))
    if plot is not None:
        _refuse_path(plot)
    outcome = scenario.solve(parameters=values)
    chosen = {**scenario.parameters, **values}
    shown = [*(f"{key}={value}" for key, value in structure.items()),
             *(_assignment(p, value, scenario.units) for p, value in chosen.items())]  # fmt: skip
    typer.echo(f"{name}: " + "  ".join(shown) + "\n")
    typer.echo(str(outcome))
    if plot is not None:
        _plot(outcome, plot, name)
        typer.echo(f"\nwrote {plot}")


@app.command()
def bench(
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Also write them to this file as Markdown.")] = None,
) -> None:
    """Time the walker's heel strike against NumPy, CasADi and Pinocchio, in one run; a minute or two."""
    from rich.console import Console
    from rich.table import Table

    from jourdain.benchmarks.report import markdown, tables
    from jourdain.benchmarks.run import bench as run_bench

    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise BadEvent(f"'{out}' cannot be written: it is a folder, or its folder does not exist.")
    report = run_bench()
    if json:
        typer.echo(dumps(report.to_dict(), indent=2))
    else:
        console = Console()
        console.print(
            "  ".join(f"{what}: {value}" for what, value in report.machine.items()), *report.missing, sep="\n"
        )
        for header, rows in tables(report):
            table = Table(*header, box=None, pad_edge=False, title_justify="left")
            for row in rows:
                table.add_row(*row)
            console.print(table, "", sep="\n")
    if out is not None:
        try:
            out.write_text(markdown(report), encoding="utf-8")
        except OSError as error:
            raise BadEvent(f"'{out}' cannot be written: {error.strerror or error}.") from None


def _plot(outcome: Any, path: Path, title: str) -> None:
    from jourdain.plots import energy_bars, save

    try:
        save(energy_bars(outcome, title=title.replace("_", " ")), path)
    except OSError as error:
        raise BadEvent(f"'{path}' cannot be written: {error.strerror or error}.") from None


def _refuse_path(path: Path) -> None:
    """Before anything is solved: a folder that is not there, or a format that Matplotlib does not write."""
    from matplotlib.backend_bases import FigureCanvasBase

    if not path.parent.is_dir():
        raise BadEvent(f"The folder '{path.parent}' does not exist; make it first.")
    formats = FigureCanvasBase.get_supported_filetypes()
    if path.suffix.removeprefix(".").lower() not in formats:
        raise unknown("picture format", path.suffix.removeprefix("."), formats)


def _split(setting: str) -> tuple[str, str]:
    key, sign, value = setting.partition("=")
    if not sign or not key or not value:
        raise BadEvent(f"--set takes PARAMETER=VALUE, not '{setting}'.")
    return key.strip(), value.strip()


def _like(key: str, text: str, default: Any) -> Any:
    """A structural keyword in the type of its default."""
    if isinstance(default, bool):
        return text.lower() in ("1", "true", "yes")
    if isinstance(default, int):
        value = _number(key, text)
        if not value.is_integer():
            raise BadEvent(f"{key} must be a whole number, not '{text}'.")
        return int(value)
    return text


def _number(key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadEvent(f"{key} must be a number, not '{text}'.") from None


def _degrees(unit: str) -> float:
    """Quantities whose unit is rad are given in degrees."""
    return math.pi / 180 if unit == "rad" else 1.0


def _assignment(name: str, value: float | None, units: Any) -> str:
    unit = units.get(name, "")
    if value is None:
        return f"{name}=?"
    shown = {"rad": "°", "1": "", "": ""}.get(unit, f" {unit}")
    return f"{name}={value / _degrees(unit):.6g}{shown}"


def main() -> None:
    """The entry point: a mistake gets one clear sentence and exit code 2."""
    try:
        app(standalone_mode=True)
    except Error as error:
        typer.echo(f"jourdain: {error}", err=True)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
