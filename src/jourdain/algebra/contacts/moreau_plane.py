"""Contacts with Coulomb's law for the velocity after the event [Moreau; docs/theory.md §5].

To be solved, for each contact, with r = u + κ u⁻ along normals and r = u along tangents,

    0 ≤ λ_n ⊥ w_n ≥ 0,   |λ_t| ≤ μ λ_n,   λ_t = −μ λ_n sign w_t where it slips,   w = r + W λ

A planar contact lifts, sticks (w = 0) or slips one way or the other (w_n = 0, λ_t = ∓ μ λ_n): all ways are tried. In
space there are as many ways to slip as directions, and λ is found by iteration (`moreau_space`); here it is judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from jourdain.algebra.contacts.choice import FAVOUR, TIE, Choice, Held
from jourdain.algebra.contacts.contacts import Contacts, Rows
from jourdain.algebra.entries import entry, larger, lengths, root, row, scattered, smaller, solved
from jourdain.algebra.linear import LinearAlgebra
from jourdain.algebra.span import span

LIFTS, STICKS = "lifts", "sticks"
WAYS = (LIFTS, STICKS, 1, -1)  # slips towards + or −


def hold_with_friction(contacts: Contacts, Y: Any, r: Any, left: Any) -> Held:
    """λ and w for planar contacts; `left`: see `Choice`."""
    la, places, friction = contacts.la, contacts.places(), contacts.number("friction")
    choice, k = Choice(contacts, Y, r, left=left), Y.shape[-2]
    for way in list(product(WAYS, repeat=len(places)))[1:]:
        held = [(place, mu, one) for place, mu, one in zip(places, friction, way, strict=True) if one != LIFTS]
        # What each unknown pushes along, and which row answers to it; those that stick first, whose pivots are sound.
        unknowns: list[tuple[int, Any]] = []
        for contact, _, _ in [one for one in held if one[2] == STICKS]:
            unknowns += [(i, _unit(i, k, la, Y)) for i in (contact.normal, *contact.tangents)]
        for contact, mu, s in [one for one in held if one[2] != STICKS]:
            slides = row(choice.lengths, contact.tangents[0], la) > 0  # a tangent that is held does not rub
            rubs = la.where(slides, mu, 0.0)
            along = _unit(contact.normal, k, la, Y) - rubs * s * _unit(contact.tangents[0], k, la, Y)
            unknowns.append((contact.normal, along))
        rows = [i for i, _ in unknowns]
        pushes = la.side_by_side(*(along for _, along in unknowns))
        resting, target, units = (la.stack(*(row(X, i, la) for i in rows)) for X in (Y, -r, choice.units))
        impulse = pushes @ solved(resting, la.transpose(Y) @ pushes, target, units, la)
        broken = _broken(impulse, r + Y @ (la.transpose(Y) @ impulse), held, choice.lengths, la)
        choice.offer(impulse, rows, broken, favour=FAVOUR * len(rows))
    return replace(_with_slip(choice, choice.answer(rough=True)), impulse=_least_at_rest(choice))


def _least_at_rest(choice: Choice) -> Any:
    """The impulses, the least of contacts that come to rest together if these stay in their cones, (rows, 1)."""
    la, best, Y = choice.la, choice.best, choice.Y
    contacts, friction = choice.contacts.places(), choice.contacts.number("friction")
    ones = la.ones(2, 1, like=Y)
    quick = la.absolute(best.after) > TIE * choice.usual * choice.lengths
    masks = []
    for contact in contacts:
        moves = la.rows(la.where(quick, 1.0, 0.0), contact.normal, contact.normal + 2)
        masks.append(la.where(la.transpose(moves) @ moves > 0, 0.0, 1.0))
    mask = la.stack(*(one * ones for one in masks))
    rows, weighing = (
        [la.rows(la.scale_rows(mask, X), contact.normal, contact.normal + 2) for contact in contacts]
        for X in (Y, choice.contacts.unreduced)
    )
    spanned = span(rows, Y.shape[-1], la, like=Y, own=weighing)
    least = spanned.impulse(spanned.Q @ (la.transpose(Y) @ (mask * best.impulse)))
    allowed = la.ones(1, 1, like=Y) > 0
    for contact, mu in zip(contacts, friction, strict=True):
        normal, tangent = (la.rows(least, i, i + 1) for i in (contact.normal, contact.tangents[0]))
        allowed = la.both(allowed, la.both(normal >= 0, la.absolute(tangent) <= mu * normal))
    return la.where(allowed, mask * least + (1 - mask) * best.impulse, best.impulse)


def inputs_in_space(Y: Any, r: Any, friction: Sequence[Any], la: LinearAlgebra) -> Any:
    """r, μ and the lower triangle of R, row by row; see `moreau_space`."""
    k = Y.shape[-2]
    R = la.scale_rows(lengths(Y, la), span([Y], Y.shape[-1], la, like=Y).R)
    return la.stack(r, *friction, *(entry(R, i, j, la) for i in range(k) for j in range(i + 1)))


def held_in_space(contacts: Contacts, Y: Any, r: Any, solution: Any) -> Held:
    """The impulses of the iteration, and by how much they miss λ = (λ − w/W, brought into its cone)."""
    la, choice = contacts.la, Choice(contacts, Y, r, unique=True)
    impulse = la.rows(solution, 0, Y.shape[-2])
    after = r + Y @ (la.transpose(Y) @ impulse)
    worst = la.zeros(1, 1, like=Y)
    for contact, mu in zip(contacts.places(), contacts.number("friction"), strict=True):
        n, t = contact.normal, contact.tangents[0]
        tangents = la.rows(choice.lengths, t, t + 2)
        across, along = row(choice.lengths, n, la), root(la.transpose(tangents) @ tangents, la)
        push, pull = row(impulse, n, la), la.rows(impulse, t, t + 2)
        # In units of impulses; see `moreau_space` for how F is written.
        w_n, w_t = row(after, n, la) * _over_square(across, la), la.rows(after, t, t + 2) * _over_square(along, la)
        pushed, tangent = push - w_n, pull - w_t
        radius = mu * la.where(pushed > 0, pushed, 0.0)
        size = root(la.transpose(tangent) @ tangent, la)
        outside = size > radius
        off = w_t + tangent * la.where(outside, (size - radius) / la.where(outside, size, 1.0), 0.0)
        misses = (la.absolute(la.where(pushed > 0, w_n, push)) * across, root(la.transpose(off) @ off, la) * along)
        worst = larger(larger(misses[0], misses[1], la), worst, la)
    several = row(solution, Y.shape[-2] + 1, la) > 0
    worst = larger(worst - choice.noise(impulse), 0.0, la)
    choice.best = Held(impulse, after, worst / choice.usual, several, None)
    return _with_slip(choice, choice.answer())


def _over_square(length: Any, la: LinearAlgebra) -> Any:
    """1 / W_ii of a row, 0 where it cannot move."""
    moves = length > 0
    return la.where(moves, 1 / la.where(moves, length * length, 1.0), 0.0)


def _with_slip(choice: Choice, held: Held) -> Held:
    """The margins with those between sticking and slipping: the larger of (μ λ_n − ‖λ_t‖) √W_tt and ‖w_t‖ / √W_tt."""
    la, margins, contacts = choice.la, [], choice.contacts
    for i, (contact, mu) in enumerate(zip(contacts.places(), contacts.number("friction"), strict=True)):
        start, stop = contact.tangents[0], contact.tangents[-1] + 1
        push, end, tangents = (la.rows(column, start, stop) for column in (held.inside, held.after, choice.lengths))
        length = root(la.transpose(tangents) @ tangents, la)
        normal = row(held.inside, contact.normal, la)
        room = (mu * normal - root(la.transpose(push) @ push, la)) * length
        slip = root(la.transpose(end) @ end, la) / la.where(length > 0, length, 1.0)
        tangential = larger(room, slip, la) / choice.usual
        pushes = normal * row(choice.lengths, contact.normal, la) > TIE * choice.usual
        tangential = la.where(la.both(pushes, length > 0), tangential, float("inf"))
        margins.append(smaller(tangential, row(held.margin, i, la), la))
    return replace(held, margin=la.stack(*margins))


def _broken(impulse: Any, after: Any, held: Sequence[tuple[Rows, Any, Any]], lengths: Any, la: LinearAlgebra) -> Any:
    """By how much Coulomb's law is not met, as a speed along unit rows."""
    worst = la.zeros(1, 1, like=impulse)
    for contact, mu, way in held:
        n, t = contact.normal, contact.tangents[0]
        length = row(lengths, t, la)
        if way == STICKS:  # |λ_t| ≤ μ λ_n
            excess = (la.absolute(row(impulse, t, la)) - mu * row(impulse, n, la)) * length
        else:  # slips the way that its friction opposes
            excess = -way * row(after, t, la) / la.where(length > 0, length, 1.0)
        worst = larger(excess, worst, la)
    return worst


def _unit(i: int, k: int, la: LinearAlgebra, like: Any) -> Any:
    """The i-th unit column, (k, 1)."""
    return scattered(la.ones(1, 1, like=like), [i], k, la)
