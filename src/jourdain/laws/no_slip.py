"""Contacts that do not slip while they hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

from jourdain.algebra.contacts.contacts import ContactSolver
from jourdain.algebra.contacts.held import moreau
from jourdain.laws.law import Law, Number

Preference = Literal["sticks", "slides"]
WAYS = ("lifts", "slides", "sticks")
NO_SLIP = ContactSolver("NoSlip", moreau, ("restitution",), WAYS, least_tangents=1, lists_candidates=True)
PREFERRING = {prefer: replace(NO_SLIP, prefer=prefer) for prefer in get_args(Preference)}


@dataclass(frozen=True)
class NoSlip(Law):
    """Lifts, slides without friction, or sticks.

    Raises Infeasible if no choice is consistent, Ambiguous if several are and move differently. `prefer` decides then:
    "sticks" takes the choice in which most of the contacts that say so stick, "slides" that in which fewest do; what is
    still undecided is Ambiguous. `Transition.candidates` lists all choices that are consistent.

    >>> NoSlip(0.2, prefer="sticks")
    NoSlip(restitution=0.2, prefer='sticks')
    """

    restitution: Number = 0.0
    prefer: Preference | None = None

    choices: ClassVar = {"prefer": (None, *get_args(Preference))}

    @property
    def solver(self) -> ContactSolver:
        return NO_SLIP if self.prefer is None else PREFERRING[self.prefer]
