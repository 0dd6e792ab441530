"""A spinning cube is caught by an edge [Routh, Dynamics of a System of Rigid Bodies; Loney]."""

from __future__ import annotations

from math import radians

import sympy as sp
from sympy.physics.mechanics import Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

from jourdain.mechanism.mechanism import Mechanism
from jourdain.scenarios.scenario import Scenario


def cube() -> Scenario:
    """A cube spins about a body diagonal; an edge that does not meet the diagonal is suddenly fixed.

    It turns about the edge with omega/4√3. (psi, theta, phi) say how the cube is turned, about its axes z, y, x in
    this order; w_x, w_y, w_z is its angular velocity in body axes; the edge runs along body x, from near to far.
    """
    x, y, z, psi, theta, phi = q = dynamicsymbols("x y z psi theta phi")
    w = w_x, w_y, w_z = dynamicsymbols("w_x w_y w_z")
    m, a, omega = sp.symbols("m a omega")
    N, B = ReferenceFrame("N"), ReferenceFrame("B")
    B.orient_body_fixed(N, (psi, theta, phi), "ZYX")
    rates = B.ang_vel_in(N)
    kinematics = {w_x: rates.dot(B.x), w_y: rates.dot(B.y), w_z: rates.dot(B.z)}
    turning = w_x * B.x + w_y * B.y + w_z * B.z
    B.set_ang_vel(N, turning)
    O = Point("O")
    O.set_vel(N, 0)
    C = O.locatenew("C", x * N.x + y * N.y + z * N.z)
    near, far = (C.locatenew(name, a / 2 * (side * B.x + B.y - B.z)) for name, side in (("near", -1), ("far", 1)))
    I = m * a**2 / 6

    mechanism = Mechanism.from_sympy(
        bodies=[RigidBody("cube", C, B, m, (inertia(B, I, I, I), C))],
        frame=N,
        q=q,
        v=[x.diff(), y.diff(), z.diff(), w_x, w_y, w_z],
        kinematics=kinematics,
        parameters={m: 1.0, a: 0.2},
        points={"C": C, "near": near, "far": far},
        units=dict.fromkeys((x, y, z, a), "m")
        | dict.fromkeys((psi, theta, phi), "rad")
        | dict.fromkeys(w, "rad/s")
        | {m: "kg"},
    )
    v_C = x.diff() * N.x + y.diff() * N.y + z.diff() * N.z
    v_near, v_far = (v_C + turning.cross(point.pos_from(C)) for point in (near, far))
    fixed = {"near_x": v_near.dot(B.x), "near_y": v_near.dot(B.y), "near_z": v_near.dot(B.z)}
    edge = mechanism.constraint("edge", fixed | {"far_y": v_far.dot(B.y), "far_z": v_far.dot(B.z)}, units="m/s")

    turn = sp.symbols("psi theta phi")
    return mechanism.event(inert=[edge]).at(
        q=dict(zip((psi, theta, phi), turn, strict=True)),
        v=dict.fromkeys(w, omega / sp.sqrt(3)),
        defaults=dict(zip(turn, map(radians, (20, 30, -10)), strict=True)) | {omega: 10.0},
        units=dict.fromkeys(turn, "rad") | {omega: "rad/s"},
    )
