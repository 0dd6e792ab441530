"""Closed forms of scenarios: equal to numbers, and as short as the formulas of the textbooks."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import jourdain as jd
from jourdain.data.addresses import select

QUICK = [("ball_on_incline", {}), ("rolling_sphere", {}), ("step", {}), ("sleigh", {"case": "landing"})]
SLOW: list[tuple[str, dict[str, str]]] = [
    ("sleigh", {}),
    ("ballistic_pendulum", {}),
    ("disk_on_moving_plane", {}),
    ("rod", {}),
    ("percussion", {}),
]
CASES = [*QUICK, *(pytest.param(*case, marks=pytest.mark.exhaustive) for case in SLOW)]

I, m, r, h, omega, alpha, v, M, l, psi, theta, v_C = sp.symbols("I m r h omega alpha v M l psi theta v_C")
PRINTED = {  # as their sources have them
    ("ball_on_incline", "v_plus.phi"): omega * (I + m * r**2 * sp.cos(alpha)) / (I + m * r**2),
    ("rolling_sphere", "v_plus.phi"): (5 * v + 2 * r * omega) / (7 * r),
    ("rolling_sphere", "loss"): m * (v - r * omega) ** 2 / 7,
    ("step", "v_plus.phi"): omega * (1 - 5 * h / (7 * r)),
    ("sleigh", "outputs_plus.u"): v_C * sp.cos(psi - theta),
    ("sleigh", "loss"): I * M * (l * omega - v_C * sp.sin(psi - theta)) ** 2 / (2 * (I + M * l**2)),
}


@pytest.mark.parametrize(("name", "keywords"), CASES)
def test_formulas_equal_numbers(name, keywords, rng):
    scenario = getattr(jd.gallery, name)(**keywords)
    formulas = scenario.symbolic().formulas()
    for _ in range(3):
        p = {key: (value or 0.3) * rng.uniform(0.7, 1.1) for key, value in scenario.parameters.items()}
        ds = scenario.solve(parameters=p).to_dataset()
        for address, formula in formulas.items():
            for symbol in formula.free_symbols:
                assert str(symbol) in p, f"{address} has {symbol}"
            found = np.ravel(np.array(formula.subs(p), dtype=float))
            expected = np.ravel(select(ds, address))
            np.testing.assert_allclose(found, expected, atol=1e-9 * (1 + np.abs(expected).max()))
    for (problem, address), printed in PRINTED.items():
        if problem == name and (name != "sleigh" or keywords):
            assert sp.simplify(formulas[address] - printed) == 0
            assert sp.count_ops(formulas[address]) <= 1.5 * sp.count_ops(printed)


def test_without_simplification_it_is_the_same(rng):
    scenario = jd.gallery.rolling_sphere()
    short, long = scenario.symbolic().formulas(), scenario.symbolic(simplify=False).formulas()
    for address, formula in short.items():
        assert sp.simplify(formula - long[address]) == 0


def test_guessed_coordinates_have_no_formula():
    with pytest.raises(jd.BadEvent, match="near a guess"):
        jd.gallery.four_bar().symbolic()


SHORT = (
    "particle",
    "hand",
    "incline",
    "struck",
    "landing",
    "moves",
    "earthquake",
)  # of the titles in the paper's table


@pytest.mark.exhaustive
@pytest.mark.parametrize("word", SHORT)
def test_as_short_as_the_paper_prints_them(word):
    """[WC] and the closed forms beside it: the same formula, at most half as long again, without a rounded number."""
    from jourdain.studies.papers.wang_chou import problems

    problem = next(one for one in problems() if word in one.title)
    at = {"v_S_minus": 0, "psi_S_minus": 0} if word == "earthquake" else {}
    formulas = problem.scenario.symbolic(at=at).formulas()
    for address, printed in problem.closed.items():
        assert sp.simplify(formulas[address] - printed) == 0
        assert sp.count_ops(formulas[address]) <= 1.5 * sp.count_ops(printed)
        assert not formulas[address].atoms(sp.Float)


def test_a_prior_velocity_that_misses_a_row_is_refused():
    event = jd.gallery.sleigh("struck").event
    scenario = event.at(q={"theta": 0.0}, v={"x": 1.0, "y": 1.0})
    with pytest.raises(jd.PriorViolated):
        scenario.symbolic()
