"""A thrown box strikes a rough floor with one corner: slip that turns [Keller 1986; Stronge 2000]."""

from __future__ import annotations

from math import radians

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from jourdain.gallery._bodies import BOX_EDGES, box_corners, free_box
from jourdain.gallery._origin import problem
from jourdain.laws import Coulomb
from jourdain.laws.coulomb import Hypothesis
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario


@problem
def thrown_box(hypothesis: Hypothesis = "stronge") -> Scenario:
    """A box strikes a rough floor with a corner, in space: its slip turns, stops, or starts again in the event.

    (psi, theta, phi) turn the box about its axes z, y, x in this order; with theta < 0 < phi the corner A, at
    −(a, b, c)/2 of the middle, is the lowest. v is the speed of the fall, v_x and v_y those along the floor, w_z a spin
    about the vertical. Tangents of the floor: x, y.
    """
    x, y, z, psi, theta, phi = q = dynamicsymbols("x y z psi theta phi")
    m, a, b, c = sp.symbols("m a b c")
    N, B, C, box = free_box("box", q, m, sizes=(a, b, c))
    A = C.locatenew("A", -(a * B.x + b * B.y + c * B.z) / 2)

    mechanism = Mechanism.from_sympy(
        bodies=[box],
        frame=N,
        q=q,
        parameters={m: 1.0, a: 0.3, b: 0.2, c: 0.1},
        points={"A": A, "C": C, **box_corners(C, B, (a, b, c))},
        units=dict.fromkeys((x, y, z, a, b, c), "m") | dict.fromkeys((psi, theta, phi), "rad") | {m: "kg"},
    )
    v_A = A.vel(N)
    floor = mechanism.contact("floor", normal=v_A.dot(N.z), tangent=[v_A.dot(N.x), v_A.dot(N.y)], units="m/s")

    heading, pitch, roll, v, v_x, v_y, w_z = sp.symbols("psi theta phi v v_x v_y w_z")
    return mechanism.event(contacts={floor: Coulomb("friction", "kappa", hypothesis)}).at(
        q={psi: heading, theta: pitch, phi: roll},
        v={x: v_x, y: v_y, z: -v, psi: w_z},
        defaults={heading: 0.0, pitch: radians(-20), roll: radians(30)}
        | {v: 2.0, v_x: 0.8, v_y: -0.5, w_z: 0.0, "friction": 0.3, "kappa": 0.5},
        units={heading: "rad", pitch: "rad", roll: "rad"}
        | {v: "m/s", v_x: "m/s", v_y: "m/s", w_z: "rad/s", "friction": "1", "kappa": "1"},
        sketch=Sketch(links=BOX_EDGES, velocities=["C", "A"], acts={"floor": "A"}, surfaces=["floor"]),
    )
