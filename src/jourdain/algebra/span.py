"""What a set of rows spans: the one place that decides rank.

Rows come as Y = C L⁻¹ (M = LᵀL), so that Y Yᵀ = C M⁻¹ Cᵀ = W and lengths are free of units. Gram–Schmidt, done twice,
gives orthonormal rows Q with Y = R Q: R is the Cholesky factor of W, obtained without squaring the condition number.
A row whose part outside the rows before it is shorter than RANK of its length is dropped: its row of Q is zero.

Dropped rows are combinations of kept ones, y_D = F y_S. Everything about redundancy follows from F: the columns of
N = (−Fᵀ; I) are impulses that change nothing, and λ' − (part of λ' in the span of N) is the shortest of all λ that
act like λ'. Without redundant rows N is zero and nothing is lost to it. All of it is branch-free.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

# √(2 eps) with a margin: a kept row at this ratio has a direction good to eps / RANK < RANK, so that rounding
# in it cannot lift a dependent row over the same threshold.
RANK = 3e-8


@dataclass(frozen=True)
class Basis:
    """Orthonormal rows of one stack of rows Y (k × n), scaled to unit length first."""

    Q: Any  # (k, n), zero rows where dropped
    keep: Any  # (k, 1), 1 or 0
    scale: Any  # (k, 1), 1 / ‖y_i‖, or 0 for a zero row
    triangle: Any  # (k, k), the inverse of R with 1 on dropped diagonals
    F: Any  # (k, k), non-zero only in dropped rows and kept columns
    redundancy: Any  # (k, k), orthonormal rows that span the null space of Yᵀ, and zero rows
    la: ModuleType

    def coordinates(self, r: Any) -> Any:
        """The x in the span with Y x = r, as coordinates along Q. Only kept rows are read."""
        la = self.la
        return la.scale_rows(self.keep, self.triangle @ la.scale_rows(self.scale, r))

    def impulse(self, nu: Any) -> Any:
        """The λ with Yᵀλ = Qᵀν that is shortest in units of unit rows."""
        la = self.la
        kept_only = la.scale_rows(self.keep, la.transpose(self.triangle) @ la.scale_rows(self.keep, nu))  # R_SSᵀλ' = ν
        # What lies in the null space of Yᵀ changes nothing and only makes λ longer.
        Z = self.redundancy
        shortest = kept_only - la.transpose(Z) @ (Z @ kept_only)
        return la.scale_rows(self.scale, shortest)

    def nullspace(self) -> Any:
        """(k, k): column i is a λ with Yᵀλ = 0 for a dropped row i, zero for a kept one. In units of unit rows."""
        return _nullspace(self.keep, self.F, self.la)


def orthonormal(Y: Any, la: ModuleType, first: Basis | None = None) -> Basis:
    """Gram–Schmidt over the rows of Y in their order. `first` is the basis that the leading rows already are."""
    k, n_first = Y.shape[-2], 0 if first is None else first.Q.shape[-2]
    Q, triangle, F = la.zeros(0, Y.shape[-1], like=Y), la.zeros(0, k, like=Y), la.zeros(0, k, like=Y)
    keep, scale, one = la.zeros(0, 1, like=Y), la.zeros(0, 1, like=Y), la.ones(1, 1, like=Y)
    for i in range(k):
        y = la.rows(Y, i, i + 1)
        along = la.zeros(1, i, like=Y)
        if i < n_first and first is not None:
            q, scale_i, keep_i, inverse = y, one, la.rows(first.keep, i, i + 1), one
        else:
            length2 = y @ la.transpose(y)
            scale_i = _inverse_root(length2, length2 > 0, la)
            q, kept, inverse = y * scale_i, length2 > 0, one
            if i > 0:
                for _ in range(2):  # the second pass makes Q orthogonal to rounding
                    h = q @ la.transpose(Q)
                    q = q - h @ Q
                    along = along + h
                rest2 = q @ la.transpose(q)
                kept = rest2 > RANK**2
                inverse = _inverse_root(rest2, kept, la)
                q, inverse = q * inverse, la.where(kept, inverse, 1.0)
            keep_i = la.where(kept, 1.0, 0.0)
        # R has the row (along, 1/inverse), with 1 on a dropped diagonal; a dropped column is zero because its q is.
        before = along @ triangle  # R_i,S R_SS⁻¹: how the row depends on those before it
        unit = la.side_by_side(la.zeros(1, i, like=Y), inverse, la.zeros(1, k - i - 1, like=Y))
        F = la.stack(F, (1 - keep_i) * before)
        triangle = la.stack(triangle, unit - inverse * before)
        Q, keep, scale = la.stack(Q, q), la.stack(keep, keep_i), la.stack(scale, scale_i)
    dependent = range(1 if first is None else n_first, k)  # the first row, and what is orthonormal, depends on nothing
    redundancy = _orthonormal_rows(la.transpose(_nullspace(keep, F, la)), dependent, la)
    return Basis(Q, keep, scale, triangle, F, redundancy, la)


def _nullspace(keep: Any, F: Any, la: ModuleType) -> Any:
    return la.diagonal(1 - keep) - la.transpose(F)


def _orthonormal_rows(X: Any, indices: Iterable[int], la: ModuleType) -> Any:
    """Gram–Schmidt over the rows of X at `indices` (independent, or zero); zero rows stay zero."""
    Q = la.zeros(0, X.shape[-1], like=X)
    for i in indices:
        z = la.rows(X, i, i + 1)
        for _ in range(2):
            z = z - (z @ la.transpose(Q)) @ Q
        length2 = z @ la.transpose(z)
        Q = la.stack(Q, z * _inverse_root(length2, length2 > 0, la))
    return Q


def _inverse_root(square: Any, valid: Any, la: ModuleType) -> Any:
    """1/√square where valid, else 0; guarded inside so that derivatives stay finite too."""
    return la.where(valid, 1 / la.sqrt(la.where(valid, square, 1.0)), 0.0)


@dataclass(frozen=True)
class Span:
    """Several named constraints stacked. Each is orthonormalized by itself first, so that impulses of a redundant
    set are the ones that minimise Σ_s λ_sᵀ W_ss λ_s, whatever the units or axes inside a constraint.
    """

    blocks: tuple[Basis, ...]
    joint: Basis
    sizes: tuple[int, ...]
    la: ModuleType

    @property
    def Q(self) -> Any:
        return self.joint.Q

    @property
    def keep(self) -> Any:
        """(k, 1): 1 for rows that are independent of those before them."""
        return self.joint.keep

    def coordinates(self, r: Any) -> Any:
        parts = [block.coordinates(part) for block, part in zip(self.blocks, self._split(r), strict=True)]
        return self.joint.coordinates(self._stack(parts, r))

    def impulse(self, nu: Any) -> Any:
        parts = self._split(self.joint.impulse(nu))
        return self._stack([block.impulse(part) for block, part in zip(self.blocks, parts, strict=True)], nu)

    def nullspace(self) -> Any:
        """(k, 2k): columns span the λ with C'ᵀλ = 0; many of them are zero."""
        la, k = self.la, sum(self.sizes)
        inside, start = [], 0
        for block, size in zip(self.blocks, self.sizes, strict=True):
            before = la.zeros(start, size, like=block.Q)
            after = la.zeros(k - start - size, size, like=block.Q)
            unit = la.where(block.scale > 0, block.scale, 1.0)  # a zero row carries any impulse
            inside.append(la.stack(before, la.scale_rows(unit, block.nullspace()), after))
            start += size
        between = self._split(self.joint.nullspace())
        across = [block.impulse(part) for block, part in zip(self.blocks, between, strict=True)]
        return la.side_by_side(*inside, self._stack(across, self.joint.F))

    def _stack(self, parts: list[Any], like: Any) -> Any:
        return self.la.stack(self.la.zeros(0, like.shape[-1], like=like), *parts)

    def _split(self, column: Any) -> list[Any]:
        parts, start = [], 0
        for size in self.sizes:
            parts.append(self.la.rows(column, start, start + size))
            start += size
        return parts


def span(blocks: list[Any], n: int, la: ModuleType, like: Any) -> Span:
    """The span of stacked blocks Y_s (k_s × n), in their order. `like` gives the batch shape where there are none."""
    bases = tuple(orthonormal(Y, la) for Y in blocks)
    stacked = la.stack(la.zeros(0, n, like=like), *(basis.Q for basis in bases))
    joint = orthonormal(stacked, la, first=bases[0] if bases else None)
    return Span(bases, joint, tuple(Y.shape[-2] for Y in blocks), la)
