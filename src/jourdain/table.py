"""An outcome as a table that a person reads: plain text, and HTML for notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jourdain.transition import Transition

Table = tuple[list[str], list[list[str]]]


def text(t: Transition) -> str:
    """The tables below one another, columns aligned."""
    lines = [_headline(t)]
    for header, rows in _tables(t):
        cells = [header, *rows]
        widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
        lines.append("")
        for row in cells:
            numbers = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
            lines.append("  ".join([row[0].ljust(widths[0]), *numbers]).rstrip())
    return "\n".join(lines)


def page(t: Transition) -> str:
    """The same as HTML."""
    parts = [f"<p><b>{html.escape(_headline(t))}</b></p>"]
    for header, rows in _tables(t):
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
        body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
    return "\n".join(parts)


def _headline(t: Transition) -> str:
    if t.batch_shape:
        return f"{t.ok.size} events {t.batch_shape}, {int(np.sum(t.ok))} ok"
    prior, virtual, posterior = t.dof
    line = f"{t.status.message.split(';')[0]}; degrees of freedom {prior} → {virtual} → {posterior}"
    if t.energy_created > 0:
        line += f"; {_number(t.energy_created)} J created"
    if t.redundant:
        line += f"; redundant: {', '.join(t.redundant)}; undetermined: {', '.join(t.undetermined)}"
    return line


def _tables(t: Transition) -> list[Table]:
    tables = [_velocities(t), _rows(t), _energies(t)]
    return [table for table in tables if table[1]]


def _velocities(t: Transition) -> Table:
    layout = t.layout
    named = [
        [_with_unit(name, unit), _number(t.velocity_minus[name]), _number(t.velocity_plus[name])]
        for name, unit in zip(layout.velocities, layout.velocity_units, strict=True)
    ]
    named += [[name, _number(t.outputs_minus[name]), _number(t.outputs_plus[name])] for name in layout.outputs]
    return ["velocity", "before", "after"], named


def _rows(t: Transition) -> Table:
    units = {row: c.units for c in t.layout.constraints for row in c.rows}
    rows = []
    for row in t.layout.rows:
        impulse = "" if row.kind == "released" else _number(t.impulse[row.name])
        cells = [_with_unit(row.name, units[row.name]), row.kind, _number(t.u_minus[row.name]), _number(t.u_plus[row.name])]
        rows.append([*cells, impulse])
    return ["row", "kind", "u before", "u after", "impulse"], rows


def _energies(t: Transition) -> Table:
    shown = [("kinetic, T", t.T_minus, t.T_plus), ("  constrained, T_c", t.T_c_minus, t.T_c_plus),
             ("  admissible, T_a", t.T_a_minus, t.T_a_plus)]  # fmt: skip
    if np.any(t.T_r_minus > 1e-12 * t.T_minus) or np.any(t.T_r_plus > 1e-12 * t.T_plus):
        shown.append(("  along regular rows, T_r", t.T_r_minus, t.T_r_plus))
    rows = [[name, _number(before), _number(after), _number(after - before)] for name, before, after in shown]
    rows += [[f"work of {name}", "", "", _number(work)] for name, work in t.ledger.items() if np.any(work != 0)]
    rows.append(["lost, T⁻ − T⁺", "", "", _number(t.loss)])
    rows.append(["ξ = T_c⁻/T⁻", _number(t.xi), "", ""])
    return ["energy in J", "before", "after", "change"], rows


def _with_unit(name: str, unit: str) -> str:
    return f"{name} ({unit})" if unit else name


def _number(value: object) -> str:
    """Six significant digits; of a batch, the range."""
    array = np.asarray(value, dtype=float)
    if array.ndim:
        if not np.isfinite(array).any():
            return "nan"
        return f"{_number(np.nanmin(array))} … {_number(np.nanmax(array))}"
    rounded = float(array)
    return "0" if rounded == 0 else f"{rounded:.6g}"
