"""The oracles of contact laws, against closed forms of the literature and against plainer versions of themselves."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from cases import REAR_FOOT_LIMITS
from oracles import contacts as co
from oracles import siconos as so

Array = NDArray[np.float64]
EACH = pytest.mark.parametrize("hypothesis", co.HYPOTHESES)
N_CASES = 2000
close = pytest.approx


def change(t: co.Impact) -> Array:
    return np.asarray(t.compression + t.restitution + t.friction)


def walker_heel() -> Array:
    """W of the heel at theta = 40°, the rear foot released."""
    w = co.walker(np.radians(40))
    assert w.heel @ w.v_minus == close([-0.547232, 0], abs=1e-6)
    return np.asarray(w.heel @ np.linalg.solve(w.M, w.heel.T))


def rod(angle: float) -> Array:
    """W of the lower end of a rod (mass 1) that leans by this angle from the floor: Routh; L drops out."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1 + 3 * c * c, -3 * s * c], [-3 * s * c, 1 + 3 * s * s]])


# One planar contact


@EACH
def test_sphere_on_a_rough_plane(hypothesis: str) -> None:
    """Brach 1991, Stronge 2000: slips to the end iff μ < (2/7) v_t/((1 + e) v_n); else 5/7 of the speed are left."""
    v_n, v_t, e = 2.0, 3.0, 0.6
    border = 2 / 7 * v_t / ((1 + e) * v_n)
    mu = border * np.array([0, 0.3, 0.999, 1.001, 4])
    t = co.planar_by_steps(np.diag([1, 3.5]), [-v_n, v_t], mu, e, hypothesis)  # of the touching point, mass 1
    assert t.state.tolist() == 3 * ["slips"] + 2 * ["sticks"]
    assert t.p_n == close((1 + e) * v_n, rel=1e-10)
    assert v_t + t.p_t == close(np.where(mu < border, v_t - mu * (1 + e) * v_n, 5 * v_t / 7), rel=1e-10)


@EACH
def test_two_balls(hypothesis: str) -> None:
    """v_2⁺ = (1 + e) m_1 v/(m_1 + m_2), textbooks; the energy lost is (1 − e²) of the relative one."""
    m_1, m_2, v, e = 2.0, 3.0, 1.5, np.array([0, 0.4, 1])
    t = co.planar_by_steps(np.diag([1 / m_1 + 1 / m_2, 1.0]), [-v, 0], 0.3, e, hypothesis)
    assert t.p_n / m_2 == close((1 + e) * m_1 * v / (m_1 + m_2), rel=1e-10)
    assert change(t) == close(-(1 - e**2) * m_1 * m_2 / (m_1 + m_2) * v**2 / 2, abs=1e-10)
    assert t.p_t == close(0, abs=1e-12)


@EACH
@pytest.mark.parametrize("angle", [0.3, 0.8, 1.3])
def test_rod_on_a_floor(hypothesis: str, angle: float) -> None:
    """Falling upright with v (classics.md): smooth, m v (1 + e)/(1 + 3 cos²θ); rough and plastic, ω = 3 v cos θ/2L;
    in between it slips from the start, and friction only takes 3 μ sin θ cos θ from 1 + 3 cos²θ."""
    v, e, c, s = 2.0, 0.5, np.cos(angle), np.sin(angle)
    smooth = co.planar_by_steps(rod(angle), [-v, 0], 0, e, hypothesis)
    assert smooth.p_n == close(v * (1 + e) / (1 + 3 * c * c), rel=1e-10)
    border = 3 * s * c / (1 + 3 * s * s)
    rough = co.planar_by_steps(rod(angle), [-v, 0], 1.01 * border, 0, hypothesis)
    assert rough.state == "sticks"
    assert 6 * (rough.p_n * c - rough.p_t * s) == close(1.5 * v * c, rel=1e-10)  # ω = (moment)/(L²/12), L = 1
    mu = 0.6 * border
    between = co.planar_by_steps(rod(angle), [-v, 0], mu, e, hypothesis)
    assert between.state == "slips"
    assert between.p_n == close(v * (1 + e) / (1 + 3 * c * c - 3 * mu * s * c), rel=1e-10)
    assert between.p_t == close(mu * between.p_n, rel=1e-10)


def test_rod_that_jams() -> None:
    """Pushed over a rough floor at 1 + 3 cos²θ < 3 μ sin θ cos θ, even with u_n⁻ ≈ 0: its end is driven into the floor
    until the slip has stopped (Painlevé, Keller 1986); then it sticks, and W_tt/det W is its effective mass."""
    angle, mu, e = np.radians(55), 1.8, 0.5
    W, u = rod(angle), np.array([-1e-6, -1.0])
    assert W[0, 0] < -mu * W[0, 1]
    stopped = 1 / (mu * W[1, 1] + W[0, 1])
    u_n = u[0] + (W[0, 0] + mu * W[0, 1]) * stopped
    p_c = stopped - u_n * W[1, 1] / np.linalg.det(W)
    t = co.planar_by_steps(W, u, mu, e, "Poisson")
    assert (t.state, t.p_c, t.p_n) == ("sticks", close(p_c, rel=1e-10), close((1 + e) * p_c, rel=1e-10))
    assert t.p_t == close(mu * stopped - W[0, 1] / W[1, 1] * (t.p_n - stopped), rel=1e-10)


def test_walker_with_friction_at_the_heel() -> None:
    """The heel slips back, stops and slips forth: the numbers of the issue, and the same in closed form."""
    W, u = walker_heel(), np.array([-0.547232, -0.3])
    t = co.planar_by_steps(W, u, 0.2, 0, "Newton")
    assert (t.state, t.p_n, t.p_t) == ("reverses", close(4.990, abs=6e-4), close(-0.7245, abs=1e-4))
    assert change(t) == close(-1.4585, abs=6e-5)
    back = 0.3 / (W[0, 1] + 0.2 * W[1, 1])
    forth = -(u[0] + (W[0, 0] + 0.2 * W[0, 1]) * back) / (W[0, 0] - 0.2 * W[0, 1])
    assert [t.p_n, t.p_t] == close([back + forth, 0.2 * (back - forth)], rel=1e-11)


def test_no_impact() -> None:
    for one in (
        co.planar_by_steps(np.eye(2), [0, 1], 0.5, 0.5, "Newton"),
        co.spatial_by_steps(np.eye(3), [0, 1, 0], 0.5, 0.5, "Newton"),
    ):
        assert (one.state, one.p_n, one.u_plus[:2].tolist()) == ("no impact", 0, [0, 1])


@EACH
def test_laws_of_the_planar_impact(hypothesis: str, rng: np.random.Generator) -> None:
    """u⁺ = u⁻ + W p, the cone, the end of the hypothesis, the works' sum, and which state must be: random cases."""
    W, u, mu, e = co.random_planar(rng, N_CASES)
    t = co.planar_by_steps(W, u, mu, e, hypothesis)
    p = np.stack([t.p_n, t.p_t], axis=-1)
    speed = np.max(np.abs(u), axis=1) + np.einsum("mij,mj->mi", np.abs(W), np.abs(p)).max(axis=1)
    assert np.max(np.abs(t.u_plus - u - np.einsum("mij,mj->mi", W, p)) / speed[:, None]) < 1e-13
    assert np.max(np.abs(t.p_t) - mu * t.p_n * (1 + 1e-12)) <= 0
    gross = np.abs(t.compression) + np.abs(t.restitution) + np.abs(t.friction)
    assert np.max(np.abs(change(t) - np.sum(p * (u + t.u_plus), axis=1) / 2) / gross) < 1e-12
    assert np.max(t.friction / gross) < 1e-13
    end = {
        "Newton": (t.u_plus[:, 0] + e * u[:, 0]) / speed,
        "Poisson": t.p_n / t.p_c - 1 - e,
        "Stronge": t.restitution / t.compression + e**2,
    }[hypothesis]
    assert np.max(np.abs(end)) < 1e-10
    may_stick = np.abs(W[:, 0, 1]) <= mu * W[:, 1, 1]
    assert np.all(may_stick[t.state == "sticks"])
    assert not np.any(may_stick[t.state == "reverses"])
    finest = co.planar_by_steps(W, u, mu, e, hypothesis, n_steps=700)
    assert np.max(np.abs(np.stack([finest.p_n, finest.p_t], axis=-1) - p) / t.p_n[:, None]) < 1e-10
    counts = {name: int(np.sum(t.state == name)) for name in ("slips", "sticks", "reverses")}
    assert min(counts.values()) > N_CASES / 10, counts
    assert np.mean(W[:, 0, 0] < mu * np.abs(W[:, 0, 1])) > 0.2  # jams


@EACH
def test_planar_by_fixed_steps(hypothesis: str, rng: np.random.Generator) -> None:
    """Routh's rule itself, in 20,000 equal steps to the end that was found, gives the same to 1e-3 and ends there."""
    W, u, mu, e = co.random_planar(rng, 200)
    t = co.planar_by_steps(W, u, mu, e, hypothesis)
    (W_nn, W_nt), W_tt, n = W[:, 0].T, W[:, 1, 1], 20_000
    sticks, again, dp = np.abs(W_nt) <= mu * W_tt, np.sign(W_nt), t.p_n / n
    (u_n, u_t), p_t, w_c, w_r, p_c = u.T.copy(), 0 * dp, 0 * dp, 0 * dp, 0 * dp
    s = np.sign(u_t)
    s = np.where((s == 0) & ~sticks, again, s)
    for _ in range(n):
        rate = np.where(s == 0, -W_nt / W_tt, -mu * s)
        w_c, w_r = w_c + np.where(u_n < 0, u_n * dp, 0), w_r + np.where(u_n < 0, 0, u_n * dp)
        p_c = p_c + np.where(u_n < 0, dp, 0)
        u_n, u_t, p_t = u_n + (W_nn + rate * W_nt) * dp, u_t + (W_nt + rate * W_tt) * dp, p_t + rate * dp
        turned = u_t * s < 0
        s = np.where(turned, np.where(sticks, 0, again), s)
        u_t = np.where(turned, 0, u_t)
    speed = np.max(np.abs(u), axis=1) + np.max(np.abs(W), axis=(1, 2)) * t.p_n
    assert np.max(np.abs(np.stack([u_n, u_t], axis=-1) - t.u_plus) / speed[:, None]) < 1e-3
    assert np.max(np.abs(p_t - t.p_t) / t.p_n) < 1e-3
    assert np.max(np.abs(p_c - t.p_c) / t.p_n) < 1e-2
    assert np.max(np.abs(w_c - t.compression) / -w_c) < 1e-2
    assert np.max(np.abs(w_r - t.restitution) / -w_c) < 1e-2


def test_energy_of_the_hypotheses(rng: np.random.Generator) -> None:
    """Stronge and Poisson never gain, Newton can (Kane); all agree, and end alike, while the slip never changes."""
    W, u, mu, e = co.random_planar(rng, N_CASES)
    newton, poisson, stronge = (co.planar_by_steps(W, u, mu, e, name) for name in co.HYPOTHESES)
    gross = np.abs(newton.compression) + np.abs(newton.friction)
    assert np.max(change(stronge) / gross) < 1e-11
    assert np.max(change(poisson) / gross) < 1e-11
    assert np.mean(change(newton) > 1e-6 * gross) > 0.005
    same = newton.state == "slips"
    same |= (newton.state == "sticks") & (u[:, 1] == 0)
    for other in (poisson, stronge):
        assert other.state.tolist() == newton.state.tolist()
        assert np.max(np.abs(other.p_n - newton.p_n)[same] / newton.p_n[same]) < 1e-10
    assert np.max(np.abs(poisson.p_n - newton.p_n)[~same] / newton.p_n[~same]) > 0.1


def test_double_pendulum_gains_with_newton() -> None:
    """Two uniform rods (1 kg, 1 m), hung up, the lower end strikes a rough floor, in the manner of Kane & Levinson
    1985: by Newton's restitution it leaves with 1.59 times its energy, by Stronge's and Poisson's it loses."""
    a, b = np.radians(20), np.radians(30)
    M = np.array([[4 / 3, np.cos(a - b) / 2], [np.cos(a - b) / 2, 1 / 3]])
    J = np.array([[np.sin(a), np.sin(b)], [np.cos(a), np.cos(b)]])
    W, v = J @ np.linalg.solve(M, J.T), np.array([-0.1, -0.2])
    u = J @ v
    newton, poisson, stronge = (co.planar_by_steps(W, u, 0.7, 0.5, name) for name in co.HYPOTHESES)
    assert newton.state == "sticks"
    T_minus, T_plus = v @ M @ v / 2, (0.5 * u[0]) ** 2 * np.linalg.inv(W)[0, 0] / 2
    assert T_plus > 1.58 * T_minus
    assert change(newton) == close(T_plus - T_minus, rel=1e-10)
    assert change(poisson) < 0
    assert change(stronge) < 0


# One contact in space


@EACH
def test_space_contains_the_plane(hypothesis: str, rng: np.random.Generator) -> None:
    """A contact whose motion stays in a plane, turned about its normal, is the planar one to 1e-8."""
    W, u, mu, e = co.random_planar(rng, 8)
    expected = co.planar_by_steps(W, u, mu, e, hypothesis)
    turn = rng.uniform(0, 2 * np.pi)
    R = np.eye(3)
    R[1:, 1:] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    for i in range(len(W)):
        W_space = np.zeros((3, 3))
        W_space[:2, :2], W_space[2, 2] = W[i], 0.1 * W[i, 1, 1]
        if expected.state[i] == "reverses":  # off the plane its way back is unstable, so it must be in it exactly
            t, axis = co.spatial_by_steps(W_space, [*u[i], 0], mu[i], e[i], hypothesis), np.array([1.0, 0.0])
        else:
            t, axis = co.spatial_by_steps(R @ W_space @ R.T, R @ [*u[i], 0], mu[i], e[i], hypothesis), R[1:, 1]
        assert t.state == expected.state[i]
        assert t.p_n == close(expected.p_n[i], rel=1e-8)
        assert t.p_t == close(expected.p_t[i] * axis, abs=1e-8 * t.p_n)
        assert change(t) == close(change(expected)[i], abs=1e-7 * abs(t.compression))


def implicit_slip(W: Array, u: Array, mu: float, p_end: float, n: int) -> Array:
    """u after p_end by n implicit steps: of all ‖dp_t‖ ≤ μ dp the one that is against the slip it leaves."""
    u, dp, W_tt = u.copy(), p_end / n, W[1:, 1:]
    values, axes = np.linalg.eigh(W_tt)
    for _ in range(n):
        free = axes.T @ (u[1:] + W[1:, 0] * dp)
        low, high = 0.0, float(np.linalg.norm(free))
        if np.linalg.norm(free / values) <= mu * dp:
            dp_t = -free / values
        else:
            for _ in range(60):  # r with ‖(r + μ dp W_tt)⁻¹ free‖ = 1
                r = (low + high) / 2
                low, high = (r, high) if np.sum((free / (r + mu * dp * values)) ** 2) > 1 else (low, r)
            dp_t = -mu * dp * free / (high + mu * dp * values)
        u = u + W @ [dp, *(axes @ dp_t)]
    return u


def test_space_by_implicit_steps() -> None:
    """The way of u is that of implicit steps, which know neither stick nor restart, to 1e-2, with an error ∝ step."""
    rng, found = np.random.default_rng(7), []
    for i in range(4):
        W, u, mu, e = co.random_spatial(rng)
        u[1:] *= 0 if i == 0 else 1  # the first starts at rest and slips off along û
        mu = 0.6 * float(np.linalg.norm(np.linalg.solve(W[1:, 1:], W[1:, 0]))) if i == 0 else mu
        t = co.spatial_by_steps(W, u, mu, e, co.HYPOTHESES[i % 3])
        found.append(t.state)
        speed = np.max(np.abs(u)) + np.max(np.abs(W)) * t.p_n
        coarse, fine = (np.max(np.abs(implicit_slip(W, u, mu, t.p_n, n) - t.u_plus)) / speed for n in (150, 600))
        assert fine < 1e-2
        assert fine < 0.4 * coarse + 1e-9, (coarse, fine)
    assert found[0] == "slips"


def test_laws_of_the_spatial_impact() -> None:
    """u⁺ = u⁻ + W p, the works' sum, the cone, no gain for Stronge; finer steps change nothing beyond 1e-8."""
    rng = np.random.default_rng(3)
    for i in range(9):
        W, u, mu, e = co.random_spatial(rng)
        t = co.spatial_by_steps(W, u, mu, e, co.HYPOTHESES[i % 3])
        p = np.array([t.p_n, *t.p_t])
        assert t.u_plus == close(u + W @ p, abs=1e-8 * (np.max(np.abs(u)) + np.max(np.abs(W)) * t.p_n))
        assert change(t) == close(p @ (u + t.u_plus) / 2, abs=1e-7 * (abs(t.compression) + abs(t.friction)))
        assert np.linalg.norm(t.p_t) <= mu * t.p_n * (1 + 1e-9)
        if i % 3:
            assert change(t) <= 1e-8 * abs(t.compression)
        if i < 3:
            fine = co.spatial_by_steps(W, u, mu, e, co.HYPOTHESES[i % 3], step=0.01)
            assert p == close(np.array([fine.p_n, *fine.p_t]), abs=1e-8 * t.p_n)


# Several contacts


@pytest.mark.parametrize(("kappa", "v_plus"), [(1.0, [-1 / 3, 2 / 3, 2 / 3]), (0.5, [0, 1 / 2, 1 / 2])])
def test_three_balls_in_a_row(kappa: float, v_plus: list[float]) -> None:
    """Glocker & Aeberhard 2006, Brogliato: (1, 0, 0) of equal balls at once, by Moreau and by Poisson."""
    rows, v = np.array([[-1.0, 1, 0], [0, -1, 1]]), np.array([1.0, 0, 0])
    W, u = rows @ rows.T, rows @ v
    moreau, poisson = co.moreau_by_enumeration(W, (1 + kappa) * u), co.poisson_by_enumeration(W, u, kappa)
    assert moreau is not None
    assert poisson is not None
    for impulse in (moreau.impulse, moreau.least, poisson.impulse, poisson.least):
        assert v + rows.T @ impulse == close(v_plus, abs=1e-12)


def test_ball_between_two_walls() -> None:
    """It touches both. The LCP asks for κ_1 ≤ u⁺ ≤ κ_2 and has no solution for κ_1 > κ_2; by Poisson the far wall,
    which cannot give way, stops the ball."""
    W, u = np.array([[1.0, -1], [-1, 1]]), np.array([-1.0, 1])
    assert co.moreau_by_enumeration(W, (1 + np.array([0.5, 0.2])) * u) is None
    moreau = co.moreau_by_enumeration(W, (1 + np.array([0.2, 0.5])) * u)
    assert moreau is not None
    assert u + W @ moreau.impulse == close([0.2, -0.2])
    poisson = co.poisson_by_enumeration(W, u, [0.5, 0.2])
    assert poisson is not None
    assert poisson.impulse == close([1.5, 0.5])
    assert poisson.least == close([1, 0])
    assert poisson.u_plus == close([0, 0], abs=1e-12)


def test_redundant_legs_share() -> None:
    """A body on three legs in a row falls flat: all λ ≥ 0 with Σλ = 1 and no moment will do. With W_ii = 2.5, 1, 2.5
    the least of 5 a² + (1 − 2 a)² is a = 2/9."""
    Y = np.array([[1.0, -np.sqrt(1.5)], [1, 0], [1, np.sqrt(1.5)]])
    t = co.moreau_by_enumeration(Y @ Y.T, [-1.0, -1, -1])
    assert t is not None
    assert t.w == close([0, 0, 0], abs=1e-12)
    assert t.least == close([2 / 9, 5 / 9, 2 / 9], abs=1e-12)


def test_redundant_legs_push_only() -> None:
    """The same body hits with a turn that only the last two legs can take: none pulls, where the shortest λ would."""
    Y = np.array([[1.0, -1], [1, 0], [1, 1]])
    W, u = Y @ Y.T, Y @ [-1, -0.9]
    t = co.moreau_by_enumeration(W, u)
    assert t is not None
    free = np.linalg.pinv(Y.T / np.sqrt(np.diagonal(W))) @ [1, 0.9]
    assert np.min(free) < -0.01
    assert t.least == close([0, 0.1, 0.9], abs=1e-12)


@pytest.mark.parametrize("redundant", [False, True])
def test_laws_of_the_lcp(redundant: bool, rng: np.random.Generator) -> None:
    """Complementary and unique; least is no longer than any other solution; Poisson never gains."""
    several = 0
    for i in range(60):
        W, r = co.random_lcp(rng, 1 + i % 5, redundant)
        t = co.moreau_by_enumeration(W, r)
        assert t is not None
        size = np.max(np.abs(r))
        weighted = [float(np.diagonal(W) @ impulse**2) for impulse in (t.least, t.impulse)]
        assert weighted[0] <= weighted[1] * (1 + 1e-9)
        several += weighted[0] < weighted[1] * (1 - 1e-6)
        for impulse in (t.impulse, t.least):
            assert np.min(impulse) >= -1e-9 * size
            assert r + W @ impulse == close(t.w, abs=1e-9 * size)
            assert impulse * t.w == close(np.zeros(len(r)), abs=1e-9 * size**2)
        poisson = co.poisson_by_enumeration(W, r, rng.uniform(0, 1, len(r)))
        assert poisson is not None
        assert np.min(poisson.u_plus) >= -1e-9 * size
        assert r + W @ poisson.least == close(poisson.u_plus, abs=1e-8 * size)
        assert poisson.impulse @ (r + poisson.u_plus) <= 1e-9 * size**2
    assert (several > 10) == redundant


def test_eight_contacts(rng: np.random.Generator) -> None:
    W, r = co.random_lcp(rng, 8, redundant=True)
    t = co.moreau_by_enumeration(W, r)
    assert t is not None
    assert np.min(r + W @ t.least) >= -1e-9


def rear_foot(theta: float, rho: float) -> dict[str, tuple[Array, Array]]:
    """The rear foot while the heel sticks."""
    w = co.walker(np.radians(theta), rho)
    A = np.vstack([w.heel, w.rear])
    W, u = A @ np.linalg.solve(w.M, A.T), A @ w.v_minus
    heel, rear = slice(0, 2), slice(2, 4)
    passed_on = W[rear, heel] @ np.linalg.inv(W[heel, heel])
    return co.no_slip_candidates(W[rear, rear] - passed_on @ W[heel, rear], u[rear] - passed_on @ u[heel])


@pytest.mark.parametrize(("rho", "limit"), REAR_FOOT_LIMITS.items())
def test_the_rear_foot_lifts(rho: float, limit: float) -> None:
    """docs/theory.md §6: below the limit it lifts, above it slides."""
    assert "lifts" in rear_foot(limit - 0.06, rho)
    assert "slides" not in rear_foot(limit - 0.06, rho)
    assert list(rear_foot(limit + 0.06, rho))[:1] == ["slides"]


def test_the_rear_foot_sticks() -> None:
    """theory §6: only beyond 67.98°, and then it may slide as well; between 44.48° and there nothing but sliding."""
    assert [list(rear_foot(theta, 0)) for theta in (40, 67.97, 67.99)] == [["lifts"], ["slides"], ["slides", "sticks"]]


# Siconos


def test_siconos_walker() -> None:
    """Both feet one-sided, friction 0.5 at the final velocity: the rear one leaves, the other sticks."""
    w = co.walker(np.radians(40))
    A = np.vstack([w.rear, w.heel])
    (t,) = so.siconos_moreau_coulomb_many([(A @ np.linalg.solve(w.M, A.T), A @ w.v_minus, 0.5)])
    assert t.reactions[0] == close([0, 0], abs=1e-12)
    assert t.velocities[0] == close([0.0686, 0.554], abs=5e-4)
    assert t.velocities[1] == close([0, 0], abs=1e-12)
    assert t.reactions[1, 0] == close(11.759, abs=5e-4)


def test_siconos_without_friction_is_the_lcp(rng: np.random.Generator) -> None:
    """Two oracles of different origin: the same normal velocities, and the same impulses where they are unique."""
    cases = [co.random_lcp(rng, 1 + i % 4) for i in range(20)]
    problems = []
    for W, r in cases:
        k = len(r)
        both = np.zeros((2 * k, 2 * k))
        both[::2, ::2], both[1::2, 1::2] = W, np.eye(k)
        problems.append((both, np.stack([r, np.zeros(k)], axis=-1).ravel(), 0.0))
    for (W, r), t in zip(cases, so.siconos_moreau_coulomb_many(problems), strict=True):
        expected = co.moreau_by_enumeration(W, r)
        assert expected is not None
        assert t.velocities[:, 0] == close(expected.w, abs=1e-8 * np.max(np.abs(r)))
        assert W @ t.reactions[:, 0] == close(W @ expected.impulse, abs=1e-8 * np.max(np.abs(r)))


def test_siconos_agrees_while_the_slip_does_not_change(rng: np.random.Generator) -> None:
    """One plastic contact that slips to the end, or starts at rest and sticks: Moreau's law is Routh's impact."""
    W, u, mu, _ = co.random_planar(rng, 200)
    t = co.planar_by_steps(W, u, mu, 0, "Newton")
    jams = W[:, 0, 0] < mu * np.abs(W[:, 0, 1])  # then the final velocity's law has several solutions, or others
    lanes = np.flatnonzero(((t.state == "slips") | ((t.state == "sticks") & (u[:, 1] == 0))) & ~jams)
    assert len(lanes) > 30
    for i, one in zip(lanes, so.siconos_moreau_coulomb_many([(W[i], u[i], mu[i]) for i in lanes]), strict=True):
        assert one.reactions[0] == close([t.p_n[i], t.p_t[i]], abs=1e-8 * t.p_n[i])
