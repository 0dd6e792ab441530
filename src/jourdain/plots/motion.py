"""Motion over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.plots.style import GREY, LINE_STYLES, PALETTE, display, legend, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from jourdain.motion.trajectory import Trajectory

N_TIMES = 1000


def motion_plot(run: Trajectory, title: str = "") -> Axes:
    """The coordinates over time, one panel for each unit, grey lines where events are. Axes of the topmost.

    Coordinates that stay at 0, as those of a foot that stands, are left out.
    """
    names, units = run.hybrid.mechanism.symbols.q_names, run.hybrid.mechanism.units
    pieces = [np.linspace(s.t[0], s.t[-1], max(2, round(N_TIMES * np.ptp(s.t) / (run.end or 1)))) for s in run.segments]
    states = [s.at(t)[:, 1 : 1 + len(names)] for s, t in zip(run.segments, pieces, strict=True)]
    largest = np.max([np.max(np.abs(q), axis=0) for q in states], axis=0)
    panels: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        if largest[i] > 1e-9 * np.max(largest) or len(names) == 1:
            panels.setdefault(units.get(name, ""), []).append(i)
    n = max(len(panels), 1)
    axes = new_figure(6.4, 1.0 + 2.4 * n).subplots(n, 1, sharex=True, squeeze=False)[:, 0]
    for ax, (unit, indices) in zip(axes, panels.items(), strict=False):
        keys = []
        for k, i in enumerate(indices):
            shown = display(names[i], unit)
            looks: dict[str, Any] = {"color": PALETTE[k % len(PALETTE)], "linestyle": LINE_STYLES[k % len(LINE_STYLES)]}
            lines = [
                ax.plot(t, shown.factor * q[:, i], **looks, label=shown.symbol)[0]
                for t, q in zip(pieces, states, strict=True)  # a jump of a name is no motion
            ]
            keys.append(lines[0])
        for event in run.events:
            ax.axvline(event.t, color=GREY, linewidth=0.5, zorder=0)
        symbol = "coordinates" if len(indices) > 1 else ""
        ax.set_ylabel(display(names[indices[0]], unit, symbol=symbol).label)
        if len(indices) > 1:
            legend(ax, keys)
    axes[-1].set_xlabel("time in s")
    axes[0].set_title(title)
    return axes[0]  # type: ignore[no-any-return]
