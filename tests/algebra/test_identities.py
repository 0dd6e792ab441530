"""The laws of docs/theory.md §10 for two-sided rows, each under its exact conditions, on random events."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import jourdain as jd
from cases import ON, Case, Rows, draw, events, redundant_events, seeds
from oracles import dense as oracle
from oracles.dense import assert_same, assert_same_momentum, assert_same_velocity, energy, impulses_on

Array = NDArray[Any]
RTOL = 1e-10
IDEAL = ("regular", "live", "inert", "elastic", "released")

some = settings(max_examples=60)


def virtual_basis(case: Case) -> Array:
    """D': columns span the velocities with C'v = 0."""
    return null_space(case.stacked(ON))


def null_space(C: Array) -> Array:
    return np.linalg.svd(np.vstack([C, np.zeros((1, C.shape[1]))]))[2][len(C) :].T


def well_conditioned(rng: np.random.Generator, n: int) -> Array:
    """A random matrix with cond ≤ 100."""
    U, V = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
    return (U * 10.0 ** rng.uniform(-1, 1, n)) @ V


# 1. Rows, momentum, Gauss


@some
@given(events())
def test_rows_come_out_as_asked(case: Case) -> None:
    t, C, b = case.solve(), case.stacked(ON), case.stacked(ON, "b_plus")
    scale = oracle.speed(case) * oracle.row_lengths(case.M, C) + np.abs(b)
    assert_same("C'v⁺ + b⁺", C @ t.v_plus + b, case.target, scale, RTOL)
    assert_same("u_plus", impulses_on(case, t, "u_plus"), case.target, scale, RTOL)


@some
@given(events())
def test_momentum_balances(case: Case) -> None:
    t = case.solve()
    push = case.f + case.stacked(ON).T @ impulses_on(case, t)
    assert_same_momentum("M(v⁺ − v⁻)", case.M, case.M @ (t.v_plus - t.v_minus), push, oracle.speed(case), RTOL)


@some
@given(events())
def test_virtual_momenta_change_only_by_the_given_impulses(case: Case) -> None:
    t, D = case.solve(), virtual_basis(case)
    scale = oracle.speed(case) * np.sqrt(np.einsum("ij,ij->j", D, case.M @ D))
    assert_same("D'ᵀM(v⁺ − v⁻)", D.T @ case.M @ (t.v_plus - t.v_minus), D.T @ case.f, scale, RTOL)


@some
@given(events())
def test_the_prior_value_problem_gives_the_same_velocity(case: Case) -> None:
    """[WC 26, 27]: v⁺ = Dᵃφ⁺ + dᵃ, φ⁺ from the virtual momenta and the elastic rows."""
    held = ("regular", "live", "inert")
    C, b = case.stacked(held), case.stacked(held, "b_plus")
    E, b_E = case.stacked(["elastic"]), case.stacked(["elastic"], "b_plus")
    kappa = case.stacked(["elastic"], "kappa")
    D_virtual, D = virtual_basis(case), null_space(C)
    d = -np.linalg.pinv(C) @ b
    A = np.vstack([D_virtual.T @ case.M @ D, E @ D])
    momenta = D_virtual.T @ (case.M @ case.v + case.f - case.M @ d)
    bounce = -kappa * (E @ case.v + b_E) - b_E - E @ d
    size = np.linalg.norm(A, axis=1)
    v_plus = D @ oracle.refined(A / size[:, None], np.concatenate([momenta, bounce]) / size) + d
    assert_same_velocity("v_plus", case.M, case.solve().v_plus, v_plus, oracle.speed(case), 1e-9)


@some
@given(events(), seeds)
def test_gauss_no_admissible_velocity_is_nearer_to_the_free_one(case: Case, seed: int) -> None:
    t, D = case.solve(), virtual_basis(case)
    free = case.v + np.linalg.solve(case.M, case.f)
    speed = oracle.speed(case)
    z = D @ np.random.default_rng(seed).standard_normal(D.shape[1])
    z *= speed / max(np.sqrt(2 * energy(case.M, z)), 1e-300)
    for size in (1.0, 1e-2, -1e-2):
        excess = energy(case.M, t.v_plus + size * z - free) - energy(case.M, t.v_plus - free)
        assert_same("the excess over the minimum", excess, energy(case.M, size * z), speed**2, RTOL)


# 2. Energy


@some
@given(events())
def test_the_ledger_sums_to_the_change_of_energy(case: Case) -> None:
    t = case.solve()
    speed = oracle.speed(case)
    change = energy(case.M, t.v_plus) - energy(case.M, case.v)
    assert_same("T_plus − T_minus", t.T_plus - t.T_minus, change, speed**2, RTOL)
    assert_same("−loss", -t.loss, change, speed**2, RTOL)
    assert_same("ledger", sum(t.ledger.values()), change, speed**2, RTOL)
    assert set(t.ledger) == set(case.rows) | ({"impulse"} if case.impulse is not None else set())
    mean = (case.v + t.v_plus) / 2
    for kind, rows in case.rows.items():
        work = t.impulse[kind] @ (rows.C @ mean)
        assert_same(
            f"ledger of {kind}", t.ledger[kind], work, speed**2 + np.abs(t.impulse[kind]) @ np.abs(rows.C @ mean), RTOL
        )
    if case.impulse is not None:
        assert_same("ledger of the impulse", t.ledger["impulse"], case.impulse @ mean, speed**2, RTOL)


@some
@given(events())
def test_the_change_of_energy_is_that_of_the_lost_velocity_and_of_the_targets(case: Case) -> None:
    """ΔT = −T(v⁺ − v⁻) + (target − b⁺)ᵀλ̄ + f̄ᵀv⁺."""
    t = case.solve()
    asked, impulse = case.target - case.stacked(ON, "b_plus"), impulses_on(case, t)
    expected = -energy(case.M, t.v_plus - case.v) + asked @ impulse + case.f @ t.v_plus
    assert_same(
        "T_plus − T_minus",
        t.T_plus - t.T_minus,
        expected,
        oracle.speed(case) ** 2 + np.abs(asked) @ np.abs(impulse),
        RTOL,
    )


@some
@given(events())
def test_energy_is_the_sum_of_its_parts(case: Case) -> None:
    t = case.solve()
    scale = oracle.speed(case) ** 2
    assert_same("T_minus", t.T_r_minus + t.T_c_minus + t.T_a_minus, energy(case.M, case.v), scale, RTOL)
    assert_same("T_plus", t.T_r_plus + t.T_c_plus + t.T_a_plus, energy(case.M, t.v_plus), scale, RTOL)


@some
@given(events(kinds=IDEAL, applied=False))
def test_without_given_impulses_only_the_constrained_part_of_the_energy_changes(case: Case) -> None:
    t, scale = case.solve(), oracle.speed(case) ** 2
    assert_same("T_a_plus", t.T_a_plus, t.T_a_minus, scale, RTOL)
    assert_same("T_r_plus", t.T_r_plus, t.T_r_minus, scale, RTOL)
    assert_same("loss", t.loss, t.T_c_minus - t.T_c_plus, scale, RTOL)


@some
@given(events(kinds=IDEAL, biased=False))
def test_regular_rows_without_bias_hold_no_energy(case: Case) -> None:
    t = case.solve()
    assert t.T_r_minus <= 1e-20 * oracle.speed(case) ** 2
    assert t.T_r_plus <= 1e-20 * oracle.speed(case) ** 2


@some
@given(events(kinds=("regular", "inert", "released"), biased=False, applied=False))
def test_carnot_inert_rows_cost_the_energy_of_the_lost_velocity(case: Case) -> None:
    t, scale = case.solve(), oracle.speed(case) ** 2
    assert_same("loss", t.loss, energy(case.M, t.v_plus - case.v), scale, RTOL)
    assert_same("T_c_minus", t.T_c_minus, energy(case.M, t.v_plus - case.v), scale, RTOL)
    assert_same("T_c_plus", t.T_c_plus, 0.0, scale, RTOL)
    assert_same("T_plus", t.T_plus, t.T_a_minus, scale, RTOL)
    assert t.loss >= -1e-14 * scale
    assert t.ok
    if "inert" in case.rows:
        half = -case.v @ case.rows["inert"].C.T @ t.impulse["inert"] / 2
        assert_same("−½ v⁻ᵀAᵀλ̄", half, t.T_c_minus, scale, RTOL)


@some
@given(events(kinds=("regular", "elastic", "released"), biased=False, applied=False, one_kappa=True))
def test_one_restitution_loses_the_part_one_minus_its_square(case: Case) -> None:
    t = case.solve()
    kappa = case.rows["elastic"].kappa[0] if "elastic" in case.rows else 1.0
    assert_same("loss", t.loss, (1 - kappa**2) * t.T_c_minus, oracle.speed(case) ** 2, RTOL)
    assert t.loss >= -RTOL * oracle.speed(case) ** 2
    assert t.ok


@some
@given(events(kinds=("regular", "elastic", "released"), biased=False, applied=False))
def test_full_restitution_keeps_the_energy(case: Case) -> None:
    case = with_kappa(case, 1.0)
    t = case.solve()
    assert_same("T_plus", t.T_plus, t.T_minus, oracle.speed(case) ** 2, RTOL)
    assert t.ok


@some
@given(events(kinds=("regular", "elastic"), applied=False))
def test_full_restitution_is_its_own_inverse(case: Case) -> None:
    case = with_kappa(case, 1.0)
    back = replace(case, v=case.solve().v_plus).solve()
    assert_same_velocity("v_plus of the second", case.M, back.v_plus, case.v, oracle.speed(case), RTOL)


def with_kappa(case: Case, kappa: float) -> Case:
    if "elastic" not in case.rows:
        return case
    rows = case.rows["elastic"]
    return case.with_rows(elastic=replace(rows, kappa=np.full(len(rows.C), kappa)))


@some
@given(seeds)
def test_elastic_without_restitution_acts_as_inert(seed: int) -> None:
    """κ = 0 asks for the same velocities as inert; the two differ in what stays on."""
    case = with_kappa(
        draw(np.random.default_rng(seed), n=6, sizes={"regular": 1, "live": 1, "elastic": 2, "released": 1}), 0.0
    )
    rows = case.rows["elastic"]
    inert = case.with_rows(elastic=None, inert=replace(rows, kappa=None))
    a, b = case.solve(), inert.solve()
    assert_same_velocity("v_plus", case.M, a.v_plus, b.v_plus, oracle.speed(case), RTOL)
    assert_same("impulse", a.impulse["elastic"], b.impulse["inert"], np.abs(b.impulse["inert"]).max() + 1e-300, RTOL)
    assert a.dof.posterior == b.dof.posterior + len(rows.C)


# 5. What changes nothing


@some
@given(events(kinds=("regular", "live", "inert", "released"), applied=False))
def test_inert_twice_is_once(case: Case) -> None:
    first = case.solve()
    live = case.rows.get("live")
    again = replace(case.with_rows(released=None), v=first.v_plus)
    if live is not None:  # it has its posterior bias now
        again = again.with_rows(live=replace(live, b_minus=live.b_plus))
    second = again.solve()
    speed = oracle.speed(case)
    assert_same_velocity("v_plus", case.M, second.v_plus, first.v_plus, speed, RTOL)
    push = again.stacked(ON).T @ impulses_on(again, second)
    assert_same_momentum("C'ᵀ impulse", case.M, push, np.zeros(case.n), speed, RTOL)
    assert_same("loss", second.loss, 0.0, speed**2, RTOL)


@some
@given(redundant_events(spreads=(1.0, 10.0)))
def test_a_consistent_redundant_row_changes_nothing_but_impulses(case: Case) -> None:
    a, b = case.solve(), case.plain.solve()
    speed = oracle.speed(case)
    assert_same_velocity("v_plus", case.M, a.v_plus, b.v_plus, speed, RTOL)
    for name in ("T_plus", "T_c_minus", "T_c_plus", "T_a_minus", "T_a_plus", "T_r_minus", "T_r_plus", "loss"):
        assert_same(name, getattr(a, name), getattr(b, name), speed**2, RTOL)
    assert_same("xi", a.xi, b.xi, speed**2 / max(float(b.T_minus), 1e-300), RTOL)
    assert a.dof == b.dof


@some
@given(events(kinds=("released", "regular"), applied=False))
def test_releasing_alone_changes_nothing(case: Case) -> None:
    t = case.solve()
    assert_same_velocity("v_plus", case.M, t.v_plus, case.v, oracle.speed(case), 1e-13)
    assert_same("loss", t.loss, 0.0, oracle.speed(case) ** 2, 1e-13)
    if "regular" not in case.rows:
        assert np.array_equal(t.v_plus, case.v)
        assert t.loss == 0


@some
@given(events(kinds=("regular", "live"), applied=False))
def test_a_live_row_whose_bias_does_not_jump_takes_no_impulse(case: Case) -> None:
    case = with_steady_live(case)
    t = case.solve()
    speed = oracle.speed(case)
    assert_same_velocity("v_plus", case.M, t.v_plus, case.v, speed, 1e-12)
    push = case.stacked(ON).T @ impulses_on(case, t)
    assert_same_momentum("C'ᵀ impulse", case.M, push, np.zeros(case.n), speed, 1e-12)


@some
@given(events())
def test_a_live_row_whose_bias_does_not_jump_is_regular(case: Case) -> None:
    case = with_steady_live(case)
    live, regular = case.rows.get("live"), case.rows.get("regular")
    if live is None:
        live = Rows(np.zeros((0, case.n)), np.zeros(0), np.zeros(0))
    joined = live if regular is None else stack(regular, live)
    as_regular = case.with_rows(live=None, regular=joined)
    a, b = case.solve(), as_regular.solve()
    assert_same_velocity("v_plus", case.M, a.v_plus, b.v_plus, oracle.speed(case), RTOL)
    scale = oracle.impulse_scale(case, impulses_on(case, a))
    assert_same("impulse", impulses_on(case, a), impulses_on(as_regular, b), scale, RTOL)  # both: regular, then live


def with_steady_live(case: Case) -> Case:
    live = case.rows.get("live")
    return case if live is None else case.with_rows(live=replace(live, b_plus=live.b_minus))


def stack(first: Rows | None, second: Rows) -> Rows:
    if first is None:
        return second
    parts = zip(vars(first).values(), vars(second).values(), strict=True)
    return Rows(*(None if a is None else np.concatenate([a, b]) for a, b in parts))


@some
@given(events())
def test_live_is_released_and_inert(case: Case) -> None:
    live = case.rows.get("live")
    if live is None:
        live = Rows(np.zeros((0, case.n)), np.zeros(0), np.zeros(0))
    split = case.with_rows(
        live=None,
        released=stack(case.rows.get("released"), replace(live, b_plus=live.b_minus)),
        inert=stack(replace(live, b_minus=live.b_plus), case.rows["inert"])
        if "inert" in case.rows
        else replace(live, b_minus=live.b_plus),
    )
    a, b = case.solve(), split.solve()
    speed = oracle.speed(case)
    assert_same_velocity("v_plus", case.M, a.v_plus, b.v_plus, speed, RTOL)
    assert_same(
        "impulse", impulses_on(case, a), impulses_on(split, b), oracle.impulse_scale(case, impulses_on(case, a)), RTOL
    )
    for name in ("T_c_minus", "T_c_plus", "T_a_minus", "T_a_plus", "T_r_minus", "loss"):
        assert_same(name, getattr(a, name), getattr(b, name), speed**2, RTOL)
    assert a.dof == b.dof


# 6. Galilei


@some
@given(events(), seeds)
def test_galilei_a_common_velocity_is_only_added(case: Case, seed: int) -> None:
    w = np.random.default_rng(seed).standard_normal(case.n)
    rows = {
        kind: r if kind == "nonideal" else replace(r, b_minus=r.b_minus - r.C @ w, b_plus=r.b_plus - r.C @ w)
        for kind, r in case.rows.items()
    }
    moving = replace(case, v=case.v + w, rows=rows)
    a, b = case.solve(), moving.solve()
    speed = oracle.speed(case) + oracle.speed(moving)
    assert_same_velocity("v_plus", case.M, b.v_plus, a.v_plus + w, speed, RTOL)
    lengths, impulse = oracle.row_lengths(case.M, case.stacked(ON)), impulses_on(case, a)
    largest = max(np.max(np.abs(impulse) * lengths, initial=0.0), speed)
    assert_same("impulse", impulses_on(case, b), impulse, largest / lengths, RTOL)
    work = speed**2 + np.abs(a.dissipated) + largest * speed
    assert_same("dissipated", b.dissipated, a.dissipated, work, RTOL)


# 7. Other velocities, other rows


@some
@given(events(), seeds)
def test_a_change_of_velocity_basis_changes_nothing_physical(case: Case, seed: int) -> None:
    """v = X v'."""
    X = well_conditioned(np.random.default_rng(seed), case.n)
    M = X.T @ case.M @ X
    rows = {kind: replace(r, C=r.C @ X) for kind, r in case.rows.items()}
    impulse = None if case.impulse is None else X.T @ case.impulse
    other = Case((M + M.T) / 2, np.linalg.solve(X, case.v), rows, impulse)
    a, b = case.solve(), other.solve()
    speed = oracle.speed(case)
    assert_same_velocity("v_plus", case.M, X @ b.v_plus, a.v_plus, speed, RTOL)
    assert_same(
        "impulse", impulses_on(other, b), impulses_on(case, a), oracle.impulse_scale(case, impulses_on(case, a)), RTOL
    )
    for kind, r in case.rows.items():
        scale = speed * oracle.row_lengths(case.M, r.C) + np.abs(r.b_plus)
        assert_same(f"u_plus of {kind}", b.u_plus[kind], a.u_plus[kind], scale, RTOL)
    for name in (
        "T_minus",
        "T_plus",
        "T_c_minus",
        "T_c_plus",
        "T_a_minus",
        "T_a_plus",
        "T_r_minus",
        "T_r_plus",
        "loss",
    ):
        assert_same(name, getattr(b, name), getattr(a, name), speed**2, RTOL)
    assert_same("xi", b.xi, a.xi, speed**2 / max(float(a.T_minus), 1e-300), RTOL)


@some
@given(events(), seeds)
def test_mixed_inert_rows_take_the_impulses_mixed_the_other_way(case: Case, seed: int) -> None:
    """C → G C, b → G b: λ̄ → G⁻ᵀ λ̄."""
    rng = np.random.default_rng(seed)
    if "inert" not in case.rows:
        case = draw(rng, n=4, sizes={"regular": 1, "inert": 2})
    inert = case.rows["inert"]
    G = well_conditioned(rng, len(inert.C))
    mixed = case.with_rows(inert=Rows(G @ inert.C, G @ inert.b_minus, G @ inert.b_plus))
    a, b = case.solve(), mixed.solve()
    speed = oracle.speed(case)
    assert_same_velocity("v_plus", case.M, b.v_plus, a.v_plus, speed, RTOL)
    for name in ("T_c_minus", "T_a_minus", "T_r_minus", "loss"):
        assert_same(name, getattr(b, name), getattr(a, name), speed**2, RTOL)
    expected = {kind: a.impulse[kind] for kind in case.rows} | {"inert": np.linalg.solve(G.T, a.impulse["inert"])}
    stacked = np.concatenate([expected[kind] for kind in ON if kind in case.rows])
    assert_same("impulse", impulses_on(mixed, b), stacked, oracle.impulse_scale(mixed, stacked), RTOL)


# 8. Given impulses, more rows, scales


@some
@given(events(kinds=("regular", "inert", "released"), biased=False, applied=False), seeds, st.floats(-1e3, 1e3))
def test_impulse_and_Lambda_together_do_not_depend_on_beta(case: Case, seed: int, size: float) -> None:
    """And the admissible part of the motion is that of docs/theory.md §5."""
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((2, case.n))
    beta = size * rng.standard_normal(2) * np.sqrt(np.trace(case.M) / case.n)
    pushed = case.with_rows(nonideal=Rows(B, np.zeros(2), np.zeros(2), None, beta))
    ideal, t = case.solve(), pushed.solve()
    total = impulses_on(pushed, t) + impulses_on(pushed, t, "Lambda")
    scale = oracle.impulse_scale(pushed, impulses_on(pushed, t))
    assert_same("impulse + Lambda", total, impulses_on(case, ideal), scale, RTOL)

    _, P_c, P_a = oracle.projectors(pushed)
    speed = oracle.speed(pushed)
    along = P_a @ np.linalg.solve(case.M, B.T)  # P_a M⁻¹ Bᵀ
    v_a = P_a @ case.v
    assert_same_velocity("v_c⁺", case.M, P_c @ t.v_plus, np.zeros(case.n), speed, RTOL)
    assert_same_velocity("v_a⁺", case.M, P_a @ t.v_plus, v_a + along @ beta, speed, RTOL)
    T_a_plus = energy(case.M, v_a) + beta @ B @ v_a + beta @ (B @ along) @ beta / 2
    assert_same("T_a_plus", t.T_a_plus, T_a_plus, speed**2, RTOL)
    assert_same("loss", t.loss, t.T_c_minus + t.T_a_minus - T_a_plus, speed**2, RTOL)
    constrained = -case.v @ pushed.stacked(("inert",)).T @ total[len(total) - len(pushed.stacked(("inert",))) :] / 2
    assert_same("T_c_minus", t.T_c_minus, constrained, speed**2, RTOL)


@some
@given(events(kinds=("regular", "inert", "released"), biased=False, applied=False), seeds)
def test_bertrand_more_rows_never_lose_less(case: Case, seed: int) -> None:
    extra = np.random.default_rng(seed).standard_normal((2, case.n))
    more = case.with_rows(inert=stack(case.rows.get("inert"), Rows(extra, np.zeros(2), np.zeros(2))))
    assert more.solve().loss >= case.solve().loss - 1e-12 * oracle.speed(case) ** 2


@some
@given(events(kinds=IDEAL), st.floats(-6, 6), st.floats(-6, 6))
def test_xi_depends_on_neither_mass_nor_speed_scale(case: Case, mass: float, velocity: float) -> None:
    m, s = 10.0**mass, 10.0**velocity
    rows = {kind: replace(r, b_minus=s * r.b_minus, b_plus=s * r.b_plus) for kind, r in case.rows.items()}
    impulse = None if case.impulse is None else m * s * case.impulse
    other = Case(m * case.M, s * case.v, rows, impulse)
    a, b = case.solve(), other.solve()
    assert_same("xi", b.xi, a.xi, 1.0, RTOL)
    assert np.isnan(a.xi) or -RTOL <= a.xi <= 1 + RTOL
    assert_same_velocity("v_plus", case.M, b.v_plus / s, a.v_plus, oracle.speed(case), RTOL)


def test_xi_is_nan_at_rest() -> None:
    t = jd.transition(np.eye(2), [0.0, 0.0], inert=[[1.0, 0.0]])
    assert np.isnan(t.xi)
    assert t.ok
    assert t.T_minus == 0


# Moving supports


@some
@given(events(kinds=IDEAL, applied=False))
def test_moving_supports_work_what_is_gained_and_dissipated(case: Case) -> None:
    t = case.solve()
    b, impulse = case.stacked(ON, "b_plus"), impulses_on(case, t)
    scale = oracle.speed(case) ** 2 + np.abs(b) @ np.abs(impulse)
    assert_same("drive_work", t.drive_work, -b @ impulse, scale, RTOL)
    assert_same("dissipated", t.dissipated, oracle.dissipated(case), scale, RTOL)
    assert_same("T_plus − T_minus", t.drive_work - t.dissipated, t.T_plus - t.T_minus, scale, RTOL)


@some
@given(events(kinds=("regular", "live", "inert", "released"), applied=False))
def test_carnot_at_moving_supports_inert_rows_dissipate_the_energy_of_the_lost_velocity(case: Case) -> None:
    t = case.solve()
    b, impulse = case.stacked(ON, "b_plus"), impulses_on(case, t)
    scale = oracle.speed(case) ** 2 + np.abs(b) @ np.abs(impulse)
    assert_same("dissipated", t.dissipated, energy(case.M, t.v_plus - case.v), scale, RTOL)


@some
@given(events(kinds=("regular", "elastic", "released"), applied=False, one_kappa=True))
def test_one_restitution_at_moving_supports_dissipates(case: Case) -> None:
    t = case.solve()
    scale = oracle.speed(case) ** 2 + np.abs(case.stacked(ON, "b_plus")) @ np.abs(impulses_on(case, t))
    assert t.dissipated >= -RTOL * scale


# 9. Energy created


def test_mixed_restitution_can_create_energy_and_is_flagged() -> None:
    """Rows (1, 0) with κ = 1 and (0.6, 0.8) with κ = 0, v⁻ = (−1, 0): v⁺ = (1, −0.75), ΔT = 0.75²/2."""
    t = jd.transition(np.eye(2), [-1.0, 0.0], elastic=([[1.0, 0.0], [0.6, 0.8]], [1.0, 0.0]))
    assert t.status == jd.Status.ENERGY_CREATED
    assert not t.ok
    np.testing.assert_allclose(t.v_plus, [1.0, -0.75], rtol=1e-14)
    np.testing.assert_allclose([t.energy_created, -t.loss], 0.75**2 / 2, rtol=1e-14)
    assert "energy created" in t.status.message


def test_inert_counts_as_no_restitution_beside_elastic_rows() -> None:
    t = jd.transition(np.eye(2), [-1.0, 0.0], inert=[[0.6, 0.8]], elastic=([[1.0, 0.0]], 1.0))
    assert t.status == jd.Status.ENERGY_CREATED
    np.testing.assert_allclose(t.energy_created, 0.75**2 / 2, rtol=1e-14)


@pytest.mark.parametrize("why", ["moving support", "applied impulse", "coupled by nothing"])
def test_energy_that_has_a_source_is_not_flagged(why: str) -> None:
    elastic: Any = ([[1.0, 0.0], [0.6, 0.8]], [1.0, 0.0])
    impulse = None
    if why == "moving support":
        elastic = (*elastic, [0.1, 0.0])
    elif why == "applied impulse":
        impulse = [0.0, 0.1]
    else:
        elastic = ([[1.0, 0.0], [0.0, 1.0]], [1.0, 0.0])
    t = jd.transition(np.eye(2), [-1.0, 0.0], elastic=elastic, impulse=impulse)
    assert t.ok
    assert t.energy_created == 0


def test_given_nonideal_impulses_that_drive_are_flagged() -> None:
    t = jd.transition(np.eye(2), [1.0, -1.0], inert=[[0.0, 1.0]], nonideal=([[1.0, 0.0]], [2.0]))
    assert t.status == jd.Status.ENERGY_CREATED
    np.testing.assert_allclose(t.energy_created, 9 / 2 - 1, rtol=1e-14)
    assert jd.transition(np.eye(2), [1.0, -1.0], inert=[[0.0, 1.0]], nonideal=([[1.0, 0.0]], [-0.5])).ok


@settings(max_examples=150)
@given(events(kinds=("regular", "inert", "elastic", "released"), biased=False, applied=False))
def test_energy_created_is_flagged_exactly_where_energy_grows(case: Case) -> None:
    t = case.solve()
    gain = energy(case.M, oracle.kkt(case).v_plus) - energy(case.M, case.v)
    assert_same("energy_created", t.energy_created, max(gain, 0.0), oracle.speed(case) ** 2, 1e-9)
    if abs(gain) > 1e-9 * oracle.speed(case) ** 2:  # not rounding
        assert (t.status == jd.Status.ENERGY_CREATED) == (gain > 0)
        assert np.all(np.isfinite(t.v_plus))


@some
@given(events(kinds=("regular", "elastic", "released"), biased=False, applied=False), st.floats(0, 1))
def test_one_restitution_never_creates_energy(case: Case, kappa: float) -> None:
    case = with_kappa(case, kappa)
    t = case.solve()
    assert t.ok
    assert t.energy_created == 0
    assert t.T_plus <= t.T_minus * (1 + 1e-12)
