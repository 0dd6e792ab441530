"""A sweep at a glance: what became of its events and contacts, and where its quantities are least and largest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.cli.arguments import assignment
from jourdain.data.addresses import parts
from jourdain.data.columns import Column, Columns
from jourdain.data.numbers import shown_in, with_unit
from jourdain.errors import BadEvent, Error, Status
from jourdain.events.cells import ROUNDING
from jourdain.events.table import aligned, rounded
from jourdain.kinds import ON_KINDS, ContactState

if TYPE_CHECKING:
    from jourdain.scenarios.scenario import Scenario


def overview(table: Columns, everything: bool = False) -> str:
    """The events, and least and largest value of what varies, with the swept parameters there, angles in degrees.

    Scalars and impulses; with `everything`, all that the dataset holds. States of contacts are counted: what is least
    of them says nothing.
    """
    quantities = table.of_kind("quantity")
    counted = [column for column in quantities if column.address.startswith("contact_state.")]
    shown = [column for column in quantities if column not in counted
             and (everything or not column.along or column.address.startswith("impulse."))]  # fmt: skip
    rows = _extremes(shown, table.of_kind("swept"))
    lines = aligned(["quantity", "least", "at", "largest", "at"], rows, left=(0, 2, 4)) if rows else []
    if not rows and (shown or not counted):
        lines = ["No quantity varies."]
    events = str(table.dataset.attrs.get("events", f"{table.n_lines} events"))
    return "\n".join([events, *map(_counts, counted), *(["", *lines] if lines else [])])


def _extremes(shown: list[Column], swept: list[Column]) -> list[list[str]]:
    """Least and largest value of each quantity that varies, and where."""
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
        unit, si = shown_in(column.unit)
        row = [with_unit(column.address, unit)]
        for line in (int(np.argmin(np.where(finite, array, np.inf))), int(np.argmax(np.where(finite, array, -np.inf)))):
            row += [rounded(array[line] / si, size / si), _where(swept, line)]
        rows.append(row)
    return rows


def _counts(column: Column) -> str:
    """What became of a one-sided contact, the most frequent first."""
    states = column.values
    codes, counts = np.unique(states[np.isfinite(states)].astype(int), return_counts=True)
    listed = [f"{ContactState(codes[i])!s} {counts[i]}" for i in np.argsort(-counts, kind="stable")]
    return f"{parts(column.address)[1]}: {', '.join(listed) or 'no result'}"


def _family(column: Column) -> tuple[str, str]:
    """Quantities whose sizes compare: energies with energies, impulses of one unit with each other."""
    return (parts(column.address)[0] if column.along else "", column.unit)


def _where(swept: list[Column], line: int) -> str:
    return ", ".join(assignment(column.address, float(column.at(line)), column.unit) for column in swept)


def pulling(scenario: Scenario, table: Columns) -> list[str]:
    """For each contact that is two-sided in the event and pulls somewhere: in how many events it does."""
    impulses = {column.address: column for column in table.of_kind("quantity")}
    notes = []
    for contact in scenario.event.layout.constraints:
        normal = impulses.get(f"impulse.{contact.rows[0]}")
        if not contact.contact or contact.kind not in ON_KINDS or normal is None:
            continue
        impulse = normal.values
        largest = np.max(np.abs(impulse), initial=0.0, where=np.isfinite(impulse))
        n_pulling = int(np.sum(impulse < -ROUNDING * largest))
        if n_pulling:
            notes.append(f"'{contact.name}' pulls in {n_pulling} of {impulse.size} events (it is two-sided here).")
    return notes


def failures(scenario: Scenario, table: Columns, fixed: Mapping[str, float]) -> list[str]:
    """For each way in which events of a sweep failed: where the first did, and why. Raises if all failed."""
    status, swept = np.ravel(table.dataset["status"].values), table.of_kind("swept")
    failed, notes = status > Status.ENERGY_CREATED, []
    for code in map(Status, np.unique(status[failed])):
        line = int(np.argmax(status == code))
        at = {**fixed, **{column.address: float(column.at(line)) for column in swept}}
        notes.append(f"{code.name.lower()}, first at {_where(swept, line)}: {_reason(scenario, code, at)}")
    if status.size and failed.all():
        raise BadEvent(f"No event of the sweep has an outcome ({table.dataset.attrs['events']}). " + " ".join(notes))
    return notes


def _reason(scenario: Scenario, status: Status, at: Mapping[str, Any]) -> Error:
    try:
        return scenario.refusal(status, at)
    except Error as error:  # a pose that is not found cannot be looked at
        return error
