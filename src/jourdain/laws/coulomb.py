"""Coulomb friction inside the event."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal, get_args

from jourdain.algebra.contacts.contacts import ContactSolver
from jourdain.algebra.contacts.coulomb import coulomb, iteration
from jourdain.laws.law import Law, Number

Hypothesis = Literal["newton", "poisson", "stronge"]  # on how restitution ends


def _solver(hypothesis: str) -> ContactSolver:
    return ContactSolver(
        "Coulomb",
        partial(coulomb, hypothesis=hypothesis),
        ("friction", "restitution"),
        ways=("strikes",),
        least_tangents=1,
        most_tangents=2,
        ledger=("compression", "restitution", "friction"),
        in_space=lambda _: iteration(hypothesis),
        alone="has friction inside the event",
        hypothesis=hypothesis,
        unmet="{names} wedges: where it sticks no impulse moves it, but its support does; let the support rest, or "
        "take less friction.",
        sinks="{names} approaches again during restitution: friction presses it in while it brakes the slip (a jam), "
        "and Poisson's impulse ends before the contact separates; take the hypothesis 'stronge', or less friction.",
    )


COULOMB = {hypothesis: _solver(hypothesis) for hypothesis in get_args(Hypothesis)}


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

    @property
    def solver(self) -> ContactSolver:
        return COULOMB[self.hypothesis]
