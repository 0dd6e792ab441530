"""`jourdain run`: a problem of the gallery, solved once or over a grid, or set in motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jourdain.cli.answers import Answer, check_files, is_film
from jourdain.cli.arguments import AXIS, assignment
from jourdain.cli.problems import problem_of, units_of
from jourdain.errors import BadArgument
from jourdain.kinds import Kind

if TYPE_CHECKING:
    from jourdain.motion.hybrid import Hybrid
    from jourdain.scenarios.scenario import Scenario

MANY = 20  # parameters; of more, only those that say something are shown


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
    from jourdain.scenarios.scenario import Scenario

    out, plot = _once("--out", outs), _once("--plot", plots)
    given = [f"{key}={text}" for key, text in (("robot", robot), ("feet", feet)) if text is not None]
    if name != "touchdown" and (given or samples is not None):
        raise BadArgument(f"--robot, --feet and --samples are for touchdown, not for '{name}'; leave them out.")
    scenario, structure, values, axes = problem_of(name, [*(settings or []), *given], sweeps or [])
    if not isinstance(scenario, Scenario):
        if keep:
            raise BadArgument(f"'{name}' moves; --keep is for problems that are one event.")
        if show is not None and not axes:
            raise BadArgument("--show says what --plot shows of a --sweep; give both, or leave it out.")
        _move(name, scenario, structure, values, axes, out, plot, show)
        return
    _check_output(scenario, axes, keep or [], out, plot, show)
    if samples is not None and axes:
        raise BadArgument("--samples is for the study of a touchdown, not for a --sweep; leave one out.")
    if axes:
        answer = _sweep(scenario, values, axes, keep or [], plot, show)
    elif name == "touchdown":
        answer = _land(scenario, values, samples)
    else:
        answer = _event(name, scenario, values, keep)
    heading = _heading(name, scenario, structure, {**values, **axes})
    replace(answer, text=f"{heading}\n\n{answer.text}").deliver(out, plot)


def _event(name: str, scenario: Scenario, values: dict[str, Any], keep: list[str] | None) -> Answer:
    """One event."""

    def picture() -> Any:
        from jourdain.plots import event_plot

        return event_plot(scenario, name.replace("_", " "), values)

    text = str(scenario.solve(parameters=values))
    return Answer(text, lambda: scenario.sweep(keep=keep or None, **values), picture)


def _sweep(
    scenario: Scenario,
    values: dict[str, Any],
    axes: dict[str, Any],
    keep: list[str],
    plot: Path | None,
    show: str | None,
) -> Answer:
    """Events over a grid."""
    from jourdain.cli.overview import failures, overview, pulling

    kept = keep or None
    if keep and plot is not None:
        single = [address for address in keep if address != "status" and not scenario.event.layout.find(address).names]
        show = show or next(iter(single), keep[0])
        kept = list(dict.fromkeys([*keep, show]))  # what is shown is kept too

    ds = scenario.sweep(keep=kept, **values, **axes)

    def picture() -> Any:
        from jourdain.plots import sweep_plot

        return sweep_plot(ds, show)

    notes = [*failures(scenario, ds, values), *pulling(scenario, ds)]
    text = "\n".join([overview(ds, everything=bool(keep)), *(["", *notes] if notes else [])])
    return Answer(text, lambda: ds, picture)


def _heading(name: str, scenario: Scenario, structure: Mapping[str, str], given: Mapping[str, Any]) -> str:
    """The problem and its parameters; where there are many, those that are given or not 0."""
    chosen = {**scenario.parameters, **given}
    if len(chosen) > MANY:
        chosen = {key: value for key, value in chosen.items() if key in given or value}
    shown = [assignment(key, value, scenario.units) for key, value in chosen.items()]
    return f"{name}: " + "  ".join([*(f"{key}={value}" for key, value in structure.items()), *shown])


def _land(scenario: Scenario, values: dict[str, Any], samples: int | None) -> Answer:
    """The study of a touchdown."""
    from jourdain.studies.touchdown import N_STATES, study

    feet = tuple(role.constraint.name for role in scenario.event.roles if role.block.kind in (Kind.INERT, Kind.CONTACT))
    found = study(scenario, feet, values, N_STATES if samples is None else samples)
    return Answer(found.told, lambda: found.states, lambda: found.figure("touchdown"))


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
    from jourdain.cli.moving import branch, motion
    from jourdain.plots.animation import refuse_film

    film = plot is not None and is_film(plot)
    check_files(out, None if film else plot)
    if plot is not None and film:
        if axes:
            raise BadArgument(f"'{plot}' is a film, which shows one motion; of a --sweep give a picture, as .png.")
        refuse_film(plot)
    until = values.pop("until", None)
    if axes and until is not None:
        raise BadArgument("until is for one motion, not for gaits over a --sweep; leave it out.")
    title, chosen = name.replace("_", " "), {**hybrid.parameters, **values, **axes}
    if axes:
        answer = branch(name, hybrid, values, axes, title, show)
    else:
        answer = motion(hybrid, values, until, title)
        chosen |= {} if until is None else {"until": until}
    listed = [*(f"{key}={value}" for key, value in structure.items()),
              *(assignment(key, value, units_of(hybrid)) for key, value in chosen.items())]  # fmt: skip
    if out is not None and out.suffix.lower() in (".csv", ".parquet"):
        whole = answer.dataset
        answer = replace(answer, dataset=lambda: whole().drop_dims("event", errors="ignore"))
    replace(answer, text=f"{name}: " + "  ".join(listed) + f"\n\n{answer.text}").deliver(out, plot)


def _once(option: str, given: list[Path] | None) -> Path | None:
    if given and len(given) > 1:
        raise BadArgument(f"{option} is given {len(given)} times; one file at a time.")
    return given[0] if given else None


def _check_output(
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
    check_files(out, plot)
    several = [name for name, values in axes.items() if len(values) > 1]
    if plot is not None and len(several) > 2:
        raise BadArgument(f"--plot shows one or two swept parameters, not {len(several)}; fix some with --set.")
