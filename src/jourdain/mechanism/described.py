"""What a notebook shows of a mechanism, an event and a scenario: tables of what they are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from jourdain.data.numbers import amount, with_unit
from jourdain.output.tables import Table, names

if TYPE_CHECKING:
    from jourdain.mechanism.mechanism import Mechanism


def mechanism_table(mechanism: Mechanism) -> Table:
    """A line for each kind of thing that it has."""
    s, units = mechanism.symbols, mechanism.units
    lines = [("coordinates", [with_unit(name, units.get(name, "")) for name in s.q_names])]
    if s.v_names != s.q_names:
        lines.append(("velocities", list(s.v_names)))
    lines += [("bodies", list(mechanism.angular_velocities)), ("points", list(mechanism.points))]
    lines += [("outputs", list(mechanism.outputs)), ("constraints", list(mechanism.constraints))]
    return (), [[what, names(several)] for what, several in lines if several]


def parameter_table(parameters: Mapping[str, float | None], units: Mapping[str, str]) -> Table:
    """Each parameter with its default."""
    rows = [[name, "must be given" if value is None else amount(value, units.get(name, ""))]
            for name, value in parameters.items()]  # fmt: skip
    return ("parameter", "default"), rows
