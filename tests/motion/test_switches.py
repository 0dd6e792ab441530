"""Where a contact is on the verge of doing something else: margins, derivatives on each side, candidates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import jourdain as jd
from jourdain import gallery, laws
from jourdain.laws import ContactState
from oracles import contacts as oracle


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
def test_friction_that_just_holds(hypothesis: Any) -> None:
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
    """A foot that may not slip while it holds, where it may slide or stick: both are named."""
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
        with pytest.raises(jd.Ambiguous) as told:
            jd.transition(np.eye(2), v, contacts=[foot])
        for way in ways:
            assert f"'contact 0' {way}" in str(told.value)
    assert seen == {("slides", "sticks")}


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


@pytest.mark.parametrize("hypothesis", ["newton", "poisson", "stronge"])
def test_a_pendulum_wedges(hypothesis: Any) -> None:
    """One degree of freedom and enough friction: slip and approach end together, and nothing drives it back.

    p = −u_n / (W_nn + μ s W_nt) up to there; Poisson's impulse grows on without moving anything.
    """
    for angle in np.linspace(0.1, 0.73, 15):  # tan angle < μ
        n, t, mu = np.sin(angle), np.cos(angle), 0.9
        floor = jd.Contact(normal=[n], tangent=[[t]], law=laws.Coulomb(mu, 0.5, hypothesis))
        outcome = jd.transition([[1 / 3]], [-1.0], contacts=[floor])
        assert outcome.contact["contact 0"] is ContactState.STICKS
        assert outcome.v_plus == pytest.approx([0.0], abs=1e-14)
        p = n / (3 * n * n + mu * 3 * n * t)
        given_back = 1.5 if hypothesis == "poisson" else 1.0
        assert outcome.impulse["contact 0"][0] == pytest.approx(given_back * p, rel=1e-12)
        assert outcome.ok
    slight = jd.Contact(normal=[0.8], tangent=[[0.6]], law=laws.Coulomb(0.3, 0.5, hypothesis))
    back = jd.transition([[1 / 3]], [-1.0], contacts=[slight])
    assert back.contact["contact 0"] is ContactState.REVERSES  # |W_nt| > μ W_tt: it is thrown back
    assert back.v_plus[0] > 0


def test_a_contact_in_space_wedges(rng: np.random.Generator) -> None:
    """Three rows, two degrees of freedom: it may slip on, wedge or be thrown back, and never gains energy."""
    states = set()
    for _ in range(60):
        Y, v = rng.normal(size=(3, 2)), rng.normal(size=2)
        for hypothesis in ("poisson", "stronge"):
            law = laws.Coulomb(rng.uniform(0, 2), rng.uniform(0, 1), hypothesis)
            t = jd.transition(np.eye(2), v, contacts=[jd.Contact(normal=Y[0], tangent=Y[1:], law=law)])
            assert t.ok
            assert t.u_plus["contact 0"][0] >= -1e-9
            states.add((t.contact["contact 0"], bool(np.linalg.norm(t.v_plus) < 1e-9)))
    assert (ContactState.STICKS, True) in states
    assert (ContactState.SLIPS, False) in states


def test_a_contact_that_comes_without_slip() -> None:
    """It sticks at once: derivatives by its slip before exist. It slips: they differ on either side, and are told."""
    rod = gallery.rough_rod()
    for of in ("loss", "v_plus.x", "impulse.floor.tangent"):
        found = rod.gradient(of, "v_x", theta=0.9, v_x=0.0, friction=0.9)["v_x"]
        for way in (-1, 1):

            def value(v_x: float, of: str = of) -> float:
                t = rod.solve(theta=0.9, v_x=v_x, friction=0.9)
                return float({"loss": t.loss, "v_plus.x": t.v_plus[0]}.get(of, t.impulse["floor.tangent"]))

            assert found == pytest.approx(side(value, 0.0, way, 1e-4), abs=1e-7)
    with pytest.raises(jd.AtSwitch, match="'floor'"):
        rod.gradient("loss", "v_x", theta=0.9, v_x=0.0, friction=0.1)
    assert np.isfinite(rod.gradient("loss", "friction", theta=0.9, v_x=0.0, friction=0.1)["friction"])
    box = gallery.thrown_box()
    found = box.gradient("v_plus.x", "v_x", v_x=0.0, v_y=0.0, friction=1.5)["v_x"]

    def speed(v_x: float) -> float:
        return float(box.solve(v_x=v_x, v_y=0.0, friction=1.5).v_plus[0])

    assert found == pytest.approx(side(speed, 0.0, 1.0, 1e-3), abs=1e-6)
    with pytest.raises(jd.AtSwitch, match="'floor'"):
        box.gradient("loss", "v_x", v_x=0.0, v_y=0.0, friction=0.1)


def test_motions_that_rest_on_a_choice() -> None:
    """Three feet in a row share the impulse of compression in many ways; with different κ each gives another motion."""
    rows, M, v = [[1.0, x] for x in (-0.5, 0.0, 0.5)], np.diag([1.0, 1 / 6]), [-1.0, 0.0]
    for kappas, told in (((0.0, 0.5, 1.0), True), ((0.5, 0.5, 0.5), False)):
        feet = [
            jd.Contact(normal=row, law=laws.Frictionless(kappa, "poisson"))
            for row, kappa in zip(rows, kappas, strict=True)
        ]
        t = jd.transition(M, v, contacts=feet)
        assert t.one_of_many is told
        assert ("one of many" in str(t)) is told


def test_feet_that_slide_and_turn_share_their_load_in_many_ways() -> None:
    """Each share of the load rubs differently: the motion is not determined, whatever the order of the feet."""
    M, corners = np.diag([2.0, 2.0, 2.0, 0.05, 0.06, 0.04]), [(x, y) for x in (-0.2, 0.2) for y in (-0.1, 0.1)]
    feet = []
    for x, y in corners:
        rows = np.array([[0, 0, 1, y, -x, 0], [1, 0, 0, 0, -0.15, -y], [0, 1, 0, 0.15, 0, x]], dtype=float)
        feet.append(jd.Contact(normal=rows[0], tangent=rows[1:], law=laws.MoreauCoulomb(0.3)))
    for order in ([0, 1, 2, 3], [2, 0, 3, 1]):
        with pytest.raises(jd.Ambiguous, match="rigid bodies do not tell which"):
            jd.transition(M, [1.0, 0.2, -1.0, 0, 0, 3.0], contacts=[feet[i] for i in order])
    held = [
        jd.transition(M, [0.1, 0.02, -1.0, 0, 0, 0.1], contacts=[feet[i] for i in o])
        for o in ([0, 1, 2, 3], [3, 1, 0, 2])
    ]
    for i, j in enumerate([3, 1, 0, 2]):  # at rest the least impulses do not depend on it either
        np.testing.assert_allclose(held[1].impulse[f"contact {i}"], held[0].impulse[f"contact {j}"], atol=1e-9)
