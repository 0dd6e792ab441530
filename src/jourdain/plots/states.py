"""What becomes of a one-sided contact, over one or two swept parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jourdain.data.addresses import numbers_of, parts, quantities_in
from jourdain.errors import ShapeError, UnknownName, listing, unknown
from jourdain.kinds import ContactState
from jourdain.plots.content import label_axes
from jourdain.plots.data import parameter, swept
from jourdain.plots.data import quantity as quantity_of
from jourdain.plots.plane import Plane, no_result, plane, regions, zero_line
from jourdain.plots.style import BLACK, BLUE, GREY, ORANGE, SKY, VERMILION, YELLOW, Display, legend, new_axes

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

# Of those that one contact can meet, each pair stays apart for colour-blind people. HOLDS is met without friction only,
# so ORANGE never stands beside VERMILION or YELLOW.
COLOURS = {
    ContactState.SEPARATES: "white",
    ContactState.LIFTS: SKY,
    ContactState.GRAZES: BLACK,
    ContactState.HOLDS: ORANGE,
    ContactState.STICKS: BLUE,
    ContactState.SLIPS: YELLOW,
    ContactState.REVERSES: VERMILION,
}
FEW = 6  # values of a parameter that are ticked one by one, their cells shown in full


def state_map(
    ds: xarray.Dataset,
    contact: str | None = None,
    ax: Axes | None = None,
    over: str | None = None,
    threshold: str | None = None,
) -> Axes:
    r"""Regions of what becomes of a one-sided contact over two swept parameters; hatched where events failed.

    `contact`: its name; not needed if there is one. `over`: the parameter along x, default the longest axis.
    `threshold`: the address of a quantity whose zero line is drawn on top, ticks on its negative side. It may be one
    that you put into the dataset, such as the opening speed of the foot if it were released.

    >>> from jourdain.gallery import rough_rod
    >>> ds = rough_rod().sweep(theta=np.radians(np.linspace(5, 85, 41)), friction=np.linspace(0, 1, 21))
    >>> ax = state_map(ds, "floor")
    >>> ax.get_xlabel(), ax.get_ylabel(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('$\\theta$ in degrees', 'friction', ['sticks', 'slips', 'reverses'])
    """
    contact, array = states(ds, contact)
    of = plane(array, over, for_one="state_steps")
    numbers = of.numbers(array)
    ax = new_axes(6.4 if threshold is None else 7.6, 4.0) if ax is None else ax  # the key of a line is long
    drawn = of.begin(ax)
    edges = _edges(of.shown_x), _edges(of.shown_y)
    _few_in_full(ax, of, *edges)
    drawn.keys += regions(ax, *edges, numbers, [(str(state), colour) for state, colour in COLOURS.items()])
    switch = _switch_line(ax, of, ds, contact, numbers) if threshold is None else None
    if switch is None:
        _boundaries(ax, *edges, numbers)
    if not np.isfinite(numbers).all():
        drawn.keys.append(no_result(ax))
    drawn.keys += [] if switch is None else [switch]
    if threshold is not None:
        drawn.keys.append(zero_line(ax, of, quantity_of(ds, threshold)))
    legend(ax, drawn.keys, title=contact)
    return ax


def state_steps(ds: xarray.Dataset, contact: str | None = None, ax: Axes | None = None) -> Axes:
    """What becomes of a one-sided contact over one swept parameter, as steps; gaps where an event failed.

    >>> from jourdain.gallery import rough_rod
    >>> ax = state_steps(rough_rod().sweep(friction=np.linspace(0, 1, 101)))
    >>> [tick.get_text() for tick in ax.get_yticklabels()], ax.get_ylabel()
    (['sticks', 'slips', 'reverses'], 'floor')
    """
    from matplotlib.patheffects import withStroke

    contact, array = states(ds, contact)
    axes = swept(array)
    if len(axes) != 1:
        remedy = "; use state_map" if len(axes) == 2 else ""
        raise ShapeError(f"Steps need one swept parameter, and there is {listing(axes)}{remedy}.")
    (x,) = axes
    array = array.squeeze([d for d in array.dims if d != x], drop=True).sortby(x)
    ax = new_axes(6.0, 2.6) if ax is None else ax
    drawn = label_axes(ax, parameter(array, x), Display(contact or "state"), array[x].values)
    along, numbers = drawn.x.factor * array[x].values, array.values
    ax.step(along, numbers, where="mid", color=GREY, linewidth=0.8)
    found = occurring(numbers)
    edge = [withStroke(linewidth=6.6, foreground=BLACK)]  # as the regions of a map have
    for one in found:
        there = np.where(numbers == one, numbers, np.nan)
        looks: dict[str, Any] = {"linewidth": 5, "solid_capstyle": "butt", "path_effects": edge}
        ax.step(along, there, where="mid", color=COLOURS[one], **looks)
    known = [one for one in ContactState if found and found[0] <= one <= found[-1]]
    ax.set_yticks(known, [str(one) for one in known])
    ax.set_ylim((known[0] - 0.5, known[-1] + 0.5) if known else None)
    ax.set_xlim(along[0], along[-1])
    drawn.n_lines += 1
    return ax


def states(ds: xarray.Dataset, contact: str | None = None) -> tuple[str, xarray.DataArray]:
    """A one-sided contact of a dataset and its states, numbers of `ContactState`; without a name, the only one."""
    held = [ds[name] for name in quantities_in(ds) if parts(name)[0] == "contact_state"]
    if not held:
        raise UnknownName(
            "The dataset does not hold 'contact_state'; sweep an event with a one-sided contact, and keep it."
        )
    addresses: dict[str, str] = {}  # by contact
    for variable in held:
        for address, values in numbers_of(variable):
            label = parts(address)[1]
            if not label and "one_sided" in values.coords:  # one was picked
                label = str(values["one_sided"].values)
            addresses[label] = address
    if contact is None and len(addresses) > 1:
        raise ShapeError(f"There are several one-sided contacts; name one of {listing(addresses)}.")
    contact = next(iter(addresses)) if contact is None else contact
    if contact not in addresses:
        raise unknown("one-sided contact", contact, addresses)
    return contact, quantity_of(ds, addresses[contact])


def occurring(numbers: NDArray[np.float64]) -> list[ContactState]:
    """The states among these numbers, in the order of their table; NaN is none."""
    return [ContactState(int(one)) for one in np.unique(numbers[np.isfinite(numbers)])]


def _edges(centres: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of cells around these centres: halfway between them, and as far beyond the ends."""
    between = (centres[1:] + centres[:-1]) / 2
    return np.concatenate([[2 * centres[0] - between[0]], between, [2 * centres[-1] - between[-1]]])


def _few_in_full(ax: Axes, of: Plane, x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    """Where a parameter takes few values, half of an outer cell would be missed."""
    for axis, centres, edges in ((ax.xaxis, of.shown_x, x), (ax.yaxis, of.shown_y, y)):
        if len(centres) <= FEW:
            axis.set_ticks(centres)
            (ax.set_xlim if axis is ax.xaxis else ax.set_ylim)(edges[0], edges[-1])


def _switch_line(ax: Axes, of: Plane, ds: xarray.Dataset, contact: str, numbers: Any) -> Any:
    """Where a contact with two states goes from one to the other, from its margins; None if these are not there."""
    from matplotlib.lines import Line2D

    found = occurring(numbers)
    if len(found) != 2 or "contact_margin" not in ds:
        return None
    margins = of.numbers(quantity_of(ds, f"contact_margin.{contact}"))
    signed = np.ma.masked_invalid(np.where(numbers == found[0], -margins, margins))
    ax.contour(of.shown_x, of.shown_y, signed, levels=[0.0], colors=BLACK, linewidths=1.6)
    return Line2D([], [], color=BLACK, linewidth=1.6, label="threshold")


def _boundaries(ax: Axes, x: NDArray[np.float64], y: NDArray[np.float64], numbers: Any) -> None:
    """Lines along the edges of neighbouring cells whose states differ: known to a cell, and drawn so."""
    from matplotlib.collections import LineCollection

    state = np.where(np.isfinite(numbers), numbers, -1)
    rows, columns = np.nonzero(state[:, 1:] != state[:, :-1])
    upright = [[(x[j + 1], y[i]), (x[j + 1], y[i + 1])] for i, j in zip(rows, columns, strict=True)]
    rows, columns = np.nonzero(state[1:] != state[:-1])
    level = [[(x[j], y[i + 1]), (x[j + 1], y[i + 1])] for i, j in zip(rows, columns, strict=True)]
    ax.add_collection(
        LineCollection([*upright, *level], colors=BLACK, linewidths=0.8, capstyle="projecting"), autolim=False
    )
