"""A branch of gaits over a parameter, followed by arclength round its folds; flips and folds located.

On the branch R(x, μ) = P(x, μ) − x = 0, with the step map P. A fold is where the branch turns back in μ, a flip where a
multiplier is −1, so that a gait of twice the period branches off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.algebra.lapack import least_squares
from jourdain.data.dataset import unit_attribute
from jourdain.errors import BadEvent, Error
from jourdain.inputs import Array
from jourdain.motion.gait import Gait, StepMap, StepResult
from jourdain.motion.hybrid import Hybrid
from jourdain.motion.labelled import state_labels
from jourdain.motion.settings import Settings
from jourdain.output.printable import prints
from jourdain.progress import bar

if TYPE_CHECKING:
    import xarray


FIRST_DS, MIN_DS, MAX_DS = 0.02, 1e-6, 0.1  # steps along the branch; the range of the parameter is 1
DS_GROWTH = 1.5
MAX_POINTS = 400  # in each direction
MAX_NEWTON = 8
MIN_COSINE = 0.9  # between the tangents of neighbours
MAX_PERIOD_ERROR = 0.02  # of the period: how far it may be from what its derivatives say
CONVERGED = 1e-11  # of the point: the last correction
CLOSED = 1e-6  # what a step may change of a point before the last correction
LOCATED = 1e-10  # of the range of the parameter
MAX_BISECTIONS = 60
SAME_VALUE = 1e-12  # of the range of the parameter


@dataclass(frozen=True)
class Point:
    """A gait on the branch, with the direction in which the branch goes on."""

    gait: Gait
    z: Array  # (x, μ scaled)
    tangent: Array  # unit, the same
    flip: float  # det(P_x + 1)
    fold: float  # how μ changes along the branch
    period_by: Array  # ∂period/∂z, s


@dataclass(frozen=True)
class Bifurcation:
    kind: str  # "flip" or "fold"
    value: float  # of the parameter
    within: float  # how far the parameter may be off
    gait: Gait


@dataclass(frozen=True)
class Branch:
    """Gaits along a branch, in its order."""

    parameter: str
    gaits: Sequence[Gait]
    bifurcations: Sequence[Bifurcation]
    ended: tuple[str, str]  # why, at its two ends
    missing: tuple[float, ...] = ()  # given values of the parameter that it does not reach

    def to_dataset(self) -> xarray.Dataset:
        """States, period and multipliers along `point`."""
        import xarray

        mechanism = self.gaits[0].hybrid.mechanism
        unit = unit_attribute(mechanism.units.get(self.parameter, ""))
        data: dict[str, Any] = {self.parameter: ("point", [g.parameters[self.parameter] for g in self.gaits], unit)}
        for label in state_labels(mechanism):
            values = [(g.velocity if label.is_velocity else g.coordinate)[label.name] for g in self.gaits]
            data[label.key] = ("point", values, label.attributes)
        data["period"] = ("point", [g.period for g in self.gaits], {"units": "s"})
        data["stable"] = ("point", [g.stable for g in self.gaits])
        multipliers = np.array([g.multipliers for g in self.gaits])
        data["multiplier_real"] = (("point", "multiplier"), multipliers.real)
        data["multiplier_imaginary"] = (("point", "multiplier"), multipliers.imag)
        bifurcations = "; ".join(f"{b.kind} at {b.value:.9g}" for b in self.bifurcations)
        attributes = {"bifurcations": bifurcations or "none", "ended": " / ".join(self.ended)}
        if self.missing:
            attributes["missing"] = ", ".join(f"{value:.9g}" for value in self.missing)
        return xarray.Dataset(data, attrs=attributes)

    @prints
    def __repr__(self) -> str:
        values = [g.parameters[self.parameter] for g in self.gaits]
        bifurcations = ", ".join(f"{b.kind} at {b.value:.6g}" for b in self.bifurcations) or "no bifurcation"
        missing = f", {len(self.missing)} of the values asked for not met" if self.missing else ""
        span = f"from {min(values):g} to {max(values):g}"
        return f"<Branch over {self.parameter} {span}: {len(values)} gaits, {bifurcations}{missing}>"


class _Follower:
    """Follows the branch; μ is measured by its range."""

    def __init__(self, hybrid: Hybrid, gait: Gait, parameter: str, low: float, high: float, settings: Settings) -> None:
        self.hybrid, self.gait, self.parameter = hybrid, gait, parameter
        self.step_map = StepMap(hybrid, gait.topology, gait.steps, settings)
        self.low, self.range = low, high - low
        self.place = list(hybrid.parameters).index(parameter)

    def numbers(self, mu: float) -> Array:
        p = np.array([self.gait.parameters[name] for name in self.hybrid.parameters])
        p[self.place] = self.low + self.range * mu
        return p

    def step(self, z: Array) -> StepResult:
        """The steps from the state x at the value μ, z = (x, μ)."""
        return self.step_map(z[:-1], self.numbers(z[-1]))

    def slope(self, step: StepResult) -> Array:
        """∂R/∂(x, μ), (n, n + 1)."""
        by_mu = self.range * step.by_parameters[:, self.place]
        return np.column_stack([step.by_state - np.eye(len(step.after)), by_mu])

    def corrected(self, z: Array, normal: Array) -> Array | None:
        """The point of the branch in the plane through z across the normal; None if Newton's method does not arrive."""
        start = z
        for _ in range(MAX_NEWTON):
            try:
                step = self.step(z)
            except Error:
                return None
            R = step.after - z[:-1]
            A = np.vstack([self.slope(step), normal])
            change = least_squares(A, -np.append(R, normal @ (z - start)))
            z = z + change
            if not np.isfinite(z).all():
                return None
            if np.max(np.abs(change)) <= CONVERGED * (1 + np.max(np.abs(z))):
                return z if np.max(np.abs(R)) <= CLOSED else None
        return None

    def described(self, gait: Gait, z: Array, before: Array | None) -> Point:
        """A gait as a point of the branch; its tangent goes on as the one before."""
        step, n = gait.stepped, len(z) - 1
        tangent = np.linalg.svd(self.slope(step))[2][-1]
        forward = tangent[-1] > 0 if before is None else tangent @ before > 0
        tangent = tangent if forward else -tangent
        period_by = np.append(step.period_by[:n], self.range * step.period_by[n + self.place])
        flip = float(np.linalg.det(step.by_state + np.eye(n)))
        return Point(gait, z, tangent, flip, float(tangent[-1]), period_by)

    def point_near(self, start: Array, normal: Array, last: Point) -> Point | None:
        """The point of the branch of `last` in the plane through `start`; None if there is none so near.

        Another branch may be close by, as the short gait is to the long one. Only on the same do direction and period
        change as their derivatives say.
        """
        z = self.corrected(start, normal)
        if z is None:
            return None
        try:
            new = self.described(self.step_map.gait(self.step(z)), z, last.tangent)
        except Error:
            return None
        expected = (last.period_by + new.period_by) / 2 @ (z - last.z)
        other = abs(new.gait.period - last.gait.period - expected) > MAX_PERIOD_ERROR * last.gait.period
        return None if other or new.tangent @ last.tangent < MIN_COSINE else new

    def follow(self, start: Point, way: float, report: Callable[[], None]) -> tuple[list[Point], str]:
        """(points after the start, why it ended)."""
        points, ds = list[Point](), FIRST_DS
        last = replace(start, tangent=way * start.tangent, fold=way * start.fold)
        across = np.eye(len(start.z))[-1]  # of planes in which μ is the same
        while len(points) < MAX_POINTS:
            edge = 1.0 if last.fold > 0 else 0.0
            room = (edge - last.z[-1]) / last.fold if last.fold else np.inf
            if room <= 0:
                return points, "the end of the range"
            leaves = ds >= room
            z = last.z + min(ds, room) * last.tangent
            new = self.point_near(z, across if leaves else last.tangent, last)
            if new is None or not 0 <= new.z[-1] <= 1 or (new.z - last.z) @ last.tangent <= 0:
                ds = min(ds, room) / 2
                if ds < MIN_DS:
                    return points, "the branch could not be followed further"
                continue
            points.append(new)
            report()
            if leaves:
                return points, "the end of the range"
            last, ds = new, min(DS_GROWTH * ds, MAX_DS)
        return points, f"{MAX_POINTS} points"

    def between(self, one: Point, other: Point, part: float) -> Point | None:
        """A point of the branch part of the way from one to the other."""
        along = other.z - one.z
        return self.point_near(one.z + part * along, along / np.linalg.norm(along), one)

    def at_value(self, one: Point, other: Point, mu: float) -> Point | None:
        """The point of the branch at a value of μ between two points."""
        start = one.z + (mu - one.z[-1]) / (other.z[-1] - one.z[-1]) * (other.z - one.z)
        return self.point_near(np.append(start[:-1], mu), np.eye(len(start))[-1], one)

    def located(self, one: Point, other: Point, what: str) -> tuple[Bifurcation, Point]:
        """Where flip or fold vanishes between two points: regula falsi, halved where it is slow."""
        a, b = one, other
        for i in range(MAX_BISECTIONS):
            fa, fb = getattr(a, what), getattr(b, what)
            part = 0.5 if i % 3 == 2 else fa / (fa - fb)
            new = self.between(a, b, float(np.clip(part, 0.01, 0.99))) or self.between(a, b, 0.5)
            if new is None:
                break
            a, b = (new, b) if getattr(new, what) * fa > 0 else (a, new)
            if np.linalg.norm(b.z - a.z) <= LOCATED or getattr(new, what) == 0:
                break
        best = min((a, b), key=lambda point: abs(getattr(point, what)))
        within = self.range * abs(float(b.z[-1] - a.z[-1]))
        return Bifurcation(what, best.gait.parameters[self.parameter], within, best.gait), best


def follow_branch(
    hybrid: Hybrid, gait: Gait, parameter: str, values: Array, settings: Settings, progress: bool | None
) -> Branch:
    """See `Hybrid.continuation`."""
    low, high = float(np.min(values)), float(np.max(values))
    start_value = gait.parameters[parameter]
    if not (np.isfinite([low, high]).all() and low < high):
        raise BadEvent(f"The values of '{parameter}' must span a range, not {low:g} to {high:g}.")
    if not low <= start_value <= high:
        raise BadEvent(f"The gait is one at {parameter} = {start_value:g}, outside of the range {low:g} to {high:g}.")
    follower = _Follower(hybrid, gait, parameter, low, high, settings)
    start = follower.described(gait, np.concatenate([gait.q, gait.v, [(start_value - low) / (high - low)]]), None)
    with bar(f"gaits over {parameter}", None, progress) as advance:

        def report() -> None:
            if advance is not None:
                advance(1)

        (down, first), (up, last) = (follower.follow(start, way, report) for way in (-1.0, 1.0))
        back = [replace(point, tangent=-point.tangent, fold=-point.fold) for point in reversed(down)]
        points, bifurcations = _with_bifurcations(follower, [*back, start, *up])
        wanted = [(float(value) - low) / (high - low) for value in np.ravel(values)]
        points = _with_values(follower, points, wanted)
    reached = np.array([point.z[-1] for point in points])
    far = [np.min(np.abs(reached - mu)) > SAME_VALUE for mu in wanted]
    missing = tuple(np.ravel(values)[far].tolist())
    return Branch(parameter, [point.gait for point in points], bifurcations, (first, last), missing)


def _with_bifurcations(follower: _Follower, points: list[Point]) -> tuple[list[Point], list[Bifurcation]]:
    """The points, with flips and folds in between; these."""
    bifurcations, marked = list[Bifurcation](), points[:1]
    for one, other in pairwise(points):
        pairs = [
            follower.located(one, other, what)
            for what in ("flip", "fold")
            if getattr(one, what) * getattr(other, what) < 0
        ]
        bifurcations += [bifurcation for bifurcation, _ in pairs]
        between = [point for _, point in pairs if point is not one and point is not other]
        marked += [*sorted(between, key=partial(_distance, one)), other]
    return marked, bifurcations


def _distance(one: Point, other: Point) -> float:
    return float(np.linalg.norm(other.z - one.z))


def _with_values(follower: _Follower, points: list[Point], wanted: list[float]) -> list[Point]:
    """The points, with those at the wanted values in between."""
    marked = points[:1]
    for one, other in pairwise(points):
        a, b = one.z[-1], other.z[-1]
        inside = sorted((mu for mu in wanted if min(a, b) < mu < max(a, b)), reverse=bool(a > b))
        marked += [point for mu in inside if (point := follower.at_value(one, other, mu)) is not None]
        marked.append(other)
    return marked
