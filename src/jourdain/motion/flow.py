"""The flow of a topology as compiled steps: Runge–Kutta, projection, step control, a look at the guards, in one kernel.

State y = (t, q, v, w), w the work done so far by forces without a potential and by moving supports.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property, reduce
from math import inf
from typing import NamedTuple

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.compute.evaluate import Evaluator
from jourdain.compute.kernel.batch import Kernel
from jourdain.compute.kernel.iterate import Iterated
from jourdain.compute.kernel.single import Single
from jourdain.compute.runge_kutta import ERROR_EXPONENT, N_DENSE, Step, along, dense, error_norm, step
from jourdain.errors import NotExpressible
from jourdain.inputs import Array
from jourdain.motion.dynamics import Dynamics
from jourdain.motion.guards import GuardKind
from jourdain.motion.locate import NOTHING, On, crossing, doubt, judged

SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0  # of a step's length
N_WORKS = 2  # of forces without a potential, of moving supports
ROUNDING = 1e-15  # of the terms of a guard
ON_GUARD = 1e-9  # a guard this small at the start of a segment is on it
OFF = 1e-8  # what the constraints of a topology may be off by at the start
STILL = 1e-10  # of the terms of a guard's rate: what may be rounding
LARGEST = 1e300
SHORTEST = 1e-14  # of the time: steps that get shorter go nowhere
SCALARS: On = (ca.if_else, ca.fmin)
N_LOOKS = 4  # parts of a step at whose ends guards are looked at


class Kernels(NamedTuple):
    """What one lane of a flow is computed by."""

    stepper: Iterated
    advance: Single
    glance: Single


def _compiled(evaluator: Evaluator) -> Kernel:
    """For one lane: in short vectors, which take less time than long ones."""
    kernel = evaluator.narrow
    if kernel is None:
        raise NotExpressible("The motion of this mechanism cannot be compiled here; use method='Radau'.")
    return kernel


@dataclass(frozen=True)
class Flow:
    """Motion within one topology. `guards`: (guards, 1), each falls through 0 where something happens.

    `kinds`: what is made of each where a segment starts.
    """

    dynamics: Dynamics
    guards: SX
    kinds: tuple[GuardKind, ...] = ()

    @cached_property
    def y(self) -> SX:
        s = self.dynamics.mechanism.symbols
        return ca.vertcat(s.t, s.q, s.v, SX.sym("w", N_WORKS))

    @property
    def n_q(self) -> int:
        return len(self.dynamics.mechanism.symbols.q_names)

    @property
    def n_v(self) -> int:
        return len(self.dynamics.mechanism.symbols.v_names)

    @property
    def n(self) -> int:
        return 1 + self.n_q + self.n_v + N_WORKS

    @cached_property
    def _slope(self) -> ca.Function:
        d = self.dynamics
        slope = ca.vertcat(1, d.rates, d.acceleration, d.power)
        return ca.Function("slope", [self.y, d.p], [ca.densify(slope)], {"cse": True})

    def _projected(self, y: SX, p: SX) -> SX:
        t, q, v, w = ca.vertsplit(y, [0, 1, 1 + self.n_q, 1 + self.n_q + self.n_v, self.n])
        if not self.dynamics.held:
            return y
        q, v = self.dynamics.projection.call([q, v, t, p])
        return ca.vertcat(t, q, v, w)

    def _stepped(self, y: SX, h: SX, p: SX) -> tuple[Step, SX]:
        """The bare step, and where it ends after projection."""
        made = step(lambda at: self._slope(at, p), y, h)
        return made, self._projected(made.after, p)

    @cached_property
    def _inputs(self) -> tuple[SX, SX, SX]:
        return self.y, SX.sym("h"), self.dynamics.p

    @cached_property
    def project(self) -> Evaluator:
        """(y, p) → y on the constraints."""
        return Evaluator([self.y, self.dynamics.p], {"y": self._projected(self.y, self.dynamics.p)})

    @cached_property
    def advance(self) -> Evaluator:
        """(y, h, p) → y after a step of exactly this length, and the guards and their rates there."""
        y, h, p = self._inputs
        after = self._stepped(y, h, p)[1]
        guards, rates = ca.Function("there", [self.y, p], [ca.densify(self.guards), ca.densify(self._rates)])(after, p)
        return Evaluator(self._inputs, {"y": after, "guards": guards, "rates": rates})

    @cached_property
    def _rates(self) -> SX:
        """Of the guards, (guards, 1)."""
        return ca.jtimes(self.guards, self.y, self._slope(self.y, self.dynamics.p)) if self.kinds else self.guards

    @cached_property
    def slope(self) -> Evaluator:
        """(y, p) → dy/dt."""
        return Evaluator([self.y, self.dynamics.p], {"slope": self._slope(self.y, self.dynamics.p)})

    @cached_property
    def slope_by(self) -> Evaluator:
        """(y, p) → dy/dt and its derivatives by y and by p."""
        y, p = self.y, self.dynamics.p
        slope = self._slope(y, p)
        return Evaluator([y, p], {"slope": slope, "by_y": ca.jacobian(slope, y), "by_p": ca.jacobian(slope, p)})

    @cached_property
    def project_by(self) -> Evaluator:
        """(y, p) → derivatives of y on the constraints by y and by p."""
        y, p = self.y, self.dynamics.p
        moved = self._projected(y, p)
        return Evaluator([y, p], {"by_y": ca.jacobian(moved, y), "by_p": ca.jacobian(moved, p)})

    @cached_property
    def glance(self) -> Evaluator:
        """(y, p) → guards and their rates.

        And where a segment starts: `apart`, whether the rows that are on are well apart, as was assumed; `off`, by how
        much they are not met; of each guard, `at_once`, whether it falls there, `leaving` and `rising`, see `locate`,
        and `beyond`, whether it is below 0 and must not be.
        """
        guards, rates = ca.densify(self.guards), ca.densify(self._rates)
        off = ca.mmax(ca.vertcat(SX(0), ca.fabs(self._off)))
        outputs = {"guards": guards, "rates": rates, "apart": SX(self.dynamics.apart), "off": off}
        if self.kinds:
            waits, gap, reaction = (
                ca.DM([float(kind == one) for kind in self.kinds])
                for one in (GuardKind.WAITS, GuardKind.GAP, GuardKind.REACTION)
            )
            near = ON_GUARD + (OFF - ON_GUARD) * gap
            below, on = guards < -near, ca.fabs(guards) <= near
            # A rate that is rounding, as where a reaction has just let go: what follows tells whether it sinks.
            terms = ca.fabs(ca.jacobian(guards, self.y)) @ ca.fabs(self._slope(self.y, self.dynamics.p))
            rises = rates >= -STILL * terms
            outputs |= {
                "at_once": ca.fmax(below * reaction, on * (1 - rises) * (1 - waits)),
                "leaving": ca.fmax(below, on * ca.fmax(waits, rises)),
                "rising": on * rises * (1 - waits),
                "beyond": gap * below,
            }
        return Evaluator([self.y, self.dynamics.p], outputs)

    @property
    def _off(self) -> SX:
        """By how much the constraints of the topology are not met, of the size of the state: positions, velocities."""
        s, d = self.dynamics.mechanism.symbols, self.dynamics
        sizes = [1 + ca.mmax(ca.vertcat(SX(0), ca.fabs(part))) for part in (s.q, s.v)]
        return ca.vertcat(d.geometry / sizes[0], d.u / sizes[1])

    @property
    def kernels(self) -> Kernels:
        """Compiled, for one lane, each with memory of its own for every thread; the stepper goes on by itself."""
        if not hasattr(self._of_thread, "kernels"):
            fed = self.n + 1 + 2 * self.guards.numel()
            stepper, *others = (_compiled(one) for one in (self.stepper, self.advance, self.glance))
            self._of_thread.kernels = Kernels(Iterated(stepper, fed), *(Single(one) for one in others))
        kernels: Kernels = self._of_thread.kernels
        return kernels

    @cached_property
    def _of_thread(self) -> threading.local:
        return threading.local()

    @cached_property
    def watch(self) -> Evaluator:
        """(y, p) → the rates of the guards, their derivatives; dy/dt; reactions."""
        y, p = self.y, self.dynamics.p
        slope = self._slope(y, p)
        outputs = {
            "rates": self._rates,
            "by_y": ca.jacobian(self.guards, y),
            "by_p": ca.jacobian(self.guards, p),
            "slope": slope,
            "reaction": self.dynamics.reaction,
        }
        return Evaluator([y, p], outputs)

    @cached_property
    def driven(self) -> bool:
        """Whether motion or guards depend on the time."""
        t = self.dynamics.mechanism.symbols.t
        everything = ca.vertcat(self.dynamics.acceleration, self.guards, self.dynamics.u, self.dynamics.geometry)
        return bool(ca.depends_on(everything, t))

    @cached_property
    def off(self) -> Evaluator:
        """(y, p) → by how much the constraints of the topology are not met, of the size of the state."""
        return Evaluator([self.y, self.dynamics.p], {"off": self._off})

    def apart(self, y: Array, p: Array) -> bool:
        """Whether the rows that are on are well apart, as was assumed, at states `(…, n)`."""
        return bool(np.all(self.glance(y, p)["apart"] > 0))

    @cached_property
    def stepper(self) -> Evaluator:
        """(y, h, leaving, rising; t_end, tolerances, p) → one step tried, taken if it is good, and what the next needs.

        `leaving`, `rising`: of each guard, see `locate.first_falls`. `polynomial`: coefficients (7, n) row by row.
        `looks`, `slopes`: guards along it, (N_LOOKS + 1, guards), of which `noise` is rounding. `falls`, `doubts`:
        parts of the step where they fall plainly, and from where on they should be looked at. `apart`: whether the
        rows that are on were well apart where it began. `stop`: at one of these, if they were not, at t_end, and where
        no step is short enough.
        """
        y, h, p = self._inputs
        n_guards = self.guards.numel()
        leaving, rising = SX.sym("leaving", n_guards), SX.sym("rising", n_guards)
        t_end, tolerances = SX.sym("t_end"), SX.sym("tolerances", 2)
        left = t_end - y[0]
        last = h >= left
        h_used = ca.if_else(last, left, h)
        made, after = self._stepped(y, h_used, p)
        moving = slice(1, self.n)
        scale = tolerances[1] + tolerances[0] * ca.fmax(ca.fabs(y[moving]), ca.fabs(after[moving]))
        error = error_norm(made.fifth[moving], made.third[moving], scale)
        polynomial = ca.vertcat(*dense(lambda at: self._slope(at, p), y, h_used, made, after))
        looks, slopes = self._looks(y, polynomial, p)
        good = ca.logic_and(error <= 1, ca.sumsqr(looks) < LARGEST)  # a step that leaves where guards are known is none
        change = SAFETY * ca.if_else(error > 1e-12, error, 1e-12) ** ERROR_EXPONENT
        change = ca.fmin(ca.fmax(change, SHRINK), ca.if_else(good, GROW, 1.0))
        change = ca.if_else(error < LARGEST, change, SHRINK)  # NaN is not
        change = ca.if_else(ca.logic_and(error <= 1, ca.logic_not(good)), SHRINK, change)
        after[0] = ca.if_else(last, t_end, after[0])
        noise = self._noise(y, p)
        falls, doubts = _searched(looks, slopes, noise, leaving, rising)
        seen = ca.mmin(ca.vertcat(SX(inf), falls, doubts)) < inf
        apart = ca.Function("apart", [self.y, p], [SX(self.dynamics.apart)])(y, p)
        lost = h_used * change < SHORTEST * (ca.fabs(t_end) + ca.fabs(y[0]))
        still = ca.logic_and(leaving, noise >= looks[-1, :].T) if n_guards else leaving
        outputs = {
            "y": ca.if_else(good, after, y),
            "h": ca.if_else(ca.logic_and(good, last), h, h_used * change),
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
            "apart": apart,
            "stop": ca.if_else(good, ca.logic_or(ca.logic_or(seen, last), ca.logic_not(apart)), lost),
        }
        return Evaluator([y, h, leaving, rising, t_end, tolerances, p], outputs)

    @cached_property
    def _noise(self) -> ca.Function:
        """(y, p) → what rounding of the state makes of the guards, (guards, 1)."""
        y, p = self.y, self.dynamics.p
        sizes = ca.fabs(ca.jacobian(self.guards, y)) @ ca.fabs(y) if self.guards.numel() else self.guards
        return ca.Function("noise", [y, p], [ca.densify(ROUNDING * sizes)])

    @cached_property
    def noise(self) -> Evaluator:
        """(y, p) → what rounding of the state makes of the guards."""
        y, p = self.y, self.dynamics.p
        return Evaluator([y, p], {"noise": self._noise(y, p)})

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
        found = [self._look(y, polynomial, i / N_LOOKS, p) for i in range(N_LOOKS + 1)]
        guards, slopes = (ca.vertcat(*(one[k].T for one in found)) for k in (0, 1))
        return guards, slopes


def _searched(looks: SX, slopes: SX, noise: SX, leaving: SX, rising: SX) -> tuple[SX, SX]:
    """(parts of the step where guards fall plainly, where they first leave room for doubt), (guards, 1)."""
    if not looks.numel():
        return SX(0, 1), SX(0, 1)
    g = [ca.if_else(ca.fabs(row) <= noise.T, 0.0, row) for row in ca.vertsplit(looks)]
    s = [row / N_LOOKS for row in ca.vertsplit(slopes)]
    starts_below = ca.if_else(leaving.T, 0.0, g[0] <= 0)
    g[0] = ca.if_else(leaving.T, ca.fmin(g[0], 0.0), g[0])
    sinks = ca.if_else(rising.T, reduce(ca.fmin, g) < ca.fmin(g[0], 0.0) - NOTHING * noise.T, 0.0)
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
