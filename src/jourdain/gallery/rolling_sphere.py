"""A sliding sphere or hoop suddenly rolls [textbooks on dynamics]."""

from __future__ import annotations

from typing import Literal

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from jourdain.errors import check_choice
from jourdain.gallery._bodies import free_planar_body
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario

SHAPES = {"sphere": sp.Rational(2, 5), "hoop": sp.Integer(1)}  # I / m r²


@problem
def rolling_sphere(shape: Literal["sphere", "hoop"] = "sphere") -> Scenario:
    """A sliding sphere or hoop reaches rough ground and suddenly rolls.

    v is its speed and omega its spin before; phi turns forwards.
    """
    check_choice("shape", shape, SHAPES)
    x, phi = q = dynamicsymbols("x phi")
    m, r, v, omega = sp.symbols("m r v omega")
    N, B, C, body = free_planar_body(shape, x, r, -phi, m, I=SHAPES[shape] * m * r**2)

    sole = C.locatenew("sole", -r * N.y)  # it touches the ground, and is carried by the body
    sole.v2pt_theory(C, N, B)

    mechanism = Mechanism.from_sympy(
        bodies=[body],
        frame=N,
        q=q,
        parameters={m: 1.0, r: 0.1},
        points={"C": C, "sole": sole},
        units={x: "m", phi: "rad", m: "kg", r: "m"},
    )
    rolling = mechanism.constraint("rolling", x.diff() - r * phi.diff(), units="m/s")

    event = mechanism.event(inert=[rolling])
    return event.at(
        v={x: v, phi: omega},
        defaults={v: 3.0, omega: 0.0},
        units={v: "m/s", omega: "rad/s"},
        sketch=Sketch(arcs={"C": (r, "C")}, velocities=["C", "sole"], acts={"rolling": "sole"}),
    )
