"""From robot files to robots, and several of them to one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.constraint import Constraint
from jourdain.errors import BadRobot, listing, unknown
from jourdain.models.description import GROUND, Body, Description, Equality, Frame, Joint
from jourdain.models.design import defaults, opened
from jourdain.models.joint_tree import JointTree
from jourdain.models.symbols import PointMotion, Symbols
from jourdain.naming import Lazy
from jourdain.robot import TWIST, Robot

MOST_NAMED = 5  # massless joints in a message


def load(path: Any, floating: bool = False, parameters: Any = (), fixed: str | Sequence[str] = ()) -> Robot:
    """A robot from a URDF or MJCF file. `floating`: its root is free, with the coordinates `base.x … base.qz`.

    URDF is read as it is written; meshes need not be there, and fixed links keep their names as points. MJCF is read as
    MuJoCo compiles it, with the masses of its geoms. Between events gravity acts; springs, dampers and motors of the
    file do not, unless they are given to `jd.Hybrid`. `fixed`: joints that do not move, at their neutral position.

    `parameters`: what is left open for design, with the value of the file as default: "BODY.mass", "BODY.com.x",
    "BODY.inertia.xx" (about the centre of mass, in the body's axes), "BODY.x" (where it is placed in its parent), and
    "BODY.length": all that the body carries moves along, in proportion; its own inertia stays. A dict gives names of
    your own, also one for several: {"shank": ["FL_LOWER_LEG.length", "FR_LOWER_LEG.length"]}.
    """
    from jourdain.models.robot_file import read

    return build(opened(_without(read(path, floating), fixed), parameters))


def payload(
    mass: float,
    inertia: Any,
    frames: Mapping[str, Sequence[float]] = {},
    com: Sequence[float] = (0.0, 0.0, 0.0),
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
) -> Robot:
    """A free rigid body, to be put into a scene: coordinates `base.x … base.qz`, its frame is "body".

    `mass` in kg; `inertia` about the centre of mass in the body's axes, 3 numbers or (3, 3), kg m². `frames`: name →
    where on the body, m, as handles are.

    >>> import jourdain as jd
    >>> box = jd.payload(12.0, (0.3, 0.2, 0.4), {"handle": (0.0, 0.0, 0.25)})
    >>> box.event(inert=[box.contact("handle")]).solve(v={"base.z": -1.0}).impulse["handle"]
    array([12.,  0.,  0.])
    """
    try:
        tensor, centre, g, m = (np.array(given, dtype=float) for given in (inertia, com, gravity, mass))
        at = {name: np.array(place, dtype=float) for name, place in {"body": (0.0, 0.0, 0.0), **frames}.items()}
    except (TypeError, ValueError):
        raise BadRobot(
            "A payload is made of numbers: mass, inertia, com, gravity, and the places of its frames."
        ) from None
    tensor = np.diag(tensor) if tensor.ndim == 1 else tensor
    shapes = [tensor.shape == (3, 3), m.ndim == 0, *(array.shape == (3,) for array in (centre, g, *at.values()))]
    if not all(shapes) or not np.allclose(tensor, tensor.T, equal_nan=True):
        raise BadRobot(
            "A payload has an inertia of 3 numbers or a symmetric (3, 3); com, gravity and frames have 3 each."
        )
    if not all(np.isfinite(array).all() for array in (tensor, m, centre, g, *at.values())):
        raise BadRobot(
            "A number of the payload is not finite: its mass, inertia, com, gravity, or the place of a frame."
        )
    if not m > 0 or not np.linalg.eigvalsh(tensor)[0] > 0:
        raise BadRobot(f"The mass and inertia of a payload are positive, not {m:g} kg and {tensor.tolist()} kg m².")
    base = Joint(
        "base", "free", np.array([0.0, 0.0, 1.0]), armature=(0.0,) * 6, neutral=(0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    )
    body = Body("body", GROUND, np.zeros(3), np.eye(3), (base,), float(m), centre, tensor)
    places = tuple(Frame(name, 0, place, np.eye(3)) for name, place in at.items())
    return build(Description("payload", (body,), places, (), g))


def scene(robots: Mapping[str, Robot]) -> Robot:
    """Several robots and free bodies as one mechanism; the names of each with its own before them, as `robot/knee`."""
    if not isinstance(robots, Mapping) or not all(
        isinstance(name, str) and isinstance(robot, Robot) for name, robot in robots.items()
    ):
        raise BadRobot("A scene is a dict of robots and payloads by name, as {'robot': robot, 'load': payload}.")
    bodies: list[Body] = []
    frames: list[Frame] = []
    equalities: list[Equality] = []
    parameters: dict[str, Any] = {}
    parts = []
    for prefix, robot in robots.items():
        part = robot.description.prefixed(f"{prefix}/", len(bodies))
        parts.append(part)
        bodies += part.bodies
        frames += part.frames
        equalities += part.equalities
        parameters |= dict(part.parameters)
    gravities = [robot.description.gravity for robot in robots.values()]
    if not robots:
        raise BadRobot("A scene needs at least one robot or body; give {'robot': robot, 'load': payload}.")
    if any(not np.array_equal(gravities[0], g) for g in gravities):
        raise BadRobot(f"The parts of a scene have different gravities: {', '.join(str(tuple(g)) for g in gravities)}.")
    sources = tuple(source for part in parts for source in part.sources)
    return build(
        Description(
            " and ".join(robots), tuple(bodies), tuple(frames), tuple(equalities), gravities[0], parameters, sources
        )
    )


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
    robot.named(("joined", equality.name), Constraint, equality.name, rows, ca.sparsify(C), unit, g)


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


def _without(description: Description, fixed: str | Sequence[str]) -> Description:
    """With some joints fixed where they are neutral."""
    if not fixed:
        return description
    fixed = [fixed] if isinstance(fixed, str) else fixed
    joints = {joint.name: joint for joint in description.joints()}
    leaders = {e.joints[0]: e.joints[1] for e in description.equalities if e.kind == "joint" and e.active}
    for name in fixed:
        if name not in joints:
            raise unknown("joint", name, joints)
        if leaders.get(name) is not None and leaders[name] not in fixed:
            raise BadRobot(f"Joint '{name}' follows '{leaders[name]}', so it cannot be fixed alone; fix that one too.")
        if joints[name].neutral[0] != joints[name].reference or joints[name].kind in ("free", "ball"):
            raise BadRobot(f"Joint '{name}' cannot be fixed: only hinges and slides whose neutral position is 0 can.")
    bodies = [replace(body, joints=tuple(j for j in body.joints if j.name not in fixed)) for body in description.bodies]
    kept = []
    for equality in description.equalities:
        follower, leader = equality.joints
        if follower in fixed:
            continue
        if leader in fixed:
            equality = replace(equality, joints=(follower, None), polynomial=equality.polynomial[:1])
        kept.append(equality)
    return replace(description, bodies=tuple(bodies), equalities=tuple(kept))


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
