"""Whether the library's answers to random events are right."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from checks import extended, others
from checks.answers import (
    Answers,
    Reduced,
    Verdict,
    answers,
    asked,
    given_impulse,
    nearly_dependent,
    places,
    reduce,
    unit,
)
from checks.drawing import KINDS, ON, Events
from checks.roads import Given
from jourdain import Status
from oracles import contacts_in_space as in_space

Array = NDArray[Any]

WRONG = 1e-9  # of the event's speed or energy
ROUNDING = 100  # times what rounding of the input changes: an answer off by less is not wrong, the event is ill-posed
AGREE = 1e-6  # other programs, in double precision, agree with the answer in extended precision to this
DRIVEN = 1e-6  # of the speed that applied impulses would give without rows: speeds are not compared with less
CREATED = 1e-8  # of the energy: more than this from nowhere must be reported, less than a thousandth of it must not


class Judged:
    """Reasons by event: what is wrong, what was refused wrongly, what other programs say otherwise."""

    def __init__(self, events: Events, given: Given, rng: np.random.Generator) -> None:
        self.events, self.given, self.rng = events, given, rng
        self.wrong: dict[int, str] = {}
        self.refused: dict[int, str] = {}
        self.misnamed: dict[int, str] = {}
        self.disagree: dict[int, str] = {}
        self.ill_posed = 0
        self.unsure = 0
        self.compared = 0  # with other programs
        self.solved = given.status <= Status.ENERGY_CREATED

    def run(self) -> Judged:
        events, status = self.events, self.given.status
        if events.wrong:
            for i in np.flatnonzero(status != Status[events.wrong]):
                (self.wrong if self.solved[i] else self.misnamed)[int(i)] = (
                    f"must be {events.wrong}, is {_name(status[i])}"
                )
            return self
        self.reduced, self.answer, self.semidefinite = reduce(events), answers(events), _semidefinite(events.M)
        verdict = self.answer.verdict
        self.unsure = int(np.sum(verdict == Verdict.UNSURE))
        for i in np.flatnonzero(self.solved & ((verdict == Verdict.NONE) | (verdict == Verdict.SEVERAL))):
            word = "no answer exists" if verdict[i] == Verdict.NONE else "several answers exist"
            self.wrong[int(i)] = f"{word}, but the status is {_name(status[i])}"
        for i in np.flatnonzero(~self.solved & (verdict == Verdict.ONE)):
            self.refused[int(i)] = f"one answer exists, but the status is {_name(status[i])}"
        right = {Verdict.NONE: Status.INFEASIBLE, Verdict.SEVERAL: Status.AMBIGUOUS}
        for code, name in right.items():
            for i in np.flatnonzero(~self.solved & (verdict == code) & (status != name)):
                self.misnamed[int(i)] = f"must be {name.name}, is {_name(status[i])}"
        self._velocities()
        self._laws()
        self._friction_in_space()
        self._share()
        self._well_posed()
        self._others()
        return self

    def _speed(self, answer: Answers, events: Events) -> tuple[Array, Array, Array]:
        """(T⁻, T⁺, speed in the norm of M) of the answer."""
        T_minus, T_plus = extended.energy(events.M, events.v), extended.energy(events.M, answer.v_plus)
        T, applied = np.maximum(T_minus, 0) + np.maximum(T_plus, 0), self._applied_energy(events)
        T = np.where(1e-18 * applied < T, T + DRIVEN**2 * applied, applied)
        return T_minus, T_plus, np.sqrt(2 * np.where(T > 0, T, 1))

    def _applied_energy(self, events: Events) -> Array:
        """½ f̄ᵀ M⁻¹ f̄, (m,); 0 where M is semidefinite."""
        f = given_impulse(events)
        x, smallest = extended.solve(events.M, f[..., None])
        return np.where(smallest > 1e-12, np.abs(np.einsum("mi,mi->m", f, x[..., 0])) / 2, 0)

    def _off(self, v: Array, answer: Answers, events: Events, speed: Array) -> Array:
        """How far v is from the answer, of the speed; entry by entry where M is semidefinite."""
        change = v - answer.v_plus
        by_mass = np.sqrt(np.maximum(2 * extended.energy(events.M, change), 0)) / speed
        size = np.max(np.abs(events.v), axis=1) + np.max(np.abs(answer.v_plus), axis=1)
        by_entry = np.max(np.abs(change), axis=1) / np.where(size > 0, size, 1)
        return np.asarray(np.where(_semidefinite(events.M), by_entry, by_mass), float)

    def _velocities(self) -> None:
        events, given, answer = self.events, self.given, self.answer
        T_minus, T_plus, speed = self._speed(answer, events)
        T = speed * speed / 2
        sure = self.solved & (answer.verdict == Verdict.ONE)
        tolerance = np.maximum(WRONG, 10 * answer.near)
        self.off_v = self._off(given.v_plus, answer, events, speed)
        self.off_loss = np.abs(given.loss - (T_minus - T_plus)).astype(float) / T.astype(float)
        off_T = np.maximum(np.abs(given.T_minus - T_minus), np.abs(given.T_plus - T_plus)).astype(float) / T.astype(
            float
        )
        for name, off in (("v⁺", self.off_v), ("loss", self.off_loss), ("T", off_T)):
            for i in np.flatnonzero(sure & ~(off <= tolerance)):
                self.wrong.setdefault(int(i), f"{name} is off by {off[i]:.2e}")
        # Energy from nowhere.
        still = np.all(given_impulse(events) == 0, axis=1) | (events.impulse is None)
        for kind in ON:
            if kind in events.rows:
                still &= np.all(events.rows[kind].b_plus == 0, axis=1)
        for one in events.contacts:
            still &= np.all(one.b == 0, axis=1)
        gain = ((T_plus - T_minus) / T).astype(float)
        can = bool(events.contacts) or any(kind in events.rows for kind in ("elastic", "nonideal"))
        for i in np.flatnonzero(sure & still & (gain > CREATED) & (given.status == Status.OK) & can):
            self.wrong.setdefault(int(i), f"energy is created, {gain[i]:.1e} of T, and not reported")
        for i in np.flatnonzero(sure & (given.status == Status.ENERGY_CREATED) & ((gain < CREATED / 1e3) | ~still)):
            self.wrong.setdefault(int(i), f"ENERGY_CREATED, but ΔT is {gain[i]:.1e} of T")

    def _laws(self) -> None:
        """The impulses: M (v⁺ − v⁻) = f̄ + Cᵀλ̄; they push, inside the cone."""
        events, given = self.events, self.given
        M = events.M
        order = [*((kind, events.rows[kind].C) for kind in ON if kind in events.rows)]
        order += [("contact", one.C) for one in events.contacts]
        order += [(kind, events.rows[kind].C) for kind in KINDS if kind not in ON and kind in events.rows]
        C = np.concatenate([np.zeros((events.m, 0, events.n)), *(rows for _, rows in order)], 1)
        f = np.zeros((events.m, events.n)) if events.impulse is None else events.impulse
        push = C * given.impulse[..., None]
        left = np.einsum("mij,mj->mi", M, given.v_plus - events.v) - f - push.sum(1)
        # Momenta are measured by M⁻¹; where M is semidefinite, by that of M with the rows added.
        unit_rows = C / np.maximum(np.linalg.norm(C, axis=2, keepdims=True), 1e-300)
        mass = np.trace(M, axis1=1, axis2=2)[:, None, None] * self.semidefinite[:, None, None]
        inverse = np.linalg.inv(M + mass * np.swapaxes(unit_rows, 1, 2) @ unit_rows)

        def norm(momentum: Array) -> Array:
            square = np.einsum("m...i,mij,m...j->m...", momentum, inverse, momentum)
            return np.asarray(np.sqrt(np.maximum(square, 0)))

        moved = np.einsum("mij,mj->mi", M, given.v_plus), np.einsum("mij,mj->mi", M, events.v)
        terms = norm(push).sum(1) + norm(f) + norm(moved[0]) + norm(moved[1])
        off = norm(left) / np.where(terms > 0, terms, 1)
        for i in np.flatnonzero(self.solved & ~(off <= WRONG) & ~nearly_dependent(events)):
            self.wrong.setdefault(int(i), f"impulses and v⁺ do not balance: {off[i]:.1e} of the terms")
        start = sum(rows.shape[1] for kind, rows in order if kind in ON)
        for one in events.contacts:
            normal, tangents = given.impulse[:, start], given.impulse[:, start + 1 : start + 1 + one.n_tangents]
            size = np.abs(given.impulse[:, start : start + 1 + one.n_tangents]).max(1)
            pulls = -normal > 1e-8 * np.where(size > 0, size, 1)
            for i in np.flatnonzero(self.solved & pulls & self._counts(start, normal)):
                self.wrong.setdefault(int(i), "a contact pulls")
            if "coulomb" in one.law:
                cone = np.linalg.norm(tangents, axis=1) - one.mu * normal > 1e-8 * (one.mu * np.abs(normal))
                for i in np.flatnonzero(self.solved & cone & self._counts(start + 1, np.linalg.norm(tangents, axis=1))):
                    self.wrong.setdefault(int(i), "the friction of a contact is outside its cone")
            start += 1 + one.n_tangents

    def _counts(self, row: int, impulse: Array) -> Array:
        """Whether an impulse along a row of contacts is more than rounding of what the event does."""
        row -= sum(rows.C.shape[1] for kind, rows in self.events.rows.items() if kind in ON)
        W = np.diagonal(self.reduced.W, axis1=1, axis2=2)[:, row]
        speed = np.sqrt(W) * self._speed(self.answer, self.events)[2]
        return np.asarray(np.abs(impulse) * W > WRONG * speed, bool)

    def _friction_in_space(self) -> None:
        """Several contacts with friction at the velocity after: by the residual of the law; refused ones by Siconos."""
        events, contacts = self.events, self.events.contacts
        if not contacts or contacts[0].law != "moreau coulomb" or contacts[0].n_tangents != 2:
            return
        r, closes, close_call = asked(self.reduced, contacts)
        start = sum(rows.C.shape[1] for kind, rows in events.rows.items() if kind in ON)
        impulse = self.given.impulse[:, start : start + r.shape[1]]
        mu = np.stack([one.mu for one in contacts], 1)
        lengths = unit(self.reduced, contacts)
        after = self.reduced.u + np.einsum("mij,mj->mi", self.reduced.W, impulse)
        # The event's speed: supports that move may give much more than there was.
        T = [np.maximum(extended.energy(events.M, v), 0) for v in (events.v, self.given.v_plus)]
        more = np.sqrt(1 + T[1] / np.where(T[0] > 0, T[0], 1))
        for i in np.flatnonzero(self.solved & ~close_call & ~self.reduced.spanned):
            rows = [row for c in range(len(contacts)) if closes[i, c] for row in range(3 * c, 3 * c + 3)]
            if rows:
                d = lengths[i, rows]
                W = self.reduced.W[i][np.ix_(rows, rows)] / np.outer(d, d)
                steep = mu[i, closes[i]] * d[1::3] / d[::3]
                size = np.max(self.reduced.speed[i] / lengths[i]) * more[i]
                q = r[i, rows] / d
                miss = (
                    in_space.violation(W, q, steep, impulse[i, rows] * d) * float(np.max(np.abs(q))) / float(size or 1)
                )
                if miss > WRONG:
                    self.wrong.setdefault(int(i), f"the law is missed by {miss:.1e}")
            for c, (n, _) in enumerate(places(contacts)):
                if not closes[i, c] and after[i, n] < -1e-6 * self.reduced.speed[i, n]:
                    self.wrong.setdefault(int(i), "a contact that opened was driven together")
        refused = np.flatnonzero(~self.solved & ~close_call & (self.answer.verdict == Verdict.UNSURE))
        if refused.size:
            found, off = others.siconos_impulses(self.reduced, events, refused)
            self.compared += len(refused)
            smallest = np.linalg.eigvalsh(_unit_diagonal(self.reduced.W[refused].astype(float)))[:, 0]
            for place, i in enumerate(refused):
                u = self.reduced.u[i] + self.reduced.W[i] @ found[place]
                sinks = any(
                    not closes[i, c] and u[n] < 1e-6 * self.reduced.speed[i, n]
                    for c, (n, _) in enumerate(places(contacts))
                )
                if (
                    off[place] < 1e-9
                    and not sinks
                    and (self.given.status[i] != Status.AMBIGUOUS or smallest[place] > 1e-6)
                ):
                    self.refused[int(i)] = f"Siconos finds an answer, but the status is {_name(self.given.status[i])}"

    def _share(self) -> None:
        """Poisson's law: whether it is reported that the motion rests on how impulses are shared."""
        many, told = self.answer.many, self.given.one_of_many
        for i in np.flatnonzero(
            self.solved & (self.answer.verdict == Verdict.ONE) & (many >= 0) & (told != (many > 0))
        ):
            self.wrong.setdefault(int(i), f"one_of_many is {bool(told[i])}, must be {bool(many[i])}")

    def _well_posed(self) -> None:
        """Events whose answers change as much by rounding of their input are ill-posed: they are not counted."""
        some = np.array(sorted({*self.wrong, *self.refused}), int)
        if not some.size:
            return
        events, answer = self.events.at(some), self.answer.at(some)
        T_minus, T_plus, speed = self._speed(answer, events)
        T = speed * speed / 2
        moved, lost, same = np.zeros(len(some)), np.zeros(len(some)), np.ones(len(some), bool)
        for _ in range(4):
            nudged = events.nudged(self.rng)
            other = answers(nudged)
            same &= other.verdict == answer.verdict
            moved = np.maximum(moved, self._off(other.v_plus, answer, events, speed))
            gain = extended.energy(nudged.M, nudged.v) - extended.energy(nudged.M, other.v_plus) - (T_minus - T_plus)
            lost = np.maximum(lost, np.abs(gain / T).astype(float))
        for place, i in enumerate(some):
            i = int(i)
            reason = self.wrong.get(i, "")
            off = (
                self.off_v[i] if reason.startswith("v⁺") else self.off_loss[i] if reason.startswith("loss") else np.nan
            )
            limit = ROUNDING * (moved[place] if reason.startswith("v⁺") else max(moved[place], lost[place]))
            ill = off <= limit if np.isfinite(off) else (not same[place] or moved[place] > 1e-8)
            if self.answer.verdict[i] == Verdict.UNSURE and i in self.refused:
                ill = False
            if self.events.dependent and np.isnan(off):
                ill = False  # nudged rows are not dependent any more
            if ill:
                self.wrong.pop(i, None)
                self.refused.pop(i, None)
                self.ill_posed += 1
            elif i in self.wrong and np.isfinite(off):
                self.wrong[i] += f" (rounding of the input: {limit / ROUNDING:.0e})"

    # Other programs

    def _others(self) -> None:
        """Their v⁺ beside the answer in extended precision."""
        events, answer = self.events, self.answer
        law = events.contacts[0].law if events.contacts else ""
        one = np.flatnonzero(answer.verdict == Verdict.ONE)
        if not one.size or self.semidefinite.any():
            return
        if not law:
            self._beside(one, others.gauss(events.at(one)), "LAPACK")
        elif law in ("moreau", "poisson") and not events.dependent and all(c.law == law for c in events.contacts):
            self._beside(one, self._moved(one, others.least_squares(self.reduced.at(one), events.at(one))), "nnls")
        elif law == "moreau coulomb" and not events.dependent:
            some = self.rng.permutation(one)[:100]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found, off = others.siconos_impulses(self.reduced, events, some)
            good = off < 1e-11
            self._beside(some[good], self._moved(some[good], found[good]), "Siconos")
        elif law.startswith("coulomb"):
            clear = np.abs(self.reduced.u[one, 0]) > 1e-7 * self.reduced.speed[one, 0]  # it does not graze
            some = self.rng.permutation(one[clear])[: 100 if events.contacts[0].n_tangents == 1 else 2]
            try:
                found = others.steps(self.reduced, events, some)
            except RuntimeError:  # it jams for ever, or drifts: nothing to compare with
                return
            self._beside(some, self._moved(some, found), "small steps")

    def _moved(self, some: Array, impulse: Array) -> Array:
        reduced: Reduced = self.reduced.at(some)
        return np.asarray(reduced.v_0 + np.einsum("mnk,mk->mn", reduced.P, impulse))

    def _beside(self, some: Array, v: Array, program: str) -> None:
        if not len(some):
            return
        events, answer = self.events.at(some), self.answer.at(some)
        speed = self._speed(answer, events)[2]
        off = self._off(v, answer, events, speed)
        self.compared += len(some)
        doubtful = np.flatnonzero(~(off <= AGREE))
        if doubtful.size:  # in double precision an event that is badly conditioned is theirs to get wrong
            other = answers(events.at(doubtful).nudged(self.rng, 1e-11))
            moved = self._off(other.v_plus, answer.at(doubtful), events.at(doubtful), speed[doubtful])
            for place, i in enumerate(doubtful):
                if off[i] > 100 * moved[place]:
                    self.disagree[int(some[i])] = f"{program} is off by {off[i]:.1e}"


def _semidefinite(M: Array) -> Array:
    return np.asarray(np.linalg.eigvalsh(_unit_diagonal(M.astype(float)))[:, 0] < 1e-12)


def _unit_diagonal(M: Array) -> Array:
    d = np.sqrt(np.abs(np.diagonal(M, axis1=1, axis2=2)))
    d = np.where(d > 0, d, 1)
    return np.asarray(M / d[:, :, None] / d[:, None, :])


def _name(status: Any) -> str:
    return Status(int(status)).name
