"""Contacts that do not slip while they hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jourdain.laws.law import Law


@dataclass(frozen=True)
class NoSlip(Law):
    """Lifts, slides without friction, or sticks: whichever is consistent; none or several is told."""

    restitution: Any = 0.0
