"""Coulomb friction inside the event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jourdain.laws.law import Hypothesis, Law


@dataclass(frozen=True)
class Coulomb(Law):
    """Friction inside the event (Routh; Darboux–Keller): slip, stick, reversal as the normal impulse grows.

    The end: `newton` u_n⁺ = −e u_n⁻, `poisson` p = (1 + e) p_c, `stronge` work given back = e² × work of compression.
    """

    friction: Any
    restitution: Any = 0.0
    hypothesis: Hypothesis = "newton"
