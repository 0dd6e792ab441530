"""Light masses between rows that hold heavy ones keep their digits, on every road.

The oracle solves the same event in rational numbers, every input taken as the exact number it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import casadi as ca
import numpy as np
import pytest

import jourdain as jd
from checks import rational as in_rationals
from jourdain.algebra import lapack
from oracles.rational import Array, assert_digits, exact, rational, solution

DIGITS = 1e-10  # of the velocities, and of the energy
RATIOS = [1e4, 1e6, 1e8, 1e10, 1e12, 1e13, 1e14, 1e15, 1e16, 1e18]
N_COMPILED = 4096


def system(name: str, ratio: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """M and rows. In chains each light particle is between two heavy ones; elsewhere rows share light velocities."""
    r = 1 / ratio
    if name == "chain":
        return np.diag([1, r, 2, 3 * r, 1.5]), np.eye(4, 5) - np.eye(4, 5, 1)
    if name == "held":
        return np.diag([r, 1]), np.array([[1.0, 1], [1, -1]])
    if name == "levers":
        return np.diag([1, r, 2]), np.array([[1.0, -3, 0], [0, 7, -5]])
    if name == "three sizes":
        return np.diag([1, np.sqrt(r), r, 2, 3]), np.eye(3, 5) - np.eye(3, 5, 1)
    if name == "shared":
        return np.diag([r, 2 * r, 1, 2]), np.array([[1.0, 1, 1, 0], [1, 1, -1, 1]])
    if name == "shared, any numbers":
        shared = np.outer(rng.uniform(0.5, 2, 3), rng.standard_normal(3))
        M = np.diag([1, 2, 0.7, 1, 2])
        A = np.eye(3) + 0.2 * rng.standard_normal((3, 3))
        M[:3, :3] = A @ A.T * r
        return (M + M.T) / 2, np.hstack([shared, rng.standard_normal((3, 2))])
    raise AssertionError(name)


SYSTEMS = ("chain", "held", "levers", "three sizes", "shared", "shared, any numbers")


def mechanism(M: Array, parameters: Sequence[tuple[ca.SX, float]] = ()) -> tuple[jd.Mechanism, ca.SX]:
    n = len(M)
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    return jd.Mechanism.from_casadi(q, v, ca.SX(ca.DM(M)), parameters=parameters), v


@pytest.mark.parametrize("n", [0, 3, N_COMPILED])
@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_raw_arrays(name: str, ratio: float, n: int, rng: np.random.Generator) -> None:
    for kappa in (0.0, 0.5):
        M, C = system(name, ratio, rng)
        v = rng.standard_normal(len(M))
        t = jd.transition(M, np.broadcast_to(v, (n, len(v))) if n else v, elastic=(C, kappa))
        assert_digits(t, exact(M, v, C, kappa), DIGITS)


@pytest.mark.parametrize("ratio", [1e6, 1e10, 1e13, 1e15, 1e17])
@pytest.mark.parametrize("name", SYSTEMS)
def test_mechanisms(name: str, ratio: float, rng: np.random.Generator) -> None:
    """One event, a few, and as many as are compiled; with an applied impulse."""
    M, C = system(name, ratio, rng)
    made, v = mechanism(M)
    rows = made.constraint("rows", ca.DM(C) @ v)
    event = made.event(elastic={rows: 0.5}, impulses={made.symbols.v_names[-1]: "p"})
    before = rng.standard_normal(len(M))
    push = np.append(np.zeros(len(M) - 1), 0.3)
    expected = exact(M, before, C, 0.5, push)
    for n in (0, 3, 1500):
        assert_digits(event.solve(v=np.broadcast_to(before, (n, len(M))) if n else before, p=0.3), expected, DIGITS)


@pytest.mark.parametrize("n", [5, 1500])
def test_sweeps_over_the_mass(n: int) -> None:
    """Two light velocities that rows share, of a mass that is swept: light and ordinary samples stand side by side."""
    q, v, m = ca.SX.sym("q", 4), ca.SX.sym("v", 4), ca.SX.sym("m")
    made = jd.Mechanism.from_casadi(q, v, ca.diag(ca.vertcat(m, 2 * m, 1, 2)), parameters=[(m, 1.0)])
    C = np.array([[1.0, 1, 1, 0], [1, 1, -1, 1]])
    before = np.array([0.3, -0.7, 1.1, 0.4])
    event = made.event(inert=[made.constraint("rows", ca.DM(C) @ v)])
    masses = np.geomspace(1e-17, 1.0, n)
    names = made.symbols.v_names
    swept = event.at(v=dict(zip(names, before, strict=True))).sweep(m=masses, keep=["v_plus", "loss"])
    for i in range(0, n, max(1, n // 20)):
        v_plus, loss, energy = exact(np.diag([masses[i], 2 * masses[i], 1, 2]), before, C, 0.0)
        found = swept["v_plus"].isel(m=i).values
        assert np.max(np.abs(found - v_plus)) <= 1e-9 * np.max(np.abs(before))
        assert abs(float(swept["loss"][i]) - loss) <= 1e-9 * energy
    assert (swept["status"] == 0).all()


@pytest.mark.parametrize("n", [0, N_COMPILED])
@pytest.mark.parametrize("ratio", [1e6, 1e13, 1e16])
def test_rows_of_every_kind_and_one_too_many(ratio: float, n: int, rng: np.random.Generator) -> None:
    """The last inert row is the sum of two others: it is redundant, and changes nothing."""
    M = np.diag([1 / ratio, 2, 3 / ratio, 1, 2 / ratio])
    C = np.array([[1.0, 1, 2, 0, 1], [2, -1, 4, 1, 2], [1, 1, 2, 3, 1]])
    v = rng.standard_normal(5)
    v[1] = -(v[0] + 2 * v[2] + v[4])
    v_plus, _, _ = exact(M, v, C, np.array([0, 0, 0.5]))
    for inert in (C[1:2], np.vstack([C[1:2], C[0] + C[1]])):
        states = np.broadcast_to(v, (n, 5)) if n else v
        t = jd.transition(M, states, regular=C[:1], inert=inert, elastic=(C[2:], 0.5), check=False)
        assert np.all(t.ok)
        assert np.max(np.abs(t.v_plus - v_plus)) <= DIGITS * np.max(np.abs(v))
        assert ("inert.1" in t.redundant) == (len(inert) == 2)


@pytest.mark.parametrize("ratio", [1e10, 1e16])
def test_dependent_rows_stay_dependent(ratio: float, rng: np.random.Generator) -> None:
    """Rows that differ by rounding only are one row, however light the masses are."""
    for _ in range(20):
        M = np.diag([1 / ratio, 3 / ratio, 1, 2])
        C = rng.standard_normal((2, 4))
        C = np.vstack([C, 0.3 * C[0] - 1.7 * C[1]])
        v = rng.standard_normal(4)
        t = jd.transition(M, v, inert=C)
        assert t.ok
        assert t.redundant == ("inert.2",)


# M and rows that are independent in the velocities, and parallel to 3e-8 or less in the metric of M.
HIDDEN = {
    "gear": lambda r, a: (np.diag([1, r, 2]), np.array([[a, -1, 0], [0, -1, a]])),
    "held": lambda r, a: (np.diag([r, 1]), np.array([[1, a], [1, -a]])),
    "held by one": lambda r, a: (np.diag([1, r]), np.array([[-a, 2], [0, a]])),
    "three": lambda r, a: (np.diag([1, r, 2, r, 3]), np.array([[a, 1, 0, 2, 0], [0, 1, a, 2, 0], [0, 3, 0, 6, a]])),
}
SHALLOW = [(1e-6, 1e-5), (1e-8, 1e-4), (1e-10, 1e-3), (1e-11, 3e-3), (1e-12, 1e-2), (3e-13, 2e-2), (1e-9, 1e-5)]


@pytest.mark.parametrize("kappa", [0.0, 0.5])
@pytest.mark.parametrize(("r", "a"), SHALLOW)
@pytest.mark.parametrize("name", HIDDEN)
def test_rows_that_only_the_masses_make_parallel(
    name: str, r: float, a: float, kappa: float, rng: np.random.Generator
) -> None:
    M, C = HIDDEN[name](r, a)
    v = rng.standard_normal(len(M))
    v[np.diag(M) == r] *= a  # as fast as the heavy ones drive it
    expected = exact(M, v, C, kappa)
    for n in (0, 3, N_COMPILED):
        t = jd.transition(M, np.broadcast_to(v, (n, len(v))) if n else v, elastic=(C, kappa))
        assert_digits(t, expected, DIGITS)
        assert n or t.redundant == ()


@pytest.mark.parametrize(("r", "a"), SHALLOW)
def test_mechanisms_whose_masses_make_rows_parallel(r: float, a: float) -> None:
    M, C = HIDDEN["gear"](r, a)
    made, v = mechanism(M)
    event = made.event(inert=[made.constraint("rows", ca.DM(C) @ v)])
    before = np.array([1.0, a / 2, -1.0])
    for n in (0, 3, 1500):
        t = event.solve(v=np.broadcast_to(before, (n, 3)) if n else before)
        assert_digits(t, exact(M, before, C, 0.0), DIGITS)


@pytest.mark.parametrize("n", [0, 3, N_COMPILED])
@pytest.mark.parametrize("r", [1.0, 1e-4, 1e-8, 1e-12, 1e-15])
def test_rows_that_contradict_do_so_at_every_mass(r: float, n: int) -> None:
    def solved(bias: float) -> jd.Transition:
        rows = ([[1.0, -1.0], [2.0, -2.0]], [0.1, bias])
        return jd.transition(np.diag([1.0, r]), np.ones((n, 2)) if n else np.ones(2), inert=rows)

    assert np.all(solved(0.2).ok)
    if n:
        assert np.all(solved(0.201).status == jd.Status.CONTRADICTION)
        return
    with pytest.raises(jd.Contradiction, match="contradict"):
        solved(0.201)


@pytest.mark.parametrize("n", [0, 3, N_COMPILED])
@pytest.mark.parametrize("r", [1.0, 1e-4, 1e-8, 1e-12, 1e-15])
def test_prior_velocities_are_checked_at_every_mass(r: float, n: int) -> None:
    def solved(off: float) -> jd.Transition:
        v = np.array([0.7, 0.7 + off, -0.2])
        M = np.diag([1.0, r, 2.0])
        states = np.broadcast_to(v, (n, 3)) if n else v
        return jd.transition(M, states, regular=[[1.0, -1.0, 0.0]], inert=[[0.0, 1.0, -1.0]])

    assert np.all(solved(0.0).ok)
    assert np.all(solved(1e-10).ok)
    for off in (1e-6, -1e-3, 0.1):
        if n:
            assert np.all(solved(off).status == jd.Status.PRIOR_VIOLATED)
        else:
            with pytest.raises(jd.PriorViolated, match="regular"):
                solved(off)


@pytest.mark.parametrize("n", [0, N_COMPILED])
@pytest.mark.parametrize("r", [1.0, 1e-8, 1e-14])
def test_a_system_at_rest_that_is_held_takes_any_impulse(r: float, n: int) -> None:
    """What is left of the velocities is rounding, and no contradiction."""
    C = np.array([[1.0, -1, 0], [0, 1, -1], [1, 1, 1]])
    v = np.zeros((n, 3)) if n else np.zeros(3)
    t = jd.transition(np.diag([1.0, r, 2]), v, inert=np.vstack([C, C[0] + C[1]]), impulse=np.array([1e9, -3e8, 7.0]))
    assert np.all(t.ok)


def by_moreau(M: Array, v: Array, normals: Array, kappa: float, held: Array) -> list[Array]:
    """Every v⁺ with 0 ≤ λ ⊥ u⁺ + κ u⁻ ≥ 0 at contacts that close, none of which depends on others that push."""
    found, n = [], len(M)
    mass, before, rows, fixed = rational(M), rational(v), rational(normals), rational(held).reshape(-1, n)
    u_minus = rows @ before
    for pushing in product(*((False,) if u > 0 else (False, True) for u in u_minus)):
        acting = np.concatenate([fixed, rows[list(pushing)]])
        k = len(acting)
        A = np.full((n + k, n + k), Fraction(0))
        A[:n, :n], A[:n, n:], A[n:, :n] = mass, -acting.T, acting
        asked = [*([Fraction(0)] * len(fixed)), *(-Fraction(kappa) * u_minus[list(pushing)])]
        found_now = solution(A, np.concatenate([mass @ before, np.array(asked, dtype=object)]))
        opens = rows @ found_now[:n] + Fraction(kappa) * np.where(u_minus < 0, u_minus, 0)
        if (found_now[n + len(fixed) :] >= 0).all() and (opens >= 0).all():
            found.append(found_now[:n].astype(float))
    return found


CONTACTS = {  # M, v⁻, normals, rows that are inert
    "between": lambda r: (np.diag([1, r, 2]), [1, 0.5, -1], [[-1, 1, 0], [0, -1, 1]], []),
    "behind a row": lambda r: (np.diag([1, r, 2]), [1, 0.5, -1], [[0, -1, 1]], [[-1, 1, 0]]),
    "wedge": lambda r: (np.diag([r, 1, r]), [0.2, -1, 0.3], [[1, 1, 0], [-1, 1, 0], [0, 1, 2]], []),
    "chain": lambda r: (np.diag([1, r, 2, 3 * r, 1.5]), [2, 1, 0, -1, -2], np.eye(4, 5, 1) - np.eye(4, 5), []),
}


@pytest.mark.parametrize("kappa", [0.0, 0.5])
@pytest.mark.parametrize("ratio", [1e3, 1e6, 1e9, 1e12, 1e14])
@pytest.mark.parametrize("name", CONTACTS)
def test_contacts(name: str, ratio: float, kappa: float) -> None:
    M, v, normals, held = (np.asarray(part, dtype=float) for part in CONTACTS[name](1 / ratio))
    expected = by_moreau(M, v, normals, kappa, held)
    inert = held if held.size else None
    contacts = [jd.Contact(normal=normal, law=jd.laws.Frictionless(kappa)) for normal in normals]
    for n in (0, 3, N_COMPILED):
        t = jd.transition(M, np.broadcast_to(v, (n, len(v))) if n else v, contacts=contacts, inert=inert)
        assert np.all(t.status <= jd.Status.ENERGY_CREATED)
        assert min(np.max(np.abs(t.v_plus - v_plus)) for v_plus in expected) <= DIGITS


@pytest.mark.parametrize("ratio", [1e8, 1e13])
@pytest.mark.parametrize("name", CONTACTS)
def test_contacts_of_mechanisms(name: str, ratio: float) -> None:
    M, v, normals, held = (np.asarray(part, dtype=float) for part in CONTACTS[name](1 / ratio))
    expected = by_moreau(M, v, normals, 0.5, held)
    made, symbols = mechanism(M)
    law = jd.laws.Frictionless(0.5)
    contacts = {made.contact(f"c{i}", normal=ca.DM(c).T @ symbols): law for i, c in enumerate(normals)}
    rows = [made.constraint("rows", ca.DM(held) @ symbols)] if held.size else []
    event = made.event(inert=rows, contacts=contacts)
    for n in (0, 3, 1500):
        t = event.solve(v=np.broadcast_to(v, (n, len(v))) if n else v)
        assert np.all(t.status <= jd.Status.ENERGY_CREATED)
        assert min(np.max(np.abs(t.v_plus - v_plus)) for v_plus in expected) <= DIGITS


LAWS = {
    "moreau": lambda kappa: jd.laws.Frictionless(kappa),
    "poisson": lambda kappa: jd.laws.Frictionless(kappa, law="poisson"),
    "friction at the end": lambda kappa: jd.laws.MoreauCoulomb(0.0, kappa),
    "no slip": lambda kappa: jd.laws.NoSlip(kappa),
}


@pytest.mark.parametrize(
    ("n", "ratio"),
    [
        *((0, ratio) for ratio in (1.0, 1e3, 1e6, 1e9, 1e12, 1e15, 1e18)),
        *(pytest.param(N_COMPILED, ratio, marks=pytest.mark.exhaustive) for ratio in (1.0, 1e6, 1e9, 1e12, 1e15)),
    ],
)
@pytest.mark.parametrize(
    ("law", "kappa", "name"),
    [
        *((law, kappa, name) for law in LAWS for kappa in (0.0, 0.5) for name in ("between", "wedge")),
        *((law, 0.0, "behind a row") for law in LAWS),  # where Poisson's law with κ > 0 is another one
    ],
)
def test_contacts_of_every_law(law: str, kappa: float, name: str, n: int, ratio: float) -> None:
    """Laws agree on normals with the same κ. Ratios of up to 1e12 are solved; what is solved is right.

    Tangents move velocities of their own.
    """
    M, v, normals, held = (np.asarray(part, dtype=float) for part in CONTACTS[name](1 / ratio))
    expected, (k, n_v) = by_moreau(M, v, normals, kappa, held), normals.shape
    wide = np.eye(n_v + k)
    wide[:n_v, :n_v] = M
    v, normals, held = np.pad(v, (0, k)), np.pad(normals, ((0, 0), (0, k))), held.reshape(-1, n_v)
    inert = np.pad(held, ((0, 0), (0, k))) if len(held) else None
    made = LAWS[law](kappa)
    contacts = [
        jd.Contact(normal=normal, tangent=[] if isinstance(made, jd.laws.Frictionless) else [tangent], law=made)
        for normal, tangent in zip(normals, np.eye(k, n_v + k, n_v), strict=True)
    ]
    try:
        t = jd.transition(wide, np.broadcast_to(v, (n, n_v + k)) if n else v, contacts=contacts, inert=inert)
    except (jd.NotConverged, jd.Infeasible):
        assert ratio > 1e12
        return
    solved = t.status <= jd.Status.ENERGY_CREATED
    assert np.all(solved) or ratio > 1e12
    if np.all(solved):  # what may lose more than 1e-9 is refined
        assert min(np.max(np.abs(t.v_plus[..., :n_v] - v_plus)) for v_plus in expected) <= 1e-9


@pytest.mark.parametrize("ratio", [1e9, 1e12, 1e14])
@pytest.mark.parametrize("more", [2.0**-53, 1e-12, 1e-6, -0.2])
def test_impulses_that_nearly_cancel_keep_their_digits(ratio: float, more: float) -> None:
    """The light mass leaves at a speed that depends on the difference of restitutions, times the ratio of masses."""
    M, v, normals = np.diag([1, 1 / ratio, 2]), np.array([1, 0.5, -1]), np.array([[-1.0, 1, 0], [0.0, -1, 1]])
    kappa = np.array([0.5, 0.5 + 2 * more])
    contacts = [
        jd.Contact(normal=normal, law=jd.laws.Frictionless(one, law="poisson"))
        for normal, one in zip(normals, kappa, strict=True)
    ]
    v_plus = in_rationals.poisson(M, v, np.zeros((0, 3)), normals, kappa)
    assert np.max(np.abs(jd.transition(M, v, contacts=contacts).v_plus - v_plus)) < 1e-14


@pytest.mark.parametrize("n", [0, 3, 1500])
@pytest.mark.parametrize("ratio", [1e2, 1e5, 1e8, 1e10, 1e12, 1e14, 1e16])
def test_derivatives_are_right_or_refused(ratio: float, n: int, rng: np.random.Generator) -> None:
    """Two rows that share light velocities and differ in heavy ones; by an entry of a row."""
    M, C, v, h = np.diag([1 / ratio, 2 / ratio, 1, 2]), rng.standard_normal((2, 4)), rng.standard_normal(4), 1e-5
    C[1, :2] = C[0, :2]
    entry = ca.SX.sym("entry")
    made, symbols = mechanism(M, [(entry, 0.0)])
    rows = ca.SX(ca.DM(C))
    rows[1, 2] += entry
    event = made.event(inert=[made.constraint("rows", rows @ symbols)])
    step = h * np.array([[0.0, 0, 0, 0], [0, 0, 1, 0]])
    expected = (exact(M, v, C + step, 0.0)[0] - exact(M, v, C - step, 0.0)[0]) / (2 * h)
    if ratio > 1e9 and not n:
        with pytest.raises(jd.NotConverged, match="make the light masses heavier"):
            event.gradient("v_plus", "entry", v=v)
        return
    slopes = event.gradient("v_plus", "entry", v=np.broadcast_to(v, (n, 4)) if n else v)["entry"]
    assert np.isnan(slopes).all() == (ratio > 1e9)
    assert np.all(np.isnan(slopes) | (np.abs(slopes - expected) <= 1e-6 * np.max(np.abs(expected))))


def test_a_sum_in_twice_the_digits(rng: np.random.Generator) -> None:
    A, x, B, y = (rng.standard_normal(shape) for shape in ((5, 3, 4), (5, 4, 1), (5, 3, 2), (5, 2, 1)))
    nearly = A @ x + B @ y  # takes away all digits that a plain sum has
    found = lapack.exact_sum((A, x), (B, y), (nearly, -np.ones((1, 1))))
    expected = rational(A) @ rational(x) + rational(B) @ rational(y) - rational(nearly)
    np.testing.assert_allclose(found, expected.astype(float), rtol=1e-12)


@pytest.mark.parametrize("n", [0, 3, N_COMPILED])
def test_a_row_that_is_lost_for_good_is_no_answer(n: int) -> None:
    """Two rows nearly parallel in velocities beside masses of 1e-8 … 1e-30: all digits, or a refusal."""
    refused = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        M = np.diag([1.0, 10.0 ** rng.uniform(-30, -8), 2.0])
        C = rng.normal(size=(2, 3))
        C[1] = C[0] + 10.0 ** rng.uniform(-6, 0) * rng.normal(size=3)
        v = rng.normal(size=3)
        try:
            t = jd.transition(M, np.broadcast_to(v, (n, 3)) if n else v, inert=C)
        except jd.NotConverged:
            refused += 1
            continue
        if np.all(t.status == jd.Status.NOT_CONVERGED):
            refused += 1
            continue
        assert np.all(t.ok)
        assert_digits(t, exact(M, v, C, 0.0), 10 * DIGITS)
    assert 0 < refused < 30
