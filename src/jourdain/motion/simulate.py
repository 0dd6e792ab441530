"""Flow, guard location and event, in turn, until something ends the run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from jourdain.errors import BadEvent, NotConverged, NotFinite, OffConstraint, listing, unknown
from jourdain.motion.flow import OFF
from jourdain.motion.hybrid import Hybrid, Method, Switch
from jourdain.motion.jump import Jump
from jourdain.motion.steps import CompiledSteps, Ran, SciPySteps, Steps
from jourdain.motion.trajectory import Happened, Segment, Trajectory
from jourdain.runge_kutta import N_DENSE

Array = NDArray[np.float64]

MOST_STEPS = 1_000_000  # in a segment
MOST_REFINEMENTS = 12
SETTLED = 4e-16  # of the time: a correction to that of an event which is rounding
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
        segment, which = flow_until(hybrid, topology, y, p, until, settings, segments[-1].next if segments else None)
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
    after, p_after = jump.one(before, p)
    return Happened(float(before[0]), switch, before, after, p_after, partial(jump.outcome, before, p)), after, p_after


def flow_until(
    hybrid: Hybrid, topology: str, y: Array, p: Array, until: float, settings: Settings, h: float | None = None
) -> tuple[Segment, Switch | None]:
    """(motion in a topology, the switch that ends it or None). `h`: the length of a step to try first."""
    steps = stepping(hybrid, topology, y, p, until, settings, h)
    owners = hybrid.guard_owners(topology)
    states, polynomials, lengths = [y[None]], list[Array](), list[Array]()
    leaving = rising = np.zeros(0, dtype=bool)

    def segment() -> Segment:
        records = np.concatenate(polynomials) if polynomials else np.zeros((0, N_DENSE, len(y)))
        used = np.concatenate([np.zeros(0), *lengths])
        return Segment(topology, np.concatenate(states), records, used, p, steps.h)

    if owners:
        at_once, leaving, rising, beyond = steps.begin(y)
        if beyond.any():
            raise _beyond(owners[int(np.argmax(beyond))], y)
        if at_once.any():
            return segment(), owners[int(np.argmax(at_once))]
    n_steps = 0
    while n_steps < MOST_STEPS:
        ran = steps(y, leaving, rising)
        n_steps += len(ran.y)
        if len(ran.y):
            states.append(ran.y)
            polynomials.append(ran.polynomials)
            lengths.append(ran.lengths)
            start = ran.y[-2] if len(ran.y) > 1 else y
            if ran.fall is not None:
                x, i = ran.fall
                states[-1][-1] = _refined(steps, start, ran, x, i)
                return segment(), owners[i]
            y, leaving, rising = ran.y[-1], ran.leaving, np.zeros_like(rising)
        if ran.stuck:
            raise _stuck(hybrid, topology, y)
        if y[0] >= until:
            return segment(), None
    raise NotConverged(
        f"The motion in '{topology}' needs more than {MOST_STEPS} steps at t = {y[0]:.6g} s; if it is stiff, use "
        "method='Radau'."
    )


def stepping(
    hybrid: Hybrid, topology: str, y: Array, p: Array, until: float, settings: Settings, h: float | None
) -> Steps:
    """Who makes the steps in a topology."""
    tolerances = (settings.rtol, settings.atol)
    if settings.method == "explicit" and not hybrid.functions:
        quick = CompiledSteps(hybrid.flow(topology), hybrid.own(p), y, until, tolerances, h)
        return (
            quick
            if quick.apart(y)
            else CompiledSteps(hybrid.flow(topology, independent=False), hybrid.own(p), y, until, tolerances, h)
        )
    method = "DOP853" if settings.method == "explicit" else settings.method
    return SciPySteps(hybrid.flow_at(topology, y, p), partial(hybrid.inputs, p=p), y, until, tolerances, method)


def _refined(steps: Steps, y: Array, ran: Ran, x: float, i: int) -> Array:
    """The state where guard i is 0, near the part x of the last step from y: Newton's method on its length."""
    polynomial, used = ran.polynomials[-1], float(ran.lengths[-1])
    h = x * used
    start, end = h, steps.to(y, polynomial, used, h)
    for _ in range(MOST_REFINEMENTS):
        values, rates = steps.guards(end)
        change = values[i] / rates[i] if rates[i] else 0.0
        h -= change
        if not 0 <= h <= used * (1 + 1e-9):  # grazing: where the search saw it is the better place
            return steps.to(y, polynomial, used, start)
        if abs(change) <= SETTLED * max(abs(y[0]), used):
            return end
        end = steps.to(y, polynomial, used, h)
    return end


def _beyond(switch: Switch, y: Array) -> OffConstraint:
    return OffConstraint(
        f"At t = {y[0]:.6g} s '{switch.guard.name}' is below 0 in '{switch.source}', beyond its guard; start where it "
        "is positive, or let the switch wait (after_rising=True)."
    )


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
