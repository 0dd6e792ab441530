"""What friction must reach so that contacts do not slip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jourdain.algebra.entries import root
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
        none = 2 * ROUNDING**2 * energy  # squares are compared, so that no root is needed
        # Each row in its own unit: the energy of its impulse alone.
        sizes = impulse * impulse * la.where(lengths2 > 0, lengths2, 1.0)
        along_normal, along_tangents = la.rows(sizes, 0, 1), la.rows(sizes, 1, sizes.shape[-2])
        slides = la.transpose(along_tangents) @ la.ones(tangents.shape[-2], 1, like=energy)
        pushes = la.both(normal > 0, along_normal > none)
        ratio = root(la.transpose(tangents) @ tangents, la) / la.where(pushes, normal, 1.0)
        idle = la.both(along_normal <= none, slides <= none)
        ratios.append(la.where(idle, 0.0, la.where(pushes, ratio, float("inf"))))
    return la.stack(*ratios)
