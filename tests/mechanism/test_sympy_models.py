"""Every model of SymPy's own tests of mechanics: read by one call, and compared with SymPy's equations and events."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

import jourdain as jd
from oracles.sympy_models import (
    Reference,
    equations,
    equations_differ,
    functions_of_sympy,
    mass_matrix_of,
    models,
    states,
    struck,
)

RTOL = 1e-9
SLOW = (
    "test_kane2:test_aux_dep",
    "test_kane3:test_bicycle",
    "test_kane:test_aux",
    "test_kane:test_implicit_kinematics",
    "test_kane:test_issue_24887",
    "test_linearize:test_linearize_pendulum_kane_nonminimal",
    "test_linearize:test_linearize_rolling_disc_kane",
    "test_system_class:TestSystemExamples.test_cart_pendulum_kanes",
    "test_system_class:TestSystemExamples.test_cart_pendulum_lagrange",
)
# Not mechanisms: bodies that nothing connects with the frame of the system.
REFUSED = {
    "test_system_class:TestSystem.test_add_loads": "Frame A is not connected",
    "test_system_class:TestSystem.test_add_actuators": "Frame N is not connected",
    "test_system_class:TestSystem.test_add_joints": "The velocity of point 'rb1_masscenter' is not known",
}
# M is singular whatever the rows: no bodies, or a bob that turns about its own rod. There is no event.
MASSLESS = ("test_kane2:test_sub_qdot2", "test_kane:test_issue_24887")


def parametrized() -> list[Any]:
    return [pytest.param(name, marks=[pytest.mark.exhaustive] if name in SLOW else []) for name in functions_of_sympy()]


def read(system: Any, rng: np.random.Generator) -> jd.Mechanism:
    """The mechanism, with random numbers for all parameters that it asks for, in one sentence."""
    numbers: dict[str, float] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jd.MechanismWarning)
        try:
            return jd.Mechanism.from_system(system)
        except jd.MissingValue as missing:
            numbers = {name: likely(name, rng) for name in re.findall("'([^']*)'", str(missing))}
        return jd.Mechanism.from_system(system, numbers)


def likely(name: str, rng: np.random.Generator) -> float:
    """A number for a parameter; products of inertia are small, since no body has large ones."""
    size = 0.1 if re.search(r"_(xy|yz|xz|zx)$", name) else 1.0
    return float(size * rng.uniform(0.5, 1.5))


@pytest.mark.parametrize("name", parametrized())
def test_models_of_sympy(name: str, rng: np.random.Generator) -> None:
    made = models(name)
    if not made:
        pytest.skip("makes no system")
    if name in REFUSED:
        with pytest.raises(jd.Error, match=re.escape(REFUSED[name])):
            read(made[0], rng)
        return
    for system in made:
        mechanism = read(system, rng)
        if mechanism.symbols.v_names:
            check(name, system, mechanism, rng)


def check(name: str, system: Any, mechanism: jd.Mechanism, rng: np.random.Generator) -> None:
    """T, equations of motion and events at random states on the constraints."""
    p = {key: value or likely(key, rng) for key, value in mechanism.parameters.items()}
    reference, ours = Reference(system, mechanism), equations(mechanism, p)
    theirs, T = reference.residual(), reference.kinetic_energy()
    found = states(mechanism, p, rng)
    assert found, "no state on the constraints"
    event = None
    for q, v, rates in found:
        C = ours(q, v)[2]
        expected = T(q, v, rates, p)[0, 0]
        assert abs(mechanism.kinetic_energy(q, v, parameters=p) - expected) <= RTOL * (1e-6 + abs(expected))
        assert equations_differ(theirs(q, v, rates, p), ours(q, v), reference.lagrange, rng) <= RTOL
        if name in MASSLESS:
            continue
        event = event or events(mechanism)
        their_M = mass_matrix_of(T, q, kinematics(mechanism, q, p), p)
        for kappa in (0.0, 0.5):
            hit = np.arange(1.0, 1.0 + len(v))
            outcome = event.solve(q, v, kappa=kappa, parameters=p)
            target = np.concatenate([C @ v, [-kappa * hit @ v]])
            v_plus = struck(their_M, np.vstack([C, hit]), target, v)
            np.testing.assert_allclose(outcome.v_plus, v_plus, atol=RTOL * (1 + np.abs(v_plus).max()))


def events(mechanism: jd.Mechanism) -> jd.Event:
    """A hit along all speeds at once, elastic; κ = 0 is a lock."""
    v = mechanism.symbols.v
    hit = mechanism.constraint("hit", sum((i + 1.0) * v[i] for i in range(v.numel())))
    return mechanism.event(elastic={hit: "kappa"})


def kinematics(mechanism: jd.Mechanism, q: Any, p: dict[str, float]) -> Any:
    """N(q), as numbers."""
    return mechanism.evaluate("N", lambda: {"N": mechanism.symbols.N}, q, None, {"parameters": p})["N"]
