"""NoSlip: which ways are consistent, by a linear programme for each, and which of them is preferred."""

from __future__ import annotations

from itertools import product
from typing import Any

import casadi as ca
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

import jourdain as jd
from jourdain import laws
from jourdain.laws import ContactState

Array = NDArray[Any]
WAYS = ("lifts", "slides", "sticks")


def consistent(Y: Array, x: Array, k: int) -> dict[tuple[str, ...], Array]:
    """Way → x⁺ of contacts with rows Y (all of them, M = 1) and κ = 0; those that open are left alone; they stay open.

    A way brings its rows to rest, and is consistent if impulses that push along normals do that, whichever they are.
    """
    n_rows, found = len(Y) // k, {}
    r = Y @ x
    opens = r[::n_rows] > 1e-9
    for way in product(WAYS, repeat=k):
        acting = {"lifts": 0, "slides": 1, "sticks": n_rows}
        rows = [c * n_rows + i for c, name in enumerate(way) for i in range(acting[name])]
        if any(opens[i // n_rows] for i in rows):
            continue
        change = np.linalg.lstsq(Y[rows], -r[rows], rcond=None)[0] if rows else np.zeros_like(x)
        after = r + Y @ change
        if np.max(np.abs(after[rows]), initial=0) > 1e-9 or np.min(after[::n_rows]) < -1e-8:
            continue
        bounds = [(0 if i % n_rows == 0 else None, None) for i in rows]
        if not rows or linprog(np.zeros(len(rows)), A_eq=Y[rows].T, b_eq=change, bounds=bounds).status == 0:
            found[way] = x + change
    return found


def motions(ways: dict[tuple[str, ...], Array]) -> list[Array]:
    """Those that differ."""
    found: list[Array] = []
    for x in ways.values():
        if not any(np.linalg.norm(x - other) < 1e-7 for other in found):
            found.append(x)
    return found


def contacts(Y: Array, k: int, prefer: Any = None) -> list[Any]:
    rows = Y.reshape(k, -1, Y.shape[-1])
    return [jd.Contact(normal=some[0], tangent=some[1:], law=laws.NoSlip(0.0, prefer)) for some in rows]


def random_rows(rng: np.random.Generator, redundant: bool) -> tuple[Array, Array, int]:
    """(Y, x, number of contacts): one to three, in the plane or in space; most close. Small integers are redundant."""
    n_tangents = int(rng.integers(1, 3))
    k, n = int(rng.integers(1, 5 - n_tangents)), int(rng.integers(2, 6))
    shape = (k * (1 + n_tangents), n)
    Y, x = rng.normal(size=shape), rng.normal(size=n)
    if redundant:
        Y = np.asarray(rng.integers(-2, 3, size=shape) + 0.0, dtype=np.float64)
        Y[~Y.any(axis=1)] = 1.0
    for c in range(k):
        if Y[c * (1 + n_tangents)] @ x > 0 and rng.random() < 0.8:
            Y[c * (1 + n_tangents)] *= -1
    return Y, x, k


@pytest.mark.parametrize("redundant", [False, True])
def test_against_linear_programmes(redundant: bool, rng: np.random.Generator) -> None:
    """Solved where one motion is consistent; else refused, and no motion is picked in silence."""
    seen = {"solved": 0, "ambiguous": 0, "infeasible": 0, "some open": 0}
    for _ in range(60):
        Y, x, k = random_rows(rng, redundant)
        ways = consistent(Y, x, k)
        expected = motions(ways)
        names = [f"contact {c}" for c in range(k)]
        some = [name for name, u in zip(names, (Y @ x)[:: len(Y) // k], strict=True) if u <= 0]  # that take part
        listed = {tuple(item for item in zip(names, way, strict=True) if item[0] in some) for way in ways}
        if not expected:
            with pytest.raises(jd.Infeasible):
                jd.transition(np.eye(len(x)), x, contacts=contacts(Y, k))
            seen["infeasible"] += 1
            continue
        if len(expected) > 1:
            with pytest.raises(jd.Ambiguous) as caught:
                jd.transition(np.eye(len(x)), x, contacts=contacts(Y, k))
            candidates: Any = caught.value.candidates
        else:
            t = jd.transition(np.eye(len(x)), x, contacts=contacts(Y, k))
            np.testing.assert_allclose(t.v_plus, expected[0], atol=1e-9)
            candidates = t.candidates
        found = {tuple(one.items()) for one in candidates}
        assert len(found) == len(candidates)
        assert found == listed
        seen["solved" if len(expected) == 1 else "ambiguous"] += 1
        seen["some open"] += len(some) < k
    assert seen["solved"] > 3 and seen["ambiguous"] > 3 and seen["some open"] > 5, seen  # noqa: PT018


@pytest.mark.parametrize(("prefer", "sign"), [("sticks", 1), ("slides", -1)])
def test_the_preferred_motion(prefer: Any, sign: int, rng: np.random.Generator) -> None:
    """That in which most contacts stick, or fewest; what is undecided then is refused."""
    decided = 0
    for i in range(60):
        Y, x, k = random_rows(rng, redundant=i % 2 == 1)
        ways = consistent(Y, x, k)
        if not ways:
            continue
        most = max(sign * way.count("sticks") for way in ways)
        preferred = motions({way: x for way, x in ways.items() if sign * way.count("sticks") == most})
        if len(preferred) > 1:
            with pytest.raises(jd.Ambiguous):
                jd.transition(np.eye(len(x)), x, contacts=contacts(Y, k, prefer))
            continue
        t = jd.transition(np.eye(len(x)), x, contacts=contacts(Y, k, prefer))
        np.testing.assert_allclose(t.v_plus, preferred[0], atol=1e-9)
        decided += len(motions(ways)) > 1
    assert decided > 5


def test_feet_in_a_groove() -> None:
    """A body on two slopes: the least impulses that hold it pull along one normal, others push along both."""
    c, s = np.cos(0.6), np.sin(0.6)
    slopes = [([-s, c, 0.0], [c, s, 0.1]), ([s, c, 0.0], [c, -s, 0.1])]
    Y = np.array([row for slope in slopes for row in slope])
    seen = []
    for x in ([0.9, -1.0, 0.05], [-0.9, -1.0, 0.3], [0.2, -1.0, -0.4]):
        ways = consistent(Y, np.array(x), 2)
        law = {name: laws.NoSlip(prefer=name) for name in ("sticks", "slides")}
        feet = [[jd.Contact(normal=n, tangent=[t], law=one) for n, t in slopes] for one in law.values()]
        for prefer, some in zip(law, feet, strict=True):
            sign = 1 if prefer == "sticks" else -1
            way = max(ways, key=lambda one: sign * one.count("sticks"))
            t = jd.transition(np.eye(3), x, contacts=some)
            np.testing.assert_allclose(t.v_plus, ways[way], atol=1e-12)
            seen.append(len(motions(ways)))
    assert max(seen) > 1


def test_beside_a_contact_that_opens() -> None:
    """Of two ways one drives the other contact together, which opens before: the other one is the answer."""
    feet = [
        jd.Contact(normal=[0.0, 1.0], tangent=[[1.0, 0.5]], law=laws.NoSlip()),
        jd.Contact(normal=[1.0, 0.0], tangent=[[0.0, 1.0]], law=laws.NoSlip()),
    ]
    for x, contact in (([0.4, -1.0], ContactState.SLIPS), ([1.0, -1.0], None)):
        Y = np.array([[0.0, 1.0], [1.0, 0.5], [1.0, 0.0], [0.0, 1.0]])
        ways = consistent(Y, np.array(x), 2)
        expected = motions(ways)
        if len(expected) == 1:
            t = jd.transition(np.eye(2), x, contacts=feet)
            np.testing.assert_allclose(t.v_plus, expected[0], atol=1e-12)
            assert contact is None or t.contact["contact 0"] is contact
            assert all("contact 1" not in one for one in t.candidates)
        else:
            with pytest.raises(jd.Ambiguous) as caught:
                jd.transition(np.eye(2), x, contacts=feet)
            assert [dict(one) for one in caught.value.candidates] == [
                {"contact 0": way} for way in ("slides", "sticks")
            ]


def test_of_a_mechanism_in_kernels_sweeps_and_gradients(rng: np.random.Generator) -> None:
    n, m = 3, 1100
    A, C = rng.normal(size=(n, n)), rng.normal(size=(2, n))
    M = A @ A.T + 0.5 * np.eye(n)
    v = ca.SX.sym("v", n)
    made = jd.Mechanism.from_casadi(ca.SX.sym("q", n), v, ca.SX(ca.DM(M)))
    normal, tangent = (ca.SX(ca.DM(row)).T @ v for row in C)
    foot = made.contact("foot", normal=normal, tangent=[tangent])
    closing = rng.normal(size=(m, n))
    closing *= -np.sign(closing @ C[0])[:, None]
    L = np.linalg.cholesky(M)
    Y = np.linalg.solve(L, C.T).T
    ways = [consistent(Y, L.T @ one, 1) for one in closing[:60]]
    for prefer in ("sticks", "slides"):
        event = made.event(contacts={foot: laws.NoSlip(0.0, prefer)})
        t = event.solve(v=closing)
        assert t.ok.all()
        expected = [one.get((prefer,), next(iter(one.values()))) for one in ways]
        np.testing.assert_allclose(t.v_plus[:60] @ L, expected, atol=1e-9)
        assert [{one["foot"] for one in found} for found in t.candidates[:60]] == [
            {way for (way,) in one} for one in ways
        ]
        both = next(i for i in range(60) if len(ways[i]) == 2)
        alone = event.solve(v=closing[both])
        assert alone.candidates == ({"foot": "slides"}, {"foot": "sticks"})
        np.testing.assert_allclose(alone.v_plus, t.v_plus[both], atol=1e-12)
        slope, h = event.gradient("loss", wrt="v", v=closing[both])["v"], 1e-6
        losses = [event.solve(v=closing[both] + sign * h * np.eye(n)).loss for sign in (1, -1)]
        np.testing.assert_allclose(slope, (losses[0] - losses[1]) / (2 * h), atol=1e-7)
        names = list(alone.velocity_minus)
        scenario = event.at(v=dict(zip(names, closing[both], strict=True)), parameters={}, defaults={})
        assert scenario.solve().loss == pytest.approx(alone.loss)


def test_what_is_refused() -> None:
    with pytest.raises(jd.UnknownName, match="There is no prefer 'stick'; did you mean 'sticks'"):
        laws.NoSlip(prefer="stick")  # type: ignore[arg-type]
    with pytest.raises(jd.UnknownName, match="There is no prefer '3'; there are: 'sticks', 'slides'"):
        laws.NoSlip(prefer=3)  # type: ignore[arg-type]
