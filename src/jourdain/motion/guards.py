"""Guards: what ends a topology. Each kind of guard becomes an expression that falls through 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from casadi import SX

from jourdain.errors import BadEvent, unknown
from jourdain.events.event import Event
from jourdain.inputs import Expression
from jourdain.mechanism.constraint import Constraint, ConstraintLike, ContactConstraint
from jourdain.mechanism.mechanism import Mechanism
from jourdain.motion.dynamics import Dynamics
from jourdain.naming import name_of


@dataclass(frozen=True, eq=False)
class Reaction:
    """A guard: the reaction of a row of the topology, as the normal one of a foot, which lifts where it falls to 0."""

    row: ConstraintLike


@dataclass(frozen=True, eq=False)
class Switch:
    """From one topology to another, when a guard crosses 0.

    `guard`: an expression in q, v, t and parameters, a position-level constraint, or a `Reaction`. `direction`: −1
    falls, +1 rises, 0 either. `event`: what jumps (None: nothing). `relabel`: {coordinate: expression in the old q},
    velocities follow by its Jacobian. `parameters`: {parameter: expression in coordinates and parameters}.
    `after_rising`: the guard counts only once it has been on its other side since the topology was entered, as for a
    foot that starts on the ground and scuffs. `target`: None ends the motion, for what `name` says, as "fallen".
    """

    source: str
    target: str | None
    guard: Expression  # or a Constraint, or a Reaction
    event: Event | None = None
    direction: int = -1
    relabel: Mapping[Any, Expression] = field(default_factory=dict)
    parameters: Mapping[Any, Expression] = field(default_factory=dict)
    after_rising: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        if self.direction not in (-1, 0, 1):
            raise BadEvent(
                f"The direction of a switch is −1 (falls), +1 (rises) or 0 (either), not {self.direction!r}."
            )
        if isinstance(self.guard, Reaction) and self.direction != -1:
            raise BadEvent("A reaction lets go where it falls to 0: its direction is −1.")
        if self.target is None and (self.event is not None or self.relabel or self.parameters):
            raise BadEvent(f"A switch without a target ends the motion in '{self.source}'; nothing can follow from it.")


class GuardKind(IntEnum):
    """What a guard that is below 0 where a segment starts means."""

    CROSSES = 0  # nothing: it has yet to rise, and then to fall
    WAITS = 1  # the same, also if it starts on 0
    GAP = 2  # an error: something has passed through something
    REACTION = 3  # it has fallen: something would pull


def guard_kind(switch: Switch) -> GuardKind:
    """What the guard of a switch means if it is below 0 where a segment starts."""
    if switch.after_rising:
        return GuardKind.WAITS
    if isinstance(switch.guard, Reaction):
        return GuardKind.REACTION
    return GuardKind.GAP if isinstance(switch.guard, Constraint | str) and switch.direction == -1 else GuardKind.CROSSES


def guard_expressions(switch: Switch, mechanism: Mechanism, dynamics: Dynamics) -> list[SX]:
    """What falls through 0 where the switch acts; two expressions for a guard that goes either way."""
    guard = switch.guard
    if isinstance(guard, Reaction):
        name = name_of(guard.row)
        rows = [row for c in dynamics.held for row in c.row_names]
        name = name if name in rows else f"{name}.normal"
        if name not in rows:
            raise unknown(f"row that is on in '{switch.source}'", name_of(guard.row), rows)
        expression = dynamics.reaction[rows.index(name)]
    else:
        expression = guard_expression(switch, mechanism)
    return [expression, -expression] if switch.direction == 0 else [-switch.direction * expression]


def guard_expression(switch: Switch, mechanism: Mechanism) -> SX:
    """The guard of a switch that is an expression or a gap."""
    guard = mechanism.find_constraint(switch.guard) if isinstance(switch.guard, str) else switch.guard
    if isinstance(guard, list | tuple | Mapping):
        raise BadEvent(f"A guard is one expression, not {guard!r}; give each its own switch.")
    if not isinstance(guard, Constraint):
        return mechanism.symbols.translate(guard)
    constraint = mechanism.find_constraint(guard)
    if constraint.g is None:
        raise BadEvent(f"'{constraint.name}' is no guard: it is at velocity level; give an expression or a gap.")
    if len(constraint.row_names) > 1 and not isinstance(constraint, ContactConstraint):
        raise BadEvent(f"'{constraint.name}' has {len(constraint.row_names)} rows; a guard is one of them.")
    return constraint.g[0]
