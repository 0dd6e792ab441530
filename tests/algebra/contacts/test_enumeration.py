"""Contacts without friction, one to six of them, by `jd.transition` against all active sets of their LCPs, to 1e-10.

Speeds along a row are measured by the largest |r_i|/√W_ii of the case times √W_ii, impulses by the largest λ_i √W_ii.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import jourdain as jd
from jourdain import laws
from jourdain.events import array_solver
from oracles import contacts as oracle

Array = NDArray[Any]
TOL = 1e-10
RULES = ("moreau", "poisson")
HELD: dict[str, tuple[str, ...]] = {
    "alone": (),
    "regular": ("regular",),
    "inert": ("inert",),
    "both": ("regular", "inert"),
}


@dataclass(frozen=True)
class Case:
    """k contacts C (k, n) of M and v, and what is left of them by two-sided rows: Y (k, n), W = YYᵀ, u = Yx."""

    M: Array
    v: Array
    C: Array
    kappa: Array
    two_sided: dict[str, Any]
    root: Array  # L with M = LLᵀ, so that x = Lᵀv and T = ½‖x‖²
    x: Array  # after the two-sided rows, without contacts
    Y: Array
    u_minus: Array

    @property
    def W(self) -> Array:
        return self.Y @ self.Y.T

    @property
    def u(self) -> Array:
        return self.Y @ self.x

    @property
    def weights(self) -> Array:
        """C M⁻¹ Cᵀ of each row itself."""
        own = np.linalg.solve(self.root, self.C.T)
        return np.asarray(np.sum(own**2, axis=0))

    @property
    def lengths(self) -> Array:
        return np.sqrt(np.diagonal(self.W))


@dataclass(frozen=True)
class Expected:
    u_plus: Array
    impulse: Array
    w: Array  # what is complementary to `pushes`
    pushes: Array  # all of the impulse, or of Poisson's what is not given back


def random_case(rng: np.random.Generator, k: int, redundant: bool, held: tuple[str, ...], closing: bool) -> Case:
    """`closing`: all of them close, so that Moreau's law asks something of all."""
    rows, n = oracle.random_rows(rng, k, redundant), k + 3 + 2 * len(held)
    # Rows of unlike axes: some of the velocities are those of bodies that are only carried along.
    Y = np.hstack([rows, np.zeros((k, n - rows.shape[1]))]) @ np.linalg.qr(rng.normal(size=(n, n)))[0]
    A = rng.normal(size=(n, n))
    L = np.linalg.cholesky(A @ A.T + 0.5 * np.eye(n))
    x = rng.normal(size=n)
    two_sided: dict[str, Any] = {}
    kept = np.eye(n)
    for kind in held:
        R = rng.normal(size=(2 if kind == "inert" else 1, n)) @ kept  # C L⁻ᵀ
        two_sided[kind] = R @ L.T
        kept = kept - np.linalg.pinv(R @ kept) @ (R @ kept)
        if kind == "regular":
            x = kept @ x
    if closing:
        Y = Y * -np.sign(Y @ x)[:, None]
    kappa = rng.uniform(0, 1, k)
    kappa[rng.random(k) < 0.15], kappa[rng.random(k) < 0.15] = 0, 1
    if rng.random() < 0.3:
        kappa[:] = kappa[0]
    return Case(L @ L.T, np.linalg.solve(L.T, x), Y @ L.T, kappa, two_sided, L, kept @ x, Y @ kept, Y @ x)


def by_enumeration(case: Case, rule: Any) -> Expected | None:
    """None: the law cannot be met."""
    W, u, k = case.W, case.u, len(case.C)
    if rule == "poisson":
        found = oracle.poisson_by_enumeration(W, u, case.kappa, case.weights)
        assert found is not None
        return Expected(found.u_plus, found.impulse, found.u_plus, found.expansion.least)
    closing = np.flatnonzero(case.u_minus < 0)  # of others nothing is asked, but they must not close after all
    bounce = case.kappa[closing] * case.u_minus[closing]
    part = oracle.moreau_by_enumeration(W[np.ix_(closing, closing)], u[closing] + bounce, weights=case.weights[closing])
    if part is None:
        return None
    impulse, w = np.zeros(k), np.full(k, np.inf)
    impulse[closing], w[closing] = part.least, part.w
    u_plus = u + W @ impulse
    if np.min(np.where(w == np.inf, u_plus / case.lengths, 0), initial=0) < -1e-8 * speed(case):
        return None
    return Expected(u_plus, impulse, np.where(w == np.inf, u_plus, w), impulse)


def speed(case: Case) -> float:
    return float(np.max(np.abs([case.u_minus, case.u]) / case.lengths))


def contacts(cases: list[Case], rule: Any) -> list[Any]:
    normals, kappa = np.stack([case.C for case in cases]), np.stack([case.kappa for case in cases])
    if len(cases) == 1:
        normals, kappa = normals[0], kappa[0]
    return [
        jd.Contact(normal=normals[..., i, :], law=laws.Frictionless(kappa[..., i], rule))
        for i in range(normals.shape[-2])
    ]


def compare(case: Case, rule: Any, expected: Expected, u_plus: Array, impulse: Array, v_plus: Array) -> dict[str, Any]:
    """What is off, of the case's own scales."""
    lengths, fast = case.lengths, speed(case)
    size = max(fast, float(np.max(expected.impulse * lengths)))
    w = u_plus + np.where(case.u_minus < 0, case.kappa * case.u_minus, 0) if rule == "moreau" else u_plus
    pushes = impulse - (expected.impulse - expected.pushes)
    asked = np.ones(len(w), bool) if rule == "poisson" else case.u_minus < 0
    energy = [float(x @ x) / 2 for x in (case.x, case.root.T @ v_plus)]
    return {
        "u_plus": float(np.max(np.abs(u_plus - expected.u_plus) / lengths)) / fast,
        "impulse": float(np.max(np.abs(impulse - expected.impulse) * lengths)) / size,
        "v_plus": float(np.max(np.abs(case.root.T @ v_plus - case.x - case.Y.T @ expected.impulse))) / size,
        "pulls": float(-np.min(impulse * lengths)) / size,
        "sinks": float(-np.min(w / lengths)) / fast,
        "complementary": float(np.max(np.abs(pushes * w)[asked], initial=0)) / (size * fast),
        "only those asked": float(np.max(np.abs(impulse * lengths)[~asked], initial=0)) / size,
        # ΔT = ½ λᵀ(u⁻ + u⁺), beyond what the two-sided rows took
        "energy": abs(energy[1] - energy[0] - impulse @ (case.u + u_plus) / 2) / (energy[0] + size * fast),
        "gain": (energy[1] - energy[0]) / energy[0] if rule == "poisson" or "inert" not in case.two_sided else 0.0,
        **(
            {"Moreau's loss": abs(impulse @ ((1 - case.kappa) * case.u_minus - case.u - u_plus)) / (size * fast)}
            if rule == "moreau" and "inert" not in case.two_sided
            else {}
        ),
    }


def solved(cases: list[Case], rule: Any) -> tuple[list[Any], Array, Array, Array]:
    """Status, u⁺ and impulses of the contacts, v⁺: of all cases in one batch."""
    two_sided: dict[str, Any] = {
        kind: np.stack([case.two_sided[kind] for case in cases]) for kind in cases[0].two_sided
    }
    M, v = np.stack([case.M for case in cases]), np.stack([case.v for case in cases])
    t = jd.transition(M, v, contacts=contacts(cases, rule), **two_sided)
    names = [f"contact {i}.normal" for i in range(len(cases[0].C))]
    u_plus, impulse = (np.stack([some[name] for name in names], axis=-1) for some in (t.u_plus, t.impulse))
    return t.status.tolist(), u_plus, impulse, t.v_plus


def check(cases: list[Case], rule: Any) -> Counter[str]:
    """Every case of a batch to TOL; infeasible where enumeration finds nothing. What was met, by name."""
    seen: Counter[str] = Counter()
    for case, status, *numbers in zip(cases, *solved(cases, rule), strict=True):
        expected = by_enumeration(case, rule)
        if expected is None:
            assert status == jd.Status.INFEASIBLE
            seen["infeasible"] += 1
        else:
            off = compare(case, rule, expected, *numbers)
            assert max(off.values()) < TOL, (off, case)
            assert status in (jd.Status.OK, jd.Status.ENERGY_CREATED)
            assert status == jd.Status.OK or (rule == "moreau" and "inert" in case.two_sided)
            seen["solved"] += 1
            seen["several active"] += int(np.sum(expected.impulse > 0) > 1)
            seen["some lift"] += int(np.any((expected.impulse == 0) & (case.u_minus < 0)))
    return seen


# 6 × 2 × (12 + 3 × 4) cases = 288; distinct and redundant rows in turn, every third with contacts that may open.


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("k", range(1, 7))
def test_contacts_against_enumeration(k: int, rule: Any, held: str, rng: np.random.Generator) -> None:
    m = 12 if held == "alone" else 4
    cases = [random_case(rng, k, i % 2 == 1, HELD[held], closing=i % 3 != 2) for i in range(m)]
    seen = check(cases, rule)
    assert seen["solved"] >= m / 2, seen
    assert k < 3 or held != "alone" or (seen["several active"] > 2 and seen["some lift"] > 2), seen


@pytest.mark.exhaustive
@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("k", range(1, 7))
def test_many_contacts_against_enumeration(k: int, rule: Any, held: str) -> None:
    """Up to k = 2 in batches that are large enough for a kernel."""
    m, rng = (array_solver.UNROLLED_FROM if k < 3 else 1000 if k < 5 else 200), np.random.default_rng(k)
    cases = [random_case(rng, k, i % 2 == 1, HELD[held], closing=i % 3 != 2) for i in range(m)]
    seen = check(cases, rule)
    assert seen["solved"] > m / 2, seen


@pytest.mark.parametrize("rule", RULES)
def test_one_event_alone(rule: Any, rng: np.random.Generator) -> None:
    """Not in a batch: the same numbers, and what cannot be met is raised."""
    cases = [random_case(rng, 3, False, ("inert",), closing=i % 3 != 2) for i in range(12)]
    for case, status, _, impulse, v_plus in zip(cases, *solved(cases, rule), strict=True):
        if status == jd.Status.INFEASIBLE:
            with pytest.raises(jd.Infeasible, match="poisson"):
                jd.transition(case.M, case.v, contacts=contacts([case], rule), **case.two_sided)
            continue
        t = jd.transition(case.M, case.v, contacts=contacts([case], rule), **case.two_sided)
        np.testing.assert_allclose(t.v_plus, v_plus, atol=1e-12)
        np.testing.assert_allclose([t.impulse[f"contact {i}.normal"] for i in range(3)], impulse, atol=1e-12)


def test_expansion_that_is_only_rounding() -> None:
    """A ball (1 kg) between two walls, plastic, by Poisson: it stops, and nothing is left for the expansion."""
    law = laws.Frictionless(0.0, "poisson")
    walls = [jd.Contact(normal=[0.1], law=law), jd.Contact(normal=[-1.5], law=law)]
    t = jd.transition([[1.0]], [-0.3], contacts=walls)
    assert t.v_plus == pytest.approx([0.0], abs=1e-15)
    assert t.impulse["contact 0.normal"] == pytest.approx(3.0)
