"""How numbers and closed forms look on the page."""

from __future__ import annotations

from math import degrees
from typing import Any

from markupsafe import Markup

from jourdain.data.numbers import fixed, significant, with_minus
from jourdain.reports.typeset import words
from jourdain.studies.papers.record import Beside, Column, Formula


def number(value: float, column: Column) -> str:
    """With the column's decimals or digits."""
    return significant(value, column.digits) if column.decimals is None else fixed(value, column.decimals)


def cell(value: Any, column: Column) -> Markup:
    """What stands in one cell of a table; of a comparison, our number."""
    if isinstance(value, Formula):
        return formula(value.expression)
    if isinstance(value, Beside):
        return Markup("<b>{}</b>").format(number(value.ours, column))
    if isinstance(value, str):
        return words(with_minus(value) if column.right else value)
    return Markup(number(value, column))


def formula(expression: Any) -> Markup:
    """A closed form in MathML, which browsers draw by themselves."""
    import sympy as sp
    from sympy.printing.mathml import mathml

    said = {sp.Symbol("spin"): sp.Symbol("φ̇⁻")}  # as the papers write it
    sides = {symbol: sp.Symbol(f"{symbol.name.removesuffix(side)}__{sign}")
             for symbol in expression.free_symbols for side, sign in (("_minus", "-"), ("_plus", "+"))
             if symbol.name.endswith(side)}  # fmt: skip
    return Markup("<math>{}</math>").format(Markup(mathml(expression.subs({**sides, **said}), printer="presentation")))


def in_degrees(angle: float, decimals: int = 2) -> str:
    """An angle in rad as people read it."""
    return f"{fixed(degrees(angle), decimals)}°"
