"""Quantities of one event for many samples, each with its status: by the fast path where it holds, else robustly.

The fast path assumes that the rows are independent and that all checks pass, and flags the samples where they are not
or do not. The robust path decides rank and status. Few samples take the robust path at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from casadi import SX

from jourdain.algebra.checks import DOUBTFUL_DIGITS, DOUBTFUL_MASS
from jourdain.algebra.contacts.iteration import Iterated
from jourdain.algebra.lapack import SEMIDEFINITE, positive_definite, smallest_eigenvalue
from jourdain.algebra.outcome import change
from jourdain.algebra.problem import Problem
from jourdain.compute.evaluate import KERNEL_FROM, Batch, Columns, Evaluator, Values
from jourdain.compute.fallback import FastThenRobust, Samples, at_samples, computed_again
from jourdain.compute.fallback import promising as promising
from jourdain.errors import Status
from jourdain.inputs import Array, Statuses
from jourdain.progress import Progress, working

Build = Callable[[bool], tuple[dict[str, SX], SX]]  # whether rows are independent → quantities, verdict


@dataclass(frozen=True)
class Refined:
    """How samples are solved again whose light velocities lose digits: DOUBTFUL_DIGITS is added to their verdict."""

    problem: Callable[[], Problem[SX]]  # in the same inputs
    dv: SX  # the symbols of v⁺ − v⁻, which is computed from the numbers of the problem
    build: Callable[[], tuple[dict[str, SX], SX]]  # the quantities in the inputs and `dv`

    def written_in(self, inputs: Sequence[SX]) -> tuple[Evaluator, Callable[[Values], Array]]:
        """(what evaluates the problem, its numbers → v⁺ − v⁻ `(*batch, n)`)."""
        arrays: list[SX] = []

        def noted(array: SX) -> SX:
            arrays.append(SX(array))
            return array

        problem = self.problem().changed(noted)

        def solved(values: Values) -> Array:
            numbers = iter([values[name] for name in values])
            with np.errstate(all="ignore"):  # what is not finite is refused
                return np.asarray(change(problem.changed(lambda _: next(numbers)))[..., 0])

        return Evaluator(inputs, {str(i): array for i, array in enumerate(arrays)}), solved


class Solver:
    """Quantities of an event as functions of input columns. M is the mass matrix in the same inputs.

    `iterated`: the part of the event that is found by iteration, and goes into the quantities as more inputs; `slopes`:
    its derivatives too. `refined`: see there. `singular`: what solves samples whose M is only semidefinite. `title`:
    what is said to be compiled, if it takes long.
    """

    def __init__(
        self,
        inputs: Sequence[SX],
        build: Build,
        M: SX,
        iterated: Iterated | None = None,
        refined: Refined | None = None,
        singular: Callable[[], Solver] | None = None,
        slopes: bool = False,
        title: str = "",
    ) -> None:
        self.inputs = tuple(inputs)
        self._build = build
        self._M = M
        self._iterated = iterated
        self._slopes = slopes
        self._refined = refined
        self._singular = singular
        self._title = title
        self._paths = FastThenRobust(self._path)

    def _path(self, independent: bool) -> Evaluator:
        """The quantities, where rows are assumed to be independent or not."""
        with working("Deriving", self._title or "the expressions of an event", 1) as begin:
            begin()
            built = self._build(independent)
        return Evaluator(self._all_inputs, *built, constants_once=independent, title=self._title)

    @property
    def robust(self) -> Evaluator:
        return self._paths.robust

    @property
    def fast(self) -> Evaluator:
        return self._paths.fast

    @cached_property
    def _all_inputs(self) -> list[SX]:
        """The inputs, and the symbols of what an iteration finds."""
        return [*self.inputs, *([] if self._iterated is None else self._iterated.inputs(self._slopes))]

    @cached_property
    def _iteration_inputs(self) -> Evaluator:
        assert self._iterated is not None
        return Evaluator(self.inputs, {"asked": self._iterated.asked})

    def _with_iterated(self, columns: Columns, batch: Batch) -> Columns:
        """The columns, and those of what an iteration finds for them."""
        if self._iterated is None:
            return columns
        asked, _ = self._iteration_inputs.over(columns, batch)
        iterated = self._iterated.columns(asked.table, self._slopes)
        return [*columns, *(column.reshape(batch) for column in iterated)]

    @cached_property
    def _singular_solver(self) -> Solver:
        assert self._singular is not None
        return self._singular()

    @cached_property
    def mass_matrix(self) -> Evaluator:
        return Evaluator(self.inputs, {"M": self._M})

    def __call__(self, *arrays: Array) -> tuple[Values, Statuses]:
        """Arrays `(*batch, n_i)` with one batch shape → values, status `(*batch,)`."""
        batch = arrays[0].shape[:-1]
        if not batch and self._iterated is None:
            values, flags = self.robust.flagged(*arrays)
            if flags[0] < DOUBTFUL_DIGITS:
                return values, flags[0]
            return self._decided(values, flags, list(np.concatenate(arrays)))
        return self.over([array[..., i] for array in arrays for i in range(array.shape[-1])], batch)

    def over(
        self, columns: Columns, batch: Batch, progress: Progress = None, n_threads: int | None = None
    ) -> tuple[Values, Statuses]:
        """The same from one array per input number, each of which broadcasts to `batch`."""
        n_given = len(columns)
        columns = self._with_iterated(columns, batch)

        def robustly(columns: Columns, batch: Batch, progress: Progress = None) -> tuple[Values, Statuses]:
            values, flags = self.robust.over(columns, batch, progress, n_threads)
            return self._decided(values, flags, columns, n_given)

        def again(samples: Samples) -> tuple[Values, Statuses]:
            return robustly(at_samples(columns, batch, samples), samples.shape)

        if math.prod(batch) < KERNEL_FROM or not promising(self.fast, columns, batch):
            return robustly(columns, batch, progress)
        values, (status,) = self.fast.over(columns, batch, progress, n_threads)
        return computed_again(values, status, again)

    @cached_property
    def _refinement(self) -> tuple[Evaluator, Callable[[Values], Array], Evaluator]:
        """What evaluates the problem; its numbers → v⁺ − v⁻; the quantities in the inputs and v⁺ − v⁻."""
        assert self._refined is not None
        quantities = Evaluator([*self._all_inputs, self._refined.dv], *self._refined.build())
        return *self._refined.written_in(self.inputs), quantities

    def _again(self, columns: Columns, batch: Batch, n_given: int) -> tuple[Values, Statuses]:
        """The samples with all digits of light velocities."""
        problem, solved, quantities = self._refinement
        dv = solved(problem.over(columns[:n_given], batch)[0])
        values, (status,) = quantities.over([*columns, *np.moveaxis(dv, -1, 0)], batch)
        return values, status - DOUBTFUL_DIGITS * (status % DOUBTFUL_MASS >= DOUBTFUL_DIGITS)

    def _decided(
        self, values: Values, flags: Statuses, columns: Columns, n_given: int | None = None
    ) -> tuple[Values, Statuses]:
        """Values and status, after another look at light velocities, and a test of M where it is doubtful.

        Samples that fail it get NaN.
        """
        n_given = len(columns) if n_given is None else n_given
        status: Statuses = flags[0]
        light = np.atleast_1d(status % DOUBTFUL_MASS >= DOUBTFUL_DIGITS).reshape(-1)
        if light.any():
            batch = values.batch
            values, again = computed_again(
                values,
                light.astype(np.int8),
                lambda samples: self._again(at_samples(columns, batch, samples), samples.shape, n_given),
            )
            status = np.where(light, again, status.reshape(-1)).reshape(status.shape)
        if not (status >= DOUBTFUL_MASS).any():
            return values, status
        flat = status.reshape(-1).copy()
        doubtful = np.flatnonzero(flat >= DOUBTFUL_MASS)
        flat[doubtful] -= DOUBTFUL_MASS
        M = self.mass_matrix.over(at_samples(columns[:n_given], values.batch, doubtful), doubtful.shape)[0]["M"]
        singular = np.isfinite(M).all(axis=(-2, -1)) & ~positive_definite(M)
        bad = doubtful[singular]
        flat[bad] = Status.NOT_POSITIVE_DEFINITE
        values.table[:, bad] = np.nan
        if self._singular is not None and bad.size:
            others, batch = self._singular_solver, values.batch
            again = np.zeros(flat.shape, dtype=np.int8)
            again[bad] = smallest_eigenvalue(M[singular]) >= -SEMIDEFINITE
            values, redone = computed_again(
                values,
                again.copy(),
                lambda samples: others.over(at_samples(columns[:n_given], batch, samples), samples.shape),
            )
            flat = np.where(again > 0, redone, flat)
        return values, flat.reshape(status.shape)
