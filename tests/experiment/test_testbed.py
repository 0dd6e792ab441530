"""The virtual testbed: closed forms of compliant strikes, laws, and the way to the rigid event."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.special import beta as euler_beta

import jourdain as jd
from cases import puck
from jourdain.experiment import Sensors, Surface, Testbed

BARE = {"damping": 0.0, "friction": 0.0}


@cache
def pantograph(coordinates: Any = "minimal") -> jd.Scenario:
    return jd.gallery.pantograph(coordinates)


# Closed forms


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0])
def test_compression_of_a_particle_has_its_closed_form(exponent: float) -> None:
    """½ m u² = k δ^(n+1)/(n+1); it takes δ/u · B(1/(n+1), ½)/(n+1); momentum gives the impulse."""
    m, k, u = 0.7, 3e4, 0.4
    bed = Testbed(puck().event(inert=["floor.normal"]), Surface(k, exponent, **BARE))
    run = bed.run(v={"z": -u, "x": 0.1}, m=m, after=0.1)
    depth = ((exponent + 1) * m * u**2 / (2 * k)) ** (1 / (exponent + 1))
    time = depth / u * euler_beta(1 / (exponent + 1), 0.5) / (exponent + 1)
    assert run.end == pytest.approx(time, rel=1e-7)
    assert run.release == pytest.approx(2 * time, rel=1e-7)
    assert run.at(run.end)["q"][1] == pytest.approx(-depth, rel=1e-7)
    assert run.impulse["floor.normal"] == pytest.approx(m * u, rel=1e-8)
    assert run.impulse_contact["floor.normal"] == pytest.approx(2 * m * u, rel=1e-8)
    assert run.T_c_minus == pytest.approx(m * u**2 / 2)
    assert run.T_a_minus == pytest.approx(m * 0.1**2 / 2)


def test_sliding_friction_takes_its_share_of_the_normal_impulse() -> None:
    contact = puck().event(contacts={"floor": jd.laws.Coulomb("mu", 0.0)})
    run = Testbed(contact, Surface(1e5, friction=0.2, slip_speed=1e-6)).run(v={"z": -0.4, "x": 3.0}, mu=0.2)
    assert run.impulse["floor.tangent"] == pytest.approx(-0.2 * run.impulse["floor.normal"], rel=1e-9)
    assert run.force_rows == ("floor.normal", "floor.tangent")


def test_hunt_and_crossley_damping_takes_energy_as_they_found() -> None:
    """To first order e = 1 − (2/3) a u for F = k δⁿ (1 + a δ̇) [Hunt & Crossley 1975]."""
    a, u = 1e-2, 0.4
    run = Testbed(puck().event(inert=["floor.normal"]), Surface(1e5, damping=a, friction=0.0)).run(v={"z": -u})
    after = run.at(run.stop)["v"][1]
    assert after / u == pytest.approx(1 - 2 / 3 * a * u, abs=3 * (a * u) ** 2)


# Laws


def test_energy_is_kept_without_damping_friction_and_motors() -> None:
    run = Testbed(pantograph(), Surface(**BARE)).run(d=0.2, gamma=0.4, lead=0.1)
    states = [run.at(t) for t in (run.start, 0.0, run.stop)]
    energies = [run.rig.states(state["q"], state["v"])["T"] for state in states]
    np.testing.assert_allclose(energies, 0.01, rtol=1e-8)


def test_momentum_is_that_of_the_forces() -> None:
    """In coordinates of constant mass: Δ(m v) = impulses + push · time."""
    bed = Testbed(puck().event(inert=["floor.normal"], nonideal={"floor.tangent": "beta"}), Surface(5e4), push=2.0)
    run = bed.run(v={"z": -0.3, "x": 0.2}, beta=0.0)
    p = [run.impulse["floor.tangent"], run.impulse["floor.normal"]]
    np.testing.assert_allclose(0.7 * (run.v_plus - run.v_minus), p - np.array([0, 2.0 * run.end]), atol=1e-10)
    assert run.v_plus[1] == pytest.approx(0, abs=1e-9)


def test_the_strike_is_where_it_is_asked_for() -> None:
    run = Testbed(pantograph(), push=0.7).run(d=0.1, gamma=0.3, energy=0.02)
    q, v, _ = pantograph().state({"d": 0.1, "gamma": 0.3, "energy": 0.02})
    found = run.at(0.0)
    np.testing.assert_allclose(found["q"], q, rtol=1e-12)
    np.testing.assert_allclose(found["v"], v, rtol=1e-12)
    assert found["force"][0] == 0
    assert run.T_minus == pytest.approx(0.02)
    assert run.xi == pytest.approx(pantograph().solve(d=0.1, gamma=0.3).xi)
    assert (run.at(np.linspace(run.start, 0, 50))["force"] == 0).all()


def test_motors_that_push_hard_come_from_rest() -> None:
    run = Testbed(pantograph(), push=5.0).run()
    first = run.at(run.start)
    assert run.start > -0.15
    assert run.rig.states(first["q"], first["v"])["u"] == pytest.approx(0.1 * run.rig.states(
        run.at(0.0)["q"], run.v_minus)["u"], rel=1e-6)  # fmt: skip


# Towards the rigid event


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0])
@pytest.mark.parametrize(("d", "gamma"), [(0.2, 0.5), (0.05, 0.8), (0.15, -0.3)])
def test_compression_goes_to_the_event_at_the_order_of_the_contact_time(
    exponent: float, d: float, gamma: float
) -> None:
    """Depth and time of compression, and with them the distance of the outcomes, go as k^(−1/(n+1))."""
    limit = pantograph().solve(d=d, gamma=gamma).v_plus
    bed = Testbed(pantograph())
    stiffness = np.array([1e7, 1e8, 1e9])
    if exponent == 2.0:
        stiffness *= 1e3  # as stiff, so far as time goes
    runs = [replace(bed, surface=Surface(k, exponent, **BARE)).run(d=d, gamma=gamma, lead=0.01) for k in stiffness]
    distance = [np.linalg.norm(run.v_plus - limit) for run in runs]
    order = -np.diff(np.log(distance)) / np.log(10)
    np.testing.assert_allclose(order, 1 / (exponent + 1), rtol=0.02)


@pytest.mark.parametrize("friction", [0.05, 0.3, 1.5])
def test_a_rough_compliant_wall_goes_to_friction_inside_the_event(friction: float) -> None:
    """Slips, stops and sticks on the way: Coulomb's event has the same outcome in the limit."""
    mechanism = jd.gallery.pantograph().event.mechanism
    wall, slide, v = mechanism.find_constraint("wall"), mechanism.find_constraint("slide"), mechanism.symbols.v
    plate = mechanism.contact("plate", normal=wall.C @ v, tangent=[slide.C @ v], units="m/s")
    event = mechanism.event(contacts={plate: jd.laws.Coulomb("friction", 0.0)})
    q, v_minus, _ = pantograph().state({"d": 0.2, "gamma": 0.25})
    limit = event.solve(q, v_minus, friction=friction)
    surface = Surface(1e10, 1.0, damping=0.0, friction=friction, slip_speed=1e-6)
    run = Testbed(event, surface).run(q, v_minus, lead=0.01, friction=friction)
    np.testing.assert_allclose(run.v_plus, limit.v_plus, rtol=2e-4, atol=1e-5)
    np.testing.assert_allclose(list(run.impulse.values()), limit.impulse["plate"], rtol=2e-4)


# Other mechanisms


def test_loop_coordinates_strike_as_minimal_ones() -> None:
    runs = [Testbed(pantograph(kind), push=0.5).run(d=0.15, gamma=0.5) for kind in ("minimal", "loop")]
    for row in ("wall", "slide"):
        assert runs[1].impulse[row] == pytest.approx(runs[0].impulse[row], rel=1e-7)
    assert runs[1].end == pytest.approx(runs[0].end, rel=1e-7)
    np.testing.assert_allclose(runs[1].v_plus[[0, 2]], runs[0].v_plus, rtol=1e-6)


def test_what_is_released_holds_until_the_strike() -> None:
    walker = jd.gallery.walker()
    run = Testbed(walker, Surface(1e9, 1.0, **BARE | {"friction": 50.0}, slip_speed=1e-5)).run(lead=0.02, after=1e-3)
    stance = walker.event.mechanism.find_constraint("stance")
    before = run.at(-0.01)
    C, _ = stance.rows(
        before["q"], **{k: v for k, v in run.rig.parameters.items() if k in walker.event.mechanism.parameters}
    )
    np.testing.assert_allclose(C @ before["v"], 0, atol=1e-8)
    limit = walker.solve()
    assert run.impulse["heel.normal"] == pytest.approx(limit.impulse["heel"][0], rel=2e-3)
    np.testing.assert_allclose(run.v_plus, limit.v_plus, atol=5e-3)


def test_a_robot_strikes_too(tmp_path) -> None:
    """A free ball of a robot file falls on the ground; M is not constant in its axes, the answer is."""
    path = tmp_path / "ball.xml"
    path.write_text(
        "<mujoco><worldbody><body name='ball' pos='0 0 0'><freejoint name='free'/>"
        "<geom type='sphere' size='0.1' mass='2'/></body></worldbody></mujoco>"
    )
    ball = jd.load(str(path))
    event = ball.event(contacts={ball.contact("ball"): jd.laws.MoreauCoulomb(0.3, 0.0)})
    names = ball.symbols.v_names
    v = dict.fromkeys(names, 0.0) | {names[2]: -0.5, names[0]: 2.0}
    run = Testbed(event, Surface(1e5, friction=0.3)).run(v=v)
    (normal, *tangents) = run.impulse.values()
    assert normal == pytest.approx(2 * 0.5 + 2 * 9.81 * run.end, rel=1e-6)
    assert np.linalg.norm(tangents) == pytest.approx(0.3 * normal, rel=1e-3)


def test_forces_are_expressions_along_velocities_or_rows() -> None:
    q1 = sp.Symbol("l1")
    beds = [Testbed(pantograph(), push=0.6), Testbed(pantograph(), forces={"wall": -0.6 * q1 / q1})]
    runs = [bed.run(d=0.1, gamma=0.2) for bed in beds]
    assert runs[1].impulse["wall"] == pytest.approx(runs[0].impulse["wall"], rel=1e-9)
    torque = Testbed(pantograph(), forces={"q1": 0.02, "q3": -0.02}).run(d=0.0)
    assert torque.impulse["wall"] > Testbed(pantograph()).run(d=0.0).impulse["wall"]


# Sensors


def test_encoders_count_and_the_force_sensor_clips() -> None:
    run = Testbed(pantograph(), push=0.5).run(gamma=0.4)
    sensors = Sensors(rate=2000.0, resolution={"q1": 1e-3}, force_resolution=0.25, force_range=6.0, force_offset=0.5)
    made = run.record(sensors, seed=3)
    assert np.diff(made.t) == pytest.approx(5e-4)
    np.testing.assert_allclose(made.q[:, 0] / 1e-3, np.round(made.q[:, 0] / 1e-3), atol=1e-9)
    assert made.force[:, 0].max() == 6.0
    np.testing.assert_allclose(made.force / 0.25, np.round(made.force / 0.25), atol=1e-9)
    assert np.median(made.force[:50, 0]) == 0.5
    truth = run.at(made.t + run.start + (-run.start - made.onset))
    np.testing.assert_allclose(made.q[:, 1], truth["q"][:, 1], rtol=1e-12)


def test_a_seed_gives_the_same_log_and_none_no_noise() -> None:
    run = Testbed(pantograph()).run()
    one, same, other = (run.record(seed=seed) for seed in (4, 4, 5))
    np.testing.assert_array_equal(one.force, same.force)
    assert not np.array_equal(one.force[:50], other.force[:50])
    assert (run.record(seed=None).force[:100] == 0).all()


def test_logs_are_written_as_they_are_read(tmp_path) -> None:
    made = Testbed(pantograph()).run().record(Sensors(rates=True, rate_noise=1e-3), seed=1)
    for suffix in ("csv", "parquet"):
        path = tmp_path / f"log.{suffix}"
        made.write(path)
        log = jd.experiment.read(path, pantograph())
        np.testing.assert_array_equal(log.t, made.t)
        np.testing.assert_array_equal(log.q, made.q)
        np.testing.assert_array_equal(log.v, made.v)
        np.testing.assert_array_equal(log.forces["slide"], made.force[:, 1])
    assert list(made.frame()) == [
        "t [s]", "q.q1 [rad]", "q.q3 [rad]", "v.q1 [rad/s]", "v.q3 [rad/s]", "force.wall [N]", "force.slide [N]",
    ]  # fmt: skip


# Mistakes


@pytest.mark.parametrize(
    ("mistake", "text"),
    [
        (lambda: Surface(stiffness=0.0), "The stiffness of a surface is above 0, not 0.0."),
        (lambda: Surface(damping=-1.0), "The damping of a surface is not negative, but -1.0 is given."),
        (lambda: Sensors(rate=0.0), "The rate of the sensors is above 0 Hz"),
        (lambda: Sensors(force_noise=-1.0), "force_noise is not negative"),
        (lambda: Sensors(force_range=0.0), "The force_range is above 0 N"),
        (lambda: Testbed(pantograph()).run(lead=0.0), "lead and after are times in s, above 0"),
        (lambda: Testbed(pantograph()).run(gamma=np.pi), "'wall' does not close at the strike: u = 0.19"),
        (lambda: Testbed(pantograph()).run(gamma=[0.0, 0.1]), "one strike at a time"),  # type: ignore[arg-type]
        (lambda: Testbed(pantograph()).run(q=[0.1, 0.2]), "follows from its parameters; leave q and v out"),
        (lambda: Testbed(pantograph(), normal="slide").run(), "There is no struck row 'slide'"),
        (lambda: Testbed(pantograph(), forces={"q9": 1.0}).run(), "There is no velocity or row 'q9'"),
        (
            lambda: Testbed(pantograph(), Surface(1e-9)).run(),
            "The motion of the testbed stops|Compression has not ended",
        ),
        (lambda: Testbed(42).run(), "A log is that of an Event or a Scenario, not of int"),  # type: ignore[arg-type]
        (lambda: Testbed(puck().event(released=["floor"])).run(), "Nothing strikes in this event"),
        (lambda: Testbed(pantograph()).run().record(Sensors(resolution={"q7": 1.0})), "There is no coordinate 'q7'"),
    ],
)
def test_mistakes_are_told(mistake, text: str) -> None:
    with pytest.raises(jd.Error, match=text):
        mistake()
