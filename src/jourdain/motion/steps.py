"""Who makes the steps of a flow: a kernel, by Runge–Kutta; or SciPy, for stiff forces and for Python functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from jourdain.evaluate import Values
from jourdain.motion.flow import N_LOOKS, Flow
from jourdain.motion.locate import Flags, Indices, first_falls
from jourdain.runge_kutta import N_DENSE, along

Array = NDArray[np.float64]
Force = Callable[[float, Array, Array], Any]  # t, q, v → one number

FIRST_STEP = 1e-4  # of the time to go; steps grow tenfold
NUDGE = 1e-6  # of a step, to either side
NODES = (1 - np.cos(np.pi * np.arange(N_DENSE + 1) / N_DENSE)) / 2  # where a step of SciPy's is read


@dataclass(frozen=True)
class Ran:
    """Steps in a row, from a state on."""

    y: Array  # (steps, n), after each
    lengths: Array  # (steps,), s
    polynomials: Array  # (steps, 7, n)
    leaving: Flags  # (guards,), after them
    stuck: bool  # no step was short enough to go on
    fall: tuple[float, int] | None  # part of the last step, and guard that falls first in it


class Steps(Protocol):
    """Steps from a state on."""

    @property
    def h(self) -> float | None:
        """The length of the next; None if it is not known."""

    def begin(self, y: Array) -> tuple[Flags, ...]:
        """At the start of a segment, of guards: those that fall at once, leave, rise, and gaps that are below 0."""

    def __call__(self, y: Array, leaving: Flags, rising: Flags) -> Ran:
        """Steps from y until a guard falls, the time is over, or some have been made."""

    def guards(self, y: Array) -> tuple[Array, Array]:
        """(guards, their rates) at one state, `(guards,)` each."""

    def to(self, y: Array, polynomial: Array, used: float, h: float) -> Array:
        """The state at h, within a step of a length from y."""


class CompiledSteps:
    """Steps by the flow's own kernels."""

    def __init__(
        self, flow: Flow, own: Array, y: Array, until: float, tolerances: tuple[float, float], h: float | None = None
    ) -> None:
        self.flow, self.own, self.n, self.n_guards = flow, own, flow.n, flow.guards.numel()
        self.stepper, self.advance, self.glance = flow.kernels
        self.places = flow.stepper.places
        n, fed = flow.n, flow.n + 1 + 2 * self.n_guards
        self.stepper.inputs[n] = FIRST_STEP * (until - y[0]) if h is None else h
        self.stepper.inputs[fed:] = (until, *tolerances, *own)
        self.advance.inputs[n + 1 :] = own
        self.glance.inputs[n:] = own

    def __call__(self, y: Array, leaving: Flags, rising: Flags) -> Ran:
        n, m, inputs = self.n, self.n_guards, self.stepper.inputs
        inputs[:n] = y
        inputs[n + 1 : n + 1 + m], inputs[n + 1 + m : n + 1 + 2 * m] = leaving, rising
        rounds = self.stepper.rounds()
        last = rounds[-1]
        made = rounds[rounds[:, self.places["good"].start] > 0].copy()
        start = self.places["polynomial"].start
        return Ran(
            made[:, :n],
            made[:, self.places["used"].start],
            made[:, start : start + N_DENSE * n].reshape(len(made), N_DENSE, n),
            last[n + 1 : n + 1 + m] > 0,
            stuck=last[-1] != 0 and not last[self.places["good"].start] > 0,
            fall=self._fall(y, made, leaving, rising),
        )

    def _fall(self, y: Array, made: Array, leaving: Flags, rising: Flags) -> tuple[float, int] | None:
        """What the kernel found in the last step, or a closer look where it was in doubt."""
        m = self.n_guards
        if not m or not len(made):
            return None
        last = made[-1]
        falls, doubts = (last[self.places[name].start :][:m] for name in ("falls", "doubts"))
        i = int(np.argmin(falls))
        if falls[i] > np.min(doubts):
            before = made[-2] if len(made) > 1 else np.concatenate([y, [0.0], leaving, rising])
            falls = self._closer(last, before)
            i = int(np.argmin(falls))
        return (float(falls[i]), i) if falls[i] < np.inf else None

    def _closer(self, last: Array, before: Array) -> Array:
        n, m = self.n, self.n_guards
        values = Values(self.places, last[:, None], ())
        leaving, rising = before[n + 1 : n + 1 + m] > 0, before[n + 1 + m : n + 1 + 2 * m] > 0
        polynomial = values["polynomial"].reshape(1, -1)

        def look(guards: Indices, x: Array) -> tuple[Array, Array]:
            seen, rows = look_along(self.flow, before[None, :n], polynomial, x, self.own[None]), np.arange(len(x))
            return seen["guards"][rows, guards, 0], seen["slopes"][rows, guards, 0]

        looks = (values["looks"].T, values["slopes"].T, values["noise"][:, 0])
        return first_falls(*looks, leaving, rising, look)

    @property
    def h(self) -> float:
        return float(self.stepper.inputs[self.n])

    def apart(self, y: Array) -> bool:
        """Whether the rows that are on are well apart, as was assumed."""
        self.glance.inputs[: self.n] = y
        self.glance()
        return bool(self.glance.outputs[2 * self.n_guards] > 0)

    def begin(self, y: Array) -> tuple[Flags, ...]:
        self.glance.inputs[: self.n] = y
        self.glance()
        return tuple(self.glance.outputs[2 * self.n_guards + 1 :].reshape(4, self.n_guards) > 0)

    def guards(self, y: Array) -> tuple[Array, Array]:
        self.glance.inputs[: self.n] = y
        self.glance()
        m = self.n_guards
        return self.glance.outputs[:m].copy(), self.glance.outputs[m : 2 * m].copy()

    def to(self, y: Array, polynomial: Array, used: float, h: float) -> Array:
        self.advance.inputs[: self.n], self.advance.inputs[self.n] = y, h
        self.advance()
        return self.advance.outputs.copy()


class SciPySteps:
    """Steps by a method of `scipy.integrate`. `inputs`: the flow's parameters at states, functions of them included."""

    h: float | None = None  # it finds its own

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

    def begin(self, y: Array) -> tuple[Flags, ...]:
        seen = self.flow.glance(y, self.inputs(y))
        return tuple(seen[name][:, 0] > 0 for name in ("at_once", "leaving", "rising", "beyond"))

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

    def __call__(self, y: Array, leaving: Flags, rising: Flags) -> Ran:
        solver, m = self.solver, self.flow.guards.numel()
        none = Ran(np.zeros((0, len(y))), np.zeros(0), np.zeros((0, N_DENSE, len(y))), leaving, True, None)
        if solver.status != "running" or not np.isfinite(y).all():
            return none
        solver.step()
        if solver.status == "failed" or not np.isfinite(solver.y).all():
            return none
        end = solver.dense_output()
        used = float(solver.t - y[0])
        after = self._projected(np.append(solver.t, solver.y))
        states = np.array([np.append(y[0] + x * used, end(y[0] + x * used)) for x in NODES])
        states[0], states[-1] = y, after
        if not np.array_equal(after[1:], solver.y) and solver.t < self.until:
            self._begin(after)
        polynomial = _through(states)
        fall = None
        if m:
            noise = self.flow.noise(y, self.inputs(y))["noise"][:, 0]
            looks = self._look(y, polynomial, np.linspace(0, 1, N_LOOKS + 1))

            def look(guards: Indices, x: Array) -> tuple[Array, Array]:
                seen, rows = self._look(y, polynomial, x), np.arange(len(x))
                return seen[0][rows, guards], seen[1][rows, guards]

            falls = first_falls(looks[0].T, looks[1].T, noise, leaving, rising, look)
            i = int(np.argmin(falls))
            fall = (float(falls[i]), i) if falls[i] < np.inf else None
            leaving = leaving & (looks[0][-1] <= noise)
        return Ran(after[None], np.array([used]), polynomial[None], leaving, False, fall)

    def _projected(self, y: Array) -> Array:
        if not self.flow.dynamics.held:
            return y
        return np.asarray(self.flow.project(y, self.inputs(y))["y"][:, 0])

    def _look(self, y: Array, polynomial: Array, x: Array) -> tuple[Array, Array]:
        def guards(parts: Array) -> Array:
            states = along(y[None], [row[None] for row in polynomial], parts[:, None])
            return np.asarray(self.flow.glance(states, self.inputs(states))["guards"][..., 0])

        ahead, behind = np.minimum(x + NUDGE, 1.0), np.maximum(x - NUDGE, 0.0)  # what functions give has no derivative
        return guards(x), (guards(ahead) - guards(behind)) / (ahead - behind)[:, None]

    def guards(self, y: Array) -> tuple[Array, Array]:
        seen = self.flow.glance(y, self.inputs(y))
        return seen["guards"][:, 0], seen["rates"][:, 0]

    def to(self, y: Array, polynomial: Array, used: float, h: float) -> Array:
        return along(y, list(polynomial), h / used)


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
