"""MJCF as MuJoCo compiles it: its geoms have given their mass to the bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.errors import BadRobot
from jourdain.inputs import Array
from jourdain.robots.description import N_V, Body, Description, Equality, Frame
from jourdain.robots.file_joints import joint_kinds, joint_of, limited, placed
from jourdain.robots.ignored import ignored_in_mjcf
from jourdain.robots.mjcf_names import body_name, joint_name
from jourdain.robots.mjcf_shapes import shapes_of
from jourdain.robots.rotations import from_quaternion

if TYPE_CHECKING:
    import mujoco


def from_mjcf(file: Path) -> Description:
    """From MuJoCo's compiled model, in which the geoms have given their mass to the bodies."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(file))
    if model.ntendon and np.any(model.tendon_armature):
        raise BadRobot(f"'{file}' has a tendon with armature, whose inertia is not supported; give it to the joints.")
    armature = _armatures(model, file)
    bodies = [_mjcf_body(model, i, armature, file) for i in range(1, model.nbody)]
    frames = [Frame(body.name, i, np.zeros(3), np.eye(3)) for i, body in enumerate(bodies)]
    for i in range(model.nsite):
        frames.append(_mjcf_frame(model.site(i), model.site_bodyid[i]))
    for i in range(model.ngeom):
        frames.append(_mjcf_frame(model.geom(i), model.geom_bodyid[i]))
    equalities = _numbered([_mjcf_equality(model, i, file) for i in range(model.neq)])
    off = model.opt.disableflags
    gravity = np.zeros(3) if off & mujoco.mjtDisableBit.mjDSBL_GRAVITY else np.array(model.opt.gravity)
    if off & mujoco.mjtDisableBit.mjDSBL_EQUALITY:
        equalities = [replace(equality, active=False) for equality in equalities]
    name = model.names[: model.names.index(b"\0")].decode()
    return Description(
        name,
        tuple(bodies),
        _found_by(frames, model),
        tuple(equalities),
        gravity,
        shapes=shapes_of(model),
        ignored=ignored_in_mjcf(model),
    )


def _armatures(model: mujoco.MjModel, file: Path) -> Array:
    """Of the velocities, (n_v,): that of the joints, and of the actuators behind their gears."""
    import mujoco

    found = np.array(model.dof_armature)
    for i in np.flatnonzero(model.actuator_armature):
        joint = int(model.actuator_trnid[i, 0])
        kinds = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
        single = model.actuator_trntype[i] in kinds and joint_kinds()[int(model.jnt_type[joint])] in ("hinge", "slide")
        if not single:
            raise BadRobot(
                f"Actuator '{model.actuator(i).name or i}' of '{file}' has armature but drives no hinge or slide, "
                "which is not supported; give the armature to the joints."
            )
        found[model.jnt_dofadr[joint]] += model.actuator_armature[i] * model.actuator_gear[i, 0] ** 2
    return found


def _numbered(equalities: list[Equality]) -> list[Equality]:
    """With names of their own: the second of a name is numbered 2."""
    counts: dict[str, int] = {}
    found = []
    for equality in equalities:
        counts[equality.name] = counts.get(equality.name, 0) + 1
        n = counts[equality.name]
        found.append(equality if n == 1 else replace(equality, name=f"{equality.name} {n}"))
    return found


def _found_by(frames: Sequence[Frame], model: mujoco.MjModel) -> tuple[Frame, ...]:
    """Frames under names of their own: of a site, a body and a geom with one name, the site has it, then the body."""
    n_bodies = model.nbody - 1
    sites, geoms = frames[n_bodies : n_bodies + model.nsite], frames[n_bodies + model.nsite :]
    found: dict[str, Frame] = {}
    for frame in (*sites, *frames[:n_bodies], *geoms):
        if frame.name:
            found.setdefault(frame.name, frame)
    return tuple(found.values())


def _mjcf_frame(element: Any, body: int) -> Frame:
    return Frame(element.name, int(body) - 1, np.array(element.pos), from_quaternion(element.quat))


def _mjcf_body(model: mujoco.MjModel, i: int, armatures: Array, file: Path) -> Body:
    name = body_name(model, i)
    first = model.body_jntadr[i]
    joints = []
    for j in range(first, first + model.body_jntnum[i]):
        kind, dof, q = joint_kinds()[int(model.jnt_type[j])], model.jnt_dofadr[j], model.jnt_qposadr[j]
        armature = [float(a) for a in armatures[dof : dof + N_V[kind]]]
        reference = float(model.qpos0[q]) if kind in ("hinge", "slide") else 0.0
        joint = joint_of(joint_name(model, j), kind, model.jnt_axis[j], model.jnt_pos[j], armature, file, reference)
        if kind == "free":
            joint = placed(joint, model.qpos0[q : q + 7])
        joints.append(limited(joint, model.jnt_range[j]) if model.jnt_limited[j] else joint)
    turn = from_quaternion(model.body_iquat[i])
    inertia = turn @ np.diag(model.body_inertia[i]) @ turn.T
    rotation, com = from_quaternion(model.body_quat[i]), np.array(model.body_ipos[i])
    parent = int(model.body_parentid[i]) - 1
    return Body(
        name, parent, np.array(model.body_pos[i]), rotation, tuple(joints), float(model.body_mass[i]), com, inertia
    )


def _mjcf_equality(model: mujoco.MjModel, i: int, file: Path) -> Equality:
    import mujoco

    kinds = {mujoco.mjtEq.mjEQ_CONNECT: "connect", mujoco.mjtEq.mjEQ_WELD: "weld", mujoco.mjtEq.mjEQ_JOINT: "joint"}
    given, active, data = model.equality(i).name, bool(model.eq_active0[i]), model.eq_data[i]
    kind = kinds.get(mujoco.mjtEq(model.eq_type[i]))
    if kind is None:
        what = mujoco.mjtEq(model.eq_type[i]).name.removeprefix("mjEQ_").lower()
        named = f" '{given}'" if given else ""
        raise BadRobot(f"The equality{named} of '{file}' is of type {what}; supported are connect, weld and joint.")
    one, other = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
    if kind == "joint":
        joints = (joint_name(model, one), None if other < 0 else joint_name(model, other))
        coefficients = tuple(float(c) for c in data[:5])
        return Equality(given or f"joint {joints[0]}", "joint", None, joints, coefficients, active)
    if model.eq_objtype[i] == mujoco.mjtObj.mjOBJ_SITE:
        sites = [_mjcf_frame(model.site(k), model.site_bodyid[k]) for k in (one, other)]
        ends = (sites[0], sites[1])
    else:
        names = [body_name(model, k) if k else "world" for k in (one, other)]
        at_one, at_other = (data[:3], data[3:6]) if kind == "connect" else (data[3:6], data[:3])
        turn = from_quaternion(data[6:10]) if kind == "weld" else np.eye(3)
        ends = (
            Frame(names[0], one - 1, np.array(at_one), turn),
            Frame(names[1], other - 1, np.array(at_other), np.eye(3)),
        )
    name = given or f"{kind} {ends[0].name} {ends[1].name}"
    if kind == "weld" and data[10] == 0:  # torquescale: no moment, so only the places are held
        kind = "connect"
    return Equality(name, kind, ends, active=active)
