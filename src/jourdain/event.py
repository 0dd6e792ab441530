"""An event: which rows are regular, live, inert, elastic, released or nonideal, and which impulses are applied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.algebra import unrolled
from jourdain.algebra.event import Block, Problem, outcome
from jourdain.checks import judge
from jourdain.constraint import Constraint, Contact
from jourdain.errors import BadEvent, BadRestitution, ShapeError, unknown
from jourdain.evaluate import Array, Evaluator
from jourdain.mechanism import Mechanism
from jourdain.models.expression import to_sx
from jourdain.naming import name_of
from jourdain.quantities import rate_unit
from jourdain.state import broadcast, parameter_vector
from jourdain.transition import ConstraintLayout, Layout, Transition

if TYPE_CHECKING:
    from jourdain.algebra.closed_form import ClosedForm
    from jourdain.algebra.directions import Directions
    from jourdain.algebra.privileged import Phases
    from jourdain.algebra.projectors import Projectors
    from jourdain.analysis import Analysis
    from jourdain.scenario import Scenario


N_POSES = 64  # fixed random poses
NOISE = 1e-13  # of its typical length, a row is rounding (sin π is 1e-16, not 0)


@dataclass(frozen=True)
class Role:
    """A constraint and the part it plays in an event."""

    constraint: Constraint
    block: Block


@dataclass(frozen=True, eq=False)
class Event:
    """A change of constraints. `solve` answers: the motion after, the impulses, the energy."""

    mechanism: Mechanism
    roles: tuple[Role, ...]  # sorted by kind
    applied: Mapping[str, SX]  # by name of point, body or velocity: generalized impulse (n_v, 1)
    defaults: Mapping[str, float | None]  # parameters of the event
    parameters: Mapping[str, SX]  # their symbols
    outputs: tuple[Mapping[str, SX], Mapping[str, SX]]  # named outputs before and after
    jumping: Mapping[str, str]  # parameters of live rows → what they are called now

    # One state

    def solve(
        self, q: Any = None, v: Any = None, check: bool | str = True, parameters: Mapping[str, Any] = {}, **more: Any
    ) -> Transition:
        """The outcome at a configuration q for a prior velocity v.

        `q`, `v`: dicts by name (missing: 0) or arrays `(*batch, n)`; parameters as keywords. `check="project"` moves
        q and v onto the constraints that are on before, `check=False` does not look.
        """
        if check not in (True, False, "project"):
            raise BadEvent(f"check is True, False or 'project', not {check!r}.")
        given = {**parameters, **more}
        q_array, v_array = self.mechanism.coordinates(q), self.mechanism.velocities(v)
        if check == "project":
            q_array = self._assembled(q_array, given)
        state = self.state(q_array, v_array, given)
        if check == "project":
            state = (state[0], self._projected(state), state[2])
        values = self._evaluator(*state)
        names = (self.mechanism.symbols.q_names, self.mechanism.symbols.v_names, tuple(self.defaults))
        inputs = dict(zip(("q", "v", "parameter"), zip(state, names, strict=True), strict=True))
        status = judge(
            values,
            self.layout,
            inputs,
            mass_matrix=lambda lanes: self._mass_matrix(*(array[lanes] for array in state))["M"],
            check=check is True,
        )
        return Transition.of(self.layout, values, status)

    def state(self, q: Any, v: Any, parameters: Mapping[str, Any]) -> tuple[Array, Array, Array]:
        """q, v and the event's parameters, each `(*batch, n)` with one batch shape."""
        columns = parameter_vector(self.defaults, parameters, self.jumping)
        return broadcast(self.mechanism.coordinates(q), self.mechanism.velocities(v), columns)

    @cached_property
    def problem(self) -> Problem:
        """The event over CasADi scalars. Rows that vanish at a pose do so exactly, not up to rounding."""
        blocks = [role.block for role in self.roles]
        n = len(self.mechanism.symbols.v_names)
        lengths = Evaluator(self.inputs, {"C": ca.vertcat(SX(0, n), *(block.C for block in blocks))})
        typical = np.median(np.sqrt(np.sum(lengths(*self.generic_state())["C"] ** 2, axis=-1)), axis=0)
        cleaned, start = [], 0
        for block in blocks:
            k = block.C.shape[0]
            cleaned.append(replace(block, C=_without_rounding(block.C, NOISE * typical[start : start + k])))
            start += k
        return Problem(self.mechanism.M, self.mechanism.symbols.v, tuple(cleaned), tuple(self.applied.values()))

    def generic_state(self) -> tuple[Array, Array, Array]:
        """Fixed random poses with the default parameters, for what is decided once per event."""
        rng = np.random.default_rng(64)
        s = self.mechanism.symbols
        q = rng.uniform(-np.pi, np.pi, (N_POSES, len(s.q_names)))
        unset = rng.uniform(0.5, 1.5, len(self.defaults))
        p = np.array([unset[i] if value is None else value for i, value in enumerate(self.defaults.values())])
        return q, np.zeros((N_POSES, len(s.v_names))), np.broadcast_to(p.astype(float), (N_POSES, len(p)))

    @cached_property
    def inputs(self) -> list[SX]:
        """The columns q, v and parameters that the event's expressions are written in."""
        s = self.mechanism.symbols
        return [s.q, s.v, ca.vertcat(SX(0, 1), *self.parameters.values())]

    @cached_property
    def _evaluator(self) -> Evaluator:
        v = self.mechanism.symbols.v
        expressions = outcome(self.problem, unrolled)
        before, after = (_column(list(outputs.values())) for outputs in self.outputs)
        expressions["outputs_minus"] = before
        expressions["outputs_plus"] = ca.substitute(after, v, expressions["v_plus"])
        geometry = _column([role.constraint.g for role in self.roles if role.constraint.g is not None])
        return Evaluator(self.inputs, {**expressions, "geometry": geometry})

    @cached_property
    def _mass_matrix(self) -> Evaluator:
        return Evaluator(self.inputs, {"M": self.mechanism.M})

    @cached_property
    def layout(self) -> Layout:
        s, given = self.mechanism.symbols, self.mechanism.units
        units = {name: rate_unit(unit) if name in s.q_names else unit for name, unit in given.items()}
        constraints = tuple(
            ConstraintLayout(
                role.constraint.name,
                role.block.kind,
                role.constraint.row_names,
                role.constraint.scalar,
                isinstance(role.constraint, Contact),
                role.constraint.g is not None,
                role.constraint.units,
            )
            for role in self.roles
        )
        applied = tuple(f"impulse {name}" for name in self.applied)
        return Layout(tuple(s.v_names), constraints, applied, tuple(self.outputs[0]), units)

    def _assembled(self, q: Array, parameters: Mapping[str, Any]) -> Array:
        geometric = [role.constraint for role in self.roles if role.constraint.g is not None]
        own = {name: value for name, value in parameters.items() if name in self.mechanism.defaults}
        return self.mechanism.assemble(q, hold=geometric, **own) if geometric else q

    def _projected(self, state: tuple[Array, Array, Array]) -> Array:
        """v⁻ moved M-orthogonally onto the rows that are on before."""
        return self._projector(*state)["v_plus"][..., 0]

    @cached_property
    def _projector(self) -> Evaluator:
        before = self.problem.of_kind("regular", "live", "released")
        blocks = tuple(replace(block, kind="inert", b_plus=block.b_minus) for block in before)
        problem = Problem(self.mechanism.M, self.mechanism.symbols.v, blocks, ())
        return Evaluator(self.inputs, {"v_plus": outcome(problem, unrolled)["v_plus"]})

    # Analysis

    @cached_property
    def analysis(self) -> Analysis:
        """What is prepared once for the methods below."""
        from jourdain.analysis import Analysis

        return Analysis(self)

    def projectors(self, q: Any = None, parameters: Mapping[str, Any] = {}, **more: Any) -> Projectors:
        """P_c, P_a, P_R at a configuration, and what they make of the nonideal rows."""
        return self.analysis.projectors(q, {**parameters, **more})

    def directions(
        self,
        q: Any = None,
        point: Any = None,
        subspace: Any = None,
        axis: Any = None,
        parameters: Mapping[str, Any] = {},
        **more: Any,
    ) -> Directions:
        """The prior velocities that lose most and least: ξ falling, each with T = 1 J."""
        return self.analysis.directions(q, point, subspace, axis, {**parameters, **more})

    def phases(
        self,
        q: Any = None,
        v: Any = None,
        prefer: Sequence[Any] = (),
        parameters: Mapping[str, Any] = {},
        **more: Any,
    ) -> Phases:
        """The privileged velocities of the prior, virtual and posterior phases, their maps and momenta."""
        return self.analysis.phases(q, v, tuple(name_of(name) for name in prefer), {**parameters, **more})

    def symbolic(self) -> ClosedForm:
        """The same outcome in closed form, in SymPy."""
        return self.analysis.closed_form()

    def at(
        self,
        q: Mapping[Any, Any] = {},
        v: Mapping[Any, Any] = {},
        parameters: Mapping[Any, Any] = {},
        energy: Any = None,
        guess: Mapping[Any, float] = {},
        defaults: Mapping[Any, float] = {},
        units: Mapping[Any, str] = {},
    ) -> Scenario:
        """The event at a pose and a prior velocity that depend on parameters: free symbols become its parameters."""
        from jourdain.scenario import scenario

        return scenario(self, q, v, parameters, energy, guess, defaults, units)

    def __repr__(self) -> str:
        kinds = [f"{role.constraint.name!r}: {role.block.kind}" for role in self.roles]
        return f"Event({', '.join([*kinds, *(repr(f'impulse {name}') for name in self.applied)])})"


def event(
    mechanism: Mechanism,
    regular: Any,
    inert: Any,
    elastic: Mapping[Any, Any],
    live: Mapping[Any, Mapping[Any, tuple[Any, Any]]],
    released: Any,
    impulses: Mapping[Any, Any],
    nonideal: Mapping[Any, Any],
) -> Event:
    """See `Mechanism.event`."""
    chosen = {
        "regular": _listed(regular),
        "live": list(live),
        "inert": _listed(inert),
        "elastic": list(elastic),
        "released": _listed(released),
        "nonideal": list(nonideal),
    }
    found = [(kind, mechanism.find_constraint(which), which) for kind, several in chosen.items() for which in several]
    _refuse_double([constraint for _, constraint, _ in found])
    values = _Values(mechanism)
    before, after = _jumps(mechanism, live, values)
    roles = []
    for kind, constraint, key in found:
        k = constraint.C.shape[0]
        kappa = values.column(elastic[key], k, f"restitution of '{constraint.name}'") if kind == "elastic" else None
        beta = (
            values.column(nonideal[key], k, f"nonideal impulse of '{constraint.name}'") if kind == "nonideal" else None
        )
        if kappa is not None:
            _refuse_restitution(constraint.name, kappa)
        b_minus, b_plus = (_substituted(constraint.b, side) for side in (before, after))
        if kind == "inert":
            b_minus = b_plus
        if kind in ("released", "nonideal"):
            b_plus = b_minus
        roles.append(Role(constraint, Block(kind, constraint.C, b_minus, b_plus, kappa, beta)))
        if kind in ("regular", "elastic") and any(ca.depends_on(constraint.b, old) for old, _ in before):
            raise BadEvent(
                f"The bias of '{constraint.name}' ({kind}) jumps with a live parameter; declare it live too."
            )
    applied = {name_of(key): _generalized(mechanism, name_of(key), load, values) for key, load in impulses.items()}
    rigid = ca.vertcat(ca.vec(mechanism.M), *(ca.vec(role.block.C) for role in roles), *applied.values())
    for old, _ in before:
        if ca.depends_on(rigid, old):
            raise BadEvent(f"'{old}' jumps in this event, but more than the bias of its live rows depends on it.")
    jumping = {str(old): f"{old}_minus or {old}_plus" for old, _ in before}
    outputs = tuple({name: _substituted(e, side) for name, e in mechanism.outputs.items()} for side in (before, after))
    used = ca.vertcat(rigid, *(role.block.b_minus for role in roles), *(role.block.b_plus for role in roles),
                      *(ca.vec(role.constraint.g) for role in roles if role.constraint.g is not None))  # fmt: skip
    time = {"t": 0.0} if ca.depends_on(used, mechanism.symbols.t) else {}
    defaults = (
        {name: value for name, value in mechanism.defaults.items() if name not in jumping} | time | values.defaults
    )
    symbols = {name: {**mechanism.symbols.parameters, **values.symbols}[name] for name in defaults}
    return Event(mechanism, tuple(roles), applied, defaults, symbols, outputs, jumping)  # type: ignore[arg-type]


class _Values:
    """Numbers of an event: a number, a SymPy expression in parameters, or the name of a new parameter."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.known = dict(mechanism.symbols.parameters)
        self.symbols: dict[str, SX] = {}  # new ones
        self.defaults: dict[str, float | None] = {}

    def new(self, name: str, default: float | None) -> SX:
        """A parameter of the event by name; the mechanism's own if it has one."""
        if name not in {**self.known, **self.symbols}:
            self.symbols[name], self.defaults[name] = SX.sym(name), default
        return {**self.known, **self.symbols}[name]

    def __call__(self, value: Any) -> SX:
        return self.new(value, None) if isinstance(value, str) else to_sx(value, self._lookup)

    def _lookup(self, symbol: Any) -> SX:
        name, known = name_of(symbol), {**self.known, **self.symbols}
        if not symbol.is_Symbol or name not in known:
            raise unknown("parameter", name, known)
        return known[name]

    def column(self, value: Any, k: int, what: str) -> SX:
        """One value for all rows, or one per row, as a column."""
        several = list(value) if isinstance(value, list | tuple | np.ndarray) else [value] * k
        if len(several) != k:
            raise ShapeError(f"The {what} has {len(several)} entries for {k} rows; give one number, or one per row.")
        return ca.vertcat(*(self(entry) for entry in several))


def _listed(several: Any) -> list[Any]:
    return [several] if isinstance(several, str | Constraint) else list(several)


def _refuse_double(constraints: Iterable[Constraint]) -> None:
    seen: dict[str, str] = {}
    for constraint in constraints:
        for row in constraint.row_names:
            if row in seen:
                raise BadEvent(
                    f"Row '{row}' takes part twice ('{seen[row]}' and '{constraint.name}'); give it one kind."
                )
            seen[row] = constraint.name


def _refuse_restitution(name: str, kappa: SX) -> None:
    for entry in ca.vertsplit(kappa):
        if entry.is_constant() and not 0 <= float(entry) <= 1:
            raise BadRestitution(f"The restitution of '{name}' is {float(entry)}; it must lie in [0, 1].")


def _jumps(
    mechanism: Mechanism, live: Mapping[Any, Mapping[Any, tuple[Any, Any]]], values: _Values
) -> tuple[list[tuple[SX, SX]], list[tuple[SX, SX]]]:
    """What the parameters of live rows are before and after: pairs (symbol, expression) for each side."""
    sides: dict[str, tuple[SX, SX]] = {}
    for key, jumps in live.items():
        constraint = mechanism.find_constraint(key)
        if not isinstance(jumps, Mapping):
            raise BadEvent(f"live['{constraint.name}'] is {{parameter: (before, after)}}, not {jumps!r}.")
        for which, pair in jumps.items():
            name = name_of(which)
            if name not in mechanism.defaults:
                raise unknown("parameter", name, mechanism.defaults)
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise BadEvent(f"live['{constraint.name}']['{name}'] is a pair (before, after), not {pair!r}.")
            if not ca.depends_on(constraint.b, mechanism.symbols.parameters[name]):
                raise BadEvent(
                    f"The bias of '{constraint.name}' does not depend on '{name}', so it cannot jump with it."
                )
            if name not in sides:
                sides[name] = (_side(values, f"{name}_minus", pair[0]), _side(values, f"{name}_plus", pair[1]))
    symbols = mechanism.symbols.parameters
    before, after = ([(symbols[name], pair[side]) for name, pair in sides.items()] for side in (0, 1))
    return before, after


def _side(values: _Values, name: str, value: Any) -> SX:
    """A number becomes the default of the parameter `name`; anything else says itself what it is."""
    return values.new(name, float(value)) if isinstance(value, int | float) else values(value)


def _substituted(expression: SX, pairs: list[tuple[SX, SX]]) -> SX:
    if not pairs:
        return expression
    return ca.substitute(expression, ca.vertcat(*(old for old, _ in pairs)), ca.vertcat(*(new for _, new in pairs)))


def _generalized(mechanism: Mechanism, name: str, load: Any, values: _Values) -> SX:
    """The generalized impulse of a vector at a point, an angular impulse on a body, or a number along a velocity."""
    s = mechanism.symbols
    if name in s.v_names:
        unit = SX(len(s.v_names), 1)
        unit[s.v_names.index(name)] = 1
        return unit @ values(load)
    if name in mechanism.points:
        velocity = mechanism.points[name].velocity
    elif name in mechanism.angular_velocities:
        angular = mechanism.angular_velocities[name]
        if angular is None:
            raise BadEvent(f"Body '{name}' is a particle and takes no angular impulse; apply a vector at a point.")
        velocity = angular
    else:
        raise unknown("point, body or velocity", name, [*mechanism.points, *mechanism.angular_velocities, *s.v_names])
    J = ca.sparsify(ca.jacobian(velocity, s.v))
    return ca.sparsify(J.T @ _vector(mechanism, name, load, J, values))


def _vector(mechanism: Mechanism, name: str, load: Any, J: SX, values: _Values) -> SX:
    """A SymPy Vector, 3 components in the frame, 2 in a planar system, or 1 for a planar angular impulse."""
    if type(load).__name__ == "Vector":
        if mechanism.reader is None:
            raise BadEvent(f"The impulse at '{name}' is a SymPy Vector, but the mechanism is not; give 3 components.")
        return mechanism.reader.vector(load)
    entries = [values(entry) for entry in (load if isinstance(load, list | tuple | np.ndarray) else [load])]
    if len(entries) == 3:
        return ca.vertcat(*entries)
    if len(entries) == 2 and J[2, :].nnz() == 0:
        return ca.vertcat(*entries, 0)
    if len(entries) == 1 and J[:2, :].nnz() == 0:
        return ca.vertcat(0, 0, *entries)
    raise ShapeError(f"The impulse at '{name}' has {len(entries)} components; give 3, in the mechanism's frame.")


def _without_rounding(C: SX, floor: Array) -> SX:
    """C with rows shorter than `floor` set to zero; rows with a constant entry never vanish and stay as they are."""
    rows = []
    for i, row in enumerate(ca.vertsplit(C)):
        vanishes = row.nnz() and not any(entry.nnz() and entry.is_constant() for entry in ca.horzsplit(row))
        rows.append(ca.if_else(ca.sumsqr(row) > floor[i] ** 2, row, 0) if vanishes else row)
    return ca.sparsify(ca.vertcat(SX(0, C.shape[1]), *rows))


def _column(parts: list[SX | None]) -> SX:
    return ca.vertcat(SX(0, 1), *(part for part in parts if part is not None))
