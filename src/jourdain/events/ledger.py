"""The work of each impulse of an outcome, by constraint, and which impulses rigid bodies do not determine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from jourdain.algebra.span import RANK
from jourdain.inputs import Array, Flags
from jourdain.naming import Named

if TYPE_CHECKING:
    from jourdain.events.transition import Transition


def ledger(t: Transition) -> Named[Array]:
    """See `Transition.ledger`."""
    work, applied, places = t.column("ledger"), t.column("applied_work"), t.layout.slices
    entries: dict[str, Array] = {}
    for group in _groups(t):
        apart = {name: _booked_apart(t, name) for name in group}
        if "compression" in apart[group[0]]:
            entries |= _along_path(t, group[0])
            continue
        rubbing = [name for name in group if "friction" in apart[name]]
        for name in rubbing:
            start = places[name].start
            entries[f"{name} friction"] = work[..., start + 1 : places[name].stop].sum(axis=-1)[()]
        normal = [slice(places[n].start, places[n].start + 1) if n in rubbing else places[n] for n in group]
        entries[" + ".join(group)] = sum(work[..., place].sum(axis=-1) for place in normal)[()]
    entries |= {name: applied[..., i][()] for i, name in enumerate(t.layout.impulses)}
    return Named("ledger entry", entries)


def undetermined(t: Transition) -> Flags:
    """Which rows that are on, or of one-sided contacts, have an undetermined impulse, `(*batch, k)`."""
    two_sided = np.any(np.abs(_scaled_nullspace(t)) > RANK, axis=-1) | _relieved(t)
    return np.concatenate([two_sided, t.column("contact_undetermined") > 0], axis=-1)


def _booked_apart(t: Transition, name: str) -> tuple[str, ...]:
    """Parts of the work of a constraint that its law books apart."""
    return t.layout.law_of(name).solver.ledger if name in t.layout.along("one_sided") else ()


def _along_path(t: Transition, name: str) -> dict[str, Array]:
    """The works of a contact with friction inside the event, relative to its support; and what that one does."""
    place = t.layout.along("one_sided").index(name)
    compression, restitution, friction = (
        t.column(f"{part}_work")[..., place] for part in ("compression", "restitution", "friction")
    )
    parts = {"compression": compression, "restitution": restitution, "friction": friction}
    booked = t.column("ledger")[..., t.layout.slices[name]]
    support = booked[..., 0] - (compression + restitution) + (booked[..., 1:].sum(axis=-1) - friction)
    if np.nan_to_num(support).any():
        parts["support"] = support
    return {f"{name} {part}": work[()] for part, work in parts.items()}


def _groups(t: Transition) -> list[list[str]]:
    """Constraints that share undetermined impulses (in a batch: in any sample) together, the others alone."""
    group_of = {c.name: c.name for c in t.layout.constraints}  # name → first member
    for together in _sharing(t):
        joined = {group_of[name] for name in together}
        first = next((name for name in group_of if group_of[name] in joined), "")
        group_of = {name: first if group in joined else group for name, group in group_of.items()}
    return [[name for name in group_of if group_of[name] == first] for first in dict.fromkeys(group_of.values())]


def _sharing(t: Transition) -> Iterator[set[str]]:
    """Sets of constraints that share an impulse: along each null vector, and contacts with what they relieve."""
    on, contacts = t.layout.rows[: t.layout.n_on], t.layout.along("one_sided")
    shared = np.abs(np.nan_to_num(_scaled_nullspace(t))) > RANK
    for column in np.moveaxis(shared, -1, 0):
        yield {row.constraint for i, row in enumerate(on) if column[..., i].any()}
    one_of_many, relieved = np.nan_to_num(t.column("contact_undetermined")) > 0, _relieved(t)
    of_contacts = [row for row in t.layout.rows if row.constraint in contacts]
    touching = {row.constraint for i, row in enumerate(of_contacts) if one_of_many[..., i].any()}
    yield touching | {row.constraint for i, row in enumerate(on) if relieved[..., i].any()}


def _relieved(t: Transition) -> Flags:
    """Rows that are on from which a one-sided contact could take over, `(*batch, rows that are on)`."""
    flags = np.nan_to_num(t.column("contact_shared")) > 0
    return flags if flags.shape[-1] else np.zeros((*t.batch_shape, t.layout.n_on), dtype=bool)


def _scaled_nullspace(t: Transition) -> Array:
    """Columns in units of unit rows (λ̄_i √W_ii), the largest entry of each scaled to 1; `(*batch, rows, columns)`."""
    length = np.sqrt(t.column("row_length2")[..., : t.layout.n_on, None])
    null = t.matrix("nullspace") * np.where(length > 0, length, 1.0)
    largest = np.max(np.abs(null), axis=-2, keepdims=True, initial=0.0)
    return np.asarray(null / np.where(largest > 0, largest, 1.0))
