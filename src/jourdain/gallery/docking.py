"""Two free bodies are captured rigidly [conservation of momentum; docking in the plane]."""

from __future__ import annotations

from math import radians

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from jourdain.gallery._bodies import coincide, ground, planar_body, turned
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.scenarios.scenario import Scenario


@problem
def docking() -> Scenario:
    """Two free bodies in the plane dock and are one rigid body from then on.

    The port of body 1 is a_1 before its centre of mass, that of body 2 a_2 behind; both head along theta.
    """
    x_1, y_1, theta_1, x_2, y_2, theta_2 = q = dynamicsymbols("x_1 y_1 theta_1 x_2 y_2 theta_2")
    m_1, m_2, I_1, I_2, a_1, a_2, theta = sp.symbols("m_1 m_2 I_1 I_2 a_1 a_2 theta")
    N, O = ground()
    B1, B2 = turned(N, "B1", theta_1), turned(N, "B2", theta_2)
    C_1, C_2 = O.locatenew("C_1", x_1 * N.x + y_1 * N.y), O.locatenew("C_2", x_2 * N.x + y_2 * N.y)
    port_1, port_2 = C_1.locatenew("port_1", a_1 * B1.x), C_2.locatenew("port_2", -a_2 * B2.x)

    mechanism = Mechanism.from_sympy(
        bodies=[planar_body("body_1", C_1, B1, m_1, I_1), planar_body("body_2", C_2, B2, m_2, I_2)],
        frame=N,
        q=q,
        parameters={m_1: 400.0, m_2: 150.0, I_1: 200.0, I_2: 60.0, a_1: 1.0, a_2: 0.6},
        points={"C_1": C_1, "C_2": C_2, "port_1": port_1, "port_2": port_2},
        units={x_1: "m", y_1: "m", theta_1: "rad", x_2: "m", y_2: "m", theta_2: "rad"}
        | {m_1: "kg", m_2: "kg", I_1: "kg m^2", I_2: "kg m^2", a_1: "m", a_2: "m"},
    )
    latch = coincide(mechanism, "latch", port_2.pos_from(port_1), N)
    twist = mechanism.constraint("twist", theta_2 - theta_1, level="position", units="rad")

    v_1x, v_1y, omega_1, v_2x, v_2y, omega_2 = sp.symbols("v_1x v_1y omega_1 v_2x v_2y omega_2")
    d = a_1 + a_2
    return mechanism.event(inert=[latch, twist]).at(
        q={theta_1: theta, theta_2: theta, x_2: d * sp.cos(theta), y_2: d * sp.sin(theta)},
        v={x_1: v_1x, y_1: v_1y, theta_1: omega_1, x_2: v_2x, y_2: v_2y, theta_2: omega_2},
        defaults={theta: radians(20), v_1x: 0.2, v_1y: 0.0, omega_1: 0.0, v_2x: 0.0, v_2y: 0.1, omega_2: 0.3},
        units={theta: "rad", v_1x: "m/s", v_1y: "m/s", omega_1: "rad/s", v_2x: "m/s", v_2y: "m/s", omega_2: "rad/s"},
    )
