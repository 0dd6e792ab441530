"""Numbers of a law that depend on the approach speed |u_n⁻|: closed forms, and derivatives through them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pytest
import sympy as sp

import jourdain as jd
from jourdain import gallery
from jourdain.events.refusals import refusal
from jourdain.kinds import ContactState
from jourdain.laws import Coulomb, Frictionless, MoreauCoulomb, NoSlip, approach
from laws.test_own_law import MASS, ball

FALLS = sp.exp(-approach / 2)


def test_restitution_that_falls_with_speed() -> None:
    mechanism, floor = ball()
    event = mechanism.event(contacts={floor: Frictionless(FALLS)})
    u = np.array([0.01, 0.5, 2.0, 7.0])
    t = event.solve(v=-u[:, None])
    e = np.exp(-u / 2)
    np.testing.assert_allclose(t.restitution["floor"], e, rtol=1e-15)
    np.testing.assert_allclose(t.v_plus[:, 0], e * u, rtol=1e-14)
    np.testing.assert_allclose(t.loss, MASS / 2 * u**2 * (1 - e**2), rtol=1e-13)
    one = event.solve(v={"y": -2.0})
    assert one.restitution["floor"] == pytest.approx(np.exp(-1))
    assert "restitution" in one.to_dataset()


def test_the_support_counts() -> None:
    """A floor that comes up with V: what closes is |v| + V."""
    mechanism, floor = ball()
    t = mechanism.event(contacts={floor: Frictionless(FALLS)}).solve(v={"y": -1.0}, V=0.5)
    assert t.restitution["floor"] == pytest.approx(np.exp(-1.5 / 2), rel=1e-15)
    assert t.v_plus[0] - 0.5 == pytest.approx(1.5 * np.exp(-1.5 / 2), rel=1e-14)


def test_derivatives_go_through_it() -> None:
    mechanism, floor = ball()
    c = sp.Symbol("m")  # any parameter of the mechanism may stand beside it
    law = Frictionless(sp.exp(-approach * c / 4))
    fall = mechanism.event(contacts={floor: law}).at(v={"y": -sp.Symbol("u")}, defaults={"u": 1.5})
    u, m = 1.5, MASS
    e = np.exp(-u * m / 4)
    slopes = fall.gradient("loss", wrt=["u", "m", "V"])
    assert slopes["u"] == pytest.approx(m * u * (1 - e**2) + m * u**2 / 2 * 2 * e**2 * m / 4, rel=1e-13)
    assert slopes["m"] == pytest.approx(u**2 / 2 * (1 - e**2) + m * u**2 / 2 * 2 * e**2 * u / 4, rel=1e-13)
    # ledger: the impulse λ = m (1 + e)(u + V) works on the mean velocity (v⁻ + v⁺)/2
    h = 1e-5
    difference = (fall.solve(V=h).loss - fall.solve(V=-h).loss) / (2 * h)
    assert slopes["V"] == pytest.approx(difference, rel=1e-8)
    assert fall.gradient("restitution.floor", wrt="u")["u"] == pytest.approx(-m / 4 * e, rel=1e-14)
    ds = fall.sweep(u=np.linspace(0.5, 2.5, 2001))
    expected = m / 2 * ds.u**2 * (1 - np.exp(-ds.u * m / 4) ** 2)
    np.testing.assert_allclose(ds.loss, expected, rtol=1e-12)


LAWS = {
    "Frictionless": Frictionless(0.9 - 0.2 * approach),
    "Poisson": Frictionless(0.9 - 0.2 * approach, "poisson"),
    "NoSlip": NoSlip(0.9 - 0.2 * approach),
    "Coulomb": Coulomb(0.1 + 0.3 * approach, 0.9 - 0.2 * approach),
    "stronge": Coulomb(0.1 + 0.3 * approach, 0.9 - 0.2 * approach, "stronge"),
    "MoreauCoulomb": MoreauCoulomb(0.1 + 0.3 * approach, 0.9 - 0.2 * approach),
}


@pytest.mark.parametrize("n_tangents", [1, 2])
@pytest.mark.parametrize("name", LAWS)
def test_every_law_takes_it_as_it_takes_the_number(name: str, n_tangents: int, rng: np.random.Generator) -> None:
    """With the number that the expression gives, the same outcome: raw arrays, one and many, and mechanisms."""
    law, n = LAWS[name], 4
    A = rng.normal(size=(n, n))
    M, rows = A @ A.T + np.eye(n), rng.normal(size=(1 + n_tangents, n))
    v = rng.normal(size=(40, n))
    u_n = v @ rows[0]
    v = v * np.where(u_n < 0, 1.0, -1.0)[:, None] / np.abs(u_n)[:, None] * rng.uniform(0.2, 4.0, (40, 1))  # closing
    u = np.abs(v @ rows[0])
    numbers = {"restitution": 0.9 - 0.2 * u, "friction": 0.1 + 0.3 * u}
    plain = type(law)(**{**vars(law), **{k: numbers[k] for k in law.numbers}})
    contacts = [[jd.Contact(normal=rows[0], tangent=rows[1:], law=one)] for one in (law, plain)]
    t, expected = (jd.transition(M, v, contacts=some) for some in contacts)
    np.testing.assert_array_equal(t.status, expected.status)
    assert t.ok.sum() > 5  # NoSlip is often ambiguous
    np.testing.assert_allclose(t.impulse["contact 0"], expected.impulse["contact 0"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(t.restitution["contact 0"][t.ok], numbers["restitution"][t.ok], rtol=1e-14)
    mechanism = jd.Mechanism.from_casadi(ca.SX.sym("q", n), (w := ca.SX.sym("v", n)), ca.SX(ca.DM(M)))
    normal, *tangent = (ca.SX(ca.DM(row)).T @ w for row in rows)
    foot = mechanism.contact("foot", normal=normal, tangent=tangent)
    same = mechanism.event(contacts={foot: law}).solve(v=v)
    np.testing.assert_array_equal(same.status, t.status)
    np.testing.assert_allclose(same.impulse["foot"], t.impulse["contact 0"], rtol=1e-8, atol=1e-11)


def test_many_raw_events_are_compiled_with_it() -> None:
    v = -np.linspace(0.1, 4.0, 5000)[:, None]
    t = jd.transition([[MASS]], v, contacts=[jd.Contact(normal=[1.0], law=Frictionless(FALLS))])
    np.testing.assert_allclose(t.v_plus, -v * np.exp(v / 2), rtol=1e-13)


def test_after_a_projection_the_speed_is_that_of_the_projected_velocity() -> None:
    contact = jd.Contact(normal=[1.0, 0.0], law=Frictionless(FALLS))
    t = jd.transition(np.eye(2), [-2.0, 0.0], regular=[[1.0, 1.0]], contacts=[contact], check="project")
    assert t.restitution["contact 0"] == pytest.approx(np.exp(-0.5))


def test_of_a_robot() -> None:
    body = jd.payload(mass=3.0, inertia=[0.1, 0.2, 0.3])
    corner = body.contact(next(iter(body.points)))
    t = body.event(contacts={corner: Frictionless(FALLS)}).solve(v={"base.z": -2.0})
    assert t.restitution[corner.name] == pytest.approx(np.exp(-1))


def test_values_outside_the_unit_interval() -> None:
    mechanism, floor = ball()
    event = mechanism.event(contacts={floor: Frictionless(1 - approach)})
    with pytest.raises(jd.BadRestitution, match="The restitution of 'floor' is -1; it must lie in"):
        event.solve(v={"y": -2.0})
    t = event.solve(v=[[-0.5], [-2.0]])
    assert list(t.status) == [jd.Status.OK, jd.Status.BAD_RESTITUTION]
    assert np.isnan(t.v_plus[1, 0])
    rough = jd.Contact(normal=[0.0, 1.0], tangent=[[1.0, 0.0]], law=Coulomb(1 - approach))
    with pytest.raises(jd.BadFriction, match="The friction of 'contact 0' is -1"):
        jd.transition(np.eye(2), [1.0, -2.0], contacts=[rough])


def test_only_laws_know_it() -> None:
    mechanism, floor = ball()
    unknown = jd.Contact(normal=[1.0], law=Frictionless(approach * sp.Symbol("c")))
    with pytest.raises(
        jd.BadEvent, match="'approach' is the speed of a contact; use it in the numbers of its law only"
    ):
        mechanism.event(elastic={floor: FALLS})
    with pytest.raises(jd.BadEvent, match=r"of raw arrays only jd\.laws\.approach is known"):
        jd.transition([[1.0]], [-1.0], contacts=[unknown])
    own = sp.Symbol("approach")  # another symbol of that name is a parameter like any other
    with pytest.raises(jd.UnknownName, match="approach"):
        mechanism.event(contacts={floor: Frictionless(own)})


def test_a_parameter_of_that_name_is_a_clash() -> None:
    q, v, p = (ca.SX.sym(name) for name in ("y", "v", "approach"))
    known: Any = {p: 2.0}
    mechanism = jd.Mechanism.from_casadi(q, v, p, parameters=known)
    floor = mechanism.contact("floor", normal=v)
    with pytest.raises(jd.NameClash, match="'approach' is the speed of a contact in laws, and also a parameter"):
        mechanism.event(contacts={floor: Frictionless(FALLS)})


@pytest.mark.parametrize("state", list(ContactState))
def test_only_what_sticks_is_said_to_wedge(state: ContactState) -> None:
    """A contact whose law is not met wedges only where it sticks."""
    event = gallery.rough_rod().event
    values: Any = SimpleNamespace(
        contact_residual=np.ones((1, 1)), contact_state=np.full((1, 1), float(state)),
        restitution_work=np.ones((1, 1)), compression_work=np.ones((1, 1)),
    )  # fmt: skip
    error = refusal(jd.Status.INFEASIBLE, values, event.layout, {})
    assert ("wedges" in str(error)) == (state is ContactState.STICKS)
    assert "friction" in str(error)
