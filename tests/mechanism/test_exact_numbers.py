"""Doubles that obviously round a number are that number in formulas; others stay what they are."""

from __future__ import annotations

import math

import pytest
import sympy as sp

from jourdain.mechanism.exact import ExactNumbers, exact_number


@pytest.mark.parametrize(
    "e", [sp.Rational(1, 3), sp.sqrt(2), -sp.sqrt(3) / 7, sp.pi, 2 * sp.pi / 9, sp.Rational(-7, 960)]
)
def test_numbers_are_recognised(e):
    assert exact_number(float(e)) == e


def test_measured_numbers_stay_doubles(rng):
    for x in rng.uniform(0.1, 10.0, 2000):
        found = exact_number(x)
        assert float(found) == x
        assert found.is_Float


@pytest.mark.parametrize("n", [5, 7, 8, 12, 24])
def test_sines_of_multiples_of_an_angle(n):
    alpha = sp.pi / n
    exact = ExactNumbers.of({float(alpha): alpha, float(2 * sp.sin(alpha)): 2 * sp.sin(alpha)})
    for x, e in ((math.sin(math.pi / n), sp.sin(alpha)), (-3 * math.cos(2 * math.pi / n), -3 * sp.cos(2 * alpha)),
                 (math.pi / n, alpha)):  # fmt: skip
        found = exact.shown(exact_number(x, exact.table))
        assert not found.atoms(sp.Float)
        assert (found - e).evalf(30) == pytest.approx(0, abs=1e-25)
    assert exact.shown(exact.hidden(sp.pi / 3)) == sp.pi / 3


def test_infinity_and_nan_stay():
    assert exact_number(math.inf) == sp.oo
    assert exact_number(math.nan) is sp.nan
