"""One motion within a topology: steps until a guard falls or the time is over."""

from __future__ import annotations

from functools import partial

import numpy as np

from jourdain.compute.runge_kutta import N_DENSE
from jourdain.inputs import Array
from jourdain.motion import refusals
from jourdain.motion.flow import MAX_VIOLATION, Flow
from jourdain.motion.guards import Switch
from jourdain.motion.hybrid import Hybrid
from jourdain.motion.scipy_steps import SciPySteps
from jourdain.motion.settings import Settings
from jourdain.motion.steps import CompiledSteps, SegmentStart, Steps, StepSeries
from jourdain.motion.trajectory import Segment
from jourdain.progress import Progress

MAX_STEPS = 1_000_000  # in a segment
NEXT_FIRST_STEP = 2.0  # largest first step of the next segment, over what this one took
PROGRESS_PARTS = 1000  # of the time


class Integrator:
    """Motion of a system within its topologies, one segment after the other. `advance`: is called as time goes on."""

    def __init__(self, hybrid: Hybrid, settings: Settings, advance: Progress = None) -> None:
        self.hybrid, self.settings = hybrid, settings
        self._advance, self._n_reported = advance, 0
        self._compiled: dict[tuple[str, bool], tuple[Array, CompiledSteps]] = {}

    def segment(
        self, topology: str, y: Array, p: Array, until: float, h: float | None = None
    ) -> tuple[Segment, Switch | None]:
        """(motion in a topology, the switch that ends it or None). `h`: the length of a step to try first, s."""
        steps, start = self._start(topology, y, p, until, h)
        switches = self.hybrid.guard_owners(topology)
        self._check_start(start, topology, switches, y, p)
        build, path = partial(_segment, topology, p, y), list[StepSeries]()
        if start.at_once.any():
            return build(path, y, steps.h), switches[int(np.argmax(start.at_once))]
        leaving, rising = start.leaving, start.rising
        while sum(len(series.y) for series in path) < MAX_STEPS:
            series = steps(y, leaving, rising)
            if len(series.y):
                if series.violation > MAX_VIOLATION:
                    raise refusals.contradiction(self.hybrid, topology, series.y[-1])
                path.append(series)
                if series.falls:
                    end, guard = _first_fall(steps, y, series)
                    return build(path, end, steps.h), switches[guard]
                y, leaving, rising = series.y[-1], series.leaving, np.zeros_like(rising)
            self._report(y[0] / until)
            if series.not_finite.any():
                raise refusals.guard_not_finite(self.hybrid, switches[int(np.argmax(series.not_finite))], y)
            if series.stuck:
                raise refusals.stuck(self.hybrid, topology, y)
            if y[0] >= until:
                return build(path, y, steps.h), None
            if not series.independent:  # the rows were when the segment began
                steps = self._compiled_steps(self.hybrid.flows(topology).robust, topology, y, p, until, steps.h)
        raise refusals.too_many_steps(topology, MAX_STEPS, y)

    def _start(self, topology: str, y: Array, p: Array, until: float, h: float | None) -> tuple[Steps, SegmentStart]:
        """Steps from y on, and what there is to say of their start."""
        hybrid = self.hybrid
        if self.settings.method != "explicit" or hybrid.functions:
            flow, inputs = hybrid.flow_at(topology, y, p), partial(hybrid.inputs, p=p)
            by_scipy = SciPySteps(flow, inputs, y, until, self.settings)
            return by_scipy, by_scipy.start(y)
        for flow in hybrid.flows(topology):
            steps = self._compiled_steps(flow, topology, y, p, until, h)
            start = steps.start(y)
            if start.independent:
                break
        return steps, start

    def _compiled_steps(
        self, flow: Flow, topology: str, y: Array, p: Array, until: float, h: float | None
    ) -> CompiledSteps:
        key = topology, flow.dynamics.independent
        if key not in self._compiled or self._compiled[key][0] is not p:
            self._compiled[key] = p, CompiledSteps(flow, self.hybrid.mechanism_parameters(p), self.settings)
        _, steps = self._compiled[key]
        steps.restart(y, until, h)
        return steps

    def _check_start(self, start: SegmentStart, topology: str, switches: list[Switch], y: Array, p: Array) -> None:
        if not start.violation <= MAX_VIOLATION:
            raise refusals.off_constraint(self.hybrid, topology, y, p)
        if start.beyond.any():
            raise refusals.beyond_guard(switches[int(np.argmax(start.beyond))], y)

    def _report(self, part: float) -> None:
        """To who watches: the part of the time that is over."""
        if self._advance is not None:
            n = int(PROGRESS_PARTS * part)
            self._advance(n - self._n_reported)
            self._n_reported = n


def _segment(topology: str, p: Array, start: Array, path: list[StepSeries], end: Array, h: float | None) -> Segment:
    """The motion along these steps to a state within the last. `h`: length of the step that would come next, s."""
    y = np.concatenate([start[None], *(series.y for series in path)])
    y[-1] = end
    polynomials = np.concatenate([np.zeros((0, N_DENSE, len(end))), *(series.polynomials for series in path)])
    lengths = np.concatenate([np.zeros(0), *(series.lengths for series in path)])
    took = float(y[-1, 0] - y[0, 0])
    # A step that is much longer than a hop would have to be searched for it.
    following = h if h is None or not took else min(h, NEXT_FIRST_STEP * took)
    return Segment(topology, y, polynomials, lengths, p, following)


def _first_fall(steps: Steps, y: Array, series: StepSeries) -> tuple[Array, int]:
    """(the state where the first guard falls in the last step of a series from y, which one)."""
    start = series.y[-2] if len(series.y) > 1 else y
    falls = [(steps.refined(start, series, guard), guard) for guard in series.falls]
    return min(falls, key=lambda fall: float(fall[0][0]))
