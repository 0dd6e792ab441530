"""Where a contact is on the verge of doing something else: margins, derivatives on each side, candidates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import contact_oracle as oracle
import jourdain as jd
from jourdain import gallery, laws
from jourdain.laws import ContactState


@pytest.fixture(scope="module")
def limit() -> float:
    """theta at which the rear foot of the walker with point feet just lifts, from the strike that lets it go."""
    free = gallery.walker()
    return brentq(lambda theta: float(free.solve(theta=theta, rho=0.0).u_plus["stance.normal"]), 0.7, 0.9, xtol=1e-15)


def side(function, at: float, way: float, h: float = 1e-4) -> float:
    """The derivative on one side, by a difference of third order."""
    weights = (-11 / 6, 3, -3 / 2, 1 / 3)
    return sum(w * function(at + way * k * h) for k, w in enumerate(weights)) / (way * h)


def test_the_rear_foot_of_the_walker(limit: float) -> None:
    walker = gallery.walker(rear_foot="one-sided")
    assert math.degrees(limit) == pytest.approx(44.48, abs=0.005)

    def normal_speed(theta: float) -> float:
        return float(walker.solve(theta=theta, rho=0.0).u_plus["stance.normal"])

    beside = {
        way: walker.gradient("u_plus.stance.normal", "theta", theta=limit + way * 1e-7, rho=0.0) for way in (-1, 1)
    }
    assert beside[-1]["theta"] == pytest.approx(side(normal_speed, limit, -1.0), rel=1e-5)
    assert beside[-1]["theta"] < -0.1  # it opens less and less
    assert beside[1]["theta"] == pytest.approx(0, abs=1e-9)  # it is held
    with pytest.raises(jd.AtSwitch, match=r"'stance': a contact is on the verge of lifting, .* a little beside"):
        walker.gradient("loss", "theta", theta=limit, rho=0.0)
    batch = walker.gradient("loss", "theta", theta=limit + np.array([-1e-6, 0.0, 1e-6]), rho=0.0)["theta"]
    assert np.isfinite(batch).tolist() == [True, False, True]
    many = limit + np.append(np.linspace(-0.01, 0.01, 2000), 0.0)
    assert np.flatnonzero(np.isnan(walker.gradient("loss", "theta", theta=many, rho=0.0)["theta"])).tolist() == [2000]
    assert walker.solve(theta=limit, rho=0.0).contact["stance"] in (ContactState.GRAZES, ContactState.HOLDS)


def test_margins_vanish_where_states_change(limit: float) -> None:
    walker = gallery.walker(rear_foot="one-sided")
    data = walker.sweep(theta=limit + np.array([-1e-3, -1e-6, 1e-6, 1e-3]), rho=0.0)
    margin = data.contact_margin.sel(one_sided="stance").values
    assert margin[0] / margin[1] == pytest.approx(1000, rel=0.01)
    assert margin[3] / margin[2] == pytest.approx(1000, rel=0.01)
    assert (data.contact_residual <= 1e-12).all()


@pytest.mark.parametrize("hypothesis", ["newton", "poisson", "stronge"])
def test_friction_that_just_holds(hypothesis: str) -> None:
    """A heel that arrives without slip sticks from |W_nt| / W_tt on: derivatives exist on both sides, not there."""
    walker = gallery.walker(law=laws.Coulomb("friction", 0.3, hypothesis))
    needed = float(gallery.walker().solve().required_friction["heel"])
    slips, sticks = (walker.solve(friction=needed * part).contact["heel"] for part in (0.99, 1.01))
    assert (slips, sticks) == (ContactState.SLIPS, ContactState.STICKS)

    def loss(friction: float) -> float:
        return float(walker.solve(friction=friction).loss)

    for way in (-1, 1):
        beside = needed * (1 + way * 1e-7)
        found = walker.gradient("loss", "friction", friction=beside)["friction"]
        assert found == pytest.approx(side(loss, beside, way, 1e-5), abs=1e-6)
    with pytest.raises(jd.AtSwitch, match="'heel'"):
        walker.gradient("loss", "friction", friction=needed)


def test_slip_that_stops_just_at_the_end() -> None:
    """A ball: μ (1 + κ) |u_n| / W_nn = |u_t| / W_tt."""
    M, v = np.eye(2), [[-1.0, 0.45], [-1.0, 0.449], [-1.0, 0.451]]
    floor = jd.Contact(normal=[1.0, 0.0], tangent=[[0.0, 1.0]], law=laws.Coulomb(0.3, 0.5))
    margin = jd.transition(M, v, contacts=[floor]).to_dataset().contact_margin.values[:, 0]
    assert margin[0] < 1e-14
    assert (margin[1:] > 1e-3).all()


def test_candidates_are_listed(rng: np.random.Generator) -> None:
    """A foot that may not slip while it holds: several ways, or none, with their names."""
    seen = set()
    for _ in range(400):
        Y = rng.normal(size=(2, 2))
        v = rng.normal(size=2)
        u = Y @ v
        ways = oracle.no_slip_candidates(Y @ Y.T, u)
        foot = jd.Contact(normal=Y[0], tangent=[Y[1]], law=laws.NoSlip())
        if u[0] >= 0 or len(ways) == 1:
            continue
        seen.add(tuple(ways))
        with pytest.raises(jd.Ambiguous if ways else jd.Infeasible) as told:
            jd.transition(np.eye(2), v, contacts=[foot])
        for way in ways:
            assert f"'contact 0' {way}" in str(told.value)
    assert ("slides", "sticks") in seen


@pytest.mark.parametrize("law", [laws.Coulomb(0.2, "kappa", "stronge"), laws.Coulomb(0.9, "kappa", "stronge")])
def test_the_first_bit_of_restitution(law: laws.Law) -> None:
    """κ = 0 is an end of its range, not a kink: the work given back grows with κ², the impulse with κ."""
    walker = gallery.walker(law=law)

    def normal(kappa: float) -> float:
        return float(walker.solve(kappa=kappa).impulse["heel.normal"])

    found = walker.gradient("impulse.heel.normal", "kappa", kappa=0.0)["kappa"]
    assert found == pytest.approx(side(normal, 0.0, 1.0, 1e-3), rel=1e-8)
    assert found > 1.0


def test_the_first_bit_of_restitution_in_space() -> None:
    box = gallery.thrown_box()

    for friction in (0.3, 0.9):

        def normal(kappa: float, friction: float = friction) -> float:
            return float(box.solve(kappa=kappa, friction=friction).impulse["floor.normal"])

        found = box.gradient("impulse.floor.normal", "kappa", kappa=0.0, friction=friction)["kappa"]
        assert found == pytest.approx(side(normal, 0.0, 1.0, 1e-3), rel=1e-5)
