"""The limbs of a robot: what lies between its base and a foot, and how that bends."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from jourdain.inputs import Array
from jourdain.robots.description import GROUND
from jourdain.robots.joint_tree import Node
from jourdain.robots.robot import Robot

PARALLEL = 0.95  # cosine between axes that bend a limb in one plane
NO_KNEE = 0.02  # of the length of a limb: a joint that changes the distance of its ends by less is no knee


@dataclass(frozen=True)
class Limb:
    """A foot and the joints that bend its limb."""

    foot: str
    knee: str | None  # the hinge that most changes the distance between foot and hip
    # Joint → how much of the bend it takes, so that the foot stays under the hip and a sole level: the knee all of it,
    # hinges parallel to it next to it, towards hip and foot, half of it back.
    bends: dict[str, float]


def limb(robot: Robot, foot: str) -> Limb:
    """The limb that ends in a frame, looked at in the neutral pose."""
    tree, q = robot.tree, robot.neutral
    place = robot.place(foot)
    chain: list[int] = []
    node = place.node
    while node != GROUND:
        chain.insert(0, node)
        node = tree.nodes[node].parent
    hinges = [i for i in chain if tree.nodes[i].joint.kind == "hinge"]
    moving = [i for i in chain if tree.nodes[i].joint.kind != "free"]
    if not hinges:
        return Limb(foot, None, {})
    columns = [tree.position(place), *(tree.origins[i] for i in moving)]
    axes = [tree.rotations[i] @ ca.DM(tree.nodes[i].joint.axis) for i in hinges]
    parameters = [value or 0.0 for value in robot.parameters.values()]
    at = ca.Function("limb", [robot.symbols.q, robot.symbols.p], [ca.horzcat(*columns), ca.horzcat(*axes)])
    places, directions = (np.array(found) for found in at(q, parameters))
    end, hip = places[:, 0], places[:, 1]
    origins = {i: places[:, 1 + moving.index(i)] for i in hinges}
    reach = [_reach(end, hip, origins[i], directions[:, k]) for k, i in enumerate(hinges)]
    best = int(np.argmax(reach))
    if reach[best] <= NO_KNEE * np.linalg.norm(end - hip):
        return Limb(foot, None, {})
    knee = tree.nodes[hinges[best]]
    sign = _way(knee)
    bends = {knee.joint.name: sign}
    cosines = directions.T @ directions[:, best]
    for others in (range(best - 1, -1, -1), range(best + 1, len(hinges))):  # towards the hip, towards the foot
        near = next((k for k in others if abs(cosines[k]) > PARALLEL), None)
        if near is not None:
            bends[tree.nodes[hinges[near]].joint.name] = -0.5 * sign * float(np.sign(cosines[near]))
    return Limb(foot, knee.joint.name, bends)


def _reach(end: Array, hip: Array, origin: Array, axis: Array) -> float:
    """By how much the distance of a foot and its hip changes while a hinge turns all the way round."""
    arm = end - origin
    along, across = axis * (axis @ arm), np.cross(axis, arm)
    turns = np.linspace(0, 2 * np.pi, 72)[:, None]
    ends = origin + along + np.cos(turns) * (arm - along) + np.sin(turns) * across
    return float(np.ptp(np.linalg.norm(ends - hip, axis=1)))


def _way(knee: Node) -> float:
    """Which way a knee bends: where its limits leave more room, else forwards along its axis."""
    if knee.joint.limits is None:
        return 1.0
    low, high = (end - knee.joint.neutral[0] for end in knee.joint.limits)
    return 1.0 if high >= -low else -1.0
