"""A slow, readable reading of a tape: NumPy values, each with a bound of what rounding may do to it.

The oracle of the tests. Any two readings of a tape (exact, this one, a kernel's) differ at every step by no more than
the bound there, which is the sum of
- what differences of the arguments can do: their bounds times the steepest slope within reach,
- twice the error of the operation: half an ulp for what IEEE 754 rounds, 4 ulp for the elementary functions.
A comparison, a sign or a floor that may fall either way has the jump for its bound. The bound is infinite where nothing
can be said: beyond the largest number, or with the edge of a domain in reach.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jourdain.compute.kernel.tape import Tape

Array = NDArray[np.float64]
HALF_ULP = np.finfo(float).eps / 2
SMALLEST = np.finfo(float).smallest_subnormal
LARGEST = np.finfo(float).max / 2  # with room for a bound
ELEMENTARY = 8.0  # half-ulps


@dataclass(frozen=True)
class Operation:
    """`value(*x)`; `spread(*x, *r)`, how far apart values are at arguments within r of x; its error in half-ulps."""

    value: Callable[..., Any]
    spread: Callable[..., Any]
    half_ulps: float


def _near(x: Array, r: Array) -> Array:
    """The smallest modulus within r of x."""
    return np.maximum(np.abs(x) - r, 0.0)


def _far(x: Array, r: Array) -> Array:
    """The largest."""
    return np.abs(x) + r


def _times(slope: Any, r: Array) -> Array:
    """slope · r, 0 where r is: an exact argument does no harm, however steep."""
    return np.where(r == 0, 0.0, slope * r)


def _unsure(x: Array, r: Array) -> Any:
    """Whether x may be 0 or have the other sign."""
    return ~(np.abs(x) > r) & (r > 0)


def _elementary(value: Callable[..., Any], steepest: Callable[..., Any]) -> Operation:
    """A function of one number; `steepest(x, r)` is the largest |f'| within r of x."""
    return Operation(value, lambda x, r: _times(steepest(x, r), r), ELEMENTARY)


def _comparison(value: Callable[..., Any]) -> Operation:
    return Operation(lambda x, y: value(x, y) * 1.0, lambda x, y, r, s: _unsure(x - y, r + s) * 1.0, 0.0)


def _logical(value: Callable[..., Any]) -> Operation:
    return Operation(lambda x, y: value(x, y) * 1.0, lambda x, y, r, s: (_unsure(x, r) | _unsure(y, s)) * 1.0, 0.0)


def _division_with_rest(value: Callable[..., Any], to_jump: Callable[..., Any]) -> Operation:
    """x − y · (a whole number near x / y); `to_jump(rest, y)`: how far the rest is from where that number changes."""

    def spread(x: Array, y: Array, r: Array, s: Array) -> Array:
        moved = r + (np.abs(x / y) + 1) * s
        apart = np.where(to_jump(np.abs(value(x, y)), np.abs(y)) > moved, 0.0, 2 * _far(y, s)) + moved
        return np.where(r + s == 0, 0.0, np.where(_near(y, s) > 0, apart, np.inf))

    return Operation(value, spread, 0.0)


def _remainder(x: float, y: float) -> float:
    return math.nan if math.isinf(x) or y == 0 else math.remainder(x, y)


def _power_spread(x: Array, y: Array, r: Array, s: Array) -> Array:
    near, far = _near(x, r), _far(x, r)
    polynomial = np.where(y == 0, 0.0, np.abs(y) * np.where(y >= 1, far, near) ** (y - 1))
    top = np.maximum.reduce([base**exponent for base in (near, far) for exponent in (y - s, y + s)])
    along_y = top * np.maximum(np.abs(np.log(near)), np.abs(np.log(far)))
    general = np.where(
        x > r, _times(_far(y, s) * top / near, r) + _times(along_y, s), np.where(r + s == 0, 0.0, np.inf)
    )
    return np.where((s == 0) & (y == np.rint(y)), _times(polynomial, r), general)


def _angle_spread(y: Array, x: Array, r: Array, s: Array) -> Array:
    cut = ~(np.abs(y) > r) & (x - s < 0)
    return np.where(cut, 2 * np.pi, 0.0) + (r + s) / np.hypot(_near(y, r), _near(x, s))


def _erf(x: Array) -> Array:
    from scipy.special import erf

    return np.asarray(erf(x))


_POWER = Operation(np.power, _power_spread, ELEMENTARY)
_OPERATIONS: dict[str, Operation] = {
    "add": Operation(np.add, lambda x, y, r, s: r + s, 1.0),
    "sub": Operation(np.subtract, lambda x, y, r, s: r + s, 1.0),
    "mul": Operation(np.multiply, lambda x, y, r, s: _times(_far(y, s), r) + _times(np.abs(x), s), 1.0),
    "div": Operation(np.divide, lambda x, y, r, s: (r + _times(np.abs(x / y), s)) / _near(y, s), 1.0),
    "neg": Operation(np.negative, lambda x, r: r, 0.0),
    "twice": Operation(lambda x: x + x, lambda x, r: 2 * r, 0.0),
    "sq": Operation(np.square, lambda x, r: (2 * np.abs(x) + r) * r, 1.0),
    "sqrt": Operation(np.sqrt, lambda x, r: _times(0.5 / np.sqrt(np.maximum(x - r, 0.0)), r), 1.0),
    "rsqrt": Operation(lambda x: 1 / np.sqrt(x), lambda x, r: _times(0.5 / np.maximum(x - r, 0.0) ** 1.5, r), 3.0),
    "inv": Operation(lambda x: 1 / x, lambda x, r: _times(1 / np.abs(x) / _near(x, r), r), 1.0),
    "fabs": Operation(np.abs, lambda x, r: r, 0.0),
    "copysign": Operation(np.copysign, lambda x, y, r, s: np.where(np.abs(y) > s, r, 2 * _far(x, r)), 0.0),
    "fmin": Operation(np.fmin, lambda x, y, r, s: np.maximum(r, s), 0.0),
    "fmax": Operation(np.fmax, lambda x, y, r, s: np.maximum(r, s), 0.0),
    "floor": Operation(np.floor, lambda x, r: np.floor(x + r) - np.floor(x - r), 0.0),
    "ceil": Operation(np.ceil, lambda x, r: np.ceil(x + r) - np.ceil(x - r), 0.0),
    "sign": Operation(np.sign, lambda x, r: np.where(_unsure(x, r), 2.0 + r, 0.0), 0.0),
    "fmod": _division_with_rest(np.fmod, lambda rest, y: np.minimum(rest, y - rest)),
    "remainder": _division_with_rest(np.vectorize(_remainder, otypes=[float]), lambda rest, y: y / 2 - rest),
    "hypot": Operation(np.hypot, lambda x, y, r, s: r + s, ELEMENTARY),
    "atan2": Operation(np.arctan2, _angle_spread, ELEMENTARY),
    "pow": _POWER,
    "constpow": _POWER,
    "exp": _elementary(np.exp, lambda x, r: np.exp(x + r)),
    "log": _elementary(np.log, lambda x, r: 1 / np.maximum(x - r, 0.0)),
    "expm1": _elementary(np.expm1, lambda x, r: np.exp(x + r)),
    "log1p": _elementary(np.log1p, lambda x, r: 1 / np.maximum(1 + x - r, 0.0)),
    "sin": _elementary(np.sin, lambda x, r: 1.0),
    "cos": _elementary(np.cos, lambda x, r: 1.0),
    "tan": _elementary(np.tan, lambda x, r: 1 / _near(np.cos(x), r) ** 2),
    "asin": _elementary(np.arcsin, lambda x, r: 1 / np.sqrt(np.maximum(1 - _far(x, r), 0.0))),
    "acos": _elementary(np.arccos, lambda x, r: 1 / np.sqrt(np.maximum(1 - _far(x, r), 0.0))),
    "atan": _elementary(np.arctan, lambda x, r: 1 / (1 + _near(x, r) ** 2)),
    "sinh": _elementary(np.sinh, lambda x, r: np.cosh(_far(x, r))),
    "cosh": _elementary(np.cosh, lambda x, r: np.sinh(_far(x, r))),
    "tanh": _elementary(np.tanh, lambda x, r: 1 / np.cosh(_near(x, r)) ** 2),
    "asinh": _elementary(np.arcsinh, lambda x, r: 1 / np.hypot(_near(x, r), 1)),
    "acosh": _elementary(np.arccosh, lambda x, r: 1 / np.sqrt(np.maximum(x - r - 1, 0.0))),
    "atanh": _elementary(np.arctanh, lambda x, r: 1 / np.maximum(1 - _far(x, r), 0.0)),
    "erf": _elementary(_erf, lambda x, r: 2 / np.sqrt(np.pi) * np.exp(-(_near(x, r) ** 2))),
    "lt": _comparison(np.less),
    "le": _comparison(np.less_equal),
    "eq": _comparison(np.equal),
    "ne": _comparison(np.not_equal),
    "not": Operation(lambda x: (x == 0) * 1.0, lambda x, r: _unsure(x, r) * 1.0, 0.0),
    "and": _logical(np.logical_and),
    "or": _logical(np.logical_or),
    "if_else_zero": Operation(
        lambda c, x: np.where(c != 0, x, 0.0),
        lambda c, x, b, r: np.where(_unsure(c, b), _far(x, r), np.where(c != 0, r, 0.0)),
        0.0,
    ),
    "select": Operation(
        lambda c, x, y: np.where(c != 0, x, y),
        lambda c, x, y, b, r, s: np.where(_unsure(c, b), np.abs(x - y) + r + s, np.where(c != 0, r, s)),
        0.0,
    ),
}  # fmt: skip


def interpret(tape: Tape, inputs: Array) -> tuple[Array, Array]:
    """Outputs and their bounds, both `(n_outputs, n)`, from inputs `(n_inputs, n)` that are taken as exact."""
    n = inputs.shape[1]
    values: list[Array] = []
    bounds: list[Array] = []
    with np.errstate(all="ignore"):
        for step in tape.steps:
            if step.operation in ("input", "const"):
                value = inputs[step.arguments[0]] if step.operation == "input" else np.full(n, step.constant)
                apart, half_ulps = np.zeros(n), 0.0
            else:
                operation = _OPERATIONS[step.operation]
                x, r = [values[k] for k in step.arguments], [bounds[k] for k in step.arguments]
                value = np.asarray(operation.value(*x), dtype=float)
                apart, half_ulps = operation.spread(*x, *r), operation.half_ulps
            size = np.nan_to_num(np.abs(value))  # NaN has no rounding error
            bound = apart + 2 * half_ulps * (HALF_ULP * (size + apart) + SMALLEST)
            values.append(value)
            bounds.append(np.where(size + bound < LARGEST, bound, np.inf))
    if not tape.outputs:
        return np.empty((0, n)), np.empty((0, n))
    return np.stack([values[k] for k in tape.outputs]), np.stack([bounds[k] for k in tape.outputs])
