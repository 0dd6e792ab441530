"""Motion within and between topologies, against closed forms and an integration by other hands."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

import jourdain as jd
from cases import MOTIONS
from jourdain import gallery
from oracles import motion as oracle

t = dynamicsymbols._t
N, O = ReferenceFrame("N"), Point("O")
O.set_vel(N, 0)


def ball(**more: Any) -> tuple[jd.Mechanism, Any, Any]:
    """A particle of 2 kg in the x–y plane, x to the right, y up."""
    x, y = dynamicsymbols("x y")
    P = O.locatenew("P", x * N.x + y * N.y)
    made = jd.Mechanism.from_sympy([Particle("ball", P, 2.0)], N, [x, y], gravity=-9.81 * N.y, points={"P": P}, **more)
    return made, x, y


def pendulum() -> jd.Hybrid:
    """The same on a rod of 1 m: two coordinates, one constraint."""
    made, x, y = ball()
    rod = made.constraint("rod", x**2 + y**2 - 1, level="position")
    return jd.Hybrid(made, {"swing": [rod]})


# Equations of motion


def test_a_constrained_pendulum_keeps_energy_and_constraint_for_a_thousand_seconds() -> None:
    amplitude = 1.5
    q = {"x": np.sin(amplitude), "y": -np.cos(amplitude)}
    run = pendulum().simulate(q, until=1000.0, rtol=1e-12)
    energy = run.energy.kinetic + run.energy.potential
    assert np.max(np.abs(energy - energy[0])) < 1e-9 * np.abs(energy[0] + 2 * 9.81)  # above hanging
    assert np.max(np.abs(np.sum(run.q**2, axis=1) - 1)) < 1e-9
    assert np.max(np.abs(np.sum(run.q * run.v, axis=1))) < 1e-9
    times = np.array([0.37, 10.0, 99.9, 500.0])
    exact = [oracle.pendulum(one, amplitude) for one in times]
    found, rates = run.at(times)
    np.testing.assert_allclose(found[:, 0], [np.sin(one.theta) for one in exact], atol=1e-7)
    speeds = [one.omega * np.cos(one.theta) for one in exact]
    np.testing.assert_allclose(rates[:, 0], speeds, atol=3e-7)


def test_the_reaction_of_a_pendulum_is_its_tension() -> None:
    """λ of x² + y² − 1 = 0 acts along 2 (x, y): the tension is −2 λ."""
    run = pendulum().simulate({"x": np.sin(1.0), "y": -np.cos(1.0)}, until=3.0)
    exact = [oracle.pendulum(float(one), 1.0, m=2.0).tension for one in run.t]
    np.testing.assert_allclose(-2 * run.reaction["rod"], exact, rtol=1e-8)


def test_dense_evaluation_between_steps() -> None:
    run = pendulum().simulate({"x": np.sin(1.0), "y": -np.cos(1.0)}, until=5.0)
    times = np.linspace(0, 5, 777)
    q, v = run.at(times)
    exact = [oracle.pendulum(float(one), 1.0) for one in times]
    np.testing.assert_allclose(q[:, 0], [np.sin(one.theta) for one in exact], atol=3e-8)
    np.testing.assert_allclose(v[:, 1], [one.omega * np.sin(one.theta) for one in exact], atol=1e-7)
    with pytest.raises(jd.ShapeError, match="The run goes from 0 s to 5 s; ask for times in between"):
        run.at(5.1)


def spinning_top() -> tuple[jd.Mechanism, Any]:
    """A heavy symmetric top by quasi-velocities: angular velocities in axes of the body."""
    q = dynamicsymbols("psi theta phi")
    u = dynamicsymbols("u1 u2 u3")
    B = ReferenceFrame("B")
    B.orient_body_fixed(N, q, "zxz")
    C = O.locatenew("C", 0.3 * B.z)
    body = RigidBody("top", C, B, 1.5, (inertia(B, 0.02, 0.02, 0.01), C))
    omega = B.ang_vel_in(N)
    kinematics = {one: omega.dot(axis) for one, axis in zip(u, (B.x, B.y, B.z), strict=True)}
    made = jd.Mechanism.from_sympy([body], N, q, v=u, kinematics=kinematics, gravity=-9.81 * N.z)
    return made, kinematics


def test_quasi_velocities_keep_what_a_top_keeps() -> None:
    made, _ = spinning_top()
    run = jd.Hybrid(made, {"spin": []}).simulate({"theta": 0.6}, {"u1": 0.3, "u3": 40.0}, until=5.0, rtol=1e-12)
    energy = run.energy
    assert np.max(np.abs(energy.gap)) < 1e-9 * energy.potential[0]
    np.testing.assert_allclose(run.velocity["u3"], 40.0, rtol=1e-11)  # spin about its axis
    A, (theta, phi) = 0.02 + 1.5 * 0.3**2, (run.coordinate["theta"], run.coordinate["phi"])
    sideways = run.velocity["u1"] * np.sin(phi) + run.velocity["u2"] * np.cos(phi)
    vertical = A * np.sin(theta) * sideways + 0.01 * 40.0 * np.cos(theta)
    np.testing.assert_allclose(vertical, vertical[0], atol=1e-9)


def test_a_double_pendulum_against_lagrange_by_hand() -> None:
    """Forces as expressions and as Python functions; SciPy with equations written out."""
    a, b = dynamicsymbols("a b")
    P = O.locatenew("P", sp.sin(a) * N.x - sp.cos(a) * N.y)
    Q = P.locatenew("Q", sp.sin(b) * N.x - sp.cos(b) * N.y)
    bodies = [Particle("first", P, 1.0), Particle("second", Q, 0.5)]
    made = jd.Mechanism.from_sympy(bodies, N, [a, b], gravity=-9.81 * N.y)

    def slope(s: float, y: np.ndarray) -> np.ndarray:
        d, (w, z) = y[0] - y[1], y[2:]
        mass = np.array([[1.5, 0.5 * np.cos(d)], [0.5 * np.cos(d), 0.5]])
        force = [-0.5 * np.sin(d) * z * z - 1.5 * 9.81 * np.sin(y[0]) - 0.3 * w + 2 * np.sin(3 * s),
                 0.5 * np.sin(d) * w * w - 0.5 * 9.81 * np.sin(y[1]) - 4 * y[1]]  # fmt: skip
        return np.array([w, z, *np.linalg.solve(mass, force)])

    exact = solve_ivp(slope, (0, 4), [1.0, 0.5, 0, 0], "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    expressions = {a: -0.3 * a.diff() + 2 * sp.sin(3 * t), b: -4 * b}
    functions = {"a": lambda s, q, v: -0.3 * v[0] + 2 * np.sin(3 * s), "b": lambda s, q, v: -4 * q[1]}
    for forces in (expressions, functions):
        run = jd.Hybrid(made, {"swing": []}, forces=forces).simulate({"a": 1.0, "b": 0.5}, until=4.0)
        np.testing.assert_allclose([*run.q[-1], *run.v[-1]], exact, atol=1e-8)
        assert np.max(np.abs(run.energy.gap)) < 1e-8 * np.max(np.abs(run.energy.potential))


@pytest.mark.parametrize("method", ["Radau", "BDF"])
def test_stiff_forces(method: Any) -> None:
    """A particle on a rail in very thick oil: ẍ = −1e5 (ẋ − cos t)."""
    made, x, y = ball()
    rail = made.constraint("rail", y, level="position")
    thick = jd.Hybrid(made, {"on": [rail]}, forces={x: -2e5 * (x.diff() - sp.cos(t))})
    run = thick.simulate(until=3.0, method=method, rtol=1e-7)
    assert run.q[-1, 0] == pytest.approx(np.sin(3.0), abs=1e-4)
    assert run.v[-1, 0] == pytest.approx(np.cos(3.0), abs=2e-5)
    assert len(run.t) < 3000
    assert np.max(np.abs(run.q[:, 1])) < 1e-9
    np.testing.assert_allclose(run.reaction["rail"], 2 * 9.81, rtol=1e-9)


def test_a_support_that_moves_does_work() -> None:
    """A particle on a rail that goes up as ½ a t²: its reaction is m (g + a), and its work what the energy gains."""
    made, _, y = ball()
    lift = made.constraint("lift", y - 1.5 * t**2 / 2, level="position")
    run = jd.Hybrid(made, {"on": [lift]}).simulate(v={"x": 0.4}, until=2.0)
    np.testing.assert_allclose(run.reaction["lift"], 2 * (9.81 + 1.5), rtol=1e-12)
    np.testing.assert_allclose(run.coordinate["y"], 0.75 * run.t**2, atol=1e-12)
    np.testing.assert_allclose(run.energy.supports, 2 * (9.81 + 1.5) * 0.75 * run.t**2, atol=1e-9)
    assert np.max(np.abs(run.energy.gap)) < 1e-10


def test_redundant_rows_change_nothing() -> None:
    made, x, y = ball()
    rod, same = (
        made.constraint(name, k * (x**2 + y**2 - 1), level="position") for name, k in (("rod", 1), ("same", 3))
    )
    q = {"x": np.sin(1.0), "y": -np.cos(1.0)}
    once, twice = (jd.Hybrid(made, {"swing": held}).simulate(q, until=2.0) for held in ([rod], [rod, same]))
    np.testing.assert_allclose(twice.q[-1], once.q[-1], atol=1e-11)
    tension = twice.reaction["rod"] + 3 * twice.reaction["same"]
    np.testing.assert_allclose(tension[0], once.reaction["rod"][0], rtol=1e-9)


def test_a_model_of_your_own_in_casadi() -> None:
    """A pendulum by M, and gravity as a potential, as a force, or inside the bias: the same, and booked."""
    q, v, g = ca.SX.sym("q"), ca.SX.sym("v"), ca.SX.sym("g")
    ways: list[dict[str, Any]] = [
        {"potential": -2 * g * ca.cos(q)},
        {"force": -2 * g * ca.sin(q)},
        {"bias": 2 * g * ca.sin(q)},
    ]
    for given in ways:
        made = jd.Mechanism.from_casadi(q, v, 2 * ca.SX.eye(1), parameters={"g": 9.81}, **given)
        run = jd.Hybrid(made, {"swing": []}).simulate([1.0], until=3.0)
        assert run.q[-1, 0] == pytest.approx(oracle.pendulum(3.0, 1.0).theta, abs=1e-8)
        assert np.max(np.abs(run.energy.gap)) < 1e-8


# Topologies and events


@pytest.mark.parametrize("name", MOTIONS)
def test_the_energy_account_of_every_problem_closes(name: str) -> None:
    hybrid = getattr(gallery, name)()
    run = hybrid.simulate(until=min(hybrid.until, 10.0))
    energy = run.energy
    scale = np.max(np.abs(energy.kinetic)) + np.ptp(energy.potential)
    assert np.max(np.abs(energy.gap)) < 1e-8 * scale
    assert energy.events[-1] == pytest.approx(sum(energy.ledger.values()), abs=1e-12 * scale)
    assert len(run.events) > 0
    ds = run.to_dataset()
    assert ds.sizes["time"] == len(run.t)
    assert ds.sizes["event"] == len(run.events)
    assert ds.attrs["stopped"] == run.stopped


def test_a_ball_bounces_to_rest() -> None:
    for kappa in (0.0, 0.5, 0.8, 0.95):
        run = gallery.bouncing_ball().simulate(kappa=kappa, until=100.0)
        exact = oracle.bouncing_ball(1.0, kappa, impacts=5)
        assert [event.t for event in run.events[:5]] == pytest.approx(exact.times if kappa else [exact.times[0]] * 5)
        assert run.end == pytest.approx(exact.end, abs=1e-6)
        match = re.fullmatch(
            r"events pile up: the \d+ so far have their limit at ([\d.]+) s; what then stays.*", run.stopped
        )
        assert match
        assert float(match[1]) == pytest.approx(exact.end, abs=1e-6)


def test_a_block_rocks_as_housner_says() -> None:
    """To where its impacts pile up, each of which starts a hop that is shorter than a step."""
    run = gallery.rocking().simulate(until=20.0)  # from theta = 0.2
    assert run.coordinate["theta"][0] == 0.2
    half = 2 * np.sin(np.radians(15)), 2 * np.cos(np.radians(15))
    exact = oracle.rocking_block(*half, 0.2, impacts=110)
    times = [event.t for event in run.events]
    np.testing.assert_allclose(times[:110], exact.times, atol=1e-7)
    assert run.end == pytest.approx(exact.end, abs=1e-7)


def test_a_sleigh_lands_and_slides_as_chaplygin_says() -> None:
    hybrid = gallery.sliding_sleigh()
    M, I, l = 12.0, 2.0, 0.4
    run = hybrid.simulate()
    (landing,) = run.events
    assert landing.t == pytest.approx(np.sqrt(2 * 0.5 / 9.81), rel=1e-14)
    heading = 0.3 + 2.0 * landing.t
    v = np.array([1.0, 0.5])
    along, across = float(v @ [np.cos(heading), np.sin(heading)]), float(v @ [-np.sin(heading), np.cos(heading)])
    u, omega = oracle.sleigh_lands(along, across, 2.0, M, I, l)
    assert landing.after[8] == pytest.approx(omega, rel=1e-13)
    exact = oracle.sleigh(5.0 - landing.t, u, omega, M, I, l)
    assert run.velocity["theta"][-1] == pytest.approx(exact.omega, rel=1e-8)
    assert run.coordinate["theta"][-1] == pytest.approx(heading + exact.heading, rel=1e-9)
    blade = {"ice", "blade"}
    assert blade <= set(run.energy.ledger)


def test_a_particle_leaves_a_dome_where_it_should() -> None:
    """From the top with v: cos θ = (2 + v²/gR)/3; with v² ≥ gR at once, with v = 0 never (it stays)."""
    made, x, y = ball()
    dome = made.contact("dome", normal=sp.sqrt(x**2 + y**2) - 2, tangent=[], level="position")
    hybrid = jd.Hybrid(
        made, {"on": [dome], "off": []}, [jd.Switch("on", "off", jd.Reaction(dome), made.event(released=[dome]))]
    )
    for speed in (0.1, 1.0, 3.0):
        run = hybrid.simulate({"y": 2.0}, {"x": speed}, until=3.0)
        (lift,) = run.events
        assert lift.before[2] / 2 == pytest.approx((2 + speed**2 / (9.81 * 2)) / 3, abs=1e-10)
        assert np.nanmin(run.reaction["dome.normal"]) > -1e-9
        assert np.all(np.isnan(run.reaction["dome.normal"][run.t > lift.t]))
    fast = hybrid.simulate({"y": 2.0}, {"x": 5.0}, until=0.5)
    assert [event.t for event in fast.events] == [0.0]
    assert fast.q[-1] == pytest.approx([2.5, 2 - 9.81 / 8])
    assert hybrid.simulate({"y": 2.0}, until=1.0).events == []


def test_bodies_are_caught_by_a_tether_and_let_go() -> None:
    """Momentum and spin are kept throughout, energy but for the catch; it turns by 120° in between."""
    run = gallery.tether().simulate(until=60.0)
    m = np.array([400.0, 400.0, 150.0, 150.0])
    np.testing.assert_allclose((run.v * m)[:, [0, 2]].sum(axis=1), 300.0, rtol=1e-10)
    np.testing.assert_allclose((run.v * m)[:, [1, 3]].sum(axis=1), 300.0, rtol=1e-10)
    spin = np.sum(m[::2] * (run.q[:, ::2] * run.v[:, 1::2] - run.q[:, 1::2] * run.v[:, ::2]), axis=1)
    np.testing.assert_allclose(spin, spin[0], rtol=1e-9)
    taut, parted = run.events
    turned = [np.arctan2(e.before[4] - e.before[2], e.before[3] - e.before[1]) for e in (taut, parted)]
    assert np.degrees(turned[1] - turned[0]) % 360 == pytest.approx(120, abs=1e-7)
    assert dict(zip(run.hybrid.parameters, parted.parameters, strict=True))["psi_0"] == pytest.approx(turned[0])
    assert run.energy.ledger["line"] == pytest.approx(-taut.outcome.loss)


def test_a_pantograph_presses_on_a_wall_and_leaves_it() -> None:
    run = gallery.pantograph_at_wall().simulate()
    sides = [event.switch.target for event in run.events]
    assert sides == ["free", "wall"] * 4 + ["free"]
    assert np.nanmin(run.reaction["gap"]) > -1e-9
    first = run.events[0].t
    assert 0.05 * (0.6 + np.cos(10 * first)) == pytest.approx(0, abs=1e-3)  # about where the torque changes sign
    tip = [run.hybrid.mechanism.position("EE", q)[1] for q in run.q[::5]]
    assert np.max(tip) < 0.2252 + 1e-9


def test_the_event_of_a_switch_is_reported_in_full() -> None:
    run = gallery.compass_gait().simulate(until=1.0)
    outcome = run.events[0].outcome
    assert outcome.ok
    assert set(outcome.impulse) == {"strike", "stance"}
    assert run.events[0].lost == pytest.approx(outcome.loss)
    assert outcome.loss > 0


def test_parameters_and_names_change_at_a_switch() -> None:
    """A weight that is dropped, and coordinates that are turned by a quarter."""
    x, y = dynamicsymbols("x y")
    m = sp.Symbol("m")
    P = O.locatenew("P", x * N.x + y * N.y)
    made = jd.Mechanism.from_sympy([Particle("ball", P, m)], N, [x, y], parameters={m: 3.0})
    drop = jd.Switch("a", "b", guard=1 - x, parameters={m: m / 3}, relabel={x: -y, y: x})
    run = jd.Hybrid(made, {"a": [], "b": []}, [drop]).simulate(v={"x": 2.0, "y": 0.5}, until=1.0)
    assert run.events[0].t == pytest.approx(0.5)
    assert run.q[-1] == pytest.approx([-0.5, 2.0])
    assert run.v[-1] == pytest.approx([-0.5, 2.0])
    energy = run.energy
    assert energy.kinetic[[0, -1]] == pytest.approx([4.25 * 1.5, 4.25 * 0.5])
    assert energy.ledger["relabelling"] == pytest.approx(-4.25)
    assert np.max(np.abs(energy.gap)) < 1e-12


def test_contacts_that_push_and_lift_in_an_event() -> None:
    """A box lands flat on two corners, frictionless: the event decides, and the motion goes on from it."""
    x, y, a = dynamicsymbols("x y a")
    B = ReferenceFrame("B")
    B.orient_axis(N, a, N.z)
    C = O.locatenew("C", x * N.x + y * N.y)
    made = jd.Mechanism.from_sympy(
        [RigidBody("box", C, B, 1.0, (inertia(B, 0, 0, 0.1), C))], N, [x, y, a], gravity=-9.81 * N.y
    )
    corners = [C.locatenew(f"c{i}", s * 0.5 * B.x - 0.2 * B.y).pos_from(O) for i, s in enumerate((-1, 1))]
    feet = [
        made.contact(name, normal=r.dot(N.y), tangent=[], level="position")
        for name, r in zip(("left", "right"), corners, strict=True)
    ]
    law = jd.laws.Frictionless(0.5, "poisson")
    switches = [jd.Switch("flight", "flight", guard=foot, event=made.event(contacts={foot: law})) for foot in feet]
    run = jd.Hybrid(made, {"flight": []}, switches).simulate({"y": 1.0, "a": 0.1}, until=1.0)
    assert run.events[0].outcome.contact["left"].name == "HOLDS"
    assert {event.switch.guard.name for event in run.events} == {"left", "right"}
    heights = [min(corner.dot(N.y).subs({y: q[1], a: q[2]}) for corner in corners) for q in run.q]
    assert min(heights) > -1e-9
    assert np.max(np.abs(run.energy.gap)) < 1e-8
    assert "events pile up" in run.stopped  # one corner comes to rest while the box still turns


# Refusals


def test_states_off_the_constraints_are_refused_and_can_be_moved_onto_them() -> None:
    hybrid = pendulum()
    with pytest.raises(
        jd.OffConstraint, match=r"the position misses 'rod', which is on in 'swing', by .*hybrid.project"
    ):
        hybrid.simulate({"x": 1.1})
    with pytest.raises(jd.OffConstraint, match="the velocity misses 'rod'"):
        hybrid.simulate({"x": 1.0}, {"x": 0.3})
    for off in (1e-7, 1e-3):  # a position is measured by the size of positions, however fast it moves
        for y_rate in (0.0, 1.0, 1000.0):
            with pytest.raises(jd.OffConstraint, match="the position misses 'rod'"):
                hybrid.simulate({"x": 1.0 + off}, {"y": y_rate}, until=1e-6)
    for y_rate in (0.0, 1.0, 1000.0):
        hybrid.simulate({"x": 1.0 + 1e-10}, {"y": y_rate}, until=1e-6)  # within the tolerance
        with pytest.raises(jd.OffConstraint, match="the velocity misses 'rod'"):
            hybrid.simulate({"x": 1.0}, {"x": 1e-6 * (1 + y_rate), "y": y_rate}, until=1e-6)
    q, v = hybrid.project({"x": 1.1, "y": 0.1}, {"x": 0.3, "y": 1.0})
    assert q @ q == pytest.approx(1.0, abs=1e-14)
    assert q @ v == pytest.approx(0.0, abs=1e-14)
    assert len(hybrid.simulate(q, v, until=0.1).t) > 1


def test_a_topology_that_is_entered_off_its_constraints_is_refused() -> None:
    made, x, _ = ball()
    wall, far = (made.constraint(name, x - at, level="position") for name, at in (("wall", 1.0), ("far", 1.1)))
    for target, what in ((wall, "velocity misses 'wall'"), (far, "velocity misses 'far'")):
        hybrid = jd.Hybrid(made, {"free": [], "held": [target]}, [jd.Switch("free", "held", guard=1 - x)])
        with pytest.raises(jd.OffConstraint, match=rf"At t = 0.5 s the {what}.*the event of the switch must bring it"):
            hybrid.simulate(v={"x": 2.0}, until=1.0)


@pytest.mark.parametrize("second", [lambda y: y - t**2 / 2, lambda y: y - t**3, lambda y: 2 * y - sp.sin(t) ** 2])
def test_a_topology_that_over_constrains_the_motion_is_refused(second: Any) -> None:
    made, _, y = ball()
    rows = [made.constraint(name, g, level="position") for name, g in (("one", y), ("two", second(y)))]
    with pytest.raises(jd.Contradiction, match=r"'a' over-constrains the motion: 'one', 'two' cannot all hold at t = "):
        jd.Hybrid(made, {"a": rows}).simulate(until=2.0)


def test_forces_that_are_not_finite_are_reported_with_time_and_state() -> None:
    made, x, _ = ball()
    hybrid = jd.Hybrid(made, {"a": []}, forces={x: sp.sqrt(1 - t)})
    with pytest.raises(jd.NotFinite, match=r"cannot go on at t = (1|0\.99+\d*) s: .*\(x = 0\.\d+, y = -4.9"):
        hybrid.simulate(until=3.0)
    for method in ("Radau", "BDF"):
        with pytest.raises(jd.NotFinite, match=r"not finite at t = 1"):
            hybrid.simulate(until=3.0, method=method, rtol=1e-6)
    given = jd.Hybrid(made, {"a": []}, forces={x: lambda s, q, v: np.nan if s > 1 else 0.0})
    with pytest.raises(jd.NotFinite, match=r"not finite at t = 1"):
        given.simulate(until=3.0)
    with pytest.raises(jd.NotFinite, match="accelerations are not finite"):
        gallery.bouncing_ball().simulate(m=0.0)
    guarded = jd.Hybrid(made, {"a": []}, [jd.Switch("a", None, guard=sp.sqrt(1 - x) + 1)])
    with pytest.raises(
        jd.NotFinite, match=r"The guard sqrt\(1 - x\(t\)\) \+ 1 of 'a' is not finite after t = (1|0.99+)"
    ):
        guarded.simulate(v={"x": 1.0}, until=3.0)
    first = jd.Switch("a", None, guard=1 - x, name="there")  # what another is beyond it does not matter
    both = jd.Hybrid(made, {"a": []}, [first, jd.Switch("a", None, guard=2 + sp.sqrt(sp.Float(1.1) - x))])
    assert both.simulate(v={"x": 1.0}, until=3.0).end == pytest.approx(1.0)


def _wrong() -> list[tuple[Any, type[jd.Error], str]]:
    made, x, y = ball()
    rod = made.constraint("rod", x**2 + y**2 - 1, level="position")
    pair = made.constraint("pair", [x, y], level="position")
    slow = made.constraint("slow", x.diff())
    other, _, _ = ball()

    def of(**switch: Any) -> jd.Hybrid:
        return jd.Hybrid(made, {"a": [], "b": []}, [jd.Switch("a", "b", **switch)])

    free = jd.Hybrid(made, {"a": []})
    return [
        (lambda: jd.Hybrid(made, {}), jd.BadEvent, "topologies is a dict"),
        (lambda: jd.Hybrid(made, {"a": ["rud"]}), jd.UnknownName, "There is no constraint 'rud'; did you mean 'rod'"),
        (lambda: jd.Switch("a", "b", guard=x, direction=2), jd.BadEvent, "The direction of a switch is −1"),
        (lambda: jd.Hybrid(made, {"a": []}, [jd.Switch("a", "c", guard=x)]), jd.UnknownName, "no topology 'c'"),
        (lambda: jd.Switch("a", None, guard=x, relabel={x: y}), jd.BadEvent, "A switch without a target ends"),
        (lambda: of(guard=[x]).simulate(), jd.BadEvent, "A guard is one expression"),
        (lambda: of(guard=pair).simulate(), jd.BadEvent, "'pair' has 2 rows; a guard is one of them"),
        (lambda: of(guard=slow).simulate(), jd.BadEvent, "'slow' is no guard: it is at velocity level"),
        (lambda: of(guard="rid").simulate(), jd.UnknownName, "There is no constraint 'rid'"),
        (lambda: of(guard=jd.Reaction(rod)).simulate(), jd.UnknownName, "There is no row that is on in 'a' 'rod"),
        (lambda: of(guard=x, event=other.event()), jd.BadEvent, "is one of another mechanism"),
        (
            lambda: of(guard=1 - x, relabel={"z": x}).simulate(v={"x": 2.0}),
            jd.UnknownName,
            "There is no coordinate 'z'",
        ),
        (lambda: of(guard=jd.Reaction(rod), direction=0), jd.BadEvent, "A reaction lets go where it falls to 0"),
        (
            lambda: of(guard=1 - x, relabel={x: t}).simulate(v={"x": 2.0}),
            jd.BadEvent,
            "written in coordinates and param",
        ),
        (lambda: free.simulate(until=0.0), jd.BadEvent, "until is the time at which the run ends"),
        (lambda: free.simulate(until="x"), jd.BadEvent, "until is the time at which the run ends"),  # type: ignore[arg-type]
        (lambda: free.simulate(rtol=-1.0), jd.BadEvent, "rtol is a tolerance above 0, not -1.0"),
        (lambda: free.simulate(atol=np.nan), jd.BadEvent, "atol is a tolerance above 0, not nan"),
        (lambda: free.simulate(method="Euler"), jd.UnknownName, "There is no method 'Euler'"),  # type: ignore[arg-type]
        (lambda: free.simulate(max_events=0), jd.BadEvent, "max_events is how many events may happen"),
        (lambda: free.simulate(topology="z"), jd.UnknownName, "There is no topology 'z'"),
        (lambda: free.simulate({"x": np.nan}), jd.NotFinite, "'x' is nan at the start"),
        (lambda: free.simulate({"x": [1.0, 2.0]}), jd.ShapeError, "starts from one state, not from a batch"),
        (lambda: free.simulate(mass=3.0), jd.UnknownName, "There is no parameter 'mass'"),
        (lambda: jd.Hybrid(made, {"a": []}, forces={"z": x}), jd.UnknownName, "There is no velocity 'z'"),
        (lambda: jd.Hybrid(made, {"a": []}, defaults={"z": 1.0}), jd.UnknownName, "There is no parameter 'z'"),
        (
            lambda: jd.Hybrid(made, {"a": []}, forces={x: lambda s, q, v: None}).simulate(until=1.0),
            jd.BadEvent,
            r"The force along 'x' is None at t = 0 s; the function must give one number",
        ),
        (
            lambda: jd.Hybrid(made, {"a": []}, forces={x: lambda s, q, v: q}).simulate(until=1.0),
            jd.BadEvent,
            r"The force along 'x' is array\(",
        ),
        (lambda: free.gait(near=3), jd.BadEvent, r"near is a state \(q, v\) or a gait, not 3"),  # type: ignore[arg-type]
        (lambda: free.gait(), jd.BadEvent, r"near is a state \(q, v\) from which the gait is looked for"),
        (lambda: free.gait(near=({}, {}), steps=0), jd.BadEvent, "steps is how many steps the gait has"),
        (lambda: free.gait(near=({}, {})), jd.NotConverged, "No guard of 'a' is reached within 100 s"),
    ]


@pytest.mark.parametrize(("call", "kind", "message"), _wrong())
def test_mistakes_get_one_sentence(call: Any, kind: type[jd.Error], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


def test_a_guard_may_be_given_by_name() -> None:
    made, _, y = ball()
    floor = made.constraint("floor", y, level="position")
    hybrid = jd.Hybrid(made, {"flight": []}, [jd.Switch("flight", "flight", "floor", made.event(elastic={floor: 1.0}))])
    assert hybrid.simulate({"y": 1.0}, until=1.0).events[0].t == pytest.approx(np.sqrt(2 / 9.81))


def test_many_switches_at_one_instant_are_no_chatter() -> None:
    made, x, _ = ball()
    names = [f"s{i}" for i in range(15)]
    chain = [jd.Switch(a, b, guard=1 - x) for a, b in pairwise(names)]
    run = jd.Hybrid(made, {name: [] for name in names}, chain).simulate(v={"x": 2.0}, until=1.0)
    assert len(run.events) == 14
    assert run.end == 1.0


@pytest.mark.parametrize("gap", [1e-8, 1e-6, 1e-4, 1e-3])
@pytest.mark.parametrize("as_constraints", [True, False])
def test_the_earlier_of_two_guards_in_one_step(gap: float, as_constraints: bool) -> None:
    """A ball flies into a corner and meets the wall just before the floor."""
    made, x, y = ball()
    fall = np.sqrt(2 / 9.81)
    guards = [1 - x, y]
    events = []
    for name, g in zip(("wall", "floor"), guards, strict=True):
        c = made.constraint(name, g, level="position")
        events.append((c if as_constraints else g, made.event(elastic={c: 0.5})))
    switches = [jd.Switch("flight", "flight", guard=g, event=event) for g, event in reversed(events)]
    run = jd.Hybrid(made, {"flight": []}, switches).simulate({"y": 1.0}, {"x": (1 + gap) / fall}, until=1.2 * fall)
    assert [event.t for event in run.events] == pytest.approx([fall / (1 + gap), fall], abs=1e-12)
    assert run.v[-1, 0] == pytest.approx(-0.5 * (1 + gap) / fall)


def test_a_row_that_nearly_vanishes_on_the_way() -> None:
    """A floor written so that its row shrinks with x²: the reaction grows, and the motion stays as it is."""
    x, y, z = dynamicsymbols("x y z")
    P = O.locatenew("P", x * N.x + y * N.y + z * N.z)
    made = jd.Mechanism.from_sympy([Particle("bob", P, 1.0)], N, [x, y, z], gravity=-9.81 * N.z)
    floor = made.constraint("floor", z**3 + z * x**2, level="position")
    run = jd.Hybrid(made, {"on": [floor]}).simulate({"x": 1.0}, {"x": -1.0}, until=0.999)
    assert run.coordinate["x"][-1] == pytest.approx(0.001, abs=1e-9)
    assert np.max(np.abs(run.coordinate["z"])) < 1e-12
    np.testing.assert_allclose(run.reaction["floor"] * run.coordinate["x"] ** 2, 9.81, rtol=1e-6)


def test_threads_do_not_disturb_each_other() -> None:
    """One system, run from two threads at once."""
    hybrid = gallery.compass_gait()
    gait = hybrid.gait()
    starts = [gait.v * (1 + 0.003 * k) for k in range(16)]
    alone = [hybrid.simulate(gait.q, v, until=3.0).v[-1] for v in starts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda v: hybrid.simulate(gait.q, v, until=3.0).v[-1], starts * 4))
    np.testing.assert_array_equal(together, alone * 4)


@pytest.mark.parametrize("method", ["Radau", "BDF"])
@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
def test_curved_constraints_by_scipys_methods(method: Any, rtol: float) -> None:
    run = pendulum().simulate({"x": np.sin(1.0), "y": -np.cos(1.0)}, until=3.0, method=method, rtol=rtol)
    exact = oracle.pendulum(3.0, 1.0)
    assert run.coordinate["x"][-1] == pytest.approx(np.sin(exact.theta), abs=1e3 * rtol)
    assert np.max(np.abs(np.sum(run.q**2, axis=1) - 1)) < 1e-7


def test_events_at_the_end_of_the_time_and_the_last_of_all() -> None:
    """The state after the last event is part of the run, and so is its energy."""
    made, *_ = ball()
    half = jd.Hybrid(made, {"a": [], "b": []}, [jd.Switch("a", "b", guard=sp.Rational(1, 2) - t)])
    run = half.simulate(v={"x": 1.0}, until=0.5)
    assert run.at(0.5)[0] == pytest.approx([0.5, -9.81 / 8])
    assert [segment.topology for segment in run.segments] == ["a", "b"]
    once = gallery.bouncing_ball().simulate(until=5.0, max_events=1)
    assert once.stopped == "1 events"
    assert once.v[-1, 0] == pytest.approx(0.8 * np.sqrt(2 * 9.81))
    assert once.energy.events[-1] == pytest.approx(once.energy.ledger["floor"])
    assert np.max(np.abs(once.energy.gap)) < 1e-12
    short = gallery.bouncing_ball().simulate(until=4.0637127)
    assert short.end == 4.0637127


def test_a_gap_just_below_zero_is_on_its_guard() -> None:
    """What rounding may leave counts as on the floor; it never passes through."""
    for z in (-5e-9, -1e-10, 0.0, 1e-10):
        run = gallery.bouncing_ball().simulate({"z": z}, {"z": -1.0}, until=0.1)
        assert run.events[0].t == pytest.approx(0.0, abs=1e-8)
        assert run.velocity["z"][-1] == pytest.approx(0.8 - 0.981, abs=1e-6)
    with pytest.raises(jd.OffConstraint, match="'floor' is below 0 in 'flight'"):
        gallery.bouncing_ball().simulate({"z": -2e-8}, {"z": -1.0}, until=0.1)


def test_a_start_may_be_arrays() -> None:
    gait = gallery.compass_gait().gait()
    hybrid = jd.Hybrid(gait.hybrid.mechanism, gait.hybrid.topologies, gait.hybrid.switches, near=(gait.q, gait.v))
    assert hybrid.simulate(until=1.0).events[0].t == pytest.approx(gait.period, abs=1e-9)
