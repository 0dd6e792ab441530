"""The oracles of motion against each other, against SciPy, and against printed numbers."""

from __future__ import annotations

from math import cos, degrees, pi, radians, sin, sqrt, tan, tanh
from typing import Any

import numpy as np
import pytest
import sympy as sp
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

from oracles import motion as oracle
from oracles.motion import HSU_CHEN, Leg, Particles

Array = NDArray[Any]


def close(actual: Any, expected: ArrayLike, atol: float, rtol: float = 0.0) -> None:
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=rtol, atol=atol)


def bent_particles() -> Particles:
    upper, swing = HSU_CHEN.bent
    return [*upper, *swing]


# ── The equations ───────────────────────────────────────────────────────────────────────────────────────────────────


def lagrange(particles: Particles, g: float, slope: float, theta: Array, omega: Array) -> Array:
    """The accelerations from SymPy's derivatives of T − V, with positions and nothing else."""
    n = len(theta)
    t = sp.Symbol("t")
    q = [sp.Function(f"q{i}")(t) for i in range(n)]
    T, V = sp.Integer(0), sp.Integer(0)
    for m, L in particles:
        x = sum(-sp.Float(l, 30) * sp.sin(a) for l, a in zip(L, q, strict=True))
        y = sum(sp.Float(l, 30) * sp.cos(a) for l, a in zip(L, q, strict=True))
        T += m * (sp.diff(x, t) ** 2 + sp.diff(y, t) ** 2) / 2
        V += m * g * (y * sp.cos(slope) - x * sp.sin(slope))  # x runs downhill
    rates = [sp.diff(a, t) for a in q]
    accelerations = sp.symbols(f"a:{n}")
    values = dict(zip(rates, omega, strict=True)), dict(zip(q, theta, strict=True))
    equations = []
    for a, w in zip(q, rates, strict=True):
        equation = sp.diff(sp.diff(T, w), t) - sp.diff(T, a) + sp.diff(V, a)
        second = {sp.diff(b, t, 2): c for b, c in zip(q, accelerations, strict=True)}
        equations.append(equation.subs(second).subs(values[0]).subs(values[1]).evalf(30))
    solved = sp.linsolve(equations, accelerations)
    return np.array([float(value) for value in next(iter(solved))])


@pytest.mark.parametrize("name", ["straight", "kneed"])
def test_the_equations_of_motion_are_those_of_lagrange(name: str, rng: np.random.Generator) -> None:
    straight = [p for part in oracle.straight(Leg(((5.0, 0.5),), 1.0), 10.0) for p in part]
    particles = straight if name == "straight" else bent_particles()
    n = len(particles[0][1])
    theta, omega = rng.normal(size=n), rng.normal(size=n)
    rate = oracle.chain(particles, 9.81, 0.05)(np.concatenate([theta, omega]))
    close(rate[n:], lagrange(particles, 9.81, 0.05, theta, omega), 1e-12, 1e-12)


def floating(particles: Particles, theta: Array) -> tuple[Array, Any]:
    """Mass matrix and Jacobians of points, with the stance foot free: velocities (ẋ, ẏ, ω)."""

    def jacobian(lengths: ArrayLike) -> Array:
        L = np.asarray(lengths)
        return np.vstack([np.r_[1, 0, -L * np.cos(theta)], np.r_[0, 1, -L * np.sin(theta)]])

    return np.sum([m * jacobian(L).T @ jacobian(L) for m, L in particles], axis=0), jacobian


def struck(M: Array, C: Array, v: Array) -> Array:
    """v⁺ with C v⁺ = 0 by the impulses of those rows."""
    return v - np.linalg.solve(M, C.T @ np.linalg.solve(C @ np.linalg.solve(M, C.T), C @ v))


@pytest.mark.parametrize("ratio", [0.5, 1e-3])
def test_a_heel_strike_is_that_of_an_impulse_at_the_foot(ratio: float, rng: np.random.Generator) -> None:
    leg = Leg(((ratio, 0.4), (ratio / 3, 0.0)), 1.0)
    particles = [p for part in oracle.straight(leg, 1.0) for p in part]
    theta, omega = np.array([-0.3, 0.3]), rng.normal(size=2)
    M, jacobian = floating(particles, theta)
    v = struck(M, jacobian([1.0, -1.0]), np.r_[0, 0, omega])
    swapped, after = oracle.heel_strike(leg, 1.0, theta, omega)
    close(swapped, theta[::-1], 0)
    close(np.array(after, float), [v[3], v[2]], 1e-12)


def test_a_knee_strike_is_that_of_an_impulsive_torque_in_the_knee(rng: np.random.Generator) -> None:
    theta, omega = np.array([-0.1, 0.25, 0.25]), rng.normal(size=3)
    M, jacobian = floating(bent_particles(), theta)
    C = np.vstack([jacobian([0.0, 0.0, 0.0]), [0, 0, 0, 1, -1]])
    v = struck(M, C, np.r_[0, 0, omega])
    close(np.array(oracle.knee_strike(HSU_CHEN, theta, omega), float), v[2:4], 1e-12)
    close(v[3], v[4], 1e-12)


def test_the_flow_has_converged_and_keeps_the_energy() -> None:
    particles = bent_particles()
    rate = oracle.chain(particles, 9.81, 0.0504)
    x = np.array([0.24, -0.24, -0.24, -1.1, -0.06, -0.06], oracle.REAL)

    def energy(x: Array) -> Any:
        total: Any = 0
        for m, L in particles:
            px, py = oracle.place(L, x[:3])
            vx, vy = (sum(-l * f(a) * w for l, a, w in zip(L, x[:3], x[3:], strict=True)) for f in (np.cos, np.sin))
            total += m * ((vx**2 + vy**2) / 2 + 9.81 * (py * cos(0.0504) - px * sin(0.0504)))
        return total

    coarse, fine = (oracle.flow(rate, x, oracle.REAL(0.35), steps) for steps in (8, 16))
    close(coarse.astype(float), fine.astype(float), 1e-15, 1e-15)
    assert abs(energy(fine) - energy(x)) < 1e-15


# ── Gaits ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def run(rate: Any, x: ArrayLike, duration: float) -> tuple[Array, Array]:
    """SciPy's way, in doubles: (times, states) on a fine grid, for looking at guards."""
    grid = np.linspace(0, duration, 4001)
    done = solve_ivp(lambda _, y: np.asarray(rate(y), float), (0, duration), x, "DOP853", grid, rtol=1e-12, atol=1e-13)
    return grid, done.y


def difference(step: oracle.Step, found: oracle.Gait, size: float = 3e-5) -> Array:
    """The step map's Jacobian by central differences of whole steps, whose durations are found by Newton's method."""

    def stepped(x: Array) -> Array:
        durations = found.durations.astype(oracle.REAL)
        k = len(durations)
        for _ in range(3):
            columns = np.asarray(durations[:, None] + 1j * oracle.TINY * np.eye(k), oracle.COMPLEX)
            end, guards = step(np.tile(x[:, None], k).astype(oracle.COMPLEX), columns, oracle.REAL(found.parameter))
            J = np.array([g.imag / oracle.TINY for g in guards], float)
            durations = durations - np.linalg.solve(J, np.array([float(g[0].real) for g in guards]))
        return end[:, 0].real

    x = found.state.astype(oracle.REAL)
    out = []
    for i in range(len(x)):
        d = np.zeros_like(x)
        d[i] = size
        one, two = ((stepped(x + s * d) - stepped(x - s * d)) / (2 * s * size) for s in (1, 2))
        out.append((4 * one - two) / 3)  # Richardson
    return np.array(out).T.astype(float)


def test_rimless_wheel() -> None:
    wheel = oracle.rimless()
    close(wheel.omega_plus, 1.09546283965, 5e-12)
    close(wheel.multiplier, 0.5, 1e-15)
    close(wheel.loss, 9.81 * 2 * sin(pi / 8) * sin(0.08), 1e-14)  # what a step goes down
    for push_off, slope in [(0.0, 0.08), (0.3, 0.08), (0.6, 0.0)]:
        wheel = oracle.rimless(slope=slope, push_off=push_off)
        g = oracle.gait(oracle.rimless_step(push_off=push_off), [-wheel.omega_plus], [wheel.period * 1.001], slope)
        close([-g.state[0], g.period, g.multipliers[0].real], [wheel.omega_plus, wheel.period, wheel.multiplier], 1e-13)


def test_a_rimless_wheel_on_the_level_lives_on_push_off() -> None:
    """Kuo 2002: P = ω tan α, the work done is the work lost, the multiplier is cos 2α."""
    wheel = oracle.rimless(slope=0.0, push_off=0.6)
    close([wheel.omega_plus * tan(pi / 8), wheel.omega_minus], [0.6, wheel.omega_plus], 1e-15)
    close([wheel.loss, wheel.multiplier], [wheel.push_off_work, cos(pi / 4)], 1e-15)
    with pytest.raises(ValueError, match="too slow to get over the top"):
        oracle.rimless(slope=0.0, push_off=0.5)


def test_simplest_walker() -> None:
    long, short = oracle.simplest_gait("long"), oracle.simplest_gait("short")
    close(long.state, [0.200310900544, -0.199832473005], 1e-12)
    close(long.period, 3.88246375, 5e-9)
    close(long.multipliers, [-0.1900998 + 0.5575988j, -0.1900998 - 0.5575988j], 5e-8)
    close([*short.state, short.period], [0.1939, -0.2039, 3.096], 1e-3)  # Garcia et al. 1998, read off
    assert short.multipliers[0].real > 4


@pytest.mark.parametrize("name", ["long", "short"])
def test_feet_of_a_small_mass_change_little(name: str) -> None:
    limit, footed = oracle.simplest_gait(name), oracle.footed_gait(name)
    theta, omega = limit.state
    close(footed.state, [theta, omega, omega * cos(2 * theta)], 1e-9)
    close(footed.period, limit.period, 1e-9)
    close(footed.multipliers[:2], limit.multipliers, 1e-8)
    close(footed.multipliers[2], 0, 1e-13)  # the foot that leaves is at rest: ω_sw⁺ = ω_st⁺ cos 2θ whatever was before
    thousandth = oracle.footed_gait(name, ratio=1e-3)
    close(thousandth.state[0], theta, 1e-3)
    close((thousandth.state[0] - theta) / (footed.state[0] - theta), 1e7, 0, 0.01)  # in proportion to the mass


@pytest.mark.parametrize(("name", "multipliers"), [("long", (1, 0.486284)), ("short", (2, 1))])
def test_both_gaits_of_the_simplest_walker_start_at_slope_zero(name: str, multipliers: tuple[float, float]) -> None:
    small, T = oracle.simplest_gait(name, 1e-9), oracle.slope_zero(name)
    close(small.period, T, 1e-5)
    close(small.state[0], (1e-9 * tanh(T / 2) ** 2) ** (1 / 3), 1e-8)
    close(small.multipliers.real, multipliers, 1e-4)


@pytest.mark.parametrize("name", ["long", "short"])
def test_neither_gait_of_the_simplest_walker_folds(name: str) -> None:
    """θ grows with the slope all the way: det(∂step − 1) keeps its sign."""
    gaits = [oracle.simplest_gait(name, slope) for slope in (1e-4, 0.003, 0.009, 0.015, 0.03, 0.1)]
    assert np.all(np.diff([g.state[0] for g in gaits]) > 0)
    signs = {float(np.sign(np.linalg.det(g.jacobian - np.eye(2)))) for g in gaits}
    assert signs == {1.0 if name == "long" else -1.0}


def test_the_simplest_walker_doubles_its_period() -> None:
    flip, footed = oracle.simplest_flip(), oracle.simplest_flip(1e-10)
    close(flip.parameter, 0.0151, 5e-5)  # Garcia et al. 1998
    close(footed.parameter, flip.parameter, 1e-10)
    close(flip.multipliers[0], -1, 1e-10)


def test_push_off_replaces_the_slope() -> None:
    """Kuo 2002: on the level; a push-off does ½P², the strike loses what the hip has along the new leg."""
    g = oracle.simplest_gait("long", 0.0, 0.04)
    theta, omega = g.state
    before = omega  # on the level a stance phase is symmetric
    close(before * cos(2 * theta) - 0.04 * sin(2 * theta), omega, 1e-15)
    close(-omega * tan(theta), 0.04, 1e-15)
    assert abs(g.multipliers[0]) < 1


def test_compass_gait() -> None:
    g = oracle.compass_gait()
    close(g.state, [0.27102868, -1.09238359, -0.37737395], 5e-9)
    assert np.all(np.abs(g.multipliers) < 1)
    finer = oracle.gait(oracle.compass_step(12), g.state, g.durations, g.parameter)
    close([*finer.state, finer.period], [*g.state, g.period], 1e-15)
    close(finer.multipliers, g.multipliers, 1e-13)


def test_the_compass_gait_doubles_its_period_twice() -> None:
    first, second = oracle.compass_flips()
    close(degrees(first.parameter), 4.37, 0.05)  # Goswami, Espiau & Keramane 1996
    close(degrees(second.parameter), 4.9, 0.05)
    close([first.multipliers[0], second.multipliers[0]], [-1, -1], 1e-9)
    assert abs(second.durations[0] - second.durations[1]) > 0.05
    for slope, size in [(-1e-5, -1), (1e-5, 1)]:
        near = oracle.gait(oracle.compass_step(6), first.state, first.durations, first.parameter + radians(slope))
        assert np.sign(abs(near.multipliers[0]) - 1) == size


def test_kneed_walker() -> None:
    g = oracle.kneed_gait()
    close(g.state - [0.0504, 0, 0], [0.1877, -1.1014, -0.0399], 0.02)  # Hsu Chen 2007, from the vertical, as printed
    assert np.all(np.abs(g.multipliers) < 1)
    finer = oracle.gait(oracle.kneed_step(steps=12), g.state, g.durations, g.parameter)
    close([*finer.state, *finer.durations], [*g.state, *g.durations], 1e-15)


@pytest.mark.parametrize(
    ("step", "found"),
    [
        (oracle.limit_step, oracle.simplest_gait),
        (oracle.compass_step(4), oracle.compass_gait),
        (oracle.kneed_step(steps=4), oracle.kneed_gait),
    ],
    ids=["simplest", "compass", "kneed"],
)
def test_multipliers_are_those_of_differences(step: oracle.Step, found: Any) -> None:
    close(difference(step, found()), found().jacobian, 1e-8, 1e-8)


def test_no_guard_of_the_compass_gait_falls_earlier() -> None:
    g = oracle.compass_gait()
    particles = [p for part in oracle.straight(Leg(((5.0, 0.5),), 1.0), 10.0) for p in part]
    theta, omega, swing = g.state
    _, x = run(oracle.chain(particles, 9.81, radians(3)), [theta, -theta, omega, swing], g.period)
    close(x[0, -1] + x[1, -1], 0, 1e-11)
    close(
        np.array(oracle.heel_strike(Leg(((5.0, 0.5),), 1.0), 10.0, x[:2, -1], x[2:, -1])[1], float), g.state[1:], 1e-10
    )
    height = np.cos(x[0]) - np.cos(x[1])  # of the swing foot: it scuffs, before the stance leg has passed the normal
    assert np.all(np.maximum(height, x[0])[1:-1] > 0)
    assert height.min() < 0


@pytest.mark.parametrize("name", ["long", "short"])
def test_no_guard_of_the_simplest_walker_falls_earlier(name: str) -> None:
    g = oracle.footed_gait(name)
    theta, omega, swing = g.state
    particles = [p for part in oracle.straight(Leg(((1e-10, 0.0),), 1.0), 1.0) for p in part]
    _, x = run(oracle.chain(particles, 1.0, 0.009), [theta, -theta, omega, swing], g.period)
    both = x[0] + x[1]  # 0 at the start and falling; then the swing leg passes; then it falls to 0 for good
    close(both[-1], 0, 1e-10)
    assert np.sum(np.diff(np.sign(both[1:-1])) != 0) == 1
    assert both[1] < 0 < both[-2]
    # The short gait's legs are side by side after the stance leg has passed the normal: there the swing foot goes below
    # the slope with θ_st < 0, so that neither its height nor max(height, θ_st) tells the strike from the scuff.
    height = np.cos(x[0]) - np.cos(x[1])
    assert np.all(np.maximum(height, x[0])[1:-1] > 0) == (name == "long")


def test_no_guard_of_the_kneed_walker_falls_earlier() -> None:
    g = oracle.kneed_gait()
    theta, omega, swing = g.state
    start = [theta, -theta, -theta, omega, swing, swing]
    _, x = run(oracle.chain(bent_particles(), 9.81, 0.0504), start, g.durations[0])
    assert np.all((x[1] - x[2])[1:-1] > 0)  # the knee bends at once, with the foot behind, and comes back
    close(x[1, -1], x[2, -1], 1e-11)
    particles = [p for part in oracle.straight(HSU_CHEN.locked, HSU_CHEN.m_hip) for p in part]
    rates = np.array(oracle.knee_strike(HSU_CHEN, x[:3, -1], x[3:, -1]), float)
    assert x[3, -1] != rates[0]
    _, y = run(oracle.chain(particles, 9.81, 0.0504), [x[0, -1], x[1, -1], *rates], g.durations[1])
    close(y[0, -1] + y[1, -1], 0, 1e-11)
    assert np.all((np.cos(y[0]) - np.cos(y[1]))[1:-1] > 0)  # the foot is above the slope until it strikes


# ── Closed forms ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_bouncing_ball() -> None:
    ball = oracle.bouncing_ball(1.0, 0.8, impacts=400)
    close(ball.times[0], sqrt(2 / 9.81), 1e-15)
    close(ball.times[-1], ball.end, 1e-14)
    close(np.diff(ball.times), 2 * ball.speeds[:-1] / 9.81, 1e-14)


def test_rocking_block() -> None:
    b, h, tilt = 0.1, 0.4, 0.1
    block = oracle.rocking_block(b, h, tilt, impacts=6)
    R2, alpha = b * b + h * h, np.arctan(b / h)
    before = R2 / 3 + (h * h - b * b)  # about the new corner, per ω m: I_G + r × v, r and v of the centre of mass
    close(block.ratio, before / (R2 / 3 + R2), 1e-15)
    p2 = 3 * 9.81 / (4 * sqrt(R2))

    def down(_: float, x: Array) -> float:
        return float(x[0])

    down.terminal, down.direction = True, -1  # type: ignore[attr-defined]
    t, x, times, rates = 0.0, [tilt, 0.0], [], []
    for _ in range(6):
        done = solve_ivp(
            lambda _, x: [x[1], -p2 * sin(alpha - x[0])], (0, 5), x, "DOP853", events=down, rtol=1e-12, atol=1e-14
        )
        t += done.t[-1]
        times.append(t)
        rates.append(-done.y[1, -1])
        x = [0.0, block.ratio * rates[-1]]  # mirrored: the other corner
    close(times, block.times, 1e-10)
    close(rates, block.rates, 1e-10)
    assert block.end > block.times[-1]


def test_chaplygin_sleigh() -> None:
    m, I, a = 2.0, 0.3, 0.4
    for omega in (1.2, -1.2):
        done = solve_ivp(
            lambda _, x: [
                a * x[1] ** 2,
                -m * a * x[0] * x[1] / (I + m * a * a),
                x[1],
                x[0] * cos(x[2]),
                x[0] * sin(x[2]),
            ],
            (0, 3),
            [-0.5, omega, 0, 0, 0],
            "DOP853",
            rtol=1e-12,
            atol=1e-13,
        )
        close(oracle.sleigh(3.0, -0.5, omega, m, I, a), done.y[:, -1], 1e-10)


def test_a_sleigh_lands() -> None:
    m, I, a = 2.0, 0.3, 0.4
    v = struck(np.diag([m, m, I]), np.array([[0, 1, -a]]), np.array([0.7, 0.5, -0.3]))
    close(oracle.sleigh_lands(0.7, 0.5, -0.3, m, I, a), v[[0, 2]], 1e-15)


def test_pendulum() -> None:
    t, x = run(lambda x: [x[1], -9.81 * sin(x[0])], [1.5, 0.0], 5.0)
    for i in (800, 2000, 4000):
        swing = oracle.pendulum(t[i], 1.5)
        close([swing.theta, swing.omega], x[:, i], 1e-10)
        close(swing.omega**2 / 2 + 9.81 * (1 - cos(swing.theta)), swing.energy, 1e-13)
    swing = oracle.pendulum(1000.0, 1.5)
    close(swing.omega**2 / 2 + 9.81 * (1 - cos(swing.theta)), swing.energy, 1e-12)


# ── Guards that dip ─────────────────────────────────────────────────────────────────────────────────────────────────


def peg_guard(t: Any, dip: oracle.Dip) -> Any:
    return np.hypot(3 * t - oracle.peg_x(), 4 * t - 9.81 * t * t / 2 - dip.offset) - 0.01


def ceiling_guard(t: Any, dip: oracle.Dip) -> Any:
    return dip.offset + 0.01 * np.cos(60 * t) - 4.905 * t + 9.81 * t * t / 2


@pytest.mark.parametrize(("make", "guard"), [(oracle.ceiling, ceiling_guard), (oracle.peg, peg_guard)])
@pytest.mark.parametrize("depth", [1e-4, 1e-7, 1e-10])
def test_a_guard_dips_and_scipy_does_not_see_it(make: Any, guard: Any, depth: float) -> None:
    dip = make(depth)
    close([guard(t, dip) for t in (dip.enter, dip.leave)], 0, 1e-14)
    close(-guard(dip.lowest, dip), dip.depth, 1e-14)
    close(dip.depth, depth, 0, 0.12)
    t = np.linspace(0, 0.8, 100_001)
    outside = (t < dip.enter) | (t > dip.leave)
    assert np.all(guard(t[outside], dip) > 0)
    assert dip.leave - dip.enter < 5e-3 * sqrt(depth / 1e-4)
    done = solve_ivp(
        lambda _, x: [x[1], -9.81], (0, 0.8), [0, 4.0], "DOP853", events=lambda t, _: guard(t, dip), rtol=1e-10
    )
    assert not len(done.t_events[0])


@pytest.mark.parametrize(("make", "guard"), [(oracle.ceiling, ceiling_guard), (oracle.peg, peg_guard)])
def test_a_guard_that_just_stays_positive_is_no_event(make: Any, guard: Any) -> None:
    dip = make(-1e-9)
    assert dip.enter is None
    assert np.all(guard(dip.lowest + np.linspace(-1e-3, 1e-3, 10_001), dip) > 0)


# ── Jourdain ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_jourdain_finds_the_compass_gait() -> None:
    from jourdain.gallery.compass_gait import compass_gait

    ours, expected = compass_gait().gait(), oracle.compass_gait()
    state = [ours.coordinate["theta_st"], ours.velocity["theta_st"], ours.velocity["theta_sw"]]
    close(state, expected.state, 1e-10)
    close(ours.period, expected.period, 1e-10)
    close(ours.multipliers[:3], expected.multipliers, 1e-8)
    close(ours.multipliers[3:], 0, 1e-8)
