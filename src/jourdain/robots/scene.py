"""Several robots and free bodies as one mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jourdain.errors import BadRobot
from jourdain.robots.build import build
from jourdain.robots.description import Body, Description, Equality, Frame
from jourdain.robots.robot import Robot


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
    kinds = dict.fromkeys(kind for part in parts for kind in part.ignored)
    return build(
        Description(
            " and ".join(robots),
            tuple(bodies),
            tuple(frames),
            tuple(equalities),
            gravities[0],
            parameters,
            sources=tuple(source for part in parts for source in part.sources),
            shapes=tuple(shape for part in parts for shape in part.shapes),
            ignored={kind: tuple(name for part in parts for name in part.ignored.get(kind, ())) for kind in kinds},
        )
    )
