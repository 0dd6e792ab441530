"""The flow of a topology as compiled steps: Runge–Kutta, projection, step control, a look at the guards, in one kernel.

State y = (t, q, v, w), w the work done so far by forces without a potential and by moving supports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import NamedTuple

import casadi as ca
import numpy as np
from casadi import SX
from numpy.typing import NDArray

from jourdain.errors import NotExpressible
from jourdain.evaluate import Evaluator
from jourdain.kernel.single import Single
from jourdain.motion.dynamics import Dynamics
from jourdain.runge_kutta import ERROR_EXPONENT, Step, along, dense, error_norm, step

Array = NDArray[np.float64]

SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0  # of a step's length
N_WORKS = 2  # of forces without a potential, of moving supports
N_LOOKS = 8  # parts of a step at whose ends guards are looked at
DOUBT = 0.25  # of the largest second difference: how far a guard may dip between two looks


class Kernels(NamedTuple):
    """What one lane of a flow is computed by."""

    stepper: Single
    advance: Single
    glance: Single


def _single(evaluator: Evaluator) -> Single:
    kernel = evaluator.kernel
    if kernel is None:
        raise NotExpressible("The motion of this mechanism cannot be compiled here; use method='Radau'.")
    return Single(kernel)


@dataclass(frozen=True)
class Flow:
    """Motion within one topology. `guards`: (guards, 1), each falls through 0 where something happens."""

    dynamics: Dynamics
    guards: SX

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
        """(y, h, p) → y after a step of exactly this length."""
        y, h, p = self._inputs
        return Evaluator(self._inputs, {"y": self._stepped(y, h, p)[1]})

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
        """(y, p) → guards and their rates."""
        y, p = self.y, self.dynamics.p
        rates = ca.jtimes(self.guards, y, self._slope(y, p)) if self.guards.numel() else self.guards
        return Evaluator([y, p], {"guards": self.guards, "rates": rates})

    @cached_property
    def kernels(self) -> Kernels:
        """Compiled, for one lane."""
        return Kernels(*(_single(one) for one in (self.stepper, self.advance, self.glance)))

    @cached_property
    def watch(self) -> Evaluator:
        """(y, p) → guards, their rates, their derivatives; dy/dt; reactions."""
        y, p = self.y, self.dynamics.p
        slope = self._slope(y, p)
        outputs = {
            "guards": self.guards,
            "rates": ca.jtimes(self.guards, y, slope) if self.guards.numel() else self.guards,
            "by_y": ca.jacobian(self.guards, y),
            "by_p": ca.jacobian(self.guards, p),
            "slope": slope,
            "reaction": self.dynamics.reaction,
            "off": ca.vertcat(self.dynamics.geometry, self.dynamics.u),
        }
        return Evaluator([y, p], outputs)

    def apart(self, y: Array, p: Array) -> bool:
        """Whether the rows that are on are well apart, as was assumed."""
        return bool(self._apart(y, p)["apart"][0, 0])

    @cached_property
    def _apart(self) -> Evaluator:
        return Evaluator([self.y, self.dynamics.p], {"apart": SX(self.dynamics.apart)})

    @cached_property
    def stepper(self) -> Evaluator:
        """(y, h, t_end, tolerances, p) → one step tried, taken if it is good, and the next length.

        `polynomial`: coefficients (7, n) row by row. `looks`: guards along it, (N_LOOKS + 1, guards). `suspect`: one of
        them may have fallen through 0.
        """
        y, h, p = self._inputs
        t_end, tolerances = SX.sym("t_end"), SX.sym("tolerances", 2)
        left = t_end - y[0]
        last = h >= left
        h_used = ca.if_else(last, left, h)
        made, after = self._stepped(y, h_used, p)
        moving = slice(1, self.n)
        scale = tolerances[1] + tolerances[0] * ca.fmax(ca.fabs(y[moving]), ca.fabs(after[moving]))
        error = error_norm(made.fifth[moving], made.third[moving], scale)
        good = error <= 1
        change = SAFETY * ca.if_else(error > 1e-12, error, 1e-12) ** ERROR_EXPONENT
        change = ca.fmin(ca.fmax(change, SHRINK), ca.if_else(good, GROW, 1.0))
        change = ca.if_else(error < 1e300, change, SHRINK)  # NaN is not
        polynomial = dense(lambda at: self._slope(at, p), y, h_used, made, after)
        after[0] = ca.if_else(last, t_end, after[0])
        looks = self._looks(y, polynomial, p)
        outputs = {
            "y": ca.if_else(good, after, y),
            "h": ca.if_else(ca.logic_and(good, last), h, h_used * change),
            "good": good,
            "used": h_used,
            "polynomial": ca.vertcat(*(row.T for row in polynomial)),
            "looks": looks,
            "suspect": suspect(looks),
        }
        return Evaluator([y, h, t_end, tolerances, p], outputs)

    def _looks(self, y: SX, polynomial: Sequence[SX], p: SX) -> SX:
        """The guards at equal parts of a step, (N_LOOKS + 1, guards)."""
        if not self.guards.numel():
            return SX(N_LOOKS + 1, 0)
        guards = ca.Function("guards", [self.y, p], [ca.densify(self.guards)])
        return ca.vertcat(*(guards(along(y, polynomial, i / N_LOOKS), p).T for i in range(N_LOOKS + 1)))


def suspect(looks: SX) -> SX:
    """Whether any guard may fall through 0: its least and largest value, with what it may do between looks."""
    if not looks.numel():
        return SX(0)
    rows = ca.vertsplit(looks)
    bends = [ca.fabs(a - 2 * b + c) for a, b, c in zip(rows, rows[1:], rows[2:], strict=False)]
    doubt = DOUBT * reduce(ca.fmax, bends)
    comes_down, was_up = reduce(ca.fmin, rows) - doubt <= 0, reduce(ca.fmax, rows) + doubt > 0
    return ca.mmax(ca.logic_and(comes_down, was_up))
