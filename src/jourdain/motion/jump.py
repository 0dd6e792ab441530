"""What a switch does to the state: its event, then relabelling and new parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.algebra.record import KEPT
from jourdain.compute.evaluate import Evaluator
from jourdain.errors import BadEvent, Status, unknown
from jourdain.events.gradient import jacobian, switched_by
from jourdain.events.solver import Solver
from jourdain.events.transition import Transition
from jourdain.inputs import Array
from jourdain.motion.flow import N_WORKS
from jourdain.motion.guards import Switch
from jourdain.naming import name_of

if TYPE_CHECKING:
    from jourdain.events.event import Event
    from jourdain.motion.hybrid import Hybrid


class JumpResult(NamedTuple):
    """State and parameters after a switch."""

    y: Array  # (n,)
    p: Array  # (n_p,)
    solve: Callable[[], Transition | None]  # outcome of the switch's event; None if it has none
    slopes: Array | None = None  # ∂(q, v, p)/∂(q, v, p before), (n_q + n_v + n_p, same)


@dataclass(frozen=True, eq=False)
class Jump:
    """The map of one switch."""

    hybrid: Hybrid
    switch: Switch

    def __call__(self, y: Array, p: Array) -> tuple[Array, Array]:
        """(y, parameters) after, of one state `(n,)` or of many `(samples, n)`."""
        q, v = self.hybrid.state(y)
        outcome = self.outcome(y, p)
        v = v if outcome is None else outcome.v_plus
        if self._relabels:
            relabelled = self._relabelled(q, v, p)
            q, v, p = (relabelled[name][..., 0] for name in ("q", "v", "p"))
        return self._with_state(y, q, v), p

    def one(self, y: Array, p: Array) -> JumpResult:
        """The same of one state, by one evaluation where formulas do."""
        solve = partial(self.outcome, y, p)
        if self._whole is not None:
            values, status = self._whole.flagged(y, p)
            if not status[0]:  # OK
                return JumpResult(values["y"][:, 0], values["p"][:, 0] if self.switch.parameters else p, solve)
        return JumpResult(*self(y, p), solve)  # by iteration, with a warning, or an error that says what is wrong

    def with_slopes(self, y: Array, p: Array) -> JumpResult:
        """The same of one state, with its derivative; the event is evaluated once for state, derivative and outcome."""
        q, v = self.hybrid.state(y)
        event, outcome, slopes = self.switch.event, None, np.eye(len(q) + len(v) + len(p))
        if event is not None:
            state = event.state(q, v, self._event_parameters(y[0], p))
            values, status = self._event_by(*state)
            rank, n_p = event.rank_change, len(event.parameters)
            moving = [*range(len(q)), *(len(q) + len(v) + i for i in range(n_p))]
            status = rank.of_states(status, values["redundant"], state, moving, on_geometry=True)
            if status > Status.ENERGY_CREATED:
                raise event.refusal(Status(int(status)), state)
            outcome = Transition(event.layout, values, status)
            slopes[len(q) : len(q) + len(v)], v = values["by_state"], outcome.v_plus
        if self._relabels:
            relabelled = self._relabelled_by(q, v, p)
            q, v = relabelled["q"][:, 0], relabelled["v"][:, 0]
            p = relabelled["p"][:, 0] if self.switch.parameters else p
            slopes = relabelled["by"] @ slopes
        return JumpResult(self._with_state(y, q, v), p, lambda: outcome, slopes)

    def outcome(self, y: Array, p: Array) -> Transition | None:
        """Outcome of the switch's event; None if it has none."""
        if self.switch.event is None:
            return None
        return self.switch.event.solve(
            *self.hybrid.state(y), check=False, parameters=self._event_parameters(y[..., 0], p)
        )

    def _with_state(self, y: Array, q: Array, v: Array) -> Array:
        return np.concatenate([y[..., :1], q, v, y[..., -N_WORKS:]], axis=-1)

    @property
    def _relabels(self) -> bool:
        return bool(self.switch.relabel or self.switch.parameters)

    @cached_property
    def _whole(self) -> Evaluator | None:
        """(y, p) → y and p after, with the status of the event; None where that is found by iteration."""
        event = self.switch.event
        if event is not None and event.iterated is not None:
            return None
        q, v, p, new_q, new_v, new_p = self.expressions
        t, work = SX.sym("t"), SX.sym("w", N_WORKS)
        verdict = SX(0)
        if event is not None:
            known = dict(zip(self.hybrid.parameters, ca.vertsplit(p), strict=True)) | {"t": t}
            given = ca.vertcat(SX(0, 1), *(known[name] for name in event.parameters))
            written = event.expressions(checked=False)
            after = ca.Function("after", event.inputs, [ca.densify(written.values.v_plus), written.verdict])
            v_plus, verdict = after(q, v, given)
            new_q, new_v, new_p = ca.Function("relabel", [q, v, p], [new_q, new_v, new_p])(q, v_plus, p)
        return Evaluator([ca.vertcat(t, q, v, work), p], {"y": ca.vertcat(t, new_q, new_v, work), "p": new_p}, verdict)

    @cached_property
    def _event_by(self) -> Solver:
        """All numbers of the event's outcome, and `by_state`, ∂v_plus/∂(q, v, p) with all parameters p."""
        assert self.switch.event is not None
        return self._by_state(self.switch.event)

    def _by_state(self, event: Event) -> Solver:
        names = self.hybrid.parameters
        q, v, _ = event.inputs
        symbols = ca.vertcat(q, v, *(event.symbols.get(name, SX.sym(name)) for name in names))

        def build(independent: bool) -> tuple[dict[str, SX], SX]:
            written = event.expressions(independent, checked=False)
            verdict, failed = switched_by(symbols, written, independent)
            by_state = jacobian(written.values.v_plus, symbols, failed, event.iterated)
            return {**written.masked(written.values.columns(KEPT)), "by_state": by_state}, verdict

        singular = None if event.definite is None else partial(self._by_state, event.definite)
        return Solver(event.inputs, build, event.problem.M, event.iterated, None, singular, slopes=True)

    def _event_parameters(self, t: Any, p: Array) -> dict[str, Any]:
        """By name, those of the event."""
        assert self.switch.event is not None
        values = dict(zip(self.hybrid.parameters, np.moveaxis(p, -1, 0), strict=True)) | {"t": t}
        return {name: values[name] for name in self.switch.event.parameters}

    @cached_property
    def expressions(self) -> tuple[SX, SX, SX, SX, SX, SX]:
        """Symbols q, v, p, and expressions of what relabelling makes of each."""
        s, names = self.hybrid.mechanism.symbols, list(self.hybrid.parameters)
        q, v = SX.sym("q", self.hybrid.n_q), SX.sym("v", self.hybrid.n_v)
        p = ca.vertcat(SX(0, 1), *(SX.sym(name) for name in names))
        new_q = self._replaced(s.q, "coordinate", s.q_names, self.switch.relabel)
        new_p = self._replaced(p, "parameter", names, self.switch.parameters)
        rates = ca.jtimes(new_q, s.q, s.N @ s.v)
        if not self.switch.relabel:
            new_v = s.v
        elif s.N.is_eye():
            new_v = rates
        elif s.N.shape[0] == s.N.shape[1]:
            new_v = ca.solve(ca.substitute(s.N, s.q, new_q), rates)
        else:
            raise BadEvent("Coordinates can be relabelled where q̇ = N v has a square N; use rates as velocities.")
        relabel = ca.Function("relabel", [s.q, s.v, s.p, p], [new_q, new_v, new_p])
        of_mechanism = ca.vertcat(SX(0, 1), *(p[names.index(name)] for name in s.p_names))
        new_q, new_v, new_p = relabel.call([q, v, of_mechanism, p])
        return q, v, p, new_q, new_v, new_p

    def _replaced(self, column: SX, what: str, names: Sequence[str], expressions: Mapping[Any, Any]) -> SX:
        """A column of symbols, with expressions in the mechanism's symbols instead of those that are named."""
        column, s = SX(column), self.hybrid.mechanism.symbols
        for key, expression in expressions.items():
            if name_of(key) not in names:
                raise unknown(what, name_of(key), names)
            translated = s.translate(expression)
            if ca.depends_on(translated, ca.vertcat(s.v, s.t)):
                raise BadEvent(
                    f"relabel and parameters of a switch are written in coordinates and parameters: {expression}."
                )
            column[names.index(name_of(key))] = translated
        return column

    @cached_property
    def _relabelled(self) -> Evaluator:
        """(q, v, p) → each after relabelling."""
        q, v, p, new_q, new_v, new_p = self.expressions
        return Evaluator([q, v, p], {"q": new_q, "v": new_v, "p": new_p})

    @cached_property
    def _relabelled_by(self) -> Evaluator:
        """The same, and their derivatives by all of them."""
        q, v, p, new_q, new_v, new_p = self.expressions
        by = ca.jacobian(ca.vertcat(new_q, new_v, new_p), ca.vertcat(q, v, p))
        return Evaluator([q, v, p], {**self._relabelled.outputs, "by": by})
