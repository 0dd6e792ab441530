"""Whether two expressions are the same, whatever their size and wherever their branches lie."""

from __future__ import annotations

import casadi as ca
import pytest
from casadi import SX

from jourdain.compute.sampled import differ

x, y, t, mode = (SX.sym(name) for name in ("x", "y", "t", "mode"))

SAME = {
    "Pythagoras": (ca.sin(x) ** 2 + ca.cos(x) ** 2, SX(1)),
    "order of the terms": ((x + y) ** 2, x * x + 2 * x * y + y * y),
    "order of the operands": (ca.fmax(x, y), ca.fmax(y, x)),
    "absolute value": (ca.if_else(x > 0, x, -x), ca.fabs(x)),
    "sign": (x * ca.sign(x), ca.fabs(x)),
    "square of an absolute value": (ca.fabs(x) ** 2, x**2),
    "stop": (ca.fmax(0, x - 3), ca.if_else(x > 3, x - 3, 0)),
    "quotient": (ca.tan(x), ca.sin(x) / ca.cos(x)),
    "product of powers": (ca.exp(x) * ca.exp(y), ca.exp(x + y)),
    "rounded constants": (0.1 * x * 0.3, 0.03 * x),
    "remainder": (x - y * ca.floor(x / y), x - ca.floor(x / y) * y),
    "folded constants": (SX(0.1) + 0.2, SX(0.3)),
    "folded constants beside a symbol": (ca.vertcat(x, x * (SX(0.1) + 0.2 - 0.3)), ca.vertcat(x, 0)),
    "not finite, but the same": (ca.log(-(x**2)), ca.log(-(x**2))),
}
DIFFERENT = {
    "small": 1e-30 * x,
    "small beside large terms": (1e6 + x) ** 2 - 1e12 - 2e6 * x - x**2 * (1 - 1e-9),
    "stop": ca.fmax(0, x - 3),
    "far stop": ca.fmax(0, x - 1e12),
    "late": ca.if_else(t > 1e9, 7, 0),
    "narrow": ca.if_else(ca.logic_and(x > 3, x < 3.001), x, 0),
    "mode": ca.if_else(mode == 4, 7, 0),
    "steps": ca.floor(x / 1e9),
    "not finite near 0": ca.sqrt(x - 3),
    "finite nowhere that is looked at": ca.sqrt((x - 30) * (30.1 - x)),
}


@pytest.mark.parametrize("one", SAME)
def test_the_same(one: str) -> None:
    assert not differ(*SAME[one])


@pytest.mark.parametrize("one", DIFFERENT)
def test_different(one: str) -> None:
    assert differ(DIFFERENT[one], SX(0))


def test_what_is_finite_nowhere_is_unknown() -> None:
    hidden = ca.sqrt((x - 30) * (30.1 - x))
    assert differ(hidden, 2 * hidden)
    assert not differ(hidden, 2 * hidden, unknown=False)
