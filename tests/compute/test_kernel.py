"""Kernels: random expressions against exact arithmetic, lanes and their layout, threads, and the cache on disk."""

from __future__ import annotations

import functools
import gc
import itertools
import multiprocessing
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import casadi as ca
import mpmath as mp
import numpy as np
import psutil
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

pytest.importorskip("llvmlite", reason="kernels are compiled by llvmlite")

from test_kernel_functions import EXACT, targets

from jourdain.compute.kernel import batch, cache
from jourdain.compute.kernel.batch import CHUNK, Kernel, Lanes
from jourdain.compute.kernel.tape import OPERATIONS, Step, Tape
from jourdain.compute.kernel.target import Target
from jourdain.errors import BadEvent, NotExpressible
from oracles.interpreter import interpret

pytestmark = pytest.mark.usefixtures("own_cache")
Array = NDArray[np.float64]
SX = ca.SX
IDENTITY = Tape(1, (Step("input", (0,)),), (0,))


def function(expressions: list[SX], *inputs: SX) -> ca.Function:
    return ca.Function("f", [ca.vertcat(*inputs)], [ca.densify(ca.vertcat(*expressions))])


def table(kernel: Kernel, inputs: Array, **options: Any) -> Array:
    """The values over inputs `(n_inputs, n)`."""
    return kernel([Lanes.of(row, row.shape) for row in inputs], inputs.shape[1], **options)[0]


def by_casadi(f: ca.Function, inputs: Array) -> Array:
    return np.stack([np.asarray(f(column)).ravel() for column in inputs.T], axis=1)


# Random expressions


def drawn_function(rng: np.random.Generator) -> ca.Function:
    """Some twenty operations of every kind on three inputs, on arguments that are mostly inside their domains."""
    inputs = [SX.sym(f"x{i}") for i in range(3)]
    nodes: list[SX] = [*inputs, SX(float(rng.normal())), SX(float(rng.integers(-3, 4)))]
    conditions: list[SX] = [inputs[0] < inputs[1]]

    def any_() -> SX:
        return nodes[-1 - min(int(rng.exponential(4)), len(nodes) - 1)]

    def unit() -> SX:
        return [ca.sin, ca.tanh, ca.erf, lambda x: x / (1 + ca.fabs(x)), lambda x: x][rng.integers(5)](any_())

    def positive() -> SX:
        return [ca.fabs, lambda x: x * x + 0.5, lambda x: ca.exp(ca.sin(x)), lambda x: x][rng.integers(4)](any_())

    def truth() -> SX:
        return conditions[rng.integers(len(conditions))] if rng.uniform() < 0.9 else any_()

    def exponent() -> float:
        return float(rng.choice([3, 4, -2, -3, 0.5, -0.5, 1 / 3, 1.7]))

    one = (ca.floor, ca.ceil, ca.sign, ca.fabs, ca.sin, ca.cos, ca.tan, ca.atan, ca.asinh, ca.tanh, ca.erf, SX.__neg__)
    in_unit = (ca.exp, ca.expm1, ca.sinh, ca.cosh, ca.asin, ca.acos, ca.atanh)
    of_positive = (ca.sqrt, ca.log, ca.log1p)
    two = (ca.fmin, ca.fmax, ca.fmod, ca.remainder, ca.copysign, ca.atan2, ca.hypot)
    numbers: list[Callable[[], SX]] = [
        *(lambda f=f: f(any_()) for f in one),
        *(lambda f=f: f(unit()) for f in in_unit),
        *(lambda f=f: f(positive()) for f in of_positive),
        *(lambda f=f: f(any_(), any_()) for f in two),
        *[lambda: any_() + any_()] * 4,
        *[lambda: any_() - any_()] * 4,
        *[lambda: any_() * any_()] * 4,
        *[lambda: any_() / positive()] * 2,
        lambda: any_() / ca.sqrt(positive()),
        lambda: 1 / positive(),
        lambda: 2 * any_(),
        lambda: any_() ** 2,
        lambda: ca.acosh(1 + positive()),
        lambda: positive() ** unit(),
        lambda: any_() ** ca.floor(3 * unit()),
        lambda: positive() ** exponent(),
        *[lambda: ca.if_else(truth(), any_(), any_())] * 4,
        lambda: ca.if_else(truth(), any_(), 0),
        truth,
    ]
    decisions: list[Callable[[], SX]] = [
        lambda: any_() < any_(),
        lambda: any_() <= any_(),
        lambda: ca.floor(any_()) == any_(),
        lambda: ca.floor(any_()) != any_(),
        lambda: ca.logic_and(truth(), truth()),
        lambda: ca.logic_or(truth(), truth()),
        lambda: ca.logic_not(truth()),
    ]
    for _ in range(int(rng.integers(8, 24))):
        nodes.append(numbers[rng.integers(len(numbers))]())
        if rng.uniform() < 0.3:
            conditions.append(decisions[rng.integers(len(decisions))]())
    return function([*nodes[-6:], conditions[-1]], *inputs)


def drawn_points(rng: np.random.Generator, n: int) -> Array:
    """Some of them on a grid, where comparisons meet ties."""
    points = rng.normal(size=(3, n)) * rng.choice([0.1, 1.0, 10.0], (3, 1))
    return np.where(rng.uniform(size=(3, n)) < 0.2, np.rint(2 * points) / 2, points)


def _beyond(x: Any) -> bool:
    return bool(mp.isnan(x) or abs(x) > mp.mpf("1e400"))


def _choice(best: Callable[..., Any]) -> Callable[..., Any]:
    """As fmin and fmax: NaN gives way."""
    return lambda x, y: y if mp.isnan(x) else x if mp.isnan(y) else best(x, y)


def _power(x: Any, y: Any) -> Any:
    """1 where C99 says so even of NaN."""
    return mp.mpf(1) if y == 0 or x == 1 else mp.nan if mp.isnan(x) or mp.isnan(y) else EXACT["pow"](x, y)


def _clipped(function: Callable[..., Any]) -> Callable[..., Any]:
    """Beyond 10⁴ nothing changes but the number of digits."""
    return lambda x: function(max(min(x, mp.mpf(10**4)), mp.mpf(-(10**4))))


PIECEWISE: dict[str, Callable[..., Any]] = {
    **{name: EXACT[name] for name in ("lt", "le", "eq", "ne", "not", "and", "or")},
    "copysign": EXACT["copysign"],
    "pow": _power,
    "constpow": _power,
    "fmin": _choice(min),
    "fmax": _choice(max),
    "if_else_zero": lambda c, x: x if c != 0 else mp.mpf(0),
    "select": lambda c, x, y: x if c != 0 else y,
}
SMOOTH: dict[str, Callable[..., Any]] = EXACT | {
    **{name: _clipped(EXACT[name]) for name in ("exp", "expm1", "sinh", "cosh")},
    "fmod": lambda x, y: x - y * (mp.floor(x / y) if x / y > 0 else mp.ceil(x / y)),
    "remainder": lambda x, y: x - y * mp.nint(x / y),
}


def exact(tape: Tape, inputs: list[float]) -> list[Any]:
    """The outputs with eighty digits; NaN also for what is beyond all doubles."""
    values: list[Any] = []
    with mp.workdps(80):
        for step in tape.steps:
            x = [] if step.operation == "input" else [values[k] for k in step.arguments]
            if step.operation == "input":
                value = mp.mpf(inputs[step.arguments[0]])
            elif step.operation == "const":
                value = mp.mpf(step.constant)
            elif step.operation in PIECEWISE:
                value = PIECEWISE[step.operation](*x)
            elif any(map(mp.isnan, x)):
                value = mp.nan
            else:
                try:
                    value = SMOOTH[step.operation](*x)
                except ZeroDivisionError:
                    value = mp.nan
            values.append(mp.nan if _beyond(value) else value)
    return [values[k] for k in tape.outputs]


def test_random_expressions_stay_within_their_error_bounds():
    """No point is left out: what may fall either way has a bound that says so, and few points have one."""
    seen: set[str] = set()
    count: Counter[str] = Counter()
    machines = itertools.cycle(targets())

    @settings(max_examples=80)
    @given(st.integers(0, 2**32 - 1))
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        tape, points = Tape.of(drawn_function(rng)), drawn_points(rng, 21)
        values, bounds = interpret(tape, points)
        got = table(Kernel(tape, target=next(machines)), points)
        wanted = np.array([exact(tape, lane) for lane in points.T.tolist()], dtype=object).T
        for value, bound, number, truth in zip(values.flat, bounds.flat, got.flat, wanted.flat, strict=True):
            if np.isinf(bound):
                count["unbounded"] += 1
            elif np.isnan(value):
                count["NaN"] += 1
                assert np.isnan(number)
                assert mp.isnan(truth)
            else:
                count["sharp" if bound <= 1e-9 * max(abs(value), 1.0) else "loose"] += 1
                assert abs(mp.mpf(float(number)) - truth) <= bound
        seen.update(step.operation for step in tape.steps)
        event(f"{len(tape.steps) // 10 * 10} steps or more")

    check()
    assert count["sharp"] > 0.75 * count.total(), count
    assert seen == OPERATIONS


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_a_tape_says_the_same_as_casadi(seed):
    """Selects for sums and products for quotients change nothing but the last digits."""
    rng = np.random.default_rng(seed)
    f, points = drawn_function(rng), drawn_points(rng, 9)
    tape = Tape.of(f)
    _, bounds = interpret(tape, points)
    with np.errstate(invalid="ignore"):
        off = np.abs(table(Kernel(tape), points) - by_casadi(f, points))
    known = np.isfinite(bounds) & np.isfinite(off)
    assert (off[known] <= bounds[known]).all()


# Rewriting


def operations(tape: Tape) -> Counter[str]:
    return Counter(step.operation for step in tape.steps)


def test_if_else_is_a_select():
    x, y = SX.sym("x"), SX.sym("y")
    inner = ca.if_else(x > 0, ca.log(x), ca.sqrt(-x))
    tape = Tape.of(function([inner, ca.if_else(ca.logic_not(x > y), inner, 1 / (x - y)), ca.if_else(y, x, 0)], x, y))
    assert operations(tape)["select"] == 2
    assert operations(tape)["if_else_zero"] == 1
    points = np.array([[2.0, -3.0, 1.0, 1.0, 0.5], [1.0, 1.0, 1.0, np.nan, 0.0]])
    want = [[np.log(2), np.sqrt(3), 0, 0, np.log(0.5)], [1, np.sqrt(3), 0, 0, 2], [2, -3, 1, 1, 0]]
    np.testing.assert_allclose(table(Kernel(tape), points), want, rtol=1e-15)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_the_side_not_chosen_does_not_leak(bad):
    c, x, y = SX.sym("c"), SX.sym("x"), SX.sym("y")
    kernel = Kernel(Tape.of(function([ca.if_else(c, x, y), ca.if_else(c < 0, x, y), ca.if_else(c, x, 0)], c, x, y)))
    points = np.array([[1.0, 0.0, -1.0], [5.0, bad, 5.0], [bad, 7.0, bad]])
    np.testing.assert_array_equal(table(kernel, points), [[5, 7, 5], [bad, 7, 5], [5, 0, 5]])


def test_quotients_by_one_root_share_its_reciprocal():
    s, x, y = SX.sym("s"), SX.sym("x"), SX.sym("y")
    root = ca.sqrt(s)
    f = function([x / root, y / root, 1 / root, ca.sin(x) / root, x / y, x / ca.sqrt(y)], s, x, y)
    tape = Tape.of(f)
    found = operations(tape)
    assert (found["rsqrt"], found["sqrt"], found["div"], found["inv"]) == (2, 0, 1, 0)
    roots = [1e-300, 5e-324, 1e300, 2.0, 0.0, -0.0, np.inf, -1.0, np.nan]
    points = np.array([[a, b, c] for a in roots for b in (3.0, -1e-200, 1e150, 0.0) for c in (7.0, 0.3)]).T
    for target in targets():
        np.testing.assert_allclose(table(Kernel(tape, target=target), points), by_casadi(f, points), rtol=1e-15)


def test_angles_that_differ_in_sign_share_their_calls():
    x = SX.sym("x")
    f = function([ca.sin(-x), ca.sin(x), ca.cos(-x), ca.cos(x), ca.sin(-2.5 * x), ca.cos(x * -2.5), ca.sin(2.5 * x)], x)
    tape = Tape.of(f)
    assert (operations(tape)["sin"], operations(tape)["cos"]) == (2, 2)
    points = np.array([[0.0, -0.0, 1.0, -1.0, 1e22, np.inf, np.nan, *np.linspace(-9, 9, 20)]])
    got, wanted = table(Kernel(tape), points), by_casadi(f, points)
    np.testing.assert_allclose(got, wanted, rtol=1e-15)
    np.testing.assert_array_equal(np.signbit(got[:, :2]), np.signbit(wanted[:, :2]))


def test_a_step_is_written_once():
    x, y = SX.sym("x"), SX.sym("y")
    tape = Tape.of(function([x * y, y * x, ca.exp(x) + y, ca.exp(x) - y, x - y, y - x], x, y))
    found = operations(tape)
    assert (found["mul"], found["exp"], found["sub"]) == (1, 1, 3)
    assert len(set(tape.steps)) == len(tape.steps)


def test_steps_that_nothing_needs_are_left_out():
    x = Step("input", (0,))
    tape = Tape(2, (x, Step("sin", (0,)), Step("cos", (0,)), Step("twice", (2,))), (3,)).pruned()
    assert tape == Tape(2, (x, Step("cos", (0,)), Step("twice", (1,))), (2,))
    assert tape.n_operations == 2


def test_an_unknown_operation_is_named():
    x = SX.sym("x")
    with pytest.raises(NotExpressible, match="The operation 'erfinv' has no compiled form; rewrite it"):
        Tape.of(function([ca.erfinv(x)], x))


# Lanes


def everything(n: int) -> tuple[Tape, Array]:
    """A tape with arithmetic, branches and all kinds of calls; n lanes, among them huge angles, NaN and infinity."""
    x, y, z = SX.sym("x"), SX.sym("y"), SX.sym("z")
    values = [ca.sin(x) * ca.exp(-y * y) + z, ca.if_else(x < y, ca.fabs(z) ** y, ca.atan2(x, z)), ca.fmod(x, y) / z]
    rng = np.random.default_rng(5)
    points = rng.normal(size=(3, n)) * 10
    points[0, rng.uniform(size=n) < 0.02] = 1e22
    points[1, rng.uniform(size=n) < 0.02] = np.nan
    points[2, rng.uniform(size=n) < 0.02] = np.inf
    return Tape.of(function(values, x, y, z)), points


@pytest.mark.parametrize("target", targets(), ids=lambda t: f"{t.width}-{'libmvec' if t.vector_library else 'libm'}")
def test_a_lane_does_not_depend_on_its_place(target):
    """Bit by bit: any number of lanes, any place in a vector, whatever the neighbours are."""
    tape, points = everything(600)
    kernel = Kernel(tape, target=target)
    whole = table(kernel, points)
    for n in (*range(1, 41), 255, 256, 257, 511, 512, 513):
        np.testing.assert_array_equal(table(kernel, points[:, :n]), whole[:, :n])
    for shift in range(1, 9):
        np.testing.assert_array_equal(table(kernel, points[:, shift:]), whole[:, shift:])
    order = np.random.default_rng(6).permutation(600)
    np.testing.assert_array_equal(table(kernel, points[:, order]), whole[:, order])
    spoiled = points.copy()
    spoiled[:, ::3] = np.nan
    got = table(kernel, spoiled)
    for rest in (1, 2):
        np.testing.assert_array_equal(got[:, rest::3], whole[:, rest::3])
    assert np.isnan(got[0, ::3]).all()


@pytest.mark.parametrize("n", [CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 3, 4 * CHUNK])
def test_threads_do_not_change_a_bit(n):
    tape, points = everything(4 * CHUNK)
    kernel = Kernel(tape)
    whole = table(kernel, points, n_threads=1)
    for n_threads in (1, 2, 3):
        np.testing.assert_array_equal(table(kernel, points[:, :n], n_threads=n_threads), whole[:, :n])


DTYPES = (float, np.float32, np.int64, np.int8, bool, ">f8")


def drawn_array(rng: np.random.Generator, batch: tuple[int, ...]) -> NDArray[Any]:
    """An array that broadcasts to `batch`: axes in any order, steps of any sign, axes of length 1, of any type."""
    shape = [1 if rng.uniform() < 0.3 else n for n in batch]
    shape = shape[rng.integers(len(batch) + 1) if rng.uniform() < 0.3 else 0 :]
    order = rng.permutation(len(shape)) if rng.uniform() < 0.3 else np.arange(len(shape))
    steps = (
        rng.choice([1, 1, 2, -1, -3], len(shape)) if rng.uniform() < 0.5 else np.full(len(shape), rng.choice([1, -1]))
    )
    kind = DTYPES[rng.integers(len(DTYPES))] if rng.uniform() < 0.3 else float
    base = (rng.normal(size=[shape[k] * abs(steps[k]) for k in order]) * 100).astype(kind)
    array = base.transpose(np.argsort(order))[tuple(slice(None, None, step) for step in steps)]
    assert array.shape == tuple(shape)
    return array


@settings(max_examples=400)
@given(st.integers(0, 2**32 - 1), st.lists(st.sampled_from((2, 3, 5, 9, 1, 0)), max_size=4))
def test_lanes_are_the_broadcast_array_in_c_order(seed, sizes):
    batch = tuple(sizes)
    array = drawn_array(np.random.default_rng(seed), batch)
    wanted = np.broadcast_to(array, batch).astype(float).ravel()
    got, _ = identity()([Lanes.of(array, batch)], wanted.size)
    np.testing.assert_array_equal(got[0], wanted)
    event(
        "empty"
        if not wanted.size
        else "copied"
        if not np.shares_memory(array, Lanes.of(array, batch).data)
        else "as it lies"
    )


@functools.cache
def identity() -> Kernel:
    return Kernel(IDENTITY)


def test_long_lanes_of_a_grid():
    """Runs and stretches that end anywhere in the blocks and chunks."""
    for shape in ((7, 3, 2 * 256 + 1), (300, 1, 257), (2, CHUNK // 3, 5)):
        for kept in itertools.product((False, True), repeat=3):
            axes = tuple(n if keep else 1 for n, keep in zip(shape, kept, strict=True))
            array = np.arange(np.prod(axes), dtype=float).reshape(axes)
            got, _ = identity()([Lanes.of(array, shape)], int(np.prod(shape)))
            np.testing.assert_array_equal(got[0], np.broadcast_to(array, shape).ravel())


def test_arrays_are_read_as_they_lie():
    grid, batch = np.arange(24.0).reshape(4, 6), (4, 6)
    for array in (
        grid,
        grid[:, ::1],
        grid[:1],
        grid[:, :1],
        grid[::-1, ::-1],
        grid.ravel()[:6],
        grid[2],
        grid[1][None],
    ):
        assert np.shares_memory(Lanes.of(array, batch).data, array)
    assert np.shares_memory(Lanes.of(grid.ravel()[::2], (12,)).data, grid)
    assert np.shares_memory(Lanes.of(np.broadcast_to(grid[:, 1:2], batch), batch).data, grid)
    other: Any
    for other in (grid.T, grid.astype(np.float32)):
        assert not np.shares_memory(Lanes.of(other, other.shape).data, other)


def test_odd_places_in_memory():
    """Not on an 8-byte boundary; fields of records."""
    shifted = np.frombuffer(b"x" + np.arange(9.0).tobytes(), offset=1)
    records = np.array([(i, i / 2) for i in range(9)], dtype=[("i", "<i4"), ("x", "<f8")])
    for array, wanted in ((shifted, np.arange(9.0)), (records["x"], np.arange(9) / 2), (shifted[3:4], np.full(9, 3.0))):
        np.testing.assert_array_equal(identity()([Lanes.of(array, (9,))], 9)[0][0], wanted)


def test_flags_are_small_integers():
    x = SX.sym("x")
    kernel = Kernel(Tape.of(function([x + 0.5, ca.floor(x), x < 0, ca.sign(x)], x)), n_flags=3)
    numbers = np.arange(-128.0, 128.0)
    values, flags = kernel([Lanes.of(numbers, numbers.shape)], 256)
    assert values.shape == (1, 256)
    assert flags.shape == (3, 256)
    assert flags.dtype == np.int8
    np.testing.assert_array_equal(flags, [numbers, numbers < 0, np.sign(numbers)])
    np.testing.assert_array_equal(values[0], numbers + 0.5)
    only, flags = Kernel(IDENTITY, n_flags=1)([Lanes.of(numbers, numbers.shape)], 256)
    assert only.shape == (0, 256)
    np.testing.assert_array_equal(flags[0], numbers)


def test_nothing_to_do():
    values, flags = Kernel(IDENTITY)([Lanes.of(np.zeros(0), (0,))], 0)
    assert (values.shape, flags.shape) == ((1, 0), (0, 0))
    values, _ = Kernel(Tape(0, (Step("const", (), -0.0),), (0, 0)))([], 5)
    np.testing.assert_array_equal(np.signbit(values), np.ones((2, 5)))
    values, _ = Kernel(Tape(1, (), ()))([Lanes.of(np.zeros(3), (3,))], 3)
    assert values.shape == (0, 3)


def test_many_inputs():
    """More than the buffer holds in a block of 256."""
    n_inputs = 1500
    x = SX.sym("x", n_inputs)
    points = np.random.default_rng(8).integers(-9, 10, (n_inputs, 37)).astype(float)
    got = table(Kernel(Tape.of(ca.Function("f", [x], [ca.sum1(x)]))), points)
    np.testing.assert_array_equal(got[0], points.sum(axis=0))


# Threads


def test_threads_are_those_asked_for(monkeypatch):
    tape, points = everything(5 * CHUNK)
    kernel = Kernel(tape)
    for given_, n_threads, at_most in (("3", None, 3), ("1", None, 1), ("3", 2, 2)):
        monkeypatch.setenv("JOURDAIN_THREADS", given_)
        done: list[tuple[str, int]] = []
        table(
            kernel,
            points,
            n_threads=n_threads,
            progress=lambda n, to=done: to.append((threading.current_thread().name, n)),
        )
        names = {name for name, _ in done}
        assert sum(n for _, n in done) == 5 * CHUNK
        assert len(names) <= at_most
        assert all(name.startswith("jourdain") for name in names) == (at_most > 1)


def test_threads_without_a_wish(monkeypatch):
    monkeypatch.setenv("JOURDAIN_THREADS", "")
    assert 1 <= batch.threads() <= (os.cpu_count() or 1)
    monkeypatch.setenv("JOURDAIN_THREADS", "7")
    assert batch.threads() == 7


@pytest.mark.parametrize("wish", ["0", "-1", "two", "1.5", " 2", "²"])
def test_a_bad_number_of_threads_is_refused(monkeypatch, wish):
    monkeypatch.setenv("JOURDAIN_THREADS", wish)
    with pytest.raises(BadEvent, match=f"JOURDAIN_THREADS is '{wish}'; it must be a whole number, 1 or more"):
        identity()([Lanes.of(np.zeros(3), (3,))], 3)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_error_stops_all_threads(n_threads):
    tape, points = everything(40 * CHUNK)
    done: list[int] = []

    def progress(n: int) -> None:
        done.append(n)
        if len(done) == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        table(Kernel(tape), points, n_threads=n_threads, progress=progress)
    after = len(done)
    assert after < 40
    table(Kernel(tape), points[:, : 2 * CHUNK], n_threads=n_threads)
    assert len(done) == after


def _in_a_fork(kernel: Kernel, points: Array, wanted: Array) -> None:
    np.testing.assert_array_equal(table(kernel, points, n_threads=2), wanted)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # that threads and forks do not mix is what is tried
def test_a_forked_process_has_threads_of_its_own():
    tape, points = everything(4 * CHUNK)
    kernel = Kernel(tape)
    wanted = table(kernel, points, n_threads=2)
    child = multiprocessing.get_context("fork").Process(target=_in_a_fork, args=(kernel, points, wanted))
    child.start()
    child.join(60)
    if child.exitcode is None:
        child.kill()
    assert child.exitcode == 0


# The cache


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("JOURDAIN_CACHE", str(tmp_path / "of" / "kernels"))
    return tmp_path / "of" / "kernels"


def test_a_kernel_is_compiled_once(folder):
    tape, points = everything(50)
    first = Kernel(tape)
    (file,) = folder.iterdir()
    written = file.read_bytes()
    second = Kernel(tape)
    assert (first.from_cache, second.from_cache) == (False, True)
    assert file.read_bytes() == written
    np.testing.assert_array_equal(table(first, points), table(second, points))


SPOILED: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda b: b"",
    "short": lambda b: b[:20],
    "cut off": lambda b: b[:-100],
    "longer": lambda b: b + b"\0",
    "one bit": lambda b: b[:500] + bytes([b[500] ^ 1]) + b[501:],
    "garbage": lambda b: bytes(range(256)) * 20,
}


@pytest.mark.parametrize("how", SPOILED)
def test_a_spoiled_file_is_written_anew(folder, how):
    tape, points = everything(50)
    wanted = table(Kernel(tape), points)
    (file,) = folder.iterdir()
    right = file.read_bytes()
    file.write_bytes(SPOILED[how](right))
    again = Kernel(tape)
    assert not again.from_cache
    np.testing.assert_array_equal(table(again, points), wanted)
    assert Kernel(tape).from_cache
    assert list(folder.iterdir()) == [file]


def test_without_a_folder_to_write_to(folder, monkeypatch):
    """A file where the folder should be; a folder where the file should be; a user without a home."""
    folder.parent.mkdir()
    folder.touch()
    tape, points = everything(50)
    wanted = table(Kernel(tape), points)
    assert not Kernel(tape).from_cache
    folder.unlink()
    (folder / cache.key(tape.content(), 0, Target.host()) / "inside").mkdir(parents=True)
    np.testing.assert_array_equal(table(Kernel(tape), points), wanted)
    assert len(list(folder.iterdir())) == 1
    for name in ("JOURDAIN_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)

    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", home)
    np.testing.assert_array_equal(table(Kernel(tape), points), wanted)


def test_where_the_cache_is(monkeypatch):
    monkeypatch.delenv("JOURDAIN_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    monkeypatch.setattr(Path, "home", lambda: Path("/home/h"))
    places = {
        "linux": "/caches/jourdain",
        "darwin": "/home/h/Library/Caches/jourdain",
        "win32": "/local/jourdain/cache",
    }
    for platform, place in places.items():
        monkeypatch.setattr(sys, "platform", platform)
        assert cache.folder() == Path(place)


def test_everything_that_decides_the_code_is_in_the_key():
    host = Target.host()
    tape = Tape(2, (Step("input", (0,)), Step("const", (), 0.0), Step("add", (0, 1))), (2, 0))
    tapes = [
        tape,
        replace(tape, n_inputs=3),
        replace(tape, outputs=(0, 2)),
        replace(tape, steps=(*tape.steps[:2], Step("sub", (0, 1)))),
        replace(tape, steps=(*tape.steps[:2], Step("add", (1, 0)))),
        replace(tape, steps=(Step("input", (1,)), *tape.steps[1:])),
        *(
            replace(tape, steps=(tape.steps[0], Step("const", (), c), tape.steps[2]))
            for c in (-0.0, 5e-324, np.nan, 1.0)
        ),
    ]
    machines = [
        replace(host, cpu="another"),
        replace(host, features=host.features + ",+another"),
        replace(host, width=16),
        replace(host, triple="another"),
        replace(host, llvm=(1, 0, 0)),
        replace(host, vector_library=host.vector_library | {"another"}),
    ]
    keys = [cache.key(t.content(), 0, host) for t in tapes]
    keys += [cache.key(tape.content(), 0, machine) for machine in machines] + [cache.key(tape.content(), 1, host)]
    assert len(set(keys)) == len(keys)


AT_ONCE = """
import sys
sys.path[:0] = sys.argv[1:]
from test_kernel import Kernel, everything, table
tape, points = everything(50)
print(table(Kernel(tape), points).tobytes().hex())
"""


def test_processes_that_compile_at_once(folder):
    tape, points = everything(50)
    here = Path(__file__).parent
    command = [sys.executable, "-c", AT_ONCE, str(here), str(here.parent)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    printed = [process.communicate(timeout=120)[0].strip() for process in running]
    assert [process.returncode for process in running] == [0] * 4
    kernel = Kernel(tape)
    assert kernel.from_cache
    assert printed == [table(kernel, points).tobytes().hex()] * 4
    assert [file.name for file in folder.iterdir()] == [cache.key(tape.content(), 0, Target.host())]


def test_memory_is_used_again_only_when_nobody_refers_to_it():
    """Tables of one size after each other, some kept, some views of them kept: none changes under its owner."""
    x = ca.SX.sym("x")
    kernel = Kernel(Tape.of(ca.Function("f", [x], [ca.vertcat(2 * x, x + 1)])))
    n = 1 << 19  # 8 MB
    kept, addresses = [], []
    for i in range(12):
        data = np.full(n, float(i))
        table, _ = kernel([Lanes.of(data, (n,))], n)
        addresses.append(table.ctypes.data)
        if i % 3 == 0:
            kept.append((i, table[1, ::7].reshape(-1, 1)[:, 0]))  # a view of a view
        del table
        gc.collect()
        for j, view in kept:
            assert (view == j + 1).all()
    assert len(set(addresses)) < len(addresses)  # some of it was used again


def test_compiling_gives_back_what_it_takes(rng):
    """Also LLVM's passes and constants, a megabyte for a kernel of this size."""
    x = ca.SX.sym("x", 8)

    def compile_another() -> None:
        y = ca.sin(ca.DM(rng.normal(size=(8, 8))) @ ca.sin(ca.DM(rng.normal(size=(8, 8))) @ x))
        Kernel(ca.Function("f", [x], [y]))

    process, n = psutil.Process(), 20
    for _ in range(10):
        compile_another()
    before = process.memory_info().rss
    for _ in range(n):
        compile_another()
    assert process.memory_info().rss - before < n * 2e5
