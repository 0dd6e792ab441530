"""Events in rational numbers, every input taken as the exact number it is."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import jourdain as jd

Array = NDArray[np.float64]


def rational(array: Any) -> NDArray[np.object_]:
    return np.asarray(
        np.vectorize(lambda x: x if isinstance(x, Fraction) else Fraction(float(x)), otypes=[object])(array)
    )


def solution(A: NDArray[np.object_], b: NDArray[np.object_]) -> NDArray[np.object_]:
    """A⁻¹ b by Gauss's elimination."""
    A, b = A.copy(), b.copy()
    for i in range(len(A)):
        pivot = i + int(np.argmax(np.abs(A[i:, i]) > 0))
        A[[i, pivot]], b[[i, pivot]] = A[[pivot, i]], b[[pivot, i]]
        for j in range(i + 1, len(A)):
            factor = A[j, i] / A[i, i]
            A[j], b[j] = A[j] - factor * A[i], b[j] - factor * b[i]
    for i in reversed(range(len(A))):
        b[i] = (b[i] - A[i, i + 1 :] @ b[i + 1 :]) / A[i, i]
    return b


def exact(M: Array, v: Array, C: Array, kappa: Array | float, f: Any = None) -> tuple[Array, float, float]:
    """v⁺, T⁻ − T⁺ and T⁻ + T⁺ of M (v⁺ − v⁻) = f + Cᵀλ, C v⁺ = −κ C v⁻; κ of each row, or of all."""
    n, k = len(v), len(C)
    mass, before, rows = rational(M), rational(v), rational(C)
    A = np.full((n + k, n + k), Fraction(0))
    A[:n, :n], A[:n, n:], A[n:, :n] = mass, -rows.T, rows
    momentum = mass @ before + (0 if f is None else rational(f))
    restitution = rational(np.broadcast_to(np.asarray(kappa, dtype=float), (k,)))
    after = solution(A, np.concatenate([momentum, -restitution * (rows @ before)]))[:n]
    T_minus, T_plus = (w @ mass @ w / 2 for w in (before, after))
    return after.astype(float), float(T_minus - T_plus), float(T_minus + T_plus)


def assert_digits(t: jd.Transition, expected: tuple[Array, float, float], digits: float) -> None:
    """That v⁺, the loss and the energies are those of `exact`, up to a part of the speed and the energy."""
    v_plus, loss, energy = expected
    assert np.all(t.ok)
    assert np.max(np.abs(t.v_plus - v_plus)) <= digits * np.max(np.abs([t.v_plus, t.v_minus]))
    assert np.max(np.abs(t.loss - loss)) <= digits * energy
    assert np.max(np.abs(t.T_minus - t.T_plus - loss)) <= digits * energy
