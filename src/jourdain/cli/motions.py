"""Answers of problems that move: a gait, gaits over a parameter, or a motion."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.cli.answers import Answer
from jourdain.cli.arguments import assignment
from jourdain.data.numbers import amount
from jourdain.errors import BadArgument
from jourdain.events.table import aligned, rounded
from jourdain.motion.text import energy_table, headline, state_table

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

    from jourdain.cli.problems import Problem
    from jourdain.motion.hybrid import Hybrid
    from jourdain.motion.trajectory import Trajectory
    from jourdain.reports.record import Report


def motion(hybrid: Hybrid, values: dict[str, float], title: str, tidy: bool = False) -> Answer:
    """The gait, if there is one, followed until a time, if that is given; else the motion from where it starts.

    `values`: parameters, and `until` in s. `tidy`: leave out of the dataset what does not lie along time.
    """
    parameters: dict[str, Any] = dict(values)
    until = parameters.pop("until", None)
    gait = hybrid.gait(**parameters) if hybrid.near is not None else None
    if gait is not None:
        run = gait.trajectory if until is None else hybrid.simulate(gait.q, gait.v, until=until, **parameters)
        text = "\n".join([str(gait), "", *summary(run)])
    else:
        run = hybrid.simulate(until=until, **parameters)
        text = "\n".join([*summary(run), "", *aligned(*state_table(run))])

    def dataset() -> xarray.Dataset:
        return run.to_dataset().drop_dims("event", errors="ignore") if tidy else run.to_dataset()

    def figure() -> Axes:
        from jourdain.plots import motion_plot

        return motion_plot(run, title)

    def film(path: Path) -> None:
        from jourdain.plots import animate

        animate(run, path, title=title)

    def report(command: Sequence[str]) -> Report:
        from jourdain.reports.motions import gait_report, motion_report

        if gait is not None and until is None:
            return gait_report(gait, command=command)
        return motion_report(run, command=command)

    return Answer(text, dataset, figure, film, report=report)


def branch(problem: Problem, hybrid: Hybrid, show: str | None) -> Answer:
    """The gaits over one parameter, from that with its usual value, or from where the range begins."""
    if hybrid.near is None:
        raise BadArgument(f"'{problem.name}' has no gait to follow over a parameter; use --set.")
    axes: dict[str, Any] = dict(problem.axes)
    if len(axes) != 1:
        raise BadArgument(f"Gaits are followed over one parameter, not over {len(axes)}; fix the others with --set.")
    ((parameter, values),) = axes.items()
    usual, low, high = hybrid.parameters[parameter], float(np.min(values)), float(np.max(values))
    start: dict[str, Any] = {**problem.values, parameter: usual if usual is not None and low <= usual <= high else low}
    followed = hybrid.continuation(hybrid.gait(**start), **axes)
    unit = hybrid.mechanism.units.get(parameter, "")
    rows = [
        [amount(gait.parameters[parameter], unit, minus="-"), rounded(gait.period),
         rounded(float(np.abs(gait.multipliers[0]))), "stable" if gait.stable else "unstable"]
        for gait in followed.gaits
    ]  # fmt: skip
    bifurcations = [f"{b.kind} at {assignment(parameter, b.value, unit)}" for b in followed.bifurcations]
    lines = aligned([parameter, "period in s", "largest multiplier", ""], rows)
    ends = f"ends: {followed.ended[0]}; {followed.ended[1]}"
    text = "\n".join([*lines, "", *(bifurcations or ["no bifurcation"]), ends])

    def figure() -> Axes:
        from jourdain.plots import branch_plot

        return branch_plot(followed, show or "period", title=problem.title)

    return Answer(text, followed.to_dataset, figure)


def summary(run: Trajectory) -> list[str]:
    """How long it went, what happened, where its energy went."""
    return [headline(run), "", *aligned(*energy_table(run))]
