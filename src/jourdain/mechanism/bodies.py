"""The mass matrix of SymPy's bodies, and what acts on them between events."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import casadi as ca
from casadi import SX
from sympy.core.function import AppliedUndef
from sympy.physics.mechanics import Dyadic, Particle, Point, ReferenceFrame, RigidBody, Vector

from jourdain.compute.sampled import differ
from jourdain.errors import BadMechanism, MechanismWarning, NotAffine, NotExpressible, Rheonomic, listing
from jourdain.mechanism.reader import SympyReader, frames_between
from jourdain.mechanism.symbols import GivenLoads, Symbols, is_of_time
from jourdain.naming import name_of


@dataclass(frozen=True)
class MovingBody:
    """A body of SymPy as a mechanism needs it; expressions in the mechanism's symbols."""

    name: str
    mass: SX
    velocity: SX  # of the centre of mass, (3, 1)
    masscenter: Point
    angular_velocity: SX | None  # in the mechanism's frame, (3, 1); None of particles
    inertia: SX  # (n_v, n_v), of the rotation
    momentum_rate: SX  # (n_v, 1), J_ωᵀ (I ω)˙ for v̇ = 0
    potential: SX  # J, that the body was given

    @property
    def moves(self) -> bool:
        return self.velocity.nnz() > 0 or (self.angular_velocity is not None and self.angular_velocity.nnz() > 0)


def read_body(reader: SympyReader, body: Particle | RigidBody, potentials: bool = True) -> MovingBody:
    """A body, with what its rotation adds to M and to the bias. `potentials`: read its potential energy."""
    if not isinstance(body, Particle | RigidBody):
        raise NotExpressible(f"{body!r} is not a body; give SymPy's Particle or RigidBody.")
    symbols, n = reader.symbols, len(reader.symbols.v_names)
    mass, velocity = symbols.translate(body.mass), reader.velocity(body.masscenter)
    turning, inertia, momentum_rate = None, SX(n, n), SX(n, 1)
    if getattr(body, "is_rigidbody", isinstance(body, RigidBody)):  # SymPy's Body may be a particle
        turning = reader.angular_velocity(body.frame)
        if turning.nnz():
            inertia, momentum_rate = _rotational(reader, body)
    potential = symbols.translate(getattr(body, "potential_energy", 0) if potentials else 0)  # a subclass may lack it
    return MovingBody(body.name, mass, velocity, body.masscenter, turning, inertia, momentum_rate, potential)


def _rotational(reader: SympyReader, body: RigidBody) -> tuple[SX, SX]:
    """J_ωᵀ I J_ω and J_ωᵀ (I ω)˙, in axes in which the inertia is constant: planar bodies keep their zeros."""
    symbols, dyadic = reader.symbols, body.central_inertia
    written = dict.fromkeys(axis.args[0][1] for part in dyadic.args for axis in part[1:])
    # The body's own axes, else those the inertia is written in: a wheel has the same inertia in the frame of its fork.
    choices = [body.frame, *written] if body.frame in written else [*written, body.frame]
    axes = next((frame for frame in choices if reader.is_oriented(frame)), choices[0])
    try:
        I = _components(reader, dyadic, axes)
    except ValueError:
        raise BadMechanism(
            f"The inertia of body '{body.name}' is written in frames that are not oriented relative to each other."
        ) from None
    turning = reader.angular_velocity_in(body.frame, axes)
    J = homogeneous(turning, symbols, body.name)
    # (I ω)˙ = İ ω + I ω˙ + ω_axes × I ω, dots as seen from the axes.
    change = reader.dt(I) @ turning + I @ reader.angular_velocity_change(body.frame, axes)
    return J.T @ (I @ J), J.T @ (change + ca.cross(reader.angular_velocity_in(axes, axes), I @ turning))


def _components(reader: SympyReader, dyadic: Dyadic, axes: ReferenceFrame) -> SX:
    """A dyadic along `axes`, (3, 3); the parts that are written in them need no work of SymPy."""
    I, others = SX(3, 3), []
    for part in dyadic.args:
        measure, *pair = part
        if all(len(unit.args) == 1 and unit.args[0][1] == axes for unit in pair):
            one, other = (ca.sparsify(ca.vertcat(*map(reader.symbols.translate, unit.args[0][0]))) for unit in pair)
            I = I + (one @ other.T) * reader.symbols.translate(measure)
        else:
            others.append(part)
    return ca.sparsify(I + reader.matrix(Dyadic(others).to_matrix(axes)) if others else I)


def mass_matrix(reader: SympyReader, bodies: Sequence[MovingBody]) -> SX:
    """M(q), (n_v, n_v)."""
    n = len(reader.symbols.v_names)
    turning = sum((body.inertia for body in bodies), SX(n, n))
    M = turning + _translational_inertia(reader, bodies)
    M = ca.sparsify(ca.triu2symm(ca.triu(M)))  # the same expressions on both sides of the diagonal
    return reader.without_orientations("The mass matrix", M)


def read_loads(
    reader: SympyReader,
    bodies: Sequence[MovingBody],
    gravity: Vector | None,
    forces: Iterable[tuple[Any, Any]],
) -> GivenLoads:
    """What acts between events: bias, gravity, forces, and the potential energy that bodies were given.

    The potential of gravity is known where it is measured from a point that rests.
    """
    symbols = reader.symbols
    n = len(symbols.v_names)
    g = reader.vector(gravity) if gravity is not None else SX(3, 1)
    bias, weight, height = SX(n, 1), SX(n, 1), SX(0)

    def oriented(expression: SX) -> SX:
        return reader.without_orientations("What acts on the bodies", ca.sparsify(expression))

    for body in bodies:
        J = homogeneous(body.velocity, symbols, body.name)
        # Kane: h = Σ Jᵀ (m v)˙ + J_ωᵀ (I ω)˙, what is left of them for v̇ = 0.
        growing = reader.dt(body.mass) * body.velocity
        acceleration = reader.coasting_acceleration(body.masscenter)
        bias = bias + J.T @ (body.mass * acceleration + growing) + body.momentum_rate
        weight = weight + J.T @ (body.mass * g)
        place = reader.position(body.masscenter) if g.nnz() else None
        height = height if place is None else height - body.mass * ca.dot(g, place)
    height = ca.sparsify(height)
    applied = SX(n, 1)
    for target, load in forces:
        applied = applied + ca.jacobian(_loaded(reader, target), symbols.v).T @ reader.vector(load)
    stored = sum((body.potential for body in bodies), SX(0))
    known = not differ(weight, -symbols.N.T @ ca.gradient(height, symbols.q))
    total = weight - symbols.N.T @ ca.gradient(stored, symbols.q)
    potential = oriented(height + stored) if known else None
    return GivenLoads(oriented(total + applied), oriented(bias), potential, oriented(total))


def warn_of_weights(
    reader: SympyReader, bodies: Iterable[Any], gravity: bool, loads: Iterable[tuple[Any, Vector]]
) -> None:
    """Warn of bodies that have a potential energy and a weight besides: both act, as in SymPy's LagrangesMethod."""
    constant = {target for target, load in loads if _is_constant(reader, load)}
    named = [body.name for body in bodies
             if getattr(body, "potential_energy", 0) != 0 and (gravity or body.masscenter in constant)]  # fmt: skip
    if named:
        warnings.warn(
            f"{listing(named)} has a potential energy, and a weight or another constant force acts on its centre of "
            "mass besides; both act, and if they are the same force, give one of them.",
            MechanismWarning,
            stacklevel=5,
        )


def _is_constant(reader: SympyReader, load: Vector) -> bool:
    """Whether it is the same at every pose and instant, as a weight is."""
    functions = (c.atoms(AppliedUndef) for some, _ in load.args for c in some if hasattr(c, "atoms"))
    if load == 0 or any(functions):
        return False
    symbols = reader.symbols
    return not ca.depends_on(reader.vector(load), ca.vertcat(symbols.q, symbols.v, symbols.t))


def pairs_of_loads(loads: Iterable[Any]) -> list[tuple[Any, Vector]]:
    """SymPy's (Point, force) and (ReferenceFrame, torque) pairs, and the loads of actuators."""
    found: list[tuple[Any, Vector]] = []
    for load in loads:
        if hasattr(load, "to_loads"):
            found += pairs_of_loads(load.to_loads())
        elif isinstance(load, tuple | list) and len(load) == 2:
            target, vector = load
            if not isinstance(vector, Vector) and vector != 0:
                raise BadMechanism(f"A load is a pair (Point or ReferenceFrame, Vector), not {load!r}.")
            found.append((target, vector if isinstance(vector, Vector) else Vector(0)))
        else:
            raise BadMechanism(
                f"A load is a pair (Point or ReferenceFrame, Vector) or an actuator of SymPy, not {load!r}."
            )
    return found


def functions_in(expressions: Iterable[Any], known: Iterable[str], frame: ReferenceFrame) -> dict[str, Any]:
    """Functions of time in SymPy expressions and vectors that are not known by name, by their names.

    Those that turn the axes of a vector, seen from `frame`, are among them.
    """
    scalars: list[Any] = []
    for one in expressions:
        if not isinstance(one, Vector):
            scalars.append(one)
            continue
        scalars += [c for some, _ in one.args for c in some]
        for _, axes in one.args:
            steps = frames_between(frame, axes) or []
            scalars += [c for before, after in pairwise(steps) for c in after.dcm(before)]
    known = set(known)
    functions = {f for one in scalars if hasattr(one, "atoms") for f in one.atoms(AppliedUndef) if is_of_time(f)}
    found = {name_of(f): f for f in functions}
    return {name: found[name] for name in sorted(found) if name not in known}


def without_timed_potential(loads: GivenLoads, symbols: Symbols, driven: Iterable[str]) -> GivenLoads:
    """The loads without a potential where it changes by itself: its force is one of the forces then."""
    inputs = ca.vertcat(symbols.t, *(symbols.parameters[name] for name in driven))
    timed = loads.potential is not None and ca.depends_on(loads.potential, inputs)
    return replace(loads, potential=None) if timed else loads


def check_driven(symbols: Symbols, driven: Iterable[str], parts: Mapping[str, SX]) -> None:
    """Raise Rheonomic where a function of time, other than in loads, would move something."""
    for name in driven:
        for where, expression in parts.items():
            if ca.depends_on(ca.vec(expression), symbols.parameters[name]):
                raise Rheonomic(
                    f"The function of time '{name}' stands in {where} and is no coordinate of the system; a motion "
                    "that it prescribes is not supported: make it a coordinate, held by a constraint."
                )


def _translational_inertia(reader: SympyReader, bodies: Sequence[MovingBody]) -> SX:
    """Σ m JᵀJ over the mass centres.

    With J = Σ R_f J_f over the frames f, JᵀJ is a sum of products of axes, e·e' J_f[e]ᵀ J_f'[e']. In the plane, where
    most axes are orthogonal, summing over the masses first is short, and sin² + cos² never appears.
    """
    n = len(reader.symbols.v_names)
    parts = [(body.mass, reader.jacobian_parts(body.masscenter)) for body in bodies]
    frames = list(dict.fromkeys([reader.frame, *(frame for _, by_frame in parts for frame in by_frame)]))
    turning = ca.horzcat(SX(3, 0), *map(reader.angular_velocity, frames))
    if len(set(turning.sparsity().row())) > 1:  # frames that turn about several axes
        jacobians = [(body.mass, homogeneous(body.velocity, reader.symbols, body.name)) for body in bodies]
        return sum((J.T @ (mass * J) for mass, J in jacobians), SX(n, n))
    M = SX(n, n)
    for at, frame in enumerate(frames):
        for other in frames[at:]:
            pairs = [(mass * by[frame], by[other]) for mass, by in parts if frame in by and other in by]
            if not pairs:
                continue
            Js, Ks = (ca.horzcat(*(ca.vec(J) for J in several)) for several in zip(*pairs, strict=True))
            cosines = SX.eye(3) if frame is other else ca.sparsify(reader.rotation(frame).T @ reader.rotation(other))
            for i, k in zip(*cosines.sparsity().get_triplet(), strict=True):
                half = Js[i::3, :] @ Ks[k::3, :].T  # Σ J[i]ᵀ K[k]; columns of Js are the J, entry by entry
                M = M + (half if frame is other else cosines[i, k] * (half + half.T))
    return M


def _loaded(reader: SympyReader, target: Any) -> SX:
    """The velocity that a SymPy load works on: of a point, or of a frame."""
    if isinstance(target, Point):
        return reader.velocity(target)
    if isinstance(target, ReferenceFrame):
        return reader.angular_velocity(target)
    raise BadMechanism(f"A load acts on a Point (force) or a ReferenceFrame (torque), not on {target!r}.")


def homogeneous(velocity: SX, symbols: Symbols, body: str) -> SX:
    """J with velocity = J v; a body that moves by itself is refused."""
    J = ca.jacobian(velocity, symbols.v)
    if ca.depends_on(J, symbols.v):
        raise NotAffine(f"The velocity of body '{body}' is not linear in the generalized velocities.")
    rest = ca.sparsify(ca.substitute(velocity, symbols.v, SX.zeros(*symbols.v.shape)))
    if rest.nnz() and differ(rest, SX.zeros(*rest.shape)):
        raise Rheonomic(
            f"Body '{body}' moves although no generalized velocity does; describe moving supports as constraints with "
            "a bias instead."
        )
    return ca.sparsify(J)


def by_name(reader: SympyReader, bodies: Sequence[MovingBody]) -> Mapping[str, SX | None]:
    """Angular velocities by body, None for particles and for bodies that are not oriented."""
    turning = {body.name: body.angular_velocity for body in bodies}
    return {name: None if w is None or reader.depends_on_orientation(w) else w for name, w in turning.items()}
