"""Why a motion cannot start or go on: errors with the time, the state and a remedy."""

from __future__ import annotations

from typing import Any

import numpy as np

from jourdain.errors import Contradiction, NotConverged, NotFinite, OffConstraint, listing
from jourdain.inputs import Array
from jourdain.mechanism.constraint import Constraint
from jourdain.motion.guards import Reaction, Switch
from jourdain.motion.hybrid import Hybrid
from jourdain.motion.labelled import state_labels
from jourdain.naming import name_of


def stuck(hybrid: Hybrid, topology: str, y: Array) -> NotFinite:
    """No step from y is short enough."""
    return NotFinite(
        f"The motion in '{topology}' cannot go on at t = {y[0]:.6g} s: accelerations are not finite or jump there "
        f"({_state(hybrid, y)}). Check forces, masses and constraints."
    )


def guard_not_finite(hybrid: Hybrid, switch: Switch, y: Array) -> NotFinite:
    """In the step from y."""
    return NotFinite(
        f"The guard {_guard(switch.guard)} of '{switch.source}' is not finite after t = {y[0]:.6g} s "
        f"({_state(hybrid, y)})."
    )


def off_constraint(hybrid: Hybrid, topology: str, y: Array, p: Array) -> OffConstraint:
    """A segment would start off a constraint that is on; the one that is missed most is named."""
    held = hybrid.topologies[topology]
    violation = hybrid.flows(topology).fast.violation(y, hybrid.inputs(y, p))["violation"][:, 0]
    rows = [row for c in held if c.g is not None for row in c.row_names]
    worst, n_geometric = int(np.argmax(np.abs(violation))), len(rows)
    rows += [row for c in held for row in c.row_names]
    remedy = (
        f"start on it: hybrid.project(q, v) moves a state onto {listing(c.name for c in held)}"
        if y[0] == 0
        else "the event of the switch must bring it there, or its guard be that row"
    )
    what = "position" if worst < n_geometric else "velocity"
    return OffConstraint(
        f"At t = {y[0]:.6g} s the {what} misses '{rows[worst]}', which is on in '{topology}', by "
        f"{violation[worst]:.3g} ({_state(hybrid, y)}); {remedy}."
    )


def beyond_guard(switch: Switch, y: Array) -> OffConstraint:
    """A segment would start where a gap is below 0."""
    return OffConstraint(
        f"At t = {y[0]:.6g} s {_guard(switch.guard)} is below 0 in '{switch.source}', beyond its guard; start where it "
        "is positive, or let the switch wait (after_rising=True)."
    )


def contradiction(hybrid: Hybrid, topology: str, y: Array) -> Contradiction:
    """Constraints that are on cannot all hold."""
    held = listing(c.name for c in hybrid.topologies[topology])
    return Contradiction(
        f"'{topology}' over-constrains the motion: {held} cannot all hold at t = {y[0]:.6g} s ({_state(hybrid, y)}); "
        "leave out what contradicts the others."
    )


def too_many_steps(topology: str, n_steps: int, y: Array) -> NotConverged:
    return NotConverged(
        f"The motion in '{topology}' needs more than {n_steps} steps at t = {y[0]:.6g} s; if it is stiff, use "
        "method='Radau'."
    )


def _state(hybrid: Hybrid, y: Array) -> str:
    labels = state_labels(hybrid.mechanism)
    return ", ".join(f"{label.said} = {value:.6g}" for label, value in zip(labels, y[1:], strict=False))


def _guard(guard: Any) -> str:
    """A guard as a message names it."""
    if isinstance(guard, Reaction):
        return f"the reaction of '{name_of(guard.row)}'"
    return f"'{name_of(guard)}'" if isinstance(guard, Constraint | str) else str(guard)
