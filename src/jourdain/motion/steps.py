"""Who makes the steps of a flow: a kernel, by Runge–Kutta; or SciPy, for stiff forces and for Python functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from jourdain.motion.flow import N_LOOKS, Flow
from jourdain.runge_kutta import N_DENSE, along

Array = NDArray[np.float64]
Force = Callable[[float, Array, Array], Any]  # t, q, v → one number

FIRST_STEP = 1e-4  # of the time to go; steps grow tenfold
NODES = (1 - np.cos(np.pi * np.arange(N_DENSE + 1) / N_DENSE)) / 2  # where a step of SciPy's is read


class OneStep(NamedTuple):
    after: Array  # (n,)
    used: float  # its length, s
    polynomial: Array  # (7, n)
    looks: Array | None  # (looks, guards), guards at equal parts of it; None where no guard comes near 0


class Steps(Protocol):
    """Steps from a state on."""

    def __call__(self, y: Array) -> OneStep | None:
        """The next good step from y; None if no step is small enough."""

    def guards(self, y: Array) -> tuple[Array, Array]:
        """(guards, their rates) at one state, `(guards,)` each."""

    def along(self, y: Array) -> Array:
        """Guards at states `(times, n)`, `(times, guards)`."""

    def to(self, y: Array, step: OneStep, h: float) -> Array:
        """The state at h, within a step from y."""


class CompiledSteps:
    """Steps by the flow's own kernels."""

    MOST_REJECTED = 60  # in a row: each is at least a tenth shorter

    def __init__(self, flow: Flow, own: Array, t: float, until: float, tolerances: tuple[float, float]) -> None:
        self.flow, self.own, self.n = flow, own, flow.n
        self.one, self.exact, self.look = flow.kernels
        n, n_guards = flow.n, flow.guards.numel()
        self.one.inputs[n + 1 :] = (until, *tolerances, *own)
        self.exact.inputs[n + 1 :] = own
        self.look.inputs[n:] = own
        self.h = FIRST_STEP * (until - t)
        self.places = (slice(n + 3, n + 3 + N_DENSE * n), slice(n + 3 + N_DENSE * n, -1), (N_LOOKS + 1, n_guards))

    def __call__(self, y: Array) -> OneStep | None:
        n, inputs, outputs = self.n, self.one.inputs, self.one.outputs
        polynomial, looks, shape = self.places
        inputs[:n] = y
        for _ in range(self.MOST_REJECTED):
            inputs[n] = self.h
            self.one()
            self.h = float(outputs[n])
            if outputs[n + 1] > 0:
                seen = outputs[looks].reshape(shape) if outputs[-1] > 0 else None
                record = outputs[polynomial].reshape(N_DENSE, n)
                return OneStep(outputs[:n].copy(), float(outputs[n + 2]), record, seen)
        return None

    def guards(self, y: Array) -> tuple[Array, Array]:
        self.look.inputs[: self.n] = y
        self.look()
        half = self.places[2][1]
        return self.look.outputs[:half].copy(), self.look.outputs[half:].copy()

    def along(self, y: Array) -> Array:
        return np.asarray(self.flow.glance(y, np.broadcast_to(self.own, (len(y), len(self.own))))["guards"][..., 0])

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
        polynomial = _through(states)
        parts = np.linspace(0, 1, N_LOOKS + 1)[:, None]
        return OneStep(after, used, polynomial, self.along(along(y[None], [row[None] for row in polynomial], parts)))

    def _projected(self, y: Array) -> Array:
        if not self.flow.dynamics.held:
            return y
        return np.asarray(self.flow.project(y, self.inputs(y))["y"][:, 0])

    def guards(self, y: Array) -> tuple[Array, Array]:
        seen = self.flow.glance(y, self.inputs(y))
        return seen["guards"][:, 0], seen["rates"][:, 0]

    def along(self, y: Array) -> Array:
        return np.asarray(self.flow.glance(y, self.inputs(y))["guards"][..., 0])

    def to(self, y: Array, step: OneStep, h: float) -> Array:
        return along(y, list(step.polynomial), h / step.used)


def _through(states: Array) -> Array:
    """The coefficients of the polynomial of order 7 through states at `NODES`, as `runge_kutta.along` reads them."""
    basis = np.array([along(0.0 * NODES, list(row), NODES) for row in np.eye(N_DENSE)[:, :, None]]).T
    found, *_ = np.linalg.lstsq(basis[1:], states[1:] - states[0], rcond=None)
    return np.asarray(found)
