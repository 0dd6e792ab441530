"""What a figure takes from a dataset: a quantity by its address, and the parameters over which it was swept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.data.addresses import labelled, parts, select, unit_in
from jourdain.errors import ShapeError, listing, unknown
from jourdain.inputs import Array
from jourdain.plots.style import PALETTE, Display, display
from jourdain.quantities import QUANTITIES

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True)
class Family:
    """One quantity over one parameter, a line for each value of another; all numbers SI."""

    x: Array  # (points,), rising
    lines: Array  # (lines, points); NaN where an event failed
    over: Display
    quantity: Display
    second: Display | None  # what numbers the lines
    values: Array  # (lines,): its values

    def label(self, i: int) -> str:
        return "" if self.second is None else self.second.assigned(self.values[i])


def check_single(shape: tuple[int, ...], shows: str) -> None:
    """Raise if there is a batch; `shows`: what does one thing, as "A drawing shows one event"."""
    if shape:
        raise ShapeError(f"{shows}, not a batch {shape}; pick one.")


def swept(ds: xarray.Dataset | xarray.DataArray) -> dict[str, int]:
    """Parameter → how many values it takes, for those that take several."""
    for dimension in ds.dims:
        if dimension == "sample":
            raise ShapeError(
                "The dataset holds samples, which lie on no grid; sweep a grid, as in sweep(theta=[…], rho=[…]), "
                "or draw points: ax.scatter(ds.theta, ds.loss)."
            )
        if dimension not in ds.coords and ds.sizes[dimension] > 1:
            raise ShapeError(
                f"There are no values along '{dimension}' to draw over; sweep a scenario, or give them: "
                f"ds.assign_coords({dimension}=[…])."
            )
    return {
        str(dimension): size for dimension, size in ds.sizes.items() if size > 1 and ds[dimension].dtype.kind in "fiu"
    }


def parameter(ds: xarray.Dataset | xarray.DataArray, name: str) -> Display:
    """How a parameter is shown."""
    return display(name, ds[name].attrs.get("units", ""), ds[name].values)


def quantity(ds: xarray.Dataset, address: str) -> xarray.DataArray:
    """`"loss"`, `"v_plus.theta"`, `"impulse.heel.normal"`, `"ledger.heel"` of a dataset, along its parameters only.

    Its attrs: `units` and `symbol`, which is what Matplotlib typesets.
    """
    name, label = parts(address)
    address = f"{name}.{label}" if label else name
    values = select(ds, address)
    across = labelled(values)
    if across:
        labels = [str(one) for one in values[across[0]].values]
        if name in QUANTITIES and QUANTITIES[name].along:
            addresses = listing(f"{name}.{one}" for one in labels)
            raise ShapeError(f"'{address}' has several numbers per event; name one of {addresses}.")
        raise ShapeError(f"'{across[0]}' is no number to draw over; pick one, as in ds.sel({across[0]}={labels[0]!r}).")
    if values.dtype.kind not in "fiub":
        raise ShapeError(f"'{address}' is no number; there is nothing to draw.")
    return values.astype(float).assign_attrs(symbol=_symbol(values, name, label), units=unit_in(values, name))


def long_name(ds: xarray.Dataset, address: str) -> str:
    """What a quantity is, in words; formulas and which row it belongs to are left to the labels."""
    return re.split("[,;:]", str(quantity(ds, address).attrs.get("long_name", "")))[0]


def _symbol(values: xarray.DataArray, name: str, label: str) -> str:
    """The table's symbol, unless the dataset has another; what it belongs to beside it."""
    given, known = values.attrs.get("symbol"), QUANTITIES.get(name)
    symbol = f"${known.latex}$" if known and given in (None, known.symbol) else given or name
    return f"{symbol} of {label}" if label else symbol


def family(ds: xarray.Dataset, address: str, over: str | None = None) -> Family:
    """A quantity of a dataset in which one or two parameters were swept; `over`: default the longest axis."""
    array = quantity(ds, address)
    axes = swept(array)
    x = x_axis(axes, over)
    others = [name for name in axes if name != x]
    if len(others) > 1:
        raise too_many(axes)
    if others and axes[others[0]] > len(PALETTE):
        raise ShapeError(
            f"'{others[0]}' takes {axes[others[0]]} values, more than lines can be told apart; "
            f"pick some, as in ds.isel({others[0]}=[0, -1]), or draw a parameter_map."
        )
    array = array.squeeze([d for d in array.dims if d not in axes], drop=True).sortby(x).transpose(*others, x)
    lines = np.atleast_2d(array.values)
    return Family(
        x=array[x].values,
        lines=lines,
        over=parameter(array, x),
        quantity=display(address, array.attrs["units"], lines, array.attrs["symbol"]),
        second=parameter(array, others[0]) if others else None,
        values=array[others[0]].values if others else np.zeros(0),
    )


def x_axis(axes: Mapping[str, int], over: str | None) -> str:
    """The parameter along x: `over` if it is given, else the one with the most values."""
    if not axes:
        raise ShapeError("No parameter is swept; give one of them several values, as in sweep(theta=[0.2, 0.4]).")
    if over is None:
        return max(axes, key=lambda name: axes[name])
    if over not in axes:
        raise unknown("swept parameter", over, axes)
    return over


def too_many(axes: Mapping[str, Any]) -> ShapeError:
    last = list(axes)[-1]
    return ShapeError(
        f"{len(axes)} parameters are swept ({listing(axes)}) and a figure shows two at most; "
        f"pick a value of the others, as in ds.isel({last}=0)."
    )
