"""Two balls rolling on a plane and colliding [Wang & Chou 2003, section 3]."""

from __future__ import annotations

from math import radians

import sympy as sp
from sympy.physics.mechanics import ReferenceFrame, RigidBody, dynamicsymbols, inertia

from jourdain.gallery._bodies import ground
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario


@problem
def two_balls() -> Scenario:
    """Two balls of one radius roll on a rough plane and collide, elastic along the line of centres.

    beta is the direction from ball 1 to ball 2. They touch smoothly and never stop rolling; how a ball is
    turned does not matter, so it has angular velocities but no angles.
    """
    m_1, m_2, I_1, I_2, r, beta = sp.symbols("m_1 m_2 I_1 I_2 r beta")
    N, O = ground()
    bodies, roll = [], []
    q: list[sp.Expr] = []
    v: list[sp.Expr] = []
    kinematics: dict[sp.Expr, sp.Expr] = {}
    prior: dict[sp.Expr, sp.Expr] = {}
    for i, m, I in ((1, m_1, I_1), (2, m_2, I_2)):
        x, y, v_x, v_y, w_x, w_y, w_z = dynamicsymbols(f"x_{i} y_{i} v_{i}x v_{i}y w_{i}x w_{i}y w_{i}z")
        B = ReferenceFrame(f"B{i}")
        B.set_ang_vel(N, w_x * N.x + w_y * N.y + w_z * N.z)
        C = O.locatenew(f"C_{i}", x * N.x + y * N.y + r * N.z)
        bodies.append(RigidBody(f"ball_{i}", C, B, m, (inertia(N, I, I, I), C)))
        q += [x, y]
        v += [v_x, v_y, w_x, w_y, w_z]
        kinematics |= {x.diff(): v_x, y.diff(): v_y}
        roll.append({"x": v_x - r * w_y, "y": v_y + r * w_x})
        s_x, s_y = sp.symbols(f"v_{i}x v_{i}y")
        prior |= {v_x: s_x, v_y: s_y, w_x: -s_y / r, w_y: s_x / r}

    masses = {m_1: "kg", m_2: "kg", I_1: "kg m^2", I_2: "kg m^2", r: "m"}
    units = masses | dict.fromkeys(q, "m") | {s: "rad/s" if "w" in str(s) else "m/s" for s in v}
    mechanism = Mechanism.from_sympy(
        bodies=bodies,
        frame=N,
        q=q,
        v=v,
        kinematics=kinematics,
        parameters={m_1: 0.2, m_2: 0.15, I_1: 8e-5, I_2: 6e-5, r: 0.03},
        points={"C_1": bodies[0].masscenter, "C_2": bodies[1].masscenter},
        units=units,
    )
    rolling = [mechanism.constraint(f"rolling_{i}", rows, units="m/s") for i, rows in enumerate(roll, start=1)]
    x_1, y_1, x_2, y_2 = q
    distance = sp.sqrt((x_2 - x_1) ** 2 + (y_2 - y_1) ** 2)
    touch = mechanism.constraint("touch", distance - 2 * r, level="position", units="m")

    event = mechanism.event(regular=rolling, elastic={touch: "kappa"})
    return event.at(
        q={x_2: 2 * r * sp.cos(beta), y_2: 2 * r * sp.sin(beta)},
        v=prior,
        defaults={beta: radians(30), "v_1x": 2.0, "v_1y": 0.0, "v_2x": 0.0, "v_2y": 0.0, "kappa": 0.9},
        units={beta: "rad", "kappa": "1"},
        sketch=Sketch(arcs={"C_1": (r, "C_1"), "C_2": (r, "C_2")}, velocities=["C_1", "C_2"], view="xy"),
    )
