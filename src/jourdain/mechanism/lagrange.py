"""Lagrange's equations of a mechanism that is known by its mass matrix, or by its Lagrangian."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from jourdain.compute.sampled import differ
from jourdain.errors import NotAffine, Rheonomic
from jourdain.mechanism.symbols import GivenLoads, Symbols


def lagrange_bias(symbols: Symbols, M: SX) -> SX | None:
    """h of M v̇ + h = f by Lagrange, in q̇ = N v: h = Nᵀ(d/dt ∂T/∂q̇ − ∂T/∂q) without v̇; None where N is not square."""
    q, v, N = symbols.q, symbols.v, symbols.N
    if N.shape[0] != N.shape[1]:
        return None
    rates, still = SX.sym("rates", q.shape[0]), SX.sym("still", v.shape[0])
    inverse = SX.eye(N.shape[0]) if N.is_eye() else ca.solve(N, SX.eye(N.shape[0]))
    A = inverse.T @ M @ inverse  # T = ½ q̇ᵀ A q̇
    momentum = A @ rates
    lagrange = ca.jtimes(momentum, q, rates) - ca.gradient(ca.dot(rates, momentum) / 2, q)
    if not N.is_eye():  # q̈ = N v̇ + Ṅ v
        lagrange = lagrange + A @ ca.substitute(ca.jtimes(N @ still, q, N @ v), still, v)
    return ca.sparsify(ca.substitute(N.T @ lagrange, rates, N @ v))


def read_lagrangian(symbols: Symbols, lagrangian: SX) -> tuple[SX, SX, GivenLoads]:
    """M, a and what acts between events, of L(q, q̇) = ½ q̇ᵀ M q̇ + a(q)ᵀ q̇ − U(q); v are the rates of q.

    d/dt ∂L/∂q̇ − ∂L/∂q = M q̈ + Ṁ q̇ − ∂(½ q̇ᵀ M q̇)/∂q + ȧ − ∂(aᵀ q̇)/∂q + ∂U/∂q. The forces of a, as of a magnetic
    field or of axes that turn evenly, do no work; at events a does not jump.
    """
    q, v = symbols.q, symbols.v
    still = SX.zeros(*v.shape)
    momentum = ca.gradient(lagrangian, v)
    M = ca.sparsify(ca.jacobian(momentum, v))
    drift = ca.sparsify(ca.substitute(momentum, v, still))
    potential = ca.sparsify(-ca.substitute(lagrangian, v, still))
    kinetic, linear = ca.dot(v, M @ v) / 2, ca.dot(drift, v)
    if ca.depends_on(M, v) or differ(lagrangian, kinetic + linear - potential):
        raise NotAffine("The Lagrangian is not quadratic in the rates, so that no mass matrix M(q) follows from it.")
    if differ(ca.jacobian(drift, symbols.t), SX.zeros(*drift.shape)):
        raise Rheonomic(
            "The Lagrangian has terms linear in the rates that change with time, as those of a support that moves; "
            "describe moving supports as constraints with a bias instead."
        )
    weight = ca.sparsify(-ca.gradient(potential, q))
    bias = ca.jtimes(M @ v, q, v) + ca.jacobian(M @ v, symbols.t) - ca.gradient(kinetic, q)
    if drift.nnz():
        bias = bias + ca.jtimes(drift, q, v) - ca.gradient(linear, q)
    return M, drift, GivenLoads(weight, ca.sparsify(bias), potential, weight)
