"""Coulomb friction inside the event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from jourdain.algebra.contacts.contacts import ContactSolver
from jourdain.algebra.contacts.coulomb import SOLVERS
from jourdain.laws.law import Law, Number

Hypothesis = Literal["newton", "poisson", "stronge"]  # on how restitution ends


@dataclass(frozen=True)
class Coulomb(Law):
    """Friction inside the event (Routh; Darboux–Keller): slip, stick, reversal as the normal impulse grows.

    The end: `newton` u_n⁺ = −e u_n⁻, `poisson` p = (1 + e) p_c, `stronge` work given back = e² × work of compression.
    """

    friction: Number
    restitution: Number = 0.0
    hypothesis: Hypothesis = "newton"

    numbers: ClassVar = ("friction", "restitution")
    choices: ClassVar = {"hypothesis": get_args(Hypothesis)}
    ways: ClassVar = ("strikes",)
    least_tangents: ClassVar = 1
    most_tangents: ClassVar = 2
    ledger: ClassVar = ("compression", "restitution", "friction")

    @property
    def solver(self) -> ContactSolver:
        return SOLVERS[self.hypothesis]
