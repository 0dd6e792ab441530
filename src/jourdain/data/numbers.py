"""Numbers as text: significant digits or decimals, a real minus, units. Tables, figures and pages all use these."""

from __future__ import annotations

import math

import numpy as np

MINUS = "−"


def significant(value: object, digits: int = 6, zero: float = 0.0, sign: str = "", minus: str = MINUS) -> str:
    """A number with so many significant digits, 0 where its magnitude is at most `zero`; of an array, the range.

    `sign="+"` also shows the sign of positive numbers. `minus="-"` is for what can be typed again.

    >>> significant(-0.1234567), significant(1e-17, zero=1e-16), significant([2.0, -1.0]), significant(0.5, sign="+")
    ('−0.123457', '0', '−1 … 2', '+0.5')
    """
    array = np.asarray(value, dtype=float)
    if array.ndim:
        if not np.isfinite(array).any():
            return "nan"
        return " … ".join(significant(end, digits, zero, sign, minus) for end in (np.nanmin(array), np.nanmax(array)))
    number = float(array)
    return "0" if abs(number) <= zero else with_minus(f"{number:{sign}.{digits}g}", minus)


def fixed(value: float, decimals: int = 1, sign: str = "") -> str:
    """A number with so many decimals; what rounds to 0 has no minus, unless `sign="+"` shows every sign.

    >>> fixed(-15.93), fixed(-0.0001, 2), fixed(2.5, 2, "+")
    ('−15.9', '0.00', '+2.50')
    """
    text = f"{value:{sign}.{decimals}f}"
    return with_minus(text if sign or float(text) else text.removeprefix("-"))


def amount(value: float, unit: str, digits: int = 6, minus: str = MINUS) -> str:
    """A value with its unit, angles in degrees.

    >>> amount(-math.pi / 6, "rad"), amount(2.5, "N s"), amount(0.25, "1")
    ('−30°', '2.5 N s', '0.25')
    """
    shown, size = shown_in(unit)
    return significant(value / size, digits, minus=minus) + (shown if shown in ("", "°") else f" {shown}")


def shown_in(unit: str) -> tuple[str, float]:
    """The unit in which people read and type a quantity, and its size in SI: degrees for rad, none for 1."""
    return {"rad": ("°", math.pi / 180), "1": ("", 1.0)}.get(unit, (unit, 1.0))


def degree_unit(unit: str) -> tuple[str, float]:
    """A unit of angles with degrees for radians, and how many of it are one; others as they are.

    >>> degree_unit("rad/s")[0], degree_unit("m")
    ('°/s', ('m', 1.0))
    """
    if unit == "rad" or unit.startswith(("rad/", "rad ")):
        return f"°{unit.removeprefix('rad')}", math.degrees(1.0)
    return unit, 1.0


def with_unit(name: str, unit: str) -> str:
    """A name with its unit in brackets, if it has one."""
    return f"{name} ({unit})" if unit else name


def with_minus(text: str, minus: str = MINUS) -> str:
    """A number that is a text already, with a real minus."""
    return text.replace("-", minus)
