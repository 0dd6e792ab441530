"""Contacts that push and do not pull: which of them hold, and with which impulses [docs/theory.md §6].

Rows come as Ŷ (rows × n) with Ŷ Ŷᵀ = W, reduced by the two-sided rows; a contact has its normal first, then tangents.
Asked for, of normals,

    0 ≤ λ  ⊥  w = r + W λ ≥ 0

and of the tangents of a contact that sticks, w = 0. All ways in which the contacts can hold are tried, each solved as
if its rows were two-sided (`span` decides rank and takes the least impulses where they are undetermined). The way that
violates least is taken, of equal ones that with the least impulses. Nothing branches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from jourdain.algebra.contacts.contacts import Contacts
from jourdain.algebra.entries import each_row, larger, root, row, smaller, squares
from jourdain.algebra.linear import LinearAlgebra
from jourdain.algebra.span import span

UNEVEN = 1e-9  # of the impulses that are shared: what another share gives back
TIE = 1e-9  # of the usual speed: ways that violate the conditions by less are equally good


@dataclass(frozen=True)
class Held:
    """The answer: impulses, what they make of r, and how well."""

    impulse: Any  # (rows, 1), ≥ 0 along normals
    after: Any  # (rows, 1), w; ≥ 0 along normals
    miss: Any  # (1, 1): by how much the conditions are not met, of the usual speed
    several: Any  # (1, 1): whether another way meets them and moves otherwise
    margin: Any  # (contacts, 1): how far each is from doing something else, of the usual speed
    ways: Any = None  # (ways, 1): by how much each way to hold misses the conditions
    one_of_many: Any = None  # (1, 1): whether the motion rests on the least of many impulses of compression
    apart: Any = None  # (1, 1): whether the rows of all ways are well apart, if that was assumed


def hold(contacts: Contacts, Y: Any, r: Any, least: Any = None) -> Held:
    """λ and w = r + Ŷ Ŷᵀ λ for contacts without friction, or that may stick. Rows of Ŷ that are zero do not take part.

    `least`: a speed along unit rows, what the conditions are measured by at least; see `Contacts.least`.
    """
    la, unreduced, independent = contacts.la, contacts.unreduced, contacts.independent
    choice = Choice(contacts, Y, r, least)
    apart = la.ones(1, 1, like=Y) > 0
    for way in list(product(*(place.acting() for place in contacts.places())))[1:]:
        acting = tuple(i for some in way for i in some)
        rows, weighing = ([la.stack(*(row(X, i, la) for i in some)) for some in way if some] for X in (Y, unreduced))
        spanned = span(rows, Y.shape[-1], la, like=Y, independent=independent, own=weighing)
        if independent:  # a way with a row that cannot move is that without it
            moving = la.every(la.stack(*(row(choice.lengths, i, la) for i in acting)) > 0)
            apart = la.both(apart, la.where(moving, la.where(spanned.apart, 1.0, 0.0), 1.0) > 0)
        asked = la.stack(*(-row(r, i, la) for i in acting))
        choice.offer(scattered(spanned.impulse(spanned.coordinates(asked)), acting, Y.shape[-2], la), acting)
    return replace(choice.answer(), apart=apart if independent else None)


class Choice:
    """The best of several ways to hold, each offered with its impulses and the rows that come to rest in it."""

    def __init__(self, contacts: Contacts, Y: Any, r: Any, least: Any = None) -> None:
        la = contacts.la
        self.contacts, self.Y, self.r, self.la, self.n_rows = contacts, Y, r, la, Y.shape[-2]
        self.weights = squares(contacts.unreduced, la)
        self.normals = [place.normal for place in contacts.places()]
        least = contacts.least if least is None else least
        self.lengths = root(squares(Y, la), la)  # √W_ii
        largest = larger(_largest(la.absolute(r), self.lengths, range(self.n_rows), la), least, la)
        self.usual = la.where(largest > 0, largest, 1.0)  # the speed that the conditions are measured by
        none = la.zeros(self.n_rows, 1, like=Y)
        self.cost = la.zeros(1, 1, like=Y)  # Σ W_ii λ_i², W of the rows before they were reduced
        self.best = Held(none, r, self.violation(none, r) / self.usual, self.cost > 0, none)  # all lift
        self.misses = [self.best.miss]

    def offer(self, impulse: Any, resting: Sequence[int], also: Any = 0.0) -> None:
        """Take this way if it is better; `also`: what else of the conditions it misses, as a speed along unit rows."""
        la, best = self.la, self.best
        after = self.r + self.Y @ (la.transpose(self.Y) @ impulse)
        # Rows that act come to rest, also those that were dropped as dependent.
        moving = _largest(la.absolute(after), self.lengths, resting, la)
        miss = larger(larger(self.violation(impulse, after), moving, la), also, la) / self.usual
        sound = la.transpose(impulse) @ impulse < float("inf")  # no pivot vanished
        miss = la.where(sound, miss, float("inf"))
        self.misses.append(miss)
        price = la.transpose(impulse) @ (impulse * self.weights)
        both_good = la.both(miss <= TIE, best.miss <= TIE)
        apart = _largest(la.absolute(after - best.after), self.lengths, range(self.n_rows), la) > 10 * TIE * self.usual
        better = la.where(both_good, price < self.cost, miss < best.miss)  # NaN is never better
        told = la.where(best.several, 1.0, 0.0)
        several = la.where(both_good, la.where(apart, 1.0, told), la.where(miss < best.miss, 0.0, told))
        self.cost = la.where(better, price, self.cost)
        self.best = Held(
            la.where(better, impulse, best.impulse),
            la.where(better, after, best.after),
            la.where(better, miss, best.miss),
            several > 0,
            best.margin,
        )

    def answer(self) -> Held:
        """The best, with how far each contact is from lifting or touching: the larger of λ_i √W_ii and w_i / √W_ii."""
        la, best = self.la, self.best
        margins = [self.margin(best.impulse, best.after, i) for i in self.normals]
        return replace(best, margin=la.stack(*margins), ways=la.stack(*self.misses))

    def margin(self, impulse: Any, after: Any, i: int) -> Any:
        """That of one row, (1, 1); infinite where it cannot move."""
        la = self.la
        push, end, length = (row(column, i, la) for column in (impulse, after, self.lengths))
        moves = length > 0
        speed = larger(push * length, end / la.where(moves, length, 1.0), la) / self.usual
        return la.where(moves, speed, float("inf"))

    def violation(self, impulse: Any, after: Any) -> Any:
        """How far the most negative of λ_i √W_ii and w_i / √W_ii of the normals is below 0."""
        la, lengths = self.la, self.lengths
        pulls = _largest(la.where(impulse < 0, -impulse * lengths * lengths, 0.0), lengths, self.normals, la)
        sinks = _largest(la.where(after < 0, -after, 0.0), lengths, self.normals, la)
        return larger(pulls, sinks, la)


def hold_by_poisson(contacts: Contacts, Y: Any, u: Any, kappa: Any) -> Held:
    """Poisson's law: λ_c stops the approach, κ λ_c is given back, z keeps what would sink in.

    Where they are undetermined λ_c and z are the least of their kind; their sum need not be, or it would break the law.
    """
    la = contacts.la
    compression = hold(contacts, Y, u)
    given_back = compression.impulse + kappa * compression.impulse
    # What is left after a plastic compression may be rounding: it is measured by the approach.
    approach = larger(_largest(la.absolute(u), root(squares(Y, la), la), range(Y.shape[-2]), la), contacts.least, la)
    rest = hold(contacts, Y, u + Y @ (la.transpose(Y) @ given_back), approach)
    margin = smaller(compression.margin, rest.margin, la)
    worse = larger(compression.miss, rest.miss, la)
    shared = None if contacts.independent else _shared_unevenly(Y, compression.impulse, kappa, la)
    return replace(rest, impulse=given_back + rest.impulse, miss=worse, margin=margin, one_of_many=shared)


def _shared_unevenly(Y: Any, impulse: Any, kappa: Any, la: LinearAlgebra) -> Any:
    """Whether contacts share λ_c in many ways of which each gives something else back: Yᵀz = 0, but not Yᵀκz."""
    pushing = la.scale_rows(la.where(impulse > 0, 1.0, 0.0), Y)
    null = span(each_row(pushing, la), Y.shape[-1], la, like=Y).nullspace()  # one z per column
    lengths = root(squares(pushing, la), la)
    given, size = la.transpose(pushing) @ la.scale_rows(kappa, null), la.scale_rows(lengths, null)
    found = la.zeros(1, 1, like=Y) > 0
    for i in range(Y.shape[-2]):
        back, length = (row(la.transpose(part), i, la) for part in (given, size))
        found = la.either(found, back @ la.transpose(back) > UNEVEN**2 * (length @ la.transpose(length)))
    return found


def _largest(u: Any, lengths: Any, some: Sequence[int], la: LinearAlgebra) -> Any:
    """The largest u_i / √W_ii of these rows, if they can move; (1, 1)."""
    moving = lengths > 0
    ratios = la.where(moving, u / la.where(moving, lengths, 1.0), 0.0)
    found = la.zeros(1, 1, like=u)
    for i in some:
        found = larger(found, row(ratios, i, la), la)
    return found


def scattered(some: Any, places: Sequence[int], k: int, la: LinearAlgebra) -> Any:
    """A column of k with these entries, zero elsewhere."""
    zero = la.zeros(1, 1, like=some)
    found = [zero] * k
    for i, place in enumerate(places):
        found[place] = row(some, i, la)
    return la.stack(*found)
