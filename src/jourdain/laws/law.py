"""The laws of one-sided contacts. Numbers may be numbers, SymPy expressions in parameters, or names of new ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, get_args

from jourdain.errors import BadFriction, BadRestitution, unknown

Rule = Literal["moreau", "poisson"]  # of contacts without friction
Hypothesis = Literal["newton", "poisson", "stronge"]  # on how restitution ends where there is friction


@dataclass(frozen=True)
class Law:
    """What a contact does in an event; see the subclasses."""

    def __post_init__(self) -> None:
        """Numbers are checked at once; what has a name is checked with its value."""
        restitution, friction = getattr(self, "restitution", 0.0), getattr(self, "friction", 0.0)
        if isinstance(restitution, Real) and not 0 <= float(restitution) <= 1:
            raise BadRestitution(f"The restitution of a contact is {restitution}; it must lie in [0, 1].")
        if isinstance(friction, Real) and not (float(friction) >= 0 and math.isfinite(float(friction))):
            raise BadFriction(f"The friction of a contact is {friction}; it must be finite, and 0 or more.")
        for name, choices in _CHOICES.items():
            chosen = getattr(self, name, choices[0])
            if chosen not in choices:
                raise unknown(name, str(chosen), choices)


_CHOICES: dict[str, tuple[str, ...]] = {"law": get_args(Rule), "hypothesis": get_args(Hypothesis)}


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


@dataclass(frozen=True)
class NoSlip(Law):
    """Lifts, slides without friction, or sticks: whichever is consistent; none or several is told."""

    restitution: Any = 0.0


@dataclass(frozen=True)
class Coulomb(Law):
    """Friction inside the event (Routh; Darboux–Keller): slip, stick, reversal as the normal impulse grows.

    The end: `newton` u_n⁺ = −e u_n⁻, `poisson` p = (1 + e) p_c, `stronge` work given back = e² × work of compression.
    """

    friction: Any
    restitution: Any = 0.0
    hypothesis: Hypothesis = "newton"


@dataclass(frozen=True)
class MoreauCoulomb(Law):
    """Coulomb's law for the velocity after the event alone: for several contacts at once, and to compare with.

    It takes no notice of slip that stops or reverses during the event; `Coulomb` does. Several solutions that move
    differently are told: in the plane all are looked for; in space those that are connected with the one found, such as
    feet that slide together and share their load in many ways.
    """

    friction: Any
    restitution: Any = 0.0
