"""What a set of rows spans: the one place that decides rank.

Rows come as Y = C L⁻¹ (M = LᵀL), so that Y Yᵀ = C M⁻¹ Cᵀ = W, and are scaled to unit length, which frees them of units.
Gram–Schmidt, done twice, gives orthonormal rows Q with Y = R Q: R is the Cholesky factor of W, obtained without
squaring the condition number. A row whose part outside the rows before it is shorter than RANK is dropped: its row of Q
is zero.

Dropped rows are combinations of kept ones, y_D = F y_S. Everything about redundancy follows from F: the columns of
N = (−Fᵀ; I) are impulses that change nothing. Of all λ that act alike, the one is returned that has the least
Σ_s λ_sᵀ W_ss λ_s over the constraints s; where a constraint has redundant rows of its own, which that sum does not see,
the shortest in units of unit rows. Without redundant rows N is zero and nothing is lost to it. Nothing branches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jourdain.algebra.entries import LARGEST_SQUARE, LEAST_SQUARE, lengths
from jourdain.algebra.linear import LinearAlgebra

# A row is dropped if what is left of it is shorter than RANK plus MARGIN times the noise in it. The noise is
# carried along: a row kept at ratio r has a direction good to eps / r, and rows after it that lean on it inherit that.
RANK = 3e-8
ROUNDING = 4e-16
MARGIN = 10.0
CLEAR = 1e-13  # rows whose directions are known this well after one pass are well apart: two of them at 1/100
UNSEEN = 1e-10  # null vectors that cost less than this (in W_ss, for unit length) are a constraint's own affair
SMALL_PIVOT = 1e-6  # of the diagonal; above it M is positive definite beyond doubt


@dataclass(frozen=True)
class Span:
    """Orthonormal rows of a stack of constraints with k rows in all."""

    Q: Any  # (k, n), zero rows where dropped
    keep: Any  # (k, 1), 1 or 0: rows that are independent of those before them
    scale: Any  # (k, 1), 1 / ‖y_i‖, or 0 for a zero row
    units: Any  # (k, n), the unit rows
    R: Any  # (k, k), the unit rows along Q
    triangle: Any  # (k, k), the inverse of R with 1 on dropped diagonals
    N: Any  # (k, k): column i is a λ with Yᵀλ = 0 for a dropped row i, zero for a kept one; in units of unit rows
    longer: tuple[tuple[Any, Any], ...]  # pairs (directions, what they measure), rows: what makes λ longer for nothing
    independent: bool  # the rows were taken to be well apart
    apart: Any  # (1, 1), whether they are
    noise: Any  # (1, 1), how well the rows of Q are known, all together
    la: LinearAlgebra

    def coordinates(self, r: Any) -> Any:
        """The x in the span with Y x = r, as coordinates along Q. Only kept rows are read."""
        la = self.la
        return la.scale_rows(self.keep, self.triangle @ la.scale_rows(self.scale, r))

    def impulse(self, nu: Any) -> Any:
        """The least λ with Yᵀλ = Qᵀν.

        One step of refinement makes up for kept rows that are nearly parallel, and for what is left of dropped ones
        along rows that come after them, which R does not have.
        """
        la = self.la
        impulse = self._least(nu)
        if not self.independent:
            impulse = impulse + self._least(nu - self.Q @ (la.transpose(self.units) @ impulse))
        return la.scale_rows(self.scale, impulse)

    def _least(self, nu: Any) -> Any:
        la = self.la
        impulse = la.scale_rows(self.keep, la.transpose(self.triangle) @ la.scale_rows(self.keep, nu))  # R_SSᵀλ_S = ν
        for directions, measures in self.longer:
            impulse = impulse - la.transpose(directions) @ (measures @ impulse)
        return impulse

    def nullspace(self) -> Any:
        """N in the units of the rows; a zero row carries any impulse."""
        la = self.la
        return la.scale_rows(la.where(self.scale > 0, self.scale, 1.0), self.N)


def span(
    blocks: Sequence[Any],
    n: int,
    la: LinearAlgebra,
    like: Any,
    independent: bool = False,
    own: Sequence[Any] | None = None,
    any_size: bool = False,
    clear: Any = None,
) -> Span:
    """The span of stacked blocks Y_s (k_s × n), in their order. `like` gives the batch shape where there are none.

    `own`: the rows themselves where Y_s is what others leave of them; their W_ss tell which impulses are the least.

    `independent` takes the rows to be well apart, which `Span.apart` then tells: one pass does, nothing is dropped,
    and all that is about redundancy falls away.

    `any_size`: the squares of the rows' lengths may over- or underflow. Rows that are `independent` and of such a size
    are not well apart.

    `clear`: (k, 1), 1 for rows that are independent whatever the masses are: only their noise counts.
    """
    Y = la.stack(la.zeros(0, n, like=like), *blocks)
    k = Y.shape[-2]
    Q, R, triangle, F = la.zeros(0, n, like=Y), *(la.zeros(0, k, like=Y) for _ in range(3))
    keep, scale, units = la.zeros(0, 1, like=Y), la.zeros(0, 1, like=Y), la.zeros(0, n, like=Y)
    noise = la.zeros(0, 1, like=Y)  # how well each row of Q is known
    one, apart = la.ones(1, 1, like=Y), la.ones(1, 1, like=Y) > 0
    for i in range(k):
        y = la.rows(Y, i, i + 1)
        length2 = y @ la.transpose(y)
        kept, along = length2 > 0, la.zeros(1, i, like=Y)
        scale_i = one if independent else _inverse_root(length2, kept, la)
        if any_size and not independent:
            length = lengths(y, la)
            kept = length > 0
            scale_i = la.where(kept, 1 / la.where(kept, length, 1.0), 0.0)
        q = y * scale_i
        rest, inverse, blur = la.where(kept, 1.0, 0.0), one, ROUNDING * one  # what is left of the row, and 1 over it
        units = la.stack(units, q)
        for _ in range(1 if independent else 2):  # the second pass makes Q orthogonal to rounding
            h = q @ la.transpose(Q)
            q = q - h @ Q
            along = along + h
        if independent:
            rest2 = q @ la.transpose(q)
            inverse = 1 / la.sqrt(rest2)
            q, rest = q * inverse, rest2 * inverse
            lean = la.absolute(along)  # on each row before
            blur = ROUNDING * one + (lean @ (noise + ROUNDING * la.ones(i, 1, like=Y))) * inverse
            ordinary = la.both(rest2 >= LEAST_SQUARE, rest2 <= LARGEST_SQUARE)
            kept, apart = one > 0, la.both(apart, la.both(ordinary, blur <= CLEAR))
            noise = la.stack(noise, blur)
        elif i > 0:
            rest2 = q @ la.transpose(q)
            blur = blur + la.absolute(along) @ noise
            least = RANK if clear is None else RANK * (1 - la.rows(clear, i, i + 1))
            kept = rest2 > (least + MARGIN * blur) ** 2
            inverse = _inverse_root(rest2, kept, la)
            q, rest, inverse = q * inverse, rest2 * inverse, la.where(kept, inverse, 1.0)
        keep_i = la.where(kept, 1.0, 0.0)
        before = along @ triangle  # R_i,S R_SS⁻¹: how the row depends on those before it
        left, right = la.zeros(1, i, like=Y), la.zeros(1, k - i - 1, like=Y)
        R = la.stack(R, la.side_by_side(along, rest, right))  # a dropped column is zero because its q is
        triangle = la.stack(triangle, la.side_by_side(left, inverse, right) - inverse * before)
        F = la.stack(F, (1 - keep_i) * before)
        Q, keep, scale = la.stack(Q, q), la.stack(keep, keep_i), la.stack(scale, scale_i)
        if not independent:
            noise = la.stack(noise, keep_i * blur * inverse)
    if not independent:  # what is left of a dropped row is short, but not nothing: rows after it may have that too
        F = F + la.scale_rows(1 - keep, ((units - F @ units) @ la.transpose(Q)) @ triangle)
    N = la.diagonal(1 - keep) - la.transpose(F)
    weighing = units if own is None else la.scale_rows(scale, la.stack(*own))
    longer = () if independent else _longer(N, weighing, [Y_s.shape[-2] for Y_s in blocks], la)
    in_all = la.transpose(la.ones(k, 1, like=Y)) @ noise
    return Span(Q, keep, scale, units, R, triangle, N, longer, independent, apart, in_all, la)


def free_of(Y: Any, Q: Any, la: LinearAlgebra) -> Any:
    """Ŷ = Y − Y QᵀQ; a row that Q spans is zero, not what rounding leaves of it."""
    rows = []
    for i in range(Y.shape[-2]):
        y = la.rows(Y, i, i + 1)
        rest = y
        for _ in range(2):
            rest = rest - (rest @ la.transpose(Q)) @ Q
        spanned = rest @ la.transpose(rest) <= RANK**2 * (y @ la.transpose(y))
        rows.append(la.where(spanned, 0.0, 1.0) * rest)
    return la.stack(*rows)


def _longer(N: Any, units: Any, sizes: list[int], la: LinearAlgebra) -> tuple[tuple[Any, Any], ...]:
    """Directions in the null space, orthonormal in the metric Σ_s W_ss, and then those that it does not see."""
    k = N.shape[-1]
    nothing = la.zeros(0, k, like=N)
    weighted, measured, unseen = nothing, nothing, nothing
    metric = _metric(units, sizes, la)
    for i in range(1, k):  # the first row depends on nothing
        z = la.rows(la.transpose(N), i, i + 1)
        length2 = z @ la.transpose(z)
        z = z * _inverse_root(length2, length2 > 0, la)
        if len(sizes) > 1:  # a single constraint's own redundancy costs nothing in its metric
            for _ in range(2):
                z = z - (z @ la.transpose(measured)) @ weighted
            measure = z @ metric
            cost2 = measure @ la.transpose(z)
            seen = cost2 > UNSEEN * (z @ la.transpose(z))
            inverse = _inverse_root(cost2, seen, la)
            weighted, measured = la.stack(weighted, z * inverse), la.stack(measured, measure * inverse)
            z = la.where(seen, 0.0, 1.0) * z
        for _ in range(2):
            z = z - (z @ la.transpose(unseen)) @ unseen
        rest2 = z @ la.transpose(z)
        unseen = la.stack(unseen, z * _inverse_root(rest2, rest2 > RANK**2, la))
    return (weighted, measured), (unseen, unseen)


def _metric(units: Any, sizes: list[int], la: LinearAlgebra) -> Any:
    """The block-diagonal matrix of the W_ss of unit rows."""
    rows, start, k = la.zeros(0, sum(sizes), like=units), 0, sum(sizes)
    for size in sizes:
        U = la.rows(units, start, start + size)
        before, after = la.zeros(size, start, like=units), la.zeros(size, k - start - size, like=units)
        rows = la.stack(rows, la.side_by_side(before, U @ la.transpose(U), after))
        start += size
    return rows


def _inverse_root(square: Any, valid: Any, la: LinearAlgebra) -> Any:
    """1/√square where valid, else 0; guarded inside so that derivatives stay finite too."""
    return la.where(valid, 1 / la.sqrt(la.where(valid, square, 1.0)), 0.0)
