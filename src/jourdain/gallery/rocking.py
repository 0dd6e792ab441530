"""A block rocks on its corners until it stands [Housner 1963, Bull. Seism. Soc. Am. 53]."""

from __future__ import annotations

from math import radians

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from jourdain.gallery._bodies import ground, planar_body, turned
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.motion.guards import Switch
from jourdain.motion.hybrid import Hybrid


@problem
def rocking() -> Hybrid:
    """A block rocks from corner to corner, every change of corner inert, until it stands.

    theta is its tilt, positive on the left corner; it topples beyond alpha. R is half the diagonal, alpha the
    slenderness angle (tan α = width/height). (x, y) is where the middle of the base has moved to: both
    are 0 where it stands. Every change of corner keeps the part 1 − 1.5 sin²α of the rate.
    """
    x, y, theta = q = dynamicsymbols("x y theta")
    m, R, alpha, g = sp.symbols("m R alpha g")
    N, O = ground()
    B = turned(N, "B", theta)
    half = R * sp.sin(alpha)  # of the width
    base = O.locatenew("base", x * N.x + y * N.y)
    C = base.locatenew("C", R * sp.cos(alpha) * B.y)
    left, right = base.locatenew("left_corner", -half * B.x), base.locatenew("right_corner", half * B.x)
    tops = [corner.locatenew(f"top of {corner.name}", 2 * R * sp.cos(alpha) * B.y) for corner in (left, right)]

    mechanism = Mechanism.from_sympy(
        bodies=[planar_body("block", C, B, m, m * R**2 / 3)],
        frame=N,
        q=q,
        parameters={m: 1000.0, R: 2.0, alpha: radians(15), g: 9.81},
        points={"C": C, "left_corner": left, "right_corner": right, "top_left": tops[0], "top_right": tops[1]},
        gravity=-g * N.y,
        units={x: "m", y: "m", theta: "rad", m: "kg", R: "m", alpha: "rad", g: "m/s^2"},
    )
    places = {"left": left.pos_from(O) + half * N.x, "right": right.pos_from(O) - half * N.x}
    on_left, on_right = (
        mechanism.contact(name, normal=r.dot(N.y), tangent=[r.dot(N.x)], level="position", units="m")
        for name, r in places.items()
    )
    return Hybrid(
        mechanism,
        topologies={"left": [on_left], "right": [on_right]},
        switches=[
            Switch("left", "right", guard=theta, event=mechanism.event(released=[on_left], inert=[on_right])),
            Switch(
                "right", "left", guard=theta, direction=1, event=mechanism.event(released=[on_right], inert=[on_left])
            ),
            Switch("left", None, guard=sp.pi / 2 - theta, name="toppled"),
            Switch("right", None, guard=sp.pi / 2 + theta, name="toppled"),
        ],
        start=({"theta": 0.2}, {}),
        until=20.0,
        sketch=Sketch(links=[("left_corner", "right_corner", "top_right", "top_left", "left_corner")], floors={0: -1}),
    )
