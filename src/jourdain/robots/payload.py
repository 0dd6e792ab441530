"""A free rigid body, to be put into a scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from jourdain.errors import BadRobot
from jourdain.robots.build import build
from jourdain.robots.description import GROUND, Body, Description, Frame, Joint
from jourdain.robots.robot import Robot


def payload(
    mass: float,
    inertia: ArrayLike,
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
