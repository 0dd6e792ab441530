"""`jd.transition` against a dense KKT in plain NumPy, and the unrolled road against the LAPACK road."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

import jourdain as jd
from cases import KINDS, ON, PRIOR, Case, batch, draw, events, large_events, redundant_events, with_redundancy
from jourdain.algebra import lapack, unrolled
from jourdain.algebra.outcome import outcome
from jourdain.algebra.problem import Block, Problem
from jourdain.kinds import Kind
from oracles import dense as oracle
from oracles.dense import assert_same, assert_same_momentum, assert_same_velocity

RTOL = 1e-9
SCALARS = ("T_minus", "T_plus", "T_c_minus", "T_c_plus", "T_a_minus", "T_a_plus", "T_r_minus", "T_r_plus", "loss")


class Lane:
    """One event of a batch, read like a single outcome."""

    def __init__(self, transition: jd.Transition, index: tuple[int, ...]) -> None:
        self._transition, self._index = transition, index

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._transition, name)
        if isinstance(value, np.ndarray):
            return value[self._index]
        if name == "dof":
            return tuple(int(count[self._index]) for count in value)
        return {key: value[key][self._index] for key in value}


def check(case: Case, t: Any, rtol: float = RTOL) -> None:
    """Every quantity of an outcome against the oracle. Impulses only where the rows are independent."""
    expected = oracle.kkt(case)
    speed = oracle.speed(case)
    assert_same_velocity("v_minus", case.M, t.v_minus, case.v, speed, 0)
    assert_same_velocity("v_plus", case.M, t.v_plus, expected.v_plus, speed, rtol)
    for kind, rows in case.rows.items():
        lengths = oracle.row_lengths(case.M, rows.C)
        scale = speed * np.where(lengths > 0, lengths, 1.0)
        assert_same(
            f"u_minus of {kind}", t.u_minus[kind], rows.C @ case.v + rows.b_minus, scale + abs(rows.b_minus), rtol
        )
        assert_same(
            f"u_plus of {kind}", t.u_plus[kind], rows.C @ expected.v_plus + rows.b_plus, scale + abs(rows.b_plus), rtol
        )
        if case.plain is None:
            mass = oracle.effective_mass(case, kind)
            assert_same(f"effective_mass of {kind}", t.effective_mass[kind], mass, mass, rtol)
    if "nonideal" in case.rows:
        assert_same("impulse of nonideal", t.impulse["nonideal"], case.rows["nonideal"].beta, 1.0, 0)
    if "released" in case.rows:
        assert_same("impulse of released", t.impulse["released"], np.zeros(len(case.rows["released"].C)), 1.0, 0)

    impulse = oracle.impulses_on(case, t)
    assert_same_momentum("C'ᵀ impulse", case.M, case.stacked(ON).T @ impulse, expected.push, speed, rtol)
    if case.plain is None:
        assert_same("impulse", impulse, expected.impulse, oracle.impulse_scale(case, expected.impulse), rtol)
        Lambda = oracle.Lambda(case)
        assert_same("Lambda", oracle.impulses_on(case, t, "Lambda"), Lambda, oracle.impulse_scale(case, Lambda), rtol)

    energies = oracle.energies(case, expected.v_plus)
    for name in SCALARS:
        assert_same(name, getattr(t, name), energies[name], speed**2, rtol)
    assert_same("xi", t.xi, energies["xi"], speed**2 / max(energies["T_minus"], 1e-300), rtol)
    drive = -case.stacked(ON, "b_plus") @ impulse
    work = np.abs(case.stacked(ON, "b_plus")) @ np.abs(impulse) + speed**2
    assert_same("drive_work", t.drive_work, drive, work, rtol)
    given_work = float(case.f @ (case.v + expected.v_plus)) / 2
    assert_same("T_plus − T_minus", t.drive_work - t.dissipated + given_work, -energies["loss"], work, rtol)
    assert_same("sum of the ledger", sum(t.ledger.values()), -energies["loss"], speed**2, rtol)

    plain = case.plain or case
    ranks = [len(plain.stacked(kinds)) for kinds in (PRIOR, ON, ("regular", "live", "inert"))]
    assert tuple(t.dof) == tuple(case.n - rank for rank in ranks)


@settings(max_examples=150)
@given(events())
def test_every_quantity_is_that_of_the_kkt(case: Case) -> None:
    check(case, case.solve())


@settings(max_examples=25)
@given(large_events())
def test_every_quantity_is_that_of_the_kkt_up_to_forty_velocities(case: Case) -> None:
    check(case, case.solve())


@settings(max_examples=100)
@given(redundant_events())
def test_with_redundant_rows_every_quantity_is_that_of_the_kkt_without_them(case: Case) -> None:
    check(case, case.solve())


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("applied", [False, True])
def test_without_rows_only_the_applied_impulse_acts(n: int, applied: bool, rng: np.random.Generator) -> None:
    case = draw(rng, n=n, sizes={}, applied=applied)
    check(case, case.solve())


def test_no_velocity_is_left_when_every_one_is_caught(rng: np.random.Generator) -> None:
    case = draw(rng, n=4, sizes={"inert": 4}, biased=False, applied=False)
    t = case.solve()
    check(case, t)
    assert t.dof == (4, 0, 0)
    assert_same("xi", t.xi, 1.0, 1.0, 1e-12)


SIZES = (
    (1, {"inert": 1}),
    (3, {"regular": 1, "inert": 1}),
    (4, {"live": 2, "released": 1}),
    (5, {"regular": 1, "live": 1, "inert": 1, "elastic": 1, "released": 1, "nonideal": 2}),
    (6, {"regular": 2, "elastic": 3}),
    (9, {"inert": 3, "elastic": 2, "nonideal": 1}),
    (12, {"regular": 2, "live": 2, "inert": 2, "elastic": 2, "released": 3, "nonideal": 1}),
)


@pytest.mark.parametrize(("n", "sizes"), SIZES)
@pytest.mark.parametrize("applied", [False, True])
def test_every_lane_of_a_batch_is_that_of_the_kkt(
    n: int, sizes: dict[str, int], applied: bool, rng: np.random.Generator
) -> None:
    cases = [draw(rng, n=n, sizes=sizes, applied=applied) for _ in range(6)]
    M, v, keywords = batch(cases)
    t = jd.transition(M, v, **keywords)
    assert t.batch_shape == (6,)
    for i, case in enumerate(cases):
        check(case, Lane(t, (i,)))


def test_leading_shapes_broadcast(rng: np.random.Generator) -> None:
    """One M, four velocities along one axis, three sets of rows and five restitutions along others."""
    n, sizes = 5, {"inert": 2, "elastic": 1}
    base = draw(rng, n=n, sizes=sizes, applied=True)
    v = rng.standard_normal((4, 1, 1, n))
    C = rng.standard_normal((3, 1, 2, n))
    kappa = rng.uniform(size=(5, 1))
    elastic = base.rows["elastic"]
    t = jd.transition(base.M, v, inert=C, elastic=(elastic.C, kappa, elastic.b_plus), impulse=base.impulse)
    assert t.v_plus.shape == (4, 3, 5, n)
    assert t.impulse["inert"].shape == (4, 3, 5, 2)
    assert t.loss.shape == (4, 3, 5)
    for i, j, k in np.ndindex(4, 3, 5):
        inert = type(elastic)(C[j, 0], np.zeros(2), np.zeros(2))
        struck = type(elastic)(elastic.C, elastic.b_minus, elastic.b_plus, kappa[k])
        case = Case(base.M, v[i, 0, 0], {"inert": inert, "elastic": struck}, base.impulse)
        check(case, Lane(t, (i, j, k)))


def test_one_number_serves_all_rows(rng: np.random.Generator) -> None:
    case = draw(rng, n=5, sizes={"elastic": 3}, biased=False)
    C = case.rows["elastic"].C
    one = jd.transition(case.M, case.v, elastic=(C, 0.3, 0.1))
    each = jd.transition(case.M, case.v, elastic=(C, [0.3] * 3, [0.1] * 3))
    assert np.array_equal(one.v_plus, each.v_plus)
    assert np.array_equal(one.impulse["elastic"], each.impulse["elastic"])


def test_rows_alone_have_no_bias(rng: np.random.Generator) -> None:
    case = draw(rng, n=5, sizes={"inert": 2, "regular": 1, "released": 1}, biased=False, applied=False)
    rows: dict[str, Any] = {kind: case.rows[kind].C for kind in case.rows}
    check(case, jd.transition(case.M, case.v, **rows))


# The unrolled road

COMPARED = (
    *SCALARS,
    "xi",
    "drive_work",
    "dissipated",
    "v_plus",
    "impulse",
    "Lambda",
    "u_minus",
    "u_plus",
    "ledger",
    "applied_work",
    "effective_mass",
    "redundant",
    "nullspace",
    "dof",
    "target",
    "row_length2",
    "T_free",
    "kappa",
    "applied",
)


@lru_cache(maxsize=64)
def unrolled_outcome(
    signature: tuple[tuple[str, int], ...],
) -> tuple[ca.Function, tuple[str, ...], dict[str, tuple[int, int]]]:
    """The event algebra over CasADi scalars for cases of one signature."""
    sizes = dict(signature)
    n = sizes["n"]
    M, v = ca.SX.sym("M", n, n), ca.SX.sym("v", n)
    inputs, blocks = [M, v], []
    for kind in (kind for kind in KINDS if kind in sizes):
        k = sizes[kind]
        columns = [ca.SX.sym("b_minus", k), ca.SX.sym("b_plus", k)]
        kappa, beta = (
            ca.SX.sym(what, k) if kind == of else None for what, of in (("kappa", "elastic"), ("beta", "nonideal"))
        )
        C = ca.SX.sym("C", k, n)
        blocks.append(Block(Kind(kind), C, columns[0], columns[1], kappa, beta))
        inputs += [C, *columns, *(part for part in (kappa, beta) if part is not None)]
    f = [ca.SX.sym("f", n)] * sizes["impulse"]
    values = vars(outcome(Problem(M, v, tuple(blocks), tuple(f)), unrolled))
    names = tuple(name for name in values if values[name] is not None)
    densified = [ca.densify(ca.SX(values[name])) for name in names]
    shapes = {name: value.shape for name, value in zip(names, densified, strict=True)}
    return ca.Function("outcome", [*inputs, *f], densified), names, shapes


def on_the_unrolled_road(case: Case) -> dict[str, NDArray[np.float64]]:
    function, names, shapes = unrolled_outcome(case.signature)
    problem = case.problem()
    inputs = [problem.M, problem.v_minus]
    for block in problem.blocks:
        inputs += [part for part in (block.C, block.b_minus, block.b_plus, block.kappa, block.beta) if part is not None]
    results = function.call([ca.DM(np.asarray(part)) for part in (*inputs, *problem.applied)])
    return {name: np.asarray(result).reshape(shapes[name]) for name, result in zip(names, results, strict=True)}


def check_roads(case: Case, rtol: float = RTOL) -> None:
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = vars(outcome(case.problem(), lapack))
    actual = on_the_unrolled_road(case)
    assert set(actual) == {name for name in expected if expected[name] is not None}
    speed = oracle.speed(case)
    lengths = oracle.row_lengths(case.M, case.stacked(KINDS))[:, None]
    lengths = np.where(lengths > 0, lengths, 1.0)
    on = len(case.stacked(ON))
    largest = max(np.max(np.abs(expected["impulse"]) * lengths, initial=0.0), speed)
    scales: dict[str, Any] = dict.fromkeys(SCALARS, speed**2) | {
        "impulse": largest / lengths,
        "Lambda": largest / lengths,
        "u_minus": speed * lengths + np.abs(expected["b_minus"]),
        "u_plus": speed * lengths + np.abs(expected["b_plus"]),
        "target": speed * lengths[:on] + np.abs(expected["b_plus"][:on]),
        "effective_mass": np.where(np.isfinite(expected["effective_mass"]), expected["effective_mass"], 1.0),
        "row_length2": lengths**2,
        "T_free": speed**2,
        "ledger": speed**2 + np.sum(np.abs(expected["ledger"])),
        "applied_work": speed**2 + np.sum(np.abs(expected["applied_work"])),
        "drive_work": speed**2 + np.abs(expected["drive_work"]),
        "dissipated": speed**2 + np.abs(expected["dissipated"]),
        "nullspace": np.max(np.abs(expected["nullspace"]), initial=1.0),
        "xi": speed**2 / max(float(expected["T_minus"].item()), 1e-300),
        "applied": 1.0,
        "kappa": 1.0,
        "redundant": 1.0,
        "dof": 1.0,
    }
    for name in COMPARED:
        if name == "v_plus":
            assert_same_velocity(name, case.M, actual[name][:, 0], expected[name][:, 0], speed, rtol)
        else:
            assert_same(name, actual[name], expected[name], scales[name], rtol)


@pytest.mark.parametrize(("n", "sizes"), SIZES)
@pytest.mark.parametrize("applied", [False, True])
def test_the_unrolled_road_equals_the_lapack_road(
    n: int, sizes: dict[str, int], applied: bool, rng: np.random.Generator
) -> None:
    for _ in range(8):
        check_roads(draw(rng, n=n, sizes=sizes, applied=applied))


@pytest.mark.parametrize(("n", "sizes"), [s for s in SIZES if "regular" in s[1]])
@pytest.mark.parametrize("ways", [("duplicate",), ("scaled", "zero"), ("combination", "across")])
def test_the_unrolled_road_equals_the_lapack_road_with_redundant_rows(
    n: int, sizes: dict[str, int], ways: tuple[str, ...], rng: np.random.Generator
) -> None:
    for _ in range(4):
        case = draw(rng, n=n, sizes=sizes, applied=False, one_kappa=True)
        for way in ways:
            case = with_redundancy(case, rng, way, 10.0)
        check_roads(case)


def test_the_unrolled_road_gives_the_kkt_velocity(rng: np.random.Generator) -> None:
    for n, sizes in SIZES:
        for _ in range(5):
            case = draw(rng, n=n, sizes=sizes, applied=False)
            v_plus = on_the_unrolled_road(case)["v_plus"][:, 0]
            assert_same_velocity("v_plus", case.M, v_plus, oracle.kkt(case).v_plus, oracle.speed(case), RTOL)
