"""One motion within a topology after the other: segments, or an error that says why one cannot start or go on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from jourdain.errors import Error
from jourdain.inputs import Array
from jourdain.motion import refusals
from jourdain.motion.flow import Flow, Stop
from jourdain.motion.guards import Switch
from jourdain.motion.hybrid import Hybrid
from jourdain.motion.motions import MAX_STEPS, NO_GUARD, States, Steps, move
from jourdain.motion.scipy_steps import SciPySteps
from jourdain.motion.settings import Settings
from jourdain.motion.steps import OneByKernel, StepsTaken, joined
from jourdain.motion.trajectory import Segment
from jourdain.progress import Progress

NEXT_FIRST_STEP = 2.0  # largest first step of the next segment, over what this one took
PROGRESS_PARTS = 1000  # of the time


class Integrator:
    """Motion of a system within its topologies, one segment after the other. `advance`: is called as time goes on."""

    def __init__(self, hybrid: Hybrid, settings: Settings, advance: Progress = None) -> None:
        self.hybrid, self.settings = hybrid, settings
        self._advance, self._n_reported = advance, 0

    def segment(
        self, topology: str, y: Array, p: Array, until: float, h: float | None = None
    ) -> tuple[Segment, Switch | None]:
        """(motion in a topology, the switch that ends it or None). `h`: the length of a step to try first, s."""
        hybrid, settings, path = self.hybrid, self.settings, list[StepsTaken]()
        flows, switches = hybrid.flows(topology), hybrid.guard_owners(topology)
        inputs = hybrid.mechanism_parameters(p)[None]
        states = States(y[None], inputs, np.array([until]), len(switches), settings, h)
        watch = self._watch(until)
        steps: Callable[[Flow, States], Steps] = partial(OneByKernel, path=path, watch=watch)
        if settings.method != "explicit" or hybrid.functions:
            forces = partial(hybrid.inputs, p=p)
            steps = partial(SciPySteps, path=path, watch=watch, inputs=forces, settings=settings)
        stop, guard = Stop(move(states, flows, steps)[0]), int(states.guard[0])
        if stop not in (Stop.GUARD, Stop.TIME_OVER):
            raise self._refusal(stop, topology, guard, states.y[0], p)
        return _segment(topology, p, y, path, states), switches[guard] if stop == Stop.GUARD else None

    def _refusal(self, stop: Stop, topology: str, guard: int, y: Array, p: Array) -> Error:
        """Why the motion cannot start, or go on from y. `guard`: the number of that which is the reason."""
        hybrid = self.hybrid
        switch = None if guard == NO_GUARD else hybrid.guard_owners(topology)[guard]
        if stop == Stop.OFF_CONSTRAINT:
            return refusals.off_constraint(hybrid, topology, y, p)
        if stop == Stop.BEYOND_GUARD and switch is not None:
            return refusals.beyond_guard(switch, y)
        if stop == Stop.CONTRADICTION:
            return refusals.contradiction(hybrid, topology, y)
        if stop == Stop.TOO_MANY_STEPS:
            return refusals.too_many_steps(topology, MAX_STEPS, y)
        return refusals.stuck(hybrid, topology, y) if switch is None else refusals.guard_not_finite(hybrid, switch, y)

    def _watch(self, until: float) -> Callable[[float], None] | None:
        """What tells those who watch which part of the time is over."""
        advance = self._advance
        if advance is None:
            return None

        def watch(t: float) -> None:
            n = int(PROGRESS_PARTS * t / until)
            advance(n - self._n_reported)
            self._n_reported = n

        return watch


def _segment(topology: str, p: Array, start: Array, path: list[StepsTaken], states: States) -> Segment:
    """The motion along its steps to where it has stopped."""
    taken, end = path[0] if len(path) == 1 else joined(path, len(start)), states.y[0]
    y = np.empty((len(taken.y) + 1, len(start)))
    y[0], y[1:] = start, taken.y
    y[-1] = end
    # A step that is much longer than a hop would have to be searched for it.
    took, h = float(end[0] - start[0]), float(states.h[0])
    return Segment(topology, y, taken.polynomials, taken.lengths, p, min(h, NEXT_FIRST_STEP * took) if took else h)
