"""The prior velocities that lose most and least: Sᵀ P_cᵀ M P_c S x = ξ Sᵀ M S x [FK-b]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jourdain.algebra import lapack
from jourdain.inputs import Array


@dataclass(frozen=True)
class Directions:
    """Directions of the prior velocity by falling ξ, each with T = 1 J and oriented so that the first struck row
    approaches.
    """

    xi: Array  # (m,), falling
    v: Array  # (n_v, m), columns, M-orthogonal
    multiplicity: NDArray[np.int_]  # (m,), how many directions share this ξ: only their span is determined
    point_velocity: Array | None  # (3, m), of the named point, m/s
    angle: Array | None  # (m,), of that velocity, from `axis` towards frame.x, rad; NaN where the point rests


def directions(M: Array, P_c: Array, S: Array, struck: Array) -> tuple[Array, Array, NDArray[np.int_]]:
    """(ξ, columns v, multiplicities) in the span of S (n × m); `struck` are the rows that act impulsively (k × n)."""
    constrained = P_c @ S
    xi, x = lapack.symmetric_eigen(constrained.T @ M @ constrained, S.T @ M @ S)
    xi = np.clip(xi, 0.0, 1.0)  # rounding only
    v = np.sqrt(2) * S @ x  # xᵀ Sᵀ M S x = 1, so this has T = 1 J
    for column in v.T:
        column *= -_leading_sign(struck @ column, column)
    multiplicity = np.array([int(np.sum(np.abs(xi - value) < 1e-9)) for value in xi])
    return xi, v, multiplicity


def _leading_sign(u: Array, v: Array) -> float:
    """The sign of the first row velocity that is not zero; of the largest entry of −v where all are."""
    moving = np.flatnonzero(np.abs(u) > 1e-9 * np.max(np.abs(u), initial=0.0))
    reference = u[moving[0]] if moving.size and np.max(np.abs(u)) > 1e-12 else -v[np.argmax(np.abs(v))]
    return 1.0 if reference > 0 else -1.0


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
