"""Who makes the steps of a flow: a kernel, by Runge–Kutta; or SciPy, for stiff forces and for Python functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from jourdain.compute.evaluate import Values
from jourdain.compute.runge_kutta import N_DENSE, along
from jourdain.errors import NotFinite
from jourdain.inputs import Array
from jourdain.motion.flow import N_LOOKS, OFF, Flow
from jourdain.motion.locate import Flags, Indices, first_falls

Force = Callable[[float, Array, Array], Any]  # t, q, v → one number

FIRST_STEP = 1e-4  # of the time to go; steps grow tenfold
NUDGE = 1e-6  # of a step, to either side
# Of the tolerance: less than this off the constraints SciPy's methods go on undisturbed. BDF begins with order 1.
DRIFT = {"DOP853": 0.1, "Radau": 0.1, "BDF": 100.0}
MOST_PROJECTIONS = 5
NODES = (1 - np.cos(np.pi * np.arange(N_DENSE + 1) / N_DENSE)) / 2  # where a step of SciPy's is read
NO_FLAGS: Flags = np.zeros(0, dtype=bool)


class Begun(NamedTuple):
    """What `Flow.glance` tells where a segment starts; flags of each guard."""

    apart: bool
    off: float
    at_once: Flags = NO_FLAGS
    leaving: Flags = NO_FLAGS
    rising: Flags = NO_FLAGS
    beyond: Flags = NO_FLAGS


class Ran(NamedTuple):
    """Steps in a row, from a state on."""

    y: Array  # (steps, n), after each
    lengths: Array  # (steps,), s
    polynomials: Array  # (steps, 7, n)
    leaving: Flags  # (guards,), after them
    stuck: bool = False  # no step was short enough to go on
    falls: Mapping[int, float] = {}  # guards that fall in the last step → part of it
    unclear: Flags = NO_FLAGS  # (guards,), those that are not finite in the last step
    off: float = 0.0  # by how much constraints that seem redundant are not met
    apart: bool = True  # whether the rows that are on were well apart, as was assumed


class Steps(Protocol):
    """Steps from a state on."""

    @property
    def h(self) -> float | None:
        """The length of the next; None if it is not known."""

    def __call__(self, y: Array, leaving: Flags, rising: Flags) -> Ran:
        """Steps from y until a guard falls, the time is over, or some have been made."""

    def to(self, y: Array, polynomial: Array, used: float, h: float) -> tuple[Array, Array, Array]:
        """(the state at h within a step from y, guards and their rates there)."""


class CompiledSteps:
    """Steps by the flow's own kernels."""

    def __init__(self, flow: Flow, own: Array, tolerances: tuple[float, float]) -> None:
        self.flow, self.own, self.n, self.n_guards = flow, own, flow.n, len(flow.kinds)
        self.stepper, self.advance, self.glance = flow.kernels
        self.tolerances = tolerances
        places = {name: place.start for name, place in flow.stepper.places.items()}
        names = ("good", "used", "polynomial", "apart")
        self.good, self.used, self.polynomial, self.apart = (places[name] for name in names)
        self.falls = slice(places["falls"], places["falls"] + self.n_guards)
        self.doubts = slice(places["doubts"], places["doubts"] + self.n_guards)

    def restart(self, y: Array, until: float, h: float | None) -> None:
        """For a segment from y on."""
        n = self.n
        self.stepper.inputs[n] = FIRST_STEP * (until - y[0]) if h is None else h
        self.stepper.inputs[n + 1 + 2 * self.n_guards :] = (until, *self.tolerances, *self.own)
        self.advance.inputs[n + 1 :] = self.own

    @property
    def h(self) -> float:
        return float(self.stepper.inputs[self.n])

    def begin(self, y: Array) -> Begun:
        n, m = self.n, self.n_guards
        self.glance.inputs[:n], self.glance.inputs[n:] = y, self.own
        self.glance()
        apart, off, *flags = self.glance.outputs[2 * m :]
        return Begun(bool(apart > 0), float(off), *(np.array(flags).reshape(4, m) > 0 if m else ()))

    def __call__(self, y: Array, leaving: Flags, rising: Flags) -> Ran:
        n, m, inputs = self.n, self.n_guards, self.stepper.inputs
        inputs[:n] = y
        if m:
            inputs[n + 1 : n + 1 + m], inputs[n + 1 + m : n + 1 + 2 * m] = leaving, rising
        rounds = self.stepper.rounds()
        last = rounds[-1]
        made = rounds[rounds[:, self.good] > 0]
        apart, stuck = bool(last[self.apart] > 0), bool(last[-1] != 0 and not last[self.good] > 0)
        if not apart and not stuck:  # the last step began where it should not have
            return self._ran(made[:-1], last)._replace(apart=False, leaving=self._left(made, leaving))
        if stuck:
            tried = Values(self.flow.stepper.places, last[:, None], ())
            moves = np.isfinite(tried["polynomial"]).all()
            unclear = np.asarray(moves & ~np.isfinite(tried["looks"]).all(axis=0))
            return self._ran(made, last)._replace(stuck=True, unclear=unclear)
        ran = self._ran(made, last)
        if m and len(made):
            ran = ran._replace(falls=self._falls(y, made, leaving, rising))
        if self.flow.dynamics.independent or not len(made):
            return ran
        off = np.abs(self.flow.off(ran.y, np.broadcast_to(self.own, (len(ran.y), len(self.own))))["off"])
        return ran._replace(off=float(np.max(off, initial=0.0)))

    def _left(self, made: Array, leaving: Flags) -> Flags:
        """Guards that leave, before the last step."""
        return made[-2, self.n + 1 : self.n + 1 + self.n_guards] > 0 if len(made) > 1 else leaving

    def _ran(self, made: Array, last: Array) -> Ran:
        n = self.n
        polynomials = made[:, self.polynomial : self.polynomial + N_DENSE * n].reshape(len(made), N_DENSE, n)
        return Ran(made[:, :n], made[:, self.used], polynomials, last[n + 1 : n + 1 + self.n_guards] > 0)

    def _falls(self, y: Array, made: Array, leaving: Flags, rising: Flags) -> Mapping[int, float]:
        """What the kernel found in the last step, or a closer look where it was in doubt."""
        last = made[-1]
        falls, doubts = last[self.falls].tolist(), last[self.doubts].tolist()
        if min(doubts) < min(falls):
            before = made[-2] if len(made) > 1 else np.concatenate([y, [0.0], leaving, rising])
            values = Values(self.flow.stepper.places, last[:, None], ())
            falls = self._closer(values, before).tolist()
        return {i: x for i, x in enumerate(falls) if x < np.inf}

    def _closer(self, values: Values, before: Array) -> Array:
        n, m = self.n, self.n_guards
        leaving, rising = before[n + 1 : n + 1 + m] > 0, before[n + 1 + m : n + 1 + 2 * m] > 0
        polynomial = values["polynomial"].reshape(1, -1)

        def look(guards: Indices, x: Array) -> tuple[Array, Array]:
            seen, rows = look_along(self.flow, before[None, :n], polynomial, x, self.own[None]), np.arange(len(x))
            return seen["guards"][rows, guards, 0], seen["slopes"][rows, guards, 0]

        looks = (values["looks"].T, values["slopes"].T, values["noise"][:, 0])
        return first_falls(*looks, leaving, rising, look)

    def to(self, y: Array, polynomial: Array, used: float, h: float) -> tuple[Array, Array, Array]:
        n, m = self.n, self.n_guards
        self.advance.inputs[:n], self.advance.inputs[n] = y, h
        self.advance()
        found = self.advance.outputs.copy()
        return found[:n], found[n : n + m], found[n + m :]


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

    def begin(self, y: Array) -> Begun:
        seen = self.flow.glance(y, self.inputs(y))
        flags = (seen[name][:, 0] > 0 for name in Begun._fields[2:]) if self.flow.kinds else ()
        return Begun(bool(seen["apart"][0, 0] > 0), float(seen["off"][0, 0]), *flags)

    def _begin(self, y: Array) -> None:
        from scipy import integrate

        rtol, atol = self.tolerances
        first = None if self.solver is None else min(self.solver.h_abs, self.until - y[0])
        method = getattr(integrate, self.method)
        options: dict[str, Any] = {} if not first else {"first_step": first}
        if method is not integrate.DOP853 and not self.flow.dynamics.given.numel():
            options["jac"] = self._jacobian
        self.solver = method(self._slope, y[0], y[1:], self.until, rtol=max(rtol, 1e-13), atol=atol, **options)

    def _jacobian(self, t: float, y: Array) -> Array:
        state = np.append(t, y)
        return np.asarray(self.flow.slope_by(state, self.inputs(state))["by_y"][1:, 1:])

    def _slope(self, t: float, y: Array) -> Array:
        state = np.append(t, y)
        slope = np.asarray(self.flow.slope(state, self.inputs(state))["slope"][1:, 0])
        if np.isfinite(y).all() and not np.isfinite(slope).all():
            numbers = ", ".join(f"{number:.6g}" for number in y[: self.flow.n_q + self.flow.n_v])
            raise NotFinite(
                f"Accelerations are not finite at t = {t:.6g} s, at (q, v) = ({numbers}). Check the forces."
            )
        return slope

    def __call__(self, y: Array, leaving: Flags, rising: Flags) -> Ran:
        solver = self.solver
        none = Ran(np.zeros((0, len(y))), np.zeros(0), np.zeros((0, N_DENSE, len(y))), leaving, stuck=True)
        if solver.status != "running" or not np.isfinite(y).all():
            return none
        with np.errstate(all="ignore"):  # what is not finite is told
            solver.step()
        if solver.status == "failed" or not np.isfinite(solver.y).all():
            return none
        end = solver.dense_output()
        used = float(solver.t - y[0])
        after = self._projected(np.append(solver.t, solver.y))
        states = np.array([np.append(y[0] + x * used, end(y[0] + x * used)) for x in NODES])
        states[0], states[-1] = y, after
        rtol, atol = self.tolerances
        drifted = np.abs(after[1:] - solver.y) > DRIFT[self.method] * (atol + rtol * np.abs(solver.y))
        if drifted.any() and solver.t < self.until:
            self._begin(after)
        polynomial = _through(states)
        made = (after[None], np.array([used]), polynomial[None])
        off = 0.0 if self.flow.dynamics.independent else self._off(after)
        if not self.flow.kinds:
            return Ran(*made, leaving, off=off)
        noise = self.flow.noise(y, self.inputs(y))["noise"][:, 0]
        looks = self._look(y, polynomial, np.linspace(0, 1, N_LOOKS + 1))
        unclear: Flags = ~np.asarray(np.all(np.isfinite(looks[0]), axis=0))
        if unclear.any():
            return Ran(*made, leaving, unclear=unclear)

        def look(guards: Indices, x: Array) -> tuple[Array, Array]:
            seen, rows = self._look(y, polynomial, x), np.arange(len(x))
            return seen[0][rows, guards], seen[1][rows, guards]

        falls = first_falls(looks[0].T, looks[1].T, noise, leaving, rising, look).tolist()
        found = {i: x for i, x in enumerate(falls) if x < np.inf}
        return Ran(*made, leaving & (looks[0][-1] <= noise), falls=found, off=off)

    def _projected(self, y: Array) -> Array:
        """On the constraints; as it is where it has drifted by little."""
        if not self.flow.dynamics.held:
            return y
        for _ in range(MOST_PROJECTIONS):
            if self._off(y) <= OFF / 10:
                break
            y = np.asarray(self.flow.project(y, self.inputs(y))["y"][:, 0])
        return y

    def _off(self, y: Array) -> float:
        return float(np.max(np.abs(self.flow.off(y, self.inputs(y))["off"]), initial=0.0))

    def _look(self, y: Array, polynomial: Array, x: Array) -> tuple[Array, Array]:
        def guards(parts: Array) -> Array:
            states = along(y[None], [row[None] for row in polynomial], parts[:, None])
            return np.asarray(self.flow.glance(states, self.inputs(states))["guards"][..., 0])

        ahead, behind = np.minimum(x + NUDGE, 1.0), np.maximum(x - NUDGE, 0.0)  # what functions give has no derivative
        return guards(x), (guards(ahead) - guards(behind)) / (ahead - behind)[:, None]

    def to(self, y: Array, polynomial: Array, used: float, h: float) -> tuple[Array, Array, Array]:
        state = self._projected(along(y, list(polynomial), h / used))
        seen = self.flow.glance(state, self.inputs(state))
        return state, seen["guards"][:, 0], seen["rates"][:, 0]


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
