"""Linear algebra over CasADi SX scalars, unrolled, structural zeros kept.

`lapack` offers the same functions over stacks of NumPy arrays; the event algebra is written once over either.
Everything is a matrix here: vectors are columns, scalars 1 × 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import casadi as ca
from casadi import SX


@dataclass(frozen=True)
class Factor:
    """L with M = LᵀL, so that x = L v has ½‖x‖² = T. L is lower triangular and keeps the sparsity of a joint tree."""

    L: SX
    inverse_diagonal: tuple[SX, ...]
    pivots: SX  # (n, 1), all > 0 iff M is positive definite

    @property
    def inverse_pivots(self) -> SX:
        """From the diagonal, which is there already."""
        return ca.vertcat(SX(0, 1), *self.inverse_diagonal) ** 2

    def apply(self, v: SX) -> SX:
        """L v."""
        return self.L @ v

    def solve(self, x: SX) -> SX:
        """L⁻¹ x, by forward substitution."""
        n = self.L.shape[0]
        v, rest = [], x
        for k in range(n):
            v.append(rest[0, :] * self.inverse_diagonal[k])
            rest = rest[1:, :] - self.L[k + 1 :, k] @ v[k]
        return ca.vertcat(*v)

    def solve_transposed(self, f: SX) -> SX:
        """L⁻ᵀ f, by back substitution."""
        x: list[SX] = []
        rest = f
        for k in reversed(range(self.L.shape[0])):
            x.insert(0, rest[k, :] * self.inverse_diagonal[k])
            rest = rest[:k, :] - self.L[k, :k].T @ x[0]
        return ca.vertcat(*x)


def factor(M: SX) -> Factor:
    """Cholesky from the last row to the first (LᵀL): eliminating leaves before roots creates no fill-in."""
    n = M.shape[0]
    L, inverse, pivots = SX(n, n), [SX(0)] * n, [SX(0)] * n
    rest = M
    for k in reversed(range(n)):
        pivots[k] = rest[k, k]
        inverse[k] = 1 / ca.sqrt(rest[k, k])
        row = rest[k, :k] * inverse[k]
        L[k, :k], L[k, k] = row, rest[k, k] * inverse[k]
        rest = rest[:k, :k] - row.T @ row
    return Factor(L, tuple(inverse), ca.vertcat(*pivots))


def transpose(X: SX) -> SX:
    return X.T


def stack(*parts: SX) -> SX:
    """The parts below one another."""
    return ca.vertcat(*parts)


def side_by_side(*parts: SX) -> SX:
    return ca.horzcat(*parts)


def rows(X: SX, start: int, stop: int) -> SX:
    return X[start:stop, :]


def zeros(n_rows: int, n_columns: int, like: SX) -> SX:
    """Structural zeros (`like` is there for the other road, where it gives the batch shape)."""
    return SX(n_rows, n_columns)


def ones(n_rows: int, n_columns: int, like: SX) -> SX:
    return SX.ones(n_rows, n_columns)


def identity(like: SX) -> SX:
    """The unit matrix of the size of `like`."""
    return SX.eye(like.shape[0])


def where(condition: SX, yes: Any, no: Any) -> SX:
    """A select, never a product: a NaN on the side that is not chosen does not leak."""
    return ca.if_else(condition, yes, no)


def both(one: SX, other: SX) -> SX:
    """Whether both conditions hold."""
    return ca.logic_and(one, other)


def either(one: SX, other: SX) -> SX:
    """Whether one of the conditions holds."""
    return ca.logic_or(one, other)


def every(conditions: SX) -> SX:
    """Whether all conditions of a column hold, (1, 1)."""
    return reduce(both, ca.vertsplit(conditions)) if conditions.shape[0] else SX(1)


def largest(x: SX) -> SX:
    """The largest number of a column, (1, 1)."""
    return reduce(ca.fmax, ca.vertsplit(x))


def smallest(x: SX) -> SX:
    """The smallest number of a column, (1, 1)."""
    return reduce(ca.fmin, ca.vertsplit(x))


def sqrt(x: SX) -> SX:
    return ca.sqrt(x)


def absolute(x: SX) -> SX:
    return ca.fabs(x)


def diagonal(x: SX) -> SX:
    """The diagonal matrix of a column."""
    return ca.diag(x)


def diagonal_of(X: SX) -> SX:
    """The diagonal of a matrix, as a column."""
    return ca.diag(X)


def scale_rows(x: SX, X: SX) -> SX:
    """diag(x) X."""
    return ca.diag(x) @ X
