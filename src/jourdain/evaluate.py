"""From CasADi expressions to numbers: the one seam behind which expressions are evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import casadi as ca
import numpy as np
from casadi import SX
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Evaluator:
    """Named expressions of some input columns, as a function of stacks of arrays."""

    def __init__(self, inputs: Sequence[SX], outputs: Mapping[str, SX]) -> None:
        self.inputs = tuple(inputs)
        self.outputs = dict(outputs)

    @cached_property
    def function(self) -> ca.Function:
        columns = [ca.densify(ca.vec(expression.T)) for expression in self.outputs.values()]  # row by row
        return ca.Function("expressions", list(self.inputs), columns, {"cse": True})

    def __call__(self, *arrays: Array) -> dict[str, Array]:
        """Arrays `(*batch, n_i)`, one per input, with one batch shape → name: `(*batch, rows, columns)`."""
        batch = arrays[0].shape[:-1]
        n_lanes = int(np.prod(batch, dtype=int))
        lanes = [np.ascontiguousarray(array.reshape(n_lanes, array.shape[-1]).T) for array in arrays]
        results = self.function.call([ca.DM(lane) for lane in lanes]) if n_lanes else [ca.DM(0, 0)] * len(self.outputs)
        return {
            name: np.asarray(result, dtype=float).T.reshape(*batch, *expression.shape)
            for (name, expression), result in zip(self.outputs.items(), results, strict=True)
        }


def differ(one: SX, other: SX) -> bool:
    """Whether two expressions differ at a few fixed random values of their symbols; where they are NaN they do not."""
    free = ca.vertcat(SX(0, 1), *ca.symvar(ca.vertcat(ca.vec(one), ca.vec(other))))
    at = np.random.default_rng(7).uniform(0.1, 2.0, (8, free.shape[0]))
    at[4:] *= -1
    values = Evaluator([free], {"one": one, "other": other})(at)
    with np.errstate(invalid="ignore"):
        return bool(np.any(np.abs(values["one"] - values["other"]) > 1e-6 * (1 + np.abs(values["one"]))))
