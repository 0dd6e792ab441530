"""Quantities of a sweep as lines over one of its parameters, and measured points on top of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from jourdain.errors import ShapeError
from jourdain.plots.content import content, label_axes
from jourdain.plots.data import Family, family
from jourdain.plots.energy import PARTS
from jourdain.plots.style import BLACK, LINE_STYLES, MARKERS, PALETTE, display, legend, new_axes

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes


def curve(ds: xarray.Dataset, quantity: str, over: str | None = None, ax: Axes | None = None, label: str = "") -> Axes:
    r"""A quantity over a swept parameter, one line for each value of a second one; gaps where an event failed.

    `quantity`: an address, such as "T_c_minus" or "impulse.heel.normal". `over`: default the longest axis.
    `label`: what the legend says before the value of the second parameter. A second call on the same Axes adds lines.

    >>> from jourdain.gallery import particle
    >>> ds = particle().sweep(kappa=[0.0, 0.5, 1.0], v_z=[-1.0, -2.0])
    >>> ax = curve(ds, "impulse.floor")
    >>> ax.get_xlabel(), ax.get_ylabel(), ax.lines[0].get_ydata()
    ('$\\kappa$', '$\\bar\\lambda$ of floor in N s', array([1. , 1.5, 2. ]))
    """
    drawn = family(ds, quantity, over)
    ax = new_axes() if ax is None else ax
    shown = label_axes(ax, drawn.over, drawn.quantity, drawn.x)
    for i, line in enumerate(drawn.lines):
        k = (shown.n_lines + i) % len(PALETTE)
        text = ", ".join(part for part in (label, drawn.label(i)) if part) or drawn.quantity.symbol
        looks: dict[str, Any] = {"color": PALETTE[k], "linestyle": LINE_STYLES[k], "label": text}
        shown.keys += ax.plot(shown.x.factor * drawn.x, shown.y.factor * line, **looks)
    shown.n_lines += len(drawn.lines)
    if len(shown.keys) > 1 or label:
        legend(ax, shown.keys, shown.above)
    return ax


def energy_curves(ds: xarray.Dataset, over: str | None = None, ax: Axes | None = None) -> Axes:
    """T_c⁻ solid and T_a⁻ dashed over a swept parameter; a colour and a marker for each value of a second one."""
    from matplotlib.lines import Line2D

    names = {part: name for part, _, _, name in PARTS}
    parts: list[tuple[Family, Any, str]] = [
        (family(ds, "T_c_minus", over), "-", names["T_c"]),
        (family(ds, "T_a_minus", over), "--", names["T_a"]),
    ]
    ax = new_axes() if ax is None else ax
    energies = [part.lines for part, _, _ in parts]
    first = parts[0][0]
    for j, (part, style, name) in enumerate(parts):
        shown = label_axes(ax, part.over, display("", "J", energies, part.quantity.symbol), part.x)
        key = f"{part.quantity.symbol}, {name}"
        x, lines = shown.x.factor * part.x, shown.y.factor * part.lines
        if part.second is None:
            shown.keys += ax.plot(x, lines[0], color=PALETTE[j], linestyle=style, label=key)
            continue
        # Line styles tell the energies apart, so markers tell the values.
        step = max(len(x) // 8, 1)
        for i, line in enumerate(lines):
            marks: dict[str, Any] = {"marker": MARKERS[i], "markersize": 5}
            marks["markevery"] = (i * step // len(lines), step)
            ax.plot(x, line, color=PALETTE[i], linestyle=style, label=f"{key}, {part.label(i)}", **marks)
        shown.keys.append(Line2D([], [], color=BLACK, linestyle=style, label=key))
    for i in range(len(first.values)):
        shown.keys.append(Line2D([], [], color=PALETTE[i], marker=MARKERS[i], markersize=5, label=first.label(i)))
    shown.n_lines += sum(len(part.lines) for part, _, _ in parts)
    legend(ax, shown.keys, shown.above)
    return ax


def measured(
    ax: Axes,
    x: ArrayLike,
    y: ArrayLike,
    label: str = "measured",
    x_error: ArrayLike | None = None,
    y_error: ArrayLike | None = None,
) -> Axes:
    """Measured points over what this package drew on the axes; all numbers in SI, angles in radians.

    They are shown in the units of the axes: degrees, mJ, … Each call takes another open marker. `x_error`, `y_error`:
    half the length of the bars, as Matplotlib's `errorbar` takes them.
    """
    shown = content(ax)
    if shown is None:
        raise ShapeError("measured adds points to what jourdain.plots drew; draw that first, on the same axes.")
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if x.shape != y.shape or x.ndim > 1:
        raise ShapeError(f"Measured points need as many x as y, not shapes {x.shape} and {y.shape}.")
    k = shown.n_measured % len(MARKERS)
    bars = [None if error is None else factor * np.asarray(error, dtype=float)
            for error, factor in ((x_error, shown.x.factor), (y_error, shown.y.factor))]  # fmt: skip
    points = ax.errorbar(
        shown.x.factor * x, shown.y.factor * y, xerr=bars[0], yerr=bars[1], label=label, zorder=5,
        linestyle="none", color=BLACK, marker=MARKERS[k], markersize=6, markerfacecolor="white", capsize=2,
    )  # fmt: skip
    shown.n_measured += 1
    shown.keys.append(points)
    legend(ax, shown.keys, shown.above)
    return ax
