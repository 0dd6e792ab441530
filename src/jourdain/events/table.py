"""An outcome as a table that a person reads: plain text, and HTML for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.events.cells import ROUNDING, Cells, LatexCells, PlainCells
from jourdain.kinds import ON_KINDS, ContactState, Kind
from jourdain.output import latex, tables

if TYPE_CHECKING:
    from jourdain.events.transition import Transition

Table = tuple[list[str], list[list[str]]]
PLAIN = PlainCells()


def text(t: Transition) -> str:
    """The tables below one another, columns aligned."""
    lines = [headline(t)]
    for header, rows in outcome_tables(t):
        lines += ["", *aligned(header, rows)]
    return "\n".join(lines)


def aligned(header: list[str], rows: list[list[str]], left: tuple[int, ...] = (0,)) -> list[str]:
    """The lines of a table: columns to the right, those in `left` to the left."""
    cells = [header, *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    return [
        "  ".join(
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def page(t: Transition) -> str:
    """The same as HTML."""
    return tables.page(headline(t), outcome_tables(t))


def for_paper(t: Transition, degrees: bool, digits: int) -> str:
    """The same in LaTeX: one `tabular` for each table."""
    coordinates = t.layout.coordinates
    cells = LatexCells([name for name in t.layout.velocities if name in coordinates], degrees, digits)
    return "\n\n".join(map(latex.tabular, outcome_tables(t, cells)))


def headline(t: Transition) -> str:
    """What became of it, the degrees of freedom, `remarks`, and redundant rows."""
    if t.batch_shape:
        from jourdain.data.dataset import summary

        return f"{summary(t.status)}; shape {t.batch_shape}"
    prior, virtual, posterior = t.dof
    solved = f"{t.status.message.split(';')[0]}; degrees of freedom {prior} → {virtual} → {posterior}"
    rank = [f"redundant: {', '.join(t.redundant)}", f"undetermined: {', '.join(t.undetermined)}"] if t.redundant else []
    return "; ".join([solved, *remarks(t), *rank])


def remarks(t: Transition) -> list[str]:
    """What a reader should know of one event before the numbers, besides its rank."""
    said = []
    apart = [name for name, state in t.contact.items() if state is ContactState.SEPARATES]
    if apart:
        said.append(f"no impact: {', '.join(apart)} was opening")
    if t.energy_created > 0:
        said.append(f"{rounded(t.energy_created)} J created")
    pulling = [c.name for c in t.layout.constraints if c.contact and c.kind in ON_KINDS and pulls(t, c.name)]
    if pulling:
        said.append(f"pulls (two-sided): {', '.join(pulling)}")
    if t.one_of_many:
        said.append("the motion is one of many: contacts with different κ share an impulse")
    return said


def pulls(t: Transition, contact: str) -> bool:
    """Whether the normal impulse of a contact is negative beyond rounding."""
    return bool(t.impulse[contact][0] < 0 and t.required_friction[contact] != 0)


def outcome_tables(t: Transition, cells: Cells = PLAIN) -> list[Table]:
    """Velocities, rows, energies; those that have rows."""
    found = [velocity_table(t, cells), row_table(t, cells), energy_table(t, cells=cells)]
    return [table for table in found if table[1]]


def velocity_table(t: Transition, cells: Cells = PLAIN) -> Table:
    """Generalized velocities and named outputs before and after."""
    layout = t.layout
    names = [*layout.velocities, *layout.outputs]
    before = [*t.velocity_minus.values(), *t.outputs_minus.values()]
    after = [*t.velocity_plus.values(), *t.outputs_plus.values()]
    scale = _largest(*before, *after)
    units = [layout.units.get(name, "") for name in names]
    rows = [
        [cells.velocity(name, unit), cells.number(minus, scale, unit), cells.number(plus, scale, unit)]
        for name, unit, minus, plus in zip(names, units, before, after, strict=True)
    ]
    return ["velocity", "before", "after"], rows


def row_table(t: Transition, cells: Cells = PLAIN) -> Table:
    """Each row: its kind, its velocity before and after, its impulse."""
    speed = _largest(t.v_minus, t.v_plus, *t.u_minus.values(), *t.u_plus.values())
    force = _largest(*t.impulse.values())
    rows = []
    for row in t.layout.rows:
        unit = t.layout.unit("u_minus", row.name)
        u = [cells.number(side[row.name], speed, unit) for side in (t.u_minus, t.u_plus)]
        impulse = "" if row.kind == Kind.RELEASED else cells.number(t.impulse[row.name], force)
        kind = str(row.kind)
        if row.kind == Kind.CONTACT and row.name == f"{row.constraint}.normal":
            kind = f"contact, {t.contact[row.constraint]!s}"
        rows.append([cells.row(row.name, unit), cells.words(kind), *u, impulse])
    impulses = [t.layout.unit("impulse", row.name) for row in t.layout.rows]
    header = [cells.heading(word) for word in ("row", "kind", "u before", "u after")]
    return [*header, cells.heading("impulse", impulses)], rows


def energy_table(t: Transition, works: bool = True, cells: Cells = PLAIN) -> Table:
    """Energies before and after, their change, what is lost, and ξ. `works`: also the work of each impulse."""
    scale = _largest(t.T_minus, t.T_plus)
    shown = [("kinetic, T", t.T_minus, t.T_plus), ("  constrained, T_c", t.T_c_minus, t.T_c_plus),
             ("  admissible, T_a", t.T_a_minus, t.T_a_plus),
             ("  along regular rows, T_r", t.T_r_minus, t.T_r_plus)]  # fmt: skip
    rows = [
        [cells.words(name), *(cells.number(value, scale) for value in (before, after, after - before))]
        for name, before, after in shown
        if not name.endswith("T_r") or _largest(before, after) > ROUNDING * scale
    ]
    rows += [
        [cells.words(f"work of {name}"), "", "", cells.number(work, scale)]
        for name, work in t.ledger.items()
        if works and _largest(work) > ROUNDING * scale
    ]
    rows.append([cells.words("lost, T⁻ − T⁺"), "", "", cells.number(t.loss, scale)])
    rows.append([cells.words("ξ = T_c⁻/T⁻"), cells.number(t.xi, 1.0), "", ""])
    return ["energy in J", "before", "after", "change"], rows


def ledger_table(t: Transition) -> Table:
    """The work of each impulse of one event; their sum is the change of the kinetic energy."""
    scale = _largest(t.T_minus, t.T_plus)
    rows = [[name, rounded(work, scale)] for name, work in t.ledger.items()]
    sum_ = rounded(sum(t.ledger.values()), scale)
    return ["impulse", "work in J"], [*rows, ["sum", sum_], ["T⁺ − T⁻", rounded(t.T_plus - t.T_minus, scale)]]


def _largest(*values: Any) -> float:
    """The largest magnitude among them; 0 where there is none."""
    return max((float(np.max(np.abs(np.nan_to_num(v)), initial=0.0)) for v in values), default=0.0)


def rounded(value: object, scale: float = 0.0) -> str:
    """Six significant digits, rounding errors of `scale` as 0; of a batch, the range."""
    return PLAIN.number(value, scale)
