"""A quantity of a sweep over a direction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.errors import ShapeError
from jourdain.plots.content import label_axes
from jourdain.plots.data import family
from jourdain.plots.style import LINE_STYLES, MARKERS, PALETTE, ROUNDING, SMALL, Display, new_axes, short

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.projections.polar import PolarAxes


def polar(ds: xarray.Dataset, quantity: str = "xi", over: str | None = None, ax: Axes | None = None) -> Axes:
    """A quantity over a swept angle: zero at the top, clockwise positive (from the wall's normal towards +x).

    One line for each value of a second parameter; a marker, and the legend, tell where each is largest.
    """
    from matplotlib.lines import Line2D
    from matplotlib.projections.polar import PolarAxes

    drawn = family(ds, quantity, over)
    if drawn.over.unit != "°":
        raise ShapeError(f"A polar plot needs an angle in rad, not {drawn.over.label}; name one with over=.")
    known = drawn.lines[np.isfinite(drawn.lines)]
    if known.min(initial=0.0) < -ROUNDING * np.abs(known).max(initial=0.0):
        raise ShapeError(f"A radius cannot be negative, as '{quantity}' is here; use curve.")
    ax = new_axes(6.0, 4.2, projection="polar") if ax is None else ax
    if not isinstance(ax, PolarAxes):
        raise ShapeError("A polar plot needs polar axes: figure.add_subplot(projection='polar'), or none.")
    shown = label_axes(ax, Display(drawn.over.symbol, "rad"), drawn.quantity)  # polar axes count in radians
    for i, line in enumerate(drawn.lines):
        k = (shown.n_lines + i) % len(PALETTE)
        looks: dict[str, Any] = {"color": PALETTE[k], "linestyle": LINE_STYLES[k]}
        ax.plot(drawn.x, shown.y.factor * line, **looks)
        text = drawn.label(i) or drawn.quantity.symbol
        if np.isfinite(line).any():
            peak = _peak(drawn.x, line)
            text += f"\nlargest: {short(shown.y.factor * line[peak])} at {drawn.over.number(drawn.x[peak])}"
            looks["marker"] = MARKERS[k]
            ax.plot(drawn.x[peak], shown.y.factor * line[peak], **looks, markersize=7, clip_on=False, zorder=4)
        shown.keys.append(Line2D([], [], **looks, label=text))
    shown.n_lines += len(drawn.lines)
    ax.set_title(f"{ax.get_ylabel()} over {drawn.over.symbol}", fontsize="medium")
    ax.set(xlabel="", ylabel="")  # on a circle axis labels stand nowhere near their axis
    ax.set_rmin(0.0)
    half = _angles(ax, drawn.x)
    # Below the disc, where half of one leaves room: beside it the legend would take as much space as the plot.
    ax.legend(
        handles=shown.keys, loc="upper center", bbox_to_anchor=(0.5, 0.16 if half else -0.08), fontsize=SMALL,
        ncols=min(len(shown.keys), 3), frameon=False,
    )  # fmt: skip
    return ax


def _peak(angles: Any, line: Any) -> int:
    """Where the line is largest; of equal ones that nearest to zero."""
    largest = np.nanmax(line)
    equal = np.flatnonzero(line >= largest - 1e-9 * abs(largest))
    return int(equal[np.argmin(np.abs(angles[equal]))])


def _angles(ax: PolarAxes, angles: Any) -> bool:
    """Ticks in degrees, zero at the top, clockwise positive; whether half a disc is enough."""
    from matplotlib.ticker import FuncFormatter

    ax.set_theta_zero_location("N")
    ax.set_theta_direction(-1)
    signed = bool(np.min(angles) < 0)
    half = signed and bool(np.max(np.abs(angles)) <= np.pi / 2 + 1e-9)
    if half:
        ax.set_thetalim(-np.pi / 2, np.pi / 2)
    else:
        ax.set_rlabel_position(67.5)

    def degrees(angle: float, _: Any) -> str:
        shown = round(np.degrees(angle), 9)
        return f"{short(shown - 360 if signed and shown > 180 else shown)}°"

    ax.xaxis.set_major_formatter(FuncFormatter(degrees))
    return half
