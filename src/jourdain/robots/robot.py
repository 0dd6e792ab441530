"""Robots: mechanisms read from URDF and MJCF files, with contacts, welds and locks by the names of the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from casadi import SX
from numpy.typing import ArrayLike

from jourdain.errors import BadConstraint, unknown
from jourdain.inputs import Array, Expression, ParameterLike, RowsLike, StateLike
from jourdain.mechanism.constraint import Constraint, ContactConstraint, contact, contact_rows
from jourdain.mechanism.mechanism import Mechanism
from jourdain.output.printable import prints
from jourdain.robots.description import GROUND, Description, Frame
from jourdain.robots.joint_tree import JointTree, Place

if TYPE_CHECKING:
    import pinocchio

WORLD = "world"
UP = (0.0, 0.0, 1.0)
TWIST = ("m/s",) * 3 + ("rad/s",) * 3  # units of a velocity and an angular velocity


@dataclass(frozen=True, eq=False, repr=False)
class Robot(Mechanism):
    """A mechanism from a robot file; `jd.load` makes one.

    q and v are MuJoCo's: joints in the order of the tree; of a free joint the position and the quaternion (w, x, y, z)
    in the world, its velocity in the axes of the world, its angular velocity in those of the body. Coordinates carry
    the names of the joints, `base.x … base.qz` and `base.x … base.wz` those of a free one. Every link, site, body and
    geom of the file is a point. What the file joins besides the tree (mimic joints, equality constraints) is regular
    in every event that gives it no other kind.
    """

    description: Description = field(kw_only=True)
    tree: JointTree = field(kw_only=True)

    # Constraints by the names of the file

    def contact(
        self,
        name: str,
        normal: Expression = UP,
        tangent: RowsLike = None,
        level: str = "velocity",
        units: str | None = None,
        at: Sequence[float] = (0.0, 0.0, 0.0),
        frame: str | None = None,
    ) -> ContactConstraint:
        """A frame of the robot touches something: rows (normal, two tangents) of the velocity of its origin.

        `name`: a link, site, body or geom. `normal`: 3 numbers in the world, out of what is touched; for the default
        the rows are z, x, y. `tangent`: a list of such directions instead of the two; [] for none. `at`: where on the
        frame, in its axes. Several contacts on one frame need names of their own, then `frame` says which it is:
        `robot.contact("toe", at=(0.1, 0, 0), frame="foot")`. Asked for again, it is the same contact.

        `level="position"`, of the normal alone (tangent=[]): the gap is the height above the plane through the origin
        of the world, which serves as a guard. With expressions instead of numbers it is `Mechanism.contact`.
        """
        if frame is None and not isinstance(normal, list | tuple | np.ndarray):
            return contact(self, name, normal, tangent, level, units)
        n = _direction(name, "normal", normal)
        if tangent is not None and not isinstance(tangent, list | tuple):
            raise BadConstraint(f"The tangents of contact '{name}' are a list of directions, not {tangent!r}.")
        along = _tangents(n) if tangent is None else [_direction(name, "tangent", t) for t in tangent]
        frame = name if frame is None else frame
        place = self.place(frame).then(_column(name, at), SX.eye(3))
        directions = np.array([n, *along])
        C = SX(ca.DM(directions)) @ self.tree.jacobian(place)[0]
        gap = None
        if level == "position" and not along:
            gap = SX(ca.DM(directions)) @ self.tree.position(place)
        elif level != "velocity":
            raise BadConstraint(
                f"Contact '{name}' is at level {level!r}; a frame has 'velocity', or 'position' of its normal alone: "
                "tangent=[]."
            )
        rows, groups = contact_rows(name, len(along))
        b, source = SX(len(rows), 1), ("contact", level, frame, tuple(map(float, at)), directions.tolist())
        made = ContactConstraint(name, rows, False, ca.sparsify(C), b, gap, "m/s", self, groups)
        return self.register(made, source)

    def weld(self, a: str, b: str = WORLD, level: str = "velocity", name: str | None = None) -> Constraint:
        """Two frames move as one: 6 rows, x y z of the velocity of a's origin against b, and its angular velocity.

        In the axes of the world, for the pose at hand, whatever it is; with `level="position"` the frames must
        coincide, which is checked. Impulses and moments act on `a`, about its origin, their opposites on `b`. Its name
        is "weld a", or "weld a b".
        """
        if level not in ("velocity", "position"):
            raise BadConstraint(f"The level of a weld is 'velocity' or 'position', not {level!r}.")
        name = (f"weld {a}" if b == WORLD else f"weld {a} {b}") if name is None else name
        one, other = self.place(a), self.place(b)
        rows = tuple(f"{name}.{row}" for row in ("x", "y", "z", "rx", "ry", "rz"))
        g, C = self.tree.apart(one, other) if level == "position" else (None, self.tree.relative(one, other))
        return self.declare(("weld", a, b, level), name, rows, C, TWIST, g)

    def lock(self, joint: str, name: str | None = None) -> Constraint:
        """A joint stands still: one row per velocity of it. Its name is "lock joint"."""
        name = f"lock {joint}" if name is None else name
        nodes = {node.joint.name: node for node in self.tree.nodes}
        if joint not in nodes:
            raise unknown("joint", joint, nodes)
        own = nodes[joint].joint.velocity_names()
        C = SX.eye(len(self.symbols.v_names))[nodes[joint].v, :]
        rows = (name,) if len(own) == 1 else tuple(f"{name}.{part.rpartition('.')[2]}" for part in own)
        unit = {"hinge": "rad/s", "slide": "m/s", "ball": "rad/s"}.get(nodes[joint].joint.kind, TWIST)
        return self.declare(("lock", joint), name, rows, ca.sparsify(C), unit)

    def declare(
        self, source: object, name: str, rows: tuple[str, ...], C: SX, units: str | tuple[str, ...], g: SX | None = None
    ) -> Constraint:
        """The constraint C v = 0, made when it is first declared from its source."""
        return self.register(Constraint(name, rows, rows == (name,), C, SX(C.shape[0], 1), g, units, self), source)

    # Frames

    def rotation(self, frame: str, q: StateLike = None, **parameters: ParameterLike) -> Array:
        """From the axes of a frame to those of the world, `(*batch, 3, 3)`."""
        place = self.place(frame)
        return self.evaluate(f"rotation {frame}", lambda: {"R": self.tree.rotation(place)}, q, None, parameters)["R"]

    def frame_jacobian(self, frame: str, q: StateLike = None, **parameters: ParameterLike) -> Array:
        """∂(velocity, angular velocity)/∂v of a frame in the axes of the world, `(*batch, 6, n_v)`."""
        place = self.place(frame)

        def both() -> dict[str, SX]:
            return {"J": ca.vertcat(*self.tree.jacobian(place))}

        return self.evaluate(f"frame jacobian {frame}", both, q, None, parameters)["J"]

    def place(self, name: str) -> Place:
        """Where a frame is fixed, by its name."""
        return self.tree.place(self.frame(name))

    def frame(self, name: str) -> Frame:
        """A link, site, body or geom; one of `feet`; or the world."""
        if name in self._frames:
            return self._frames[name]
        if name == WORLD:
            return Frame(WORLD, GROUND, np.zeros(3), np.eye(3))
        if name in self._feet:
            return self._feet[name]
        raise unknown("frame", name, [*self._frames, *self._feet])

    @property
    def feet(self) -> tuple[str, ...]:
        """What could be its feet, one per limb: frames where the lowest geometry that can touch the ground does so.

        For limbs as they are in the neutral pose. `contact` and `weld` take these names.
        """
        return tuple(self._feet)

    @cached_property
    def _feet(self) -> dict[str, Frame]:
        from jourdain.robots.feet import feet

        return feet(self)

    @property
    def ignored(self) -> dict[str, tuple[str, ...]]:
        """What the file has and is not used: kind, as "springs" or "contact geoms", → names."""
        return dict(self.description.ignored)

    @cached_property
    def _frames(self) -> dict[str, Frame]:
        return {frame.name: frame for frame in self.description.frames}

    def from_pinocchio(self, model: pinocchio.Model, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """A state of a Pinocchio model as (q, v) of this robot, by the names of the joints; see `robots.pinocchio`."""
        from jourdain.robots.pinocchio import converted

        return converted(self.description, model, q, v)

    @prints
    def __repr__(self) -> str:
        n_q, n_v = len(self.symbols.q_names), len(self.symbols.v_names)
        joined = f", joined={list(self.joined)}" if self.joined else ""
        return f"Robot({self.description.name!r}, n_q={n_q}, n_v={n_v}, frames={len(self._frames)}{joined})"


def _direction(name: str, what: str, value: Any) -> Array:
    listed = isinstance(value, list | tuple | np.ndarray) and len(value) == 3 and np.array(value).dtype.kind in "if"
    if not listed or not np.isfinite(value).all() or not np.any(value):
        raise BadConstraint(
            f"The {what} of contact '{name}' is a direction, 3 numbers that are not all 0; not {value!r}."
        )
    array = np.array(value, dtype=float)
    return np.asarray(array / np.linalg.norm(array))


def _tangents(n: Array) -> list[Array]:
    """x and y after the shortest turn of z to n, so that (t1, t2, n) is right-handed; z itself keeps them.

    A normal that points down has those of its opposite, the second one reversed.
    """
    if n[2] < 0:
        one, other = _tangents(-n)
        return [one, -other]
    x, y, z = n
    R = np.array([[1 - x * x / (1 + z), -x * y / (1 + z)], [-x * y / (1 + z), 1 - y * y / (1 + z)], [-x, -y]])
    return [R[:, 0], R[:, 1]]


def _column(name: str, at: Sequence[float]) -> SX:
    try:
        array = np.asarray(at, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise BadConstraint(f"Where contact '{name}' is on its frame is given by 3 numbers, at=(x, y, z); not {at!r}.")
    return SX(ca.DM(array))
