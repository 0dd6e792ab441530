"""Planar contacts with Coulomb's law for the velocity after the event [Moreau; THEORY §5].

Asked for, of each contact, with r = u + κ u⁻ along normals and r = u along tangents,

    0 ≤ λ_n ⊥ w_n ≥ 0,   |λ_t| ≤ μ λ_n,   λ_t = −μ λ_n sign w_t where it slips,   w = r + W λ

A contact lifts, sticks (w = 0) or slips one way or the other (w_n = 0, λ_t = ∓ μ λ_n). All ways are tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from types import ModuleType
from typing import Any

from jourdain.algebra.one_sided import Choice, Held, Rows, scattered

LIFTS, STICKS = "lifts", "sticks"
WAYS = (LIFTS, STICKS, 1, -1)  # slips towards + or −


def hold_with_friction(Y: Any, r: Any, friction: Sequence[Any], contacts: Sequence[Rows], la: ModuleType) -> Held:
    """λ and w for planar contacts, `friction` (1, 1) of each."""
    choice, W, k = Choice(Y, r, contacts, la), Y @ la.transpose(Y), Y.shape[-2]
    for way in list(product(WAYS, repeat=len(contacts)))[1:]:
        held = [(contact, mu, one) for contact, mu, one in zip(contacts, friction, way, strict=True) if one != LIFTS]
        # What each unknown pushes along, and which row answers to it; those that stick first, whose pivots are sound.
        unknowns: list[tuple[int, Any]] = []
        for contact, _, _ in [one for one in held if one[2] == STICKS]:
            unknowns += [(row, _unit(row, k, la, Y)) for row in (contact.normal, *contact.tangents)]
        for contact, mu, s in [one for one in held if one[2] != STICKS]:
            along = _unit(contact.normal, k, la, Y) - mu * s * _unit(contact.tangents[0], k, la, Y)
            unknowns.append((contact.normal, along))
        rows = [row for row, _ in unknowns]
        pushes = la.side_by_side(*(along for _, along in unknowns))
        effect = W @ pushes
        A = la.stack(*(la.rows(effect, row, row + 1) for row in rows))
        z = _solved(A, la.stack(*(-la.rows(r, row, row + 1) for row in rows)), la)
        impulse = pushes @ z
        choice.offer(impulse, rows, _broken(impulse, r + W @ impulse, held, choice.lengths, la))
    return choice.best


def _broken(impulse: Any, after: Any, held: Sequence[tuple[Rows, Any, Any]], lengths: Any, la: ModuleType) -> Any:
    """By how much Coulomb's law is not met, as a speed along unit rows."""
    worst = la.zeros(1, 1, like=impulse)
    for contact, mu, way in held:
        n, t = contact.normal, contact.tangents[0]
        length = la.rows(lengths, t, t + 1)
        if way == STICKS:  # |λ_t| ≤ μ λ_n
            excess = (la.absolute(la.rows(impulse, t, t + 1)) - mu * la.rows(impulse, n, n + 1)) * length
        else:  # slips the way that its friction opposes
            excess = -way * la.rows(after, t, t + 1) / la.where(length > 0, length, 1.0)
        worst = la.where(excess > worst, excess, worst)
    return worst


def _unit(row: int, k: int, la: ModuleType, like: Any) -> Any:
    return scattered(la.ones(1, 1, like=like), [row], k, la)


def _solved(A: Any, b: Any, la: ModuleType) -> Any:
    """A⁻¹ b by elimination; NaN or infinite where a pivot vanishes, which no choice takes."""
    k = A.shape[-2]
    rows = [la.side_by_side(la.rows(A, i, i + 1), la.rows(b, i, i + 1)) for i in range(k)]

    def entry(row: Any, j: int) -> Any:
        return la.transpose(la.rows(la.transpose(row), j, j + 1))

    for i in range(k):
        rows[i] = rows[i] / entry(rows[i], i)
        for j in range(k):
            if j != i:
                rows[j] = rows[j] - entry(rows[j], i) * rows[i]
    return la.stack(*(entry(row, k) for row in rows))
