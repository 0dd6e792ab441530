"""Contacts without friction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from jourdain.algebra.contacts.contacts import ContactSolver
from jourdain.algebra.contacts.held import moreau, poisson
from jourdain.laws.law import Law, Number

Rule = Literal["moreau", "poisson"]
MOREAU = ContactSolver("Moreau's law", moreau, ("restitution",), remedy="use Frictionless(law='poisson'), or ")
POISSON = ContactSolver(
    "Poisson's law",
    poisson,
    ("restitution",),
    mixed="Moreau's and Poisson's law; give all of them one",
    takes_opening=True,
)


@dataclass(frozen=True)
class Frictionless(Law):
    """Pushes along its normal only.

    `moreau`: 0 ≤ λ̄ ⊥ u⁺ + κ u⁻ ≥ 0. `poisson`: the impulse of compression is given back κ-fold; never creates energy.
    Where contacts with different κ share that impulse in many ways, its least is taken (`Transition.one_of_many`).

    >>> Frictionless(0.5)
    Frictionless(restitution=0.5, law='moreau')
    """

    restitution: Number = 0.0
    law: Rule = "moreau"

    choices: ClassVar = {"law": get_args(Rule)}

    @property
    def solver(self) -> ContactSolver:
        return POISSON if self.law == "poisson" else MOREAU
