"""Contacts in space with Coulomb's law for the velocity after the event, several at once [Moreau].

To be solved, for each contact, with w = r + W λ,

    0 ≤ λ_n ⊥ w_n ≥ 0,   ‖λ_t‖ ≤ μ λ_n,   w_t opposes λ_t, which is on the cone, where it slips

that is F = 0 with F_n = λ_n − [λ_n − w_n]₊ and F_t = λ_t − (λ_t − w_t, brought into the disk of radius μ [λ_n − w_n]₊).
Sweeps over the contacts, each projected onto its cone [De Saxcé & Feng 1998], come near; Newton's method on F [Alart &
Curnier 1991] arrives. Where they do not, as where friction is steep, the sweeps solve each contact by itself; where
that does not do either, Newton's method, damped, starts from many places. The derivatives of F give those of λ.

The rows are Y = R Q with orthonormal rows Q and a lower triangle R (see `span`), so that W = R Rᵀ. Where rows are
nearly parallel λ is large and most of W λ cancels: w = r + R (Rᵀλ) keeps the digits that W has lost.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.algebra.contacts.iteration import Iteration
from jourdain.algebra.contacts.newton import damped
from jourdain.algebra.contacts.shares import share
from jourdain.algebra.lapack import pseudo_inverse
from jourdain.compute.evaluate import Evaluator
from jourdain.inputs import Array, Flags

N_ROUNDS, N_SWEEPS, N_NEWTON = 40, 25, 12  # at most; sweeps and Newton's steps of each round
N_PROJECTED = 10  # rounds whose sweeps project; in the others each contact is solved
N_ANGLES, N_SECANTS = 180, 12  # directions of slip that are tried, and steps to the zero between two of them
N_STARTS, N_TRIES, N_DAMPED, N_HALVED = 32, 8, 40, 8  # places at once, how often, steps from each, and of each step
STICKING = 0.5  # share of contacts that stick at such places
PARALLEL = 1e-6  # of unit rows: what is left of the shortest one
N_POLISHED = 3  # steps more
NEARLY_PARALLEL = 1e-2  # of unit rows: what is left of one by those before it
MOST_SLIPS = 4  # of one contact: zeros of a trigonometric polynomial of order 2
Improve = Callable[[Array, Array, Array, Array], Array]  # λ, w, μ, W of one contact → a better λ
GOOD = 1e-13  # of the usual speed: F at the answer
NULL, MOVES = 1e-9, 1e-6  # directions along which F does not change; speeds that are not 0
ENOUGH = 1e-11  # what is taken if it does not get better


def n_inputs(k: int) -> int:
    """r, μ, and the lower triangle of R, row by row, of k contacts."""
    return 3 * k + k + 3 * k * (3 * k + 1) // 2


def iteration(k: int) -> Iteration:
    """What finds the impulses of k contacts."""
    return Iteration(n_inputs(k), 3 * k + 2, partial(find, k=k))


def find(inputs: Array, k: int, slopes: bool = False) -> tuple[Array, Array]:
    """(solutions, their derivatives) of k contacts: `(lanes, 3k + 2)`, `(lanes, 3k + 2, m)`, empty without `slopes`.

    Inputs `(lanes, m)`: see `n_inputs`. A solution is λ of all rows, N s, 1 where it was found, else 0, and 1 where
    there are others that move otherwise.
    """
    with np.errstate(all="ignore"):  # what is not finite is reported
        r, _, R = _parts(inputs, k)
        scale = _row_lengths(R, k)
        usual = np.max(np.abs(r / scale), axis=-1, keepdims=True)
        usual = np.where(usual > 0, usual, 1.0)
        units = _inputs(1 / (scale * usual), scale[:, 1::3] / scale[:, ::3], (1 / scale)[:, :, None] * np.ones_like(R))
        unit = inputs * units  # rows of length 1, speeds about 1, μ as ‖λ_t‖/λ_n of such rows
        impulse, miss = _searched(unit, k)
        impulse, several = _least(impulse, unit, k)
        impulse = _within(_shared(impulse, unit, k), _parts(unit, k)[1])
        arrived = np.isfinite(inputs).all(axis=-1) & (miss <= np.maximum(ENOUGH, _rounding(impulse)))
        solutions = np.column_stack([impulse * usual / scale, arrived, several])
        if not slopes:
            return solutions, np.zeros((len(inputs), 3 * k + 2, 0))
        by = residual(k)(impulse, unit)  # the law is the same in any units: they need not follow the inputs
        following = -pseudo_inverse(by["by_impulse"]) @ by["by_inputs"]
        following *= (usual / scale)[:, :, None] * units[:, None, :]
    return solutions, np.pad(following, ((0, 0), (0, 2), (0, 0)))


def _least(impulse: Array, inputs: Array, k: int) -> tuple[Array, Flags]:
    """(λ without what changes nothing, whether other λ meet the law and move otherwise).

    Directions z with F_λ z = 0 lead to other solutions. Those with Rᵀz = 0 change no velocity, and are taken out of λ
    where the law allows; with W z ≠ 0 the motion itself is one of many: feet that slide together share their load.
    """
    slope, R = residual(k)(impulse, inputs)["by_impulse"], _parts(inputs, k)[2]
    slope = np.where(np.isfinite(slope), slope, 0.0)
    null = _null(slope)
    moves = np.linalg.norm(null @ R @ R.transpose(0, 2, 1), axis=-1) > MOVES
    least, lanes = impulse.copy(), np.flatnonzero(_redundant(R))
    idle = _null(np.concatenate([slope, R.transpose(0, 2, 1)], axis=1)[lanes])
    least[lanes] -= (idle.transpose(0, 2, 1) @ (idle @ impulse[lanes, :, None]))[..., 0]
    miss = _miss(least, inputs, k)
    return np.where((miss <= np.maximum(ENOUGH, _rounding(least)))[:, None], least, impulse), moves.any(axis=-1)


def _null(A: Array) -> Array:
    """Orthonormal rows z with A z = 0, as many as A has columns, others zero."""
    _, sizes, directions = np.linalg.svd(A, full_matrices=False)
    return np.where(sizes[:, :, None] <= NULL, directions, 0.0)


def _shared(impulse: Array, inputs: Array, k: int) -> Array:
    """λ of contacts that rest, shared in one way of many; see `shares`."""
    _, mu, R = _parts(inputs, k)
    lanes = np.flatnonzero(_redundant(R))
    if not lanes.size:
        return impulse
    inputs, R = inputs[lanes], R[lanes]
    slow = np.maximum(NULL, _rounding(impulse[lanes]))
    rests = np.abs(_after(impulse[lanes], inputs, k)).reshape(-1, k, 3).max(axis=-1) <= slow[:, None]
    rests &= np.any(R[:, ::3] != 0, axis=-1)  # others are left alone, or cannot move
    shared, other = impulse.copy(), share(impulse[lanes], mu[lanes], R, rests)
    good = _miss(other, inputs, k) <= np.maximum(ENOUGH, _rounding(other))
    shared[lanes[good]] = other[good]
    return shared


def _redundant(R: Array) -> Flags:
    """Whether a row depends on those before it, `(lanes,)`: its place on the diagonal is 0."""
    return np.asarray((np.diagonal(R, axis1=-2, axis2=-1) == 0).any(axis=-1))


def _searched(inputs: Array, k: int) -> tuple[Array, Array]:
    """(λ, |F|) of lanes whose rows and speeds are about 1."""
    n = len(inputs)
    best, least = np.zeros((n, 3 * k)), np.full(n, np.inf)
    impulse, active = best.copy(), np.flatnonzero(np.isfinite(inputs).all(axis=-1))
    for i in range(N_ROUNDS):
        if not active.size:
            break
        improved = _projected if i < N_PROJECTED else _solved
        impulse[active] = _swept(impulse[active], *_parts(inputs[active], k), improved)
        near = impulse[active]
        for _ in range(N_NEWTON):
            by = residual(k)(near, inputs[active])
            F, slope = by["F"][..., 0], by["by_impulse"]
            miss = np.max(np.abs(F), axis=-1)
            better = miss < least[active]
            best[active[better]], least[active[better]] = near[better], miss[better]
            arrived = least[active] <= np.maximum(GOOD, _rounding(best[active]))
            if arrived.all():
                break
            near = near - (pseudo_inverse(slope) @ F[..., None])[..., 0]
        active = active[~arrived]
    for lane in np.flatnonzero(np.isfinite(inputs).all(axis=-1) & (least > np.maximum(ENOUGH, _rounding(best)))):
        best[lane], least[lane] = _from_elsewhere(inputs[lane], best[lane], k)
    return _polished(best, least, inputs, k)


def _polished(impulse: Array, miss: Array, inputs: Array, k: int) -> tuple[Array, Array]:
    """(λ, |F|) after Newton's steps more where rows are nearly parallel: there a small F is a large change of λ."""
    left = np.abs(np.diagonal(_parts(inputs, k)[2], axis1=-2, axis2=-1))
    lanes = np.flatnonzero(np.any((left > 0) & (left < NEARLY_PARALLEL), axis=-1))
    for _ in range(N_POLISHED if lanes.size else 0):
        by = residual(k)(impulse[lanes], inputs[lanes])
        near = impulse[lanes] - (pseudo_inverse(by["by_impulse"]) @ by["F"])[..., 0]
        off = _miss(near, inputs[lanes], k)
        good = off <= np.maximum(miss[lanes], _rounding(near))
        impulse[lanes[good]], miss[lanes[good]] = near[good], off[good]
    return impulse, miss


def _from_elsewhere(inputs: Array, known: Array, k: int) -> tuple[Array, Any]:
    """(λ, |F|) of one lane by Newton's method from many places, the same ones every time; `known`: the best so far."""
    rng = np.random.default_rng(0)
    best, least, same = known, np.inf, np.repeat(inputs[None], N_STARTS, axis=0)
    r, mu, R = (part[0] for part in _parts(inputs[None], k))
    stiffest = 1 / max(float(np.linalg.svd(R, compute_uv=False)[-1]), PARALLEL) ** 2
    for i in range(N_TRIES):
        start = rng.normal(size=(N_STARTS, 3 * k)) * 10.0 ** rng.uniform(-1, 3, (N_STARTS, 1))
        start[:, ::3] = np.abs(start[:, ::3])
        start[0] = best
        # F compares impulses with speeds: where rows are nearly parallel, in units in which impulses are not so large.
        unit = stiffest ** rng.uniform(0, 1, (N_STARTS, 1)) if i else np.ones((N_STARTS, 1))
        if i == 0:
            start[1:] = _one_slips(r, mu, R, rng, N_STARTS - 1)
        scaled = same.copy()
        scaled[:, 4 * k :] *= np.sqrt(unit)
        near = damped(start, partial(_missed_by, inputs=scaled, k=k), N_DAMPED, N_HALVED, _any_good) * unit
        near, miss = _polished(near, _miss(near, same, k), same, k)
        nearest = int(np.argmin(miss))
        if miss[nearest] < least:
            best, least = near[nearest], miss[nearest]
        if least <= max(ENOUGH, float(_rounding(best[None])[0])):
            break
    return best, least


def _one_slips(r: Array, mu: Array, R: Array, rng: np.random.Generator, n: int) -> Array:
    """λ, `(n, 3k)`, that meet the law of one contact while each other one is taken to stick or to lift."""
    k = len(mu)
    places = np.zeros((n, 3 * k))
    for place in places:
        c, sticks = int(rng.integers(k)), rng.random(k) < STICKING
        sticks[c] = False
        one, others = np.arange(3 * c, 3 * c + 3), np.flatnonzero(np.repeat(sticks, 3))
        inverse = np.linalg.pinv(R[others], rcond=NULL)
        stopped, rows = -inverse @ r[others], R[one] - R[one] @ inverse @ R[others]  # what the others leave of it
        speed = r[one] + R[one] @ stopped
        place[one] = _solved(np.zeros((1, 3)), speed[None], mu[c : c + 1], (rows @ rows.T)[None])[0]
        place[others] = inverse.T @ (stopped - R[one].T @ place[one])
    return places


def _any_good(size: Array) -> bool:
    return bool(np.min(size) <= GOOD)


def _missed_by(impulse: Array, inputs: Array, k: int) -> tuple[Array, Array]:
    """(F, its slope)."""
    by = residual(k)(impulse, inputs)
    return by["F"][..., 0], by["by_impulse"]


def _miss(impulse: Array, inputs: Array, k: int) -> Array:
    """The largest |F|, `(lanes,)`; infinite where it is no number."""
    miss = np.max(np.abs(_missed_by(impulse, inputs, k)[0]), axis=-1)
    return np.where(np.isfinite(miss), miss, np.inf)


def _rounding(impulse: Array) -> Array:
    """How much F may be by rounding, `(lanes,)`."""
    return np.asarray(4 * np.finfo(float).eps * np.max(np.abs(impulse), axis=-1))


def _after(impulse: Array, inputs: Array, k: int) -> Array:
    """w, `(lanes, 3k)`."""
    r, _, R = _parts(inputs, k)
    return np.asarray(r + (R @ (R.transpose(0, 2, 1) @ impulse[..., None]))[..., 0])


def _swept(impulse: Array, r: Array, mu: Array, R: Array, improved: Improve) -> Array:
    """Gauss–Seidel: each contact in turn, given the others."""
    impulse, k, W = impulse.copy(), mu.shape[-1], R @ R.transpose(0, 2, 1)
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
    slipping, slips_on = _slipping(r, mu, W)
    moved = np.where(holds[:, None], sticking, np.where(slips_on[:, None], slipping, impulse))
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
    cross = at(np.broadcast_to(edges, (len(r), len(edges))))[1]
    above = cross > 0
    place = np.argsort(above[:, :-1] == above[:, 1:], axis=-1, kind="stable")[:, :MOST_SLIPS]  # first those that cross
    lanes = np.arange(len(r))[:, None]
    crosses = above[lanes, place] != above[lanes, place + 1]
    ends = (edges[place], edges[place + 1], cross[lanes, place], cross[lanes, place + 1])
    impulse, _, against = at(_roots(lambda angle: at(angle)[1], *ends))
    good = crosses & (against >= 0) & np.isfinite(impulse).all(axis=-1)
    return impulse[lanes[:, 0], np.argmax(good, axis=-1)], good.any(axis=-1)


def _roots(f: Callable[[Array], Array], low: Array, high: Array, f_low: Array, f_high: Array) -> Array:
    """Where f is 0 between `low` and `high`, where it has other signs: by the secant, brackets kept [Illinois]."""
    before = np.zeros(low.shape)
    for _ in range(N_SECANTS):
        rise = f_high - f_low
        middle = np.where(rise != 0, low - f_low * (high - low) / np.where(rise != 0, rise, 1.0), low)
        f_middle = f(middle)
        moved = np.where((f_middle > 0) == (f_low > 0), 1.0, -1.0)  # 1: the low end, −1: the high one
        stays = np.where(moved == before, 0.5, 1.0)  # an end that stays twice counts half, so that it moves too
        low, high = np.where(moved > 0, middle, low), np.where(moved > 0, high, middle)
        f_low, f_high = np.where(moved > 0, f_middle, f_low * stays), np.where(moved > 0, f_high * stays, f_middle)
        before = moved
    return middle


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
    """(λ, inputs) → F and its derivatives."""
    impulse, inputs = SX.sym("impulse", 3 * k), SX.sym("inputs", n_inputs(k))
    R, start = SX(3 * k, 3 * k), 4 * k
    for i in range(3 * k):
        for j in range(i + 1):
            R[i, j] = inputs[start]
            start += 1
    after = inputs[: 3 * k] + R @ (R.T @ impulse)
    F = ca.vertcat(
        *(_missed(impulse[3 * c : 3 * c + 3], after[3 * c : 3 * c + 3], inputs[3 * k + c]) for c in range(k))
    )
    return Evaluator(
        [impulse, inputs], {"F": F, "by_impulse": ca.jacobian(F, impulse), "by_inputs": ca.jacobian(F, inputs)}
    )


def _missed(impulse: SX, after: SX, mu: SX) -> SX:
    """F of one contact, (3, 1), written without differences of impulses that w would vanish in."""
    pushed, wanted = impulse[0] - after[0], impulse[1:3] - after[1:3]
    pushes, radius, square = pushed > 0, mu * pushed, ca.sumsqr(wanted)
    outside = square > radius * radius
    length = ca.sqrt(ca.if_else(outside, square, 1.0))
    tangential = after[1:3] + wanted * ca.if_else(outside, (length - radius) / length, 0.0)
    return ca.vertcat(ca.if_else(pushes, after[0], impulse[0]), ca.if_else(pushes, tangential, impulse[1:3]))


def _parts(inputs: Array, k: int) -> tuple[Array, Array, Array]:
    """(r, μ, R), `(lanes, 3k)`, `(lanes, k)`, `(lanes, 3k, 3k)`."""
    R = np.zeros((len(inputs), 3 * k, 3 * k))
    i, j = np.tril_indices(3 * k)
    R[:, i, j] = inputs[:, 4 * k :]
    return inputs[:, : 3 * k], inputs[:, 3 * k : 4 * k], R


def _inputs(r: Array, mu: Array, R: Array) -> Array:
    i, j = np.tril_indices(R.shape[-1])
    return np.hstack([r, mu, R[:, i, j]])


def _row_lengths(R: Array, k: int) -> Array:
    """√W_nn of normals and √(tr W_tt / 2) of both tangents, so that disks stay disks; 1 where nothing moves them."""
    square = np.sum(R * R, axis=-1).reshape(len(R), k, 3)
    square[..., 1:] = square[..., 1:].mean(axis=-1, keepdims=True)
    return np.sqrt(np.where(square > 0, square, 1.0)).reshape(len(R), 3 * k)
