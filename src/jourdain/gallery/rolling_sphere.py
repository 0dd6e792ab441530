"""A sliding sphere or hoop suddenly rolls [textbooks on dynamics]."""

from __future__ import annotations

from typing import Literal

import sympy as sp
from sympy.physics.mechanics import Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

from jourdain.errors import unknown
from jourdain.mechanism.mechanism import Mechanism
from jourdain.scenarios.scenario import Scenario

SHAPES = {"sphere": sp.Rational(2, 5), "hoop": sp.Integer(1)}  # I / m r²


def rolling_sphere(shape: Literal["sphere", "hoop"] = "sphere") -> Scenario:
    """A sliding sphere or hoop reaches rough ground and suddenly rolls.

    v is its speed and omega its spin before; phi turns forwards.
    """
    if shape not in SHAPES:
        raise unknown("shape", shape, SHAPES)
    x, phi = dynamicsymbols("x phi")
    m, r, v, omega = sp.symbols("m r v omega")
    N, B = ReferenceFrame("N"), ReferenceFrame("B")
    B.orient_axis(N, -phi, N.z)
    O, C = Point("O"), Point("C")
    O.set_vel(N, 0)
    C.set_pos(O, x * N.x + r * N.y)
    I = SHAPES[shape] * m * r**2

    mechanism = Mechanism.from_sympy(
        bodies=[RigidBody(shape, C, B, m, (inertia(B, I, I, I), C))],
        frame=N,
        q=[x, phi],
        parameters={m: 1.0, r: 0.1},
        points={"C": C},
        units={x: "m", phi: "rad", m: "kg", r: "m"},
    )
    rolling = mechanism.constraint("rolling", x.diff() - r * phi.diff(), units="m/s")

    event = mechanism.event(inert=[rolling])
    return event.at(v={x: v, phi: omega}, defaults={v: 3.0, omega: 0.0}, units={v: "m/s", omega: "rad/s"})
