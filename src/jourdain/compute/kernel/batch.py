"""Kernels on arrays: how the inputs lie in memory, who computes which lanes, where the outputs go."""

from __future__ import annotations

import itertools
import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jourdain.compute.kernel import emit
from jourdain.compute.kernel.compiler import compiled
from jourdain.compute.kernel.tape import Tape
from jourdain.compute.kernel.target import Target
from jourdain.compute.memory import check_batch
from jourdain.errors import BadEvent
from jourdain.inputs import Array, Statuses

CHUNK = 1 << 15  # lanes that a thread takes at a time
ROOM = 8 * emit.WIDEST  # bytes; rows are a multiple of it
SMALLEST_SPARE, LARGEST_SPARE = 1 << 22, 1 << 29  # bytes of memory that is kept for the next table
FOREVER = 1 << 62  # a number that does not vary is repeated as often as needed


class Lanes(NamedTuple):
    """One input over the lanes: lane k reads `data[((k // repeat) % size) * step]`, counted in doubles."""

    data: Array
    repeat: int
    size: int
    step: int

    @classmethod
    def of(cls, array: Array, batch: tuple[int, ...]) -> Lanes:
        """An array that broadcasts to `batch`, read in C order; it is copied only if it cannot be read as it lies."""
        if array.size == 1:
            return cls(np.array(array, dtype=float), FOREVER, 1, 1)
        if array.dtype != np.float64 or not array.flags.aligned:
            array = array.astype(float)
        full = np.broadcast_to(array, batch)
        axes = [(n, stride) for n, stride in zip(full.shape, full.strides, strict=True) if n > 1]
        repeat = 1
        while axes and axes[-1][1] == 0:
            repeat *= axes.pop()[0]
        while axes and axes[0][1] == 0:
            axes.pop(0)
        if not axes or not full.size:
            return cls(array, FOREVER, 1, 1)
        even = all(outer == stride * n for (_, outer), (n, stride) in itertools.pairwise(axes))
        step = axes[-1][1]
        if not even or step % 8:
            return cls.of(np.ascontiguousarray(full), batch)
        return cls(full, repeat, int(np.prod([n for n, _ in axes])), step // 8)


class Kernel:
    """A compiled tape, or SX function with one input column and one dense output column.

    The last `n_flags` outputs are small integers. The tape of a function is read only if it is not in the cache.
    `title`: what is said to be compiled, if it takes long.
    """

    def __init__(
        self, source: Tape | ca.Function, n_flags: int = 0, target: Target | None = None, title: str = "a kernel"
    ) -> None:
        self.n_flags = n_flags
        self.target = target or Target.host()
        if isinstance(source, Tape):
            self.n_inputs, self.n_outputs = source.n_inputs, len(source.outputs)
            self._compiled = compiled(source.content(), lambda: source, n_flags, self.target, title)
        else:
            self.n_inputs, self.n_outputs = source.numel_in(0), source.numel_out(0)
            content = source.serialize().encode()
            self._compiled = compiled(content, lambda: Tape.of(source), n_flags, self.target, title)

    @property
    def run(self) -> Any:
        """The compiled function itself, see `emit`; the kernel must stay alive."""
        return self._compiled.run

    @property
    def from_cache(self) -> bool:
        return self._compiled.from_cache

    def __call__(
        self,
        inputs: Sequence[Lanes],
        n: int,
        n_threads: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[Array, Statuses]:
        """The outputs of n lanes, `(n_values, n)`, and the flags, `(n_flags, n)`. `progress(lanes done now)`."""
        table = new_table(self.n_outputs - self.n_flags, n, np.float64)
        flags = new_table(self.n_flags, n, np.int8)
        described = np.array([[lanes.data.ctypes.data, lanes.repeat, lanes.size, lanes.step] for lanes in inputs],
                             dtype=np.int64).reshape(-1, 4)  # fmt: skip
        addresses = (table.ctypes.data, table.strides[0] // 8, flags.ctypes.data, flags.strides[0])
        run = self._compiled.run
        described_at = described.ctypes.data

        def chunk(start: int) -> None:
            stop = min(start + CHUNK, n)
            run(start, stop, described_at, *addresses)
            if progress is not None:
                progress(stop - start)

        starts = range(0, n, CHUNK)
        n_workers = min(n_threads or threads(), len(starts))
        if n_workers <= 1:
            for start in starts:
                chunk(start)
        else:
            queue = iter(starts)  # `next` on it is atomic

            def work() -> None:
                try:
                    for start in queue:
                        chunk(start)
                finally:  # after an error the others have nothing left to do
                    deque(queue, maxlen=0)

            futures = [_pool(n_workers, os.getpid()).submit(work) for _ in range(n_workers)]
            try:
                for future in futures:
                    future.result()
            finally:  # nor after Ctrl-C; and nobody may write to the tables once they are gone
                deque(queue, maxlen=0)
                wait(futures)
        return table, flags


def threads() -> int:
    """`JOURDAIN_THREADS`, or one per core that this process may use."""
    given = os.environ.get("JOURDAIN_THREADS", "")
    if given:
        if not given.isdecimal() or int(given) < 1:
            raise BadEvent(f"JOURDAIN_THREADS is '{given}'; it must be a whole number, 1 or more.")
        return int(given)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@lru_cache(maxsize=4)
def _pool(n_threads: int, process: int) -> ThreadPoolExecutor:
    """Kept between calls; a forked process makes its own."""
    return ThreadPoolExecutor(n_threads, thread_name_prefix="jourdain")


def new_table(n_rows: int, n: int, dtype: type[Any]) -> NDArray[Any]:
    """Uninitialised rows of n entries. Each starts on a cache line and has room for whole vectors; row lengths that
    are a multiple of a page, which would make all rows fight for the same lines of the cache, are avoided.
    """
    size = np.dtype(dtype).itemsize
    row = -(-max(n, 1) * size // ROOM) * ROOM
    if n_rows > 1 and row % 4096 == 0:
        row += ROOM
    check_batch((n,), -(-n_rows * size // 8))
    room = np.asarray(Room.of(n_rows * row + 64))
    start = -room.ctypes.data % 64
    rows = room[start : start + n_rows * row].reshape(n_rows, row)
    return np.asarray(rows.view(dtype)[:, :n])


class Room:
    """Bytes that arrays are made of. The last large piece that was given back serves the next table of its size:
    memory that is new from the system has to be cleared first, which takes as long as computing what goes into it.
    """

    spare: list[NDArray[np.uint8]] = []  # one piece at most

    def __init__(self, content: NDArray[np.uint8]) -> None:
        self.content = content
        address = content.ctypes.data
        self.__array_interface__ = {"data": (address, False), "shape": content.shape, "typestr": "|u1", "version": 3}

    @classmethod
    def of(cls, size: int) -> Room:
        if size < SMALLEST_SPARE:
            return cls(np.empty(size, dtype=np.uint8))
        try:
            kept = cls.spare.pop()
        except IndexError:
            return cls(np.empty(size, dtype=np.uint8))
        return cls(kept if size <= kept.size <= 2 * size else np.empty(size, dtype=np.uint8))

    def __del__(self) -> None:
        """Nobody refers to an array in it any more."""
        if SMALLEST_SPARE <= self.content.size <= LARGEST_SPARE:
            Room.spare[:] = [max([self.content, *Room.spare], key=len)]
