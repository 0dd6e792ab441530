"""The equations of motion of a topology: M v̇ + h = f + Cᵀλ with C v̇ + Ċ v + ḃ = 0 [docs/theory.md §8].

The same algebra as for events (`algebra.problem.decompose`): in x = L v̇ (M = LᵀL) the rows that are on take out a
projection. What drifts off the constraints is brought back by projection, at position and at velocity level.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
from casadi import SX

from jourdain.algebra import unrolled as la
from jourdain.algebra.problem import Block, Decomposition, Problem, added_impulse, decompose, with_regular_mass
from jourdain.errors import BadMechanism
from jourdain.kinds import Kind
from jourdain.mechanism.constraint import Constraint
from jourdain.mechanism.mechanism import Mechanism


@dataclass(frozen=True)
class Dynamics:
    """One topology of a mechanism, in its symbols t, q, v and parameters.

    `force`: all forces, generalized (n_v, 1). `independent`: see `algebra.span`. `singular`: M is, without the rows
    that are on.
    """

    mechanism: Mechanism
    held: tuple[Constraint, ...]
    force: SX
    given: SX  # (given, 1), symbols in `force` whose numbers Python functions give
    independent: bool = False
    singular: bool = False

    @property
    def p(self) -> SX:
        """What the equations depend on besides t, q, v: parameters, and what is given."""
        return ca.vertcat(self.mechanism.symbols.p, self.given)

    @cached_property
    def rates(self) -> SX:
        """q̇ = N v, (n_q, 1)."""
        s = self.mechanism.symbols
        return s.N @ s.v

    @cached_property
    def u(self) -> SX:
        """C v + b of the rows that are on, (rows, 1)."""
        return ca.vertcat(SX(0, 1), *(c.C @ self.mechanism.symbols.v + c.b for c in self.held))

    @cached_property
    def geometry(self) -> SX:
        """What vanishes in the topology at position level, (rows, 1)."""
        return ca.vertcat(SX(0, 1), *(c.g for c in self.held if c.g is not None))

    @cached_property
    def _problem(self) -> Problem:
        blocks = tuple(Block(Kind.REGULAR, c.C, c.b, c.b) for c in self.held)
        problem = Problem(self.mechanism.M, self.mechanism.symbols.v, blocks, ())
        return with_regular_mass(problem, la) if self.singular else problem

    @cached_property
    def _parts(self) -> Decomposition:
        return decompose(self._problem, la, self.independent)

    @cached_property
    def _geometric_parts(self) -> Decomposition:
        """Of the rows that are on at position level."""
        blocks = (block for block, c in zip(self._problem.blocks, self.held, strict=True) if c.g is not None)
        return decompose(replace(self._problem, blocks=tuple(blocks)), la, self.independent)

    @cached_property
    def rows_independent(self) -> SX:
        """Whether the rows that are on are independent, if that was assumed."""
        return SX(self._parts.on.apart)

    @cached_property
    def _solved(self) -> tuple[SX, SX]:
        m, s = self.mechanism, self.mechanism.symbols
        if m.loads.bias is None:
            raise BadMechanism("This mechanism has no bias h(q, v); give from_casadi(…, bias=h), so that it can move.")
        factor, on = self._parts.factor, self._parts.on
        x = factor.solve_transposed(self.force - m.loads.bias)
        left = ca.jtimes(self.u, s.q, self.rates) + ca.jacobian(self.u, s.t)  # Ċ v + ḃ
        nu = on.coordinates(-left) - on.Q @ x
        acceleration = factor.solve(x + on.Q.T @ nu)
        return acceleration, on.impulse(nu) - added_impulse(self._problem, acceleration, la)

    @property
    def acceleration(self) -> SX:
        """v̇, (n_v, 1)."""
        return self._solved[0]

    @property
    def reaction(self) -> SX:
        """λ along the rows that are on, (rows, 1); pushes apart where positive."""
        return self._solved[1]

    @cached_property
    def power(self) -> SX:
        """Of forces that have no potential, and of supports that move, W, (2, 1)."""
        m, v = self.mechanism, self.mechanism.symbols.v
        weight = SX(0) if m.loads.weight is None or m.loads.potential is None else m.loads.weight
        power = ca.dot(self.force - weight, v)
        if m.loads.bias_given and m.loads.bias is not None:  # of forces in it, all but vᵀh = ½ vᵀṀv
            power = power - ca.dot(m.loads.bias, v) + ca.jtimes(ca.dot(v, m.M @ v) / 2, m.symbols.q, self.rates)
        b = ca.vertcat(SX(0, 1), *(c.b for c in self.held))
        return ca.vertcat(power, -ca.dot(b, self.reaction))  # λᵀ C v = −λᵀ b

    @cached_property
    def projection(self) -> ca.Function:
        """(q, v, t, p) → (q, v): one step of Newton onto the geometric rows, then v onto all rows, M-orthogonally."""
        s = self.mechanism.symbols
        q = s.q
        if self.geometry.numel():
            parts = self._geometric_parts
            q = s.q + s.N @ parts.factor.solve(parts.on.Q.T @ parts.on.coordinates(-self.geometry))
        inputs = [s.q, s.v, s.t, self.p]
        factor, on = self._parts.factor, self._parts.on
        v = s.v + factor.solve(on.Q.T @ on.coordinates(-self.u))
        (v,) = ca.Function("velocity", inputs, [v]).call([q, s.v, s.t, self.p])
        return ca.Function("projection", inputs, [ca.densify(q), ca.densify(v)])
