"""The equations of one contact in space with friction inside the event [Darboux; Keller; docs/theory.md §5].

Speeds are in units of the approach −u_n, W in units of W_nn, so that u_n starts at −1 and W_nn = 1; tangents in units
in which tr W_tt = 2, so that nothing depends on how long the rows are.

The rows of the tangents are Y_t = R Q with orthonormal rows Q and a lower triangle R. The normal is a along Q, and s is
the square of the rest of it: W_tt = R Rᵀ, W_tn = R a, 1 = ‖a‖² + s. z is the velocity along Q, so that u_t = R z.
Impulses dp, dp_t change

    dz = a dp + Rᵀ dp_t,     du_n = s dp + a · dz

so that no digits are lost where W is nearly singular. While the contact slips, with r = ‖u_t‖ and dp = r dσ, the
impulses follow equations that stay smooth where the slip stops (at σ = ∞),

    p' = r,   p_t' = −μ u_t,   w' = u_n r,   z' = a r − μ Rᵀ u_t,     w = ∫ u_n dp

z = z⁻ + a p + Rᵀ p_t is carried along all the same: where it is small its direction is still known.

Where z = 0 the contact sticks if ‖α‖ ≤ μ with Rᵀ α = a, that is α = W_tt⁻¹ W_tn; else it slips on in the one
direction û with (μ W_tt + c I) û = W_tn, c > 0: all rates are constant from there on, and the rest is a formula,
`finisher`.

A contact that sticks moves by s for an impulse. It wedges where s = 0, that is where its point cannot move along the
normal alone: u_n = u_n⁻ + a · (z − z⁻) then, and slip and approach end together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import sqrt
from typing import Any, NamedTuple

import casadi as ca
from casadi import SX

from jourdain.algebra import unrolled
from jourdain.algebra.contacts.restitution import HYPOTHESES, NEVER, Compression, Growth
from jourdain.compute.evaluate import Evaluator
from jourdain.compute.runge_kutta import error_norm, step

N_ASKED, N_STATE = 10, 6  # a, R, z, μ, e, s; p, p_t, w, z
TOLERANCE = 1e-13  # of a step, relative to 1 and to the impulses
N_SECULAR = 30  # Newton's steps to the direction of a slip that starts again; they approach from one side
RESTS = 1e-10  # of impulses and speeds: slip and compression of a contact that wedges end together
KEEPS = 1e-8  # of the quickest rate: what turns more slowly keeps its direction
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
    """A contact: a, (r_11, r_21, r_22) = R, z before, friction, restitution, s."""

    a: SX  # (2, 1)
    R: SX  # (2, 2); a column is zero where one tangent follows from the other
    z: SX  # (2, 1)
    mu: SX
    e: SX
    s: SX  # du_n/dp while it sticks; exactly 0 where it wedges

    @classmethod
    def of(cls, asked: SX) -> Slip:
        a = ca.vertsplit(asked)
        return cls(ca.vertcat(*a[0:2]), _triangle(*a[2:5]), ca.vertcat(*a[5:7]), a[7], a[8], a[9])

    def approach(self, y: SX) -> SX:
        """u_n of a state y = (p, p_t, w, z)."""
        fixed = -1 - ca.dot(self.a, self.z)  # what the slip does not take with it
        rests = ca.logic_and(self.s <= 0, ca.fabs(fixed) <= AT_REST)
        return ca.if_else(rests, 0.0, fixed) + self.s * y[0] + ca.dot(self.a, y[4:6])

    @property
    def alpha(self) -> SX:
        """W_tt⁻¹ W_tn."""
        return self._impulse(self.a)

    def pull(self, rate: SX) -> SX:
        """dz/dp with dp_t/dp = rate."""
        return self.a + self.R.T @ rate

    def rise(self, pull: SX) -> SX:
        """du_n/dp with dz/dp = pull."""
        return self.s + ca.dot(self.a, pull)

    def slope(self, y: SX) -> SX:
        """dy/dσ."""
        u_t = self.R @ y[4:6]
        r = _length(u_t)
        return ca.vertcat(r, -self.mu * u_t, self.approach(y) * r, self.a * r - self.mu * self.R.T @ u_t)

    def turning(self, y: SX) -> tuple[SX, SX, SX]:
        """(dz/dp, d ln‖z‖/dp, r dφ/dp): where the slip is driven, how quickly it grows and turns."""
        z = y[4:6]
        along = _unit(self.R @ z)
        pull = self.pull(-self.mu * along)
        change = self.R @ pull
        size2 = ca.sumsqr(z)
        grows = ca.dot(pull, z) / ca.if_else(size2 > 0, size2, 1.0)
        return pull, grows, along[0] * change[1] - along[1] * change[0]

    def resting(self, p: SX) -> SX:
        """p_t at which z = 0 for a normal impulse p."""
        return -self._impulse(self.z + self.a * p)

    def _impulse(self, z: SX) -> SX:
        """The least p_t with Rᵀ p_t = z."""
        r_11, r_21, r_22 = self.R[0, 0], self.R[1, 0], self.R[1, 1]
        both, first = r_22 > 0, r_11 > 0
        length2 = r_11 * r_11 + r_21 * r_21
        second = ca.if_else(both, z[1] / ca.if_else(both, r_22, 1.0), 0.0)
        by_both = ca.vertcat((z[0] - r_21 * second) / ca.if_else(first, r_11, 1.0), second)
        by_one = z[0] * self.R[:, 0] / ca.if_else(length2 > 0, length2, 1.0)
        return ca.if_else(both, by_both, by_one)

    def restart(self) -> tuple[SX, SX]:
        """(û, dz/dp along it); where the contact sticks there is none, and any will do.

        a − μ Rᵀû = c (μ RᵀR + c I)⁻¹ a. Sums of products of R's entries are written so that their large parts, which
        cancel, do not occur.
        """
        mu, (r_11, r_21, r_22), (x, y) = self.mu, (self.R[0, 0], self.R[1, 0], self.R[1, 1]), ca.vertsplit(self.a)
        w_t = self.R @ self.a
        A, B, D = (mu * entry for entry in (r_11 * r_11, r_11 * r_21, r_21 * r_21 + r_22 * r_22))
        c = _length(w_t) - (A + D) / 2 - _root((A - D) ** 2 / 4 + B * B)
        c = ca.if_else(c > 0, c, 0.0)  # not above the answer, and the length falls with c

        def direction(c: SX) -> tuple[SX, SX]:
            """((μ W_tt + c I)⁻¹ W_tn, the determinant)."""
            det = A * mu * r_22 * r_22 + c * (A + D + c)
            det = ca.if_else(det > 0, det, 1.0)
            one = r_11 * (x * (mu * r_22 * r_22 + c) - mu * r_21 * r_22 * y)
            return ca.vertcat(one, c * w_t[1] + A * r_22 * y) / det, det

        for _ in range(N_SECULAR):
            along, det = direction(c)
            p, q = A + c, D + c
            fall = (q * along[0] ** 2 - 2 * B * along[0] * along[1] + p * along[1] ** 2) / det  # −û · dû/dc
            length = _length(along)
            sound = fall > 0
            c = c + ca.if_else(sound, (length - 1) * length * length / ca.if_else(sound, fall, 1.0), 0.0)
            c = ca.if_else(c > 0, c, 0.0)
        along, det = direction(c)
        across, second = mu * r_21 * r_22, mu * r_22 * r_22 + c  # RᵀR = (r_11² + r_21², r_21 r_22; …, r_22²)
        first = mu * (r_11 * r_11 + r_21 * r_21) + c
        pull = c * ca.vertcat(second * x - across * y, first * y - across * x) / det
        return _unit(along), pull


@lru_cache(maxsize=1)
def stepper() -> Evaluator:
    """(y, asked, h) → y after the step, and its error in units of the tolerance."""
    y, asked, h = SX.sym("y", N_STATE), SX.sym("asked", N_ASKED), SX.sym("h")
    slip = Slip.of(asked)
    after, fifth, third, _ = step(slip.slope, y, h)
    speed = _length(y[4:6])
    slow = ca.sqrt(speed * (1 + speed))  # a slow slip has a direction too, which matters the less the slower it is
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
    """(y, asked) → speeds, dy/dσ, du_n/dσ, and how quickly the slip grows and turns."""
    y, asked = SX.sym("y", N_STATE), SX.sym("asked", N_ASKED)
    slip = Slip.of(asked)
    _, grows, turns = slip.turning(y)
    slope = slip.slope(y)
    rates = {"slope": slope, "rise": slip.s * slope[0] + ca.dot(slip.a, slope[4:6]), "grows": grows, "turns": turns}
    speeds = {"u_n": slip.approach(y), "r": _length(slip.R @ y[4:6]), "z": _length(y[4:6])}
    return Evaluator([y, asked], {**speeds, **rates})


@lru_cache(maxsize=1)
def approach_slopes() -> Evaluator:
    """(y, asked) → the derivatives of u_n."""
    y, asked = SX.sym("y", N_STATE), SX.sym("asked", N_ASKED)
    u_n = Slip.of(asked).approach(y)
    return Evaluator([y, asked], {"by_y": ca.jacobian(u_n, y), "by_asked": ca.jacobian(u_n, asked)})


@lru_cache(maxsize=1)
def turning_slopes() -> Evaluator:
    """(y, asked) → the derivatives of how quickly the slip turns."""
    y, asked = SX.sym("y", N_STATE), SX.sym("asked", N_ASKED)
    _, _, turns = Slip.of(asked).turning(y)
    return Evaluator([y, asked], {"by_y": ca.jacobian(turns, y), "by_asked": ca.jacobian(turns, asked)})


@lru_cache(maxsize=6)
def finisher(hypothesis: str, slopes: bool) -> Evaluator:
    """(y, p_c, w_c, restituting, asked) → `Finish`; with `slopes` their derivatives by (y, p_c, w_c) and by asked.

    From a state on, the slip keeps its direction until it stops; then the contact sticks or slips on.
    """
    y, asked = SX.sym("y", N_STATE), SX.sym("asked", N_ASKED)
    p_c, w_c, restituting = SX.sym("p_c"), SX.sym("w_c"), SX.sym("restituting")
    slip = Slip.of(asked)
    z = y[4:6]
    along = _unit(slip.R @ z)
    slips = ca.sumsqr(along) > 0
    # A slip that keeps its direction has dz/dp along z: the part along it is known best, and the other one is rounding.
    pull, grows, _ = slip.turning(y)
    pull = ca.if_else(_length(pull - grows * z) <= KEEPS * (_length(slip.a) + slip.mu), grows * z, pull)
    closes = ca.logic_and(slips, grows < 0)
    room = ca.if_else(closes, -1 / ca.if_else(closes, grows, 1.0), ca.if_else(slips, NEVER, 0.0))

    start = Leg(y, p_c, w_c, restituting, done=SX(0))
    needed = _length(slip.alpha)
    sticks = needed <= slip.mu
    first, _ = start.along(-slip.mu * along, pull, room, hypothesis, slip)
    first = start.unless(slips, first)  # without slip there is no such stretch
    stopped = ca.logic_not(first.done)
    stop = first.y
    gap = ca.fabs(needed - slip.mu) / (needed + slip.mu + sqrt(0.5))
    # Where it sticks z = 0 gives p_t, however the slip came to rest: so its derivatives are those of z⁻ too.
    held = ca.logic_and(ca.logic_and(stopped, sticks), slip.mu > 0)
    rested = ca.if_else(held, slip.resting(stop[0]), stop[1:3])
    stop = ca.vertcat(stop[0], rested, stop[3], ca.if_else(stopped, SX.zeros(2), stop[4:6]))
    along, pull = slip.restart()
    rate, pull = ca.if_else(sticks, -slip.alpha, -slip.mu * along), ca.if_else(sticks, SX.zeros(2), pull)
    last, after = replace(first, y=stop).along(rate, pull, SX(NEVER), hypothesis, slip)
    left = slip.approach(stop)
    wedged = ca.logic_and(stopped, ca.logic_and(sticks, slip.s <= 0))
    stuck = ca.if_else(wedged, ca.if_else(left < 0, -left, 0.0), 0.0)
    where = ca.if_else(stopped, first.y[:3], ca.vertcat(NEVER, 0, 0))
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

    def along(self, rate: SX, pull: SX, room: SX, hypothesis: str, slip: Slip) -> tuple[Leg, SX]:
        """On with dp_t/dp = rate and dz/dp = pull, to the end of the event or as far as there is room; and how far."""
        n = slip.rise(pull)
        moves = ca.fabs(n) > 0  # else it has come to rest altogether, and nothing drives it back
        rises = n > 0

        # Compression, to u_n = 0.
        u_n = slip.approach(self.y)
        left = ca.if_else(rises, -u_n / ca.if_else(rises, n, 1.0), ca.if_else(moves, NEVER, 0.0))
        slow = _length(self.y[4:6]) <= RESTS * (1 + _length(slip.z))
        with_slip = ca.logic_or(slow, ca.fabs(left - room) <= RESTS * (1 + room))
        left = ca.if_else(ca.logic_and(slip.s <= 0, ca.logic_and(with_slip, room < NEVER)), NEVER, left)
        compressing = ca.logic_not(self.restituting)
        went = ca.if_else(compressing, _less(left, room), 0.0)
        reached = ca.logic_and(compressing, left <= room)
        y = self._moved(self.y, u_n, n, rate, pull, went)
        p_c, w_c = ca.if_else(reached, y[0], self.p_c), ca.if_else(reached, y[3], self.w_c)
        restituting = ca.logic_or(self.restituting, reached)

        # Restitution, to its end.
        u_n = ca.if_else(reached, 0.0, slip.approach(y))
        rule, compression = HYPOTHESES[hypothesis], Compression(1.0, p_c, w_c)
        onward = rule.onward(Growth(u_n, y[0] - p_c, y[3] - w_c), n, slip.e, compression, unrolled)
        left = ca.if_else(reached, rule.from_rest(n, slip.e, compression, unrolled), onward)
        if not rule.by_impulse:
            left = ca.if_else(moves, left, 0.0)
        left = ca.if_else(left < 0, 0.0, left)
        going = ca.logic_and(restituting, ca.logic_not(self.done))
        more = ca.if_else(going, _less(left, room - went), 0.0)
        done = ca.logic_or(self.done, ca.logic_and(going, left <= room - went))
        return Leg(self._moved(y, u_n, n, rate, pull, more), p_c, w_c, restituting, done), went + more

    def unless(self, condition: SX, other: Leg) -> Leg:
        """The other one where the condition holds."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Leg(*(ca.if_else(condition, there, here) for here, there in pairs))

    def _moved(self, y: SX, u_n: SX, n: SX, rate: SX, pull: SX, p: SX) -> SX:
        return y + ca.vertcat(p, rate * p, u_n * p + n * p * p / 2, pull * p)


def _triangle(r_11: SX, r_21: SX, r_22: SX) -> SX:
    return ca.vertcat(ca.horzcat(r_11, SX(1, 1)), ca.horzcat(r_21, r_22))


def _unit(column: SX) -> SX:
    length = _length(column)
    return column / ca.if_else(length > 0, length, 1.0)


def _length(column: SX) -> SX:
    return _root(ca.sumsqr(column))


def _root(square: SX) -> SX:
    """Guarded inside, so that its derivative is 0 at 0."""
    return ca.if_else(square > 0, ca.sqrt(ca.if_else(square > 0, square, 1.0)), 0.0)


def _less(one: SX, other: SX) -> SX:
    return ca.if_else(one < other, one, other)
