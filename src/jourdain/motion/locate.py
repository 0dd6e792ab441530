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


def first_fall(guard: Callable[[Array], Array], leaving: bool) -> float | None:
    """The part x of a step, 0 ≤ x ≤ 1, at which guard(x) first falls through 0; None if it does not.

    `guard`: of an array of x. `leaving`: it starts on 0, or below, and rises; that is not a fall.
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
    edges = edges[edges > NEAR] if leaving else edges
    middles = np.sort(np.concatenate([edges, (edges[1:] + edges[:-1]) / 2]))
    signs = guard(middles)
    above = False
    for i, value in enumerate(signs):
        if value > 0:
            above = True
        elif above and (value < 0 or i == len(signs) - 1):
            return _refined(guard, middles[i - 1], middles[i])
    return None


def seen_to_fall(looks: Array, leaving: bool, rising: bool) -> float | None:
    """The same from values at equal parts of a step, to start from; NaN where they do not tell, None for no fall.

    `rising`: it leaves 0 upwards, and might be down again at the first look.
    """
    n = len(looks) - 1
    bends = np.abs(looks[:-2] - 2 * looks[1:-1] + looks[2:])
    dip = np.maximum(np.append(bends[0], bends), np.append(bends, bends[-1])) * DIP  # between neighbours
    low, high = looks[:-1], looks[1:]
    falls = (low > 0) & (high <= 0)
    doubtful = ((np.abs(low) <= dip) | (np.abs(high) <= dip)) & ~falls
    if leaving:  # it may rise and fall before the first look
        falls[0], doubtful[0] = False, high[0] <= dip[0] if rising else abs(high[0]) <= dip[0]
    elif low[0] <= 0:
        return float("nan")
    first = int(np.argmax(falls)) if falls.any() else n
    if doubtful[:first].any():
        return float("nan")
    return None if first == n else (first + low[first] / (low[first] - high[first])) / n


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
