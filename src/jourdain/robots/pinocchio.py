"""States of a Pinocchio model as states of a robot. Pinocchio itself is not needed: its model says what is where."""

from __future__ import annotations

from typing import Any

import numpy as np

from jourdain.errors import BadRobot, ShapeError, unknown
from jourdain.inputs import Array, number
from jourdain.robots.description import N_Q, N_V, Description, Joint


def converted(description: Description, model: Any, q: Any, v: Any) -> tuple[Array, Array]:
    """(q, v) by the names of the joints, `(*batch, n_q)` and `(*batch, n_v)`.

    Pinocchio writes quaternions x y z w, angles of continuous joints as (cos, sin), and the linear velocity of a free
    base in the axes of the base. Joints that its model does not have are neutral and at rest; those that mimic another
    follow it.
    """
    q, v = number("q", q), number("v", v)
    for what, array, n in (("q", q, model.nq), ("v", v, model.nv)):
        if array.ndim == 0 or array.shape[-1] != n:
            raise ShapeError(
                f"{what} has shape {array.shape}, but its last axis must be {n}, as in the Pinocchio model."
            )
    batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    q, v = np.broadcast_to(q, (*batch, model.nq)), np.broadcast_to(v, (*batch, model.nv))
    theirs = _joints(description, model)
    q_ours, v_ours = [], []
    for joint in description.joints():
        their = theirs.get(joint.name)
        if their is None:
            own_q = np.broadcast_to(np.array(joint.neutral), (*batch, N_Q[joint.kind]))
            own_v = np.zeros((*batch, N_V[joint.kind]))
        else:
            own_q = q[..., their.idx_q : their.idx_q + their.nq]
            own_v = v[..., their.idx_v : their.idx_v + their.nv]
            own_q, own_v = _numbers(joint, own_q, own_v)
        q_ours.append(own_q)
        v_ours.append(own_v)
    found = np.concatenate(q_ours, axis=-1), np.concatenate(v_ours, axis=-1)
    _follow(description, theirs, *found)
    return found


def _joints(description: Description, model: Any) -> dict[str, Any]:
    """Pinocchio's joints by our names; those that have no numbers of their own, as they mimic others, are left out."""
    ours = {joint.name: joint for joint in description.joints()}
    free = [joint.name for joint in description.joints() if joint.kind == "free"]
    found = {}
    for name, joint in zip(list(model.names)[1:], list(model.joints)[1:], strict=True):
        if joint.nv == 0 or "Mimic" in joint.shortname():
            continue
        if name not in ours and joint.nv == 6 and len(free) == 1:  # however the base is called
            name = free[0]
        if name not in ours:
            raise unknown("joint", name, ours)
        if (joint.nq, joint.nv) not in _SIZES[ours[name].kind]:
            raise BadRobot(
                f"Joint '{name}' is a {ours[name].kind} joint here, but {joint.shortname()} with nq = {joint.nq} "
                "in Pinocchio."
            )
        found[name] = joint
    return found


_SIZES = {"free": {(7, 6)}, "ball": {(4, 3)}, "hinge": {(1, 1), (2, 1)}, "slide": {(1, 1)}}  # n_q, n_v in Pinocchio


def _numbers(joint: Joint, q: Array, v: Array) -> tuple[Array, Array]:
    """The coordinates and velocities of one joint as ours."""
    if joint.kind == "free":
        x, y, z, w = (q[..., 3 + i] for i in range(4))
        u = np.stack([x, y, z], axis=-1)
        linear = v[..., :3]
        across = 2 * np.cross(u, linear)  # R a = a + w (2 u × a) + u × (2 u × a)
        turned = linear + w[..., None] * across + np.cross(u, across)
        return (np.concatenate([q[..., :3], np.stack([w, x, y, z], axis=-1)], axis=-1),
                np.concatenate([turned, v[..., 3:]], axis=-1))  # fmt: skip
    if joint.kind == "ball":
        return q[..., [3, 0, 1, 2]], v
    angle = np.arctan2(q[..., 1], q[..., 0])[..., None] if q.shape[-1] == 2 else q
    return angle + joint.reference, v


def _follow(description: Description, theirs: dict[str, Any], q: Array, v: Array) -> None:
    """Joints that follow another and are not in the model are put where they belong."""
    at: dict[str, tuple[int, int]] = {}
    i = j = 0
    for joint in description.joints():
        at[joint.name] = (i, j)
        i, j = i + N_Q[joint.kind], j + N_V[joint.kind]
    joints = {joint.name: joint for joint in description.joints()}
    known = set(theirs)
    for _ in description.equalities:  # a follower may lead another
        for equality in description.equalities:
            follower, leader = equality.joints
            if equality.kind != "joint" or leader is None or follower in known or leader not in known:
                continue
            curve = np.polynomial.Polynomial(equality.polynomial)
            away = q[..., at[leader][0]] - joints[leader].reference
            q[..., at[follower][0]] = joints[follower].reference + curve(away)
            v[..., at[follower][1]] = curve.deriv()(away) * v[..., at[leader][1]]
            known.add(follower)
