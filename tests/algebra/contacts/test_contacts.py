"""One-sided contacts: which hold, which lift, and friction inside the event, against oracles of other origin."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import casadi as ca
import numpy as np
import pytest

import jourdain as jd
from jourdain import gallery, laws
from jourdain.algebra import lapack
from jourdain.algebra.contacts.coulomb_plane import planar
from jourdain.laws import ContactState
from jourdain.mechanism.constraint import ContactConstraint
from oracles import contacts as oracle
from oracles import siconos as siconos_oracle

HYPOTHESES: tuple[Any, ...] = ("newton", "poisson", "stronge")
STATES = {0: "no impact", 4: "sticks", 5: "slips", 6: "reverses"}  # `ContactState`


def table(M, rows, tangents: bool) -> tuple[jd.Mechanism, list[ContactConstraint]]:
    """A mechanism with a constant mass matrix and contacts whose rows are given: normal, then one tangent or none."""
    n = len(M)
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    made = jd.Mechanism.from_casadi(q, v, ca.SX(ca.DM(M)))
    contacts = []
    step = 2 if tangents else 1
    for i in range(0, len(rows), step):
        normal, *others = (ca.SX(ca.DM(row)).T @ v for row in rows[i : i + step])
        contacts.append(made.contact(f"foot{i // step}", normal=normal, tangent=others))
    return made, contacts


def coulomb_cases(rng: np.random.Generator, m: int, hypothesis: Any) -> dict[str, Any]:
    """The worst error of the closed form, by what the slip does; of the impulse and the works."""
    W, u, mu, e = oracle.random_planar(rng, m)
    path = planar(np.linalg.cholesky(W), u[..., None], mu[:, None, None], e[:, None, None], hypothesis, lapack)
    expected = oracle.planar_by_steps(W, u, mu, e, hypothesis.capitalize())
    impulse = np.stack([expected.p_n, expected.p_t], axis=-1)
    found = np.stack([path.p_n, path.p_t], axis=-1)[:, 0, 0]
    works = np.stack([path.compression, path.restitution, path.friction], axis=-1)[:, 0, 0]
    others = np.stack([expected.compression, expected.restitution, expected.friction], axis=-1)
    size = np.abs(impulse).sum(axis=-1, keepdims=True)
    worst: dict[str, Any] = defaultdict(float)
    for i in range(m):
        state = STATES[int(path.state[i, 0, 0])]
        work_scale = np.abs(others[i]).sum()
        off = max(np.abs(found - impulse)[i].max() / size[i, 0], np.abs(works - others)[i].max() / work_scale)
        worst[state] = max(worst[state], off)
    np.testing.assert_array_equal([STATES[int(s)] for s in path.state[:, 0, 0]], expected.state)
    dT = np.einsum("mi,mi->m", u + np.einsum("mij,mj->mi", W, found) / 2, found)
    assert works.sum(axis=-1) == pytest.approx(dT, abs=1e-12 * np.abs(works).max())
    assert np.all(path.friction[:, 0, 0] <= 1e-14 * np.abs(works).sum(axis=-1))
    if hypothesis != "newton":
        assert np.all(dT <= 1e-12 * np.abs(works).sum(axis=-1))  # energy is never created
    return dict(worst)


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_planar_friction_against_tiny_steps(hypothesis: Any, rng: np.random.Generator) -> None:
    worst = coulomb_cases(rng, 1000, hypothesis)
    assert set(worst) == {"slips", "sticks", "reverses"}
    assert max(worst.values()) < 1e-8, worst


@pytest.mark.exhaustive
@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_planar_friction_in_a_hundred_thousand_cases(hypothesis: Any, rng: np.random.Generator) -> None:
    worst = coulomb_cases(rng, 100_000, hypothesis)
    assert max(worst.values()) < 1e-8, worst


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
@pytest.mark.parametrize("e", [1e-12, 1e-8, 1e-4, 0.5])
def test_little_restitution_keeps_its_digits(hypothesis: Any, e: float) -> None:
    """One degree of freedom without friction: slip and approach end together, and u⁺ = e |u⁻| by every hypothesis."""
    contact = jd.Contact(normal=[1.0], tangent=[[0.5]], law=laws.Coulomb(0.0, e, hypothesis))
    t = jd.transition([[1.0]], [-0.7], contacts=[contact])
    assert t.u_plus["contact 0"][0] == pytest.approx(0.7 * e, rel=1e-13 + 3e-16 / e)


def test_three_balls_in_a_row() -> None:
    """Simultaneous: κ = 1 gives (−1/3, 2/3, 2/3), κ = 0.5 gives (0, 1/2, 1/2), by both laws (Glocker & Aeberhard)."""
    balls, contacts = table(np.eye(3), [[-1.0, 1, 0], [0, -1.0, 1]], tangents=False)
    for law in ("moreau", "poisson"):
        for kappa, after in ((1.0, [-1 / 3, 2 / 3, 2 / 3]), (0.5, [0, 0.5, 0.5])):
            event = balls.event(contacts=dict.fromkeys(contacts, laws.Frictionless(kappa, law=law)))
            assert event.solve(v=[1.0, 0, 0]).v_plus == pytest.approx(after, abs=1e-12)


def test_events_with_friction_against_tiny_steps(rng: np.random.Generator) -> None:
    """Through a mechanism, in a batch large enough for a kernel: impulses, velocities, states, ledger."""
    A = rng.normal(size=(3, 3))
    M = A @ A.T + 0.5 * np.eye(3)
    rows = rng.normal(size=(2, 3))
    made, (foot,) = table(M, rows, tangents=True)
    W = rows @ np.linalg.solve(M, rows.T)
    m = 1500
    v = rng.normal(size=(m, 3))
    mu, e = rng.uniform(0, 1.5, m), rng.uniform(0, 1, m)
    for hypothesis in HYPOTHESES:
        event = made.event(contacts={foot: laws.Coulomb("mu", "e", hypothesis)})
        t = event.solve(v=v, mu=mu, e=e)
        u = v @ rows.T
        expected = oracle.planar_by_steps(W, u, mu, e, hypothesis.capitalize())
        impulse = np.stack([expected.p_n, expected.p_t], axis=-1)
        assert np.isin(t.status, [jd.Status.OK, jd.Status.ENERGY_CREATED]).all()
        assert t.impulse["foot0"] == pytest.approx(impulse, abs=1e-8 * np.abs(impulse).max())
        names = {"slips": "SLIPS", "sticks": "STICKS", "reverses": "REVERSES", "no impact": "SEPARATES"}
        states = [ContactState[names[state]] for state in expected.state]
        np.testing.assert_array_equal(t.contact["foot0"], states)
        total = sum(t.ledger[f"foot0 {part}"] for part in ("compression", "restitution", "friction"))
        assert total == pytest.approx(t.T_plus - t.T_minus, abs=1e-11 * t.T_minus.max())
        created = t.status == jd.Status.ENERGY_CREATED
        assert (created == (t.T_plus > t.T_minus * (1 + 1e-9))).all()
        assert hypothesis == "newton" or not created.any()


# The walker


def strike(theta: float, rho: float = 0.0) -> tuple[dict[str, Any], np.ndarray, dict[str, Any]]:
    """q, v and R at the papers' heel strike."""
    R = 0.8 * rho
    return {"foot_y": R, "stance": theta / 2, "swing": -theta / 2}, np.array([R, 0, 1, 1, 0]), {"R": R}


def test_the_walker_of_the_papers_with_friction() -> None:
    """theta = 40°, point feet, u⁻ = (−0.547232, −0.3): friction 0.2 gives (4.990, −0.7245) N s and −1.4585 J."""
    mechanism = gallery.walker().event.mechanism
    q, v, own = strike(np.radians(40))
    rows = np.concatenate([mechanism.constraints[name].rows(q, **own)[0] for name in ("heel", "stance")])
    v = v + np.linalg.pinv(rows) @ ([-0.547232, -0.3, 0, 0] - rows @ v)
    t = mechanism.event(released=["stance"], contacts={"heel": laws.Coulomb(0.2)}).solve(q, v, **own)
    assert t.impulse["heel"] == pytest.approx([4.990, -0.7245], abs=5e-4)
    assert t.T_plus - t.T_minus == pytest.approx(-1.4585, abs=5e-5)
    assert t.contact["heel"] is ContactState.REVERSES


def test_a_rear_foot_that_may_not_slip() -> None:
    """Lifts up to 44.48°, slides up to 67.98°; beyond, sliding and sticking are both consistent: it is told."""
    mechanism = gallery.walker().event.mechanism
    event = mechanism.event(inert=["heel"], contacts={"stance": laws.NoSlip()})

    def solved(degrees: float) -> jd.Transition:
        q, v, own = strike(np.radians(degrees))
        return event.solve(q, v, **own)

    assert solved(44.4).contact["stance"] is ContactState.LIFTS
    assert solved(60.0).contact["stance"] is ContactState.SLIPS
    with pytest.raises(jd.Ambiguous, match="'stance': the laws of the contacts can be satisfied in several ways"):
        solved(68.0)
    assert solved(67.9).ok


# Laws of their own


def test_a_contact_that_opens_is_left_alone() -> None:
    made, (foot,) = table(np.eye(2), [[1.0, 0], [0, 1.0]], tangents=True)
    for law in (laws.Coulomb(0.5, 0.3), laws.Frictionless(0.3), laws.NoSlip()):
        t = made.event(contacts={foot: law}).solve(v=[2.0, 1.0])
        assert t.v_plus == pytest.approx([2.0, 1.0], abs=0)
        assert t.contact["foot0"] is ContactState.SEPARATES
        assert t.loss == 0


def test_a_ball_that_touches_two_walls() -> None:
    """Moreau's law sends it into the wall behind, and it is told; Poisson's keeps it between them."""
    made, walls = table(np.eye(1), [[1.0], [-1.0]], tangents=False)
    moreau = made.event(contacts={walls[0]: laws.Frictionless(0.9), walls[1]: laws.Frictionless(0.1)})
    with pytest.raises(jd.Infeasible, match=r"'foot1': opening before.*; use Frictionless\(law='poisson'\)"):
        moreau.solve(v=[-1.0])
    poisson_law = {walls[0]: laws.Frictionless(0.9, "poisson"), walls[1]: laws.Frictionless(0.1, "poisson")}
    t = made.event(contacts=poisson_law).solve(v=[-1.0])
    assert t.v_plus == pytest.approx([0.0], abs=1e-12)
    assert t.T_plus <= t.T_minus


@pytest.mark.parametrize(
    "law", [laws.Coulomb(0.3, 0.5), laws.Frictionless(0.5), laws.NoSlip(), laws.MoreauCoulomb(0.3)]
)
def test_a_contact_that_opens_is_no_impact(law: laws.Law) -> None:
    made, (foot,) = table([[2.0, 0.3], [0.3, 1.0]], [[1.0, 0.4], [-0.2, 1.0]], tangents=True)
    t = made.event(contacts={foot: law}).solve(v=[1.0, 0.3])
    assert t.contact["foot0"] is ContactState.SEPARATES
    assert t.v_plus == pytest.approx([1.0, 0.3], abs=0)
    assert not np.any(t.impulse["foot0"])
    assert "no impact: foot0 was opening" in str(t)


def test_two_contacts_at_one_place() -> None:
    """The livelier one decides."""
    made, pads = table(np.eye(1), [[1.0], [1.0]], tangents=False)
    t = made.event(contacts={pads[0]: laws.Frictionless(0.9), pads[1]: laws.Frictionless(0.1)}).solve(v=[-1.0])
    assert t.v_plus == pytest.approx([0.9])
    assert (t.contact["foot0"], t.contact["foot1"]) == (ContactState.HOLDS, ContactState.LIFTS)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (lambda: laws.Coulomb(-0.1), "The friction of a contact is -0.1; it must be finite, and 0 or more."),
        (lambda: laws.Frictionless(1.2), r"The restitution of a contact is 1.2; it must lie in \[0, 1\]."),
        (
            lambda: laws.Coulomb(0.1, hypothesis="routh"),  # type: ignore[arg-type]
            "There is no hypothesis 'routh'",
        ),
        (
            lambda: laws.Frictionless(law="hertz"),  # type: ignore[arg-type]
            "There is no law 'hertz'",
        ),
    ],
)
def test_laws_that_are_refused(law, message: str) -> None:
    with pytest.raises(jd.Error, match=message):
        law()


def test_events_that_are_refused() -> None:
    made, (one, two) = table(np.eye(4), np.eye(4), tangents=True)
    bare, (smooth,) = table(np.eye(1), [[1.0]], tangents=False)
    plain = made.constraint("plain", made.symbols.v[0])
    with pytest.raises(jd.BadEvent, match=r"'foot0' has no tangential rows, so nothing can slip"):
        bare.event(contacts={smooth: laws.Coulomb(0.2)})
    with pytest.raises(jd.BadEvent, match=r"'plain' is no contact; make one with mechanism.contact"):
        made.event(contacts={plain: laws.Frictionless()})
    for law in (0.3, "coulomb", laws.Frictionless):
        with pytest.raises(jd.BadEvent, match=r"contacts gives 'foot0' the law .*; give one of jd.laws"):
            made.event(contacts={one: law})
    with pytest.raises(jd.BadEvent, match="'foot0' has friction inside the event, but 'foot1' acts at the same time"):
        made.event(contacts={one: laws.Coulomb(0.2), two: laws.Coulomb(0.2)})
    with pytest.raises(jd.BadEvent, match="'foot0' has friction inside the event, but 'foot1' acts at the same time"):
        made.event(inert=[two], contacts={one: laws.Coulomb(0.2)})
    with pytest.raises(jd.BadEvent, match="mix Moreau's and Poisson's law"):
        made.event(contacts={one: laws.Frictionless(), two: laws.Frictionless(law="poisson")})
    with pytest.raises(
        jd.BadEvent, match="'foot0', 'foot1' mix MoreauCoulomb with other laws; give all of them friction"
    ):
        made.event(contacts={one: laws.MoreauCoulomb(0.3), two: laws.NoSlip()})
    with pytest.raises(jd.BadEvent, match="The law of 'foot0' decides by the velocities"):
        made.event(contacts={one: laws.NoSlip()}).symbolic()
    event = made.event(contacts={one: laws.Coulomb("mu", "e")})
    with pytest.raises(jd.BadFriction, match=r"The friction of 'foot0' is -0.5; it must be 0 or more"):
        event.solve(v=[-1.0, 0, 0, 0], mu=-0.5, e=0.0)
    with pytest.raises(jd.BadRestitution, match=r"The restitution of 'foot0' is 1.5; it must lie in \[0, 1\]"):
        event.solve(v=[-1.0, 0, 0, 0], mu=0.5, e=1.5)
    t = event.solve(v=[[-1.0, 0, 0, 0], [1.0, 0, 0, 0]], mu=[-0.5, 0.5], e=0.5)
    assert list(t.status) == [jd.Status.BAD_FRICTION, jd.Status.OK]


def test_regular_rows_hold_while_contacts_push(rng: np.random.Generator) -> None:
    """Contacts meet the mass that the regular rows leave: the same as in coordinates without them."""
    A = rng.normal(size=(4, 4))
    M = A @ A.T + 0.5 * np.eye(4)
    rows = rng.normal(size=(3, 4))
    made, contacts = table(M, rows, tangents=False)
    rail = rng.normal(size=4)
    held = made.constraint("rail", ca.SX(ca.DM(rail)).T @ made.symbols.v)
    D = np.linalg.svd(rail[None])[2][1:].T  # velocities that the rail admits
    free, others = table(D.T @ M @ D, rows @ D, tangents=False)
    law = laws.Frictionless(0.4, law="poisson")  # which is asked of contacts that open, too
    ours = made.event(regular=[held], contacts=dict.fromkeys(contacts, law))
    theirs = free.event(contacts=dict.fromkeys(others, law))
    for _ in range(20):
        w = rng.normal(size=3)
        t, other = ours.solve(v=D @ w), theirs.solve(v=w)
        assert t.v_plus == pytest.approx(D @ other.v_plus, abs=1e-11)
        assert t.T_plus == pytest.approx(other.T_plus, rel=1e-10)
        for i in range(3):
            assert t.impulse[f"foot{i}"] == pytest.approx(other.impulse[f"foot{i}"], abs=1e-10)
        assert rail @ t.v_plus == pytest.approx(0, abs=1e-12)
        assert sum(t.ledger.values()) == pytest.approx(t.T_plus - t.T_minus, abs=1e-11)
        assert t.T_c_minus + t.T_a_minus + t.T_r_minus == pytest.approx(t.T_minus, rel=1e-12)


def test_gradients_in_each_state() -> None:
    """The loss by friction and by v, against differences, where the contact slips, sticks and reverses."""
    made, (foot,) = table([[2.0, 0.3], [0.3, 1.0]], [[1.0, 0.4], [-0.2, 1.0]], tangents=True)
    event = made.event(contacts={foot: laws.Coulomb("mu", 0.4, "stronge")})
    for mu, v in ((0.05, [-1.0, 2.0]), (0.9, [-1.0, 0.3]), (0.1, [-1.0, -0.1])):
        slope = event.gradient("loss", wrt=["mu", "v"], v=v, mu=mu)
        step = 1e-6
        differences = (event.solve(v=v, mu=mu + step).loss - event.solve(v=v, mu=mu - step).loss) / (2 * step)
        assert slope["mu"] == pytest.approx(differences, rel=1e-6, abs=1e-9)
        ahead, behind = (event.solve(v=v + way * step * np.eye(2), mu=mu).loss for way in (1, -1))
        assert slope["v"] == pytest.approx((ahead - behind) / (2 * step), rel=1e-6, abs=1e-9)


def test_the_path_in_impulse_space(rng: np.random.Generator) -> None:
    """Knots where the slip ends; u is W times the impulse so far; the work at the end is the change of energy."""
    made, (foot,) = table([[2.0, 0.3], [0.3, 1.0]], [[1.0, 0.4], [-0.2, 1.0]], tangents=True)
    W = np.array([[1.0, 0.4], [-0.2, 1.0]])
    W = W @ np.linalg.solve([[2.0, 0.3], [0.3, 1.0]], W.T)
    seen = set()
    for hypothesis in HYPOTHESES:
        event = made.event(contacts={foot: laws.Coulomb("mu", 0.5, hypothesis)})
        for _ in range(40):
            v, mu = rng.normal(size=2) * [1, 0.4], rng.uniform(0, 0.8)
            t = event.solve(v=v, mu=mu)
            path = t.path("foot0")
            seen.add(t.contact["foot0"])
            if t.contact["foot0"] is ContactState.SEPARATES:
                assert path.p == pytest.approx([0.0])
                continue
            end = path.at(path.p[-1])
            assert end["work"] == pytest.approx(t.T_plus - t.T_minus, abs=1e-12)
            assert path.at(path.p_c)["u_n"] == pytest.approx(0, abs=1e-12)
            for p in np.linspace(0, path.p[-1], 7):
                at = path.at(p)
                now = t.u_minus["foot0"] + W @ [p, at["p_t"]]
                assert [at["u_n"], at["u_t"]] == pytest.approx(now, abs=1e-12)
            if path.p_slip < path.p[-1]:
                assert path.at(path.p_slip)["u_t"] == pytest.approx(0, abs=1e-12)
    assert {ContactState.SLIPS, ContactState.STICKS} <= seen
    with pytest.raises(jd.BadEvent, match="'foot0' has no friction inside the event, and so no path"):
        made.event(contacts={foot: laws.Frictionless()}).solve(v=[-1.0, 0.0]).path("foot0")
    with pytest.raises(jd.ShapeError, match="A path is that of one event"):
        event.solve(v=[[-1.0, 0.0], [-1.0, 0.1]], mu=0.1).path("foot0")


def test_friction_at_the_end_against_siconos(rng: np.random.Generator) -> None:
    """MoreauCoulomb, one to three planar contacts; and the walker on both feet (Siconos: NSGS)."""
    problems = []
    for _ in range(60):
        k = int(rng.integers(1, 4))
        rows = rng.normal(size=(2 * k, 7))
        v = rng.normal(size=7)
        if (rows[::2] @ v < 0).all():  # a contact that opens is left alone here
            problems.append((rows, v, rng.uniform(0, 1, k)))
    assert len(problems) > 10
    answers = siconos_oracle.siconos_moreau_coulomb_many([(rows @ rows.T, rows @ v, mu) for rows, v, mu in problems])
    for (rows, v, mu), answer in zip(problems, answers, strict=True):
        made, contacts = table(np.eye(7), rows, tangents=True)
        feet = {contact: laws.MoreauCoulomb(float(one)) for contact, one in zip(contacts, mu, strict=True)}
        t = made.event(contacts=feet).solve(v=v)
        for i, contact in enumerate(contacts):
            assert t.u_plus[contact.name] == pytest.approx(answer.velocities[i], abs=1e-8)
            assert t.impulse[contact.name] == pytest.approx(answer.reactions[i], abs=1e-7)


def test_the_walker_on_both_feet() -> None:
    """Friction 0.5 at the end: the rear foot leaves with (0.0686, 0.554) m/s, the heel sticks with 11.759 N s."""
    mechanism = gallery.walker().event.mechanism
    q, v, own = strike(np.radians(40))
    law = laws.MoreauCoulomb(0.5)
    t = mechanism.event(contacts={"heel": law, "stance": law}).solve(q, v, **own)
    assert t.u_plus["stance"] == pytest.approx([0.0686, 0.554], abs=5e-4)
    assert t.impulse["heel.normal"] == pytest.approx(11.759, abs=5e-4)
    assert (t.contact["heel"], t.contact["stance"]) == (ContactState.STICKS, ContactState.LIFTS)


def test_redundant_contacts_are_told() -> None:
    """A plate dropped flat on four corners: velocities are unique, its four impulses are not, and their work is one."""
    rows = [[1.0, x, y] for x in (-1, 1) for y in (-1, 1)]
    plate, corners = table(np.diag([2.0, 5.0, 7.0]), rows, tangents=False)
    event = plate.event(contacts=dict.fromkeys(corners, laws.Frictionless(0.5, law="poisson")))
    t = event.solve(v=[-1.0, 0, 0])
    assert t.v_plus == pytest.approx([0.5, 0, 0], abs=1e-12)
    assert [t.impulse[f"foot{i}"] for i in range(4)] == pytest.approx([0.75] * 4)  # the least
    assert t.redundant == ("foot3.normal",)
    assert t.undetermined == tuple(f"foot{i}.normal" for i in range(4))
    assert list(t.ledger) == ["foot0 + foot1 + foot2 + foot3"]
    tipping = event.solve(v=[-1.0, 3.0, 0.0])
    assert tipping.undetermined == ()
    batch = event.solve(v=[[-1.0, 0, 0], [-1.0, 3.0, 0.0]])
    assert list(batch.undetermined["foot0.normal"]) == [True, False]


@pytest.mark.parametrize("law", [laws.Coulomb(0.3, 0.5), laws.Frictionless(0.5), laws.MoreauCoulomb(0.3, 0.5)])
def test_a_support_that_moves_is_booked(law: laws.Law) -> None:
    """Galilei: v⁺ shifts by the velocity w of the support, impulses and what is dissipated stay; it does λ̄·w."""
    x, y, w_x, w_y = ca.SX.sym("x"), ca.SX.sym("y"), ca.SX.sym("w_x"), ca.SX.sym("w_y")
    v = ca.SX.sym("v", 2)
    made = jd.Mechanism.from_casadi(ca.vertcat(x, y), v, 2.0 * ca.SX.eye(2), parameters=[(w_x, 0.0), (w_y, 0.0)])
    floor = made.contact("floor", normal=v[1] - w_y, tangent=[v[0] - w_x])
    event = made.event(contacts={floor: law})
    w = np.array([0.4, 0.7])
    at_rest, moving = event.solve(v=[0.3, -1.0]), event.solve(v=np.array([0.3, -1.0]) + w, w_x=w[0], w_y=w[1])
    assert moving.v_plus == pytest.approx(at_rest.v_plus + w, rel=1e-14)
    assert moving.impulse["floor"] == pytest.approx(at_rest.impulse["floor"], rel=1e-14)
    for t in (at_rest, moving):
        assert sum(t.ledger.values()) == pytest.approx(t.T_plus - t.T_minus, rel=1e-13)
        assert t.T_plus - t.T_minus == pytest.approx(t.drive_work - t.dissipated, rel=1e-13)
    normal, tangent = moving.impulse["floor"]
    assert moving.drive_work == pytest.approx(w[1] * normal + w[0] * tangent, rel=1e-13)
    assert moving.dissipated == pytest.approx(at_rest.loss, rel=1e-13)
    assert ("floor support" in moving.ledger) == isinstance(law, laws.Coulomb)
    assert "floor support" not in at_rest.ledger


@pytest.mark.parametrize("m", [1, 5000])
def test_a_contact_that_leans_on_a_two_sided_row(m: int) -> None:
    """Either may carry the impulse; it is told of both, in a batch too, and booked to both together."""
    foot = jd.Contact(normal=[1.0, 0.0], law=laws.Frictionless())
    v = np.tile([-1.0, 0.3], (m, 1))
    t = jd.transition(np.eye(2), v if m > 1 else v[0], inert=[[1.0, 0.0]], contacts=[foot])
    assert np.allclose(t.v_plus, [0.0, 0.3])
    assert set(t.undetermined) == {"inert.0", "contact 0.normal"}
    assert set(t.redundant) == {"contact 0.normal"}
    assert list(t.ledger) == ["inert + contact 0"]
    apart = jd.transition(
        np.eye(2), [-1.0, -0.3], inert=[[1.0, 0.0]], contacts=[jd.Contact(normal=[0.0, 1.0], law=foot.law)]
    )
    assert apart.undetermined == ()


def test_the_least_impulses_are_weighed_by_the_rows_themselves() -> None:
    """theory §7: least Σ W_ii λ_i², W_ii = c M⁻¹ cᵀ, also beside a regular row; of (a, a, 1 − 2a), 4a² + (1 − 2a)²."""
    feet = [jd.Contact(normal=c, law=laws.Frictionless()) for c in ([0.0, 1, 1], [0.0, 1, -1], [0.0, 1, 0])]
    t = jd.transition(np.eye(3), [0.0, -1.0, 0.0], regular=[[1.0, 0, -1]], contacts=feet)
    assert [t.impulse[f"contact {i}.normal"] for i in range(3)] == pytest.approx([0.25, 0.25, 0.5], abs=1e-14)


def test_what_no_push_can_help_is_not_answered_with_the_law_that_is_there() -> None:
    foot = jd.Contact(normal=[1.0, 0.0], law=laws.Frictionless(0.0, "poisson"))
    with pytest.raises(jd.Infeasible, match="driven together by rows that hold on both sides, and no push can help it"):
        jd.transition(np.eye(2), [1.0, 0.3], elastic=([[1.0, 0.0]], 0.5), contacts=[foot])
