"""Vectors, frames and points of sympy.physics.mechanics, read relative to one frame.

Velocities are those of SymPy: the one that was set, else the derivative of the position relative to the nearest point
whose velocity is known. Nothing of the user's is written to: `Point.vel` would keep what it derives.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any

import casadi as ca
from casadi import SX
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, RigidBody, Vector

from jourdain.compute.sampled import differ
from jourdain.errors import BadMechanism, MechanismWarning, NotExpressible, listing
from jourdain.mechanism.symbols import PointMotion, Symbols
from jourdain.naming import name_of


class SympyReader:
    """Reads vectors, points and frames relative to one frame.

    Positions are measured from `origin`, else from a point at rest that the `anchors` (centres of mass) are connected
    with and that really rests: a contact point that rolls has the velocity 0 but is another point at every instant.
    """

    def __init__(self, symbols: Symbols, frame: ReferenceFrame, origin: Point | None, anchors: Iterable[Point]) -> None:
        self.symbols = symbols
        self.frame = frame
        self._given_origin = origin
        self._anchors = list(anchors)
        self._rotations: dict[ReferenceFrame, SX] = {frame: SX.eye(3)}
        self._velocities: dict[Point, SX] = {}
        self._rivals: dict[Point, dict[Point, SX]] = {}  # velocities that follow from other points, equally near
        self._speeding: dict[str, tuple[SX, SX]] = {}  # angular accelerations that were set, and what they should be
        self._leading: dict[Point, list[Point]] = {}
        self._velocity_parts: dict[Point, dict[ReferenceFrame, SX]] = {}
        self._angular_vectors: dict[ReferenceFrame, Vector] = {}
        self._relative: dict[tuple[ReferenceFrame, ReferenceFrame], SX] = {}
        self._turning: dict[tuple[ReferenceFrame, ReferenceFrame], SX] = {}
        self._unoriented: dict[ReferenceFrame, SX] = {}  # frames with an angular velocity only → angles that stand in

    # Vectors and frames

    def vector(self, vector: Vector) -> SX:
        """The components of a vector in the mechanism's frame, (3, 1)."""
        return self._in_frame(self._components(vector))

    def oriented_vector(self, vector: Vector) -> SX:
        """The same; BadMechanism where it is written in a frame that is not oriented."""
        return self.without_orientations(f"The vector {vector}", self.vector(vector))

    def _in_frame(self, parts: dict[ReferenceFrame, SX]) -> SX:
        return ca.sparsify(sum((self.rotation(own) @ components for own, components in parts.items()), SX(3, 1)))

    def _components(self, vector: Vector) -> dict[ReferenceFrame, SX]:
        """A vector as it is written: components (3, 1) by frame."""
        written = [] if vector == 0 else vector.args
        return {own: ca.sparsify(ca.vertcat(*map(self.symbols.translate, some))) for some, own in written}

    def rotation(self, frame: ReferenceFrame) -> SX:
        """Components in `frame` → components in the mechanism's frame, (3, 3).

        A body may have an angular velocity and no orientation; what it adds to M does not depend on that. Its rotation
        is by three angles, on which `without_orientations` lets nothing depend.
        """
        if frame not in self._rotations:
            path = frames_between(self.frame, frame)
            if path is None:
                base = next((one for one in self._unoriented if frames_between(one, frame) is not None), frame)
                angles = self._unoriented.setdefault(base, SX.sym(f"orientation of {base}", 3))
                turned = SX.eye(3) if base == frame else self.matrix(base.dcm(frame))
                self._rotations[frame] = _rotation_by(angles) @ turned
            else:
                parent = path[-2]
                self._rotations[frame] = ca.sparsify(self.rotation(parent) @ self.matrix(parent.dcm(frame)))
        return self._rotations[frame]

    def is_oriented(self, frame: ReferenceFrame) -> bool:
        """Whether its rotation is known; wheels may have an angular velocity only."""
        return frames_between(self.frame, frame) is not None

    def depends_on_orientation(self, expression: SX) -> list[str]:
        """Frames that are not oriented and on whose orientation an expression depends."""
        return [frame.name for frame, angles in self._unoriented.items()
                if differ(ca.vec(expression), ca.vec(ca.substitute(expression, angles, SX.zeros(3))))]  # fmt: skip

    def without_orientations(self, what: str, expression: SX) -> SX:
        """An expression without the angles of frames that are not oriented; BadMechanism if it depends on them."""
        frames = self.depends_on_orientation(expression)
        if frames:
            raise BadMechanism(
                f"{what} depends on the orientation of frame {listing(frames)}, which is not oriented relative to "
                f"{self.frame}; orient it."
            )
        for angles in self._unoriented.values():
            expression = ca.substitute(expression, angles, SX.zeros(3))
        return ca.sparsify(expression) if self._unoriented else expression

    def matrix(self, matrix: Any) -> SX:
        """A SymPy matrix (3, 3), structural zeros kept."""
        entries = [[self.symbols.translate(matrix[i, j]) for j in range(3)] for i in range(3)]
        return ca.sparsify(ca.vertcat(*(ca.horzcat(*row) for row in entries)))

    def angular_velocity(self, frame: ReferenceFrame) -> SX:
        """The angular velocity of a frame, components in the mechanism's frame, (3, 1)."""
        return self.vector(self._angular_vector(frame))

    def angular_velocity_in(self, frame: ReferenceFrame, axes: ReferenceFrame) -> SX:
        """The angular velocity of a frame along `axes`, (3, 1); quasi-velocities are recognised as such."""
        if (frame, axes) not in self._turning:
            turning = self._angular_vector(frame)
            if any(frames_between(axes, own) is None for _, own in turning.args):
                raise BadMechanism(
                    f"The angular velocity of frame {frame} is written in frames that {axes} is not oriented relative "
                    f"to: orient {axes}, or write the inertia of its body in a frame that is oriented."
                )
            if all(getattr(defined, "is_Derivative", False) for defined in self.symbols.definitions):
                parts = self._components(turning).items()  # speeds are rates: there is nothing to recognise
                seen = sum((self._relative_rotation(own, axes) @ w for own, w in parts), SX(3, 1))
            else:
                seen = ca.vertcat(*(self.symbols.translate(turning.dot(axis)) for axis in axes))
            self._turning[frame, axes] = ca.sparsify(seen)
        return self._turning[frame, axes]

    def _relative_rotation(self, frame: ReferenceFrame, axes: ReferenceFrame) -> SX:
        """Components in `frame` → components along `axes`, (3, 3), by the frames between them only."""
        if frame == axes:
            return SX.eye(3)
        if (frame, axes) not in self._relative:
            path = frames_between(axes, frame) or []
            for before, after in pairwise(path):
                if (after, axes) not in self._relative:
                    step = self.matrix(before.dcm(after))
                    self._relative[after, axes] = ca.sparsify(self._relative_rotation(before, axes) @ step)
        return self._relative[frame, axes]

    def angular_velocity_change(self, frame: ReferenceFrame, axes: ReferenceFrame) -> SX:
        """The derivative of the angular velocity of a frame as seen from `axes`, for v̇ = 0, (3, 1) along these.

        As SymPy has it: the angular acceleration that was set, else by the frames that the angular velocity is written
        in, and by their angular velocities.
        """
        if self.frame not in frame._ang_acc_dict:
            return self._derived_angular_change(frame, axes)
        seen = self.rotation(axes).T @ self._coasting_vector(frame._ang_acc_dict[self.frame])
        own = self.angular_velocity_in(axes, axes)
        change = ca.sparsify(seen - ca.cross(own, self.angular_velocity_in(frame, axes)))
        if self.is_oriented(frame):
            self._speeding[frame.name] = self._derived_angular_change(frame, axes), change
        return change

    def _derived_angular_change(self, frame: ReferenceFrame, axes: ReferenceFrame) -> SX:
        own, change = self.angular_velocity_in(axes, axes), SX(3, 1)
        for written, w in self._components(self._angular_vector(frame)).items():
            if written == axes:
                change = change + self.dt(w)
                continue
            turned = self.rotation(axes).T @ self.rotation(written)
            change = change + turned @ self._changing({written: w})[written] - ca.cross(own, turned @ w)
        return ca.sparsify(change)

    def _angular_vector(self, frame: ReferenceFrame) -> Vector:
        if frame not in self._angular_vectors:
            try:
                self._angular_vectors[frame] = frame.ang_vel_in(self.frame)
            except ValueError:
                raise BadMechanism(
                    f"Frame {frame} is not connected to {self.frame}; orient one relative to the other."
                ) from None
        return self._angular_vectors[frame]

    def warn_of_contradictions(self, at_rest: SX, driven: SX) -> None:
        """Warn of frames whose angular velocity, as it was set, is not that of their orientation: Ṙ Rᵀ ≠ ω×.

        `at_rest`: velocities that are 0 here, as auxiliary speeds, which no orientation knows. `driven`: functions of
        time in loads; nothing is known of the rate of a frame that they turn.
        """
        turning: dict[str, tuple[SX, SX]] = {}
        for frame, R in self._rotations.items():
            if not self.is_oriented(frame) or ca.depends_on(ca.vec(R), driven):
                continue
            if differ(R.T @ R, SX.eye(3)):
                continue  # quaternions: no rotation unless their length is 1, which no other pose has
            W = self.dt(R) @ R.T
            own = ca.vertcat(W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]) / 2
            turning[frame.name] = own, self.angular_velocity(frame)
        moving: dict[str, tuple[SX, SX]] = {}
        for point in self._anchors:
            if self.frame in point._acc_dict and point in self._velocities:
                moving[point.name] = self.dt(self.velocity(point)), self.coasting_acceleration(point)
        _warn(turning, at_rest, "The angular velocity that was set for", "its orientation and the kinematics")
        _warn(self._speeding, at_rest, "The angular acceleration that was set for", "its angular velocity")
        self._warn_of_rivals(at_rest)
        _warn(moving, at_rest, "The acceleration that was set for", "its velocity")

    def _warn_of_rivals(self, at_rest: SX) -> None:
        """Warn of points whose velocity does not follow in one way: SymPy keeps what `Point.vel` derives as if set."""
        for point, rivals in self._rivals.items():
            if not rivals:
                continue
            first = self._nearest(point)[0]
            for other, rival in rivals.items():
                if differ(_at_rest(rival, at_rest), _at_rest(self.velocity(point), at_rest), unknown=False):
                    warnings.warn(
                        f"The velocity of point '{name_of(point)}' follows from those of '{name_of(first)}' and "
                        f"'{name_of(other)}', not in the same way; that of '{name_of(first)}' is used. Set it.",
                        MechanismWarning,
                        stacklevel=6,
                    )
                    break

    # Points

    def motion(self, point: Point) -> PointMotion:
        """Where a point is and how it moves."""
        velocity = self.without_orientations(f"The velocity of point '{name_of(point)}'", self.velocity(point))
        position = self.position(point)
        beside = self._position(point, self._anchors[0]) if position is None and self._anchors else None
        return PointMotion(position, velocity, point, beside)

    def position(self, point: Point) -> SX | None:
        """Where a point is, in the mechanism's frame, (3, 1); None where it is not connected with the origin."""
        return self._position(point, self.origin)

    def velocity(self, point: Point) -> SX:
        """The velocity of a point, in the mechanism's frame, (3, 1)."""
        if point not in self._velocities:
            self._velocities[point] = self._in_frame(self._velocity(point))
            rivals = self._nearest(point)[1:]
            self._rivals[point] = {other: self._in_frame(self._velocity_from(other, point)) for other in rivals}
        return self._velocities[point]

    def coasting_acceleration(self, point: Point) -> SX:
        """The acceleration of a point for v̇ = 0, (3, 1): the one that was set, else that of its velocity."""
        if self.frame not in point._acc_dict:
            return self._in_frame(self._changing(self._velocity(point)))
        return self._coasting_vector(point._acc_dict[self.frame])

    def _coasting_vector(self, acceleration: Vector) -> SX:
        """An acceleration as it is written, for v̇ = 0, (3, 1)."""
        written = [] if acceleration == 0 else acceleration.args
        return self._in_frame({own: ca.vertcat(*(self.symbols.translate(c, coasting=True) for c in some))
                               for some, own in written})  # fmt: skip

    def knows_motion(self, body: Particle | RigidBody) -> bool:
        """Whether its velocity and angular velocity are known, as they need not be beside a Lagrangian."""
        frame = body.frame if isinstance(body, RigidBody) else self.frame
        try:
            self._angular_vector(frame)
        except BadMechanism:
            return False
        return self._nearest_known(body.masscenter) is not None

    def _changing(self, parts: dict[ReferenceFrame, SX]) -> dict[ReferenceFrame, SX]:
        """The derivative of a vector by time, for v̇ = 0, components by frame: ṙ + ω × r in each."""
        changes = {own: self.dt(r) for own, r in parts.items()}
        return {own: change if own == self.frame else change + ca.cross(self.angular_velocity_in(own, own), parts[own])
                for own, change in changes.items()}  # fmt: skip

    def jacobian_parts(self, point: Point) -> dict[ReferenceFrame, SX]:
        """∂(velocity of a point)/∂v in the frames that the velocity is written in, (3, n_v) each; they add up."""
        parts = self._velocity(point).items()
        return {own: ca.sparsify(ca.jacobian(part, self.symbols.v)) for own, part in parts}

    def _velocity(self, point: Point) -> dict[ReferenceFrame, SX]:
        """The velocity of a point, components by frame."""
        if point not in self._velocity_parts:
            self._velocity_parts[point] = self._velocity_from_nearest(point)
        return self._velocity_parts[point]

    def _velocity_from_nearest(self, point: Point) -> dict[ReferenceFrame, SX]:
        """The same, from the nearest point whose velocity is known."""
        known = self._nearest_known(point)
        if known is None:
            raise NotExpressible(
                f"The velocity of point '{name_of(point)}' is not known: place it relative to a point at rest in "
                f"{self.frame}, set its velocity, or give origin=."
            )
        return self._velocity_from(known, point)

    def _velocity_from(self, known: Point, point: Point) -> dict[ReferenceFrame, SX]:
        """The same, from a point whose velocity is known."""
        parts = self._components(known._vel_dict.get(self.frame, Vector(0)))
        place = self._place(point, known) if known is not point else None
        for own, moving in self._changing(self._components(place or Vector(0))).items():
            parts[own] = parts[own] + moving if own in parts else moving
        return parts

    def _nearest_known(self, point: Point) -> Point | None:
        """The nearest point whose velocity is known and that leads to that of another one; None if there is none."""
        origin = self._given_origin
        known = next(iter(self._nearest(point)), None)
        return origin if known is None and origin is not None and self._place(point, origin) is not None else known

    def _nearest(self, point: Point) -> list[Point]:
        """The nearest points that lead to the velocity of another one, equally near; SymPy takes the first."""
        if point not in self._leading:
            nearest: list[tuple[Point, int]] = []
            for near, distance in _neighbours(point):
                if nearest and distance > nearest[0][1]:
                    break
                if self._leads(near, point):
                    nearest.append((near, distance))
            self._leading[point] = [near for near, _ in nearest]
        return self._leading[point]

    def _leads(self, near: Point, point: Point) -> bool:
        """Whether the velocity of a point near another one is known, and its own follows from that."""
        if self.frame not in near._vel_dict:
            return False
        if near is point:
            return True
        place = near.pos_from(point)
        return all(self.is_oriented(own) for _, own in (place.args if place != 0 else ()))

    def dt(self, expression: SX) -> SX:
        """Its derivative by time."""
        s = self.symbols
        column = ca.vec(expression)
        change = ca.jtimes(column, s.q, s.rates) + ca.jacobian(column, s.t)
        return ca.sparsify(ca.reshape(change, *expression.shape))

    @cached_property
    def origin(self) -> Point | None:
        """The point that positions are measured from; None where no point is known to rest."""
        if self._given_origin is not None:
            return self._given_origin
        connected = dict.fromkeys(point for anchor in self._anchors for point, _ in _neighbours(anchor))
        resting = (point for point in connected if point._vel_dict.get(self.frame) == 0)
        return next((point for point in resting if self._rests(point)), None)

    def _rests(self, point: Point) -> bool:
        """Whether the velocities of the anchors are the derivatives of their positions relative to it."""
        errors = [SX(0, 1)]
        for anchor in self._anchors:
            position = self._position(anchor, point)
            if position is not None:
                errors.append(ca.densify(self.dt(position) - self.velocity(anchor)))
        column = ca.vertcat(*errors)
        return not differ(column, SX.zeros(*column.shape))

    def _position(self, point: Point, origin: Point | None) -> SX | None:
        place = None if origin is None else self._place(point, origin)
        if place is None or not all(self.is_oriented(own) for _, own in (place.args if place != 0 else ())):
            return None
        return self.vector(place)

    def _place(self, point: Point, origin: Point) -> Vector | None:
        try:
            return point.pos_from(origin)
        except ValueError:
            return None


def frames_between(start: ReferenceFrame, frame: ReferenceFrame) -> list[ReferenceFrame] | None:
    """Frames from one to another, each oriented relative to the one before; None if there is no such way."""
    try:
        return list(start._dict_list(frame, 0))
    except ValueError:
        return None


def _rotation_by(angles: SX) -> SX:
    """A rotation by three angles, (3, 3)."""
    (a, b, c), turned = ca.vertsplit(angles), SX.eye(3)
    for angle, (i, j) in ((a, (0, 1)), (b, (1, 2)), (c, (0, 1))):
        R = SX.eye(3)
        R[i, i], R[j, j] = ca.cos(angle), ca.cos(angle)
        R[i, j], R[j, i] = -ca.sin(angle), ca.sin(angle)
        turned = turned @ R
    return turned


def _neighbours(point: Point) -> Iterator[tuple[Point, int]]:
    """A point and those that are placed relative to it, with the number of steps to them, the nearest first."""
    queue, distances = [point], {point: 0}
    for near in queue:
        yield near, distances[near]
        more = [other for other in near._pos_dict if other not in distances]  # SymPy does not list neighbours in public
        queue += more
        distances.update(dict.fromkeys(more, distances[near] + 1))


def _at_rest(expression: SX, velocities: SX) -> SX:
    """The expression where these velocities are 0."""
    return ca.substitute(expression, velocities, SX.zeros(*velocities.shape)) if velocities.numel() else expression


def _warn(pairs: dict[str, tuple[SX, SX]], at_rest: SX, what: str, source: str) -> None:
    """Warn of those whose vectors, (3, 1), are not the same while the velocities `at_rest` are 0."""
    at = {name: [_at_rest(ca.densify(one), at_rest) for one in pair] for name, pair in pairs.items()}
    ones, others = (ca.vertcat(SX(0, 1), *(pair[i] for pair in at.values())) for i in (0, 1))
    if differ(ones, others, unknown=False):
        wrong = [name for name, (one, other) in at.items() if differ(one, other, unknown=False)]
        text = f"{what} {listing(wrong or at)} is not the one that follows from {source}; the one that was set is used."
        warnings.warn(text, MechanismWarning, stacklevel=6)
