"""Addresses such as "impulse.heel.normal": which numbers of an event or a dataset they mean, in which unit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from jourdain.data.layout import Entry, Layout
from jourdain.errors import ShapeError, UnknownName, listing, unknown
from jourdain.quantities import QUANTITIES, unit_along

if TYPE_CHECKING:
    import xarray

# Dimension → the quantity whose units a dataset lists along it, as the coordinate DIMENSION_unit.
UNITS_ALONG = {"coordinate": "q", "velocity": "v_plus", "row": "u_plus", "output": "outputs_plus"}
_MISSING = {  # why a dimension has no labels
    "velocity": "there are no velocities",
    "row": "no constraint takes part",
    "contact": "no contact takes part",
    "applied": "no impulse is applied",
    "one_sided": "no contact is one-sided",
    "output": "the mechanism names no outputs",
}


def parts(address: str) -> tuple[str, str]:
    """Quantity and label; the label is "" where the whole quantity is meant.

    >>> parts("impulse.heel.normal"), parts("loss"), parts("outputs.tip")
    (('impulse', 'heel.normal'), ('loss', ''), ('outputs_plus', 'tip'))
    """
    name, _, label = address.partition(".")
    return ("outputs_plus" if name == "outputs" else name), label


def places(labels: Sequence[str], label: str) -> tuple[int, ...]:
    """Where a label stands; of a constraint, where its rows stand.

    >>> places(("heel.normal", "heel.tangent", "knee"), "heel"), places(("heel.normal", "knee"), "knee")
    ((0, 1), (1,))
    """
    if label in labels:
        return (labels.index(label),)
    return tuple(i for i, row in enumerate(labels) if row.startswith(f"{label}."))


# In the outcome of an event


def find(layout: Layout, address: str) -> Entry:
    """What `"loss"`, `"v_plus"`, `"v_plus.theta"`, `"impulse.heel"`, `"impulse.heel.normal"` stand for in an event."""
    if not isinstance(address, str):
        raise UnknownName(f"A quantity is addressed by a text, such as 'loss' or 'v_plus.theta', not {address!r}.")
    name, label = parts(address)
    known = [known for known in QUANTITIES if known != "status"]
    if name not in known:
        raise unknown("quantity", name, known)
    dimension = QUANTITIES[name].along
    if not dimension:
        if "." in address:
            raise unknown("quantity", address, [name])
        return Entry(name, (0,), ())
    labels = layout.along(dimension)
    if name == "ledger" and label in layout.impulses:
        return Entry("applied_work", (layout.impulses.index(label),), ())
    if not labels:
        raise UnknownName(f"This event has no '{name}': {_MISSING[dimension]}.")
    if "." not in address:
        return Entry(name, tuple(range(len(labels))), labels)
    found = places(labels, label)
    if not found:
        aliases = [c.name for c in layout.constraints] if dimension == "row" else []
        aliases += layout.impulses if name == "ledger" else ()
        raise unknown(f"entry of {name}", label, [*labels, *aliases])
    if label in labels:
        return Entry(name, found, ())
    summed = name == "ledger"
    return Entry(name, found, () if summed else tuple(labels[i] for i in found), summed)


def unit_of(layout: Layout, address: str) -> str:
    """The unit of an address in an event; "" where it is not known or not the same for all its numbers."""
    name, label = parts(address)
    return layout.unit(name, label or None)


# In a dataset


def select(ds: xarray.Dataset, address: str) -> xarray.DataArray:
    """The variable of that address, or its numbers of that label; of the ledger of a constraint, their sum."""
    name, label = parts(address)
    address = f"{name}.{label}" if label else name
    if address in ds.data_vars:
        return ds[address]
    known: list[str] = []
    for variable in ds.data_vars.values() if label else ():
        quantity = parts(str(variable.name))[0]
        if quantity != name and (name, quantity) != ("ledger", "applied_work"):
            continue
        for dimension in labelled(variable):
            labels = [str(one) for one in variable[dimension].values]
            found = places(labels, label)
            if label in labels:
                return variable.isel({dimension: found[0]})
            if found:
                rows = variable.isel({dimension: list(found)})
                return rows.sum(dimension, skipna=False, keep_attrs=True) if name == "ledger" else rows
            known += labels
    if known and name in ds.data_vars:
        raise unknown(f"entry of {name}", label, known)
    raise UnknownName(f"The dataset does not hold '{address}'; it has {listing(quantities_in(ds))}.")


def numbers_of(variable: xarray.DataArray) -> Iterator[tuple[str, xarray.DataArray]]:
    """(address, values) of each number that a variable has per event."""
    across = labelled(variable)
    if len(across) > 1:
        raise ShapeError(f"'{variable.name}' lies along {listing(across)}, and a column has one label; pick one value.")
    if not across:
        yield str(variable.name), variable
    for dimension in across:
        name, _ = parts(str(variable.name))
        for i, label in enumerate(variable[dimension].values):
            yield f"{name}.{label}", variable.isel({dimension: i})


def quantities_in(ds: xarray.Dataset) -> list[str]:
    """The variables of a dataset that are quantities."""
    return [str(name) for name in ds.data_vars if name != "status"]


def labelled(variable: xarray.DataArray) -> list[str]:
    """The dimensions of a variable that have texts as labels, as `velocity` and `row` have."""
    return [str(d) for d in variable.dims if d in variable.coords and variable[d].dtype.kind not in "biuf"]


def unit_in(values: xarray.DataArray, name: str) -> str:
    """The unit of a quantity of a dataset, or of the one number of it that was picked; "" where it is not known."""
    if values.attrs.get("units"):
        return str(values.attrs["units"])
    for dimension in (QUANTITIES[name].along,) if name in QUANTITIES else UNITS_ALONG:
        unit = values.coords.get(f"{dimension}_unit")
        if unit is not None and unit.ndim == 0:
            return unit_along(name, str(unit.values))
    return ""
