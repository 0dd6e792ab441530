"""How a quantity of a scenario changes with each parameter; what changes it most per cent comes first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from jourdain.data.addresses import unit_of
from jourdain.data.numbers import amount, shown_in, with_unit
from jourdain.events.table import Table, rounded

if TYPE_CHECKING:
    from jourdain.scenarios.scenario import Scenario


@dataclass(frozen=True)
class Influence:
    """Derivatives of a quantity by the parameters, in SI."""

    of: str  # its address
    unit: str
    numbers: Mapping[str, float]  # parameter → its value
    slopes: Mapping[str, float]  # parameter → derivative
    units: Mapping[str, str]  # of the parameters

    @cached_property
    def per_cent(self) -> dict[str, float]:
        """What 1 % of each parameter changes; 0 for a parameter that is 0."""
        return {name: slope * self.numbers[name] / 100 for name, slope in self.slopes.items()}

    @cached_property
    def order(self) -> list[str]:
        """The parameters, what changes the quantity most per cent first."""
        return sorted(self.slopes, key=lambda name: (-abs(self.per_cent[name]), -abs(self.slopes[name])))

    def table(self) -> Table:
        """A line for each parameter, angles in degrees; texts stand in columns 0 and 3."""
        unit, size = shown_in(self.unit)
        largest = max((abs(change) for change in self.per_cent.values()), default=0.0) / size
        rows = []
        for name in self.order:
            own, own_size = shown_in(self.units.get(name, ""))
            number, change = self.numbers[name], self.per_cent[name] / size
            scale = 100 * largest * own_size / abs(number) if number else 0.0
            per = f"{unit or '1'} per {own}" if own else unit
            told = rounded(change, largest) if number else ""
            slope = rounded(self.slopes[name] * own_size / size, scale)
            rows.append([name, amount(number, self.units.get(name, "")), slope, per, told])
        return ["parameter", "value", "change per unit", "", with_unit("per 1 %", unit)], rows


def influence(scenario: Scenario, of: str, values: Mapping[str, float] = {}) -> Influence:
    """How a quantity, one number, changes with each parameter that has a value."""
    at = {**scenario.parameters, **values}
    names = [name for name, value in at.items() if value is not None]
    slopes = {name: float(slope) for name, slope in scenario.gradient(of, names, parameters=values).items()}
    numbers = {name: float(at[name] or 0.0) for name in names}
    return Influence(of, unit_of(scenario.event.layout, of), numbers, slopes, scenario.units)
