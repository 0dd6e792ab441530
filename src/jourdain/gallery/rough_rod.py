"""A rod strikes a rough plane with one end [Routh, Dynamics of a System of Rigid Bodies; Wang & Mason 1992]."""

from __future__ import annotations

from math import radians

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from jourdain.gallery._bodies import free_planar_body, ground_contact
from jourdain.gallery._origin import problem
from jourdain.laws import Coulomb
from jourdain.laws.coulomb import Hypothesis
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario


@problem
def rough_rod(hypothesis: Hypothesis = "stronge") -> Scenario:
    """A thrown rod strikes a rough floor with one end: it slips on, sticks, or slips back.

    theta is its inclination to the horizontal, v the speed of the fall, v_x that along the floor, omega the rate at
    which it lays itself down. An inclined rod throws its end back, W_nt < 0: with little friction slip reverses.
    """
    x, y, theta = q = dynamicsymbols("x y theta")
    m, L = sp.symbols("m L")
    N, B, C, rod = free_planar_body("rod", x, y, theta, m, I=m * L**2 / 12)
    A, D = C.locatenew("A", -L / 2 * B.x), C.locatenew("D", L / 2 * B.x)

    mechanism = Mechanism.from_sympy(
        bodies=[rod],
        frame=N,
        q=q,
        parameters={m: 1.0, L: 1.0},
        points={"A": A, "C": C, "D": D},
        units={x: "m", y: "m", theta: "rad", m: "kg", L: "m"},
    )
    floor = ground_contact(mechanism, "floor", A.vel(N), N)

    inclination, v, v_x, omega = sp.symbols("theta v v_x omega")
    return mechanism.event(contacts={floor: Coulomb("friction", "kappa", hypothesis)}).at(
        q={x: L / 2 * sp.cos(inclination), y: L / 2 * sp.sin(inclination), theta: inclination},
        v={x: v_x, y: -v, theta: -omega},
        defaults={inclination: radians(50), v: 2.0, v_x: 0.6, omega: 0.0, "friction": 0.3, "kappa": 0.5},
        units={inclination: "rad", v: "m/s", v_x: "m/s", omega: "rad/s", "friction": "1", "kappa": "1"},
        sketch=Sketch(
            links=[("A", "D")], masses=["C"], velocities=["A", "C", "D"], acts={"floor": "A"}, surfaces=["floor"]
        ),
    )
