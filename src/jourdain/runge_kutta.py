"""One explicit Runge–Kutta step over CasADi scalars: Dormand and Prince's eighth order, DOP853.

The coefficients are data, from SciPy [Hairer, Nørsett & Wanner, Solving Ordinary Differential Equations I, §II.10].
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import casadi as ca
import numpy as np
from casadi import SX
from numpy.typing import NDArray

Array = NDArray[np.float64]
ORDER = 8
ERROR_EXPONENT = -1 / 8  # of the error estimate, in the next step's length


class Tableau(NamedTuple):
    A: Array  # (stages, stages), strictly lower
    B: Array  # (stages,)
    E3: Array  # (stages + 1,), the last weighs the slope at the end of the step
    E5: Array


@lru_cache(maxsize=1)
def dop853() -> Tableau:
    from scipy.integrate import DOP853

    n = DOP853.n_stages
    return Tableau(DOP853.A[:n, :n], DOP853.B[:n], DOP853.E3, DOP853.E5)


def step(slope: Callable[[SX], SX], y: SX, h: SX) -> tuple[SX, SX, SX]:
    """(y after the step, and two estimates of its error, both (n, 1)) for dy/ds = slope(y)."""
    tableau = dop853()
    slopes: list[SX] = []
    for weights in tableau.A:
        slopes.append(slope(y + h * _weighed(weights, slopes)))
    after = y + h * _weighed(tableau.B, slopes)
    slopes.append(slope(after))
    return after, h * _weighed(tableau.E5, slopes), h * _weighed(tableau.E3, slopes)


def error_norm(fifth: SX, third: SX, tolerance: SX) -> SX:
    """The error in units of the tolerance; a step is good if this is 1 or less."""
    five, three = ca.sumsqr(fifth / tolerance), ca.sumsqr(third / tolerance)
    both = five + 0.01 * three
    sound = both > 0
    return ca.if_else(sound, five / ca.sqrt(ca.if_else(sound, both, 1.0) * fifth.numel()), 0.0)


def _weighed(weights: Array, slopes: list[SX]) -> SX:
    return sum((float(weight) * k for weight, k in zip(weights, slopes, strict=False) if weight), SX(0))
