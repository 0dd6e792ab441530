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
