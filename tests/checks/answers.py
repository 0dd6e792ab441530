"""What random events must give, from docs/theory.md alone, in extended precision: nothing here is Jourdain's.

Two-sided rows: the dense system M (v⁺ − v⁻) = f̄ + C'ᵀλ̄, C'v⁺ + b⁺ = target. One-sided contacts: every way in which they
can hold is solved and judged by its inequalities; a contact with friction inside the event is followed along its path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import linprog, nnls

from checks import extended
from checks.drawing import ON, Events, Touch
from oracles import contacts as by_steps
from oracles import contacts_in_space as in_space

Array = NDArray[Any]
Real = np.longdouble

NEAR = 1e-6  # of the usual speed: conditions met or missed by less are too close to call
EXACT = 1e-12  # the same: what rounding in extended precision leaves
APART = 1e-7  # of the usual speed: motions that differ by more are different
SINGULAR = 1e-12  # pivot of scaled rows
OPENS = 1e-8  # of the speed that the energy allows: a contact that opens faster is left alone by Moreau's law
COMPARED = 1e-6  # oracles in double precision must agree with those in extended precision to this


class Verdict(IntEnum):
    """How many answers there are."""

    ONE = 0
    NONE = 1
    SEVERAL = 2
    UNSURE = 3  # too close to call


@dataclass
class Answers:
    """Of m events."""

    v_plus: Array  # (m, n)
    verdict: Array  # (m,)
    many: Array  # (m,): 1 where the motion rests on how impulses are shared, 0 where not, −1 too close to call
    near: Array  # (m,): how good the answer is, of the speed

    def at(self, some: Any) -> Answers:
        return Answers(*(part[some] for part in vars(self).values()))


@dataclass(frozen=True)
class Reduced:
    """The contacts as the two-sided rows leave them: u becomes u + W λ, v⁺ = v_0 + P λ."""

    v_0: Array  # (m, n)
    P: Array  # (m, n, K)
    W: Array  # (m, K, K)
    u: Array  # (m, K)
    u_minus: Array  # (m, K)
    speed: Array  # (m, K), √(2T c M⁻¹ cᵀ)
    spanned: Array  # (m,), whether two-sided rows span a row of a contact

    def at(self, some: Any) -> Reduced:
        return Reduced(*(part[some] for part in vars(self).values()))


def answers(events: Events) -> Answers:
    """v⁺ and how many answers there are."""
    reduced = reduce(events)
    m = events.m
    found = Answers(reduced.v_0, np.zeros(m, int), np.zeros(m, int), np.zeros(m))
    found.verdict = np.where(nearly_dependent(events), Verdict.UNSURE, Verdict.ONE)
    if not events.contacts:
        return found
    law = events.contacts[0].law
    if law.startswith("coulomb"):
        impulse, found.verdict, found.near = coulomb(reduced, events.contacts[0])
    elif events.dependent:
        impulse, found.verdict, found.many = shared(reduced, events.contacts)
    elif law == "poisson":
        impulse, found.verdict = poisson(reduced, events.contacts)
    elif law == "moreau coulomb" and events.contacts[0].n_tangents == 2:
        impulse, found.verdict = friction_in_space(reduced, events.contacts)
    else:
        impulse, found.verdict = moreau(reduced, events.contacts)
    found.verdict = np.where(reduced.spanned, Verdict.UNSURE, found.verdict)
    lengths = unit(reduced, events.contacts)
    W = (reduced.W / lengths[:, :, None] / lengths[:, None, :]).astype(float)
    if not events.dependent:
        found.near = np.maximum(found.near, 1e-18 * np.linalg.cond(np.where(np.isfinite(W), W, 0)))
    found.v_plus = reduced.v_0 + np.einsum("mnk,mk->mn", reduced.P, impulse)
    return found


def given_impulse(events: Events) -> Array:
    """f̄ of applied impulses and nonideal rows, (m, n)."""
    f = np.zeros((events.m, events.n), Real)
    if events.impulse is not None:
        f = f + events.impulse
    if "nonideal" in events.rows:
        rows = events.rows["nonideal"]
        f = f + np.einsum("mkn,mk->mn", rows.C.astype(Real), rows.beta)
    return f


def on_rows(events: Events) -> tuple[Array, Array]:
    """(C', target − b⁺) of the rows that are on, without redundant ones."""
    C, wanted = [np.zeros((events.m, 0, events.n), Real)], [np.zeros((events.m, 0), Real)]
    for kind in ON:
        if kind in events.needed:
            rows = events.needed[kind]
            u = np.einsum("mkn,mn->mk", rows.C.astype(Real), events.v) + rows.b_minus
            C.append(rows.C)
            wanted.append(-rows.kappa * u - rows.b_plus)
    return np.concatenate(C, 1), np.concatenate(wanted, 1)


DEPENDENT = 1e-7  # of unit rows: what is left of a row; the library takes rows to be dependent below 3e-8


def nearly_dependent(events: Events) -> Array:
    """Whether rows that are on are closer to being dependent than the library tells apart, (m,)."""
    C, M = on_rows(events)[0].astype(float), events.M.astype(float)
    if not C.shape[1]:
        return np.zeros(events.m, bool)
    mass = np.diagonal(M, axis1=1, axis2=2)
    scale = 1 / np.sqrt(np.where(mass > 0, mass, 1))  # velocities in units of their own: light ones are not massless
    M, C = M * scale[:, :, None] * scale[:, None, :], C * scale[:, None, :]
    definite = np.linalg.eigvalsh(M)[:, 0] > 1e-13
    L = np.linalg.cholesky(np.where(definite[:, None, None], M, np.eye(events.n)))
    x = np.linalg.solve(L, np.swapaxes(C, 1, 2))
    left = np.linalg.svd(x / np.linalg.norm(x, axis=1, keepdims=True), compute_uv=False)[:, -1]
    return np.asarray(definite & (left < DEPENDENT))


def reduce(events: Events) -> Reduced:
    M, v = events.M.astype(Real), events.v.astype(Real)
    C, wanted = on_rows(events)
    momentum = np.einsum("mij,mj->mi", M, v) + given_impulse(events)
    contacts = [np.zeros((events.m, 0, events.n), Real), *(one.C.astype(Real) for one in events.contacts)]
    A = np.concatenate(contacts, 1)
    none = np.zeros((events.m, C.shape[1], A.shape[1]), Real)
    top = np.concatenate([momentum[..., None], np.swapaxes(A, 1, 2)], 2)
    x, _ = extended.kkt(M, C, top, np.concatenate([wanted[..., None], none], 2))
    v_0, P = x[..., 0], x[..., 1:]
    if not events.contacts:
        nothing = np.zeros((events.m, 0), Real)
        return Reduced(v_0, P, A @ P, nothing, nothing, nothing, np.zeros(events.m, bool))
    free, _ = extended.solve(M, np.swapaxes(A, 1, 2))
    lengths2 = np.einsum("mkn,mnk->mk", A, free)
    W = A @ P
    W = (W + np.swapaxes(W, 1, 2)) / 2
    spanned = np.diagonal(W, axis1=1, axis2=2) <= 1e-13 * lengths2
    speed = np.sqrt(2 * extended.energy(M, v)[:, None] * lengths2)
    b = np.concatenate([one.b for one in events.contacts], 1)
    return Reduced(v_0, P, W, _times(A, v_0) + b, _times(A, v) + b, speed, spanned.any(1))


def _times(A: Array, v: Array) -> Array:
    return np.asarray(np.einsum("mkn,mn->mk", A, v))


# All ways to hold


def places(contacts: Sequence[Touch]) -> list[tuple[int, tuple[int, ...]]]:
    """(normal, tangents) of each contact in the stack of rows."""
    found, start = [], 0
    for one in contacts:
        found.append((start, tuple(range(start + 1, start + 1 + one.n_tangents))))
        start += 1 + one.n_tangents
    return found


def ways_of(contact: Touch) -> tuple[str, ...]:
    if contact.law == "no slip":
        return ("lifts", "holds", "sticks")
    return ("lifts", "sticks", "slips +", "slips -") if contact.law == "moreau coulomb" else ("lifts", "holds")


def asked(reduced: Reduced, contacts: Sequence[Touch]) -> tuple[Array, Array, Array]:
    """(r, which contacts take part (m, k), whether that is too close to call (m,))."""
    r = reduced.u.astype(Real).copy()
    closes, close_call = [], np.zeros(len(r), bool)
    for (n, _), one in zip(places(contacts), contacts, strict=True):
        rate, allowed = reduced.u_minus[:, n], reduced.speed[:, n]
        r[:, n] += one.kappa * np.minimum(rate, 0)
        closes.append(rate <= OPENS * allowed)
        close_call |= (np.abs(rate) > 1e-12 * allowed) & (np.abs(rate) < 1e-6 * allowed) & (rate > 0)
    return r, np.stack(closes, 1), close_call


def unit(reduced: Reduced, contacts: Sequence[Touch]) -> Array:
    """√W_ii; both tangents of a contact in space have one length. 1 where nothing moves."""
    lengths2 = np.diagonal(reduced.W, axis1=1, axis2=2).copy()
    for _, tangents in places(contacts):
        if len(tangents) > 1:
            lengths2[:, tangents] = lengths2[:, tangents].mean(1, keepdims=True)
    return np.asarray(np.sqrt(np.where(lengths2 > 0, lengths2, 1)))


def moreau(reduced: Reduced, contacts: Sequence[Touch]) -> tuple[Array, Array]:
    """Moreau's law, with friction after the event in the plane, or contacts that stick; (λ, verdict)."""
    r, closes, close_call = asked(reduced, contacts)
    monotone = all(one.law == "moreau" for one in contacts)
    impulse, verdict = hold(reduced, contacts, r, closes, monotone)
    after = reduced.u + np.einsum("mij,mj->mi", reduced.W, impulse)
    for i, (n, _) in enumerate(places(contacts)):  # what was left alone must not close
        size = np.where(reduced.speed[:, n] > 0, reduced.speed[:, n], 1)
        sinks = np.where(closes[:, i], 0, -after[:, n] / size)
        held = verdict == Verdict.ONE
        verdict = np.where(held & (sinks > NEAR), Verdict.NONE, verdict)
        verdict = np.where(held & (sinks > EXACT) & (sinks <= NEAR), Verdict.UNSURE, verdict)
    return impulse, np.where(close_call, Verdict.UNSURE, verdict)


def hold(
    reduced: Reduced, contacts: Sequence[Touch], r: Array, closes: Array, monotone: bool, usual: Array | None = None
) -> tuple[Array, Array]:
    """(λ, verdict) of 0 ≤ λ_n ⊥ r_n + (Wλ)_n ≥ 0 with what the laws ask along tangents."""
    lengths = unit(reduced, contacts)
    W, q = reduced.W / lengths[:, :, None] / lengths[:, None, :], r / lengths
    m, K = q.shape
    spots = places(contacts)
    taking = np.zeros((m, K), bool)
    for i, (n, tangents) in enumerate(spots):
        taking[:, [n, *tangents]] = closes[:, i, None]
    if usual is None:
        usual = np.max(np.abs(np.where(taking, q, 0)), axis=1)
        usual = np.maximum(usual, 1e-5 * np.max(reduced.speed / lengths, axis=1, initial=0))
    usual = np.where(usual > 0, usual, 1)
    best, best_slack = np.zeros((m, K), Real), np.full(m, -np.inf, Real)
    tried: list[tuple[Array, Array]] = []
    doubtful = np.zeros(m, bool)
    for way in product(*(ways_of(one) for one in contacts)):
        lanes = np.ones(m, bool)
        for i, word in enumerate(way):
            lanes &= closes[:, i] | (word == "lifts")
        if not lanes.any():
            continue
        watched = closes[lanes] | (not monotone)  # what was left alone must not close
        impulse, slack, singular = _tried(W[lanes], q[lanes], contacts, way, lengths[lanes], watched, lanes)
        slack = np.where(singular, -np.inf, slack / usual[lanes])
        doubtful[lanes] |= singular
        w = q[lanes] + np.einsum("mij,mj->mi", W[lanes], impulse)
        spread_w, spread_slack = np.zeros((m, K), Real), np.full(m, -np.inf, Real)
        spread_w[lanes], spread_slack[lanes] = w, slack
        tried.append((spread_w, spread_slack))
        better = np.zeros(m, bool)
        better[lanes] = slack > best_slack[lanes]
        best[better] = impulse[better[lanes]]
        best_slack = np.maximum(best_slack, spread_slack)
    w = q + np.einsum("mij,mj->mi", W, best)
    verdict = np.where(best_slack >= -EXACT, Verdict.ONE, Verdict.UNSURE)
    if not monotone:
        others, sure_others = np.zeros(m, bool), np.zeros(m, bool)
        for w_way, slack in tried:
            far = np.max(np.abs(w_way - w), axis=1) > APART * usual
            others |= far & (slack >= -NEAR)
            sure_others |= far & (slack > NEAR)
        verdict = np.where(
            others, np.where(sure_others & (best_slack > NEAR), Verdict.SEVERAL, Verdict.UNSURE), verdict
        )
        verdict = np.where(best_slack < -NEAR, Verdict.NONE, verdict)
        verdict = np.where(doubtful, Verdict.UNSURE, verdict)
    return best / lengths, verdict


def _tried(
    W: Array, q: Array, contacts: Sequence[Touch], way: Sequence[str], lengths: Array, watched: Array, lanes: Array
) -> tuple[Array, Array, Array]:
    """(λ, by how much the conditions hold, whether the system is singular) of one way to hold, rows of unit length."""
    m, K = q.shape
    pushes, resting = [], []
    friction = []
    for (n, tangents), one in zip(places(contacts), contacts, strict=True):
        steep = one.mu[lanes] * (lengths[:, tangents[0]] / lengths[:, n] if tangents else 1)  # μ between unit rows
        friction.append(steep)
    for (n, tangents), word, mu in zip(places(contacts), way, friction, strict=True):
        if word == "lifts":
            continue
        push = np.zeros((m, K), Real)
        push[:, n] = 1
        if word.startswith("slips"):
            push[:, tangents[0]] = -mu if word.endswith("+") else mu
        pushes.append(push)
        resting.append(n)
        if word == "sticks":
            for t in tangents:
                push = np.zeros((m, K), Real)
                push[:, t] = 1
                pushes.append(push)
                resting.append(t)
    impulse, smallest = np.zeros((m, K), Real), np.full(m, np.inf)
    if pushes:
        G = np.stack(pushes, 2)
        z, smallest = extended.solve((W @ G)[:, resting], -q[:, resting, None])
        impulse = (G @ z)[..., 0]
    w = q + np.einsum("mij,mj->mi", W, impulse)
    slack = np.full(m, np.inf, Real)
    for i, ((n, tangents), word, mu) in enumerate(zip(places(contacts), way, friction, strict=True)):
        if word == "lifts":
            slack = np.minimum(slack, np.where(watched[:, i], w[:, n], np.inf))
            continue
        slack = np.minimum(slack, impulse[:, n])
        if contacts[i].law == "moreau coulomb" and word == "sticks":
            slack = np.minimum(slack, mu * impulse[:, n] - np.abs(impulse[:, tangents[0]]))
        if word.startswith("slips"):
            slack = np.minimum(slack, w[:, tangents[0]] * (1 if word.endswith("+") else -1))
    return impulse, slack, smallest < SINGULAR


def poisson(reduced: Reduced, contacts: Sequence[Touch]) -> tuple[Array, Array]:
    """λ_c stops the approach, κ λ_c is given back, z keeps what would sink in."""
    every = np.ones((len(reduced.u), len(contacts)), bool)
    lengths = unit(reduced, contacts)
    usual = np.max(np.abs(reduced.u / lengths), axis=1)
    compression, verdict = hold(reduced, contacts, reduced.u, every, True, usual)
    kappa = np.zeros_like(compression)
    for (n, _), one in zip(places(contacts), contacts, strict=True):
        kappa[:, n] = one.kappa
    given = compression * (1 + kappa)
    left = reduced.u + np.einsum("mij,mj->mi", reduced.W, given)
    rest, later = hold(reduced, contacts, left, every, True, usual)
    return given + rest, np.maximum(verdict, later)


# Contacts that share impulses: W is singular. One event at a time, by non-negative least squares and linear programs.


def shared(reduced: Reduced, contacts: Sequence[Touch]) -> tuple[Array, Array, Array]:
    """(λ, verdict, whether the motion rests on the share) of redundant contacts."""
    m = len(reduced.u)
    impulse, verdict, many = np.zeros(reduced.u.shape, Real), np.zeros(m, int), np.zeros(m, int)
    r, closes, close_call = asked(reduced, contacts)
    lengths = unit(reduced, contacts)
    for i in range(m):
        d = lengths[i].astype(float)
        W = (reduced.W[i] / np.outer(lengths[i], lengths[i])).astype(float)
        if contacts[0].law == "poisson":
            kappa = np.array([one.kappa[i] for one in contacts], float)
            found, verdict[i], many[i] = _shared_poisson(W, (reduced.u[i] / lengths[i]).astype(float), kappa)
        else:
            steep = [
                float(one.mu[i] * d[p[1][0]] / d[p[0]]) if p[1] else 0.0
                for one, p in zip(contacts, places(contacts), strict=True)
            ]
            laws = [one.law for one in contacts]
            allowed = (reduced.speed[i] / lengths[i]).astype(float)
            found, verdict[i] = _shared_moreau(
                W,
                (r[i] / lengths[i]).astype(float),
                laws,
                places(contacts),
                closes[i],
                steep,
                allowed,
                (reduced.u[i] / lengths[i]).astype(float),
            )
        impulse[i] = found / d
    return impulse, np.where(close_call & (contacts[0].law != "poisson"), Verdict.UNSURE, verdict), many


def _root(W: Array) -> Array:
    """Y with Y Yᵀ = W."""
    values, vectors = np.linalg.eigh(W)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))


def _nearly_parallel(W: Array) -> bool:
    """Whether solving with W of unit rows, or of two of them, costs too many digits: an eigenvalue is nearly 0."""
    pairs = [W[np.ix_(two, two)] for two in map(list, combinations(range(len(W)), 2))]
    sizes = np.concatenate([np.linalg.eigvalsh(part) for part in (W, *pairs)])
    return bool(((sizes > 1e-12) & (sizes < 1e-4)).any())


def _shared_poisson(W: Array, u: Array, kappa: Array) -> tuple[Array, int, int]:
    found = by_steps.poisson_by_enumeration(W, u, kappa)
    if found is None or _nearly_parallel(W):
        return np.zeros_like(u), Verdict.UNSURE, -1
    size = float(np.max(np.abs(u))) or 1.0
    # All vertices of the shares λ_c: does the event end differently? If none does, nor do the shares between them.
    resting = np.flatnonzero(found.compression.w <= 1e-9 * size)
    effect, acts = W @ found.compression.impulse, []
    rank = int(np.linalg.matrix_rank(W[np.ix_(resting, resting)], tol=1e-9)) if len(resting) else 0
    for some in combinations(resting, rank):
        rows = list(some)
        trial = np.zeros(len(u))
        if not rows or np.linalg.cond(W[np.ix_(rows, rows)]) > 1e8:
            continue
        trial[rows] = np.linalg.solve(W[np.ix_(rows, rows)], effect[rows])
        if np.min(trial) >= -1e-10 * size and np.max(np.abs(W @ trial - effect)) < 1e-8 * size:
            left = u + effect + W @ (kappa * trial)
            end = by_steps.moreau_by_enumeration(W, left, of=u)
            if end is None:
                return found.impulse, Verdict.ONE, -1
            acts.append(end.w)
    spread = max((float(np.max(np.abs(a - acts[0]))) for a in acts), default=0.0) / size
    many = 1 if spread > 1e-6 else 0 if spread < 1e-11 else -1
    return found.impulse, Verdict.ONE, many


def _shared_moreau(
    W: Array,
    r: Array,
    laws: Sequence[str],
    spots: Sequence[tuple[int, tuple[int, ...]]],
    closes: Array,
    steep: Sequence[float],
    allowed: Array,
    u: Array,
) -> tuple[Array, int]:
    """All ways to hold, each a linear program: is there a share λ that meets its conditions, and how does it move."""
    K = len(r)
    taking = [i for (n, t), yes in zip(spots, closes, strict=True) if yes for i in (n, *t)]
    usual = max(float(np.max(np.abs(r[taking]), initial=0)), 1e-5 * float(np.max(allowed, initial=0))) or 1.0
    r = r / usual
    found: list[tuple[Array, Array, tuple[Array, Array]]] = []
    near, unsure = False, False
    monotone = all(law == "moreau" for law in laws)
    words = {"no slip": ("lifts", "holds", "sticks"), "moreau coulomb": ("lifts", "sticks", "slips +", "slips -")}
    options = [words.get(law, ("lifts", "holds")) if yes else ("left",) for law, yes in zip(laws, closes, strict=True)]
    for way in product(*options):
        columns, rows, slacks = [], [], []
        for (n, tangents), word, mu, law in zip(spots, way, steep, laws, strict=True):
            e = np.eye(K)
            if word in ("lifts", "left"):
                if word == "lifts" or not monotone:  # what was left alone must not close
                    slacks.append(e[n])
                continue
            rows.append(n)
            if word == "holds":
                columns.append(e[n])
            elif word == "sticks":
                rows += tangents
                if law == "no slip":
                    columns += [e[n], *(s * e[t] for t in tangents for s in (1, -1))]
                else:
                    columns += [e[n] + mu * e[tangents[0]], e[n] - mu * e[tangents[0]]]
            else:
                s = 1 if word.endswith("+") else -1
                columns.append(e[n] - s * mu * e[tangents[0]])
                slacks.append(s * e[tangents[0]])
        G = np.array(columns).reshape(-1, K).T
        S = np.array(slacks).reshape(-1, K)
        A = np.vstack(
            [np.hstack([(W @ G)[rows], np.zeros((len(rows), len(S)))]), np.hstack([S @ W @ G, -np.eye(len(S))])]
        )
        b = -np.concatenate([r[rows], S @ r])
        if not len(b):
            z, off = np.zeros(A.shape[1]), 0.0
        else:
            try:
                z = nnls(A, b, maxiter=1000)[0]
            except RuntimeError:
                unsure = True
                continue
            off = float(np.linalg.norm(A @ z - b))  # the one that SciPy returns is not always that of its z
        if off > 1e-10:
            near |= off < 1e-5
            continue
        impulse = G @ z[: G.shape[1]]
        # Shares along which the motion itself changes, in ways with slip.
        if any(word.startswith("slips") for word in way) and len(b) and np.linalg.matrix_rank(A, tol=1e-8) < A.shape[1]:
            towards = np.sin(np.arange(1, K + 1)) @ W @ G
            ends = [
                linprog(sign * np.append(towards, np.zeros(len(S))), A_eq=A, b_eq=b, method="highs") for sign in (1, -1)
            ]
            if any(end.status != 0 for end in ends):
                unsure = True
            elif abs(ends[0].fun + ends[1].fun) > 1e-6:
                ends_w = [r + W @ G @ end.x[: G.shape[1]] for end in ends]
                found += [(impulse, one, (A, b)) for one in ends_w]
                continue
            elif abs(ends[0].fun + ends[1].fun) > 1e-10:
                unsure = True
        found.append((impulse, r + W @ impulse, (A, b)))
    if not found:
        return np.zeros(K), Verdict.UNSURE if near or unsure else Verdict.NONE
    impulse, w, _ = found[0]
    others = [one for one in found if np.max(np.abs(one[1] - w)) > APART]
    verdict = Verdict.ONE
    if others:
        robust = all(_room(*one[2]) > NEAR for one in (found[0], others[0]))
        verdict = Verdict.SEVERAL if robust else Verdict.UNSURE
    elif near or unsure or _nearly_parallel(W[np.ix_(taking, taking)]):
        verdict = Verdict.UNSURE
    after = u + W @ impulse * usual
    for (n, _), yes in zip(spots, closes, strict=True):
        if not yes and verdict == Verdict.ONE and after[n] < -EXACT * allowed[n]:
            verdict = Verdict.NONE if after[n] < -NEAR * allowed[n] else Verdict.UNSURE
    return impulse * usual, verdict


def _room(A: Array, b: Array) -> float:
    """The largest t for which A z = b has a solution with all z ≥ t."""
    k = A.shape[1]
    if not k or not len(b):
        return 1.0
    cost = np.append(np.zeros(k), -1.0)
    above, equal = np.hstack([-np.eye(k), np.ones((k, 1))]), np.hstack([A, np.zeros((len(b), 1))])
    bounds = [(0, None)] * k + [(None, 1.0)]
    found = linprog(cost, above, np.zeros(k), equal, b, bounds=bounds, method="highs")
    return float(found.x[-1]) if found.status == 0 else 0.0


# Friction at the velocity after, in space: one contact by all its solutions; several are judged by their residual.


def friction_in_space(reduced: Reduced, contacts: Sequence[Touch]) -> tuple[Array, Array]:
    m = len(reduced.u)
    impulse, verdict = np.zeros(reduced.u.shape, Real), np.full(m, int(Verdict.UNSURE))
    if len(contacts) > 1:
        return impulse, verdict
    r, closes, close_call = asked(reduced, contacts)
    for i in range(m):
        if not closes[i, 0]:  # left alone, it must not close
            sinks = float(-reduced.u[i, 0] / (reduced.speed[i, 0] or 1))
            verdict[i] = Verdict.NONE if sinks > NEAR else Verdict.UNSURE if sinks > EXACT else Verdict.ONE
            continue
        scale = float(np.max(np.abs(r[i]))) or 1.0
        found, loose = (
            in_space.all_of_one_contact(reduced.W[i], r[i] / scale, float(contacts[0].mu[i]), tol)
            for tol in (1e-10, 1e-6)
        )
        if len(found) == 1 and len(loose) == 1:
            impulse[i], verdict[i] = found[0].impulse * scale, Verdict.ONE
        elif len(found) > 1:
            verdict[i] = Verdict.UNSURE
    return impulse, np.where(close_call, Verdict.UNSURE, verdict)


# Friction inside the event


def coulomb(reduced: Reduced, contact: Touch) -> tuple[Array, Array, Array]:
    """(λ, verdict, accuracy) of one contact with friction inside the event."""
    allowed = reduced.speed
    u = reduced.u.copy()
    grazes = np.abs(u[:, 0]) <= 1e-12 * allowed[:, 0]
    close_call = (np.abs(u[:, 0]) > 1e-14 * allowed[:, 0]) & (np.abs(u[:, 0]) < 1e-10 * allowed[:, 0])
    u[:, 0] = np.where(grazes, 0, u[:, 0])
    still = np.linalg.norm(u[:, 1:].astype(float), axis=1) <= 1e-13 * np.linalg.norm(
        allowed[:, 1:].astype(float), axis=1
    )
    u[:, 1:] = np.where(still[:, None], 0, u[:, 1:])
    hypothesis = contact.law.split()[1]
    near = np.zeros(len(u))
    if contact.n_tangents == 1:
        impulse, wedged = along_plane(reduced.W, u, contact.mu, contact.kappa, hypothesis)
    else:
        impulse, wedged, near = along_space(reduced.W, u, contact.mu, contact.kappa, hypothesis)
    verdict = np.where(close_call | ~np.isfinite(impulse).all(1), Verdict.UNSURE, Verdict.ONE)
    after = u[:, 0] + np.einsum("mj,mj->m", reduced.W[:, 0], impulse)
    sinks = after < -1e-9 * np.abs(
        u[:, 0]
    )  # Poisson's impulse after a jam need not drive it back: nothing is said of it
    verdict = np.where(sinks, Verdict.UNSURE, verdict)
    return np.where(np.isfinite(impulse), impulse, 0), np.where(wedged, Verdict.UNSURE, verdict), near


def along_plane(W: Array, u: Array, mu: Array, e: Array, hypothesis: str) -> tuple[Array, Array]:
    """(λ, whether it wedges) by following u_n, u_t over the normal impulse from corner to corner; (m, 2)."""
    W, u = W.astype(Real), u.astype(Real)
    mu, e = mu.astype(Real), e.astype(Real)
    W_nn, W_nt, W_tt = W[:, 0, 0], W[:, 0, 1], W[:, 1, 1]
    u_n, u_t, start = u[:, 0].copy(), u[:, 1].copy(), u[:, 0].copy()
    p, p_t, work, p_c, w_c = (np.zeros(len(u), Real) for _ in range(5))
    back, done, wedged = np.zeros(len(u), bool), start >= 0, np.zeros(len(u), bool)
    never = Real("1e4000")
    for _ in range(12):
        if done.all():
            break
        holds = (u_t == 0) & (np.abs(W_nt) <= mu * W_tt)
        s = np.where(u_t == 0, np.sign(W_nt), np.sign(u_t))
        pull = np.where(holds, -W_nt / np.where(W_tt > 0, W_tt, 1), -mu * s)
        dn, dt = W_nn + W_nt * pull, np.where(holds, 0, W_nt + W_tt * pull)
        stuck = holds & (dn <= 1e-12 * W_nn)
        wedged |= stuck & ~done
        done |= stuck
        stop = np.where(s * dt < 0, -u_t / np.where(dt == 0, 1, dt), never)
        stop = np.where(u_t == 0, never, stop)
        rises = dn > 0
        to_zero = np.where(rises, -u_n / np.where(rises, dn, 1), never)
        if hypothesis == "newton":
            goal = -e * start - u_n
            to_end = np.where(goal <= 0, 0, np.where(rises, goal / np.where(rises, dn, 1), never))
        elif hypothesis == "poisson":
            to_end = np.maximum((1 + e) * p_c - p, 0)
        else:
            owed = (1 - e * e) * w_c - work
            square = u_n * u_n + 2 * dn * owed
            speed = u_n + np.sqrt(np.maximum(square, 0))
            gives = (square >= 0) & (speed > 0)
            to_end = np.where(owed <= 0, 0, np.where(gives, 2 * owed / np.where(gives, speed, 1), never))
        length = np.where(back, to_end, to_zero)
        stops = stop < length
        step = np.where(done, 0, np.where(stops, stop, length))
        work += u_n * step + dn * step * step / 2
        u_n = np.where(~stops & ~back & ~done, 0, u_n + dn * step)
        u_t = np.where(stops & ~done, 0, u_t + dt * step)
        p, p_t = p + step, p_t + pull * step
        ended = ~stops & ~done
        first = ended & ~back
        p_c, w_c = np.where(first, p, p_c), np.where(first, work, w_c)
        done |= ended & back
        back |= first
    found = np.stack([p, p_t], 1)
    found[~done] = np.nan
    return found, wedged


def along_space(W: Array, u: Array, mu: Array, e: Array, hypothesis: str) -> tuple[Array, Array, Array]:
    """(λ, whether it wedges, accuracy) of contacts in space, one by one, by SciPy's LSODA; (m, 3)."""
    m = len(u)
    found, wedged, near = np.zeros((m, 3), Real), np.zeros(m, bool), np.zeros(m)
    for i in range(m):
        if u[i, 0] >= 0:
            continue
        size = np.sqrt((W[i, 1, 1] + W[i, 2, 2]) / 2 / W[i, 0, 0])  # of tangents, so that they are as normals
        d = np.array([1, size, size], Real) if size > 0 else np.ones(3, Real)
        mobility = (W[i] / W[i, 0, 0] / np.outer(d, d)).astype(float)
        start = (u[i] / -u[i, 0] / d).astype(float)
        impulse, wedged[i], near[i] = _space_path(mobility, start, float(mu[i] * d[1]), float(e[i]), hypothesis)
        near[i] = max(near[i], 1e-16 * np.linalg.cond(mobility))  # it is done in double precision
        found[i] = impulse * -u[i, 0] / W[i, 0, 0] / d
    return found, wedged, near


def _space_path(W: Array, u: Array, mu: float, e: float, hypothesis: str) -> tuple[Array, bool, float]:
    """λ of one contact with W_nn = 1 and u_n = −1. While it slips with r = ‖u_t‖ at the angle φ, dp = r dσ."""
    W_tn, W_tt = W[1:, 0], W[1:, 1:]
    fast = float(np.linalg.norm(W_tn) + mu * np.linalg.norm(W_tt, 2)) or 1.0

    def rates(_: float, y: Array) -> Array:
        c, s, r = np.cos(y[0]), np.sin(y[0]), np.exp(min(y[1], 700.0))
        d = np.array([c, s])
        a = W_tn - mu * W_tt @ d
        return np.array([a[1] * c - a[0] * s, a @ d, r * (1 - mu * W_tn @ d), r, *(-mu * r * d), r * y[2]])

    p_c = w_c = 0.0
    back = False

    def owed(u_n: float, p: float, w: float) -> float:
        """Negative until the phase ends."""
        if not back:
            return u_n
        return {"newton": u_n - e, "poisson": p - (1 + e) * p_c, "stronge": w - (1 - e * e) * w_c}[hypothesis]

    r = float(np.hypot(u[1], u[2]))
    y = np.array([np.arctan2(u[2], u[1]), np.log(r) if r > 0 else -np.inf, -1.0, 0, 0, 0, 0])
    tiny = np.log(1e-13 * (r + fast)) if r > 0 else 0.0
    for _ in range(3):
        if not np.isfinite(y[1]):
            break

        def ends(_: float, y: Array) -> float:
            return owed(y[2], y[3], y[6])

        def stops(_: float, y: Array) -> float:
            return float(y[1] - tiny)

        ends.terminal = stops.terminal = True  # type: ignore[attr-defined]
        ends.direction, stops.direction = 1, -1  # type: ignore[attr-defined]
        if back and owed(y[2], y[3], y[6]) >= 0:
            return y[3:6], False, 1e-10
        run = solve_ivp(
            rates, (0, 1e9), y, "LSODA", events=(ends, stops), rtol=1e-12, atol=1e-14, first_step=1e-3 / (fast + r)
        )
        y = run.y[:, -1]
        if run.status != 1:
            return np.full(3, np.nan), False, 1.0
        if len(run.t_events[1]):
            y = run.y_events[1][-1]  # along a direction that it keeps, the rest of the slip
            d = np.array([np.cos(y[0]), np.sin(y[0])])
            rest = float(np.exp(y[1]) / max(-(W_tn - mu * W_tt @ d) @ d, np.exp(y[1])))
            y = y + rest * np.array([0, 0, 1 - mu * W_tn @ d, 1, *(-mu * d), y[2]])
            break
        y = run.y_events[0][-1]
        if back:
            return y[3:6], False, 1e-10
        back, p_c, w_c = True, float(y[3]), float(y[6])
        y[2] = 0.0
    # The slip has stopped: it sticks, or goes on along one direction; all rates are constant.
    u_n, p, w, pulled = float(y[2]), float(y[3]), float(y[6]), y[4:6]
    held = np.linalg.lstsq(W_tt, -W_tn, rcond=1e-12)[0]
    if np.linalg.norm(held) <= mu:
        rate = held
    else:
        direction, _ = by_steps.restart(W_tt, W_tn, mu)
        rate = -mu * direction
    if r > 0:  # rounding of u_t that is left
        left = u[1:] + W_tn * p + W_tt @ pulled
        pulled = pulled - np.linalg.lstsq(W_tt, left, rcond=1e-12)[0]
    n = 1 + float(W_tn @ rate)
    if n <= 1e-11:
        return np.array([p, *pulled]), True, 1e-10
    while True:
        if not back:
            step = -u_n / n
        elif hypothesis == "newton":
            step = (e - u_n) / n
        elif hypothesis == "poisson":
            step = (1 + e) * p_c - p
        else:
            missing = (1 - e * e) * w_c - w
            speed = u_n + np.sqrt(max(u_n * u_n + 2 * n * missing, 0.0))
            step = 2 * missing / speed if speed > 0 else 0.0
        step = max(step, 0.0)
        w += u_n * step + n * step * step / 2
        u_n, p, pulled = u_n + n * step, p + step, pulled + rate * step
        if back:
            return np.array([p, *pulled]), False, 1e-10
        back, p_c, w_c, u_n = True, p, w, 0.0
