"""Contacts in space with Coulomb's law for the velocity after the event, several at once [Moreau].

Asked for, of each contact, with w = r + W λ,

    0 ≤ λ_n ⊥ w_n ≥ 0,   ‖λ_t‖ ≤ μ λ_n,   w_t opposes λ_t, which is on the cone, where it slips

that is F = 0 with F_n = λ_n − [λ_n − w_n]₊ and F_t = λ_t − (λ_t − w_t, brought into the disk of radius μ [λ_n − w_n]₊).
Sweeps over the contacts, each projected onto its cone [De Saxcé & Feng 1998], come near; Newton's method on F [Alart &
Curnier 1991] arrives. Where they do not, as where friction is steep, the sweeps solve each contact by itself; where
that does not do either, Newton's method, damped, starts from many places. The derivatives of F give those of λ.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.algebra.contacts.iteration import Iteration
from jourdain.algebra.contacts.shares import share
from jourdain.algebra.lapack import pseudo_inverse
from jourdain.compute.evaluate import Evaluator
from jourdain.inputs import Array, Flags

N_ROUNDS, N_SWEEPS, N_NEWTON = 40, 25, 12  # at most; sweeps and Newton's steps of each round
N_PROJECTED = 10  # rounds whose sweeps project; in the others each contact is solved
N_ANGLES, N_HALVINGS = 180, 40  # directions of slip that are tried, and how often intervals between them are halved
N_STARTS, N_TRIES, N_DAMPED, N_HALVED = 32, 8, 40, 8  # places at once, how often, steps from each, and of each step
MOST_SLIPS = 4  # of one contact: zeros of a trigonometric polynomial of order 2
Improve = Callable[[Array, Array, Array, Array], Array]  # λ, w, μ, W of one contact → a better λ
GOOD = 1e-13  # of the usual speed: F at the answer
NULL, MOVES = 1e-9, 1e-6  # directions along which F does not change; speeds that are not 0
ENOUGH = 1e-11  # what is taken if it does not get better


def n_asked(k: int) -> int:
    """r, μ, and the lower triangle of W, row by row, of k contacts."""
    return 3 * k + k + 3 * k * (3 * k + 1) // 2


def iteration(k: int) -> Iteration:
    """What finds the impulses of k contacts."""
    return Iteration(n_asked(k), 3 * k + 2, partial(find, k=k))


def find(asked: Array, k: int, slopes: bool = False) -> tuple[Array, Array]:
    """(found, its derivatives by asked) of k contacts: `(lanes, 3k + 2)`, `(lanes, 3k + 2, m)`, empty without `slopes`.

    Asked `(lanes, m)`: see `n_asked`. Found is λ of all rows, N s, 1 where it was found, else 0, and 1 where there are
    others that move otherwise.
    """
    with np.errstate(all="ignore"):  # what is not finite is told
        r, mu, W = _parts(asked, k)
        scale = _row_lengths(W, k)
        usual = np.max(np.abs(r / scale), axis=-1, keepdims=True)
        usual = np.where(usual > 0, usual, 1.0)
        steep = mu * scale[:, 1::3] / scale[:, ::3]  # ‖λ_t‖/λ_n in units of unit rows
        unit = _asked(r / scale / usual, steep, W / (scale[:, :, None] * scale[:, None, :]))
        impulse, miss = _searched(unit, k)
        impulse, several = _least(impulse, unit, k)
        impulse = _within(_shared(impulse, unit, k), _parts(unit, k)[1])
        arrived = np.isfinite(asked).all(axis=-1) & (miss <= np.maximum(ENOUGH, _rounding(impulse)))
        found = np.column_stack([impulse * usual / scale, arrived, several])
        if not slopes:
            return found, np.zeros((len(asked), 3 * k + 2, 0))
        by = residual(k)(found[:, : 3 * k], asked)
        following = -pseudo_inverse(by["by_impulse"]) @ by["by_asked"]
    return found, np.pad(following, ((0, 0), (0, 2), (0, 0)))


def _least(impulse: Array, asked: Array, k: int) -> tuple[Array, Flags]:
    """(λ without what changes nothing, whether other λ meet the law and move otherwise).

    Directions z with F_λ z = 0 lead to other solutions. Those with W z = 0 change no velocity, and are taken out of λ
    where the law allows; with W z ≠ 0 the motion itself is one of many: feet that slide together share their load.
    """
    by = residual(k)(impulse, asked)
    slope = np.where(np.isfinite(by["by_impulse"]), by["by_impulse"], 0.0)
    _, sizes, directions = np.linalg.svd(slope)
    null = np.where(sizes[:, :, None] <= NULL, directions, 0.0)  # (lanes, 3k, 3k), rows
    moves = np.linalg.norm(null @ _parts(asked, k)[2], axis=-1) > MOVES
    idle = np.where(moves[:, :, None], 0.0, null)
    least = impulse - (idle.transpose(0, 2, 1) @ (idle @ impulse[..., None]))[..., 0]
    miss = np.max(np.abs(residual(k)(least, asked)["F"][..., 0]), axis=-1)
    return np.where((miss <= np.maximum(ENOUGH, _rounding(least)))[:, None], least, impulse), moves.any(axis=-1)


def _shared(impulse: Array, asked: Array, k: int) -> Array:
    """λ of contacts that rest, shared in one way of many; see `shares`."""
    r, mu, W = _parts(asked, k)
    rests = np.abs(r + np.einsum("lij,lj->li", W, impulse)).reshape(-1, k, 3).max(axis=-1) <= NULL
    rests &= np.diagonal(W, axis1=-2, axis2=-1)[:, ::3] > 0  # others are left alone, or cannot move
    other = share(impulse, mu, W, rests)
    miss = np.max(np.abs(residual(k)(other, asked)["F"][..., 0]), axis=-1)
    return np.where((miss <= np.maximum(ENOUGH, _rounding(other)))[:, None], other, impulse)


def _searched(asked: Array, k: int) -> tuple[Array, Array]:
    """(λ, |F|) of lanes whose rows and speeds are about 1."""
    n = len(asked)
    best, least = np.zeros((n, 3 * k)), np.full(n, np.inf)
    impulse, active = best.copy(), np.flatnonzero(np.isfinite(asked).all(axis=-1))
    for i in range(N_ROUNDS):
        if not active.size:
            break
        improved = _projected if i < N_PROJECTED else _solved
        impulse[active] = _swept(impulse[active], *_parts(asked[active], k), improved)
        near = impulse[active]
        for _ in range(N_NEWTON):
            by = residual(k)(near, asked[active])
            F, slope = by["F"][..., 0], by["by_impulse"]
            miss = np.max(np.abs(F), axis=-1)
            better = miss < least[active]
            best[active[better]], least[active[better]] = near[better], miss[better]
            arrived = least[active] <= np.maximum(GOOD, _rounding(best[active]))
            if arrived.all():
                break
            near = near - (pseudo_inverse(slope) @ F[..., None])[..., 0]
        active = active[~arrived]
    for lane in np.flatnonzero(np.isfinite(asked).all(axis=-1) & (least > np.maximum(ENOUGH, _rounding(best)))):
        best[lane], least[lane] = _from_elsewhere(asked[lane], best[lane], k)
    return best, least


def _from_elsewhere(asked: Array, known: Array, k: int) -> tuple[Array, Any]:
    """(λ, |F|) of one lane by Newton's method from many places, the same ones every time; `known`: the best so far."""
    rng = np.random.default_rng(0)
    best, least, asked = known, np.inf, np.broadcast_to(asked, (N_STARTS, len(asked)))
    for _ in range(N_TRIES):
        start = rng.normal(size=(N_STARTS, 3 * k)) * 10.0 ** rng.uniform(-1, 3, (N_STARTS, 1))
        start[:, ::3] = np.abs(start[:, ::3])
        start[0] = best
        near, miss = _damped(start, asked, k)
        nearest = int(np.argmin(miss))
        if miss[nearest] < least:
            best, least = near[nearest], miss[nearest]
        if least <= max(ENOUGH, float(_rounding(best[None])[0])):
            break
    return best, least


def _damped(impulse: Array, asked: Array, k: int) -> tuple[Array, Array]:
    """(λ, |F|) after Newton's steps, each halved until F is shorter."""

    def at(impulse: Array) -> tuple[Array, Array, Array]:
        by = residual(k)(impulse, asked)
        return by["F"][..., 0], by["by_impulse"], np.linalg.norm(by["F"][..., 0], axis=-1)

    F, slope, size = at(impulse)
    for _ in range(N_DAMPED):
        step, part = (pseudo_inverse(slope) @ F[..., None])[..., 0], np.ones(len(impulse))
        for _ in range(N_HALVED):
            longer = ~(at(impulse - part[:, None] * step)[2] < size)
            if not longer.any():
                break
            part[longer] /= 2
        impulse = impulse - part[:, None] * step
        F, slope, size = at(impulse)
        if np.min(size) <= GOOD:
            break
    miss = np.max(np.abs(F), axis=-1)
    return impulse, np.where(np.isfinite(miss), miss, np.inf)


def _rounding(impulse: Array) -> Array:
    """How much F may be by rounding, `(lanes,)`."""
    return np.asarray(4 * np.finfo(float).eps * np.max(np.abs(impulse), axis=-1))


def _swept(impulse: Array, r: Array, mu: Array, W: Array, improved: Improve) -> Array:
    """Gauss–Seidel: each contact in turn, given the others."""
    impulse, k = impulse.copy(), mu.shape[-1]
    for _ in range(N_SWEEPS):
        for c in range(k):
            rows = slice(3 * c, 3 * c + 3)
            speed = r[:, rows] + np.einsum("lij,lj->li", W[:, rows], impulse)
            impulse[:, rows] = improved(impulse[:, rows], speed, mu[:, c], W[:, rows, rows])
    return impulse


def _projected(impulse: Array, speed: Array, mu: Array, W: Array) -> Array:
    """λ of one contact after a step against its speed, brought onto its cone."""
    stiff = np.max(np.sum(np.abs(W), axis=-1), axis=-1)
    step = 1 / np.where(stiff > 0, stiff, 1.0)
    raised = speed.copy()
    raised[:, 0] += mu * np.hypot(speed[:, 1], speed[:, 2])  # so that slipping is a projection too
    return _onto_cone(impulse - step[:, None] * raised, mu)


def _solved(impulse: Array, speed: Array, mu: Array, W: Array) -> Array:
    """λ of one contact that meets the law, if the others stay; as it is where none is found.

    A slip along −d, with d = (cos θ, sin θ) and λ = λ_n (1, μ d), has w_n = 0, so λ_n = −r_n/(W_nn + μ W_nt d), and w_t
    opposes d: θ is where their cross product is 0.
    """
    r = speed - np.einsum("lij,lj->li", W, impulse)
    sticking = -(pseudo_inverse(W) @ r[..., None])[..., 0]
    slips = np.max(np.abs(r + np.einsum("lij,lj->li", W, sticking)), axis=-1)
    holds = slips <= MOVES
    holds &= np.hypot(sticking[:, 1], sticking[:, 2]) <= mu * sticking[:, 0]
    slipping, found = _slipping(r, mu, W)
    moved = np.where(holds[:, None], sticking, np.where(found[:, None], slipping, impulse))
    return np.where((r[:, 0] >= 0)[:, None], 0.0, moved)


def _slipping(r: Array, mu: Array, W: Array) -> tuple[Array, Flags]:
    """(λ of a contact that slips, whether there is one)."""

    def at(angle: Array) -> tuple[Array, Array, Array]:
        """(λ, cross product of d and w_t, −d·w_t) for angles `(lanes, angles)`, both times W_nn + μ W_nt d."""
        d = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        stiff = W[:, None, 0, 0] + mu[:, None] * np.einsum("lat,lt->la", d, W[:, 0, 1:])
        ways = np.concatenate([np.ones_like(d[..., :1]), mu[:, None, None] * d], axis=-1)
        w = r[:, None, 1:] * stiff[..., None] - r[:, None, :1] * np.einsum("lij,laj->lai", W[:, 1:], ways)
        impulse = ways * (-r[:, None, :1] / np.where(stiff > 0, stiff, np.nan)[..., None])
        return impulse, d[..., 0] * w[..., 1] - d[..., 1] * w[..., 0], -np.sum(d * w, axis=-1)

    edges = np.linspace(0, 2 * np.pi, N_ANGLES + 1)
    above = at(np.broadcast_to(edges, (len(r), len(edges))))[1] > 0
    place = np.argsort(above[:, :-1] == above[:, 1:], axis=-1, kind="stable")[:, :MOST_SLIPS]  # first those that cross
    lanes = np.arange(len(r))[:, None]
    low, high, starts_above = edges[place], edges[place + 1], above[lanes, place]
    crosses = starts_above != above[lanes, place + 1]
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2
        same = (at(middle)[1] > 0) == starts_above
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    impulse, _, against = at((low + high) / 2)
    good = crosses & (against >= 0) & np.isfinite(impulse).all(axis=-1)
    return impulse[lanes[:, 0], np.argmax(good, axis=-1)], good.any(axis=-1)


def _within(impulse: Array, mu: Array) -> Array:
    """The same without what rounding adds: a contact that lifts has no impulse, and none leaves its cone."""
    push = impulse.reshape(-1, mu.shape[-1], 3).copy()
    push[push[..., 0] <= GOOD] = 0.0
    size, most = np.hypot(push[..., 1], push[..., 2]), mu * push[..., 0]
    push[..., 1:] *= np.where(size > most, most / np.where(size > 0, size, 1.0), 1.0)[..., None]
    return push.reshape(impulse.shape)


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


def _row_lengths(W: Array, k: int) -> Array:
    """√W_nn of normals and √(tr W_tt / 2) of both tangents, so that disks stay disks; 1 where nothing moves them."""
    square = np.diagonal(W, axis1=-2, axis2=-1).reshape(len(W), k, 3).copy()
    square[..., 1:] = square[..., 1:].mean(axis=-1, keepdims=True)
    return np.sqrt(np.where(square > 0, square, 1.0)).reshape(len(W), 3 * k)
