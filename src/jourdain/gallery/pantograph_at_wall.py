"""A pantograph is driven against a wall and away from it [the mechanism of Font-Llagunes & Kövecses]."""

from __future__ import annotations

from math import pi

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from jourdain.gallery._origin import problem
from jourdain.gallery.pantograph import PARAMETERS, UNITS, four_links, outer_angles
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.motion.guards import Reaction, Switch
from jourdain.motion.hybrid import Hybrid


@problem
def pantograph_at_wall() -> Hybrid:
    """Two motors press the end effector of a pantograph against a smooth wall, pull it off, and hit the wall again.

    The mechanism is that of `pantograph`: q1, q3 are the angles of the links at the motors, the wall is at y = wall.
    Motor 1 has the torque torque · (press + cos(rate t)), motor 2 its opposite: positive ones press. The end effector
    leaves the wall where the reaction falls to 0, in the middle (x = 0) where the torque does; it hits inertly.
    """
    wall, torque, press, rate = sp.symbols("wall torque press rate")
    q1, q3 = dynamicsymbols("q1 q3")
    q2, q4 = outer_angles(q1, q3, 1)
    links = four_links(q1, q2, q3, q4)

    mechanism = Mechanism.from_sympy(
        bodies=links.bodies,
        frame=links.frame,
        q=[q1, q3],
        parameters=PARAMETERS | {wall: 0.2252, torque: 0.05, press: 0.6, rate: 10.0},
        points=links.points,
        units=UNITS | {q1: "rad", q3: "rad", wall: "m", torque: "N m", press: "1", rate: "rad/s"},
    )
    height = links.points["EE"].pos_from(links.origin).dot(links.frame.y)
    gap = mechanism.constraint("gap", wall - height, level="position", units="m")
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
