"""A robot lands on its feet [no slip, plastic: the usual model of foot strike, as in Grizzle et al. 2014]."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import radians
from pathlib import Path
from typing import Any

import sympy as sp

from jourdain.errors import BadRobot, RobotWarning, listing
from jourdain.gallery._origin import problem
from jourdain.inputs import Array, FilePath
from jourdain.laws import Law
from jourdain.robots.description import Joint
from jourdain.robots.feet import high_feet, unread_meshes
from jourdain.robots.limbs import limb
from jourdain.robots.load import load_for_event
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


@problem
def touchdown(
    robot: FilePath | Robot = "quadruped", feet: str | Sequence[str] = "", law: Law | None = None
) -> Scenario:
    """A robot lands: its feet, `feet=A,B`, meet the level ground and stay there, or do what `law` says.

    `robot`: a URDF or MJCF file, whose root floats; or one that is loaded. All joints are parameters, and their rates
    as `…_rate`; `knee` bends all limbs so that each foot stays under its hip, `roll`, `pitch` and `yaw` turn the base
    (about x, then y, then z of the world), `v_x … omega_z` move it. Feet are frames, or those that the error proposes
    if none are given: where the geometry of a limb touches the ground. A foot that is far above the ground at the
    default pose gets a `RobotWarning`.
    """
    loaded, names = read(robot, feet)
    found = landing(loaded, names, law)
    warn_of_high_feet(loaded, names, found.state({})[0])
    return found


def landing(loaded: Robot, names: Sequence[str], law: Law | None = None) -> Scenario:
    """The touchdown of a robot that is loaded on feet that are there."""
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
    loaded = robot if isinstance(robot, Robot) else load_for_event(ROBOTS / "quadruped.xml" if own else robot)
    names = [name.strip() for name in feet.split(",") if name.strip()] if isinstance(feet, str) else list(feet)
    if own and not names:
        names = list(QUADRUPED)
    if not names:
        raise BadRobot(f"Say which frames of the robot touch the ground: feet=A,B. {_proposal(loaded)}")
    for name in names:
        loaded.place(name)
    base_of(loaded)
    return loaded, names


def _proposal(robot: Robot) -> str:
    """What could be the feet, by the geometry of the limbs."""
    unread = unread_meshes(robot)
    lost = f" The meshes of {listing(unread)} cannot be read; STL and OBJ files can." if unread else ""
    if not robot.feet:
        return f"None are proposed: no geometry of its limbs is known that can touch the ground.{lost}"
    return f"The ends of its limbs are: {listing(robot.feet)}.{lost}"


def base_of(robot: Robot) -> Joint:
    """The free joint under the robot."""
    free = [joint for joint in robot.description.joints() if joint.kind == "free"]
    if len(free) != 1:
        raise BadRobot(
            f"A touchdown needs a robot with one free base, but it has {len(free)}: {listing(j.name for j in free)}."
        )
    return free[0]


def warn_of_high_feet(robot: Robot, feet: Sequence[str], q: Array) -> None:
    """Warn of feet that are far above the ground while others, or other parts of the robot, touch it."""
    high = high_feet(robot, feet, q)
    if high:
        told = ", ".join(f"'{name}' by {height:.2g} m" for name, height in high.items())
        others = f", as {listing(robot.feet)}," if robot.feet else ""
        warnings.warn(
            f"At this pose feet are far above the ground, on which the robot's lowest point is: {told}; choose feet "
            f"that touch it{others} or another pose.",
            RobotWarning,
            stacklevel=4,
        )


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
