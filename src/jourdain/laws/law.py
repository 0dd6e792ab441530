"""The laws of one-sided contacts. Numbers may be numbers, SymPy expressions in parameters, or names of new ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Literal, get_args

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
