"""Exact numbers behind doubles: fractions, roots, multiples of π and their sines, for formulas."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache

import sympy as sp

FEW_DIGITS = 6  # a decimal with no more was typed as it stands
LARGEST_DENOMINATOR = 1000
ROUNDING = 1e-15  # of one product of doubles
MULTIPLES = 4  # of the angle, whose sines are recognised
SIMPLE = (1, 2, 3, 4, 6)  # sin(π/n) is one root


def exact_number(x: float, exact: Mapping[float, sp.Expr] = {}) -> sp.Expr:
    """The number that a double obviously rounds: a fraction, one of `exact`, √2, π or a fraction of these; else itself.

    >>> [exact_number(x) for x in (0.5, 1e-10, 2**0.5 / 2, math.pi / 8, 0.123456789)]
    [1/2, 1/10000000000, sqrt(2)/2, pi/8, 0.123456789]
    >>> exact_number(3 * math.sin(math.pi / 7), {math.sin(math.pi / 7): sp.sin(sp.pi / 7)})
    3*sin(pi/7)
    """
    x = float(x)
    if not math.isfinite(x):
        return sp.sympify(x)
    near = Fraction(x).limit_denominator(10_000)
    if float(near) == x:
        return sp.Rational(near.numerator, near.denominator)
    short = Decimal(repr(x))
    if len(short.as_tuple().digits) <= FEW_DIGITS:
        return sp.Rational(*short.as_integer_ratio())
    for value, e in {**exact, math.pi: sp.pi}.items():
        ratio = _fraction(x / value)
        if ratio is not None:
            return ratio * e
    square = _fraction(x * x)
    return sp.Float(x) if square is None else (1 if x > 0 else -1) * sp.sqrt(square)


def _fraction(x: float) -> sp.Rational | None:
    """The simple fraction that x is up to rounding."""
    near = Fraction(x).limit_denominator(LARGEST_DENOMINATOR)
    return sp.Rational(near.numerator, near.denominator) if near and abs(float(near) - x) <= ROUNDING * abs(x) else None


@dataclass(frozen=True)
class ExactNumbers:
    """Numbers that doubles round. While formulas are derived, π/n stands as a symbol where its sine is a nested root.

    `table`: double → number. `n`: 0 where no such angle occurs.
    """

    table: Mapping[float, sp.Expr]
    n: int

    @classmethod
    def of(cls, numbers: Mapping[float, sp.Expr]) -> ExactNumbers:
        """`numbers`: those that the model's expressions hold, by their doubles."""
        ratios = [e / sp.pi for e in numbers.values()]
        n = math.lcm(*(ratio.q for ratio in ratios if ratio.is_Rational))
        if n in SIMPLE:
            return cls(numbers, 0)
        table: dict[float, sp.Expr] = {math.pi / n: _angle(n)}
        for k in range(1, MULTIPLES + 1):
            for function in (sp.sin, sp.cos):
                value = function(k * sp.pi / n)
                if value != 0:
                    table.setdefault(float(value), function(k * _angle(n)))
        others = {value: e for value, e in numbers.items() if exact_number(value, table).is_Float}
        return cls({**table, **others}, n)

    def hidden(self, e: sp.Expr) -> sp.Expr:
        """With the symbol for π/n."""
        return e.xreplace({sp.pi: self.n * _angle(self.n)}) if self.n else e

    def shown(self, e: sp.Expr) -> sp.Expr:
        """With π/n."""
        return e.xreplace({_angle(self.n): sp.pi / self.n}) if self.n else e


@cache
def _angle(n: int) -> sp.Dummy:
    return sp.Dummy(f"pi_{n}", positive=True)
