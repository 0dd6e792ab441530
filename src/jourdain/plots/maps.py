"""A quantity of a sweep as a map over two of its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.plots.data import quantity as quantity_of
from jourdain.plots.plane import no_result, plane, zero_line
from jourdain.plots.style import COLOUR_MAP, display, legend, new_axes, short

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
    of = plane(array, over, for_one="curve")
    numbers = of.numbers(array)
    shown = display(quantity, array.attrs["units"], numbers, array.attrs["symbol"])
    ax = new_axes(6.0, 4.2) if ax is None else ax
    drawn = of.begin(ax)
    drawn.above = True
    values = np.ma.masked_invalid(shown.factor * numbers)

    # Thousands of cells are a picture inside the drawing; lines and text stay lines and text.
    cells = ax.pcolormesh(of.shown_x, of.shown_y, values, shading="nearest", cmap=COLOUR_MAP, rasterized=True)
    ax.get_figure().colorbar(cells, ax=ax, label=shown.label)  # type: ignore[union-attr]
    if np.ma.is_masked(values):
        drawn.keys.append(no_result(ax))
    _level_lines(ax, of.shown_x, of.shown_y, values, levels)
    if zero is not None:
        drawn.keys.append(zero_line(ax, of, quantity_of(ds, zero)))
    if drawn.keys:
        legend(ax, drawn.keys, drawn.above)
    return ax


def _level_lines(ax: Axes, x: Any, y: Any, values: Any, n: int) -> None:
    from matplotlib.ticker import MaxNLocator

    if not values.count():
        return
    low, high = float(values.min()), float(values.max())
    levels = [level for level in MaxNLocator(n).tick_values(low, high) if low < level < high]
    if not levels:
        return
    middle = (low + high) / 2
    colours = ["white" if level < middle else "black" for level in levels]  # against what lies below
    lines = ax.contour(x, y, values, levels=levels, colors=colours, linewidths=0.8)
    ax.clabel(lines, fmt=short, fontsize=8)
