"""A block lands on two corners at once [Moreau 1988; Glocker, Set-Valued Force Laws]."""

from __future__ import annotations

from itertools import pairwise

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from jourdain.gallery._bodies import free_planar_body
from jourdain.gallery._origin import problem
from jourdain.laws import Frictionless
from jourdain.laws.frictionless import Rule
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario


@problem
def block_on_corners(law: Rule = "moreau") -> Scenario:
    """A falling and turning block lands flat on a smooth floor: both corners push, or one of them.

    b is its width, h its height, v the speed of the fall, omega the angular velocity, positive from x to y. Both push
    while |omega| < 6 v b/(b² + h²); beyond, the corner that comes slower lifts.
    """
    x, y, theta = q = dynamicsymbols("x y theta")
    m, b, h, v, omega = sp.symbols("m b h v omega")
    N, B, C, block = free_planar_body("block", x, y, theta, m, I=m * (b**2 + h**2) / 12)
    places = {"left_corner": (-1, -1), "right_corner": (1, -1), "top_right": (1, 1), "top_left": (-1, 1)}
    points = {name: C.locatenew(name, i * b / 2 * B.x + j * h / 2 * B.y) for name, (i, j) in places.items()}

    mechanism = Mechanism.from_sympy(
        bodies=[block],
        frame=N,
        q=q,
        parameters={m: 2.0, b: 0.4, h: 0.6},
        points={"C": C, **points},
        units={x: "m", y: "m", theta: "rad", m: "kg", b: "m", h: "m"},
    )
    corners = [
        mechanism.contact(side, normal=points[f"{side}_corner"].v2pt_theory(C, N, B).dot(N.y), units="m/s")
        for side in ("left", "right")
    ]
    return mechanism.event(contacts=dict.fromkeys(corners, Frictionless("kappa", law))).at(
        q={y: h / 2},
        v={y: -v, theta: omega},
        defaults={v: 1.0, omega: 0.5, "kappa": 0.4},
        units={v: "m/s", omega: "rad/s", "kappa": "1"},
        sketch=Sketch(
            links=list(pairwise((*places, "left_corner"))),
            masses=["C"],
            velocities=["C", "left_corner", "right_corner"],
            acts={"left": "left_corner", "right": "right_corner"},
            surfaces=["left", "right"],
        ),
    )
