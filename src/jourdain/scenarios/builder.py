"""How a scenario is put together from what the user gives: pose, velocity, parameters, guesses, energy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.algebra import unrolled
from jourdain.algebra.span import span
from jourdain.errors import BadEvent, NameClash, NotExpressible, listing, unknown
from jourdain.events.event import Event
from jourdain.inputs import Array, Expression, named_values
from jourdain.kinds import BEFORE_KINDS
from jourdain.mechanism.expression import to_sx
from jourdain.mechanism.sketch import Sketch
from jourdain.naming import name_of
from jourdain.scenarios.scenario import Scenario, undetermined_rates

# Arguments of a scenario's methods, which take parameters as keywords.
RESERVED = frozenset((
    "self", "check", "parameters", "samples", "keep", "progress", "of", "wrt", "over", "subject_to", "starts",
    "point", "subspace", "axis", "prefer",
))  # fmt: skip


def scenario(
    event: Event,
    q: Mapping[Any, Expression],
    v: Mapping[Any, Expression],
    parameters: Mapping[Any, Expression],
    energy: Expression | None,
    guess: Mapping[Any, float],
    defaults: Mapping[Any, float],
    units: Mapping[Any, str],
    sketch: Sketch | None = None,
) -> Scenario:
    """See `Event.at`."""
    s, mechanism = event.mechanism.symbols, event.mechanism
    written = _Parameters(event, parameters)
    pose_given, guessed = named_values("q", q), named_values("guess", guess)
    for name in guessed:
        if name in pose_given:
            raise NameClash(f"'{name}' is given in q and guessed; leave one out.")
    pose = written.column("q", {**pose_given, **guessed}, s.q_names, mechanism.neutral)
    written.let_use(guessed)
    velocity = written.column("v", v, s.v_names, np.zeros(len(s.v_names)))
    own = ca.vertcat(SX(0, 1), *(written.named(name) for name in event.parameters))
    scaled = None if energy is None else written.translate(energy)
    if guessed and not event.geometry.numel():
        raise BadEvent(f"guess gives {listing(guessed)}, but no constraint of the event is at position level.")
    given = set(mechanism.followed("v", named_values("v", v)))
    velocity, following = _completed(event, velocity, given, pose, written.guessed, own)
    if scaled is not None and ca.sparsify(velocity).nnz() == 0:
        raise BadEvent("energy= scales the prior velocity, but v is zero; say which way the mechanism moves.")
    values = written.with_defaults(defaults)
    if sketch is not None:
        sketch.refuse_strangers(event)
    all_units = {**mechanism.units, **{name_of(key): unit for key, unit in units.items()}}
    return Scenario(
        event, values, written.symbols, pose, velocity, own, scaled, written.guessed, following, all_units, sketch
    )


class _Parameters:
    """The parameters of a scenario: the event's own that are not expressed in others, and what its expressions name."""

    def __init__(self, event: Event, expressed: Mapping[Any, Expression]) -> None:
        self.mechanism = event.mechanism
        self.expressed = {name_of(key): value for key, value in expressed.items()}
        for name in self.expressed:
            if name not in event.parameters:
                raise unknown("parameter", name, event.parameters)
        self.symbols = {name: symbol for name, symbol in event.symbols.items() if name not in self.expressed}
        self.values = {name: event.parameters[name] for name in self.symbols}
        self.guessed: dict[str, SX] = {}  # coordinates that expressions may use
        self._being_expressed: set[str] = set()

    def let_use(self, coordinates: Iterable[str]) -> None:
        """Expressions may use guessed coordinates from now on."""
        self.guessed = {name: SX.sym(name) for name in coordinates}

    def translate(self, expression: Expression) -> SX:
        """An expression, or the name of a parameter, in the scenario's symbols."""
        return self.named(expression) if isinstance(expression, str) else to_sx(expression, self._lookup)

    def named(self, name: str) -> SX:
        """A parameter by name, a new one if need be."""
        if name in self.expressed and name not in self._being_expressed:
            self._being_expressed.add(name)  # an expression in its own name means the scenario's parameter
            try:
                return self.translate(self.expressed[name])
            finally:
                self._being_expressed.discard(name)
        if name not in self.symbols:
            self.symbols[name], self.values[name] = SX.sym(name), None
        return self.symbols[name]

    def _lookup(self, symbol: Expression) -> SX:
        if name_of(symbol) in self.guessed and not symbol.is_Derivative:
            return self.guessed[name_of(symbol)]
        if not symbol.is_Symbol:
            raise NotExpressible(
                f"{symbol} depends on time; a scenario is written in parameters, and v in guessed coordinates too."
            )
        return self.named(name_of(symbol))

    def column(self, what: str, given: Mapping[Any, Expression], names: tuple[str, ...], missing: Array) -> SX:
        """q or v from its entries by name; `missing`: what the others are."""
        translated = {key: self.translate(value) for key, value in named_values(what, given).items()}
        entries = self.mechanism.followed(what, translated)
        for name in entries:
            if name not in names:
                raise unknown(f"entry of {what}", name, names)
        return ca.vertcat(SX(0, 1), *(entries.get(name, SX(float(missing[i]))) for i, name in enumerate(names)))

    def with_defaults(self, defaults: Mapping[Any, float]) -> dict[str, float | None]:
        """The values of the parameters; None: must be given."""
        for key, value in defaults.items():
            if name_of(key) not in self.values:
                raise unknown("parameter", name_of(key), self.values)
            self.values[name_of(key)] = None if value is None else float(value)
        for name in self.values:
            if name in RESERVED:
                raise NameClash(f"'{name}' is a parameter and also an argument of a scenario's methods; rename it.")
        return self.values


def _completed(
    event: Event, v: SX, given: set[str], pose: SX, guessed: Mapping[str, SX], own: SX
) -> tuple[SX, tuple[str, ...]]:
    """(v with what it leaves out of the rates of guessed coordinates, the names of these velocities).

    Free are the velocities that are not given and that move a guessed coordinate, q̇ = N v. They follow from the
    rows that are on before, C v + b = 0. Where those leave some open, coordinates that are not guessed stand still if
    no given velocity moves them, so that the answer does not depend on the choice of v. What is open even then raises
    BadEvent if no pose can determine it, and is NaN at the poses that do not.
    """
    if not guessed:
        return v, ()
    s, q = event.mechanism.symbols, SX(pose)
    for name, symbol in guessed.items():
        q[s.q_names.index(name)] = symbol
    before = [role.block for role in event.roles if role.block.kind in BEFORE_KINDS]
    C = ca.vertcat(SX(0, len(s.v_names)), *(block.C for block in before))
    b = ca.vertcat(SX(0, 1), *(block.b_minus for block in before))
    written = ca.Function("rows", event.inputs, [s.N, C, b, ca.diag(event.mechanism.M)])
    N, C, b, mass = map(ca.sparsify, written.call([q, v, own]))
    moves = np.array(ca.DM(N.sparsity(), 1)) > 0  # (n_q, n_v)
    own_rate, known = np.isin(s.q_names, list(guessed)), np.isin(s.v_names, list(given))
    free = np.flatnonzero(moves[own_rate].any(axis=0) & ~known)
    if not free.size:
        return v, ()
    names = tuple(s.v_names[i] for i in free)
    at_rest = np.flatnonzero(~own_rate & ~moves[:, known].any(axis=1))
    rows = ca.vertcat(C, N[at_rest, :])[:, free]
    asked = ca.vertcat(-(C @ v + b), SX(len(at_rest), 1))
    if ca.sprank(ca.sparsify(rows)) < len(names):
        raise BadEvent(undetermined_rates(names))
    units = 1 / ca.sqrt(ca.if_else(mass[free] > 0, mass[free], 1))  # in which the columns have one unit
    spanned = span([rows @ ca.diag(units)], len(names), unrolled, like=rows)

    def solution(asked: SX) -> SX:
        solved: SX = units * (spanned.Q.T @ spanned.coordinates(asked))
        return solved

    found = solution(asked)
    found = found + solution(asked - rows @ found)  # one step of refinement
    completed = ca.densify(v)
    completed[free] = ca.if_else(ca.sum1(spanned.keep) > len(names) - 0.5, found, float("nan"))
    return completed, names
