"""Contacts with Coulomb's law for the velocity after the event [Moreau; THEORY §5].

Asked for, of each contact, with r = u + κ u⁻ along normals and r = u along tangents,

    0 ≤ λ_n ⊥ w_n ≥ 0,   |λ_t| ≤ μ λ_n,   λ_t = −μ λ_n sign w_t where it slips,   w = r + W λ

A planar contact lifts, sticks (w = 0) or slips one way or the other (w_n = 0, λ_t = ∓ μ λ_n): all ways are tried. In
space there are as many ways to slip as directions, and λ is found by iteration (`spatial`); here it is judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from types import ModuleType
from typing import Any

from jourdain.algebra.lengths import root, squares
from jourdain.algebra.one_sided import Choice, Held, Rows, scattered

LIFTS, STICKS = "lifts", "sticks"
WAYS = (LIFTS, STICKS, 1, -1)  # slips towards + or −


def hold_with_friction(
    Y: Any, r: Any, friction: Sequence[Any], contacts: Sequence[Rows], la: ModuleType, speed: Any = 0.0
) -> Held:
    """λ and w for planar contacts, `friction` (1, 1) of each; `speed`: see `hold`."""
    choice, W, k = Choice(Y, r, contacts, la, speed), Y @ la.transpose(Y), Y.shape[-2]
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
    return _with_slip(choice, choice.answer(), friction, contacts)


def asked_in_space(Y: Any, r: Any, friction: Sequence[Any], la: ModuleType) -> Any:
    """r, μ and the lower triangle of W, row by row; see `spatial.moreau_coulomb`."""
    rows = [la.rows(Y, i, i + 1) for i in range(Y.shape[-2])]
    return la.stack(r, *friction, *(one @ la.transpose(other) for i, one in enumerate(rows) for other in rows[: i + 1]))


def found_in_space(
    Y: Any, r: Any, friction: Sequence[Any], contacts: Sequence[Rows], found: Any, la: ModuleType, speed: Any = 0.0
) -> Held:
    """The impulses that were found, and by how much they miss λ = (λ − w/W_cc, brought into its cone)."""
    choice = Choice(Y, r, contacts, la, speed)
    impulse = la.rows(found, 0, Y.shape[-2])
    after = r + Y @ (la.transpose(Y) @ impulse)
    worst = la.zeros(1, 1, like=Y)
    for contact, mu in zip(contacts, friction, strict=True):
        start, stop = contact.normal, contact.normal + 3
        length2 = la.rows(squares(Y, la), start, start + 1)
        for j in contact.tangents:
            length2 = length2 + la.rows(squares(Y, la), j, j + 1)
        moves = length2 > 0
        length2 = la.where(moves, length2, 1.0)
        push = la.rows(impulse, start, stop)
        wanted = push - la.rows(after, start, stop) / length2
        normal, tangent = la.rows(wanted, 0, 1), la.rows(wanted, 1, 3)
        normal = la.where(normal > 0, normal, 0.0)
        size = root(la.transpose(tangent) @ tangent, la)
        outside = size > mu * normal
        tangent = tangent * la.where(outside, mu * normal / la.where(outside, size, 1.0), 1.0)
        off = push - la.stack(normal, tangent)
        miss = root(la.transpose(off) @ off * length2, la)
        worst = la.where(la.both(moves, miss > worst), miss, worst)
    choice.best = Held(impulse, after, worst / choice.usual, la.zeros(1, 1, like=Y) > 0, None)
    return _with_slip(choice, choice.answer(), friction, contacts)


def _with_slip(choice: Choice, held: Held, friction: Sequence[Any], contacts: Sequence[Rows]) -> Held:
    """The margins with those between sticking and slipping: the larger of (μ λ_n − ‖λ_t‖) √W_tt and ‖w_t‖ / √W_tt."""
    la, margins = choice.la, []
    for i, (contact, mu) in enumerate(zip(contacts, friction, strict=True)):
        start, stop = contact.tangents[0], contact.tangents[-1] + 1
        push, end, lengths = (la.rows(column, start, stop) for column in (held.impulse, held.after, choice.lengths))
        length = root(la.transpose(lengths) @ lengths, la)
        normal = la.rows(held.impulse, contact.normal, contact.normal + 1)
        room = (mu * normal - root(la.transpose(push) @ push, la)) * length
        slip = root(la.transpose(end) @ end, la) / la.where(length > 0, length, 1.0)
        tangential = la.where(room > slip, room, slip) / choice.usual
        tangential = la.where(la.both(normal > 0, length > 0), tangential, float("inf"))
        along = la.rows(held.margin, i, i + 1)
        margins.append(la.where(tangential < along, tangential, along))
    return replace(held, margin=la.stack(*margins))


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
