"""Where within a step guards first fall through zero, also for a short while.

A guard is known at equal parts of a step by value and slope. Between two looks it is taken for the cubic through them,
which the look halfway puts to the test: by how much that misses is the doubt. Where values, slopes and doubt leave room
for a fall, there is another look, halfway; so a dip is found that is much shorter than a step, and so is a guard that
swings many times within one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jourdain.inputs import Array

Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]
Look = Callable[[Indices, Array], tuple[Array, Array]]  # guards, parts of their steps → values, slopes by the part
On = tuple[Callable[..., Any], Callable[..., Any]]  # choice and the smaller of two, over arrays or over scalars
ARRAYS: On = (np.where, np.minimum)

NARROWEST = 1e-13  # part of a step: narrower intervals are not looked into
STRAIGHT = 0.1  # of a slope: doubt that leaves no room for a turn
NOTHING = 4.0  # times the noise: values and slopes that say nothing
MOST_INTERVALS = 512  # of one guard, at a time: one that needs more is noise


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

    def __getitem__(self, some: Any) -> Intervals:
        return Intervals(*(getattr(self, one.name)[some] for one in fields(self)))


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
    found = np.where(~leaving & (values[:, 0] <= 0), 0.0, np.inf)
    values[leaving, 0] = np.minimum(values[leaving, 0], 0.0)
    been_above = np.zeros(len(values), dtype=bool)
    place = np.arange(0, n, 2)
    guard, start = (grid.ravel() for grid in np.meshgrid(np.arange(len(values)), place, indexing="ij"))
    looks = [(array[guard, start], array[guard, start + 1], array[guard, start + 2]) for array in (values, slopes)]
    pieces = Intervals(guard, start / n, np.full(len(guard), 2 / n), *looks[0], *(2 / n * one for one in looks[1]))
    while len(pieces.guard):
        pieces = pieces[pieces.left < found[pieces.guard]]
        halves, unsure = _halved(pieces)
        clearly = np.maximum(halves.first, halves.last) > NOTHING * noise[halves.guard]
        np.logical_or.at(been_above, halves.guard, clearly)
        ends = (halves.first, halves.last, halves.at_first, halves.at_last)
        falls, may_fall = (flag > 0 for flag in judged(*ends, unsure, noise[halves.guard], ARRAYS))
        x = halves.left + halves.width * crossing(*ends, ARRAYS)
        np.minimum.at(found, halves.guard[falls], x[falls])
        may_fall &= halves.left < found[halves.guard]
        narrow = halves.width < NARROWEST
        crowded = np.bincount(halves.guard[may_fall], minlength=len(found))[halves.guard] > MOST_INTERVALS
        last_word = may_fall & (narrow | crowded) & (halves.first > 0) & (halves.last <= 0)
        np.minimum.at(found, halves.guard[last_word], x[last_word])
        halves = halves[may_fall & ~narrow & ~crowded]
        if not len(halves.guard):
            break
        middle, slope = look(halves.guard, halves.left + halves.width / 2)
        middle = np.where(np.abs(middle) <= noise[halves.guard], 0.0, middle)
        pieces = Intervals(
            halves.guard, halves.left, halves.width, halves.first, middle, halves.last,
            halves.at_first, slope * halves.width, halves.at_last,
        )  # fmt: skip
    sank = rising & ~been_above & (values[:, -1] < np.minimum(values[:, 0], 0.0) - NOTHING * noise)
    return np.where(sank, 0.0, found)


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


def judged(first: Any, last: Any, at_first: Any, at_last: Any, unsure: Any, noise: Any, on: On) -> tuple[Any, Any]:
    """(1 where the guard falls once and plainly in an interval, 1 where it may fall otherwise), else 0."""
    where, smaller = on

    def larger(a: Any, b: Any) -> Any:
        return -smaller(-a, -b)

    def size(a: Any) -> Any:
        return larger(a, -a)

    def yes(condition: Any) -> Any:
        return where(condition, 1.0, 0.0)

    above, below = yes(first > 0), yes(last <= 0)
    rise, slope = size(last - first), larger(size(at_first), size(at_last))
    flattest = smaller(size(at_first), size(at_last))
    one_way = larger(yes(at_first * at_last > 0), yes(flattest <= noise))
    straight = one_way * yes(unsure <= STRAIGHT * flattest + noise)  # no room for a turn
    seen = yes(unsure <= STRAIGHT * larger(rise, slope) + noise)  # else it does more than the looks show
    low = _lowest(first, last, at_first, at_last, on) - 2 * unsure
    high = -_lowest(-first, -last, -at_first, -at_last, on) + 2 * unsure
    stays = where(above > 0, yes(low > 0), larger(yes(high <= 0), straight * yes(at_first < -noise)))
    nothing = yes(larger(larger(size(first), size(last)), slope) <= NOTHING * noise)
    falls = above * below * straight * (1 - nothing)
    crosses = yes(size(above - below) < 0.5)  # one end is above, the other is not
    clear = larger(larger(falls, nothing), seen * where(crosses > 0, straight, stays))
    return falls, 1 - clear


def _lowest(first: Any, last: Any, at_first: Any, at_last: Any, on: On) -> Any:
    """A bound on the cubic from below: the lower end, or, where it sinks and then rises, what the tangents reach."""
    where, smaller = on
    ends = smaller(first, last)
    reach = smaller(smaller(first + at_first, last - at_last), ends)
    return where(at_first < 0, where(at_last > 0, reach, ends), ends)


def crossing(first: Any, last: Any, at_first: Any, at_last: Any, on: On) -> Any:
    """The part of an interval at which the cubic through its ends is about 0; halfway where these have one sign."""
    where, smaller = on
    rise = last - first
    x = -first / where(rise == 0, 1.0, rise)
    bend, turn = 3 * rise - 2 * at_first - at_last, at_first + at_last - 2 * rise
    for _ in range(2):  # Newton, from where a straight line would cross
        value, slope = first + x * (at_first + x * (bend + x * turn)), at_first + x * (2 * bend + 3 * x * turn)
        x = x - where(slope == 0, 0.0, value / where(slope == 0, 1.0, slope))
        x = -smaller(-smaller(x, 1.0 + 0 * x), 0 * x)
    return where(first > 0, where(last <= 0, x, 0.5), where(last > 0, x, 0.5))
