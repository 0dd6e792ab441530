"""The impulses of one event as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jourdain.errors import ShapeError, listing, unknown
from jourdain.events.table import pulls
from jourdain.kinds import ON_KINDS, Kind
from jourdain.plots.data import check_single
from jourdain.plots.style import BLUE, GREY, ROUNDING, SMALL, VERMILION, bar_looks, bare, display, legend, new_axes
from jourdain.quantities import QUANTITIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from jourdain.events.transition import Transition

# What there is to say of an impulse, and how its bar looks.
_LOOKS = {
    "": (BLUE, ""),
    "pulls, where a contact can only push": (VERMILION, "//"),
    "one of many: rigid bodies do not determine it": (GREY, ".."),
}
_PLAIN, _PULLS, _UNDETERMINED = _LOOKS


def impulse_bars(t: Transition, ax: Axes | None = None, rows: Sequence[str] | None = None) -> Axes:
    """The impulse along each row of one event; contacts that pull, and impulses not determined, look different.

    `rows`: which of them, default all that carry one. They must have one unit.
    """
    check_single(t.batch_shape, "impulse_bars shows one event")
    chosen = _rows(t, rows)
    unit = _unit(t, chosen)
    values = [float(t.impulse[row]) for row in chosen]
    largest = max(abs(value) for value in values)
    values = [value if abs(value) > ROUNDING * largest else 0.0 for value in values]
    remarks = [_remark(t, row) for row in chosen]

    ax = new_axes(6.0, 1.2 + 0.4 * len(chosen)) if ax is None else ax
    shown = display("impulse", unit, symbol=f"${QUANTITIES['impulse'].latex}$")
    for y, (value, remark) in enumerate(zip(values, remarks, strict=True)):
        colour, hatch = _LOOKS[remark]
        label = remark if remark not in remarks[:y] else ""  # once in the legend
        ax.barh(y, value, 0.55, label=label or None, **bar_looks(colour, hatch))
        side = -1 if value < 0 else 1
        ax.annotate(
            shown.number(value), (value, y), (4 * side, 0), textcoords="offset points", fontsize=SMALL, va="center",
            ha="left" if side > 0 else "right",
        )  # fmt: skip
    low, high = min(0.0, *values), max(0.0, *values)
    room = 0.35 * (high - low or 1.0)  # for the numbers at the ends of the bars
    ax.set_xlim(low - room if low < 0 else 0.0, high + room if high > 0 or low == 0 else 0.0)
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(range(len(chosen)), chosen)
    ax.invert_yaxis()
    ax.set_xlabel(f"{QUANTITIES['impulse'].long_name}, {shown.label}")
    bare(ax)
    keys = ax.get_legend_handles_labels()[0]
    if keys:
        legend(ax, keys, above=True)
    return ax


def _rows(t: Transition, rows: Sequence[str] | None) -> list[str]:
    carrying = [row.name for row in t.layout.rows if row.kind in (*ON_KINDS, Kind.NONIDEAL)]
    if not carrying:
        raise ShapeError("No row of this event carries an impulse; there is nothing to draw.")
    if rows is None:
        return carrying
    rows = [rows] if isinstance(rows, str) else list(rows)
    if not rows:
        raise ShapeError(f"rows is empty; name some of {listing(carrying)}, or leave it out.")
    for row in rows:
        if row not in carrying:
            raise unknown("row that carries an impulse", row, carrying)
    return rows


def _unit(t: Transition, rows: Sequence[str]) -> str:
    """The unit of all of them; refused if they have several."""
    of_unit: dict[str, list[str]] = {}
    for row in rows:
        of_unit.setdefault(t.layout.unit("impulse", row), []).append(row)
    if len(of_unit) > 1:
        groups = "; ".join(f"{unit or 'no known unit'}: {listing(members)}" for unit, members in of_unit.items())
        raise ShapeError(f"Impulses of different units do not share an axis ({groups}); name rows=[…] of one unit.")
    (unit,) = of_unit
    return unit


def _remark(t: Transition, row: str) -> str:
    normals = {c.rows[0]: c.name for c in t.layout.constraints if c.contact}
    if row in normals and pulls(t, normals[row]):
        return _PULLS
    return _UNDETERMINED if row in t.undetermined else _PLAIN
