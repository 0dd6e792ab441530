"""Contacts that push and do not pull: which of them hold, and with which impulses [docs/theory.md §6].

Rows come as Ŷ (rows × n) with Ŷ Ŷᵀ = W, reduced by the two-sided rows; a contact has its normal first, then tangents.
To be solved, for normals,

    0 ≤ λ  ⊥  w = r + W λ ≥ 0

and of the tangents of a contact that sticks, w = 0. All ways in which the contacts can hold are tried, each solved as
if its rows were two-sided (`span` decides rank and takes the least impulses where they are undetermined). The way that
violates least is taken, of equal ones that with the least impulses (`Choice`). Nothing branches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from jourdain.algebra.contacts.choice import TIE, Choice, Held, fastest
from jourdain.algebra.contacts.contacts import Contacts, Phases
from jourdain.algebra.entries import larger, root, row, scattered, smaller, solved, squares
from jourdain.algebra.span import Span, free_of, span

UNEVEN = 1e-8  # of the usual speed: less is no other motion
MOST_COMPARED = 4  # contacts whose shares of an impulse are all followed to the end


def hold(contacts: Contacts, Y: Any, r: Any, least: Any = None, left: Any = None, rough: Any = None) -> Choice:
    """λ and w = r + Ŷ Ŷᵀ λ for contacts without friction, or that may stick. Rows of Ŷ that are zero do not take part.

    `least`: a speed along unit rows, what the conditions are measured by at least; see `Contacts.least`. `left`,
    `rough`: see `Choice`.
    """
    la, unreduced, independent, places = contacts.la, contacts.unreduced, contacts.independent, contacts.places()
    choice = Choice(contacts, Y, r, least, left, None if independent else rough, unique=independent)
    choice.apart = la.ones(1, 1, like=Y) > 0 if independent else None
    shares = None if independent or not any("sticks" in place.ways for place in places) else _Shares(choice)
    for names in list(product(*(place.ways for place in places)))[1:]:
        way = [place.acting(name) for place, name in zip(places, names, strict=True)]
        score = sum(place.score(name) for place, name in zip(places, names, strict=True))
        acting = tuple(i for indices in way for i in indices)
        rows, weighing = (
            [la.stack(*(row(X, i, la) for i in indices)) for indices in way if indices] for X in (Y, unreduced)
        )
        spanned = span(rows, Y.shape[-1], la, like=Y, independent=independent, own=weighing)
        if independent:  # a way with a row that cannot move is that without it
            moving = la.every(la.stack(*(row(choice.lengths, i, la) for i in acting)) > 0)
            choice.apart = la.both(choice.apart, la.where(moving, la.where(spanned.apart, 1.0, 0.0), 1.0) > 0)
        target = la.stack(*(-row(r, i, la) for i in acting))
        impulse = scattered(spanned.impulse(spanned.coordinates(target)), acting, Y.shape[-2], la)
        choice.offer(impulse, acting, score=score, spanned=spanned)
        if shares is not None:
            for impulse, answering in shares.of(way):
                choice.offer(impulse, acting, answering=answering, score=score, again=True)
    return choice


class _Shares:
    """Other impulses of ways in which contacts may stick: some of the normals that act do not push.

    Where rows are redundant the least impulses may pull although others push. Tangents carry what they must, and are
    taken out of the normals; of these all choices are tried, so that impulses that push are found if there are any.
    """

    def __init__(self, choice: Choice) -> None:
        self.choice = choice
        self.stopped: dict[tuple[int, ...], tuple[Span, Any]] = {}  # tangents → their span, and what stops them
        self.impulses: dict[tuple[tuple[int, ...], tuple[int, ...]], Any] = {}  # tangents and normals → λ

    def of(self, way: Sequence[tuple[int, ...]]) -> Iterator[tuple[Any, list[int]]]:
        """(λ, rows that answer); `way`: the rows of each contact that act."""
        normals = [rows[0] for rows in way if rows]
        tangents = tuple(i for rows in way for i in rows[1:])
        for pushes in list(product((False, True), repeat=len(normals)))[:-1]:
            pushing = tuple(i for i, one in zip(normals, pushes, strict=True) if one)
            if pushing or tangents:
                yield self._impulse(tangents, pushing), [*tangents, *pushing]

    def _impulse(self, tangents: tuple[int, ...], normals: tuple[int, ...]) -> Any:
        if (tangents, normals) in self.impulses:
            return self.impulses[tangents, normals]
        la, Y, r, k = self.choice.la, self.choice.Y, self.choice.r, self.choice.n_rows
        if tangents not in self.stopped:
            blocks = [la.stack(*(row(Y, i, la) for i in indices)) for indices in self._by_contact(tangents)]
            spanned = span(blocks, Y.shape[-1], la, like=Y)
            target = la.stack(la.zeros(0, 1, like=Y), *(-row(r, i, la) for i in tangents))
            self.stopped[tangents] = spanned, spanned.coordinates(target)
        spanned, along = self.stopped[tangents]
        impulse = la.zeros(k, 1, like=Y)
        if normals:
            rows, units = (la.stack(*(row(X, i, la) for i in normals)) for X in (Y, self.choice.units))
            left = free_of(rows, spanned.Q, la)
            target = la.stack(*(-row(r, i, la) for i in normals)) - rows @ (la.transpose(spanned.Q) @ along)
            pushed = solved(left, la.transpose(left), target, units, la)
            impulse, along = scattered(pushed, normals, k, la), along - spanned.Q @ (la.transpose(rows) @ pushed)
        if tangents:
            impulse = impulse + scattered(spanned.impulse(along), tangents, k, la)
        self.impulses[tangents, normals] = impulse
        return impulse

    def _by_contact(self, tangents: tuple[int, ...]) -> list[tuple[int, ...]]:
        return [place.tangents for place in self.choice.places if place.tangents and place.tangents[0] in tangents]


def hold_by_poisson(contacts: Contacts, Y: Any, u: Any, kappa: Any) -> Held:
    """Poisson's law: λ_c stops the approach, κ λ_c is given back, z keeps what would sink in.

    Where they are undetermined λ_c and z are the least of their kind; their sum need not be, or it would break the law.
    """
    la = contacts.la
    compressing = hold(contacts, Y, u)
    compression = compressing.answer()
    given_back = compression.impulse + kappa * compression.impulse
    uneven = la.zeros(1, 1, like=Y)
    if contacts.independent:
        left = u + Y @ (la.transpose(Y) @ given_back)
    else:  # what pushed is at rest: W λ_c = w_c − u, and only what κ differ by needs impulses, which may nearly cancel
        pushed = compression.impulse > 0
        back, stopped = la.largest(la.where(pushed, kappa, 0.0)), la.where(pushed, 0.0, compression.after)
        differ = (kappa - back) * compression.impulse
        left = stopped + back * (stopped - u) + Y @ (la.transpose(Y) @ differ)
        uneven = la.transpose(compressing.lengths) @ la.absolute(differ)
    # What is left after a plastic compression may be rounding: it is measured by the approach.
    approach = larger(fastest(la.absolute(u), root(squares(Y, la), la), range(Y.shape[-2]), la), contacts.least, la)
    expanding = hold(contacts, Y, left, approach, rough=uneven)
    rest = expanding.answer()
    margin = smaller(compression.margin, rest.margin, la)
    worse = larger(compression.miss, rest.miss, la)
    shared = None if contacts.independent else _shared_unevenly(compressing, expanding, kappa)
    phases = Phases(compression.impulse, kappa, rest.impulse, uneven)
    total = given_back + rest.impulse
    return replace(rest, impulse=total, miss=worse, margin=margin, one_of_many=shared, phases=phases)


def _shared_unevenly(compressing: Choice, expanding: Choice, kappa: Any) -> Any:
    """Whether contacts can share λ_c otherwise, and move otherwise then.

    All shares are means of those that were offered. Another one λ gives back κ (λ − λ_c) more. The motion stays the
    same iff contacts that touch in the end can push so much less: Yᵀ(z + κ (λ_c − λ)) is in the cone of their normals.
    Of many contacts it is only checked whether Yᵀκ (λ_c − λ) = 0.
    """
    la, Y = compressing.la, compressing.Y
    lengths, usual = compressing.lengths, larger(compressing.usual, expanding.usual, la)
    best, rest = compressing.best.impulse, expanding.best
    touching = la.where(rest.after <= UNEVEN * usual * lengths, 1.0, 0.0)
    uneven = la.zeros(1, 1, like=Y) > 0

    def slow(x: Any) -> Any:
        return la.transpose(x) @ x <= (UNEVEN * usual) * (UNEVEN * usual)

    for impulse, miss in compressing.offered:
        sound = la.where(miss <= TIE, 1.0, 0.0) > 0
        less = kappa * (best - la.where(sound, impulse, 0.0))
        same = slow(la.transpose(Y) @ less)
        if len(compressing.places) <= MOST_COMPARED:
            x = la.transpose(Y) @ (rest.impulse + less)
            for acting, spanned in expanding.spans:
                nu = spanned.Q @ x
                push = spanned.impulse(nu)
                fits = slow(x - la.transpose(spanned.Q) @ nu)
                for j, i in enumerate(acting):
                    enough = row(push, j, la) * row(lengths, i, la) >= -UNEVEN * usual
                    fits = la.both(fits, la.both(enough, row(touching, i, la) > 0))
                same = la.either(same, fits)
        uneven = la.either(uneven, la.both(sound, la.where(same, 0.0, 1.0) > 0))
    return uneven
