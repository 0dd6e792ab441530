"""Explicit Runge–Kutta steps by kernels: of one motion, and of many."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jourdain.compute.evaluate import Values
from jourdain.compute.runge_kutta import N_DENSE
from jourdain.inputs import Array, Flags
from jourdain.motion.flow import N_LOOKS, Flow, Stop
from jourdain.motion.locate import MAX_REFINEMENTS, Indices, first_falls
from jourdain.motion.motions import NO_GUARD, States, Stops

GUARD, STUCK = int(Stop.GUARD), int(Stop.STUCK)  # plain numbers, which are compared fast


class StepsTaken(NamedTuple):
    """Steps of one motion, in a row."""

    y: Array  # (steps, n), after each
    lengths: Array  # (steps,), s
    polynomials: Array  # (steps, 7, n)


def joined(path: list[StepsTaken], n: int) -> StepsTaken:
    """Steps of states `(n,)` one after the other; none if there are none."""
    none = StepsTaken(np.zeros((0, n)), np.zeros(0), np.zeros((0, N_DENSE, n)))
    return StepsTaken(*map(np.concatenate, zip(none, *path, strict=True)))


class OneByKernel:
    """Steps of one motion: a kernel goes on by itself. `path`: they are kept there.

    `watch`: is called with the time so far, s.
    """

    def __init__(
        self, flow: Flow, states: States, path: list[StepsTaken], watch: Callable[[float], None] | None = None
    ) -> None:
        self._flow, self._states, self._path, self._watch = flow, states, path, watch
        self._stepper, self._refiner, self._inspector = flow.kernels
        self.n_tried = 0

    def start(self, samples: Indices) -> Stops:
        n, inspector, states = self._flow.n, self._inspector, self._states
        inspector.inputs[:n], inspector.inputs[n:] = states.inputs[:n, 0], states.p[0]
        (start,) = inspector.rounds()
        leaving, which = (self._flow.inspect.places[name].start for name in ("leaving", "which"))
        states.inputs[n + 1 : states.n_fed, 0] = start[leaving:which]
        if start[-1]:
            states.guard[0] = _first(start[which:-1] > 0)
        return np.array([start[-1]])

    def go_on(self, samples: Indices) -> Stops:
        states, places = self._states, self._flow.stepper.places
        self._stepper.inputs[:] = before = states.inputs[:, 0].copy()
        rounds = self._stepper.rounds()
        self.n_tried += len(rounds)
        last, stop = rounds[-1], rounds[-1, -1]
        states.inputs[: states.n_fed, 0] = last[: states.n_fed]
        n, polynomial = states.n, places["polynomial"].start
        steps = rounds[rounds[:, places["good"].start] > 0]
        polynomials = steps[:, polynomial : polynomial + N_DENSE * n].reshape(len(steps), N_DENSE, n)
        self._path.append(StepsTaken(steps[:, :n], steps[:, places["used"].start], polynomials))
        if self._watch is not None:
            self._watch(float(last[0]))
        if stop == STUCK:
            states.guard[0] = _not_finite(Values(places, last[:, None], (1,)))[0]
        elif stop == GUARD:
            stop = self._at_guard(last, rounds[-2] if len(rounds) > 1 else before)
        return np.array([stop])

    def _at_guard(self, last: Array, start: Array) -> int:
        """Why a motion stops in whose last step a guard may fall; where one does, it is moved there."""
        states, places, m = self._states, self._flow.stepper.places, len(self._flow.kinds)
        falls, doubts = (last[places[name].start :][:m].tolist() for name in ("falls", "doubts"))
        if min(doubts) < min(falls):
            values = Values(places, last[:, None], (1,))
            falls = _fall_parts(self._flow, values, start[:, None], states.p, self._flow.look)[0].tolist()
        used = last[places["used"].start]
        ends = [(self._refined(start, x * used, used, i), i) for i, x in enumerate(falls) if x < np.inf]
        if not ends:
            return int(_unless_over(states, np.zeros(1, dtype=int))[0])
        states.inputs[: states.n, 0], states.guard[0] = min(ends, key=lambda end: float(end[0][0]))
        return GUARD

    def _refined(self, start: Array, h: float, used: float, guard: int) -> Array:
        """The state where a guard is 0, near the length h of a step from a start."""
        n, m, refiner = self._flow.n, len(self._flow.kinds), self._refiner
        assert refiner is not None, "a guard falls only if there is one"
        inputs = refiner.inputs
        inputs[0], inputs[1 : 1 + n], inputs[1 + n] = h, start[:n], used
        inputs[2 + n : 2 + n + m], inputs[2 + n + m :] = 0.0, self._states.p[0]
        inputs[2 + n + guard] = 1.0
        rounds = refiner.rounds()
        return rounds[-1 if rounds[-1, 1 + n] > 0 else 0, 1 : 1 + n].copy()


class ManyByKernel:
    """Steps of many motions: one of each at a time."""

    def __init__(self, flow: Flow, states: States) -> None:
        self._flow, self._states, self.n_tried = flow, states, 0

    def start(self, samples: Indices) -> Stops:
        states = self._states
        start = self._flow.inspect.many(states.y[samples], states.p[samples])
        flags = np.concatenate([start.numbers("leaving"), start.numbers("rising")])
        states.inputs[states.n + 1 : states.n_fed, samples] = flags
        states.guard[samples] = _first(start["which"][..., 0] > 0)
        return start["stop"][:, 0, 0]

    def go_on(self, samples: Indices) -> Stops:
        states = self._states
        before = states.inputs[:, samples]
        last = self._flow.stepper.many(before.T)
        self.n_tried += 1
        states.inputs[: states.n_fed, samples] = last.table[: states.n_fed]
        stop = last["stop"][:, 0, 0].copy()
        seen, stuck = np.flatnonzero(stop == GUARD), np.flatnonzero(stop == STUCK)
        if seen.size:
            steps = Values(last.places, last.table[:, seen], seen.shape)
            stop[seen] = self._at_guard(steps, before[:, seen], samples[seen])
        if stuck.size:
            states.guard[samples[stuck]] = _not_finite(Values(last.places, last.table[:, stuck], stuck.shape))
        return stop

    def _at_guard(self, steps: Values, start: Array, samples: Indices) -> Stops:
        """The same as for one motion, of samples."""
        states, p = self._states, self._states.p[samples]
        x = _fall_parts(self._flow, steps, start, p, self._flow.look.many)
        who, guard = np.nonzero(x < np.inf)  # of several guards that fall the first is known when they are refined
        used, stop = steps["used"][who, 0, 0], _unless_over(states, samples)
        ends = self._refined(start[: states.n, who], x[who, guard] * used, used, guard, p[who])
        latest_first = np.argsort(-ends[:, 0], kind="stable")
        those = samples[who[latest_first]]  # of one that stands there twice, what is written last stays
        states.inputs[: states.n, those], states.guard[those] = ends[latest_first].T, guard[latest_first]
        stop[who] = GUARD
        return stop

    def _refined(self, start: Array, h: Array, used: Array, guard: Indices, p: Array) -> Array:
        """The same as for one motion, of falls: `start` `(n, falls)`, `p` `(falls, n_p)`; `(falls, n)`."""
        refine = self._flow.refine.many
        inputs = np.vstack([h, start, used, np.eye(len(self._flow.kinds))[guard].T, p.T])
        last = first = refine(inputs.T)
        for _ in range(MAX_REFINEMENTS - 1):
            goes_on = last["stop"][:, 0, 0] == 0
            if not goes_on.any():
                break
            inputs[0, goes_on] = last["h"][goes_on, 0, 0]
            last = refine(inputs.T)
        return np.where(last["inside"][:, 0] > 0, last["y"][..., 0], first["y"][..., 0])


def _first(flags: Flags) -> Indices:
    """The place of the first flag that is set in each row; NO_GUARD where none is."""
    if not flags.shape[-1]:
        return np.full(flags.shape[:-1], NO_GUARD)
    return np.where(flags.any(axis=-1), np.argmax(flags, axis=-1), NO_GUARD)


def _not_finite(last: Values) -> Indices:
    """The first guard that is not finite in a step that is, `(samples,)`; else NO_GUARD."""
    moves: Flags = np.asarray(np.isfinite(last["polynomial"]).all(axis=1))  # (samples, 1)
    known: Flags = np.asarray(np.isfinite(last["looks"]).all(axis=1))  # (samples, guards)
    return _first(moves & ~known)


def _unless_over(states: States, samples: Indices) -> Stops:
    """That samples go on, unless their time is over."""
    return np.where(states.inputs[0, samples] >= states.inputs[states.n_fed, samples], Stop.TIME_OVER, Stop.NOT)


def _fall_parts(flow: Flow, last: Values, start: Array, p: Array, look: Callable[..., Values]) -> Array:
    """Parts of steps at which guards first fall, `(samples, guards)`; infinity where they do not.

    `last`: outputs of the stepper, which finds falls that are plain; where it is in doubt, there is a closer look.
    `start`: its inputs y, h, leaving, rising, `(inputs, samples)`. `p`: `(samples, n_p)`. `look`: by which `Flow.look`
    is evaluated.
    """
    n, m = flow.n, len(flow.kinds)
    x = last["falls"][..., 0].copy()
    doubtful = np.flatnonzero(x.min(axis=-1) > last["doubts"][..., 0].min(axis=-1))
    if not doubtful.size:
        return x
    y, polynomial = start[:n].T, last.numbers("polynomial").T

    def look_at(guards: Indices, parts: Array) -> tuple[Array, Array]:
        place, which = np.divmod(guards, m)
        samples, rows = doubtful[place], np.arange(len(parts))
        looks = look(y[samples], polynomial[samples], parts[:, None], p[samples])
        return looks["guards"][rows, which, 0], looks["slopes"][rows, which, 0]

    values, slopes = (last[name][doubtful].swapaxes(1, 2).reshape(-1, N_LOOKS + 1) for name in ("looks", "slopes"))
    leaving, rising = (start[k : k + m, doubtful].T.ravel() > 0 for k in (n + 1, n + 1 + m))
    noise = last["noise"][doubtful].ravel()
    x[doubtful] = first_falls(values, slopes, noise, leaving, rising, look_at).reshape(-1, m)
    return x
