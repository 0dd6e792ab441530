"""Contacts in space with Coulomb's law for the velocity after the event, several at once [Moreau].

Asked for, of each contact, with w = r + W λ,

    0 ≤ λ_n ⊥ w_n ≥ 0,   ‖λ_t‖ ≤ μ λ_n,   w_t opposes λ_t, which is on the cone, where it slips

that is F = 0 with F_n = λ_n − [λ_n − w_n]₊ and F_t = λ_t − (λ_t − w_t, brought into the disk of radius μ [λ_n − w_n]₊).
Sweeps over the contacts, each projected onto its cone [De Saxcé & Feng 1998], come near; Newton's method on F [Alart &
Curnier 1991] arrives. Its derivatives give those of λ.
"""

from __future__ import annotations

from functools import lru_cache

import casadi as ca
import numpy as np
from casadi import SX
from numpy.typing import NDArray

from jourdain.algebra.lapack import pseudo_inverse
from jourdain.evaluate import Evaluator

Array = NDArray[np.float64]

N_ROUNDS, N_SWEEPS, N_NEWTON = 40, 25, 12
GOOD = 1e-13  # of the usual speed: F at the answer
ENOUGH = 1e-11  # what is taken if it does not get better


def n_asked(k: int) -> int:
    """r, μ, and the lower triangle of W, row by row, of k contacts."""
    return 3 * k + k + 3 * k * (3 * k + 1) // 2


def find(asked: Array, slopes: bool = False) -> tuple[Array, Array]:
    """(found, its derivatives by asked): λ of all rows and whether it was found, `(lanes, 3k + 1)`."""
    k = next(k for k in range(1, asked.shape[1]) if n_asked(k) == asked.shape[1])
    with np.errstate(all="ignore"):  # what is not finite is told
        r, mu, W = _parts(asked, k)
        scale = np.repeat(_sizes(W, k), 3, axis=-1)
        usual = np.max(np.abs(r / scale), axis=-1, keepdims=True)
        usual = np.where(usual > 0, usual, 1.0)
        unit = _asked(r / scale / usual, mu, W / (scale[:, :, None] * scale[:, None, :]))
        impulse, miss = _searched(unit, k)
        arrived = np.isfinite(asked).all(axis=-1) & (miss <= ENOUGH)
        found = np.column_stack([impulse * usual / scale, arrived])
        if not slopes:
            return found, np.zeros((len(asked), 3 * k + 1, 0))
        by = residual(k)(found[:, :-1], asked)
        following = -pseudo_inverse(by["by_impulse"]) @ by["by_asked"]
    return found, np.pad(following, ((0, 0), (0, 1), (0, 0)))


def _searched(asked: Array, k: int) -> tuple[Array, Array]:
    """(λ, |F|) of lanes whose rows and speeds are about 1."""
    n = len(asked)
    best, least = np.zeros((n, 3 * k)), np.full(n, np.inf)
    impulse, active = best.copy(), np.flatnonzero(np.isfinite(asked).all(axis=-1))
    for _ in range(N_ROUNDS):
        if not active.size:
            break
        impulse[active] = _swept(impulse[active], *_parts(asked[active], k))
        near = impulse[active]
        for _ in range(N_NEWTON):
            by = residual(k)(near, asked[active])
            F, slope = by["F"][..., 0], by["by_impulse"]
            miss = np.max(np.abs(F), axis=-1)
            better = miss < least[active]
            best[active[better]], least[active[better]] = near[better], miss[better]
            if np.all(least[active] <= GOOD):
                break
            near = near - (pseudo_inverse(slope) @ F[..., None])[..., 0]
        active = active[least[active] > GOOD]
    return best, least


def _swept(impulse: Array, r: Array, mu: Array, W: Array) -> Array:
    """Gauss–Seidel: each contact in turn, given the others."""
    impulse, k = impulse.copy(), mu.shape[-1]
    for _ in range(N_SWEEPS):
        for c in range(k):
            rows = slice(3 * c, 3 * c + 3)
            speed = r[:, rows] + np.einsum("lij,lj->li", W[:, rows], impulse)
            stiff = np.max(np.sum(np.abs(W[:, rows, rows]), axis=-1), axis=-1)
            step = 1 / np.where(stiff > 0, stiff, 1.0)
            speed[:, 0] += mu[:, c] * np.hypot(speed[:, 1], speed[:, 2])  # so that slipping is a projection too
            impulse[:, rows] = _onto_cone(impulse[:, rows] - step[:, None] * speed, mu[:, c])
    return impulse


def _onto_cone(z: Array, mu: Array) -> Array:
    """The nearest λ with ‖λ_t‖ ≤ μ λ_n."""
    n, t = z[:, 0], np.hypot(z[:, 1], z[:, 2])
    inside, below = t <= mu * n, mu * t <= -n
    pushed = (n + mu * t) / (1 + mu * mu)
    edge = np.column_stack([pushed, z[:, 1:] * (mu * pushed / np.where(t > 0, t, 1.0))[:, None]])
    return np.where(inside[:, None], z, np.where(below[:, None], 0.0, edge))


@lru_cache(maxsize=8)
def residual(k: int) -> Evaluator:
    """(λ, asked) → F and its derivatives."""
    impulse, asked = SX.sym("impulse", 3 * k), SX.sym("asked", n_asked(k))
    W, start = SX(3 * k, 3 * k), 4 * k
    for i in range(3 * k):
        for j in range(i + 1):
            W[i, j] = W[j, i] = asked[start]
            start += 1
    after = asked[: 3 * k] + W @ impulse
    F = ca.vertcat(*(_missed(impulse[3 * c : 3 * c + 3], after[3 * c : 3 * c + 3], asked[3 * k + c]) for c in range(k)))
    return Evaluator(
        [impulse, asked], {"F": F, "by_impulse": ca.jacobian(F, impulse), "by_asked": ca.jacobian(F, asked)}
    )


def _missed(impulse: SX, after: SX, mu: SX) -> SX:
    """F of one contact, (3, 1)."""
    pushed = impulse[0] - after[0]
    normal = ca.if_else(pushed > 0, pushed, 0.0)
    wanted, radius = impulse[1:3] - after[1:3], mu * normal
    square = ca.sumsqr(wanted)
    outside = square > radius * radius
    length = ca.if_else(outside, ca.sqrt(ca.if_else(outside, square, 1.0)), 1.0)
    return ca.vertcat(impulse[0] - normal, impulse[1:3] - wanted * ca.if_else(outside, radius / length, 1.0))


def _parts(asked: Array, k: int) -> tuple[Array, Array, Array]:
    """(r, μ, W), `(lanes, 3k)`, `(lanes, k)`, `(lanes, 3k, 3k)`."""
    W = np.zeros((len(asked), 3 * k, 3 * k))
    i, j = np.tril_indices(3 * k)
    W[:, i, j] = W[:, j, i] = asked[:, 4 * k :]
    return asked[:, : 3 * k], asked[:, 3 * k : 4 * k], W


def _asked(r: Array, mu: Array, W: Array) -> Array:
    i, j = np.tril_indices(W.shape[-1])
    return np.hstack([r, mu, W[:, i, j]])


def _sizes(W: Array, k: int) -> Array:
    """√(tr W_cc / 3) of each contact, 1 where nothing moves it: one for its three rows, so that disks stay disks."""
    square = np.diagonal(W, axis1=-2, axis2=-1).reshape(len(W), k, 3).mean(axis=-1)
    return np.sqrt(np.where(square > 0, square, 1.0))
