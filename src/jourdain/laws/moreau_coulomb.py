"""Coulomb friction at the velocity after the event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jourdain.laws.law import Law


@dataclass(frozen=True)
class MoreauCoulomb(Law):
    """Coulomb's law for the velocity after the event alone: for several contacts at once, and to compare with.

    It takes no notice of slip that stops or reverses during the event; `Coulomb` does. Several solutions that move
    differently are told: in the plane all are looked for; in space those that are connected with the one found, such as
    feet that slide together and share their load in many ways.
    """

    friction: Any
    restitution: Any = 0.0
