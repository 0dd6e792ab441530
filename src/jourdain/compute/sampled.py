"""Whether two expressions are the same: by their structure, else by numbers with bounds of what rounding does to them.

Samples lie at several scales, and the bound grows with the terms that cancel, so that a small mass is not taken for
rounding. Samples say nothing of a branch that none of them reaches, as of a stop at x > 3: half of the samples take
branches at random, the same way wherever the same two quantities are compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.inputs import Array

ROUNDING = 1e-12  # of every operation, relative: doubles, and constants that were typed with 12 digits
FOLDED = 1e-15  # of the largest entry: what is left of constants that cancelled before, sin² 0.2 + cos² 0.2 − 1
N_FINITE = 2  # samples that must be finite to say that expressions are the same
Bounded: TypeAlias = tuple[Array, Array]  # values and bounds of their errors, (samples,) each
Key: TypeAlias = tuple[Any, ...]


def differ(one: SX, other: SX, unknown: bool = True, rounding: float = ROUNDING) -> bool:
    """Whether two expressions differ for some numbers of their symbols; `unknown` where they are finite for hardly any.

    `rounding`: of every operation and constant, relative.

    >>> from casadi import SX, cos, fmax, sin
    >>> x = SX.sym("x")
    >>> differ(sin(x) ** 2 + cos(x) ** 2, SX(1)), differ(x + 1e-9 * cos(x), x), differ(fmax(x - 1e9, 0), SX(0))
    (False, True, True)
    """
    if not ca.sparsify(ca.vec(one) - ca.vec(other)).nnz():
        return False
    both = ca.horzcat(ca.densify(ca.vec(one)), ca.densify(ca.vec(other)))
    free = ca.vertcat(SX(0, 1), *ca.symvar(both))
    samples = Samples(free, ca.vec(both), rounding)
    n = both.shape[0]
    values, bounds = samples(*samples.branches(_points(free.numel())))
    same = np.equal(*np.split(np.array(samples.results), 2))
    with np.errstate(invalid="ignore"):
        gaps = np.where(same[:, None], 0.0, np.abs(values[:n] - values[n:]))
        sizes = np.where(np.isfinite(values), np.abs(values), 0.0)
        bounds = bounds[:n] + bounds[n:] + FOLDED * sizes.max(axis=0)
        different = gaps > bounds
    finite = np.isfinite(gaps) & np.isfinite(bounds) | same[:, None]
    if np.any(different & finite):
        return True
    return unknown and bool(np.any(finite.sum(axis=1) < N_FINITE))


def _points(n: int) -> Array:
    """Random numbers for n symbols, (n, samples)."""
    rng = np.random.default_rng(7)
    near = rng.uniform(0.1, 2.0, (n, 12))
    wide = 10.0 ** rng.uniform(-4, 5, (n, 12))
    signs = rng.choice([-1.0, 1.0], (n, 8))
    return np.hstack([near[:, :4], -near[:, 4:8], near[:, 8:] * signs[:, :4], wide[:, :6],
                      wide[:, 6:10] * signs[:, 4:], -wide[:, 10:]])  # fmt: skip


@dataclass
class Samples:
    """Expressions at samples of their symbols, with bounds of their errors."""

    free: SX
    column: SX
    rounding: float = ROUNDING
    steps: list[Key] = field(default_factory=list)  # one per distinct value: operation and numbers of its operands
    results: list[int] = field(default_factory=list)  # numbers of the values that stand in the column
    orders: dict[Key, int] = field(default_factory=dict)  # pairs of values that are compared by size
    equalities: dict[Key, int] = field(default_factory=dict)  # pairs that are compared by equality only
    steady: dict[int, int] = field(default_factory=dict)  # values that are rounded to integers

    def __post_init__(self) -> None:
        """Read the instructions; values that are computed the same way are one value."""
        f = ca.Function("f", [self.free], [ca.densify(self.column)])
        numbers: dict[Key, int] = {}
        registers: dict[int, int] = {}
        self.results = [0] * self.column.numel()
        for k in range(f.n_instructions()):
            operation, operands = f.instruction_id(k), f.instruction_input(k)
            if operation == ca.OP_OUTPUT:
                self.results[f.instruction_output(k)[1]] = registers[operands[0]]
                continue
            key: Key
            if operation == ca.OP_INPUT:
                key = operation, operands[1]
            elif operation == ca.OP_CONST:
                key = operation, f.instruction_constant(k)
            else:
                key = operation, *(registers[i] for i in operands)
                if operation in _COMMUTATIVE:
                    key = operation, *sorted(key[1:])
            if key not in numbers:
                numbers[key] = len(self.steps)
                self.steps.append(key)
                self._take_in(key)
            registers[f.instruction_output(k)[0]] = numbers[key]
        self.equalities = {pair: 0 for pair in self.equalities if pair not in self.orders}

    def _take_in(self, key: Key) -> None:
        """Remember what is compared."""
        if key[0] in _ORDERED:
            self.orders[self._pair(key)[0]] = 0
        elif key[0] in (ca.OP_EQ, ca.OP_NE):
            self.equalities[self._pair(key)[0]] = 0
        elif key[0] in (ca.OP_FLOOR, ca.OP_CEIL):
            self.steady[key[1]] = 0

    def _pair(self, key: Key) -> tuple[Key, float]:
        """The two values that an operation compares, in one order, and −1 if it has them in the other one."""
        operation, one, *rest = key
        other = rest[0] if rest else None
        if other is not None and self._is_zero(one):
            (first, second), sign = self._pair((operation, other))
            return (first, second), -sign
        if other is None or self._is_zero(other):  # a − b against 0
            step = self.steps[one]
            if step[0] != ca.OP_SUB:
                return (one, -1), 1.0
            _, one, other = step
        return ((one, other), 1.0) if one <= other else ((other, one), -1.0)

    def _is_zero(self, number: int) -> bool:
        step = self.steps[number]
        return bool(step[0] == ca.OP_CONST and step[1] == 0)

    def branches(self, points: Array) -> tuple[Array, int]:
        """Samples, (n, samples), and how many of them take the branches that their numbers say."""
        n = points.shape[1]
        return (np.hstack([points, points]), n) if self.orders or self.equalities or self.steady else (points, n)

    def __call__(self, points: Array, n_true: int) -> tuple[Array, Array]:
        """Values and bounds of their errors, (expressions, samples); from sample `n_true` on branches are random."""
        n, rng = points.shape[1], np.random.default_rng(8)
        orders = {pair: rng.choice([-1.0, 1.0], n - n_true) for pair in self.orders}
        equal = {pair: rng.choice([0.0, 1.0], n - n_true) for pair in self.equalities}
        whole = {number: rng.integers(-2, 3, n - n_true).astype(float) for number in self.steady}
        done: list[Bounded] = []
        zero, exact = np.zeros(n), np.zeros(n)

        def order(key: Key, difference: Array) -> Array:
            pair, sign = self._pair(key)
            return np.concatenate([np.sign(difference[:n_true]), sign * orders[pair]])

        def equality(key: Key, difference: Array) -> Array:
            forced = equal.get(self._pair(key)[0], np.zeros(n - n_true))
            return np.concatenate([(difference[:n_true] == 0).astype(float), forced])

        with np.errstate(all="ignore"):
            for key in self.steps:
                operation = key[0]
                if operation == ca.OP_INPUT:
                    done.append((points[key[1]], exact))
                    continue
                if operation == ca.OP_CONST:
                    constant = np.full(n, key[1])
                    done.append((constant, exact if float(key[1]).is_integer() else self.rounding * np.abs(constant)))
                    continue
                a, e = done[key[1]]
                b, d = done[key[2]] if len(key) > 2 else (zero, exact)
                if operation in _ORDERED:
                    done.append(_ordered(operation, order(key, a - b), (a, e), (b, d)))
                elif operation in (ca.OP_EQ, ca.OP_NE):
                    same = equality(key, a - b)
                    done.append((same if operation == ca.OP_EQ else 1 - same, exact))
                elif operation in (ca.OP_FLOOR, ca.OP_CEIL):
                    rounded = np.floor(a) if operation == ca.OP_FLOOR else np.ceil(a)
                    rounded[np.abs(a - np.round(a)) <= e] = np.nan
                    up = operation == ca.OP_CEIL
                    rounded[n_true:] = whole[key[1]] + up
                    done.append((rounded, exact))
                elif operation == ca.OP_SUB and key[1] == key[2]:
                    done.append((zero, exact))
                else:
                    rule = _RULES.get(operation)
                    value, bound = (np.full(n, np.nan), exact) if rule is None else rule(a, e, b, d)
                    done.append((value, bound + self.rounding * np.abs(value)))
        return tuple(np.array([done[i][k] for i in self.results]) for k in (0, 1))  # type: ignore[return-value]


_COMMUTATIVE = {ca.OP_ADD, ca.OP_MUL, ca.OP_FMIN, ca.OP_FMAX, ca.OP_AND, ca.OP_OR, ca.OP_EQ, ca.OP_NE, ca.OP_HYPOT}
_ORDERED = {ca.OP_LT, ca.OP_LE, ca.OP_FMIN, ca.OP_FMAX, ca.OP_FABS, ca.OP_SIGN}


def _ordered(operation: int, sign: Array, one: Bounded, other: Bounded) -> Bounded:
    """What follows from the sign of a − b, b = 0 where there is one operand only."""
    (a, e), (b, d) = one, other
    if operation == ca.OP_LT:
        return (sign < 0).astype(float), np.zeros_like(a)
    if operation == ca.OP_LE:
        return (sign <= 0).astype(float), np.zeros_like(a)
    if operation == ca.OP_FABS:
        return np.where(sign < 0, -a, a), e
    if operation == ca.OP_SIGN:
        return sign, np.zeros_like(a)
    first = sign < 0 if operation == ca.OP_FMIN else sign > 0
    return np.where(first, a, b), np.where(first, e, d)


# Operation → value and what it makes of the errors e of a and d of b.
_RULES: dict[int, Callable[[Array, Array, Array, Array], Bounded]] = {
    ca.OP_ADD: lambda a, e, b, d: (a + b, e + d),
    ca.OP_SUB: lambda a, e, b, d: (a - b, e + d),
    ca.OP_MUL: lambda a, e, b, d: (a * b, np.abs(a) * d + np.abs(b) * e + e * d),
    ca.OP_DIV: lambda a, e, b, d: (a / b, (e + np.abs(a / b) * d) / np.abs(b)),
    ca.OP_POW: lambda a, e, b, d: (a**b, np.abs(a**b) * (np.where(e, np.abs(b / a) * e, 0)
                                                         + np.where(d, np.abs(np.log(a)) * d, 0))),
    ca.OP_CONSTPOW: lambda a, e, b, d: (a**b, np.abs(a**b) * np.where(e, np.abs(b / a) * e, 0)),
    ca.OP_NEG: lambda a, e, b, d: (-a, e),
    ca.OP_SQ: lambda a, e, b, d: (a * a, 2 * np.abs(a) * e + e * e),
    ca.OP_TWICE: lambda a, e, b, d: (2 * a, 2 * e),
    ca.OP_INV: lambda a, e, b, d: (1 / a, e / (a * a)),
    ca.OP_SQRT: lambda a, e, b, d: (np.sqrt(a), np.where(e, e / (2 * np.sqrt(a)), 0)),
    ca.OP_SIN: lambda a, e, b, d: (np.sin(a), e),
    ca.OP_COS: lambda a, e, b, d: (np.cos(a), e),
    ca.OP_TAN: lambda a, e, b, d: (np.tan(a), e * (1 + np.tan(a) ** 2)),
    ca.OP_ASIN: lambda a, e, b, d: (np.arcsin(a), e / np.sqrt(1 - a * a)),
    ca.OP_ACOS: lambda a, e, b, d: (np.arccos(a), e / np.sqrt(1 - a * a)),
    ca.OP_ATAN: lambda a, e, b, d: (np.arctan(a), e),
    ca.OP_ATAN2: lambda a, e, b, d: (np.arctan2(a, b), (np.abs(b) * e + np.abs(a) * d) / (a * a + b * b)),
    ca.OP_SINH: lambda a, e, b, d: (np.sinh(a), e * np.cosh(a)),
    ca.OP_COSH: lambda a, e, b, d: (np.cosh(a), e * np.cosh(a)),
    ca.OP_TANH: lambda a, e, b, d: (np.tanh(a), e),
    ca.OP_ASINH: lambda a, e, b, d: (np.arcsinh(a), e),
    ca.OP_ACOSH: lambda a, e, b, d: (np.arccosh(a), e / np.sqrt(a * a - 1)),
    ca.OP_ATANH: lambda a, e, b, d: (np.arctanh(a), e / (1 - a * a)),
    ca.OP_EXP: lambda a, e, b, d: (np.exp(a), e * np.exp(a)),
    ca.OP_EXPM1: lambda a, e, b, d: (np.expm1(a), e * np.exp(a)),
    ca.OP_LOG: lambda a, e, b, d: (np.log(a), e / a),
    ca.OP_LOG1P: lambda a, e, b, d: (np.log1p(a), e / (1 + a)),
    ca.OP_ERF: lambda a, e, b, d: (np.array([math.erf(x) for x in a]), 1.2 * e),
    ca.OP_HYPOT: lambda a, e, b, d: (np.hypot(a, b), e + d),
    ca.OP_FMOD: lambda a, e, b, d: (np.fmod(a, b), e + np.abs(a / b) * d),
    ca.OP_COPYSIGN: lambda a, e, b, d: (np.copysign(a, b), e),
    ca.OP_NOT: lambda a, e, b, d: ((a == 0).astype(float), 0 * e),
    ca.OP_AND: lambda a, e, b, d: (((a != 0) & (b != 0)).astype(float), 0 * e),
    ca.OP_OR: lambda a, e, b, d: (((a != 0) | (b != 0)).astype(float), 0 * e),
    ca.OP_IF_ELSE_ZERO: lambda a, e, b, d: (np.where(a != 0, b, 0), np.where(a != 0, d, 0)),
    ca.OP_ASSIGN: lambda a, e, b, d: (a, e),
}  # fmt: skip
