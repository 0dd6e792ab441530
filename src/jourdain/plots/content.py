"""What axes show, and in which unit, so that what is drawn on top of it later fits."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from jourdain.errors import ShapeError
from jourdain.plots.style import Display, degree_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class Content:
    """Of one Axes: how its numbers are shown, and how much was drawn."""

    x: Display
    y: Display
    symbols: list[str] = field(default_factory=list)  # of the quantities along y
    keys: list[Any] = field(default_factory=list)  # of the legend
    above: bool = False  # where the legend stands: the place beside the axes is a colour bar's
    n_lines: int = 0
    n_measured: int = 0


_CONTENT: WeakKeyDictionary[Any, Content] = WeakKeyDictionary()


def content(ax: Axes) -> Content | None:
    """What was drawn on these axes by the functions of this package; None if nothing, or if they were cleared."""
    return _CONTENT.get(ax) if ax.has_data() else None


def label_axes(ax: Axes, x: Display, y: Display, along_x: ArrayLike = (), along_y: ArrayLike = ()) -> Content:
    """Label the axes; on axes that show something already, its units hold and its labels are extended.

    `along_x`, `along_y`: the numbers that will be drawn, SI; ticks of angles follow them.
    """
    known = content(ax)
    if known is None:
        known = _CONTENT[ax] = Content(x, y)
        for axis, one, numbers in ((ax.xaxis, x, along_x), (ax.yaxis, y, along_y)):
            if one.unit == "°":
                degree_ticks(axis, one.factor * np.asarray(numbers))
    if known.x.symbol != x.symbol:
        raise ShapeError(f"The axes show {known.x.label} along x, not {x.symbol}; take axes of their own.")
    both_energies = known.y.unit.endswith("J") and y.unit.endswith("J")
    if known.y.unit != y.unit and not both_energies:
        raise ShapeError(f"The axes show {known.y.label}; {y.label} does not fit beside it, take axes of their own.")
    if y.symbol not in known.symbols:
        known.symbols.append(y.symbol)
    ax.set(xlabel=known.x.label, ylabel=replace(known.y, symbol=", ".join(known.symbols)).label)
    return known
