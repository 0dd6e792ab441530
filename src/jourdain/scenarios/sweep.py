"""A scenario over a grid or over samples of its parameters, as one labelled dataset."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.compute.memory import refuse_too_large
from jourdain.data.dataset import dataset, kept, names, unit_attribute
from jourdain.data.layout import Entry
from jourdain.errors import NameClash, ShapeError, unknown
from jourdain.events.solver import Solver
from jourdain.inputs import Array, number
from jourdain.naming import name_of
from jourdain.progress import bar

if TYPE_CHECKING:
    import xarray

    from jourdain.scenarios.scenario import Scenario

COPIES = 4  # of q, v and parameters while guessed coordinates are being found


def sweep(
    scenario: Scenario,
    axes: Mapping[str, Any],
    samples: Any,
    keep: Sequence[str] | None,
    progress: bool | None,
) -> xarray.Dataset:
    """See `Scenario.sweep`."""
    entries = kept(scenario.event.layout, keep)
    sampled = {} if samples is None else _samples(scenario, samples)
    given = {name: number(f"axis '{name}'", values) for name, values in axes.items()}
    for name, array in given.items():
        _refuse(scenario, name, array, sampled)
    grid = {name: array for name, array in given.items() if array.ndim}
    taken = names(scenario.event.layout, entries)
    for name in (*sampled, *grid):
        if name in taken:
            raise NameClash(f"'{name}' is a parameter and also {taken[name]}; choose with keep=[…], or rename it.")
    if samples is not None and "sample" in grid:
        raise NameClash("'sample' is a parameter and also the dimension of the samples; rename it.")
    dims = (*(("sample",) if samples is not None else ()), *grid)
    n_samples = len(next(iter(sampled.values()))) if sampled else 0
    shape = (*((n_samples,) if samples is not None else ()), *(len(array) for array in grid.values()))
    n_numbers = sum(max(len(entry.names), 1) for entry in entries.values())
    if scenario.guessed:  # closing the loops takes room of its own, for all events at once
        n_numbers += COPIES * sum(column.shape[0] for column in scenario.event.inputs)
    remedy = "take fewer points, or sweep in parts"
    if n_numbers > 1:
        remedy = f"keep fewer quantities (keep=['loss']), {remedy}"
    refuse_too_large("The sweep", math.prod(shape), n_numbers, remedy)

    values: dict[str, Any] = {name: array for name, array in given.items() if not array.ndim}
    values |= {name: array.reshape(-1, *(1,) * len(grid)) for name, array in sampled.items()}
    values |= {name: _along(array, dims.index(name), len(dims)) for name, array in grid.items()}
    pose = scenario.pose(values)
    with bar("sweep", math.prod(shape), progress) as advance:
        numbers, status = solver_of(scenario, entries).over(pose.columns, shape, advance)
    if pose.arrived is not None:
        status = pose.judged(status)
    coordinates: dict[str, Any] = {}
    coordinates |= {name: (name, array, _attributes(scenario, name)) for name, array in grid.items()}
    coordinates |= {name: ("sample", array, _attributes(scenario, name)) for name, array in sampled.items()}
    for name, default in scenario.parameters.items():
        if name not in coordinates and name not in (*taken, *dims):
            coordinates[name] = ((), np.float64(given.get(name, default)), _attributes(scenario, name))
    return dataset(scenario.event.layout, entries, numbers, status, dims, coordinates)


def solver_of(scenario: Scenario, entries: Mapping[str, Entry]) -> Solver:
    """The quantities kept, as functions of the scenario's parameters; made once for each choice."""
    return scenario.solver(entries)


def _samples(scenario: Scenario, samples: Any) -> dict[str, Array]:
    """Name → values, all of one length."""
    if not hasattr(samples, "items"):
        raise ShapeError(f"samples must be a dict of arrays by parameter, or a DataFrame, not {samples!r}.")
    given = {name_of(name): values for name, values in samples.items()}
    for name in given:
        if name not in scenario.parameters:
            raise unknown("parameter", name, scenario.parameters)
    columns = {name: number(f"samples of '{name}'", values) for name, values in given.items()}
    for name, array in columns.items():
        if array.ndim != 1:
            raise ShapeError(f"The samples of '{name}' have shape {array.shape}; give one number per sample.")
    lengths = {name: len(array) for name, array in columns.items()}
    if len(set(lengths.values())) != 1:
        raise ShapeError(f"The samples must be equally many for all parameters, not {lengths}.")
    return columns


def _refuse(scenario: Scenario, name: str, array: Array, sampled: Mapping[str, Array]) -> None:
    if name not in scenario.parameters:
        raise unknown("parameter", name, scenario.parameters)
    if array.ndim > 1:
        raise ShapeError(f"The axis '{name}' has shape {array.shape}; give a number or a one-dimensional array.")
    if name in sampled:
        raise NameClash(f"'{name}' is given by samples and as an axis; leave one out.")


def _along(array: Array, place: int, n_dims: int) -> Array:
    """An axis of the grid, shaped so that it broadcasts."""
    return array.reshape(*(-1 if i == place else 1 for i in range(n_dims)))


def _attributes(scenario: Scenario, name: str) -> dict[str, str]:
    return {"long_name": f"parameter {name}", **unit_attribute(scenario.units.get(name, ""))}
