"""One explicit Runge–Kutta step over CasADi scalars, and the length of the next: Dormand and Prince's DOP853.

The coefficients are data, from SciPy [Hairer, Nørsett & Wanner, Solving Ordinary Differential Equations I, §II.10].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import casadi as ca
from casadi import SX

from jourdain.compute.branches import Branches
from jourdain.inputs import Array

ERROR_EXPONENT = -1 / 8  # of the error estimate, in the next step's length
SAFETY, SHRINK = 0.9, 0.2  # factors of a step's length: below the one that would do, and the least
LEAST_ERROR, LARGEST_ERROR = 1e-12, 1e300  # smaller ones let a step grow as much as larger; NaN is not below LARGEST
N_DENSE = 7  # coefficients per entry of the polynomial through a step
Slope = Callable[[SX], SX]  # dy/ds of y
Number = TypeVar("Number", SX, Array)


class Tableau(NamedTuple):
    A: Array  # (stages, stages), strictly lower
    B: Array  # (stages,)
    E3: Array  # (stages + 1,), the last weighs the slope at the end of the step
    E5: Array
    A_dense: Array  # (3, stages + 4): slopes that only the polynomial needs
    D: Array  # (4, stages + 4)


class Step(NamedTuple):
    after: SX  # (n, 1)
    fifth: SX  # two estimates of the error
    third: SX
    slopes: tuple[SX, ...]  # those at the stages, and that at the end


@lru_cache(maxsize=1)
def dop853() -> Tableau:
    from scipy.integrate import DOP853

    n = DOP853.n_stages
    return Tableau(DOP853.A[:n, :n], DOP853.B[:n], DOP853.E3, DOP853.E5, DOP853.A_EXTRA, DOP853.D)


def step(slope: Slope, y: SX, h: SX) -> Step:
    """A step of length h from y, for dy/ds = slope(y)."""
    tableau = dop853()
    slopes: list[SX] = []
    for weights in tableau.A:
        slopes.append(slope(y + h * _weighed(weights, slopes)))
    after = y + h * _weighed(tableau.B, slopes)
    slopes.append(slope(after))
    return Step(after, h * _weighed(tableau.E5, slopes), h * _weighed(tableau.E3, slopes), tuple(slopes))


def dense(slope: Slope, y: SX, h: SX, made: Step, after: SX) -> list[SX]:
    """The coefficients, each (n, 1), of the polynomial of seventh order through a step that ends in `after`."""
    tableau, slopes = dop853(), list(made.slopes)
    for weights in tableau.A_dense:
        slopes.append(slope(y + h * _weighed(weights, slopes)))
    rise, first, last = after - y, slopes[0], made.slopes[-1]
    low = [rise, h * first - rise, 2 * rise - h * (last + first)]
    return [*low, *(h * _weighed(weights, slopes) for weights in tableau.D)]


def along(y: Number, coefficients: Sequence[Number], x: Number | float) -> Number:
    """The state at the part x of a step, 0 ≤ x ≤ 1."""
    value = 0 * y
    for i, coefficient in enumerate(reversed(coefficients)):
        value = (value + coefficient) * (x if i % 2 == 0 else 1 - x)
    return y + value


def error_norm(fifth: SX, third: SX, tolerance: SX) -> SX:
    """The error in units of the tolerance; a step is good if this is 1 or less."""
    five, three = ca.sumsqr(fifth / tolerance), ca.sumsqr(third / tolerance)
    both = five + 0.01 * three
    none = both == 0
    return ca.if_else(none, 0.0, five / ca.sqrt(ca.if_else(none, 1.0, both) * fifth.numel()))  # NaN stays


def length_factor(error: Any, grow: float, branches: Branches) -> Any:
    """The length of the next step over that of this one, from `SHRINK` to `grow`; of a step with this `error_norm`.

    An error that is not finite shrinks the step as much as possible.
    """
    where, smaller = branches
    factor = SAFETY * where(error > LEAST_ERROR, error, LEAST_ERROR) ** ERROR_EXPONENT
    factor = smaller(branches.larger(factor, SHRINK), grow)
    return where(error < LARGEST_ERROR, factor, SHRINK)


def _weighed(weights: Array, slopes: list[SX]) -> SX:
    return sum((float(weight) * k for weight, k in zip(weights, slopes, strict=False) if weight), SX(0))
