"""Scenarios: an event at a pose and a motion that depend on parameters."""

from functools import cache

import numpy as np
import pytest
import sympy as sp

import jourdain as jd
from jourdain import gallery
from models import planar_walker

theta, rho, torso = sp.symbols("theta rho torso")


@pytest.fixture
def strike():
    mechanism, *_ = planar_walker()
    l = sp.Symbol("l")
    return mechanism.event(inert=["heel"], released=["stance"]).at(
        q={"stance": theta / 2, "swing": -theta / 2, "torso": torso},
        v={"foot_x": rho * l, "stance": 1.0, "swing": 1.0},
        parameters={"R": rho * l},
        defaults={torso: 0.0, rho: 0.25},
        units={theta: "rad"},
    )


def test_parameters_are_the_free_symbols_and_what_is_left_of_the_mechanism(strike):
    assert set(strike.parameters) == {"theta", "rho", "torso", "m", "m_H", "m_T", "l", "d", "l_T"}
    assert strike.parameters["theta"] is None
    assert strike.parameters["rho"] == 0.25
    assert repr(strike).startswith("Scenario(m=5, m_H=10")
    with pytest.raises(jd.MissingValue, match="Parameter 'theta' has no default"):
        strike.solve()
    with pytest.raises(jd.UnknownName, match="no parameter 'R'"):
        strike.solve(theta=0.7, R=0.1)


def test_solve_equals_the_event(strike):
    t = strike.solve(theta=0.7, l=0.9)
    direct = strike.event.solve(
        q={"stance": 0.35, "swing": -0.35}, v={"foot_x": 0.225, "stance": 1.0, "swing": 1.0}, l=0.9, R=0.225
    )
    assert t.v_plus == pytest.approx(direct.v_plus, rel=1e-15)
    assert t.loss == pytest.approx(direct.loss, rel=1e-15)


def test_arrays_broadcast(strike):
    t = strike.solve(theta=np.linspace(0.2, 0.9, 4)[:, None], rho=[0.0, 0.25, 0.5])
    assert t.loss.shape == (4, 3)
    assert t.loss[2, 1] == pytest.approx(strike.solve(theta=np.linspace(0.2, 0.9, 4)[2]).loss, rel=1e-14)
    assert (np.diff(t.loss, axis=0) > 0).all()  # [FK-b] the loss grows with theta
    assert (np.diff(t.loss, axis=1) < 0).all()  # and falls with rho


def test_energy_scales_the_velocity(strike):
    mechanism = strike.event.mechanism
    scaled = mechanism.event(inert=["heel"]).at(q={"stance": theta, "swing": -theta}, v={"stance": 1.0}, energy="E")
    t = scaled.solve(theta=0.3, E=0.01)
    assert t.T_minus == pytest.approx(0.01, rel=1e-14)
    assert not t.v_minus[[0, 1, 3, 4]].any()


def test_guessed_coordinates_are_solved_from_the_geometric_rows(strike):
    mechanism = strike.event.mechanism
    height = mechanism.points["heel_centre"].position[1]
    ground = mechanism.constraint("ground", height, level="position")
    scenario = mechanism.event(inert=[ground]).at(q={"stance": theta}, v={"swing": 1.0}, guess={"swing": -0.3})
    q, _, _ = scenario.state({"theta": [0.2, 0.4]})
    assert q[:, 3] == pytest.approx([-0.2, -0.4], abs=1e-12)
    assert scenario.solve(theta=[0.2, 0.4]).ok.all()


def test_unknown_names(strike):
    event = strike.event
    with pytest.raises(jd.UnknownName, match="no entry of q 'stanse'; did you mean 'stance'"):
        event.at(q={"stanse": theta})
    with pytest.raises(jd.UnknownName, match="no parameter 'radius'"):
        event.at(parameters={"radius": rho})
    with pytest.raises(jd.UnknownName, match="no parameter 'thta'; did you mean 'theta'"):
        event.at(q={"stance": theta}, defaults={"thta": 1.0})
    with pytest.raises(jd.NotExpressible, match="depends on time"):
        event.at(q={"stance": sp.Function("f")(sp.Symbol("t"))})


def test_energy_needs_a_direction(strike):
    event = strike.event.mechanism.event(inert=["heel"])
    with pytest.raises(jd.BadEvent, match="v is zero; say which way"):
        event.at(energy=1.0)
    with pytest.raises(jd.BadEvent, match="cannot be scaled to this energy"):
        event.at(v={"stance": "w"}, energy=1.0).solve(w=0.0)


def test_guess_needs_geometric_rows(strike):
    with pytest.raises(jd.BadEvent, match="guess gives 'swing', but no constraint of the event is at position level"):
        strike.event.at(guess={"swing": 0.1})


def test_a_guess_that_does_not_arrive_is_said_even_unchecked(strike):
    """The heel cannot reach a ground two leg lengths away."""
    mechanism = strike.event.mechanism
    ground = mechanism.constraint("ground", mechanism.points["heel_centre"].position[1] - 5, level="position")
    scenario = mechanism.event(inert=[ground]).at(q={"stance": theta}, v={"swing": 1.0}, guess={"swing": -0.3})
    for check in (True, False):
        with pytest.raises(jd.NotConverged, match="No 'swing' near the guess satisfies the geometric rows"):
            scenario.solve(theta=0.2, check=check)
        batch = scenario.solve(theta=[0.2, 0.3], check=check)
        assert (batch.status == jd.Status.NOT_CONVERGED).all()
        assert np.isnan(batch.v_plus).all()


def slider_crank():
    """A crank of radius 0.1, a rod of length 0.4 and a slider x; the loop is closed by two geometric rows."""
    from sympy.physics.mechanics import Particle, Point, ReferenceFrame, dynamicsymbols

    crank, rod, x = dynamicsymbols("crank rod x")
    m = sp.Symbol("m")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    pin = O.locatenew("pin", 0.1 * (sp.cos(crank) * N.x + sp.sin(crank) * N.y))
    middle = pin.locatenew("middle", 0.2 * (sp.cos(rod) * N.x + sp.sin(rod) * N.y))
    slider = O.locatenew("slider", x * N.x)
    bodies = [Particle(name, point, m) for name, point in (("a", pin), ("b", middle), ("c", slider))]
    made = jd.Mechanism.from_sympy(bodies, N, [crank, rod, x], parameters={m: 1.0})
    end = pin.pos_from(O) + 0.4 * (sp.cos(rod) * N.x + sp.sin(rod) * N.y) - x * N.x
    made.constraint("loop", [end.dot(N.x), end.dot(N.y)], level="position")
    made.constraint("stop", x.diff())
    return made, (crank, rod, x)


def test_velocities_may_be_written_in_guessed_coordinates():
    """The rate of the rod follows from the loop at the pose that is found: 0.1 cos(crank) ċ + 0.4 cos(rod) ṙ = 0."""
    made, (crank, rod, x) = slider_crank()
    turn = -0.25 * sp.cos(theta) / sp.cos(rod)
    moving = made.event(regular=["loop"], inert=["stop"]).at(
        q={crank: theta},
        v={crank: 1.0, rod: turn, x: -0.1 * sp.sin(theta) - 0.4 * sp.sin(rod) * turn},
        guess={rod: -0.1, x: 0.5},
        defaults={theta: 0.6},
    )
    t = moving.solve(theta=np.linspace(0.2, 1.2, 2001))
    assert t.ok.all()
    found = np.arcsin(-0.25 * np.sin(0.7))
    one = moving.solve(theta=0.7)
    assert one.coordinate["rod"] == pytest.approx(found, rel=1e-12)
    assert moving.sweep(theta=[0.7], keep=["q.rod"])["q.rod"].values == pytest.approx([found], rel=1e-12)
    assert one.velocity_minus["rod"] == pytest.approx(-0.25 * np.cos(0.7) / np.cos(found), rel=1e-12)
    slope = moving.gradient("v_minus.rod", wrt="theta", theta=0.7)["theta"]
    step = sp.Symbol("s")
    closed = sp.lambdify(step, sp.diff(-0.25 * sp.cos(step) / sp.sqrt(1 - (0.25 * sp.sin(step)) ** 2), step))
    assert slope == pytest.approx(closed(0.7), rel=1e-11)


def test_rates_of_guessed_coordinates_follow_from_the_loop():
    """What v leaves out of them is what the geometric rows that are on before ask for; what it gives stays."""
    made, (crank, rod, x) = slider_crank()
    event = made.event(regular=["loop"], inert=["stop"])
    turn = -0.25 * sp.cos(theta) / sp.cos(rod)
    by_hand = {crank: 2.0, rod: 2 * turn, x: 2 * (-0.1 * sp.sin(theta) - 0.4 * sp.sin(rod) * turn)}
    guess = {rod: -0.1, x: 0.5}
    angles = np.linspace(-1.2, 1.2, 7)
    expected = event.at(q={crank: theta}, v=by_hand, guess=guess).solve(theta=angles)
    found = event.at(q={crank: theta}, v={crank: 2.0}, guess=guess)
    assert found.solve(theta=angles).v_minus == pytest.approx(expected.v_minus, rel=1e-12, abs=1e-14)
    assert found.sweep(theta=np.linspace(-1, 1, 2000), keep=["loss"]).status.values.max() == 0
    slope = found.gradient("loss", wrt="theta", theta=0.7)["theta"]
    by_hand_slope = event.at(q={crank: theta}, v=by_hand, guess=guess).gradient("loss", wrt="theta", theta=0.7)["theta"]
    assert slope == pytest.approx(by_hand_slope, rel=1e-10)
    part = event.at(q={crank: theta}, v={crank: 2.0, rod: by_hand[rod]}, guess=guess)  # the other rate follows
    assert part.solve(theta=angles).v_minus == pytest.approx(expected.v_minus, rel=1e-12, abs=1e-14)
    wrong = event.at(q={crank: theta}, v={crank: 2.0, rod: 0.3}, guess=guess)  # no rate of x agrees with it
    with pytest.raises(jd.PriorViolated, match="loop"):
        wrong.solve(theta=0.5)


def test_rates_follow_a_support_that_moves():
    """The rows that are on before have a bias: x follows the belt."""
    from sympy.physics.mechanics import Particle, Point, ReferenceFrame, dynamicsymbols

    x, y = dynamicsymbols("x y")
    t = dynamicsymbols._t
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    made = jd.Mechanism.from_sympy([Particle("a", O.locatenew("P", x * N.x + y * N.y), 1.0)], N, [x, y])
    belt = made.constraint("belt", x - 3 * t - sp.sin(y), level="position")
    strike = made.event(regular=[belt], inert=[made.constraint("floor", y.diff())])
    moving = strike.at(q={y: theta}, v={y: -2.0}, guess={x: 0.0}, defaults={"t": 0.5})
    outcome = moving.solve(theta=0.4)
    assert outcome.coordinate["x"] == pytest.approx(1.5 + np.sin(0.4), rel=1e-12)
    assert outcome.velocity_minus["x"] == pytest.approx(3 - 2 * np.cos(0.4), rel=1e-12)


@cache
def five_bar(speeds):
    """Two cranks a, c and two couplers b, d, by relative angles; (mechanism, q, v) with v such that v = G(q) q̇."""
    from sympy.physics.mechanics import Particle, Point, ReferenceFrame, dynamicsymbols

    a, b, c, d = q = dynamicsymbols("a b c d")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)

    def along(angle):
        return sp.cos(angle) * N.x + sp.sin(angle) * N.y

    left = O.locatenew("left", 0.5 * along(a))
    end = left.locatenew("end", 0.9 * along(a + b))
    right = O.locatenew("right", N.x + 0.5 * along(c))
    other = right.locatenew("other", 0.9 * along(c + d))
    bodies = [Particle(f"bob_{i}", point, 0.5 + i) for i, point in enumerate((left, end, right, other))]
    rates, u = [one.diff() for one in q], dynamicsymbols("u1:5")
    by = {
        "rates": {},
        "Kane": dict(zip(rates, u, strict=True)),
        "absolute": dict(zip(u, (rates[0], rates[0] + rates[1], rates[2], rates[2] + rates[3]), strict=True)),
        "mixed": {
            u[0]: rates[0], u[1]: (2 + sp.cos(b)) * rates[1] + rates[0] - 3 * rates[3],
            u[2]: rates[2], u[3]: (1 + d**2) * rates[3] + sp.sin(a) * rates[2],
        },
    }[speeds]  # fmt: skip
    kinematics = {"v": u, "kinematics": by} if by else {}
    made = jd.Mechanism.from_sympy(bodies, N, q, **kinematics, points={"end": end})
    gap = end.pos_from(other)
    made.constraint("loop", [gap.dot(N.x), gap.dot(N.y)], level="position")
    made.constraint("stop", made.points["end"].velocity[1])
    return made, q, u if by else q


@pytest.mark.parametrize("speeds", ["Kane", "absolute", "mixed"])
@pytest.mark.parametrize("driven", [{0: 1.3, 2: -0.4}, {0: 1.3}], ids=["both cranks", "one crank"])
def test_rates_of_guessed_coordinates_do_not_depend_on_the_choice_of_v(speeds, driven):
    """q̇ = N(q) v: the outcome is that with v = q̇. A crank that v leaves out stands still."""
    angles, outcomes, slopes = np.linspace(1.5, 2.0, 1500), [], []
    for which in ("rates", speeds):
        made, q, v = five_bar(which)
        strike = made.event(regular=["loop"], inert=["stop"]).at(
            q={q[0]: theta, q[2]: 1.2}, v={v[i]: speed for i, speed in driven.items()}, guess={q[1]: -1.0, q[3]: 1.0}
        )
        one, some = strike.solve(theta=1.9), strike.solve(theta=angles[:5])
        swept = strike.sweep(theta=angles, keep=["loss", "T_minus", "u_minus"])
        assert (some.status == 0).all()
        assert (swept.status == 0).all()
        assert swept.loss.values[:5] == pytest.approx(some.loss, rel=1e-12)
        speed = made.point_velocity("end", one.q, one.v_minus)
        outcomes.append(np.array([one.loss, one.T_minus, *speed, *swept.loss.values, *swept.T_minus.values]))
        slopes.append(strike.gradient("loss", "theta", theta=1.9)["theta"])
    np.testing.assert_allclose(outcomes[1], outcomes[0], rtol=1e-11, atol=1e-13)
    assert slopes[1] == pytest.approx(slopes[0], rel=1e-10)


def test_rates_follow_from_redundant_rows_and_from_rows_at_velocity_level():
    """A loop with a third row that depends on the others; a wheel that rolls while its height is found."""
    made, (crank, rod, x) = slider_crank()
    loop = made.constraints["loop"]
    made.constraint("again", 3 * loop.g[0] - loop.g[1], level="position")
    at = {"q": {crank: theta}, "v": {crank: 2.0}, "guess": {rod: -0.1, x: 0.5}}
    plain = made.event(regular=["loop"], inert=["stop"]).at(**at).solve(theta=0.4)
    twice = made.event(regular=["again", "loop"], inert=["stop"]).at(**at).solve(theta=0.4)
    assert twice.v_minus == pytest.approx(plain.v_minus, rel=1e-13)

    from sympy.physics.mechanics import Particle, Point, ReferenceFrame, dynamicsymbols

    s, y, turn = dynamicsymbols("s y turn")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    rim = O.locatenew("hub", s * N.x + y * N.y).locatenew("rim", 0.1 * (sp.cos(turn) * N.x + sp.sin(turn) * N.y))
    bodies = [Particle("rim", rim, 1.0), Particle("hub", O.locatenew("axle", s * N.x + y * N.y), 2.0)]
    wheel = jd.Mechanism.from_sympy(bodies, N, [s, y, turn])
    wheel.constraint("ground", y - 0.3 * s - 0.1, level="position")
    wheel.constraint("rolls", s.diff() + 0.1 * turn.diff())
    rolling = wheel.event(regular=["ground", "rolls"], inert=[wheel.constraint("wall", s.diff())])
    t = rolling.at(v={turn: -4.0}, guess={s: 0.0, y: 0.0}).solve()
    assert t.v_minus == pytest.approx([0.4, 0.12, -4.0], rel=1e-13)


def one_sided_walker():
    """The walker of [FK-b] whose rear foot is a one-sided contact with a gap, and its foot is found."""
    mechanism, *_ = planar_walker()
    fx, fy = mechanism.symbols.q[0], mechanism.symbols.q[1]
    x = fx - 0.2 * mechanism.symbols.q[2]
    mechanism.constraint("ground", {"y": fy - 0.2, "x": x}, level="position")
    mechanism.contact("rear", normal=fy - 0.2, tangent=[x], level="position")
    return mechanism


def test_rates_that_nothing_determines_raise():
    """On before are regular, live and released rows; contacts, inert and elastic rows say nothing of v before."""
    made = one_sided_walker()
    at = {
        "q": {"stance": theta / 2, "swing": -theta / 2, "torso": torso},
        "v": {"stance": 1.0, "swing": 1.0},
        "guess": {"foot_x": 0.0, "foot_y": 0.1},
        "defaults": {torso: 0.1, theta: 0.7},
    }
    known = made.event(inert=["heel"], released=["ground"]).at(**at).solve()
    assert known.velocity_minus["foot_x"] == pytest.approx(0.2, rel=1e-14)
    law = jd.laws.NoSlip()
    events = {
        "one-sided": made.event(inert=["heel"], contacts={"rear": law}),
        "inert": made.event(inert=["heel", "ground"]),
        "elastic": made.event(inert=["heel"], elastic={"ground": 0.5}),
        "one row of two": made.event(inert=["heel", "ground.x"], released=["ground.y"]),
    }
    for why, event in events.items():
        with pytest.raises(jd.BadEvent, match=r"v leaves out 'foot_x'.*do not determine what it leaves out; give it"):
            event.at(**at)
        given = event.at(**{**at, "v": {**at["v"], "foot_x": 0.2, "foot_y": 0.0}}).solve(check=why == "one-sided")
        assert given.T_minus == pytest.approx(known.T_minus, rel=1e-14), why
    lifted = events["one-sided"].at(**{**at, "v": {**at["v"], "foot_x": 0.2, "foot_y": 0.0}}).solve()
    assert lifted.loss == pytest.approx(known.loss, rel=1e-12)  # the rear foot lifts, as if it were released


@pytest.mark.parametrize("n", [3, 2000])
def test_rates_that_one_pose_leaves_open_have_a_status(n):
    """At k = 0 the row is 0 = 0, which says nothing of x."""
    from sympy.physics.mechanics import Particle, Point, ReferenceFrame, dynamicsymbols

    x, y = dynamicsymbols("x y")
    k = sp.Symbol("k")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    P = O.locatenew("P", x * N.x + y * N.y)
    made = jd.Mechanism.from_sympy([Particle("a", P, 1.0)], N, [x, y], parameters={k: 1.0})
    rail = made.constraint("rail", k * (x - sp.sin(y)), level="position")
    event = made.event(regular=[rail], inert=[made.constraint("floor", y.diff())])
    for energy in (None, 2.0):
        moving = event.at(q={y: theta}, v={y: -2.0}, guess={x: 0.0}, energy=energy, defaults={theta: 0.4})
        values = np.linspace(-1.0, 1.0, n + 1 - n % 2)  # 0 is the middle one
        expected = np.where(values == 0, jd.Status.NOT_FINITE, jd.Status.OK)
        for status in (moving.sweep(k=values, keep=["loss"]).status.values, moving.solve(k=values).status):
            np.testing.assert_array_equal(status, expected)
        slopes = moving.gradient("loss", "theta", k=values)["theta"]
        np.testing.assert_array_equal(np.isnan(slopes), values == 0)
        for call in (moving.solve, lambda k, m=moving: m.gradient("loss", "theta", k=k), moving.phases):
            with pytest.raises(jd.NotFinite, match=r"v leaves out 'x'.*give it in v"):
                call(k=0.0)
    broken = event.at(q={y: theta}, v={y: 1 / sp.Symbol("w")}, guess={x: 0.0}, defaults={theta: 0.4})
    with pytest.raises(jd.NotFinite, match="every number must be finite"):  # what was given is to blame
        broken.solve(w=0.0)


def test_what_is_guessed_is_not_given():
    made, (crank, rod, x) = slider_crank()
    event = made.event(regular=["loop"], inert=["stop"])
    with pytest.raises(jd.NameClash, match="'rod' is given in q and guessed; leave one out"):
        event.at(q={crank: theta, rod: 0.1}, guess={rod: -0.1, x: 0.5})
    with pytest.raises(jd.NotExpressible, match="depends on time; a scenario is written in parameters"):
        event.at(q={crank: x}, guess={rod: -0.1, x: 0.5})


# Analysis at the scenario's pose


def fields(record):
    """Every array of a record of arrays, by name."""
    return {name: np.asarray(value) for name, value in vars(record).items() if isinstance(value, np.ndarray)}


def assert_same_fields(found, expected):
    found, expected = fields(found), fields(expected)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-13, atol=1e-15, equal_nan=True, err_msg=name)


def by_hand(q, v, **parameters):
    return {"q": q, "v": v, "parameters": parameters}


def walker_by_hand():
    """Half the angle each; R = rho l; legs and torso share what the hip leaves of m_W."""
    masses = {"m": 10 / 3, "m_T": 40 / 3, "m_H": 10.0}
    q = {"foot_y": 0.24, "stance": 0.35, "swing": -0.35, "torso": 0.1}
    v = {"foot_x": 0.24, "stance": 1.0, "swing": 1.0}
    return by_hand(q, v, R=0.24, l=0.8, b=0.4, l_T=0.4, **masses)


def slider_crank_by_hand():
    """The rod from the law of sines."""
    theta, omega = 0.7, 3.0
    rod = -np.arcsin(np.sin(theta) / 3)
    turn = -omega * np.cos(theta) / (3 * np.cos(rod))
    x = 0.1 * np.cos(theta) + 0.3 * np.cos(rod)
    speed = -0.1 * omega * np.sin(theta) - 0.3 * turn * np.sin(rod)
    return by_hand({"crank": theta, "rod": rod, "x": x}, {"crank": omega, "rod": turn, "x": speed}, kappa=0.2)


def pantograph_by_hand():
    """In the symmetric pose the motors turn against each other, by the same angle, so fast that T⁻ = 20 mJ."""
    r = np.hypot(0.0445 / 2, 0.2252)
    out = np.arctan2(0.0445 / 2, 0.2252) + np.pi / 2
    bend = np.arccos((0.1449**2 + r**2 - 0.1984**2) / (2 * 0.1449 * r))
    q = {"q1": out - bend, "q3": np.pi - out + bend}
    unit = gallery.pantograph().event.mechanism.kinetic_energy(q, {"q1": 1.0, "q3": -1.0})
    rate = np.sqrt(0.02 / unit)
    return by_hand(q, {"q1": rate, "q3": -rate}, beta=0.01)


ANALYSED = {
    "walker": ({"theta": 0.7, "rho": 0.3, "torso": 0.1, "mu": 2.0}, walker_by_hand, "heel", ["foot_x", "stance"]),
    "slider_crank": ({"theta": 0.7, "omega": 3.0}, slider_crank_by_hand, "knee", ["x", "crank", "rod"]),
    "pantograph": ({"energy": 0.02, "beta": 0.01}, pantograph_by_hand, "EE", ["q3"]),
}


@pytest.fixture(params=ANALYSED)
def analysed(request):
    """A scenario, its parameters, the state written by hand, a point, and velocities, the first of which to prefer."""
    return getattr(gallery, request.param)(), *ANALYSED[request.param]


def test_projectors_are_those_of_the_event(analysed):
    scenario, parameters, state, _, _ = analysed
    at = state()
    found = scenario.projectors(**parameters)
    assert_same_fields(found, scenario.event.projectors(at["q"], parameters=at["parameters"]))
    np.testing.assert_allclose(found.P_R + found.P_c + found.P_a, np.eye(len(found.P_c)), atol=1e-12)


def test_directions_are_those_of_the_event(analysed):
    scenario, parameters, state, point, velocities = analysed
    at = state()
    q, own = at["q"], at["parameters"]
    # Where ξ is repeated only a span is determined: compare ξ, and a single direction in full.
    found = scenario.directions(point=point, **parameters)
    direct = scenario.event.directions(q, point, parameters=own)
    assert found.xi == pytest.approx(direct.xi, abs=1e-12)
    one = {"subspace": velocities, "axis": (1.0, 1.0)}
    assert_same_fields(
        scenario.directions(point=point, **one, **parameters),
        scenario.event.directions(q, point, **one, parameters=own),
    )


def test_phases_are_those_of_the_event(analysed):
    scenario, parameters, state, _, velocities = analysed
    at = state()
    for prefer in ((), velocities[:1]):
        found = scenario.phases(prefer=prefer, **parameters)
        direct = scenario.event.phases(**at, prefer=prefer)
        for title in ("prior", "virtual", "posterior"):
            one, other = getattr(found, title), getattr(direct, title)
            assert one.names == other.names, title
            assert one.momenta_minus is not None, "the scenario knows the velocity"
            for name, value in fields(other).items():
                scale = np.max(np.abs(value), initial=1e-300) + 1e-2
                error = np.max(np.abs(fields(one)[name] - value), initial=0.0)
                assert error <= 1e-12 * scale, f"{name} of the {title} phase is off by {error:.1e}"
        change = found.virtual.momenta_plus - found.virtual.momenta_minus
        assert change == pytest.approx(found.applied, abs=1e-13)


def test_projectors_take_arrays_and_the_others_one_pose():
    scenario = gallery.pantograph()
    many = scenario.projectors(d=[0.0, 0.1, 0.5])
    assert many.P_c.shape == (3, 2, 2)
    np.testing.assert_allclose(many.P_c[1], scenario.projectors(d=0.1).P_c, rtol=1e-13)
    assert np.isnan(many.P_c[2]).all()  # out of reach
    for analysis in (scenario.directions, scenario.phases):
        with pytest.raises(jd.ShapeError, match="one pose at a time"):
            analysis(d=[0.0, 0.1])


def test_analysis_refuses_what_solve_refuses():
    pantograph, four_bar = gallery.pantograph(), gallery.four_bar()
    for name in ("projectors", "directions", "phases"):
        with pytest.raises(jd.UnknownName, match=r"There is no parameter 'hight'; did you mean 'height'\?"):
            getattr(pantograph, name)(hight=0.2)
        with pytest.raises(jd.NotFinite, match="There is no such pose"):
            getattr(pantograph, name)(d=0.5)
        with pytest.raises(jd.NotConverged, match="No 'coupler', 'rocker' near the guess"):
            getattr(four_bar, name)(l4=2.0)


@pytest.mark.parametrize("name", ["keep", "point", "subspace", "axis", "prefer"])
def test_parameters_that_would_be_taken_for_arguments(strike, name):
    with pytest.raises(jd.NameClash, match=f"'{name}' is a parameter and also an argument"):
        strike.event.at(q={"stance": sp.Symbol(name)})
