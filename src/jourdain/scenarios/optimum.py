"""The best parameters of a scenario: SciPy's SLSQP with exact derivatives, from several starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.compute.memory import refuse_too_large
from jourdain.errors import BadEvent, MissingValue, NameClash, NotConverged, ShapeError, Status, unknown
from jourdain.inputs import Array, named_values, number, refuse_nonfinite
from jourdain.output.printable import prints

if TYPE_CHECKING:
    from jourdain.events.gradient import ScenarioGradient
    from jourdain.events.transition import Transition
    from jourdain.scenarios.scenario import Scenario

Bounds = tuple[float, float]
BoundsLike = Sequence[float | None]  # (least, largest); None leaves a side open
FEASIBLE = 1e-7  # of the usual size of a quantity: by how much it may miss its bound
LEVEL = 1e-5  # of its usual size, an objective that changes by less over the bounds is level
NUMBERS_OF_START = 128  # that it takes room for: its record
SEED = 20  # starts are drawn alike every time


@dataclass(frozen=True)
class Start:
    """Where one start led."""

    start: Mapping[str, float]
    parameters: Mapping[str, float]
    value: float  # NaN where the event fails
    feasible: bool
    converged: bool
    message: str


@dataclass(frozen=True)
class Optimum:
    """The best of all starts. `converged`: all bounds hold, and the slope vanishes or is held back by them.

    Where the slope jumps the optimiser's own word is taken; at the edge of a region without outcomes it is not.
    """

    parameters: Mapping[str, float]
    value: float
    transition: Transition
    converged: bool
    starts: tuple[Start, ...]  # all of them

    @prints
    def __repr__(self) -> str:
        at = ", ".join(f"{name}={value:.6g}" for name, value in self.parameters.items())
        alike = [np.isclose(one.value, self.value, rtol=1e-5, atol=1e-300) for one in self.starts if one.converged]
        reached = int(np.sum(alike))
        how = f"reached from {reached} of {len(self.starts)} starts" if self.converged else "NOT CONVERGED, see .starts"
        return f"<Optimum {self.value:.6g} at {at}; {how}>"


def minimize(
    scenario: Scenario,
    of: str,
    over: Mapping[Any, BoundsLike],
    subject_to: Mapping[str, BoundsLike],
    starts: int,
    fixed: Mapping[str, float],
    sign: float,
) -> Optimum:
    """See `Scenario.minimize`; `sign` −1 maximises."""
    bounds = {name: _bounds(name, pair) for name, pair in named_values("over", over).items()}
    limits = {address: _bounds(address, pair) for address, pair in named_values("subject_to", subject_to).items()}
    if not bounds:
        raise BadEvent("over={} names no parameter; say which may change and between which bounds.")
    if not isinstance(starts, int | np.integer) or starts < 1:
        raise BadEvent(f"starts is {starts}; it must be a whole number, 1 or more.")
    refuse_too_large("The search", int(starts), NUMBERS_OF_START, "take fewer starts", called="starts")
    for name in (*bounds, *fixed):
        if name not in scenario.parameters:
            raise unknown("parameter", name, scenario.parameters)
    for name, value in fixed.items():
        if name in bounds:
            raise NameClash(f"'{name}' is named in over and is given a value; leave one out.")
        array = number(f"parameter '{name}'", value)
        if array.ndim:
            raise ShapeError(f"Parameter '{name}' has shape {array.shape}; give a single number.")
        refuse_nonfinite(parameter=(array, [name]))
    points = _starts(scenario, bounds, int(starts))
    task = _Task(scenario.gradient_of((of, *limits), tuple(bounds)), bounds, limits, fixed, sign, points)
    found = [task.from_start(point) for point in points]
    usable = [one for one in found if one.feasible and np.isfinite(one.value)]
    if not usable:
        reasons = Counter(one.message if np.isnan(one.value) else "subject_to is not met" for one in found)
        told = "; ".join(f"{count} × {reason}" for reason, count in reasons.items())
        raise NotConverged(f"From none of {starts} starts a solvable event that meets subject_to was reached: {told}.")
    best = min(usable, key=lambda one: (sign * one.value, not one.converged))
    near = [one for one in usable if np.isclose(one.value, best.value, rtol=1e-9, atol=1e-300) and one.converged]
    best = near[0] if near else best
    outcome = scenario.solve(parameters={**fixed, **best.parameters})
    return Optimum(best.parameters, best.value, outcome, best.converged, tuple(found))


class _Task:
    """The optimisation in the unit cube: x = (p − origin) / scale."""

    def __init__(
        self,
        gradient: ScenarioGradient,
        bounds: Mapping[str, Bounds],
        limits: Mapping[str, Bounds],
        fixed: Mapping[str, float],
        sign: float,
        starts: Sequence[Mapping[str, float]],
    ) -> None:
        if any(entry.names for entry in gradient.entries):
            raise ShapeError(
                "An objective or a bound must be a single number, such as 'loss' or 'impulse.heel.normal'."
            )
        self.gradient, self.names, self.fixed, self.sign = gradient, list(bounds), fixed, sign
        lower, upper = np.array(list(bounds.values())).T
        closed = np.isfinite(lower) & np.isfinite(upper)
        self.origin = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, 0.0))
        width = np.where(closed, upper, 1.0) - np.where(closed, lower, 0.0)
        self.scale = np.where(closed & (upper > lower), width, 1.0)
        self.lower, self.upper = (lower - self.origin) / self.scale, (upper - self.origin) / self.scale
        self.limits = list(limits.values())
        self.seen: tuple[Array, Array, Array] | None = None  # x, values, derivatives
        self.status = Status.OK  # there
        self.sizes = self._usual(starts)  # of the objective and of the quantities that are limited, (1 + limits,)

    def _usual(self, starts: Sequence[Mapping[str, float]]) -> Array:
        """How large the quantities are, or how much they change over the bounds, at most starts; so units drop out."""
        seen = [self.at(self._inside(start)) for start in starts]
        found = [np.maximum(np.abs(values), np.max(np.abs(J), axis=-1)) for values, J in seen]
        sound = [sizes for sizes in found if np.isfinite(sizes).all()]
        sizes = np.median(sound, axis=0) if sound else np.ones(1 + len(self.limits))
        edges = [[abs(edge) for edge in pair if np.isfinite(edge)] for pair in self.limits]
        sizes = np.maximum(sizes, [0.0, *(max(several, default=0.0) for several in edges)])
        return np.where(sizes > 0, sizes, 1.0)

    def _inside(self, point: Mapping[str, float]) -> Array:
        return (np.array([point[name] for name in self.names]) - self.origin) / self.scale

    def parameters(self, x: Array) -> dict[str, float]:
        p = self.origin + self.scale * np.clip(x, self.lower, self.upper)
        return {name: float(value) for name, value in zip(self.names, p, strict=True)}

    def at(self, x: Array) -> tuple[Array, Array]:
        """Values `(1 + limits,)` and derivatives by x; NaN where the event fails."""
        if self.seen is None or not np.array_equal(self.seen[0], x):
            given = {name: np.array([value]) for name, value in self.parameters(x).items()}
            values, J, status = self.gradient({**self.fixed, **given})
            self.status = Status(int(status[0]))
            bad = self.status > Status.ENERGY_CREATED or not np.isfinite(J[0]).all()
            self.seen = (np.array(x), np.where(bad, np.nan, values[0]), J[0] * self.scale)
        return self.seen[1], self.seen[2]

    def from_start(self, start: Mapping[str, float]) -> Start:
        from scipy.optimize import minimize as slsqp

        first = self._inside(start)
        values, _ = self.at(first)
        if not np.isfinite(values).all():
            reason = self.status.message if self.status > Status.ENERGY_CREATED else "no derivative exists there"
            return Start(start, start, float("nan"), False, False, f"no outcome at the start: {reason}")
        worst, walled, last = 1.0, False, first

        def objective(x: Array) -> tuple[float, Array]:
            nonlocal worst, walled, last
            values, J = self.at(x)
            if not np.isfinite(values).all():  # no outcome here: a wall, so that the step is shortened
                walled = True
                return worst + 1e3, np.zeros_like(x)
            value, last = self.sign * float(values[0]) / self.sizes[0], np.array(x)
            worst = max(worst, value)
            return value, self.sign * J[0] / self.sizes[0]

        result = slsqp(
            objective,
            first,
            jac=True,
            method="SLSQP",
            bounds=list(zip(self.lower, self.upper, strict=True)),
            constraints=self._constraints(),
            options={"ftol": 1e-13, "maxiter": 300},
        )
        reached = np.clip(result.x, self.lower, self.upper)
        if not np.isfinite(self.at(reached)[0]).all():
            reached = np.clip(last, self.lower, self.upper)
        values, _ = self.at(reached)
        feasible = bool(np.isfinite(values).all()) and all(
            low - FEASIBLE * size <= value <= high + FEASIBLE * size
            for value, size, (low, high) in zip(values[1:], self.sizes[1:], self.limits, strict=True)
        )
        converged = feasible and (self._stationary(reached) or (bool(result.success) and not walled))
        return Start(start, self.parameters(reached), float(values[0]), feasible, converged, str(result.message))

    def _stationary(self, x: Array) -> bool:
        """Whether bounds and limits that are reached hold the objective back: ∇f = Σ μ ∇c with μ ≥ 0."""
        from scipy.optimize import nnls

        values, J = self.at(x)
        slope, unit = self.sign * J[0] / self.sizes[0], np.eye(len(x))
        holding = [*unit[x <= self.lower + FEASIBLE], *-unit[x >= self.upper - FEASIBLE]]
        for value, size, (low, high), row in zip(values[1:], self.sizes[1:], self.limits, J[1:], strict=True):
            holding += [row / size] if value <= low + FEASIBLE * size else []
            holding += [-row / size] if value >= high - FEASIBLE * size else []
        if not holding:
            return bool(np.sqrt(slope @ slope) <= LEVEL)
        _, rest = nnls(np.array(holding).T, slope)
        return bool(rest <= LEVEL)

    def _constraints(self) -> list[dict[str, Any]]:
        """SciPy's form: what must be 0, what must not be negative; each in its usual size."""
        found = []
        for i, (low, high) in enumerate(self.limits, start=1):
            sides = [("eq", 1.0, low)] if low == high else [("ineq", 1.0, low), ("ineq", -1.0, high)]
            found += [self._constraint(i, kind, way, edge) for kind, way, edge in sides if np.isfinite(edge)]
        return found

    def _constraint(self, i: int, kind: str, way: float, edge: float) -> dict[str, Any]:
        def value(x: Array) -> float:
            values, _ = self.at(x)
            return float(np.nan_to_num(way * (values[i] - edge) / self.sizes[i], nan=-1.0))

        def slope(x: Array) -> Array:
            return np.asarray(np.nan_to_num(way * self.at(x)[1][i] / self.sizes[i]))

        return {"type": kind, "fun": value, "jac": slope}


def _bounds(name: str, pair: Any) -> Bounds:
    if not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2 or isinstance(pair, str):
        raise ShapeError(f"The bounds of '{name}' must be a pair (least, largest), not {pair!r}.")
    ends = [edge if value is None else value for value, edge in zip(pair, (-np.inf, np.inf), strict=True)]
    numbers = [number(f"bound of '{name}'", value) for value in ends]
    if any(bound.ndim for bound in numbers):
        raise ShapeError(f"The bounds of '{name}' must be a pair (least, largest), not {pair!r}.")
    low, high = map(float, numbers)
    if not low <= high:
        raise BadEvent(f"The bounds of '{name}' are ({low:g}, {high:g}); the first must not exceed the second.")
    return low, high


def _starts(scenario: Scenario, bounds: Mapping[str, Bounds], n: int) -> list[dict[str, float]]:
    """The defaults, moved into the bounds, and points spread evenly over them."""
    from scipy.stats import qmc

    lower, upper = np.array(list(bounds.values())).T
    centre = np.empty(len(bounds))
    for i, (name, (low, high)) in enumerate(bounds.items()):
        default = scenario.parameters[name]
        if default is None and not (np.isfinite(low) and np.isfinite(high)):
            raise MissingValue(f"Parameter '{name}' has no default; give it two bounds, so that there is a start.")
        centre[i] = np.clip((low + high) / 2 if default is None else default, low, high)
    reach = np.maximum(1.0, np.abs(centre))  # around the default where a side is open
    lower = np.where(np.isfinite(lower), lower, centre - reach)
    upper = np.where(np.isfinite(upper), upper, centre + reach)
    spread = lower + (upper - lower) * qmc.LatinHypercube(len(bounds), seed=SEED).random(max(n - 1, 0))
    return [dict(zip(bounds, map(float, point), strict=True)) for point in (centre, *spread)]
