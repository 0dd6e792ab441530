"""The oracles of contacts in space against each other, against planar ones, and against closed forms."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from oracles import contacts as co
from oracles import contacts_in_space as sp
from oracles import siconos as so

Array = NDArray[np.float64]
EACH = pytest.mark.parametrize("hypothesis", co.HYPOTHESES)
close = pytest.approx


def turned(angle: float) -> Array:
    """Axes of (normal, tangent, tangent), turned about the normal."""
    R = np.eye(3)
    R[1:, 1:] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return R


def on_diagonal(blocks: list[Array]) -> Array:
    found = np.zeros((3 * len(blocks), 3 * len(blocks)))
    for i, block in enumerate(blocks):
        found[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] = block
    return found


# Friction at the final velocity


@pytest.mark.parametrize("redundant", [False, True])
def test_siconos_meets_the_conditions(redundant: bool, rng: np.random.Generator) -> None:
    cases = [sp.random_contacts(rng, 1 + i % 6 if not redundant else 2 + i % 5, redundant) for i in range(120)]
    problems = [(W, sp.bounced(u, kappa), mu) for W, u, mu, kappa in cases]
    states: Counter[str] = Counter()
    for (_, r, mu), t in zip(problems, sp.siconos_in_space_many(problems), strict=True):
        assert t.violation < 1e-11
        size = np.max(np.abs(t.impulses))
        for w, p, friction in zip(t.velocities, t.impulses, mu, strict=True):
            sticks = np.linalg.norm(w[1:]) < 1e-9 * np.max(np.abs(r))
            states["lifts" if p[0] < 1e-9 * size else "sticks" if sticks else "slips"] += 1
            # The conditions as they are written
            assert min(p[0] / size, w[0] / np.max(np.abs(r))) > -1e-9
            assert np.linalg.norm(p[1:]) <= friction * p[0] + 1e-9 * size
            if not sticks and p[0] > 1e-9 * size:
                assert p[1:] == close(-friction * p[0] * w[1:] / np.linalg.norm(w[1:]), abs=1e-7 * size)
    assert min(states[name] for name in ("lifts", "sticks", "slips")) > 20, states


def test_redundant_contacts_are_redundant(rng: np.random.Generator) -> None:
    for k in range(2, 7):
        W, u, *_ = sp.random_contacts(rng, k, redundant=True)
        Y, x = sp.rows_and_velocity(W, u)
        assert Y.shape[1] < 3 * k or k == 2
        assert np.max(np.abs(Y @ Y.T - W)) < 1e-11 * np.max(W)
        assert Y @ x == close(u, abs=1e-10 * np.max(np.abs(u)))
        assert np.max(u[::3]) < 0


def test_violation_knows_no_units(rng: np.random.Generator) -> None:
    """Rows in other units, normals and tangents apart, tangents along other axes, all velocities and all masses."""
    for k in (1, 3, 5):
        W, u, mu, kappa = sp.random_contacts(rng, k)
        r, p = sp.bounced(u, kappa), rng.normal(size=3 * k)
        normal, tangent = 10 ** rng.uniform(-3, 3, (2, k))
        S = on_diagonal([np.diag([n, t, t]) @ turned(rng.uniform(0, 6)) for n, t in zip(normal, tangent, strict=True)])
        wrong = sp.violation(W, r, mu, p)
        assert wrong > 1e-3
        other = np.linalg.solve(S.T, p)
        assert sp.violation(S @ W @ S.T, S @ r, mu * normal / tangent, other) == close(wrong, rel=1e-9)
        assert sp.violation(50 * W, 7 * r, mu, 0.14 * p) == close(wrong, rel=1e-9)
    assert sp.violation(np.eye(3), [-1, 0, 0], 0.5, [np.nan, 0, 0]) == np.inf


def test_violation_sees_each_condition() -> None:
    """W = 1, μ = 0.5: by a hundredth too much or too little of everything."""
    for r, right, wrong in (
        ([-1, 3, 0], [1, -0.5, 0], ([1.01, -0.505, 0], [0.99, -0.495, 0], [1, -0.49, 0], [1, -0.5, 0.01])),
        ([-1, 0, 0.3], [1, 0, -0.3], ([1, 0, -0.29], [1, 0, -0.31], [1, 0.01, -0.3])),
        ([0.5, 1, 1], [0, 0, 0], ([0.01, 0, 0], [-0.01, 0, 0], [0, 0.01, 0])),
        ([-1, 0.6, 0], [1, -0.5, 0], ([1, -0.6, 0], [1, 0.5, 0])),
    ):  # fmt: skip
        assert sp.violation(np.eye(3), r, 0.5, right) < 1e-15
        for impulse in wrong:
            assert sp.violation(np.eye(3), r, 0.5, impulse) > 1e-3


def one_contact(rng: np.random.Generator, i: int) -> tuple[Array, Array, float]:
    """W, r, μ of all kinds; every fourth opens by itself, and may jam all the same."""
    kind = "jams" if i % 4 == 3 else ""
    W, u, mu, kappa = co.random_spatial_wide(rng, kind) if i % 2 else co.random_spatial(rng)
    r = sp.bounced(u, kappa)
    if i % 4 == 3:
        r[0] *= -0.1
    return W, r, mu


def test_siconos_among_all_solutions_of_one_contact(rng: np.random.Generator) -> None:
    cases = [one_contact(rng, i) for i in range(300)]
    counts: Counter[tuple[str, ...]] = Counter()
    every = [sp.all_of_one_contact(W, r, mu) for W, r, mu in cases]
    for (W, r, mu), some in zip(cases, every, strict=True):
        counts[tuple(one.state for one in some)] += 1
        assert some, (W, r, mu)
        for one in some:
            assert sp.violation(W, r, mu, one.impulse) < 1e-9 * max(1, sizes(W, r, one.impulse))
    n_failed = 0
    for (W, r, mu), t, some in zip(cases, sp.siconos_in_space_many(cases, refuse=False), every, strict=True):
        if t.violation > 1e-9:  # it does not get there in 100,000 iterations
            n_failed += 1
            continue
        off = [sizes(W, r, one.impulse - t.impulses[0]) / (1 + sizes(W, r, one.impulse)) for one in some]
        assert min(off) < 1e-7, (W, r, mu, some, t)
    assert n_failed <= 6
    assert {("lifts",), ("sticks",), ("slips",)} <= set(counts)
    assert sum(n for states, n in counts.items() if len(states) > 1) > 10, counts


def sizes(W: Array, r: Array, impulse: Array) -> float:
    """An impulse of the scale of r, along unit rows."""
    lengths = sp.row_lengths(W)
    return float(np.max(np.abs(impulse * lengths)) / np.max(np.abs(r / lengths)))


def test_all_directions_of_slip_by_a_scan(rng: np.random.Generator) -> None:
    """Where w_t, for the impulse of slip along d, crosses d: every one of 100,000 directions is looked at."""
    angle = np.linspace(0, 2 * np.pi, 100_001)
    d = np.stack([np.cos(angle), np.sin(angle)])
    for i in range(40):
        W, r, mu = one_contact(rng, i)
        slope_n = W[0, 0] - mu * W[0, 1:] @ d
        w_t = slope_n * r[1:, None] - r[0] * (W[1:, :1] - mu * W[1:, 1:] @ d)  # times slope_n
        across = d[0] * w_t[1] - d[1] * w_t[0]
        good = (-r[0] * slope_n > 0) & ((d * w_t).sum(0) * slope_n > 0)
        n_found = int(np.sum((across[1:] * across[:-1] < 0) & good[1:] & good[:-1]))
        assert n_found == sum(one.state == "slips" for one in sp.all_of_one_contact(W, r, mu)), (W, r, mu)


def test_one_contact_of_a_sphere(rng: np.random.Generator) -> None:
    """W_tt = w 1, W_tn = 0: λ_n = −r_n/W_nn, λ_t = −min(μ λ_n, ‖r_t‖/w) along r_t."""
    for _ in range(20):
        n, w, mu, r = *10 ** rng.uniform(-1, 1, 2), rng.uniform(0, 1), rng.normal(size=3)
        (one,) = sp.all_of_one_contact(np.diag([n, w, w]), r, mu)
        p_n, slip = max(-r[0] / n, 0), float(np.linalg.norm(r[1:]))
        p_t = -min(mu * p_n, slip / w) * r[1:] / slip
        assert one.impulse == close(np.array([p_n, *p_t]), abs=1e-10 * max(p_n, slip / w))
        assert one.state == ("lifts" if r[0] > 0 else "slips" if mu * p_n < slip / w else "sticks")


def test_planar_contacts_in_space(rng: np.random.Generator) -> None:
    """Contacts whose second tangent is apart: what solves in the plane solves in space, and Siconos finds it there."""
    flat, deep, turns = [], [], []
    for i in range(40):
        k = 1 + i % 4
        rows, r = rng.normal(size=(2 * k, 2 * k + 2)), np.zeros((k, 3))
        W, v, mu = rows @ rows.T, rng.normal(size=2 * k + 2), rng.uniform(0, 0.6, k)
        r[:, :2] = (rows @ v).reshape(k, 2)
        space = np.eye(3 * k) * rng.uniform(0.2, 2)
        place = np.arange(3 * k).reshape(k, 3)[:, :2].ravel()
        space[np.ix_(place, place)] = W
        R = on_diagonal([turned(angle) for angle in rng.uniform(0, 2 * np.pi, k)])
        flat.append((W, rows @ v, mu))
        deep.append((R @ space @ R.T, R @ r.ravel(), mu))
        turns.append(R)
    found = sp.siconos_in_space_many(deep)
    for planar, (W, r, mu), t, R in zip(so.siconos_moreau_coulomb_many(flat), deep, found, turns, strict=True):
        impulse = np.zeros((len(planar.reactions), 3))
        impulse[:, :2] = planar.reactions
        assert sp.violation(W, r, mu, R @ impulse.ravel()) < 1e-9
        assert t.impulses.ravel() == close(R @ impulse.ravel(), abs=1e-7 * np.max(np.abs(impulse)))


def test_without_friction_it_is_the_lcp(rng: np.random.Generator) -> None:
    cases = [sp.random_contacts(rng, 1 + i % 5, redundant=i % 2 == 1 and i % 5 > 0) for i in range(30)]
    problems = [(W, sp.bounced(u, kappa), 0.0) for W, u, _, kappa in cases]
    for (W, r, _), t in zip(problems, sp.siconos_in_space_many(problems), strict=True):
        expected = co.moreau_by_enumeration(W[::3, ::3], r[::3])
        assert expected is not None
        assert t.velocities[:, 0] == close(expected.w, abs=1e-8 * np.max(np.abs(r)))


# Friction inside the event


def change(t: co.Impact) -> float:
    return float(t.compression + t.restitution + t.friction)


@EACH
def test_sphere(hypothesis: str, rng: np.random.Generator) -> None:
    """W_tt = w 1, W_tn = 0: slip keeps its direction, p_t = −min(μ p, ‖u_t‖/w) along u_t; the restitution is one."""
    states = set()
    for _ in range(12):
        n, w, mu, e = *10 ** rng.uniform(-1, 1, 2), rng.uniform(0, 1), rng.uniform(0, 1)
        u = np.array([-rng.uniform(0.2, 2), *rng.normal(size=2) * w / n])
        t, p, slip = (
            co.spatial_by_steps(np.diag([n, w, w]), u, mu, e, hypothesis),
            -(1 + e) * u[0] / n,
            np.hypot(*u[1:]),
        )
        assert t.p_n == close(p, rel=1e-9)
        assert t.p_t == close(-min(mu * p, slip / w) * u[1:] / slip, abs=1e-8 * p)
        assert t.state == ("slips" if mu * p < slip / w else "sticks")
        lost = -min(mu * p, slip / w) * (slip - w * min(mu * p, slip / w) / 2)
        assert t.friction == close(lost, abs=1e-8 * abs(lost))
        assert t.compression + t.restitution == close(-(1 - e**2) * u[0] ** 2 / n / 2, abs=1e-8 * u[0] ** 2 / n)
        states.add(t.state)
    assert states == {"slips", "sticks"}


@EACH
def test_planar_problems_turned_in_space(hypothesis: str, rng: np.random.Generator) -> None:
    """Any angle, any inertia across: the planar impact, to 1e-8, also where slip comes back, whose way is unstable."""
    W, u, mu, e = co.random_planar(rng, 40)
    expected = co.planar_by_steps(W, u, mu, e, hypothesis)
    for i in range(len(W)):
        R, space = turned(rng.uniform(0, 2 * np.pi)), np.zeros((3, 3))
        space[:2, :2], space[2, 2] = W[i], W[i, 1, 1] * 10 ** rng.uniform(-1, 1)
        t = co.spatial_by_steps(R @ space @ R.T, R @ [*u[i], 0], mu[i], e[i], hypothesis)
        assert t.p_n == close(expected.p_n[i], rel=1e-8), i
        assert t.p_t == close(R[1:, 1] * expected.p_t[i], abs=1e-8 * t.p_n), i
        assert t.u_plus == close(R @ [*expected.u_plus[i], 0], abs=1e-7 * np.max(np.abs(u[i]))), i


@pytest.mark.parametrize("kind", co.WIDE)
def test_laws_of_wide_cases(kind: str, rng: np.random.Generator) -> None:
    """u⁺ = u⁻ + Wp, the cone, the sum of the works, the end of the hypothesis; Stronge and Poisson never gain; finer
    steps change nothing."""
    states: Counter[str] = Counter()
    for i in range(9):
        W, u, mu, e = co.random_spatial_wide(rng, kind)
        hypothesis = co.HYPOTHESES[i % 3]
        t = co.spatial_by_steps(W, u, mu, e, hypothesis)
        p, states[t.state] = np.array([t.p_n, *t.p_t]), states[t.state] + 1
        gross = abs(t.compression) + abs(t.restitution) + abs(t.friction)
        assert t.u_plus == close(u + W @ p, abs=1e-8 * (np.max(np.abs(u)) + np.max(np.abs(W)) * t.p_n))
        assert np.linalg.norm(t.p_t) <= mu * t.p_n * (1 + 1e-9)
        assert change(t) == close(p @ (u + t.u_plus) / 2, abs=1e-7 * gross)
        assert t.friction <= 0
        end = {
            "Newton": (t.u_plus[0] + e * u[0]) / u[0],
            "Poisson": t.p_n / t.p_c - 1 - e,
            "Stronge": t.restitution / t.compression + e**2,
        }[hypothesis]
        assert abs(end) < 1e-8
        if hypothesis != "Newton":
            assert change(t) <= 1e-8 * gross
        fine = co.spatial_by_steps(W, u, mu, e, hypothesis, step=0.01)
        assert p == close(np.array([fine.p_n, *fine.p_t]), abs=1e-8 * t.p_n)
    if kind == "stops and restarts":
        assert states == {"reverses": 9}
    if kind in ("at rest", "near the threshold"):
        assert states["slips"] < 9


def test_wide_cases_are_what_they_say(rng: np.random.Generator) -> None:
    widest = 0.0
    for kind in co.WIDE:
        for _ in range(60):
            W, u, mu, e = co.random_spatial_wide(rng, kind)
            W_tn, W_tt = W[1:, 0], W[1:, 1:]
            assert np.linalg.eigvalsh(W)[0] > 0
            assert u[0] < 0
            assert 0 <= e <= 1
            widest = max(widest, float(np.linalg.cond(W_tt)))
            ratio = mu / np.linalg.norm(np.linalg.solve(W_tt, W_tn))
            if kind == "near the unstable direction":
                off = [
                    abs(np.sin((np.arctan2(u[2], u[1]) - one.angle) / 2)) * 2
                    for one in co.invariant_directions(W_tt, W_tn, mu)
                    if one.turns > 0
                ]
                assert 0.9e-6 < min(off) < 0.11
            if kind == "at rest":
                assert np.all(u[1:] == 0)
            if kind == "near the threshold":
                assert abs(ratio - 1) < 1.001e-3
            if kind == "stops and restarts":
                assert ratio < 1
            if kind == "jams":
                assert W[0, 0] < mu * np.linalg.norm(W_tn)
                assert W[0, 0] < mu * W_tn @ u[1:] / np.linalg.norm(u[1:])  # from the start
    assert widest > 5e3
    with pytest.raises(ValueError, match="'tame' is none of"):
        co.random_spatial_wide(rng, "tame")


def test_invariant_directions(rng: np.random.Generator) -> None:
    """Slip that starts there goes straight on, and gains what it says; restart's direction is one of them."""
    for _ in range(40):
        W, _, mu, _ = co.random_spatial_wide(rng, "stops and restarts")
        W_tn, W_tt = W[1:, 0], W[1:, 1:]
        size, found = float(np.linalg.norm(W_tn) + mu * np.linalg.norm(W_tt)), co.invariant_directions(W_tt, W_tn, mu)
        assert len(found) in (2, 4)
        for one in found:
            d = np.array([np.cos(one.angle), np.sin(one.angle)])
            assert W_tn - mu * W_tt @ d == close(one.gains * d, abs=1e-9 * size)
        d, gain = co.restart(W_tt, W_tn, mu)
        (out,) = [one for one in found if one.gains > 1e-12 * size]
        assert [np.cos(out.angle), np.sin(out.angle), out.gains / size] == close([*d, gain / size], abs=1e-8)


def test_slip_by_another_integrator(rng: np.random.Generator) -> None:
    """Slip that never stops, dp_t/dp = −μ u_t/‖u_t‖ as it is written, by LSODA up to the end that was found."""
    n_compared = 0
    for i in range(40):
        W, u, mu, e = co.random_spatial_wide(rng, co.WIDE[i % 2])
        t = co.spatial_by_steps(W, u, mu, e, co.HYPOTHESES[i % 3])
        if t.state != "slips" or np.linalg.norm(t.u_plus[1:]) < 1e-3 * np.linalg.norm(u[1:]):
            continue

        def rate(_: float, p_t: Array, W: Array = W, u: Array = u, mu: float = mu) -> Array:
            u_t = u[1:] + W[1:, 1:] @ p_t + W[1:, 0] * _
            return np.asarray(-mu * u_t / np.linalg.norm(u_t))

        found = solve_ivp(rate, (0, t.p_n), np.zeros(2), method="LSODA", rtol=1e-12, atol=1e-12 * mu * t.p_n)
        assert found.success
        assert found.y[:, -1] == close(t.p_t, abs=2e-8 * mu * t.p_n), (i, W, u, mu)
        n_compared += 1
    assert n_compared > 10
