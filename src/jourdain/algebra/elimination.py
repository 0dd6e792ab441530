"""Rows of raw arrays, each reduced by those before it, in the velocities themselves.

Rows that share light velocities and differ in heavy ones are nearly parallel in the metric of M. Rounding of Y = C L⁻¹
is then as large as what light velocities have to do with the difference. Gauss's elimination in C, with products that
are not rounded, takes out what is common before; it starts from the entry that weighs most, c_j / √M_jj.
"""

from __future__ import annotations

import numpy as np

from jourdain.algebra import lapack
from jourdain.algebra.entries import scaled
from jourdain.inputs import Array

SPLIT = 2.0**27 + 1  # cuts a double into two halves whose products are exact [Dekker]


class Elimination:
    """Rows C `(*batch, k, n)` reduced one after the other."""

    def __init__(self, C: Array, M: Array, factor: lapack.Factor) -> None:
        self._powers = np.ldexp(1.0, np.frexp(np.max(np.abs(C), axis=-1, keepdims=True, initial=0.0))[1])
        self._C = C / self._powers  # of powers of two: nothing is rounded
        self._factor = factor
        self._weights = 1 / np.sqrt(np.abs(lapack.transpose(lapack.diagonal_of(M))))
        self._reduced: list[tuple[Array, Array]] = []  # rows, and where they are largest, 1 (0 elsewhere)

    def reduced(self, i: int, keep: Array) -> tuple[Array, Array, Array]:
        """(what is left of row i, as a row of Y; f, with Y_i = left + f @ what is left of the rows before; its part).

        `keep`: 1 for rows before that others are reduced by, else 0, `(*batch, i, 1)`. The part is that of the largest
        entry left to the largest term that was taken away.
        """
        c, factors = self._C[..., i : i + 1, :], lapack.zeros(1, 0, like=self._C)
        largest = np.max(np.abs(c), axis=-1, keepdims=True)
        for j, (row, mask) in enumerate(self._reduced):
            pivot = np.sum(row * mask, axis=-1, keepdims=True)
            f = keep[..., j : j + 1, :] * np.sum(c * mask, axis=-1, keepdims=True) / np.where(pivot == 0, 1.0, pivot)
            product, error = _exact_product(f, row)
            c = (c - product) - error
            largest = np.maximum(largest, np.max(np.abs(product), axis=-1, keepdims=True))
            factors = lapack.side_by_side(factors, f / self._powers[..., j : j + 1, :])
        sizes = np.abs(c) * self._weights
        self._reduced.append((c, 1.0 * (np.arange(c.shape[-1]) == np.argmax(sizes, axis=-1)[..., None])))
        power = self._powers[..., i : i + 1, :]
        part = np.max(np.abs(c), axis=-1, keepdims=True) / np.where(largest > 0, largest, 1.0)
        return scaled(c, self._factor, lapack) * power, factors * power, part


def _exact_product(a: Array, b: Array) -> tuple[Array, Array]:
    """(the product, by how much it was rounded)."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = (_halves(x) for x in (a, b))
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(x: Array) -> tuple[Array, Array]:
    high = SPLIT * x
    high = high - (high - x)
    return high, x - high
