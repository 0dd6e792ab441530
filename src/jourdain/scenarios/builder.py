"""How a scenario is put together from what the user gives: pose, velocity, parameters, guesses, energy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.errors import BadEvent, NameClash, NotExpressible, listing, unknown
from jourdain.events.event import Event
from jourdain.inputs import named_values
from jourdain.kinds import BEFORE_KINDS
from jourdain.mechanism.expression import to_sx
from jourdain.mechanism.sketch import Sketch
from jourdain.naming import name_of
from jourdain.scenarios.scenario import Scenario

# Arguments of a scenario's methods, which take parameters as keywords.
RESERVED = frozenset(
    (
        "check",
        "parameters",
        "samples",
        "keep",
        "progress",
        "of",
        "wrt",
        "over",
        "subject_to",
        "starts",
        "self",
        "point",
        "subspace",
        "axis",
        "prefer",
    )
)


def scenario(
    event: Event,
    q: Mapping[Any, Any],
    v: Mapping[Any, Any],
    parameters: Mapping[Any, Any],
    energy: Any,
    guess: Mapping[Any, float],
    defaults: Mapping[Any, float],
    units: Mapping[Any, str],
    sketch: Sketch | None = None,
) -> Scenario:
    """See `Event.at`."""
    s = event.mechanism.symbols
    expressed = {name_of(key): value for key, value in parameters.items()}
    for name in expressed:
        if name not in event.parameters:
            raise unknown("parameter", name, event.parameters)
    symbols = {name: symbol for name, symbol in event.symbols.items() if name not in expressed}
    values = {name: event.parameters[name] for name in symbols}

    being_expressed: set[str] = set()

    def translate(expression: Any) -> SX:
        if isinstance(expression, str):
            return named(expression)
        return to_sx(expression, lookup)

    def named(name: str) -> SX:
        if name in expressed and name not in being_expressed:
            being_expressed.add(name)  # an expression in its own name means the scenario's parameter
            try:
                return translate(expressed[name])
            finally:
                being_expressed.discard(name)
        if name not in symbols:
            symbols[name], values[name] = SX.sym(name), None
        return symbols[name]

    found: dict[str, SX] = {}  # guessed coordinates, where expressions may use them

    def lookup(symbol: Any) -> SX:
        if name_of(symbol) in found and not symbol.is_Derivative:
            return found[name_of(symbol)]
        if not symbol.is_Symbol:
            raise NotExpressible(
                f"{symbol} depends on time; a scenario is written in parameters, and v in guessed coordinates too."
            )
        return named(name_of(symbol))

    def column(what: str, given: Mapping[Any, Any], names: tuple[str, ...]) -> SX:
        entries = event.mechanism.followed(
            what, {key: translate(value) for key, value in named_values(what, given).items()}
        )
        for name in entries:
            if name not in names:
                raise unknown(f"entry of {what}", name, names)
        missing = event.mechanism.neutral if what == "q" else np.zeros(len(names))
        return ca.vertcat(SX(0, 1), *(entries.get(name, SX(float(missing[i]))) for i, name in enumerate(names)))

    guessed = named_values("guess", guess)
    for name in guessed:
        if name in named_values("q", q):
            raise NameClash(f"'{name}' is given in q and guessed; leave one out.")
    pose = column("q", {**named_values("q", q), **guessed}, s.q_names)
    found |= {name: SX.sym(name) for name in guessed}
    velocity = column("v", v, s.v_names)
    own = ca.vertcat(SX(0, 1), *(named(name) for name in event.parameters))
    velocity = _completed(event, velocity, {name_of(key) for key in v}, pose, found, own)
    scaled = None if energy is None else translate(energy)
    if scaled is not None and ca.sparsify(velocity).nnz() == 0:
        raise BadEvent("energy= scales the prior velocity, but v is zero; say which way the mechanism moves.")
    if guessed and not event.geometry.numel():
        raise BadEvent(f"guess gives {listing(guessed)}, but no constraint of the event is at position level.")
    for key, value in defaults.items():
        if name_of(key) not in values:
            raise unknown("parameter", name_of(key), values)
        values[name_of(key)] = None if value is None else float(value)
    for name in values:
        if name in RESERVED:
            raise NameClash(f"'{name}' is a parameter and also an argument of a scenario's methods; rename it.")
    if sketch is not None:
        sketch.refuse_strangers(event)
    given_units = {name_of(key): unit for key, unit in units.items()}
    return Scenario(
        event, values, symbols, pose, velocity, own, scaled, found, {**event.mechanism.units, **given_units}, sketch
    )


def _completed(event: Event, v: SX, given: set[str], pose: SX, guessed: Mapping[str, SX], own: SX) -> SX:
    """v with the rates of guessed coordinates that are not given, as the geometric rows that are on before ask for.

    Only where there are as many such rows as rates: C_f v_f = −(C v + b).
    """
    s = event.mechanism.symbols
    rates = [s.v_names.index(name) for name in guessed if name in s.v_names and name not in given]
    before = [role.block for role in event.roles if role.constraint.g is not None and role.block.kind in BEFORE_KINDS]
    C = ca.vertcat(SX(0, len(s.v_names)), *(block.C for block in before))
    if not rates or C.shape[0] != len(rates):
        return v
    q = SX(pose)
    for name, symbol in guessed.items():
        q[s.q_names.index(name)] = symbol
    b = ca.vertcat(*(block.b_minus for block in before))
    C, b = ca.Function("rows", event.inputs, [C, b]).call([q, v, own])
    completed = ca.densify(v)
    completed[rates] = ca.solve(ca.densify(C[:, rates]), ca.densify(-(C @ v + b)))
    return completed
