"""A mechanism: coordinates, velocities, parameters, mass matrix, forces, named points. CasADi inside, names outside."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.algebra.checks import TOLERANCE
from jourdain.compute.evaluate import Evaluator
from jourdain.compute.memory import check_batch
from jourdain.errors import NotAffine, NotConverged, OffConstraint, UnknownName, listing, quaternion_told, unknown
from jourdain.inputs import (
    Array,
    Expression,
    ParameterLike,
    RowsLike,
    State,
    StateLike,
    broadcast,
    named_values,
    parameter_vector,
    refuse_nonfinite,
    vector,
)
from jourdain.mechanism.assembly import assemble, assembler
from jourdain.mechanism.constraint import (
    AnyConstraint,
    Constraint,
    ConstraintLike,
    ConstraintsLike,
    ContactConstraint,
    check_names,
    constraint,
)
from jourdain.mechanism.symbols import Follower, Loads, PointLike, PointMotion, Symbols
from jourdain.naming import Named, name_of, refuse_clash
from jourdain.output.tables import page

if TYPE_CHECKING:
    from sympy.physics.mechanics import (
        JointsMethod,
        KanesMethod,
        LagrangesMethod,
        Particle,
        Point,
        ReferenceFrame,
        RigidBody,
        System,
        Vector,
    )

    from jourdain.events.event import Event
    from jourdain.mechanism.reader import SympyReader


@dataclass(frozen=True, eq=False, repr=False)
class Mechanism(ABC):
    """What moves. Build one with `from_sympy`, `from_casadi` or `jd.load`; then name constraints, and ask for events.

    >>> import jourdain as jd
    >>> from sympy import symbols
    >>> from sympy.physics.mechanics import Particle, Point, ReferenceFrame, dynamicsymbols
    >>> N, O, P = ReferenceFrame("N"), Point("O"), Point("P")
    >>> z, m = dynamicsymbols("z"), symbols("m")
    >>> O.set_vel(N, 0)
    >>> P.set_pos(O, z * N.z)
    >>> ball = jd.Mechanism.from_sympy([Particle("ball", P, m)], N, q=[z], parameters={m: 2.0})
    >>> floor = ball.constraint("floor", z.diff())
    >>> t = ball.event(elastic={floor: 0.5}).solve(v={"z": -3.0})
    >>> t.velocity_plus["z"], t.impulse["floor"], t.loss
    (np.float64(1.5), np.float64(9.0), np.float64(6.75))
    """

    symbols: Symbols
    M: SX  # (n_v, n_v)
    parameters: Mapping[str, float | None]  # name → default; None: must be given
    points: Mapping[str, PointMotion]
    angular_velocities: Mapping[str, SX | None]  # by body, (3, 1) in the frame; None for particles
    outputs: Mapping[str, SX]  # named quantities affine in v
    loads: Loads  # what acts between events
    units: Mapping[str, str]
    sympy_parameters: Mapping[str, Any] = field(default_factory=dict)  # the user's own symbols, for closed forms
    reader: SympyReader | None = None  # translates SymPy vectors; None for mechanisms that SymPy does not describe
    timed: bool = False  # points or outputs move by themselves, with time
    # What robot files say besides.
    neutral_pose: tuple[float, ...] | None = None  # (n_q,); None: 0
    quaternions: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # name → their four places in q
    followers: Sequence[Follower] = ()
    joined: tuple[str, ...] = ()  # constraints that are regular in every event that gives them no other kind
    M_has_no_branches: bool = False  # what is not finite and enters M shows in it
    points_share_names: bool = False  # with coordinates, as links and joints do
    _constraints: dict[str, Constraint] = field(default_factory=dict, init=False)  # those named so far
    _sources: dict[str, object] = field(default_factory=dict, init=False)  # what they were made from
    _evaluators: dict[str, Evaluator] = field(default_factory=dict, init=False)  # by key

    def __post_init__(self) -> None:
        refuse_clash(self.names())
        if ca.depends_on(self.M, self.symbols.v):
            raise NotAffine("The mass matrix depends on velocities; masses and body velocities must not.")
        moving = [pair for pair in self.names() if pair[1] in ("coordinate", "velocity")]
        refuse_clash([*moving, *((name, "parameter") for name in self.symbols.p_names)])
        for name, expression in self.outputs.items():
            self.symbols.affine(f"output '{name}'", expression)

    def names(self) -> list[tuple[str, str]]:
        """Everything that has a name, with what it is."""
        s = self.symbols
        shared = {*s.q_names, *s.v_names} if self.points_share_names else set()
        groups = (
            ("coordinate", s.q_names),
            ("velocity", [name for name in s.v_names if name not in s.q_names]),
            ("output", self.outputs),
            ("body", self.angular_velocities),
            ("point", [name for name in self.points if name not in shared]),
            ("constraint", self.constraints),
        )
        return [(name, what) for what, names in groups for name in names]

    def _repr_html_(self) -> str:
        from jourdain.mechanism.described import mechanism_table, parameter_table

        return page(
            f"{type(self).__name__.removeprefix('General')} of {len(self.symbols.v_names)} velocities",
            [mechanism_table(self), parameter_table(self.parameters, self.units)],
        )

    # Building

    @classmethod
    def from_sympy(
        cls,
        bodies: Sequence[Particle | RigidBody],
        frame: ReferenceFrame | None = None,
        q: Sequence[Expression] = (),
        v: Sequence[Expression] | None = None,
        kinematics: Mapping[Expression, Expression] | None = None,
        parameters: Mapping[Any, float | None] = {},
        points: Mapping[str, Point] = {},
        outputs: Mapping[str, Expression] = {},
        origin: Point | None = None,
        gravity: Vector | None = None,
        forces: Sequence[tuple[Point | ReferenceFrame, Vector]] = (),
        units: Mapping[Any, str] = {},
    ) -> Mechanism:
        """A mechanism from SymPy's own bodies.

        `q`: dynamicsymbols. `v`: rates of q (the default) or quasi-velocities, with `kinematics` either
        {quasi-velocity: expression linear in the rates} or {rate: expression linear in v}. `parameters`: symbol →
        default. `points`: name → Point. `outputs`: name → expression affine in v. Velocities that were not set are
        derived from the nearest point whose velocity is known, as in SymPy, else from `origin`, from which positions
        are measured (else from a connected point that rests in `frame`). `gravity`: a Vector; `forces`: SymPy's
        (Point, force) and (ReferenceFrame, torque) pairs, and actuators; functions of time in them are parameters,
        0 by default. The potential energy of a body acts beside all of these. `units`: by name. For a `System` or
        `KanesMethod`: `from_system`.
        """
        from jourdain.mechanism.from_sympy import from_sympy

        return from_sympy(bodies, frame, q, v, kinematics, parameters, points, outputs, origin, gravity, forces, units)

    @classmethod
    def from_system(
        cls,
        system: System | KanesMethod | LagrangesMethod | JointsMethod,
        parameters: Mapping[Any, float | None] = {},
        points: Mapping[str, Point] = {},
        outputs: Mapping[str, Expression] = {},
        units: Mapping[Any, str] = {},
    ) -> Mechanism:
        """A mechanism from a system of SymPy: bodies, loads, kinematics and constraints are taken from it.

        Its constraints are named `holonomic 0`, …, `velocity 0`, … and, for auxiliary speeds, `auxiliary 0`, …; they
        are regular in every event and topology that gives them no other kind. Velocity constraints that the holonomic
        ones imply are left out, and so are bodies that do not move.

        Parameters
        ----------
        system
            A `System`, `KanesMethod`, `LagrangesMethod` or `JointsMethod` of `sympy.physics.mechanics`. It is not
            changed, and its equations of motion need not be formed.
        parameters
            Symbol → default, or None for one that each event brings. Functions of time in loads are parameters too,
            by default 0; `Hybrid(…, drive={…})` drives them.
        points
            Name → Point.
        outputs
            Name → expression affine in the speeds.
        units
            Unit by symbol or name.

        Returns
        -------
        Mechanism
            With the names of the system's coordinates and speeds.

        Raises
        ------
        MissingValue
            For symbols that are left in the equations and are not in `parameters`; it names all of them.
        Rheonomic
            For bodies that a given function of time carries.
        BadMechanism
            For what is none of these systems, or is not complete.

        Examples
        --------
        >>> import jourdain as jd
        >>> from sympy.physics.mechanics.models import multi_mass_spring_damper
        >>> kane = multi_mass_spring_damper(2)
        >>> _ = kane.kanes_equations()
        >>> mechanism = jd.Mechanism.from_system(kane, {"m0": 2.0, "m1": 1.0, "c0": 0, "c1": 0, "k0": 1, "k1": 1})
        >>> lock = mechanism.constraint("lock", mechanism.symbols.v[1])
        >>> mechanism.event(inert=[lock]).solve(v={"v0": 0.0, "v1": 3.0}).v_plus
        array([1., 0.])

        """
        from jourdain.mechanism.from_system import from_system

        return from_system(system, parameters, points, outputs, units)

    @classmethod
    def from_casadi(
        cls,
        q: SX,
        v: SX,
        M: SX,
        kinematics: SX | None = None,
        parameters: Sequence[tuple[SX, float | None]] | Mapping[str, float | None] = (),
        points: Mapping[str, SX] = {},
        outputs: Mapping[str, SX] = {},
        force: SX | None = None,
        bias: SX | None = None,
        potential: SX | None = None,
        units: Mapping[str, str] = {},
    ) -> Mechanism:
        """A mechanism from your own CasADi model: columns of symbols q and v, and M(q).

        Names are those of the symbols; where v has the same number of entries as q and no `kinematics` (N with
        q̇ = N v) is given, v are the rates of q and carry their names. `parameters`: pairs (symbol, default), or
        name → default for symbols that appear in what is given. `points`: name → position (2 or 3 components).
        For motion between events: `force` f(q, v), `potential` U(q), whose force is added, and `bias` h(q, v) of
        M v̇ + h = f, which follows from M where N is square.

        >>> import casadi as ca, jourdain as jd
        >>> z, w, m = ca.SX.sym("z"), ca.SX.sym("w"), ca.SX.sym("m")
        >>> ball = jd.Mechanism.from_casadi(z, w, m, parameters=[(m, 2.0)])
        >>> ball.event(inert=[ball.constraint("floor", w)]).solve(v=[-3.0]).impulse["floor"]
        np.float64(6.0)
        """
        from jourdain.mechanism.from_casadi import from_casadi

        return from_casadi(q, v, M, kinematics, parameters, points, outputs, force, bias, potential, units)

    # Constraints and events

    def constraint(
        self, name: str, expression: RowsLike, level: str = "velocity", units: str | None = None
    ) -> Constraint:
        """A named constraint: one expression, a list of them, or {row: expression}.

        `level="velocity"`: expressions affine in v, u = C v + b. `level="position"`: g(q) = 0, differentiated, and
        checked at the event. `units`: of the expression.
        """
        return constraint(self, name, expression, level, units)

    @abstractmethod
    def contact(
        self, name: str, normal: Expression, tangent: RowsLike = (), level: str = "velocity", units: str | None = None
    ) -> ContactConstraint:
        """A contact: a constraint with the rows normal (u > 0 opens; level="position": the gap) and tangents."""

    def event(
        self,
        regular: ConstraintsLike = (),
        inert: ConstraintsLike = (),
        elastic: Mapping[Any, Any] = {},
        live: Mapping[Any, Mapping[Any, tuple[Any, Any]]] = {},
        released: ConstraintsLike = (),
        contacts: Mapping[Any, Any] = {},
        impulses: Mapping[Any, Any] = {},
        nonideal: Mapping[Any, Any] = {},
    ) -> Event:
        """An event: which constraints are regular, live, inert, elastic, released or nonideal, and what is applied.

        `elastic`: constraint → κ (or a list, per row). `live`: constraint → {parameter in its bias: (before, after)}.
        `contacts`: contact → law (`jd.laws`): one-sided, the event decides which hold and which lift.
        `impulses`: point → vector (N s), body → vector (N m s), velocity → generalized. `nonideal`: constraint → its
        given impulse. Any number may be a number, a SymPy expression in parameters, or the name of a new parameter.
        """
        from jourdain.events.builder import event

        return event(self, regular, inert, elastic, live, released, contacts, impulses, nonideal)

    @property
    def constraints(self) -> Mapping[str, Constraint]:
        """Those named so far, by name; to be read only."""
        return MappingProxyType(self._constraints)

    def register(self, made: AnyConstraint, source: object = None) -> AnyConstraint:
        """Keep a constraint by its name; NameClash if that is taken.

        `source`: the frames or joints that it was made from. Made from the same again, it is the one that is kept.
        """
        known = self._constraints.get(made.name)
        if source is not None and isinstance(known, type(made)) and self._sources[made.name] == source:
            return known
        check_names(made, by_frame=source is not None)
        self._constraints[made.name], self._sources[made.name] = made, source
        return made

    def find_constraint(self, which: ConstraintLike) -> Constraint:
        """A constraint by itself or by name; `"foot.normal"` finds the rows of a contact."""
        known = {alias: part for c in self._constraints.values() for alias, part in c.parts().items()}
        found = Named("constraint", known)[which]
        if not isinstance(which, str) and found.mechanism is not which.mechanism:
            raise UnknownName(f"Constraint '{found.name}' belongs to another mechanism.")
        return found

    def always(self, given: Sequence[Constraint]) -> list[Constraint]:
        """Constraints that hold besides the given ones, in every event and topology: joined, or their rows left."""
        taken = {row for one in given for row in one.row_names}
        found: list[Constraint] = []
        for one in (self._constraints[name] for name in self.joined):
            left = [row for row in one.row_names if row not in taken]
            found += [one] if len(left) == len(one.row_names) else map(self.find_constraint, left)
        return found

    # Numbers

    def evaluate(
        self, key: str, outputs: Callable[[], dict[str, SX]], q: StateLike, v: StateLike, parameters: Mapping[str, Any]
    ) -> Mapping[str, Array]:
        """Expressions in q, v and parameters, as arrays `(*batch, rows, columns)`; prepared once per `key`."""
        state, inputs = self._state(q, v, parameters)
        self._refuse_quaternions(state[0])
        if key not in self._evaluators:
            self._evaluators[key] = Evaluator(inputs, outputs())
        return self._evaluators[key](*state)

    def _state(self, q: StateLike, v: StateLike, parameters: Mapping[str, Any]) -> tuple[State, list[SX]]:
        """q, v and parameters (time included) as arrays with one batch shape, and the symbols they stand for."""
        s = self.symbols
        given = dict(parameters)
        given |= given.pop("parameters", {})
        time = {} if "t" in self.parameters else {"t": 0.0}
        defaults = {**self.parameters, **time}
        state = broadcast(self.coordinates(q), self.velocities(v), parameter_vector(defaults, given), check_batch)
        if not state[0].shape[:-1]:
            refuse_nonfinite(q=(state[0], s.q_names), v=(state[1], s.v_names), parameter=(state[2], list(defaults)))
        return state, [s.q, s.v, ca.vertcat(s.p, s.t) if time else s.p]

    def _refuse_quaternions(self, q: Array) -> None:
        """Quaternions must be unit ones, in all lanes."""
        for name, places in self.quaternions.items():
            sizes = np.linalg.norm(q[..., list(places)], axis=-1)
            off = np.abs(sizes - 1) > TOLERANCE
            if off.any():
                raise OffConstraint(quaternion_told(name, float(sizes[off].flat[0])))

    def off_unit(self) -> list[SX]:
        """0 for each quaternion of unit length; else by how much it is too long, to first order."""
        return [(ca.sumsqr(self.symbols.q[list(places)]) - 1) / 2 for places in self.quaternions.values()]

    def coordinates(self, q: StateLike) -> Array:
        """q as an array `(*batch, n_q)`."""
        return vector("q", self._followed("q", q), self.symbols.q_names, self.neutral)

    def velocities(self, v: StateLike) -> Array:
        """v as an array `(*batch, n_v)`."""
        return vector("v", self._followed("v", v), self.symbols.v_names, np.zeros(len(self.symbols.v_names)))

    def _followed(self, what: str, given: StateLike) -> StateLike:
        return self.followed(what, named_values(what, given)) if isinstance(given, Mapping) else given

    def followed(self, what: str, entries: Mapping[str, Any]) -> dict[str, Any]:
        """Entries of q or v by name, with those of followers of one of them that are not given themselves."""
        found = dict(entries)
        for _ in self.followers:  # a follower may lead another
            for one in self.followers:
                if one.leader in found and one.name not in found:
                    given = found[one.leader]
                    given = np.asarray(given) if isinstance(given, list | tuple) else given
                    at = one.slope * given if what == "v" else one.offset + one.slope * (given - one.reference)
                    found[one.name] = at
        return found

    @property
    def neutral(self) -> Array:
        """The pose that is meant where coordinates are not given, `(n_q,)`."""
        return np.zeros(len(self.symbols.q_names)) if self.neutral_pose is None else np.array(self.neutral_pose)

    @cached_property
    def unproven(self) -> SX:
        """The coordinates that may be NaN or infinite without M being so, (…, 1)."""
        q = self.symbols.q
        if not self.M_has_no_branches:
            return q
        seen = ca.which_depends(ca.vec(self.M), q, 1, False)
        return ca.vertcat(SX(0, 1), *(q[i] for i, depends in enumerate(seen) if not depends))

    def mass_matrix(self, q: StateLike = None, **parameters: ParameterLike) -> Array:
        """M(q), `(*batch, n_v, n_v)`."""
        return self.evaluate("M", lambda: {"M": self.M}, q, None, parameters)["M"]

    def kinetic_energy(self, q: StateLike = None, v: StateLike = None, **parameters: ParameterLike) -> Array:
        """½ vᵀ M v in J, `(*batch,)`."""
        column = self.symbols.v
        values = self.evaluate("T", lambda: {"T": column.T @ self.M @ column / 2}, q, v, parameters)
        return values["T"][..., 0, 0][()]

    def position(self, point: PointLike, q: StateLike = None, **parameters: ParameterLike) -> Array:
        """Where a named point is, in the frame, from the origin, `(*batch, 3)`."""
        position = self._point(point).position
        if position is None:
            raise UnknownName(
                f"The position of '{name_of(point)}' is not known: it is not connected to a point at rest; "
                "place it, or give origin=."
            )
        key = f"position {self.point_name(point)}"
        return self.evaluate(key, lambda: {"r": position}, q, None, parameters)["r"][..., 0]

    def point_velocity(
        self, point: PointLike, q: StateLike = None, v: StateLike = None, **parameters: ParameterLike
    ) -> Array:
        """The velocity of a named point, in the frame, `(*batch, 3)`."""
        velocity = self._point(point).velocity
        key = f"velocity {self.point_name(point)}"
        return self.evaluate(key, lambda: {"v": velocity}, q, v, parameters)["v"][..., 0]

    def jacobian(self, point: PointLike, q: StateLike = None, **parameters: ParameterLike) -> Array:
        """∂(velocity of the point)/∂v, `(*batch, 3, n_v)`."""
        velocity = self._point(point).velocity
        key = f"jacobian {self.point_name(point)}"
        return self.evaluate(key, lambda: {"J": ca.jacobian(velocity, self.symbols.v)}, q, None, parameters)["J"]

    def point_name(self, which: PointLike) -> str:
        """The name under which a point was given, for the name or the point itself; other things keep their name."""
        for name, motion in self.points.items():
            if motion.source is not None and motion.source is which:
                return name
        return name_of(which)

    def _point(self, point: PointLike) -> PointMotion:
        name = self.point_name(point)
        if name not in self.points:
            raise unknown("point", name, self.points)
        return self.points[name]

    def assemble(
        self, q: StateLike = None, hold: Iterable[ConstraintLike | Expression] = (), **parameters: ParameterLike
    ) -> Array:
        """The q near the given one that satisfies the geometric rows, `(*batch, n_q)`, by Newton's method.

        `hold`: coordinates that keep their value, and constraints to satisfy (default: all at position level).
        """
        s, hold = self.symbols, list(hold)
        fixed = [name_of(which) for which in hold if not isinstance(which, Constraint) and name_of(which) in s.q_names]
        chosen = [self.find_constraint(w) for w in hold if isinstance(w, Constraint) or name_of(w) not in fixed]
        geometric = [c for c in chosen or self._constraints.values() if c.g is not None]
        free = [i for i, name in enumerate(s.q_names) if name not in fixed]
        state, inputs = self._state(q, None, parameters)
        g = ca.vertcat(SX(0, 1), *(c.g for c in geometric if c.g is not None), *self.off_unit())
        found, missed = assemble(assembler(inputs, g, free), state, free)
        if not np.all(missed <= 1e-10):
            worst = np.nanmax(missed) if np.isfinite(missed).any() else np.nan
            raise NotConverged(
                f"No configuration near the given q satisfies {listing(c.name for c in geometric)}: "
                f"{worst:.1e} remains. Start closer, or hold fewer coordinates."
            )
        return found
