"""Friction of contacts in space: inside the event, and on the velocity after it."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

import jourdain as jd
from jourdain import laws
from jourdain.algebra import lapack
from jourdain.algebra.contacts.coulomb_plane import planar
from jourdain.laws import ContactState
from oracles import contacts as oracle
from oracles import contacts_in_space as spatial_oracle

HYPOTHESES: tuple[Any, ...] = ("newton", "poisson", "stronge")
WEIGHTS = ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))  # of a difference of fourth order


def strike(W, u, law) -> jd.Transition:
    """Contacts in space with this W = Y Yᵀ and these rates before, three rows each; batches allowed."""
    Y = np.linalg.cholesky(W)
    v = np.linalg.solve(Y, np.asarray(u)[..., None])[..., 0]
    several = law if isinstance(law, list) else [law]
    contacts = [
        jd.Contact(normal=Y[..., 3 * i, :], tangent=Y[..., 3 * i + 1 : 3 * i + 3, :], law=one)
        for i, one in enumerate(several)
    ]
    return jd.transition(np.eye(Y.shape[-1]), v, contacts=contacts)


def many(rng: np.random.Generator, m: int):
    cases = [oracle.random_spatial(rng) for _ in range(m)]
    W, u, mu, e = (np.array(part) for part in zip(*cases, strict=True))
    return W, u, mu, e


@pytest.fixture(scope="module")
def box() -> jd.Mechanism:
    """A body in space with a corner P."""
    x, y, z, a, b, c = q = dynamicsymbols("x y z a b c")
    m, l = sp.symbols("m l")
    N = ReferenceFrame("N")
    B = N.orientnew("B", "body", [a, b, c], "XYZ")
    O = Point("O")
    O.set_vel(N, 0)
    C = O.locatenew("C", x * N.x + y * N.y + z * N.z)
    P = C.locatenew("P", l * B.x / 2 - l * B.y / 3 - l * B.z)
    body = RigidBody("body", C, B, m, (inertia(B, m * l**2, 2 * m * l**2, m * l**2 * sp.Rational(3, 2)), C))
    made = jd.Mechanism.from_sympy([body], N, q, parameters={m: 2.0, l: 0.5}, points={"P": P})
    v = P.vel(N)
    made.contact("foot", normal=v.dot(N.z), tangent=[v.dot(N.x), v.dot(N.y)])
    return made


STATE: dict[str, Any] = {
    "q": {"a": 0.3, "b": -0.2, "c": 0.1},
    "v": {"x": 1.0, "y": 0.4, "z": -2.0, "a": 0.3, "b": 0.2, "c": -1.0},
    "mu": 0.3,
    "e": 0.5,
}


# Inside the event


def against_steps(rng: np.random.Generator, m: int, hypothesis: Any) -> dict[str, Any]:
    """The largest error by state, of the speeds before."""
    worst: dict[str, Any] = {}
    for _ in range(m):
        W, u, mu, e = oracle.random_spatial(rng)
        t = strike(W, u, laws.Coulomb(mu, e, hypothesis))
        expected = oracle.spatial_by_steps(W, u, mu, e, hypothesis.capitalize())
        state = t.contact["contact 0"].name.lower()
        assert state == expected.state
        scale = np.abs(expected.compression) + np.abs(expected.friction)
        parts = ("compression", "restitution", "friction")
        works = [abs(t.ledger[f"contact 0 {part}"] - getattr(expected, part)) / scale for part in parts]
        error = np.max(np.abs(t.u_plus["contact 0"] - expected.u_plus)) / np.max(np.abs(u))
        worst[state] = max(worst.get(state, 0.0), error, *works)
        assert sum(t.ledger.values()) == pytest.approx(-t.loss, abs=float(1e-12 * t.T_minus))
    return worst


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_against_steps(hypothesis: Any, rng: np.random.Generator) -> None:
    worst = against_steps(rng, 12, hypothesis)
    assert max(worst.values()) < 1e-8, worst


@pytest.mark.exhaustive
@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_against_steps_in_many_cases(hypothesis: Any, rng: np.random.Generator) -> None:
    worst = against_steps(rng, 300, hypothesis)
    assert set(worst) == {"slips", "sticks", "reverses"}
    assert max(worst.values()) < 1e-7, worst


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_a_ball_slips_straight(hypothesis: Any, rng: np.random.Generator) -> None:
    """W is diagonal and the same along both tangents: p_t = −min(μ p, ‖u_t‖ / W_tt) û, and p = (1 + κ) |u_n| / W_nn."""
    m = 200
    n, t = rng.uniform(0.5, 2, m), rng.uniform(0.5, 5, m)
    W = np.zeros((m, 3, 3))
    W[:, 0, 0], W[:, 1, 1], W[:, 2, 2] = n, t, t
    u = np.column_stack([-rng.uniform(0.5, 2, m), rng.normal(size=(m, 2))])
    mu, e = rng.uniform(0, 1.5, m), rng.uniform(0, 1, m)
    found = strike(W, u, laws.Coulomb(mu, e, hypothesis))
    p = (1 + e) * -u[:, 0] / n
    speed = np.hypot(u[:, 1], u[:, 2])
    p_t = -np.minimum(mu * p, speed / t)[:, None] * u[:, 1:] / speed[:, None]
    np.testing.assert_allclose(found.impulse["contact 0"], np.column_stack([p, p_t]), rtol=0, atol=1e-12)
    sticks = mu * p > speed / t
    np.testing.assert_array_equal(found.contact["contact 0"] == ContactState.STICKS, sticks)
    direction = found.slip_direction["contact 0"]
    np.testing.assert_allclose(direction[~sticks], (u[:, 1:] / speed[:, None])[~sticks], atol=1e-12)
    assert np.isnan(direction[sticks]).all()


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_a_planar_contact_in_space(hypothesis: Any, rng: np.random.Generator) -> None:
    """A planar contact beside which nothing happens, its tangents turned by any angle."""
    W, u, mu, e = oracle.random_planar(rng, 400)
    path = planar(np.linalg.cholesky(W), u[..., None], mu[:, None, None], e[:, None, None], hypothesis, lapack)
    beside = np.zeros((400, 3, 3))
    beside[:, :2, :2], beside[:, 2, 2] = W, rng.uniform(0.5, 2, 400) * W[:, 1, 1]
    angle = rng.uniform(0, 2 * np.pi, 400)
    c, s = np.cos(angle), np.sin(angle)
    R = np.zeros((400, 3, 3))
    R[:, 0, 0], R[:, 1, 1], R[:, 1, 2], R[:, 2, 1], R[:, 2, 2] = 1, c, -s, s, c
    turned = R @ beside @ np.swapaxes(R, 1, 2)
    rates = (R @ np.column_stack([u, np.zeros(400)])[..., None])[..., 0]
    t = strike(turned, rates, laws.Coulomb(mu, e, hypothesis))
    assert (t.status <= jd.Status.ENERGY_CREATED).all()
    along = (np.swapaxes(R, 1, 2) @ t.impulse["contact 0"][..., None])[..., 0]
    expected = np.stack([path.p_n, path.p_t], axis=-1)[:, 0, 0]
    scale = np.abs(expected[:, :1])
    np.testing.assert_allclose(along[:, :2] / scale, expected / scale, atol=1e-9)
    np.testing.assert_allclose(along[:, 2:] / scale, 0.0, atol=1e-9)


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_friction_takes_energy(hypothesis: Any, rng: np.random.Generator) -> None:
    """Stronge's and Poisson's hypotheses never create any, Newton's sometimes does and says so; friction never."""
    W, u, mu, e = many(rng, 1500)
    t = strike(W, u, laws.Coulomb(mu, e, hypothesis))
    gain = -t.loss / t.T_minus
    created = t.status == jd.Status.ENERGY_CREATED
    np.testing.assert_array_equal(created, gain > 1e-10)
    assert created.any() == (hypothesis == "newton")
    assert (t.ledger["contact 0 friction"] <= 1e-13 * t.T_minus).all()
    assert (t.ledger["contact 0 compression"] <= 0).all()
    impulse = t.impulse["contact 0"]
    assert (np.hypot(impulse[:, 1], impulse[:, 2]) <= mu * impulse[:, 0] * (1 + 1e-10)).all()
    restitution = t.ledger["contact 0 restitution"] / -t.ledger["contact 0 compression"]
    if hypothesis == "stronge":
        np.testing.assert_allclose(restitution, e**2, atol=1e-10)
    if hypothesis == "newton":
        np.testing.assert_allclose(t.u_plus["contact 0"][:, 0], -e * u[:, 0], atol=1e-10)


def test_the_threshold_of_sticking(rng: np.random.Generator) -> None:
    """Without slip before: it sticks from ‖W_tt⁻¹ W_tn‖ on; below, it slips along û with (μ W_tt + c I) û = W_tn."""
    for _ in range(20):
        W, u, _, e = oracle.random_spatial(rng)
        u[1:] = 0
        needed = float(np.linalg.norm(np.linalg.solve(W[1:, 1:], W[1:, 0])))
        below, above = (strike(W, u, laws.Coulomb(needed * part, e, "poisson")) for part in (1 - 1e-6, 1 + 1e-6))
        assert above.contact["contact 0"] is ContactState.STICKS
        assert below.contact["contact 0"] is ContactState.SLIPS
        assert above.required_friction["contact 0"] == pytest.approx(needed, rel=1e-9)
        slow = strike(W, u, laws.Coulomb(needed / 2, e, "poisson"))
        direction = slow.slip_direction["contact 0"]
        rest = W[1:, 0] - needed / 2 * W[1:, 1:] @ direction  # c û
        assert rest @ direction == pytest.approx(np.linalg.norm(rest), rel=1e-9)


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
@pytest.mark.parametrize("mu", [0.3, 0.8])  # it slips on, and it sticks
def test_derivatives(hypothesis: Any, mu: float, box: jd.Mechanism) -> None:
    event = box.event(contacts={"foot": laws.Coulomb("mu", "e", hypothesis)})
    state = {**STATE, "mu": mu}
    for of in ("loss", "impulse.foot", "friction_work.foot"):
        found = event.gradient(of, ["mu", "e", "l", "v.x", "q.a"], **state)
        for name in found:
            h, slope = 1e-3, np.zeros(())
            for k, weight in WEIGHTS:
                moved = {**state, "q": dict(state["q"]), "v": dict(state["v"])}
                kind, _, part = name.partition(".")
                if part:
                    moved[kind][part] += k * h
                else:
                    moved[name] = moved.get(name, 0.5) + k * h
                t = event.solve(**moved)
                value = {"loss": t.loss, "impulse.foot": t.impulse["foot"]}.get(of, t.ledger["foot friction"])
                slope = slope + weight * value / h
            np.testing.assert_allclose(found[name], slope, rtol=2e-8, atol=2e-8)


def test_one_and_many(box: jd.Mechanism, rng: np.random.Generator) -> None:
    """A batch by kernels gives what single events give, in values and in derivatives."""
    event = box.event(contacts={"foot": laws.Coulomb("mu", "e", "stronge")})
    n = 1100
    mu, v_x = rng.uniform(0, 1, n), rng.normal(size=n)
    batch = event.solve(STATE["q"], {**STATE["v"], "x": v_x}, mu=mu, e=0.5)
    slopes = event.gradient("loss", ["mu", "v"], STATE["q"], {**STATE["v"], "x": v_x}, mu=mu, e=0.5)
    assert batch.ok.all()
    assert {ContactState.STICKS, ContactState.SLIPS} <= set(batch.contact["foot"])
    for i in range(0, n, 97):
        one = event.solve(STATE["q"], {**STATE["v"], "x": v_x[i]}, mu=mu[i], e=0.5)
        np.testing.assert_allclose(batch.v_plus[i], one.v_plus, atol=1e-11)
        alone = event.gradient("loss", ["mu", "v"], STATE["q"], {**STATE["v"], "x": v_x[i]}, mu=mu[i], e=0.5)
        np.testing.assert_allclose(slopes["v"][i], alone["v"], atol=1e-8)
        np.testing.assert_allclose(slopes["mu"][i], alone["mu"], atol=1e-8)


def test_a_scenario_in_space(box: jd.Mechanism) -> None:
    event = box.event(contacts={"foot": laws.Coulomb("mu", "e", "stronge")})
    tilt = sp.Symbol("tilt")
    pose: dict[str, Any] = {"q": {"a": tilt, "b": -0.2}, "v": {"x": 1.0, "z": -2.0}}
    scenario = event.at(**pose, defaults={tilt: 0.3, "mu": 0.3, "e": 0.5})
    data = scenario.sweep(tilt=np.linspace(0, 1, 5), mu=[0.1, 0.6])
    for i, angle in enumerate(data.tilt.values):
        for j, mu in enumerate(data.mu.values):
            assert data.loss.values[i, j] == pytest.approx(scenario.solve(tilt=angle, mu=mu).loss, abs=1e-12)
    slope = scenario.gradient("loss", ["tilt", "mu"])
    for name, at in (("tilt", 0.3), ("mu", 0.3)):
        difference = sum(w * scenario.solve(parameters={name: at + k * 1e-3}).loss / 1e-3 for k, w in WEIGHTS)
        assert slope[name] == pytest.approx(difference, abs=1e-8)
    with pytest.raises(jd.BadEvent, match="'foot', in space and with friction, are found by iteration"):
        event.function()


@pytest.mark.parametrize("mu", [0.3, 0.8])
def test_the_path_in_space(mu: float, box: jd.Mechanism) -> None:
    event = box.event(contacts={"foot": laws.Coulomb("mu", "e", "stronge")})
    t = event.solve(**{**STATE, "mu": mu})
    path = t.path("foot")
    end = path.at(path.p[-1])
    assert path.p[-1] == pytest.approx(t.impulse["foot.normal"], rel=1e-12)
    np.testing.assert_allclose(end["p_t"], t.impulse["foot"][1:], atol=1e-10)
    np.testing.assert_allclose([end["u_n"], *end["u_t"]], t.u_plus["foot"], atol=1e-10)
    assert end["work"] == pytest.approx(-t.loss, abs=1e-6)  # trapezoids between close knots
    assert path.at(path.p_c)["u_n"] == pytest.approx(0, abs=1e-6)
    # Friction opposes slip, with all it has: dp_t/dp = −μ û.
    middle = (path.u_t[1:] + path.u_t[:-1]) / 2
    slips = (path.p[1:] <= min(path.p_slip, path.p[-1])) & (np.diff(path.p) > 1e-9)
    rate = np.diff(path.p_t, axis=0)[slips] / np.diff(path.p)[slips, None]
    np.testing.assert_allclose(rate, -mu * middle[slips] / np.linalg.norm(middle[slips], axis=1)[:, None], atol=1e-3)
    assert np.isfinite(path.p_slip) == (t.contact["foot"] is ContactState.STICKS)
    opening = event.solve(STATE["q"], {"z": 1.0}, mu=0.3, e=0.5)
    assert opening.contact["foot"] is ContactState.SEPARATES
    assert opening.path("foot").p.tolist() == [0.0]


def test_rows_that_hold_meanwhile() -> None:
    """A regular row reduces W: the same as the mechanism without that velocity."""
    q, v = ca.SX.sym("q", 4), ca.SX.sym("v", 4)
    M = np.array([[3.0, 0.2, 0.1, 0.3], [0.2, 2.0, 0.4, 0.1], [0.1, 0.4, 1.5, 0.2], [0.3, 0.1, 0.2, 1.0]])
    made = jd.Mechanism.from_casadi(q, v, ca.SX(ca.DM(M)))
    rows = np.array([[1.0, 0.2, 0.3, 0.5], [0.1, 1.0, 0.2, 0.4], [0.2, -0.3, 1.0, 0.7]])
    n, a, b = (ca.SX(ca.DM(row)).T @ v for row in rows)
    foot, hold = made.contact("foot", normal=n, tangent=[a, b]), made.constraint("hold", v[3])
    law = laws.Coulomb(0.4, 0.6, "stronge")
    t = made.event(regular=[hold], contacts={foot: law}).solve(v=[-1.0, 0.3, 0.2, 0.0])
    free = jd.transition(
        M[:3, :3], [-1.0, 0.3, 0.2], contacts=[jd.Contact(normal=rows[0, :3], tangent=rows[1:, :3], law=law)]
    )
    np.testing.assert_allclose(t.v_plus[:3], free.v_plus, atol=1e-11)
    np.testing.assert_allclose(t.impulse["foot"], free.impulse["contact 0"], atol=1e-11)


@pytest.mark.parametrize("kind", oracle.WIDE)
def test_harsh_cases(kind: str, rng: np.random.Generator) -> None:
    """Condition numbers up to 1e4, thresholds, slip that stops and starts again, jams: against implicit steps."""
    for hypothesis in HYPOTHESES:
        for _ in range(3):
            W, u, mu, e = oracle.random_spatial_wide(rng, kind)
            t = strike(W, u, laws.Coulomb(mu, e, hypothesis))
            expected = oracle.spatial_by_steps(W, u, mu, e, hypothesis.capitalize())
            assert str(t.contact["contact 0"]) == expected.state
            assert t.u_plus["contact 0"] == pytest.approx(expected.u_plus, abs=1e-7 * np.max(np.abs(u)))


@pytest.mark.parametrize("scale", [1e-10, 1.0, 1e10])
def test_slip_has_a_direction_in_any_unit_of_the_normal(scale: float) -> None:
    law = laws.MoreauCoulomb(0.2 * scale)
    foot = jd.Contact(normal=[scale, 0, 0], tangent=[[0, 1.0, 0], [0, 0, 1.0]], law=law)
    t = jd.transition(np.eye(3), [-1.0, 3.0, 4.0], contacts=[foot])
    assert t.contact["contact 0"] is ContactState.SLIPS
    assert t.slip_direction["contact 0"] == pytest.approx([0.6, 0.8], abs=1e-9)


# On the velocity after


@pytest.mark.parametrize(
    ("k", "redundant"), [(1, False), *((k, redundant) for k in (2, 4, 6) for redundant in (False, True))]
)
def test_laws_on_the_velocity_after(k: int, redundant: bool, rng: np.random.Generator) -> None:
    """Complementarity and Coulomb's law as `spatial_oracle.violation` measures them."""
    for _ in range(20):
        W, u, mu, e = spatial_oracle.random_contacts(rng, k, redundant)
        Y, v = spatial_oracle.rows_and_velocity(W, u)
        contacts = [
            jd.Contact(normal=Y[3 * c], tangent=Y[3 * c + 1 : 3 * c + 3], law=laws.MoreauCoulomb(mu[c], e[c]))
            for c in range(k)
        ]
        t = jd.transition(np.eye(len(v)), v, contacts=contacts)
        impulse = np.concatenate([t.impulse[f"contact {c}"] for c in range(k)])
        assert spatial_oracle.violation(W, spatial_oracle.bounced(u, e), mu, impulse) < 1e-10
        assert (t.to_dataset().contact_residual <= 1e-10).all()


def test_steep_friction_and_skew_rows_are_solved(rng: np.random.Generator) -> None:
    """Where exactly one answer exists it is found, also for μ of thousands and rows that are nearly parallel."""
    n = 400
    Y = rng.standard_normal((n, 3, 3)) + 3 * rng.standard_normal((n, 1, 3))
    W, mu = Y @ Y.swapaxes(1, 2), 10 ** rng.uniform(-2, 4, n)
    u = (Y @ rng.standard_normal((n, 3, 1)))[..., 0]
    u[:, 0] = -np.abs(u[:, 0])
    found = strike(W, u, laws.MoreauCoulomb(mu, 0.0)).impulse["contact 0"]
    ways = [spatial_oracle.all_of_one_contact(W[i], u[i], float(mu[i])) for i in range(n)]
    alone = [i for i in range(n) if len(ways[i]) == 1]
    assert len(alone) > 300
    for i in alone:
        wanted = ways[i][0].impulse
        assert found[i] == pytest.approx(wanted, abs=1e-7 * np.abs(wanted).max())


def test_one_of_all_solutions_of_one_contact(rng: np.random.Generator) -> None:
    for _ in range(60):
        W, u, mu, e = spatial_oracle.random_contacts(rng, 1)
        found = strike(W, u, laws.MoreauCoulomb(mu[0], e[0])).impulse["contact 0"]
        ways = spatial_oracle.all_of_one_contact(W, spatial_oracle.bounced(u, e), float(mu[0]))
        assert min(np.max(np.abs(found - way.impulse)) for way in ways) < 1e-9 * np.max(np.abs(found))


def test_the_velocity_after_of_planar_contacts_in_space(rng: np.random.Generator) -> None:
    """Two planar contacts in planes of their own: as enumeration of all ways finds them."""
    n_compared = 0
    for _ in range(30):
        Y = rng.normal(size=(4, 4))
        v = rng.normal(size=4)
        v = v - np.linalg.pinv(Y[::2]) @ (Y[::2] @ v + np.abs(Y[::2] @ v))
        mu = rng.uniform(0, 1, 2)
        flat = [jd.Contact(normal=Y[i], tangent=[Y[i + 1]], law=laws.MoreauCoulomb(mu[i // 2])) for i in (0, 2)]
        try:
            t = jd.transition(np.eye(4), v, contacts=flat)
        except jd.Ambiguous:
            continue
        wide, more = np.zeros((6, 6)), np.append(v, [0.0, 0.0])
        for c in range(2):
            s, o = np.sin(0.7 + c), np.cos(0.7 + c)
            beside = np.eye(6)[4 + c]
            along = np.append(Y[2 * c + 1], [0.0, 0.0])
            wide[3 * c : 3 * c + 3] = [np.append(Y[2 * c], [0, 0]), o * along - s * beside, s * along + o * beside]
        space = [
            jd.Contact(normal=wide[i], tangent=wide[i + 1 : i + 3], law=laws.MoreauCoulomb(mu[i // 3])) for i in (0, 3)
        ]
        found = jd.transition(np.eye(6), more, contacts=space)
        np.testing.assert_allclose(found.v_plus, [*t.v_plus, 0, 0], atol=1e-9)
        n_compared += 1
    assert n_compared > 20


def test_four_feet_and_friction() -> None:
    """A table lands flat and slides: the impulses are undetermined, the motion is not."""
    M, corners = np.diag([2.0, 2.0, 2.0, 0.3, 0.3, 0.5]), [(x, y) for x in (-0.5, 0.5) for y in (-0.4, 0.4)]
    law, h = laws.MoreauCoulomb(0.2), 0.3
    feet = []
    for x, y in corners:  # v = (x, y, z, about x, about y, about z); a foot at (x, y, −h)
        rows = np.array([[0, 0, 1, y, -x, 0], [1, 0, 0, 0, -h, -y], [0, 1, 0, h, 0, x]], dtype=float)
        feet.append(jd.Contact(normal=rows[0], tangent=rows[1:], law=law))
    t = jd.transition(M, [0.1, 0.05, -1.0, 0, 0, 0], contacts=feet)
    assert {"contact 0.normal", "contact 3.normal"} <= set(t.undetermined)
    for i in range(4):
        assert t.u_plus[f"contact {i}"][0] == pytest.approx(0, abs=1e-9)
        assert t.contact[f"contact {i}"] is ContactState.STICKS
    np.testing.assert_allclose(t.v_plus, 0, atol=1e-9)  # slow enough to be held


def test_derivatives_of_the_velocity_after(box: jd.Mechanism) -> None:
    event = box.event(contacts={"foot": laws.MoreauCoulomb("mu", "e")})
    for mu in (0.3, 0.9):
        found = event.gradient("loss", ["mu", "e", "l"], **{**STATE, "mu": mu})
        for name, at in (("mu", mu), ("e", 0.5), ("l", 0.5)):
            values = [w * event.solve(**{**STATE, "mu": mu, name: at + k * 1e-3}).loss / 1e-3 for k, w in WEIGHTS]
            assert found[name] == pytest.approx(sum(values), abs=1e-8)


def test_planar_and_spatial_contacts_do_not_mix() -> None:
    law = laws.MoreauCoulomb(0.3)
    flat = jd.Contact(normal=[1.0, 0, 0], tangent=[[0, 1.0, 0]], law=law)
    space = jd.Contact(normal=[1.0, 0, 0], tangent=[[0, 1.0, 0], [0, 0, 1.0]], law=law)
    with pytest.raises(jd.BadEvent, match="some are planar and some in space; give all of them two tangents"):
        jd.transition(np.eye(3), [-1.0, 0, 0], contacts=[flat, space])
    with pytest.raises(jd.BadEvent, match="There are 9 contacts in space with friction; take 8 at most"):
        jd.transition(np.eye(3), [-1.0, 0, 0], contacts=[space] * 9)
