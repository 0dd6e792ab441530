"""How an event is put together from what the user says: kinds, values, jumps of live parameters, impulses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from jourdain import laws
from jourdain.algebra.problem import Block
from jourdain.errors import BadEvent, BadRestitution, NameClash, ShapeError, unknown
from jourdain.events.event import Event, Role
from jourdain.kinds import IMPULSIVE_KINDS, Kind
from jourdain.laws.together import check_law, check_together
from jourdain.mechanism.constraint import Constraint, ContactConstraint
from jourdain.mechanism.expression import to_sx
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.singular import is_singular
from jourdain.naming import name_of, refuse_clash


def event(
    mechanism: Mechanism,
    regular: Any,
    inert: Any,
    elastic: Mapping[Any, Any],
    live: Mapping[Any, Mapping[Any, tuple[Any, Any]]],
    released: Any,
    contacts: Mapping[Any, Any],
    impulses: Mapping[Any, Any],
    nonideal: Mapping[Any, Any],
) -> Event:
    """See `Mechanism.event`."""
    _check_mappings(elastic=elastic, live=live, contacts=contacts, impulses=impulses, nonideal=nonideal)
    chosen = {
        Kind.REGULAR: listed(regular),
        Kind.LIVE: list(live),
        Kind.INERT: listed(inert),
        Kind.ELASTIC: list(elastic),
        Kind.CONTACT: list(contacts),
        Kind.RELEASED: listed(released),
        Kind.NONIDEAL: list(nonideal),
    }
    found = [(kind, mechanism.find_constraint(which), which) for kind, several in chosen.items() for which in several]
    _check_double([constraint for _, constraint, _ in found])
    holding = mechanism.always([constraint for _, constraint, _ in found])
    n_regular = len(chosen[Kind.REGULAR])
    found[n_regular:n_regular] = [(Kind.REGULAR, constraint, constraint) for constraint in holding]
    values = _Values(mechanism)
    before, after = _jumps(mechanism, live, values)
    given = {Kind.ELASTIC: elastic, Kind.NONIDEAL: nonideal, Kind.CONTACT: contacts}
    roles = [_role(kind, constraint, given.get(kind, {}).get(key), before, after, values)
             for kind, constraint, key in found]  # fmt: skip
    _check_contacts(roles, bool(impulses))
    targets = [mechanism.point_name(key) for key in impulses]
    refuse_clash((name, "impulse") for name in targets)
    applied = {
        name: _generalized(mechanism, name, load, values) for name, load in zip(targets, impulses.values(), strict=True)
    }
    jumping = {str(old): f"{old}_minus or {old}_plus" for old, _ in before}
    rigid, geometry, biases = _used(mechanism, roles, applied, before, after)
    for old, _ in before:
        if ca.depends_on(rigid, old):
            raise BadEvent(f"'{old}' jumps in this event, but more than the bias of its live rows depends on it.")
    outputs = tuple({name: _substituted(e, side) for name, e in mechanism.outputs.items()} for side in (before, after))
    timed = mechanism.timed or ca.depends_on(_all(rigid, geometry, biases), mechanism.symbols.t)
    time = {"t": 0.0} if "t" not in mechanism.parameters and timed else {}
    kept = {name: value for name, value in mechanism.parameters.items() if name not in jumping}
    defaults = {**kept, **time, **values.defaults}
    symbols = {name: {**mechanism.symbols.parameters, **values.symbols}[name] for name in defaults}
    held = any(role.block.kind == Kind.REGULAR for role in roles) and is_singular(mechanism, defaults)
    return Event(mechanism, tuple(roles), applied, defaults, symbols, (outputs[0], outputs[1]), geometry, jumping, held)


def _check_mappings(**given: Any) -> None:
    for what, mapping in given.items():
        if not isinstance(mapping, Mapping):
            raise BadEvent(f"{what} must be a dict, such as {{constraint: value}}, not {mapping!r}.")


def _role(
    kind: Kind,
    constraint: Constraint,
    given: Any,
    before: list[tuple[SX, SX]],
    after: list[tuple[SX, SX]],
    values: _Values,
) -> Role:
    """The part that a constraint plays. `given`: κ of an elastic one, β̄ of a nonideal one, the law of a contact."""
    name, k = constraint.name, constraint.C.shape[0]
    b_minus, b_plus = (_substituted(constraint.b, side) for side in (before, after))
    if kind == Kind.INERT:
        b_minus = b_plus
    if kind in (Kind.RELEASED, Kind.NONIDEAL):
        b_plus = b_minus
    if kind in (Kind.REGULAR, Kind.ELASTIC) and any(ca.depends_on(constraint.b, old) for old, _ in before):
        raise BadEvent(f"The bias of '{name}' ({kind}) jumps with a live parameter; declare it live too.")
    block = Block(kind, constraint.C, b_minus, b_plus)
    if kind == Kind.ELASTIC:
        kappa = values.column(given, k, f"restitution of '{name}'")
        _check_restitution(name, kappa)
        block = replace(block, kappa=kappa)
    if kind == Kind.NONIDEAL:
        block = replace(block, beta=values.column(given, k, f"nonideal impulse of '{name}'"))
    if kind == Kind.CONTACT:
        if not isinstance(constraint, ContactConstraint):
            raise BadEvent(f"'{name}' is no contact; make one with mechanism.contact(name, normal=…, tangent=[…]).")
        law = check_law(name, given, k - 1)
        speed = ca.fabs(constraint.C[0, :] @ values.v + b_minus[0])
        numbers = {number: values(value, approach=speed) for number, value in law.values().items()}
        block = replace(block, law=law, numbers=numbers)
    return Role(constraint, block)


def _check_contacts(roles: list[Role], applied: bool) -> None:
    contacts = [role for role in roles if role.block.law is not None]
    laws = {role.constraint.name: role.block.law for role in contacts if role.block.law is not None}
    impulsive = [role.constraint.name for role in roles if role.block.kind in (*IMPULSIVE_KINDS, Kind.NONIDEAL)]
    check_together(laws, [role.block.n_rows - 1 for role in contacts], impulsive, applied)


def _used(
    mechanism: Mechanism,
    roles: list[Role],
    applied: Mapping[str, SX],
    before: list[tuple[SX, SX]],
    after: list[tuple[SX, SX]],
) -> tuple[SX, SX, SX]:
    """Columns of all that the event is made of: what must not jump, the geometric rows, the biases."""
    arrays = [(name, part) for role in roles for name, part in role.block.arrays().items()]
    biases = [part for name, part in arrays if name in ("b_minus", "b_plus")]
    rigid = [part for name, part in arrays if name not in ("b_minus", "b_plus")]
    geometric = [_substituted(role.constraint.g, before) for role in roles if role.constraint.g is not None]
    jumps = [new for _, new in before + after]
    return (
        _all(mechanism.M, *rigid, *applied.values(), *jumps),
        _all(*geometric, *mechanism.off_unit()),
        _all(*biases),
    )


def _all(*parts: SX) -> SX:
    """All entries in one column."""
    return ca.vertcat(SX(0, 1), *(ca.densify(ca.vec(part)) for part in parts))


class _Values:
    """Numbers of an event: a number, a SymPy expression in parameters, or the name of a new parameter."""

    def __init__(self, mechanism: Mechanism) -> None:
        s = mechanism.symbols
        self.v = s.v
        self.known = dict(s.parameters)
        self.taken = {*s.q_names, *s.v_names, *(f"{name}_minus" for name in s.v_names)}
        self.symbols: dict[str, SX] = {}  # new ones
        self.defaults: dict[str, float | None] = {}

    def new(self, name: str, default: float | None) -> SX:
        """A parameter of the event by name; the mechanism's own if it has one."""
        if name in self.taken:
            raise NameClash(f"'{name}' stands for a coordinate or velocity; call the parameter differently.")
        if name not in {**self.known, **self.symbols}:
            self.symbols[name], self.defaults[name] = SX.sym(name), default
        return {**self.known, **self.symbols}[name]

    def __call__(self, value: Any, approach: SX | None = None) -> SX:
        """`approach`: what `jd.laws.approach` stands for; None outside laws."""
        if isinstance(value, str):
            return self.new(value, None)
        return to_sx(value, lambda symbol: self._lookup(symbol, approach))

    def _lookup(self, symbol: Any, approach: SX | None) -> SX:
        if symbol == laws.approach:
            if approach is None:
                raise BadEvent("'approach' is the speed of a contact; use it in the numbers of its law only.")
            if "approach" in self.known:
                raise NameClash("'approach' is the speed of a contact in laws, and also a parameter; rename that.")
            return approach
        name, known = name_of(symbol), {**self.known, **self.symbols}
        if not symbol.is_Symbol or name not in known:
            raise unknown("parameter", name, known)
        return known[name]

    def column(self, value: Any, k: int, what: str) -> SX:
        """One value for all rows, or one per row, as a column."""
        several = list(value) if isinstance(value, list | tuple | np.ndarray) and np.ndim(value) else [value] * k
        if len(several) != k:
            raise ShapeError(f"The {what} has {len(several)} entries for {k} rows; give one number, or one per row.")
        return ca.vertcat(*(self(entry) for entry in several))


def listed(several: Any) -> list[Any]:
    """One constraint, or several, as a list."""
    if several is None:
        return []
    if isinstance(several, str | Constraint):
        return [several]
    if not isinstance(several, list | tuple | set):
        raise BadEvent(f"Constraints are given as a list, not as {several!r}.")
    return list(several)


def _check_double(constraints: Iterable[Constraint]) -> None:
    seen: dict[str, str] = {}
    for constraint in constraints:
        for row in constraint.row_names:
            if row in seen:
                raise BadEvent(
                    f"Row '{row}' takes part twice ('{seen[row]}' and '{constraint.name}'); give it one kind."
                )
            seen[row] = constraint.name


def _check_restitution(name: str, kappa: SX) -> None:
    for entry in ca.vertsplit(kappa):
        if entry.is_constant() and not 0 <= float(entry) <= 1:
            raise BadRestitution(f"The restitution of '{name}' is {float(entry)}; it must lie in [0, 1].")


def _jumps(
    mechanism: Mechanism, live: Mapping[Any, Mapping[Any, tuple[Any, Any]]], values: _Values
) -> tuple[list[tuple[SX, SX]], list[tuple[SX, SX]]]:
    """What the parameters of live rows are before and after: pairs (symbol, expression) for each side."""
    pairs: dict[str, tuple[Any, Any]] = {}
    for key, jumps in live.items():
        constraint = mechanism.find_constraint(key)
        if not isinstance(jumps, Mapping):
            raise BadEvent(f"live['{constraint.name}'] is {{parameter: (before, after)}}, not {jumps!r}.")
        for which, pair in jumps.items():
            name = name_of(which)
            if name not in mechanism.parameters:
                raise unknown("parameter", name, mechanism.parameters)
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise BadEvent(f"live['{constraint.name}']['{name}'] is a pair (before, after), not {pair!r}.")
            if not ca.depends_on(constraint.b, mechanism.symbols.parameters[name]):
                raise BadEvent(
                    f"The bias of '{constraint.name}' does not depend on '{name}', so it cannot jump with it."
                )
            if name in pairs and pairs[name] != tuple(pair):
                raise BadEvent(f"'{name}' jumps differently in '{constraint.name}'; one parameter has one pair.")
            pairs[name] = tuple(pair)
    symbols = mechanism.symbols.parameters
    before = [(symbols[name], _side(values, f"{name}_minus", pair[0])) for name, pair in pairs.items()]
    after = [(symbols[name], _side(values, f"{name}_plus", pair[1])) for name, pair in pairs.items()]
    return before, after


def _side(values: _Values, name: str, value: Any) -> SX:
    """A number becomes the default of the parameter `name`; anything else says itself what it is."""
    if not isinstance(value, Real) and not getattr(value, "is_number", False):
        return values(value)
    if name in values.known:
        raise NameClash(f"'{name}' is a parameter of the mechanism already; give the live value by name or expression.")
    return values.new(name, float(value))


def _substituted(expression: SX, pairs: list[tuple[SX, SX]]) -> SX:
    if not pairs:
        return expression
    return ca.substitute(expression, ca.vertcat(*(old for old, _ in pairs)), ca.vertcat(*(new for _, new in pairs)))


def _generalized(mechanism: Mechanism, name: str, load: Any, values: _Values) -> SX:
    """The generalized impulse of a vector at a point, an angular impulse on a body, or a number along a velocity."""
    s = mechanism.symbols
    if name in s.v_names and not (name in mechanism.points and np.ndim(load)):
        unit = SX(len(s.v_names), 1)
        unit[s.v_names.index(name)] = 1
        return unit @ values(load)
    if name in mechanism.points:
        velocity = mechanism.points[name].velocity
    elif name in mechanism.angular_velocities:
        angular = mechanism.angular_velocities[name]
        if angular is None:
            raise BadEvent(
                f"Body '{name}' is a particle, or not oriented, and takes no angular impulse; apply a vector at a "
                "point."
            )
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
        return mechanism.reader.oriented_vector(load)
    entries = [values(entry) for entry in (load if isinstance(load, list | tuple | np.ndarray) else [load])]
    if len(entries) == 3:
        return ca.vertcat(*entries)
    if len(entries) == 2 and J[2, :].nnz() == 0:
        return ca.vertcat(*entries, 0)
    if len(entries) == 1 and J[:2, :].nnz() == 0:
        return ca.vertcat(0, 0, *entries)
    raise ShapeError(f"The impulse at '{name}' has {len(entries)} components; give 3, in the mechanism's frame.")
