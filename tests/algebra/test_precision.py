"""Against a KKT of forty digits: masses and links over many orders of magnitude, on both roads."""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest
from numpy.typing import NDArray
from test_kkt import on_the_unrolled_road

import jourdain as jd
from cases import ON, Case, Rows, draw, held

Array = NDArray[np.float64]


def exact(case: Case) -> tuple[list[mp.mpf], list[mp.mpf]]:
    """v⁺ and λ̄ of M (v⁺ − v⁻) = f̄ + C'ᵀλ̄, C'v⁺ + b⁺ = target, every input taken as the exact number it is."""
    with mp.workdps(40):
        C, b = mp.matrix(case.stacked(ON).tolist()), mp.matrix(case.stacked(ON, "b_plus").tolist())
        M, v = mp.matrix(case.M.tolist()), mp.matrix(case.v.tolist())
        n, k = case.n, len(b)
        f = mp.matrix(n, 1) if case.impulse is None else mp.matrix(case.impulse.tolist())
        kappa = mp.matrix([0.0] * (k - len(case.stacked(["elastic"]))) + case.stacked(["elastic"], "kappa").tolist())
        u = C * v + b
        A, right = mp.matrix(n + k, n + k), mp.matrix(n + k, 1)
        momentum = M * v + f
        for i in range(n):
            right[i] = momentum[i]
            for j in range(n):
                A[i, j] = M[i, j]
            for j in range(k):
                A[i, n + j], A[n + j, i] = -C[j, i], C[j, i]
        for j in range(k):
            right[n + j] = -kappa[j] * u[j] - b[j]
        solution = list(mp.lu_solve(A, right))
        return solution[:n], solution[n:]


def error(case: Case, v_plus: Array) -> float:
    """‖v⁺ − exact‖ / (‖v⁻‖ + ‖exact‖) in the norm of M."""
    expected, _ = exact(case)
    with mp.workdps(40):
        M = mp.matrix(case.M.tolist())

        def norm(v: list[mp.mpf]) -> mp.mpf:
            column = mp.matrix(v)
            return mp.sqrt((column.T * M * column)[0])

        off = norm([mp.mpf(float(a)) - b for a, b in zip(v_plus, expected, strict=True)])
        return float(off / (norm([mp.mpf(float(x)) for x in case.v]) + norm(expected)))


def on_the_lapack_road(case: Case) -> Array:
    return case.solve(check=False).v_plus


def unrolled(case: Case) -> Array:
    return on_the_unrolled_road(case)["v_plus"][:, 0]


ROADS = pytest.mark.parametrize("road", [on_the_lapack_road, unrolled], ids=["lapack", "unrolled"])
Road = Callable[[Case], Array]


def scaled_masses(rng: np.random.Generator, n: int, sizes: dict[str, int], decades: float) -> Case:
    """M = S M₀ S: a well-conditioned M₀ seen in units in which the masses differ by `decades` orders."""
    case = draw(rng, n=n, sizes=sizes, biased=False, applied=False, decades=1)
    S = 10.0 ** (rng.permutation(np.linspace(-decades / 2, decades / 2, n)) / 2)
    M = case.M * np.outer(S, S)
    return Case(M, held(M, case.v, case.stacked(["regular"]), case.stacked(["regular"], "b_minus")), case.rows)


@ROADS
@pytest.mark.parametrize(
    ("n", "sizes"),
    [
        (2, {"inert": 1}),
        (4, {"inert": 2}),
        (6, {"inert": 2, "elastic": 1}),
        (8, {"regular": 1, "inert": 2}),
        (10, {"inert": 3, "elastic": 2}),
    ],
)
def test_masses_over_twelve_orders(n: int, sizes: dict[str, int], road: Road, rng: np.random.Generator) -> None:
    """Both in the norm of M, which sees the heavy velocities, and by the largest entry, which sees the light ones."""
    for _ in range(4):
        case = scaled_masses(rng, n, sizes, decades=12)
        v_plus = road(case)
        assert error(case, v_plus) <= 1e-10
        expected = np.array(exact(case)[0], dtype=float)
        assert np.max(np.abs(v_plus - expected)) <= 1e-10 * np.max(np.abs(expected))


@pytest.mark.parametrize("n", [3, 6, 10])
def test_impulses_of_masses_over_twelve_orders(n: int, rng: np.random.Generator) -> None:
    for _ in range(4):
        case = scaled_masses(rng, n, {"inert": n // 3}, decades=12)
        expected = np.array(exact(case)[1], dtype=float)
        impulse = case.solve().impulse["inert"]
        unrolled_impulse = on_the_unrolled_road(case)["impulse"][:, 0]
        for actual in (impulse, unrolled_impulse):
            assert np.max(np.abs(actual - expected)) <= 1e-10 * np.max(np.abs(expected))


def chain(masses: Array, lengths: Array, angles: Array, rates: Array) -> Case:
    """A planar chain from a fixed pivot, a point mass at the end of each link; its tip is caught in both directions.

    The velocities are the rates of the absolute angles: M_ij = l_i l_j cos(q_i − q_j) Σ_{k ≥ max(i, j)} m_k.
    """
    n = len(masses)
    carried = np.cumsum(masses[::-1])[::-1]
    outer_link = np.maximum.outer(np.arange(n), np.arange(n))
    M = np.outer(lengths, lengths) * np.cos(np.subtract.outer(angles, angles)) * carried[outer_link]
    tip = np.array([-lengths * np.sin(angles), lengths * np.cos(angles)])
    return Case(M, rates, {"inert": Rows(tip, np.zeros(2), np.zeros(2))})


@ROADS
@pytest.mark.parametrize(("decades", "rtol"), [(6, 1e-10), (12, 1e-9)])
@pytest.mark.parametrize("order", ["lighter outwards", "heavier outwards", "mixed"])
@pytest.mark.parametrize("n", [3, 6, 10])
def test_chains_of_links_over_many_orders(
    n: int, order: str, decades: int, rtol: float, road: Road, rng: np.random.Generator
) -> None:
    """In the norm of M. Heavy links outside make M ill-conditioned in any units."""
    for _ in range(3):
        masses = 10.0 ** np.linspace(0, -decades, n)
        masses = {"lighter outwards": masses, "heavier outwards": masses[::-1], "mixed": rng.permutation(masses)}[order]
        case = chain(masses, rng.uniform(0.5, 1.5, n), rng.uniform(-np.pi, np.pi, n), rng.standard_normal(n))
        assert error(case, road(case)) <= rtol


@ROADS
@pytest.mark.parametrize(("decades", "rtol"), [(6, 1e-10), (12, 1e-9)])
def test_chains_of_links_whose_lengths_shrink_too(
    decades: int, rtol: float, road: Road, rng: np.random.Generator
) -> None:
    for _ in range(4):
        shrink = 10.0 ** np.linspace(0, -decades / 2, 6)
        case = chain(shrink**2, shrink, rng.uniform(-np.pi, np.pi, 6), rng.standard_normal(6) / shrink)
        assert error(case, road(case)) <= rtol


@ROADS
@pytest.mark.parametrize("decades", [2, 6, 10])
def test_feet_lighter_than_the_hip(decades: int, road: Road, rng: np.random.Generator) -> None:
    """Two legs on a heavy hip (x, y, two absolute leg angles), feet 10^-decades of it; one foot is caught.

    The legs are massless, so M is well-conditioned once the velocities are scaled.
    """
    for _ in range(4):
        foot = 10.0**-decades
        angles = rng.uniform(0.2, 0.6, 2) * [1, -1]
        arms = [np.array([[1, 0, 0, 0], [0, 1, 0, 0]], dtype=float) for _ in range(2)]
        for i, (arm, angle) in enumerate(zip(arms, angles, strict=True)):
            arm[:, 2 + i] = [np.cos(angle), np.sin(angle)]
        M = np.diag([1.0, 1.0, 0.0, 0.0]) + foot * sum(arm.T @ arm for arm in arms)
        case = Case(M, rng.standard_normal(4), {"inert": Rows(arms[1], np.zeros(2), np.zeros(2))})
        assert error(case, road(case)) <= 1e-10


@ROADS
@pytest.mark.parametrize("decades", [0, 3, 6])
def test_rows_in_very_different_units(decades: int, road: Road, rng: np.random.Generator) -> None:
    """Rows scaled by up to 10^±decades: what they ask for is the same."""
    for _ in range(4):
        case = draw(rng, n=6, sizes={"inert": 2, "elastic": 2}, applied=False, decades=3)
        rows = {}
        for kind, r in case.rows.items():
            size = 10.0 ** rng.choice([-decades, decades], len(r.C))
            rows[kind] = Rows(size[:, None] * r.C, size * r.b_minus, size * r.b_plus, r.kappa)
        case = Case(case.M, case.v, rows)
        assert error(case, road(case)) <= 1e-12


@ROADS
def test_ill_conditioned_but_exact(road: Road) -> None:
    """cond M = 4e9: M = [[1 + ε, 1], [1, 1]], ε = 2⁻³⁰; the row (1, 1) is caught."""
    epsilon = 2.0**-30
    M = np.array([[1 + epsilon, 1.0], [1.0, 1.0]])
    case = Case(M, np.array([1.0, 0.25]), {"inert": Rows(np.array([[1.0, 1.0]]), np.zeros(1), np.zeros(1))})
    assert error(case, road(case)) <= 1e-10


@pytest.mark.parametrize("m", [3, 5000])
def test_rows_that_take_all_of_an_impulse_create_no_energy(m: int, rng: np.random.Generator) -> None:
    """A body at rest stays at rest; what rounding leaves of the impulse is no energy, whatever its size."""
    size = 10.0 ** rng.uniform(-3, 6, (m, 1))
    t = jd.transition(
        np.diag([0.08, 70.0]),
        np.zeros((m, 2)),
        inert=rng.normal(size=(m, 1, 2)),
        elastic=(rng.normal(size=(m, 1, 2)), rng.uniform(0, 1, (m, 1))),
        nonideal=(rng.normal(size=(m, 1, 2)), size),
    )
    assert (t.status == jd.Status.OK).all()
