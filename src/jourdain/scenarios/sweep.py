"""A scenario over a grid or over samples of its parameters, as one labelled dataset."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.compute.memory import refuse_too_large
from jourdain.data.dataset import dataset, kept, names, unit_attribute
from jourdain.errors import NameClash, ShapeError, unknown
from jourdain.inputs import Array, n_entries, number
from jourdain.naming import name_of
from jourdain.progress import bar

if TYPE_CHECKING:
    import xarray

    from jourdain.events.transition import Transition
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
    check_size(scenario, keep, [_n_samples(samples), *map(n_entries, axes.values())])
    sampled = {} if samples is None else _samples(scenario, samples)
    given = {name: number(f"axis '{name}'", values) for name, values in axes.items()}
    for name, array in given.items():
        _check_axis(scenario, name, array, sampled)
    grid = {name: array for name, array in given.items() if array.ndim}
    taken = names(scenario.event.layout, entries)
    for name in (*sampled, *grid):
        if name in taken:
            raise NameClash(f"'{name}' is a parameter and also {taken[name]}; choose with keep=[…], or rename it.")
    if samples is not None and "sample" in grid:
        raise NameClash("'sample' is a parameter and also the dimension of the samples; rename it.")
    lengths: dict[str, int] = {} if samples is None else {"sample": len(next(iter(sampled.values()), ()))}
    lengths |= {name: len(array) for name, array in grid.items()}
    dims, shape = tuple(lengths), tuple(lengths.values())

    values: dict[str, Any] = {name: array for name, array in given.items() if not array.ndim}
    values |= {name: array.reshape(-1, *(1,) * len(grid)) for name, array in sampled.items()}
    values |= {name: _along(array, dims.index(name), len(dims)) for name, array in grid.items()}
    pose = scenario.pose(values)
    with bar("sweep", math.prod(shape), progress) as advance:
        numbers, status = scenario.solver(entries).over(pose.columns, shape, advance)
    if pose.arrived is not None:
        status = pose.judged(status)
    along = {**{name: (name,) for name in grid}, **dict.fromkeys(sampled, ("sample",))}
    coordinates = _coordinates(scenario, along, {**given, **sampled}, (*taken, *dims))
    return dataset(scenario.event.layout, entries, numbers, status, dims, coordinates)


def check_size(scenario: Scenario, keep: Sequence[str] | None, lengths: Sequence[int], axis_copies: int = 2) -> None:
    """Raise TooLarge if a sweep over axes of these lengths would not fit, before anything of its size is made."""
    n_numbers = sum(max(len(entry.names), 1) for entry in kept(scenario.event.layout, keep).values())
    if scenario.guessed:  # closing the loops takes room of its own, for all events at once
        n_numbers += COPIES * sum(column.shape[0] for column in scenario.event.inputs)
    remedy = "take fewer points, or sweep in parts"
    if n_numbers > 1:
        remedy = f"keep fewer quantities (keep=['loss']), {remedy}"
    refuse_too_large("The sweep", math.prod(lengths), n_numbers, remedy, n_beside=axis_copies * sum(lengths))


def outcome_dataset(
    scenario: Scenario, outcome: Transition, parameters: Mapping[str, float], keep: Sequence[str] | None = None
) -> xarray.Dataset:
    """One outcome that is known, labelled as `Scenario.sweep` would without an axis."""
    layout = scenario.event.layout
    entries, everything = kept(layout, keep), outcome.to_dataset()
    numbers = {variable: np.atleast_1d(everything[entry.quantity].values)[list(entry.places), None]
               for variable, entry in entries.items()}  # fmt: skip
    numbers |= {name: numbers[name].sum(axis=0, keepdims=True) for name, entry in entries.items() if entry.summed}
    coordinates = _coordinates(scenario, {}, parameters, names(layout, entries))
    return dataset(layout, entries, numbers, everything["status"].values, (), coordinates)


def _coordinates(
    scenario: Scenario, along: Mapping[str, tuple[str]], given: Mapping[str, Any], taken: Iterable[str]
) -> dict[str, Any]:
    """The parameters as xarray takes them. `along`: the dimension of each that varies; `taken`: names not to use."""
    values, chosen = {**scenario.parameters, **given}, [name for name in scenario.parameters if name not in taken]
    return {name: (along.get(name, ()), np.float64(values[name]),
                   {"long_name": f"parameter {name}", **unit_attribute(scenario.units.get(name, ""))})
            for name in dict.fromkeys([*along, *chosen])}  # fmt: skip


def _n_samples(samples: Any) -> int:
    """How many there are; 1 if they are not given, or wrong, which raises later."""
    return max([n_entries(values) for _, values in samples.items()] or [1]) if hasattr(samples, "items") else 1


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


def _check_axis(scenario: Scenario, name: str, array: Array, sampled: Mapping[str, Array]) -> None:
    if name not in scenario.parameters:
        raise unknown("parameter", name, scenario.parameters)
    if array.ndim > 1:
        raise ShapeError(f"The axis '{name}' has shape {array.shape}; give a number or a one-dimensional array.")
    if name in sampled:
        raise NameClash(f"'{name}' is given by samples and as an axis; leave one out.")


def _along(array: Array, place: int, n_dims: int) -> Array:
    """An axis of the grid, shaped so that it broadcasts."""
    return array.reshape(*(-1 if i == place else 1 for i in range(n_dims)))
