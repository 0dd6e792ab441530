"""Contacts without friction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jourdain.laws.law import Law, Rule


@dataclass(frozen=True)
class Frictionless(Law):
    """Pushes along its normal only.

    `moreau`: 0 ≤ λ̄ ⊥ u⁺ + κ u⁻ ≥ 0. `poisson`: the impulse of compression is given back κ-fold; never creates energy.
    Where contacts with different κ share that impulse in many ways, its least is taken (`Transition.one_of_many`).

    >>> Frictionless(0.5)
    Frictionless(restitution=0.5, law='moreau')
    """

    restitution: Any = 0.0
    law: Rule = "moreau"
