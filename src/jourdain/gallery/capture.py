"""A free-floating arm grasps a tumbling satellite [conservation of momentum; Dubowsky & Papadopoulos 1993]."""

from __future__ import annotations

from math import radians
from typing import Literal

import sympy as sp

from jourdain.errors import check_choice
from jourdain.gallery._origin import problem
from jourdain.gallery.touchdown import ROBOTS, SPEEDS
from jourdain.robots.load import load
from jourdain.robots.scene import scene
from jourdain.scenarios.scenario import Scenario

POSTURE = {
    "yaw": 10.0,
    "shoulder": -35.0,
    "elbow": 70.0,
    "wrist_pitch": -20.0,
    "wrist_yaw": 5.0,
    "wrist_roll": 0.0,
}  # °
# Of the target; where it is follows from the grasp.
NEAR = {"x": 2.3, "y": 0.3, "z": 0.2, "qw": 1.0, "qx": 0.0, "qy": 0.0, "qz": 0.0}


@problem
def capture(arm: Literal["free", "locked"] = "free") -> Scenario:
    """An arm on a satellite that nothing holds closes its gripper on the handle of another one that tumbles.

    From then on gripper and handle are one; the joints of the arm give way (free), or their brakes hold (locked).
    `v_x … omega_z`: the target's velocity in the world and angular velocity in its own axes, before; the other
    satellite and its arm are at rest.
    """
    check_choice("arm", arm, ("free", "locked"))
    parts = scene({"servicer": load(ROBOTS / "servicer.xml"), "target": load(ROBOTS / "target.xml")})
    grasp = parts.weld("servicer/gripper", "target/handle", level="position", name="grasp")
    speeds = dict(zip(("x", "y", "z", "wx", "wy", "wz"), sp.symbols(tuple(SPEEDS)), strict=True))
    defaults = {joint: radians(angle) for joint, angle in POSTURE.items()}
    defaults |= {"v_x": -0.02, "v_y": 0.01, "v_z": 0.0, "omega_x": 0.02, "omega_y": 0.05, "omega_z": 0.08}
    brakes = [parts.lock(f"servicer/{joint}") for joint in POSTURE] if arm == "locked" else []
    return parts.event(regular=brakes, inert=[grasp]).at(
        q={f"servicer/{joint}": sp.Symbol(joint) for joint in POSTURE},
        v={f"target/base.{part}": speed for part, speed in speeds.items()},
        guess={f"target/base.{part}": value for part, value in NEAR.items()},
        defaults=defaults,
        units=dict.fromkeys(POSTURE, "rad") | SPEEDS,
    )
