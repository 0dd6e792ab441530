"""Joints as robot files have them, of either kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from jourdain.errors import BadRobot
from jourdain.inputs import Array
from jourdain.robots.description import Joint

IDENTITY = (1.0, 0.0, 0.0, 0.0)


def joint_kinds() -> dict[int, str]:
    """MuJoCo's numbers → what we call them."""
    import mujoco

    kinds = mujoco.mjtJoint
    return {int(kinds.mjJNT_FREE): "free", int(kinds.mjJNT_BALL): "ball",
            int(kinds.mjJNT_SLIDE): "slide", int(kinds.mjJNT_HINGE): "hinge"}  # fmt: skip


def joint_of(
    name: str, kind: str, axis: Array, anchor: Array, armature: Sequence[float], file: Path, reference: float = 0.0
) -> Joint:
    """A joint whose axis is a unit vector, neutral at its reference."""
    size = float(np.linalg.norm(axis))
    if kind in ("hinge", "slide") and not size > 0:
        raise BadRobot(f"Joint '{name}' of '{file}' has the axis {tuple(map(float, axis))}; give it a direction.")
    neutral = {"free": (0.0, 0.0, 0.0, *IDENTITY), "ball": IDENTITY}.get(kind, (reference,))
    direction = np.array(axis) / size if size > 0 else np.array(axis)
    anchor = np.zeros(3) if kind == "free" else np.array(anchor)
    return Joint(name, kind, direction, anchor, tuple(armature), reference, neutral)


def placed(joint: Joint, at: Array) -> Joint:
    """With these coordinates in the neutral pose."""
    return replace(joint, neutral=tuple(float(number) for number in at))


def limited(joint: Joint, ends: Array) -> Joint:
    """With its limits, where it has some."""
    low, high = (float(end) for end in ends)
    return replace(joint, limits=(low, high)) if joint.kind in ("hinge", "slide") and low < high else joint
