"""What a report shows: tables and pictures. Numbers only; words and looks are the template's, `report.html.j2`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jourdain.studies.papers.printed import last_digit, rows

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from jourdain.scenarios.scenario import Scenario

Settings = Mapping[str, float]  # parameters that are not the papers', by name


@dataclass(frozen=True)
class Beside:
    """A number as printed, and ours beside it."""

    printed: str
    ours: float
    reason: str = ""  # why they differ, where that is known
    column: Sequence[str] = ()  # what is printed in the same column: a "10" beside "9.34" means 10.00

    @property
    def differs(self) -> bool:
        """By more than a unit in the last printed digit; what only rounding in binary adds does not count."""
        unit = min(last_digit(text) for text in (self.printed, *self.column))
        return not abs(self.ours - float(self.printed)) <= unit * (1 + 1e-9)


@dataclass(frozen=True)
class Formula:
    """A closed form, as SymPy writes it."""

    expression: Any


Cell = str | float | Beside | Formula


@dataclass(frozen=True)
class Column:
    """What stands in a column: name for files, symbol for people, unit, decimals shown."""

    name: str
    symbol: str = ""
    unit: str = ""
    decimals: int | None = None  # None: as many digits as below
    beside: bool = False  # some of its cells are `Beside`
    digits: int = 4  # significant ones
    right: bool = False  # texts are numbers as printed
    cell: Callable[[Any], Cell] | None = None  # from what a row is about; None: its attribute of this name

    def of(self, subject: Any) -> Cell:
        """The cell in the row of a subject."""
        found: Cell = getattr(subject, self.name) if self.cell is None else self.cell(subject)
        return found


@dataclass(frozen=True)
class Table:
    name: str  # of its file
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]

    def differences(self) -> Iterator[tuple[str, str, Beside]]:
        """(row, column, cell) of every number that is not as printed."""
        for row in self.rows:
            for column, cell in zip(self.columns, row, strict=True):
                if isinstance(cell, Beside) and cell.differs:
                    yield self.label(row), column.symbol or column.name, cell

    def compared(self) -> int:
        """How many printed numbers have ours beside them."""
        return sum(isinstance(cell, Beside) for row in self.rows for cell in row)

    def label(self, row: Sequence[Cell]) -> str:
        """The row, as its first column says."""
        return f"{self.columns[0].symbol or self.columns[0].name} {row[0]}"


@dataclass(frozen=True)
class Claim:
    """What a paper says in words, and what the numbers say."""

    source: str
    statement: str
    verdict: str  # begins with "holds" where it does
    evidence: str

    @property
    def holds(self) -> bool:
        return self.verdict.startswith("holds")


def verdict(holds: bool, where: str = "") -> str:
    """In words; `where`: under which condition."""
    return f"holds {where}".strip() if holds else "does not hold"


def table_of(name: str, title: str, subjects: Iterable[Any], columns: Sequence[Column]) -> Table:
    """A table with a row for each subject, whose columns say how to make their cells from it."""
    return Table(name, title, columns, [[column.of(subject) for column in columns] for subject in subjects])


def claims_table(name: str, title: str, claims: Sequence[Claim]) -> Table:
    """Statements with their verdicts."""
    columns = (Column("source", "where"), Column("statement"), Column("verdict"), Column("evidence"))
    return table_of(name, title, claims, columns)


def parameters_table(name: str, title: str, scenario: Scenario, settings: Settings) -> Table:
    """The parameters as printed, and as used: inputs, so they are not compared."""
    used = {**scenario.parameters, **settings}
    columns = (
        Column("parameter", cell=lambda line: line["parameter"]),
        Column("meaning", cell=lambda line: line["description"]),
        Column("unit", cell=lambda line: line["unit"].replace("^2", "²")),
        Column("printed", right=True, cell=lambda line: line["value"]),
        Column("used", digits=6, cell=lambda line: used[line["parameter"]] or 0.0),
    )
    return table_of(name, title, rows(name), columns)


@dataclass(frozen=True)
class Picture:
    name: str  # of its files
    draw: Callable[[], Axes | Figure]
    data: xarray.Dataset | None = field(default=None, repr=False)  # what is drawn, for a file of its own
