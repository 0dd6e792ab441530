"""Labelled outcomes as columns: one line per event, every number under its address, with its unit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jourdain.data.addresses import labelled, numbers_of, parts, quantities_in, unit_in
from jourdain.errors import Status

if TYPE_CHECKING:
    import xarray

STATUS_NAMES = np.array([status.name.lower() for status in Status])


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

    def at(self, line: int) -> Any:
        """The value in one line."""
        return self.read(slice(line, line + 1))[0]

    @property
    def header(self) -> str:
        """Address and unit, as a file has them: "loss [J]"."""
        return f"{self.address} [{self.unit}]" if self.unit else self.address


@dataclass(frozen=True, eq=False)
class Columns:
    """A sweep, or the dataset of a transition, as a tidy table: the first axis varies slowest."""

    dataset: xarray.Dataset

    @cached_property
    def axes(self) -> dict[str, int]:
        """What the lines run over, and how far."""
        ds = self.dataset
        return {str(dim): ds.sizes[dim] for variable in (*ds.data_vars.values(), *ds.coords.values())
                for dim in variable.dims if dim not in labelled(variable)}  # fmt: skip

    @property
    def n_lines(self) -> int:
        return math.prod(self.axes.values())

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Swept parameters, fixed ones, scalars, what lies along a dimension, status; each address once."""
        found = [*self._parameters(), *sorted(self._quantities(), key=lambda column: column.along)]
        if "status" in self.dataset:
            found.append(self._column("status", self.dataset["status"], "status"))
        first: dict[str, Column] = {}
        for column in found:
            first.setdefault(column.address, column)
        return tuple(first.values())

    def of_kind(self, kind: str) -> list[Column]:
        return [column for column in self.columns if column.kind == kind]

    def _parameters(self) -> Iterator[Column]:
        from xarray import DataArray

        values = {str(name): array for name, array in self.dataset.coords.items() if not labelled(array)}
        for axis, size in self.axes.items():
            if axis not in values:  # an axis without a coordinate, such as `sample`: which one it is
                yield self._column(axis, DataArray(np.arange(size), dims=axis), "swept")
        swept = [*(name for name in self.axes if name in values),
                 *(name for name, array in values.items() if array.dims and name not in self.axes)]  # fmt: skip
        yield from (self._column(name, values[name], "swept") for name in swept)
        yield from (self._column(name, array, "fixed") for name, array in values.items() if name not in swept)

    def _quantities(self) -> Iterator[Column]:
        for name in quantities_in(self.dataset):
            variable = self.dataset[name]
            for address, values in numbers_of(variable):
                yield self._column(address, values, "quantity", along=values.ndim < variable.ndim)

    def _column(self, address: str, values: xarray.DataArray, kind: str, along: bool = False) -> Column:
        variable: Any = values.variable
        wide: NDArray[Any] = variable.set_dims(self.axes).values  # broadcast, not copied

        def read(lines: slice) -> NDArray[Any]:
            if wide.ndim <= 1 or lines == slice(None):
                return np.asarray(wide.reshape(-1)[lines])
            places = np.arange(*lines.indices(wide.size))
            return np.asarray(wide[np.unravel_index(places, wide.shape)])

        def status_names(lines: slice) -> NDArray[Any]:
            return np.asarray(STATUS_NAMES[read(lines).astype(int)])

        unit = unit_in(values, parts(address)[0])
        return Column(address, unit, kind, along, status_names if kind == "status" else read)
