"""The bodies of a sketch in one pose: links, feet, joints, masses, pivots; and the ground."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.inputs import Array
from jourdain.plots.style import GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from jourdain.mechanism.sketch import Sketch

HALF_ARC = np.radians(40)
DARK = "#444444"
IN_METRES: dict[str, Any] = {"xlabel": "$x$ in m", "ylabel": "$y$ in m"}  # of axes to scale


def draw_ground(ax: Axes, line: Array, depth: Array) -> None:
    """A surface between two points, `(2, 2)` in m; hatched down to `depth`, `(2,)`, where it is solid."""
    solid = np.concatenate([line, line[::-1] + depth])
    ax.fill(*solid.T, facecolor="none", edgecolor=GREY, hatch="/////", linewidth=0, zorder=1)
    ax.plot(*line.T, color="black", linewidth=1.2, zorder=1.5)


def draw_bodies(
    ax: Axes, sketch: Sketch, places: Mapping[str, Array], radii: Mapping[str, float], size: float
) -> list[Any]:
    """Everything solid, at the places of its points, `(2,)` in m; returns what was drawn."""
    from matplotlib.patches import Circle

    drawn: list[Any] = []
    for line in sketch.links:
        x, y = np.transpose([places[name] for name in line])
        drawn += ax.plot(x, y, color=DARK, linewidth=4, solid_capstyle="round", solid_joinstyle="round", zorder=2)
        drawn += ax.plot(x[1:-1], y[1:-1], "o", color=DARK, markersize=7, markerfacecolor="white", zorder=3)
    for centre, (_, away) in sketch.arcs.items():
        axis = places[centre] - places[away]
        if not np.any(axis):  # a wheel: no side looks away
            rim = Circle(tuple(places[centre]), radii[centre], fill=False, color=DARK, linewidth=3)
            drawn.append(ax.add_patch(rim))
            continue
        angle = np.arctan2(axis[1], axis[0]) + np.linspace(-HALF_ARC, HALF_ARC, 60)
        sole = places[centre] + radii[centre] * np.transpose([np.cos(angle), np.sin(angle)])
        shank = np.array([places[centre], places[centre] + radii[centre] * axis / np.hypot(*axis)])
        for part in (sole, shank):
            drawn += ax.plot(*np.transpose(part), color=DARK, linewidth=3, solid_capstyle="round", zorder=2)
    for name in sketch.masses:
        drawn += ax.plot(*places[name], "o", color="black", markersize=11, zorder=3.5)
    for name in sketch.pivots:
        x, y = places[name]
        drawn += ax.plot(x, y - 0.025 * size, "^", color=DARK, markersize=12, markerfacecolor="white", zorder=1.8)
        drawn += ax.plot(x, y, "o", color=DARK, markersize=5, markerfacecolor="white", zorder=3)
    return drawn
