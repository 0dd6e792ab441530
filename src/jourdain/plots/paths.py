"""A contact with friction inside the event, over its normal impulse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jourdain.plots.style import BLUE, GREY, SMALL, VERMILION, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from jourdain.outcome import Transition


def impulse_path(t: Transition, contact: str, ax: Axes | None = None) -> Axes:
    """u_n and u_t of a contact while its normal impulse grows; where compression and the first slip end."""
    path = t.path(contact)
    ax = new_axes() if ax is None else ax
    ax.plot(path.p, path.u_n, color=BLUE, label="$u_n$, opening")
    ax.plot(path.p, path.u_t, color=VERMILION, linestyle="--", label="$u_t$, slip")
    ax.axhline(0, color="black", linewidth=0.8)
    ends = {"compression ends": path.p_c, "slip ends": path.p_slip}
    for text, p in ends.items():
        if np.isfinite(p) and 0 < p <= path.p[-1]:
            ax.axvline(p, color=GREY, linestyle=":", linewidth=1.2)
            ax.annotate(f" {text}", (p, 1.0), xycoords=("data", "axes fraction"), va="top", fontsize=SMALL, rotation=90,
                        ha="right")  # fmt: skip
    ax.set_xlabel(f"normal impulse of {contact}, $p$ in N s")
    ax.set_ylabel("row velocity in m/s")
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False, fontsize=SMALL)
    return ax
