"""Many motions at once: what `integrator` does with one, with all samples of a kernel; states at events are kept."""

from __future__ import annotations

import numpy as np

from jourdain.compute.evaluate import Values
from jourdain.inputs import Array, Flags
from jourdain.motion.flow import MAX_VIOLATION, Flow, FlowPaths
from jourdain.motion.gait import MAX_SWITCHES
from jourdain.motion.hybrid import Hybrid
from jourdain.motion.integrator import MAX_STEPS
from jourdain.motion.locate import MAX_REFINEMENTS, Indices
from jourdain.motion.settings import Settings
from jourdain.motion.steps import FIRST_STEP, fall_parts

NO_GUARD = -1  # instead of the number of the guard that falls


def step_many(
    hybrid: Hybrid, topology: str, y: Array, p: Array, longest: float, settings: Settings
) -> tuple[Array, Array]:
    """States and parameters when the topology has been entered again, `(samples, n)`; NaN where the motion has ended.

    `longest`: s that it may take to the next guard.
    """
    y, p = y.copy(), p.copy()
    moving = {topology: np.arange(len(y))}  # samples by topology
    for _ in range(MAX_SWITCHES):
        entered: dict[str, list[Indices]] = {}
        for name, samples in moving.items():
            inputs = hybrid.mechanism_parameters(p[samples])
            motions = _Motions(hybrid.flows(name), y[samples], inputs, longest, settings)
            motions.go_on()
            y[samples] = np.nan
            for i, switch in enumerate(hybrid.guard_owners(name)):
                here = np.flatnonzero(motions.guard == i)
                if not here.size or switch.target is None:
                    continue
                there = samples[here]
                y[there], p[there] = hybrid.jump(switch)(motions.ends[here], p[there])
                if switch.target != topology:
                    entered.setdefault(switch.target, []).append(there)
        moving = {name: np.concatenate(several) for name, several in entered.items()}
        if not moving:
            break
    for samples in moving.values():
        y[samples] = np.nan
    return y, p


class _Motions:
    """Samples that move in one topology, each until a guard falls.

    `ends`: states where a guard falls, `(samples, n)`, NaN where the motion ends otherwise; `guard`: which one falls,
    `(samples,)`, else `NO_GUARD`. `inputs`: those of the stepper, `(inputs, samples)`.
    """

    def __init__(self, paths: FlowPaths, y: Array, p: Array, longest: float, settings: Settings) -> None:
        self.paths, self.p, self.n, self.n_guards = paths, p, paths.fast.n, len(paths.fast.kinds)
        self.ends, self.guard = np.full_like(y, np.nan), np.full(len(y), NO_GUARD)
        one, flags = np.ones(len(y)), np.zeros((2 * self.n_guards, len(y)))
        tolerances = [settings.rtol * one, settings.atol * one]
        self.inputs = np.vstack([y.T, FIRST_STEP * longest * one, flags, y[:, 0] + longest, *tolerances, p.T])

    def go_on(self) -> None:
        """The fast path for all, the robust one from where rows are not independent."""
        if not self.n_guards:
            return
        to_start, to_go_on = np.arange(len(self.guard)), np.arange(0)
        for flow in self.paths:
            started, to_start = self._start(flow, to_start)
            to_go_on = self._move(flow, np.concatenate([started, to_go_on]))
            if not to_start.size and not to_go_on.size:
                return

    def _start(self, flow: Flow, samples: Indices) -> tuple[Indices, Indices]:
        """(samples that move, samples whose rows are not independent)."""
        n, m = self.n, self.n_guards
        y = self.inputs[:n, samples].T
        start = flow.inspect.many(y, self.p[samples])
        independent = start["independent"][:, 0, 0] > 0
        at_once, beyond = start["at_once"][..., 0] > 0, start["beyond"][..., 0] > 0
        lost = beyond.any(axis=-1) | ~np.isfinite(y).all(axis=-1) | ~(start["violation"][:, 0, 0] <= MAX_VIOLATION)
        falls = at_once.any(axis=-1) & ~lost & independent
        self.ends[samples[falls]], self.guard[samples[falls]] = y[falls], np.argmax(at_once, axis=-1)[falls]
        self.inputs[n + 1 : n + 1 + m, samples] = start.numbers("leaving")
        self.inputs[n + 1 + m : n + 1 + 2 * m, samples] = start.numbers("rising")
        return samples[independent & ~falls & ~lost], samples[~independent]

    def _move(self, flow: Flow, samples: Indices) -> Indices:
        """Step until a guard falls or the motion ends; the samples whose rows stop being independent, where they do."""
        dependent = [np.arange(0)]
        for _ in range(MAX_STEPS):
            if not samples.size:
                break
            last = flow.stepper.many(self.inputs[:, samples].T)
            goes_on = last["stop"][:, 0, 0] == 0
            good, independent = last["good"][:, 0, 0] > 0, last["independent"][:, 0, 0] > 0
            dependent.append(samples[~goes_on & good & ~independent])
            stopped = np.flatnonzero(~goes_on & good & independent)
            if stopped.size:
                steps = Values(last.places, last.table[:, stopped], stopped.shape)
                in_time = steps["y"][:, 0, 0] < self.inputs[flow.n_fed, samples[stopped]]
                goes_on[stopped] = ~self._falls(flow, steps, samples[stopped]) & in_time
            if not flow.dynamics.independent:  # constraints may contradict each other
                violation = flow.violation.many(last["y"][..., 0], self.p[samples])["violation"]
                goes_on &= np.max(np.abs(violation), axis=(1, 2), initial=0.0) <= MAX_VIOLATION
            samples = samples[goes_on]
            self.inputs[: flow.n_fed, samples] = last.table[: flow.n_fed, goes_on]
        return np.concatenate(dependent)

    def _falls(self, flow: Flow, steps: Values, samples: Indices) -> Flags:
        """Whether a guard falls in these steps of samples; where one does, they end there."""
        start, p = self.inputs[:, samples], self.p[samples]
        x = fall_parts(flow, steps, start, p, flow.look.many)
        who, guard = np.nonzero(x < np.inf)  # of several guards that fall the first is known when they are refined
        used = steps["used"][who, 0, 0]
        states = _refined(flow, start[: self.n, who], x[who, guard] * used, used, guard, p[who])
        latest_first = np.argsort(-states[:, 0], kind="stable")
        those = samples[who[latest_first]]
        self.ends[those], self.guard[those] = states[latest_first], guard[latest_first]  # the last one written stays
        falls = np.zeros(len(samples), dtype=bool)
        falls[who] = True
        return falls


def _refined(flow: Flow, y: Array, h: Array, used: Array, guard: Indices, p: Array) -> Array:
    """States `(samples, n)` where guards are 0, near the length h of steps from y `(n, samples)`."""
    inputs = np.vstack([h, y, used, np.eye(len(flow.kinds))[guard].T, p.T])
    last = seen = flow.refine.many(inputs.T)
    for _ in range(MAX_REFINEMENTS - 1):
        goes_on = last["stop"][:, 0, 0] == 0
        if not goes_on.any():
            break
        inputs[0, goes_on] = last["h"][goes_on, 0, 0]
        last = flow.refine.many(inputs.T)
    return np.where(last["inside"][:, 0] > 0, last["y"][..., 0], seen["y"][..., 0])
