"""Steps of one motion within a topology: what every method offers, and explicit Runge–Kutta steps by kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

import numpy as np

from jourdain.compute.evaluate import Values
from jourdain.compute.runge_kutta import N_DENSE
from jourdain.inputs import Array, Flags
from jourdain.motion.flow import N_LOOKS, Flow
from jourdain.motion.locate import Indices, first_falls
from jourdain.motion.settings import Settings

FIRST_STEP = 1e-4  # of the time to go; steps grow tenfold
NO_FLAGS: Flags = np.zeros(0, dtype=bool)


class SegmentStart(NamedTuple):
    """What `Flow.inspect` says of the state where a segment starts; flags of each guard."""

    independent: bool
    violation: float
    at_once: Flags = NO_FLAGS
    leaving: Flags = NO_FLAGS
    rising: Flags = NO_FLAGS
    beyond: Flags = NO_FLAGS


class StepSeries(NamedTuple):
    """Steps in a row, from a state on."""

    y: Array  # (steps, n), after each
    lengths: Array  # (steps,), s
    polynomials: Array  # (steps, 7, n)
    leaving: Flags  # (guards,), after them
    stuck: bool = False  # no step was short enough to go on
    falls: Mapping[int, float] = {}  # guards that fall in the last step → part of it
    not_finite: Flags = NO_FLAGS  # (guards,), in the last step
    violation: float = 0.0  # of constraints that seem redundant
    independent: bool = True  # whether the rows that are on were, as the fast path assumes


class Steps(Protocol):
    """Steps from a state on."""

    @property
    def h(self) -> float | None:
        """The length of the next, s; None if it is not known."""

    def __call__(self, y: Array, leaving: Flags, rising: Flags) -> StepSeries:
        """Steps from y until a guard falls, the time is over, or a number of steps has been made."""

    def refined(self, y: Array, series: StepSeries, guard: int) -> Array:
        """The state where a guard is 0 that falls in the last step of a series; that step starts from y."""


class CompiledSteps:
    """Steps of a flow with these parameters `(n_p,)`."""

    def __init__(self, flow: Flow, p: Array, settings: Settings) -> None:
        self.flow, self.p, self.n, self.n_guards = flow, p, flow.n, len(flow.kinds)
        self._tolerances = settings.rtol, settings.atol
        self._stepper, self._refiner, self._inspector = flow.kernels
        places = {name: place.start for name, place in flow.stepper.places.items()}
        names = ("good", "used", "polynomial", "independent")
        self._good, self._used, self._polynomial, self._independent = (places[name] for name in names)
        self._falls = slice(places["falls"], places["falls"] + self.n_guards)
        self._doubts = slice(places["doubts"], places["doubts"] + self.n_guards)

    def restart(self, y: Array, until: float, h: float | None) -> None:
        """For a segment from y on."""
        n, m = self.n, self.n_guards
        self._stepper.inputs[n] = FIRST_STEP * (until - y[0]) if h is None else h
        self._stepper.inputs[n + 1 + 2 * m :] = (until, *self._tolerances, *self.p)
        if self._refiner is not None:
            self._refiner.inputs[n + 2 + m :] = self.p

    @property
    def h(self) -> float:
        return float(self._stepper.inputs[self.n])

    def start(self, y: Array) -> SegmentStart:
        """What there is to say of y as the start of a segment."""
        n, m, inspector = self.n, self.n_guards, self._inspector
        inspector.inputs[:n], inspector.inputs[n:] = y, self.p
        independent, violation, *flags = inspector.rounds()[0, 2 * m : 2 + 6 * m]
        of_guards = np.array(flags).reshape(4, m) > 0 if m else ()
        return SegmentStart(bool(independent > 0), float(violation), *of_guards)

    def __call__(self, y: Array, leaving: Flags, rising: Flags) -> StepSeries:
        n, m, inputs = self.n, self.n_guards, self._stepper.inputs
        inputs[:n] = y
        if m:
            inputs[n + 1 : n + 1 + m], inputs[n + 1 + m : n + 1 + 2 * m] = leaving, rising
        rounds = self._stepper.rounds()
        last = rounds[-1]
        steps = rounds[rounds[:, self._good] > 0]
        stuck = bool(last[-1] != 0 and not last[self._good] > 0)
        if stuck:
            return self._series(steps, last)._replace(stuck=True, not_finite=self._not_finite(last))
        if not last[self._independent] > 0:  # the last step began where the rows are not: it is left out
            before = steps[-2, n + 1 : n + 1 + m] > 0 if len(steps) > 1 else leaving
            return self._series(steps[:-1], last)._replace(independent=False, leaving=before)
        series = self._series(steps, last)
        if m and len(steps):
            series = series._replace(falls=self._fall_parts(steps, y, leaving, rising))
        if self.flow.dynamics.independent or not len(steps):
            return series
        p = np.broadcast_to(self.p, (len(steps), len(self.p)))
        violations = np.abs(self.flow.violation(series.y, p)["violation"])
        return series._replace(violation=float(np.max(violations, initial=0.0)))

    def _series(self, steps: Array, last: Array) -> StepSeries:
        n = self.n
        polynomials = steps[:, self._polynomial : self._polynomial + N_DENSE * n].reshape(len(steps), N_DENSE, n)
        return StepSeries(steps[:, :n], steps[:, self._used], polynomials, last[n + 1 : n + 1 + self.n_guards] > 0)

    def _not_finite(self, last: Array) -> Flags:
        """Guards that are not finite in a step that is."""
        values = Values(self.flow.stepper.places, last[:, None], ())
        moves = np.isfinite(values["polynomial"]).all()
        return np.asarray(moves & ~np.isfinite(values["looks"]).all(axis=0))

    def _fall_parts(self, steps: Array, y: Array, leaving: Flags, rising: Flags) -> Mapping[int, float]:
        """Guards that fall in the last of these steps, with the part of it; y, leaving, rising: before the first."""
        last = steps[-1]
        falls = last[self._falls].tolist()
        if min(last[self._doubts].tolist()) < min(falls):
            start = steps[-2, : self.flow.n_fed] if len(steps) > 1 else np.concatenate([y, [0.0], leaving, rising])
            values = Values(self.flow.stepper.places, last[:, None], (1,))
            falls = fall_parts(self.flow, values, start[:, None], self.p[None], self.flow.look)[0].tolist()
        return {i: x for i, x in enumerate(falls) if x < np.inf}

    def refined(self, y: Array, series: StepSeries, guard: int) -> Array:
        n, refiner = self.n, self._refiner
        assert refiner is not None, "a guard falls only if there is one"
        used = series.lengths[-1]
        refiner.inputs[0], refiner.inputs[1 : 1 + n], refiner.inputs[1 + n] = series.falls[guard] * used, y, used
        refiner.inputs[2 + n : 2 + n + self.n_guards] = 0.0
        refiner.inputs[2 + n + guard] = 1.0
        rounds = refiner.rounds()
        inside = rounds[-1, 1 + n] > 0
        return rounds[-1 if inside else 0, 1 : 1 + n].copy()


def fall_parts(flow: Flow, last: Values, start: Array, p: Array, look: Callable[..., Values]) -> Array:
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
