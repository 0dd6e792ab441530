"""Motions within a topology, each until a guard falls or something else stops it: one motion, or many at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jourdain.compute.fallback import FastThenRobust
from jourdain.inputs import Array
from jourdain.motion.flow import Flow, Stop
from jourdain.motion.locate import Indices
from jourdain.motion.settings import Settings

MAX_STEPS = 1_000_000  # in a segment
FIRST_STEP = 1e-4  # of the time to go; steps grow tenfold
NO_GUARD = -1  # instead of its number

NOT, DEPENDENT = int(Stop.NOT), int(Stop.DEPENDENT)  # plain numbers, which are compared fast

Stops: TypeAlias = Array  # codes of `Stop`, (samples,)


class States:
    """Where motions are, as inputs of `Flow.stepper`, `(inputs, samples)`: y, h, leaving, rising; t_end, tolerances, p.

    Parameters
    ----------
    y
        States, `(samples, n)`.
    p
        Parameters of the mechanism, `(samples, n_p)`.
    until
        When the time is over, s, `(samples,)`.
    n_guards
        Of the topology.
    h
        Length of the step that is tried first, s; None: a part of the time.

    """

    def __init__(
        self, y: Array, p: Array, until: Array, n_guards: int, settings: Settings, h: float | None = None
    ) -> None:
        n_samples, self.n = y.shape
        self.p, self.n_fed = p, self.n + 1 + 2 * n_guards
        self.inputs = np.empty((self.n_fed + 3 + p.shape[1], n_samples))
        self.inputs[: self.n] = y.T
        self.inputs[self.n] = FIRST_STEP * (until - y[:, 0]) if h is None else h
        end = self.n_fed
        self.inputs[end], self.inputs[end + 1], self.inputs[end + 2] = until, settings.rtol, settings.atol
        self.inputs[end + 3 :] = p.T
        self.guard: NDArray[np.int64] = np.full(n_samples, NO_GUARD)  # which guard is the reason of a stop

    @property
    def y(self) -> Array:
        """`(samples, n)`."""
        return self.inputs[: self.n].T

    @property
    def h(self) -> Array:
        """Lengths of the steps that come next, s."""
        return self.inputs[self.n]


class Steps(Protocol):
    """Steps of a flow. Each call moves some samples of `States`, and returns codes of `Stop`, `(samples,)`."""

    n_tried: int  # how many steps of a sample have been tried

    def start(self, samples: Indices) -> Stops:
        """Look at the states where segments start."""

    def go_on(self, samples: Indices) -> Stops:
        """Make a step of each, or several, until a guard falls or something else stops them."""


def move(states: States, flows: FastThenRobust[Flow], steps: Callable[[Flow, States], Steps]) -> Stops:
    """Move all samples until each stops: by the fast flow, and from where rows are dependent by the robust one.

    Returns
    -------
    Why they stop, codes of `Stop`, `(samples,)`.

    """
    n_samples = states.inputs.shape[1]
    stop, to_start = np.zeros(n_samples), np.ones(n_samples, dtype=bool)

    def move_by(flow: Flow, samples: Indices) -> Indices:
        """Move samples by one flow, and return those whose rows are dependent."""
        by, stop[samples] = steps(flow, states), NOT
        starting = samples[to_start[samples]]
        if starting.size:
            stop[starting] = by.start(starting)
            to_start[starting] = stop[starting] == DEPENDENT
        moving = samples[stop[samples] == NOT]
        while moving.size and by.n_tried < MAX_STEPS:
            stop[moving] = stops = by.go_on(moving)
            moving = moving[stops == NOT]
        stop[moving] = Stop.TOO_MANY_STEPS
        dependent: Indices = samples[stop[samples] == DEPENDENT]
        return dependent

    flows.run(np.arange(n_samples), move_by)
    return stop
