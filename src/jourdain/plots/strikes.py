"""Measured strikes over time: T_c and T_a, the spots before and at the end of compression, the forces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.plots.style import (
    BLACK,
    BLUE,
    GREY,
    LINE_STYLES,
    ORANGE,
    PALETTE,
    SMALL,
    energy_scale,
    new_axes,
    new_figure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from jourdain.experiment import Repeats, Strike

BEFORE, AFTER = 3.0, 2.5  # lengths of a compression that are shown before and behind it
MILLI, TIME = 1e-3, "time from the onset in ms"
PARTS = (("T_c", ORANGE, "-"), ("T_a", BLUE, "--"))


def energies_over_time(strike: Strike | Repeats, ax: Axes | None = None, title: str = "", key: bool = True) -> Axes:
    """T_c and T_a through a strike, time from its onset; white spots at the onset and at the end of compression.

    Of repeats, all of them, thinly, and the spots in the mean.
    """
    ax = new_axes(5.2, 3.2) if ax is None else ax
    several = _several(strike)
    scale, unit = energy_scale([max(one.T_c_minus, one.T_a_minus) for one in several])
    for one in several:
        inside, t = _shown(one)
        for part, colour, style in PARTS:
            thin: dict[str, Any] = {} if len(several) == 1 else {"alpha": 0.45, "linewidth": 0.8}
            ax.plot(t, scale * one.curves[part].values[inside], style, color=colour, **thin)
    for part, colour, style in PARTS:
        ax.plot([], [], style, color=colour, label=f"${part}$")  # for the legend
        spots = [(0.0, "minus"), (float(np.mean([(one.end - one.onset) / MILLI for one in several])), "plus")]
        for t_spot, side in spots:
            value = float(np.mean([getattr(one, f"{part}_{side}") for one in several]))
            ax.plot(t_spot, scale * value, "o", color=BLACK, markerfacecolor="white", markersize=5, zorder=3)
    ax.set(xlabel=TIME, ylabel=f"energy in {unit}")
    ax.set_title(title, fontsize=10)
    ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
    if key:
        ax.legend(frameon=False, fontsize=SMALL, handlelength=2.5)
    return ax


def forces_over_time(strike: Strike | Repeats, ax: Axes | None = None) -> Axes:
    """The forces through a strike, above their baselines' offset, time from its onset."""
    ax = new_axes(5.2, 2.4) if ax is None else ax
    for one in _several(strike):
        inside, t = _shown(one)
        for i, (row, force) in enumerate(one.log.forces.items()):
            looks: dict[str, Any] = {"color": PALETTE[(i + 2) % len(PALETTE)], "linestyle": LINE_STYLES[i]}
            ax.plot(t, force[inside], **looks, marker=".", markersize=3, linewidth=0.9,
                    label=row if one is _several(strike)[0] else None)  # fmt: skip
    rig = _several(strike)[0].rig
    unit = rig.force_unit(rig.normal)
    ax.set(xlabel=TIME, ylabel=f"force in {unit}" if unit else "force")
    ax.legend(frameon=False, fontsize=SMALL)
    return ax


def strike_plot(strike: Strike | Repeats, title: str = "") -> Axes:
    """Energies above, forces below, the compression shaded. Returns the Axes of the energies."""
    upper, lower = new_figure(6.0, 5.0).subplots(2, 1, sharex=True, height_ratios=(1.5, 1))
    energies_over_time(strike, upper, title)
    forces_over_time(strike, lower)
    upper.set_xlabel("")
    length = float(np.mean([one.end - one.onset for one in _several(strike)])) / MILLI
    for ax in (upper, lower):
        ax.axvspan(0, length, color=GREY, alpha=0.18, linewidth=0)
    return upper  # type: ignore[no-any-return]


def _several(strike: Strike | Repeats) -> Sequence[Strike]:
    from jourdain.experiment import Repeats

    return strike.strikes if isinstance(strike, Repeats) else (strike,)


def _shown(strike: Strike) -> tuple[Any, Any]:
    """Which samples, and their times from the onset in ms."""
    length = strike.end - strike.onset
    t = strike.log.t
    inside = (t > strike.onset - BEFORE * length) & (t < strike.end + AFTER * length)
    return inside, (t[inside] - strike.onset) / MILLI
