"""Flow, guard location and event, in turn, until something ends the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from jourdain.constraint import Constraint
from jourdain.errors import BadEvent, NotConverged, NotFinite, OffConstraint, listing, unknown
from jourdain.motion.hybrid import Hybrid, Method, Switch
from jourdain.motion.jump import Jump
from jourdain.motion.locate import Flags, Indices, first_falls
from jourdain.motion.steps import CompiledSteps, OneStep, SciPySteps, Steps
from jourdain.motion.trajectory import Happened, Segment, Trajectory
from jourdain.runge_kutta import N_DENSE

Array = NDArray[np.float64]

MOST_STEPS = 1_000_000  # in a segment
ON_GUARD = 1e-9  # a guard this small at the start of a segment is on it
MOST_REFINEMENTS = 12
SETTLED = 4e-16  # of the time: a correction to that of an event which is rounding
OFF = 1e-8  # what the constraints of a topology may be off by at the start
CHATTER = 1e-9  # of the time so far: events that come closer each time pile up if their limit is this near
N_CHATTER = 8  # in a row


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
) -> Trajectory:
    """See `Hybrid.simulate`."""
    m = hybrid.mechanism
    p = hybrid.parameter_array(parameters)
    y = np.concatenate([[0.0], m.coordinates(q), m.velocities(v), np.zeros(2)])
    if y.ndim != 1 or not np.isfinite(y).all() or not np.isfinite(p).all():
        raise NotFinite("A simulation starts from one state of finite numbers.")
    if settings.method not in get_args(Method):
        raise unknown("method", str(settings.method), get_args(Method))
    if not (np.isfinite(until) and until > 0):
        raise BadEvent(f"until is the time at which the run ends, above 0, not {until!r}.")
    _refuse_off(hybrid, topology, y, p)
    segments: list[Segment] = []
    events: list[Happened] = []
    while True:
        segment, which = flow_until(hybrid, topology, y, p, until, settings)
        segments.append(segment)
        if which is None:
            return Trajectory(hybrid, segments, events, "the end of the time asked for")
        if which.target is None:
            return Trajectory(hybrid, segments, events, which.name or f"a switch that ends '{topology}'")
        before = segment.y[-1]
        happened, y, p = happen(hybrid, which, before, p)
        events.append(happened)
        topology = which.target
        if len(events) >= max_events:
            return Trajectory(hybrid, segments, events, f"{max_events} events")
        limit = piled_up([event.t for event in events])
        if limit is not None:
            told = (
                f"events pile up: the {len(events)} so far have their limit at {limit:.9g} s; what then stays in touch"
            )
            return Trajectory(hybrid, segments, events, f"{told} needs a topology in which it is on")


def happen(hybrid: Hybrid, switch: Switch, before: Array, p: Array) -> tuple[Happened, Array, Array]:
    """The event of a switch: what happened, and state and parameters after it."""
    jump = Jump.of(hybrid, switch)
    outcome, after, p_after = jump(before, p)
    return Happened(float(before[0]), switch, outcome, before, after, p_after), after, p_after


def flow_until(
    hybrid: Hybrid, topology: str, y: Array, p: Array, until: float, settings: Settings
) -> tuple[Segment, Switch | None]:
    """(motion in a topology, the switch that ends it or None)."""
    steps = stepping(hybrid, topology, y, p, until, settings)
    owners = hybrid.guard_owners(topology)
    states, records, lengths = [y], list[Array](), list[float]()
    leaving = rising = waits = np.zeros(0, dtype=bool)
    if owners:
        guards, rates = steps.guards(y)
        waits = np.array([switch.after_rising for switch in owners])
        falls, leaving, rising = begins(guards, rates, waits)
        _refuse_beyond(owners, guards, y, topology)
        if falls.any():
            return _segment(topology, states, records, lengths, p), owners[int(np.argmax(falls))]
    for _ in range(MOST_STEPS):
        step = steps(y)
        if step is None:
            raise _stuck(hybrid, topology, y)
        found = None if step.looks is None else _crossing(steps, y, step, leaving, rising)
        records.append(step.polynomial.copy())
        lengths.append(step.used)
        if found is not None:
            states.append(found[1])
            return _segment(topology, states, records, lengths, p), owners[found[0]]
        y, rising = step.after, np.zeros_like(rising)
        if leaving.any():  # until it has risen
            leaving = leaving & (steps.guards(y)[0] <= 0)
        states.append(y)
        if y[0] >= until:
            return _segment(topology, states, records, lengths, p), None
    raise NotConverged(
        f"The motion in '{topology}' needs more than {MOST_STEPS} steps at t = {y[0]:.6g} s; if it is stiff, use "
        "method='Radau'."
    )


def begins(guards: Array, rates: Array, waits: Flags) -> tuple[Flags, Flags, Flags]:
    """At the start of a segment: (guards that fall at once, those that leave 0 or wait for it, those that rise)."""
    on, below = np.abs(guards) <= ON_GUARD, guards < -ON_GUARD
    return on & (rates < 0) & ~waits, below | (on & (waits | (rates >= 0))), on & (rates >= 0) & ~waits


def stepping(hybrid: Hybrid, topology: str, y: Array, p: Array, until: float, settings: Settings) -> Steps:
    """Who makes the steps in a topology."""
    flow, own = hybrid.flow_at(topology, y, p), hybrid.own(p)
    tolerances = (settings.rtol, settings.atol)
    if settings.method == "explicit" and not hybrid.functions:
        return CompiledSteps(flow, own, float(y[0]), until, tolerances)
    method = "DOP853" if settings.method == "explicit" else settings.method
    return SciPySteps(flow, partial(hybrid.inputs, p=p), y, until, tolerances, method)


def _crossing(steps: Steps, y: Array, step: OneStep, leaving: Flags, rising: Flags) -> tuple[int, Array] | None:
    """(guard, state) where the first of the guards falls through 0 in a step; found again by steps of that length."""
    assert step.looks is not None
    values, slopes = step.looks

    def look(guards: Indices, x: Array) -> tuple[Array, Array]:
        rows = np.arange(len(x))
        seen, by_x = steps.look(y, step, x)
        return seen[rows, guards], by_x[rows, guards]

    falls = first_falls(values.T, slopes.T, step.noise, leaving, rising, look)
    i = int(np.argmin(falls))
    return (i, _refined(steps, y, step, falls[i] * step.used, i)) if falls[i] < np.inf else None


def _refined(steps: Steps, y: Array, step: OneStep, h: float, i: int) -> Array:
    """The state where guard i is 0, near h: Newton's method on the length of the step."""
    start, end = h, steps.to(y, step, h)
    for _ in range(MOST_REFINEMENTS):
        values, rates = steps.guards(end)
        change = values[i] / rates[i] if rates[i] else 0.0
        h -= change
        if not 0 <= h <= step.used * (1 + 1e-9):  # grazing: the polynomial's own root is the better one
            return steps.to(y, step, start)
        if abs(change) <= SETTLED * max(abs(y[0]), step.used):
            return end
        end = steps.to(y, step, h)
    return end


def beyond(owners: Sequence[Switch], guards: Array) -> Flags:
    """Gaps that are below 0 where a segment starts, and would go on unseen, `(…, guards)`."""
    gaps = [isinstance(s.guard, Constraint) and s.direction == -1 and not s.after_rising for s in owners]
    return np.array(gaps, dtype=bool) & (guards < -OFF)


def _refuse_beyond(owners: Sequence[Switch], guards: Array, y: Array, topology: str) -> None:
    for switch, value, is_beyond in zip(owners, guards, beyond(owners, guards), strict=True):
        if is_beyond:
            raise OffConstraint(
                f"At t = {y[0]:.6g} s '{switch.guard.name}' is {value:.3g} in '{topology}', beyond the guard, which is "
                "to fall through 0; start where it is positive, or let the switch wait (after_rising=True)."
            )


def _segment(topology: str, states: list[Array], records: list[Array], lengths: list[float], p: Array) -> Segment:
    polynomials = np.array(records) if records else np.zeros((0, N_DENSE, len(states[0])))
    return Segment(topology, np.array(states), polynomials, np.array(lengths), p)


def piled_up(times: list[float]) -> float | None:
    """The limit of event times that follow each other ever closer, once it is near; None if they do not."""
    gaps = np.diff(times[-N_CHATTER - 1 :])
    if len(gaps) < N_CHATTER or not (np.diff(gaps) <= 0).all():
        return None
    ratio = gaps[-1] / gaps[-2] if gaps[-2] > 0 else 0.0
    left = gaps[-1] * ratio / (1 - ratio) if ratio < 1 else np.inf  # the sum of a geometric series
    return float(times[-1] + left) if left <= CHATTER * times[-1] else None


def _stuck(hybrid: Hybrid, topology: str, y: Array) -> NotFinite:
    names = (*hybrid.mechanism.symbols.q_names, *(f"rate of {n}" for n in hybrid.mechanism.symbols.v_names))
    state = ", ".join(f"{name} = {value:.6g}" for name, value in zip(names, y[1:], strict=False))
    return NotFinite(
        f"The motion in '{topology}' cannot go on at t = {y[0]:.6g} s: accelerations are not finite or jump there "
        f"({state}). Check forces and constraints."
    )


def _refuse_off(hybrid: Hybrid, topology: str, y: Array, p: Array) -> None:
    flow = hybrid.flow(topology, independent=False)
    off = flow.watch(y, hybrid.inputs(y, p))["off"][:, 0]
    if not off.size or np.max(np.abs(off)) <= OFF:
        return
    held = hybrid.topologies[topology]
    rows = [row for c in held if c.g is not None for row in c.row_names] + [row for c in held for row in c.row_names]
    worst = int(np.argmax(np.abs(off)))
    what = "position" if worst < len(off) - sum(len(c.row_names) for c in held) else "velocity"
    raise OffConstraint(
        f"The {what} misses '{rows[worst]}', which is on in '{topology}', by {off[worst]:.3g}; "
        f"start on it: hybrid.project(q, v) moves a state onto {listing(c.name for c in held)}."
    )
