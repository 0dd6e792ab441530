"""Configurations that satisfy geometric rows: Newton's method, all lanes at once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.algebra.lapack import least_squares
from jourdain.compute.evaluate import Evaluator
from jourdain.inputs import Array

MOST_STEPS = 120
LONGEST_STEP = 0.5  # in the unit of the coordinate: keeps the iteration near the configuration that was given
NEAR_STEPS = 40  # of that length; who is farther away takes longer ones, each by GROWTH
GROWTH = 1.25


def assembler(inputs: Sequence[SX], g: SX, free: Sequence[int]) -> Evaluator:
    """g and its derivative with respect to the free coordinates; the first of the inputs is q."""
    return Evaluator(inputs, {"g": g, "J": ca.jacobian(g, inputs[0][list(free)])})


def assemble(rows: Evaluator, state: Sequence[Array], free: Sequence[int]) -> tuple[Array, Array]:
    """(q, largest |g|), `(*batch, n_q)` and `(*batch,)`: the shortest steps from the q given towards g = 0.

    A lane that does not arrive keeps its last iterate and says so by its |g|; one with NaN stays as it is.
    """
    batch, free = state[0].shape[:-1], list(free)
    n_lanes = math.prod(batch)
    q, *others = (np.array(array).reshape(n_lanes, array.shape[-1]) for array in state)
    missed = np.full(len(q), np.nan)
    active = np.flatnonzero(np.all([np.isfinite(array).all(axis=-1) for array in (q, *others)], axis=0))
    for i in range(MOST_STEPS + 1):  # the last one only looks
        if not active.size:
            break
        values = rows(q[active], *(array[active] for array in others))
        g, J = values["g"][..., 0], values["J"]
        missed[active] = np.max(np.abs(g), axis=-1, initial=0.0)
        movable = np.isfinite(J).all(axis=(-2, -1)) & np.isfinite(g).all(axis=-1)
        active, g, J = active[movable], g[movable], J[movable]
        if not free or not active.size or i == MOST_STEPS:
            break
        most = LONGEST_STEP * GROWTH ** max(0, i - NEAR_STEPS)
        step = least_squares(J, -g)
        longest = np.max(np.abs(step), axis=-1)
        with np.errstate(divide="ignore"):
            q[active[:, None], free] += step * np.minimum(1.0, most / longest)[:, None]
        active = active[longest > 1e-14 * (1 + np.max(np.abs(q[active]), axis=-1))]
    return q.reshape(state[0].shape), missed.reshape(batch)
