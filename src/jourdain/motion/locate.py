"""Where within a step a guard falls through zero, however shortly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

Array = NDArray[np.float64]

N_NODES = 24  # of the interpolation through a step: a step's own polynomial has order 7
NEAR = 1e-9  # of the step: roots closer to its start are where it started
REAL = 1e-7  # imaginary parts below this are rounding of a real root
DIP = 0.25  # of the second difference: how far a guard may go beyond its looks
FLAT = 1e-13  # of the largest value: a guard that is 0 up to rounding


def first_fall(guard: Callable[[Array], Array], leaving: bool, rising: bool) -> float | None:
    """The part x of a step, 0 ≤ x ≤ 1, at which guard(x) first falls through 0; None if it does not.

    `guard`: of an array of x. `leaving`: it starts on 0, or below, which is not a fall; `rising`: because it does not
    sink at first, so that one which is found below falls at once, however short its hop.
    """
    nodes = (1 + chebyshev.chebpts2(N_NODES)) / 2
    values = guard(nodes)
    size = np.max(np.abs(values))
    if not size > 0:
        return None
    if not leaving and values[0] < -FLAT * size:  # it starts below
        return 0.0
    # The roots of the interpolation find dips between nodes, the signs at nodes what a kink hides from it.
    edges = np.unique(np.concatenate([nodes, np.clip(_roots(nodes, values, size), 0.0, 1.0)]))
    edges = np.append(NEAR, edges[edges > NEAR]) if leaving else edges
    middles = np.sort(np.concatenate([edges, (edges[1:] + edges[:-1]) / 2]))
    signs = guard(middles)
    above = False
    for i, value in enumerate(signs):
        if value > 0:
            above = True
        elif above and (value < 0 or i == len(signs) - 1):
            return _refined(guard, middles[i - 1], middles[i])
    return 0.0 if rising and not above and signs[-1] < min(values[0], 0.0) else None


def seen_to_fall(looks: Array, leaving: NDArray[np.bool_], rising: NDArray[np.bool_]) -> Array:
    """The same of many guards, from values at equal parts of a step, `(guards, looks)`: x to start from, `(guards,)`.

    NaN where they do not tell, infinity for no fall. `rising`: it leaves 0 upwards, and might be down again at the
    first look.
    """
    n = looks.shape[1] - 1
    bends = np.abs(looks[:, :-2] - 2 * looks[:, 1:-1] + looks[:, 2:])
    dip = np.empty((len(looks), n))  # between neighbours
    dip[:, 0], dip[:, -1] = bends[:, 0], bends[:, -1]
    np.maximum(bends[:, :-1], bends[:, 1:], out=dip[:, 1:-1])
    dip *= DIP
    low, high = looks[:, :-1], looks[:, 1:]
    falls = (low > 0) & (high <= 0)
    doubtful = ((np.abs(low) <= dip) | (np.abs(high) <= dip)) & ~falls
    falls[leaving, 0] = False  # it may rise and fall before the first look
    at_first = np.where(rising, high[:, 0], np.abs(high[:, 0])) <= dip[:, 0]
    doubtful[:, 0] = np.where(leaving, at_first, doubtful[:, 0] | (low[:, 0] <= 0))
    some = falls.any(axis=1)
    first = np.where(some, np.argmax(falls, axis=1), n)
    unsure = (doubtful & (np.arange(n) < first[:, None])).any(axis=1)
    rows, place = np.arange(len(looks)), np.minimum(first, n - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        x = (first + low[rows, place] / (low[rows, place] - high[rows, place])) / n
    return np.where(unsure, np.nan, np.where(some, x, np.inf))


def _roots(nodes: Array, values: Array, size: float) -> Array:
    """Real roots of the polynomial through the values, near the step."""
    series = chebyshev.chebtrim(chebyshev.chebfit(2 * nodes - 1, values, N_NODES - 1), FLAT * size)
    roots = chebyshev.chebroots(series) if len(series) > 1 else np.zeros(0)
    real = (1 + np.real(roots[np.abs(np.imag(roots)) < REAL])) / 2
    return np.asarray(real[(real > -NEAR) & (real < 1 + NEAR)])


def _refined(guard: Callable[[Array], Array], low: float, high: float) -> float:
    from scipy.optimize import brentq

    def one(x: float) -> float:
        return float(guard(np.array([x]))[0])

    first, last = one(low), one(high)
    if first <= 0 or last >= 0:  # on a root itself
        return low if first <= 0 else high
    return float(brentq(one, low, high, xtol=1e-15, rtol=1e-14))
