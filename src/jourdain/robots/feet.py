"""Where a robot would stand: the lowest geometry at the ends of its limbs, and how far a frame is above the ground."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from jourdain.inputs import Array
from jourdain.robots.description import GROUND, Frame, Shape
from jourdain.robots.robot import Robot
from jourdain.robots.shapes import points_of

NEAR = 0.1  # of the height of a robot: what is no higher above the ground may stand on it
FLAT = 0.02  # of the size of a shape: points that are no higher above its lowest one belong to its sole
ASIDE, ABOVE = 0.1, 0.75  # of the thickness of a round shape: a frame that is no farther from where it touches is there


def feet(robot: Robot) -> dict[str, Frame]:
    """The feet of a robot by their names, one per limb, at the lowest geometry of the neutral pose.

    A foot is where its geometry touches level ground: the centre of a sphere or of the end of a capsule, the middle of
    a sole. It has the name of a frame that is there, else that of its body and "_foot".
    """
    stance = Stance(robot, robot.neutral)
    chosen = dict.fromkeys(node for node in map(stance.lowest_of_limb, stance.tips()) if node is not None)
    found: dict[str, Frame] = {}
    for node in chosen:
        if stance.low(node) <= min(map(stance.low, chosen)) + NEAR * stance.height:
            frame = stance.foot(node)
            found[frame.name] = frame
    return found


def unread_meshes(robot: Robot) -> list[str]:
    """The bodies with meshes that cannot be read, so that nothing is known of where they touch."""
    bodies = robot.description.bodies
    return list(dict.fromkeys(bodies[s.body].name for s in robot.description.shapes if not len(points_of(s))))


def high_feet(robot: Robot, names: Sequence[str], q: Array) -> dict[str, float]:
    """The frames that are far above the ground, which the lowest geometry touches: name → height in m."""
    stance = Stance(robot, q)
    heights = dict(zip(names, stance.heights([robot.frame(name) for name in names]), strict=True))
    return {name: height for name, height in heights.items() if height > NEAR * stance.height}


@dataclass(frozen=True, eq=False)
class _Placed:
    """A shape in the world."""

    shape: Shape
    points: Array  # (n, 3), m

    @property
    def low(self) -> float:
        return float(self.points[:, 2].min()) - self.shape.radius

    @property
    def extent(self) -> Array:
        return np.asarray(np.ptp(self.points, axis=0) + 2 * self.shape.radius)


@dataclass(frozen=True, eq=False)
class Stance:
    """A robot at a pose."""

    robot: Robot
    q: Array

    @cached_property
    def places(self) -> tuple[Array, Array]:
        """Positions `(n, 3)` and rotations `(n, 3, 3)` of the bodies."""
        tree, symbols = self.robot.tree, self.robot.symbols
        columns = [ca.horzcat(tree.position(place), tree.rotation(place)) for place in tree.places]
        at = ca.Function("places", [symbols.q, symbols.p], [ca.horzcat(*columns)])
        parameters = [value or 0.0 for value in self.robot.parameters.values()]
        found = np.array(at(self.q, parameters)).reshape(3, -1, 4).transpose(1, 0, 2)
        return found[:, :, 0], found[:, :, 1:]

    def world(self, body: int, points: Array) -> Array:
        """Points of a body, `(n, 3)`, in the world."""
        if body == GROUND:
            return points
        return np.asarray(points @ self.places[1][body].T + self.places[0][body])

    @cached_property
    def shapes(self) -> dict[int, list[_Placed]]:
        """Node → the shapes of all its bodies; without those whose mesh cannot be read."""
        found: dict[int, list[_Placed]] = {}
        for shape in self.robot.description.shapes:
            points = points_of(shape)
            if len(points):
                found.setdefault(self._node(shape.body), []).append(_Placed(shape, self.world(shape.body, points)))
        return found

    @cached_property
    def _span(self) -> tuple[float, float]:
        """The lowest and the highest point of the robot; of one without geometry, of its bodies' origins."""
        shapes = [placed for several in self.shapes.values() for placed in several]
        heights = self.places[0][:, 2] if not shapes else np.concatenate(
            [placed.points[:, 2] + sign * placed.shape.radius for placed in shapes for sign in (-1, 1)])  # fmt: skip
        return float(heights.min()), float(heights.max())

    @property
    def height(self) -> float:
        """Of the robot, m."""
        return self._span[1] - self._span[0]

    def low(self, node: int) -> float:
        return min((placed.low for placed in self.shapes.get(node, [])), default=np.inf)

    # Limbs

    def tips(self) -> Iterator[int]:
        """The nodes that carry no other."""
        carrying = {node.parent for node in self.robot.tree.nodes}
        return (i for i in range(len(self.robot.tree.nodes)) if i not in carrying)

    def lowest_of_limb(self, tip: int) -> int | None:
        """The node between the base and a tip whose geometry is lowest; None if there is no geometry."""
        nodes, chain = self.robot.tree.nodes, [tip]
        while nodes[chain[-1]].parent != GROUND:
            chain.append(nodes[chain[-1]].parent)
        best = min(chain[:-1] or chain, key=self.low)  # of equals, the one farther from the base
        return best if best in self.shapes else None

    def foot(self, node: int) -> Frame:
        """Where a node touches the ground."""
        shapes = self.shapes[node]
        lowest = min(shapes, key=lambda placed: placed.low)
        ground = lowest.low + FLAT * float(np.linalg.norm(lowest.extent))
        sole = np.concatenate([one.points[one.points[:, 2] - one.shape.radius <= ground] for one in shapes])
        middle = (sole.min(axis=0) + sole.max(axis=0)) / 2
        middle[2] = lowest.low + lowest.shape.radius
        named = self._frame_at(node, middle, sole, lowest)
        if named is not None:
            return named
        body = lowest.shape.body
        taken = {frame.name for frame in self.robot.description.frames}
        name = f"{self.robot.description.bodies[body].name}_foot"
        while name in taken:
            name += "_"
        return Frame(name, body, self.places[1][body].T @ (middle - self.places[0][body]), np.eye(3))

    def _frame_at(self, node: int, middle: Array, sole: Array, lowest: _Placed) -> Frame | None:
        """The frame nearest to where a shape touches.

        In a flat sole; between the centre of a ball and the ground; close above the lowest point of another round
        shape. Not on the axis about which the node turns: that is a knee or an axle.
        """
        thickness, half = float(np.median(lowest.extent)), np.ptp(sole, axis=0)[:2] / 2
        is_flat, radius = np.max(half) > np.max(lowest.extent[:2]) / 4, lowest.shape.radius
        aside = half if is_flat else half + ASIDE * thickness
        above = thickness * (FLAT if is_flat else ASIDE if radius else ABOVE)
        best, nearest = None, np.inf
        for frame in self.robot.description.frames:
            if self._node(frame.body) != node:
                continue
            away = self.world(frame.body, frame.position) - middle
            is_there = np.all(np.abs(away[:2]) <= aside) and -radius - FLAT * thickness <= away[2] <= above
            is_nearer = np.linalg.norm(away) < nearest
            if is_there and is_nearer and self._off_axis(node, middle + away) > FLAT * thickness:
                best, nearest = frame, float(np.linalg.norm(away))
        return best

    def _off_axis(self, node: int, point: Array) -> float:
        """The distance from the axis of a hinge, or from the centre of a ball or free joint; a slide has none."""
        joint = self.robot.tree.nodes[node].joint
        body = next(i for i, body in enumerate(self.robot.description.bodies) if joint in body.joints)
        arm = point - self.world(body, joint.anchor)
        if joint.kind == "hinge":
            arm = np.cross(self.places[1][body] @ joint.axis, arm)
        return np.inf if joint.kind == "slide" else float(np.linalg.norm(arm))

    def _node(self, body: int) -> int:
        return GROUND if body == GROUND else self.robot.tree.places[body].node

    # Heights

    def heights(self, frames: Sequence[Frame]) -> list[float]:
        """Of frames above the lowest point of the robot; a ball around a frame counts as its own."""
        points = [self.world(frame.body, frame.position) for frame in frames]
        ground = min(self._span[0], *(float(point[2]) for point in points))
        found = []
        for frame, point in zip(frames, points, strict=True):
            balls = [placed.shape.radius for placed in self.shapes.get(self._node(frame.body), [])
                     if np.min(np.linalg.norm(placed.points - point, axis=1)) <= placed.shape.radius]  # fmt: skip
            found.append(float(point[2]) - max(balls, default=0.0) - ground)
        return found
