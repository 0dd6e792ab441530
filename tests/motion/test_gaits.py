"""Gaits, their stability, branches and basins, against models by other hands (`motion_oracle`)."""

from __future__ import annotations

from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, dynamicsymbols

import jourdain as jd
from jourdain import gallery
from jourdain.motion.basin import LOST
from jourdain.motion.gait import StepMap
from jourdain.motion.settings import Settings
from oracles import motion as oracle

SHORT = ({"theta": 0.1939, "phi": 0.3878}, {"theta": -0.2039, "phi": -0.0151})  # near the simplest walker's short gait


@cache
def system(name: str) -> jd.Hybrid:
    return getattr(gallery, name)()


def state(gait: Any, *names: str) -> list[float]:
    """The angle of the first, then the rates of all."""
    return [gait.coordinate[names[0]], *(gait.velocity[name] for name in names)]


@pytest.mark.parametrize(
    ("name", "names", "expected"),
    [
        ("compass_gait", ("theta_st", "theta_sw"), oracle.compass_gait),
        ("kneed_walker", ("stance_thigh", "swing_thigh"), oracle.kneed_gait),
    ],
)
def test_walkers_with_legs_of_mass(name: str, names: tuple[str, ...], expected: Any) -> None:
    """The stance foot is a constraint here, and left out there."""
    gait, exact = system(name).gait(), expected()
    np.testing.assert_allclose(state(gait, *names), exact.state, atol=1e-10)
    assert gait.period == pytest.approx(exact.period, abs=1e-10)
    np.testing.assert_allclose(gait.multipliers[: len(exact.multipliers)], exact.multipliers, atol=1e-8)
    np.testing.assert_allclose(gait.multipliers[len(exact.multipliers) :], 0, atol=1e-8)
    assert gait.stable
    assert "stable" in str(gait)
    phases = np.diff([0.0, *(event.t for event in gait.trajectory.events)])
    np.testing.assert_allclose(phases, exact.durations, atol=1e-10)


@pytest.mark.parametrize("name", ["long", "short"])
def test_both_gaits_of_the_simplest_walker(name: str) -> None:
    gait = system("simplest_walker").gait(near=SHORT if name == "short" else None)
    exact, limit = oracle.footed_gait(name), oracle.simplest_gait(name)
    theta, omega, swing = exact.state
    np.testing.assert_allclose(
        state(gait, "theta", "phi"), [theta, omega, omega - swing], atol=1e-9
    )  # phi: the stance leg's angle less the swing leg's
    np.testing.assert_allclose([gait.coordinate["theta"], gait.velocity["theta"]], limit.state, atol=1e-9)
    assert gait.period == pytest.approx(limit.period, abs=1e-8)
    np.testing.assert_allclose(gait.multipliers[:2], limit.multipliers, rtol=1e-7)
    assert gait.stable == (name == "long")


def test_the_numbers_of_the_simplest_walker() -> None:
    gait = system("simplest_walker").gait()
    assert gait.coordinate["theta"] == pytest.approx(0.200310900544, abs=1e-9)
    assert gait.velocity["theta"] == pytest.approx(-0.199832473005, abs=1e-9)
    assert gait.period == pytest.approx(3.88246375, abs=1e-8)
    np.testing.assert_allclose(gait.multipliers[:2], [-0.1900998 + 0.5575988j, -0.1900998 - 0.5575988j], atol=1e-7)


@pytest.mark.parametrize(("slope", "push"), [(0.08, 0.0), (0.08, 0.3), (0.0, 0.6), (0.03, 0.5)])
def test_a_rimless_wheel_and_its_push_off(slope: float, push: float) -> None:
    """Kuo's closed forms; the work of the push-off is ½ P², as it comes before the strike."""
    exact = oracle.rimless(slope=slope, push_off=push)
    gait = system("rimless_wheel").gait(near=({"theta": -np.pi / 8}, {"theta": 1.3}), slope=slope, push=push)
    assert gait.velocity["theta"] == pytest.approx(exact.omega_plus, abs=1e-10)
    assert gait.multipliers[0].real == pytest.approx(exact.multiplier, abs=1e-9)
    assert gait.period == pytest.approx(exact.period, abs=1e-10)
    ledger = gait.trajectory.energy.ledger
    assert ledger["impulse hub"] == pytest.approx(exact.push_off_work, abs=1e-12)
    assert ledger["downhill"] == pytest.approx(-exact.loss, abs=1e-10)


def test_a_wheel_that_is_too_slow_rocks_to_rest() -> None:
    run = system("rimless_wheel").simulate({"theta": -np.pi / 8}, {"theta": 0.3})
    assert "events pile up" in run.stopped
    assert abs(run.coordinate["theta"][-1]) == pytest.approx(np.pi / 8, abs=1e-9)


def test_round_feet_keep_angular_momentum_about_where_they_touch() -> None:
    """At the strike: that of all about the new contact, and of the rear leg about the hip; the contact is carried."""
    hybrid = system("round_foot_walker")
    gait = hybrid.gait()
    (event,) = gait.trajectory.events
    R, l, a, m, m_H = 0.2, 1.0, 0.5, 5.0, 10.0
    before, after = event.before, event.outcome.v_plus
    st, sw = before[3], before[4]

    def moving(v: Any) -> list[tuple[float, Any, Any]]:
        """(mass, position, velocity) of the two legs' masses and the hip."""
        up, to = (lambda th: np.array([-np.sin(th), np.cos(th)])), (lambda th: np.array([-np.cos(th), -np.sin(th)]))
        centre = np.array([before[1] - R * st, before[2] + R])
        hip = centre + (l - R) * up(st)
        v_hip = np.array([v[0] - R * v[2], v[1]]) + (l - R) * to(st) * v[2]
        legs = [(m, hip - (l - a) * up(th), v_hip - (l - a) * to(th) * w) for th, w in ((st, v[2]), (sw, v[3]))]
        return [*legs, (m_H, hip, v_hip)]

    def spin(parts: Any, about: Any) -> float:
        arms = [(mass, r - about, v) for mass, r, v in parts]
        return sum(mass * (r[0] * v[1] - r[1] * v[0]) for mass, r, v in arms)

    old, new = moving(before[5:9]), moving(after)
    hip = old[2][1]
    touch = hip - (l - R) * np.array([-np.sin(sw), np.cos(sw)]) - [0, R]
    assert spin(new, touch) == pytest.approx(spin(old, touch), abs=1e-12)
    assert spin(new[:1], hip) == pytest.approx(spin(old[:1], hip), abs=1e-12)
    fore = new[2][2] - (l - R) * np.array([-np.cos(sw), -np.sin(sw)]) * after[3] + [after[3] * R, 0]
    np.testing.assert_allclose(fore, 0, atol=1e-12)  # the point of the foot that touches is at rest
    assert event.before[2] == pytest.approx(0, abs=1e-12)


def test_the_torso_walker_walks_on_feet_that_press() -> None:
    gait = system("torso_walker").gait()
    assert gait.stable
    assert np.nanmin(gait.trajectory.reaction["sole.normal"]) > 0
    outcome = gait.trajectory.events[0].outcome
    assert outcome.impulse["strike.normal"] > 0
    assert outcome.u_plus["sole.normal"] > 0  # the rear foot lifts


# The step map and its derivative


LEGS = {
    "compass_gait": (("theta_st", "theta_sw"),),
    "round_foot_walker": (("theta_st", "theta_sw"),),
    "kneed_walker": (("stance_thigh", "swing_thigh"), ("stance_shank", "swing_shank")),
}


@pytest.mark.parametrize("name", LEGS)
def test_the_derivative_of_a_step_is_that_of_differences(name: str) -> None:
    """By the state, with both feet on the ground as after a strike, and by the slope; fourth order."""
    hybrid = system(name)
    gait = hybrid.gait()
    settings, p = Settings(1e-13, 1e-13), np.array(list(gait.parameters.values()))
    x = np.concatenate([gait.q, gait.v])
    step_map = StepMap(hybrid, gait.topology, 1, settings)
    step = step_map(x, p)
    names = hybrid.mechanism.symbols.q_names
    direction = np.zeros(len(x))
    for stance, swing in LEGS[name]:
        at = [names.index(stance), names.index(swing)]
        direction[at] = 0.6, -0.6
        direction[[hybrid.n_q + i for i in at]] = 0.8, -0.5

    def after(z: Any, numbers: Any) -> Any:
        return step_map(z, numbers, slopes=False).after

    size = 1e-4
    ends = [after(x + k * size * direction, p) for k in (-2, -1, 1, 2)]
    expected = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * size)
    np.testing.assert_allclose(step.by_state @ direction, expected, atol=1e-7)
    slope = list(hybrid.parameters).index("slope")
    shifted = [after(x, p + k * size * np.eye(len(p))[slope]) for k in (-2, -1, 1, 2)]
    expected = (shifted[0] - 8 * shifted[1] + 8 * shifted[2] - shifted[3]) / (12 * size)
    np.testing.assert_allclose(step.by_parameters[:, slope], expected, atol=2e-6)


def compass_in_two_angles() -> jd.Hybrid:
    """The compass walker without coordinates of the foot, up to the strike."""
    st, sw = q = dynamicsymbols("st sw")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    up = lambda angle: -sp.sin(angle) * N.x + sp.cos(angle) * N.y  # noqa: E731
    hip = O.locatenew("hip", up(st))
    bodies = [Particle("a", O.locatenew("A", up(st) / 2), 5.0), Particle("b", hip.locatenew("B", -up(sw) / 2), 5.0)]
    slope = sp.Symbol("slope")
    made = jd.Mechanism.from_sympy(
        [*bodies, Particle("h", hip, 10.0)], N, q, parameters={slope: np.radians(3)},
        gravity=9.81 * (sp.sin(slope) * N.x - sp.cos(slope) * N.y),
    )  # fmt: skip
    return jd.Hybrid(made, {"stance": []}, [jd.Switch("stance", None, st + sw, after_rising=True, name="strike")])


def test_the_swing_without_a_constraint_is_the_same() -> None:
    """From the gait's start to the strike: two coordinates against four with the stance foot held."""
    gait = system("compass_gait").gait()
    free = compass_in_two_angles().simulate(gait.q[2:], gait.v[2:], until=2.0, rtol=1e-12)
    assert free.stopped == "strike"
    assert free.end == pytest.approx(gait.period, abs=1e-11)
    np.testing.assert_allclose(free.v[-1], gait.trajectory.events[0].before[7:9], atol=1e-10)


def test_a_gait_of_two_steps_beyond_the_flip() -> None:
    hybrid = system("compass_gait")
    twice = hybrid.gait(near=({"theta_st": 0.299, "theta_sw": -0.299}, {"theta_st": -1.155, "theta_sw": -0.151}),
                        steps=2, slope=np.radians(4.8))  # fmt: skip
    exact = oracle.gait(oracle.repeated(oracle.compass_step(6), 2), [0.299, -1.155, -0.151], [0.71, 0.79],
                        np.radians(4.8))  # fmt: skip
    np.testing.assert_allclose(state(twice, "theta_st", "theta_sw"), exact.state, atol=1e-9)
    np.testing.assert_allclose(twice.multipliers[:3], exact.multipliers, atol=1e-7)
    assert twice.stable
    theta, omega, swing = oracle.compass_gait(4.8).state
    single = hybrid.gait(near=({"theta_st": theta, "theta_sw": -theta}, {"theta_st": omega, "theta_sw": swing}),
                         slope=np.radians(4.8))  # fmt: skip
    assert not single.stable
    with pytest.raises(jd.NotConverged, match="Of 2 steps only the gait that repeats after 1 was found"):
        hybrid.gait(steps=2)


# Branches


def test_the_compass_gait_doubles_its_period_where_it_should() -> None:
    hybrid, (first, second) = system("compass_gait"), oracle.compass_flips()
    branch = hybrid.continuation(hybrid.gait(), slope=np.radians([0.5, 2.0, 3.5, 5.0]))
    (flip,) = branch.bifurcations
    assert flip.kind == "flip"
    assert flip.value == pytest.approx(first.parameter, abs=1e-8)
    assert flip.within < 1e-7
    assert flip.gait.multipliers[0].real == pytest.approx(-1, abs=1e-6)
    values = [gait.parameters["slope"] for gait in branch.gaits]
    assert set(np.radians([0.5, 2.0, 3.5, 5.0])) <= set(values)
    assert sorted(values) == values
    assert branch.ended == ("the end of the range", "the end of the range")
    twice = hybrid.gait(near=({"theta_st": 0.299, "theta_sw": -0.299}, {"theta_st": -1.155, "theta_sw": -0.151}),
                        steps=2, slope=np.radians(4.8))  # fmt: skip
    doubled = hybrid.continuation(twice, slope=np.radians([4.6, 5.0]))
    assert [b.kind for b in doubled.bifurcations] == ["flip"]
    assert doubled.bifurcations[0].value == pytest.approx(second.parameter, abs=1e-8)
    ds = branch.to_dataset()
    assert ds["slope"].attrs["units"] == "rad"
    assert ds["theta_st_rate"].attrs["units"] == "rad/s"
    assert ds.sizes["point"] == len(branch.gaits)


def test_the_simplest_walker_flips_and_does_not_fold() -> None:
    hybrid = system("simplest_walker")
    long = hybrid.continuation(hybrid.gait(), slope=[1e-4, 0.03])
    assert [b.kind for b in long.bifurcations] == ["flip"]
    assert long.bifurcations[0].value == pytest.approx(oracle.simplest_flip().parameter, abs=1e-8)
    short = hybrid.continuation(hybrid.gait(near=SHORT), slope=[1e-4, 0.1])
    assert short.bifurcations == []
    for name, branch in (("long", long), ("short", short)):
        for gait in (branch.gaits[0], branch.gaits[-1]):
            exact = oracle.simplest_gait(name, gait.parameters["slope"])
            assert gait.coordinate["theta"] == pytest.approx(exact.state[0], abs=1e-7)


def test_a_branch_does_not_jump_to_another_gait_close_by() -> None:
    """With g the long gait only changes its pace; the short one is 0.006 rad away."""
    hybrid = system("simplest_walker")
    gait = hybrid.gait()
    branch = hybrid.continuation(gait, g=[0.2, 5.0])
    for one in branch.gaits:
        assert one.coordinate["theta"] == pytest.approx(gait.coordinate["theta"], abs=1e-8)
        assert one.period == pytest.approx(gait.period / np.sqrt(one.parameters["g"]), rel=1e-7)


def mapped(step: Any, n_rows: int = 1) -> tuple[jd.Hybrid, str]:
    """A conveyor at speed 1 that maps its other coordinate, a → step(a, μ), every second; and the name of a."""
    q, v, mu = ca.SX.sym("q", 2), ca.SX.sym("v", 2), ca.SX.sym("mu")
    made = jd.Mechanism.from_casadi(q, v, ca.SX.eye(2), parameters=[(mu, 0.5)])
    x, a = made.symbols.q_names
    rows = [made.constraint("pace", v[0] - 1), *(made.constraint(f"still{i}", v[1]) for i in range(n_rows))]
    switch = jd.Switch("on", "on", guard=1 - q[0], relabel={x: q[0] - 1, a: step(q[1], mu)})
    return jd.Hybrid(made, {"on": rows}, [switch]), a


def logistic() -> jd.Hybrid:
    return mapped(lambda a, mu: mu - a * a)[0]


def test_folds_are_passed_and_located() -> None:
    """a → μ − a²: a fold at μ = −1/4, a flip at 3/4, where a gait of two steps branches off that flips at 5/4."""
    hybrid = logistic()
    gait = hybrid.gait(near=([0.0, 0.4], [1.0, 0.0]))
    assert gait.q[1] == pytest.approx((np.sqrt(3) - 1) / 2, abs=1e-12)
    branch = hybrid.continuation(gait, mu=[-0.5, 0.0, 1.0])
    kinds = {(b.kind, round(b.value, 9)) for b in branch.bifurcations}
    assert ("fold", -0.25) in kinds
    assert ("flip", 0.75) in kinds
    at_zero = sorted(one.q[1] for one in branch.gaits if one.parameters["mu"] == 0.0)
    np.testing.assert_allclose(at_zero, [-1.0, 0.0], atol=1e-11)  # both sides of the fold
    twice = hybrid.gait(near=([0.0, 0.9], [1.0, 0.0]), steps=2, mu=1.0)
    assert twice.q[1] == pytest.approx(1.0, abs=1e-12)
    doubled = hybrid.continuation(twice, mu=[0.9, 1.4])
    assert [(b.kind, round(b.value, 8)) for b in doubled.bifurcations] == [("flip", 1.25)]


def test_what_has_no_branch_is_refused() -> None:
    hybrid = system("rimless_wheel")
    gait = hybrid.gait()
    for values, message in (
        ({"slope": [0.2, 0.3]}, r"The gait is one at slope = 0.08, outside of the range 0.2 to 0.3"),
        ({"slope": [0.08, 0.08]}, "must span a range"),
        ({"slope": [0.08, 0.1], "g": [9.0, 10.0]}, "A branch is followed over one parameter"),
        ({"slope": [0.08, 0.1], "rtol": 0.0}, "rtol is a tolerance above 0"),
    ):
        with pytest.raises(jd.BadEvent, match=message):
            hybrid.continuation(gait, **values)
    with pytest.raises(jd.BadEvent, match="The gait is one of another system"):
        gallery.rimless_wheel(6).continuation(gait, slope=[0.07, 0.09])
    with pytest.raises(jd.UnknownName, match="There is no parameter 'slape'; did you mean 'slope'"):
        hybrid.continuation(gait, slape=[0.0, 1.0])


def test_gaits_of_driven_systems_are_refused() -> None:
    made = logistic().mechanism
    late = jd.Switch("on", "on", guard=1 - made.symbols.q[0] - made.symbols.t)
    driven = jd.Hybrid(made, {"on": []}, [late])
    with pytest.raises(jd.BadEvent, match="'on' depends on the time t"):
        driven.gait(near=([0.0, 0.4], [1.0, 0.0]))
    with pytest.raises(jd.BadEvent, match="'wall' depends on the time t"):
        gallery.pantograph_at_wall().gait(near=({}, {}))
    mu, (x, _) = made.symbols.p[0], made.symbols.q_names
    fading = jd.Switch("on", "on", 1 - made.symbols.q[0], relabel={x: made.symbols.q[0] - 1}, parameters={"mu": mu / 2})
    with pytest.raises(jd.NotConverged, match=r"Switches change parameters by 0.25 in 1 step"):
        jd.Hybrid(made, {"on": ["pace", "still0"]}, [fading]).gait(near=([0.0, 0.4], [1.0, 0.0]))


def test_events_that_depend_on_time_have_no_gait() -> None:
    hybrid, _ = mapped(lambda a, mu: a / 2)
    made = hybrid.mechanism
    belt = made.constraint("belt", made.symbols.v[0] - 1 - 0.3 * ca.sin(made.symbols.t))
    x = made.symbols.q_names[0]
    switch = jd.Switch("on", "on", 1 - made.symbols.q[0], made.event(inert=[belt]), relabel={x: made.symbols.q[0] - 1})
    with pytest.raises(jd.BadEvent, match="The event of a switch from 'on' depends on the time t"):
        jd.Hybrid(made, {"on": []}, [switch]).gait(near=([0.0, 0.4], [1.0, 0.0]))


def test_a_lap_that_ends_faster_than_it_began_is_no_gait() -> None:
    """A kick of 0.1 N s each lap: no change of the start makes a difference."""
    q, v = ca.SX.sym("q"), ca.SX.sym("v")
    made = jd.Mechanism.from_casadi(q, v, ca.SX.eye(1))
    (x,) = made.symbols.q_names
    kick = jd.Switch("on", "on", guard=1 - q, event=made.event(impulses={x: 0.1}), relabel={x: q - 1})
    with pytest.raises(jd.NotConverged, match=r"No gait of 1 step was found near the given state: .* by 1.0e-01"):
        jd.Hybrid(made, {"on": []}, [kick]).gait(near=([0.0], [1.0]))


def test_a_guard_that_falls_where_a_segment_starts_has_no_saltation() -> None:
    """Two switches in a row: the second falls at once, whatever its guard is; the derivative is that of differences."""
    q, v = ca.SX.sym("q", 2), ca.SX.sym("v", 2)
    made = jd.Mechanism.from_casadi(q, v, ca.SX.eye(2))
    x, a = made.symbols.q_names
    first = jd.Switch("on", "then", guard=1 - q[0] - 0.3 * q[1])
    second = jd.Switch("then", "on", guard=1 - q[0] - 0.3 * q[1], relabel={x: q[0] - 1, a: q[1] / 2})
    hybrid = jd.Hybrid(made, {"on": [], "then": []}, [first, second])
    start, p, settings = np.array([0.0, 0.2, 1.0, 0.1]), np.zeros(0), Settings(1e-12, 1e-12)
    step_map = StepMap(hybrid, "on", 1, settings)
    by = step_map(start, p).by_state
    size = 1e-5
    for i, e in enumerate(np.eye(4)):
        ends = [step_map(start + s * size * e, p).after for s in (-1, 1)]
        np.testing.assert_allclose(by[:, i], (ends[1] - ends[0]) / (2 * size), atol=1e-8)


def test_values_that_a_branch_does_not_reach_are_reported() -> None:
    hybrid = logistic()
    branch = hybrid.continuation(hybrid.gait(near=([0.0, 0.4], [1.0, 0.0])), mu=[-0.5, -0.3, 0.7])
    assert branch.missing == (-0.5, -0.3)  # beyond the fold
    assert "2 of the values asked for not met" in repr(branch)


def test_a_step_that_falls_is_reported() -> None:
    with pytest.raises(jd.NotConverged, match=r"The step ends at t = .* s in 'stance': fallen"):
        system("compass_gait").gait(slope=0.5)


# Basins


@pytest.mark.parametrize("name", ["compass_gait", "rimless_wheel"])
def test_a_basin_is_what_single_runs_say(name: str, rng: np.random.Generator) -> None:
    hybrid = system(name)
    gait = hybrid.gait()
    if name == "compass_gait":
        theta, omega = np.linspace(0.15, 0.45, 24), np.linspace(-1.6, -0.8, 24)
        q, v = {"theta_st": theta[:, None], "theta_sw": -theta[:, None]}, {"theta_st": omega}
    else:
        q, v = {}, {"theta": np.linspace(0.2, 2.0, 60)}
    basin = hybrid.basin(gait, q, v)
    assert 0 < basin.fraction < 1
    places = [tuple(rng.integers(0, n) for n in basin.reached.shape) for _ in range(40)]
    target = np.concatenate([gait.q, gait.v])
    for place in places:
        own = [dict(zip(names, start, strict=True)) for names, start in
               ((hybrid.mechanism.symbols.q_names, gait.q), (hybrid.mechanism.symbols.v_names, gait.v))]  # fmt: skip
        for part, given in ((own[0], q), (own[1], v)):
            part |= {key: np.broadcast_to(value, basin.reached.shape)[place] for key, value in given.items()}
        run = hybrid.simulate(own[0], own[1], until=60 * gait.period, rtol=1e-8)
        came = (
            run.stopped == "the end of the time asked for"
            and np.max(np.abs(run.events[-1].after[1:-2] - target)) < 1e-3
        )
        assert came == (basin.reached[place] >= 0), place
    ds = basin.to_dataset()
    assert ds["reached"].shape == basin.reached.shape
    assert f"{basin.reached.size} starts" in repr(basin)


def test_two_gaits_share_the_starts() -> None:
    """a → a³-like map with two stable fixed points ±1 and an unstable one at 0: sign decides."""
    hybrid, a = mapped(lambda a, mu: 1.5 * a - 0.5 * a**3)
    up, down = (hybrid.gait(near=([0.0, s], [1.0, 0.0])) for s in (0.9, -0.9))
    starts = np.linspace(-1.5, 1.5, 64)
    basin = hybrid.basin([up, down], q={a: starts})
    np.testing.assert_array_equal(basin.reached, np.where(starts > 0, 0, 1))
    middle = hybrid.gait(near=([0.0, 0.01], [1.0, 0.0]))
    with pytest.raises(jd.BadEvent, match=r"Gait 0 is unstable, its largest multiplier 1.5"):
        hybrid.basin(middle, q={a: starts})


def test_redundant_rows_do_not_lose_starts() -> None:
    hybrid, a = mapped(lambda a, mu: a / 2, n_rows=2)
    gait = hybrid.gait(near=([0.0, 0.1], [1.0, 0.0]))
    basin = hybrid.basin(gait, q={a: np.linspace(-1, 1, 32)})
    assert basin.fraction == 1.0


def test_rows_that_become_dependent_on_the_way() -> None:
    """v_1 = 0 and v_1 + s(x) v_2 = 0: independent where a lap starts, nearly not in its middle."""
    q, v = ca.SX.sym("q", 3), ca.SX.sym("v", 3)
    mechanism = jd.Mechanism.from_casadi(q, v, ca.SX.eye(3))
    x, a, b = mechanism.symbols.q_names
    rows = {"pace": v[0] - 1, "still": v[1], "mixed": v[1] + 0.1 * (q[0] - 0.5) ** 2 * v[2]}
    held = [mechanism.constraint(name, row) for name, row in rows.items()]
    lap = jd.Switch("on", "on", guard=1 - q[0], relabel={x: q[0] - 1, a: q[1] / 2, b: q[2] / 2})
    start = ([0.0, 0.8, 0.4], [1.0, 0.0, 0.0])
    once = jd.Hybrid(mechanism, {"on": held}, [lap])
    run = once.simulate(*start, until=2.5)
    np.testing.assert_allclose([event.t for event in run.events], [1.0, 2.0], atol=1e-12)
    np.testing.assert_allclose(run.q[-1], [0.5, 0.2, 0.1], atol=1e-12)
    many = jd.Hybrid(mechanism, {"on": held}, [lap])
    gait = many.gait(near=([0.0, 0.1, 0.3], [1.0, 0.0, 0.0]))
    vars(many.flows("on")).pop("robust", None)
    assert many.basin(gait, q={a: np.linspace(-1, 1, 32)}).fraction == 1.0
    for hybrid in (once, many):
        assert "robust" in vars(hybrid.flows("on"))  # made when it was needed


def test_an_impact_of_a_gait_is_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """State, derivative and outcome come from one evaluation: nothing else asks the event."""

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("the event is evaluated again")

    hybrid = gallery.compass_gait()
    monkeypatch.setattr(jd.Event, "solve", never)
    monkeypatch.setattr(jd.Event, "gradient", never)
    gait = hybrid.gait()
    (event,) = gait.trajectory.events
    assert gait.trajectory.energy.ledger["strike"] == event.outcome.ledger["strike"]
    monkeypatch.undo()
    other = event.switch.event.solve(event.outcome.q, event.outcome.v_minus, slope=gait.parameters["slope"])
    np.testing.assert_allclose(event.outcome.v_plus, other.v_plus, atol=1e-14)


def test_starts_that_make_no_sense_are_refused() -> None:
    hybrid = system("compass_gait")
    gait = hybrid.gait()
    many = np.linspace(0.2, 0.3, 4)
    for call, kind, message in (
        (lambda: hybrid.basin(gait), jd.BadEvent, "A basin is one of many starts"),
        (lambda: hybrid.basin([]), jd.BadEvent, "none was given"),
        (
            lambda: hybrid.basin(gait, q={"foot_y": many}),
            jd.OffConstraint,
            r"Start 3 misses the constraints of 'stance'",
        ),
        (lambda: hybrid.basin(gait, q={"theta": many}), jd.UnknownName, "There is no entry of q 'theta'"),
        (lambda: hybrid.basin(gait, q={"theta_st": many}, steps=0), jd.BadEvent, "steps is how many steps are made"),
        (lambda: system("kneed_walker").basin(gait, q={"stance_thigh": many}), jd.BadEvent, "one of another system"),
    ):
        with pytest.raises(kind, match=message):
            call()
    assert np.all(hybrid.basin(gait, v={"theta_st": np.array([0.0, 5.0])}).reached == LOST)
