"""Segments and events in turn, until something ends the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jourdain.compute.runge_kutta import N_DENSE
from jourdain.errors import BadEvent, NotFinite, ShapeError
from jourdain.inputs import Array, StateLike
from jourdain.motion.guards import Switch
from jourdain.motion.hybrid import Hybrid
from jourdain.motion.integrator import PROGRESS_PARTS, Integrator
from jourdain.motion.jump import JumpResult
from jourdain.motion.settings import Settings, is_number
from jourdain.motion.trajectory import EventRecord, Segment, Trajectory
from jourdain.progress import bar

CHATTER = 1e-6  # of the time so far: events that come closer each time pile up if their limit is this near
N_CHATTER = 8  # in a row
TIME_IS_OVER = "the end of the time asked for"


class Run:
    """A motion so far: its segments and events; topology, y and p: where it goes on."""

    def __init__(self, integrator: Integrator, topology: str, y: Array, p: Array) -> None:
        self._integrator, self.hybrid = integrator, integrator.hybrid
        self.topology, self.y, self.p = topology, y, p
        self.segments: list[Segment] = []
        self.events: list[EventRecord] = []

    def flow(self, until: float) -> Switch | None:
        """Go on within the topology until a guard falls, and return its switch; None at the time `until`, s."""
        h = self.segments[-1].next if self.segments else None
        segment, switch = self._integrator.segment(self.topology, self.y, self.p, until, h)
        self.segments.append(segment)
        self.y = segment.y[-1]
        return switch

    def jump(self, switch: Switch, target: str, slopes: bool = False) -> JumpResult:
        """Go on through the event of a switch to its target. `slopes`: with its derivative."""
        jump = self.hybrid.jump(switch)
        after = jump.with_slopes(self.y, self.p) if slopes else jump.one(self.y, self.p)
        self.events.append(EventRecord(float(self.y[0]), switch, self.y, after.y, after.p, after.solve))
        self.topology, self.y, self.p = target, after.y, after.p
        return after

    def rest(self, until: float) -> None:
        """Hold the state until a time."""
        y, h = self.y, until - self.y[0]
        constant = np.zeros((1, N_DENSE, len(y)))
        constant[0, 0, 0] = h  # of time itself
        end = np.concatenate([[until], y[1:]])
        self.segments.append(Segment(self.topology, np.stack([y, end]), constant, np.array([h]), self.p))

    def trajectory(self, stopped: str) -> Trajectory:
        """`stopped`: why it ended. A state after a last event is a segment without steps."""
        segments = list(self.segments)
        if len(self.events) == len(segments):
            none = np.zeros((0, N_DENSE, len(self.y)))
            segments.append(Segment(self.topology, self.y[None], none, np.zeros(0), self.p))
        return Trajectory(self.hybrid, segments, self.events, stopped)


def simulate(
    hybrid: Hybrid,
    q: StateLike,
    v: StateLike,
    until: float,
    topology: str,
    max_events: int,
    settings: Settings,
    parameters: Mapping[str, Any],
    progress: bool | None = None,
) -> Trajectory:
    """See `Hybrid.simulate`."""
    p = hybrid.parameter_array(parameters)
    y = _start(hybrid, q, v, p)
    if not is_number(until) or not until > 0:
        raise BadEvent(f"until is the time at which the run ends, in s and above 0, not {until!r}.")
    if not is_number(max_events) or max_events < 1:
        raise BadEvent(f"max_events is how many events may happen, 1 or more, not {max_events!r}.")
    with bar("simulate", PROGRESS_PARTS, progress) as advance:
        run = Run(Integrator(hybrid, settings, advance), topology, y, p)
        return run.trajectory(_go_on(run, float(until), int(max_events)))


def _go_on(run: Run, until: float, max_events: int) -> str:
    """Segments and events until one of them is the last; why it is."""
    while True:
        switch = run.flow(until)
        if switch is None:
            return TIME_IS_OVER
        if switch.target is None:
            return switch.name or f"a switch that ends '{run.topology}'"
        run.jump(switch, switch.target)
        if len(run.events) >= max_events:
            return f"{max_events} events"
        if run.y[0] >= until:
            return TIME_IS_OVER
        limit = accumulation_time(run.events)
        if limit is not None:
            if limit > run.y[0]:
                run.rest(min(limit, until))
            reason = f"events pile up: the {len(run.events)} so far have their limit at {limit:.9g} s"
            return f"{reason}; what then stays in touch needs a topology in which it is on"


def accumulation_time(events: Sequence[EventRecord]) -> float | None:
    """The limit of event times that follow each other ever closer, s, once it is near; None if they do not."""
    t, n_same = events[-1].t, 0
    instants = [t]  # latest first
    for event in reversed(events):
        if event.t < instants[-1]:
            instants.append(event.t)
            if len(instants) > N_CHATTER:
                break
        n_same += event.t == t and event.switch is events[-1].switch
    if n_same >= N_CHATTER:
        return t  # the same at one instant, again and again
    if len(instants) <= N_CHATTER:
        return None
    middle = instants[N_CHATTER // 2]  # hops to either side may differ: those of one half against those of the other
    late, early = t - middle, middle - instants[N_CHATTER]
    left = late * late / (early - late) if late < early else np.inf  # the sum of a geometric series
    return t + left if left <= CHATTER * t else None


def _start(hybrid: Hybrid, q: StateLike, v: StateLike, p: Array) -> Array:
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
