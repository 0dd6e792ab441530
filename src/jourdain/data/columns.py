"""Labelled outcomes as columns: one line per event, every number under its address, with its unit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jourdain.errors import ShapeError, Status, listing
from jourdain.quantities import unit_along

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True)
class Column:
    """One number (or text) per event."""

    address: str  # "theta", "loss", "v_plus.foot_x", "impulse.heel.normal"
    unit: str  # "" where it is not known
    kind: str  # "swept", "fixed", "quantity" or "status"
    along: bool  # it is one of the numbers that a quantity has along a dimension
    read: Callable[[slice], NDArray[Any]]  # some lines; a table of everything would need as much room again

    @property
    def values(self) -> NDArray[Any]:
        """All lines."""
        return self.read(slice(None))


@dataclass(frozen=True)
class Columns:
    """What a dataset holds, as a tidy table: the first axis varies slowest."""

    axes: Mapping[str, int]  # what the lines run over, and how far
    columns: tuple[Column, ...]  # swept parameters, fixed ones, scalars, what lies along a dimension, status

    @property
    def n_lines(self) -> int:
        return math.prod(self.axes.values())


def columns(ds: xarray.Dataset) -> Columns:
    """The columns of a sweep, or of the dataset of a transition; a quantity that is there twice has one."""
    labelled = {dim for dim in ds.dims if dim in ds.coords and ds[dim].dtype.kind not in "biuf"}
    axes = {str(dim): ds.sizes[dim] for variable in (*ds.data_vars.values(), *ds.coords.values())
            for dim in variable.dims if dim not in labelled}  # fmt: skip
    parameters = {str(name): ds[name] for name in ds.coords if not labelled.intersection(ds[name].dims)}
    found = [_place(axis, axes) for axis in axes if axis not in parameters]
    swept = [*(name for name in axes if name in parameters),
             *(name for name, values in parameters.items() if values.dims and name not in axes)]  # fmt: skip
    found += [_column(name, parameters[name], axes, "swept") for name in swept]
    found += [_column(name, values, axes, "fixed") for name, values in parameters.items() if name not in swept]
    several: list[Column] = []
    for name, values in ds.data_vars.items():
        if name == "status":
            continue
        across = [dim for dim in values.dims if dim in labelled]
        if not across:
            found.append(_column(str(name), values, axes, "quantity"))
            continue
        if len(across) > 1:
            raise ShapeError(
                f"'{name}' lies along {listing(map(str, across))}, and a column has one label; pick one value."
            )
        (dim,) = across
        for i, label in enumerate(ds[dim].values):
            of_label = str(ds[f"{dim}_unit"].values[i]) if f"{dim}_unit" in ds.coords else ""
            unit = values.attrs.get("units") or unit_along(str(name), of_label)
            address = f"{str(name).partition('.')[0]}.{label}"
            several.append(_column(address, values.isel({dim: i}), axes, "quantity", unit, along=True))
    found += several
    if "status" in ds:
        found.append(_column("status", ds["status"], axes, "status"))
    unique: dict[str, Column] = {}
    for column in found:
        unique.setdefault(column.address, column)
    return Columns(axes, tuple(unique.values()))


def _column(
    address: str, values: xarray.DataArray, axes: Mapping[str, int], kind: str, unit: str | None = None,
    along: bool = False,
) -> Column:  # fmt: skip
    variable: Any = values.variable
    wide: NDArray[Any] = variable.set_dims(axes).values  # broadcast, not copied
    unit = str(values.attrs.get("units", "")) if unit is None else unit

    def read(lines: slice) -> NDArray[Any]:
        if wide.ndim <= 1 or lines == slice(None):
            return np.asarray(wide.reshape(-1)[lines])
        places = np.arange(*lines.indices(wide.size))
        return np.asarray(wide[np.unravel_index(places, wide.shape)])

    def told(lines: slice) -> NDArray[Any]:
        return np.asarray(STATUS_NAMES[read(lines).astype(int)])

    return Column(address, unit, kind, along, told if kind == "status" else read)


STATUS_NAMES = np.array([one.name.lower() for one in Status])


def _place(axis: str, axes: Mapping[str, int]) -> Column:
    """An axis without a coordinate, such as `sample`: which one it is."""
    from xarray import DataArray

    return _column(axis, DataArray(np.arange(axes[axis]), dims=axis), axes, "swept")
