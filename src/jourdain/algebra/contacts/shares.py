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

from jourdain.algebra.contacts.newton import damped
from jourdain.compute.evaluate import Evaluator
from jourdain.inputs import Array, Flags

SINGULAR = 1e-9  # of unit rows: singular values of R that are 0
HIGHER = 1e-3  # of the mean impulse: where the cones begin
N_NEWTON, N_HALVED = 60, 12  # at most: steps, and how often one is halved
SOLVED = 1e-12  # of the impulses


def share(impulse: Array, mu: Array, R: Array, rests: Flags) -> Array:
    """The share of impulses `(lanes, 3k)` of unit rows.

    W = R Rᵀ with R `(lanes, 3k, 3k)`; μ and which contacts rest `(lanes, k)`.
    """
    k = mu.shape[-1]
    lanes = np.flatnonzero(rests.any(axis=-1))
    acting = np.repeat(rests[lanes], 3, axis=-1)
    # Rows that do not act are independent of all others.
    among = np.concatenate([np.where(acting[:, :, None], R[lanes], 0.0), np.eye(3 * k) * ~acting[:, :, None]], axis=-1)
    directions, sizes, _ = np.linalg.svd(among, full_matrices=False)
    redundant = (sizes <= SINGULAR).any(axis=-1)
    if not redundant.any():
        return impulse
    lanes, acting = lanes[redundant], acting[redundant]
    sizes, directions = sizes[redundant], directions[redundant]
    null = np.where(sizes[:, None, :] <= SINGULAR, directions, 0.0)
    P = np.eye(3 * k) - null @ null.transpose(0, 2, 1)
    given = np.where(acting, impulse[lanes], 0.0)
    least = (P @ given[..., None])[..., 0]
    height = HIGHER * np.linalg.norm(least, axis=-1) / k
    chosen, todo = least.copy(), ~_inside(least, mu[lanes], height, rests[lanes])
    for start in (height, np.zeros_like(height)):
        left = np.flatnonzero(todo)
        if left.size:
            chosen[left], good = _least_in_cones(least[left], P[left], mu[lanes[left]], start[left], acting[left])
            todo[left[good]] = False
    chosen[todo] = given[todo]
    shared = impulse.copy()
    shared[lanes] = np.where(acting, chosen, impulse[lanes])
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

    def impulse(y: Array) -> tuple[Array, Array]:
        """(λ, its slope) at P y."""
        at = projection(mu.shape[-1])(P_times(y) - raised, mu)
        return np.where(acting, at["nearest"][..., 0] + raised, 0.0), np.where(acting[:, :, None], at["slope"], 0.0)

    def missed(y: Array) -> tuple[Array, Array]:
        """(P λ − λ₀, its slope) at P y."""
        pushed, slope = impulse(y)
        return P_times(pushed) - least, P @ slope @ P

    def P_times(x: Array) -> Array:
        return np.asarray((P @ x[..., None])[..., 0])

    y = damped(least, missed, N_NEWTON, N_HALVED, lambda off: bool(np.all(off <= SOLVED * size)))
    return impulse(y)[0], np.linalg.norm(missed(y)[0], axis=-1) <= SOLVED * size


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
