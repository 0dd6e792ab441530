"""Redundant rows (theory §7): what is unique, which impulses are returned, what is said about them, what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import jourdain as jd
from cases import ON, SPREADS, WAYS, Case, Rows, draw, redundant_events, seeds, with_redundancy
from jourdain.algebra import lapack
from jourdain.algebra.outcome import outcome
from jourdain.algebra.problem import Block, Problem
from jourdain.algebra.span import span
from jourdain.kinds import Kind
from oracles import dense as oracle
from oracles.dense import assert_same, assert_same_momentum, assert_same_velocity, impulses_on

Array = NDArray[Any]
RTOL = 1e-9
PARTS = ("T_minus", "T_plus", "T_c_minus", "T_c_plus", "T_a_minus", "T_a_plus", "T_r_minus", "T_r_plus", "loss")

some = settings(max_examples=60)


def check_unique(case: Case, t: jd.Transition, impulse_rtol: float = RTOL) -> None:
    """v⁺, energies, u⁺ and C'ᵀλ̄ are those of the event without the redundant rows."""
    expected, speed = oracle.kkt(case), oracle.speed(case)
    assert_same_velocity("v_plus", case.M, t.v_plus, expected.v_plus, speed, RTOL)
    C, impulse = case.stacked(ON), impulses_on(case, t)
    # Impulses of nearly parallel rows cancel: the sum C'ᵀλ̄ is no more exact than its terms.
    terms = np.linalg.norm(np.linalg.solve(np.linalg.cholesky(case.M), np.abs(C).T @ np.abs(impulse)))
    rounding = np.finfo(float).eps * terms / speed
    assert_same_momentum("C'ᵀ impulse", case.M, C.T @ impulse, expected.push, speed, impulse_rtol + rounding)
    energies = oracle.energies(case, expected.v_plus)
    for name in PARTS:
        assert_same(name, getattr(t, name), energies[name], speed**2, RTOL)


@pytest.mark.parametrize("spread", [1.0, 1e3, 1e4, 1e6])
@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_combination_of_scales_apart_in_every_order(spread: float, order: Sequence[int]) -> None:
    """Rows a, b and a + spread · b, M = 1: the momentum balance says what C'ᵀλ̄ is."""
    a, b, v = np.array([1.0, 0.3, 0.2]), np.array([0.2, 1.0, -0.5]), np.array([1.0, -2.0, 0.5])
    C = np.array([a, b, a + spread * b])[list(order)]
    t = jd.transition(np.eye(3), v, inert=C)
    plain = np.array([a, b])
    v_plus = v - plain.T @ np.linalg.solve(plain @ plain.T, plain @ v)
    assert_same("v_plus", t.v_plus, v_plus, 1.0, RTOL)
    assert_same("C'ᵀ impulse", C.T @ t.impulse["inert"], v_plus - v, 1.0, RTOL)
    assert t.redundant == ("inert.2",)
    assert t.dof == (3, 1, 1)


@pytest.mark.parametrize("spread", [1.0, 1e3, 1e4, 1e6])
@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_combination_of_scales_apart_across_kinds(spread: float, order: Sequence[int]) -> None:
    """The same three rows, the first of them regular, the others inert."""
    a, b, v = np.array([1.0, 0.3, 0.2]), np.array([0.2, 1.0, -0.5]), np.array([1.0, -2.0, 0.5])
    C = np.array([a, b, a + spread * b])[list(order)]
    v = v - C[0] * (C[0] @ v) / (C[0] @ C[0])
    t = jd.transition(np.eye(3), v, regular=C[:1], inert=C[1:])
    plain = np.array([a, b])
    v_plus = v - plain.T @ np.linalg.solve(plain @ plain.T, plain @ v)
    assert_same("v_plus", t.v_plus, v_plus, 1.0, RTOL)
    push = C.T @ np.concatenate([t.impulse["regular"], t.impulse["inert"]])
    assert_same("C'ᵀ impulse", push, v_plus - v, 1.0, RTOL)
    assert t.redundant == ("inert.1",)


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=60)
@given(data=st.data())
def test_what_is_unique_does_not_notice_redundant_rows(way: str, data: st.DataObject) -> None:
    case = data.draw(redundant_events(ways=(way,)))
    check_unique(case, case.solve())


@settings(max_examples=100)
@given(redundant_events(n=9, sizes={"regular": 2, "live": 1, "inert": 2, "elastic": 2, "released": 1}))
def test_what_is_unique_does_not_notice_redundant_rows_of_every_kind(case: Case) -> None:
    check_unique(case, case.solve())


# The impulses that are returned


def cost(case: Case, impulse: Array) -> float:
    """Σ_s λ_sᵀ W_ss λ_s."""
    total, start = 0.0, 0
    root = np.linalg.cholesky(case.M)
    for kind in ON:
        if kind in case.rows:
            C = case.rows[kind].C
            total += float(np.sum(np.linalg.solve(root, C.T @ impulse[start : start + len(C)]) ** 2))
            start += len(C)
    return total


def least(case: Case) -> Array:
    """The λ̄ of least Σ_s λ_sᵀ W_ss λ_s with C'ᵀλ̄ given, by a constrained minimisation in unit rows."""
    root = np.linalg.cholesky(case.M)
    Y = np.linalg.solve(root, case.stacked(ON).T).T
    lengths = np.linalg.norm(Y, axis=1)
    scale = 1 / np.where(lengths > 0, lengths, 1.0)
    Y = Y * scale[:, None]
    push = np.linalg.solve(root, oracle.kkt(case).push)
    some_impulse = np.linalg.lstsq(Y.T, push, rcond=1e-9)[0]
    N = np.linalg.svd(Y.T)[2][np.linalg.matrix_rank(Y, tol=1e-9) :].T
    blocks, start = [], 0
    for kind in ON:
        if kind in case.rows:
            k = len(case.rows[kind].C)
            block = np.zeros((case.n, len(Y)))
            block[:, start : start + k] = Y[start : start + k].T
            blocks.append(block)
            start += k
    H = np.vstack(blocks)  # cost = ‖H λ‖²
    U, sigma, Vt = np.linalg.svd(H @ N, full_matrices=False)
    inverse = np.where(sigma > 1e-9, 1 / np.maximum(sigma, 1e-9), 0.0)  # inside one constraint N costs nothing
    return scale * (some_impulse - N @ Vt.T @ (inverse * (U.T @ H @ some_impulse)))


@some
@given(redundant_events(ways=("duplicate", "scaled", "combination", "across"), spreads=(1.0, 10.0)))
def test_the_impulses_cost_least(case: Case) -> None:
    t = case.solve()
    expected = cost(case, least(case))
    assert_same("Σ λᵀWλ", cost(case, impulses_on(case, t)), expected, expected + oracle.speed(case) ** 2, RTOL)
    push = case.stacked(ON).T @ impulses_on(case, t)
    assert_same_momentum("C'ᵀ impulse", case.M, push, oracle.kkt(case).push, oracle.speed(case), RTOL)


def redundant_across(rng: np.random.Generator) -> Case:
    """Rows independent inside every constraint; some inert ones are combinations of regular and inert ones."""
    case = draw(rng, n=7, sizes={"regular": 3, "inert": 1, "live": 1}, decades=2)
    regular, inert = case.rows["regular"], case.rows["inert"]
    G, g = rng.standard_normal((2, 3)), rng.standard_normal((2, 1))
    b = np.concatenate([inert.b_plus, G @ regular.b_plus + g @ inert.b_plus])
    both = Rows(np.concatenate([inert.C, G @ regular.C + g @ inert.C]), b, b)
    return replace(case, rows={**case.rows, "inert": both}, plain=case)


@some
@given(seeds)
def test_across_constraints_the_impulses_are_unique(seed: int) -> None:
    case = redundant_across(np.random.default_rng(seed))
    t = case.solve()
    check_unique(case, t)
    expected = least(case)
    assert_same("impulse", impulses_on(case, t), expected, oracle.impulse_scale(case, expected), RTOL)
    N, H = t.impulse_nullspace, np.zeros((len(expected),) * 2)
    start = 0
    for kind in ON:  # stationary: Nᵀ H λ̄ = 0
        if kind in case.rows:
            C = case.rows[kind].C
            H[start : start + len(C), start : start + len(C)] = C @ np.linalg.solve(case.M, C.T)
            start += len(C)
    slope = N.T @ H @ impulses_on(case, t)
    assert_same("NᵀHλ̄", slope, 0 * slope, np.abs(N.T) @ np.abs(H) @ np.abs(expected), RTOL)


def test_equal_constraints_share_the_impulse() -> None:
    """Two constraints with one row: half each, in any units; inside one constraint too."""
    c, v = np.array([[1.0, 2.0]]), np.array([1.0, 1.0])
    whole = jd.transition(np.eye(2), v, inert=c).impulse["inert"]
    inside = jd.transition(np.eye(2), v, inert=np.vstack([c, c])).impulse["inert"]
    np.testing.assert_allclose(inside, np.repeat(whole / 2, 2), rtol=1e-13)
    metres, millimetres = split_outcome(np.eye(2), v, [c, 1e3 * c])
    np.testing.assert_allclose([metres, 1e3 * millimetres], [whole / 2] * 2, rtol=1e-13)


def split_outcome(M: Array, v: Array, inert: Sequence[Array]) -> list[Array]:
    """The impulses of several inert constraints by themselves."""
    blocks = tuple(Block(Kind.INERT, C, *(np.zeros((len(C), 1)),) * 2) for C in inert)
    impulse = outcome(Problem(M, v[:, None], blocks, ()), lapack).impulse[:, 0]
    return np.split(impulse, np.cumsum([len(C) for C in inert])[:-1])


@some
@given(seeds)
def test_several_constraints_of_one_kind_share_at_least_cost(seed: int) -> None:
    """Three inert constraints of two rows in a space of three: their cost is that of an explicit minimisation."""
    rng = np.random.default_rng(seed)
    M, v = draw(rng, n=5, sizes={}, decades=2).M, rng.standard_normal(5)
    base = rng.standard_normal((3, 5))
    inert = [rng.standard_normal((2, 3)) @ base for _ in range(3)]
    root = np.linalg.cholesky(M)
    Y = [np.linalg.solve(root, C.T).T for C in inert]
    whitened = [np.linalg.qr(y.T)[0].T for y in Y]  # λ_sᵀW_ssλ_s = ‖y_sᵀλ_s‖²
    stacked = np.vstack(whitened)
    x = np.linalg.solve(root, M @ v)
    share = np.linalg.lstsq(stacked.T, -np.linalg.pinv(stacked, rcond=1e-10) @ stacked @ x, rcond=1e-10)[0].reshape(
        3, 2
    )
    expected = [np.linalg.lstsq(y.T, w.T @ s, rcond=None)[0] for y, w, s in zip(Y, whitened, share, strict=True)]
    for actual, wanted in zip(split_outcome(M, v, inert), expected, strict=True):
        assert_same("impulse", actual, wanted, np.abs(wanted).max(), 1e-8)


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e3, 1e6])
@settings(max_examples=40)
@given(seed=seeds)
def test_a_row_in_other_units_takes_the_impulse_in_the_inverse_units(unit: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = (
        redundant_across(rng) if seed % 2 else with_redundancy(draw(rng, n=6, sizes={"inert": 3}), rng, "combination")
    )
    kind = str(rng.choice([kind for kind in ON if kind in case.rows]))
    rows, scale = case.rows[kind], np.ones(len(case.rows[kind].C))
    scale[int(rng.integers(len(scale)))] = unit
    scaled = replace(rows, C=scale[:, None] * rows.C, b_minus=scale * rows.b_minus, b_plus=scale * rows.b_plus)
    other = replace(case, rows={**case.rows, kind: scaled})
    a, b = case.solve(), other.solve()
    assert_same_velocity("v_plus", case.M, b.v_plus, a.v_plus, oracle.speed(case), RTOL)
    impulse = impulses_on(case, a)
    factors = [scale if name == kind else np.ones(len(case.rows[name].C)) for name in ON if name in case.rows]
    expected = impulse / np.concatenate(factors)
    assert_same("impulse", impulses_on(other, b), expected, oracle.impulse_scale(other, expected), RTOL)
    assert a.redundant == b.redundant
    assert a.undetermined == b.undetermined


@some
@given(seeds)
def test_rotated_rows_take_the_rotated_impulses(seed: int) -> None:
    """C_s → G C_s in one constraint: λ̄_s → G⁻ᵀ λ̄_s, the others keep theirs."""
    rng = np.random.default_rng(seed)
    case = redundant_across(rng)
    rows = case.rows["inert"]
    G = np.linalg.qr(rng.standard_normal((3, 3)))[0] * 10.0 ** rng.uniform(-1, 1, (1, 3))
    other = case.with_rows(inert=Rows(G @ rows.C, G @ rows.b_minus, G @ rows.b_plus))
    a, b = case.solve(), other.solve()
    scale = oracle.impulse_scale(case, impulses_on(case, a))
    expected = np.concatenate([b.impulse["regular"], b.impulse["live"], G.T @ b.impulse["inert"]])
    assert_same("impulse", impulses_on(case, a), expected, scale, RTOL)


@some
@given(seeds)
def test_other_velocities_leave_the_redundant_impulses_alone(seed: int) -> None:
    """v = X v'."""
    rng = np.random.default_rng(seed)
    case = redundant_across(rng)
    X = np.linalg.qr(rng.standard_normal((7, 7)))[0] * 10.0 ** rng.uniform(-2, 2, 7)
    M = X.T @ case.M @ X
    other = Case(
        (M + M.T) / 2,
        np.linalg.solve(X, case.v),
        {k: replace(r, C=r.C @ X) for k, r in case.rows.items()},
        None if case.impulse is None else X.T @ case.impulse,
    )
    impulse = impulses_on(case, case.solve())
    assert_same("impulse", impulses_on(other, other.solve()), impulse, oracle.impulse_scale(case, impulse), RTOL)


# What is said about it


def unit_rows(case: Case) -> Array:
    Y = np.linalg.solve(np.linalg.cholesky(case.M), case.stacked(ON).T).T
    lengths = np.linalg.norm(Y, axis=1, keepdims=True)
    return Y / np.where(lengths > 0, lengths, 1.0)


def names_on(case: Case) -> list[str]:
    return [f"{kind}.{i}" for kind in ON if kind in case.rows for i in range(len(case.rows[kind].C))]


@some
@given(redundant_events(ways=("duplicate", "scaled", "combination", "across"), spreads=(1.0, 10.0, 1e3)))
def test_redundant_rows_are_those_that_add_no_rank(case: Case) -> None:
    Y = unit_rows(case)
    ranks = [np.linalg.matrix_rank(Y[: i + 1], tol=1e-9) if i >= 0 else 0 for i in range(-1, len(Y))]
    expected = tuple(name for i, name in enumerate(names_on(case)) if ranks[i + 1] == ranks[i])
    assert case.solve().redundant == expected


@some
@given(redundant_events(ways=("duplicate", "scaled", "combination", "across"), spreads=(1.0, 10.0, 1e3)))
def test_undetermined_rows_are_those_in_the_nullspace(case: Case) -> None:
    """Row i is determined iff leaving it out lowers the rank."""
    Y = unit_rows(case)
    rank = np.linalg.matrix_rank(Y, tol=1e-9)
    without = [np.linalg.matrix_rank(np.delete(Y, i, axis=0), tol=1e-9) for i in range(len(Y))]
    expected = tuple(name for i, name in enumerate(names_on(case)) if without[i] == rank)
    assert case.solve().undetermined == expected


@some
@given(redundant_events(ways=("duplicate", "scaled", "combination", "across"), spreads=(1.0, 10.0, 1e3)))
def test_determined_impulses_are_those_of_any_solution(case: Case) -> None:
    t, Y = case.solve(), unit_rows(case)
    determined = np.array([name not in t.undetermined for name in names_on(case)])
    push = np.linalg.solve(np.linalg.cholesky(case.M), oracle.kkt(case).push)
    lengths = oracle.row_lengths(case.M, case.stacked(ON))
    expected = np.linalg.lstsq(Y.T, push, rcond=1e-9)[0] / lengths
    impulse = impulses_on(case, t)
    scale = oracle.impulse_scale(case, impulse)
    assert_same("determined impulses", impulse[determined], expected[determined], scale[determined], RTOL)


@some
@given(redundant_events(ways=("duplicate", "scaled", "combination", "across"), spreads=(1.0, 10.0, 1e3)))
def test_the_nullspace_is_that_of_the_transposed_rows(case: Case) -> None:
    N, Y = case.solve().impulse_nullspace, unit_rows(case)
    scaled = N * oracle.row_lengths(case.M, case.stacked(ON))[:, None]
    scaled /= np.linalg.norm(scaled, axis=0)
    nullity = len(Y) - np.linalg.matrix_rank(Y, tol=1e-9)
    assert_same("C'ᵀN", Y.T @ scaled, np.zeros((case.n, scaled.shape[1])), 1.0, RTOL)
    assert np.linalg.matrix_rank(scaled, tol=1e-6) == nullity
    assert N.shape == (len(Y), nullity)  # a basis


def test_independent_rows_have_no_nullspace(rng: np.random.Generator) -> None:
    t = draw(rng, n=6, sizes={"regular": 1, "inert": 2, "elastic": 1}).solve()
    assert t.redundant == ()
    assert t.undetermined == ()
    assert t.impulse_nullspace.shape == (4, 0)


def test_the_ledger_books_shared_impulses_to_the_group(rng: np.random.Generator) -> None:
    case = redundant_across(rng)
    impulse = rng.standard_normal(case.n)
    case = replace(case, impulse=impulse, plain=replace(case.plain, impulse=impulse))
    t = case.solve()
    assert set(t.ledger) == {"regular + inert", "live", "impulse"}
    mean, expected = (case.v + oracle.kkt(case).v_plus) / 2, oracle.kkt(case)
    live = case.plain.rows["live"]
    work_live = expected.impulse[3:4] @ (live.C @ mean)
    scale = oracle.speed(case) ** 2
    assert_same("live", t.ledger["live"], work_live, scale, RTOL)
    assert_same("regular + inert", t.ledger["regular + inert"], expected.push @ mean - work_live, scale, RTOL)
    assert_same("impulse", t.ledger["impulse"], case.impulse @ mean, scale, RTOL)
    assert_same("sum", sum(t.ledger.values()), t.T_plus - t.T_minus, scale, RTOL)


def test_redundancy_inside_one_constraint_keeps_its_own_entry(rng: np.random.Generator) -> None:
    case = draw(rng, n=6, sizes={"regular": 1, "inert": 2})
    doubled = case.with_rows(inert=case.rows["inert"].changed(lambda part: np.concatenate([part, part])))
    t, plain = doubled.solve(), case.solve()
    assert set(t.ledger) == {"regular", "inert"} | ({"impulse"} if case.impulse is not None else set())
    assert_same("inert", t.ledger["inert"], plain.ledger["inert"], oracle.speed(case) ** 2, RTOL)


def test_three_constraints_that_share_are_one_group() -> None:
    """Regular and live share one row, live and inert another."""
    e = np.eye(4)
    t = jd.transition(np.eye(4), [0.0, 0.0, 1.0, 1.0], regular=e[:1], live=(e[:2], 0.0, 0.0), inert=e[1:3])
    assert set(t.ledger) == {"regular + live + inert"}
    assert_same("sum", t.ledger["regular + live + inert"], -0.5, 1.0, 1e-14)


def test_a_batch_says_which_lanes_are_redundant(rng: np.random.Generator) -> None:
    C = np.array([np.eye(3)[:2], [[1.0, 2.0, 0.0], [2.0, 4.0, 0.0]], [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]])
    t = jd.transition(np.eye(3), rng.standard_normal((3, 3)), inert=C)
    assert set(t.redundant) == {"inert.1"}
    assert t.redundant["inert.1"].tolist() == [False, True, False]
    assert {name: flags.tolist() for name, flags in t.undetermined.items()} == {
        "inert.0": [False, True, False],
        "inert.1": [False, True, False],
    }
    assert t.impulse_nullspace.shape == (3, 2, 1)
    assert np.all(t.impulse_nullspace[[0, 2]] == 0)
    np.testing.assert_allclose(C[1].T @ t.impulse_nullspace[1], 0, atol=1e-14)
    assert [count.tolist() for count in t.dof] == [[3, 3, 3], [1, 2, 1], [1, 2, 1]]


# What is refused

CONTRADICTIONS: dict[str, dict[str, Any]] = {
    "two biases": {"inert": ([[1.0, 0.0], [1.0, 0.0]], [0.0, 0.1])},
    "two biases in other units": {"inert": ([[1.0, 0.0], [1e3, 0.0]], [0.0, 0.1])},
    "two restitutions": {"elastic": ([[1.0, 0.0], [1.0, 0.0]], [0.5, 0.6])},
    "inert and elastic": {"inert": [[1.0, 0.0]], "elastic": ([[2.0, 0.0]], 0.5)},
    "regular and live": {"regular": [[0.0, 1.0]], "live": ([[0.0, 1.0]], 0.0, 0.2)},
    "live and inert": {"live": ([[0.0, 1.0]], 0.0, 0.2), "inert": [[0.0, 1.0]]},
    "regular and inert": {"regular": [[0.0, 1.0]], "inert": ([[0.0, 3.0]], 0.5)},
    "more rows than velocities": {"inert": ([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.0, 0.0, 1.0])},
}


@pytest.mark.parametrize("why", CONTRADICTIONS)
def test_contradicting_rows_are_refused(why: str) -> None:
    with pytest.raises(
        jd.Contradiction, match=r"'(inert|elastic|live)\.\d' \(\w+\) should have u_plus = .*they contradict"
    ):
        jd.transition(np.eye(2), [1.0, 0.0], **CONTRADICTIONS[why])


@pytest.mark.parametrize("why", CONTRADICTIONS)
def test_consistent_versions_of_the_same_rows_are_accepted(why: str) -> None:
    consistent: dict[str, dict[str, Any]] = {
        "two biases": {"inert": ([[1.0, 0.0], [1.0, 0.0]], [0.1, 0.1])},
        "two biases in other units": {"inert": ([[1.0, 0.0], [1e3, 0.0]], [0.1, 100.0])},
        "two restitutions": {"elastic": ([[1.0, 0.0], [1.0, 0.0]], [0.5, 0.5])},
        "inert and elastic": {"inert": [[1.0, 0.0]], "elastic": ([[2.0, 0.0]], 0.0)},
        "regular and live": {"regular": [[0.0, 1.0]], "live": ([[0.0, 1.0]], 0.0, 0.0)},
        "live and inert": {"live": ([[0.0, 1.0]], 0.0, 0.2), "inert": ([[0.0, 1.0]], 0.2)},
        "regular and inert": {"regular": [[0.0, 1.0]], "inert": ([[0.0, 3.0]], 0.0)},
        "more rows than velocities": {"inert": ([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.5, 0.5, 1.0])},
    }
    t = jd.transition(np.eye(2), [1.0, 0.0], **consistent[why])
    assert t.ok
    assert t.redundant


@pytest.mark.parametrize("why", CONTRADICTIONS)
def test_in_a_batch_a_contradiction_is_the_status_of_its_lane(why: str) -> None:
    """The lane at rest along the rows has nothing to contradict where targets come from u⁻; else all lanes do."""
    v = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    t = jd.transition(np.eye(2), v, **CONTRADICTIONS[why])
    at_rest = why in ("two restitutions", "inert and elastic")
    bad = np.array([True, not at_rest, True])
    assert np.array_equal(t.status == jd.Status.CONTRADICTION, bad)
    assert np.array_equal(np.isnan(t.v_plus).all(axis=-1), bad)
    assert np.array_equal(np.isnan(t.loss), bad)
    assert np.all(t.status[~bad] == jd.Status.OK)
    assert np.all(np.isfinite(t.v_plus[~bad]))


def test_in_a_batch_only_the_contradicting_lane_is_refused() -> None:
    C = np.array([[1.0, 0.0], [1.0, 0.0]])
    b = np.array([[0.1, 0.1], [0.1, 0.2], [0.0, 0.0]])
    t = jd.transition(np.eye(2), [1.0, 2.0], inert=(C, b))
    assert t.status.tolist() == [jd.Status.OK, jd.Status.CONTRADICTION, jd.Status.OK]
    assert np.isnan(t.v_plus[1]).all()
    assert np.isnan(t.impulse["inert"][1]).all()
    np.testing.assert_allclose(t.v_plus[[0, 2]], [[-0.1, 2.0], [0.0, 2.0]], rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("kind", ["regular", "inert", "live", "elastic"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_zero_row_is_dropped(kind: str, place: int, rng: np.random.Generator) -> None:
    case = draw(rng, n=5, sizes={kind: 2})
    rows = case.rows[kind].changed(lambda part: np.insert(part, place, 0.0, axis=0))
    with_zero = replace(case, rows={kind: rows}, plain=case)
    t = with_zero.solve()
    check_unique(with_zero, t)
    assert t.redundant == (f"{kind}.{place}",)
    assert t.impulse[kind][place] == 0
    scale = max(np.abs(case.M @ case.v).max(), np.abs(t.impulse[kind]).max())  # regular rows feel next to nothing
    assert_same("impulse", np.delete(t.impulse[kind], place), case.solve().impulse[kind], scale, 1e-13)


def test_a_zero_row_is_in_the_nullspace() -> None:
    """Nothing determines the impulse along a row that moves nothing: null(C'ᵀ) contains it (docs/theory.md §7)."""
    t = jd.transition(np.eye(2), [1.0, 0.0], inert=[[1.0, 0.0], [0.0, 0.0]])
    assert t.impulse_nullspace.shape == (2, 1)
    assert t.impulse_nullspace[0, 0] == 0
    assert t.impulse_nullspace[1, 0] != 0
    assert t.undetermined == ("inert.1",)


@pytest.mark.parametrize(
    "arguments",
    [
        {"inert": ([[1.0, 0.0], [0.0, 0.0]], [0.0, 0.1])},
        {"elastic": ([[0.0, 0.0]], 0.5, 0.1)},
        {"live": ([[0.0, 0.0]], 0.0, 0.1)},
    ],
)
def test_a_zero_row_that_asks_for_something_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(jd.Contradiction, match=r"should have u_plus"):
        jd.transition(np.eye(2), [1.0, 0.0], **arguments)
    t = jd.transition(np.eye(2), [[1.0, 0.0]] * 2, **arguments)
    assert t.status.tolist() == [jd.Status.CONTRADICTION] * 2


@pytest.mark.parametrize("kind", ["regular", "released"])
def test_a_zero_row_with_a_bias_breaks_the_prior_velocity(kind: str) -> None:
    empty: dict[str, Any] = {kind: ([[0.0, 0.0]], 0.1)}
    with pytest.raises(jd.PriorViolated, match=rf"breaks '{kind}\.0'"):
        jd.transition(np.eye(2), [1.0, 0.0], **empty)


@some
@given(redundant_events(ways=("duplicate", "scaled", "combination", "across"), spreads=(1.0,)), st.floats(1e-5, 1.0))
def test_a_redundant_row_with_another_bias_is_refused(case: Case, size: float) -> None:
    """The bias of an inert row that others imply is moved by `size` of the speed that the energy allows."""
    t = case.solve()
    candidates = [name for name in t.undetermined if name.startswith("inert.")]
    if not candidates:
        rng = np.random.default_rng(0)
        case, candidates = redundant_across(rng), ["inert.1"]
    i = int(candidates[0].removeprefix("inert."))
    rows = case.rows["inert"]
    shift = np.zeros(len(rows.C))
    scale = oracle.speed(case) * oracle.row_lengths(case.M, rows.C)[i] + np.abs(rows.b_plus[i])
    shift[i] = size * scale
    with pytest.raises(jd.Contradiction, match="contradict"):
        case.with_rows(inert=replace(rows, b_minus=rows.b_minus + shift, b_plus=rows.b_plus + shift)).solve()


@pytest.mark.exhaustive
@pytest.mark.parametrize("start", range(0, 20_000, 1_000))
def test_what_is_unique_in_many_events(start: int) -> None:
    """Twenty thousand events with one to four redundant rows.

    Where rows of one constraint are nearly parallel, its least impulses are up to 1e5 times what they do together
    (`span.UNSEEN`), and C'ᵀλ̄ keeps that many digits fewer.
    """
    for seed in range(start, start + 1_000):
        rng = np.random.default_rng(seed)
        case = draw(rng)
        spread = float(rng.choice(SPREADS))
        for _ in range(rng.integers(1, 5)):
            case = with_redundancy(case, rng, str(rng.choice(WAYS)), spread)
        if case.plain is not None:
            check_unique(case, case.solve(), impulse_rtol=1e-8)


@pytest.mark.parametrize("angle", [1e-9, 1.5e-8, 2e-8, 2.9e-8, 3.1e-8, 1e-7])
def test_a_row_at_any_small_angle_contradicts_nothing(angle: float) -> None:
    """Rows that ask for rest along nearly the same direction: what is dropped may be off by its angle, no more."""
    t = jd.transition(np.eye(3), [1.0, 2.0, 0.0], inert=[[1.0, 0.0, 0.0], [1.0, angle, 0.0]])
    assert t.ok
    assert np.abs(t.u_plus["inert"]).max() <= 2 * angle


@pytest.mark.parametrize("k", [2, 3, 4, 6, 8])
@pytest.mark.parametrize("n_lanes", [3, 4096])
def test_weak_rows_that_lean_on_weak_rows(k: int, n_lanes: int, rng: np.random.Generator) -> None:
    """Each row is 2 % apart from the one before: noise compounds, and the outcome holds its rows all the same."""
    R = 0.02 * np.eye(k) + np.diag(np.full(k - 1, np.sqrt(1 - 0.02**2)), -1)
    R[0, 0] = 1.0
    turned, _ = np.linalg.qr(rng.normal(size=(10, 10)))
    v = rng.normal(size=(n_lanes, 10))
    t = jd.transition(np.eye(10), v, inert=R @ turned[:k])
    assert t.ok.all()
    assert np.abs(t.u_plus["inert"]).max() <= 1e-13 * np.abs(v).max()


@pytest.mark.parametrize("weak", [1e-4, 1e-5, 1e-6])
def test_a_dropped_row_that_leans_on_a_row_after_it(weak: float) -> None:
    """Its rest is below the rank tolerance, but null vectors and impulses are right to rounding."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        a, b, other = rng.normal(size=(3, 3))
        c = a + 1e-4 * other
        blocks = [np.array([a]), np.array([b, -1.4 * b + weak * c, c])]
        Y = np.concatenate(blocks)
        spanned = span(blocks, 3, lapack, like=Y)
        assert spanned.keep.sum() == 3
        lengths = np.linalg.norm(Y, axis=1)
        N, units = spanned.N, Y / lengths[:, None]
        assert np.max(np.abs(units.T @ N)) < 1e-13 * np.max(np.abs(N))
        push = rng.normal(size=(3, 1))
        impulse = spanned.impulse(spanned.Q @ push)
        assert np.max(np.abs(Y.T @ impulse - push)) < 1e-12 * np.max(np.abs(impulse[:, 0] * lengths))
