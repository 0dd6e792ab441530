"""What the command line shows of a problem that moves: its gait, or its motion from where it starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jourdain.table import aligned, rounded, with_unit

if TYPE_CHECKING:
    from jourdain.motion.hybrid import Hybrid
    from jourdain.motion.trajectory import Trajectory


def shown(hybrid: Hybrid, parameters: Mapping[str, Any], until: float | None) -> tuple[str, Trajectory]:
    """(what is told, the motion): a gait where there is one, followed until a time, if one is given."""
    if hybrid.near is not None:
        gait = hybrid.gait(**parameters)
        run = gait.trajectory if until is None else hybrid.simulate(gait.q, gait.v, until=until, **parameters)
        return "\n".join([str(gait), "", *summary(run)]), run
    run = hybrid.simulate(until=until, **parameters)
    return "\n".join([*summary(run), "", *_states(run)]), run


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
    s, units = run.hybrid.mechanism.symbols, run.hybrid.mechanism.units
    parts = ((s.q_names, run.q, ""), (s.v_names, run.v, "rate of "))
    rows = [[prefix + (with_unit(name, units.get(name, "")) if not prefix else name),
             rounded(values[0, i], 1.0), rounded(values[-1, i], 1.0)]
            for names, values, prefix in parts for i, name in enumerate(names)]  # fmt: skip
    return aligned(["state", "at the start", "at the end"], rows)
