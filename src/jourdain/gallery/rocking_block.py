"""A rocking block changes its corner [Housner 1963, Bull. Seism. Soc. Am. 53]."""

from __future__ import annotations

from math import radians

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from jourdain.gallery._bodies import free_planar_body, ground_contact
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario


@problem
def rocking_block() -> Scenario:
    """A rocking block comes upright: it lets go of the right corner and turns about the left one.

    R is half the diagonal, alpha the slenderness angle (tan α = width/height); omega_plus/omega = 1 − 1.5 sin²α.
    """
    x, y, theta = q = dynamicsymbols("x y theta")
    m, R, alpha, omega = sp.symbols("m R alpha omega")
    N, B, C, block = free_planar_body("block", x, y, theta, m, I=m * R**2 / 3)
    width, height = 2 * R * sp.sin(alpha), 2 * R * sp.cos(alpha)
    left = C.locatenew("left_corner", -width / 2 * B.x - height / 2 * B.y)
    right = C.locatenew("right_corner", width / 2 * B.x - height / 2 * B.y)
    tops = {f"{side}_top": corner.locatenew(f"{side}_top", height * B.y)
            for side, corner in (("left", left), ("right", right))}  # fmt: skip

    mechanism = Mechanism.from_sympy(
        bodies=[block],
        frame=N,
        q=q,
        parameters={m: 1000.0, R: 2.0, alpha: radians(15)},
        points={"C": C, "left_corner": left, "right_corner": right, **tops},
        units={x: "m", y: "m", theta: "rad", m: "kg", R: "m", alpha: "rad"},
    )
    old = ground_contact(mechanism, "right", right.v2pt_theory(C, N, B), N)
    new = ground_contact(mechanism, "left", left.v2pt_theory(C, N, B), N)

    event = mechanism.event(released=[old], inert=[new])
    return event.at(
        q={y: height / 2},
        v={x: -omega * height / 2, y: -omega * width / 2, theta: omega},  # turns about the right corner
        defaults={omega: 0.5},
        units={omega: "rad/s"},
        sketch=Sketch(
            links=[("left_corner", "right_corner", "right_top", "left_top", "left_corner")],
            velocities=["C", "left_corner", "right_corner"],
            acts={"left": "left_corner"},
            surfaces=["left"],
        ),
    )
