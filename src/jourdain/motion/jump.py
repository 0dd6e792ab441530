"""What a switch does to the state: its event, then relabelling and new parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.compute.evaluate import Evaluator
from jourdain.errors import BadEvent, Status, unknown
from jourdain.events.transition import Transition
from jourdain.inputs import Array
from jourdain.motion.flow import N_WORKS
from jourdain.motion.guards import Switch
from jourdain.motion.hybrid import Hybrid
from jourdain.naming import name_of


@dataclass(frozen=True, eq=False)
class Jump:
    """The map of one switch."""

    hybrid: Hybrid
    switch: Switch

    @classmethod
    def of(cls, hybrid: Hybrid, switch: Switch) -> Jump:
        """Made once per switch."""
        if switch not in hybrid.jumps:
            hybrid.jumps[switch] = cls(hybrid, switch)
        return hybrid.jumps[switch]

    def __call__(self, y: Array, p: Array) -> tuple[Array, Array]:
        """(y, parameters) after, of one state `(n,)` or of many `(lanes, n)`."""
        n_q, n_v = self.hybrid.n_q, self.hybrid.n_v
        q, v = y[..., 1 : 1 + n_q], y[..., 1 + n_q : 1 + n_q + n_v]
        outcome = self.outcome(y, p)
        v = v if outcome is None else outcome.v_plus
        if self.switch.relabel or self.switch.parameters:
            moved = self._relabelled(q, v, p)
            q, v, p = (moved[name][..., 0] for name in ("q", "v", "p"))
        return np.concatenate([y[..., :1], q, v, y[..., 1 + n_q + n_v :]], axis=-1), p

    def one(self, y: Array, p: Array) -> tuple[Array, Array]:
        """The same of one state, in one piece where formulas do."""
        if self._whole is None:
            return self(y, p)
        values, status = self._whole.flagged(y, p)
        if status[0] != Status.OK:  # a word about it, or a closer look
            return self(y, p)
        return values["y"][:, 0], values["p"][:, 0] if self.switch.parameters else p

    def outcome(self, y: Array, p: Array) -> Transition | None:
        """That of the event, which nothing jumps without."""
        if self.switch.event is None:
            return None
        n_q, n_v = self.hybrid.n_q, self.hybrid.n_v
        q, v = y[..., 1 : 1 + n_q], y[..., 1 + n_q : 1 + n_q + n_v]
        return self.switch.event.solve(q, v, check=False, parameters=self.event_parameters(y[..., 0], p))

    @cached_property
    def _whole(self) -> Evaluator | None:
        """(y, p) → y and p after, with the status of the event; None where that is found by iteration."""
        event = self.switch.event
        if event is not None and event.iterated is not None:
            return None
        q, v, p, new_q, new_v, new_p = self.expressions()
        t, work = SX.sym("t"), SX.sym("w", N_WORKS)
        verdict = SX(0)
        if event is not None:
            known = dict(zip(self.hybrid.parameters, ca.vertsplit(p), strict=True)) | {"t": t}
            given = ca.vertcat(SX(0, 1), *(known[name] for name in event.parameters))
            found = event.expressions(checked=False)
            after = ca.Function("after", event.inputs, [ca.densify(found.values.v_plus), found.verdict])
            v_plus, verdict = after(q, v, given)
            new_q, new_v, new_p = ca.Function("relabel", [q, v, p], [new_q, new_v, new_p])(q, v_plus, p)
        return Evaluator([ca.vertcat(t, q, v, work), p], {"y": ca.vertcat(t, new_q, new_v, work), "p": new_p}, verdict)

    def event_parameters(self, t: Any, p: Array) -> dict[str, Any]:
        """Those that the event knows."""
        assert self.switch.event is not None
        values = dict(zip(self.hybrid.parameters, np.moveaxis(p, -1, 0), strict=True)) | {"t": t}
        return {name: values[name] for name in self.switch.event.parameters}

    def expressions(self) -> tuple[SX, SX, SX, SX, SX, SX]:
        """(q, v, p) and what relabelling makes of them."""
        s = self.hybrid.mechanism.symbols
        q, v = SX.sym("q", self.hybrid.n_q), SX.sym("v", self.hybrid.n_v)
        p = ca.vertcat(SX(0, 1), *(SX.sym(name) for name in self.hybrid.parameters))
        names = list(self.hybrid.parameters)
        own = ca.vertcat(SX(0, 1), *(p[names.index(name)] for name in s.p_names))
        new_q = SX(s.q)
        for key, expression in self.switch.relabel.items():
            name = name_of(key)
            if name not in s.q_names:
                raise unknown("coordinate", name, s.q_names)
            new_q[s.q_names.index(name)] = self._translated(expression)
        rates = ca.jtimes(new_q, s.q, s.N @ s.v)
        if not self.switch.relabel:
            new_v = s.v
        elif s.N.is_eye():
            new_v = rates
        elif s.N.shape[0] == s.N.shape[1]:
            N = ca.substitute(s.N, s.q, new_q)
            new_v = ca.solve(N, rates)
        else:
            raise BadEvent("Coordinates can be relabelled where q̇ = N v has a square N; use rates as velocities.")
        new_q, new_v = ca.Function("relabel", [s.q, s.v, s.p], [new_q, new_v]).call([q, v, own])
        new_p = SX(p)
        for key, expression in self.switch.parameters.items():
            name = name_of(key)
            if name not in names:
                raise unknown("parameter", name, names)
            (value,) = ca.Function("new", [s.q, s.v, s.p], [self._translated(expression)]).call([q, v, own])
            new_p[names.index(name)] = value
        return q, v, p, new_q, new_v, new_p

    def _translated(self, expression: Any) -> SX:
        s = self.hybrid.mechanism.symbols
        translated = s.translate(expression)
        if ca.depends_on(translated, ca.vertcat(s.v, s.t)):
            raise BadEvent(
                f"relabel and parameters of a switch are written in coordinates and parameters: {expression}."
            )
        return translated

    @cached_property
    def relabelled_by(self) -> Evaluator:
        """(q, v, p) → derivatives of what relabelling makes of each by all of them."""
        q, v, p, new_q, new_v, new_p = self.expressions()
        outputs = {"q": new_q, "v": new_v, "p": new_p}
        return Evaluator([q, v, p], {name: ca.jacobian(part, ca.vertcat(q, v, p)) for name, part in outputs.items()})

    @cached_property
    def _relabelled(self) -> Evaluator:
        q, v, p, new_q, new_v, new_p = self.expressions()
        return Evaluator([q, v, p], {"q": new_q, "v": new_v, "p": new_p})
