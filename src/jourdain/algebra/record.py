"""The record of an event: every number that the algebra works out, by name."""

# ruff: noqa: RUF009 — fields are declared by functions

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any, Generic

from jourdain.algebra.linear import X
from jourdain.quantities import QUANTITIES


def quantity(name: str) -> Any:
    """A field that stands in the table of quantities, with its symbol and unit."""
    return field(metadata={"quantity": QUANTITIES[name], "kept": True})


def kept() -> Any:
    """A field that a `Transition` keeps, and that other numbers are read from."""
    return field(metadata={"kept": True})


@dataclass(frozen=True, kw_only=True)
class Outcome(Generic[X]):
    """Every number of an event. Rows are stacked in the order of the blocks; columns are (k, 1), scalars (1, 1).

    What depends on more than the matrices (coordinates, outputs, geometry) is empty here and filled in by who knows it.
    """

    # Energy, J
    T_minus: X = quantity("T_minus")
    T_plus: X = quantity("T_plus")
    T_c_minus: X = quantity("T_c_minus")
    T_a_minus: X = quantity("T_a_minus")
    T_r_minus: X = quantity("T_r_minus")
    T_c_plus: X = quantity("T_c_plus")
    T_a_plus: X = quantity("T_a_plus")
    T_r_plus: X = quantity("T_r_plus")
    xi: X = quantity("xi")
    loss: X = quantity("loss")
    drive_work: X = quantity("drive_work")
    dissipated: X = quantity("dissipated")
    energy_created: X = quantity("energy_created")
    # State
    q: X = quantity("q")
    v_minus: X = quantity("v_minus")
    v_plus: X = quantity("v_plus")
    outputs_minus: X = quantity("outputs_minus")
    outputs_plus: X = quantity("outputs_plus")
    # Rows
    u_minus: X = quantity("u_minus")
    u_plus: X = quantity("u_plus")
    impulse: X = quantity("impulse")
    Lambda: X = quantity("Lambda")
    effective_mass: X = quantity("effective_mass")
    ledger: X = quantity("ledger")
    applied_work: X = quantity("applied_work")
    redundant: X = quantity("redundant")
    dof: X = quantity("dof")  # (3, 1), before, during, after
    nullspace: X = kept()  # (rows that are on, the same): impulses that change nothing, one per column
    row_length2: X = kept()  # c M⁻¹ cᵀ of each row
    # Contacts, two-sided ones included
    required_friction: X = quantity("required_friction")
    # One-sided contacts, one number of each unless it says otherwise
    restitution: X = quantity("restitution")  # NaN for laws that have none
    contact_state: X = quantity("contact_state")
    contact_residual: X = quantity("contact_residual")
    contact_margin: X = quantity("contact_margin")
    compression_work: X = quantity("compression_work")
    restitution_work: X = quantity("restitution_work")
    friction_work: X = quantity("friction_work")
    compression_end: X = quantity("compression_end")
    slip_end: X = quantity("slip_end")
    slip_impulse: X = kept()  # tangential impulse there
    contact_undetermined: X = kept()  # (rows of contacts, 1)
    contact_shared: X = kept()  # (rows that are on, 1), from which a contact could take over
    contact_one_of_many: X = kept()  # (1, 1), whether the motion rests on the least of many impulses of compression
    contact_candidates: X = kept()  # (ways, 1), 1 where a way to hold meets the laws; empty unless a law lists them
    contact_asked: X = kept()  # (m, 1), of an `Iteration`
    contact_arrived: X  # (1, 1), whether it did; empty without one
    contact_several: X  # (1, 1), whether the laws can be met in several ways
    contact_closing: X  # (1, 1), how quickly contacts that were left alone close after all
    contact_cancelled: X  # (1, 1), the largest part of a velocity that impulses give along rows that are not held
    contact_mobility: X  # (rows of contacts, 1), the speed along a row that a unit impulse along it gives
    contact_least: X  # (rows of contacts, 1), what u⁺ may not fall below along normals
    contact_kink: X  # (tangents, 1), slips that are 0 and could go either way
    contact_ways: X  # (ways, 1), by how much each way to hold misses the laws
    # What the checks need
    apart: X  # (1, 1), whether rows taken to be well conditioned are
    blurred: X  # (1, 1), 1 where light velocities may lose digits, 2 where derivatives do, else 0; see `refinement`
    target: X  # (rows that are on, 1), what u⁺ must be
    pivots: X  # (n, 1), of M
    M_diagonal: X  # (n, 1)
    T_free: X  # (1, 1), without the rows that are on
    b_minus: X
    b_plus: X
    kappa: X  # restitution of elastic rows, then of contacts that have one
    friction: X  # of contacts that have one
    applied: X  # (n, 1), generalized
    row_length: X | None  # √(c M⁻¹ cᵀ) of each row; None where their squares neither over- nor underflow
    geometry: X | None = None  # the geometric rows, 0 where they hold
    u_rounding: X | None = None  # what u⁻ may be off by rounding

    def columns(self, names: Iterable[str]) -> dict[str, X]:
        """Some of the fields, by name."""
        return {name: getattr(self, name) for name in names}


FIELDS = tuple(one.name for one in fields(Outcome))
# Columns about one-sided contacts, empty without any.
CONTACT_FIELDS = tuple(name for name in FIELDS[FIELDS.index("restitution") : FIELDS.index("apart")]
                       if name != "contact_one_of_many")  # fmt: skip
KEPT = tuple(one.name for one in fields(Outcome) if one.metadata)  # what a `Transition` keeps
