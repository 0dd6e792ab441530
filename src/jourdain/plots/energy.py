"""The kinetic energy of one event as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jourdain.plots.data import check_single
from jourdain.plots.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    ROUNDING,
    VERMILION,
    bar_looks,
    bare,
    energy_scale,
    new_axes,
    short,
)
from jourdain.quantities import QUANTITIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from jourdain.events.transition import Transition

# Part, colour, hatch, name; hatches tell them apart in black and white.
PARTS = (
    ("T_a", BLUE, "", "admissible"),
    ("T_c", ORANGE, "//", "constrained"),
    ("T_r", GREY, "..", "regular rows"),
)
PER_LETTER = 0.028  # of the longest bar, for words beside bars


def energy_bars(t: Transition, ax: Axes | None = None, title: str = "") -> Axes:
    """The kinetic energy before and after, split into its parts, and below it where the difference went."""
    check_single(t.batch_shape, "energy_bars shows one event")
    from matplotlib.transforms import ScaledTranslation

    largest = float(max(t.T_minus, t.T_plus))
    scale, unit = energy_scale(largest)
    works = [(name, float(work) * scale) for name, work in t.ledger.items() if abs(work) > ROUNDING * largest]
    ax = new_axes(6.0, 3.2 + 0.25 * max(len(works) - 1, 0)) if ax is None else ax
    ends = [0.0]
    for side, y in (("minus", 1.0), ("plus", 0.0)):
        left = 0.0
        for part, colour, hatch, label in PARTS:
            width = getattr(t, f"{part}_{side}") * scale
            if width > ROUNDING * scale * largest:
                text = f"{label}, ${QUANTITIES[f'{part}_minus'].latex.removesuffix('^-')}$"
                ax.barh(y, width, 0.5, left, **bar_looks(colour, hatch), label=text)
                left += width
        energy = float(getattr(t, f"T_{side}")) * scale
        ax.annotate(f" {short(energy if left else 0.0)} {unit}", (left, y), va="center")
        ends.append(left)
    start = reach = float(t.T_minus) * scale
    for i, (name, work) in enumerate(works):  # each from where the one above ends
        y = -1.0 - 0.55 * i
        colour, hatch = (VERMILION, "") if work < 0 else (GREEN, "\\\\")
        ax.barh(y, work, 0.3, start, **bar_looks(colour, hatch))
        said, end = f" {name}: {short(work)} {unit}", max(start, start + work)
        ax.annotate(said, (end, y), va="center")
        reach = max(reach, end + PER_LETTER * len(said) * max(ends))
        ends += [start, start + work]
        start += work
    ticks = [(1.0, f"before, ${QUANTITIES['T_minus'].latex}$"), (0.0, f"after, ${QUANTITIES['T_plus'].latex}$")]
    ticks += [(-1.0, "work of the impulses")] if works else []
    ax.set_yticks([y for y, _ in ticks], [label for _, label in ticks])
    ax.set_xlim(min(ends), max(1.5 * max(ends), reach) or 1.0)  # with room for the numbers
    ax.set_ylim(-0.7 - 0.55 * len(works) if works else -0.4, 1.4)
    ax.set(xlabel=f"kinetic energy in {unit}", title=title)
    handles, labels = ax.get_legend_handles_labels()
    keys = dict(zip(labels, handles, strict=True))  # each part once
    if keys:
        figure: Any = ax.get_figure()
        below = ax.transAxes + ScaledTranslation(0, -0.5, figure.dpi_scale_trans)  # inches, below the label
        ax.legend(
            keys.values(), keys.keys(), loc="upper center", bbox_to_anchor=(0.5, 0), bbox_transform=below, ncols=3,
            frameon=False,
        )  # fmt: skip
    bare(ax)
    return ax
