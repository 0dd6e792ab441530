"""A contact with friction inside the event, over its normal impulse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jourdain.plots.style import BLUE, GREEN, GREY, SMALL, VERMILION, new_axes, zero

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from jourdain.algebra.contacts.path import ImpulsePath
    from jourdain.events.transition import Transition


_IN_SPACE = ("$u_{t1}$, slip", "$u_{t2}$, slip")


def impulse_path(t: Transition, contact: str, ax: Axes | None = None) -> Axes:
    """u_n, u_t and the work done while a contact's normal impulse grows; where compression and the first slip end."""
    path = t.path(contact)
    ax = new_axes() if ax is None else ax
    ax.plot(path.p, path.u_n, color=BLUE, label="$u_n$, opening")
    slips = {"$u_t$, slip": path.u_t} if path.u_t.ndim == 1 else dict(zip(_IN_SPACE, path.u_t.T, strict=True))
    for (label, u_t), style in zip(slips.items(), ("--", "-."), strict=False):
        ax.plot(path.p, u_t, color=VERMILION, linestyle=style, label=label)
    zero(ax)
    _work(ax, path)
    ends = {"compression ends": path.p_c, "slip ends": path.p_slip}
    for text, p in ends.items():
        if np.isfinite(p) and 0 < p <= path.p[-1]:
            ax.axvline(p, color=GREY, linestyle=":", linewidth=1.2)
            ax.annotate(f" {text}", (p, 1.0), xycoords=("data", "axes fraction"), va="top", fontsize=SMALL, rotation=90,
                        ha="right")  # fmt: skip
    ax.set(xlabel=f"normal impulse of {contact}, $p$ in N s", ylabel="row velocity in m/s")
    ax.legend(loc="upper left", bbox_to_anchor=(1.2, 1), borderaxespad=0, frameon=False, fontsize=SMALL)
    return ax


def _work(ax: Axes, path: ImpulsePath) -> None:
    """The work done so far, on an axis of its own whose zero is level with that of the speeds."""
    p = np.union1d(np.linspace(0, path.p[-1], 101), path.p) if len(path.p) < 20 else path.p
    work = path.at(p)["work"]
    right = ax.twinx()
    right.plot(p, work, color=GREEN, linewidth=1.2)
    ax.plot([], [], color=GREEN, linewidth=1.2, label="work (right)")
    low, high = ax.get_ylim()
    reach = np.max(np.abs(work), initial=0.0) / max(abs(low), abs(high)) or 1.0
    right.set(ylim=(low * reach, high * reach), ylabel="work of the contact in J")
