"""The record of an outcome and the table of quantities are one list."""

from __future__ import annotations

from dataclasses import fields

from jourdain.algebra.record import CONTACT_FIELDS, KEPT, Outcome
from jourdain.quantities import QUANTITIES


def test_every_quantity_is_a_field_that_is_kept() -> None:
    linked = {one.name: one.metadata["quantity"] for one in fields(Outcome) if "quantity" in one.metadata}
    assert linked == {name: quantity for name, quantity in QUANTITIES.items() if name != "status"}
    assert set(linked) < set(KEPT)


def test_what_has_one_number_per_contact_is_empty_without_contacts() -> None:
    one_sided = {name for name, quantity in QUANTITIES.items() if quantity.along == "one_sided"}
    assert one_sided < set(CONTACT_FIELDS)
