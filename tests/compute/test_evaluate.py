"""The seam between expressions and numbers: few lanes, many lanes, and machines without a compiler."""

from __future__ import annotations

import builtins
import pickle
from concurrent.futures import ThreadPoolExecutor

import casadi as ca
import numpy as np
import pytest
from casadi import SX

import jourdain as jd
from jourdain.compute import evaluate
from jourdain.compute.evaluate import KERNEL_FROM, Evaluator

x, y = SX.sym("x", 3), SX.sym("y", 2)


@pytest.fixture
def evaluator():
    matrix = ca.sin(x) @ y.T
    return Evaluator([x, y], {"matrix": matrix, "norm": ca.sqrt(ca.sumsqr(x)), "none": SX(0, 1)}, flags=x[0] > y[0])


def expected(X, Y):
    matrix = np.sin(X)[..., :, None] * Y[..., None, :]
    return matrix, np.sqrt(np.sum(X * X, axis=-1)), X[..., 0] > Y[..., 0]


@pytest.mark.parametrize("batch", [(), (1,), (7,), (3, 5), (0,), (KERNEL_FROM,), (50, 41)])
def test_any_number_of_lanes(batch, evaluator, rng):
    X, Y = rng.normal(size=(*batch, 3)), rng.normal(size=(*batch, 2))
    values, flags = evaluator.flagged(X, Y)
    matrix, norm, larger = expected(X, Y)
    assert values["matrix"].shape == (*batch, 3, 2)
    assert values["none"].shape == (*batch, 0, 1)
    np.testing.assert_allclose(values["matrix"], matrix, rtol=1e-14)
    np.testing.assert_allclose(values["norm"][..., 0, 0], norm, rtol=1e-14)
    assert flags.dtype == np.int8
    np.testing.assert_array_equal(flags[0], larger)


def test_the_number_of_lanes_alone_decides_who_computes(evaluator, rng):
    """A call gives the same digits, whatever was called before."""
    X, Y = rng.normal(size=(KERNEL_FROM, 3)), rng.normal(size=(KERNEL_FROM, 2))
    few = evaluator(X[:10], Y[:10])["matrix"].copy()
    many = evaluator(X, Y)["matrix"].copy()
    np.testing.assert_array_equal(evaluator(X[:10], Y[:10])["matrix"], few)
    np.testing.assert_array_equal(evaluator(X, Y)["matrix"], many)


def test_columns_broadcast(evaluator, rng):
    """One array per input number, of any shape that broadcasts: a grid is never written out."""
    columns = [rng.normal(size=shape) for shape in ((40, 1), (1, 60), (), (40, 60), (60,))]
    values, _ = evaluator.over(columns, (40, 60))
    X, Y = (np.stack(np.broadcast_arrays(*columns, np.zeros((40, 60)))[a:b], axis=-1) for a, b in ((0, 3), (3, 5)))
    np.testing.assert_allclose(values["matrix"], expected(X, Y)[0], rtol=1e-14)


def test_threads_of_the_caller_do_not_disturb_each_other(evaluator, rng):
    X, Y = rng.normal(size=(64, 3)), rng.normal(size=(64, 2))
    alone = [evaluator(a, b)["matrix"] for a, b in zip(X, Y, strict=True)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            together = list(pool.map(lambda i: evaluator(X[i], Y[i])["matrix"], range(64)))
            np.testing.assert_array_equal(together, alone)


def test_without_llvmlite_the_virtual_machine_does_it(evaluator, rng, monkeypatch):
    real = builtins.__import__

    def missing(name, *more):
        if name.startswith("llvmlite"):
            raise ImportError("No module named 'llvmlite'")
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", missing)
    X, Y = rng.normal(size=(2000, 3)), rng.normal(size=(2000, 2))
    with pytest.warns(
        UserWarning, match="Large batches are slow here, no kernel could be compiled: No module named 'llvmlite'"
    ):
        values = evaluator(X, Y)
    np.testing.assert_allclose(values["matrix"], expected(X, Y)[0], rtol=1e-14)


def test_what_only_casadi_knows_is_left_to_it(rng):
    X = rng.uniform(-0.9, 0.9, size=(2000, 1))
    s = SX.sym("s")
    inverse = Evaluator([s], {"x": ca.erfinv(s)})
    with pytest.warns(UserWarning, match="no kernel could be compiled: The operation 'erfinv' has no compiled form"):
        assert inverse.kernel is None
    own = ca.Function("erfinv", [s], [ca.erfinv(s)])
    np.testing.assert_array_equal(inverse(X)["x"][..., 0], np.array(own(X.T)).T)


def test_an_event_without_a_kernel_gives_the_same(monkeypatch, rng):
    z, w, m = SX.sym("z"), SX.sym("w"), SX.sym("m")
    ball = jd.Mechanism.from_casadi(z, w, m, parameters=[(m, 2.0)])
    event = ball.event(elastic={ball.constraint("floor", w): "e"})
    v, e = rng.normal(size=(3000, 1)), rng.uniform(-0.1, 1.1, 3000)
    compiled = event.solve(v=v, e=e)
    monkeypatch.setattr(evaluate, "KERNEL_FROM", 10**9)
    monkeypatch.setattr("jourdain.events.solver.KERNEL_FROM", 10**9)
    machine = event.solve(v=v, e=e)
    np.testing.assert_array_equal(compiled.status, machine.status)
    assert set(compiled.status) == {jd.Status.OK, jd.Status.BAD_RESTITUTION}
    np.testing.assert_allclose(compiled.v_plus, machine.v_plus, rtol=0, atol=1e-14)
    np.testing.assert_allclose(compiled.loss, machine.loss, rtol=1e-12, atol=1e-14)


def test_a_batch_pickles(rng):
    t = jd.gallery.walker().solve(theta=rng.uniform(0.2, 1.0, 2000))
    back = pickle.loads(pickle.dumps(t))
    np.testing.assert_array_equal(back.v_plus, t.v_plus)
    np.testing.assert_array_equal(back.ledger["heel"], t.ledger["heel"])


def test_fields_of_a_batch_are_views_of_one_table(rng):
    """Nothing is copied out of the table before it is asked for, nor then."""
    t = jd.gallery.walker().solve(theta=rng.uniform(0.2, 1.0, 2000))
    assert np.shares_memory(t.v_plus, t.T_c_minus.base if t.T_c_minus.base is not None else t.T_c_minus)
    assert np.shares_memory(t.v_plus, t.velocity_plus["torso"])


def test_records_are_read_only_and_datasets_are_not_tied_to_them(rng):
    t = jd.gallery.walker().solve(theta=rng.uniform(0.2, 1.0, 2000))
    for array in (t.v_plus, t.status, t.loss, t.impulse["heel"]):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    ds, before = t.to_dataset(), t.loss.copy()
    ds["loss"].values[:] = -1
    np.testing.assert_array_equal(t.loss, before)


def test_a_batch_says_what_became_of_it():
    t = jd.transition(np.eye(2), [[1.0, 0.0], [np.nan, 0.0], [1.0, 2.0]], inert=[[1.0, 0.0]])
    assert str(t).startswith("3 events, 2 ok, 1 not_finite; shape (3,)")
    assert t.to_dataset().attrs["events"] == "3 events, 2 ok, 1 not_finite"
