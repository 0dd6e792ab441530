"""What was asked: the constraints of an event and what becomes of them, the parameters, the pose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jourdain.data.numbers import amount, significant
from jourdain.kinds import Kind
from jourdain.laws.law import is_law
from jourdain.output.tables import names
from jourdain.reports.record import Table
from jourdain.reports.typeset import symbol

if TYPE_CHECKING:
    from jourdain.data.layout import ConstraintLayout
    from jourdain.events.transition import Transition

MANY = 20  # numbers: of more, those that are 0 are left out
ABOUT = {
    Kind.REGULAR: "on before, during and after",
    Kind.LIVE: "on; its support starts to move",
    Kind.INERT: "appears, and stays: u⁺ = 0",
    Kind.ELASTIC: "acts in the event only: u⁺ = −κ u⁻",
    Kind.CONTACT: "one-sided: its law decides",
    Kind.RELEASED: "on before, lets go",
    Kind.NONIDEAL: "carries a given impulse",
}


def constraint_table(t: Transition, parameters: Mapping[str, float] = {}) -> Table:
    """The constraints, and what is applied. `parameters`: those in which numbers of laws are known."""
    rows = [[c.name, str(c.kind), _about(c, parameters), names(row.removeprefix(f"{c.name}.") for row in c.rows)]
            for c in t.layout.constraints]  # fmt: skip
    rows += [[name, "applied", "an impulse from outside", ""] for name in t.layout.impulses]
    return Table("Constraints", ["constraint", "kind", "what becomes of it", "rows"], rows, (0, 1, 2, 3))


def _about(c: ConstraintLayout, parameters: Mapping[str, float]) -> str:
    law = c.law
    if not is_law(law):
        return ABOUT[c.kind]
    choices = [str(one) for name in law.choices if (one := getattr(law, name)) is not None]
    numbers = [f"{name} {_number(value, parameters)}" for name, value in law.values().items()]
    return f"one-sided, {type(law).__name__}: {', '.join([*numbers, *choices])}"


def _number(value: object, parameters: Mapping[str, float]) -> str:
    """A number of a law: of a parameter its value, of anything else how it is written."""
    known = parameters.get(str(value), value)
    return significant(known) if isinstance(known, int | float) else str(known)


def parameter_table(
    parameters: Mapping[str, float], units: Mapping[str, str], given: Mapping[str, float] = {}
) -> Table:
    """Each parameter with its symbol and value, angles in degrees and in rad; `given`: those that are not defaults."""
    rows = [[*_named(name, value, units), "given" if name in given else ""]
            for name, value in _few(parameters, given).items()]  # fmt: skip
    title = _titled("Parameters", parameters, rows)
    return Table(title, ["parameter", "symbol", "value", "in rad", ""], rows, (0, 1, 4)).without_empty()


def pose_table(coordinates: Mapping[str, Any], units: Mapping[str, str]) -> Table:
    """The configuration, angles in degrees and in rad."""
    rows = [_named(name, value, units) for name, value in _few(coordinates).items()]
    title = _titled("Configuration", coordinates, rows)
    return Table(title, ["coordinate", "symbol", "value", "in rad"], rows, (0, 1)).without_empty()


def _named(name: str, value: float, units: Mapping[str, str]) -> list[str]:
    """A name, its symbol where that differs, and the value as people read it; an angle also in rad."""
    unit, written = units.get(name, ""), symbol(name)
    return [name, "" if written == name.replace("_", " ") else written, amount(value, unit),
            significant(value) if unit == "rad" else ""]  # fmt: skip


def _titled(title: str, numbers: Mapping[str, Any], rows: Sequence[object]) -> str:
    left_out = len(numbers) - len(rows)
    return f"{title} ({left_out} more are 0)" if left_out else title


def _few(numbers: Mapping[str, Any], given: Mapping[str, float] = {}) -> dict[str, float]:
    """All numbers; of many, those that are given or not 0."""
    if len(numbers) <= MANY:
        return {name: float(value) for name, value in numbers.items()}
    return {name: float(value) for name, value in numbers.items() if value or name in given}
