"""The prior velocities that lose most and least: Sᵀ P_cᵀ M P_c S x = ξ Sᵀ M S x [FK-b]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jourdain.algebra import lapack
from jourdain.algebra.checks import TOLERANCE
from jourdain.algebra.entries import scaled, squares
from jourdain.inputs import Array

HELD = (
    TOLERANCE / 10
)  # of the speed that the energy allows along a row: a prior velocity that breaks it by less holds it
MOVING = 1e-9  # the same for a struck row: less is rounding
EQUAL = 1e-6  # parts that differ by less are equally large


@dataclass(frozen=True)
class Directions:
    """Directions of the prior velocity by falling ξ, each with T = 1 J.

    A direction is oriented so that the first struck row that moves approaches. Where none moves (ξ = 0) the velocity
    with the largest part of the energy is positive; of equal ones the first.
    """

    xi: Array  # (m,), falling
    v: Array  # (n_v, m), columns, M-orthogonal
    multiplicity: NDArray[np.int_]  # (m,), how many directions share this ξ: only their span is determined
    point_velocity: Array | None  # (3, m), of the named point, m/s
    angle: Array | None  # (m,), of that velocity, from `axis` towards frame.x, rad; NaN where the point rests


def admitted(rows: Array, M: Array, S: Array) -> Array:
    """Columns, M-orthonormal, that span the velocities in the span of S (n × m) with rows v = 0 (k × n)."""
    factor = lapack.factor(M)
    basis = lapack.orthonormal(factor.apply(S))
    return factor.solve(basis @ lapack.null_space(_unit(rows, M) @ factor.solve(basis), HELD))


def directions(M: Array, P_c: Array, S: Array, struck: Array) -> tuple[Array, Array, NDArray[np.int_]]:
    """(ξ, columns v, multiplicities) in the span of S (n × m); `struck` are the rows that act impulsively (k × n)."""
    constrained = P_c @ S
    xi, x = lapack.symmetric_eigen(constrained.T @ M @ constrained, S.T @ M @ S)
    xi = np.clip(xi, 0.0, 1.0)  # rounding only
    v = np.sqrt(2) * S @ x  # xᵀ Sᵀ M S x = 1, so this has T = 1 J
    u, parts = _unit(struck, M) @ v, np.sqrt(np.diag(M))[:, None] * v
    v = v * [-_leading_sign(*pair) for pair in zip(u.T, parts.T, strict=True)]
    multiplicity = np.array([int(np.sum(np.abs(xi - value) < 1e-9)) for value in xi])
    return xi, v, multiplicity


def _unit(rows: Array, M: Array) -> Array:
    """Rows scaled to c M⁻¹ cᵀ = 1, so that units drop out: |c v| ≤ √(2T). Rows of zeros are left out."""
    lengths2 = squares(scaled(rows, lapack.factor(M), lapack), lapack)
    some = lengths2[:, 0] > 0
    return np.asarray(rows[some] / np.sqrt(lengths2[some]))


def _leading_sign(u: Array, parts: Array) -> float:
    """The sign of the first row speed that is not rounding; where all are, of the largest of −parts."""
    moving = np.flatnonzero(np.abs(u) > MOVING)
    largest = np.flatnonzero(np.abs(parts) > (1 - EQUAL) * np.max(np.abs(parts)))[0]
    return float(np.sign(u[moving[0]] if moving.size else -parts[largest]))


def angle_from(axis: Array, velocity: Array, speed_scale: Array) -> Array:
    """The angle of each column of `velocity` (3 × m) from `axis` towards x (towards y if the axis is x), in rad."""
    a = axis / np.sqrt(axis @ axis)
    side = np.array([1.0, 0.0, 0.0])
    if abs(a @ side) > 1 - 1e-12:
        side = np.array([0.0, 1.0, 0.0])
    b = side - (side @ a) * a
    b /= np.sqrt(b @ b)
    angle = np.arctan2(b @ velocity, a @ velocity)
    resting = np.sqrt(np.sum(velocity**2, axis=0)) <= 1e-12 * speed_scale
    return np.where(resting, np.nan, angle)
