"""How steps of the flow depend on where they start and on parameters: derivatives carried from stage to stage.

A step is y + h Σ B_i k_i, k_i = f(y + h Σ_j A_ij k_j), then moved onto the constraints. Each of these is differentiated
as it stands, for steps of given length: what comes out are the derivatives of the very steps that were made.
"""

from __future__ import annotations

import numpy as np

from jourdain.compute.runge_kutta import dop853
from jourdain.inputs import Array
from jourdain.motion.flow import Flow


def step_slopes(flow: Flow, y: Array, h: Array, p: Array) -> tuple[Array, Array]:
    """(∂y_after/∂y, ∂y_after/∂p), `(steps, n, n)` and `(steps, n, n_p)`, of steps from `y (steps, n)`, `h (steps,)`."""
    tableau, (m, n) = dop853(), y.shape
    p = np.broadcast_to(p, (m, len(p)))
    length = h[:, None, None]
    start = np.concatenate([np.broadcast_to(np.eye(n), (m, n, n)), np.zeros((m, n, p.shape[1]))], axis=-1)
    slopes, by = np.zeros((len(tableau.B), m, n)), np.zeros((len(tableau.B), *start.shape))  # k_i, ∂k_i/∂(y, p)
    for i, weights in enumerate(tableau.A):
        at = flow.slope_by(y + h[:, None] * np.tensordot(weights, slopes, 1), p)
        slopes[i] = at["slope"][..., 0]
        by[i] = at["by_y"] @ (start + length * np.tensordot(weights, by, 1))
        by[i, ..., n:] += at["by_p"]
    after = y + h[:, None] * np.tensordot(tableau.B, slopes, 1)
    carried = start + length * np.tensordot(tableau.B, by, 1)
    if flow.dynamics.held:
        moved = flow.project_by(after, p)
        carried = moved["by_y"] @ carried
        carried[..., n:] += moved["by_p"]
    return carried[..., :n], carried[..., n:]
