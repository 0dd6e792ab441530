"""What friction must reach so that contacts do not slip."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import Any

from jourdain.algebra.entries import each_row, larger, root
from jourdain.algebra.linear import LinearAlgebra
from jourdain.algebra.record import Outcome

ROUNDING = 1e-12  # an impulse that moves its row by less than this part of the speed that the energy allows is none


def required_friction(values: Outcome, contacts: Sequence[slice], la: LinearAlgebra) -> Any:
    """|tangential| / normal impulse of each contact, (contacts, 1), inf if it pulls. Rows: normal, then tangents."""
    energy = values.T_minus + values.T_plus
    ratios = [la.zeros(0, 1, like=energy)]
    for place in contacts:
        impulse = la.rows(values.impulse, place.start, place.stop)
        normal, tangents = la.rows(impulse, 0, 1), la.rows(impulse, 1, impulse.shape[-2])
        lengths2 = la.rows(values.row_length2, place.start, place.stop)
        longest2 = reduce(partial(larger, la=la), each_row(lengths2, la))
        weight = la.where(longest2 > 0, longest2, 1.0)
        none = 2 * ROUNDING**2 * energy  # squares are compared, so that no root is needed
        tangent2 = la.transpose(tangents) @ tangents
        something = normal * normal * weight > none
        pushes = la.both(normal > 0, something)
        ratio = la.where(pushes, root(tangent2, la) / la.where(pushes, normal, 1.0), float("inf"))
        idle = la.both(normal * normal * weight <= none, tangent2 * weight <= none)
        ratios.append(la.where(idle, 0.0, ratio))
    return la.stack(*ratios)
