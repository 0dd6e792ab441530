"""Numbers as text: nothing but the minus and the sign of zero differs from what Python writes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jourdain.data.numbers import MINUS, amount, fixed, significant

NUMBERS = st.floats(allow_infinity=True, allow_nan=True)


@given(NUMBERS, st.integers(1, 12))
def test_significant_digits(value: float, digits: int):
    text = significant(value, digits)
    assert "-" not in text
    assert text.replace(MINUS, "-") == f"{value + 0.0:.{digits}g}"
    assert significant(value, digits, minus="-") == text.replace(MINUS, "-")


@given(NUMBERS, st.integers(0, 6))
def test_decimals(value: float, decimals: int):
    text = fixed(value, decimals).replace(MINUS, "-")
    assert text == f"{value:.{decimals}f}" or (float(text) == 0 and text == f"{0:.{decimals}f}")
    assert fixed(value, decimals, "+").replace(MINUS, "-") == f"{value:+.{decimals}f}"


def test_what_is_rounding_is_zero():
    assert significant(-1e-14, zero=1e-13) == "0"
    assert significant(np.array([np.nan, -2.0, 1e-14]), zero=1e-13) == f"{MINUS}2 … 0"
    assert significant([np.nan, np.nan]) == "nan"
    assert significant(-0.0) == "0"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(np.pi / 2, "rad", "90°"), (-0.5, "", "−0.5"), (2.0, "1", "2"), (-3.0, "m/s", "−3 m/s"), (30.0, "°", "30°")],
)
def test_amounts(value: float, unit: str, text: str):
    assert amount(value, unit) == text
    assert amount(value, unit, minus="-") == text.replace(MINUS, "-")
