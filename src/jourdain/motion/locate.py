"""Where within a step guards first fall through zero, however shortly.

A guard is known at equal parts of a step by value and slope. Between two looks it is taken for the cubic through them,
which the look halfway puts to the test: by how much that misses is the doubt. Where values, slopes and doubt leave room
for a fall, there is another look, halfway; so a dip is found that is much shorter than a step, and so is a guard that
swings many times within one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]
Look = Callable[[Indices, Array], tuple[Array, Array]]  # guards, parts of their steps → values, slopes by the part
Number = TypeVar("Number")

NARROWEST = 1e-13  # part of a step: narrower intervals are not looked into
STRAIGHT = 0.1  # of a rise: doubt that leaves no room for a turn
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
        np.logical_or.at(been_above, halves.guard, np.maximum(halves.first, halves.last) > 0)
        falls, may_fall = _judged(halves, unsure, noise[halves.guard])
        x = halves.left + halves.width * _crossing(halves)
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
    sank = rising & ~been_above & (values[:, -1] < 0)
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


def _judged(p: Intervals, unsure: Array, noise: Array) -> tuple[Flags, Flags]:
    """(intervals in which the guard falls once and plainly, those in which it may fall otherwise)."""
    above, below = p.first > 0, p.last <= 0
    rise, slope = np.abs(p.last - p.first), np.maximum(np.abs(p.at_first), np.abs(p.at_last))
    one_way = (p.at_first * p.at_last > 0) | (np.minimum(np.abs(p.at_first), np.abs(p.at_last)) <= noise)
    straight = (unsure <= STRAIGHT * rise + noise) & one_way
    seen = unsure <= STRAIGHT * np.maximum(rise, slope) + noise  # else it does more than the looks show
    low = lowest(p.first, p.last, p.at_first, p.at_last, np.where, np.minimum) - 2 * unsure
    high = -lowest(-p.first, -p.last, -p.at_first, -p.at_last, np.where, np.minimum) + 2 * unsure
    stays = np.where(above, low > 0, (high <= 0) | (straight & (p.at_first <= noise)))
    nothing = np.maximum(np.maximum(np.abs(p.first), np.abs(p.last)), slope) <= NOTHING * noise
    falls = above & below & straight & ~nothing
    return falls, ~(falls | nothing | (seen & np.where(above == below, straight, stays)))


def lowest(first: Number, last: Number, at_first: Any, at_last: Any, where: Any, smaller: Any) -> Number:
    """A bound on the cubic from below: the lower end, or, where it sinks and then rises, what the tangents reach."""
    reach = smaller(first + at_first, last - at_last)
    turns = where(at_first < 0, where(at_last > 0, 1.0, 0.0), 0.0)
    return where(turns > 0, smaller(reach, smaller(first, last)), smaller(first, last))  # type: ignore[no-any-return]


def _crossing(p: Intervals) -> Array:
    """The part of each interval at which a straight line between its ends is 0; the middle where it has no sign."""
    rise = p.last - p.first
    crosses = (p.first > 0) != (p.last > 0)
    return np.where(crosses, np.clip(-p.first / np.where(rise != 0, rise, 1.0), 0.0, 1.0), 0.5)
