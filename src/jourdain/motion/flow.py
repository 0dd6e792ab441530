"""The flow of a topology: Runge–Kutta, projection, step control and a look at the guards, in one kernel.

State y = (t, q, v, w), w the work done so far by forces without a potential and by moving supports.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, reduce
from math import inf
from typing import NamedTuple

import casadi as ca
from casadi import SX

from jourdain.compute.branches import SCALARS
from jourdain.compute.evaluate import Evaluator
from jourdain.compute.kernel.batch import Kernel
from jourdain.compute.kernel.iterate import Iterated
from jourdain.compute.runge_kutta import N_DENSE, SHRINK, Step, along, dense, error_norm, length_factor, step
from jourdain.errors import NotExpressible
from jourdain.motion.dynamics import Dynamics
from jourdain.motion.guards import GuardKind
from jourdain.motion.locate import MAX_REFINEMENTS, NOISE_MARGIN, crossing, doubt, judged, refined_length

GROW = 10.0  # largest factor of a step's length
N_WORKS = 2  # of forces without a potential, of moving supports
GUARD_ROUNDING = 1e-15  # of the terms of a guard
ON_GUARD = 1e-9  # a guard this small at the start of a segment is on it
MAX_VIOLATION = 1e-8  # of the constraints of a topology, relative to the size of the state
RATE_ROUNDING = 1e-10  # of the terms of a guard's rate
LARGEST_GUARD = 1e150  # a guard that is larger, or not finite, is not known
MIN_STEP = 1e-14  # of the time: shorter steps go nowhere
MAX_ROUNDS = 256  # of the stepper, before Python looks
N_LOOKS = 4  # parts of a step at whose ends guards are evaluated


class Stop(IntEnum):
    """Why a motion within a topology cannot start, or stops."""

    NOT = 0
    GUARD = 1  # one falls; of a step: or may fall in it
    TIME_OVER = 2
    DEPENDENT = 3  # rows that are on, which the fast flow takes for independent
    CONTRADICTION = 4  # of constraints that are on
    STUCK = 5  # no step is short enough
    OFF_CONSTRAINT = 6  # at the start
    BEYOND_GUARD = 7  # at the start
    TOO_MANY_STEPS = 8


class Kernels(NamedTuple):
    """What computes one sample of a flow."""

    stepper: Iterated
    refiner: Iterated | None  # None without guards
    inspector: Iterated  # one round


def _compiled(evaluator: Evaluator) -> Kernel:
    """For one sample: in short vectors, which take less time than long ones."""
    kernel = evaluator.narrow
    if kernel is None:
        raise NotExpressible("The motion of this mechanism cannot be compiled here; use method='Radau'.")
    return kernel


@dataclass(frozen=True)
class Flow:
    """Motion within one topology. `guards`: (guards, 1), each falls through 0 where something happens.

    `kinds`: what a guard that is on 0 or below means where a segment starts.
    """

    dynamics: Dynamics
    guards: SX
    kinds: tuple[GuardKind, ...] = ()

    @cached_property
    def y(self) -> SX:
        s = self.dynamics.mechanism.symbols
        return ca.vertcat(s.t, s.q, s.v, SX.sym("w", N_WORKS))

    @cached_property
    def n(self) -> int:
        return int(self.y.numel())

    @cached_property
    def _slope(self) -> ca.Function:
        d = self.dynamics
        slope = ca.vertcat(1, d.rates, d.acceleration, d.power)
        return ca.Function("slope", [self.y, d.p], [ca.densify(slope)], {"cse": True})

    def _projected(self, y: SX, p: SX) -> SX:
        if not self.dynamics.held:
            return y
        n_q = self.dynamics.mechanism.symbols.q.numel()
        t, q, v, w = ca.vertsplit(y, [0, 1, 1 + n_q, self.n - N_WORKS, self.n])
        q, v = self.dynamics.projection.call([q, v, t, p])
        return ca.vertcat(t, q, v, w)

    def _stepped(self, y: SX, h: SX, p: SX) -> tuple[Step, SX]:
        """The bare step, and where it ends after projection."""
        bare = step(lambda at: self._slope(at, p), y, h)
        return bare, self._projected(bare.after, p)

    @cached_property
    def _inputs(self) -> tuple[SX, SX, SX]:
        return self.y, SX.sym("h"), self.dynamics.p

    def _of_state(self, **outputs: SX) -> Evaluator:
        """(y, p) → these."""
        return Evaluator([self.y, self.dynamics.p], outputs)

    def _derivatives(self, column: SX) -> dict[str, SX]:
        return {"by_y": ca.jacobian(column, self.y), "by_p": ca.jacobian(column, self.dynamics.p)}

    @cached_property
    def project(self) -> Evaluator:
        """(y, p) → y on the constraints."""
        return self._of_state(y=self._projected(self.y, self.dynamics.p))

    @cached_property
    def refine(self) -> Evaluator:
        """(h; y, used, guard, p) → y after a step of exactly the length h, and a better h: Newton's method on a guard.

        `used`: length of the step in which the guard falls; `guard`: 1 for that one, 0 for others. `inside`: whether
        the better h is within that step. `stop`: if it is not, or does not differ.
        """
        y, h, p = self._inputs
        used, guard = SX.sym("used"), SX.sym("guard", len(self.kinds))
        after = self._stepped(y, h, p)[1]
        there = ca.Function("there", [self.y, p], [ca.densify(self.guards), ca.densify(self._rates)])(after, p)
        value, rate = (ca.sum1(ca.if_else(guard, column, 0.0)) for column in there)
        better, inside, stop = refined_length(value, rate, h, used, y[0], SCALARS)
        outputs = {"h": better, "y": after, "inside": inside, "stop": stop}
        return Evaluator([h, y, used, guard, p], outputs, title="the steps of a motion to its events")

    @cached_property
    def _rates(self) -> SX:
        """Of the guards, (guards, 1)."""
        return ca.jtimes(self.guards, self.y, self._rate) if self.kinds else self.guards

    @property
    def _rate(self) -> SX:
        """dy/dt, (n, 1)."""
        return self._slope(self.y, self.dynamics.p)

    @cached_property
    def slope(self) -> Evaluator:
        """(y, p) → dy/dt."""
        return self._of_state(slope=self._rate)

    @cached_property
    def slope_by(self) -> Evaluator:
        """(y, p) → dy/dt and its derivatives by y and by p."""
        slope = self._rate
        return self._of_state(slope=slope, **self._derivatives(slope))

    @cached_property
    def project_by(self) -> Evaluator:
        """(y, p) → derivatives of y on the constraints by y and by p."""
        return self._of_state(**self._derivatives(self._projected(self.y, self.dynamics.p)))

    @cached_property
    def inspect(self) -> Evaluator:
        """(y, p) → guards, their rates, and `noise`, how far rounding of the state moves them.

        And where a segment starts: of each guard, `leaving` and `rising`, see `locate`; `stop`, whether it can start
        there; `which`, of each guard, whether it is the reason why not.
        """
        guards, rates = ca.densify(self.guards), ca.densify(self._rates)
        waits, gap, reaction = (
            ca.DM([float(kind == one) for kind in self.kinds])
            for one in (GuardKind.WAITS, GuardKind.GAP, GuardKind.REACTION)
        )
        near = ON_GUARD + (MAX_VIOLATION - ON_GUARD) * gap
        below, on = guards < -near, ca.fabs(guards) <= near
        # A rate may be rounding, as where a reaction has just let go: the steps that follow show whether it sinks.
        terms = ca.fabs(ca.jacobian(guards, self.y)) @ ca.fabs(self._rate)
        rises = rates >= -RATE_ROUNDING * terms
        beyond, at_once = gap * below, ca.fmax(below * reaction, on * (1 - rises) * (1 - waits))
        is_beyond = _any(beyond)
        on_constraints = ca.logic_and(_largest(self._violation) <= MAX_VIOLATION, _largest(self.y) < inf)
        stop = _first_reason(
            (ca.logic_not(self.dynamics.rows_independent), Stop.DEPENDENT),
            (ca.logic_not(on_constraints), Stop.OFF_CONSTRAINT),
            (is_beyond, Stop.BEYOND_GUARD),
            (_any(at_once), Stop.GUARD),
        )
        return self._of_state(
            guards=guards,
            rates=rates,
            noise=self._noise(self.y, self.dynamics.p),
            leaving=ca.fmax(below, on * ca.fmax(waits, rises)),
            rising=on * rises * (1 - waits),
            which=ca.if_else(is_beyond, beyond, at_once),
            stop=stop,
        )

    @property
    def _violation(self) -> SX:
        """By how much the constraints of the topology are not met, of the size of the state: positions, velocities."""
        s, d = self.dynamics.mechanism.symbols, self.dynamics
        sizes = [1 + ca.mmax(ca.vertcat(SX(0), ca.fabs(part))) for part in (s.q, s.v)]
        return ca.vertcat(d.geometry / sizes[0], d.u / sizes[1])

    @property
    def kernels(self) -> Kernels:
        """Compiled, for one sample, each with memory of its own for every thread; stepper and refiner iterate."""
        if not hasattr(self._of_thread, "kernels"):
            stepper = Iterated(_compiled(self.stepper), self.n_fed, MAX_ROUNDS)
            refiner = Iterated(_compiled(self.refine), 1, MAX_REFINEMENTS) if self.kinds else None
            self._of_thread.kernels = Kernels(stepper, refiner, Iterated(_compiled(self.inspect)))
        kernels: Kernels = self._of_thread.kernels
        return kernels

    @property
    def n_fed(self) -> int:
        """How many outputs of the stepper are inputs of its next round: y, h, leaving, rising."""
        return self.n + 1 + 2 * len(self.kinds)

    @cached_property
    def _of_thread(self) -> threading.local:
        return threading.local()

    @cached_property
    def watch(self) -> Evaluator:
        """(y, p) → the rates of the guards, their derivatives; dy/dt; reactions."""
        reaction, derivatives = self.dynamics.reaction, self._derivatives(self.guards)
        return self._of_state(rates=self._rates, slope=self._rate, reaction=reaction, **derivatives)

    @cached_property
    def driven(self) -> bool:
        """Whether motion or guards depend on the time."""
        t = self.dynamics.mechanism.symbols.t
        everything = ca.vertcat(self.dynamics.acceleration, self.guards, self.dynamics.u, self.dynamics.geometry)
        return bool(ca.depends_on(everything, t))

    @cached_property
    def violation(self) -> Evaluator:
        """(y, p) → by how much the constraints of the topology are not met, of the size of the state."""
        return self._of_state(violation=self._violation)

    @cached_property
    def stepper(self) -> Evaluator:
        """(y, h, leaving, rising; t_end, tolerances, p) → one step tried, taken if it is good, and what the next needs.

        `leaving`, `rising`: of each guard, see `locate.first_falls`. `polynomial`: coefficients (7, n) row by row.
        `looks`, `slopes`: guards along it, (N_LOOKS + 1, guards), of which `noise` is rounding. `falls`, `doubts`:
        parts of the step where they fall plainly, and from where on they should be looked at. `stop`: at one of these,
        at t_end, and where the motion cannot go on; a step that begins where rows are dependent is not taken.
        """
        y, h, p = self._inputs
        n_guards = self.guards.numel()
        leaving, rising = SX.sym("leaving", n_guards), SX.sym("rising", n_guards)
        t_end, tolerances = SX.sym("t_end"), SX.sym("tolerances", 2)
        left = t_end - y[0]
        last = h >= left
        h_used = ca.if_else(last, left, h)
        bare, after = self._stepped(y, h_used, p)
        moving = slice(1, self.n)
        scale = tolerances[1] + tolerances[0] * ca.fmax(ca.fabs(y[moving]), ca.fabs(after[moving]))
        error = error_norm(bare.fifth[moving], bare.third[moving], scale)
        polynomial = ca.vertcat(*dense(lambda at: self._slope(at, p), y, h_used, bare, after))
        looks, slopes = self._looks(y, polynomial, p)
        accurate, known = error <= 1, ca.sumsqr(looks) < LARGEST_GUARD**2  # guards must be known all along a step
        factor = length_factor(error, GROW, SCALARS)
        factor = ca.if_else(ca.logic_and(accurate, ca.logic_not(known)), SHRINK, factor)
        independent = ca.Function("independent", [self.y, p], [SX(self.dynamics.rows_independent)])(y, p)
        good = ca.logic_and(ca.logic_and(accurate, known), independent)
        after[0] = ca.if_else(last, t_end, after[0])
        noise = self._noise(y, p)
        falls, doubts = _searched(looks, slopes, noise, leaving, rising)
        seen = ca.mmin(ca.vertcat(SX(inf), falls, doubts)) < inf
        too_short = h_used * factor < MIN_STEP * (ca.fabs(t_end) + ca.fabs(y[0]))
        still = ca.logic_and(leaving, noise >= looks[-1, :].T) if n_guards else leaving
        outputs = {
            "y": ca.if_else(good, after, y),
            "h": ca.if_else(ca.logic_and(good, last), h, h_used * factor),
            "leaving": ca.if_else(good, still, leaving),
            "rising": ca.if_else(good, 0.0, rising),
            "good": good,
            "used": h_used,
            "polynomial": polynomial,
            "looks": looks,
            "slopes": slopes,
            "noise": noise,
            "falls": falls,
            "doubts": doubts,
            "stop": _first_reason(
                (ca.logic_not(independent), Stop.DEPENDENT),
                (ca.logic_not(good), ca.if_else(too_short, Stop.STUCK, Stop.NOT)),
                (self._contradicts(after, p), Stop.CONTRADICTION),
                (seen, Stop.GUARD),
                (last, Stop.TIME_OVER),
            ),
        }
        title = "the steps of a motion"
        return Evaluator([y, h, leaving, rising, t_end, tolerances, p], outputs, title=title)

    def _contradicts(self, y: SX, p: SX) -> SX:
        """Whether a state that was moved onto the constraints is not on them: some that seem redundant are not."""
        if self.dynamics.independent:
            return SX(0)
        return ca.Function("violation", [self.y, p], [_largest(self._violation)])(y, p) > MAX_VIOLATION

    @cached_property
    def _noise(self) -> ca.Function:
        """(y, p) → how far rounding of the state moves the guards, (guards, 1)."""
        y, p = self.y, self.dynamics.p
        sizes = ca.fabs(ca.jacobian(self.guards, y)) @ ca.fabs(y) if self.guards.numel() else self.guards
        return ca.Function("noise", [y, p], [ca.densify(GUARD_ROUNDING * sizes)])

    @cached_property
    def _look(self) -> ca.Function:
        """(y, polynomial, x, p) → guards at the part x of a step, and their slopes by x."""
        y, p, x = self.y, self.dynamics.p, SX.sym("x")
        polynomial = SX.sym("polynomial", N_DENSE * self.n)
        state = along(y, ca.vertsplit(polynomial, self.n), x)
        guards = ca.densify(ca.substitute(self.guards, y, state)) if self.guards.numel() else self.guards
        slopes = ca.jtimes(guards, x, SX(1)) if self.guards.numel() else self.guards
        return ca.Function("look", [y, polynomial, x, p], [guards, ca.densify(slopes)], {"cse": True})

    @cached_property
    def look(self) -> Evaluator:
        """(y, polynomial, x, p) → guards along a step from y, and their slopes by x."""
        inputs = [SX.sym(name, *self._look.size_in(i)) for i, name in enumerate(("y", "polynomial", "x", "p"))]
        guards, slopes = self._look.call(inputs)
        return Evaluator(inputs, {"guards": guards, "slopes": slopes})

    def _looks(self, y: SX, polynomial: SX, p: SX) -> tuple[SX, SX]:
        """The guards and their slopes at equal parts of a step, (N_LOOKS + 1, guards) each."""
        if not self.guards.numel():
            return SX(N_LOOKS + 1, 0), SX(N_LOOKS + 1, 0)
        looks = [self._look(y, polynomial, i / N_LOOKS, p) for i in range(N_LOOKS + 1)]
        guards, slopes = (ca.vertcat(*(look[k].T for look in looks)) for k in (0, 1))
        return guards, slopes


def _largest(column: SX) -> SX:
    """Largest size of its numbers; 0 of none, infinite or NaN where one is."""
    sizes = ca.fabs(column)
    return ca.mmax(ca.vertcat(SX(0), sizes)) + 0 * ca.sum1(sizes)


def _any(flags: SX) -> SX:
    return ca.mmax(ca.vertcat(SX(0), flags))


def _first_reason(*reasons: tuple[SX, Stop | SX]) -> SX:
    """The code of the first of these conditions that holds; `Stop.NOT` if none does."""
    code = SX(float(Stop.NOT))
    for holds, reason in reversed(reasons):
        code = ca.if_else(holds, reason, code)
    return code


def _searched(looks: SX, slopes: SX, noise: SX, leaving: SX, rising: SX) -> tuple[SX, SX]:
    """(parts of the step where guards fall plainly, where they first leave room for doubt), (guards, 1)."""
    if not looks.numel():
        return SX(0, 1), SX(0, 1)
    g = [ca.if_else(ca.fabs(row) <= noise.T, 0.0, row) for row in ca.vertsplit(looks)]
    s = [row / N_LOOKS for row in ca.vertsplit(slopes)]
    starts_below = ca.if_else(leaving.T, 0.0, g[0] <= 0)
    g[0] = ca.if_else(leaving.T, ca.fmin(g[0], 0.0), g[0])
    sinks = ca.if_else(rising.T, reduce(ca.fmin, g) < ca.fmin(g[0], 0.0) - NOISE_MARGIN * noise.T, 0.0)
    fall = SX.ones(1, looks.shape[1]) * inf
    doubts = ca.if_else(ca.logic_or(starts_below, sinks), 0.0, fall)
    for i in range(0, N_LOOKS, 2):
        unsure = ca.fabs(doubt(g[i], g[i + 1], g[i + 2], 2 * s[i], 2 * s[i + 2]))
        for a, b in ((i, i + 1), (i + 1, i + 2)):
            falls, may_fall = judged(g[a], g[b], s[a], s[b], unsure, noise.T, SCALARS)
            x = (a + crossing(g[a], g[b], s[a], s[b], SCALARS)) / N_LOOKS
            fall = ca.if_else(falls, ca.fmin(fall, x), fall)
            doubts = ca.if_else(may_fall, ca.fmin(doubts, a / N_LOOKS), doubts)
    return fall.T, doubts.T
