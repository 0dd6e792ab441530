"""Steps of one motion by SciPy, for stiff forces and for forces that are Python functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from jourdain.compute.branches import ARRAYS
from jourdain.compute.runge_kutta import N_DENSE, along
from jourdain.errors import NotFinite
from jourdain.inputs import Array
from jourdain.motion.flow import MAX_VIOLATION, N_LOOKS, N_WORKS, Flow, Stop
from jourdain.motion.locate import MAX_REFINEMENTS, Indices, first_falls, refined_length
from jourdain.motion.motions import NO_GUARD, States, Stops
from jourdain.motion.settings import Settings
from jourdain.motion.steps import StepsTaken

NUDGE = 1e-6  # of a step, to either side
# Of the tolerance: with less drift off the constraints SciPy's methods go on undisturbed. BDF begins with order 1.
MAX_DRIFT = {"DOP853": 0.1, "Radau": 0.1, "BDF": 100.0}
MAX_PROJECTIONS = 5
NODES = (1 - np.cos(np.pi * np.arange(N_DENSE + 1) / N_DENSE)) / 2  # parts of a step where SciPy's states are read
MIN_RTOL = 1e-13  # SciPy warns below


class SciPySteps:
    """Steps of one motion by a method of `scipy.integrate`, one at a time.

    `path`: they are kept there. `inputs`: parameters of the flow at states, with forces by functions. `watch`: is
    called with the time so far, s.
    """

    def __init__(
        self, flow: Flow, states: States, path: list[StepsTaken], watch: Callable[[float], None] | None,
        inputs: Callable[[Array], Array], settings: Settings,
    ) -> None:  # fmt: skip
        self.flow, self._states, self._path, self._watch, self._inputs = flow, states, path, watch, inputs
        self._until = float(states.inputs[states.n_fed, 0])
        self._method = "DOP853" if settings.method == "explicit" else settings.method
        self._tolerances = settings.rtol, settings.atol
        self._solver: Any = None
        self.n_tried = 0

    def start(self, samples: Indices) -> Stops:
        states, y = self._states, self._states.y[0]
        start = self.flow.inspect(y, self._inputs(y))
        self._flags = start["leaving"][:, 0] > 0, start["rising"][:, 0] > 0
        if start["which"].any():
            states.guard[0] = np.argmax(start["which"])
        return np.array([start["stop"][0, 0]])

    def _restart(self, y: Array) -> None:
        from scipy import integrate

        rtol, atol = self._tolerances
        first = None if self._solver is None else min(self._solver.h_abs, self._until - y[0])
        method = getattr(integrate, self._method)
        options: dict[str, Any] = {} if not first else {"first_step": first}
        if method is not integrate.DOP853 and not self.flow.dynamics.given.numel():
            options["jac"] = self._jacobian
        self._solver = method(self._slope, y[0], y[1:], self._until, rtol=max(rtol, MIN_RTOL), atol=atol, **options)

    def _jacobian(self, t: float, y: Array) -> Array:
        state = np.append(t, y)
        return np.asarray(self.flow.slope_by(state, self._inputs(state))["by_y"][1:, 1:])

    def _slope(self, t: float, y: Array) -> Array:
        state = np.append(t, y)
        slope = np.asarray(self.flow.slope(state, self._inputs(state))["slope"][1:, 0])
        if np.isfinite(y).all() and not np.isfinite(slope).all():
            numbers = ", ".join(f"{number:.6g}" for number in y[:-N_WORKS])
            raise NotFinite(
                f"Accelerations are not finite at t = {t:.6g} s, at (q, v) = ({numbers}). Check the forces."
            )
        return slope

    def go_on(self, samples: Indices) -> Stops:
        self.n_tried += 1
        states, y = self._states, self._states.y[0].copy()
        if self._solver is None:
            self._restart(y)
        solver = self._solver
        with np.errstate(all="ignore"):  # what is not finite stops the motion
            if solver.status != "running" or not np.isfinite(y).all() or solver.step() or solver.status == "failed":
                return np.array([Stop.STUCK])
        if not np.isfinite(solver.y).all():
            return np.array([Stop.STUCK])
        used = float(solver.t - y[0])
        after = self._projected(np.append(solver.t, solver.y))
        polynomial = self._polynomial(y, after, used)
        rtol, atol = self._tolerances
        drifted = np.abs(after[1:] - solver.y) > MAX_DRIFT[self._method] * (atol + rtol * np.abs(solver.y))
        if drifted.any() and solver.t < self._until:
            self._restart(after)
        self._path.append(StepsTaken(after[None], np.array([used]), polynomial[None]))
        states.inputs[: states.n, 0] = after
        if self._watch is not None:
            self._watch(used + y[0])
        return np.array([self._stop(y, after, polynomial, used)])

    def _stop(self, y: Array, after: Array, polynomial: Array, used: float) -> Stop:
        """Why the motion stops after a step from y; where a guard falls in it, it is moved there."""
        if not self.flow.dynamics.independent and self._violation(after) > MAX_VIOLATION:
            return Stop.CONTRADICTION
        states = self._states
        falls = self._falls(y, polynomial) if self.flow.kinds else {}
        if states.guard[0] != NO_GUARD:
            return Stop.STUCK
        if falls:
            ends = [(self._refined(y, polynomial, used, guard, x), guard) for guard, x in falls.items()]
            states.inputs[: states.n, 0], states.guard[0] = min(ends, key=lambda end: float(end[0][0]))
            return Stop.GUARD
        return Stop.TIME_OVER if after[0] >= self._until else Stop.NOT

    def _polynomial(self, y: Array, after: Array, used: float) -> Array:
        """Of the step that SciPy has made from y, which ends in `after`."""
        dense = self._solver.dense_output()
        states = np.array([np.append(y[0] + x * used, dense(y[0] + x * used)) for x in NODES])
        states[0], states[-1] = y, after
        return _through(states)

    def _falls(self, y: Array, polynomial: Array) -> Mapping[int, float]:
        """Guards that fall in a step from y → part of it."""
        noise = self.flow.inspect(y, self._inputs(y))["noise"][:, 0]
        values, slopes = self._look(y, polynomial, np.linspace(0, 1, N_LOOKS + 1))
        finite = np.isfinite(values).all(axis=0)
        if not finite.all():
            self._states.guard[0] = np.argmin(finite)
            return {}

        def look_at(guards: Indices, x: Array) -> tuple[Array, Array]:
            looks, rows = self._look(y, polynomial, x), np.arange(len(x))
            return looks[0][rows, guards], looks[1][rows, guards]

        leaving, rising = self._flags
        self._flags = leaving & (values[-1] <= noise), np.zeros_like(rising)
        parts = first_falls(values.T, slopes.T, noise, leaving, rising, look_at).tolist()
        return {i: x for i, x in enumerate(parts) if x < np.inf}

    def _projected(self, y: Array) -> Array:
        """On the constraints; as it is where it has drifted by little."""
        if not self.flow.dynamics.held:
            return y
        for _ in range(MAX_PROJECTIONS):
            if self._violation(y) <= MAX_VIOLATION / 10:
                break
            y = np.asarray(self.flow.project(y, self._inputs(y))["y"][:, 0])
        return y

    def _violation(self, y: Array) -> float:
        return float(np.max(np.abs(self.flow.violation(y, self._inputs(y))["violation"]), initial=0.0))

    def _look(self, y: Array, polynomial: Array, x: Array) -> tuple[Array, Array]:
        """Guards at the parts x of a step from y, and their slopes by x, `(parts, guards)`."""

        def guards(parts: Array) -> Array:
            states = along(y[None], [row[None] for row in polynomial], parts[:, None])
            return np.asarray(self.flow.inspect(states, self._inputs(states))["guards"][..., 0])

        ahead, behind = np.minimum(x + NUDGE, 1.0), np.maximum(x - NUDGE, 0.0)  # Python functions have no derivative
        return guards(x), (guards(ahead) - guards(behind)) / (ahead - behind)[:, None]

    def _refined(self, y: Array, polynomial: Array, used: float, guard: int, part: float) -> Array:
        """The state where a guard is 0, near a part of a step from y."""
        h, states = part * used, list[Array]()
        for _ in range(MAX_REFINEMENTS):
            states.append(self._projected(along(y, list(polynomial), h / used)))
            inspected = self.flow.inspect(states[-1], self._inputs(states[-1]))
            value, rate = (inspected[name][guard, 0] for name in ("guards", "rates"))
            h, inside, stop = refined_length(value, rate, h, used, y[0], ARRAYS)
            if stop:
                break
        return states[-1 if inside else 0]


def _through(states: Array) -> Array:
    """The coefficients of the polynomial of order 7 through states at `NODES`, as `runge_kutta.along` reads them."""
    basis = np.array([along(0.0 * NODES, list(row), NODES) for row in np.eye(N_DENSE)[:, :, None]]).T
    coefficients, *_ = np.linalg.lstsq(basis[1:], states[1:] - states[0], rcond=None)
    return np.asarray(coefficients)
