"""Switches in closed form: the formulas of the literature, and numbers of the motion itself."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import jourdain as jd

theta, theta_minus, l, m, m_H = sp.symbols("theta theta_minus l m m_H")


def test_rimless_wheel_loses_by_cos_of_two_alpha():
    """[McGeer 1990] ω⁺/ω⁻ = cos 2α, α = π/n; n = 8: √2/2."""
    wheel = jd.gallery.rimless_wheel(8)
    for form in (
        wheel.symbolic(wheel.switches[1], at={"theta": sp.pi / 8, "stretch": 0, "stretch_minus": 0}),
        wheel.symbolic(wheel.switches[2]),  # the guard and the constraint before tell the pose
    ):
        assert form.v_plus["theta"] == sp.sqrt(2) / 2 * theta_minus
        assert form.v_plus["stretch"] == 0
        assert abs(form.q_plus["theta"]) == sp.pi / 8
        assert form.q_plus["stretch"] == 0
        assert sp.simplify(form.loss - sp.Symbol("m") * l**2 * theta_minus**2 / 4) == 0


@pytest.mark.parametrize("n", [5, 6, 7, pytest.param(12, marks=pytest.mark.exhaustive)])
def test_numbers_of_wheels_are_exact(n):
    wheel = jd.gallery.rimless_wheel(n)
    form = wheel.symbolic(wheel.switches[2])
    assert not form.v_plus["theta"].atoms(sp.Float)
    assert sp.simplify(form.v_plus["theta"] / theta_minus - sp.cos(2 * sp.pi / n)).evalf(20) == pytest.approx(
        0, abs=1e-18
    )
    assert form.q_plus["theta"] == sp.pi / n
    assert sp.count_ops(form.v_plus["theta"]) <= 1.5 * sp.count_ops(sp.cos(2 * sp.pi / n) * theta_minus)


def test_the_simplest_walker():
    """[Garcia et al. 1998] θ̇⁺ = cos 2θ θ̇⁻, φ̇⁺ = cos 2θ (1 − cos 2θ) θ̇⁻ where feet weigh nothing."""
    walker = jd.gallery.simplest_walker()
    form = walker.symbolic(walker.switches[0], at={"m": 0, "phi": 2 * theta})
    printed = {
        "theta": sp.cos(2 * theta) * theta_minus,
        "phi": sp.cos(2 * theta) * (1 - sp.cos(2 * theta)) * theta_minus,
    }
    for name, formula in printed.items():
        assert sp.simplify(form.v_plus[name] - formula) == 0
        assert sp.count_ops(form.v_plus[name]) <= 1.5 * sp.count_ops(formula)
    assert form.q_plus["theta"] == -theta
    assert form.q_plus["phi"] == -2 * theta
    assert r"\theta^+ &= " in form.latex()
    heavy = walker.symbolic(walker.switches[0])  # the guard gives phi; feet have mass
    assert sp.simplify(heavy.v_plus["theta"].subs(m, 0) - printed["theta"]) == 0
    denominator = m_H + m * sp.sin(2 * theta) ** 2
    assert sp.simplify(heavy.v_plus["theta"] - m_H * printed["theta"] / denominator) == 0


@pytest.mark.parametrize("name", ["simplest_walker", pytest.param("compass_gait", marks=pytest.mark.exhaustive)])
def test_formulas_equal_the_jump_of_a_motion(name):
    hybrid = getattr(jd.gallery, name)()
    gait = hybrid.gait()
    event = hybrid.simulate(gait.q, gait.v, until=1.5 * gait.period).events[0]
    form = hybrid.symbolic(event.switch)
    s = hybrid.mechanism.symbols
    (q, v), (q_after, v_after) = hybrid.state(event.before), hybrid.state(event.after)
    values = dict(hybrid.parameters) | dict(zip(s.q_names, q, strict=True))
    values |= {f"{n}_minus": rate for n, rate in zip(s.v_names, v, strict=True)}
    expected, scale = dict(zip(s.v_names, v_after, strict=True)), np.abs(v).max()
    for velocity, formula in form.v_plus.items():
        assert float(formula.subs(values)) == pytest.approx(expected[velocity], abs=1e-7 * scale)
    for coordinate, formula in form.q_plus.items():
        assert float(formula.subs(values)) == pytest.approx(q_after[s.q_names.index(coordinate)], abs=1e-7)
    assert float(form.loss.subs(values)) == pytest.approx(event.lost, rel=1e-6)


def test_what_is_refused():
    walker = jd.gallery.simplest_walker()
    with pytest.raises(jd.BadEvent, match="no event"):
        walker.symbolic(walker.switches[1])
    with pytest.raises(jd.BadEvent, match="not one of this system"):
        jd.gallery.simplest_walker().symbolic(walker.switches[0])
    wheel = jd.gallery.rimless_wheel()
    with pytest.raises(jd.BadEvent, match="contradicts the guard"):
        wheel.symbolic(wheel.switches[2], at={"theta": 0})
    with pytest.raises(jd.UnknownName, match="nope"):
        walker.symbolic(walker.switches[0], at={"nope": 0})
