"""What friction must reach so that contacts do not slip."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from types import ModuleType
from typing import Any

from jourdain.algebra.entries import each_row, larger
from jourdain.algebra.lengths import root

ROUNDING = 1e-12  # an impulse that moves its row by less than this part of the speed that the energy allows is none


def required_friction(values: dict[str, Any], contacts: Sequence[slice], la: ModuleType) -> Any:
    """|tangential| / normal impulse of each contact, (contacts, 1), inf if it pulls. Rows: normal, then tangents."""
    energy = values["T_minus"] + values["T_plus"]
    ratios = [la.zeros(0, 1, like=energy)]
    for place in contacts:
        impulse = la.rows(values["impulse"], place.start, place.stop)
        normal, tangents = la.rows(impulse, 0, 1), la.rows(impulse, 1, impulse.shape[-2])
        lengths2 = la.rows(values["row_length2"], place.start, place.stop)
        longest2 = reduce(partial(larger, la=la), each_row(lengths2, la))
        none = ROUNDING * root(2 * energy, la) / la.where(longest2 > 0, root(longest2, la), 1.0)
        tangent = root(la.transpose(tangents) @ tangents, la)
        pushes = normal > none
        ratio = la.where(pushes, tangent / la.where(pushes, normal, 1.0), float("inf"))
        idle = la.both(la.absolute(normal) <= none, tangent <= none)
        ratios.append(la.where(idle, 0.0, ratio))
    return la.stack(*ratios)
