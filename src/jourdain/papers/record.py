"""What a report shows: tables and pictures. Numbers only; words and looks are the template's, `report.html.j2`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jourdain.papers.printed import last_digit

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Beside:
    """A number as printed, and ours beside it."""

    printed: str
    ours: float
    reason: str = ""  # why they differ, where that is known

    @property
    def differs(self) -> bool:
        """By more than a unit in the last printed digit; what only rounding in binary adds does not count."""
        return not abs(self.ours - float(self.printed)) <= last_digit(self.printed) * (1 + 1e-9)


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


@dataclass(frozen=True)
class Table:
    name: str  # of its file
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""

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
class Picture:
    name: str  # of its files
    draw: Callable[[], Axes | Figure]
    data: xarray.Dataset | None = field(default=None, repr=False)  # what is drawn, for a file of its own


Settings = Mapping[str, float]  # parameters that are not the papers', by name
