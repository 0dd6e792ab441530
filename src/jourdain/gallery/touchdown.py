"""A robot lands on its feet [no slip, plastic: the usual model of foot strike, as in Grizzle et al. 2014]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import radians
from pathlib import Path
from typing import Any

import sympy as sp

from jourdain.errors import BadRobot, listing
from jourdain.inputs import FilePath
from jourdain.laws import Law
from jourdain.robots.description import GROUND, Description, Joint
from jourdain.robots.limbs import limb
from jourdain.robots.load import load
from jourdain.robots.robot import Robot
from jourdain.scenarios.builder import RESERVED
from jourdain.scenarios.scenario import Scenario

ROBOTS = Path(__file__).parent / "robots"
QUADRUPED = ("FL", "FR", "HL", "HR")
SPEEDS = {"v_x": "m/s", "v_y": "m/s", "v_z": "m/s", "omega_x": "rad/s", "omega_y": "rad/s", "omega_z": "rad/s"}
BASE = ("roll", "pitch", "yaw", *SPEEDS)  # parameters of the base; SPEEDS have their units
DROP = -1.0  # m/s
BEND = radians(40)
LAW = {"friction": 0.6, "kappa": 0.0}  # of laws whose numbers have these names, as those of the command line do


def touchdown(
    robot: FilePath | Robot = "quadruped", feet: str | Sequence[str] = "", law: Law | None = None
) -> Scenario:
    """A robot lands: its feet, `feet=A,B`, meet the level ground and stay there, or do what `law` says.

    `robot`: a URDF or MJCF file, whose root floats; or one that is loaded. All joints are parameters, and their rates
    as `…_rate`; `knee` bends all limbs so that each foot stays under its hip, `roll`, `pitch` and `yaw` turn the base
    (about x, then y, then z of the world), `v_x … omega_z` move it.
    """
    loaded, names = read(robot, feet)
    contacts = [loaded.contact(name) for name in names]
    event = loaded.event(contacts=dict.fromkeys(contacts, law)) if law is not None else loaded.event(inert=contacts)
    base = base_of(loaded)
    pose = _Pose.of(loaded, names)
    roll, pitch, yaw, *speeds = sp.symbols(BASE)
    q = dict(zip(base.coordinate_names(), (*base.neutral[:3], *_quaternion(roll, pitch, yaw)), strict=True))
    v = dict(zip(base.velocity_names(), speeds, strict=True))
    units = dict.fromkeys(("roll", "pitch", "yaw", "knee"), "rad") | SPEEDS
    defaults = dict.fromkeys(units, 0.0) | {"v_z": DROP, "knee": BEND}
    if not pose.bends:
        del defaults["knee"]
    defaults |= {name: value for name, value in LAW.items() if name in event.parameters}
    for name, joint in pose.joints.items():
        angle, unit = pose.parameter(name), "rad" if joint.kind == "hinge" else "m"
        defaults |= {angle: joint.neutral[0], f"{angle}_rate": 0.0}
        units |= {angle: unit, f"{angle}_rate": f"{unit}/s"}
    return event.at(q | pose.q(), v | pose.v(), defaults=defaults, units=units)


def read(robot: FilePath | Robot, feet: str | Sequence[str]) -> tuple[Robot, list[str]]:
    """The robot, which floats, and the frames it stands on."""
    own = robot == "quadruped" and not Path(str(robot)).exists()
    loaded = robot if isinstance(robot, Robot) else load(ROBOTS / "quadruped.xml" if own else robot, floating=True)
    names = [name.strip() for name in feet.split(",") if name.strip()] if isinstance(feet, str) else list(feet)
    if own and not names:
        names = list(QUADRUPED)
    if not names:
        ends = listing(_ends(loaded.description))
        raise BadRobot(f"Say which frames of the robot touch the ground: feet=A,B. The ends of its limbs are: {ends}.")
    for name in names:
        loaded.place(name)
    base_of(loaded)
    return loaded, names


def base_of(robot: Robot) -> Joint:
    """The free joint under the robot."""
    free = [joint for joint in robot.description.joints() if joint.kind == "free"]
    if len(free) != 1:
        raise BadRobot(
            f"A touchdown needs a robot with one free base, but it has {len(free)}: {listing(j.name for j in free)}."
        )
    return free[0]


def _ends(description: Description) -> list[str]:
    """Bodies that carry no other."""
    carrying = {body.parent for body in description.bodies}
    return [body.name for i, body in enumerate(description.bodies) if i not in carrying and body.parent != GROUND]


@dataclass(frozen=True)
class _Pose:
    """The joints that are set one by one, and how the bend of the limbs comes to them."""

    joints: dict[str, Joint]
    bends: dict[str, float]

    @classmethod
    def of(cls, robot: Robot, feet: Sequence[str]) -> _Pose:
        """Without joints that follow others."""
        following = {equality.joints[0] for equality in robot.description.equalities if equality.active}
        joints = {joint.name: joint for joint in robot.description.joints()
                  if joint.kind in ("hinge", "slide") and joint.name not in following}  # fmt: skip
        bends = {name: share for foot in feet for name, share in limb(robot, foot).bends.items()}
        return cls(joints, {name: share for name, share in bends.items() if name in joints})

    def parameter(self, joint: str) -> str:
        """The name of a joint, but for those that mean something else here."""
        taken = {*RESERVED, *BASE, "knee"}
        return f"{joint}_joint" if taken & {joint, f"{joint}_rate"} else joint

    def q(self) -> dict[str, Any]:
        knee = sp.Symbol("knee")
        return {name: sp.Symbol(self.parameter(name)) + self.bends.get(name, 0) * knee for name in self.joints}

    def v(self) -> dict[str, Any]:
        return {name: sp.Symbol(f"{self.parameter(name)}_rate") for name in self.joints}


def _quaternion(roll: Any, pitch: Any, yaw: Any) -> tuple[Any, ...]:
    """(w, x, y, z) of turns about x, then y, then z of the world."""
    turns = {(0, 0, 1): yaw, (0, 1, 0): pitch, (1, 0, 0): roll}
    z, y, x = (sp.Quaternion.from_axis_angle(axis, angle) for axis, angle in turns.items())
    turn = z * y * x
    return turn.a, turn.b, turn.c, turn.d
