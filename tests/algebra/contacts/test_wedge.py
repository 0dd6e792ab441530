"""Coulomb contacts that wedge: the normal depends on the tangents, so that slip and approach end together."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

import jourdain as jd
from jourdain import laws
from jourdain.laws import ContactState

HYPOTHESES: tuple[Any, ...] = ("newton", "poisson", "stronge")


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_a_point_in_a_plane_that_is_oblique_to_the_normal(hypothesis: Any, rng: np.random.Generator) -> None:
    """W has rank 2. A contact that comes to rest sticks and is far from doing else; ill-conditioned tangents too."""
    m = 1000
    A, C, v = rng.normal(size=(m, 2, 2)), rng.normal(size=(m, 3, 2)), rng.normal(size=(m, 2))
    M = A @ np.swapaxes(A, 1, 2) + 0.3 * np.eye(2)
    u = np.einsum("mij,mj->mi", C, v)
    C[:, 0] *= -np.sign(u[:, 0])[:, None]
    W = C @ np.linalg.solve(M, np.swapaxes(C, 1, 2))
    holds = np.linalg.norm(np.linalg.solve(W[:, 1:, 1:], W[:, 1:, :1])[..., 0], axis=-1)
    law = laws.Coulomb(holds * rng.uniform(1.01, 3, m), rng.choice([0.0, 0.5, 1.0], m), hypothesis)
    t = jd.transition(M, v, contacts=[jd.Contact(normal=C[:, 0], tangent=C[:, 1:], law=law)])
    assert (t.status <= jd.Status.ENERGY_CREATED).all()
    rests = np.abs(t.u_plus["contact 0"]).max(axis=-1) < 1e-9 * np.abs(u).max(axis=-1)
    np.testing.assert_array_equal(t.contact["contact 0"] == ContactState.STICKS, rests)
    assert rests.sum() > 500
    assert np.quantile(t.column("contact_margin")[rests], 0.01) > 1e-3
    normal, *tangent = t.impulse["contact 0"].T
    assert (np.hypot(*tangent) <= law.friction * normal * (1 + 1e-9)).all()


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
@pytest.mark.parametrize("e", [0.0, 0.5])
def test_the_same_with_one_tangent_and_with_two(hypothesis: Any, e: float) -> None:
    """A point on an oblique line, with one tangent along it and with a second one beside which nothing moves."""
    law = laws.Coulomb(5.0, e, hypothesis)
    found = []
    for tangents in ([[0.5]], [[0.5], [0.0]], [[0.3], [0.4]]):
        t = jd.transition([[2.0]], [-1.0], contacts=[jd.Contact(normal=[1.0], tangent=tangents, law=law)])
        assert t.contact["contact 0"] is ContactState.STICKS
        found.append((t.v_plus[0], t.impulse["contact 0"][0], t.column("contact_margin")[0]))
    np.testing.assert_allclose(found, [found[0]] * 3, atol=1e-12)
    assert found[0][2] == (1.0 if hypothesis != "poisson" or e == 0 else pytest.approx(found[0][2]))
    assert found[0][2] > 0.1


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_its_derivatives(hypothesis: Any) -> None:
    v, q = ca.SX.sym("v", 2), ca.SX.sym("q", 2)
    made = jd.Mechanism.from_casadi(q, v, ca.SX(ca.DM([[2.0, 0.3], [0.3, 1.0]])))
    tangents = [(0.5 + 0.1 * q[0]) * v[0] + v[1], -0.2 * v[0] + (0.4 + 0.2 * q[1]) * v[1]]
    foot = made.contact("foot", normal=v[0] + 0.3 * v[1], tangent=tangents)
    event = made.event(contacts={foot: laws.Coulomb("mu", 0.5, hypothesis)})
    state, h = np.array([0.1, 0.2, -1.0, 0.2, 5.0]), 1e-6

    def impulse(x: Any) -> Any:
        return event.solve(q=x[..., :2], v=x[..., 2:4], mu=x[..., 4]).impulse["foot.normal"]

    slopes = event.gradient("impulse.foot.normal", wrt=["q", "v", "mu"], q=state[:2], v=state[2:4], mu=state[4])
    differences = (impulse(state + h * np.eye(5)) - impulse(state - h * np.eye(5))) / (2 * h)
    np.testing.assert_allclose(np.hstack([slopes["q"], slopes["v"], slopes["mu"]]), differences, atol=1e-7)
    at_rest = event.gradient("v_plus", wrt=["q", "v"], q=state[:2], v=state[2:4], mu=state[4])
    for slope in at_rest.values():
        np.testing.assert_allclose(slope, 0, atol=1e-12)


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
@pytest.mark.parametrize("tangent", [-0.3, 0.3, -0.5, 3e5])
def test_one_velocity_comes_to_rest(hypothesis: Any, tangent: float) -> None:
    """Slip and approach end together, whatever the friction is: all energy ½ m v² is lost, and nothing switches."""
    v, m = ca.SX.sym("v", 1), ca.SX.sym("m")
    made = jd.Mechanism.from_casadi(ca.SX.sym("q", 1), v, ca.diag(m), parameters=[(m, 2.7)])
    foot = made.contact("foot", normal=1.36 * v[0], tangent=[tangent * v[0]])
    event = made.event(contacts={foot: laws.Coulomb("mu", 0.0, hypothesis)})
    for mu in (0.0, 0.5, 1.9):
        for speeds in (np.array([-2.0]), np.linspace(-3, -1, 1500)[:, None]):
            t = event.solve(v=speeds, mu=mu)
            assert np.all(np.asarray(t.contact["foot"]) == ContactState.STICKS)
            np.testing.assert_allclose(t.v_plus, 0, atol=1e-14)
        slope = event.gradient("loss", wrt=["m"], v=np.array([-2.0]), mu=mu)["m"]
        assert slope == pytest.approx(2.0, rel=1e-14)


@pytest.mark.parametrize("m", [1, 1500, 5000])
def test_a_tangent_that_a_row_holds_carries_nothing(m: int, rng: np.random.Generator) -> None:
    """The row and the tangent could share any impulse; the contact is given the least of it, none."""
    row, v = np.array([[0.3, 0.7, -0.2]]), rng.normal(size=(m, 3))
    foot = jd.Contact(normal=[1, 0.2, 0.1], tangent=2 * row, law=laws.MoreauCoulomb(0.5, 0.3))
    rough = jd.transition(np.diag([4.0, 2, 1]), v, inert=row, contacts=[foot])
    smooth = jd.transition(
        np.diag([4.0, 2, 1]), v, inert=row, contacts=[jd.Contact(normal=foot.normal, law=laws.Frictionless(0.3))]
    )
    ok = rough.ok
    np.testing.assert_array_equal(ok, smooth.ok)
    assert (rough.impulse["contact 0"][ok, 1] == 0).all()
    np.testing.assert_allclose(rough.v_plus[ok], smooth.v_plus[ok], atol=1e-13)
    np.testing.assert_allclose(rough.impulse["inert"][ok], smooth.impulse["inert"][ok], atol=1e-12)


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
@pytest.mark.parametrize("n", [0, 3])
@pytest.mark.parametrize(
    ("slope", "friction"), [(0.4, 0.1), (0.4, 0.39), (0.4, 0.41), (0.4, 5.0), (1.5, 1.4), (1.5, 1.6)]
)
def test_a_support_that_moves_into_a_wedge(slope: float, friction: float, n: int, hypothesis: Any) -> None:
    """A particle that stays in a plane of this slope: where it sticks on the support, no impulse makes it give way.

    With less friction than the slope it slides up before the support, u_n⁺ = 0.
    """
    q, v, w = ca.SX.sym("q", 3), ca.SX.sym("v", 3), ca.SX.sym("w")
    made = jd.Mechanism.from_casadi(q, v, 2 * ca.SX.eye(3), parameters=[(w, 0.5)])
    plane = made.constraint("plane", v[2] - slope * v[0])
    floor = made.contact("floor", normal=v[2] - w, tangent=[v[0], v[1]])
    event = made.event(regular=[plane], contacts={floor: laws.Coulomb(friction, 0.0, hypothesis)})
    before = np.array([-1.0, 0.0, -slope])
    if friction < slope:
        t = event.solve(v=np.broadcast_to(before, (n, 3)) if n else before)
        np.testing.assert_allclose(np.atleast_2d(t.u_plus["floor"])[:, 0], 0, atol=1e-9)
        return
    if n:
        assert (event.solve(v=np.broadcast_to(before, (n, 3))).status == jd.Status.INFEASIBLE).all()
        return
    with pytest.raises(jd.Infeasible, match="'floor' wedges"):
        event.solve(v=before)
