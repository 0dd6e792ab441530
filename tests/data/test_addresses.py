"""Addresses: an event and its dataset agree on the numbers and the unit of each."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import xarray

import jourdain as jd
from cases import EVENTS
from jourdain import gallery
from jourdain.data.addresses import find, select, unit_in, unit_of
from jourdain.data.layout import Layout
from jourdain.quantities import QUANTITIES


@cache
def solved(problem: str) -> tuple[Layout, xarray.Dataset]:
    t = getattr(gallery, problem)().solve()
    return t.layout, t.to_dataset()


def addresses(layout: Layout) -> list[str]:
    """Every quantity of an event, each of its numbers, and of quantities along rows those of each constraint."""
    found = []
    for name, quantity in QUANTITIES.items():
        if name != "status" and (not quantity.along or layout.along(quantity.along)):
            labels = layout.along(quantity.along) if quantity.along else ()
            several = [c.name for c in layout.constraints] if quantity.along == "row" else []
            found += [name, *(f"{name}.{label}" for label in dict.fromkeys([*labels, *several]))]
    return [*found, *(f"ledger.{key}" for key in layout.impulses)]


@pytest.mark.parametrize("problem", EVENTS)
def test_an_event_and_its_dataset_agree(problem: str):
    layout, ds = solved(problem)
    for address in addresses(layout):
        entry = find(layout, address)
        numbers = np.atleast_1d(ds[entry.quantity].values)[list(entry.places)]
        expected = numbers.sum() if entry.summed else numbers if entry.names else numbers[0]
        picked = select(ds, address)
        np.testing.assert_array_equal(picked.values, expected, err_msg=address)
        if not picked.ndim and not entry.summed:
            assert unit_in(picked, address.partition(".")[0]) == unit_of(layout, address), address


def test_tangents_of_a_contact_in_space():
    layout, ds = solved("thrown_box")
    (contact,) = (c for c in layout.constraints if c.contact)
    assert len(contact.rows) == 3
    assert find(layout, f"impulse.{contact.name}.tangent").names == contact.rows[1:]
    assert list(select(ds, f"impulse.{contact.name}.tangent").row.values) == list(contact.rows[1:])


def test_the_unit_is_that_of_the_number_although_another_label_was_picked():
    """A velocity that was picked before says nothing of impulses."""
    ds = gallery.disk_on_moving_plane().solve().to_dataset()
    ds["impulse"].attrs.pop("units", None)
    row = str(ds.row.values[0])
    expected = unit_in(select(ds, f"impulse.{row}"), "impulse")
    assert expected
    assert unit_in(select(ds.isel(velocity=-1), f"impulse.{row}"), "impulse") == expected


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("los", "There is no quantity 'los'; did you mean 'loss'?"),
        ("loss.heel", "There is no quantity 'loss.heel'; did you mean 'loss'?"),
        ("impulse.hell", "There is no entry of impulse 'hell'; did you mean 'heel'?"),
        ("impulse.", "There is no entry of impulse ''"),
        ("ledger.heal", "There is no entry of ledger 'heal'; did you mean 'heel'?"),
        ("contact_state", "This event has no 'contact_state': no contact is one-sided."),
        (3, "A quantity is addressed by a text, such as 'loss' or 'v_plus.theta', not 3."),
    ],
)
def test_what_is_not_there(address: str, message: str):
    with pytest.raises(jd.UnknownName) as caught:
        find(solved("walker")[0], address)
    assert str(caught.value).startswith(message)
