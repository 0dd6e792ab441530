"""State in: dicts by name or arrays, parameters as keywords, broadcast to one batch shape."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jourdain.errors import MissingValue, NotFinite, ShapeError, listing, unknown
from jourdain.naming import name_of

Array = NDArray[np.float64]  # of numbers, any shape
Flags = NDArray[np.bool_]
Statuses = NDArray[np.int8]  # `errors.Status` of each event
StateLike: TypeAlias = "Mapping[Any, Any] | ArrayLike | None"  # q or v, by name or `(*batch, n)`
# What `**parameters` takes: numbers by name, and `parameters=`, a dict of more of them.
ParameterLike: TypeAlias = "ArrayLike | Mapping[Any, Any]"
State: TypeAlias = tuple[Array, Array, Array]  # q, v and parameters, each `(*batch, n)` with one batch shape
Expression: TypeAlias = Any  # a number, or an expression of SymPy or CasADi, which ship no types
RowsLike: TypeAlias = "Expression | Sequence[Expression] | Mapping[str, Expression] | None"  # one, or several
FilePath: TypeAlias = str | PathLike[str]

MANY = 1 << 20  # numbers; fewer are not checked
_PLAIN = (float, int, np.float64)


def vector(what: str, value: Any, names: Sequence[str], default: Array) -> Array:
    """A dict by name (missing: the default) or an array with the last axis `len(names)` → `(*batch, n)`."""
    if value is None:
        return default
    if isinstance(value, Mapping) or hasattr(value, "items"):  # also a Series or a DataFrame, by its labels
        entries = {name_of(key): _entry(what, key, entry) for key, entry in value.items()}
        for name in entries:
            if name not in names:
                raise unknown(f"entry of {what}", name, names)
        columns = [entries.get(name, default[i]) for i, name in enumerate(names)]
        if all(isinstance(entry, float) for entry in columns):
            return np.array(columns)
        try:
            views = np.broadcast_arrays(*columns)
        except ValueError:
            shapes = {name: np.shape(entry) for name, entry in entries.items() if np.shape(entry)}
            raise ShapeError(f"The entries of {what}, of shapes {shapes}, do not broadcast.") from None
        _check_size(sum(view.size for view in views))
        return np.stack(views, axis=-1) if columns else default
    array = number(what, value, copy=False)
    if array.ndim == 0 or array.shape[-1] != len(names):
        raise ShapeError(
            f"{what} has shape {array.shape}, but its last axis must be {len(names)}: {listing(names)}. "
            "A dict by name does too."
        )
    return array


def _entry(what: str, key: Any, value: Any) -> Array | float:
    """A plain number as it is, which spares time; others as arrays."""
    return float(value) if type(value) in _PLAIN else number(f"{what}['{name_of(key)}']", value, copy=False)


def number(what: str, value: Any, copy: bool = True) -> Array:
    """A float array, or an error that names it. Without `copy` it may be the one that was given."""
    if copy or not isinstance(value, np.ndarray):
        _check_size(n_entries(value))
    try:
        array = np.asarray(value)
        if np.iscomplexobj(array) or (array.dtype == object and any(entry is None for entry in array.ravel())):
            raise TypeError
        return array.astype(float, copy=copy)
    except (TypeError, ValueError):
        raise ShapeError(f"{what} must be a number or an array of numbers, not {value!r}.") from None


def n_entries(values: Any) -> int:
    """How many numbers an array will have that is made of this; nothing is made yet."""
    if hasattr(values, "shape"):
        return math.prod(values.shape)
    try:
        return len(values) if hasattr(values, "__len__") and not isinstance(values, str | bytes) else 1
    except OverflowError:  # of a range
        return sys.maxsize


def _check_size(n_numbers: int) -> None:
    """Raise TooLarge if so many numbers would not fit in memory."""
    if n_numbers > MANY:
        from jourdain.compute.memory import check_batch

        check_batch((n_numbers,), 1)


def parameter_vector(
    defaults: Mapping[str, float | None], given: Mapping[str, Any], renamed: Mapping[str, str] | None = None
) -> list[Array | float]:
    """One array or plain number per parameter, from the values given and the defaults.

    `renamed` tells what to say of names that are no parameters any more.
    """
    values = named_values("parameters", given)
    for name in values:
        if name not in defaults:
            if renamed and name in renamed:
                raise unknown("parameter", name, [renamed[name]])
            raise unknown("parameter", name, defaults)
    columns: list[Array | float] = []
    for name, default in defaults.items():
        value = values.get(name, default)
        if value is None:
            raise MissingValue(f"Parameter '{name}' has no default; give it as {name}=… .")
        columns.append(float(value) if type(value) in _PLAIN else number(f"parameter '{name}'", value, copy=False))
    return columns


def typical_parameters(defaults: Mapping[str, Any], rng: np.random.Generator) -> Array:
    """One number per parameter, `(n,)`: its default (the first of several), a random one where it has none."""
    unset = rng.uniform(0.5, 1.5, len(defaults))
    given = [number(f"parameter '{name}'", value).ravel()[:1] for name, value in defaults.items() if value is not None]
    known = np.array([value is not None for value in defaults.values()], dtype=bool)
    unset[known] = np.concatenate([np.zeros(0), *given])
    return unset


def named_values(what: str, given: Any) -> dict[str, Any]:
    """A dict keyed by name, from one keyed by names or things."""
    if not isinstance(given, Mapping):
        raise ShapeError(f"{what} must be a dict by name, not {given!r}.")
    return {name_of(key): value for key, value in given.items()}


def broadcast(
    q: Array, v: Array, parameters: Sequence[Array | float], check: Callable[[tuple[int, ...], int], None]
) -> State:
    """Q `(*batch, n_q)`, v `(*batch, n_v)`, parameters `(*batch, n_p)` with one batch shape.

    `check(batch, n_p)` raises where so many numbers would not fit in memory.
    """
    if q.ndim == v.ndim == 1 and all(isinstance(p, float) for p in parameters):
        return q, v, np.array(parameters, dtype=float)
    batch = broadcast_shape(parameters, q.shape[:-1], v.shape[:-1])
    check(batch, len(parameters))
    p = (
        np.stack([np.broadcast_to(column, batch) for column in parameters], axis=-1)
        if parameters
        else np.empty((*batch, 0))
    )
    return np.broadcast_to(q, (*batch, q.shape[-1])), np.broadcast_to(v, (*batch, v.shape[-1])), p


def broadcast_shape(parameters: Sequence[Array | float], *others: tuple[int, ...]) -> tuple[int, ...]:
    """The one batch shape of parameters and what stands beside them."""
    shapes = [*others, *(np.shape(p) for p in parameters if not isinstance(p, float))]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise ShapeError(
            f"The leading shapes of q, v and the parameters, {[s for s in shapes if s]}, do not broadcast."
        ) from None


def refuse_nonfinite(**arrays: tuple[Array, Sequence[str]]) -> None:
    """Raise NotFinite for the first entry that is NaN or infinite; takes what=(array `(n,)`, names)."""
    for what, (array, names) in arrays.items():
        for entry, name in zip(np.ravel(array), names, strict=True):
            if not np.isfinite(entry):
                raise NotFinite(f"{what} of '{name}' is {entry}; every number must be finite.")
