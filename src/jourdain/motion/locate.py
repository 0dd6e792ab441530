"""Where within a step guards first fall through zero, also for a short while.

A guard is known at equal parts of a step by value and slope. Between two looks it is taken for the cubic through them,
which the look halfway tests: by how much that misses is the doubt. Where values, slopes and doubt leave room for a
fall, there is another look, halfway; so a dip is found that is much shorter than a step, and so is a guard that swings
many times within one. The time of a fall is then refined by Newton's method on the length of the step itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jourdain.compute.branches import ARRAYS, Branches
from jourdain.inputs import Array, Flags

Indices = NDArray[np.int64]
Look = Callable[[Indices, Array], tuple[Array, Array]]  # guards, parts of their steps → values, slopes by the part

MIN_INTERVAL = 1e-13  # part of a step: shorter intervals are not divided
MAX_TURN_DOUBT = 0.1  # of a slope: a smaller doubt leaves no room for a turn
NOISE_MARGIN = 4.0  # times the noise: smaller values and slopes have no meaning
MAX_INTERVALS = 512  # of one guard, at a time: one that needs more is noise
MAX_REFINEMENTS = 13  # rounds of Newton's method
STEP_END = 1 + 1e-9  # of a step: its end, up to rounding
TIME_ROUNDING = 4e-16  # of the time: smaller corrections to that of an event are rounding


@dataclass(frozen=True)
class Intervals:
    """Pieces of steps, `(intervals,)` each, with looks at their ends and halfway; slopes are by their own part."""

    guard: Indices
    left: Array  # part of the step where it begins
    width: Array
    first: Array  # values
    middle: Array
    last: Array
    at_first: Array  # slopes
    at_middle: Array
    at_last: Array

    def __getitem__(self, chosen: Flags) -> Intervals:
        return Intervals(*(getattr(self, field.name)[chosen] for field in fields(self)))


def doubt(first: Any, middle: Any, last: Any, at_first: Any, at_last: Any) -> Any:
    """By how much the look halfway misses the cubic through the ends; signed, over arrays or CasADi scalars."""
    return middle - ((first + last) / 2 + (at_first - at_last) / 8)


def first_falls(values: Array, slopes: Array, noise: Array, leaving: Flags, rising: Flags, look: Look) -> Array:
    """The part x of its step, 0 ≤ x ≤ 1, at which each guard first falls through 0, `(guards,)`; infinity for none.

    `values`, `slopes`: at the ends of an even number of equal parts of the steps, `(guards, looks)`; values smaller
    than `noise`, `(guards,)`, are 0. `leaving`: it starts on 0 or below, which is not a fall; `rising`: because it does
    not sink at first, so that one which is found below falls at once, however short its hop. x is where to start a
    search: in the interval in which it falls.
    """
    n = values.shape[1] - 1
    values = np.where(np.abs(values) <= noise[:, None], 0.0, values)
    first_fall = np.where(~leaving & (values[:, 0] <= 0), 0.0, np.inf)
    values[leaving, 0] = np.minimum(values[leaving, 0], 0.0)
    been_above = np.zeros(len(values), dtype=bool)
    place = np.arange(0, n, 2)
    guard, start = (grid.ravel() for grid in np.meshgrid(np.arange(len(values)), place, indexing="ij"))
    looks = [(array[guard, start], array[guard, start + 1], array[guard, start + 2]) for array in (values, slopes)]
    pieces = Intervals(guard, start / n, np.full(len(guard), 2 / n), *looks[0], *(2 / n * slope for slope in looks[1]))
    while len(pieces.guard):
        pieces = pieces[pieces.left < first_fall[pieces.guard]]
        halves, unsure = _halved(pieces)
        clearly = np.maximum(halves.first, halves.last) > NOISE_MARGIN * noise[halves.guard]
        np.logical_or.at(been_above, halves.guard, clearly)
        ends = (halves.first, halves.last, halves.at_first, halves.at_last)
        falls, may_fall = (flag > 0 for flag in judged(*ends, unsure, noise[halves.guard], ARRAYS))
        x = halves.left + halves.width * crossing(*ends, ARRAYS)
        np.minimum.at(first_fall, halves.guard[falls], x[falls])
        may_fall &= halves.left < first_fall[halves.guard]
        narrow = halves.width < MIN_INTERVAL
        crowded = np.bincount(halves.guard[may_fall], minlength=len(first_fall))[halves.guard] > MAX_INTERVALS
        undivided = may_fall & (narrow | crowded) & (halves.first > 0) & (halves.last <= 0)
        np.minimum.at(first_fall, halves.guard[undivided], x[undivided])
        halves = halves[may_fall & ~narrow & ~crowded]
        if not len(halves.guard):
            break
        middle, slope = look(halves.guard, halves.left + halves.width / 2)
        middle = np.where(np.abs(middle) <= noise[halves.guard], 0.0, middle)
        pieces = Intervals(
            halves.guard, halves.left, halves.width, halves.first, middle, halves.last,
            halves.at_first, slope * halves.width, halves.at_last,
        )  # fmt: skip
    sank = rising & ~been_above & (values[:, -1] < np.minimum(values[:, 0], 0.0) - NOISE_MARGIN * noise)
    return np.where(sank, 0.0, first_fall)


def refined_length(value: Any, rate: Any, h: Any, used: Any, t: Any, branches: Branches) -> tuple[Any, Any, Any]:
    """(better h, inside, stop): a round of Newton's method on the length of a step that ends where a guard is 0.

    `value`, `rate`: of the guard, where a step of length h from t ends; `used`: length of the step in which it falls.
    `inside`: whether the better h is within that step; where it is not, the guard grazes, and where the search saw it
    is the better place. `stop`: it is not, or it differs from h by rounding. Both are 1 or 0.
    """
    where, _ = branches
    moves = rate != 0
    change = where(moves, value / where(moves, rate, 1.0), 0.0)
    better = h - change
    inside = where(better >= 0, where(better <= used * STEP_END, 1.0, 0.0), 0.0)
    settled = where(_size(change, branches) <= TIME_ROUNDING * branches.larger(_size(t, branches), used), 1.0, 0.0)
    return better, inside, 1 - inside * (1 - settled)


def _size(a: Any, branches: Branches) -> Any:
    return branches.larger(a, -a)


def _halved(pieces: Intervals) -> tuple[Intervals, Array]:
    """(the halves, middles not yet known; their doubts)."""
    p = pieces
    unsure = np.abs(doubt(p.first, p.middle, p.last, p.at_first, p.at_last))
    nothing = np.zeros(len(unsure))
    left = (p.first, nothing, p.middle, p.at_first / 2, nothing, p.at_middle / 2)
    right = (p.middle, nothing, p.last, p.at_middle / 2, nothing, p.at_last / 2)
    columns = [np.concatenate(pair) for pair in zip(left, right, strict=True)]
    half = p.width / 2
    start = np.concatenate([p.left, p.left + half])
    halves = Intervals(np.concatenate([p.guard, p.guard]), start, np.concatenate([half, half]), *columns)
    return halves, np.concatenate([unsure, unsure])


def judged(
    first: Any, last: Any, at_first: Any, at_last: Any, unsure: Any, noise: Any, branches: Branches
) -> tuple[Any, Any]:
    """(1 where the guard falls once and plainly in an interval, 1 where it may fall otherwise), else 0."""
    (where, smaller), larger = branches, branches.larger

    def size(a: Any) -> Any:
        return _size(a, branches)

    def yes(condition: Any) -> Any:
        return where(condition, 1.0, 0.0)

    above, below = yes(first > 0), yes(last <= 0)
    rise, slope = size(last - first), larger(size(at_first), size(at_last))
    flattest = smaller(size(at_first), size(at_last))
    one_way = larger(yes(at_first * at_last > 0), yes(flattest <= noise))
    straight = one_way * yes(unsure <= MAX_TURN_DOUBT * flattest + noise)  # no room for a turn
    seen = yes(unsure <= MAX_TURN_DOUBT * larger(rise, slope) + noise)  # else it does more than the looks show
    low = _lowest(first, last, at_first, at_last, branches) - 2 * unsure
    high = -_lowest(-first, -last, -at_first, -at_last, branches) + 2 * unsure
    stays = where(above > 0, yes(low > 0), larger(yes(high <= 0), straight * yes(at_first < -noise)))
    nothing = yes(larger(larger(size(first), size(last)), slope) <= NOISE_MARGIN * noise)
    falls = above * below * straight * (1 - nothing)
    crosses = yes(size(above - below) < 0.5)  # one end is above, the other is not
    clear = larger(larger(falls, nothing), seen * where(crosses > 0, straight, stays))
    return falls, 1 - clear


def _lowest(first: Any, last: Any, at_first: Any, at_last: Any, branches: Branches) -> Any:
    """A bound on the cubic from below: the lower end, or, where it sinks and then rises, what the tangents reach."""
    where, smaller = branches
    ends = smaller(first, last)
    reach = smaller(smaller(first + at_first, last - at_last), ends)
    return where(at_first < 0, where(at_last > 0, reach, ends), ends)


def crossing(first: Any, last: Any, at_first: Any, at_last: Any, branches: Branches) -> Any:
    """The part of an interval at which the cubic through its ends is about 0; halfway where these have one sign."""
    where, smaller = branches
    rise = last - first
    x = -first / where(rise == 0, 1.0, rise)
    bend, turn = 3 * rise - 2 * at_first - at_last, at_first + at_last - 2 * rise
    for _ in range(2):  # Newton, from where a straight line would cross
        value, slope = first + x * (at_first + x * (bend + x * turn)), at_first + x * (2 * bend + 3 * x * turn)
        x = x - where(slope == 0, 0.0, value / where(slope == 0, 1.0, slope))
        x = -smaller(-smaller(x, 1.0 + 0 * x), 0 * x)
    return where(first > 0, where(last <= 0, x, 0.5), where(last > 0, x, 0.5))
