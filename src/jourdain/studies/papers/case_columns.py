"""Columns of the tables that have a row for each measured case: as printed, and in the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import degrees
from typing import Any

from jourdain.inputs import Array
from jourdain.studies.papers.measured import MILLI, Case
from jourdain.studies.papers.record import Column

# [FK-b] case → case of [FK-c], which shows some of them
SHORT_VERSION = {5: 1, 6: 2, 7: 3, 8: 4}


@dataclass(frozen=True)
class CaseRow:
    """A measured case, its place, and all that is known of the cases."""

    found: Any  # `pantograph.Results` or `testbed.Bench`
    i: int
    case: Case


def case_rows(found: Any, paper: str = "", numbers: Sequence[int] = ()) -> list[CaseRow]:
    """All cases or those of a paper, in its order."""
    rows = [CaseRow(found, i, case) for i, case in enumerate(found.cases) if paper in ("", case.paper)]
    return [row for row in rows if not numbers or row.case.number in numbers]


def printed(name: str, symbol: str, unit: str, header: str) -> Column:
    """A number of the case as it is printed under a header."""
    return Column(name, symbol, unit, right=True, cell=lambda row: row.case.printed[header])


def computed(name: str, symbol: str, unit: str, decimals: int, values: Callable[[Any], Array]) -> Column:
    """A number of the case among the `values` (SI) of what is known, in the unit of the column."""

    def cell(row: CaseRow) -> float:
        number = float(values(row.found)[row.i])
        return 100 * number if unit == "%" else number / MILLI if unit in ("mJ", "N ms") else number

    return Column(name, symbol, unit, decimals, cell=cell)


LABEL, NUMBER = Column("case", cell=lambda row: row.case.label), Column("case", cell=lambda row: str(row.case.number))
D = Column("d", "d", "m", cell=lambda row: f"{row.case.d:g}")
GAMMA = Column("gamma", "γ", "°", 2, cell=lambda row: round(degrees(row.case.gamma), 9))
T_C_MINUS = printed("T_c_minus", "T_c⁻", "mJ", "T_c_minus_mJ")
T_A_MINUS = printed("T_a_minus", "T_a⁻", "mJ", "T_a_minus_mJ")
T_A_PLUS = printed("T_a_plus_measured", "T_a⁺", "mJ", "T_a_plus_mJ")
NORMAL = printed("normal_measured", "λ̄", "N ms", "normal_impulse_N_ms")
BETA = printed("tangential_measured", "β̄", "N ms", "tangential_impulse_N_ms")
