"""Redundant impulses of contacts in space that rest: the share that is taken, whatever an iteration started from.

Impulses λ = λ₀ + z with W z = 0 move alike; λ₀ is the least of them. Where it leaves the cones K, ‖λ_t‖ ≤ μ λ_n, the
least in cones that begin a little higher is taken, so that it lies inside K, and if there is none, the least in K. It
is the projection of some y = P y, P z = 0, with

    P Π(y) = λ₀                               Π: projection onto the cones

which Newton's method finds: it is the derivative of a convex function.
"""

from __future__ import annotations

from functools import lru_cache

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.algebra.lapack import pseudo_inverse
from jourdain.compute.evaluate import Evaluator
from jourdain.inputs import Array, Flags

SINGULAR = 1e-12  # of unit rows: eigenvalues of W that are 0
HIGHER = 1e-3  # of the mean impulse: where the cones begin
N_NEWTON, N_HALVED = 60, 12  # at most: steps, and how often one is halved
FOUND = 1e-12  # of the impulses


def share(impulse: Array, mu: Array, W: Array, rests: Flags) -> Array:
    """The share of impulses `(lanes, 3k)` of unit rows: W `(lanes, 3k, 3k)`, μ and which contacts rest `(lanes, k)`."""
    k = mu.shape[-1]
    lanes = np.flatnonzero(rests.any(axis=-1))
    acting = np.repeat(rests[lanes], 3, axis=-1)
    among = np.where(acting[:, :, None] & acting[:, None, :], W[lanes], np.eye(3 * k))
    sizes, directions = np.linalg.eigh(among)
    redundant = (sizes <= SINGULAR).any(axis=-1)
    if not redundant.any():
        return impulse
    lanes, acting = lanes[redundant], acting[redundant]
    sizes, directions = sizes[redundant], directions[redundant]
    null = np.where(sizes[:, None, :] <= SINGULAR, directions, 0.0)
    P = np.eye(3 * k) - null @ null.transpose(0, 2, 1)
    own = np.where(acting, impulse[lanes], 0.0)
    least = (P @ own[..., None])[..., 0]
    height = HIGHER * np.linalg.norm(least, axis=-1) / k
    found, todo = least.copy(), ~_inside(least, mu[lanes], height, rests[lanes])
    for start in (height, np.zeros_like(height)):
        some = np.flatnonzero(todo)
        if some.size:
            found[some], good = _least_in_cones(least[some], P[some], mu[lanes[some]], start[some], acting[some])
            todo[some[good]] = False
    found[todo] = own[todo]
    shared = impulse.copy()
    shared[lanes] = np.where(acting, found, impulse[lanes])
    return shared


def _inside(impulse: Array, mu: Array, height: Array, rests: Flags) -> Flags:
    push = impulse.reshape(*mu.shape, 3)
    inside = np.hypot(push[..., 1], push[..., 2]) <= mu * (push[..., 0] - height[:, None])
    return np.asarray(np.all(inside | ~rests, axis=-1))


def _least_in_cones(least: Array, P: Array, mu: Array, height: Array, acting: Flags) -> tuple[Array, Flags]:
    """(impulses, whether they were found)."""
    raised = np.zeros_like(least)
    raised[:, ::3] = height[:, None]
    raised = np.where(acting, raised, 0.0)
    size = np.linalg.norm(least, axis=-1)

    def missed(y: Array) -> tuple[Array, Array, Array]:
        """(λ, P λ − λ₀, its slope) at P y."""
        at = projection(mu.shape[-1])(P_times(y) - raised, mu)
        impulse = np.where(acting, at["nearest"][..., 0] + raised, 0.0)
        return impulse, P_times(impulse) - least, P @ np.where(acting[:, :, None], at["slope"], 0.0) @ P

    def P_times(x: Array) -> Array:
        return np.asarray((P @ x[..., None])[..., 0])

    y = least.copy()
    impulse, off, slope = missed(y)
    for _ in range(N_NEWTON):
        miss = np.linalg.norm(off, axis=-1)
        if np.all(miss <= FOUND * size):
            break
        step, length = (pseudo_inverse(slope) @ off[..., None])[..., 0], np.ones(len(y))
        for _ in range(N_HALVED):
            tried = missed(y - length[:, None] * step)[1]
            worse = ~(np.linalg.norm(tried, axis=-1) < miss)
            if not worse.any():
                break
            length[worse] /= 2
        y = y - length[:, None] * step
        impulse, off, slope = missed(y)
    return impulse, np.linalg.norm(off, axis=-1) <= FOUND * size


@lru_cache(maxsize=8)
def projection(k: int) -> Evaluator:
    """(z, μ) → the nearest impulses in the cones of k contacts, and the derivatives of these."""
    z, mu, parts = SX.sym("z", 3 * k), SX.sym("mu", k), []
    for c in range(k):
        n, t, friction = z[3 * c], z[3 * c + 1 : 3 * c + 3], mu[c]
        square = ca.sumsqr(t)
        size = ca.if_else(square > 0, ca.sqrt(ca.if_else(square > 0, square, 1.0)), 0.0)
        inside, below = size <= friction * n, friction * size <= -n
        edge = (n + friction * size) / (1 + friction * friction)
        on_edge = ca.vertcat(edge, friction * edge * t / ca.if_else(square > 0, size, 1.0))
        parts.append(ca.if_else(inside, z[3 * c : 3 * c + 3], ca.if_else(below, SX(3, 1), on_edge)))
    nearest = ca.vertcat(*parts)
    return Evaluator([z, mu], {"nearest": nearest, "slope": ca.jacobian(nearest, z)})
