"""URDF as it is written, from MuJoCo's uncompiled MjSpec."""

from __future__ import annotations

import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from jourdain.errors import BadRobot, RobotWarning, listing
from jourdain.robots.description import GROUND, N_V, Body, Description, Equality, Frame, Mesh, Shape
from jourdain.robots.file_joints import joint_kinds, joint_of, limited
from jourdain.robots.ignored import ignored_in_urdf, link_geom_name
from jourdain.robots.limits import root_of
from jourdain.robots.rotations import from_quaternion
from jourdain.robots.shapes import primitive

WORLD = "world"


def from_urdf(file: Path, floating: bool) -> Description:
    """From MuJoCo's uncompiled MjSpec: inertias as written, no meshes needed, fixed links kept.

    MuJoCo takes a link that is called "world" for the world itself. If it is the root and floats, it is a body with the
    inertia of the file; it has no frame: the name "world" stays that of what does not move.
    """
    import mujoco

    tree = root_of(file)
    root = _root(tree, file)
    spec = mujoco.MjSpec.from_file(str(file))
    bodies: list[Body] = []
    indices: dict[str, int] = {spec.worldbody.name: GROUND}

    def add(body: Any, parent: int) -> None:
        indices[body.name] = len(bodies)
        bodies.append(_urdf_body(body, parent, file))

    free = any(joint.type == mujoco.mjtJoint.mjJNT_FREE for body in spec.worldbody.bodies for joint in body.joints)
    if floating and root == WORLD and (spec.worldbody.mass > 0 or not free):  # else the file has its base float itself
        add(spec.worldbody, GROUND)
    rest = [(body, spec.worldbody.name) for body in reversed(spec.worldbody.bodies)]
    while rest:  # no recursion: chains may be longer than Python's calls are deep
        body, parent = rest.pop()
        add(body, indices[parent])
        rest += [(child, body.name) for child in reversed(body.bodies)]
    follows = [_urdf_mimic(equality) for equality in spec.equalities]
    _warn_of_mimics(tree, file, {equality.joints[0] for equality in follows})
    frames = [Frame(body.name, i, np.zeros(3), np.eye(3)) for i, body in enumerate(bodies) if body.name != WORLD]
    return Description(
        spec.modelname,
        tuple(bodies),
        tuple(frames),
        tuple(follows),
        np.array(spec.option.gravity),
        shapes=tuple(_urdf_shapes(spec, indices, file)),
        ignored=ignored_in_urdf(spec, tree),
    )


def _urdf_body(body: Any, parent: int, file: Path) -> Body:
    import mujoco

    joints = []
    for joint in body.joints:
        kind = joint_kinds()[int(joint.type)]
        if kind == "free" and parent != GROUND:
            raise BadRobot(
                f"Joint '{joint.name}' of '{file}' is floating but hangs on a link; only the base may float: "
                "make it fixed, or load the parts one by one and join them by jd.scene."
            )
        made = joint_of(joint.name, kind, np.array(joint.axis), np.array(joint.pos), [0.0] * N_V[kind], file)
        joints.append(limited(made, joint.range))
    inertia = np.zeros((3, 3))
    if body.explicitinertial:
        xx, yy, zz, xy, xz, yz = body.fullinertia if np.isfinite(body.fullinertia[0]) else (*body.inertia, 0, 0, 0)
        turn = from_quaternion(body.iquat)
        inertia = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
    assert body.alt.type == mujoco.mjtOrientation.mjORIENTATION_QUAT
    com = np.array(body.ipos) if np.isfinite(body.ipos[0]) else np.zeros(3)
    rotation = from_quaternion(body.quat)
    return Body(body.name, parent, np.array(body.pos), rotation, tuple(joints), float(body.mass), com, inertia)


def _urdf_shapes(spec: Any, indices: Mapping[str, int], file: Path) -> Iterator[Shape]:
    """The collision geometry of links that move, or may."""
    import mujoco

    for geom in spec.geoms:
        body = indices[geom.parent.name]
        if body == GROUND or not (geom.contype or geom.conaffinity):
            continue
        name, rotation = link_geom_name(geom), from_quaternion(geom.quat)
        if geom.type == mujoco.mjtGeom.mjGEOM_MESH:
            mesh = spec.mesh(geom.meshname)
            unread = Mesh(mesh.file, str(file.absolute()), spec.compiler.meshdir)
            yield Shape(name, body, np.array(geom.pos), rotation, np.array(mesh.scale), mesh=unread)
        else:
            made = primitive(geom.type.name.removeprefix("mjGEOM_").lower(), np.array(geom.size))
            if made is not None:
                yield Shape(name, body, np.array(geom.pos), rotation, *made)


def _urdf_mimic(equality: Any) -> Equality:
    follower, leader = equality.name1, equality.name2
    return Equality(f"mimic {follower}", "joint", None, (follower, leader), tuple(float(c) for c in equality.data[:5]))


def _root(tree: ElementTree.Element, file: Path) -> str:
    """The root link. A URDF is one tree; links that hang on nothing would stand still beside it."""
    children = {child.get("link") for child in tree.findall("joint/child")}
    roots = [str(link.get("name")) for link in tree.findall("link") if link.get("name") not in children]
    if len(roots) > 1:
        raise BadRobot(f"'{file}' has several roots, {listing(roots)}; join them by joints, or load them one by one.")
    if WORLD in children:
        raise BadRobot(
            f"Link '{WORLD}' of '{file}' hangs on another link; only the root may have that name: rename it."
        )
    return roots[0] if roots else ""


def _warn_of_mimics(tree: ElementTree.Element, file: Path, following: set[str]) -> None:
    """MuJoCo drops a mimic whose leader it does not find; that a joint is free then must be said."""
    joints = tree.findall("joint")
    mimics = [
        str(joint.get("name")) for joint in joints if joint.find("mimic") is not None and joint.get("type") != "fixed"
    ]
    free = [name for name in mimics if name not in following]
    if free:
        told = f"{listing(free)} of '{file}' mimic what is no joint of the file that moves; they are left free."
        warnings.warn(told, RobotWarning, stacklevel=6)
