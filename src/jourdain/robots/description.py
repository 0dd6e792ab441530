"""What a robot file says: bodies, joints, inertias, named frames, and what is joined besides the tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from jourdain.inputs import Array

GROUND = -1  # the index of the world among the bodies
N_Q = {"free": 7, "ball": 4, "hinge": 1, "slide": 1}  # numbers in q
N_V = {"free": 6, "ball": 3, "hinge": 1, "slide": 1}  # numbers in v


def _origin() -> Array:
    return np.zeros(3)


@dataclass(frozen=True, eq=False)
class Joint:
    """How a body moves against its parent; several joints of one body act one after the other.

    A free joint replaces the placement of its body: position and quaternion are those in the world.
    """

    name: str
    kind: str  # a key of N_Q
    axis: Array  # (3,), unit, in the body; of hinges and slides
    anchor: Array = field(default_factory=_origin)  # (3,), m, in the body
    armature: tuple[float, ...] = (0.0,)  # per velocity, kg m² or kg
    reference: float = 0.0  # the coordinate for which the body is where its placement says
    neutral: tuple[float, ...] = (0.0,)  # the coordinates of the neutral pose
    limits: tuple[float, float] | None = None  # of a hinge or slide; they are told, not enforced

    def coordinate_names(self) -> tuple[str, ...]:
        """As they stand in q: positions, then the quaternion w x y z."""
        parts = {"free": ("x", "y", "z", "qw", "qx", "qy", "qz"), "ball": ("qw", "qx", "qy", "qz")}.get(self.kind)
        return (self.name,) if parts is None else tuple(f"{self.name}.{part}" for part in parts)

    def velocity_names(self) -> tuple[str, ...]:
        """As they stand in v: rates of positions, then the angular velocity in the body's axes."""
        parts = {"free": ("x", "y", "z", "wx", "wy", "wz"), "ball": ("wx", "wy", "wz")}.get(self.kind)
        return (self.name,) if parts is None else tuple(f"{self.name}.{part}" for part in parts)


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body, where it is placed in its parent, and its inertia."""

    name: str
    parent: int  # index, before its own; GROUND
    position: Array  # (3,), m, in the parent
    rotation: Array  # (3, 3), from the body's axes to the parent's
    joints: tuple[Joint, ...]  # none: fixed to the parent
    mass: float  # kg
    com: Array  # (3,), m, centre of mass in the body
    inertia: Array  # (3, 3), kg m², about the centre of mass in the body's axes


@dataclass(frozen=True, eq=False)
class Frame:
    """A named place on a body."""

    name: str
    body: int
    position: Array  # (3,), m, in the body
    rotation: Array  # (3, 3)


@dataclass(frozen=True, eq=False)
class Equality:
    """What is joined besides the tree: two places, two frames, or two joints."""

    name: str
    kind: str  # "connect", "weld" or "joint"
    ends: tuple[Frame, Frame] | None = None  # of connect and weld; they coincide
    joints: tuple[str, str | None] = ("", None)  # the joint that follows and the one that leads; None: it stands still
    polynomial: tuple[float, ...] = ()  # follower − its reference = Σ c_i (leader − its reference)^i
    active: bool = True  # a regular row of every event; else it waits to be named in one


@dataclass(frozen=True)
class Mesh:
    """A file that is read when its points are needed."""

    name: str  # as the robot file has it
    robot: str  # the path of that
    folder: str  # in which meshes are, beside it


@dataclass(frozen=True, eq=False)
class Shape:
    """Geometry of a body that may touch the ground: balls around points, and all between them."""

    name: str
    body: int
    position: Array  # (3,), m, in the body
    rotation: Array  # (3, 3)
    points: Array  # (n, 3), m, in axes of its own; of a mesh that is not read yet, the scale (3,)
    radius: float = 0.0  # m
    mesh: Mesh | None = None


@dataclass(frozen=True)
class Source:
    """A file, for pictures of what it holds."""

    path: str
    floating: bool  # whether its root was made to float
    prefix: str = ""  # before the names of the file


@dataclass(frozen=True, eq=False)
class Description:
    """A robot as its file says it; bodies depth first: each with all that it carries before the next."""

    name: str
    bodies: tuple[Body, ...]
    frames: tuple[Frame, ...]  # the names under which places are found
    equalities: tuple[Equality, ...]
    gravity: Array  # (3,), m/s²
    # Parameter → what it stands for: (body, "mass" | "length" | "com.x" | …), all with one value.
    parameters: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    shapes: tuple[Shape, ...] = ()
    ignored: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # what is not used: kind → names

    def joints(self) -> Iterator[Joint]:
        """In the order of q."""
        return (joint for body in self.bodies for joint in body.joints)

    def neutral(self) -> Array:
        """The neutral pose, `(n_q,)`."""
        return np.array([number for joint in self.joints() for number in joint.neutral])

    def settled(self) -> Description:
        """With joints that follow others where these have them in the neutral pose."""
        joints = {joint.name: joint for joint in self.joints()}
        for _ in self.equalities:  # a follower may lead another
            for equality in self.equalities:
                follower, leader = equality.joints
                if equality.kind != "joint" or not equality.active or follower not in joints:
                    continue
                away = 0.0 if leader is None else joints[leader].neutral[0] - joints[leader].reference
                at = joints[follower].reference + float(np.polynomial.Polynomial(equality.polynomial)(away))
                joints[follower] = replace(joints[follower], neutral=(at,))
        bodies = [replace(body, joints=tuple(joints[own.name] for own in body.joints)) for body in self.bodies]
        return replace(self, bodies=tuple(bodies))

    def prefixed(self, prefix: str, shift: int) -> Description:
        """The same with `prefix` before every name, for bodies that are counted from `shift` on."""

        def named(name: str) -> str:
            return f"{prefix}{name}"

        def place(frame: Frame) -> Frame:
            return replace(frame, name=named(frame.name), body=moved(frame.body))

        def moved(index: int) -> int:
            return index if index == GROUND else index + shift

        bodies = [replace(body, name=named(body.name), parent=moved(body.parent),
                          joints=tuple(replace(joint, name=named(joint.name)) for joint in body.joints))
                  for body in self.bodies]  # fmt: skip
        equalities = []
        for e in self.equalities:
            ends = None if e.ends is None else (place(e.ends[0]), place(e.ends[1]))
            joints = (named(e.joints[0]), None if e.joints[1] is None else named(e.joints[1]))
            equalities.append(replace(e, name=named(e.name), ends=ends, joints=joints))
        parameters: dict[str, Any] = {
            named(key): tuple((named(body), what) for body, what in several) for key, several in self.parameters.items()
        }
        sources = tuple(replace(source, prefix=named(source.prefix)) for source in self.sources)
        shapes = tuple(replace(shape, name=named(shape.name), body=moved(shape.body)) for shape in self.shapes)
        ignored = {kind: tuple(map(named, own)) for kind, own in self.ignored.items()}
        return replace(self, bodies=tuple(bodies), frames=tuple(map(place, self.frames)), equalities=tuple(equalities),
                       parameters=parameters, sources=sources, shapes=shapes, ignored=ignored)  # fmt: skip
