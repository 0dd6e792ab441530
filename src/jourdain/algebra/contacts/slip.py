"""The equations of one contact in space with friction inside the event [Darboux; Keller; docs/theory.md §5].

Speeds are in units of the approach −u_n, W in units of W_nn, so that u_n starts at −1 and W_nn = 1; tangents in units
in which tr W_tt = 2, so that nothing depends on how long the rows are. While the contact
slips, with r = ‖u_t‖ and dp = r dσ, the impulses follow equations that stay smooth where the slip stops (at σ = ∞),

    p' = r,   p_t' = −μ u_t,   w' = u_n r,   u_t' = W_tn r − μ W_tt u_t,     u_n = −1 + p + W_nt p_t,   w = ∫ u_n dp

u_t = u_t⁻ + W_tn p + W_tt p_t is carried along all the same: where it is small its direction is still known.

Where u_t = 0 the contact sticks if ‖W_tt⁻¹ W_tn‖ ≤ μ, else it slips on in the one direction û with (μ W_tt + c I) û =
W_tn, c > 0: all rates are constant from there on, and the rest is a formula, `finisher`.

A contact that sticks moves by s = 1 − W_nt W_tt⁻¹ W_tn for an impulse. It wedges where s = 0, that is where its point
cannot move along the normal alone: u_n = W_nt W_tt⁻¹ u_t then, and slip and approach end together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import casadi as ca
from casadi import SX

from jourdain.algebra import unrolled
from jourdain.algebra.contacts.restitution import HYPOTHESES, NEVER, Compression, Growth
from jourdain.compute.evaluate import Evaluator
from jourdain.compute.runge_kutta import error_norm, step

N_ASKED, N_STATE = 10, 6  # w_t, W_tt, u_t, μ, e, s; p, p_t, w, u_t
TOLERANCE = 1e-13  # of a step, relative to 1 and to the impulses
N_SECULAR = 30  # Newton's steps to the direction of a slip that starts again; they approach from one side
SINGULAR = 1e-13  # of (tr W_tt)²: below, nothing moves along one of the tangents
RESTS = 1e-10  # of impulses and speeds: slip and compression of a contact that wedges end together
AT_REST = 1e-8  # of the approach: what a support that does not move leaves of it where the contact wedges


class Finish(NamedTuple):
    """How the event ends, in the units of `Slip`."""

    p: Any  # impulses: normal,
    p_1: Any  # and tangential
    p_2: Any
    p_c: Any  # normal impulse and its work at the end of compression
    w_c: Any
    w: Any  # work of the normal impulse
    p_s: Any  # impulses where the slip stopped; NEVER if it did not
    p_s1: Any
    p_s2: Any
    after: Any  # normal impulse after that
    sticks: Any  # whether it then stuck
    gap: Any  # how far μ is from what decides that
    wedged: Any  # whether it stuck and no impulse moves it any more
    stuck: Any  # the approach that is left there


N_FINISH = len(Finish._fields)


@dataclass(frozen=True)
class Slip:
    """A contact: w_t = W_tn, (w_11, w_12, w_22) = W_tt, u_t before, friction, restitution, s."""

    w_t: SX  # (2, 1)
    W_tt: SX  # (2, 2)
    u_t: SX  # (2, 1)
    mu: SX
    e: SX
    s: SX  # du_n/dp while it sticks; exactly 0 where it wedges

    @classmethod
    def of(cls, asked: SX) -> Slip:
        a = ca.vertsplit(asked)
        return cls(ca.vertcat(*a[0:2]), _symmetric(*a[2:5]), ca.vertcat(*a[5:7]), a[7], a[8], a[9])

    def speeds(self, y: SX) -> tuple[SX, SX]:
        """(u_n, u_t) of a state y = (p, p_t, w, u_t)."""
        fixed = -1 - ca.dot(self.alpha, self.u_t)  # what a support that moves leaves of the approach
        fixed = ca.if_else(ca.fabs(fixed) <= AT_REST, 0.0, fixed)
        wedging = fixed + ca.dot(self.alpha, y[4:6])
        return ca.if_else(self.s > 0, -1 + y[0] + ca.dot(self.w_t, y[1:3]), wedging), y[4:6]

    @property
    def alpha(self) -> SX:
        """W_tt⁻¹ W_tn."""
        return self._solved(self.w_t)

    def rise(self, rate: SX) -> SX:
        """du_n/dp with dp_t/dp = rate, while it slips."""
        wedging = ca.dot(self.alpha, self.w_t + self.W_tt @ rate)
        return ca.if_else(self.s > 0, 1 + ca.dot(self.w_t, rate), wedging)

    def slope(self, y: SX) -> SX:
        """dy/dσ."""
        u_n, u_t = self.speeds(y)
        r = _length(u_t)
        return ca.vertcat(r, -self.mu * u_t, u_n * r, self.w_t * r - self.mu * self.W_tt @ u_t)

    def turning(self, y: SX) -> tuple[SX, SX]:
        """(d ln r/dσ, dφ/dσ): how quickly the slip grows and turns."""
        _, u_t = self.speeds(y)
        r = _length(u_t)
        along = u_t / ca.if_else(r > 0, r, 1.0)
        pull = self.w_t - self.mu * self.W_tt @ along
        return ca.dot(pull, along), along[0] * pull[1] - along[1] * pull[0]

    def resting(self, p: SX) -> SX:
        """p_t at which u_t = 0 for a normal impulse p."""
        return -self._solved(self.u_t + self.w_t * p)

    def _solved(self, w: SX) -> SX:
        """W_tt⁻¹ w; where one tangent does not move, along the other."""
        a, b, d = self.W_tt[0, 0], self.W_tt[0, 1], self.W_tt[1, 1]
        det, trace = a * d - b * b, a + d
        regular = det > SINGULAR * trace * trace
        moves = trace > 0
        adjugate = ca.vertcat(ca.horzcat(d, -b), ca.horzcat(-b, a)) / ca.if_else(regular, det, 1.0)
        by_both = adjugate @ w
        by_both = by_both + adjugate @ (w - self.W_tt @ by_both)  # refined
        by_one = w / ca.if_else(moves, trace, 1.0)  # w lies along the one tangent that moves
        return ca.if_else(regular, by_both, ca.if_else(moves, by_one, SX(2, 1)))

    def restart(self) -> SX:
        """û; where the contact sticks there is none, and any will do."""
        a, b, d = (self.mu * entry for entry in (self.W_tt[0, 0], self.W_tt[0, 1], self.W_tt[1, 1]))
        x, y = ca.vertsplit(self.w_t)
        c = _length(self.w_t) - (a + d) / 2 - _root((a - d) ** 2 / 4 + b * b)
        c = ca.if_else(c > 0, c, 0.0)  # not above the answer, and the length falls with c
        along = self.w_t
        for _ in range(N_SECULAR):
            p, q = a + c, d + c
            det = p * q - b * b
            det = ca.if_else(det > 0, det, 1.0)
            along = ca.vertcat(q * x - b * y, p * y - b * x) / det
            fall = (q * along[0] ** 2 - 2 * b * along[0] * along[1] + p * along[1] ** 2) / det  # −û · dû/dc
            length = _length(along)
            sound = fall > 0
            c = c + ca.if_else(sound, (length - 1) * length * length / ca.if_else(sound, fall, 1.0), 0.0)
            c = ca.if_else(c > 0, c, 0.0)
        size = _length(along)
        return along / ca.if_else(size > 0, size, 1.0)


@lru_cache(maxsize=1)
def stepper() -> Evaluator:
    """(y, asked, h) → y after the step, and its error in units of the tolerance."""
    y, asked, h = SX.sym("y", N_STATE), SX.sym("asked", N_ASKED), SX.sym("h")
    slip = Slip.of(asked)
    after, fifth, third, _ = step(slip.slope, y, h)
    r = _length(y[4:6])
    slow = ca.sqrt(r * (1 + r))  # a slow slip has a direction too, which matters the less the slower it is
    lengths = ca.vertcat(1 + ca.fabs(after[:4]), slow, slow)
    return Evaluator([y, asked, h], {"y": after, "error": error_norm(fifth, third, TOLERANCE * lengths)})


@lru_cache(maxsize=1)
def step_slopes() -> Evaluator:
    """(y, asked, h) → the derivatives of the state after a step by y and by asked."""
    y, asked, h = SX.sym("y", N_STATE), SX.sym("asked", N_ASKED), SX.sym("h")
    after = step(Slip.of(asked).slope, y, h).after
    return Evaluator([y, asked, h], {"by_y": ca.jacobian(after, y), "by_asked": ca.jacobian(after, asked)})


@lru_cache(maxsize=1)
def watcher() -> Evaluator:
    """(y, asked) → speeds, dy/dσ, and how quickly the slip grows and turns."""
    y, asked = SX.sym("y", N_STATE), SX.sym("asked", N_ASKED)
    slip = Slip.of(asked)
    u_n, u_t = slip.speeds(y)
    grows, turns = slip.turning(y)
    rates = {"slope": slip.slope(y), "grows": grows, "turns": turns}
    return Evaluator([y, asked], {"u_n": u_n, "r": _length(u_t), **rates})


@lru_cache(maxsize=1)
def turning_slopes() -> Evaluator:
    """(y, asked) → the derivatives of how quickly the slip turns."""
    y, asked = SX.sym("y", N_STATE), SX.sym("asked", N_ASKED)
    _, turns = Slip.of(asked).turning(y)
    return Evaluator([y, asked], {"by_y": ca.jacobian(turns, y), "by_asked": ca.jacobian(turns, asked)})


@lru_cache(maxsize=6)
def finisher(hypothesis: str, slopes: bool) -> Evaluator:
    """(y, p_c, w_c, restituting, asked) → `Finish`; with `slopes` their derivatives by (y, p_c, w_c) and by asked.

    From a state on, the slip keeps its direction until it stops; then the contact sticks or slips on.
    """
    y, asked = SX.sym("y", N_STATE), SX.sym("asked", N_ASKED)
    p_c, w_c, restituting = SX.sym("p_c"), SX.sym("w_c"), SX.sym("restituting")
    slip = Slip.of(asked)
    _, u_t = slip.speeds(y)
    r = _length(u_t)
    along = u_t / ca.if_else(r > 0, r, 1.0)
    grows, _ = slip.turning(y)
    closes = ca.logic_and(r > 0, grows < 0)
    room = ca.if_else(closes, -r / ca.if_else(closes, grows, 1.0), ca.if_else(r > 0, NEVER, 0.0))

    start = Leg(y, p_c, w_c, restituting, done=SX(0))
    needed = _length(slip.alpha)
    sticks = needed <= slip.mu
    rubbing = -slip.mu * along
    first, _ = start.along(rubbing, slip.rise(rubbing), room, hypothesis, slip)
    first = start.unless(r > 0, first)  # without slip there is no such stretch
    stop = first.y
    stopped = ca.logic_not(first.done)
    gap = ca.fabs(needed - slip.mu) / (1 + slip.mu)
    rate = ca.if_else(sticks, -slip.alpha, -slip.mu * slip.restart())
    # Where it sticks u_t = 0 gives p_t, however the slip came to rest: so its derivatives are those of u_t⁻ too.
    rested = ca.if_else(ca.logic_and(stopped, sticks), slip.resting(stop[0]), stop[1:3])
    first = replace(first, y=ca.vertcat(stop[0], rested, stop[3:]))
    last, after = first.along(rate, ca.if_else(sticks, slip.s, slip.rise(rate)), SX(NEVER), hypothesis, slip)
    left, _ = slip.speeds(stop)
    wedged = ca.logic_and(stopped, ca.logic_and(sticks, slip.s <= 0))
    stuck = ca.if_else(wedged, ca.if_else(left < 0, -left, 0.0), 0.0)
    where = ca.if_else(stopped, stop[:3], ca.vertcat(NEVER, 0, 0))
    ends = ca.vertcat(last.y[:3], last.p_c, last.w_c, last.y[3], where, after, sticks, gap, wedged, stuck)
    inputs = [y, ca.vertcat(p_c, w_c), restituting, asked]
    outputs = {"finish": ends}
    if slopes:
        outputs |= {"by_y": ca.jacobian(ends, ca.vertcat(y, p_c, w_c)), "by_asked": ca.jacobian(ends, asked)}
    return Evaluator(inputs, outputs)


@dataclass(frozen=True)
class Leg:
    """Where a contact is, and in which phase."""

    y: SX
    p_c: SX
    w_c: SX
    restituting: SX
    done: SX

    def along(self, rate: SX, n: SX, room: SX, hypothesis: str, slip: Slip) -> tuple[Leg, SX]:
        """On with dp_t/dp = rate and du_n/dp = n, to the end of the event or as far as there is room; and how far."""
        moves = ca.fabs(n) > 0  # else it has come to rest altogether, and nothing drives it back
        rises = n > 0

        # Compression, to u_n = 0.
        u_n, _ = slip.speeds(self.y)
        left = ca.if_else(rises, -u_n / ca.if_else(rises, n, 1.0), ca.if_else(moves, NEVER, 0.0))
        slow = _length(self.y[4:6]) <= RESTS * (1 + _length(slip.u_t))
        with_slip = ca.logic_or(slow, ca.fabs(left - room) <= RESTS * (1 + room))
        left = ca.if_else(ca.logic_and(slip.s <= 0, ca.logic_and(with_slip, room < NEVER)), NEVER, left)
        compressing = ca.logic_not(self.restituting)
        went = ca.if_else(compressing, _less(left, room), 0.0)
        reached = ca.logic_and(compressing, left <= room)
        y = self._moved(self.y, u_n, n, rate, went, slip)
        p_c, w_c = ca.if_else(reached, y[0], self.p_c), ca.if_else(reached, y[3], self.w_c)
        restituting = ca.logic_or(self.restituting, reached)

        # Restitution, to its end.
        u_n = ca.if_else(reached, 0.0, slip.speeds(y)[0])
        rule, compression = HYPOTHESES[hypothesis], Compression(1.0, p_c, w_c)
        onward = rule.onward(Growth(u_n, y[0] - p_c, y[3] - w_c), n, slip.e, compression, unrolled)
        left = ca.if_else(reached, rule.from_rest(n, slip.e, compression, unrolled), onward)
        if not rule.by_impulse:
            left = ca.if_else(moves, left, 0.0)
        left = ca.if_else(left < 0, 0.0, left)
        going = ca.logic_and(restituting, ca.logic_not(self.done))
        more = ca.if_else(going, _less(left, room - went), 0.0)
        done = ca.logic_or(self.done, ca.logic_and(going, left <= room - went))
        return Leg(self._moved(y, u_n, n, rate, more, slip), p_c, w_c, restituting, done), went + more

    def unless(self, condition: SX, other: Leg) -> Leg:
        """The other one where the condition holds."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Leg(*(ca.if_else(condition, there, here) for here, there in pairs))

    def _moved(self, y: SX, u_n: SX, n: SX, rate: SX, p: SX, slip: Slip) -> SX:
        return y + ca.vertcat(p, rate * p, u_n * p + n * p * p / 2, (slip.w_t + slip.W_tt @ rate) * p)


def _symmetric(a: SX, b: SX, d: SX) -> SX:
    return ca.vertcat(ca.horzcat(a, b), ca.horzcat(b, d))


def _length(column: SX) -> SX:
    return _root(ca.sumsqr(column))


def _root(square: SX) -> SX:
    """Guarded inside, so that its derivative is 0 at 0."""
    return ca.if_else(square > 0, ca.sqrt(ca.if_else(square > 0, square, 1.0)), 0.0)


def _less(one: SX, other: SX) -> SX:
    return ca.if_else(one < other, one, other)
