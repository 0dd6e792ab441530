"""Robot files to descriptions: URDF as it is written, MJCF as MuJoCo compiles it, because its geoms carry the mass."""

from __future__ import annotations

import contextlib
import re
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.errors import BadRobot, listing
from jourdain.models.description import GROUND, N_V, Array, Body, Description, Equality, Frame, Joint, Source
from jourdain.models.rotations import from_quaternion, to_quaternion

if TYPE_CHECKING:
    import mujoco

IDENTITY = (1.0, 0.0, 0.0, 0.0)


def read(path: Any, floating: bool) -> Description:
    """What a URDF or MJCF file says. `floating`: the root body of a URDF, or a fixed one of an MJCF, moves freely."""
    file = Path(path)
    kind = _kind(file)
    with _in_one_sentence(file):
        found = _from_urdf(file) if kind == "robot" else _from_mjcf(file)
    if not found.bodies:
        raise BadRobot(f"'{file}' describes no body.")
    _refuse_unsound(found, file)
    found = replace(found.settled(), sources=(Source(str(file.absolute()), False),))
    if not floating:
        return found
    return _floating(_with_root(found) if kind == "robot" else found, file)


def _kind(file: Path) -> str:
    """The root element, of an XML file that can be read."""
    if file.is_dir() or not file.exists():
        what = "is a folder" if file.is_dir() else "does not exist"
        raise BadRobot(f"'{file}' {what}; give the path of a URDF or MJCF file.")
    try:
        root = ElementTree.parse(file).getroot().tag
    except ElementTree.ParseError as error:
        raise BadRobot(f"'{file}' is not sound XML: {error}.") from None
    except (OSError, UnicodeError) as error:
        raise BadRobot(f"'{file}' cannot be read: {error}.") from None
    if root not in ("robot", "mujoco"):
        raise BadRobot(f"'{file}' begins with <{root}>; a URDF begins with <robot>, an MJCF with <mujoco>.")
    return root


@contextlib.contextmanager
def _in_one_sentence(file: Path) -> Iterator[None]:
    """What MuJoCo cannot read is said in one sentence; its warnings, which it would print and log, are left out."""
    try:
        import mujoco
    except Exception as error:  # a GL that is asked for by MUJOCO_GL and is not there may raise anything
        raise BadRobot(f"MuJoCo, which reads robot files, cannot be imported: {error}.") from None
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda said: None)
    try:
        yield
    except BadRobot:
        raise
    except (ValueError, RuntimeError) as error:
        said = re.sub(r"^(XML )?Error:? *", "", " ".join(str(error).split())).rstrip(".")
        raise BadRobot(f"'{file}' cannot be read as a robot: {said}.") from None
    finally:
        mujoco.set_mju_user_warning(before)


def _refuse_unsound(found: Description, file: Path) -> None:
    """Numbers that are not finite, and masses below 0, would come out much later as something else."""
    for body in found.bodies:
        numbers = [body.position, body.rotation, body.com, body.inertia, np.array(body.mass)]
        if not all(np.isfinite(array).all() for array in numbers):
            raise BadRobot(f"Body '{body.name}' of '{file}' has a number that is not finite in its place or inertia.")
        # Moments of inertia that no body can have are common in files (iCub's hips); M tells whether they do harm.
        if body.mass < 0:
            raise BadRobot(f"Body '{body.name}' of '{file}' has the mass {body.mass:g} kg; masses are not negative.")
    for equality in found.equalities:
        if not np.isfinite(equality.polynomial).all():
            raise BadRobot(f"'{equality.name}' of '{file}' has a coefficient that is not finite.")
        if equality.kind == "joint" and equality.joints[0] == equality.joints[1]:
            raise BadRobot(f"Joint '{equality.joints[0]}' of '{file}' follows itself.")


# URDF


def _from_urdf(file: Path) -> Description:
    """From MuJoCo's uncompiled MjSpec: inertias as written, no meshes needed, fixed links kept."""
    import mujoco

    _refuse_roots(file)
    spec = mujoco.MjSpec.from_file(str(file))
    bodies: list[Body] = []
    indices: dict[str, int] = {spec.worldbody.name: GROUND}

    def walk(parent: Any) -> None:
        for body in parent.bodies:
            indices[body.name] = len(bodies)
            bodies.append(_urdf_body(body, indices[parent.name], file))
            walk(body)

    walk(spec.worldbody)
    follows = [_urdf_mimic(equality) for equality in spec.equalities]
    _warn_of_mimics(file, {equality.joints[0] for equality in follows})
    frames = [Frame(body.name, i, np.zeros(3), np.eye(3)) for i, body in enumerate(bodies)]
    return Description(spec.modelname, tuple(bodies), tuple(frames), tuple(follows), np.array(spec.option.gravity))


def _urdf_body(body: Any, parent: int, file: Path) -> Body:
    import mujoco

    joints = []
    for joint in body.joints:
        kind = _JOINTS()[int(joint.type)]
        if kind == "free" and parent != GROUND:
            raise BadRobot(
                f"Joint '{joint.name}' of '{file}' is floating but hangs on a link; only the base may float: "
                "make it fixed, or load the parts one by one and join them by jd.scene."
            )
        made = _joint(joint.name, kind, np.array(joint.axis), np.array(joint.pos), [0.0] * N_V[kind], file)
        joints.append(_limited(made, joint.range))
    inertia = np.zeros((3, 3))
    if body.explicitinertial:
        xx, yy, zz, xy, xz, yz = body.fullinertia if np.isfinite(body.fullinertia[0]) else (*body.inertia, 0, 0, 0)
        turn = from_quaternion(body.iquat)
        inertia = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
    assert body.alt.type == mujoco.mjtOrientation.mjORIENTATION_QUAT
    com = np.array(body.ipos) if np.isfinite(body.ipos[0]) else np.zeros(3)
    rotation = from_quaternion(body.quat)
    return Body(body.name, parent, np.array(body.pos), rotation, tuple(joints), float(body.mass), com, inertia)


def _urdf_mimic(equality: Any) -> Equality:
    follower, leader = equality.name1, equality.name2
    return Equality(f"mimic {follower}", "joint", None, (follower, leader), tuple(float(c) for c in equality.data[:5]))


def _refuse_roots(file: Path) -> None:
    """A URDF is one tree; links that hang on nothing would stand still beside it."""
    root = ElementTree.parse(file).getroot()
    children = {child.get("link") for child in root.findall("joint/child")}
    roots = [str(link.get("name")) for link in root.findall("link") if link.get("name") not in children]
    if len(roots) > 1:
        raise BadRobot(f"'{file}' has several roots, {listing(roots)}; join them by joints, or load them one by one.")


def _warn_of_mimics(file: Path, following: set[str]) -> None:
    """MuJoCo drops a mimic whose leader it does not find; that a joint is free then must be said."""
    joints = ElementTree.parse(file).getroot().findall("joint")
    mimics = [
        str(joint.get("name")) for joint in joints if joint.find("mimic") is not None and joint.get("type") != "fixed"
    ]
    free = [name for name in mimics if name not in following]
    if free:
        told = f"{listing(free)} of '{file}' mimic what is no joint of the file that moves; they are left free."
        warnings.warn(told, stacklevel=6)


# MJCF


def _from_mjcf(file: Path) -> Description:
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
    return Description(name, tuple(bodies), _found_by(frames, model), tuple(equalities), gravity)


def _armatures(model: mujoco.MjModel, file: Path) -> Array:
    """Of the velocities, (n_v,): that of the joints, and of the actuators behind their gears."""
    import mujoco

    found = np.array(model.dof_armature)
    for i in np.flatnonzero(model.actuator_armature):
        joint = int(model.actuator_trnid[i, 0])
        kinds = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
        single = model.actuator_trntype[i] in kinds and _JOINTS()[int(model.jnt_type[joint])] in ("hinge", "slide")
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
    name = _body_name(model, i)
    first = model.body_jntadr[i]
    joints = []
    for j in range(first, first + model.body_jntnum[i]):
        kind, dof, q = _JOINTS()[int(model.jnt_type[j])], model.jnt_dofadr[j], model.jnt_qposadr[j]
        armature = [float(a) for a in armatures[dof : dof + N_V[kind]]]
        reference = float(model.qpos0[q]) if kind in ("hinge", "slide") else 0.0
        joint = _joint(_joint_name(model, j), kind, model.jnt_axis[j], model.jnt_pos[j], armature, file, reference)
        if kind == "free":
            joint = _placed(joint, model.qpos0[q : q + 7])
        joints.append(_limited(joint, model.jnt_range[j]) if model.jnt_limited[j] else joint)
    turn = from_quaternion(model.body_iquat[i])
    inertia = turn @ np.diag(model.body_inertia[i]) @ turn.T
    rotation, com = from_quaternion(model.body_quat[i]), np.array(model.body_ipos[i])
    parent = int(model.body_parentid[i]) - 1
    return Body(
        name, parent, np.array(model.body_pos[i]), rotation, tuple(joints), float(model.body_mass[i]), com, inertia
    )


def _placed(joint: Joint, at: Array) -> Joint:
    return replace(joint, neutral=tuple(float(number) for number in at))


def _body_name(model: mujoco.MjModel, i: int) -> str:
    return model.body(i).name or f"body {i}"


def _joint_name(model: mujoco.MjModel, j: int) -> str:
    """Its own; without one, "base" for the one free joint, else that of its body."""
    import mujoco

    if model.joint(j).name:
        return str(model.joint(j).name)
    free = np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_FREE)
    if len(free) == 1 and free[0] == j:
        return "base"
    body = int(model.jnt_bodyid[j])
    own = j - int(model.body_jntadr[body])
    return _body_name(model, body) if model.body_jntnum[body] == 1 else f"{_body_name(model, body)}.{own}"


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
        joints = (_joint_name(model, one), None if other < 0 else _joint_name(model, other))
        coefficients = tuple(float(c) for c in data[:5])
        return Equality(given or f"joint {joints[0]}", "joint", None, joints, coefficients, active)
    if model.eq_objtype[i] == mujoco.mjtObj.mjOBJ_SITE:
        sites = [_mjcf_frame(model.site(k), model.site_bodyid[k]) for k in (one, other)]
        ends = (sites[0], sites[1])
    else:
        names = [_body_name(model, k) if k else "world" for k in (one, other)]
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


# Both


def _JOINTS() -> dict[int, str]:
    import mujoco

    kinds = mujoco.mjtJoint
    return {int(kinds.mjJNT_FREE): "free", int(kinds.mjJNT_BALL): "ball",
            int(kinds.mjJNT_SLIDE): "slide", int(kinds.mjJNT_HINGE): "hinge"}  # fmt: skip


def _joint(
    name: str, kind: str, axis: Array, anchor: Array, armature: Sequence[float], file: Path, reference: float = 0.0
) -> Joint:
    size = float(np.linalg.norm(axis))
    if kind in ("hinge", "slide") and not size > 0:
        raise BadRobot(f"Joint '{name}' of '{file}' has the axis {tuple(map(float, axis))}; give it a direction.")
    neutral = {"free": (0.0, 0.0, 0.0, *IDENTITY), "ball": IDENTITY}.get(kind, (reference,))
    direction = np.array(axis) / size if size > 0 else np.array(axis)
    anchor = np.zeros(3) if kind == "free" else np.array(anchor)
    return Joint(name, kind, direction, anchor, tuple(armature), reference, neutral)


def _with_root(found: Description) -> Description:
    """A root link that is called "world", which MuJoCo takes for the world itself, as a body that can float.

    It has no frame: the name "world" stays that of what does not move.
    """
    roots = [body for body in found.bodies if body.parent == GROUND]
    if (
        len(roots) == 1
        and not roots[0].joints
        and not np.any(roots[0].position)
        and np.all(roots[0].rotation == np.eye(3))
    ):
        return found
    root = Body("world", GROUND, np.zeros(3), np.eye(3), (), 0.0, np.zeros(3), np.zeros((3, 3)))
    moved = found.prefixed("", 1)
    bodies = [replace(body, parent=0) if body.parent == GROUND else body for body in moved.bodies]
    return replace(moved, bodies=(root, *bodies))


def _carries_joints(found: Description, root: int) -> bool:
    """Whether something moves on a body."""
    carried = {root}
    for i, body in enumerate(found.bodies):  # parents first
        if body.parent in carried:
            carried.add(i)
    return any(found.bodies[i].joints for i in carried)


def _limited(joint: Joint, ends: Array) -> Joint:
    """With its limits, where it has some."""
    low, high = (float(end) for end in ends)
    return replace(joint, limits=(low, high)) if joint.kind in ("hinge", "slide") and low < high else joint


def _floating(found: Description, file: Path) -> Description:
    """With a free joint "base" under its root; a file whose robot is free already is as it is."""
    roots = [i for i, body in enumerate(found.bodies) if body.parent == GROUND]
    if any(joint.kind == "free" for joint in found.joints()):
        roots = [i for i in roots if not found.bodies[i].joints and _carries_joints(found, i)]
        if not roots:
            return found
    if len(roots) != 1 or found.bodies[roots[0]].joints:
        raise BadRobot(
            f"'{file}' cannot float: that needs one root body that is fixed to the world, but there are: "
            f"{listing(found.bodies[i].name for i in roots)}."
        )
    root = found.bodies[roots[0]]
    base = _joint("base", "free", np.array([0.0, 0.0, 1.0]), np.zeros(3), [0.0] * 6, file)
    base = _placed(base, np.array([*root.position, *to_quaternion(root.rotation)]))
    bodies = [replace(body, joints=(base,)) if body is root else body for body in found.bodies]
    sources = tuple(replace(source, floating=True) for source in found.sources)
    return replace(found, bodies=tuple(bodies), sources=sources)
