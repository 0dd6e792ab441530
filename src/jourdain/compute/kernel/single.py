"""A kernel for one lane, called again and again: its numbers stay where they are."""

from __future__ import annotations

import numpy as np

from jourdain.compute.kernel.batch import FOREVER, Kernel, new_table
from jourdain.inputs import Array


class Single:
    """Write `inputs`, call, read `outputs`."""

    def __init__(self, kernel: Kernel) -> None:
        n_in, n_out = kernel.n_inputs, kernel.n_outputs
        self.inputs: Array = np.zeros(n_in)
        self._table = new_table(n_out, 1, np.float64)
        self.outputs: Array = self._table[:, 0]
        addresses = self.inputs.ctypes.data + 8 * np.arange(n_in)
        self._described = np.column_stack([addresses, np.full(n_in, FOREVER), np.ones((n_in, 2), dtype=np.int64)])
        self._described = np.ascontiguousarray(self._described, dtype=np.int64)
        self._arguments = (
            0, 1, self._described.ctypes.data, self._table.ctypes.data, self._table.strides[0] // 8, None, 0
        )  # fmt: skip
        self._run = kernel.run
        self._kernel = kernel  # owns the code

    def __call__(self) -> None:
        self._run(*self._arguments)
