"""What maps over two swept parameters share: the two of them, hatching where there is no result, and a zero line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.errors import ShapeError, listing
from jourdain.inputs import Array
from jourdain.plots.content import Content, label_axes
from jourdain.plots.data import parameter, swept, too_many, x_axis
from jourdain.plots.style import BLACK, ROUNDING, Display

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Plane:
    """Two swept parameters, and how they are shown."""

    x: str
    y: str
    across: Display
    up: Display
    along_x: Array  # SI, rising
    along_y: Array

    @property
    def shown_x(self) -> Array:
        """Along x, in the unit that is shown."""
        return self.across.factor * self.along_x

    @property
    def shown_y(self) -> Array:
        return self.up.factor * self.along_y

    def numbers(self, array: xarray.DataArray) -> Any:
        """Those of a quantity, `(along y, along x)`, both rising."""
        axes = swept(array)
        if set(axes) != {self.x, self.y}:
            wanted = listing((self.x, self.y))
            raise ShapeError(f"The zero line needs a quantity over {wanted}, and there is {listing(axes)}.")
        rest = [d for d in array.dims if d not in (self.x, self.y)]
        return array.squeeze(rest, drop=True).sortby([self.x, self.y]).transpose(self.y, self.x).values

    def begin(self, ax: Axes) -> Content:
        """Label the axes; what is drawn on top of them later fits."""
        drawn = label_axes(ax, self.across, self.up, self.along_x, self.along_y)
        ax.set(xlim=self.shown_x[[0, -1]], ylim=self.shown_y[[0, -1]])
        return drawn


def plane(array: xarray.DataArray, over: str | None, for_one: str) -> Plane:
    """Of a quantity over two parameters; `over`: that along x, default the longest. `for_one`: what draws one."""
    axes = swept(array)
    if len(axes) > 2:
        raise too_many(axes)
    if len(axes) < 2:
        raise ShapeError(f"A map needs two swept parameters, and there is {listing(axes)}; use {for_one}.")
    x = x_axis(axes, over)
    (y,) = (name for name in axes if name != x)
    along_x, along_y = np.sort(array[x].values), np.sort(array[y].values)
    return Plane(x, y, parameter(array, x), parameter(array, y), along_x, along_y)


def no_result(ax: Axes) -> Any:
    """Hatch the ground below the cells; the key of the legend."""
    from matplotlib.patches import Patch, Rectangle

    looks: dict[str, Any] = {"facecolor": "#DDDDDD", "edgecolor": "#777777", "hatch": "////", "linewidth": 0}
    ax.add_patch(Rectangle((0, 0), 1, 1, transform=ax.transAxes, zorder=0, **looks))
    return Patch(label="no result", **looks)


def regions(ax: Axes, x: Array, y: Array, numbers: Any, looks: Sequence[tuple[str, str]], **more: Any) -> list[Any]:
    """Cells in the colours of their numbers, none where NaN; `looks`: (label, colour) of 0, 1, … Keys of the legend."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    colours = ListedColormap([colour for _, colour in looks])
    scale: dict[str, Any] = {"cmap": colours, "vmin": -0.5, "vmax": len(looks) - 0.5}
    # Thousands of cells are a picture inside the drawing; lines and text stay lines and text.
    ax.pcolormesh(x, y, np.ma.masked_invalid(numbers), rasterized=True, **scale, **more)
    found = [looks[int(i)] for i in np.unique(numbers[np.isfinite(numbers)])]
    return [Patch(facecolor=colour, label=label, edgecolor=BLACK, linewidth=0.8) for label, colour in found]


def zero_line(ax: Axes, of: Plane, quantity: xarray.DataArray) -> Any:
    """Where a quantity changes its sign; the key of the legend, which says so too if it does not."""
    from matplotlib.lines import Line2D
    from matplotlib.patheffects import Stroke, withTickedStroke

    values, symbol = of.numbers(quantity), quantity.attrs["symbol"]
    known = values[np.isfinite(values)]
    # Rounding has signs, but no zero line: what a contact holds at rest is 0.
    largest = np.max(np.abs(known), initial=0.0)
    values, known = (np.where(np.abs(some) <= ROUNDING * largest, 0.0, some) for some in (values, known))
    signs = {"> 0": known > 0, "< 0": known < 0, "= 0": known == 0, "≥ 0": known >= 0, "≤ 0": known <= 0}
    for sign, holds in signs.items():
        if holds.all():
            return Line2D([], [], linestyle="none", label=f"{symbol} {sign} everywhere" if known.size else "")
    # A level line has the larger values on its left: ticks at −90° point to the smaller.
    effects = [Stroke(linewidth=3.5, foreground="white"), withTickedStroke(angle=-90, length=0.6, spacing=8)]
    line = ax.contour(of.shown_x, of.shown_y, np.ma.masked_invalid(values), levels=[0.0], colors=BLACK, linewidths=1.6)
    line.set(path_effects=effects)
    return Line2D([], [], color=BLACK, linewidth=1.6, path_effects=effects, label=f"{symbol} = 0 (ticks: negative)")
