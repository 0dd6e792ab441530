"""What the command line shows of a problem that moves: its gait, its gaits over a parameter, or its motion."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.cli.answers import Answer
from jourdain.cli.arguments import assignment
from jourdain.errors import BadArgument
from jourdain.events.table import aligned, rounded, with_unit
from jourdain.motion.labelled import state_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from jourdain.motion.hybrid import Hybrid
    from jourdain.motion.trajectory import Trajectory


def motion(hybrid: Hybrid, parameters: Mapping[str, Any], until: float | None, title: str) -> Answer:
    """A gait where there is one, followed until a time, if one is given; else the motion from where it starts."""
    if hybrid.near is not None:
        gait = hybrid.gait(**parameters)
        run = gait.trajectory if until is None else hybrid.simulate(gait.q, gait.v, until=until, **parameters)
        text = "\n".join([str(gait), "", *summary(run)])
    else:
        run = hybrid.simulate(until=until, **parameters)
        text = "\n".join([*summary(run), "", *_states(run)])

    def picture() -> Axes:
        from jourdain.plots import motion_plot

        return motion_plot(run, title)

    def film(path: Path) -> None:
        from jourdain.plots.animation import animate

        animate(run, path, title=title)

    return Answer(text, run.to_dataset, picture, film)


def branch(
    name: str, hybrid: Hybrid, parameters: Mapping[str, Any], axes: Mapping[str, Any], title: str, show: str | None
) -> Answer:
    """The gaits over one parameter, from that with the parameters given, or from where the range begins."""
    if hybrid.near is None:
        raise BadArgument(f"'{name}' has no gait to follow over a parameter; use --set.")
    if len(axes) != 1:
        raise BadArgument(f"Gaits are followed over one parameter, not over {len(axes)}; fix the others with --set.")
    ((parameter, values),) = axes.items()
    usual = hybrid.parameters[parameter]
    low, high = float(np.min(values)), float(np.max(values))
    start = usual if usual is not None and low <= usual <= high else low
    at: dict[str, Any] = {**parameters, parameter: start}
    followed = hybrid.continuation(hybrid.gait(**at), **axes)
    units = hybrid.mechanism.units
    rows = [
        [assignment(parameter, gait.parameters[parameter], units).partition("=")[2], rounded(gait.period),
         rounded(float(np.abs(gait.multipliers[0]))), "stable" if gait.stable else "unstable"]
        for gait in followed.gaits
    ]  # fmt: skip
    marks = [f"{b.kind} at {assignment(parameter, b.value, units)}" for b in followed.bifurcations] or [
        "no bifurcation"
    ]
    lines = aligned([parameter, "period in s", "largest multiplier", ""], rows)
    text = "\n".join([*lines, "", *marks, f"ends: {followed.ended[0]}; {followed.ended[1]}"])

    def picture() -> Axes:
        from jourdain.plots import branch_plot

        return branch_plot(followed, show or "period", title=title)

    return Answer(text, followed.to_dataset, picture)


def summary(run: Trajectory) -> list[str]:
    """How long it went, what happened, where its energy went."""
    energy = run.energy
    several = f"{len(run.events)} event{'' if len(run.events) == 1 else 's'}"
    lines = [f"{run.end:.9g} s, {several}; ended by: {run.stopped}"]
    scale = float(max(abs(energy.kinetic).max(), abs(energy.potential).max()))
    rows = [[what, rounded(part[0], scale), rounded(part[-1], scale)]
            for what, part in (("kinetic", energy.kinetic), ("potential", energy.potential))]  # fmt: skip
    for what, total in (("work of forces", energy.forces[-1]), ("work of supports", energy.supports[-1])):
        if abs(total) > 1e-13 * scale:
            rows.append([what, "", rounded(total, scale)])
    rows += [[f"events: {what}", "", rounded(work, scale)] for what, work in energy.ledger.items()
             if abs(work) > 1e-13 * scale]  # fmt: skip
    return [*lines, "", *aligned(["energy in J", "at the start", "at the end"], rows)]


def _states(run: Trajectory) -> list[str]:
    states = np.hstack([run.q, run.v])
    rows = [[with_unit(label.said, label.unit), rounded(states[0, i], 1.0), rounded(states[-1, i], 1.0)]
            for i, label in enumerate(state_labels(run.hybrid.mechanism))]  # fmt: skip
    return aligned(["state", "at the start", "at the end"], rows)
