"""Names of what MuJoCo compiled: those of the file, and others for what has none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import mujoco


def body_name(model: mujoco.MjModel, i: int) -> str:
    return model.body(i).name or f"body {i}"


def joint_name(model: mujoco.MjModel, j: int) -> str:
    """Its own; without one, "base" for the one free joint, else that of its body."""
    import mujoco

    if model.joint(j).name:
        return str(model.joint(j).name)
    free = np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_FREE)
    if len(free) == 1 and free[0] == j:
        return "base"
    body = int(model.jnt_bodyid[j])
    own = j - int(model.body_jntadr[body])
    return body_name(model, body) if model.body_jntnum[body] == 1 else f"{body_name(model, body)}.{own}"


def geom_name(model: mujoco.MjModel, i: int) -> str:
    """Its own; without one, "BODY geom 0" for the first of a body."""
    body = int(model.geom_bodyid[i])
    return model.geom(i).name or f"{body_name(model, body)} geom {i - int(model.body_geomadr[body])}"


def names(model: mujoco.MjModel, kind: str, which: Iterable[int]) -> tuple[str, ...]:
    """Of elements of other kinds, as "sensor"; "sensor 0" for the first if it has no name."""
    import mujoco

    which_kind = getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
    return tuple(mujoco.mj_id2name(model, which_kind, int(i)) or f"{kind} {i}" for i in which)
