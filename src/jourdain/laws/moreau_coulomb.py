"""Coulomb friction at the velocity after the event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jourdain.algebra.contacts.contacts import ContactSolver
from jourdain.algebra.contacts.held import moreau_coulomb
from jourdain.algebra.contacts.moreau_space import iteration
from jourdain.laws.law import Law, Number

MOREAU_COULOMB = ContactSolver(
    "MoreauCoulomb",
    moreau_coulomb,
    ("friction", "restitution"),
    ways=("lifts", "sticks", "slips forward", "slips backward"),
    least_tangents=1,
    most_tangents=2,
    ledger=("friction",),
    in_space=iteration,
    mixed="MoreauCoulomb with other laws; give all of them friction",
)


@dataclass(frozen=True)
class MoreauCoulomb(Law):
    """Coulomb's law for the velocity after the event alone: for several contacts at once, and to compare with.

    It takes no notice of slip that stops or reverses during the event; `Coulomb` does. Raises Ambiguous if several
    solutions move differently: in the plane all are looked for; in space those that are connected with the one found,
    such as feet that slide together and share their load in many ways.
    """

    friction: Number
    restitution: Number = 0.0

    numbers: ClassVar = ("friction", "restitution")

    @property
    def solver(self) -> ContactSolver:
        return MOREAU_COULOMB
