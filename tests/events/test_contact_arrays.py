"""`jd.transition(contacts=[…])`: against oracles, against the mechanism's road, in kernels and by LAPACK, refused."""

from __future__ import annotations

import pickle
from typing import Any

import casadi as ca
import numpy as np
import pytest

import jourdain as jd
from jourdain import laws
from jourdain.events import array_solver
from jourdain.laws import ContactState
from oracles import contacts as oracle

HYPOTHESES: tuple[Any, ...] = ("newton", "poisson", "stronge")
STATES = {"slips": "SLIPS", "sticks": "STICKS", "reverses": "REVERSES", "no impact": "SEPARATES"}
MANY = array_solver.UNROLLED_FROM
ONE = jd.Contact(normal=[1.0, 0.0], tangent=[[0.0, 1.0]], law=laws.Coulomb(0.5))


def masses(rng: np.random.Generator, m: int, n: int) -> np.ndarray:
    A = rng.normal(size=(m, n, n))
    return A @ np.swapaxes(A, -1, -2) + 0.5 * np.eye(n)


def inverse_masses(M: np.ndarray, C: np.ndarray) -> np.ndarray:
    """W = C M⁻¹ Cᵀ."""
    return C @ np.linalg.solve(M, np.swapaxes(C, -1, -2))


def in_pieces(size: int, M: Any, v: Any, contacts: list[Any], **rows: Any) -> list[jd.Transition]:
    """The same lanes in batches too small for a kernel; everything is given with all lanes."""
    found = []
    for start in range(0, len(v), size):
        some = slice(start, start + size)
        fewer = [
            jd.Contact(
                normal=c.normal[some],
                tangent=None if c.tangent is None else c.tangent[some],
                law=type(c.law)(*(x[some] if isinstance(x, np.ndarray) else x for x in vars(c.law).values())),
            )
            for c in contacts
        ]
        found.append(jd.transition(M[some], v[some], contacts=fewer, **{k: x[some] for k, x in rows.items()}))
    return found


@pytest.mark.parametrize("m", [500, MANY])
@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_planar_friction_against_tiny_steps(hypothesis: Any, m: int, rng: np.random.Generator) -> None:
    M, rows, v = masses(rng, m, 3), rng.normal(size=(m, 2, 3)), rng.normal(size=(m, 3))
    mu, e = rng.uniform(0, 1.5, m), rng.uniform(0, 1, m)
    law = laws.Coulomb(mu, e, hypothesis)
    t = jd.transition(M, v, contacts=[jd.Contact(normal=rows[:, 0], tangent=rows[:, 1:], law=law)])
    W, u = inverse_masses(M, rows), np.einsum("mij,mj->mi", rows, v)
    some = slice(0, 500)
    expected = oracle.planar_by_steps(W[some], u[some], mu[some], e[some], hypothesis.capitalize())
    impulse = np.stack([expected.p_n, expected.p_t], axis=-1)
    size = np.abs(impulse).sum(axis=-1, keepdims=True) + 1e-12
    assert np.isin(t.status, [jd.Status.OK, jd.Status.ENERGY_CREATED]).all()
    assert np.abs((t.impulse["contact 0"][some] - impulse) / size).max() < 1e-8
    assert t.u_plus["contact 0"][some] == pytest.approx(expected.u_plus, abs=1e-8 * np.abs(u).max())
    np.testing.assert_array_equal(t.contact["contact 0"][some], [ContactState[STATES[s]] for s in expected.state])
    total = sum(t.ledger[f"contact 0 {part}"] for part in ("compression", "restitution", "friction"))
    assert total == pytest.approx(t.T_plus - t.T_minus, abs=1e-10 * t.T_minus.max())
    created = t.status == jd.Status.ENERGY_CREATED
    assert (created == (t.T_plus > t.T_minus * (1 + 1e-9))).all()
    assert hypothesis == "newton" or not created.any()


@pytest.mark.parametrize("m", [200, MANY])
def test_contacts_that_may_not_slip_against_their_candidates(m: int, rng: np.random.Generator) -> None:
    M, rows, v = masses(rng, m, 3), rng.normal(size=(m, 2, 3)), rng.normal(size=(m, 3))
    t = jd.transition(M, v, contacts=[jd.Contact(normal=rows[:, 0], tangent=rows[:, 1:], law=laws.NoSlip())])
    W, u = inverse_masses(M, rows), np.einsum("mij,mj->mi", rows, v)
    for lane in range(200):
        if u[lane, 0] > 0:
            assert t.contact["contact 0"][lane] == ContactState.SEPARATES
            continue
        candidates = oracle.no_slip_candidates(W[lane], u[lane])
        if len(candidates) > 1:
            assert t.status[lane] == jd.Status.AMBIGUOUS
            assert np.isnan(t.v_plus[lane]).all()
        else:
            ((impulse, u_plus),) = candidates.values()
            assert t.impulse["contact 0"][lane] == pytest.approx(impulse, abs=1e-9 * np.abs(impulse).max())
            assert t.u_plus["contact 0"][lane] == pytest.approx(u_plus, abs=1e-9 * np.abs(u[lane]).max())
    assert set(np.unique(t.status)) == {jd.Status.OK, jd.Status.AMBIGUOUS}


# The mechanism's road

ROADS: dict[str, tuple[list[Any], int, tuple[str, ...]]] = {  # laws, tangents of each, two-sided rows besides
    "friction": ([laws.Coulomb(0.4, 0.3, "stronge")], 1, ("regular",)),
    "friction alone": ([laws.Coulomb(0.1, 0.6)], 1, ()),
    "moreau": ([laws.Frictionless(0.3)] * 3, 0, ("regular",)),
    "moreau with tangents": ([laws.Frictionless(0.3)] * 2, 2, ("inert",)),
    "poisson": ([laws.Frictionless(0.3, "poisson"), laws.Frictionless(0.8, "poisson")], 0, ("regular", "inert")),
    "no slip": ([laws.NoSlip(), laws.Frictionless(0.2)], 1, ("inert",)),
    "final friction": ([laws.MoreauCoulomb(0.3, 0.2), laws.MoreauCoulomb(0.5)], 1, ("inert",)),
}


@pytest.mark.parametrize("road", list(ROADS))
def test_the_same_as_by_a_mechanism(road: str, rng: np.random.Generator) -> None:
    of, n_tangents, kinds = ROADS[road]
    n, k, m = 7, 1 + n_tangents, 64
    M, rows = masses(rng, 1, n)[0], rng.normal(size=(len(of), k, n))
    two_sided: dict[str, Any] = {kind: rng.normal(size=(2, n)) for kind in kinds}
    v = rng.normal(size=(m, n))
    if "regular" in kinds:
        D = np.linalg.svd(two_sided["regular"])[2][2:]
        v = v @ D.T @ D
    q, rates = ca.SX.sym("q", n), ca.SX.sym("v", n)
    made = jd.Mechanism.from_casadi(q, rates, ca.SX(ca.DM(M)))
    feet = {}
    for i, law in enumerate(of):
        normal, *tangents = (ca.SX(ca.DM(row)).T @ rates for row in rows[i])
        feet[made.contact(f"contact {i}", normal=normal, tangent=tangents)] = law
    held: dict[str, Any] = {
        kind: [made.constraint(kind, ca.vertsplit(ca.SX(ca.DM(C)) @ rates))] for kind, C in two_sided.items()
    }
    expected = made.event(contacts=feet, **held).solve(v=v)
    contacts = [jd.Contact(normal=rows[i, 0], tangent=rows[i, 1:], law=law) for i, law in enumerate(of)]
    t = jd.transition(M, v, contacts=contacts, **two_sided)
    np.testing.assert_array_equal(t.status, expected.status)
    assert t.ok.sum() >= 5
    assert list(t.ledger) == list(expected.ledger)
    for name in ("T_plus", "T_c_minus", "T_a_plus", "T_r_minus", "loss", "xi"):
        np.testing.assert_allclose(getattr(t, name), getattr(expected, name), atol=1e-9, err_msg=name)
    np.testing.assert_allclose(t.v_plus, expected.v_plus, atol=1e-10)
    for name in ("impulse", "u_plus", "ledger", "contact", "required_friction", "effective_mass"):
        for key, value in getattr(expected, name).items():
            np.testing.assert_allclose(getattr(t, name)[key], value, rtol=1e-7, atol=1e-9, err_msg=f"{name} {key}")


# Kernels and LAPACK

LARGE: dict[str, tuple[int, list[Any], bool]] = {  # n, laws, with a tangent
    "friction, n = 16": (16, [laws.Coulomb(0.3, 0.2, "stronge")], True),
    "moreau, k = 2": (6, [laws.Frictionless(0.5), laws.Frictionless(0.1)], False),
    "poisson, k = 3": (5, [laws.Frictionless(0.5, "poisson")] * 3, False),
    "final friction, k = 2": (6, [laws.MoreauCoulomb(0.3, 0.2), laws.MoreauCoulomb(0.5)], True),
    "no slip, k = 2": (6, [laws.NoSlip(), laws.NoSlip(0.0)], True),
}


@pytest.mark.parametrize("case", list(LARGE))
def test_a_kernel_and_small_batches_agree(case: str, rng: np.random.Generator) -> None:
    n, of, tangents = LARGE[case]
    m = MANY + 37
    M, v = masses(rng, m, n), rng.normal(size=(m, n))
    M[5, 0, 0] = np.nan
    v[7] = 0
    contacts = [
        jd.Contact(normal=rng.normal(size=(m, n)), tangent=rng.normal(size=(m, 1, n)) if tangents else None, law=law)
        for law in of
    ]
    inert: dict[str, Any] = {} if isinstance(of[0], laws.Coulomb) else {"inert": rng.normal(size=(m, 1, n))}
    t = jd.transition(M, v, contacts=contacts, **inert)
    pieces = in_pieces(1024, M, v, contacts, **inert)
    np.testing.assert_array_equal(t.status, np.concatenate([piece.status for piece in pieces]))
    assert t.status[5] == jd.Status.NOT_FINITE
    assert t.ok.mean() > 0.1
    for name in ("v_plus", "T_plus", "T_c_minus", "T_a_minus", "loss"):
        expected = np.concatenate([getattr(piece, name) for piece in pieces])
        np.testing.assert_allclose(getattr(t, name), expected, rtol=1e-7, atol=1e-8, err_msg=name)
    for name in ("impulse", "u_plus", "contact", "ledger"):
        for key in getattr(t, name):
            expected = np.concatenate([getattr(piece, name)[key] for piece in pieces])
            np.testing.assert_allclose(getattr(t, name)[key], expected, rtol=1e-6, atol=1e-7, err_msg=f"{name} {key}")


def test_large_batches_are_unrolled(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only lanes with something to look at go to LAPACK."""
    lanes = []
    by_lapack = array_solver.by_lapack

    def counted(problem: Any, checked: bool) -> Any:
        lanes.append(problem.M.shape[:-2])
        return by_lapack(problem, checked)

    monkeypatch.setattr(array_solver, "by_lapack", counted)
    M, v = masses(rng, MANY, 3), rng.normal(size=(MANY, 3))
    law = laws.Coulomb(rng.uniform(0, 1, MANY), 0.5, "poisson")
    t = jd.transition(M, v, contacts=[jd.Contact(normal=[1.0, 0, 0], tangent=[[0, 1.0, 0.3]], law=law)])
    assert t.ok.all()
    assert sum(np.prod(shape) for shape in lanes) < MANY / 10


def test_redundant_rows_beside_a_contact(rng: np.random.Generator) -> None:
    """A row that is given twice changes nothing but how its impulse is shared."""
    M, row, v = masses(rng, 30, 4), rng.normal(size=(1, 4)), rng.normal(size=(30, 4))
    contacts = [
        jd.Contact(normal=rng.normal(size=4), tangent=[rng.normal(size=4)], law=laws.Frictionless(0.2, "poisson"))
    ]
    once = jd.transition(M, v, inert=row, contacts=contacts)
    twice = jd.transition(M, v, inert=np.concatenate([row, row]), contacts=contacts)
    assert once.ok.all()
    assert twice.ok.all()
    assert list(twice.redundant) == ["inert.1"]
    np.testing.assert_allclose(twice.v_plus, once.v_plus, atol=1e-10)
    np.testing.assert_allclose(twice.impulse["contact 0"], once.impulse["contact 0"], atol=1e-10)
    np.testing.assert_allclose(twice.impulse["inert"].sum(axis=-1), once.impulse["inert"][:, 0], atol=1e-10)


def test_a_massless_velocity_that_a_row_holds() -> None:
    """M is semidefinite; the contact meets what the regular row carries along: as without the massless velocity."""
    contact = jd.Contact(normal=[0.0, 1.0], law=laws.Frictionless(0.5))
    t = jd.transition(np.diag([2.0, 0.0]), [-1.0, -1.0], regular=[[1.0, -1.0]], contacts=[contact])
    assert t.v_plus == pytest.approx([0.5, 0.5], abs=1e-12)
    assert t.impulse["contact 0.normal"] == pytest.approx(3.0)
    assert t.loss == pytest.approx(0.75)


# Forms


def test_names_and_ways_out() -> None:
    wall = jd.Contact(normal=[1.0, 0, 0], tangent=[[0, 1.0, 0], [0, 0, 1.0]], law=laws.Frictionless(0.5))
    t = jd.transition(np.eye(3), [-1.0, 2.0, 3.0], contacts=[wall])
    assert t.impulse["contact 0"] == pytest.approx([1.5, 0, 0])
    assert t.impulse["contact 0.normal"] == pytest.approx(1.5)
    assert t.u_plus["contact 0.tangent"] == pytest.approx([2.0, 3.0])
    assert t.contact["contact 0"] is ContactState.HOLDS
    assert t.required_friction["contact 0"] == 0
    assert "contact 0.tangent.1" in str(t)
    assert pickle.loads(pickle.dumps(t)).contact == t.contact
    assert t.to_dataset()["impulse"].sel(row="contact 0.normal") == pytest.approx(1.5)
    assert pickle.loads(pickle.dumps(wall)).normal == wall.normal


def test_tangents_as_rows_or_as_an_array() -> None:
    rows = np.array([[0.0, 1.0, 0.2]])
    forms = [rows, [rows[0]], (list(rows[0]),), [np.tile(rows[0], (3, 1))], np.tile(rows, (3, 1, 1))]
    found = [
        jd.transition(
            np.eye(3),
            -np.ones((3, 3)),
            contacts=[jd.Contact(normal=[1.0, 0.1, 0], tangent=tangent, law=laws.Coulomb([0.1, 0.2, 0.3]))],
        )
        for tangent in forms
    ]
    for t in found[1:]:
        np.testing.assert_array_equal(t.v_plus, found[0].v_plus)


def test_both_kinds_of_contact_go_by_one_name() -> None:
    v = ca.SX.sym("v", 1)
    made = jd.Mechanism.from_casadi(ca.SX.sym("q", 1), v, ca.SX.eye(1))
    foot = made.contact("foot", normal=v[0], tangent=[])
    assert isinstance(foot, jd.Contact)
    assert isinstance(foot, jd.Constraint)
    assert isinstance(ONE, jd.Contact)
    assert not isinstance(ONE, jd.Constraint)
    assert repr(foot) == "Contact('foot', rows=['foot.normal'])"
    with pytest.raises(jd.BadEvent, match=r"'contact 0' is Contact\('foot'.*; give jd.Contact\(normal=…"):
        jd.transition([[1.0]], [-1.0], contacts=[foot])  # type: ignore[list-item]


def contact(**changes: Any) -> list[Any]:
    return [jd.Contact(**{"normal": [1.0, 0.0], "tangent": [[0.0, 1.0]], "law": laws.Coulomb(0.5)} | changes)]


THREE_TANGENTS = {"normal": [1.0, 0, 0], "tangent": [[0, 1.0, 0], [0, 0, 1.0], [0, 1.0, 1.0]]}
REFUSED: dict[str, tuple[dict[str, Any], type[jd.Error], str]] = {
    "not a list": ({"contacts": ONE}, jd.BadEvent, r"contacts is a list of jd.Contact\(normal=…, tangent=…, law=…\)"),
    "a row": ({"contacts": [[1.0, 0.0]]}, jd.BadEvent, r"'contact 0' is \[1.0, 0.0\]; give jd.Contact"),
    "normal too long": (
        {"contacts": contact(normal=[1.0, 0, 0])},
        jd.ShapeError,
        r"normal of contact 0 has shape \(3,\)",
    ),
    "normal is text": ({"contacts": contact(normal="up")}, jd.ShapeError, r"normal of contact 0 must be a number"),
    "tangent too long": (
        {"contacts": contact(tangent=[[0, 1.0, 0]])},
        jd.ShapeError,
        r"tangents of contact 0 have shape \(1, 3\)",
    ),
    "tangent is one row": (
        {"contacts": contact(tangent=[0.0, 1.0])},
        jd.ShapeError,
        r"tangents of contact 0 have shape \(\); they must be \(…, k, 2\)",
    ),
    "tangents of two lengths": (
        {"contacts": contact(tangent=[[0.0, 1.0], [1.0, 0.0, 0.0]])},
        jd.ShapeError,
        r"tangents of contact 0 have shapes .*: no stack",
    ),
    "normal and tangent": (
        {"contacts": contact(normal=np.ones((3, 2)), tangent=np.ones((2, 1, 2)))},
        jd.ShapeError,
        r"normal and the tangents of contact 0, .* do not broadcast",
    ),
    "v and friction": (
        {"v": -np.ones((3, 2)), "contacts": contact(law=laws.Coulomb(np.ones(2)))},
        jd.ShapeError,
        r"leading shapes .*do not broadcast",
    ),
    "friction has a name": (
        {"contacts": contact(law=laws.Coulomb("mu"))},
        jd.ShapeError,
        r"friction of contact 0 must be a number",
    ),
    "no law": ({"contacts": contact(law=0.3)}, jd.BadEvent, r"contacts gives 'contact 0' the law 0.3; give one of"),
    "no tangents": ({"contacts": contact(tangent=None)}, jd.BadEvent, r"'contact 0' has no tangential rows"),
    "no tangents to stick": (
        {"contacts": contact(tangent=[], law=laws.NoSlip())},
        jd.BadEvent,
        r"'contact 0' has no tangential rows",
    ),
    "three tangents": (
        {"M": np.eye(3), "v": -np.ones(3), "contacts": contact(**THREE_TANGENTS)},
        jd.BadEvent,
        r"'contact 0' has 3 tangential rows; with friction a contact has one, or two in space",
    ),
    "two with friction": ({"contacts": contact() * 2}, jd.BadEvent, r"'contact 0' has friction .* 'contact 1' acts"),
    "friction and inert": (
        {"inert": [[0.0, 1.0]], "contacts": contact()},
        jd.BadEvent,
        r"'contact 0' has friction inside the event, but 'inert' acts at the same time",
    ),
    "friction and an impulse": (
        {"impulse": [0.0, 1.0], "contacts": contact()},
        jd.BadEvent,
        r"but an applied impulse acts at the same time",
    ),
    "two laws": (
        {"contacts": contact(law=laws.Frictionless()) + contact(law=laws.Frictionless(law="poisson"))},
        jd.BadEvent,
        r"The contacts 'contact 0', 'contact 1' mix Moreau's and Poisson's law",
    ),
    "too many": (
        {"contacts": contact(law=laws.Frictionless()) * 7},
        jd.BadEvent,
        r"The contacts have 128 ways to hold, more than the 81 that are tried",
    ),
    "friction is negative": (
        {"contacts": contact(law=laws.Coulomb(np.array(-0.5)))},
        jd.BadFriction,
        r"The friction of 'contact 0' is -0.5",
    ),
    "friction is NaN": (
        {"contacts": contact(law=laws.Coulomb(np.array(np.nan)))},
        jd.NotFinite,
        r"friction of contact 0.* is nan",
    ),
    "restitution above one": (
        {"elastic": ([[0.0, 1.0]], 0.5), "contacts": contact(law=laws.Frictionless(np.array(1.5)))},
        jd.BadRestitution,
        r"The restitution of 'contact 0' is 1.5",
    ),
    "normal is infinite": (
        {"contacts": contact(normal=[np.inf, 0.0])},
        jd.NotFinite,
        r"rows of contact 0\[0, 0\] is inf",
    ),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_is_refused(why: str) -> None:
    arguments, error, message = REFUSED[why]
    given: dict[str, Any] = {"M": np.eye(2), "v": [-1.0, 0.5], **arguments}
    with pytest.raises(error, match=message):
        jd.transition(**given)


@pytest.mark.parametrize("m", [8, MANY])
def test_in_a_batch_a_bad_number_is_the_status_of_its_lane(m: int) -> None:
    mu, e, normal = np.full(m, 0.5), np.full(m, 0.5), np.tile([1.0, 0.2], (m, 1))
    mu[1], e[2], mu[3], normal[4, 0] = -0.5, 1.5, np.nan, np.inf
    law = laws.Coulomb(mu, e)
    t = jd.transition(np.eye(2), [-1.0, 0.5], contacts=[jd.Contact(normal=normal, tangent=[[0.0, 1.0]], law=law)])
    expected = [jd.Status.OK, jd.Status.BAD_FRICTION, jd.Status.BAD_RESTITUTION, jd.Status.NOT_FINITE]
    assert t.status[:5].tolist() == [*expected, jd.Status.NOT_FINITE]
    assert t.ok[5:].all()
    assert np.isnan(t.v_plus[1:5]).all()
    alone = jd.transition(
        np.eye(2),
        [-1.0, 0.5],
        contacts=[jd.Contact(normal=[1.0, 0.2], tangent=[[0.0, 1.0]], law=laws.Coulomb(0.5, 0.5))],
    )
    np.testing.assert_allclose(t.v_plus[[0, 5]], [alone.v_plus] * 2, rtol=1e-13)


def test_contacts_whose_laws_cannot_be_met() -> None:
    """A ball between two walls."""
    walls = [jd.Contact(normal=[s], law=laws.Frictionless(kappa)) for s, kappa in ((1.0, 0.9), (-1.0, 0.1))]
    with pytest.raises(jd.Infeasible, match=r"'contact 1': opening before.* use Frictionless\(law='poisson'\)"):
        jd.transition([[1.0]], [-1.0], contacts=walls)
    t = jd.transition([[1.0]], [[-1.0], [0.0]], contacts=walls)
    assert t.status.tolist() == [jd.Status.INFEASIBLE, jd.Status.OK]
