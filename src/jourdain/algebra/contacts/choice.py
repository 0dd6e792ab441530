"""The best of several ways in which contacts can hold: the one that violates their laws least. Nothing branches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from jourdain.algebra.contacts.contacts import SEPARATES, Contacts, Phases
from jourdain.algebra.entries import each_row, larger, root, row, smaller, squares
from jourdain.algebra.linear import LinearAlgebra
from jourdain.algebra.span import Span, free_of, span

TIE = 1e-9  # of the usual speed: ways that violate the conditions by less are equally good
DRIVEN = 5 * TIE  # what a way misses at least that drives together a contact which is left alone: it is no candidate
SAME = 1e-12  # of the impulses, squared: ways that differ by less cost the same, and the first is taken
ROUNDING = 2e-15  # of all that pushes, as a speed: what rounding leaves of a row that comes to rest
FAVOUR = 1e-9  # of the impulses: of ways that cost the same, that in which more rows come to rest
# Contacts that only lift or hold move in one way, and between rows that are nearly parallel a short miss is a long way:
# one that misses by BROKEN of the usual speed, TIMES as much as another one and MARGIN of its own noise is no answer.
BROKEN, TIMES, MARGIN = 1e-14, 100.0, 10.0


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
    inside: Any = None  # (rows, 1): the impulses that margins are measured with
    phases: Phases | None = None  # of Poisson's law
    apart: Any = None  # (1, 1): whether the rows of all ways are well apart, if that was assumed


class Choice:
    """Ways to hold, each offered with its impulses and the rows that come to rest in it; the best is kept.

    `left`: conditions (rows, 1), true along contacts that are left alone and must not close after all; None if none is.
    `rough`: the speeds that nearly cancel in r; None: none do. `unique`: impulses that hold alike are taken to be the
    same ones.
    """

    def __init__(
        self,
        contacts: Contacts,
        Y: Any,
        r: Any,
        least: Any = None,
        left: Any = None,
        rough: Any = None,
        unique: bool = False,
    ) -> None:
        la = contacts.la
        self.contacts, self.Y, self.r, self.la, self.n_rows = contacts, Y, r, la, Y.shape[-2]
        self.left, self.unique, self.places = left, unique, contacts.places()
        self.prefers = any(place.prefer for place in self.places)
        # Contacts that lift or hold move in one way only: W is positive semidefinite.
        self.monotone = not unique and all(place.ways == ("lifts", "holds") for place in self.places)
        self.weights = squares(contacts.unreduced, la)
        self.normals = [place.normal for place in self.places]
        least = contacts.least if least is None else least
        self.lengths = root(squares(Y, la), la)  # √W_ii
        self.units = la.where(self.lengths > 0, 1 / la.where(self.lengths > 0, self.lengths, 1.0), 0.0)
        largest = larger(fastest(la.absolute(r), self.lengths, range(self.n_rows), la), least, la)
        self.usual = la.where(largest > 0, largest, 1.0)  # the speed that the conditions are measured by
        none, zero = la.zeros(self.n_rows, 1, like=Y), la.zeros(1, 1, like=Y)
        self.blur = zero  # the noise of the best, of the usual speed
        self.doubt = zero if rough is None else ROUNDING * rough / self.usual  # the same of r
        self.cost = zero  # Σ W_ii λ_i², W of the rows before they were reduced
        miss = self._driven(self.violation(none, r) / self.usual, none, ())
        self.best = Held(none, r, miss, zero > 0, none)  # all lift
        self.misses, self.offered = [miss], [(none, miss)]  # of each way; everything that was offered
        self.spans: list[tuple[tuple[int, ...], Span]] = []  # of each way: the rows that act, and their span
        self.apart: Any = None  # (1, 1): whether the rows of all ways are well apart, if that was assumed
        self.score = zero  # by how many of its contacts the best does what they prefer
        # Of impulses that hold as the best does: their sum, and how many. Their mean is inside the cones if any is.
        self.total, self.count = none, la.where(miss <= TIE, 1.0, 0.0)
        self.answering = none  # 1 along the rows whose rest gave the best, else 0

    def offer(
        self,
        impulse: Any,
        resting: Sequence[int],
        also: Any = 0.0,
        *,
        answering: Sequence[int] | None = None,
        score: int = 0,
        again: bool = False,
        favour: float = 0.0,
        spanned: Span | None = None,
    ) -> None:
        """Take this way if it is better.

        `also`: what else of the conditions it misses, as a speed along unit rows. `answering`: the rows whose rest gave
        the impulses, if not all that rest. `score`: how many contacts do what they prefer. `again`: other impulses of
        the way before. `favour`: the part by which it may cost more than another one. `spanned`: the rows that act.
        """
        if spanned is not None:
            self.spans.append((tuple(resting), spanned))
        la, best = self.la, self.best
        after = self.r + self.Y @ (la.transpose(self.Y) @ impulse)
        # Rows that act come to rest, also those that were dropped as dependent.
        moving = fastest(la.absolute(after), self.lengths, resting, la)
        miss = larger(larger(self.violation(impulse, after), moving, la), also, la) / self.usual
        noise = 0.0 if self.unique else self.noise(impulse) / self.usual
        miss = larger(miss - noise, 0.0, la)  # rows that are nearly parallel push much, against each other
        sound = la.transpose(impulse) @ impulse < float("inf")  # no pivot vanished
        miss = self._driven(la.where(sound, miss, float("inf")), impulse, resting)
        if again:
            self.misses[-1] = smaller(miss, self.misses[-1], la)
        else:
            self.misses.append(miss)
        self.offered.append((impulse, miss))
        price = la.transpose(impulse) @ (impulse * self.weights) * (1 - favour)
        both_good = la.both(miss <= TIE, best.miss <= TIE)
        if self.monotone:
            step = la.transpose(self.Y) @ (impulse - best.impulse)
            far = root(la.transpose(step) @ step, la) / self.usual
            least, most = smaller(miss, best.miss, la), larger(miss, best.miss, la)
            blur = la.where(miss < best.miss, self.blur, noise) + self.doubt  # of that which misses more
            in_doubt = most <= BROKEN + TIMES * least + MARGIN * blur
            both_good = la.both(both_good, la.either(far <= TIE, in_doubt))
            apart = far > 10 * TIE + noise
        else:
            apart = fastest(la.absolute(after - best.after), self.lengths, range(self.n_rows), la)
            apart = apart > (10 * TIE + noise) * self.usual
        cheaper = price < (1 - SAME) * self.cost  # NaN is never better
        already = la.where(best.several, 1.0, 0.0)
        both = la.where(apart, 1.0, already)
        if self.prefers:
            cheaper = la.where(self.score == score, la.where(cheaper, 1.0, 0.0), la.where(self.score < score, 1.0, 0.0))
            both = la.where(self.score == score, both, la.where(self.score < score, 0.0, already))
        better = la.where(both_good, cheaper, miss < best.miss)
        several = la.where(both_good, both, la.where(miss < best.miss, 0.0, already))
        if self.prefers:
            self.score = la.where(better, float(score), self.score)
        if not self.unique:
            mask = [1.0 if i in (resting if answering is None else answering) else 0.0 for i in range(self.n_rows)]
            ones = la.ones(1, 1, like=self.Y)
            self.answering = la.where(better, la.stack(*(flag * ones for flag in mask)), self.answering)
            fresh = la.both(la.where(better, 1.0, 0.0) > 0, apart)
            joins = la.where(miss <= TIE, la.where(fresh, 1.0, la.where(apart, 0.0, 1.0)), 0.0)
            self.total = la.where(fresh, 0.0, self.total) + la.where(joins > 0, impulse, 0.0)
            self.count = la.where(fresh, 0.0, self.count) + joins
        if self.monotone:
            self.blur = la.where(better, noise, self.blur)
        self.cost = la.where(better, price, self.cost)
        self.best = Held(
            la.where(better, impulse, best.impulse),
            la.where(better, after, best.after),
            la.where(better, miss, best.miss),
            several > 0,
            best.margin,
        )

    def _driven(self, miss: Any, impulse: Any, resting: Sequence[int]) -> Any:
        """The same, but larger than TIE if a contact that is left alone closes, and infinite if it acts itself."""
        if self.left is None:
            return miss
        la, contacts = self.la, self.contacts
        after = contacts.u + contacts.Y @ (la.transpose(self.Y) @ impulse)
        for i in self.normals:
            left, sinks = row(self.left, i, la), row(after, i, la) < -SEPARATES * row(contacts.speed, i, la)
            limit = larger(miss, DRIVEN, la)
            miss = la.where(left, float("inf") if i in resting else la.where(sinks, limit, miss), miss)
        return miss

    def answer(self, rough: bool = False) -> Held:
        """The best, with how far each contact is from lifting or touching: the larger of λ_i √W_ii and w_i / √W_ii.

        `rough`: what contacts do depends on their tangential impulses too.
        """
        la, best, inside = self.la, self.best, self._inside(rough)
        margins = [self.margin(inside, best.after, i) for i in self.normals]
        return replace(best, margin=la.stack(*margins), ways=la.stack(*self.misses), inside=inside, apart=self.apart)

    def _inside(self, rough: bool) -> Any:
        """The impulses that margins are measured with, (rows, 1): the mean of those that hold alike.

        Nothing is on the verge if one of them lies inside the cones. That holds for contacts whose rows depend on those
        that gave the best: they follow these, whatever is changed.
        """
        la, Y, best = self.la, self.Y, self.best
        if self.unique:
            return best.impulse
        Q = span(each_row(la.scale_rows(self.answering, Y), la), Y.shape[-1], la, like=Y).Q
        free2, many = squares(free_of(Y, Q, la), la), self.count > 1
        mean, parts = self.total / la.where(many, self.count, 1.0), []
        for place in self.places:
            start, stop = place.normal, place.normal + 1 + len(place.tangents)
            follows = la.both(many, la.every(la.rows(free2, start, stop if rough else start + 1) <= 0))
            parts.append(la.where(follows, la.rows(mean, start, stop), la.rows(best.impulse, start, stop)))
        return la.stack(*parts)

    def margin(self, impulse: Any, after: Any, i: int) -> Any:
        """That of one row, (1, 1); infinite where it cannot move."""
        la = self.la
        push, end, length = (row(column, i, la) for column in (impulse, after, self.lengths))
        moves = length > 0
        speed = larger(push * length, end / la.where(moves, length, 1.0), la) / self.usual
        return la.where(moves, speed, float("inf"))

    def noise(self, impulse: Any) -> Any:
        """What rounding of the impulses leaves, as a speed along unit rows, (1, 1)."""
        return ROUNDING * self.la.transpose(self.lengths) @ self.la.absolute(impulse)

    def violation(self, impulse: Any, after: Any) -> Any:
        """How far the most negative of λ_i √W_ii and w_i / √W_ii of the normals is below 0."""
        la, lengths = self.la, self.lengths
        pulls = fastest(la.where(impulse < 0, -impulse * lengths * lengths, 0.0), lengths, self.normals, la)
        sinks = fastest(la.where(after < 0, -after, 0.0), lengths, self.normals, la)
        return larger(pulls, sinks, la)


def fastest(u: Any, lengths: Any, rows: Sequence[int], la: LinearAlgebra) -> Any:
    """The largest u_i / √W_ii of these rows, if they can move; (1, 1)."""
    moving = lengths > 0
    ratios = la.where(moving, u / la.where(moving, lengths, 1.0), 0.0)
    largest = la.zeros(1, 1, like=u)
    for i in rows:
        largest = larger(largest, row(ratios, i, la), la)
    return largest
