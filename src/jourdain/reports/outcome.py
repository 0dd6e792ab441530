"""What came of an event: tables with units, and figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from jourdain.data.numbers import amount, fixed, significant
from jourdain.events import cells, table
from jourdain.kinds import ON_KINDS, Kind
from jourdain.plots.energy import energy_bars
from jourdain.plots.impulses import impulse_bars
from jourdain.plots.paths import impulse_path
from jourdain.reports.record import Part, Picture, Table, Words, picture

if TYPE_CHECKING:
    from jourdain.events.transition import Transition

MOST_BARS = 24
SLIPPING = ("slips", "reverses")  # there is no telling which friction would have held them
PARTS = (
    "T_c is the part of the kinetic energy in the motion that the constraints of the event forbid, T_a the part in the "
    "motion that they admit. Each impulse does work; the works add up to T⁺ − T⁻."
)


def in_short(t: Transition) -> Table:
    """The few numbers that one looks for first."""
    scale = float(max(t.T_minus, t.T_plus))
    prior, virtual, posterior = t.dof
    rows = [
        ["kinetic energy before, T⁻", f"{table.rounded(t.T_minus, scale)} J"],
        ["kinetic energy after, T⁺", f"{table.rounded(t.T_plus, scale)} J"],
        _change(t, scale),
        *([["part in the constrained motion, ξ = T_c⁻/T⁻", table.rounded(t.xi, 1.0)]] if np.isfinite(t.xi) else []),
        ["degrees of freedom", f"{prior} before, {virtual} during, {posterior} after"],
        *([f"contact {name}", str(state)] for name, state in t.contact.items()),
        *([["redundant rows", ", ".join(t.redundant)]] if t.redundant else []),
        *([["impulses not determined", ", ".join(t.undetermined)]] if t.undetermined else []),
        ["status", t.status.message],
    ]
    return Table("", [], rows, (0, 1))


def _change(t: Transition, scale: float) -> list[str]:
    """What is lost, or gained, and which part of T⁻ that is."""
    gained = t.loss < -cells.ROUNDING * scale
    change = float(-t.loss if gained else t.loss)
    share = f" ({fixed(100 * change / float(t.T_minus))} % of T⁻)" if t.T_minus > 0 and change <= t.T_minus else ""
    return ["gained, T⁺ − T⁻" if gained else "lost, T⁻ − T⁺", f"{table.rounded(change, scale)} J{share}"]


def outcome_tables(t: Transition) -> list[Part]:
    """Velocities, rows and contacts."""
    found = [_titled("Velocities", table.velocity_table(t)), _rows(t), _contacts(t)]
    return [one for one in found if one.rows]


def energy_parts(t: Transition) -> list[Part]:
    """Where the energy is before and after, and the work of each impulse."""
    energies, ledger = table.energy_table(t, works=False), table.ledger_table(t)
    bars = picture("energies", energy_bars(t), "Kinetic energy before and after, and the work of the impulses.")
    works = [_titled("The ledger: work of the impulses", ledger)] if t.ledger else []
    return [bars, _titled("Energy", energies), *works, Words(PARTS)]


def impulse_pictures(t: Transition) -> Iterator[Picture]:
    """Bars of impulses, those of one unit together; and what contacts with friction did while theirs grew."""
    units: dict[str, list[str]] = {}
    for row in t.layout.rows:
        if row.kind in (*ON_KINDS, Kind.NONIDEAL):
            units.setdefault(t.layout.unit("impulse", row.name), []).append(row.name)
    for unit, rows in units.items():
        if 2 <= len(rows) <= MOST_BARS and any(t.impulse[row] for row in rows):
            said = f"The impulses, in {unit}." if unit else "The impulses."
            yield picture(f"impulses {unit}", impulse_bars(t, rows=rows), said)
    for name in t.layout.along("one_sided"):
        if "compression" in t.layout.law_of(name).solver.ledger and np.any(t.impulse[name]):
            yield picture(f"path {name}", impulse_path(t, name),
                          f"Contact {name}: its velocities while the normal impulse grows.")  # fmt: skip


def _rows(t: Transition) -> Table:
    """Rows, with the units of their impulses and the masses that these meet."""
    header, rows = table.row_table(t)
    filled = []
    for row, of in zip(rows, t.layout.rows, strict=True):
        unit, mass = t.layout.unit("impulse", of.name), t.layout.unit("effective_mass", of.name)
        impulse = f"{row[4]} {unit}" if row[4] and unit else row[4]
        filled.append([*row[:4], impulse, amount(float(t.effective_mass[of.name]), mass)])
    return Table("Rows", [*header, "effective mass"], filled, (0, 1))


def _contacts(t: Transition) -> Table:
    """The friction that ideal contacts need, and how well laws are met."""
    restitution = t.restitution
    rows = [
        [name, str(t.contact[name]) if name in t.contact else "two-sided",
         significant(restitution[name]) if name in restitution and np.isfinite(restitution[name]) else "",
         "–" if str(t.contact.get(name)) in SLIPPING or not np.isfinite(needed := float(t.required_friction[name]))
         else significant(needed)]
        for name in t.layout.contacts
    ]  # fmt: skip
    header = ["contact", "", "restitution used", "friction needed not to slip"]
    return Table("Contacts", header, rows, (0, 1)).without_empty()


def _titled(title: str, found: table.Table) -> Table:
    header, rows = found
    return Table(title, header, [["–" if text == "nan" else text for text in row] for row in rows])
