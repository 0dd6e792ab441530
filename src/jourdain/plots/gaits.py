"""Branches of gaits over a parameter, and basins of attraction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.errors import ShapeError, unknown
from jourdain.inputs import Array
from jourdain.motion.basin import LOST, UNDECIDED
from jourdain.plots.plane import regions
from jourdain.plots.style import BLACK, BLUE, GREY, PALETTE, VERMILION, Display, display, legend, new_axes, symbol_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from jourdain.motion.basin import Basin
    from jourdain.motion.continuation import Branch
    from jourdain.motion.gait import Gait

DASHES: Any = (0, (4, 2))
MARGINAL = 1e-6  # of a modulus at a bifurcation


def branch_plot(branch: Branch, show: str = "period", ax: Axes | None = None, title: str = "") -> Axes:
    """A coordinate, "period" or "multipliers" (their moduli) of the gaits over the parameter of a branch.

    Solid where gaits are stable, dashed where not; flips and folds are marked.
    """
    from matplotlib.lines import Line2D

    mechanism = branch.gaits[0].hybrid.mechanism
    known = ["period", "multipliers", *mechanism.symbols.q_names]
    if show not in known:
        raise unknown("quantity of a branch", show, known)
    along = display(branch.parameter, mechanism.units.get(branch.parameter, ""))
    shown = {
        "period": Display("period", "s"),
        "multipliers": Display("modulus of multipliers"),
    }.get(show) or display(show, mechanism.units.get(show, ""))

    def values(gait: Gait) -> Array:
        if show == "multipliers":
            return np.asarray(np.abs(gait.multipliers))
        return shown.factor * np.array([gait.period if show == "period" else gait.coordinate[show]])

    x = along.factor * np.array([gait.parameters[branch.parameter] for gait in branch.gaits])
    y = np.array([values(gait) for gait in branch.gaits])
    y = y[:, np.max(np.abs(y), axis=0) > 1e-9]  # multipliers that are 0 all along say nothing
    moduli = np.array([np.abs(gait.multipliers[0]) for gait in branch.gaits])
    stable = moduli < 1
    ax = new_axes() if ax is None else ax
    for i in range(len(x) - 1):
        style = "-" if np.all(moduli[i : i + 2] < 1 + MARGINAL) else DASHES  # up to where it changes
        ax.plot(x[i : i + 2], y[i : i + 2], color=BLUE, linestyle=style, linewidth=1.6)
    looks: Any = (("-", "stable", stable.any()), (DASHES, "unstable", not stable.all()))
    keys = [Line2D([], [], color=BLUE, linestyle=style, label=label) for style, label, there in looks if there]
    for kind, marker, colour in (("flip", "o", VERMILION), ("fold", "s", BLACK)):
        found = [b for b in branch.bifurcations if b.kind == kind]
        for b in found:
            height = 1.0 if show == "multipliers" else float(values(b.gait)[0])
            ax.plot(along.factor * b.value, height, marker, color=colour, markersize=7, zorder=5)
        if found:
            keys.append(Line2D([], [], color=colour, marker=marker, linestyle="", label=kind))
    if show == "multipliers":
        ax.axhline(1.0, color=GREY, linewidth=0.8)
    ax.set(xlabel=along.label, ylabel=shown.label, title=title)
    legend(ax, keys)
    return ax


def basin_map(basin: Basin, ax: Axes | None = None, title: str = "") -> Axes:
    """Which gait the starts come to, over the two things that vary; the gaits themselves are marked."""
    from matplotlib.lines import Line2D

    if basin.reached.ndim != 2:
        raise ShapeError(f"A map of a basin needs starts over two things, and there are {basin.reached.ndim}.")
    (y, shown_y), (x, shown_x) = (_side(basin, i) for i in (0, 1))
    numbers = np.where(basin.reached == LOST, 0, np.where(basin.reached == UNDECIDED, 1, basin.reached + 2))
    ax = new_axes(6.4, 4.2) if ax is None else ax
    ends = [f"comes to gait {i}" for i in range(len(basin.gaits))] if len(basin.gaits) > 1 else ["comes to the gait"]
    looks = [("lost", "white"), ("undecided", GREY), *zip(ends, PALETTE, strict=False)]
    keys = regions(ax, shown_x.factor * x, shown_y.factor * y, numbers, looks, shading="nearest")
    star: dict[str, Any] = {
        "color": BLACK,
        "marker": "*",
        "linestyle": "",
        "markersize": 11,
        "markeredgecolor": "white",
    }
    places = [(_of(gait, basin.dimensions[1]), _of(gait, basin.dimensions[0])) for gait in basin.gaits]
    marked = [place for place in places if np.isfinite(place).all()]
    for across, up in marked:
        ax.plot(shown_x.factor * across, shown_y.factor * up, **star)
    if marked:
        keys.append(Line2D([], [], label="gait", **star))
    ax.set(xlabel=shown_x.label, ylabel=shown_y.label, title=title)
    legend(ax, keys)
    return ax


def _side(basin: Basin, i: int) -> tuple[Array, Display]:
    """(values along a dimension of the starts, how they are shown)."""
    name = basin.dimensions[i]
    if name not in basin.axes:
        return np.arange(basin.reached.shape[i]).astype(float), Display(name.replace("_", " "))
    _, values, unit = basin.axes[name]
    symbol = f"rate of {symbol_of(name.removesuffix('_rate'))}" if name.endswith("_rate") else ""
    return values, display(name, unit, symbol=symbol)


def _of(gait: Gait, name: str) -> float:
    """What a gait has along a dimension of the starts; NaN if that is none of its coordinates or velocities."""
    if name.endswith("_rate"):
        return gait.velocity.get(name.removesuffix("_rate"), np.nan)
    return gait.coordinate.get(name, gait.velocity.get(name, np.nan))
