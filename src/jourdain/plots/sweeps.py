"""What a sweep looks like when nobody says how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jourdain.data.addresses import parts, quantities_in
from jourdain.plots.curves import curve, energy_curves
from jourdain.plots.data import long_name, swept, too_many, x_axis
from jourdain.plots.maps import parameter_map
from jourdain.plots.states import state_map, state_steps, states

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

MOST_LINES = 6  # above which a map reads better


def sweep_plot(ds: xarray.Dataset, quantity: str | None = None, ax: Axes | None = None) -> Axes:
    """One swept parameter: lines. Two: lines if one of them takes few values, else a map. More: refused.

    What becomes of a contact: steps over one parameter, regions over two, however few values they take.
    Without `quantity`, lines are T_c⁻ and T_a⁻ and a map is the loss; where the dataset holds only one quantity, that.
    """
    axes = swept(ds)
    x_axis(axes, None)  # raises if nothing is swept
    if len(axes) > 2:
        raise too_many(axes)
    if quantity is None and len(quantities_in(ds)) == 1:
        (quantity,) = quantities_in(ds)
    name, contact = parts(quantity or "")
    if name == "contact_state":
        return _states_plot(ds, contact or None, ax)
    as_map = len(axes) == 2 and min(axes.values()) > MOST_LINES
    if quantity is None and not as_map:
        return energy_curves(ds, ax=ax)
    quantity = quantity or "loss"
    drawn = parameter_map(ds, quantity, ax=ax) if as_map else curve(ds, quantity, ax=ax)
    if ax is None:
        drawn.set_title(long_name(ds, quantity), fontsize="medium", pad=20 if drawn.get_legend() and as_map else None)
    return drawn


def _states_plot(ds: xarray.Dataset, contact: str | None, ax: Axes | None) -> Axes:
    contact, array = states(ds, contact)
    drawn = (state_map if len(swept(array)) == 2 else state_steps)(ds, contact, ax=ax)
    if ax is None:
        drawn.set_title(f"what became of {contact}", fontsize="medium")
    return drawn
