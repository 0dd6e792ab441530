"""Who takes part in a benchmark, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from jourdain.errors import BadEvent
from jourdain.inputs import Array

AGREEMENT = 1e-9  # of the largest number of its kind


@dataclass(frozen=True)
class Contestant:
    """Something that does n of its kind when called: events, steps, starts."""

    name: str
    n: int
    call: Callable[[], Any]
    note: str = ""


@dataclass(frozen=True)
class Result:
    """How many per second, median over the repetitions."""

    name: str
    rate: float
    note: str = ""


def check_equal(peer: str, what: str, ours: Array, theirs: Array, largest: float) -> None:
    """Raise unless a peer has the same numbers; `largest` of their kind."""
    off = float(np.max(np.abs(ours - theirs)) / largest)
    if not off <= AGREEMENT:
        raise BadEvent(f"{peer} and jourdain differ in {what} by {off:.1e}: nothing was timed.")


Pair = tuple[str, str]  # rows that are compared: ours, theirs


def ratios(results: Iterable[Result], pairs: Iterable[Pair]) -> dict[str, float]:
    """How many times as fast ours is, for the pairs of which both were timed."""
    rate = {result.name: result.rate for result in results}
    return {f"{ours} / {theirs}": rate[ours] / rate[theirs] for ours, theirs in pairs if {ours, theirs} <= set(rate)}
