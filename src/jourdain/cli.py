"""The command line: `jourdain list`, `run`, `log`, `testbed`, `reproduce`, `bench`. Angles are degrees, all else SI."""

from __future__ import annotations

import inspect
import io
import sys
from collections.abc import Mapping
from importlib.metadata import version
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

from jourdain.arguments import AXIS, LAWS, assignment, axis, pairs, setting, structural, takes_law
from jourdain.cli_experiment import log, record
from jourdain.errors import BadArgument, Error, unknown
from jourdain.files import refuse, refuse_place, whole, write
from jourdain.pictures import refuse_picture, save_picture

if TYPE_CHECKING:
    from jourdain.motion.hybrid import Hybrid
    from jourdain.scenario import Scenario

MANY = 20  # parameters; of more, only those that say something are shown

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
        made = problem()
        shown = [assignment(parameter, value, _units(made)) for parameter, value in made.parameters.items()]
        kinds = get_type_hints(problem)
        choices = [_choice(key, parameter.default, kinds[key])
                   for key, parameter in inspect.signature(problem).parameters.items()]  # fmt: skip
        table.add_row(name, (problem.__doc__ or "").partition("\n")[0], "  ".join([*choices, *shown]))
    Console().print(table)


def _units(made: Scenario | Hybrid) -> Mapping[str, str]:
    """Of the parameters of a problem."""
    from jourdain.scenario import Scenario

    return made.units if isinstance(made, Scenario) else {**made.mechanism.units, "until": "s"}


def _choice(key: str, default: Any, kind: Any) -> str:
    """A keyword that changes how a problem is built, and what it may be; first what it is if not given."""
    values = list(LAWS) if takes_law(kind) else [default, *(value for value in get_args(kind) if value != default)]
    return f"{key}={'|'.join(map(str, values))}"


@app.command()
def run(
    name: Annotated[str, typer.Argument(help="A name from `jourdain list`.")],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="PARAMETER=VALUE, several times; angles in degrees. Also what `jourdain list` shows as a choice: "
            "rear_foot=one-sided, law=coulomb; and until=SECONDS of what moves.",
        ),
    ] = None,
    sweeps: Annotated[
        list[str] | None, typer.Option("--sweep", help=f"{AXIS}; several times: a grid. Angles in degrees.")
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="A quantity of the sweep, as in loss or impulse.heel.normal; several times. Default: all."),
    ] = None,
    outs: Annotated[
        list[Path] | None, typer.Option("--out", help="Write the numbers to this file (.nc, .csv, .parquet, .json).")
    ] = None,
    plots: Annotated[
        list[Path] | None,
        typer.Option(
            "--plot",
            help="Write a picture to this file (.png, .svg, .pdf): the event, the sweep, or the motion; of what moves, "
            "also a film (.gif, .mp4).",
        ),
    ] = None,
    show: Annotated[
        str | None,
        typer.Option(help="The quantity of a sweep that --plot shows, as in loss; of contact_state.floor, a map."),
    ] = None,
    robot: Annotated[
        str | None, typer.Option(help="Of touchdown: a URDF or MJCF file; its root floats. Default: a quadruped.")
    ] = None,
    feet: Annotated[
        str | None, typer.Option(help="Of touchdown: the frames that touch the ground, as A,B: links, sites or bodies.")
    ] = None,
    samples: Annotated[
        int | None, typer.Option(help="Of touchdown: how many states around the pose are solved. Default: a million.")
    ] = None,
) -> None:
    """Solve a problem of the gallery, once or over a grid; of what moves, its motion, gait, or gaits over a range."""
    from jourdain.scenario import Scenario

    out, plot = _once("--out", outs), _once("--plot", plots)
    given = [f"{key}={text}" for key, text in (("robot", robot), ("feet", feet)) if text is not None]
    if name != "touchdown" and (given or samples is not None):
        raise BadArgument(f"--robot, --feet and --samples are for touchdown, not for '{name}'; leave them out.")
    scenario, structure, values, axes = _asked(name, [*(settings or []), *given], sweeps or [])
    if not isinstance(scenario, Scenario):
        if keep:
            raise BadArgument(f"'{name}' moves; --keep is for problems that are one event.")
        if show is not None and not axes:
            raise BadArgument("--show says what --plot shows of a --sweep; give both, or leave it out.")
        _move(name, scenario, structure, values, axes, out, plot, show)
        return
    _refuse_output(scenario, axes, keep or [], out, plot, show)
    if samples is not None and axes:
        raise BadArgument("--samples is for the study of a touchdown, not for a --sweep; leave one out.")
    if name == "touchdown" and not axes:
        _land(scenario, structure, values, samples, out, plot)
        return
    kept = keep or None
    if keep and plot is not None:
        single = [address for address in keep if address != "status" and not scenario.event.layout.find(address).names]
        show = show or next(iter(single), keep[0])
        kept = list(dict.fromkeys([*keep, show]))  # what is shown is kept too
    if axes:
        from jourdain.overview import failures, overview, pulling

        ds = scenario.sweep(keep=kept, **values, **axes)
        notes = [*failures(scenario, ds, values), *pulling(scenario, ds)]
        told = "\n".join([overview(ds, everything=bool(keep)), *(["", *notes] if notes else [])])
    else:
        told = str(scenario.solve(parameters=values))
    picture: Any = None
    if plot is not None:  # drawn before anything is written: what cannot be drawn is refused
        from jourdain.plots import event_plot, sweep_plot

        picture = sweep_plot(ds, show) if axes else event_plot(scenario, name.replace("_", " "), values)
    typer.echo(f"{_heading(name, scenario, structure, {**values, **axes})}\n\n{told}")
    if out is not None:
        write(ds if axes else scenario.sweep(keep=keep or None, **values), out)
        typer.echo(f"\nwrote {out}")
    save_picture(picture, plot)


def _heading(name: str, scenario: Scenario, structure: Mapping[str, str], given: Mapping[str, Any]) -> str:
    """The problem and its parameters; where there are many, those that are given or not 0."""
    chosen = {**scenario.parameters, **given}
    if len(chosen) > MANY:
        chosen = {key: value for key, value in chosen.items() if key in given or value}
    shown = [assignment(key, value, scenario.units) for key, value in chosen.items()]
    return f"{name}: " + "  ".join([*(f"{key}={value}" for key, value in structure.items()), *shown])


def _land(
    scenario: Scenario,
    structure: dict[str, str],
    values: dict[str, Any],
    samples: int | None,
    out: Path | None,
    plot: Path | None,
) -> None:
    """Study a touchdown, and print, write and draw that."""
    from jourdain.landing import N_STATES, study

    feet = tuple(role.constraint.name for role in scenario.event.roles if role.block.kind in ("inert", "contact"))
    found = study(scenario, feet, values, N_STATES if samples is None else samples)
    picture = found.figure("touchdown") if plot is not None else None
    typer.echo(f"{_heading('touchdown', scenario, structure, values)}\n\n{found.told}")
    if out is not None:
        write(found.states, out)
        typer.echo(f"\nwrote {out}")
    save_picture(picture, plot)


def _move(
    name: str,
    hybrid: Hybrid,
    structure: dict[str, str],
    values: dict[str, Any],
    axes: dict[str, Any],
    out: Path | None,
    plot: Path | None,
    show: str | None,
) -> None:
    """Find the gait of a problem, or its branch, or let it move, and print, write and draw that."""
    from jourdain import moving
    from jourdain.plots.animation import FILMS, animate, refuse_film

    title, film = name.replace("_", " "), plot is not None and plot.suffix.removeprefix(".").lower() in FILMS
    if out is not None:
        refuse(out)
    if film and axes:
        raise BadArgument(f"'{plot}' is a film, which shows one motion; of a --sweep give a picture, as .png.")
    if plot is not None and film:
        refuse_film(plot)
    elif plot is not None:
        refuse_picture(plot)
    until = values.pop("until", None)
    if axes and until is not None:
        raise BadArgument("until is for one motion, not for gaits over a --sweep; leave it out.")
    found = moving.branch(name, hybrid, values, axes) if axes else moving.motion(hybrid, values, until)
    chosen = {**hybrid.parameters, **values, **axes, **({} if until is None else {"until": until})}
    listed = [*(f"{key}={value}" for key, value in structure.items()),
              *(assignment(key, value, _units(hybrid)) for key, value in chosen.items())]  # fmt: skip
    picture = found.picture(title, show) if plot is not None and not film else None
    typer.echo(f"{name}: " + "  ".join(listed) + f"\n\n{found.told}")
    if out is not None:
        ds = found.dataset
        write(ds.drop_dims("event", errors="ignore") if out.suffix.lower() in (".csv", ".parquet") else ds, out)
        typer.echo(f"\nwrote {out}")
    if plot is not None and film and isinstance(found, moving.Motion):
        animate(found.run, plot, title=title)
        typer.echo(f"\nwrote {plot}")
    save_picture(picture, plot)


def _once(option: str, given: list[Path] | None) -> Path | None:
    if given and len(given) > 1:
        raise BadArgument(f"{option} is given {len(given)} times; one file at a time.")
    return given[0] if given else None


def _asked(
    name: str, settings: list[str], sweeps: list[str]
) -> tuple[Scenario | Hybrid, dict[str, str], dict[str, Any], dict[str, Any]]:
    """The problem, the choices that it was built with, parameters that are fixed and those that are swept."""
    from jourdain import gallery

    if name not in gallery.__all__:
        raise unknown("problem", name, gallery.__all__)
    problem = getattr(gallery, name)
    keywords = inspect.signature(problem).parameters
    fixed, swept = pairs("--set", "PARAMETER=VALUE", settings), pairs("--sweep", AXIS, sweeps)
    for key in swept:
        if key in keywords:
            raise BadArgument(f"'{key}' changes how '{name}' is built, so it cannot be swept; choose it with --set.")
        if key in fixed:
            raise BadArgument(f"'{key}' is given by --set and by --sweep; leave one out.")
    structure, kinds = {key: fixed.pop(key) for key in keywords if key in fixed}, get_type_hints(problem)
    made: Scenario | Hybrid = problem(**{key: structural(key, text, keywords[key].default, kinds[key])
                                         for key, text in structure.items()})  # fmt: skip
    units = _units(made)
    known = [*made.parameters, *(["until"] if "until" in units else [])]
    for key in (*fixed, *swept):
        if key not in known:
            raise unknown("parameter", key, [*keywords, *known])
    values = {key: setting(key, text, units.get(key, "")) for key, text in fixed.items()}
    return made, structure, values, {key: axis(key, text, units.get(key, "")) for key, text in swept.items()}


def _refuse_output(
    scenario: Scenario, axes: dict[str, Any], keep: list[str], out: Path | None, plot: Path | None, show: str | None
) -> None:
    """Before anything is solved: quantities and files that cannot be, options that say nothing."""
    if show is not None and (plot is None or not axes):
        raise BadArgument("--show says what --plot shows of a --sweep; give both, or leave it out.")
    if keep and out is None and not axes:
        raise BadArgument("--keep says what a --sweep keeps or --out writes; give one of them, or leave it out.")
    for address in (*keep, *((show,) if show is not None else ())):
        if address != "status":
            scenario.event.layout.find(address)  # refuses what is not there
    if out is not None:
        refuse(out)
    if plot is not None:
        refuse_picture(plot)
    several = [name for name, values in axes.items() if len(values) > 1]
    if plot is not None and len(several) > 2:
        raise BadArgument(f"--plot shows one or two swept parameters, not {len(several)}; fix some with --set.")


app.command()(log)
app.command("testbed")(record)


@app.command()
def reproduce(
    out: Annotated[str, typer.Option(help="The folder to write to; it is made if it is not there.")] = "papers",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="MODEL.PARAMETER=VALUE, as in walker.m_H=10.1; several times."),
    ] = None,
) -> None:
    """Recompute the four papers: their tables and computed figures, ours beside theirs, on one page."""
    from jourdain.papers.report import main

    given: dict[str, dict[str, str]] = {}
    for name, text in pairs("--set", "MODEL.PARAMETER=VALUE", settings or []).items():
        model, dot, parameter = name.partition(".")
        if not dot:
            raise BadArgument(f"--set takes MODEL.PARAMETER=VALUE, as in walker.m_H=10.1, not '{name}={text}'.")
        given.setdefault(model, {})[parameter] = text
    if not out.strip():
        raise BadArgument("--out needs the name of a folder.")
    typer.echo(main(Path(out), given))


@app.command()
def bench(
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Also write them to this file as Markdown.")] = None,
) -> None:
    """Time heel strikes, contacts and motion against NumPy, CasADi, Pinocchio and SciPy, in one run; some minutes."""
    from rich.console import Console
    from rich.table import Table

    from jourdain.benchmarks.report import markdown, tables
    from jourdain.benchmarks.run import bench as run_bench

    if out is not None:
        refuse_place(out)
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
        with whole(out) as part:
            part.write_text(markdown(report), encoding="utf-8", newline="\n")


def main() -> None:
    """The entry point: a mistake gets one clear sentence and exit code 2."""
    for stream in (sys.stdout, sys.stderr):  # a terminal that has no λ still gets its answer
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app(standalone_mode=True)
    except Error as error:
        typer.echo(f"jourdain: {error}", err=True)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
