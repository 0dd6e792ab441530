"""A sweep at a glance: what became of its events and contacts, and where its quantities are least and largest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.cli.arguments import amount, degrees
from jourdain.data.columns import Column, columns
from jourdain.errors import BadEvent, Error, Status
from jourdain.events.table import ROUNDING, aligned, rounded, with_unit
from jourdain.kinds import ON_KINDS, ContactState

if TYPE_CHECKING:
    import xarray

    from jourdain.scenarios.scenario import Scenario


def overview(ds: xarray.Dataset, everything: bool = False) -> str:
    """The events, and least and largest value of what varies, with the swept parameters there, angles in degrees.

    Scalars and impulses; with `everything`, all that the dataset holds. States of contacts are counted: what is least
    of them says nothing.
    """
    found = columns(ds)
    counted = [column for column in found.columns if column.address.startswith("contact_state.")]
    swept = [column for column in found.columns if column.kind == "swept"]
    shown = [column for column in found.columns if column.kind == "quantity" and column not in counted
             and (everything or not column.along or column.address.startswith("impulse."))]  # fmt: skip
    sizes: dict[tuple[str, str], float] = {}  # largest magnitude among quantities that compare
    for column in shown:
        array = column.values
        largest = float(np.max(np.abs(array), initial=0.0, where=np.isfinite(array)))
        sizes[_family(column)] = max(sizes.get(_family(column), 0.0), largest)
    rows = []
    for column in shown:
        array, size = column.values, sizes[_family(column)]
        finite = np.isfinite(array)
        if not finite.any() or np.ptp(array[finite]) <= ROUNDING * size:
            continue
        ends = (int(np.argmin(np.where(finite, array, np.inf))), int(np.argmax(np.where(finite, array, -np.inf))))
        factor = degrees(column.unit)
        cells = [(rounded(array[i] / factor, size / factor), _where(swept, i)) for i in ends]
        unit = {"rad": "°", "1": ""}.get(column.unit, column.unit)
        rows.append([with_unit(column.address, unit), *cells[0], *cells[1]])
    header = ["quantity", "least", "at", "largest", "at"]
    table = aligned(header, rows, left=(0, 2, 4)) if rows else ["No quantity varies."]
    if counted and not shown:
        table = []
    events = str(ds.attrs.get("events", f"{found.n_lines} events"))
    return "\n".join([events, *map(_counts, counted), *(["", *table] if table else [])])


def _counts(column: Column) -> str:
    """What became of a one-sided contact, the most frequent first."""
    contact, states = column.address.partition(".")[2], column.values
    found, counts = np.unique(states[np.isfinite(states)].astype(int), return_counts=True)
    told = [f"{ContactState(found[i])!s} {counts[i]}" for i in np.argsort(-counts, kind="stable")]
    return f"{contact}: {', '.join(told) or 'no result'}"


def _family(column: Column) -> tuple[str, str]:
    """Quantities whose sizes compare: energies with energies, impulses of one unit with each other."""
    return (column.address.partition(".")[0] if column.along else "", column.unit)


def _where(swept: list[Column], line: int) -> str:
    return ", ".join(f"{c.address}={amount(float(c.read(slice(line, line + 1))[0]), c.unit)}" for c in swept)


def pulling(scenario: Scenario, ds: xarray.Dataset) -> list[str]:
    """For each contact that is two-sided in the event and pulls somewhere: in how many events it does."""
    found = {column.address: column for column in columns(ds).columns}
    told = []
    for contact in scenario.event.layout.constraints:
        normal = found.get(f"impulse.{contact.rows[0]}")
        if not contact.contact or contact.kind not in ON_KINDS or normal is None:
            continue
        impulse = normal.values
        largest = np.max(np.abs(impulse), initial=0.0, where=np.isfinite(impulse))
        n_pulling = int(np.sum(impulse < -ROUNDING * largest))
        if n_pulling:
            told.append(f"'{contact.name}' pulls in {n_pulling} of {impulse.size} events (it is two-sided here).")
    return told


def failures(scenario: Scenario, ds: xarray.Dataset, fixed: Mapping[str, float]) -> list[str]:
    """For each way in which events of a sweep failed: where the first did, and why. Raises if all failed."""
    status = np.ravel(ds["status"].values)
    swept = [column for column in columns(ds).columns if column.kind == "swept"]
    told = []
    for code in np.unique(status[status > Status.ENERGY_CREATED]):
        line = int(np.argmax(status == code))
        at = {**fixed, **{c.address: float(c.read(slice(line, line + 1))[0]) for c in swept}}
        told.append(f"{Status(int(code)).name.lower()}, first at {_where(swept, line)}: "
                    f"{_reason(scenario, Status(int(code)), at)}")  # fmt: skip
    if status.size and (status > Status.ENERGY_CREATED).all():
        raise BadEvent(f"No event of the sweep has an outcome ({ds.attrs['events']}). " + " ".join(told))
    return told


def _reason(scenario: Scenario, status: Status, at: Mapping[str, Any]) -> Error:
    try:
        return scenario.refusal(status, at)
    except Error as error:  # a pose that is not found cannot be looked at
        return error
