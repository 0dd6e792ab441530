"""How numbers, words and closed forms look on the page."""

from __future__ import annotations

import re
from math import degrees
from typing import Any

from markupsafe import Markup, escape

from jourdain.data.numbers import fixed, significant, with_minus
from jourdain.studies.papers.record import Beside, Column, Formula

_INDEX = re.compile(r"(?<=[\w)\u0304])_([A-Za-z0-9]+)")  # after a letter, with or without a bar, or a bracket


def words(text: str) -> Markup:
    """Text with its indices lowered.

    >>> str(words("T_c⁻ < T_a⁺, λ̄_n"))
    'T<sub>c</sub>⁻ &lt; T<sub>a</sub>⁺, λ̄<sub>n</sub>'
    """
    return Markup(_INDEX.sub(r"<sub>\1</sub>", str(escape(text))))


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

    words = {sp.Symbol("spin"): sp.Symbol("φ̇⁻")}  # as the papers write it
    sides = {symbol: sp.Symbol(f"{symbol.name.removesuffix(side)}__{sign}")
             for symbol in expression.free_symbols for side, sign in (("_minus", "-"), ("_plus", "+"))
             if symbol.name.endswith(side)}  # fmt: skip
    return Markup("<math>{}</math>").format(Markup(mathml(expression.subs({**sides, **words}), printer="presentation")))


def in_degrees(angle: float, decimals: int = 2) -> str:
    """An angle in rad as people read it."""
    return f"{fixed(degrees(angle), decimals)}°"
