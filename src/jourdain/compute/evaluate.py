"""From CasADi expressions to numbers: the one seam behind which expressions are evaluated.

Few samples go through CasADi's virtual machine, which starts at once; many through a compiled kernel of the same
instructions. The number of samples alone decides, so that a call gives the same digits whatever was called before.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.compute.forks import new_lock
from jourdain.errors import NotExpressible
from jourdain.inputs import Array, Statuses
from jourdain.progress import Progress, working

if TYPE_CHECKING:
    from jourdain.compute.kernel.batch import Kernel


Batch: TypeAlias = tuple[int, ...]
Columns: TypeAlias = Sequence[Array | float]  # one per input number, each broadcasts to the batch

NARROWEST = 2  # samples in a vector, on every machine
KERNEL_FROM = 1024  # samples; compiling takes as long as some ten thousand samples of the virtual machine, once


N_NAMED = 3  # quantities in a title


class Place(NamedTuple):
    """Where a named matrix stands in a column of numbers, row by row."""

    start: int
    n_rows: int
    n_columns: int


class Values(Mapping[str, Array]):
    """Named matrices of every sample, `(*batch, rows, columns)`, cut out of one table when they are read."""

    def __init__(
        self, places: Mapping[str, Place], table: Array, batch: Batch, beside: Mapping[str, Array] = {}
    ) -> None:
        self.places = places
        self.table = table  # (numbers, samples)
        self.batch = batch
        self.beside = beside  # (numbers, samples) of those that are not in the table

    def numbers(self, name: str) -> Array:
        """The numbers of a matrix row by row, `(numbers, samples)`."""
        start, n_rows, n_columns = self.places[name]
        return self.beside[name] if name in self.beside else self.table[start : start + n_rows * n_columns]

    def __getitem__(self, name: str) -> Array:
        _, n_rows, n_columns = self.places[name]
        return self.numbers(name).T.reshape(*self.batch, n_rows, n_columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


class Evaluator:
    """Named expressions of some input columns, as a function of arrays; `flags` are small integers besides.

    `constants_once`: outputs that do not vary, such as the null space of independent rows, are not written for every
    sample. `title`: what is said to be compiled, if it takes long.
    """

    def __init__(
        self,
        inputs: Sequence[SX],
        outputs: Mapping[str, SX],
        flags: SX | None = None,
        constants_once: bool = False,
        title: str = "",
    ) -> None:
        self.inputs = tuple(inputs)
        self.title = title or _several(list(outputs))
        constant = [name for name, x in outputs.items() if constants_once and x.is_constant() and x.numel()]
        self._constants = {name: np.array(ca.DM(outputs[name])) for name in constant}
        self.outputs = {name: outputs[name] for name in outputs if name not in constant}
        self.flags = SX(0, 1) if flags is None else flags
        self.places: dict[str, Place] = {}
        self.n_values = 0
        for name, expression in self.outputs.items():
            self.places[name] = Place(self.n_values, *expression.shape)
            self.n_values += expression.numel()
        self._all_places = {name: Place(0, *matrix.shape) for name, matrix in self._constants.items()} | self.places
        self._lock = new_lock()

    @cached_property
    def function(self) -> ca.Function:
        """One column in, one column out."""
        with working("Simplifying", self.title, 1) as begin:
            begin()
            columns = [ca.densify(ca.vec(expression.T)) for expression in self.outputs.values()]  # row by row
            column = ca.densify(ca.vertcat(SX(0, 1), *columns, self.flags))
            return ca.Function("expressions", [ca.vertcat(SX(0, 1), *self.inputs)], [column], {"cse": True})

    @cached_property
    def kernel(self) -> Kernel | None:
        """Compiled; None where that is not possible, and CasADi's virtual machine does the work."""
        return self._compiled()

    @cached_property
    def narrow(self) -> Kernel | None:
        """The same in the shortest vectors, for one sample at a time."""
        return self._compiled(NARROWEST)

    def _compiled(self, width: int | None = None) -> Kernel | None:
        try:
            from jourdain.compute.kernel.batch import Kernel
            from jourdain.compute.kernel.target import Target

            return Kernel(self.function, self.flags.numel(), Target.host(width), self.title)
        except (NotExpressible, ImportError, OSError, RuntimeError) as error:
            # An operation that only CasADi knows, no llvmlite, no C library, no machine that LLVM knows.
            reason = str(error).partition("\n")[0]
            warnings.warn(f"Large batches are slow here, no kernel could be compiled: {reason}", stacklevel=3)
            return None

    def __call__(self, *arrays: Array) -> Values:
        """Arrays `(*batch, n_i)`, one per input, with one batch shape."""
        return self.flagged(*arrays)[0]

    def flagged(self, *arrays: Array) -> tuple[Values, Statuses]:
        """The values, and the flags `(n_flags, *batch)`."""
        batch = arrays[0].shape[:-1]
        if not batch:
            numbers = self._one(arrays)
            return self._values(numbers[: self.n_values, None], ()), numbers[self.n_values :].astype(np.int8)
        n = math.prod(batch)
        if n < KERNEL_FROM:
            table, flags = self._by_machine(np.concatenate([a.reshape(n, a.shape[-1]) for a in arrays], axis=-1))
            return self._values(table, batch), flags.reshape(len(flags), *batch)
        columns = [array[..., i] for array in arrays for i in range(array.shape[-1])]
        return self.over(columns, batch)

    def many(self, *arrays: Array) -> Values:
        """The same of arrays `(samples, n_i)` by the kernel, however few: for those that are called again and again."""
        if self.kernel is None:
            return self(*arrays)
        batch = (len(arrays[0]),)
        columns = [array[..., i] for array in arrays for i in range(array.shape[-1])]
        return self._values(_by_kernel(self.kernel, columns, batch)[0], batch)

    def probed(self, columns: Columns, n: int) -> Statuses:
        """The flags of a few samples, `(n_flags, n)`; by the kernel if there is one already, which takes no time."""
        kernel: Kernel | None = self.__dict__.get("kernel")
        return self.over(columns, (n,))[1] if kernel is None else _by_kernel(kernel, columns, (n,), 1)[1]

    def over(
        self, columns: Columns, batch: Batch, progress: Progress = None, n_threads: int | None = None
    ) -> tuple[Values, Statuses]:
        """The same from one array per input number, each of which broadcasts to `batch`."""
        n = math.prod(batch)
        if n >= KERNEL_FROM and self.kernel is not None:
            table, flags = _by_kernel(self.kernel, columns, batch, n_threads, progress)
        else:
            samples = np.empty((n, len(columns)))
            for i, column in enumerate(columns):
                samples[:, i] = np.broadcast_to(column, batch).reshape(-1)
            table, flags = self._by_machine(samples)
            if progress is not None:
                progress(n)
        return self._values(table, batch), flags.reshape(len(flags), *batch)

    def _values(self, table: Array, batch: Batch) -> Values:
        if not self._constants:
            return Values(self.places, table, batch)
        columns = {name: matrix.reshape(-1, 1) for name, matrix in self._constants.items()}
        beside = {name: np.broadcast_to(column, (len(column), table.shape[1])) for name, column in columns.items()}
        return Values(self._all_places, table, batch, beside)

    def _one(self, arrays: Sequence[Array]) -> Array:
        """Values and flags of one sample."""
        with self._lock:
            evaluate, arguments, result, _ = self._machine
            np.concatenate(arrays, out=arguments)
            evaluate()
            return result.copy()

    def _by_machine(self, samples: Array) -> tuple[Array, Statuses]:
        """By CasADi's virtual machine: `(samples, inputs)` → `(n_values, samples)`, `(n_flags, samples)`."""
        results = np.empty((len(samples), self.n_values + self.flags.numel()))
        with self._lock:
            evaluate, arguments, result, _ = self._machine
            for sample, numbers in enumerate(samples):
                arguments[:] = numbers
                evaluate()
                results[sample] = result
        return results[:, : self.n_values].T, results[:, self.n_values :].T.astype(np.int8)

    @cached_property
    def _machine(self) -> tuple[Callable[[], Any], Array, Array, Any]:
        """What evaluates, where it reads, where it writes, and CasADi's own record of these, which must stay alive."""
        buffer: Any
        buffer, evaluate = self.function.buffer()
        arguments, result = np.zeros(self.function.numel_in(0)), np.zeros(self.function.numel_out(0))
        if arguments.size:
            buffer.set_arg(0, memoryview(arguments.data))
        if result.size:
            buffer.set_res(0, memoryview(result.data))
        return evaluate, arguments, result, buffer


def _by_kernel(
    kernel: Kernel, columns: Columns, batch: Batch, n_threads: int | None = None, progress: Progress = None
) -> tuple[Array, Statuses]:
    from jourdain.compute.kernel.batch import Lanes

    lanes = [Lanes.of(np.asarray(column), batch) for column in columns]
    return kernel(lanes, math.prod(batch), n_threads, progress)


def _several(names: list[str]) -> str:
    """The first of many names."""
    return (
        ", ".join(names) if len(names) <= N_NAMED else f"{', '.join(names[:N_NAMED])} and {len(names) - N_NAMED} more"
    )
