"""A motion as tables that a person reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jourdain.data.numbers import with_unit
from jourdain.events.cells import ROUNDING
from jourdain.events.table import Table, rounded
from jourdain.motion.labelled import state_labels

if TYPE_CHECKING:
    from jourdain.motion.trajectory import Trajectory


def headline(run: Trajectory) -> str:
    """How long it went, and why it ended."""
    events = f"{len(run.events)} event{'' if len(run.events) == 1 else 's'}"
    return f"{run.end:.9g} s, {events}; ended by: {run.stopped}"


def energy_table(run: Trajectory) -> Table:
    """Kinetic and potential energy at both ends, and where the difference went."""
    energy = run.energy
    scale = float(max(abs(energy.kinetic).max(), abs(energy.potential).max()))
    rows = [[what, rounded(part[0], scale), rounded(part[-1], scale)]
            for what, part in (("kinetic", energy.kinetic), ("potential", energy.potential))]  # fmt: skip
    works = {"work of forces": energy.forces[-1], "work of supports": energy.supports[-1],
             **{f"events: {what}": work for what, work in energy.ledger.items()}}  # fmt: skip
    rows += [[what, "", rounded(work, scale)] for what, work in works.items() if abs(work) > ROUNDING * scale]
    return ["energy in J", "at the start", "at the end"], rows


def state_table(run: Trajectory) -> Table:
    """Coordinates and velocities at both ends."""
    states = np.hstack([run.q, run.v])
    rows = [[with_unit(label.said, label.unit), rounded(states[0, i], 1.0), rounded(states[-1, i], 1.0)]
            for i, label in enumerate(state_labels(run.hybrid.mechanism))]  # fmt: skip
    return ["state", "at the start", "at the end"], rows


def event_table(run: Trajectory, most: int | None = None) -> Table:
    """Each event: when, which, what it cost. `most`: only the first so many."""
    rows = [[rounded(one.t), one.switch.name or f"{one.switch.source} → {one.switch.target}", rounded(one.lost)]
            for one in run.events[:most]]  # fmt: skip
    return ["event at s", "", "loss in J"], rows
