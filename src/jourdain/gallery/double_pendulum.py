"""The tip of a double pendulum strikes a rough floor [Kane 1984; Kane & Levinson 1985; Stronge 1990]."""

from __future__ import annotations

from math import radians

import sympy as sp
from sympy.physics.mechanics import Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

from jourdain.laws import Coulomb
from jourdain.laws.coulomb import Hypothesis
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario


def double_pendulum(hypothesis: Hypothesis = "stronge") -> Scenario:
    """Kane's double pendulum: two equal rods swing, and the tip strikes a rough floor.

    Angles are absolute, from the vertical; rod i turns with omega_i. The tip comes slipping and goes back:
    with Newton's hypothesis energy is created, with Poisson's and Stronge's it is not.
    """
    theta_1, theta_2 = q = dynamicsymbols("theta_1 theta_2")
    m, L = sp.symbols("m L")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    bodies, points, end = [], {"O": O}, O
    for i, (name, angle) in enumerate(zip(("joint", "tip"), q, strict=True), start=1):
        B = ReferenceFrame(f"B{i}")
        B.orient_axis(N, angle, N.z)
        C = end.locatenew(f"C_{i}", -L / 2 * B.y)
        bodies.append(RigidBody(f"rod_{i}", C, B, m, (inertia(B, m * L**2 / 12, 0, m * L**2 / 12), C)))
        end = points[name] = end.locatenew(name, -L * B.y)

    mechanism = Mechanism.from_sympy(
        bodies=bodies,
        frame=N,
        q=q,
        parameters={m: 1.0, L: 1.0},
        points=points,
        units={theta_1: "rad", theta_2: "rad", m: "kg", L: "m"},
    )
    v_tip = points["tip"].pos_from(O).dt(N)
    floor = mechanism.contact("floor", normal=v_tip.dot(N.y), tangent=[v_tip.dot(N.x)], units="m/s")

    angles, rates = sp.symbols("theta_1 theta_2"), sp.symbols("omega_1 omega_2")
    return mechanism.event(contacts={floor: Coulomb("friction", "kappa", hypothesis)}).at(
        q=dict(zip(q, angles, strict=True)),
        v=dict(zip(q, rates, strict=True)),
        defaults=dict(zip(angles, map(radians, (20, 30)), strict=True))
        | dict(zip(rates, (-0.1, -0.2), strict=True))
        | {"friction": 0.6, "kappa": 0.7},
        units=dict.fromkeys(angles, "rad") | dict.fromkeys(rates, "rad/s") | {"friction": "1", "kappa": "1"},
        sketch=Sketch(
            links=[("O", "joint", "tip")],
            pivots=["O"],
            velocities=["joint", "tip"],
            acts={"floor": "tip"},
            surfaces=["floor"],
        ),
    )
