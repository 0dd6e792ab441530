"""What contact laws must give, in plain NumPy, by brute force: small steps of the impulse, all active sets of an LCP.

Rows are (normal, tangent) with the normal opening positive; impulses push: u⁺ = u⁻ + W p. Nothing here is Jourdain's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations
from math import atan2, cos, exp, hypot, log, sin, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
HYPOTHESES = ("Newton", "Poisson", "Stronge")


@dataclass(frozen=True)
class Impact:
    """One contact's impulse, or m of them (leading axis). The works add up to the change of kinetic energy."""

    p_n: Any
    p_t: Any  # in space (2,)
    p_c: Any  # the normal impulse up to the end of compression
    u_plus: Array
    compression: Any  # ∫ u_n dp up to p_c, ≤ 0
    restitution: Any  # ∫ u_n dp after it, ≥ 0
    friction: Any  # ∫ u_t · dp_t, ≤ 0
    state: Any  # "no impact", "slips", "sticks", "reverses": that of the end, where "slips" never changed direction


def checked(hypothesis: str) -> str:
    if hypothesis not in HYPOTHESES:
        raise ValueError(f"{hypothesis!r} is none of {HYPOTHESES}")
    return hypothesis


# One planar contact


def planar_by_steps(
    W: ArrayLike, u: ArrayLike, friction: ArrayLike, restitution: ArrayLike, hypothesis: str, n_steps: int = 100
) -> Impact:
    """Routh's impact of m contacts, W (m, 2, 2), u (m, 2), by implicit steps of p: exact to 1e-10 of the scales.

    A step dp takes of all |dp_t| ≤ μ dp the one that stops the slip, or comes nearest to it: what sticks, what slips
    again and where to is an outcome, not a rule. A step in which the direction of slip changes or a phase ends is
    halved down to 1e-13 of p, others are at most (p + |u_n⁻|/W_nn)/n_steps. Started with u_t = 0: slips in the
    direction it then takes. The impulse is exact for this W and u: it is badly conditioned only where they make it so.
    """
    checked(hypothesis)
    W, u = np.asarray(W, float), np.asarray(u, float)
    mu, e = np.asarray(friction, float), np.asarray(restitution, float)
    shape = np.broadcast_shapes(W.shape[:-2], u.shape[:-1], mu.shape, e.shape)
    m = int(np.prod(shape))
    W, u = np.broadcast_to(W, (*shape, 2, 2)).reshape(m, 2, 2), np.broadcast_to(u, (*shape, 2)).reshape(m, 2)
    mu, e = np.broadcast_to(mu, shape).reshape(m), np.broadcast_to(e, shape).reshape(m)

    end = {name: np.zeros(m) for name in ("p", "p_t", "p_c", "compression", "restitution", "friction")}
    end |= {"u_n": u[:, 0].copy(), "u_t": u[:, 1].copy(), "first": np.sign(u[:, 1])}
    lane = np.flatnonzero(u[:, 0] < 0)
    struck = np.zeros(m, bool)
    struck[lane] = True
    c = {"W_nn": W[:, 0, 0], "W_nt": W[:, 0, 1], "W_tt": W[:, 1, 1], "mu": mu, "e": e, "u_0": u[:, 0]}
    c = {name: x[lane] for name, x in c.items()}
    c["p_0"] = -c["u_0"] / c["W_nn"]
    now: dict[str, Any] = {name: x[lane] for name, x in end.items()}
    now |= {"h": c["p_0"] / n_steps, "restituting": np.zeros(len(lane), bool), "done": np.zeros(len(lane), bool)}
    for count in range(1_000_000):
        if count % 32 == 0 and np.any(now["done"]):  # what has ended is put away
            gone, stay = now["done"], ~now["done"]
            for name in end:
                end[name][lane[gone]] = now[name][gone]
            lane, c, now = lane[stay], {k: x[stay] for k, x in c.items()}, {k: x[stay] for k, x in now.items()}
        if not len(lane):
            break
        planar_step(now, c, hypothesis, n_steps)
    else:
        raise RuntimeError(f"{len(lane)} impacts did not end")

    last = np.sign(end["u_t"])
    state = np.where(last == 0, "sticks", np.where(last == end["first"], "slips", "reverses"))
    found = {name: end[name].reshape(shape)[()] for name in ("p_t", "p_c", "compression", "restitution", "friction")}
    return Impact(
        p_n=end["p"].reshape(shape)[()],
        u_plus=np.stack([end["u_n"], end["u_t"]], axis=-1).reshape(*shape, 2),
        state=np.where(struck, state, "no impact").reshape(shape)[()],
        **found,
    )


def planar_step(now: dict[str, Any], c: dict[str, Array], hypothesis: str, n_steps: int) -> None:
    """Each contact advances by its h, or halves it."""
    h, u_n, u_t = now["h"], now["u_n"], now["u_t"]
    free = u_t + c["W_nt"] * h
    stop, limit = -free / c["W_tt"], c["mu"] * h
    stops = np.abs(stop) <= limit * (1 + 1e-12)
    dp_t = np.where(stops, stop, np.copysign(limit, stop))
    u_t_next = np.where(stops, 0, free + c["W_tt"] * dp_t)
    u_n_next = u_n + c["W_nn"] * h + c["W_nt"] * dp_t
    work, p = (u_n + u_n_next) / 2 * h, now["p"] + h
    if hypothesis == "Newton":
        restituted = u_n_next >= -c["e"] * c["u_0"]
    elif hypothesis == "Poisson":
        restituted = p >= (1 + c["e"]) * now["p_c"]
    else:
        restituted = now["restitution"] + work >= -(c["e"] ** 2) * now["compression"]
    back = now["restituting"]
    ends = np.where(back, restituted, u_n_next >= 0)
    cut = (ends | (np.sign(u_t_next) != np.sign(u_t))) & (h > 1e-13 * (p + c["p_0"]))
    go = ~cut & ~now["done"]

    now["h"] = np.where(cut, h / 2, np.minimum(2 * h, (p + c["p_0"]) / n_steps))
    now["p"] = np.where(go, p, now["p"])
    now["p_t"] = now["p_t"] + np.where(go, dp_t, 0)
    now["u_n"], now["u_t"] = np.where(go, u_n_next, u_n), np.where(go, u_t_next, u_t)
    now["compression"] = now["compression"] + np.where(go & ~back, work, 0)
    now["restitution"] = now["restitution"] + np.where(go & back, work, 0)
    now["friction"] = now["friction"] + np.where(go, (u_t + u_t_next) / 2 * dp_t, 0)
    now["first"] = np.where(now["first"] == 0, np.sign(now["u_t"]), now["first"])
    now["done"] = now["done"] | (go & back & ends)
    now["p_c"] = np.where(go & ~back & ends, p, now["p_c"])
    now["restituting"] = back | (go & ends)


# One contact in space


def spatial_by_steps(
    W: ArrayLike, u: ArrayLike, friction: float, restitution: float, hypothesis: str, step: float = 0.02
) -> Impact:
    """One contact with rows (n, t1, t2), W (3, 3): exact to 1e-8 of the scales; error ∝ step⁴.

    While it slips, u_t = r (cos θ, sin θ) is integrated in σ with dp = r dσ, by RK4: smooth also where the slip stops,
    which is at σ = ∞ (0.2 s; seldom, some seconds). Once it slips straight on, or has stopped, all rates are constant.
    Stopped, it sticks or slips on along a straight line (theory §5); "reverses" if the latter after having slipped.
    """
    checked(hypothesis)
    W, u, mu, e = np.asarray(W, float), np.asarray(u, float), float(friction), float(restitution)
    if u[0] >= 0:
        return Impact(0.0, np.zeros(2), 0.0, u.copy(), 0.0, 0.0, 0.0, "no impact")
    W_nn, W_tn, W_tt = float(W[0, 0]), W[1:, 0], W[1:, 1:]
    (n_1, n_2), ((w_11, w_12), (_, w_22)) = map(float, W_tn), W_tt.tolist()
    p_0, fastest = float(-u[0]) / W_nn, hypot(n_1, n_2) + mu * float(np.linalg.norm(W_tt, 2))
    tiny = 1e-13 * max(hypot(u[1], u[2]), fastest * p_0)

    def rate(y: Array) -> Array:
        """d(θ, ln r, u_n, p, p_1, p_2, ∫u_n dp, ∫u_t·dp_t)/dσ"""
        angle, log_r, u_n, *_ = y.tolist()
        c, s, r = cos(angle), sin(angle), exp(log_r)
        a_1, a_2 = n_1 - mu * (w_11 * c + w_12 * s), n_2 - mu * (w_12 * c + w_22 * s)
        along, across = a_1 * c + a_2 * s, a_2 * c - a_1 * s
        du_n = r * (W_nn - mu * (n_1 * c + n_2 * s))
        return np.array([across, along, du_n, r, -mu * r * c, -mu * r * s, r * u_n, -mu * r * r])

    def runge_kutta(y: Array, h: float) -> Array:
        a = rate(y)
        b = rate(y + h / 2 * a)
        c = rate(y + h / 2 * b)
        return y + h / 6 * (a + 2 * b + 2 * c + rate(y + h * c))

    p_c = compression = 0.0
    restituting = False

    def beyond(u_n: float, p: float, work: float) -> float:
        """≥ 0 once the phase has ended."""
        if not restituting:
            return u_n
        if hypothesis == "Newton":
            return u_n + e * u[0]
        return p - (1 + e) * p_c if hypothesis == "Poisson" else work - compression + e**2 * compression

    def settled(angle: float) -> bool:
        """Whether slip goes straight on: it turns towards a direction that it has reached but for 1e-13."""
        c, s = cos(angle), sin(angle)
        across = n_2 * c - n_1 * s + mu * ((w_11 - w_22) * s * c - w_12 * (c * c - s * s))
        turns = -n_2 * s - n_1 * c + mu * ((w_11 - w_22) * (c * c - s * s) + 4 * w_12 * s * c)
        return turns < 0 and abs(across) <= -1e-13 * turns

    r = hypot(u[1], u[2])
    y = np.array([atan2(u[2], u[1]), log(r) if r > 0 else -np.inf, u[0], 0, 0, 0, 0, 0])
    slipped, done = r > 0, False
    while not done and y[1] > -np.inf and not settled(y[0]):
        if exp(y[1]) < tiny and rate(y)[1] < 0:
            y[1] = -np.inf
            break
        h = 0.05 * (y[3] + p_0) / exp(y[1])
        h = min(h, step / fastest) if fastest else h
        after = runge_kutta(y, h)
        if beyond(after[2], after[3], after[6]) >= 0:  # the phase ends inside: where
            low, high = 0.0, h
            for _ in range(60):
                middle = (low + high) / 2
                after = runge_kutta(y, middle)
                low, high = (low, middle) if beyond(after[2], after[3], after[6]) >= 0 else (middle, high)
            after = runge_kutta(y, high)
            done, restituting = restituting, True
            p_c, compression = (p_c, compression) if done else (after[3], after[6])
        y = after

    def stopped() -> tuple[str, Array, Array, float]:
        """What it does then: state, direction, dp_t/dp, d‖u_t‖/dp."""
        pull = np.linalg.solve(W_tt, -W_tn)
        if np.linalg.norm(pull) <= mu:
            return "sticks", np.zeros(2), pull, 0.0
        direction, gain = restart(W_tt, W_tn, mu)
        return "reverses" if slipped else "slips", direction, -mu * direction, gain

    r, state, direction = exp(y[1]), "slips", np.array([cos(y[0]), sin(y[0])])
    if not done:  # from here on all rates are constant, until it stops
        pull, gain = -mu * direction, float(direction @ (W_tn - mu * W_tt @ direction))
        if r == 0:
            state, direction, pull, gain = stopped()
        _, _, u_n, p, p_1, p_2, work, rubbed = map(float, y)
        while not done:
            slope = W_nn + float(W_tn @ pull)
            missing = (1 - e**2) * compression - work
            if restituting and hypothesis == "Poisson":
                d = (1 + e) * p_c - p
            elif restituting and hypothesis == "Stronge":
                square = u_n**2 + 2 * slope * missing
                d = 2 * missing / (u_n + sqrt(square) or 1.0) if square >= 0 else np.inf
            else:
                wanted = (-e * u[0] if restituting else 0) - u_n
                d = wanted / slope if slope > 0 or wanted <= 0 else np.inf  # while it jams, compression does not end
            d, stops = max(d, 0.0), gain < 0 and r + gain * d < 0
            d = -r / gain if stops else d
            if d == np.inf:
                raise RuntimeError(f"it jams for ever: {W}, {u}, {mu}")
            work, u_n, p = work + u_n * d + slope * d * d / 2, u_n + slope * d, p + d
            p_1, p_2 = p_1 + pull[0] * d, p_2 + pull[1] * d
            rubbed, r = rubbed - mu * (r * d + gain * d * d / 2), 0.0 if stops else r + gain * d
            if stops:
                state, direction, pull, gain = stopped()
                continue
            done, restituting = restituting, True
            p_c, compression = (p_c, compression) if done else (p, work)
        y = np.array([0, 0, u_n, p, p_1, p_2, work, rubbed])
    u_plus = np.array([y[2], *(r * direction)])
    by_impulse = u + W @ y[3:6]
    if np.max(np.abs(u_plus - by_impulse)) > 1e-5 * (np.max(np.abs(u)) + np.max(np.abs(W)) * y[3]):
        raise RuntimeError(f"the integration drifted: {u_plus} is not {by_impulse}")
    return Impact(y[3], y[4:6], p_c, u_plus, compression, y[6] - compression, y[7], state)


def restart(W_tt: Array, W_tn: Array, mu: float) -> tuple[Array, float]:
    """The unit û and c > 0 with (μ W_tt + c I) û = W_tn: slip starts along û and gains c per impulse."""
    low, high = 0.0, float(np.linalg.norm(W_tn))
    for _ in range(200):
        c = (low + high) / 2
        low, high = (c, high) if np.linalg.norm(np.linalg.solve(mu * W_tt + c * np.eye(2), W_tn)) > 1 else (low, c)
    return np.asarray(np.linalg.solve(mu * W_tt + high * np.eye(2), W_tn), float), high


# Several contacts without friction


class Complementary(NamedTuple):
    """All there is to know of 0 ≤ λ ⊥ w = r + Wλ ≥ 0: w is unique, λ one solution, least the one of all solutions
    that minimises Σ W_ii λ_i²."""

    w: Array
    impulse: Array
    least: Array


class Poisson(NamedTuple):
    """Compression and expansion, each an LCP; impulse = (1 + κ) λ_c + z with the least λ_c and z; least: the λ ≥ 0
    that minimises Σ W_ii λ_i² of all that have the same effect Wλ."""

    u_plus: Array
    impulse: Array
    least: Array
    compression: Complementary
    expansion: Complementary


def supports(rows: ArrayLike) -> Iterator[list[int]]:
    rows = list(np.asarray(rows))
    return map(list, chain.from_iterable(combinations(rows, size) for size in range(len(rows) + 1)))


def unit_rows(W: Array) -> Array:
    """√W_ii, 1 for rows that are zero."""
    diagonal = np.diagonal(W)
    return np.sqrt(np.where(diagonal > 1e-14 * np.max(diagonal, initial=0), diagonal, 1))


def moreau_by_enumeration(
    W: ArrayLike, r: ArrayLike, tol: float = 1e-9, of: ArrayLike = 0.0, weights: ArrayLike | None = None
) -> Complementary | None:
    """LCP(W, r) by trying all sets of independent rows as the active one; None if there is no solution.

    `weights`: of λ_i² in the sum that is the least; W_ii if not given. theory §7 takes those of the rows themselves,
    also where W is reduced by two-sided rows.

    If there is a solution there is one with independent active rows. Rows are scaled to W_ii = 1 first, and r by the
    greatest entry of it and of `of`, velocities that r may be the small difference of; tol is meant on these. Moreau's
    law: r = u⁻ + κ u⁻ of the contacts with u⁻ ≤ 0.
    """
    W, r = np.asarray(W, float), np.asarray(r, float)
    scale = unit_rows(W)
    size = float(np.max(np.abs([r / scale, np.asarray(of, float) / scale]), initial=0)) or 1.0
    W, r, k = W / np.outer(scale, scale), r / scale / size, len(r)
    best, w, impulse = tol, None, np.zeros(k)
    for rows in supports(range(k)):
        block = W[np.ix_(rows, rows)]
        if rows and np.linalg.eigvalsh(block)[0] < tol:
            continue
        trial = np.zeros(k)
        trial[rows] = np.linalg.solve(block, -r[rows])
        rate = r + W @ trial
        rate[rows] = 0
        violation = max(-np.min(trial, initial=0), -np.min(rate, initial=0))
        if violation < best:
            best, w, impulse = violation, rate, trial
    if w is None:
        return None
    measure = np.ones(k) if weights is None else np.sqrt(weights) / scale
    least = nearest(W, impulse, np.flatnonzero(w <= tol), tol, measure)
    return Complementary(w * scale * size, impulse / scale * size, least / scale * size)


def nearest(W: Array, impulse: Array, rows: NDArray[np.intp], tol: float = 1e-9, measure: Array | float = 1.0) -> Array:
    """Of all λ ≥ 0 on these rows with Wλ = W impulse, W_ii = 1, that with the least ‖measure λ‖, by all supports."""
    d = measure * np.ones(len(impulse))
    effect, size = W @ impulse, float(np.max(np.abs(impulse), initial=0)) or 1.0
    least, shortest = impulse, np.inf
    for chosen in supports(rows):
        trial = np.zeros(len(impulse))
        trial[chosen] = np.linalg.pinv(W[:, chosen] / d[chosen], rcond=tol) @ effect / d[chosen]
        fits = np.max(np.abs(W @ trial - effect), initial=0) <= tol * size and np.min(trial, initial=0) >= -tol * size
        price = float((d * trial) @ (d * trial))
        if fits and price < shortest * (1 - 1e-12):
            shortest, least = price, trial
    return np.maximum(least, 0)


def poisson_by_enumeration(
    W: ArrayLike, u: ArrayLike, kappa: ArrayLike, weights: ArrayLike | None = None
) -> Poisson | None:
    """docs/theory.md §6: 0 ≤ λ_c ⊥ u⁻ + Wλ_c ≥ 0, then 0 ≤ z ⊥ u⁻ + W(λ_c + κλ_c + z) ≥ 0.

    Redundant rows with different κ: u⁺ depends on which λ_c is taken; here it is the least.
    """
    W, u = np.asarray(W, float), np.asarray(u, float)
    compression = moreau_by_enumeration(W, u, weights=weights)
    if compression is None:
        return None
    given = (1 + np.asarray(kappa, float)) * compression.least
    expansion = moreau_by_enumeration(W, u + W @ given, of=u, weights=weights)  # all rounding, where it is the end
    if expansion is None:
        return None
    impulse, scale = given + expansion.least, unit_rows(W)
    least = nearest(W / np.outer(scale, scale), impulse * scale, np.arange(len(u))) / scale
    return Poisson(expansion.w, impulse, least, compression, expansion)


# A contact that may not slip while it holds


def no_slip_candidates(W: ArrayLike, u: ArrayLike) -> dict[str, tuple[Array, Array]]:
    """The consistent ones of lifts, slides (without friction) and sticks: name → (impulse, u⁺), rows (n, t).

    W (2, 2) is reduced by all two-sided rows, and u what the contact's rates would be after them without its own
    impulse: for a contact alone, u⁻. Where two coincide (u_n = 0: lifts and slides) both are listed.
    """
    W, u = np.asarray(W, float), np.asarray(u, float)
    impulses = {"lifts": np.zeros(2), "slides": np.array([-u[0] / W[0, 0], 0]), "sticks": np.linalg.solve(W, -u)}
    trials = {name: (impulse, u + W @ impulse) for name, impulse in impulses.items()}
    slack = 1e-12 * float(np.max(np.abs(u)))
    holds = {"lifts": u[0] >= -slack, **{s: W[0, 0] * impulses[s][0] >= -slack for s in ("slides", "sticks")}}
    return {name: trial for name, trial in trials.items() if holds[name]}


# Cases


def random_planar(rng: np.random.Generator, m: int) -> tuple[Array, Array, Array, Array]:
    """W (m, 2, 2), u (m, 2) with u_n < 0, friction in [0, 2], restitution in [0, 1]: of all kinds.

    Lanes 0, 4, …: any; 1, 5, …: jam, W_nn < μ|W_nt|, slipping so that it does; 2, 6, …: reversal if slip is slow
    enough, |W_nt| > μ W_tt; 3, 7, …: sticks if slow enough. Some u_t, friction and restitution are at their ends.
    """
    A, M_root = rng.normal(size=(m, 2, 4)), np.tril(rng.normal(size=(m, 4, 4)), -1) + np.eye(4)
    Y = A @ M_root
    W = Y @ np.swapaxes(Y, 1, 2)
    scale = 1 / np.sqrt(np.diagonal(W, axis1=1, axis2=2))  # first to units
    W = W * scale[:, :, None] * scale[:, None, :]
    coupling = W[:, 0, 1]
    W[:, 0, 1] = W[:, 1, 0] = coupling = np.clip(coupling, -0.95, 0.95)
    kind = np.arange(m) % 4
    mu, e = rng.uniform(0, 2, m), rng.uniform(0, 1, m)
    mu[rng.random(m) < 0.05] = 0
    e[rng.random(m) < 0.1] = 0
    e[rng.random(m) < 0.1] = 1
    mu = np.where(kind == 1, rng.uniform(0.3, 2, m), mu)
    strong = np.where(np.abs(coupling) < 0.3, np.copysign(0.3 + 0.6 * rng.random(m), coupling), coupling)
    coupling = np.where((kind == 1) | (kind == 2), strong, coupling)
    # √(W_nn/W_tt): below μ|c| jams, above μ/|c| reverses
    ratio = np.exp(rng.normal(0, 0.5, m))
    ratio = np.where(kind == 1, mu * np.abs(coupling) * rng.uniform(0.3, 0.95, m), ratio)
    ratio = np.where(kind == 2, (mu + 0.05) / np.abs(coupling) * rng.uniform(1.05, 3, m), ratio)
    ratio = np.where(kind == 3, np.minimum(ratio, 0.95 * mu / np.abs(coupling)) + (mu == 0), ratio)
    n, t = 10 ** rng.uniform(-1, 1, m) * np.array([np.sqrt(ratio), 1 / np.sqrt(ratio)])
    W = np.stack([np.stack([n * n, coupling * n * t], -1), np.stack([coupling * n * t, t * t], -1)], -2)
    u_n = -(10 ** rng.uniform(-1, 1, m))
    # The slip that stops about when compression ends, and a few times that
    slow = -u_n / W[:, 0, 0] * np.abs(np.abs(W[:, 0, 1]) + mu * W[:, 1, 1])
    u_t = slow * rng.choice([-1.0, 1.0], m) * 10 ** rng.uniform(-1.5, 0.7, m)
    u_t = np.where(kind == 1, np.copysign(u_t, coupling), np.where(kind == 2, np.copysign(u_t, -coupling), u_t))
    u_t[rng.random(m) < 0.08] = 0
    return W, np.stack([u_n, u_t], -1), mu, e


def random_spatial(rng: np.random.Generator) -> tuple[Array, Array, float, float]:
    """W (3, 3), u (3,) with u_n < 0, friction, restitution of one contact in space."""
    Y = rng.normal(size=(3, 5)) * 10 ** rng.uniform(-0.4, 0.4, (3, 1))
    W = Y @ Y.T
    u = np.array([-rng.uniform(0.2, 2), *(rng.normal(size=2) * 10 ** rng.uniform(-1, 0.7))])
    return W, u, float(rng.uniform(0, 1.5)), float(rng.uniform(0, 1))


WIDE = ("any", "near the unstable direction", "at rest", "near the threshold", "stops and restarts", "jams")


def random_spatial_wide(rng: np.random.Generator, kind: str = "") -> tuple[Array, Array, float, float]:
    """W (3, 3), u (3,), friction, restitution: one contact in space, harsher than `random_spatial`; `kind` of WIDE.

    W_tt has a condition number up to 1e4. Near the unstable direction: 1e-1 … 1e-6 rad off one in which slip goes
    straight on, but which others leave. Threshold: μ within 1e-3 of ‖W_tt⁻¹W_tn‖. Jams: W_nn < μ‖W_nt‖.
    """
    kind = kind or str(rng.choice(WIDE))
    if kind not in WIDE:
        raise ValueError(f"{kind!r} is none of {WIDE}")
    for _ in range(1000):
        W, mu = wide_mass(rng), float(10 ** rng.uniform(-1.5, 0.5))
        W_nn, W_tn, W_tt = float(W[0, 0]), W[1:, 0], W[1:, 1:]
        border = float(np.linalg.norm(np.linalg.solve(W_tt, W_tn)))
        if kind == "near the threshold":
            mu = border * (1 + float(rng.choice([-1, 1]) * 10 ** rng.uniform(-9, -3)))
        if kind == "stops and restarts":
            mu = border * float(rng.uniform(0.2, 0.99))
        if kind == "jams":
            mu = W_nn / float(np.linalg.norm(W_tn)) * float(rng.uniform(1.02, 3))
        u_n = -float(10 ** rng.uniform(-1, 1))
        # The slip that stops about when compression ends, and a few times that
        slow = -u_n / W_nn * (float(np.linalg.norm(W_tn)) + mu * float(np.linalg.norm(W_tt, 2)))
        speed, angle = slow * 10 ** rng.uniform(-2, 0.7), rng.uniform(0, 2 * np.pi)
        if kind == "jams":  # slips along W_tn, more or less
            angle = atan2(W_tn[1], W_tn[0]) + rng.uniform(-1, 1) * np.arccos(W_nn / (mu * np.linalg.norm(W_tn)))
        directions = invariant_directions(W_tt, W_tn, mu)
        if kind == "near the unstable direction":
            directions = [one for one in directions if one.turns > 0]
            if not directions:
                continue
            angle = directions[rng.integers(len(directions))].angle + rng.choice([-1, 1]) * 10 ** rng.uniform(-6, -1)
        if kind == "stops and restarts":
            directions = [one for one in directions if one.gains < 0]
            if not directions:
                continue
            one = directions[rng.integers(len(directions))]
            angle = one.angle + (rng.uniform(-0.3, 0.3) if one.turns < 0 else 0)
            speed = -one.gains * -u_n / W_nn * 10 ** rng.uniform(-2, 0)
        if kind == "near the threshold":
            speed *= 10 ** rng.uniform(-2, 0)
        if kind == "at rest":
            speed = 0.0
        u = np.array([u_n, speed * cos(angle), speed * sin(angle)])
        return W, u, mu, float(rng.choice([0, 1, rng.uniform(0, 1)], p=[0.1, 0.1, 0.8]))
    raise RuntimeError(f"no case {kind!r} was found")


def wide_mass(rng: np.random.Generator) -> Array:
    """W (3, 3) whose W_tt has a condition number of 1 … 1e4, and W_tn any that W > 0 allows."""
    spread, turn = 10 ** rng.uniform(0, 4), rng.uniform(0, np.pi)
    axes = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    roots = axes * np.sqrt([spread**0.5, spread**-0.5])  # W_tt = roots rootsᵀ
    along = rng.normal(size=2)
    along *= np.sqrt(rng.uniform(0, 0.98)) / np.linalg.norm(along)
    W_nn = float(10 ** rng.uniform(-1, 1))
    W_tn = np.sqrt(W_nn) * (roots @ along)
    return np.block([[np.array([[W_nn]]), W_tn[None]], [W_tn[:, None], roots @ roots.T]]) * 10 ** rng.uniform(-1, 1)


class Direction(NamedTuple):
    angle: float
    turns: float  # how the turning of slip grows with the angle off this direction: > 0, others leave it
    gains: float  # d‖u_t‖/dp along it: < 0, slip stops


def invariant_directions(W_tt: ArrayLike, W_tn: ArrayLike, mu: float) -> list[Direction]:
    """Those in which slip goes straight on, W_tn − μ W_tt d along d: two, four, or all, for which none is listed."""
    W_tt, W_tn = np.asarray(W_tt, float), np.asarray(W_tn, float)
    (n_1, n_2), ((w_11, w_12), (_, w_22)) = map(float, W_tn), W_tt.tolist()

    def turning(angle: Array) -> Array:
        c, s = np.cos(angle), np.sin(angle)
        return np.asarray(n_2 * c - n_1 * s + mu * ((w_11 - w_22) * s * c - w_12 * (c * c - s * s)))

    found = []
    for angle in trigonometric_roots(turning):
        c, s = cos(angle), sin(angle)
        turns = -n_2 * s - n_1 * c + mu * ((w_11 - w_22) * (c * c - s * s) + 4 * w_12 * s * c)
        found.append(Direction(angle, turns, float([c, s] @ (W_tn - mu * W_tt @ [c, s]))))
    return found


def trigonometric_roots(f: Callable[[Array], Array]) -> list[float]:
    """All angles in [0, 2π) at which f, a trigonometric polynomial of degree 2, is zero: none if it is zero throughout.

    From eight samples f's polynomial of degree 4 in z = exp(iθ), its roots with |z| = 1, and Newton's method on f.
    """
    waves = np.fft.fft(f(2 * np.pi * np.arange(8) / 8))[[2, 1, 0, -1, -2]] / 8
    order, size = np.array([2, 1, 0, -1, -2]), float(np.max(np.abs(waves)))
    if size == 0:
        return []
    found: list[float] = []
    for root in np.roots(np.where(np.abs(waves) < 1e-15 * size, 0, waves)):
        if abs(abs(root) - 1) > 1e-5:  # those that nearly meet leave the circle by the root of rounding
            continue
        angle = float(np.angle(root))
        for _ in range(8):
            slope = float(np.real(np.sum(1j * order * waves * np.exp(1j * order * angle))))
            angle -= float(np.clip(f(np.array(angle)) / slope, -1e-4, 1e-4)) if slope else 0.0
        angle %= 2 * np.pi
        new = all(abs(sin((angle - other) / 2)) > 1e-12 for other in found)
        if abs(float(f(np.array(angle)))) < 1e-11 * size and new:
            found.append(angle)
    return sorted(found)


def random_rows(rng: np.random.Generator, k: int, redundant: bool = False) -> Array:
    """Y (k, n) of k contacts, W = YYᵀ. Redundant: it has fewer columns than rows, or rows that are multiples or
    positive sums of others."""
    n = k + int(rng.integers(1, 4))
    if redundant and k > 1 and rng.random() < 0.5:
        n = int(rng.integers(1, k))
    Y = rng.normal(size=(k, n))
    if redundant and k > 1 and n >= k:
        copies = int(rng.integers(1, k))  # rows that are made of the others
        mix = np.where(rng.random((copies, k - copies)) < 0.5, 0, rng.uniform(0.2, 2, (copies, k - copies)))
        mix[:, 0] += 0.5
        Y[k - copies :] = mix @ Y[: k - copies]
        Y = Y[rng.permutation(k)]
    return np.asarray(Y * 10 ** rng.uniform(-0.5, 0.5, (k, 1)))


def random_lcp(rng: np.random.Generator, k: int, redundant: bool = False) -> tuple[Array, Array]:
    """W = YYᵀ and r = Yx of k contacts: LCP(W, r) has a solution."""
    Y = random_rows(rng, k, redundant)
    return Y @ Y.T, Y @ rng.normal(size=Y.shape[1])


class Walker(NamedTuple):
    M: Array
    v_minus: Array
    heel: Array  # rows (normal, tangent)
    rear: Array


def walker(theta: float, rho: float = 0.0, mass_ratio: float = 1.0, rate: float = 1.0) -> Walker:
    """The heel strike of theory §9, torso upright, parameters of the papers; v = (x, y, stance, swing, torso)."""
    m_W, m_H, l, b, l_T = 30.0, 10.0, 0.8, 0.4, 0.4
    R, both = rho * l, (m_W - m_H) / (1 + mass_ratio)

    def turning(column: int, angle: float) -> Array:
        """Velocity of the upper end of a unit leg about its lower one."""
        J = np.zeros((2, 5))
        J[:, column] = np.cos(angle), -np.sin(angle)
        return J

    stance, swing, torso = turning(2, theta / 2), turning(3, -theta / 2), turning(4, 0.0)
    rear = np.eye(2, 5)
    hip = rear + (l - R) * stance
    places = [(both / 2, hip - b * stance), (both / 2, hip - b * swing)]
    places += [(m_H, hip), (mass_ratio * both, hip + l_T * torso)]
    M = sum(mass * J.T @ J for mass, J in places)
    heel = hip - (l - R) * swing
    heel[0, 3] -= R  # the soles are carried by the legs
    rear = rear.copy()
    rear[0, 2] -= R
    return Walker(np.asarray(M), rate * np.array([R, 0, 1, 1, 0]), heel[::-1], rear[::-1])
