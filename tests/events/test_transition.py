"""The form of outcomes: names, shapes, tables, files."""

import pickle
from typing import Any

import casadi as ca
import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, dynamicsymbols

import jourdain as jd
from jourdain import gallery
from models import planar_walker

POSE = {"stance": 0.35, "swing": -0.35}
MOTION = {"foot_x": 0.2, "stance": 1.0, "swing": 1.0}


@pytest.fixture
def walker():
    return planar_walker()[0]


def test_rows_by_constraint_by_row_and_by_object(walker):
    heel = walker.constraints["heel"]
    t = walker.event(inert=[heel], released=["stance"]).solve(POSE, MOTION)
    assert t.impulse["heel"].shape == (2,)
    assert t.impulse[heel][0] == t.impulse["heel.normal"] == t.impulse[heel.normal]
    assert t.impulse["heel.tangent"] == t.impulse["heel"][1]
    assert list(t.impulse) == ["heel", "stance"]
    assert not t.impulse["stance"].any()
    assert set(t.u_plus) == {"heel", "stance"}
    assert isinstance(t.loss, float)
    assert isinstance(t.velocity_plus["stance"], float)
    assert t.v_plus.shape == (5,)


def test_parts_of_a_contact_take_different_roles(walker):
    heel = walker.constraints["heel"]
    t = walker.event(elastic={heel.normal: 0.5}, inert=[heel.tangent], released=["stance"]).solve(POSE, MOTION)
    assert t.u_plus["heel.normal"] == pytest.approx(-0.5 * t.u_minus["heel.normal"], rel=1e-12)
    assert t.u_plus["heel.tangent"] == pytest.approx(0, abs=1e-14)


def test_batch_shapes(walker):
    event = walker.event(inert=["heel"], released=["stance"])
    t = event.solve({"stance": np.linspace(0.2, 0.4, 3), "swing": -0.3}, np.zeros((2, 1, 5)), m=[1.0, 2.0, 3.0])
    assert t.v_plus.shape == (2, 3, 5)
    assert t.impulse["heel"].shape == (2, 3, 2)
    assert t.impulse["heel.normal"].shape == t.T_minus.shape == t.status.shape == t.ok.shape == (2, 3)
    assert t.status.dtype == np.int8
    assert t.dof.virtual.shape == (2, 3)
    assert t.redundant == {}
    empty = event.solve(np.zeros((0, 5)), np.zeros((0, 5)))
    assert empty.v_plus.shape == (0, 5)


def test_redundant_group_is_booked_together(walker):
    fx = dynamicsymbols("foot_x")
    twin = walker.constraint("twin", 2 * fx.diff())
    pin = walker.constraint("pin", fx.diff())
    t = walker.event(inert=[pin, twin, "heel"]).solve(POSE, {"foot_x": 0.4, "stance": 0.2})
    assert t.redundant == ("twin",)
    assert t.undetermined == ("pin", "twin")
    assert set(t.ledger) == {"pin + twin", "heel"}
    assert sum(t.ledger.values()) == pytest.approx(t.T_plus - t.T_minus, rel=1e-12)
    with pytest.raises(jd.UnknownName, match=r"no ledger entry 'pin'; there are: 'pin \+ twin', 'heel'"):
        t.ledger["pin"]
    # W_ss of twin is 4 times that of pin: λ_pin c + λ_twin 2c is given, Σ W_ss λ_s² is least for equal shares.
    assert t.impulse["pin"] == pytest.approx(2 * t.impulse["twin"], rel=1e-12)
    assert "redundant: twin" in str(t)
    null = t.impulse_nullspace
    assert null.shape == (4, 1)
    assert null[0] + 2 * null[1] == pytest.approx(0, abs=1e-15)


def test_energy_created_is_said(walker):
    """Coupled rows with different restitutions can create energy; the outcome says so, with the amount."""
    event = walker.event(elastic={"heel": [0.0, 1.0]})
    rng = np.random.default_rng(3)
    batch = event.solve(rng.uniform(-0.5, 0.5, (400, 5)), rng.normal(size=(400, 5)))
    created = batch.T_plus - batch.T_minus > 1e-9
    assert created.any()
    assert (batch.status[created] == jd.Status.ENERGY_CREATED).all()
    assert (batch.status[~created] == jd.Status.OK).all()
    assert batch.energy_created == pytest.approx(np.maximum(batch.T_plus - batch.T_minus, 0), abs=1e-12)
    i = int(np.argmax(created))
    one = event.solve(np.random.default_rng(3).uniform(-0.5, 0.5, (400, 5))[i], batch.v_minus[i])
    assert one.status is jd.Status.ENERGY_CREATED
    assert not one.ok
    assert "energy created" in str(one)
    assert "J created" in str(one)


def test_nonideal_rows(walker):
    """Given tangential impulses: λ̄ + Λ̄ does not depend on them [FK-a eq. 15]."""
    heel = walker.constraints["heel"]
    event = walker.event(inert=[heel.normal], nonideal={heel.tangent: "beta"}, released=["stance"])
    t = event.solve(POSE, MOTION, beta=[0.0, -0.7])
    total = t.impulse["heel.normal"] + t.Lambda["heel.normal"]
    assert total[0] == pytest.approx(total[1], rel=1e-12)
    assert t.impulse["heel.tangent"] == pytest.approx([0.0, -0.7])
    assert t.T_c_plus == pytest.approx([0, 0], abs=1e-15)
    assert sum(t.ledger.values()) == pytest.approx(t.T_plus - t.T_minus, rel=1e-10)
    assert "heel.tangent" in t.ledger


def test_applied_impulses_at_points_on_bodies_and_generalized():
    scenario = gallery.sleigh("landing")
    mechanism = scenario.event.mechanism
    q = {"theta": 0.4}
    P = np.array([0.3, -0.8])
    at_A = mechanism.event(impulses={"A": list(P)}).solve(q)
    J = mechanism.jacobian("A", q)
    assert mechanism.mass_matrix(q) @ at_A.v_plus == pytest.approx(J.T @ [*P, 0], abs=1e-14)
    spin = mechanism.event(impulses={"sleigh": 0.6}).solve(q)
    assert spin.v_plus == pytest.approx([0, 0, 0.3], abs=1e-15)
    assert mechanism.event(impulses={"sleigh": [0, 0, 0.6]}).solve(q).v_plus == pytest.approx(spin.v_plus)
    push = mechanism.event(impulses={"theta": "H", "x": 1.2}).solve(q, H=0.6)
    assert push.v_plus == pytest.approx([0.1, 0, 0.3], abs=1e-15)
    assert list(push.ledger) == ["impulse theta", "impulse x"]
    assert push.ledger["impulse x"] == pytest.approx(0.5 * 12 * 0.1**2)
    parameter = mechanism.event(impulses={"A": [sp.Symbol("l"), 0]}).solve(q, l=0.5)
    assert mechanism.mass_matrix(q) @ parameter.v_plus == pytest.approx(
        mechanism.jacobian("A", q, l=0.5).T @ [0.5, 0, 0]
    )


def test_effective_mass():
    scenario = gallery.sleigh("landing")
    t = scenario.solve()
    p = scenario.parameters
    expected = 1 / (1 / p["M"] + p["l"] ** 2 / p["I"])
    assert t.effective_mass["blade"] == pytest.approx(expected, rel=1e-14)
    assert t.impulse["blade"] == pytest.approx(-expected * t.u_minus["blade"], rel=1e-13)
    held = gallery.sleigh("struck").solve()
    assert held.effective_mass["blade"] == np.inf


def test_required_friction_of_a_pulling_contact(walker):
    event = walker.event(inert=["heel"])
    t = event.solve(POSE, {"foot_y": [1.0, -1.0, 0.0]})
    assert t.required_friction["heel"][0] == np.inf
    assert np.isfinite(t.required_friction["heel"][1])
    assert t.required_friction["heel"][2] == 0


@pytest.mark.parametrize("mass", [1e-9, 1.0, 1e12])
@pytest.mark.parametrize(("normal", "tangent"), [(1, 1), (1e-8, 1e-8), (1e8, 1e8), (1e-8, 1), (1e6, 1e-2), (1, 1e8)])
def test_an_idle_contact_requires_no_friction(mass, normal, tangent, rng):
    """The bodies at the wall do not move the one on its foot: what is left of its impulses is rounding in any unit."""
    for n_tangents in (1, 2):
        M, wall, foot = np.zeros((8, 8)), np.zeros((2, 8)), np.zeros((1 + n_tangents, 8))
        for half in (slice(0, 4), slice(4, 8)):
            X = rng.normal(size=(4, 4))
            M[half, half] = X @ X.T + 0.1 * np.eye(4)
        wall[:, :4], foot[:, 4:] = rng.normal(size=(2, 4)), rng.normal(size=(1 + n_tangents, 4))
        v = rng.normal(size=8)
        v[4:] -= np.linalg.pinv(foot[:, 4:]) @ (foot[:, 4:] @ v[4:])
        mixed = rng.normal(size=(8, 8))  # no velocity belongs to one of them alone
        M, wall, foot, v = mass * mixed.T @ M @ mixed, wall @ mixed, foot @ mixed, np.linalg.solve(mixed, v)
        foot *= np.array([normal, *[tangent] * n_tangents])[:, None]
        q, rates = (ca.vertcat(*(ca.SX.sym(f"{letter}{i}") for i in range(8))) for letter in "qw")
        made = jd.Mechanism.from_casadi(q, rates, ca.SX(M))
        made.constraint("wall", [(ca.SX(row[None]) @ rates)[0] for row in wall])
        first, *others = [(ca.SX(row[None]) @ rates)[0] for row in foot]
        made.contact("foot", normal=first, tangent=others)
        speeds = np.array([0.0, 1e-7, 1.0, 1e4])
        two_sided = made.event(inert=["wall", "foot"])
        for speed in speeds:
            assert two_sided.solve(v=speed * v).required_friction["foot"] == 0
        assert not two_sided.solve(v=speeds[:, None] * v).required_friction["foot"].any()
        at_rest = made.event(contacts={"foot": jd.laws.MoreauCoulomb(0.4)}, regular=["wall"]).solve(v=0 * v)
        assert at_rest.required_friction["foot"] == 0
        # An impulse that is not rounding is seen in any unit.
        struck = two_sided.solve(v=v - np.linalg.solve(M, foot.T @ [1.0, *[0.3] * n_tangents] / normal) * 1e-6 * mass)
        lam = struck.impulse["foot"]
        assert struck.required_friction["foot"] == pytest.approx(np.linalg.norm(lam[1:]) / lam[0], rel=1e-12)


def test_pickle_dict_dataset_html(walker):
    t = walker.event(inert=["heel"], released=["stance"]).solve(POSE, MOTION)
    copy = pickle.loads(pickle.dumps(t))
    assert str(copy) == str(t)
    fields = t.to_dict()
    assert fields["impulse"]["heel"] == pytest.approx(t.impulse["heel"])
    assert fields["status"] is jd.Status.OK
    data = t.to_dataset()
    assert float(data.v_plus.sel(velocity="torso")) == t.velocity_plus["torso"]
    assert float(data.impulse.sel(row="heel.normal")) == t.impulse["heel.normal"]
    assert data.loss.attrs["units"] == "J"
    assert data.status.attrs["flag_meanings"].startswith("ok energy_created")
    page = t._repr_html_()
    assert page.count("<table>") == 3
    assert "heel.normal (m/s)" in page


def test_table_hides_rounding(walker):
    text = str(walker.event(inert=["heel"], released=["stance"]).solve(POSE, MOTION))
    assert "e-1" not in text
    assert "−" in text
    assert max(len(line) for line in text.splitlines()) < 90


def test_status_has_a_message_and_a_remedy():
    for status in jd.Status:
        assert len(status.message) > 5
    assert "check='project'" in jd.Status.PRIOR_VIOLATED.message


def test_a_contact_that_pulls_is_said(walker):
    assert "pulls (two-sided): heel" in str(walker.event(inert=["heel"]).solve(POSE, {"foot_y": 1.0}))
    assert "pulls" not in str(walker.event(inert=["heel"]).solve(POSE, {"foot_y": -1.0}))


def test_no_friction_is_required_where_nothing_acts(walker):
    """A regular contact whose impulse is rounding only."""
    event = walker.event(regular=["stance"])
    for angle in (0.1, 0.7, 1.3):
        assert event.solve({"stance": angle}, {"stance": 1.0}, check="project").required_friction["stance"] == 0


def test_released_supports_that_move_do_not_hide_created_energy(walker):
    s = sp.Symbol("R")
    moving = walker.constraint("moving", dynamicsymbols("torso").diff() - 0.3 * s / s)
    event = walker.event(elastic={"heel": [0.0, 1.0]}, released=[moving])
    rng = np.random.default_rng(3)
    q, v = rng.uniform(-0.5, 0.5, (200, 5)), rng.normal(size=(200, 5))
    v[:, 4] = 0.3
    t = event.solve(q, v)
    created = t.T_plus - t.T_minus > 1e-9
    assert created.any()
    assert (t.status[created] == jd.Status.ENERGY_CREATED).all()


def test_nullspace_and_dof_beside_a_failed_lane(walker):
    fx = dynamicsymbols("foot_x")
    pin, twin = walker.constraint("pin", fx.diff()), walker.constraint("twin", 2 * fx.diff())
    t = walker.event(inert=[pin, twin]).solve(POSE, {"foot_x": [0.4, np.nan]})
    assert t.impulse_nullspace.shape == (2, 2, 1)
    assert np.isnan(t.dof.posterior[1])
    assert t.dof.posterior[0] == 4


def test_values_and_outputs_may_depend_on_time():
    scenario = gallery.sleigh("landing")
    mechanism = scenario.event.mechanism
    event = mechanism.event(elastic={"blade": sp.exp(-sp.Symbol("t"))})
    t = event.solve(v={"y": 1.0}, t=0.5)
    assert t.u_plus["blade"] == pytest.approx(-np.exp(-0.5) * t.u_minus["blade"], rel=1e-13)


def test_rows_by_their_own_name_take_part(walker):
    loop = walker.constraint("loop", {"x": dynamicsymbols("foot_x").diff(), "y": dynamicsymbols("foot_y").diff()})
    t = walker.event(inert=["loop.y"]).solve(POSE, {"foot_x": 0.4, "foot_y": 0.2})
    assert list(t.impulse) == ["loop.y"]
    assert t.u_plus["loop.y"] == pytest.approx(0, abs=1e-15)
    assert loop.row_names == ("loop.x", "loop.y")


def test_points_serve_as_keys_by_themselves():
    mechanism = gallery.sleigh("struck").event.mechanism
    D = mechanism.points["D"].source
    by_object = mechanism.event(impulses={D: [1.0, 2.0]}).solve()
    assert np.array_equal(by_object.v_plus, mechanism.event(impulses={"D": [1.0, 2.0]}).solve().v_plus)
    assert np.array_equal(mechanism.jacobian(D), mechanism.jacobian("D", parameters={"l": 0.4}))


def test_a_series_is_read_by_its_labels(walker):
    pandas = pytest.importorskip("pandas")
    event = walker.event(inert=["heel"], released=["stance"])
    series = pandas.Series({"swing": 1.0, "stance": 1.0, "foot_x": 0.2})
    assert np.array_equal(event.solve(POSE, series).v_plus, event.solve(POSE, MOTION).v_plus)


# Named outputs without a finite value


def sliding(expression: Any) -> tuple[jd.Mechanism, tuple[Any, ...]]:
    """A particle in a plane with one output, written in x, y, a and w."""
    x, y = dynamicsymbols("x y")
    a, w = sp.symbols("a w")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    P = O.locatenew("P", x * N.x + y * N.y)
    outputs = {"fine": x.diff() + y.diff(), "bad": expression(x, y, a, w)}
    made = jd.Mechanism.from_sympy([Particle("p", P, 2.0)], N, [x, y], parameters={a: 1.0, w: 1.0}, outputs=outputs)
    made.constraint("floor", y.diff())
    made.constraint("belt", x.diff() - w)
    return made, (x, y)


OUTPUTS: dict[str, tuple[Any, str]] = {
    "infinite": (lambda x, y, a, w: x.diff() / (x - a), "inf"),
    "not a number": (lambda x, y, a, w: sp.sqrt(x - a - sp.Rational(1, 10)) * y.diff(), "nan"),
    "an offset": (lambda x, y, a, w: y.diff() + sp.log(a - x), "-inf"),
}


@pytest.mark.parametrize("why", OUTPUTS)
@pytest.mark.parametrize("n", [3, 2000])
def test_an_output_without_a_finite_value_is_no_outcome(why: str, n: int) -> None:
    """Not OK in single events, batches, sweeps and gradients, whichever quantity is asked for."""
    expression, value = OUTPUTS[why]
    made, (x, _) = sliding(expression)
    event, v = made.event(inert=["floor"]), {"x": 3.0, "y": -1.0}
    a = np.full(n, 0.0 if why != "an offset" else 2.0)
    a[n // 2] = 1.0  # x = 1 there
    expected = np.where(a == 1.0, jd.Status.NOT_FINITE, jd.Status.OK)
    scenario = event.at(q={x: 1.0}, v=v)
    for check in (True, False):
        batch = event.solve({"x": 1.0}, v, check=check, a=a)
        np.testing.assert_array_equal(batch.status, expected)
        np.testing.assert_array_equal(batch.ok, a != 1.0)
        assert np.isnan(batch.v_plus[n // 2]).all()
        with pytest.raises(jd.NotFinite, match=rf"Output 'bad' is {value} before and .*; check its expression"):
            event.solve({"x": 1.0}, v, check=check, a=1.0)
    for keep in (None, ["loss"], ["outputs.fine"], ["outputs.bad"]):
        np.testing.assert_array_equal(scenario.sweep(a=a, keep=keep).status, expected)
    for of in ("loss", "outputs.bad", "outputs.fine"):
        assert np.isnan(event.gradient(of, "v.y", {"x": 1.0}, v, a=a)["v.y"]).tolist() == (a == 1.0).tolist()
        with pytest.raises(jd.NotFinite, match="Output 'bad' is"):
            event.gradient(of, "v.y", {"x": 1.0}, v, a=1.0)
        with pytest.raises(jd.NotFinite, match="Output 'bad' is"):
            scenario.gradient(of, "w", a=1.0)


def test_an_output_that_is_infinite_only_after_the_event() -> None:
    made, _ = sliding(lambda x, y, a, w: x.diff() + 1 / w)
    event = made.event(live={"belt": {"w": (1.0, "after")}})
    assert event.solve(v={"x": 1.0}, after=2.0).outputs["bad"] == 2.5
    with pytest.raises(jd.NotFinite, match="Output 'bad' is 2 before and inf after the event"):
        event.solve(v={"x": 1.0}, after=0.0)


def test_other_causes_are_named_before_the_output() -> None:
    """A velocity that breaks a row is the cause, whatever the outputs are."""
    made, _ = sliding(lambda x, y, a, w: x.diff() / (x - a))
    with pytest.raises(jd.PriorViolated, match="floor"):
        made.event(regular=["floor"]).solve({"x": 1.0}, {"x": 1.0, "y": -1.0})


def caught_body(n_v, n_rows, rng):
    """(mechanism, its M, its rows) of a body whose velocities are caught by the rows "hold"; both grow with x0."""
    q, v = (ca.vertcat(*(ca.SX.sym(f"{name}{i}") for i in range(n_v))) for name in "xv")
    A, C = rng.standard_normal((n_v, n_v)), rng.standard_normal((n_rows, n_v))
    M, size = A @ A.T + np.eye(n_v), 2 + ca.cos(q[0])
    body = jd.Mechanism.from_casadi(q, v, ca.SX(M) * size)
    body.constraint("hold", ca.SX(C) @ v * size)
    return body, M, C


@pytest.mark.parametrize(("n_v", "n_rows"), [(1, 1), (2, 2), (3, 2), (5, 5), (6, 5)])
def test_a_body_that_is_caught_may_be_released_at_once(n_v, n_rows, rng):
    """Releasing alone changes nothing, however little of the motion is left: `free` is its part that is not caught."""
    body, M, C = caught_body(n_v, n_rows, rng)
    catch, release = body.event(inert=["hold"]), body.event(released=["hold"])
    along_rows = np.linalg.solve(M, C.T)  # M-orthogonal to what the rows leave
    for n_events in (1, 1023, 1024):
        for free in [0.0] if n_rows == n_v else [0.0, 1e-18, 1e-14, 1e-11, 1e-6]:
            q, v = rng.standard_normal((n_events, n_v)), rng.standard_normal((n_events, n_rows)) @ along_rows.T
            caught = catch.solve(q, v + free * np.linalg.svd(C)[2][-1])
            released = caught.then(release)
            assert released.ok.all()
            assert np.abs(released.v_plus - caught.v_plus).max() <= 1e-13 * np.abs(v).max()


@pytest.mark.parametrize("n_events", [1, 2000])
def test_a_body_struck_while_it_is_held_may_be_released(n_events, rng):
    """At rest before, after and in between: the only measure of rounding are the impulses."""
    body, *_ = caught_body(4, 4, rng)
    held = body.event(inert=["hold"], impulses={f"x{i}": f"p{i}" for i in range(4)})
    strokes = {f"p{i}": rng.standard_normal(n_events) * 1e6 for i in range(4)}
    assert held.solve(**strokes).then(body.event(released=["hold"])).ok.all()


def test_what_is_more_than_rounding_breaks_the_rows_of_the_next_event(rng):
    body, *_ = caught_body(3, 3, rng)
    nothing, held = body.event(), body.event(regular=["hold"])
    with pytest.raises(jd.PriorViolated):
        nothing.solve(v=rng.standard_normal(3) * 1e-9).then(held)
    statuses = nothing.solve(v=rng.standard_normal((2000, 3)) * 1e-9).then(held).status
    assert np.all(statuses == jd.Status.PRIOR_VIOLATED)
