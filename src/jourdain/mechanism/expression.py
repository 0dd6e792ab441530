"""SymPy → CasADi SX: a small printer. SymPy only describes; everything is derived in CasADi."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from contextlib import suppress
from functools import reduce
from numbers import Real
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.errors import NotExpressible

# SymPy's class name → what it is in CasADi.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": ca.sin, "cos": ca.cos, "tan": ca.tan, "asin": ca.asin, "acos": ca.acos, "atan": ca.atan, "atan2": ca.atan2,
    "sinh": ca.sinh, "cosh": ca.cosh, "tanh": ca.tanh, "asinh": ca.asinh, "acosh": ca.acosh, "atanh": ca.atanh,
    "exp": ca.exp, "log": ca.log, "sign": ca.sign, "Abs": ca.fabs, "erf": ca.erf,
    "floor": ca.floor, "ceiling": ca.ceil, "Mod": lambda x, y: x - y * ca.floor(x / y),
    "sec": lambda x: 1 / ca.cos(x), "csc": lambda x: 1 / ca.sin(x), "cot": lambda x: 1 / ca.tan(x),
    "sinc": lambda x: ca.if_else(x == 0, 1, ca.sin(x) / ca.if_else(x == 0, 1, x)),
    "Add": lambda *xs: reduce(operator.add, xs), "Mul": lambda *xs: reduce(operator.mul, xs),
    "Max": lambda *xs: reduce(ca.fmax, xs), "Min": lambda *xs: reduce(ca.fmin, xs),
    "Heaviside": lambda x, at_zero=0.5: ca.if_else(x > 0, 1, ca.if_else(x < 0, 0, at_zero)),
    "StrictLessThan": lambda a, b: a < b, "LessThan": lambda a, b: a <= b,
    "StrictGreaterThan": lambda a, b: a > b, "GreaterThan": lambda a, b: a >= b,
    "Equality": lambda a, b: a == b, "Unequality": lambda a, b: a != b,
    "And": lambda *xs: reduce(ca.logic_and, xs), "Or": lambda *xs: reduce(ca.logic_or, xs), "Not": ca.logic_not,
    "ITE": ca.if_else,
}  # fmt: skip


def to_sx(expression: Any, lookup: Callable[[Any], SX], exact: dict[float, Any] | None = None) -> SX:
    """An SX for a number, an SX (as it is) or a SymPy scalar; `lookup` answers for symbols, functions of t, rates.

    `exact` gets the numbers that doubles round, as √2 or π/8, by their doubles.
    """
    if isinstance(expression, SX):
        return expression
    if isinstance(expression, Real):
        return SX(float(expression))
    if is_scalar(expression):
        return _Printer(lookup, {} if exact is None else exact)(expression)
    with suppress(TypeError, ValueError):
        if np.ndim(expression) == 0 and not isinstance(expression, str | bytes):  # Decimal, mpmath, arrays of one
            return SX(float(expression))
    raise NotExpressible(f"{expression!r} is not a scalar expression; give a number or a SymPy expression.")


def is_scalar(expression: Any) -> bool:
    """Whether it is a SymPy scalar. `sympify` is not used: it runs texts as Python, also inside of tuples."""
    from sympy import Expr
    from sympy.logic.boolalg import Boolean

    return isinstance(expression, Expr | Boolean)


class _Printer:
    """Each distinct subexpression is translated once, so that shared parts stay shared."""

    def __init__(self, lookup: Callable[[Any], SX], exact: dict[float, Any]) -> None:
        self.lookup, self.exact = lookup, exact
        self.done: dict[Any, SX] = {}

    def __call__(self, e: Any) -> SX:
        if e not in self.done:
            self.done[e] = self._translate(e)
        return self.done[e]

    def _translate(self, e: Any) -> SX:
        from sympy import Float

        if e.is_number and e.is_real and not e.is_rational and not e.has(Float):
            self.exact.setdefault(_real(e), e)
        if (
            e.is_Symbol
            or getattr(e, "is_symbol", False)
            or e.is_Derivative
            or (getattr(e, "is_Function", False) and _is_undefined(e))
        ):
            return self.lookup(e)
        if e.is_Pow:
            return self._power(e)
        if e.is_Piecewise:
            return self._piecewise(e)
        if e.is_number or (e.is_Boolean and not e.args):
            return SX(float(bool(e)) if e.is_Boolean else _real(e))
        name = type(e).__name__
        if name not in _FUNCTIONS:
            written_out = e.doit(deep=False)  # muscles' curves are functions that know their expressions
            if written_out != e:
                return self(written_out)
            raise NotExpressible(f"{name} in {e} has no counterpart in CasADi; rewrite it with elementary functions.")
        return SX(_FUNCTIONS[name](*(self(argument) for argument in e.args)))

    def _power(self, e: Any) -> SX:
        base, exponent = e.args
        if exponent.is_Integer and abs(int(exponent)) <= 16:
            power = _integer_power(self(base), abs(int(exponent)))
            return power if exponent > 0 else 1 / power
        if exponent.is_Rational and exponent.q == 2 and abs(exponent.p) == 1:
            root = ca.sqrt(self(base))
            return root if exponent.p == 1 else 1 / root
        if base.is_number and math.isclose(_real(base), math.e, rel_tol=1e-15):
            return ca.exp(self(exponent))
        return ca.power(self(base), self(exponent))

    def _piecewise(self, e: Any) -> SX:
        """The first condition that holds; NaN where none does, as in SymPy."""
        result = SX(math.nan)
        for value, condition in reversed(e.args):
            holds = condition == True  # noqa: E712 - SymPy's own true
            result = self(value) if holds else ca.if_else(self(condition), self(value), result)
        return result


def _integer_power(x: SX, n: int) -> SX:
    """x^n by squaring: exact where x is, and free of pow()."""
    if n == 0:
        return SX(1)
    half = _integer_power(x, n // 2)
    return half * half if n % 2 == 0 else half * half * x


def _is_undefined(e: Any) -> bool:
    from sympy.core.function import AppliedUndef

    return isinstance(e, AppliedUndef)


def _real(e: Any) -> float:
    try:
        return float(e)
    except TypeError:
        raise NotExpressible(f"{e} is not a real number.") from None
