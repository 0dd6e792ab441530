"""Rotations as 3 × 3 matrices, over numbers and over CasADi scalars; structural zeros are kept."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.inputs import Array

ROUNDING = 1e-15  # entries of a rotation below this are zeros that were computed


def from_quaternion(quaternion: Any) -> Array:
    """The matrix of a quaternion (w, x, y, z) of any length, as numbers; entries that are only rounding are 0."""
    w, x, y, z = np.asarray(quaternion, dtype=float) / np.linalg.norm(quaternion)
    R = np.array([
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ])  # fmt: skip
    R[np.abs(R) < ROUNDING] = 0.0
    whole = np.abs(np.abs(R) - 1) < ROUNDING
    R[whole] = np.sign(R[whole])
    return R


def to_quaternion(R: Array) -> Array:
    """(w, x, y, z) of a rotation matrix, w ≥ 0. (SciPy's takes longer to import than a robot to build.)"""
    (a, b, c), (d, e, f), (g, h, i) = R
    # Four times q qᵀ; its column with the largest diagonal is the best known multiple of q.
    K = np.array([
        [1 + a + e + i, h - f, c - g, d - b],
        [h - f, 1 + a - e - i, b + d, c + g],
        [c - g, b + d, 1 - a + e - i, f + h],
        [d - b, c + g, f + h, 1 - a - e + i],
    ])  # fmt: skip
    q = K[:, int(np.argmax(np.diag(K)))]
    return np.asarray(q / np.linalg.norm(q) * (1.0 if q[0] >= 0 else -1.0))


def of_quaternion(quaternion: SX) -> SX:
    """The same over scalars: of the direction of (w, x, y, z), whatever its length."""
    w, x, y, z = ca.vertsplit(quaternion)
    twice = 2 / ca.sumsqr(quaternion)
    xx, yy, zz = twice * x * x, twice * y * y, twice * z * z
    xy, xz, yz = twice * x * y, twice * x * z, twice * y * z
    wx, wy, wz = twice * w * x, twice * w * y, twice * w * z
    return ca.vertcat(
        ca.horzcat(1 - (yy + zz), xy - wz, xz + wy),
        ca.horzcat(xy + wz, 1 - (xx + zz), yz - wx),
        ca.horzcat(xz - wy, yz + wx, 1 - (xx + yy)),
    )


def about(axis: Array, angle: SX) -> SX:
    """The rotation by an angle about a unit axis: E + sin K + (1 − cos) K², sparse about an axis of the frame."""
    c, s = ca.cos(angle), ca.sin(angle)
    K = skew(constant(axis))
    along = constant(np.outer(axis, axis))
    return ca.sparsify(along + s * K + c * ca.sparsify(SX.eye(3) - along))


def rates_of_quaternion(quaternion: SX) -> SX:
    """(4, 3): the rate of (w, x, y, z) for an angular velocity in the body's axes."""
    w, x, y, z = ca.vertsplit(quaternion)
    return ca.vertcat(
        ca.horzcat(-x, -y, -z),
        ca.horzcat(w, -z, y),
        ca.horzcat(z, w, -x),
        ca.horzcat(-y, x, w),
    ) / 2  # fmt: skip


def product(p: SX, q: SX) -> SX:
    """The quaternion of the turn q and then, in the same axes, the turn p, (4, 1) each."""
    u, v = p[1:], q[1:]
    return ca.vertcat(p[0] * q[0] - ca.dot(u, v), p[0] * v + q[0] * u + ca.cross(u, v))


def conjugate(q: SX) -> SX:
    """Of the opposite turn."""
    return ca.vertcat(q[0], -q[1:])


def constant(array: Any) -> SX:
    """Numbers as SX without their zeros."""
    return ca.sparsify(SX(ca.DM(np.asarray(array, dtype=float))))


def skew(a: SX) -> SX:
    """The matrix of a ×, sparse where a is."""
    return ca.sparsify(ca.skew(a))


def cross(a: SX, b: SX) -> SX:
    """a × b, column by column of b."""
    return ca.sparsify(skew(a) @ b)
