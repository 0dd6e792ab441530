"""`jourdain run`: a problem of the gallery or of a file, solved once or over a grid, or set in motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jourdain.cli.answers import Answer, check_files, is_film
from jourdain.cli.arguments import AXIS, BOUNDS, WORDS, pairs
from jourdain.cli.problems import Problem, problem
from jourdain.data.addresses import find
from jourdain.errors import BadArgument

if TYPE_CHECKING:
    from jourdain.motion.hybrid import Hybrid
    from jourdain.scenarios.scenario import Scenario

Name = Annotated[
    str, typer.Argument(metavar="NAME | FILE.py:NAME", help="A name from `jourdain list`, or a model of your own.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="PARAMETER=VALUE, several times; angles in degrees. Also what `jourdain list` shows as a choice: "
        "rear_foot=one-sided, law=coulomb; and until=SECONDS of what moves.",
    ),
]
Sweeps = Annotated[list[str] | None, typer.Option("--sweep", help=f"{AXIS}; several times: a grid. Angles in degrees.")]
Keep = Annotated[
    list[str] | None,
    typer.Option(help="A quantity of the sweep, as in loss or impulse.heel.normal; several times. Default: all."),
]
Outs = Annotated[
    list[Path] | None, typer.Option("--out", help="Write the numbers to this file (.nc, .csv, .parquet, .json, .tex).")
]
Plots = Annotated[
    list[Path] | None,
    typer.Option(
        "--plot",
        help="Write a picture to this file (.png, .svg, .pdf): the event, the sweep, or the motion; of what moves, "
        "also a film (.gif, .mp4).",
    ),
]
ReportFile = Annotated[
    Path | None,
    typer.Option("--report", help="Write one page of HTML to hand to others (.html): the event, the gait, the motion."),
]
Show = Annotated[
    str | None,
    typer.Option(help="The quantity of a sweep that --plot shows, as in loss; of contact_state.floor, a map."),
]
RobotFile = Annotated[
    str | None, typer.Option(help="Of touchdown: a URDF or MJCF file; its root floats. Default: a quadruped.")
]
Feet = Annotated[
    str | None, typer.Option(help="Of touchdown: the frames that touch the ground, as A,B: links, sites or bodies.")
]
Samples = Annotated[
    int | None, typer.Option(help="Of touchdown: how many states around the pose are solved. Default: a million.")
]


Gradient = Annotated[str | None, typer.Option(help="How this quantity, as loss, changes with each parameter.")]
Minimize = Annotated[str | None, typer.Option(help="Find the parameters of --over for which this quantity is least.")]
Maximize = Annotated[str | None, typer.Option(help="The same, for its largest value.")]
Over = Annotated[
    list[str] | None, typer.Option(help=f"{BOUNDS} of a parameter of --minimize, several times; angles in degrees.")
]
SubjectTo = Annotated[
    list[str] | None,
    typer.Option(help=f"{BOUNDS} of a quantity of --minimize, as impulse.heel.normal=:10; one side may be open."),
]
Directions = Annotated[bool, typer.Option("--directions", help="The velocities that lose most and least.")]
PointName = Annotated[str | None, typer.Option(help="Of --directions: also the velocity of this point.")]
Symbolic = Annotated[bool, typer.Option("--symbolic", help="The outcome in closed form.")]
Latex = Annotated[bool, typer.Option("--latex", help="Print the closed form as LaTeX.")]
Project = Annotated[
    bool, typer.Option("--project", help="Move a start that misses its constraints onto them, instead of refusing it.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON, and nothing else.")]


UNREPORTED = ("--gradient", "--directions", "--symbolic")  # analyses that are no event


@dataclass(frozen=True)
class Options:
    """What is wanted of a problem, and in which files."""

    keep: list[str]
    out: Path | None
    plot: Path | None
    report: Path | None
    show: str | None
    samples: int | None
    gradient: str | None = None
    minimize: str | None = None
    maximize: str | None = None
    over: Mapping[str, str] = field(default_factory=dict)
    subject_to: Mapping[str, str] = field(default_factory=dict)
    directions: bool = False
    point: str | None = None
    symbolic: bool = False
    latex: bool = False
    project: bool = False

    @property
    def analyses(self) -> list[str]:
        """Those that are asked for of one event, each instead of its outcome."""
        names = ("gradient", "minimize", "maximize", "directions", "symbolic", "project")
        return [f"--{name}" for name in names if getattr(self, name) not in (None, False)]


def run(
    context: typer.Context,
    name: Name,
    settings: Settings = None,
    sweeps: Sweeps = None,
    keep: Keep = None,
    outs: Outs = None,
    plots: Plots = None,
    report: ReportFile = None,
    show: Show = None,
    robot: RobotFile = None,
    feet: Feet = None,
    samples: Samples = None,
    gradient: Gradient = None,
    minimize: Minimize = None,
    maximize: Maximize = None,
    over: Over = None,
    subject_to: SubjectTo = None,
    directions: Directions = False,
    point: PointName = None,
    symbolic: Symbolic = False,
    latex: Latex = False,
    project: Project = False,
    as_json: Json = False,
) -> None:
    """Solve a problem once or over a grid; of what moves, follow its motion, its gait, or its gaits over a range."""
    from jourdain.scenarios.scenario import Scenario

    options = Options(
        keep or [], _once("--out", outs), _once("--plot", plots), report, show, samples, gradient, minimize, maximize,
        pairs("--over", BOUNDS, over or []), pairs("--subject-to", BOUNDS, subject_to or []), directions, point,
        symbolic, latex, project,
    )  # fmt: skip
    given = [f"{key}={text}" for key, text in (("robot", robot), ("feet", feet)) if text is not None]
    if name != "touchdown" and (given or samples is not None):
        raise BadArgument(f"--robot, --feet and --samples are for touchdown, not for '{name}'; leave them out.")
    _check_together(options)
    fixed = pairs("--set", "PARAMETER=VALUE", [*(settings or []), *given])
    chosen = problem(name, fixed, pairs("--sweep", AXIS, sweeps or []), keep=keep or None)
    answer = (_solved if isinstance(chosen.model, Scenario) else _moved)(chosen, chosen.model, options)
    text = answer.text if options.latex else f"{chosen.heading}\n\n{answer.text}"
    replace(answer, text=text).deliver(options.out, options.plot, as_json, report, context.meta[WORDS])


def _check_together(options: Options) -> None:
    """Raise for options that say something of one that is not given."""
    searched = options.minimize is not None or options.maximize is not None
    if options.over and not searched:
        raise BadArgument("--over says where --minimize or --maximize looks; give one of them, or leave it out.")
    if options.subject_to and not searched:
        raise BadArgument("--subject-to is for --minimize and --maximize; give one of them, or leave it out.")
    if options.point is not None and not options.directions:
        raise BadArgument("--point is for --directions; give both, or leave it out.")
    if options.latex and not options.symbolic:
        raise BadArgument("--latex says how --symbolic is printed; give both, or leave it out.")


def _once(option: str, given: list[Path] | None) -> Path | None:
    if given and len(given) > 1:
        raise BadArgument(f"{option} is given {len(given)} times; one file at a time.")
    return given[0] if given else None


# Problems that are one event


def _solved(chosen: Problem, scenario: Scenario, options: Options) -> Answer:
    """The answer of a problem that is one event: over a grid, the study of a touchdown, or the event."""
    from jourdain.cli.events import event, sweep, touchdown

    _check_options(chosen, scenario, options)
    if chosen.axes:
        return sweep(scenario, chosen.values, chosen.axes, options.keep, options.show)
    if options.analyses and options.analyses != ["--project"]:
        return _analysed(chosen, scenario, options)
    if chosen.name == "touchdown" and not options.project:
        return touchdown(scenario, chosen.values, options.samples)
    return event(scenario, chosen.values, chosen.title, options.keep or None, project=options.project)


def _analysed(chosen: Problem, scenario: Scenario, options: Options) -> Answer:
    """What is asked for of the event instead of its outcome."""
    from jourdain.cli.analysis import closed_form, directions, gradient, optimum

    of = options.minimize if options.minimize is not None else options.maximize
    if options.gradient is not None:
        return gradient(scenario, chosen.values, options.gradient)
    if of is not None:
        over, limits, largest = options.over, options.subject_to, options.minimize is None
        return optimum(scenario, chosen.values, of, over, limits, largest, chosen.title)
    if options.directions:
        return directions(scenario, chosen.values, options.point)
    return closed_form(scenario, options.latex)


def _check_options(chosen: Problem, scenario: Scenario, options: Options) -> None:
    """Raise, before anything is solved, for quantities and files that cannot be, and options that say nothing."""
    show, plot, asked = options.show, options.plot, options.analyses
    if len(asked) > 1 or (asked and chosen.axes):
        both = asked[:2] if len(asked) > 1 else [asked[0], "--sweep"]
        raise BadArgument(f"{both[0]} and {both[1]} are two answers; ask for one at a time.")
    if asked and asked[0] in ("--gradient", "--directions", "--symbolic") and plot is not None:
        raise BadArgument(f"{asked[0]} has no picture; leave --plot out.")
    if options.report is not None and (chosen.axes or (asked and asked[0] in UNREPORTED)):
        other = "--sweep" if chosen.axes else asked[0]
        raise BadArgument(f"--report shows one event, and {other} is none; leave one out.")
    if options.symbolic and options.out is not None:
        raise BadArgument("--symbolic has no numbers to write; leave --out out, or redirect what is printed.")
    if options.keep and asked and asked != ["--project"]:
        raise BadArgument(f"--keep is for outcomes, not for {asked[0]}; leave it out.")
    if show is not None and (plot is None or not chosen.axes):
        raise BadArgument("--show says what --plot shows of a --sweep; give both, or leave it out.")
    if options.keep and options.out is None and not chosen.axes:
        raise BadArgument("--keep says what a --sweep keeps or --out writes; give one of them, or leave it out.")
    for address in (*options.keep, *((show,) if show is not None else ())):
        if address != "status":
            find(scenario.event.layout, address)  # raises for what is not there
    check_files(options.out, plot, report=options.report)
    n_varied = sum(len(values) > 1 for values in chosen.axes.values())
    if plot is not None and n_varied > 2:
        raise BadArgument(f"--plot shows one or two swept parameters, not {n_varied}; fix some with --set.")
    if options.samples is not None and (chosen.axes or asked):
        other = "--sweep" if chosen.axes else asked[0]
        raise BadArgument(f"--samples is for the study of a touchdown, not for {other}; leave one out.")


# Problems that move


def _moved(chosen: Problem, hybrid: Hybrid, options: Options) -> Answer:
    """The answer of a problem that moves: its gaits over a parameter, its gait, or its motion."""
    from jourdain.cli.motions import branch, motion

    if options.analyses:
        raise BadArgument(f"'{chosen.name}' moves; {options.analyses[0]} is for problems that are one event.")
    if options.keep:
        raise BadArgument(f"'{chosen.name}' moves; --keep is for problems that are one event.")
    if options.show is not None and not chosen.axes:
        raise BadArgument("--show says what --plot shows of a --sweep; give both, or leave it out.")
    if chosen.axes and options.plot is not None and is_film(options.plot):
        raise BadArgument(f"'{options.plot}' is a film, which shows one motion; of a --sweep give a picture, as .png.")
    if options.report is not None and chosen.axes:
        raise BadArgument("--report shows one motion or gait, and --sweep follows several; leave one out.")
    check_files(options.out, options.plot, films=True, report=options.report)
    if not chosen.axes:
        tidy = options.out is not None and options.out.suffix.lower() in (".csv", ".parquet")
        return motion(hybrid, chosen.values, chosen.title, tidy)
    if "until" in chosen.values:
        raise BadArgument("until is for one motion, not for gaits over a --sweep; leave it out.")
    return branch(chosen, hybrid, options.show)
