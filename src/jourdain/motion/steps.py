"""Who makes the steps of a flow: a kernel, by Runge–Kutta; or SciPy, for stiff forces and for Python functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from jourdain.evaluate import Values
from jourdain.motion.flow import N_LOOKS, Flow
from jourdain.runge_kutta import N_DENSE, along

Array = NDArray[np.float64]
Force = Callable[[float, Array, Array], Any]  # t, q, v → one number

FIRST_STEP = 1e-4  # of the time to go; steps grow tenfold
NUDGE = 1e-6  # of a step, to either side
NODES = (1 - np.cos(np.pi * np.arange(N_DENSE + 1) / N_DENSE)) / 2  # where a step of SciPy's is read


class OneStep(NamedTuple):
    after: Array  # (n,)
    used: float  # its length, s
    polynomial: Array  # (7, n)
    looks: tuple[Array, Array] | None  # guards and slopes at equal parts, (looks, guards); None where none comes near 0
    noise: Array  # (guards,), smaller values are 0


class Steps(Protocol):
    """Steps from a state on."""

    def __call__(self, y: Array) -> OneStep | None:
        """The next good step from y; None if no step is small enough."""

    def guards(self, y: Array) -> tuple[Array, Array]:
        """(guards, their rates) at one state, `(guards,)` each."""

    def look(self, y: Array, step: OneStep, x: Array) -> tuple[Array, Array]:
        """(guards, their slopes by x) at parts x of a step from y, `(parts, guards)` each."""

    def to(self, y: Array, step: OneStep, h: float) -> Array:
        """The state at h, within a step from y."""


class CompiledSteps:
    """Steps by the flow's own kernels."""

    MOST_REJECTED = 60  # in a row: each is at least a tenth shorter

    def __init__(self, flow: Flow, own: Array, t: float, until: float, tolerances: tuple[float, float]) -> None:
        self.flow, self.own, self.n = flow, own, flow.n
        self.one, self.exact, self.glance = flow.kernels
        n, n_guards = flow.n, flow.guards.numel()
        self.one.inputs[n + 1 :] = (until, *tolerances, *own)
        self.exact.inputs[n + 1 :] = own
        self.glance.inputs[n:] = own
        self.h = FIRST_STEP * (until - t)
        start, size = n + 3 + N_DENSE * n, 2 * (N_LOOKS + 1) * n_guards
        self.places = (slice(n + 3, start), slice(start, start + size), slice(start + size, -1))
        self.shape = (2, N_LOOKS + 1, n_guards)

    def __call__(self, y: Array) -> OneStep | None:
        n, inputs, outputs = self.n, self.one.inputs, self.one.outputs
        polynomial, looks, noise = self.places
        inputs[:n] = y
        for _ in range(self.MOST_REJECTED):
            inputs[n] = self.h
            self.one()
            self.h = float(outputs[n])
            if outputs[n + 1] > 0:
                guards, slopes = outputs[looks].reshape(self.shape)
                seen = (guards, slopes) if outputs[-1] > 0 else None
                record = outputs[polynomial].reshape(N_DENSE, n)
                return OneStep(outputs[:n].copy(), float(outputs[n + 2]), record, seen, outputs[noise])
        return None

    def guards(self, y: Array) -> tuple[Array, Array]:
        self.glance.inputs[: self.n] = y
        self.glance()
        half = self.shape[-1]
        return self.glance.outputs[:half].copy(), self.glance.outputs[half:].copy()

    def look(self, y: Array, step: OneStep, x: Array) -> tuple[Array, Array]:
        seen = look_along(self.flow, y[None], step.polynomial[None], x, self.own[None])
        return seen["guards"][..., 0], seen["slopes"][..., 0]

    def to(self, y: Array, step: OneStep, h: float) -> Array:
        self.exact.inputs[: self.n], self.exact.inputs[self.n] = y, h
        self.exact()
        return self.exact.outputs.copy()


class SciPySteps:
    """Steps by a method of `scipy.integrate`. `inputs`: the flow's parameters at states, functions of them included."""

    def __init__(
        self,
        flow: Flow,
        inputs: Callable[[Array], Array],
        y: Array,
        until: float,
        tolerances: tuple[float, float],
        method: str,
    ) -> None:
        self.flow, self.inputs, self.until = flow, inputs, until
        self.method, self.tolerances = method, tolerances
        self.solver: Any = None
        self._begin(y)

    def _begin(self, y: Array) -> None:
        from scipy import integrate

        rtol, atol = self.tolerances
        first = None if self.solver is None else min(self.solver.h_abs, self.until - y[0])
        method = getattr(integrate, self.method)
        options = {} if not first else {"first_step": first}
        self.solver = method(self._slope, y[0], y[1:], self.until, rtol=rtol, atol=atol, **options)

    def _slope(self, t: float, y: Array) -> Array:
        state = np.append(t, y)
        return np.asarray(self.flow.slope(state, self.inputs(state))["slope"][1:, 0])

    def __call__(self, y: Array) -> OneStep | None:
        solver = self.solver
        if solver.status != "running" or not np.isfinite(y).all():
            return None
        solver.step()
        if solver.status == "failed":
            return None
        end = solver.dense_output()
        used = float(solver.t - y[0])
        after = self._projected(np.append(solver.t, solver.y))
        states = np.array([np.append(y[0] + x * used, end(y[0] + x * used)) for x in NODES])
        states[0], states[-1] = y, after
        if not np.array_equal(after[1:], solver.y) and solver.t < self.until:
            self._begin(after)
        noise = self.flow.noise(y, self.inputs(y))["noise"][:, 0]
        made = OneStep(after, used, _through(states), None, noise)
        return made._replace(looks=self.look(y, made, np.linspace(0, 1, N_LOOKS + 1)))

    def _projected(self, y: Array) -> Array:
        if not self.flow.dynamics.held:
            return y
        return np.asarray(self.flow.project(y, self.inputs(y))["y"][:, 0])

    def guards(self, y: Array) -> tuple[Array, Array]:
        seen = self.flow.glance(y, self.inputs(y))
        return seen["guards"][:, 0], seen["rates"][:, 0]

    def look(self, y: Array, step: OneStep, x: Array) -> tuple[Array, Array]:
        def guards(parts: Array) -> Array:
            states = along(y[None], [row[None] for row in step.polynomial], parts[:, None])
            return np.asarray(self.flow.glance(states, self.inputs(states))["guards"][..., 0])

        ahead, behind = np.minimum(x + NUDGE, 1.0), np.maximum(x - NUDGE, 0.0)  # what functions give has no derivative
        return guards(x), (guards(ahead) - guards(behind)) / (ahead - behind)[:, None]

    def to(self, y: Array, step: OneStep, h: float) -> Array:
        return along(y, list(step.polynomial), h / step.used)


def look_along(flow: Flow, y: Array, polynomial: Array, x: Array, own: Array, compiled: bool = False) -> Values:
    """Guards and slopes at the parts x of steps, `(parts,)`; the others `(parts, …)`, or with one that serves all."""
    m = len(x)
    columns = (y, polynomial.reshape(len(polynomial), -1), x[:, None], own)
    given = [np.broadcast_to(column, (m, column.shape[1])) for column in columns]
    return flow.look.many(*given) if compiled else flow.look(*given)


def _through(states: Array) -> Array:
    """The coefficients of the polynomial of order 7 through states at `NODES`, as `runge_kutta.along` reads them."""
    basis = np.array([along(0.0 * NODES, list(row), NODES) for row in np.eye(N_DENSE)[:, :, None]]).T
    found, *_ = np.linalg.lstsq(basis[1:], states[1:] - states[0], rcond=None)
    return np.asarray(found)
