"""Lagrange's equations of a mechanism that is known by its mass matrix."""

from __future__ import annotations

import casadi as ca
from casadi import SX

from jourdain.mechanism.symbols import Symbols


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
