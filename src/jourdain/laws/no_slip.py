"""Contacts that do not slip while they hold."""

from __future__ import annotations

from dataclasses import dataclass

from jourdain.algebra.contacts.contacts import ContactSolver
from jourdain.algebra.contacts.held import moreau
from jourdain.laws.law import Law, Number

WAYS = ("lifts", "slides", "sticks")
NO_SLIP = ContactSolver("NoSlip", moreau, ("restitution",), WAYS, least_tangents=1)


@dataclass(frozen=True)
class NoSlip(Law):
    """Lifts, slides without friction, or sticks.

    Raises Infeasible if no choice is consistent, Ambiguous if several are and move differently.
    """

    restitution: Number = 0.0

    @property
    def solver(self) -> ContactSolver:
        return NO_SLIP
