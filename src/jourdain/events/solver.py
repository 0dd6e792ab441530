"""Quantities of one event for many lanes, each with its status: by the quick road where it does, else carefully.

The quick road takes the rows to be well apart and all checks to pass; it says where that is not so. Those lanes are
solved again by the careful road, which decides rank and status. Few lanes take the careful road at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import casadi as ca
import numpy as np
from casadi import SX
from numpy.typing import NDArray

from jourdain.algebra.checks import DOUBTFUL_MASS
from jourdain.algebra.contacts.iteration import Iterated
from jourdain.algebra.lapack import positive_definite
from jourdain.compute.evaluate import KERNEL_FROM, Evaluator, Place, Values
from jourdain.errors import Status
from jourdain.inputs import Array
from jourdain.progress import Progress

Statuses = NDArray[np.int8]
Build = Callable[[bool], tuple[dict[str, SX], SX]]  # whether rows are well apart → quantities, verdict
N_PROBES = 64  # lanes that are tried first


class Solver:
    """Some quantities of an event as functions of input columns. M is the mass matrix in the same inputs.

    `iterated`: what of the event is found by iteration, and goes into the quantities as more inputs; `slopes`: its
    derivatives too.
    """

    def __init__(
        self, inputs: Sequence[SX], build: Build, M: SX, iterated: Iterated | None = None, slopes: bool = False
    ) -> None:
        self.inputs = tuple(inputs)
        self._build = build
        self._M = M
        self._iterated = iterated
        self._slopes = slopes

    @cached_property
    def careful(self) -> Evaluator:
        return Evaluator((*self.inputs, *self._found), *self._build(False))

    @cached_property
    def quick(self) -> Evaluator:
        """Of what varies: a constant, such as the null space of independent rows, is not written a million times."""
        values, verdict = self._build(True)
        varying = {name: value for name, value in values.items() if not value.is_constant() or not value.numel()}
        return Evaluator((*self.inputs, *self._found), varying, verdict)

    @cached_property
    def _constants(self) -> dict[str, Array]:
        """What does not vary on the quick road, (rows, columns)."""
        constant = {name: value for name, value in self._build(True)[0].items() if name not in self.quick.places}
        return {name: np.array(ca.DM(value)) for name, value in constant.items()}

    @cached_property
    def _found(self) -> list[SX]:
        return [] if self._iterated is None else self._iterated.inputs(self._slopes)

    @cached_property
    def _asking(self) -> Evaluator:
        assert self._iterated is not None
        return Evaluator(self.inputs, {"asked": self._iterated.asked})

    def _with_found(self, columns: Sequence[Array | float], batch: tuple[int, ...]) -> Sequence[Array | float]:
        """The columns, and those of what an iteration finds for them."""
        if self._iterated is None:
            return columns
        asked, _ = self._asking.over(columns, batch)
        found = self._iterated.columns(asked.table, self._slopes)
        return [*columns, *(column.reshape(batch) for column in found)]

    @cached_property
    def mass_matrix(self) -> Evaluator:
        return Evaluator(self.inputs, {"M": self._M})

    def __call__(self, *arrays: Array) -> tuple[Values, Statuses]:
        """Arrays `(*batch, n_i)` with one batch shape → values, status `(*batch,)`."""
        batch = arrays[0].shape[:-1]
        if not batch and self._iterated is None:
            values, flags = self.careful.flagged(*arrays)
            if flags[0] < DOUBTFUL_MASS:
                return values, flags[0]
            return values, self._decided(values, flags, list(np.concatenate(arrays)))
        return self.over([array[..., i] for array in arrays for i in range(array.shape[-1])], batch)

    def over(
        self,
        columns: Sequence[Array | float],
        batch: tuple[int, ...],
        progress: Progress = None,
        n_threads: int | None = None,
    ) -> tuple[Values, Statuses]:
        """The same from one array per input number, each of which broadcasts to `batch`."""
        given = len(columns)
        columns = self._with_found(columns, batch)
        if math.prod(batch) < KERNEL_FROM or not promising(self.quick, columns, batch):
            values, flags = self.careful.over(columns, batch, progress, n_threads)
            return values, self._decided(values, flags, columns[:given])
        values, flags = self.quick.over(columns, batch, progress, n_threads)
        status = flags[0]
        again = np.flatnonzero(status.reshape(-1))
        if again.size:
            some = _some(columns, batch, again)
            careful, flags = self.careful.over(some, again.shape, None, n_threads)
            status.reshape(-1)[again] = self._decided(careful, flags, some[:given])
        constants = {name: np.broadcast_to(matrix.reshape(-1, 1), (matrix.size, status.size))
                     for name, matrix in self._constants.items()}  # fmt: skip
        if again.size:
            for name in self.quick.places:
                values.numbers(name)[:, again] = careful.numbers(name)
            constants = {name: np.array(numbers) for name, numbers in constants.items()}
            for name, numbers in constants.items():
                numbers[:, again] = careful.numbers(name)
        places = {name: Place(0, *matrix.shape) for name, matrix in self._constants.items()} | dict(values.places)
        return Values(places, values.table, batch, constants), status

    def _decided(self, values: Values, flags: Statuses, columns: Sequence[Array | float]) -> Statuses:
        """The status, after a look at M where it is doubtful. Lanes that fail it get NaN."""
        status: Statuses = flags[0]
        if not (status >= DOUBTFUL_MASS).any():
            return status
        flat = status.reshape(-1).copy()
        doubtful = np.flatnonzero(flat >= DOUBTFUL_MASS)
        flat[doubtful] -= DOUBTFUL_MASS
        M = self.mass_matrix.over(_some(columns, values.batch, doubtful), doubtful.shape)[0]["M"]
        bad = doubtful[np.isfinite(M).all(axis=(-2, -1)) & ~positive_definite(M)]
        flat[bad] = Status.NOT_POSITIVE_DEFINITE
        values.table[:, bad] = np.nan
        return flat.reshape(status.shape)


def promising(quick: Evaluator, columns: Sequence[Array | float], batch: tuple[int, ...]) -> bool:
    """Whether most of a few lanes can take the quick road, which its flags tell."""
    lanes = np.linspace(0, math.prod(batch) - 1, N_PROBES).astype(int)
    some = _some(columns, batch, lanes)
    flags = quick.probed(some, N_PROBES)
    return bool(np.mean(flags[0] == 0) > 0.5)


def _some(columns: Sequence[Array | float], batch: tuple[int, ...], lanes: NDArray[np.intp]) -> list[Array | float]:
    """Some lanes of every column, one axis; without batch axes there is one lane."""
    place = np.unravel_index(lanes, batch) if batch else (np.zeros(1, dtype=int),)
    return [np.broadcast_to(column, batch or (1,))[place] for column in columns]
