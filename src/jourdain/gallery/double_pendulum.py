"""The tip of a double pendulum strikes a rough floor [Kane 1984; Kane & Levinson 1985; Stronge 1990]."""

from __future__ import annotations

from math import radians

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from jourdain.gallery._bodies import bar, ground, ground_contact, turned
from jourdain.gallery._origin import problem
from jourdain.laws import Coulomb
from jourdain.laws.coulomb import Hypothesis
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario


@problem
def double_pendulum(hypothesis: Hypothesis = "stronge") -> Scenario:
    """Kane's double pendulum: two equal rods swing, and the tip strikes a rough floor.

    Angles are absolute, from the vertical; rod i turns with omega_i. The tip comes slipping and goes back:
    with Newton's hypothesis energy is created, with Poisson's and Stronge's it is not.
    """
    theta_1, theta_2 = q = dynamicsymbols("theta_1 theta_2")
    m, L = sp.symbols("m L")
    N, O = ground()
    A, B = turned(N, "A", theta_1), turned(N, "B", theta_2)
    rod_1, joint = bar("rod_1", O, A, -L * A.y, m)
    rod_2, tip = bar("rod_2", joint, B, -L * B.y, m)

    mechanism = Mechanism.from_sympy(
        bodies=[rod_1, rod_2],
        frame=N,
        q=q,
        parameters={m: 1.0, L: 1.0},
        points={"O": O, "joint": joint, "tip": tip},
        units={theta_1: "rad", theta_2: "rad", m: "kg", L: "m"},
    )
    floor = ground_contact(mechanism, "floor", tip.pos_from(O).dt(N), N)

    angle_1, angle_2, omega_1, omega_2 = sp.symbols("theta_1 theta_2 omega_1 omega_2")
    return mechanism.event(contacts={floor: Coulomb("friction", "kappa", hypothesis)}).at(
        q={theta_1: angle_1, theta_2: angle_2},
        v={theta_1: omega_1, theta_2: omega_2},
        defaults={angle_1: radians(20), angle_2: radians(30), omega_1: -0.1, omega_2: -0.2}
        | {"friction": 0.6, "kappa": 0.7},
        units={angle_1: "rad", angle_2: "rad", omega_1: "rad/s", omega_2: "rad/s", "friction": "1", "kappa": "1"},
        sketch=Sketch(
            links=[("O", "joint", "tip")],
            pivots=["O"],
            velocities=["joint", "tip"],
            acts={"floor": "tip"},
            surfaces=["floor"],
        ),
    )
