"""Derivatives where rows become redundant: refused where that happens in one state, exact where they always are."""

from __future__ import annotations

from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import pytest
import sympy as sp

import jourdain as jd
from jourdain import laws

V = [1.0, 2.0, -3.0]
N_KERNEL = 1501


@cache
def body(default: float = 0.3) -> jd.Mechanism:
    """Three velocities, and rows that depend on the angle p, the coordinate a and the length l."""
    q = ca.vertcat(*(ca.SX.sym(name) for name in "abc"))
    v = ca.vertcat(*(ca.SX.sym(f"v{name}") for name in "abc"))
    p, l = ca.SX.sym("p"), ca.SX.sym("l")
    M = ca.diag(ca.vertcat(ca.SX(1.0), 2.0 + ca.cos(p), 3.0))
    made = jd.Mechanism.from_casadi(q, v, M, parameters=[(p, default), (l, 1.0)])
    one, other = v[0] + v[2], v[1] - v[2]
    made.constraint("one", one)
    for name, angle in {"turned": p, "squared": p**2, "posed": q[0]}.items():
        made.constraint(name, l * (ca.cos(angle) * one + ca.sin(angle) * other))
    made.constraint("always", 2 * ca.cos(p) * one)
    made.constraint("vanishing", ca.sin(p) * other)
    made.constraint("pair", [one, l * (ca.cos(p) * one + ca.sin(p) * other)])
    for name, angle in {"left": ca.SX(0), "right": p}.items():
        made.contact(name, normal=ca.cos(angle) * one + ca.sin(angle) * other, tangent=[v[1]])
    made.contact("again", normal=one, tangent=[v[1]])
    return made


def jump(event: jd.Event, p: float) -> float:
    """How far v⁺ jumps at p, over the step that it makes between two neighbours."""
    aside, far, here = (event.solve(v=V, p=p + d).v_plus for d in (0.02, 0.03, 0.0))
    return float(np.max(np.abs(aside - here)) / (1e-9 + np.max(np.abs(far - aside))))


@pytest.mark.parametrize("rows", [("one", "turned"), ("one", "squared"), ("one", "vanishing"), ("pair",)])
def test_the_value_is_the_default(rows: tuple[str, ...]) -> None:
    event = body(0.0).event(inert=list(rows))
    with pytest.raises(jd.AtSwitch):
        event.gradient("v_plus", "p", v=V)
    with pytest.raises(jd.AtSwitch):
        event.at(v=dict(zip("abc", V, strict=True))).gradient("loss", "p")
    assert np.isfinite(event.gradient("loss", "p", v=V, p=0.01)["p"]).all()
    always = body(0.0).event(inert=["one", "always"])
    assert np.isfinite(always.gradient("loss", "p", v=V)["p"]).all()


@pytest.mark.parametrize("rows", [("one", "turned"), ("one", "squared"), ("one", "vanishing"), ("pair",)])
@pytest.mark.parametrize("kind", ["inert", "elastic", "regular"])
def test_rows_that_coincide_at_one_value(rows: tuple[str, ...], kind: str) -> None:
    given: Any = dict.fromkeys(rows, 0.5) if kind == "elastic" else list(rows)
    event = body().event(**{kind: given})
    at: dict[str, Any] = {"v": V, "check": False}
    for quantity in ("v_plus", "loss", "impulse"):
        with pytest.raises(jd.AtSwitch, match=r"redundant in this state but not beside it.*a little beside"):
            event.gradient(quantity, "p", p=0.0, **at)
    event.gradient("loss", "p", p=0.01, **at)
    event.gradient("loss", "v", p=0.0, **at)  # velocities change no rows
    if kind == "inert":
        assert jump(event, 0.0) > 20


@pytest.mark.parametrize("length", [1e-9, 1.0, 1e8])
@pytest.mark.parametrize("p", [0.0, 1e-9, -1e-8, np.pi])
def test_near_enough_to_be_dropped_is_refused_too(length: float, p: float) -> None:
    event = body().event(inert=["one", "turned"])
    with pytest.raises(jd.AtSwitch, match="'turned': redundant"):
        event.gradient("v_plus", ["p", "l"], v=V, p=p, l=length)


def test_only_what_moves_the_rows_apart_counts() -> None:
    event = body().event(inert=["one", "posed"])
    with pytest.raises(jd.AtSwitch):
        event.gradient("loss", "q", v=V)
    with pytest.raises(jd.AtSwitch):
        event.gradient("loss", ["q.b", "q.a"], v=V)
    assert event.gradient("loss", ["q.b", "l"], v=V)["q.b"] == 0


def test_batches_and_scenarios() -> None:
    event = body().event(inert=["one", "turned"])
    scenario = event.at(v=dict(zip("abc", V, strict=True)))
    for n in (11, N_KERNEL):
        p = np.linspace(-1, 1, n)
        p[n // 2] = 0.0
        for slopes in (event.gradient("loss", "p", v=V, p=p)["p"], scenario.gradient("loss", "p", p=p)["p"]):
            np.testing.assert_array_equal(np.flatnonzero(np.isnan(slopes)), [n // 2])
    with pytest.raises(jd.AtSwitch, match="'turned': redundant"):
        scenario.gradient("loss", "p", p=0.0)


@pytest.mark.parametrize("law", [laws.Frictionless(0.0), laws.Frictionless(0.5), laws.Frictionless(0.5, law="poisson")])
def test_contacts_that_coincide_at_one_value(law: Any) -> None:
    """One of the two lifts on either side, not the same."""
    v = [1.0, 0.5, -3.0]
    event = body().event(contacts={"left": law, "right": law})
    slopes = [event.gradient("v_plus.b", "p", v=v, p=p)["p"] for p in (-1e-4, 1e-4)]
    assert abs(slopes[0] - slopes[1]) > 0.1
    with pytest.raises(jd.AtSwitch, match=r"'right\.normal': redundant"):
        event.gradient("v_plus.b", "p", v=v, p=0.0)
    both = body().event(contacts={"left": law, "again": law})
    alone = body().event(contacts={"left": law})
    for p in (0.0, 0.4):
        found, expected = (one.gradient("v_plus", "p", v=v, p=p)["p"] for one in (both, alone))
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("n", [1, N_KERNEL])
def test_rows_that_always_coincide_leave_the_derivative_alone(n: int) -> None:
    redundant, plain = (body().event(inert=rows) for rows in (["one", "turned", "always"], ["one", "turned"]))
    p = np.linspace(0.2, 1.2, n)
    found, expected = (event.gradient("loss", "p", v=V, p=p)["p"] for event in (redundant, plain))
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    with pytest.raises(jd.AtSwitch):
        redundant.gradient("loss", "p", v=V, p=0.0)


def parallelogram() -> jd.Mechanism:
    """Cranks a, b, c of length l on pivots 0, 1, 2, and a coupler at the angle d on all of them: one row too many."""
    a, b, c, d = (ca.SX.sym(name) for name in "abcd")
    v, l = ca.vertcat(*(ca.SX.sym(f"v{name}") for name in "abcd")), ca.SX.sym("l")
    M = ca.diag(ca.vertcat(1.0 + ca.sin(a) ** 2, 1.3 + ca.cos(b), 2.0, 2.0))
    made = jd.Mechanism.from_casadi(ca.vertcat(a, b, c, d), v, M, parameters=[(l, 1.0)])
    along = ca.vertcat(ca.cos(d), ca.sin(d))
    first, *others = (ca.vertcat(i + l * ca.cos(angle), l * ca.sin(angle)) for i, angle in enumerate((a, b, c)))
    for i, end in enumerate(others, start=1):
        made.constraint(f"bar {i}", ca.vertsplit(end - first - i * along), level="position")
    made.constraint("stop", v[0] * (1 + 0.3 * ca.cos(a)) + 0.2 * v[1] * l)
    return made


def test_a_loop_that_is_redundant_in_all_poses_that_it_can_take() -> None:
    """Off its geometry the rows are independent, but there are no such poses.

    All cranks turn alike and the coupler does not, ẋ = (1, 1, 1, 0) ω: T = ½ (4.3 + sin²a + cos a) ω², and the stop
    takes all of it.
    """
    linkage = parallelogram()
    event = linkage.event(regular=["bar 1", "bar 2"], inert=["stop"])
    angle = sp.Symbol("angle")
    strike = event.at(q=dict.fromkeys("abc", angle), v=dict.fromkeys("abc", 1.0), defaults={angle: 0.7})
    assert strike.solve().redundant
    slope = strike.gradient("loss", "angle")["angle"]
    assert slope == pytest.approx((2 * np.sin(0.7) * np.cos(0.7) - np.sin(0.7)) / 2, rel=1e-12)
    by_pose = event.gradient("loss", "q", q=[0.7, 0.7, 0.7, 0.0], v=[1.0, 1.0, 1.0, 0.0])["q"]
    assert by_pose @ [1, 1, 1, 0] == pytest.approx(slope, rel=1e-12)
    with pytest.raises(jd.AtSwitch):  # dead centre: there the coupler may turn too
        strike.gradient("loss", "angle", angle=0.0)


def test_four_feet_have_derivatives() -> None:
    """A table (height, roll, pitch) that lands on four feet: all of T is lost, ½ m (v₀² + (r v₁)² + (s v₂)²)."""
    z, roll, pitch = (ca.SX.sym(name) for name in ("z", "roll", "pitch"))
    v, m, r, s = ca.vertcat(*(ca.SX.sym(f"v{i}") for i in range(3))), *(ca.SX.sym(name) for name in "mrs")
    M = m * ca.diag(ca.vertcat(ca.SX(1), r**2, s**2))
    table = jd.Mechanism.from_casadi(ca.vertcat(z, roll, pitch), v, M, parameters=[(m, 3.0), (r, 0.4), (s, 0.6)])
    feet = [v[0] + x * r * ca.cos(roll) * v[1] + y * s * ca.cos(pitch) * v[2] for x in (-1, 1) for y in (-1, 1)]
    landing = table.event(inert=[table.constraint("feet", feet)])
    at: dict[str, Any] = {"q": [0.0, 0.1, 0.2], "v": [-1.0, 0.3, 0.5]}
    assert landing.solve(**at).redundant == ("feet.3",)
    slopes = landing.gradient("loss", ["m", "r", "s", "q"], **at)
    assert slopes["m"] == pytest.approx((1 + 0.16 * 0.09 + 0.36 * 0.25) / 2, rel=1e-12)
    assert slopes["r"] == pytest.approx(3.0 * 0.4 * 0.09, rel=1e-12)
    np.testing.assert_allclose(slopes["q"], 0.0, atol=1e-13)
    many = landing.gradient("loss", "r", r=np.linspace(0.3, 0.5, N_KERNEL), **at)["r"]
    np.testing.assert_allclose(many, 3.0 * np.linspace(0.3, 0.5, N_KERNEL) * 0.09, rtol=1e-12)
