"""Guards: found where they fall, however shortly, and not where they do not."""

from __future__ import annotations

from functools import partial
from typing import Any

import casadi as ca
import numpy as np
import pytest
import sympy as sp
from scipy.optimize import brentq
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, dynamicsymbols

import jourdain as jd
from jourdain.motion.locate import first_falls
from oracles import motion as oracle

t = dynamicsymbols._t


def ball() -> tuple[jd.Mechanism, Any, Any]:
    """A ball thrown in the x–y plane."""
    x, y = dynamicsymbols("x y")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    P = O.locatenew("P", x * N.x + y * N.y)
    made = jd.Mechanism.from_sympy([Particle("ball", P, 1.0)], N, [x, y], gravity=-9.81 * N.y)
    return made, x, y


def once(guard: Any, mechanism: jd.Mechanism, direction: int = -1) -> jd.Hybrid:
    """A motion that ends where the guard crosses 0."""
    return jd.Hybrid(
        mechanism, {"flight": []}, [jd.Switch("flight", None, guard=guard, direction=direction, name="there")]
    )


DEPTHS = [1e-4, 1e-7, 1e-10, 1e-13]


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("until", [0.8, 0.803, 8.0])
def test_a_ball_touches_a_ceiling_that_vibrates(depth: float, until: float) -> None:
    """Its parabola is one step: only the guard says that something happens, in one of many dips within that step."""
    made, _, y = ball()
    dip = oracle.ceiling(depth)
    run = once(dip.offset + 0.01 * sp.cos(60 * t) - y, made).simulate(v={"y": 4.905}, until=until)
    assert run.stopped == "there"
    assert run.end == pytest.approx(dip.enter, abs=1e-9 + 1e-15 / np.sqrt(depth))


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("until", [0.5, 0.8, 5.0])
def test_a_ball_grazes_a_peg(depth: float, until: float) -> None:
    made, x, y = ball()
    dip = oracle.peg(depth)
    guard = sp.sqrt((x - oracle.peg_x()) ** 2 + (y - dip.offset) ** 2) - 0.01
    run = once(guard, made).simulate(v={"x": 3.0, "y": 4.0}, until=until)
    assert run.stopped == "there"
    assert run.end == pytest.approx(dip.enter, abs=1e-9 + 1e-15 / np.sqrt(depth))


@pytest.mark.parametrize("miss", [1e-9, 1e-6, 1e-3])
def test_what_just_passes_is_no_event(miss: float) -> None:
    made, x, y = ball()
    dip, peg = oracle.ceiling(-miss), oracle.peg(-miss)
    ceiling = dip.offset + 0.01 * sp.cos(60 * t) - y
    assert once(ceiling, made).simulate(v={"y": 4.905}, until=0.8).end == 0.8
    guard = sp.sqrt((x - oracle.peg_x()) ** 2 + (y - peg.offset) ** 2) - 0.01
    assert once(guard, made).simulate(v={"x": 3.0, "y": 4.0}, until=0.6).end == 0.6


def test_scipy_misses_a_dip_that_is_found_here() -> None:
    """The near-grazing strike of the peg, with SciPy's own search on its own steps."""
    from scipy.integrate import solve_ivp

    dip = oracle.peg(1e-7)

    def guard(_: float, s: np.ndarray) -> float:
        return float(np.hypot(s[0] - oracle.peg_x(), s[1] - dip.offset) - 0.01)

    done = solve_ivp(
        lambda _, s: [s[2], s[3], 0, -9.81], (0, 0.5), [0, 0, 3.0, 4.0], "DOP853", events=guard, rtol=1e-10
    )
    assert not len(done.t_events[0])


def test_the_direction_of_a_crossing() -> None:
    """y = 1 is crossed upwards and then downwards."""
    made, _, y = ball()
    up, down = 4.905 / 9.81 + np.array([-1, 1]) * np.sqrt(4.905**2 - 2 * 9.81) / 9.81
    for direction, expected in ((1, up), (-1, down), (0, up)):
        run = once(y - 1, made, direction).simulate(v={"y": 4.905}, until=2.0)
        assert run.end == pytest.approx(expected, abs=1e-13)


def test_an_expression_that_starts_below_falls_only_after_it_has_risen() -> None:
    made, _, y = ball()
    run = once(y - 1, made).simulate(v={"y": -1.0}, until=0.5)
    assert run.end == 0.5
    assert run.q[-1, 1] == pytest.approx(-0.5 - 9.81 / 8)


def test_a_guard_of_time_and_one_of_velocity() -> None:
    made, _, y = ball()
    assert once(0.7 - t, made).simulate(v={"y": 1.0}, until=2.0).end == pytest.approx(0.7, abs=1e-15)
    assert once(y.diff(), made).simulate(v={"y": 1.0}, until=2.0).end == pytest.approx(1 / 9.81, abs=1e-15)


def test_the_first_of_several_guards_is_taken_and_those_at_one_instant_in_turn() -> None:
    made, x, y = ball()
    floor, wall = (made.constraint(name, g, level="position") for name, g in (("floor", y), ("wall", 2 - x)))
    box = jd.Hybrid(
        made,
        {"flight": []},
        [jd.Switch("flight", "flight", guard=c, event=made.event(elastic={c: 1.0})) for c in (floor, wall)],
    )
    fall = np.sqrt(2 / 9.81)  # from y = 1
    run = box.simulate({"y": 1.0}, {"x": 2 / fall}, until=1.5 * fall)  # both at once, in the corner
    assert [event.t for event in run.events] == pytest.approx([fall, fall], abs=1e-14)
    assert run.v[-1] == pytest.approx([-2 / fall, 9.81 * fall - 9.81 * 0.5 * fall], rel=1e-12)
    run = box.simulate({"y": 1.0}, {"x": 3 / fall}, until=1.5 * fall)
    assert [event.switch.guard.name for event in run.events] == ["wall", "floor"]


def test_a_start_on_the_guard() -> None:
    """Rising it leaves, sinking it strikes at once, at rest it stays and says so; a gap below 0 is refused."""
    bouncing = jd.gallery.bouncing_ball()
    assert bouncing.simulate({"z": 0.0}, {"z": 2.0}, until=0.3).events == []
    struck = bouncing.simulate({"z": 0.0}, {"z": -2.0}, until=0.1)
    assert [event.t for event in struck.events] == [0.0]
    assert struck.v[-1] == pytest.approx([1.6 - 0.981])
    rests = bouncing.simulate({"z": 0.0}, {"z": 0.0}, until=1.0)
    assert "events pile up" in rests.stopped
    assert "needs a topology in which it is on" in rests.stopped
    assert rests.q[-1] == [0.0]
    for speed in (3.0, -1.0):
        with pytest.raises(jd.OffConstraint, match=r"At t = 0 s 'floor' is below 0 in 'flight', beyond its guard"):
            bouncing.simulate({"z": -0.1}, {"z": speed}, until=0.3)


@pytest.mark.parametrize("speed", [1e-2, 1e-5, 1e-8, 1e-11])
def test_a_hop_much_shorter_than_a_step(speed: float) -> None:
    bouncing = jd.gallery.bouncing_ball()
    run = bouncing.simulate({"z": 0.0}, {"z": speed}, until=1.0, max_events=3)
    flights = 2 * speed / 9.81 * np.cumsum(0.8 ** np.arange(3))
    assert [event.t for event in run.events] == pytest.approx(flights, rel=1e-9)
    assert run.q.min() > -1e-9 * speed


def test_a_foot_that_scuffs_strikes_after_it_has_risen() -> None:
    """sin t starts on 0 and is below at first for −t; after_rising waits until it has been above."""
    q, v = ca.SX.sym("q"), ca.SX.sym("v")
    made = jd.Mechanism.from_casadi(q, v, ca.SX.eye(1))
    for after_rising, expected in ((False, 0.0), (True, 2 * np.pi)):
        switch = jd.Switch("on", None, guard=-ca.sin(made.symbols.t), after_rising=after_rising, name="there")
        run = jd.Hybrid(made, {"on": []}, [switch]).simulate(until=10.0)
        assert run.end == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("w", [15.0, 22.0, 28.0, 40.0])
def test_a_particle_on_a_table_that_shakes(w: float) -> None:
    """It lifts where the table sinks faster than it falls, and lands; where the reaction would pull it goes on at once.

    In flight one step spans many swings of the table, and the hop may begin without speed.
    """
    made, _, y = ball()
    table = made.constraint("table", y - 0.05 * sp.sin(w * t), level="position")
    lift = jd.Switch("on", "off", guard=jd.Reaction(table), event=made.event(released=[table]))
    land = jd.Switch("off", "on", guard=table, after_rising=True, event=made.event(inert=[table]))
    run = jd.Hybrid(made, {"on": [table], "off": []}, [lift, land]).simulate(v={"y": 0.05 * w}, until=3.0)
    now, expected = 0.0, []
    while now < 3.0:
        falls = 9.81 - 0.05 * w**2 * np.sin(w * now)
        if falls >= 0:  # held until the table sinks with g
            first = np.arcsin(9.81 / (0.05 * w**2)) / w
            now = first + 2 * np.pi / w * np.ceil((now - first) * w / (2 * np.pi) - 1e-12)
        expected.append(now)
        z, v, start = 0.05 * np.sin(w * now), 0.05 * w * np.cos(w * now), now

        def gap(s: Any, z: float = z, v: float = v, start: float = start) -> Any:
            return z + v * (s - start) - 9.81 / 2 * (s - start) ** 2 - 0.05 * np.sin(w * s)

        fine = start + np.linspace(2e-4, 1.0, 100_001)
        i = int(np.argmax(gap(fine) < 0))
        now = brentq(gap, fine[i - 1], fine[i], xtol=1e-15)
        expected.append(now)
    np.testing.assert_allclose([event.t for event in run.events], [one for one in expected if one < 3], atol=1e-9)


def test_a_bead_that_leaves_a_ball_does_not_strike_it_again() -> None:
    """Where the reaction has fallen to 0, gap, rate and acceleration are 0 up to rounding; only then does it rise."""
    x, y, u, w = (ca.SX.sym(name) for name in "xyuw")
    bead = jd.Mechanism.from_casadi(ca.vertcat(x, y), ca.vertcat(u, w), ca.SX.eye(2), potential=9.81 * y)
    on = bead.constraint("ball", ca.sqrt(x**2 + y**2) - 1, level="position")
    lift = jd.Switch("on", "off", guard=jd.Reaction(on))
    land = jd.Switch("off", "on", guard=on, event=bead.event(inert=[on]))
    hybrid = jd.Hybrid(bead, {"on": [on], "off": []}, [lift, land])
    for speed in np.linspace(0.1, 2.5, 49):
        run = hybrid.simulate([0, 1], [speed, 0], until=2.0)
        assert len(run.events) == 1, speed
        assert run.events[0].before[2] == pytest.approx((2 + speed**2 / 9.81) / 3, abs=1e-9)


# The search itself

LOOKS = np.linspace(0, 1, 9)


def fall(guard: Any, leaving: bool = False, rising: bool = False) -> float:
    """Where one guard of x falls, sharpened; derivatives by complex steps."""

    def look(which: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return guard(x), np.imag(guard(x + 1e-30j)) / 1e-30

    values, slopes = (np.atleast_2d(part) for part in look(None, LOOKS))
    x = first_falls(values, slopes, np.zeros(1), np.array([leaving]), np.array([rising]), look)[0]
    if not 0 < x < 1:
        return float(x)
    for _ in range(20):
        value, slope = look(None, np.array([x]))
        x -= float(value[0] / slope[0])
    return float(x)


def polynomial(*roots: float, sign: float = 1.0) -> Any:
    return lambda x: sign * np.prod([np.asarray(x) - root for root in roots], axis=0)


@pytest.mark.parametrize(
    ("guard", "leaving", "rising", "expected"),
    [
        (polynomial(0.3), False, False, 0.0),  # it starts below
        (polynomial(0.3, sign=-1.0), False, False, 0.3),
        (polynomial(0.3), True, False, np.inf),
        (polynomial(0.5, 0.5 + 1e-5), False, False, 0.5),
        (
            lambda x: np.asarray(x) * (0.02 - np.asarray(x)) * (30 * (np.asarray(x) - 0.03) ** 2 + 0.01),
            True,
            True,
            0.02,
        ),
        (lambda x: np.asarray(x) ** 2 * (0.05 - np.asarray(x)), True, False, 0.05),
        (polynomial(0.2, 0.4, 0.5, 0.6, 0.9, sign=-1.0), False, False, 0.2),
        (polynomial(0.2, 0.4, 0.5, 0.6, 0.9), True, False, 0.4),
        (lambda x: polynomial(0.5, 0.5)(x) + 1e-12, False, False, np.inf),
        (polynomial(0, 1e-6, sign=-1.0), True, True, 1e-6),
        (polynomial(0, 1e-16, sign=-1.0), True, True, 0.0),
        (lambda x: -np.asarray(x) * np.asarray(x), True, True, 0.0),  # at rest, and pulled down
        (polynomial(0, 0.4), True, False, np.inf),
        (lambda x: np.cos(200 * np.asarray(x)) + 0.9999, False, False, np.arccos(-0.9999) / 200),
        (lambda x: np.sqrt((np.asarray(x) - 0.37) ** 2 + 1e-8) - 1.0001e-4, False, False, 0.37 - 1.4142e-6),
        (lambda x: 1e-3 + 0 * np.asarray(x), False, False, np.inf),
    ],
)
def test_where_a_guard_first_falls(guard: Any, leaving: bool, rising: bool, expected: float) -> None:
    assert fall(guard, leaving, rising) == pytest.approx(expected, abs=1e-8)


def test_random_guards_against_their_roots(rng: np.random.Generator) -> None:
    """Polynomials of order 7, some with steep ends: the first root, or none."""
    crossings = 0
    for _ in range(3000):
        coefficients = rng.normal(size=8) * rng.choice([1.0, 0.3, 0.1]) ** np.arange(8)
        guard = np.polynomial.chebyshev.Chebyshev(coefficients, domain=[0, 1])
        if guard(0.0) <= 0:
            guard = -guard
        roots = guard.roots()
        real = np.sort(roots.real[(np.abs(roots.imag) < 1e-12) & (roots.real > 0) & (roots.real < 1)])
        expected = real[0] if len(real) else np.inf
        crossings += len(real) > 0
        assert fall(guard) == pytest.approx(expected, abs=1e-7)
    assert crossings > 1000


def test_many_guards_at_once_are_as_one_by_one(rng: np.random.Generator) -> None:
    guards = [np.polynomial.chebyshev.Chebyshev(rng.normal(size=6), domain=[0, 1]) for _ in range(300)]
    leaving = rng.random(300) < 0.5

    def look(which: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pairs = [(guards[i](one), guards[i].deriv()(one)) for i, one in zip(which, x, strict=True)]
        return tuple(np.array(pairs).reshape(-1, 2).T)  # type: ignore[return-value]

    def shifted(i: int, which: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return look(which + i, x)

    values, slopes = (np.array([one(LOOKS) for one in some]) for some in (guards, [g.deriv() for g in guards]))
    together = first_falls(values, slopes, np.zeros(300), leaving, np.zeros(300, dtype=bool), look)
    for i, x in enumerate(together):
        alone = first_falls(
            values[i : i + 1], slopes[i : i + 1], np.zeros(1), leaving[i : i + 1], np.zeros(1, dtype=bool),
            partial(shifted, i),
        )  # fmt: skip
        assert alone[0] == x
