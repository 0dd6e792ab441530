"""Configurations that satisfy geometric rows: Newton's method, lane by lane."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.algebra.lapack import least_squares
from jourdain.evaluate import Array, Evaluator

MOST_STEPS = 100
LONGEST_STEP = 0.5  # in the unit of the coordinate: keeps the iteration near the configuration that was given


def assembler(inputs: Sequence[SX], g: SX, free: Sequence[int]) -> Evaluator:
    """g and its derivative with respect to the free coordinates; the first of the inputs is q."""
    return Evaluator(inputs, {"g": g, "J": ca.jacobian(g, inputs[0][list(free)])})


def assemble(rows: Evaluator, state: Sequence[Array], free: Sequence[int]) -> tuple[Array, Array]:
    """(q, largest |g|), `(*batch, n_q)` and `(*batch,)`: the shortest steps from the q given towards g = 0.

    A lane that does not arrive keeps its last iterate and says so by its |g|; one with NaN stays as it is.
    """
    q = np.array(state[0])
    missed = np.full(q.shape[:-1], np.nan)
    for lane in np.ndindex(q.shape[:-1]):
        others = [array[lane] for array in state[1:]]
        if not all(np.isfinite(array).all() for array in (q[lane], *others)):
            continue
        for _ in range(MOST_STEPS):
            values = rows(q[lane], *others)
            missed[lane] = np.max(np.abs(values["g"]), initial=0.0)
            if not np.isfinite(values["J"]).all() or not len(free):
                break
            step = least_squares(values["J"], -values["g"][:, 0])
            longest = np.max(np.abs(step), initial=0.0)
            q[lane][list(free)] += step * min(1.0, LONGEST_STEP / max(longest, 1e-300))
            if longest <= 1e-14 * (1 + np.max(np.abs(q[lane]))):
                break
    return q, missed
