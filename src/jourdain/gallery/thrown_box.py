"""A thrown box strikes a rough floor with one corner: slip that turns [Keller 1986; Stronge 2000]."""

from __future__ import annotations

from math import radians

import sympy as sp
from sympy.physics.mechanics import Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

from jourdain.laws import Coulomb
from jourdain.laws.coulomb import Hypothesis
from jourdain.mechanism.mechanism import Mechanism
from jourdain.scenarios.scenario import Scenario


def thrown_box(hypothesis: Hypothesis = "stronge") -> Scenario:
    """A box strikes a rough floor with a corner, in space: its slip turns, stops, or starts again in the event.

    (psi, theta, phi) turn the box about its axes z, y, x in this order; with theta < 0 < phi the corner A, at
    −(a, b, c)/2 of the middle, is the lowest. v is the speed of the fall, v_x and v_y those along the floor, w_z a spin
    about the vertical. Tangents of the floor: x, y.
    """
    x, y, z, psi, theta, phi = q = dynamicsymbols("x y z psi theta phi")
    m, a, b, c = sp.symbols("m a b c")
    N, B = ReferenceFrame("N"), ReferenceFrame("B")
    B.orient_body_fixed(N, (psi, theta, phi), "ZYX")
    O = Point("O")
    O.set_vel(N, 0)
    C = O.locatenew("C", x * N.x + y * N.y + z * N.z)
    A = C.locatenew("A", -(a * B.x + b * B.y + c * B.z) / 2)
    squares = (b**2 + c**2, a**2 + c**2, a**2 + b**2)

    mechanism = Mechanism.from_sympy(
        bodies=[RigidBody("box", C, B, m, (inertia(B, *(m * square / 12 for square in squares)), C))],
        frame=N,
        q=q,
        parameters={m: 1.0, a: 0.3, b: 0.2, c: 0.1},
        points={"A": A, "C": C},
        units=dict.fromkeys((x, y, z, a, b, c), "m") | dict.fromkeys((psi, theta, phi), "rad") | {m: "kg"},
    )
    v_A = A.vel(N)
    floor = mechanism.contact("floor", normal=v_A.dot(N.z), tangent=[v_A.dot(N.x), v_A.dot(N.y)], units="m/s")

    turn = sp.symbols("psi theta phi")
    speeds = v, v_x, v_y, w_z = sp.symbols("v v_x v_y w_z")
    return mechanism.event(contacts={floor: Coulomb("friction", "kappa", hypothesis)}).at(
        q=dict(zip((psi, theta, phi), turn, strict=True)),
        v={x: v_x, y: v_y, z: -v, psi: w_z},
        defaults=dict(zip(turn, map(radians, (0, -20, 30)), strict=True))
        | dict(zip(speeds, (2.0, 0.8, -0.5, 0.0), strict=True))
        | {"friction": 0.3, "kappa": 0.5},
        units=dict.fromkeys(turn, "rad")
        | {v: "m/s", v_x: "m/s", v_y: "m/s", w_z: "rad/s", "friction": "1", "kappa": "1"},
    )
