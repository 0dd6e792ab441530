"""Sizes: parameters far from their defaults, mechanisms in other units, rows whose squares over- or underflow."""

from __future__ import annotations

from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import pytest
from numpy.typing import NDArray

import jourdain as jd
from jourdain import laws

Array = NDArray[np.float64]
UNITS = [1e-12, 1e-9, 1e-6, 1.0, 1.5e11]  # of the default length: picometres to astronomical units
N_KERNEL = 1100


@cache
def arm() -> jd.Mechanism:
    """Two links of lengths l and 0.7 l from a fixed pivot, point masses m at their ends; absolute angles a and b.

    The rows are those of its tip and contain no constants: `across` and `along` of a ground that is tilted by c.
    """
    a, b, l, m, c = (ca.SX.sym(name) for name in "ablmc")
    rates = ca.vertcat(ca.SX.sym("va"), ca.SX.sym("vb"))
    coupling = 0.7 * ca.cos(a - b)
    M = m * l**2 * ca.vertcat(ca.horzcat(2, coupling), ca.horzcat(coupling, 0.49))
    made = jd.Mechanism.from_casadi(ca.vertcat(a, b), rates, M, parameters=[(l, 1.0), (m, 2.0), (c, 0.3)])
    made.constraint("across", l * ca.cos(a - c) * rates[0] + 0.7 * l * ca.cos(b - c) * rates[1])
    made.constraint("along", -l * ca.sin(a) * rates[0] - 0.7 * l * ca.sin(b) * rates[1])
    return made


def poses(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    return rng.uniform([-0.8, 0.0], [1.2, 2.0], (n, 2)), rng.standard_normal((n, 2))


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("n", [1, 20, N_KERNEL])
def test_a_mechanism_in_any_unit(unit: float, n: int, rng: np.random.Generator) -> None:
    """Lengths × s: angular velocities and ξ are the same, impulses × s, energies × s²."""
    event = arm().event(inert=["across"])
    q, v = poses(n, rng)
    usual, small = event.solve(q, v), event.solve(q, v, l=unit)
    assert usual.ok.all()
    assert small.ok.all()
    np.testing.assert_allclose(small.v_plus, usual.v_plus, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(small.xi, usual.xi, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(small.impulse["across"] / unit, usual.impulse["across"], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(small.loss / small.T_minus, usual.loss / usual.T_minus, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(small.T_minus / unit**2, usual.T_minus, rtol=1e-14)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("n", [1, N_KERNEL])
def test_derivatives_in_any_unit(unit: float, n: int, rng: np.random.Generator) -> None:
    """The loss is proportional to l², so that l ∂loss/∂l = 2 loss; ∂v⁺/∂q does not depend on l."""
    event = arm().event(inert=["across"])
    q, v = poses(n, rng)
    slope = event.gradient("loss", "l", q, v, l=unit)["l"]
    np.testing.assert_allclose(unit * slope, 2 * event.solve(q, v, l=unit).loss, rtol=1e-10, atol=1e-13 * unit**2)
    by_pose = [event.gradient("v_plus", "q", q, v, l=l)["q"] for l in (unit, 1.0)]
    np.testing.assert_allclose(by_pose[0], by_pose[1], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1.5e11])
@pytest.mark.parametrize("n", [7, N_KERNEL])
def test_a_sweep_over_sizes(unit: float, n: int) -> None:
    strike = arm().event(inert=["across"]).at(q={"a": 0.4, "b": 1.1}, v={"a": 1.0, "b": -0.5})
    swept = strike.sweep(l=unit * np.geomspace(0.5, 2.0, n))
    assert np.all(swept["status"] == jd.Status.OK)
    np.testing.assert_allclose(swept["loss"] / swept["l"] ** 2, strike.solve().loss, rtol=1e-11)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("n", [1, N_KERNEL])
def test_a_row_that_vanishes_does_so_in_any_unit(unit: float, n: int) -> None:
    """sin π is 1e-16: with both links along the ground nothing moves the tip along it, and there is no row."""
    t = arm().event(inert=["along"]).solve(np.tile([np.pi, -np.pi], (n, 1)), np.ones((n, 2)), l=unit)
    np.testing.assert_array_equal(t.v_plus, 1.0)
    assert np.all(t.dof.virtual == 2)


def test_parameters_without_defaults() -> None:
    x, l = ca.SX.sym("x"), ca.SX.sym("l")
    w = ca.SX.sym("w")
    wheel = jd.Mechanism.from_casadi(x, w, 3 * l**2, parameters=[(l, None)])
    stop = wheel.event(inert=[wheel.constraint("stop", l * (1 + ca.cos(x)) * w)])
    for unit in (1e-14, 1e-7, 1e8):
        assert stop.solve([0.3], [2.0], l=unit).v_plus == pytest.approx(0, abs=1e-15)


SCALES = [1e-280, 1e-200, 1e-170, 1e-160, 1e-155, 1e-140, 1e140, 1e155, 1e160, 1e280]


def array_event(rng: np.random.Generator) -> tuple[Array, Array, Array, Array]:
    """M, v, a regular row that v satisfies, and two more."""
    A, R, C = rng.standard_normal((4, 4)), rng.standard_normal((1, 4)), rng.standard_normal((2, 4))
    M = A @ A.T + np.eye(4)
    back = np.linalg.solve(M, R.T)
    v = rng.standard_normal(4)
    return M, v - back @ np.linalg.solve(R @ back, R @ v), R, C


def stacked(n: int, *arrays: Array) -> tuple[Array, ...]:
    return arrays if n == 0 else tuple(np.broadcast_to(array, (n, *array.shape)) for array in arrays)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("n", [0, 3, 4096])
@pytest.mark.parametrize("kind", ["inert", "elastic"])
def test_rows_whose_squares_over_or_underflow(scale: float, n: int, kind: str, rng: np.random.Generator) -> None:
    """Rows × s: the same motion, impulses / s, u × s."""
    M, v, R, C = array_event(rng)
    scales = np.array([scale, 1.0])

    def event(s: Any, regular: float, M: Array, v: Array) -> jd.Transition:
        rows = C * np.reshape(s, (-1, 1))
        given: Any = {kind: rows if kind == "inert" else (rows, 0.4)}
        return jd.transition(M, v, regular=R * regular, **given)

    expected, t = event(np.ones(2), 1.0, M, v), event(scales, scale, *stacked(n, M, v))
    assert np.all(t.ok)
    np.testing.assert_allclose(t.v_plus, np.broadcast_to(expected.v_plus, t.v_plus.shape), rtol=1e-12, atol=1e-13)
    for name in (kind, "regular"):
        size = scales if name == kind else scale
        np.testing.assert_allclose(
            t.impulse[name] * size, np.broadcast_to(expected.impulse[name], t.impulse[name].shape), rtol=1e-11
        )
    np.testing.assert_allclose(t.loss, expected.loss, rtol=1e-12)
    assert np.all(t.dof.posterior == expected.dof.posterior)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("n", [3, 4096])
def test_such_rows_are_checked_as_others_are(scale: float, n: int, rng: np.random.Generator) -> None:
    M, v, R, C = array_event(rng)
    Ms, vs = stacked(n, M, v)
    assert np.all(jd.transition(Ms, vs, regular=C * scale).status == jd.Status.PRIOR_VIOLATED)
    assert np.all(jd.transition(Ms, vs, released=C * scale).status == jd.Status.PRIOR_VIOLATED)
    twice = (np.concatenate([C, C[:1]]) * scale, np.array([0, 0, 0.1 * scale]))
    assert np.all(jd.transition(Ms, vs, inert=twice).status == jd.Status.CONTRADICTION)
    released = jd.transition(Ms, vs, released=R * scale)
    assert np.all(released.ok)
    assert np.all(released.dof.prior == 3)
    with pytest.raises(jd.PriorViolated, match=r"'regular\.0' \(regular\)"):
        jd.transition(M, v, regular=C[:1] * scale)


@pytest.mark.parametrize("scale", [1e-170, 1e170])
@pytest.mark.parametrize("n", [1, N_KERNEL])
def test_such_rows_of_mechanisms(scale: float, n: int, rng: np.random.Generator) -> None:
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    rates, size = ca.vertcat(ca.SX.sym("va"), ca.SX.sym("vb")), ca.SX.sym("size")
    body = jd.Mechanism.from_casadi(
        ca.vertcat(a, b), rates, ca.diag(ca.vertcat(ca.SX(1.0), 3.0)), parameters=[(size, 1.0)]
    )
    catch = body.event(inert=[body.constraint("row", size * (ca.cos(a) * rates[0] + ca.sin(b) * rates[1]))])
    q, v = poses(n, rng)
    t, usual = catch.solve(q, v, size=scale), catch.solve(q, v)
    assert t.ok.all()
    np.testing.assert_allclose(t.v_plus, usual.v_plus, rtol=1e-12, atol=1e-13)
    slopes = [catch.gradient("v_plus", "q", q, v, size=s)["q"] for s in (scale, 1.0)]
    np.testing.assert_allclose(slopes[0], slopes[1], rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("scale", [1e-170, 1e-130, 1e160])
@pytest.mark.parametrize("law", [laws.Frictionless(0.5), laws.Coulomb(0.5, 0.3), laws.MoreauCoulomb(0.5, 0.3)])
def test_contacts_of_such_sizes_are_refused(scale: float, law: Any) -> None:
    """Their laws compare squares, so that a status is better than a contact that is not felt."""
    tangent = [] if isinstance(law, laws.Frictionless) else [np.array([1.0, 0.0]) * scale]
    foot = jd.Contact(normal=np.array([0.2, 1.0]) * scale, tangent=tangent, law=law)
    with pytest.raises(jd.NotFinite, match=r"'contact 0\.normal' \(contact\) are about 1e.*unit of its own size"):
        jd.transition(np.eye(2), [0.3, -1.0], contacts=[foot])
    many = jd.transition(np.tile(np.eye(2), (4096, 1, 1)), [0.3, -1.0], contacts=[foot])
    assert np.all(many.status == jd.Status.NOT_FINITE)


@pytest.mark.parametrize("n", [0, 3, 4096])
@pytest.mark.parametrize("scale", SCALES)
def test_rows_of_any_size_count_as_degrees_of_freedom(scale: float, n: int) -> None:
    """One row is on before, another one appears: 3 velocities, of which 2 are free before, 2 during and after."""
    v = np.broadcast_to([1.0, 0.0, 0.5], (n, 3)) if n else np.array([1.0, 0.0, 0.5])
    t = jd.transition(np.eye(3), v, released=[[0.0, scale, 0.0]], inert=[[1.0, 0.0, 0.0]])
    assert np.all(t.ok)
    for phase in t.dof:
        assert np.all(phase == 2)
