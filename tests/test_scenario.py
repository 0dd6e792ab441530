"""Scenarios: an event at a pose and a motion that depend on parameters."""

import numpy as np
import pytest
import sympy as sp

import jourdain as jd
from test_mechanism import planar_walker

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


def test_what_is_guessed_is_not_given():
    made, (crank, rod, x) = slider_crank()
    event = made.event(regular=["loop"], inert=["stop"])
    with pytest.raises(jd.NameClash, match="'rod' is given in q and guessed; leave one out"):
        event.at(q={crank: theta, rod: 0.1}, guess={rod: -0.1, x: 0.5})
    with pytest.raises(jd.NotExpressible, match="depends on time; a scenario is written in parameters"):
        event.at(q={crank: x}, guess={rod: -0.1, x: 0.5})


def test_parameters_that_would_be_taken_for_arguments(strike):
    with pytest.raises(jd.NameClash, match="'keep' is a parameter and also an argument"):
        strike.event.at(q={"stance": sp.Symbol("keep")})
