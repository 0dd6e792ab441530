"""Exact derivatives of what an event does, by differentiating its algebra; with redundant rows and κ > 0 too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.algebra import lapack
from jourdain.algebra.checks import DOUBTFUL_ROWS, LARGEST
from jourdain.algebra.contacts.iteration import Iterated
from jourdain.compute.fallback import Samples, at_samples
from jourdain.data.addresses import find
from jourdain.data.layout import Entry, Layout
from jourdain.errors import BadEvent, NameClash, NotConverged, Status, listing, unknown
from jourdain.events.rank_change import neighbours
from jourdain.events.solver import Solver
from jourdain.inputs import Array, Flags, Statuses
from jourdain.naming import name_of

if TYPE_CHECKING:
    from jourdain.events.event import Event, Expressions
    from jourdain.scenarios.scenario import Pose, Scenario

INTEGERS = ("dof", "redundant", "contact_state")  # have no derivative
ON_THE_VERGE = 1e-9  # of the usual speed or impulse: the margin of a contact that may do one thing or another


def names_in(wrt: Any) -> tuple[str, ...]:
    """One name or several, or things that have one."""
    several = wrt if isinstance(wrt, Iterable) and not isinstance(wrt, str) else [wrt]
    return tuple(name_of(which) for which in several)


def derivatives_title(of: Iterable[str], wrt: Iterable[str]) -> str:
    """What is said to be compiled."""
    return f"the derivatives of {', '.join(map(name_of, of))} by {', '.join(wrt)}"


def differentiable(layout: Layout, of: str) -> Entry:
    """What an address stands for, if it has a derivative."""
    entry = find(layout, name_of(of))
    if entry.quantity in INTEGERS:
        raise BadEvent(f"'{of}' is a whole number: it has no derivative.")
    return entry


def switched(margins: SX, blurred: SX, verdict: SX, failed: SX, independent: bool, crossing: SX) -> tuple[SX, SX]:
    """(verdict, failed) of an event whose contacts must not be on the verge of doing something else.

    Nor may masses differ so much that derivatives are noise (`blurred`). `crossing`: how the variables move what is at
    a kink (`contact_kink`); where they do not, the kink does not matter.
    """
    if not independent:
        solvable = ca.logic_or(ca.logic_not(failed), verdict == Status.CONTRADICTION)  # which may be noise
        noise = ca.logic_and(solvable, blurred > 1)
        verdict, failed = ca.if_else(noise, float(Status.NOT_CONVERGED), verdict), ca.logic_or(noise, failed)
    if not margins.numel():
        return verdict, failed
    verge = ca.mmin(margins) <= ON_THE_VERGE
    for slope in ca.vertsplit(ca.vec(crossing)):
        verge = ca.logic_or(verge, ca.fabs(slope) > ON_THE_VERGE)
    verge = ca.logic_and(verge, ca.logic_not(failed))
    code = float(DOUBTFUL_ROWS if independent else Status.AT_SWITCH)
    return ca.if_else(verge, code, verdict), ca.logic_or(verge, failed)


def switched_by(symbols: SX, written: Expressions, independent: bool) -> tuple[SX, SX]:
    """The same of an event's expressions, with derivatives by these symbols."""
    values, crossing = written.values, ca.jacobian(written.values.contact_kink, symbols)
    return switched(values.contact_margin, values.blurred, written.verdict, written.failed, independent, crossing)


def jacobian(numbers: SX, symbols: SX, failed: SX, iterated: Iterated | None) -> SX:
    """∂numbers/∂symbols, NaN where the event failed and where a number is not finite: it has no derivative there."""
    slopes = ca.jacobian(numbers, symbols)
    if iterated is not None:
        slopes = slopes + iterated.jacobian(numbers, symbols)
    rows = [
        ca.if_else(ca.logic_and(ca.logic_not(failed), ca.fabs(number) <= LARGEST), slopes[i, :], float("nan"))
        for i, number in enumerate(ca.vertsplit(numbers))
    ]
    return ca.vertcat(SX(0, symbols.shape[0]), *rows)


@dataclass(frozen=True)
class Variable:
    """What a derivative is taken with respect to."""

    name: str
    symbols: SX  # (m, 1)
    scalar: bool  # its derivatives have no axis for it


def distinct(variables: Sequence[Variable]) -> tuple[SX, list[list[int]]]:
    """All symbols once, as a column, and where those of each variable stand in it: "q" and "q.theta" share one."""
    seen: dict[int, SX] = {}
    for symbol in (symbol for variable in variables for symbol in ca.vertsplit(variable.symbols)):
        seen.setdefault(symbol.__hash__(), symbol)
    order = list(seen)
    places = [[order.index(s.__hash__()) for s in ca.vertsplit(variable.symbols)] for variable in variables]
    return ca.vertcat(SX(0, 1), *seen.values()), places


def shaped(J: Array, entry: Entry, variables: Sequence[Variable]) -> dict[str, Array]:
    """A Jacobian `(*batch, numbers, symbols)` cut up: name → `(*batch, *shape of the entry, *of the variable)`."""
    found = {}
    for variable, places in zip(variables, distinct(variables)[1], strict=True):
        part = J[..., places[0]] if variable.scalar else J[..., places]
        if not entry.names:
            part = part[..., 0] if variable.scalar else part[..., 0, :]
        found[variable.name] = part[()]
    return found


class EventGradient:
    """Derivatives of one quantity of an event with respect to q, v⁻ and parameters."""

    def __init__(self, event: Event, of: str, wrt: tuple[str, ...], checked: bool) -> None:
        if checked not in (True, False):
            raise BadEvent(f"check is True or False where derivatives are taken, not {checked!r}.")
        self.event = event
        self.entry = differentiable(event.layout, of)
        self.variables = [self._variable(name) for name in wrt]
        symbols, _ = distinct(self.variables)

        def build(independent: bool) -> tuple[dict[str, SX], SX]:
            found = event.expressions(independent, checked)
            verdict, failed = switched_by(symbols, found, independent)
            J = jacobian(found.entry(self.entry), symbols, failed, event.iterated)
            return {"J": J, "redundant": found.values.redundant}, verdict

        title = derivatives_title([of], wrt)
        other = event.definite
        singular = None if other is None else (lambda: EventGradient(other, of, wrt, checked).solver)
        self.solver: Solver = Solver(event.inputs, build, event.problem.M, event.iterated, None, singular, True, title)
        self._checked = checked
        # Rows depend on q and parameters, not on v.
        order = [symbol.__hash__() for symbol in ca.vertsplit(ca.vertcat(*event.inputs))]
        rates = {symbol.__hash__() for symbol in ca.vertsplit(event.inputs[1])}
        moved = [symbol.__hash__() for symbol in ca.vertsplit(symbols)]
        self._places = [order.index(symbol) for symbol in moved if symbol not in rates]

    def _variable(self, name: str) -> Variable:
        s, event = self.event.mechanism.symbols, self.event
        kind, dot, part = name.partition(".")
        for what, symbols, names in (("q", s.q, s.q_names), ("v", s.v, s.v_names)):
            if kind == what and name not in event.parameters:
                if dot and part not in names:
                    raise unknown(f"entry of {what}", part, names)
                return Variable(name, symbols[names.index(part)] if dot else symbols, bool(dot))
            if name == what:
                raise NameClash(f"'{name}' is the state and also a parameter of this event; rename the parameter.")
        if name not in event.parameters:
            raise unknown("parameter", name, ["q", "v", *event.parameters])
        return Variable(name, event.symbols[name], scalar=True)

    def __call__(self, state: tuple[Array, Array, Array]) -> dict[str, Array]:
        """Name → derivative, for states `(*batch, n)`; NaN where an event fails."""
        values, status = self.solver(*state)
        status = self.event.rank_change.of_states(status, values["redundant"], state, self._places, self._checked)
        if not status.ndim and status > Status.ENERGY_CREATED:
            raise self.event.refusal(Status(int(status)), state)
        J = np.where((status == Status.AT_SWITCH)[..., None, None], np.nan, values["J"])
        return shaped(J, self.entry, self.variables)


class ScenarioGradient:
    """Values of quantities of a scenario, and their derivatives with respect to its parameters."""

    def __init__(self, scenario: Scenario, of: Sequence[str], wrt: tuple[str, ...]) -> None:
        self.scenario = scenario
        layout = scenario.event.layout
        self.entries = [differentiable(layout, address) for address in of]
        for name in wrt:
            if name not in scenario.parameters:
                raise unknown("parameter", name, scenario.parameters)
        self.variables = [Variable(name, scenario.symbols[name], scalar=True) for name in wrt]
        p, _ = distinct(self.variables)
        _, guessed = scenario.inputs

        def build(independent: bool) -> tuple[dict[str, SX], SX]:
            found = scenario.event.expressions(independent)
            column = ca.vertcat(SX(0, 1), *(found.entry(entry) for entry in self.entries))
            (kink,) = scenario.composed([found.values.contact_kink])
            judged = [found.values.contact_margin, found.values.blurred, found.verdict, found.failed]
            margins, blurred, verdict, failed = scenario.composed(judged)
            values, g, redundant = scenario.composed([column, scenario.event.geometry, found.values.redundant])
            crossing = ca.jacobian(kink, ca.vertcat(p, guessed))
            verdict, failed = switched(margins, blurred, verdict, failed, independent, crossing)
            outputs = {"value": ca.if_else(failed, float("nan"), values), "redundant": redundant}
            outputs |= {
                name: jacobian(values, some, failed, scenario.iterated) for name, some in (("F_p", p), ("F_g", guessed))
            }
            return {**outputs, "G_p": ca.jacobian(g, p), "G_g": ca.jacobian(g, guessed)}, verdict

        (M,) = scenario.composed([scenario.event.problem.M])
        title, other = derivatives_title(of, wrt), scenario.definite
        singular = None if other is None else (lambda: ScenarioGradient(other, of, wrt).solver)
        self.solver: Solver = Solver(scenario.inputs, build, M, scenario.iterated, None, singular, True, title)

    def __call__(self, parameters: Mapping[str, Any]) -> tuple[Array, Array, Statuses]:
        """(values `(*batch, numbers)`, Jacobian `(*batch, numbers, parameters)`, status) at these parameters."""
        pose = self.scenario.pose(parameters)
        values, status = self.solver.over(pose.columns, pose.batch)
        status = pose.judged(status)
        rank = self.scenario.event.rank_change
        status = rank.checked(status, values["redundant"], lambda samples: self._rank_changes(pose, samples))
        if not pose.batch and status > Status.ENERGY_CREATED:
            raise self.scenario.refusal(Status(int(status)), parameters)
        J = values["F_p"]
        if self.scenario.guessed:  # g(p, guessed) = 0: how the guessed coordinates follow the parameters
            J = J - values["F_g"] @ self._following(values["G_g"], values["G_p"])
        return values["value"][..., 0], np.where((status == Status.AT_SWITCH)[..., None, None], np.nan, J), status

    def _rank_changes(self, pose: Pose, samples: Samples) -> Flags:
        names = list(self.scenario.parameters)
        columns = at_samples(pose.columns[: len(names)], pose.batch, samples)
        x = np.stack([np.broadcast_to(column, samples.shape) for column in columns], axis=-1)
        beside = neighbours(x, [names.index(variable.name) for variable in self.variables])
        states = [self.scenario.state(dict(zip(names, np.moveaxis(y, -1, 0), strict=True))) for y in (x, beside)]
        return self.scenario.event.rank_change.at(*states)

    def _following(self, G_g: Array, G_p: Array) -> Array:
        """(∂g/∂guessed)⁻¹ ∂g/∂p, NaN where the rows do not determine the guessed coordinates."""
        determined = lapack.full_column_rank(G_g)
        if not determined.ndim and not determined:
            raise NotConverged(
                f"The geometric rows do not determine {listing(self.scenario.guessed)} here: no derivative exists."
            )
        safe = np.where(determined[..., None, None], G_g, np.eye(*G_g.shape[-2:]))
        columns = [lapack.least_squares(safe, G_p[..., i]) for i in range(G_p.shape[-1])]
        following = np.stack(columns, axis=-1) if columns else np.zeros((*G_g.shape[:-2], G_g.shape[-1], 0))
        return np.where(determined[..., None, None], following, np.nan)
