"""Contacts that do not slip while they hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jourdain.algebra.contacts.contacts import ContactSolver
from jourdain.algebra.contacts.held import MOREAU
from jourdain.laws.law import Law, Number


@dataclass(frozen=True)
class NoSlip(Law):
    """Lifts, slides without friction, or sticks.

    Raises Infeasible if no choice is consistent, Ambiguous if several are and move differently.
    """

    restitution: Number = 0.0

    ways: ClassVar = ("lifts", "slides", "sticks")
    least_tangents: ClassVar = 1

    @property
    def solver(self) -> ContactSolver:
        return MOREAU
