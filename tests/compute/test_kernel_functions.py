"""Every operation of the kernels on every kind of vector: within 4 ulp of mpmath, and C99 (annex F) at the edges."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import mpmath as mp
import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("llvmlite", reason="kernels are compiled by llvmlite")

from jourdain.compute.kernel.batch import Kernel, Lanes
from jourdain.compute.kernel.functions import LIBRARY
from jourdain.compute.kernel.tape import BINARY, Step, Tape
from jourdain.compute.kernel.tape import UNARY as OF_CASADI
from jourdain.compute.kernel.target import Target

pytestmark = pytest.mark.usefixtures("own_cache")
Array = NDArray[np.float64]
INF, NAN, PI = math.inf, math.nan, math.pi
TINY, NORMAL, LARGEST = 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308
PRECISION = 150  # bits of the exact values
UNARY = (*OF_CASADI, "rsqrt")
ULPS = {name: 4.0 if name in LIBRARY else 0.5 for name in (*UNARY, *BINARY)} | {
    "fmod": 0.0,
    "remainder": 0.0,
    "rsqrt": 1.5,
}
EXPONENTS = (0.5, -0.5, 1 / 3, -1.0, 2.0, 3.0, 4.0, 2.5, 17.0, -12.0, 0.0, 1.0, -0.25)


def targets() -> list[Target]:
    """Vectors of 2, 4 and 8, as far as the machine has them, with libmvec if it is there and without."""
    widths = [width for width in (2, 4, 8) if width <= Target.host().width]
    found = [Target.host(width, libmvec) for width in widths for libmvec in (True, False)]
    found += [Target.host(libmvec=libmvec, fma=False) for libmvec in (True, False)]  # sin and cos from the library
    return [target for i, target in enumerate(found) if target not in found[:i]]


each_target = pytest.mark.parametrize(
    "target", targets(), ids=lambda t: f"{t.width}-{'libmvec' if t.vector_library else 'libm'}"
)


def run(steps: list[Step], target: Target, *inputs: Array) -> Array:
    """The values of all these steps, which follow the inputs of a tape."""
    n = len(inputs)
    tape = Tape(n, (*(Step("input", (i,)) for i in range(n)), *steps), tuple(range(n, n + len(steps))))
    table, _ = Kernel(tape, target=target)([Lanes.of(x, x.shape) for x in inputs], len(inputs[0]))
    return table


# What is exact


def _on(inside: Callable[..., bool], function: Callable[..., Any]) -> Callable[..., Any]:
    """NaN where the arguments are not in the domain."""
    return lambda *x: function(*x) if inside(*x) else mp.nan


def _power(x: mp.mpf, y: mp.mpf) -> Any:
    if y == 0:
        return mp.mpf(1)
    if x < 0 and y != mp.floor(y):
        return mp.nan
    sign = -1 if x < 0 and int(y) % 2 else 1
    exponent = y * mp.log(abs(x)) if x else mp.sign(y) * -mp.inf
    return sign * mp.exp(max(min(exponent, mp.mpf(2000)), mp.mpf(-2000)))


def _quotient_left(rounded: Callable[[Fraction], int]) -> Callable[..., Any]:
    """x − y · rounded(x / y), in rational numbers; it is a double."""
    return lambda x, y: mp.mpf(
        float(Fraction(float(x)) - Fraction(float(y)) * rounded(Fraction(float(x)) / Fraction(float(y))))
    )


EXACT: dict[str, Callable[..., Any]] = {
    **{name: getattr(mp, name) for name in ("exp", "expm1", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh",
                                            "asinh", "erf", "floor", "ceil", "sign", "hypot", "atan2")},
    "log": _on(lambda x: x > 0, mp.log),
    "log1p": _on(lambda x: x >= -1, lambda x: mp.log1p(x) if x > -1 else -mp.inf),
    "sqrt": _on(lambda x: x >= 0, mp.sqrt),
    "rsqrt": _on(lambda x: x >= 0, lambda x: 1 / mp.sqrt(x)),
    "asin": _on(lambda x: abs(x) <= 1, mp.asin),
    "acos": _on(lambda x: abs(x) <= 1, mp.acos),
    "acosh": _on(lambda x: x >= 1, mp.acosh),
    "atanh": _on(lambda x: abs(x) <= 1, mp.atanh),
    "neg": lambda x: -x,
    "sq": lambda x: x * x,
    "twice": lambda x: 2 * x,
    "inv": lambda x: 1 / x,
    "fabs": abs,
    "not": lambda x: mp.mpf(x == 0),
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "pow": _power,
    "constpow": _power,
    "lt": lambda x, y: mp.mpf(x < y),
    "le": lambda x, y: mp.mpf(x <= y),
    "eq": lambda x, y: mp.mpf(x == y),
    "ne": lambda x, y: mp.mpf(x != y),
    "and": lambda x, y: mp.mpf(x != 0 and y != 0),
    "or": lambda x, y: mp.mpf(x != 0 or y != 0),
    "fmod": _quotient_left(math.trunc),
    "remainder": _quotient_left(round),
    "copysign": lambda x, y: abs(x) if y > 0 else -abs(x),
    "fmin": min,
    "fmax": max,
    "if_else_zero": lambda c, x: x if c else mp.mpf(0),
}  # fmt: skip


class Exact(NamedTuple):
    """Numbers of more than double precision: the nearest double, what is left over, and the ulp there."""

    nearest: Array
    rest: Array
    ulp: Array

    @classmethod
    def of(cls, name: str, *inputs: Array) -> Exact:
        with mp.workprec(PRECISION):
            values = [EXACT[name](*map(mp.mpf, x)) for x in zip(*(x.tolist() for x in inputs), strict=True)]
            nearest = [float(value) for value in values]
            rest = [
                float(value - near) if math.isfinite(near) else 0.0 for value, near in zip(values, nearest, strict=True)
            ]
            ulp = [_ulp(value) for value in values]
        return cls(np.array(nearest), np.array(rest), np.array(ulp))

    def ulps_off(self, got: Array) -> Array:
        """NaN is met or missed; infinity is the number after the largest."""
        with np.errstate(invalid="ignore", over="ignore"):
            off = (
                np.abs((np.clip(got, -LARGEST, LARGEST) - np.clip(self.nearest, -LARGEST, LARGEST)) - self.rest)
                / self.ulp
            )
        off[np.isnan(got) & np.isnan(self.nearest)] = 0.0
        return np.where(np.isnan(off), INF, off)


def _ulp(value: mp.mpf) -> float:
    if not mp.isfinite(value) or value == 0:
        return TINY
    return 2.0 ** min(max(int(mp.frexp(value)[1]) - 53, -1074), 971)


# Where the functions are tried


@cache
def numbers() -> Array:
    """Of every size, sign and exponent; near 0, 1 and −1, multiples of π/4, denormal, and angles of any size."""
    rng, n = np.random.default_rng(19850101), 350
    sign = rng.choice([-1.0, 1.0], n)
    parts = [
        rng.integers(0, 2**63, 2 * n, dtype=np.uint64).view(float) * rng.choice([-1.0, 1.0], 2 * n),
        rng.uniform(-1, 1, 2 * n),
        rng.uniform(-10, 10, 2 * n),
        rng.uniform(-800, 800, n),
        sign * 10 ** rng.uniform(-8, 8, n),
        sign * (1 - rng.choice([-1.0, 1.0], n) * 10 ** rng.uniform(-16, 0, n)),
        np.arange(-60, 60) * (PI / 4),
        rng.integers(-(10**9), 10**9, n) * (PI / 2),
        np.arange(-40, 40) / 2,
        rng.integers(1, 2**52, 50).view(float),
        [1e22, -1e22, 1e300, -1e300, TINY, -TINY, NORMAL, -NORMAL, LARGEST, 709.78, -745.13, 710.47, -710.47],
    ]  # fmt: skip
    found = np.concatenate(parts)
    return found[np.isfinite(found) & (found != 0)]


@cache
def pairs() -> tuple[Array, Array]:
    """Of every size; near each other; whole numbers; what makes powers neither vanish nor overflow."""
    rng, n = np.random.default_rng(19850102), 350

    def sign() -> Array:
        return rng.choice([-1.0, 1.0], n)

    def bits() -> Array:
        return rng.integers(0, 2**63, n, dtype=np.uint64).view(float) * sign()

    def whole(size: int) -> Array:
        return rng.integers(-size, size, n).astype(float)

    base = 10 ** rng.uniform(-300, 300, n)
    near_one = 1 + rng.uniform(-1, 1, n) * 10 ** rng.uniform(-16, 0, n)
    a = sign() * 10 ** rng.uniform(-5, 5, n)
    found = [
        (bits(), bits()),
        (sign() * 10 ** rng.uniform(-30, 30, n), sign() * 10 ** rng.uniform(-30, 30, n)),
        (rng.uniform(-2, 2, n), rng.uniform(-20, 20, n)),
        (rng.uniform(0, 30, n), rng.uniform(-100, 100, n)),
        (near_one, sign() * rng.uniform(0, 700, n) / np.maximum(np.abs(np.log(near_one)), 1e-17)),
        (base, rng.uniform(-700, 700, n) / np.log(base)),
        (sign() * rng.uniform(0, 20, n), whole(60)),
        (whole(20), whole(20)),
        (a, a * (1 + rng.integers(-3, 4, n) * 1e-16)),
        (rng.integers(1, 2**52, n).view(float) * sign(), rng.integers(1, 2**52, n).view(float)),
    ]
    x, y = (np.concatenate(side) for side in zip(*found, strict=True))
    good = np.isfinite(x) & np.isfinite(y) & (x != 0) & (y != 0)
    return x[good], y[good]


@cache
def exact_of_one(name: str) -> Exact:
    return Exact.of(name, numbers())


@cache
def exact_of_two(name: str) -> Exact:
    return Exact.of(name, *pairs())


def check(name: str, got: Array, exact: Exact, *inputs: Array) -> None:
    off = exact.ulps_off(got)
    worst = int(np.argmax(off))
    where = ", ".join(repr(float(x[worst])) for x in inputs)
    assert off[worst] <= ULPS[name] + 1e-9, (
        f"{name}({where}) = {got[worst]!r}, {off[worst]:.2f} ulp off {exact.nearest[worst]!r}"
    )


@each_target
def test_functions_of_one_number(target):
    table = run([Step(name, (0,)) for name in UNARY], target, numbers())
    for name, got in zip(UNARY, table, strict=True):
        check(name, got, exact_of_one(name), numbers())


@each_target
def test_functions_of_two_numbers(target):
    table = run([Step(name, (0, 1)) for name in BINARY], target, *pairs())
    for name, got in zip(BINARY, table, strict=True):
        check(name, got, exact_of_two(name), *pairs())


@cache
def exact_power(exponent: float) -> Exact:
    return Exact.of("constpow", numbers(), np.full_like(numbers(), exponent))


@each_target
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_powers_with_a_constant_exponent(target, exponent):
    """One in a kernel: the compiler knows the exponent, and may use √ or products instead."""
    x, edges = numbers(), np.array([0.0, -0.0, 1.0, -1.0, INF, -INF, NAN])
    _, got = run([Step("const", (), exponent), Step("constpow", (0, 1))], target, np.concatenate([x, edges]))
    check("constpow", got[: len(x)], exact_power(exponent), x)
    same(got[len(x) :], np.array([_pow(a, exponent) for a in edges]), f"x^{exponent}", edges)


# The edges


# Annex F of C99; every function not listed with NaN gives NaN for it.
EDGES: dict[str, list[tuple[float, float]]] = {
    "exp": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (710.0, INF), (-746.0, 0.0), (1e300, INF), (-1e300, 0.0)],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1.0), (-1e300, -1.0)],
    "log": [(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (-1.0, NAN), (-TINY, NAN), (INF, INF), (-INF, NAN)],
    "log1p": [(0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (-2.0, NAN), (INF, INF), (-INF, NAN)],
    "sqrt": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-1.0, NAN), (-TINY, NAN), (-INF, NAN)],
    "rsqrt": [(0.0, INF), (-0.0, -INF), (INF, 0.0), (-1.0, NAN), (-TINY, NAN), (-INF, NAN), (1.0, 1.0), (0.25, 2.0)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN)],
    "tan": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)],
    "asin": [(0.0, 0.0), (-0.0, -0.0), (1.0, PI / 2), (-1.0, -PI / 2), (1.5, NAN), (-1.5, NAN), (INF, NAN)],
    "acos": [(0.0, PI / 2), (-0.0, PI / 2), (1.0, 0.0), (-1.0, PI), (1.5, NAN), (-1.5, NAN), (INF, NAN), (-INF, NAN)],
    "atan": [(0.0, 0.0), (-0.0, -0.0), (INF, PI / 2), (-INF, -PI / 2)],
    "sinh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (1e300, INF), (-1e300, -INF)],
    "cosh": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (1e300, INF), (-1e300, INF)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0)],
    "asinh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF)],
    "acosh": [(1.0, 0.0), (0.5, NAN), (-1.0, NAN), (INF, INF), (-INF, NAN)],
    "atanh": [(0.0, 0.0), (-0.0, -0.0), (1.0, INF), (-1.0, -INF), (1.5, NAN), (-1.5, NAN), (INF, NAN), (-INF, NAN)],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0)],
    "neg": [(0.0, -0.0), (-0.0, 0.0), (INF, -INF)],
    "fabs": [(-0.0, 0.0), (-INF, INF)],
    "sq": [(-0.0, 0.0), (-INF, INF), (1e200, INF)],
    "twice": [(-0.0, -0.0), (-INF, -INF), (LARGEST, INF)],
    "inv": [(0.0, INF), (-0.0, -INF), (INF, 0.0), (-INF, -0.0), (TINY, INF)],
    "floor": [(0.0, 0.0), (-0.0, -0.0), (0.5, 0.0), (-0.5, -1.0), (INF, INF), (-INF, -INF), (1e300, 1e300)],
    "ceil": [(0.0, 0.0), (-0.0, -0.0), (0.5, 1.0), (-0.5, -0.0), (INF, INF), (-INF, -INF)],
    "sign": [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (TINY, 1.0), (-TINY, -1.0)],
    "not": [(0.0, 1.0), (-0.0, 1.0), (INF, 0.0), (TINY, 0.0), (NAN, 0.0)],
}  # fmt: skip


def same(got: Array, wanted: Array, name: str, *inputs: Array) -> None:
    """Within 4 ulp, and the same zero, infinity or NaN."""
    with np.errstate(invalid="ignore"):
        near = np.abs(got - wanted) <= 4 * np.spacing(np.abs(np.where(np.isfinite(wanted), wanted, 1.0)))
    special = (wanted == 0) | np.isinf(wanted)
    right = np.where(special, got == wanted, near) & (np.signbit(got) == np.signbit(wanted))
    right |= np.isnan(got) & np.isnan(wanted)
    bad = np.flatnonzero(~right)
    shown = [f"{name}({', '.join(repr(float(x[i])) for x in inputs)}) = {got[i]}, not {wanted[i]}" for i in bad]
    assert not shown, "; ".join(shown)


@each_target
def test_edges_of_functions_of_one_number(target):
    listed = [(name, x, wanted) for name in UNARY for x, wanted in [(NAN, NAN), *EDGES[name]]]
    table = run([Step(name, (0,)) for name in UNARY], target, np.array([x for _, x, _ in listed]))
    for name, got in zip(UNARY, table, strict=True):
        places = [i for i, (of, x, _) in enumerate(listed) if of == name and not (of == "not" and x != x)]
        x, wanted = (np.array([listed[i][side] for i in places]) for side in (1, 2))
        same(got[places], wanted, name, x)


def _remainder(x: float, y: float) -> float:
    return NAN if math.isinf(x) or y == 0 else math.remainder(x, y)


def _pow(x: float, y: float) -> float:
    """As C has it: Python raises and NumPy takes √ where C99 does not."""
    minus = math.copysign(1.0, x) < 0 and math.isfinite(y) and y % 2 == 1
    if x == 0 and y < 0:
        return -INF if minus else INF
    try:
        return math.pow(x, y)
    except ValueError:
        return NAN
    except OverflowError:
        return -INF if minus else INF


C99: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "pow": _pow, "constpow": _pow,
    "lt": np.less, "le": np.less_equal, "eq": np.equal, "ne": np.not_equal,
    "and": np.logical_and, "or": np.logical_or, "fmod": np.fmod, "remainder": _remainder, "copysign": np.copysign,
    "fmin": np.fmin, "fmax": np.fmax, "atan2": np.arctan2, "hypot": np.hypot,
    "if_else_zero": lambda c, x: x if c else 0.0,
}  # fmt: skip


@each_target
def test_edges_of_functions_of_two_numbers(target):
    """All pairs of zeros, infinities, NaN, numbers that are odd, even or neither, the smallest and the largest."""
    values = [0.0, 1.0, 2.0, 3.0, 0.5, 1.5, TINY, 2.3e-308, LARGEST, 9007199254740991.0, INF]
    line = np.array([*values, *(-value for value in values), NAN])
    x, y = (side.ravel() for side in np.meshgrid(line, line))
    table = run([Step(name, (0, 1)) for name in BINARY], target, x, y)
    with np.errstate(all="ignore"):
        for name, got in zip(BINARY, table, strict=True):
            wanted = np.array([float(C99[name](a, b)) for a, b in zip(x, y, strict=True)])
            if name in ("fmin", "fmax"):  # of two zeros, either
                both = (x == 0) & (y == 0)
                wanted[both] = got[both] = 0.0
            same(got, wanted, name, x, y)
