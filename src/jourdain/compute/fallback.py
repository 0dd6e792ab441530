"""A fast path for all samples, and a robust path for those that it flags."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from jourdain.compute.evaluate import Batch, Columns, Evaluator, Values
from jourdain.inputs import Array, Statuses

Samples: TypeAlias = NDArray[np.intp]  # places in the flat batch
# Samples `(n,)` → their matrices by name, `(n, rows, columns)`, and their status `(n,)`.
Robust: TypeAlias = Callable[[Samples], tuple[Mapping[str, Array], Statuses]]

N_PROBES = 64  # samples that are tried first
PROMISING_SHARE = 0.5  # of them, that must stay on the fast path


P = TypeVar("P")


class FastThenRobust(Generic[P]):
    """A fast path that holds under an assumption, and a robust one; each is made when it is first needed.

    Parameters
    ----------
    make
        Whether the assumption holds → the path.

    """

    def __init__(self, make: Callable[[bool], P]) -> None:
        self._make = make

    @cached_property
    def fast(self) -> P:
        return self._make(True)

    @cached_property
    def robust(self) -> P:
        return self._make(False)

    def run(self, samples: Samples, compute: Callable[[P, Samples], Samples]) -> None:
        """Compute samples by the fast path, and by the robust one those that `compute` returns."""
        left = compute(self.fast, samples)
        if left.size:
            compute(self.robust, left)


def computed_again(values: Values, status: Statuses, robust: Robust) -> tuple[Values, Statuses]:
    """The same with the samples that are flagged, whose status `(*batch,)` is not 0, computed by the robust path."""
    flat = status.reshape(-1)
    flagged = np.flatnonzero(flat)
    if not flagged.size:
        return values, status
    beside = {name: numbers.copy() for name, numbers in values.beside.items()}
    values = Values(values.places, values.table, values.batch, beside)
    redone, flat[flagged] = robust(flagged)
    for name in values:
        values.numbers(name)[:, flagged] = redone[name].reshape(flagged.size, -1).T
    return values, status


def promising(fast: Evaluator, columns: Columns, batch: Batch) -> bool:
    """Whether most of a few samples stay on the fast path: their first flag is 0."""
    samples = np.linspace(0, math.prod(batch) - 1, N_PROBES).astype(int)
    flags = fast.probed(at_samples(columns, batch, samples), N_PROBES)
    return bool(np.mean(flags[0] == 0) > PROMISING_SHARE)


def at_samples(columns: Columns, batch: Batch, samples: Samples) -> list[Array | float]:
    """Every column at these samples, `(n,)`; without batch axes there is one sample."""
    place = np.unravel_index(samples, batch) if batch else (np.zeros(1, dtype=int),)
    return [np.broadcast_to(column, batch or (1,))[place] for column in columns]
