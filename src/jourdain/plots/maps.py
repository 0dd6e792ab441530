"""A quantity of a sweep as a map over two of its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.errors import ShapeError, listing
from jourdain.plots.content import added
from jourdain.plots.data import chosen, parameter, swept, too_many
from jourdain.plots.data import quantity as quantity_of
from jourdain.plots.style import BLACK, COLOUR_MAP, display, legend, new_axes, short

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes


def parameter_map(
    ds: xarray.Dataset,
    quantity: str = "loss",
    ax: Axes | None = None,
    zero: str | None = None,
    over: str | None = None,
    levels: int = 7,
) -> Axes:
    """A filled map over two swept parameters with labelled level lines and a colour bar; hatched where events failed.

    `zero`: the address of a quantity whose zero line is drawn on top, ticks on its negative side. `over`: the parameter
    along x, default the longest axis. `levels`: about how many level lines.
    """
    array = quantity_of(ds, quantity)
    axes = swept(array)
    if len(axes) > 2:
        raise too_many(axes)
    if len(axes) < 2:
        raise ShapeError(f"A map needs two swept parameters, and there is {listing(axes)}; use curve.")
    x = chosen(axes, over)
    (y,) = (name for name in axes if name != x)
    across, up = parameter(array, x), parameter(array, y)
    numbers = _grid(array, x, y)
    shown = display(quantity, array.attrs["units"], numbers, array.attrs["symbol"])
    ax = new_axes(6.0, 4.2) if ax is None else ax
    drawn = added(ax, across, up, array[x].values, array[y].values)
    drawn.above = True
    left = across.factor * np.sort(array[x].values)
    bottom = up.factor * np.sort(array[y].values)
    values = np.ma.masked_invalid(shown.factor * numbers)

    # Thousands of cells are a picture inside the drawing; lines and text stay lines and text.
    cells = ax.pcolormesh(left, bottom, values, shading="nearest", cmap=COLOUR_MAP, rasterized=True)
    ax.set_xlim(left[0], left[-1])
    ax.set_ylim(bottom[0], bottom[-1])
    ax.get_figure().colorbar(cells, ax=ax, label=shown.label)  # type: ignore[union-attr]
    if np.ma.is_masked(values):
        drawn.keys.append(_no_result(ax))
    _level_lines(ax, left, bottom, values, levels)
    if zero is not None:
        other = quantity_of(ds, zero)
        drawn.keys.append(_zero_line(ax, left, bottom, _grid(other, x, y), other.attrs["symbol"]))
    if drawn.keys:
        legend(ax, drawn.keys, drawn.above)
    return ax


def _grid(array: xarray.DataArray, x: str, y: str) -> Any:
    """Numbers `(along y, along x)`, both rising."""
    axes = swept(array)
    if set(axes) != {x, y}:
        raise ShapeError(f"The zero line needs a quantity over {listing((x, y))}, and there is {listing(axes)}.")
    rest = [d for d in array.dims if d not in (x, y)]
    return array.squeeze(rest, drop=True).sortby([x, y]).transpose(y, x).values


def _level_lines(ax: Axes, x: Any, y: Any, values: Any, n: int) -> None:
    from matplotlib.ticker import MaxNLocator

    if not values.count():
        return
    low, high = float(values.min()), float(values.max())
    if not high > low:
        return
    levels = [level for level in MaxNLocator(n).tick_values(low, high) if low < level < high]
    if not levels:
        return
    middle = (low + high) / 2
    colours = ["white" if level < middle else "black" for level in levels]  # against what lies below
    lines = ax.contour(x, y, values, levels=levels, colors=colours, linewidths=0.8)
    ax.clabel(lines, fmt=short, fontsize=8)


def _no_result(ax: Axes) -> Any:
    """Hatch the ground below the cells; the key of the legend."""
    from matplotlib.patches import Patch, Rectangle

    looks: dict[str, Any] = {"facecolor": "#DDDDDD", "edgecolor": "#777777", "hatch": "////", "linewidth": 0}
    ax.add_patch(Rectangle((0, 0), 1, 1, transform=ax.transAxes, zorder=0, **looks))
    return Patch(label="no result", **looks)


def _zero_line(ax: Axes, x: Any, y: Any, values: Any, symbol: str) -> Any:
    """Where a quantity changes its sign; the key of the legend, which says so too if it does not."""
    from matplotlib.lines import Line2D
    from matplotlib.patheffects import Stroke, withTickedStroke

    known = values[np.isfinite(values)]
    signs = {"> 0": known > 0, "< 0": known < 0, "= 0": known == 0, "≥ 0": known >= 0, "≤ 0": known <= 0}
    for sign, holds in signs.items():
        if holds.all():
            return Line2D([], [], linestyle="none", label=f"{symbol} {sign} everywhere" if known.size else "")
    # A level line has the larger values on its left: ticks at −90° point to the smaller.
    effects = [Stroke(linewidth=3.5, foreground="white"), withTickedStroke(angle=-90, length=0.6, spacing=8)]
    line = ax.contour(x, y, np.ma.masked_invalid(values), levels=[0.0], colors=BLACK, linewidths=1.6)
    line.set(path_effects=effects)
    return Line2D([], [], color=BLACK, linewidth=1.6, path_effects=effects, label=f"{symbol} = 0 (ticks: negative)")
