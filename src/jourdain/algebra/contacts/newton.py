"""Newton's method for many small systems at once, damped."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jourdain.algebra.lapack import pseudo_inverse
from jourdain.inputs import Array

Residual = Callable[[Array], tuple[Array, Array]]  # x (lanes, n) → F (lanes, m), its slope (lanes, m, n)


def damped(x: Array, residual: Residual, n_steps: int, n_halved: int, done: Callable[[Array], bool]) -> Array:
    """x after at most `n_steps`, each halved up to `n_halved` times until F is shorter.

    `done`: the lengths of F `(lanes,)` → whether to stop.
    """
    F, slope = residual(x)
    for _ in range(n_steps):
        size = np.linalg.norm(F, axis=-1)
        if done(size):
            break
        step, part = (pseudo_inverse(slope) @ F[..., None])[..., 0], np.ones(len(x))
        for _ in range(n_halved):
            longer = ~(np.linalg.norm(residual(x - part[:, None] * step)[0], axis=-1) < size)
            if not longer.any():
                break
            part[longer] /= 2
        x = x - part[:, None] * step
        F, slope = residual(x)
    return x
