"""A spinning cube is caught by an edge [Routh, Dynamics of a System of Rigid Bodies; Loney]."""

from __future__ import annotations

from math import radians

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from jourdain.gallery._bodies import BOX_EDGES, box_corners, free_box, set_body_rates
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario


@problem
def cube() -> Scenario:
    """A cube spins about a body diagonal; an edge that does not meet the diagonal is suddenly fixed.

    It turns about the edge with omega/4√3. (psi, theta, phi) say how the cube is turned, about its axes z, y, x in
    this order; w_x, w_y, w_z is its angular velocity in body axes; the edge runs along body x, from near to far.
    """
    x, y, z, psi, theta, phi = q = dynamicsymbols("x y z psi theta phi")
    w = dynamicsymbols("w_x w_y w_z")
    m, a, omega = sp.symbols("m a omega")
    N, B, C, body = free_box("cube", q, m, sizes=(a, a, a))
    kinematics = set_body_rates(B, N, w)
    near, far = (C.locatenew(name, a / 2 * (side * B.x + B.y - B.z)) for name, side in (("near", -1), ("far", 1)))

    mechanism = Mechanism.from_sympy(
        bodies=[body],
        frame=N,
        q=q,
        v=[x.diff(), y.diff(), z.diff(), *w],
        kinematics=kinematics,
        parameters={m: 1.0, a: 0.2},
        points={"C": C, "near": near, "far": far, **box_corners(C, B, (a, a, a))},
        units=dict.fromkeys((x, y, z, a), "m")
        | dict.fromkeys((psi, theta, phi), "rad")
        | dict.fromkeys(w, "rad/s")
        | {m: "kg"},
    )
    v_near, v_far = (point.v2pt_theory(C, N, B) for point in (near, far))
    fixed = {"near_x": v_near.dot(B.x), "near_y": v_near.dot(B.y), "near_z": v_near.dot(B.z)}
    edge = mechanism.constraint("edge", fixed | {"far_y": v_far.dot(B.y), "far_z": v_far.dot(B.z)}, units="m/s")

    heading, pitch, roll = sp.symbols("psi theta phi")
    return mechanism.event(inert=[edge]).at(
        q={psi: heading, theta: pitch, phi: roll},
        v=dict.fromkeys(w, omega / sp.sqrt(3)),
        defaults={heading: radians(20), pitch: radians(30), roll: radians(-10), omega: 10.0},
        units={heading: "rad", pitch: "rad", roll: "rad", omega: "rad/s"},
        sketch=Sketch(links=BOX_EDGES, masses=["near", "far"], velocities=["C", "top_2"]),
    )
