"""How the numbers of an outcome are laid out: velocities, constraints and their rows, what is applied, outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress, product
from typing import TYPE_CHECKING

from jourdain.inputs import Array, Flags
from jourdain.kinds import ON_KINDS, ContactState, Kind
from jourdain.quantities import PHASES, QUANTITIES, unit_along

if TYPE_CHECKING:
    from jourdain.algebra.contacts.contacts import ContactLaw


@dataclass(frozen=True)
class RowLayout:
    name: str
    constraint: str
    kind: Kind
    geometric: bool


@dataclass(frozen=True)
class ConstraintLayout:
    """How one constraint takes part in an event."""

    name: str
    kind: Kind
    rows: tuple[str, ...]
    scalar: bool  # its numbers have no row axis
    contact: bool
    geometric: bool
    units: str | tuple[str, ...] = ""  # of u: of all rows, or of each
    law: ContactLaw | None = None  # of a one-sided contact; what numbers it has stands elsewhere

    @property
    def row_units(self) -> dict[str, str]:
        """Row → the unit of its u."""
        several = (self.units,) * len(self.rows) if isinstance(self.units, str) else self.units
        return dict(zip(self.rows, several, strict=True))


@dataclass(frozen=True)
class Entry:
    """A quantity of an outcome, or some of its numbers."""

    quantity: str  # in the table of quantities
    places: tuple[int, ...]  # which of its numbers
    names: tuple[str, ...]  # of these numbers along the quantity's dimension; empty for a single number
    summed: bool = False  # the sum of them is meant


@dataclass(frozen=True)
class Layout:
    """The names of an outcome's numbers."""

    velocities: tuple[str, ...]
    constraints: tuple[ConstraintLayout, ...]  # sorted by kind
    impulses: tuple[str, ...]  # ledger keys of what is applied
    outputs: tuple[str, ...]
    units: Mapping[str, str] = field(default_factory=dict)  # of velocities and outputs
    coordinates: tuple[str, ...] = ()
    coordinate_units: Mapping[str, str] = field(default_factory=dict)
    quaternions: tuple[str, ...] = ()  # whose lengths stand behind the geometric rows

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

    @cached_property
    def contacts(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.constraints if c.contact)

    def law_of(self, contact: str) -> ContactLaw:
        """The law of a one-sided contact."""
        (law,) = (c.law for c in self.constraints if c.name == contact and c.law is not None)
        return law

    def candidates(self, consistent: Flags, states: Array) -> tuple[dict[str, str], ...]:
        """Ways to hold that are consistent, each {contact: what it does}; contacts that are left alone have none.

        `consistent`: of every way, in the order in which they are tried; `states`: `ContactState` of each contact.
        """
        names = self.along("one_sided")
        ways = list(product(*(self.law_of(name).solver.ways for name in names)))
        tried = zip(ways, consistent, strict=True) if len(ways) == len(consistent) else ()
        taking_part = [state != ContactState.SEPARATES for state in states]
        return tuple(dict(compress(zip(names, way, strict=True), taking_part)) for way, good in tried if good)

    def along(self, dimension: str) -> tuple[str, ...]:
        """The labels of a dimension of the table of quantities."""
        labels = {
            "coordinate": self.coordinates,
            "velocity": self.velocities,
            "row": tuple(row.name for row in self.rows),
            "contact": self.contacts,
            "one_sided": tuple(c.name for c in self.constraints if c.kind == Kind.CONTACT),
            "applied": self.impulses,
            "output": self.outputs,
            "phase": PHASES,
        }
        return labels[dimension]

    def unit(self, quantity: str, label: str | None = None) -> str:
        """The unit of a quantity, of one of its numbers; "" where it is not known or not the same for all."""
        dimension = QUANTITIES[quantity].along
        if QUANTITIES[quantity].unit or not dimension:
            return QUANTITIES[quantity].unit
        labels = {
            "coordinate": self.coordinate_units,
            "velocity": self.units,
            "output": self.units,
            "row": {row: unit for c in self.constraints for row, unit in c.row_units.items()},
        }.get(dimension, {})
        names = self.along(dimension) if label is None else (label,)
        found = {unit_along(quantity, labels.get(name, "")) for name in names}
        return found.pop() if len(found) == 1 else ""
