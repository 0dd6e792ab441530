"""A mechanism at the event, drawn to scale: links, surfaces, velocities before and after, impulses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from jourdain.compute.evaluate import Evaluator
from jourdain.errors import BadEvent
from jourdain.inputs import Array, named_values
from jourdain.naming import name_of
from jourdain.plots.bodies import DARK, draw_bodies, draw_ground
from jourdain.plots.data import check_single
from jourdain.plots.plain_sketch import directions_of, place, plain_sketch
from jourdain.plots.style import BLUE, GREEN, GREY, SMALL, VERMILION, new_axes, short
from jourdain.plots.views import View, view_of
from jourdain.quantities import QUANTITIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from jourdain.events.transition import Transition
    from jourdain.mechanism.sketch import Sketch
    from jourdain.scenarios.scenario import Scenario

AXES, SIDES = ("x", "y", "z"), ("minus", "plus")
FACING = 0.1  # of a normal: what is left of it on the paper where the surface is seen from above
LONGEST = 0.3  # of the drawing: the longest arrow of its kind
ROUNDING = 1e-12
NOTHING = 1e-9  # of the longest: an arrow that is not drawn


def drawing(
    scenario: Scenario,
    ax: Axes | None = None,
    parameters: Mapping[str, Any] = {},
    view: str | None = None,
    **more: ArrayLike,
) -> Axes:
    """The mechanism at its pose, with velocities before and after and the impulses as arrows, lengths in m.

    What is drawn is the scenario's `sketch`; without one, its points, linked where they stay at one distance. Arrows of
    a kind share a scale, which the legend tells by the longest one. `view`: "xy", "xz", "yz" or "oblique"; if not
    given, that of the sketch, else the plane in which all of it lies, else the oblique one.
    """
    given = {**named_values("parameters", parameters), **more}
    t = scenario.solve(parameters=given)
    check_single(t.batch_shape, "A drawing shows one event")
    return draw_outcome(scenario, t, given, ax, view)


def draw_outcome(
    scenario: Scenario, t: Transition, parameters: Mapping[str, Any], ax: Axes | None = None, view: str | None = None
) -> Axes:
    """See `drawing`, of an outcome that is known."""
    pose = _Pose(scenario, t, scenario.state(parameters)[2], view)
    if not pose.sketch.points():
        raise BadEvent("Nothing can be drawn: no point has a known place; name some, as in points={'A': A}.")
    ax = new_axes(6.0, 4.2) if ax is None else ax
    ax.set_aspect("equal", adjustable="datalim")
    for name in pose.sketch.surfaces:
        _surface(ax, pose.places[pose.sketch.acts[name]], pose.directions(name)[0], pose.view, pose.size)
    radii = {name: pose.radius(name) for name in pose.sketch.arcs}
    draw_bodies(ax, pose.sketch, pose.places, radii, pose.size)
    for name in pose.sketch.rings:
        ax.plot(*pose.ring(name).T, color=DARK, linewidth=3, zorder=2)
    keys = [*_velocities(ax, pose), *_impulses(ax, pose)]
    if pose.view.labels is None:
        _triad(ax, pose)
    else:
        ax.set(**dict(zip(("xlabel", "ylabel"), pose.view.labels, strict=True)))
    ax.margins(0.08)
    if keys:
        ax.legend(handles=keys, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False,
                  fontsize=SMALL, handlelength=3.2)  # fmt: skip
    return ax


def can_be_drawn(scenario: Scenario) -> bool:
    """Whether there is a sketch, or a point whose place is known."""
    points = scenario.event.mechanism.points.values()
    return scenario.sketch is not None or any(point.place is not None for point in points)


@dataclass(frozen=True)
class _Pose:
    """Where everything is, and which way it moves and is pushed, on the paper."""

    scenario: Scenario
    t: Transition
    p: Array  # the event's parameters
    wanted: str | None  # the name of a view

    @cached_property
    def sketch(self) -> Sketch:
        return self.scenario.sketch or plain_sketch(self.scenario.event, self.parameters)

    @cached_property
    def view(self) -> View:
        return view_of(self.wanted or self.sketch.view or None, [
            *self._at.values(), *(self._velocity(name, side) for name in self.sketch.velocities for side in SIDES),
            *(self._impulse(name) for name in self.sketch.acts),
        ])  # fmt: skip

    @cached_property
    def parameters(self) -> dict[str, float]:
        """The mechanism's own; of one that jumps, the value before."""
        given = dict(zip(self.scenario.event.parameters, self.p, strict=True))
        known = {name: given.get(name, given.get(f"{name}_minus")) for name in (*self._mechanism.parameters, "t")}
        return {name: float(value) for name, value in known.items() if value is not None}

    @property
    def _mechanism(self) -> Any:
        return self.scenario.event.mechanism

    @cached_property
    def _at(self) -> dict[str, Array]:
        """In the frame, (3,)."""
        return {name: place(self._mechanism, name, self.t.q, **self.parameters) for name in self.sketch.points()}

    @cached_property
    def places(self) -> dict[str, Array]:
        return {name: self.view(at) for name, at in self._at.items()}

    @cached_property
    def size(self) -> float:
        """Of the drawing, in m."""
        points = np.array(list(self.places.values()))
        radii = [self.radius(name) for name in (*self.sketch.arcs, *self.sketch.rings)]
        return float(np.max(np.ptp(points, axis=0), initial=2 * max(radii, default=0.0))) or 1.0

    @property
    def speed(self) -> float:
        """What the quickest velocity would move the drawing by, m/s: less than a small part of it is rounding."""
        return max(self.size, 1.0) * float(np.abs([self.t.v_minus, self.t.v_plus]).max(initial=0.0))

    def radius(self, centre: str) -> float:
        radius, _ = {**self.sketch.rings, **self.sketch.arcs}[centre]
        return self.parameters[name_of(radius)]

    def ring(self, centre: str) -> Array:
        """A wheel on the paper, (60, 2)."""
        at, axle = self._at[centre], self._at[self.sketch.rings[centre][1]]
        return self.view(at + self.radius(centre) * _circle(axle - at))

    def velocity(self, point: str, side: str) -> Array:
        return self.view(self._velocity(point, side))

    def speed_of(self, point: str, side: str) -> float:
        """In space, m/s."""
        return float(np.linalg.norm(self._velocity(point, side)))

    def push(self, name: str) -> float:
        """The size of an impulse in space, N s."""
        return float(np.linalg.norm(self._impulse(name)))

    def _velocity(self, point: str, side: str) -> Array:
        v = getattr(self.t, f"v_{side}")
        return np.asarray(self._mechanism.point_velocity(point, self.t.q, v, **self.parameters))

    def _jacobian(self, name: str) -> Array:
        return np.asarray(self._mechanism.jacobian(self.sketch.acts[name], self.t.q, **self.parameters))

    def directions(self, name: str) -> Array:
        """Which way a unit impulse along each row of a constraint pushes its point, in the frame, `(rows, 3)`.

        A point that cannot move in all directions leaves open which one a row means: an axis, if one fits.
        """
        (constraint,) = (role.constraint for role in self.scenario.event.roles if role.constraint.name == name)
        C, _ = constraint.rows(self.t.q, **self.parameters)
        J = self._jacobian(name)
        e = directions_of(C, J)
        if np.allclose(e @ J, C, atol=1e-9 * np.abs(C).max(initial=0.0)):
            return e
        named = [row.rpartition(".")[2] for row in constraint.row_names]
        if all(axis in AXES for axis in named):  # the other side of a joint enters its rows too; they name their axes
            along = np.array([[float(axis == one) for axis in AXES] for one in named])
            return along * np.where(np.sum(e * along, axis=1, keepdims=True) < 0, -1.0, 1.0)
        raise BadEvent(f"'{name}' is no row of the velocity of '{self.sketch.acts[name]}'; it acts elsewhere.")

    def impulse(self, name: str) -> Array:
        """The impulse on a point, N s."""
        return self.view(self._impulse(name))

    def _impulse(self, name: str) -> Array:
        event = self.scenario.event
        if name in event.applied:
            f = Evaluator(event.inputs, {"f": event.applied[name]})(self.t.q, self.t.v_minus, self.p)["f"]
            return np.asarray(np.linalg.pinv(self._jacobian(name).T) @ f[:, 0])  # f̄ = Jᵀ P
        return np.asarray(np.atleast_1d(self.t.impulse[name]) @ self.directions(name))


def _surface(ax: Axes, at: Array, normal: Array, view: View, size: float) -> None:
    """A piece of the surface through a point; hatched where it is solid, against the normal."""
    if not np.any(normal):  # nothing moves there: no telling how it lies
        return
    if view.labels is None:
        _patch(ax, at, normal, view, size)
        return
    n = view(normal)
    if np.hypot(*n) < FACING * np.linalg.norm(normal):  # seen from above: it is the paper
        return
    n = n / np.hypot(*n)
    along, depth = 0.3 * size * np.array([-n[1], n[0]]), -0.05 * size * n
    draw_ground(ax, np.array([at - along, at + along]), depth)


def _patch(ax: Axes, at: Array, normal: Array, view: View, size: float) -> None:
    """A round piece of a surface in space."""
    ax.fill(*(at + view(0.3 * size * _circle(normal))).T, facecolor="#EEEEEE", edgecolor=GREY, linewidth=1.0, zorder=1)


def _circle(normal: Array) -> Array:
    """A closed line of radius 1 about the origin, across a vector, (60, 3)."""
    n = normal / np.linalg.norm(normal)
    one = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
    one = one / np.linalg.norm(one)
    angle = np.linspace(0, 2 * np.pi, 60)[:, None]
    return np.asarray(np.cos(angle) * one + np.sin(angle) * np.cross(n, one))


def _triad(ax: Axes, pose: _Pose) -> None:
    """The axes of the frame, in a corner of the drawing."""
    ax.set_axis_off()
    places = np.array(list(pose.places.values()))
    corner = places.min(axis=0) - 0.35 * pose.size
    for name, axis in zip("xyz", np.eye(3), strict=True):
        tip = corner + 0.15 * pose.size * pose.view(axis)
        _arrow(ax, corner, tip - corner, pose.size, GREY, "-", 1.0)
        ax.annotate(f"${name}$", tuple(corner + 1.35 * (tip - corner)), ha="center", va="center", color="#555555")


def _velocities(ax: Axes, pose: _Pose) -> list[Any]:
    """Arrows before (dashed) and after (solid); what the legend says of them."""
    arrows = {(name, side): pose.velocity(name, side) for name in pose.sketch.velocities for side in SIDES}
    longest = max((float(np.hypot(*v)) for v in arrows.values()), default=0.0)
    if longest <= ROUNDING * pose.speed:
        return []
    looks = {"minus": (BLUE, (0, (4, 2)), "before"), "plus": (VERMILION, "-", "after")}
    keys = []
    for side, (colour, style, word) in looks.items():
        quickest = 0.0
        for (name, one), v in arrows.items():
            if one == side and np.hypot(*v) > NOTHING * longest:
                _arrow(ax, pose.places[name], LONGEST * pose.size / longest * v, pose.size, colour, style, 1.8)
                quickest = max(quickest, pose.speed_of(name, side))
        if quickest:
            keys.append(_key(f"velocity {word}\n(longest {short(quickest)} m/s)", colour, style, 1.8))
    return keys


def _impulses(ax: Axes, pose: _Pose) -> list[Any]:
    """Thick arrows that end in the point they act on, with their size; what the legend says of them."""
    found = {name: pose.impulse(name) for name in pose.sketch.acts}
    longest = max((float(np.hypot(*f)) for f in found.values()), default=0.0)
    drawn = {name: f for name, f in found.items() if np.hypot(*f) > NOTHING * longest}
    for name, f in drawn.items():
        vector, at = LONGEST * pose.size / longest * f, pose.places[pose.sketch.acts[name]]
        _arrow(ax, at, vector, pose.size, GREEN, "-", 3.0)
        title = f"impulse {name}" if name in pose.scenario.event.applied else name
        _label(ax, at + vector, f / np.hypot(*f), pose.size, f"{title}: {short(pose.push(name))} N s")
    return [_key(QUANTITIES["impulse"].long_name.partition(" ")[0], GREEN, "-", 3.0)] if drawn else []


def _label(ax: Axes, tip: Array, e: Array, size: float, text: str) -> None:
    """Beyond the tip of an arrow of direction e, readable on whatever lies below."""
    from matplotlib.patheffects import withStroke

    side = "center" if abs(e[0]) < 0.5 else "left" if e[0] > 0 else "right"
    height = "center" if abs(e[1]) < 0.5 else "bottom" if e[1] > 0 else "top"
    reach = {"center": (-0.3, 0.3), "left": (0.0, 0.5), "right": (-0.5, 0.0)}[side]
    ax.plot(tip[0] + size * np.array(reach), [tip[1], tip[1]], alpha=0)  # so that the axes make room for it
    ax.annotate(
        text, tuple(tip), tuple(4 * e), textcoords="offset points", ha=side, va=height, fontsize=SMALL, zorder=6,
        color="#00664B", path_effects=[withStroke(linewidth=3, foreground="white")],
    )  # fmt: skip


def _arrow(ax: Axes, start: Array, vector: Array, size: float, colour: str, style: Any, width: float) -> None:
    head = (6 + 4 * width) * min(1.0, np.hypot(*vector) / (0.12 * size))  # a short arrow is not all head
    looks = {"arrowstyle": "-|>", "color": colour, "linestyle": style, "linewidth": width, "mutation_scale": head}
    ax.annotate("", tuple(start + vector), tuple(start), arrowprops={**looks, "shrinkA": 0, "shrinkB": 0}, zorder=5)
    ax.plot(*np.transpose([start, start + vector]), alpha=0)  # so that the axes make room for it


def _key(text: str, colour: str, style: Any, width: float) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, linestyle=style, linewidth=width, label=text)
