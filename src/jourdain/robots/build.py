"""From the description of a robot to a `Robot`: symbols, tree of joints, rows that the file joins, units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import casadi as ca
from casadi import SX

from jourdain.errors import BadRobot, listing
from jourdain.mechanism.symbols import Follower, PointMotion, Symbols
from jourdain.naming import Lazy
from jourdain.robots.description import Description, Equality, Frame, Joint
from jourdain.robots.design import defaults
from jourdain.robots.joint_tree import JointTree
from jourdain.robots.robot import TWIST, Robot

MOST_NAMED = 5  # massless joints in a message


def build(description: Description) -> Robot:
    """A robot from its description."""
    joints = list(description.joints())
    if not joints:
        raise BadRobot(f"Nothing moves in '{description.name}': it has no joint; floating=True lets its base move.")
    q_names = [name for joint in joints for name in joint.coordinate_names()]
    v_names = [name for joint in joints for name in joint.velocity_names()]
    open_values = defaults(description)
    symbols = Symbols.named(q_names, v_names, list(open_values))
    tree = JointTree(description, symbols.q, symbols.v, symbols.parameters)
    robot = Robot(
        replace(symbols, N=tree.N),
        tree.M,
        open_values,
        Lazy({frame.name: partial(_motion, tree, frame) for frame in description.frames}),
        Lazy({f"{body.name}.angular": partial(tree.angular_velocity, place)
              for body, place in zip(description.bodies, tree.places, strict=True)}),
        {},
        tree,
        _units(joints) | _parameter_units(description),
        neutral_pose=tuple(description.neutral()),
        quaternions={node.joint.name: tuple(range(node.q.stop - 4, node.q.stop))
                     for node in tree.nodes if node.joint.kind in ("free", "ball")},
        followers=_followers(description),
        joined=tuple(equality.name for equality in description.equalities if equality.active),
        M_has_no_branches=True,
        points_share_names=True,
        description=description,
        tree=tree,
    )  # fmt: skip
    _refuse_singular(robot)
    for equality in description.equalities:
        _join(robot, equality)
    return robot


def _motion(tree: JointTree, frame: Frame) -> PointMotion:
    place = tree.place(frame)
    return PointMotion(tree.position(place), tree.velocity(place))


def _followers(description: Description) -> tuple[Follower, ...]:
    """The joints that an equality couples linearly to another."""
    joints, found = {joint.name: joint for joint in description.joints()}, []
    for equality in description.equalities:
        name, leader = equality.joints
        if equality.active and leader in joints and name in joints:
            offset, slope, *curved = equality.polynomial
            if not any(curved):
                found.append(Follower(name, leader, joints[name].reference + offset, slope, joints[leader].reference))
    return tuple(found)


def _join(robot: Robot, equality: Equality) -> None:
    """The rows of an equality constraint, at position level."""
    tree, s = robot.tree, robot.symbols
    rows: tuple[str, ...]
    unit: str | tuple[str, ...]
    if equality.kind == "joint":
        follower, leader = equality.joints
        joints = {joint.name: joint for joint in robot.description.joints()}
        for name in (follower, leader):
            if name is not None and (name not in joints or joints[name].kind not in ("hinge", "slide")):
                raise BadRobot(f"'{equality.name}' couples '{name}', which is no hinge or slide of the robot.")
        away = SX(0) if leader is None else s.q[s.q_names.index(leader)] - joints[leader].reference
        wanted = sum((c * away**i for i, c in enumerate(equality.polynomial) if c), SX(0))
        g = s.q[s.q_names.index(follower)] - joints[follower].reference - wanted
        unit = "rad/s" if joints[follower].kind == "hinge" else "m/s"
        rows, C = (equality.name,), ca.jacobian(g, s.q) @ s.N
    else:
        assert equality.ends is not None
        one, other = (tree.place(end) for end in equality.ends)
        g, C = tree.apart(one, other)
        unit, rows = TWIST, tuple(f"{equality.name}.{axis}" for axis in ("x", "y", "z", "rx", "ry", "rz"))
        if equality.kind == "connect":
            g, C, rows, unit = g[:3], C[:3, :], rows[:3], "m/s"
    robot.declare(("joined", equality.name), equality.name, rows, ca.sparsify(C), unit, g)


def _refuse_singular(robot: Robot) -> None:
    """A joint that moves no mass makes M singular at every pose."""
    massless = robot.tree.massless()
    if massless:
        more = f" and {len(massless) - MOST_NAMED} more" if len(massless) > MOST_NAMED else ""
        shown = listing(massless[:MOST_NAMED]) + more
        which = f"Joint {shown} moves" if len(massless) == 1 else f"Joints {shown} move"
        error = BadRobot(
            f"{which} no mass in '{robot.description.name}', so its mass matrix is singular; give what hangs there a "
            "mass or inertia, or the joint an armature, or fix it: jd.load(…, fixed=error.joints)."
        )
        error.joints = massless
        raise error


def _units(joints: Sequence[Joint]) -> dict[str, str]:
    """Of coordinates, and of velocities that are no rates."""
    found: dict[str, str] = {}
    for joint in joints:
        own = {"hinge": "rad", "slide": "m"}.get(joint.kind)
        for name in joint.coordinate_names():
            found[name] = own or ("1" if name.rpartition(".")[2].startswith("q") else "m")
        for name in joint.velocity_names():
            found.setdefault(name, "rad/s")
    return found


def _parameter_units(description: Description) -> dict[str, str]:
    kinds = {"mass": "kg", "inertia": "kg m^2"}
    return {name: kinds.get(several[0][1].partition(".")[0], "m") for name, several in description.parameters.items()}
