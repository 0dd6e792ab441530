"""Batches of random events of every kind, as plain arrays.

Everything is drawn about 1 first. Then masses, lengths of coordinates, units of rows and speeds are multiplied by
powers of ten, sample by sample: 1e-3 … 1e3 for masses and lengths, 1e-6 … 1e3 for speeds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from checks import extended

Array = NDArray[Any]
Rng = np.random.Generator

ON = ("regular", "live", "inert", "elastic")  # on during the event, in the order of the outcome
PRIOR = ("regular", "live", "released")  # hold for the velocity before
KINDS = (*ON, "released", "nonideal")
HYPOTHESES = ("newton", "poisson", "stronge")


@dataclass(frozen=True)
class Rows:
    """u = C v + b of one kind, (m, k, n) and (m, k)."""

    C: Array
    b_minus: Array
    b_plus: Array
    kappa: Array
    beta: Array

    def at(self, some: Any) -> Rows:
        return Rows(*(part[some] for part in vars(self).values()))

    def changed(self, change: Callable[[Array], Array]) -> Rows:
        return Rows(*(change(part) for part in vars(self).values()))


@dataclass(frozen=True)
class Touch:
    """A one-sided contact: rows (normal, tangents) (m, 1 + t, n), its law by name, the numbers of the law (m,)."""

    law: str  # "moreau", "poisson", "no slip", "moreau coulomb", "coulomb newton", …
    C: Array
    kappa: Array
    mu: Array
    b: Array  # (m, 1 + t), of a support that moves

    @property
    def n_tangents(self) -> int:
        return int(self.C.shape[-2]) - 1

    def at(self, some: Any) -> Touch:
        return Touch(self.law, *(part[some] for part in (self.C, self.kappa, self.mu, self.b)))


@dataclass(frozen=True)
class Events:
    """m events of one form."""

    M: Array  # (m, n, n)
    v: Array  # (m, n)
    rows: Mapping[str, Rows]
    contacts: Sequence[Touch] = ()
    impulse: Array | None = None  # (m, n)
    plain: Mapping[str, Rows] | None = None  # the rows without those that depend on others
    dependent: bool = False  # rows of contacts may depend on each other or on two-sided rows
    wrong: str = ""  # the status that the events must have, if they are made to be refused

    @property
    def m(self) -> int:
        return int(self.M.shape[0])

    @property
    def n(self) -> int:
        return int(self.M.shape[-1])

    @property
    def needed(self) -> Mapping[str, Rows]:
        """Rows that are independent."""
        return self.rows if self.plain is None else self.plain

    def at(self, some: Any) -> Events:
        """Some of the events."""
        return replace(
            self,
            M=self.M[some],
            v=self.v[some],
            rows={kind: rows.at(some) for kind, rows in self.rows.items()},
            contacts=[one.at(some) for one in self.contacts],
            impulse=None if self.impulse is None else self.impulse[some],
            plain=None if self.plain is None else {kind: rows.at(some) for kind, rows in self.plain.items()},
        )

    def nudged(self, rng: Rng, size: float = 2.0**-53) -> Events:
        """Every number changed by about its rounding; redundant rows are left out."""

        def nudge(part: Array) -> Array:
            return part.astype(np.longdouble) * (1 + size * rng.choice([-1.0, 1.0], part.shape))

        M = nudge(self.M)
        M = np.tril(M) + np.swapaxes(np.tril(M, -1), -1, -2)
        return replace(
            self,
            M=M,
            v=nudge(self.v),
            rows={kind: rows.changed(nudge) for kind, rows in self.needed.items()},
            contacts=[Touch(one.law, *map(nudge, (one.C, one.kappa, one.mu, one.b))) for one in self.contacts],
            impulse=None if self.impulse is None else nudge(self.impulse),
            plain=None,
        )


# Parts


def decades(rng: Rng, low: float, high: float, *shape: int) -> Array:
    return 10.0 ** rng.uniform(low, high, shape)


def masses(rng: Rng, m: int, n: int) -> Array:
    """Dense with eigenvalues up to three decades apart, or a row of point masses 1e-3 … 1e3."""
    if rng.random() < 0.3:
        return np.asarray(decades(rng, -3, 3, m, n)[:, :, None] * np.eye(n))
    Q = np.linalg.qr(rng.standard_normal((m, n, n)))[0]
    sizes = decades(rng, 0, float(rng.uniform(0, 3)), m, n)
    M = Q * sizes[:, None, :] @ np.swapaxes(Q, 1, 2)
    return np.asarray((M + np.swapaxes(M, 1, 2)) / 2)


def directions(rng: Rng, m: int, k: int, n: int) -> Array:
    """Rows of any direction; or sparse ones, differences of two velocities or a single one, as joints have."""
    C = rng.standard_normal((m, k, n))
    if n > 1 and rng.random() < 0.3:
        order = np.argsort(rng.random((m, n)), axis=-1)
        C = np.zeros((m, k, n))
        lane = np.arange(m)
        for i in range(min(k, n)):  # a tree of couplings: independent
            C[lane, i, order[:, i]] = 1.0
            if i + 1 < n:
                C[lane, i, order[:, i + 1]] = -1.0 * (rng.random(m) < 0.7)
    if k > 1 and rng.random() < 0.15:  # nearly parallel
        C[:, -1] = C[:, 0] + decades(rng, -4, -1, m)[:, None] * C[:, -1]
    return C


def two_sided(rng: Rng, m: int, n: int, sizes: Mapping[str, int], biased: bool) -> dict[str, Rows]:
    total = sum(k for kind, k in sizes.items() if kind in (*ON, "released"))
    drawn = directions(rng, m, total, n)
    if total > n:
        drawn = rng.standard_normal((m, total, n))
    found, start, one = {}, 0, rng.random((m, 1))
    for kind in KINDS:
        k = sizes.get(kind, 0)
        if not k:
            continue
        if kind == "nonideal":
            C = rng.standard_normal((m, k, n))
        else:
            C, start = drawn[:, start : start + k], start + k
        b = rng.standard_normal((m, k)) * (biased and kind != "nonideal")
        b_plus = rng.standard_normal((m, k)) if kind == "live" and biased else b
        kappa = ends(rng, one * np.ones((m, k)) if rng.random() < 0.5 else rng.random((m, k)))
        found[kind] = Rows(C, b, b_plus, kappa if kind == "elastic" else np.zeros((m, k)), rng.standard_normal((m, k)))
    return found


def ends(rng: Rng, kappa: Array) -> Array:
    """Some restitutions at 0 and 1."""
    draw = rng.random(kappa.shape)
    return np.where(draw < 0.15, 0.0, np.where(draw > 0.9, 1.0, kappa))


def counts(rng: Rng, n: int, room: int, kinds: Sequence[str]) -> dict[str, int]:
    """How many rows of each kind; `room` for those that are on, and one velocity is left before the event."""
    found: dict[str, int] = {}
    prior = n - 1
    for kind in rng.permutation(list(kinds)):
        most = min(room if kind in ON else n, prior if kind in PRIOR else n, 1 + n // 3)
        k = int(rng.integers(0, most + 1)) if most > 0 else 0
        if k:
            found[str(kind)] = k
            room -= k * (kind in ON)
            prior -= k * (kind in PRIOR)
    return found


def admissible(M: Array, v: Array, rows: Mapping[str, Rows]) -> Array:
    """v moved onto the rows that hold before."""
    before = [rows[kind] for kind in PRIOR if kind in rows]
    if not before:
        return v
    C, b = np.concatenate([r.C for r in before], 1), np.concatenate([r.b_minus for r in before], 1)
    size = np.abs(v).max()
    for _ in range(2):
        moved, _ = extended.kkt(M, C, (M @ v[..., None]), -b[..., None])
        v = moved[..., 0].astype(float)
    return np.where(np.abs(v).max(axis=1, keepdims=True) < 1e-12 * size, 0.0, v)  # they leave nothing but rounding


def in_units(rng: Rng, events: Events, wide: bool = True) -> Events:
    """The same events in other units of mass, length and time, and rows in units of their own."""
    m, n = events.m, events.n
    mass = decades(rng, -3, 3, m)
    speed = decades(rng, -6, 3, m)
    lengths = decades(rng, -3, 3, m, n) if wide and rng.random() < 0.5 else np.ones((m, n))
    M = events.M * mass[:, None, None] / lengths[:, :, None] / lengths[:, None, :]
    v = events.v * speed[:, None] * lengths

    def rows(given: Rows) -> Rows:
        unit = decades(rng, -3, 3, m, given.C.shape[1])
        return Rows(
            given.C / lengths[:, None, :] * unit[..., None],
            given.b_minus * unit * speed[:, None],
            given.b_plus * unit * speed[:, None],
            given.kappa,
            given.beta / unit * (mass * speed)[:, None],
        )

    def touch(given: Touch) -> Touch:
        normal, tangent = decades(rng, -3, 3, m), decades(rng, -3, 3, m)
        unit = np.column_stack([normal, *([tangent] * given.n_tangents)])
        C, mu = given.C / lengths[:, None, :] * unit[..., None], given.mu * normal / tangent
        return Touch(given.law, C, given.kappa, mu, given.b * unit * speed[:, None])

    return replace(
        events,
        M=M,
        v=v,
        rows={kind: rows(given) for kind, given in events.rows.items()},
        contacts=[touch(given) for given in events.contacts],
        impulse=None if events.impulse is None else events.impulse * (mass * speed)[:, None] / lengths,
    )


def with_redundant(rng: Rng, events: Events) -> Events:
    """One or two rows more of a kind that is on, combinations of rows of that kind that ask for nothing new."""
    present = [kind for kind in ON if kind in events.rows]
    if not present:
        return events
    rows = dict(events.rows)
    for _ in range(int(rng.integers(1, 3))):
        kind = str(rng.choice(present))
        own = events.rows[kind]
        k = own.C.shape[1]
        weights = rng.choice([-1.0, 0.0, 1.0, 2.0], (events.m, k)) * decades(rng, -2, 2, events.m, 1)
        if kind == "elastic":  # a combination of rows with different κ would ask for something new
            weights = np.zeros((events.m, k))
            weights[np.arange(events.m), rng.integers(0, k, events.m)] = decades(rng, -2, 2, events.m)
        C = np.einsum("mk,mkn->mn", weights, own.C)[:, None]
        bias = [np.einsum("mk,mk->m", weights, part)[:, None] for part in (own.b_minus, own.b_plus)]
        used = np.argmax(np.abs(weights), axis=-1)[:, None]
        new = (C, *bias, np.take_along_axis(own.kappa, used, 1), np.zeros((events.m, 1)))
        place = int(rng.integers(0, rows[kind].C.shape[1] + 1))
        parts = vars(rows[kind]).values()
        rows[kind] = Rows(
            *(np.concatenate([a[:, :place], x, a[:, place:]], 1) for a, x in zip(parts, new, strict=True))
        )
    return replace(events, rows=rows, plain=events.rows)


# Kinds


def rows_only(rng: Rng, m: int, small: bool, redundant: bool = False, semidefinite: bool = False) -> Events:
    """Two-sided rows of all kinds, with and without moving supports, applied and given impulses."""
    n = int(rng.integers(2 if semidefinite else 1, 5 if small else 11))
    sizes = counts(rng, n, n, KINDS) or {"inert": 1}
    if semidefinite:
        sizes = {**counts(rng, n, n - 1, ("inert", "elastic", "released")), "regular": 1}
    if redundant and not any(kind in sizes for kind in ON):
        sizes["inert"] = 1
    M, rows = masses(rng, m, n), two_sided(rng, m, n, sizes, biased=bool(rng.random() < 0.6))
    if semidefinite:  # no mass along one direction, which the regular row does not leave free
        empty = rng.standard_normal((m, n)) * (rng.random((m, n)) < 0.6) * (rng.random() < 0.5)
        empty[:, 0] += 1.0  # often one of the velocities itself
        empty /= np.linalg.norm(empty, axis=-1, keepdims=True)
        P = np.eye(n) - empty[:, :, None] * empty[:, None, :]
        M = P @ M @ P
        M = (M + np.swapaxes(M, 1, 2)) / 2
        along = np.einsum("mkn,mn->mk", rows["regular"].C, empty)
        rows["regular"].C[...] += (np.where(along < 0, -1, 1) * 0.5)[..., None] * empty[:, None, :]
    v = rng.standard_normal((m, n))
    v = admissible(M + np.eye(n) * semidefinite, v, rows)
    f = None if rng.random() < 0.5 else rng.standard_normal((m, n)) * decades(rng, -2, 3, m, 1)
    events = in_units(rng, Events(M, v, rows, impulse=f), wide=not semidefinite)
    return with_redundant(rng, events) if redundant else events


def contradicting(rng: Rng, m: int, small: bool) -> Events:
    """The same row twice with different velocities asked for, or a velocity that breaks a regular row."""
    if rng.random() < 0.5:
        events = rows_only(rng, m, small)
        while not any(kind in events.rows for kind in PRIOR):
            events = rows_only(rng, m, small)
        kind = next(kind for kind in PRIOR if kind in events.rows)
        row = events.rows[kind].C[:, 0]
        pull = np.linalg.solve(events.M, row[..., None])[..., 0]
        speed = np.sqrt(np.einsum("mi,mij,mj->m", events.v, events.M, events.v))
        size = np.sqrt(np.einsum("mi,mi->m", row, pull))
        off = np.where(speed > 0, speed, 1.0) * decades(rng, -5, 0, m)
        return replace(events, v=events.v + pull * (off / size)[:, None], wrong="PRIOR_VIOLATED")
    n = int(rng.integers(1, 5 if small else 9))
    M, rows, v = masses(rng, m, n), two_sided(rng, m, n, {"inert": 1}, False), rng.standard_normal((m, n))
    twice = rows["inert"].changed(lambda part: np.concatenate([part, part], 1))
    speed = np.sqrt(np.einsum("mi,mij,mj->m", v, M, v))
    length = np.sqrt(np.einsum("mi,mi->m", twice.C[:, 0], np.linalg.solve(M, twice.C[:, 0, :, None])[..., 0]))
    b = np.zeros((m, 2))
    b[:, 1] = rng.choice([-1, 1], m) * decades(rng, -5, 0, m) * speed * length
    rows = {"inert": replace(twice, b_minus=b, b_plus=b)}
    return replace(in_units_kept(rng, Events(M, v, rows)), wrong="CONTRADICTION")


def in_units_kept(rng: Rng, events: Events) -> Events:
    """Other units of mass and speed; rows as they are."""
    mass, speed = decades(rng, -3, 3, events.m), decades(rng, -6, 3, events.m)
    rows = {
        kind: replace(r, b_minus=r.b_minus * speed[:, None], b_plus=r.b_plus * speed[:, None])
        for kind, r in events.rows.items()
    }
    return replace(events, M=events.M * mass[:, None, None], v=events.v * speed[:, None], rows=rows)


def touching(
    rng: Rng,
    m: int,
    small: bool,
    laws: Sequence[str],
    tangents: int,
    most: int,
    beside: Sequence[str],
    share: bool = False,
) -> Events:
    """Contacts of these laws; mostly closing, some opening or at rest. `share`: fewer velocities than rows of contacts,
    contacts that coincide, or that are sums of others."""
    k = int(rng.integers(1 + share, (min(most, 2) if small else most) + 1))
    rows_of = 1 + tangents
    n = int(rng.integers(1, max(2, k * rows_of))) if share else k * rows_of + int(rng.integers(0, 2 if small else 4))
    room = max(0, n - k * rows_of) if not share else (1 if n > 2 and rng.random() < 0.3 else 0)
    sizes = counts(rng, n, min(room, 2), beside) if room else {}
    if not share and "released" in beside and n > 1 and rng.random() < 0.1:
        sizes["released"] = 1
    M, rows = masses(rng, m, n), two_sided(rng, m, n, sizes, biased=bool(rng.random() < 0.3))
    v = admissible(M, rng.standard_normal((m, n)), rows)
    C = rng.standard_normal((m, k, rows_of, n))
    if share and n > 1 and rng.random() < 0.6:  # feet of one body: some coincide, some are sums of others
        C[:, -1] = C[:, 0] if rng.random() < 0.5 else rng.uniform(0.2, 2, (m, 1, 1)) * C[:, 0]
        if k > 2 and rng.random() < 0.5:
            C[:, -1] = C[:, 0] + rng.uniform(0.3, 2, (m, 1, 1)) * C[:, 1]
    if k > 1 and not share and rng.random() < 0.1:
        C[:, -1] = C[:, 0] + decades(rng, -3, -1, m)[:, None, None] * C[:, -1]
    moves = small and not share and bool(rng.random() < 0.25)  # supports; raw arrays have none that move
    b = rng.standard_normal((m, k, rows_of)) * moves
    approach = np.einsum("mkn,mn->mk", C[:, :, 0], v) + b[:, :, 0]
    if not (share and n < 2):
        turn = (rng.random((m, k)) < 0.85) & (approach > 0)
        if share:  # what depends on others must not be turned alone
            turn = np.zeros((m, k), bool)
            C = np.where((approach[:, :1] > 0)[..., None, None], -C, C)
        C, b = np.where(turn[..., None, None], -C, C), np.where(turn[..., None], -b, b)
    if k > 0 and rng.random() < 0.15 and n > 1:  # some come at rest
        pull = np.linalg.solve(M, C[:, 0, 0, :, None])[..., 0]
        free = not rows
        if free:
            rate = np.einsum("mn,mn->m", C[:, 0, 0], v) / np.einsum("mn,mn->m", C[:, 0, 0], pull)
            v = v - rate[:, None] * pull
    same = bool(rng.random() < 0.3)
    contacts: list[Touch] = []
    for i in range(k):
        kappa = ends(rng, rng.random(m)) if not (same and i) else contacts[0].kappa
        mu = np.where(rng.random(m) < 0.08, 0.0, decades(rng, -1.5, 0.3, m))
        contacts.append(Touch(str(rng.choice(list(laws))), C[:, i], kappa, mu, b[:, i]))
    f = None
    if "impulse" in beside and rng.random() < 0.3:
        f = rng.standard_normal((m, n)) * decades(rng, -1, 1, m, 1)
    if not rows:
        v = np.where((rng.random(m) < 0.01)[:, None], 0.0, v)
    return in_units(rng, Events(M, v, rows, contacts, f, dependent=share))


def rough(rng: Rng, m: int, small: bool, tangents: int) -> Events:
    """One contact with friction inside the event, regular rows beside; sometimes they leave it one velocity."""
    law = f"coulomb {rng.choice(HYPOTHESES)}"
    events = touching(rng, m, small, [law], tangents, 1, ("regular", "released"))
    touch = events.contacts[0]
    if rng.random() < 0.3:  # it comes without slip
        M, v = events.M, events.v
        if not events.rows:
            T = touch.C[:, 1:]
            zero = np.zeros((events.m, tangents, 1))
            moved, _ = extended.kkt(M, T, M @ v[..., None], zero)
            events = replace(events, v=moved[..., 0].astype(float))
    return events


TWO_SIDED = ("regular", "live", "inert", "elastic", "released", "nonideal", "impulse")

Draw = Callable[[Rng, int, bool], Events]  # generator, number of events, whether they are for a mechanism


def _contacts(
    laws: Sequence[str], tangents: Sequence[int], most: int, beside: Sequence[str] = TWO_SIDED, share: bool = False
) -> Draw:
    return lambda rng, m, small: touching(rng, m, small, laws, int(rng.choice(tangents)), most, beside, share)


DRAWS: dict[str, tuple[float, Draw]] = {  # kind → share of the events, how to draw them
    "rows": (0.16, rows_only),
    "rows, redundant": (0.12, partial(rows_only, redundant=True)),
    "rows, M semidefinite": (0.04, partial(rows_only, semidefinite=True)),
    "rows, to be refused": (0.03, contradicting),
    "moreau": (0.11, _contacts(["moreau"], [0, 1, 2], 4)),
    "moreau, redundant": (0.04, _contacts(["moreau"], [0], 4, share=True)),
    "poisson": (0.08, _contacts(["poisson"], [0, 1], 4)),
    "poisson, redundant": (0.03, _contacts(["poisson"], [0], 3, share=True)),
    "no slip, plane": (0.06, _contacts(["no slip", "no slip", "moreau"], [1], 3)),
    "no slip, space": (0.04, _contacts(["no slip"], [2], 2)),
    "no slip, redundant": (0.01, _contacts(["no slip"], [1], 3, (), share=True)),
    "moreau coulomb, plane": (0.08, _contacts(["moreau coulomb"], [1], 3)),
    "moreau coulomb, redundant": (0.01, _contacts(["moreau coulomb"], [1], 2, (), share=True)),
    "moreau coulomb, space": (0.03, _contacts(["moreau coulomb"], [2], 3)),
    "coulomb, plane": (0.14, partial(rough, tangents=1)),
    "coulomb, space": (0.02, partial(rough, tangents=2)),
}
