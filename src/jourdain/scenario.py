"""A scenario: an event at a pose and a prior velocity that depend on parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.checks import TOLERANCE
from jourdain.errors import BadEvent, NotConverged, NotExpressible, listing, unknown
from jourdain.evaluate import Array, Evaluator
from jourdain.event import Event
from jourdain.models.expression import to_sx
from jourdain.naming import name_of
from jourdain.state import broadcast, named_values, parameter_vector
from jourdain.transition import Transition


@dataclass(frozen=True, eq=False)
class Scenario:
    """An event at q(parameters), v(parameters). `parameters` lists them with their defaults (None: must be given)."""

    event: Event
    parameters: Mapping[str, float | None]
    symbols: Mapping[str, SX]  # of the parameters
    q: SX  # (n_q, 1), in the parameters
    v: SX  # (n_v, 1)
    event_parameters: SX  # in the order of the event's own
    energy: SX | None  # what T_minus is scaled to
    guessed: tuple[str, ...]  # coordinates solved from the geometric rows
    units: Mapping[str, str]

    def solve(self, check: bool | str = True, parameters: Mapping[str, Any] = {}, **more: Any) -> Transition:
        """The outcome for these parameters; each may be an array, and they broadcast."""
        q, v, p = self.state({**named_values("parameters", parameters), **more})
        own = {name: p[..., i] for i, name in enumerate(self.event.parameters)}
        return self.event.solve(q, v, check, parameters=own)

    def state(self, parameters: Mapping[str, Any]) -> tuple[Array, Array, Array]:
        """q, v and the event's parameters, each `(*batch, n)`."""
        columns = parameter_vector(self.parameters, parameters)
        _, _, values = broadcast(np.zeros(0), np.zeros(0), columns)
        pose = self._pose(values)
        q, p = pose["q"][..., 0], pose["p"][..., 0]
        if self.guessed:
            names = self.event.mechanism.symbols.q_names
            still = np.zeros((*q.shape[:-1], len(self.event.mechanism.symbols.v_names)))
            q, missed = self.event.assembled((q, still, p), [names.index(name) for name in self.guessed])
            arrived = missed <= TOLERANCE
            if q.ndim == 1 and np.isfinite(missed) and not arrived:
                raise NotConverged(
                    f"No {listing(self.guessed)} near the guess satisfies the geometric rows: {missed:.1e} remains. "
                    "Guess closer, or check that the pose exists."
                )
            q = np.where(arrived[..., None], q, np.nan)
        v = self._velocity(q, values)["v"][..., 0]
        if self.energy is not None and v.ndim == 1 and np.isfinite([*q, *p]).all() and not np.isfinite(v).all():
            raise BadEvent("The prior velocity cannot be scaled to this energy: it is zero, or the energy is negative.")
        return q, v, p

    @cached_property
    def _inputs(self) -> SX:
        return ca.vertcat(SX(0, 1), *self.symbols.values())

    @cached_property
    def _pose(self) -> Evaluator:
        return Evaluator([self._inputs], {"q": self.q, "p": self.event_parameters})

    @cached_property
    def _velocity(self) -> Evaluator:
        """v at a configuration, scaled to the energy asked for."""
        mechanism = self.event.mechanism
        v = self.v
        if self.energy is not None:
            own = ca.vertcat(SX(0, 1), *self.event.symbols.values())
            M = ca.substitute(mechanism.M, own, self.event_parameters)
            v = v * ca.sqrt(self.energy / (v.T @ M @ v / 2))
        return Evaluator([mechanism.symbols.q, self._inputs], {"v": v})

    def __repr__(self) -> str:
        given = ", ".join(name if value is None else f"{name}={value:g}" for name, value in self.parameters.items())
        return f"Scenario({given})"


def scenario(
    event: Event,
    q: Mapping[Any, Any],
    v: Mapping[Any, Any],
    parameters: Mapping[Any, Any],
    energy: Any,
    guess: Mapping[Any, float],
    defaults: Mapping[Any, float],
    units: Mapping[Any, str],
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

    def lookup(symbol: Any) -> SX:
        if not symbol.is_Symbol:
            raise NotExpressible(f"{symbol} depends on time; a scenario is written in parameters only.")
        return named(name_of(symbol))

    def column(what: str, given: Mapping[Any, Any], names: tuple[str, ...]) -> SX:
        entries = {name: translate(value) for name, value in named_values(what, given).items()}
        for name in entries:
            if name not in names:
                raise unknown(f"entry of {what}", name, names)
        return ca.vertcat(SX(0, 1), *(entries.get(name, SX(0)) for name in names))

    guessed = named_values("guess", guess)
    pose = column("q", {**named_values("q", q), **guessed}, s.q_names)
    velocity = column("v", v, s.v_names)
    own = ca.vertcat(SX(0, 1), *(named(name) for name in event.parameters))
    scaled = None if energy is None else translate(energy)
    if scaled is not None and ca.sparsify(velocity).nnz() == 0:
        raise BadEvent("energy= scales the prior velocity, but v is zero; say which way the mechanism moves.")
    if guessed and not event.geometry.numel():
        raise BadEvent(f"guess gives {listing(guessed)}, but no constraint of the event is at position level.")
    for key, value in defaults.items():
        if name_of(key) not in values:
            raise unknown("parameter", name_of(key), values)
        values[name_of(key)] = None if value is None else float(value)
    all_units = {**event.mechanism.units, **{name_of(key): unit for key, unit in units.items()}}
    return Scenario(event, values, symbols, pose, velocity, own, scaled, tuple(guessed), all_units)
