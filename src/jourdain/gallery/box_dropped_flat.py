"""A box is dropped flat on the floor: four corners, of which three would do."""

from __future__ import annotations

from itertools import product

import sympy as sp
from sympy.physics.mechanics import Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

from jourdain.laws import Frictionless
from jourdain.laws.frictionless import Rule
from jourdain.mechanism.mechanism import Mechanism
from jourdain.scenarios.scenario import Scenario


def box_dropped_flat(law: Rule = "moreau") -> Scenario:
    """A box falls flat on a smooth floor: four corners push, and velocities do not depend on how they share it.

    a, b, c are its sizes along body x, y, z; v is the speed of the fall, w_x, w_y, w_z the angular velocity in body
    axes. (psi, theta, phi) say how it is turned, about its axes z, y, x in this order; it lands with psi.
    If it turns so quickly that a corner rises, Moreau's law cannot be met by the others; Poisson's can.
    """
    x, y, z, psi, theta, phi = q = dynamicsymbols("x y z psi theta phi")
    w = w_x, w_y, w_z = dynamicsymbols("w_x w_y w_z")
    m, a, b, c, v = sp.symbols("m a b c v")
    N, B = ReferenceFrame("N"), ReferenceFrame("B")
    B.orient_body_fixed(N, (psi, theta, phi), "ZYX")
    rates = B.ang_vel_in(N)
    kinematics = {w_x: rates.dot(B.x), w_y: rates.dot(B.y), w_z: rates.dot(B.z)}
    turning = w_x * B.x + w_y * B.y + w_z * B.z
    B.set_ang_vel(N, turning)
    O = Point("O")
    O.set_vel(N, 0)
    C = O.locatenew("C", x * N.x + y * N.y + z * N.z)
    I = (m * (b**2 + c**2) / 12, m * (a**2 + c**2) / 12, m * (a**2 + b**2) / 12)

    mechanism = Mechanism.from_sympy(
        bodies=[RigidBody("box", C, B, m, (inertia(B, *I), C))],
        frame=N,
        q=q,
        v=[x.diff(), y.diff(), z.diff(), *w],
        kinematics=kinematics,
        parameters={m: 3.0, a: 0.4, b: 0.3, c: 0.2},
        points={"C": C},
        units=dict.fromkeys((x, y, z, a, b, c), "m")
        | dict.fromkeys((psi, theta, phi), "rad")
        | dict.fromkeys(w, "rad/s")
        | {m: "kg"},
    )
    arms = [i * a / 2 * B.x + j * b / 2 * B.y - c / 2 * B.z for i, j in product((-1, 1), repeat=2)]
    corners = [
        mechanism.contact(f"corner_{i}", normal=z.diff() + turning.cross(arm).dot(N.z), units="m/s")
        for i, arm in enumerate(arms, start=1)
    ]
    heading, *spin = sp.symbols("psi w_x w_y w_z")
    return mechanism.event(contacts=dict.fromkeys(corners, Frictionless("kappa", law))).at(
        q={z: c / 2, psi: heading},
        v={z.diff(): -v, **dict(zip(w, spin, strict=True))},
        defaults={heading: 0.3, v: 2.0, "kappa": 0.5} | dict.fromkeys(spin, 0.0),
        units={heading: "rad", v: "m/s", "kappa": "1"} | dict.fromkeys(spin, "rad/s"),
    )
