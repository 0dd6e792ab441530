"""What stands in the cells of the tables of an outcome: plain text, or LaTeX."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from jourdain.data.numbers import degree_unit, significant, with_unit
from jourdain.output import latex

ROUNDING = 1e-13  # numbers this small beside the others of their kind are printed as 0


class Cells(Protocol):
    """How names, numbers and words are written."""

    def velocity(self, name: str, unit: str) -> str:
        """A velocity or a named output."""

    def row(self, name: str, unit: str) -> str:
        """A row."""

    def number(self, value: object, scale: float = 0.0, unit: str = "") -> str:
        """A number; rounding errors of `scale` are 0. Of a batch, the range."""

    def heading(self, text: str, units: Collection[str] = ()) -> str:
        """The title of a column. `units`: those of its numbers, where it may show them."""

    def words(self, text: str) -> str:
        """Anything else."""


@dataclass(frozen=True)
class PlainCells:
    """As people read them in a terminal: six digits, SI."""

    def velocity(self, name: str, unit: str) -> str:
        return with_unit(name, unit)

    def row(self, name: str, unit: str) -> str:
        return with_unit(name, unit)

    def number(self, value: object, scale: float = 0.0, unit: str = "") -> str:
        return significant(value, zero=ROUNDING * scale)

    def heading(self, text: str, units: Collection[str] = ()) -> str:
        return text

    def words(self, text: str) -> str:
        return text


@dataclass(frozen=True)
class LatexCells:
    """For a paper. `rates`: the velocities that are rates of coordinates, which have a dot."""

    rates: Collection[str]
    in_degrees: bool
    digits: int

    def velocity(self, name: str, unit: str) -> str:
        return latex.named(latex.symbol(name, dotted=name in self.rates), self._shown(unit)[0])

    def row(self, name: str, unit: str) -> str:
        return latex.prose(name) + latex.bracketed(self._shown(unit)[0])

    def number(self, value: object, scale: float = 0.0, unit: str = "") -> str:
        size = self._shown(unit)[1]
        values = np.asarray(value, dtype=float) * size
        return latex.number(significant(values, self.digits, ROUNDING * scale * size))

    def heading(self, text: str, units: Collection[str] = ()) -> str:
        unit, *others = sorted(set(units)) or [""]
        return latex.prose(text) + ("" if others else latex.bracketed(unit))

    def words(self, text: str) -> str:
        return latex.prose(text)

    def _shown(self, unit: str) -> tuple[str, float]:
        """The unit that is shown, and how many of it are one SI unit."""
        return degree_unit(unit) if self.in_degrees else (unit, 1.0)
