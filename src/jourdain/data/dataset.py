"""Outcomes as labelled data: what each number is, along what, in which unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.data.addresses import UNITS_ALONG, find
from jourdain.data.layout import Entry, Layout
from jourdain.errors import Status
from jourdain.inputs import Array, Statuses
from jourdain.kinds import ContactState
from jourdain.quantities import QUANTITIES

if TYPE_CHECKING:
    import xarray


def kept(layout: Layout, keep: Sequence[str] | None) -> dict[str, Entry]:
    """Variable → what it holds, for the addresses in `keep`; for all quantities of the event if it is None."""
    if keep is None:
        keep = [name for name, quantity in QUANTITIES.items()
                if name != "status" and (not quantity.along or layout.along(quantity.along))]  # fmt: skip
    elif isinstance(keep, str):
        keep = [keep]
    return {address: find(layout, address) for address in keep if address != "status"}


def names(layout: Layout, entries: Mapping[str, Entry]) -> dict[str, str]:
    """The names that a dataset of these entries uses: name → what it stands for."""
    found = dict.fromkeys((*entries, "status"), "a quantity that is kept")
    for variable, entry in entries.items():
        if entry.names:
            found[_dimension(layout, variable, entry)] = "a dimension of the results"
    return found | {f"{name}_unit": "a label of the results" for name in UNITS_ALONG if name in found}


def _dimension(layout: Layout, variable: str, entry: Entry) -> str:
    """The dimension of several numbers: that of their quantity if all of them are there, else one for them alone."""
    dimension = QUANTITIES[entry.quantity].along
    return dimension if len(entry.names) == len(layout.along(dimension)) else f"{variable}_{dimension}"


def dataset(
    layout: Layout,
    entries: Mapping[str, Entry],
    values: Mapping[str, Array],
    status: Statuses,
    axes: tuple[str, ...],
    coordinates: Mapping[str, Any] = {},
) -> xarray.Dataset:
    """Scalars by name, velocities along `velocity`, rows along `row`, …; the axes of the batch first.

    `values`: by variable, `(*batch, numbers, 1)`. Coordinates: as xarray takes them, of the batch axes and others.
    """
    import xarray

    data: dict[str, Any] = {}
    labels: dict[str, Any] = {}
    for variable, entry in entries.items():
        numbers = values[variable][..., 0]
        if not entry.names:
            data[variable] = (axes, numbers[..., 0], attributes(layout, entry))
            continue
        dimension = _dimension(layout, variable, entry)
        data[variable] = ((*axes, dimension), numbers, attributes(layout, entry))
        labels[dimension] = list(entry.names)
    for dimension, quantity in UNITS_ALONG.items():
        if dimension in labels:
            units = [layout.unit(quantity, name) for name in labels[dimension]]
            labels[f"{dimension}_unit"] = (dimension, units, {"long_name": f"unit of {quantity}"})
    data["status"] = (axes, status, {"long_name": QUANTITIES["status"].long_name, **flags(Status)})
    about = {"source": f"jourdain {version('jourdain')}", "events": summary(status)}
    return xarray.Dataset(data, coords={**coordinates, **labels}, attrs=about)


def summary(status: Statuses) -> str:
    """How many events there are, and what became of them."""
    not_ok = np.ravel(status)[np.flatnonzero(status)]  # few, as a rule: the others are not counted one by one
    counts = np.bincount(not_ok, minlength=len(Status))
    others = [f"{counts[code]} {code.name.lower()}" for code in Status if counts[code]]
    return ", ".join([f"{status.size} event{'s' * (status.size != 1)}", f"{status.size - not_ok.size} ok", *others])


def flags(codes: type[IntEnum]) -> dict[str, Any]:
    """What numbers stand for, as the CF conventions write it."""
    meanings = " ".join(one.name.lower() for one in codes)
    return {"flag_values": np.array(list(codes), dtype=np.int8), "flag_meanings": meanings}


def attributes(layout: Layout, entry: Entry) -> dict[str, Any]:
    """Symbol, units and long name of a variable."""
    quantity = QUANTITIES[entry.quantity]
    single = quantity.along and not entry.names and not entry.summed
    label = layout.along(quantity.along)[entry.places[0]] if single else None
    long_name = quantity.long_name + (f": {label}" if label else "")
    if entry.quantity == "contact_state":
        return {"symbol": quantity.symbol, "long_name": long_name, **flags(ContactState)}
    units = {layout.unit(quantity.name, name) for name in entry.names or (label,)}  # of the numbers that are there
    unit = units.pop() if len(units) == 1 else ""
    return {"symbol": quantity.symbol, "long_name": long_name, **unit_attribute(unit)}


def unit_attribute(unit: str) -> dict[str, str]:
    """Nothing where the unit is not known."""
    return {"units": unit} if unit else {}
