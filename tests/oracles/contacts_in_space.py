"""Coulomb's law at the final velocity in space, many contacts: Siconos, all solutions of one contact, a residual.

Rows are (normal, tangent, tangent) per contact, the normal opening positive; of each contact, with w = r + Wλ,

    0 ≤ λ_n ⊥ w_n ≥ 0,   ‖λ_t‖ ≤ μ λ_n,   w_t = −s λ_t/‖λ_t‖ with s ≥ 0, s > 0 only where ‖λ_t‖ = μ λ_n

and Moreau's law has r = u⁻ + κ u_n⁻ along normals. Nothing here is Jourdain's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oracles import contacts as co
from oracles import siconos as so

Array = NDArray[np.float64]
SOLVERS = ("NSGS", "NSN_AC")  # of 2,500 `random_contacts`, k ≤ 6, NSGS solved all but 3, and those NSN_AC


class Reaction(NamedTuple):
    """One solution, (k, 3) each."""

    impulses: Array
    velocities: Array  # w
    violation: float
    solver: str


class One(NamedTuple):
    """One solution of one contact, (3,) each."""

    state: str  # "lifts", "sticks", "slips"
    impulse: Array
    velocity: Array  # w


def bounced(u: ArrayLike, kappa: ArrayLike) -> Array:
    """r = u⁻ + κ u_n⁻ along normals, for contacts that close."""
    r = np.array(u, float).reshape(-1, 3)
    r[:, 0] *= 1 + np.asarray(kappa, float)
    return r.ravel()


def violation(W: ArrayLike, r: ArrayLike, mu: ArrayLike, impulse: ArrayLike) -> float:
    """How far λ is from the projection of λ − ρw onto [0, ∞) × the disk of radius μ λ_n; 0 iff λ solves.

    ρ is 1/W_nn, and 1/‖W_tt‖ along tangents. The distances, times √W_nn and √‖W_tt‖, are of the greatest |r_n|/√W_nn,
    ‖r_t‖/√‖W_tt‖: the roots of energies. Units, of normals and tangents too, and axes of the tangents drop out.
    """
    W, q, p = np.asarray(W, float), np.asarray(r, float).reshape(-1, 3), np.asarray(impulse, float).reshape(-1, 3)
    if not np.all(np.isfinite(p)):
        return np.inf
    friction, w = np.broadcast_to(np.asarray(mu, float), len(q)), q + (W @ p.ravel()).reshape(-1, 3)
    worst, size = 0.0, 0.0
    for i in range(len(q)):
        block = W[3 * i : 3 * i + 3, 3 * i : 3 * i + 3]
        normal, tangent = float(block[0, 0]) or 1.0, float(np.linalg.norm(block[1:, 1:], 2)) or 1.0
        pushed = max(p[i, 0] - w[i, 0] / normal, 0)
        radius, rubbed = friction[i] * max(p[i, 0], 0), p[i, 1:] - w[i, 1:] / tangent
        length = float(np.linalg.norm(rubbed))
        rubbed = rubbed if length <= radius else rubbed * (radius / length)
        off = (abs(p[i, 0] - pushed) * np.sqrt(normal), np.linalg.norm(p[i, 1:] - rubbed) * np.sqrt(tangent))
        worst = max(worst, *map(float, off))
        size = max(size, abs(q[i, 0]) / np.sqrt(normal), float(np.linalg.norm(q[i, 1:]) / np.sqrt(tangent)))
    return worst / (size or 1.0)


# Siconos


def siconos_in_space(W: ArrayLike, r: ArrayLike, mu: ArrayLike, tol: float = 1e-9) -> Reaction:
    """One solution, W (3k, 3k), r (3k,), mu (k,) or one for all."""
    (found,) = siconos_in_space_many([(W, r, mu)], tol)
    return found


def siconos_in_space_many(
    problems: Sequence[tuple[ArrayLike, ArrayLike, ArrayLike]],
    tol: float = 1e-9,
    solvers: Sequence[str] = SOLVERS,
    refuse: bool = True,
) -> list[Reaction]:
    """Many (W, r, mu), each by the first of the solvers whose violation is below tol; a process for each solver.

    If there is none: SiconosFailed, or, not to `refuse`, the best with its violation.

    Siconos is given rows of unit W_nn and ‖W_tt‖, and r of unit size: its tolerance, 1e-14, is meant on these.
    """
    given = [(np.asarray(W, float), np.asarray(r, float), np.asarray(mu, float)) for W, r, mu in problems]
    best: dict[int, Reaction] = {}
    for solver in solvers:
        left = [case for case in range(len(given)) if case not in best or best[case].violation >= tol]
        answers = so.ask([scaled_to_units(*given[case], solver) for case in left]) if left else []
        for case, (answer,) in zip(left, answers, strict=True):
            W, r, mu = given[case]
            lengths = row_lengths(W)
            p = np.array(answer["reaction"]) / lengths * (float(np.max(np.abs(r / lengths))) or 1.0)
            found = Reaction(p.reshape(-1, 3), (r + W @ p).reshape(-1, 3), violation(W, r, mu, p), solver)
            if case not in best or found.violation < best[case].violation:
                best[case] = found
    failed = {case: one.violation for case, one in best.items() if not one.violation < tol}
    if failed and refuse:
        raise so.SiconosFailed(f"violations by case, the best of {', '.join(solvers)}: {failed}")
    return [best[case] for case in range(len(given))]


def scaled_to_units(W: Array, r: Array, mu: Array, solver: str) -> dict[str, object]:
    lengths, k = row_lengths(W), len(r) // 3
    return {
        "W": (W / np.outer(lengths, lengths)).tolist(),
        "q": (r / lengths / (float(np.max(np.abs(r / lengths))) or 1.0)).tolist(),
        "mu": (np.broadcast_to(mu, k) * lengths[1::3] / lengths[::3]).tolist(),  # ‖λ_t‖/λ_n in units of unit rows
        "solvers": [solver],
    }


def row_lengths(W: Array) -> Array:
    """√W_nn of normals, √‖W_tt‖ of both tangents; 1 for rows that are zero."""
    lengths = np.ones(len(W))
    for i in range(0, len(W), 3):
        block = W[i : i + 3, i : i + 3]
        lengths[i] = np.sqrt(block[0, 0]) or 1.0
        lengths[i + 1 : i + 3] = np.sqrt(np.linalg.norm(block[1:, 1:], 2)) or 1.0
    return lengths


# One contact


def all_of_one_contact(W: ArrayLike, r: ArrayLike, mu: float, tol: float = 1e-10) -> list[One]:
    """Every solution for W (3, 3), positive definite: lifting, sticking, and every direction d of slip.

    Slipping along d: λ = λ_n (1, −μ d), λ_n = −r_n/(W_nn − μ W_nt·d) ≥ 0, and w_t along d, which makes of
    d⊥·((W_nn − μ W_nt·d) r_t − r_n (W_tn − μ W_tt d)) = 0 a polynomial of degree 4 in exp(iφ). Solutions that coincide
    within tol (it lifts with w_n = 0; sticks on the cone) are listed once, as the first. With r_n = 0 and a direction
    in which W_nn = μ W_nt·d there would be a line of them: not looked for.
    """
    W, r = np.asarray(W, float), np.asarray(r, float)
    lengths = row_lengths(W)
    size = float(np.max(np.abs(r / lengths))) or 1.0
    mu = float(mu) * lengths[1] / lengths[0]
    W, r = W / np.outer(lengths, lengths), r / lengths / size
    W_nn, W_tn = float(W[0, 0]), W[1:, 0]
    found: list[tuple[str, Array]] = []
    if r[0] >= -tol:
        found.append(("lifts", np.zeros(3)))
    stuck: Array = np.linalg.solve(W, -r).astype(float)
    if stuck[0] >= -tol and np.linalg.norm(stuck[1:]) <= mu * stuck[0] + tol:
        found.append(("sticks", stuck))

    def turned(angle: Array) -> Array:
        c, s = np.cos(angle), np.sin(angle)
        slope_n = W_nn - mu * (W_tn[0] * c + W_tn[1] * s)
        a_1, a_2 = (slope_n * r[i] - r[0] * (W[i, 0] - mu * (W[i, 1] * c + W[i, 2] * s)) for i in (1, 2))
        return np.asarray(a_2 * c - a_1 * s)

    for angle in co.trigonometric_roots(turned):
        d = np.array([np.cos(angle), np.sin(angle)])
        slope_n = W_nn - mu * float(W_tn @ d)
        p_n = -r[0] / slope_n if slope_n else np.inf
        impulse = p_n * np.array([1, *(-mu * d)])
        if np.isfinite(p_n) and p_n >= 0 and d @ (r[1:] + W[1:] @ impulse) >= -tol:
            found.append(("slips", impulse))
    answers: list[tuple[str, Array]] = []
    for state, impulse in found:
        if all(np.max(np.abs(impulse - other)) > np.sqrt(tol) for _, other in answers):
            answers.append((state, impulse))
    return [One(state, p / lengths * size, (r + W @ p) * lengths * size) for state, p in answers]


# Cases


def random_contacts(rng: np.random.Generator, k: int, redundant: bool = False) -> tuple[Array, Array, Array, Array]:
    """W (3k, 3k), u (3k,) with u_n < 0, mu (k,) in [0, 1], kappa (k,): the law has a solution.

    Rows that are independent, of any mechanism; or redundant: k > 1 points of one rigid body, some at the same place or
    in line, on floors that lean by up to 0.5 rad. All open if it is lifted, outside the friction cones: enough for a
    solution (Klarbring & Pang 1998).
    """
    mu, kappa = rng.uniform(0, 1, k), rng.uniform(0, 1, k)
    mu[rng.random(k) < 0.1] = 0
    kappa[rng.random(k) < 0.2] = 0
    if not redundant:
        n = 3 * k + int(rng.integers(1, 4))
        Y, x = rng.normal(size=(3 * k, n)), rng.normal(size=n)
        for i in range(k):
            Y[3 * i : 3 * i + 3] *= 10 ** rng.uniform(-0.5, 0.5)  # the same for normal and tangents
        Y[::3] *= -np.sign(Y[::3] @ x)[:, None]
        return Y @ Y.T, Y @ x, mu, kappa
    places = rng.normal(size=(k, 3)) * [1, 1, 0.3]
    shape = rng.integers(3)
    if shape == 0:
        places[rng.integers(k)] = places[0]
    if shape == 1:
        places = np.outer(rng.normal(size=k), [1, 0.5, 0]) + places[0]
    inertia = rng.normal(size=(3, 4))
    root = np.linalg.cholesky(inertia @ inertia.T + 0.1 * np.eye(3))
    rows = []
    for place in places:
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        normal = np.array([0, 0, 1]) + rng.uniform(0, 0.5) * turn[0] * [1, 1, 0]
        axes = np.linalg.qr(np.column_stack([normal, turn]))[0].T
        axes[0] *= np.sign(axes[0, 2])
        turning = -axes @ np.cross(np.eye(3), place)  # axis · (ω × place)
        rows.append(np.hstack([axes, turning @ np.linalg.inv(root).T]) * 10 ** rng.uniform(-0.5, 0.5))
    Y, x = np.concatenate(rows), rng.normal(size=6)
    x[2] -= float(np.max(np.maximum(Y[::3] @ x, 0) / Y[::3, 2])) * 1.1 + 0.1  # it falls, all close
    return Y @ Y.T, Y @ x, mu, kappa


def rows_and_velocity(W: ArrayLike, u: ArrayLike) -> tuple[Array, Array]:
    """Y (3k, n), x (n,) with YYᵀ = W and Yx = u: contacts of a mechanism with M = 1."""
    values, axes = np.linalg.eigh(np.asarray(W, float))
    some = values > 1e-12 * values[-1]
    Y = axes[:, some] * np.sqrt(values[some])
    return Y, axes[:, some].T @ np.asarray(u, float) / np.sqrt(values[some])
