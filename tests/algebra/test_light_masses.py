"""Light masses between rows that hold heavy ones keep their digits, on every road.

The oracle solves the same event in rational numbers, every input taken as the exact number it is.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import jourdain as jd
from jourdain.algebra import lapack
from oracles.rational import Array, exact, rational

DIGITS = 1e-10  # of the velocities, and of the energy
RATIOS = [1e4, 1e6, 1e8, 1e10, 1e12, 1e13, 1e14, 1e15, 1e16, 1e18]
N_COMPILED = 4096


def assert_digits(t: jd.Transition, expected: tuple[Array, float, float]) -> None:
    v_plus, loss, energy = expected
    assert np.all(t.ok)
    assert np.max(np.abs(t.v_plus - v_plus)) <= DIGITS * np.max(np.abs([t.v_plus, t.v_minus]))
    assert np.max(np.abs(t.loss - loss)) <= DIGITS * energy
    assert np.max(np.abs(t.T_minus - t.T_plus - loss)) <= DIGITS * energy


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


def mechanism(M: Array) -> tuple[jd.Mechanism, ca.SX]:
    n = len(M)
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    return jd.Mechanism.from_casadi(q, v, ca.SX(ca.DM(M))), v


@pytest.mark.parametrize("n", [0, 3, N_COMPILED])
@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_raw_arrays(name: str, ratio: float, n: int, rng: np.random.Generator) -> None:
    for kappa in (0.0, 0.5):
        M, C = system(name, ratio, rng)
        v = rng.standard_normal(len(M))
        t = jd.transition(M, np.broadcast_to(v, (n, len(v))) if n else v, elastic=(C, kappa))
        assert_digits(t, exact(M, v, C, kappa))


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
        assert_digits(event.solve(v=np.broadcast_to(before, (n, len(M))) if n else before, p=0.3), expected)


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


def test_a_sum_in_twice_the_digits(rng: np.random.Generator) -> None:
    A, x, B, y = (rng.standard_normal(shape) for shape in ((5, 3, 4), (5, 4, 1), (5, 3, 2), (5, 2, 1)))
    nearly = A @ x + B @ y  # takes away all digits that a plain sum has
    found = lapack.exact_sum((A, x), (B, y), (nearly, -np.ones((1, 1))))
    expected = rational(A) @ rational(x) + rational(B) @ rational(y) - rational(nearly)
    np.testing.assert_allclose(found, expected.astype(float), rtol=1e-12)
