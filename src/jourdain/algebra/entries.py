"""Rows and entries of matrices, lengths of rows, choices between numbers: what the algebra needs beside `la`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jourdain.algebra.linear import LinearAlgebra

LEAST_SQUARE, LARGEST_SQUARE = 1e-250, 1e250  # squares of lengths in between keep all of their digits
ROUNDING, MARGIN = 4e-16, 300.0  # of unit rows; a pivot that exceeds its noise by less is none


def row(X: Any, i: int, la: LinearAlgebra) -> Any:
    """Row i, (1, columns); of a column its entry, (1, 1)."""
    return la.rows(X, i, i + 1)


def each_row(X: Any, la: LinearAlgebra) -> list[Any]:
    """The rows of a matrix, (1, columns) each."""
    return [row(X, i, la) for i in range(X.shape[-2])]


def entry(X: Any, i: int, j: int, la: LinearAlgebra) -> Any:
    """X_ij, (1, 1)."""
    return la.transpose(row(la.transpose(row(X, i, la)), j, la))


def larger(one: Any, other: Any, la: LinearAlgebra) -> Any:
    """The larger of two numbers; `other` where `one` is NaN."""
    return la.where(one > other, one, other)


def smaller(one: Any, other: Any, la: LinearAlgebra) -> Any:
    """The smaller of two numbers; `other` where `one` is NaN."""
    return la.where(one < other, one, other)


def sign(x: Any, la: LinearAlgebra) -> Any:
    """1, −1, or 0 for what is neither positive nor negative."""
    return la.where(x > 0, 1.0, la.where(x < 0, -1.0, 0.0))


def columns(X: Any, la: LinearAlgebra) -> list[Any]:
    rows = la.transpose(X)
    return [la.transpose(la.rows(rows, i, i + 1)) for i in range(rows.shape[-2])]


def scaled(C: Any, factor: Any, la: LinearAlgebra) -> Any:
    """Y = C L⁻¹."""
    return la.transpose(factor.solve_transposed(la.transpose(C)))


def squares(Y: Any, la: LinearAlgebra) -> Any:
    """The square of the length of each row, W_ii = c M⁻¹ cᵀ for Y = C L⁻¹, (k, 1)."""
    return la.stack(la.zeros(0, 1, like=Y), *(y @ la.transpose(y) for y in each_row(Y, la)))


def lengths(Y: Any, la: LinearAlgebra) -> Any:
    """The length of each row, (k, 1), also where its square would over- or underflow."""
    square = squares(Y, la)
    ordinary = la.both(square >= LEAST_SQUARE, square <= LARGEST_SQUARE)
    size = la.absolute(Y) @ la.ones(Y.shape[-1], 1, like=Y)
    size = la.where(ordinary, 1.0, la.where(size > 0, size, 1.0))
    unit = squares(la.scale_rows(1 / size, Y), la)
    nothing = unit <= 0  # NaN stays
    return size * la.where(nothing, 0.0, la.sqrt(la.where(nothing, 1.0, unit)))


def root(square: Any, la: LinearAlgebra) -> Any:
    """The square root, 0 for what is not positive; guarded inside, so that its derivative is 0 at 0."""
    return la.where(square > 0, la.sqrt(la.where(square > 0, square, 1.0)), 0.0)


def scattered(some: Any, places: Sequence[int], k: int, la: LinearAlgebra) -> Any:
    """A column of k with these entries, zero elsewhere."""
    zero = la.zeros(1, 1, like=some)
    found = [zero] * k
    for i, place in enumerate(places):
        found[place] = row(some, i, la)
    return la.stack(*found)


def solved(E: Any, F: Any, b: Any, units: Any, la: LinearAlgebra) -> Any:
    """z with E F z = b, for rows E and columns F of k velocities each; infinite or NaN where they are dependent.

    By elimination, in units of unit rows, and one step of refinement, which makes up for squaring the condition number.
    `units`: 1 over the lengths of the rows, (k, 1), 0 for those that cannot move.
    """
    inverse = _inverse(la.scale_rows(units, la.transpose(la.scale_rows(units, la.transpose(E @ F)))), la)
    z = units * (inverse @ (units * b))
    return z + units * (inverse @ (units * (b - E @ (F @ z))))


def _inverse(A: Any, la: LinearAlgebra) -> Any:
    """A⁻¹ by elimination, A of unit rows; infinite or NaN where a pivot is only rounding."""
    k = A.shape[-2]
    rows = each_row(la.side_by_side(A, la.diagonal(la.ones(k, 1, like=A))), la)
    noise = [ROUNDING * la.ones(1, 1, like=A)] * k  # in the entries of each row
    for i in range(k):
        pivot = entry(rows[i], 0, i, la)
        pivot = la.where(la.absolute(pivot) > MARGIN * noise[i], pivot, 0.0)
        rows[i], noise[i] = rows[i] / pivot, noise[i] / la.absolute(pivot)
        for j in range(k):
            if j != i:
                factor = entry(rows[j], 0, i, la)
                rows[j], noise[j] = rows[j] - factor * rows[i], noise[j] + la.absolute(factor) * noise[i]
    return la.transpose(la.rows(la.transpose(la.stack(*rows)), k, 2 * k))
