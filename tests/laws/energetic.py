"""A contact law of one's own, in one file: a given share of the energy of compression comes back [Stronge 1990]."""

from dataclasses import dataclass
from typing import Any, ClassVar

from jourdain.laws import Law
from jourdain.laws.solvers import Contacts, ContactSolution, ContactSolver, by_formula


@dataclass(frozen=True)
class Energetic(Law):
    share: Any

    numbers: ClassVar = ("share",)

    @property
    def solver(self) -> ContactSolver:
        return ContactSolver("Energetic", respond, most_tangents=0, alone="gives back energy")


def respond(contacts: Contacts) -> ContactSolution:
    la, (share,) = contacts.la, contacts.number("share")
    speed = la.where(contacts.u < 0, -contacts.u, 0.0)
    return by_formula(contacts, (1 + la.sqrt(share)) * speed / contacts.W)  # u⁺ = √share |u⁻|
