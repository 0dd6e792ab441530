"""A pantograph is driven against a wall and away from it [the mechanism of Font-Llagunes & Kövecses]."""

from __future__ import annotations

from math import pi
from typing import Any

import sympy as sp
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

from jourdain.gallery.pantograph import _outer_angles
from jourdain.mechanism import Mechanism
from jourdain.motion.hybrid import Hybrid, Reaction, Switch
from jourdain.sketch import Sketch


def pantograph_at_wall() -> Hybrid:
    """Two motors press the end effector of a pantograph against a smooth wall, pull it off, and hit the wall again.

    The mechanism is that of `pantograph`: q1, q3 are the angles of the links at the motors, the wall is at y = wall.
    Motor 1 has the torque torque · (press + cos(rate t)), motor 2 its opposite: positive ones press. The end effector
    leaves the wall where the reaction falls to 0, in the middle (x = 0) where the torque does; it hits inertly.
    """
    l1, l2, a1, a2, l5, m1, m2, mEE, I1, I2 = sp.symbols("l1 l2 a1 a2 l5 m1 m2 mEE I1 I2")
    wall, torque, press, rate = sp.symbols("wall torque press rate")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    q1, q3 = dynamicsymbols("q1 q3")
    q2, q4 = _outer_angles(q1, q3, l1, l2, l5, 1)

    def link(i: int, start: Point, angle: Any, length: Any, centre: Any, m: Any, I: Any) -> tuple[RigidBody, Point]:
        """Link i from its joint at `start`, and its end."""
        L = ReferenceFrame(f"L{i}")
        L.orient_axis(N, angle, N.z)
        C = start.locatenew(f"C{i}", centre * L.x)
        return RigidBody(f"link_{i}", C, L, m, (inertia(L, 0, 0, I), C)), start.locatenew(f"E{i}", length * L.x)

    motor_1, motor_2 = O.locatenew("motor_1", l5 / 2 * N.x), O.locatenew("motor_2", -l5 / 2 * N.x)
    link_1, elbow_1 = link(1, motor_1, q1, l1, a1, m1, I1)
    link_2, EE = link(2, elbow_1, q2, l2, a2, m2, I2)
    link_3, elbow_2 = link(3, motor_2, q3, l1, a1, m1, I1)
    link_4, _ = link(4, elbow_2, q4, l2, a2, m2, I2)

    mechanism = Mechanism.from_sympy(
        bodies=[link_1, link_2, link_3, link_4, Particle("tip", EE, mEE)],
        frame=N,
        q=[q1, q3],
        parameters={l1: 0.1449, l2: 0.1984, a1: 0.0519, a2: 0.1081, l5: 0.0445}
        | {m1: 0.1202, m2: 0.1084, mEE: 0.3144, I1: 0.0004, I2: 0.0007}
        | {wall: 0.2252, torque: 0.05, press: 0.6, rate: 10.0},
        points={"EE": EE, "motor_1": motor_1, "elbow_1": elbow_1, "motor_2": motor_2, "elbow_2": elbow_2},
        units={q1: "rad", q3: "rad"}
        | dict.fromkeys((l1, l2, a1, a2, l5, wall), "m")
        | dict.fromkeys((m1, m2, mEE), "kg")
        | {I1: "kg m^2", I2: "kg m^2", torque: "N m", press: "1", rate: "rad/s"},
    )
    gap = mechanism.constraint("gap", wall - EE.pos_from(O).dot(N.y), level="position", units="m")
    drive = torque * (press + sp.cos(rate * dynamicsymbols._t))
    return Hybrid(
        mechanism,
        topologies={"wall": [gap], "free": []},
        switches=[
            Switch("wall", "free", guard=Reaction(gap), event=mechanism.event(released=[gap])),
            Switch("free", "wall", guard=gap, after_rising=True, event=mechanism.event(inert=[gap])),
        ],
        forces={q1: drive, q3: -drive},
        start=({"q1": 0.6, "q3": pi - 0.6}, {}),
        until=3.0,
        sketch=Sketch(
            links=[("motor_1", "elbow_1", "EE", "elbow_2", "motor_2")],
            pivots=["motor_1", "motor_2"],
            masses=["EE"],
            floors={wall: 1},
        ),
    )
