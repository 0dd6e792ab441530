"""Linear algebra in extended precision (80 bits where the machine has them), for many small systems at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Real = np.longdouble


def solve(A: Array, B: Array) -> tuple[Array, Array]:
    """(A⁻¹ B, the smallest pivot of rows and columns scaled to 1), by elimination; (m, k, k), (m, k, c), (m,)."""
    A, B = A.astype(Real), B.astype(Real)
    m, k, _ = A.shape
    smallest = np.full(m, np.inf, dtype=Real)
    if not k:
        return B, smallest
    left, right = np.ones((m, k), Real), np.ones((m, k), Real)
    for _ in range(3):
        largest = np.sqrt(np.max(np.abs(A), axis=2))
        left_step = 1 / np.where(largest > 0, largest, 1)
        largest = np.sqrt(np.max(np.abs(A), axis=1))
        right_step = 1 / np.where(largest > 0, largest, 1)
        A = A * left_step[:, :, None] * right_step[:, None, :]
        left, right = left * left_step, right * right_step
    X = np.concatenate([A, B * left[..., None]], axis=2)
    lane = np.arange(m)
    for i in range(k):
        pick = i + np.argmax(np.abs(X[:, i:, i]), axis=1)
        chosen = X[lane, pick].copy()
        X[lane, pick] = X[:, i]
        pivot = chosen[:, i]
        smallest = np.minimum(smallest, np.abs(pivot))
        chosen = chosen / np.where(pivot == 0, 1, pivot)[:, None]
        X[:, i] = chosen
        factor = X[:, :, i].copy()
        factor[:, i] = 0
        X[:, :, i:] -= factor[:, :, None] * chosen[:, None, i:]
    return X[:, :, k:] * right[..., None], smallest


def kkt(M: Array, C: Array, momentum: Array, wanted: Array) -> tuple[Array, Array]:
    """(v, λ) with M v = momentum + Cᵀλ and C v = wanted; columns (m, n, c), (m, k, c).

    One step of refinement: beside rows that are nearly parallel λ is large, and elimination alone loses digits of v.
    """
    m, n, k, c = len(M), M.shape[-1], C.shape[1], momentum.shape[-1]
    A = np.zeros((m, n + k, n + k), Real)
    A[:, :n, :n], A[:, n:, :n], A[:, :n, n:] = M, C, -np.swapaxes(C, 1, 2)
    B = np.zeros((m, n + k, c), Real)
    B[:, :n], B[:, n:] = momentum, wanted
    x, _ = solve(A, B)
    step, _ = solve(A, B - A @ x)
    x = x + step
    return x[:, :n], x[:, n:]


def energy(M: Array, v: Array) -> Array:
    """½ vᵀ M v, (m,)."""
    M, v = M.astype(Real), v.astype(Real)
    return np.asarray(np.einsum("mi,mij,mj->m", v, M, v) / 2)
