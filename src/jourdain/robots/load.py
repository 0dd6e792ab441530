"""A robot from a file."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from jourdain.errors import BadRobot, RobotWarning, unknown
from jourdain.inputs import FilePath
from jourdain.robots.build import build
from jourdain.robots.description import Description
from jourdain.robots.design import OpenedParameters, opened
from jourdain.robots.ignored import acting, without_joints
from jourdain.robots.robot import Robot


def load(
    path: FilePath,
    floating: bool = False,
    parameters: OpenedParameters = (),
    fixed: str | Sequence[str] = (),
    isolated: bool = False,
) -> Robot:
    """A robot from a URDF or MJCF file. `floating`: its root is free, with the coordinates `base.x … base.qz`.

    URDF is read as it is written; meshes need not be there, and fixed links keep their names as points. MJCF is read as
    MuJoCo compiles it, with the masses of its geoms. `fixed`: joints that do not move, at their neutral position.

    Between events gravity acts, and the forces that `jd.Hybrid` is given. `robot.ignored` lists what else the file
    has. A `RobotWarning` names, in one sentence, what would act by itself and change a motion: springs, damping,
    friction loss, gravity compensation, fluid, plugins and flexes. They do not change an event. There is no warning of
    what acts only if you say so: contacts and limits are named in an event, actuators need a signal, keyframes and
    sensors do nothing; the springs, damping and friction of a tendon are warned of, the tendon itself is not. MuJoCo's
    own warnings are given as one `RobotWarning` too. A number that is NaN or infinite raises BadRobot, also in a file
    that is included.

    `parameters`: what is left open for design, with the value of the file as default: "BODY.mass", "BODY.com.x",
    "BODY.inertia.xx" (about the centre of mass, in the body's axes), "BODY.x" (where it is placed in its parent), and
    "BODY.length": all that the body carries moves along, in proportion; its own inertia stays. A dict gives names of
    your own, also one for several: {"shank": ["FL_LOWER_LEG.length", "FR_LOWER_LEG.length"]}.

    `isolated`: read a file of unknown origin in a child process with limits of time and memory. MuJoCo's parser may
    crash or never end; what it is known not to survive raises BadRobot in any case, with `isolated` all of it.
    """
    description = _read(path, floating, fixed, isolated)
    kinds = acting(description.ignored)
    if kinds:
        named = " and ".join([", ".join(kinds[:-1]), kinds[-1]] if kinds[1:] else kinds)
        warnings.warn(
            f"jd.load leaves out {named} of '{path}', which would act between events; robot.ignored has the names, and "
            "jd.Hybrid takes forces.",
            RobotWarning,
            stacklevel=2,
        )
    return build(opened(description, parameters))


def load_for_event(path: FilePath, isolated: bool = False) -> Robot:
    """A robot whose root floats, for events alone: nothing is said of what acts between them."""
    return build(_read(path, True, (), isolated))


def _read(path: FilePath, floating: bool, fixed: str | Sequence[str], isolated: bool) -> Description:
    from jourdain.robots.isolated import read_isolated
    from jourdain.robots.robot_file import read

    return _without(read_isolated(Path(path), floating) if isolated else read(path, floating), fixed)


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
    ignored = without_joints(description.ignored, fixed)
    return replace(description, bodies=tuple(bodies), equalities=tuple(kept), ignored=ignored)
