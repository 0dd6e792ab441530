"""A kernel for one sample that feeds itself: its first outputs are its first inputs of the next round, until it stops.

Its numbers stay where they are, and the loop is machine code too, so that a round costs no Python.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from jourdain.compute.kernel.batch import FOREVER, Kernel, new_table
from jourdain.compute.kernel.compiler import assembled
from jourdain.inputs import Array

# (run, its described inputs, inputs, table, stride; fed back, outputs, which of them stops; records, how many) → rounds
_POINTER, _COUNT = ctypes.c_void_p, ctypes.c_int64
_LOOP = ctypes.CFUNCTYPE(
    _COUNT, _POINTER, _POINTER, _POINTER, _POINTER, _COUNT, _COUNT, _COUNT, _COUNT, _POINTER, _COUNT
)
_IR = """
define i64 @iterate(ptr %run, ptr %described, ptr %inputs, ptr %table, i64 %stride, i64 %fed, i64 %outputs,
                    i64 %stop, ptr %records, i64 %most) nounwind {
entry:
  %stop_at = mul i64 %stop, %stride
  %stops = getelementptr double, ptr %table, i64 %stop_at
  br label %round
round:
  %k = phi i64 [ 0, %entry ], [ %rounds, %again ]
  call void %run(i64 0, i64 1, ptr %described, ptr %table, i64 %stride, ptr null, i64 0)
  %row = mul i64 %k, %outputs
  br label %keep
keep:
  %i = phi i64 [ 0, %round ], [ %next, %kept ]
  %at = mul i64 %i, %stride
  %from = getelementptr double, ptr %table, i64 %at
  %value = load double, ptr %from, align 8
  %place = add i64 %row, %i
  %to = getelementptr double, ptr %records, i64 %place
  store double %value, ptr %to, align 8
  %is_fed = icmp slt i64 %i, %fed
  br i1 %is_fed, label %feed, label %kept
feed:
  %input = getelementptr double, ptr %inputs, i64 %i
  store double %value, ptr %input, align 8
  br label %kept
kept:
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %outputs
  br i1 %more, label %keep, label %kept_all
kept_all:
  %rounds = add i64 %k, 1
  %said = load double, ptr %stops, align 8
  %ends = fcmp une double %said, 0.0
  %full = icmp sge i64 %rounds, %most
  %over = or i1 %ends, %full
  br i1 %over, label %done, label %again
again:
  br label %round
done:
  ret i64 %rounds
}
"""


class Iterated:
    """Write `inputs`, call `rounds()`: the records of all rounds, `(rounds, outputs)`, which the next call overwrites.

    `n_fed`: how many outputs become inputs. The last output stops where it is not 0. `max_rounds`: in one call.
    """

    def __init__(self, kernel: Kernel, n_fed: int = 0, max_rounds: int = 1) -> None:
        n_in, n_out = kernel.n_inputs, kernel.n_outputs
        self.inputs: Array = np.zeros(n_in)
        self._records = np.zeros((max_rounds, n_out))
        addresses = self.inputs.ctypes.data + 8 * np.arange(n_in)
        described = np.column_stack([addresses, np.full(n_in, FOREVER), np.ones((n_in, 2), dtype=np.int64)])
        described = np.ascontiguousarray(described, dtype=np.int64)
        table = new_table(n_out, 1, np.float64)
        self._looped = (
            ctypes.cast(kernel.run, ctypes.c_void_p).value, described.ctypes.data, self.inputs.ctypes.data,
            table.ctypes.data, table.strides[0] // 8, n_fed, n_out, n_out - 1, self._records.ctypes.data, max_rounds,
        )  # fmt: skip
        self._owners = kernel, described, table  # of what the addresses point to
        self._loop = _loop()[0]

    def rounds(self) -> Array:
        """The records until it stops, or those of `max_rounds`."""
        return self._records[: self._loop(*self._looped)]


@cache
def _loop() -> tuple[Any, Any]:
    """The compiled loop, and what owns its code."""
    engine = assembled(_IR)
    return _LOOP(engine.get_function_address("iterate")), engine
