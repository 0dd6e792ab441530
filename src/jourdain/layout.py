"""How the numbers of an outcome are laid out: velocities, constraints and their rows, what is applied, outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from jourdain.algebra.event import ON_KINDS


@dataclass(frozen=True)
class RowLayout:
    name: str
    constraint: str
    kind: str
    geometric: bool


@dataclass(frozen=True)
class ConstraintLayout:
    """How one constraint takes part in an event."""

    name: str
    kind: str
    rows: tuple[str, ...]
    scalar: bool  # its numbers have no row axis
    contact: bool
    geometric: bool
    units: str = ""


@dataclass(frozen=True)
class Layout:
    """The names of an outcome's numbers."""

    velocities: tuple[str, ...]
    constraints: tuple[ConstraintLayout, ...]  # sorted by kind
    impulses: tuple[str, ...]  # ledger keys of what is applied
    outputs: tuple[str, ...]
    units: Mapping[str, str] = field(default_factory=dict)  # of velocities and outputs

    @cached_property
    def rows(self) -> tuple[RowLayout, ...]:
        return tuple(RowLayout(row, c.name, c.kind, c.geometric) for c in self.constraints for row in c.rows)

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Where the rows of each constraint stand in the stack."""
        found, start = {}, 0
        for c in self.constraints:
            found[c.name] = slice(start, start + len(c.rows))
            start += len(c.rows)
        return found

    @cached_property
    def n_on(self) -> int:
        """Rows that are on during the event; they come first."""
        return sum(row.kind in ON_KINDS for row in self.rows)
