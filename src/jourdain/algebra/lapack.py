"""The same functions as `unrolled`, over stacks of NumPy arrays `(*batch, rows, columns)`, by LAPACK.

The only module that calls numpy.linalg or scipy.linalg. A lane whose M is not positive definite gets a pivot of NaN
and the identity in place of M, so that its neighbours are solved all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jourdain.algebra.span import SMALL_PIVOT
from jourdain.inputs import Array, Flags

SEMIDEFINITE = 1e-12  # of a diagonal of 1: eigenvalues above minus this may be 0
DEPENDENT = 1e-10  # of the largest singular value: columns of a smaller one depend on each other


@dataclass(frozen=True)
class Factor:
    """L with M = LᵀL, so that x = L v has ½‖x‖² = T. Here L is upper triangular."""

    L: Array
    pivots: Array  # (*batch, n, 1)

    @property
    def inverse_pivots(self) -> Array:
        return 1 / self.pivots

    def apply(self, v: Array) -> Array:
        """L v."""
        return self.L @ v

    def solve(self, x: Array) -> Array:
        """L⁻¹ x."""
        return _solve_triangular(self.L, x, transposed=False)

    def solve_transposed(self, f: Array) -> Array:
        """L⁻ᵀ f."""
        return _solve_triangular(self.L, f, transposed=True)


def _solve_triangular(L: Array, x: Array, transposed: bool) -> Array:
    if 0 in L.shape or 0 in x.shape:
        return x
    if L.ndim == x.ndim == 2:
        from scipy.linalg import solve_triangular

        return np.asarray(solve_triangular(L, x, trans=int(transposed), check_finite=False))
    batch = np.broadcast_shapes(L.shape[:-2], x.shape[:-2])
    out = np.zeros((*batch, *x.shape[-2:]))  # substitution, all lanes at once
    A = transpose(L) if transposed else L
    for k in range(A.shape[-1]) if transposed else reversed(range(A.shape[-1])):
        known = A[..., k : k + 1, :] @ out  # entries not yet solved for are still 0
        out[..., k : k + 1, :] = (x[..., k : k + 1, :] - known) / A[..., k : k + 1, k : k + 1]
    return out


def factor(M: Array) -> Factor:
    """Cholesky, lane by lane where a lane fails."""
    try:
        lower = np.linalg.cholesky(M)
        failed = ~np.isfinite(lower).all(axis=(-2, -1))
    except np.linalg.LinAlgError:
        lower = np.array(np.broadcast_to(np.eye(M.shape[-1]), M.shape))
        failed = np.zeros(M.shape[:-2], dtype=bool)
        for lane in np.ndindex(M.shape[:-2]):
            try:
                lower[lane] = np.linalg.cholesky(M[lane])
            except np.linalg.LinAlgError:
                failed[lane] = True
    mask = failed[..., None, None]
    lower = np.where(mask, np.eye(M.shape[-1]), lower)
    pivots = np.diagonal(lower, axis1=-2, axis2=-1)[..., None] ** 2
    return Factor(transpose(np.asarray(lower, dtype=float)), np.where(mask, np.nan, pivots))


def transpose(X: Array) -> Array:
    return np.swapaxes(X, -1, -2)


def stack(*parts: Array) -> Array:
    """The parts below one another."""
    return _concatenate(parts, -2)


def side_by_side(*parts: Array) -> Array:
    return _concatenate(parts, -1)


def _concatenate(parts: tuple[Array, ...], axis: int) -> Array:
    batch = np.broadcast_shapes(*(part.shape[:-2] for part in parts))
    return np.concatenate([np.broadcast_to(part, (*batch, *part.shape[-2:])) for part in parts], axis=axis)


def rows(X: Array, start: int, stop: int) -> Array:
    return X[..., start:stop, :]


def zeros(n_rows: int, n_columns: int, like: Array) -> Array:
    return np.zeros((*like.shape[:-2], n_rows, n_columns))


def ones(n_rows: int, n_columns: int, like: Array) -> Array:
    return np.ones((*like.shape[:-2], n_rows, n_columns))


def identity(like: Array) -> Array:
    """The unit matrix of the size of `like`."""
    return np.eye(like.shape[-2])


def where(condition: Any, yes: Any, no: Any) -> Array:
    return np.asarray(np.where(condition, yes, no))


def both(one: Any, other: Any) -> Any:
    """Whether both conditions hold."""
    return one & other


def either(one: Any, other: Any) -> Any:
    """Whether one of the conditions holds."""
    return one | other


def every(conditions: Any) -> Any:
    """Whether all conditions of a column hold, (1, 1)."""
    return np.all(conditions, axis=-2, keepdims=True)


def largest(x: Array) -> Array:
    """The largest number of a column, (1, 1)."""
    return np.asarray(np.max(x, axis=-2, keepdims=True))


def smallest(x: Array) -> Array:
    """The smallest number of a column, (1, 1)."""
    return np.asarray(np.min(x, axis=-2, keepdims=True))


def sqrt(x: Array) -> Array:
    return np.sqrt(x)


def absolute(x: Array) -> Array:
    return np.abs(x)


def diagonal(x: Array) -> Array:
    """The diagonal matrix of a column."""
    return x * np.eye(x.shape[-2])


def diagonal_of(X: Array) -> Array:
    """The diagonal of a matrix, as a column."""
    return np.diagonal(X, axis1=-2, axis2=-1)[..., None]


def scale_rows(x: Array, X: Array) -> Array:
    """diag(x) X."""
    return x * X


def exact_sum(*products: tuple[Array, Array]) -> Array:
    """Σ A x over pairs (A, x), computed in twice the digits and then rounded [Ogita, Rump, Oishi]."""
    total, rest = np.zeros(()), np.zeros(())
    for A, x in products:
        terms, errors = exact_product(A, transpose(x))
        for j in range(terms.shape[-1]):
            term = terms[..., j : j + 1]
            both = total + term
            part = both - total
            rest = rest + ((total - (both - part)) + (term - part) + errors[..., j : j + 1])
            total = both
    return np.asarray(total + rest)


def exact_product(a: Array, b: Array) -> tuple[Array, Array]:
    """(the products, by how much they were rounded) [Dekker]."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = (_halves(x) for x in (a, b))
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(x: Array) -> tuple[Array, Array]:
    """Two numbers of half the digits each, whose products are exact."""
    high = (2.0**27 + 1) * x
    high = high - (high - x)
    return high, x - high


# What the analysis of one pose needs beyond the event algebra.


def solve(A: Array, b: Array) -> Array:
    """A⁻¹ b."""
    return np.asarray(np.linalg.solve(A, b), dtype=float)


def log_abs_det(A: Array) -> Array:
    """Log |det A|, −inf where singular."""
    return np.asarray(np.linalg.slogdet(A)[1], dtype=float)


def symmetric_eigen(A: Array, B: Array) -> tuple[Array, Array]:
    """Eigenvalues (falling) and B-orthonormal eigenvectors (columns) of A x = ξ B x."""
    from scipy.linalg import eigh

    values, vectors = eigh(A, B)
    return values[::-1], vectors[:, ::-1]


def orthonormal(A: Array) -> Array:
    """Orthonormal columns that span those of A, which are independent."""
    return np.asarray(np.linalg.qr(A)[0])


def null_space(A: Array, small: float) -> Array:
    """Orthonormal columns x that span what A shortens to less than `small`."""
    _, s, right = np.linalg.svd(A)
    return np.asarray(right[int(np.sum(s > small)) :].T)


def least_squares(A: Array, b: Array) -> Array:
    """The shortest x `(*batch, n)` that minimises ‖A x − b‖."""
    if 0 in A.shape:
        return np.zeros((*A.shape[:-2], A.shape[-1]))
    x = _solution(A, b)
    bad = np.isnan(x).any(axis=-1)
    if bad.any():
        small = np.finfo(float).eps * max(A.shape[-2:])
        x[bad] = (np.linalg.pinv(A[bad], rcond=small) @ b[bad][..., None])[..., 0]
    return x


def _solution(A: Array, b: Array) -> Array:
    """A⁻¹ b where A is square and far from singular, by elimination, which is quick; NaN elsewhere."""
    nothing = np.full((*A.shape[:-2], A.shape[-1]), np.nan)
    if A.shape[-2] != A.shape[-1]:
        return nothing
    try:
        inverse = np.linalg.inv(A)
    except np.linalg.LinAlgError:
        return nothing
    spread = np.abs(A).max(axis=(-2, -1)) * np.abs(inverse).max(axis=(-2, -1))
    return np.where((spread < 1e8)[..., None], (inverse @ b[..., None])[..., 0], nothing)


def pseudo_inverse(A: Array) -> Array:
    """A⁺ `(*batch, n, m)`; 0 where A is not finite."""
    sound = np.isfinite(A).all(axis=(-2, -1), keepdims=True)
    return np.asarray(np.linalg.pinv(np.where(sound, A, 0.0), rcond=1e-12))


def positive_definite(M: Array) -> Flags:
    """Whether M is positive definite beyond rounding, `(*batch,)`.

    Small pivots alone do not tell: rounding of a singular M can be larger than an honest pivot of a chain whose masses
    span twelve orders. For such lanes eigenvalues decide.
    """
    n = M.shape[-1]
    pivots, diagonal = factor(M).pivots[..., 0], diagonal_of(M)[..., 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        smallest = np.min(pivots / diagonal, axis=-1, initial=1.0)
    good = np.array(np.all(pivots > 0, axis=-1) & (smallest > 0))  # NaN is not
    doubtful = good & (smallest < SMALL_PIVOT)
    if doubtful.any():
        good[doubtful] = smallest_eigenvalue(M[doubtful]) > 10 * n * np.finfo(float).eps
    return good


def smallest_eigenvalue(A: Array) -> Array:
    """Of symmetric matrices with their diagonals scaled to 1, `(*batch,)`; a zero diagonal entry is left alone."""
    d = np.sqrt(np.abs(diagonal_of(A)))
    d = np.where(d > 0, d, 1.0)
    return np.asarray(np.linalg.eigvalsh(A / d / transpose(d))[..., 0], dtype=float)


def full_column_rank(A: Array) -> Flags:
    """Whether the columns of A are independent beyond rounding, `(*batch,)`; what is not finite is not."""
    finite = np.asarray(np.isfinite(A).all(axis=(-2, -1)))
    if A.shape[-1] > A.shape[-2]:
        return np.zeros_like(finite)
    s = np.linalg.svd(np.where(finite[..., None, None], A, 0.0), compute_uv=False)
    return np.asarray(finite & (s[..., -1] > DEPENDENT * s[..., 0]))
