"""Figures. Each function takes and returns Matplotlib Axes; labels and units come from `quantities`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jourdain.errors import ShapeError
from jourdain.quantities import QUANTITIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from jourdain.outcome import Transition

# Okabe and Ito's colours, told apart by colour-blind people; hatches tell them apart in print.
_PARTS = (
    ("T_a", "#0072B2", "", "admissible"),
    ("T_c", "#E69F00", "//", "constrained"),
    ("T_r", "#999999", "..", "regular rows"),
)


def new_axes(width: float = 6.0, height: float = 3.4) -> Axes:
    """Axes of a figure of their own that needs no display."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").subplots()


def energy_bars(t: Transition, ax: Axes | None = None, title: str = "") -> Axes:
    """The kinetic energy before and after, split into its parts, and below it where the difference went."""
    if t.batch_shape:
        raise ShapeError(f"energy_bars shows one event, not a batch {t.batch_shape}; pick one.")
    ax = new_axes() if ax is None else ax
    largest = float(max(t.T_minus, t.T_plus))
    scale, unit = _scale(largest)
    for side, y in (("minus", 1.0), ("plus", 0.0)):
        left = 0.0
        for part, colour, hatch, label in _PARTS:
            width = getattr(t, f"{part}_{side}") * scale
            if width > 1e-9 * scale * largest:
                text = f"{label}, ${QUANTITIES[f'{part}_minus'].latex.removesuffix('^-')}$"
                ax.barh(y, width, 0.5, left, color=colour, hatch=hatch, edgecolor="white", label=text)
                left += width
        ax.annotate(f" {_short(float(getattr(t, f'T_{side}')) * scale)} {unit}", (left, y), va="center")
    entries = [(name, float(work) * scale) for name, work in t.ledger.items() if abs(work) > 1e-9 * largest]
    for i, (name, work) in enumerate(entries):
        y = -1.0 - 0.55 * i
        start = float(t.T_minus) * scale + sum(w for _, w in entries[:i])
        ax.barh(y, work, 0.3, start, color="#D55E00" if work < 0 else "#009E73")
        ends = [start, start + work]
        ax.annotate(f" {name}: {_short(work)} {unit}", (max(ends), y), va="center")
    ticks = [(1.0, f"before, ${QUANTITIES['T_minus'].latex}$"), (0.0, f"after, ${QUANTITIES['T_plus'].latex}$")]
    ticks += [(-1.0, "work of the impulses")] if entries else []
    ax.set_yticks([y for y, _ in ticks], [label for _, label in ticks])
    ax.set_xlabel(f"kinetic energy in {unit}")
    ax.set_xlim(0, 1.5 * largest * scale or 1.0)
    ax.set_ylim(-0.7 - 0.55 * len(entries) if entries else -0.4, 1.4)
    ax.set_title(title)
    handles, labels = ax.get_legend_handles_labels()
    unique = dict(zip(labels, handles, strict=True))
    if unique:
        ax.legend(
            unique.values(), unique.keys(), loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3, frameon=False
        )
    for edge in ("top", "right", "left"):
        ax.spines[edge].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def save(ax: Axes, path: Any) -> None:
    """Write the figure to a file; the suffix says how."""
    figure: Any = ax.figure
    figure.savefig(path, dpi=150)


def _scale(energy: float) -> tuple[float, str]:
    """The factor and the unit in which an energy reads well."""
    for factor, unit in ((1e-3, "kJ"), (1.0, "J"), (1e3, "mJ"), (1e6, "µJ")):
        if energy * factor >= 1 or unit == "µJ":
            return factor, unit
    return 1.0, "J"


def _short(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")
