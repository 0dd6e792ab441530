"""Robots: mechanisms read from URDF and MJCF files, with contacts, welds and locks by the names of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.constraint import Constraint, Contact
from jourdain.errors import BadConstraint, BadRobot, NameClash, listing, unknown
from jourdain.event import Event
from jourdain.evaluate import Array
from jourdain.mechanism import Mechanism
from jourdain.models.description import GROUND, Description, Equality, Frame, Joint
from jourdain.models.joint_tree import JointTree, Place
from jourdain.models.symbols import PointMotion, Symbols
from jourdain.naming import name_of

WORLD = "world"
UP = (0.0, 0.0, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class Robot(Mechanism):
    """A mechanism from a robot file; `jd.load` makes one.

    q and v are MuJoCo's: joints in the order of the tree; of a free joint the position and the quaternion (w, x, y, z)
    in the world, its velocity in the axes of the world, its angular velocity in those of the body. Coordinates carry
    the names of the joints, `base.x … base.qz` and `base.x … base.wz` those of a free one. Every link, site, body and
    geom of the file is a point. What the file joins besides the tree (mimic joints, equality constraints) is regular
    in every event that gives it no other kind.
    """

    description: Description | None = None
    tree: JointTree | None = field(default=None, repr=False)

    # What differs from other mechanisms

    def names(self) -> list[tuple[str, str]]:
        """A link may have the name of a joint, as it often does in robot files."""
        moving = {*self.symbols.q_names, *self.symbols.v_names}
        return [(name, what) for name, what in super().names() if what != "point" or name not in moving]

    @property
    def neutral(self) -> Array:
        """The pose that is meant where coordinates are not given, `(n_q,)`."""
        return self._described.neutral()

    @cached_property
    def quaternions(self) -> Mapping[str, tuple[int, ...]]:
        """Joint → the places of its quaternion in q."""
        nodes = [node for node in self._tree.nodes if node.joint.kind in ("free", "ball")]
        return {node.joint.name: tuple(range(node.q.stop - 4, node.q.stop)) for node in nodes}

    def followed(self, what: str, entries: Mapping[str, Any]) -> dict[str, Any]:
        """Entries of q or v by name, with those of joints that follow one of them and are not given themselves."""
        found = dict(entries)
        for equality in self._described.equalities:
            follower, leader = equality.joints
            if not equality.active or leader is None or leader not in found or follower in found:
                continue
            offset, slope, *curved = equality.polynomial
            if any(curved):
                continue
            given = found[leader]
            given = np.asarray(given) if isinstance(given, list | tuple) else given
            if what == "v":
                found[follower] = slope * given
            else:
                joints = {joint.name: joint for joint in self._described.joints()}
                found[follower] = joints[follower].reference + offset + slope * (given - joints[leader].reference)
        return found

    def event(
        self,
        regular: Any = (),
        inert: Any = (),
        elastic: Mapping[Any, Any] = {},
        live: Mapping[Any, Mapping[Any, tuple[Any, Any]]] = {},
        released: Any = (),
        contacts: Mapping[Any, Any] = {},
        impulses: Mapping[Any, Any] = {},
        nonideal: Mapping[Any, Any] = {},
    ) -> Event:
        """See `Mechanism.event`. What the file joins is regular unless it is given another kind here."""
        from jourdain.event_builder import listed

        given = [*listed(regular), *listed(inert), *elastic, *live, *listed(released), *contacts, *nonideal]
        rows = {row for which in given for row in self.find_constraint(which).row_names}
        joined = [name for name in self.joined if not rows & {*self.constraints[name].row_names}]
        return super().event(
            [*listed(regular), *joined], inert, elastic, live, released, contacts, impulses, nonideal
        )  # fmt: skip

    @property
    def joined(self) -> tuple[str, ...]:
        """The constraints that the file joins besides the tree, by name; regular rows of every event."""
        return tuple(equality.name for equality in self._described.equalities if equality.active)

    # Constraints by the names of the file

    def contact(
        self,
        name: str,
        normal: Any = UP,
        tangent: Any = None,
        level: str = "velocity",
        units: str | None = None,
        at: Sequence[float] = (0.0, 0.0, 0.0),
        frame: str | None = None,
    ) -> Contact:
        """A frame of the robot touches something: rows (normal, two tangents) of the velocity of its origin.

        `name`: a link, site, body or geom. `normal`: 3 numbers in the world, out of what is touched; for the default
        the rows are z, x, y. `tangent`: a list of such directions instead of the two; [] for none. `at`: where on the
        frame, in its axes. Several contacts on one frame need names of their own, then `frame` says which it is:
        `robot.contact("toe", at=(0.1, 0, 0), frame="foot")`. Asked for again, it is the same contact.

        With expressions instead of numbers it is `Mechanism.contact`.
        """
        if frame is None and not _is_direction(normal):
            return super().contact(name, normal, tangent, level, units)
        n = _direction(name, "normal", normal)
        along = _tangents(n) if tangent is None else [_direction(name, "tangent", t) for t in tangent]
        place = self._place(name if frame is None else frame).then(_column(name, at), SX.eye(3))
        directions = np.array([n, *along])
        key = ("contact", name if frame is None else frame, tuple(map(float, at)), tuple(map(tuple, directions)))
        tangents = [f"{name}.tangent"] if len(along) == 1 else [f"{name}.tangent.{i}" for i in range(len(along))]
        C = SX(ca.DM(directions)) @ self._tree.jacobian(place)[0]
        return self._known(key, Contact, name, (f"{name}.normal", *tangents), ca.sparsify(C), "m/s")

    def weld(self, a: str, b: str = WORLD, name: str | None = None) -> Constraint:
        """Two frames move as one: 6 rows, x y z of the velocity of a's origin against b, and its angular velocity.

        In the axes of the world, for the pose at hand, whatever it is; impulses and moments act on `a`, and about its
        origin, their opposites on `b`. Its name is "weld a", or "weld a b".
        """
        name = (f"weld {a}" if b == WORLD else f"weld {a} {b}") if name is None else name
        places = [self._place(a), self._place(b)]
        (linear, angular), (linear_b, angular_b) = (self._tree.jacobian(place) for place in places)
        if b != WORLD:  # the velocity of b where a is: v_b + ω_b × (r_a − r_b)
            from jourdain.models.rotations import skew

            apart = self._tree.position(places[0]) - self._tree.position(places[1])
            linear, angular = linear - linear_b + skew(apart) @ angular_b, angular - angular_b
        rows = tuple(f"{name}.{row}" for row in ("x", "y", "z", "rx", "ry", "rz"))
        return self._known(("weld", a, b), Constraint, name, rows, ca.sparsify(ca.vertcat(linear, angular)), "")

    def lock(self, joint: str, name: str | None = None) -> Constraint:
        """A joint stands still: one row per velocity of it. Its name is "lock joint"."""
        name = f"lock {joint}" if name is None else name
        nodes = {node.joint.name: node for node in self._tree.nodes}
        if joint not in nodes:
            raise unknown("joint", joint, nodes)
        own = nodes[joint].joint.velocity_names()
        C = SX.eye(len(self.symbols.v_names))[nodes[joint].v, :]
        rows = (name,) if len(own) == 1 else tuple(f"{name}.{part.rpartition('.')[2]}" for part in own)
        unit = {"hinge": "rad/s", "slide": "m/s", "ball": "rad/s"}.get(nodes[joint].joint.kind, "")
        return self._known(("lock", joint), Constraint, name, rows, ca.sparsify(C), unit)

    def _known(
        self, key: Any, cls: type[Any], name: str, rows: tuple[str, ...], C: SX, units: str, g: SX | None = None
    ) -> Any:
        """The constraint of a key, made when it is asked for first."""
        if self._made.get(name) == key:
            return self.constraints[name]
        taken = {part for c in self.constraints.values() for part in c.parts()}
        clash = next((part for part in (name, *rows) if part in taken or part in self.parameters), None)
        if clash is not None or name in self.outputs:
            raise NameClash(f"There is something called '{clash or name}' already, and it is not this; give a name=.")
        made = cls(name, rows, rows == (name,), C, SX(C.shape[0], 1), g, units, self)
        self.constraints[name] = made
        self._made[name] = key
        return made

    @cached_property
    def _made(self) -> dict[str, Any]:
        """Of constraints by name, what they were made from."""
        return {}

    # Frames

    def rotation(self, frame: str, q: Any = None, **parameters: Any) -> Array:
        """From the axes of a frame to those of the world, `(*batch, 3, 3)`."""
        place = self._place(frame)
        return self.evaluate(f"rotation {frame}", lambda: {"R": self._tree.rotation(place)}, q, None, parameters)["R"]

    def frame_jacobian(self, frame: str, q: Any = None, **parameters: Any) -> Array:
        """∂(velocity, angular velocity)/∂v of a frame in the axes of the world, `(*batch, 6, n_v)`."""
        place = self._place(frame)

        def both() -> dict[str, SX]:
            return {"J": ca.vertcat(*self._tree.jacobian(place))}

        return self.evaluate(f"frame jacobian {frame}", both, q, None, parameters)["J"]

    def _place(self, name: str) -> Place:
        frames = self._frames
        if name == WORLD and WORLD not in frames:
            return Place(GROUND, SX(3, 1), SX.eye(3))
        if name not in frames:
            raise unknown("frame", name, frames)
        return self._tree.place(frames[name])

    @cached_property
    def _frames(self) -> dict[str, Frame]:
        return {frame.name: frame for frame in self._described.frames}

    @property
    def _described(self) -> Description:
        assert self.description is not None
        return self.description

    @property
    def _tree(self) -> JointTree:
        assert self.tree is not None
        return self.tree

    def from_pinocchio(self, model: Any, q: Any, v: Any) -> tuple[Array, Array]:
        """A state of a Pinocchio model as (q, v) of this robot, by the names of the joints; see `models.pinocchio`."""
        from jourdain.models.pinocchio import converted

        return converted(self._described, model, q, v)

    def __repr__(self) -> str:
        n_q, n_v = len(self.symbols.q_names), len(self.symbols.v_names)
        joined = f", joined={list(self.joined)}" if self.joined else ""
        return f"Robot({self._described.name!r}, n_q={n_q}, n_v={n_v}, frames={len(self._frames)}{joined})"


def load(path: Any, floating: bool = False, parameters: Any = (), fixed: Sequence[str] = ()) -> Robot:
    """A robot from a URDF or MJCF file. `floating`: its root is free, with the coordinates `base.x … base.qz`.

    URDF is read as it is written; meshes need not be there, and fixed links keep their names as points. MJCF is read as
    MuJoCo compiles it, with the masses of its geoms. `fixed`: joints that do not move, at their neutral position.

    `parameters`: what is left open for design, with the value of the file as default: "BODY.mass", "BODY.com.x",
    "BODY.inertia.xx" (about the centre of mass, in the body's axes), "BODY.x" (where it is placed in its parent), and
    "BODY.length": all that the body carries moves along, in proportion; its own inertia stays. A dict gives names of
    your own, also one for several: {"shank": ["FL_LOWER_LEG.length", "FR_LOWER_LEG.length"]}.
    """
    from jourdain.models.design import opened
    from jourdain.models.robot_file import read

    return build(opened(_without(read(path, floating), fixed), parameters))


def scene(robots: Mapping[str, Robot]) -> Robot:
    """Several robots and free bodies as one mechanism; the names of each with its own before them, as `robot/knee`."""
    bodies, frames, equalities, parameters = [], [], [], {}
    for prefix, robot in robots.items():
        part = robot._described.prefixed(prefix, len(bodies))
        bodies += part.bodies
        frames += part.frames
        equalities += part.equalities
        parameters |= dict(part.parameters)
    gravities = [robot._described.gravity for robot in robots.values()]
    if not robots:
        raise BadRobot("A scene needs at least one robot or body; give {'robot': robot, 'load': payload}.")
    if any(not np.array_equal(gravities[0], g) for g in gravities):
        raise BadRobot(f"The parts of a scene have different gravities: {', '.join(str(tuple(g)) for g in gravities)}.")
    name = " and ".join(robots)
    return build(Description(name, tuple(bodies), tuple(frames), tuple(equalities), gravities[0], parameters))


def build(description: Description) -> Robot:
    """A robot from its description."""
    from jourdain.models.design import defaults

    joints = list(description.joints())
    q_names = [name for joint in joints for name in joint.coordinate_names()]
    v_names = [name for joint in joints for name in joint.velocity_names()]
    open_values = defaults(description)
    symbols = Symbols.named(q_names, v_names, list(open_values))
    tree = JointTree(description, symbols.q, symbols.v, symbols.parameters)
    weight = tree.weight
    places = {frame.name: tree.place(frame) for frame in description.frames}
    robot = Robot(
        replace(symbols, N=tree.N),
        tree.M,
        open_values,
        {name: PointMotion(tree.position(place), tree.velocity(place)) for name, place in places.items()},
        {f"{body.name}.angular": tree.angular_velocity(place)
         for body, place in zip(description.bodies, tree.places, strict=True)},
        {},
        weight,
        _units(joints) | _parameter_units(description),
        tree.bias,
        tree.potential,
        weight,
        description=description,
        tree=tree,
    )  # fmt: skip
    _refuse_singular(robot)
    for equality in description.equalities:
        _join(robot, equality)
    return robot


def _join(robot: Robot, equality: Equality) -> None:
    """The rows of an equality constraint, at position level."""
    tree, s = robot._tree, robot.symbols
    if equality.kind == "joint":
        follower, leader = equality.joints
        joints = {joint.name: joint for joint in robot._described.joints()}
        for name in (follower, leader):
            if name is not None and (name not in joints or joints[name].kind not in ("hinge", "slide")):
                raise BadRobot(f"'{equality.name}' couples '{name}', which is no hinge or slide of the robot.")
        away = SX(0) if leader is None else s.q[s.q_names.index(leader)] - joints[leader].reference
        wanted = sum((c * away**i for i, c in enumerate(equality.polynomial) if c), SX(0))
        g = s.q[s.q_names.index(follower)] - joints[follower].reference - wanted
        unit = "rad/s" if joints[follower].kind == "hinge" else "m/s"
        rows, C = (equality.name,), ca.jacobian(g, s.q) @ s.N
    else:
        assert equality.ends is not None
        one, other = (tree.place(end) for end in equality.ends)
        (linear, angular), (linear_other, angular_other) = tree.jacobian(one), tree.jacobian(other)
        g, C, unit = tree.position(one) - tree.position(other), linear - linear_other, "m/s"
        rows = tuple(f"{equality.name}.{axis}" for axis in "xyz")
        if equality.kind == "weld":
            # The angle between small rotations: half the antisymmetric part of R_other R_oneᵀ, as a vector.
            turn = tree.rotation(one) @ tree.rotation(other).T
            g = ca.vertcat(g, ca.inv_skew(turn - turn.T) / 2)
            C, unit = ca.vertcat(C, angular - angular_other), ""
            rows = (*rows, *(f"{equality.name}.r{axis}" for axis in "xyz"))
    robot._known(("joined", equality.name), Constraint, equality.name, rows, ca.sparsify(C), unit, g)


def _refuse_singular(robot: Robot) -> None:
    """A joint that moves no mass makes M singular at every pose."""
    massless = robot._tree.massless()
    if massless:
        which = "Joint" if len(massless) == 1 else "Joints"
        shown = listing(massless[:5]) + (f" and {len(massless) - 5} more" if len(massless) > 5 else "")
        raise BadRobot(
            f"{which} {shown} of '{robot._described.name}' move no mass, so the mass matrix is singular; give what they "
            "carry a mass or inertia, the joints an armature, or load with fixed=[…]."
        )


def _without(description: Description, fixed: Sequence[str]) -> Description:
    """With some joints fixed where they are neutral."""
    if not fixed:
        return description
    joints = {joint.name: joint for joint in description.joints()}
    for name in fixed:
        if name not in joints:
            raise unknown("joint", name, joints)
        if joints[name].neutral[0] != joints[name].reference or joints[name].kind in ("free", "ball"):
            raise BadRobot(f"Joint '{name}' cannot be fixed: only hinges and slides whose neutral position is 0 can.")
    bodies = [replace(body, joints=tuple(j for j in body.joints if j.name not in fixed)) for body in description.bodies]
    kept = []
    for equality in description.equalities:
        follower, leader = equality.joints
        if follower in fixed:
            continue
        if leader in fixed:
            equality = replace(equality, joints=(follower, None), polynomial=equality.polynomial[:1])
        kept.append(equality)
    return replace(description, bodies=tuple(bodies), equalities=tuple(kept))


def _units(joints: Sequence[Joint]) -> dict[str, str]:
    """Of coordinates, and of velocities that are no rates."""
    found: dict[str, str] = {}
    for joint in joints:
        own = {"hinge": "rad", "slide": "m"}.get(joint.kind)
        for name in joint.coordinate_names():
            found[name] = own or ("1" if name.rpartition(".")[2].startswith("q") else "m")
        for name in joint.velocity_names():
            found.setdefault(name, "rad/s")
    return found


def _parameter_units(description: Description) -> dict[str, str]:
    kinds = {"mass": "kg", "inertia": "kg m^2"}
    return {name: kinds.get(several[0][1].partition(".")[0], "m") for name, several in description.parameters.items()}


def _is_direction(normal: Any) -> bool:
    return isinstance(normal, list | tuple | np.ndarray) and len(normal) == 3 and np.array(normal).dtype.kind in "if"


def _direction(name: str, what: str, value: Any) -> Array:
    if not _is_direction(value) or not np.isfinite(value).all() or not np.any(value):
        raise BadConstraint(f"The {what} of contact '{name}' is a direction, 3 numbers that are not all 0; not {value!r}.")
    array = np.array(value, dtype=float)
    return array / np.linalg.norm(array)


def _tangents(n: Array) -> list[Array]:
    """x and y after the shortest turn of z to n, so that (t1, t2, n) is right-handed; z itself keeps them."""
    if n[2] < -1 + 1e-12:  # straight down: a half turn about x
        return [np.array([1.0, 0.0, 0.0]), np.array([0.0, -1.0, 0.0])]
    x, y, z = n
    R = np.array([[1 - x * x / (1 + z), -x * y / (1 + z)], [-x * y / (1 + z), 1 - y * y / (1 + z)], [-x, -y]])
    return [R[:, 0], R[:, 1]]


def _column(name: str, at: Sequence[float]) -> SX:
    array = np.asarray(at, dtype=float)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise BadConstraint(f"Where contact '{name}' is on its frame is given by 3 numbers, at=(x, y, z); not {at!r}.")
    return SX(ca.DM(array))
