"""Bodies of sympy.physics.mechanics → the CasADi expressions of a Mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import casadi as ca
from casadi import SX
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, RigidBody, Vector

from jourdain.errors import BadMechanism, NotAffine, NotExpressible, Rheonomic, ShapeError, listing
from jourdain.inputs import Expression
from jourdain.mechanism.general import GeneralMechanism
from jourdain.mechanism.symbols import GivenLoads, PointMotion, Symbols
from jourdain.naming import name_of, refuse_clash


def refuse_wrong_types(frame: Any, origin: Any, lists: Mapping[str, Any], dicts: Mapping[str, Any]) -> None:
    """BadMechanism for an argument of `Mechanism.from_sympy` that is not of the kind it must be."""
    if not isinstance(frame, ReferenceFrame):
        raise BadMechanism(f"frame must be a ReferenceFrame, not {frame!r}.")
    if origin is not None and not isinstance(origin, Point):
        raise BadMechanism(f"origin must be a Point, not {origin!r}.")
    for what, several in lists.items():
        if not isinstance(several, list | tuple):
            raise BadMechanism(f"{what} must be a list, not {several!r}.")
    for what, mapping in dicts.items():
        if not isinstance(mapping, Mapping):
            raise BadMechanism(f"{what} must be a dict, not {mapping!r}.")
    for name, point in dicts["points"].items():
        if not isinstance(point, Point):
            raise BadMechanism(f"points['{name}'] must be a Point, not {point!r}.")


def kinematics_matrix(symbols: Symbols, kinematics: Mapping[Any, Any] | None) -> SX:
    """N with q̇ = N v, from {quasi-velocity: expression linear in the rates} or {rate: expression linear in v}."""
    kinematics = dict(kinematics or {})
    quasi = [name for name in symbols.v_names if name not in symbols.q_names]
    by_rate = {name_of(key): value for key, value in kinematics.items() if _is_rate(key)}
    by_quasi = {name_of(key): value for key, value in kinematics.items() if not _is_rate(key)}
    n_q, n_v = len(symbols.q_names), len(symbols.v_names)
    raw_rates = SX.sym("rate", n_q)
    if by_rate and by_quasi:
        raise BadMechanism("kinematics mixes rates and quasi-velocities as keys; use one form.")
    if by_rate or set(symbols.q_names) <= set(symbols.v_names):  # quasi-velocities without a coordinate are free
        rates = []
        for name in symbols.q_names:
            if name in by_rate:
                rates.append(symbols.translate(by_rate[name]))
            elif name in symbols.v_names:
                rates.append(symbols.v[symbols.v_names.index(name)])
            else:
                raise BadMechanism(
                    f"The rate of '{name}' is neither in v nor in kinematics; say how it follows from v."
                )
        return _linear(ca.vertcat(*rates), symbols.v, "kinematics")
    missing = [name for name in quasi if name not in by_quasi]
    if missing:
        raise BadMechanism(
            f"kinematics does not say what {listing(missing)} is; give it as an expression in the rates."
        )
    if n_q != n_v:
        raise ShapeError(
            f"There are {n_v} velocities for {n_q} coordinates; give kinematics as {{rate: expression in v}}."
        )
    # v = Y(q) q̇; the rates that are velocities themselves drop out, the rest is a small matrix.
    Y = SX(n_v, n_q)
    for i, name in enumerate(symbols.v_names):
        if name in by_quasi:
            expression = symbols.translate(by_quasi[name], rates=raw_rates)
            Y[i, :] = _linear(expression, raw_rates, f"kinematics of '{name}'")
        else:
            Y[i, symbols.q_names.index(name)] = 1
    return _inverse(Y, [i for i, name in enumerate(symbols.v_names) if name in by_quasi], symbols)


def _inverse(Y: SX, rows: list[int], symbols: Symbols) -> SX:
    """Y⁻¹ where the rows not in `rows` are unit rows."""
    n = Y.shape[0]
    columns = [j for j, name in enumerate(symbols.q_names) if name not in symbols.v_names]
    block = Y[rows, columns]
    inverse = ca.inv_minor(block) if len(rows) <= 4 else ca.solve(block, SX.eye(len(rows)))
    N = SX(n, n)
    for i, name in enumerate(symbols.v_names):
        if i not in rows:
            j = symbols.q_names.index(name)
            N[j, i] = 1
            N[columns, i] = -inverse @ Y[rows, j]
    N[columns, rows] = inverse
    return ca.sparsify(N)


def _linear(expression: SX, variables: SX, what: str) -> SX:
    J = ca.jacobian(expression, variables)
    rest = ca.substitute(expression, variables, SX.zeros(*variables.shape))
    if ca.depends_on(J, variables) or not ca.sparsify(ca.simplify(rest)).is_zero():
        raise NotAffine(f"The {what} must be linear in the velocities, without a constant term.")
    return ca.sparsify(J)


def _is_rate(key: Any) -> bool:
    return type(key).__name__ == "Derivative"


class SympyReader:
    """Reads vectors, points and bodies relative to one frame and origin."""

    def __init__(self, symbols: Symbols, frame: ReferenceFrame, origin: Point | None, points: Iterable[Point]) -> None:
        self.symbols = symbols
        self.frame = frame
        self.origin = origin or _point_at_rest(list(points), frame)
        self._rotations: dict[ReferenceFrame, SX] = {}
        self._turning_in_body: dict[ReferenceFrame, SX] = {}

    def vector(self, vector: Vector) -> SX:
        """The components of a vector in the mechanism's frame, (3, 1)."""
        parts = self._components(vector).items()
        return ca.sparsify(sum((self.rotation(own) @ components for own, components in parts), SX(3, 1)))

    def _components(self, vector: Vector) -> dict[ReferenceFrame, SX]:
        """A vector as it is written: components (3, 1) by frame."""
        written = [] if vector == 0 else vector.args
        return {own: ca.sparsify(ca.vertcat(*(self.symbols.translate(c) for c in some))) for some, own in written}

    def rotation(self, frame: ReferenceFrame) -> SX:
        """Components in `frame` → components in the mechanism's frame, (3, 3)."""
        if frame not in self._rotations:
            try:
                self._rotations[frame] = self.matrix(self.frame.dcm(frame))
            except ValueError:
                raise BadMechanism(f"Frame {frame} is not oriented relative to {self.frame}; orient it.") from None
        return self._rotations[frame]

    def matrix(self, matrix: Any) -> SX:
        """A SymPy matrix (3, 3), structural zeros kept."""
        entries = [[self.symbols.translate(matrix[i, j]) for j in range(3)] for i in range(3)]
        return ca.sparsify(ca.vertcat(*(ca.horzcat(*row) for row in entries)))

    def motion(self, point: Point) -> PointMotion:
        """Where a point is and how it moves: the velocity that was set, else the derivative of the position."""
        position = self._position(point)
        if self.frame in point._vel_dict:  # set by the user, or derived by SymPy before
            return PointMotion(position, self.vector(point.vel(self.frame)), point)
        if position is not None:
            rates = self.symbols.N @ self.symbols.v
            drift = ca.jacobian(position, self.symbols.t)
            return PointMotion(position, ca.sparsify(ca.jtimes(position, self.symbols.q, rates) + drift), point)
        try:
            return PointMotion(None, self.vector(point.vel(self.frame)), point)
        except ValueError:
            raise NotExpressible(
                f"The velocity of point '{name_of(point)}' is not known: place it relative to a point at rest in "
                f"{self.frame}, set its velocity, or give origin=."
            ) from None

    def _position(self, point: Point) -> SX | None:
        place = self._place(point)
        return None if place is None else self.vector(place)

    def _place(self, point: Point) -> Vector | None:
        if self.origin is None:
            return None
        try:
            return point.pos_from(self.origin)
        except ValueError:
            return None

    def jacobian_parts(self, point: Point) -> dict[ReferenceFrame, SX]:
        """∂(velocity of a point)/∂v in the frames that the velocity is written in, (3, n_v) each; they add up."""
        place = self._place(point)
        if place is None or self.frame in point._vel_dict:
            velocity = self._components(point.vel(self.frame))
        else:  # ṙ + ω × r
            rates = self.symbols.N @ self.symbols.v
            velocity = {own: ca.jtimes(r, self.symbols.q, rates) + ca.cross(self.angular_velocity_in_body(own), r)
                        for own, r in self._components(place).items()}  # fmt: skip
        return {own: ca.sparsify(ca.jacobian(part, self.symbols.v)) for own, part in velocity.items()}

    def angular_velocity(self, frame: ReferenceFrame) -> SX:
        """The angular velocity of a frame, components in the mechanism's frame, (3, 1)."""
        return self.vector(self._turning(frame))

    def angular_velocity_in_body(self, frame: ReferenceFrame) -> SX:
        """The angular velocity of a frame in its own axes, (3, 1); quasi-velocities are recognised as such."""
        if frame not in self._turning_in_body:
            turning = self._turning(frame)
            entries = [self.symbols.translate(turning.dot(axis)) for axis in frame]
            self._turning_in_body[frame] = ca.sparsify(ca.vertcat(*entries))
        return self._turning_in_body[frame]

    def _turning(self, frame: ReferenceFrame) -> Vector:
        try:
            return frame.ang_vel_in(self.frame)
        except ValueError:
            raise BadMechanism(
                f"Frame {frame} is not connected to {self.frame}; orient one relative to the other."
            ) from None


def _point_at_rest(points: list[Point], frame: ReferenceFrame) -> Point | None:
    """The first point connected to the given ones whose velocity in `frame` was set to zero."""
    queue, seen = list(points), set(points)
    while queue:
        point = queue.pop(0)
        if point._vel_dict.get(frame) == 0:
            return point
        for neighbour in point._pos_dict:  # SymPy has no public way to list neighbours
            if neighbour not in seen:
                seen.add(neighbour)
                queue.append(neighbour)
    return None


def read_bodies(
    reader: SympyReader,
    bodies: Sequence[Particle | RigidBody],
    points: Mapping[str, Point],
    gravity: Vector | None,
    forces: Sequence[tuple[Any, Any]],
) -> tuple[SX, dict[str, PointMotion], dict[str, SX | None], GivenLoads]:
    """M(q), named points, angular velocities by body (None for particles), and what acts between events.

    The potential is not known where a mass centre is not connected to the origin.
    """
    symbols = reader.symbols
    n = len(symbols.v_names)
    M, force, bias, potential = SX(n, n), SX(n, 1), SX(n, 1), SX(0)
    rates, placed = symbols.N @ symbols.v, True
    moving: list[tuple[SX, SX, Point]] = []
    g = reader.vector(gravity) if gravity is not None else SX(3, 1)
    angular: dict[str, SX | None] = {}
    for body in bodies:
        if not isinstance(body, Particle | RigidBody):
            raise NotExpressible(f"{body!r} is not a body; give SymPy's Particle or RigidBody.")
        mass = symbols.translate(body.mass)
        motion = reader.motion(body.masscenter)
        J = _homogeneous(motion.velocity, symbols, body.name)
        moving.append((mass, J, body.masscenter))
        force = force + J.T @ (mass * g)
        # Kane: h = Σ Jᵀ m a₀ + J_ωᵀ (I α₀ + ω × I ω), with a₀, α₀ what is left of the accelerations for v̇ = 0.
        bias = bias + J.T @ (mass * ca.jtimes(motion.velocity, symbols.q, rates))
        placed = placed and motion.position is not None
        if motion.position is not None:
            potential = potential - mass * ca.dot(g, motion.position)
        angular[body.name] = None
        if isinstance(body, RigidBody):
            angular[body.name] = reader.angular_velocity(body.frame)
            # In the body's own axes the inertia is constant, and planar bodies keep their zeros.
            turning = reader.angular_velocity_in_body(body.frame)
            J_body = _homogeneous(turning, symbols, body.name)
            I_body = reader.matrix(body.central_inertia.to_matrix(body.frame))
            M = M + J_body.T @ (I_body @ J_body)
            spin_up = I_body @ ca.jtimes(turning, symbols.q, rates) + ca.cross(turning, I_body @ turning)
            bias = bias + J_body.T @ spin_up
    weight = ca.sparsify(force)
    for target, load in forces:
        J = ca.jacobian(_loaded(reader, target), symbols.v)
        force = force + J.T @ reader.vector(load)
    named = {name: reader.motion(point) for name, point in points.items()}
    M = M + _translational_inertia(reader, moving)
    M = ca.triu2symm(ca.triu(M))  # the same expressions on both sides of the diagonal
    known = ca.sparsify(potential) if placed else None
    return ca.sparsify(M), named, angular, GivenLoads(ca.sparsify(force), ca.sparsify(bias), known, weight)


def _translational_inertia(reader: SympyReader, moving: Sequence[tuple[SX, SX, Point]]) -> SX:
    """Σ m JᵀJ over the mass centres, given as (m, J, point).

    With J = Σ R_f J_f over the frames f, JᵀJ is a sum of products of axes, e·e' J_f[e]ᵀ J_f'[e']. In the plane, where
    most axes are orthogonal, summing over the masses first is short, and sin² + cos² never appears.
    """
    n = len(reader.symbols.v_names)
    parts = [(mass, reader.jacobian_parts(point)) for mass, _, point in moving]
    frames = list(dict.fromkeys([reader.frame, *(frame for _, by_frame in parts for frame in by_frame)]))
    turning = ca.horzcat(SX(3, 0), *map(reader.angular_velocity, frames))
    if len(set(turning.sparsity().row())) > 1:  # frames that turn about several axes
        return sum((J.T @ (mass * J) for mass, J, _ in moving), SX(n, n))
    M = SX(n, n)
    for at, frame in enumerate(frames):
        for other in frames[at:]:
            pairs = [(mass * by[frame], by[other]) for mass, by in parts if frame in by and other in by]
            cosines = SX.eye(3) if frame is other else ca.sparsify(reader.rotation(frame).T @ reader.rotation(other))
            for i, k in zip(*cosines.sparsity().get_triplet(), strict=True):
                half = sum((J[i, :].T @ K[k, :] for J, K in pairs), SX(n, n))
                M = M + (half if frame is other else cosines[i, k] * (half + half.T))
    return M


def _loaded(reader: SympyReader, target: Any) -> SX:
    """The velocity that a SymPy load works on: of a point, or of a frame."""
    if isinstance(target, Point):
        return reader.motion(target).velocity
    if isinstance(target, ReferenceFrame):
        return reader.angular_velocity(target)
    raise BadMechanism(f"A load acts on a Point (force) or a ReferenceFrame (torque), not on {target!r}.")


def _homogeneous(velocity: SX, symbols: Symbols, body: str) -> SX:
    """J with velocity = J v; a body that moves by itself is refused."""
    J = ca.jacobian(velocity, symbols.v)
    if ca.depends_on(J, symbols.v):
        raise NotAffine(f"The velocity of body '{body}' is not linear in the generalized velocities.")
    rest = ca.substitute(velocity, symbols.v, SX.zeros(*symbols.v.shape))
    if not ca.sparsify(ca.simplify(rest)).is_zero():
        raise Rheonomic(
            f"Body '{body}' moves although no generalized velocity does ({rest}); "
            "describe moving supports as constraints with a bias instead."
        )
    return ca.sparsify(J)


def from_sympy(
    bodies: Sequence[Particle | RigidBody],
    frame: ReferenceFrame,
    q: Sequence[Expression],
    v: Sequence[Expression] | None,
    kinematics: Mapping[Expression, Expression] | None,
    parameters: Mapping[Any, float | None],
    points: Mapping[str, Point],
    outputs: Mapping[str, Expression],
    origin: Point | None,
    gravity: Vector | None,
    forces: Sequence[tuple[Point | ReferenceFrame, Vector]],
    units: Mapping[Any, str],
) -> GeneralMechanism:
    """See `Mechanism.from_sympy`."""
    lists = {"bodies": bodies, "q": q, "v": () if v is None else v, "forces": forces}
    dicts = {"kinematics": kinematics or {}, "parameters": parameters, "points": points, "outputs": outputs}
    refuse_wrong_types(frame, origin, lists, dicts)
    names = [name_of(symbol) for symbol in q]
    refuse_clash((name, "coordinate") for name in names)
    v_names = names if v is None else [name_of(symbol) for symbol in v]
    p_names = [name_of(symbol) for symbol in parameters]
    for what, several in (("velocity", v_names), ("parameter", p_names)):
        refuse_clash((name, what) for name in several)
    symbols = Symbols.named(names, v_names, p_names)
    symbols = symbols.with_kinematics(kinematics_matrix(symbols, kinematics), kinematics or {})
    anchors = [body.masscenter for body in bodies if getattr(body, "masscenter", None)]
    reader = SympyReader(symbols, frame, origin, [*anchors, *points.values()])
    M, motions, angular, loads = read_bodies(reader, bodies, points, gravity, forces)
    refuse_clash((body.name, "body") for body in bodies)
    written = {name: symbols.translate(expression) for name, expression in outputs.items()}
    moving = [*(motion.velocity for motion in motions.values()), *written.values()]
    return GeneralMechanism(
        symbols,
        M,
        {name_of(symbol): default for symbol, default in parameters.items()},
        motions,
        angular,
        written,
        loads,
        {name_of(key): unit for key, unit in units.items()},
        {name_of(symbol): symbol for symbol in parameters if not isinstance(symbol, str)},
        reader,
        bool(ca.depends_on(ca.vertcat(SX(0, 1), *map(ca.densify, moving)), symbols.t)),
    )
