"""Flow, guard location and event, in turn, until something ends the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, get_args

import numpy as np

from jourdain.compute.runge_kutta import N_DENSE
from jourdain.errors import (
    BadEvent,
    Contradiction,
    NotConverged,
    NotFinite,
    OffConstraint,
    ShapeError,
    listing,
    unknown,
)
from jourdain.inputs import Array
from jourdain.mechanism.constraint import Constraint
from jourdain.motion.flow import OFF
from jourdain.motion.guards import Reaction, Switch
from jourdain.motion.hybrid import Hybrid, Method
from jourdain.motion.jump import Jump
from jourdain.motion.labelled import state_labels
from jourdain.motion.steps import Begun, CompiledSteps, Ran, SciPySteps, Steps
from jourdain.motion.trajectory import Happened, Segment, Trajectory
from jourdain.naming import name_of
from jourdain.progress import Progress, bar

MOST_STEPS = 1_000_000  # in a segment
MOST_REFINEMENTS = 12
BEYOND = 1 + 1e-9  # times a step: its end, up to rounding
SETTLED = 4e-16  # of the time: a correction to that of an event which is rounding
CHATTER = 1e-6  # of the time so far: events that come closer each time pile up if their limit is this near
N_CHATTER = 8  # in a row
LONGER = 2.0  # than a segment took: the first step to try in the next
PARTS = 1000  # of the time, for who watches


class Settings(NamedTuple):
    """How the motion is integrated."""

    rtol: float
    atol: float
    method: Method = "explicit"


def simulate(
    hybrid: Hybrid,
    q: Any,
    v: Any,
    until: float,
    topology: str,
    max_events: int,
    settings: Settings,
    parameters: Mapping[str, Any],
    progress: bool | None = None,
) -> Trajectory:
    """See `Hybrid.simulate`."""
    p = hybrid.parameter_array(parameters)
    y = _begun(hybrid, q, v, p)
    refuse_settings(settings)
    if not _number(until) or not until > 0:
        raise BadEvent(f"until is the time at which the run ends, in s and above 0, not {until!r}.")
    if not _number(max_events) or max_events < 1:
        raise BadEvent(f"max_events is how many events may happen, 1 or more, not {max_events!r}.")
    with bar("simulate", PARTS, progress) as advance:
        return _run(Flowing(hybrid, settings, advance), topology, y, p, float(until), int(max_events))


def _run(flowing: Flowing, topology: str, y: Array, p: Array, until: float, max_events: int) -> Trajectory:
    hybrid = flowing.hybrid
    segments: list[Segment] = []
    events: list[Happened] = []
    while True:
        segment, which = flowing(topology, y, p, until, segments[-1].next if segments else None)
        segments.append(segment)
        if which is None:
            return Trajectory(hybrid, segments, events, "the end of the time asked for")
        if which.target is None:
            return Trajectory(hybrid, segments, events, which.name or f"a switch that ends '{topology}'")
        happened, y, p = happen(hybrid, which, segment.y[-1], p)
        events.append(happened)
        topology = which.target
        end = standing(topology, y, p)
        if len(events) >= max_events:
            return Trajectory(hybrid, [*segments, end], events, f"{max_events} events")
        if y[0] >= until:
            return Trajectory(hybrid, [*segments, end], events, "the end of the time asked for")
        limit = piled_up(events)
        if limit is not None:
            segments.append(_rest(topology, y, p, min(limit, until)) if limit > y[0] else end)
            told = f"events pile up: the {len(events)} so far have their limit at {limit:.9g} s"
            remedy = "what then stays in touch needs a topology in which it is on"
            return Trajectory(hybrid, segments, events, f"{told}; {remedy}")


def happen(hybrid: Hybrid, switch: Switch, before: Array, p: Array) -> tuple[Happened, Array, Array]:
    """The event of a switch: what happened, and state and parameters after it."""
    jump = Jump.of(hybrid, switch)
    after, p_after = jump.one(before, p)
    return Happened(float(before[0]), switch, before, after, p_after, partial(jump.outcome, before, p)), after, p_after


class Flowing:
    """Motion within topologies, one after the other."""

    def __init__(self, hybrid: Hybrid, settings: Settings, advance: Progress = None) -> None:
        self.hybrid, self.settings, self.advance = hybrid, settings, advance
        self._told = 0
        self._made: dict[str, tuple[Array, CompiledSteps]] = {}

    def __call__(
        self, topology: str, y: Array, p: Array, until: float, h: float | None = None
    ) -> tuple[Segment, Switch | None]:
        """(motion in a topology, the switch that ends it or None). `h`: the length of a step to try first."""
        steps, begun = self._steps(topology, y, p, until, h)
        owners = self.hybrid.guard_owners(topology)
        states, polynomials, lengths = [y[None]], list[Array](), list[Array]()

        def segment() -> Segment:
            records = np.concatenate(polynomials) if polynomials else np.zeros((0, N_DENSE, len(y)))
            used, y_all = np.concatenate(lengths) if lengths else np.zeros(0), np.concatenate(states)
            took, h = float(y_all[-1, 0] - y_all[0, 0]), steps.h
            # A step that is much longer than a hop would have to be searched for it.
            return Segment(topology, y_all, records, used, p, h if h is None or not took else min(h, LONGER * took))

        if not begun.off <= OFF:
            raise self._off(topology, y, p)
        if begun.beyond.any():
            raise _beyond(owners[int(np.argmax(begun.beyond))], y)
        if begun.at_once.any():
            return segment(), owners[int(np.argmax(begun.at_once))]
        leaving, rising, n_steps = begun.leaving, begun.rising, 0
        while n_steps < MOST_STEPS:
            ran = steps(y, leaving, rising)
            n_steps += len(ran.y)
            if len(ran.y):
                states.append(ran.y)
                polynomials.append(ran.polynomials)
                lengths.append(ran.lengths)
                if ran.off > OFF:
                    raise self._contradiction(topology, ran.y[-1], p)
                found = _first(steps, ran.y[-2] if len(ran.y) > 1 else y, ran)
                if found is not None:
                    states[-1][-1], which = found
                    return segment(), owners[which]
                y, leaving, rising = ran.y[-1], ran.leaving, np.zeros_like(rising)
            if self.advance is not None:
                done = int(PARTS * y[0] / until)
                self.advance(done - self._told)
                self._told = done
            if ran.unclear.any():
                raise self._unclear(owners[int(np.argmax(ran.unclear))], y)
            if ran.stuck:
                raise self._stuck(topology, y)
            if y[0] >= until:
                return segment(), None
            if not ran.apart:  # they were when the segment began
                steps = self._careful(topology, y, p, until, steps.h)
        raise NotConverged(
            f"The motion in '{topology}' needs more than {MOST_STEPS} steps at t = {y[0]:.6g} s; if it is stiff, use "
            "method='Radau'."
        )

    def _steps(self, topology: str, y: Array, p: Array, until: float, h: float | None) -> tuple[Steps, Begun]:
        """Who makes the steps in a topology, and what is to be said of their start."""
        hybrid, tolerances = self.hybrid, (self.settings.rtol, self.settings.atol)
        if self.settings.method != "explicit" or hybrid.functions:
            method = "DOP853" if self.settings.method == "explicit" else self.settings.method
            flow, inputs = hybrid.flow_at(topology, y, p), partial(hybrid.inputs, p=p)
            made = SciPySteps(flow, inputs, y, until, tolerances, method)
            return made, made.begin(y)
        if topology not in self._made or self._made[topology][0] is not p:
            self._made[topology] = p, CompiledSteps(hybrid.flow(topology), hybrid.own(p), tolerances)
        steps = self._made[topology][1]
        begun = steps.begin(y)
        steps.restart(y, until, h)
        if not begun.apart:
            steps = self._careful(topology, y, p, until, h)
            begun = steps.begin(y)
        return steps, begun

    def _careful(self, topology: str, y: Array, p: Array, until: float, h: float | None) -> CompiledSteps:
        """Steps that decide rank, for rows that are not well apart."""
        flow, tolerances = self.hybrid.flow(topology, independent=False), (self.settings.rtol, self.settings.atol)
        steps = CompiledSteps(flow, self.hybrid.own(p), tolerances)
        steps.restart(y, until, h)
        return steps

    def _state(self, y: Array) -> str:
        labels = state_labels(self.hybrid.mechanism)
        return ", ".join(f"{label.said} = {value:.6g}" for label, value in zip(labels, y[1:], strict=False))

    def _stuck(self, topology: str, y: Array) -> NotFinite:
        return NotFinite(
            f"The motion in '{topology}' cannot go on at t = {y[0]:.6g} s: accelerations are not finite or jump there "
            f"({self._state(y)}). Check forces, masses and constraints."
        )

    def _unclear(self, switch: Switch, y: Array) -> NotFinite:
        return NotFinite(
            f"The guard {_told(switch.guard)} of '{switch.source}' is not finite after t = {y[0]:.6g} s "
            f"({self._state(y)})."
        )

    def _off(self, topology: str, y: Array, p: Array) -> OffConstraint:
        held = self.hybrid.topologies[topology]
        off = self.hybrid.flow(topology).off(y, self.hybrid.inputs(y, p))["off"][:, 0]
        rows = [row for c in held if c.g is not None for row in c.row_names]
        worst, n_geometric = int(np.argmax(np.abs(off))), len(rows)
        rows += [row for c in held for row in c.row_names]
        remedy = (
            f"start on it: hybrid.project(q, v) moves a state onto {listing(c.name for c in held)}"
            if y[0] == 0
            else "the event of the switch must bring it there, or its guard be that row"
        )
        what = "position" if worst < n_geometric else "velocity"
        return OffConstraint(
            f"At t = {y[0]:.6g} s the {what} misses '{rows[worst]}', which is on in '{topology}', by {off[worst]:.3g} "
            f"({self._state(y)}); {remedy}."
        )

    def _contradiction(self, topology: str, y: Array, p: Array) -> Contradiction:
        held = listing(c.name for c in self.hybrid.topologies[topology])
        return Contradiction(
            f"'{topology}' over-constrains the motion: {held} cannot all hold at t = {y[0]:.6g} s ({self._state(y)}); "
            "leave out what contradicts the others."
        )


def _first(steps: Steps, y: Array, ran: Ran) -> tuple[Array, int] | None:
    """(the state where the first guard falls in the last step from y, which one); None if none does."""
    if not ran.falls:
        return None
    found = [(_refined(steps, y, ran, x, i), i) for i, x in ran.falls.items()]
    return min(found, key=lambda pair: pair[0][0])


def _refined(steps: Steps, y: Array, ran: Ran, x: float, i: int) -> Array:
    """The state where guard i is 0, near the part x of the last step from y: Newton's method on its length."""
    polynomial, used = ran.polynomials[-1], float(ran.lengths[-1])
    h = x * used
    end, values, rates = steps.to(y, polynomial, used, h)
    start = end
    for _ in range(MOST_REFINEMENTS):
        change = float(values[i] / rates[i]) if rates[i] else 0.0
        h -= change
        if not 0 <= h <= used * BEYOND:  # grazing: where the search saw it is the better place
            return start
        if abs(change) <= SETTLED * max(abs(y[0]), used):
            return end
        end, values, rates = steps.to(y, polynomial, used, h)
    return end


def piled_up(events: Sequence[Happened]) -> float | None:
    """The limit of event times that follow each other ever closer, once it is near; None if they do not."""
    t, again = events[-1].t, 0
    instants = [t]  # latest first
    for event in reversed(events):
        if event.t < instants[-1]:
            instants.append(event.t)
            if len(instants) > N_CHATTER:
                break
        again += event.t == t and event.switch is events[-1].switch
    if again >= N_CHATTER:
        return t  # the same at one instant, again and again
    if len(instants) <= N_CHATTER:
        return None
    middle = instants[N_CHATTER // 2]  # hops to either side may differ: those of one half against those of the other
    late, early = t - middle, middle - instants[N_CHATTER]
    left = late * late / (early - late) if late < early else np.inf  # the sum of a geometric series
    return t + left if left <= CHATTER * t else None


def standing(topology: str, y: Array, p: Array) -> Segment:
    """The state after the last event, of which nothing follows."""
    return Segment(topology, y[None], np.zeros((0, N_DENSE, len(y))), np.zeros(0), p)


def _rest(topology: str, y: Array, p: Array, until: float) -> Segment:
    """What is left until the limit of events that pile up: nothing moves that could be told."""
    end = np.concatenate([[until], y[1:]])
    constant = np.zeros((1, N_DENSE, len(y)))
    constant[0, 0, 0] = until - y[0]  # of time itself
    return Segment(topology, np.stack([y, end]), constant, np.array([until - y[0]]), p)


def _begun(hybrid: Hybrid, q: Any, v: Any, p: Array) -> Array:
    """y at the start."""
    m = hybrid.mechanism
    parts = (m.coordinates(q), m.velocities(v))
    if any(part.ndim != 1 for part in parts):
        raise ShapeError("A simulation starts from one state, not from a batch; see `basin` for many.")
    for array, names in zip((*parts, p), (m.symbols.q_names, m.symbols.v_names, tuple(hybrid.parameters)), strict=True):
        bad = np.flatnonzero(~np.isfinite(array))
        if bad.size:
            raise NotFinite(f"'{names[bad[0]]}' is {array[bad[0]]} at the start; every number must be finite.")
    return np.concatenate([[0.0], *parts, np.zeros(2)])


def refuse_settings(settings: Settings) -> None:
    """Tolerances and methods that are none."""
    for name in ("rtol", "atol"):
        value = getattr(settings, name)
        if not _number(value) or not value > 0:
            raise BadEvent(f"{name} is a tolerance above 0, not {value!r}.")
    if settings.method not in get_args(Method):
        raise unknown("method", str(settings.method), get_args(Method))


def _number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and bool(np.isfinite(value))


def _beyond(switch: Switch, y: Array) -> OffConstraint:
    return OffConstraint(
        f"At t = {y[0]:.6g} s {_told(switch.guard)} is below 0 in '{switch.source}', beyond its guard; start where it "
        "is positive, or let the switch wait (after_rising=True)."
    )


def _told(guard: Any) -> str:
    """A guard as a message names it."""
    if isinstance(guard, Reaction):
        return f"the reaction of '{name_of(guard.row)}'"
    return f"'{name_of(guard)}'" if isinstance(guard, Constraint | str) else str(guard)
