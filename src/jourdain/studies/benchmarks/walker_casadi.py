"""The heel strike by CasADi's own virtual machine, mapped over events, serially or on threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.inputs import Array
from jourdain.studies.benchmarks.walker import B_LEG, L_LEG, L_TORSO, M_H, M_W, RATE


def build(function: ca.Function, n: int, threads: int = 1) -> Callable[..., Array]:
    """A function of n events: arrays `(n,)`, one per scalar input of `function`, to `(rows, n)`.

    `function` has scalar inputs and one column of outputs. Arrays are passed without copies; what is returned is
    written over by the next call.
    """
    mapped = function.map(n) if threads == 1 else function.map(n, "thread", threads)
    buffer: Any
    buffer, evaluate = mapped.buffer()
    out = np.empty((n, function.size1_out(0)))  # CasADi's columns are the events
    buffer.set_res(0, memoryview(out.data))

    def call(*parameters: Array) -> Array:
        arrays = [np.ascontiguousarray(values, dtype=float) for values in parameters]  # alive until evaluated
        for i, values in enumerate(arrays):
            buffer.set_arg(i, memoryview(values.data))
        evaluate()
        return out.T

    return call


def strike() -> ca.Function:
    """An expression graph as one writes it with CasADi: positions, their derivatives, Cholesky factors."""
    theta, rho, torso, mu = parameters = [SX.sym(name) for name in ("theta", "rho", "torso", "mu")]
    q = SX.sym("q", 5)  # foot_x, foot_y, stance, swing, torso
    m = (M_W - M_H) / 2 / (1 + mu)
    R = rho * L_LEG

    def along(angle: SX) -> SX:
        return ca.vertcat(ca.sin(angle), ca.cos(angle))

    hip = q[:2] + (L_LEG - R) * along(q[2])
    masses: list[tuple[Any, SX]] = [
        (m, hip - B_LEG * along(q[2])),
        (m, hip - B_LEG * along(q[3])),
        (M_H, hip),
        (2 * m * mu, hip + L_TORSO * along(q[4])),
    ]
    jacobians = [(mass, ca.jacobian(place, q)) for mass, place in masses]
    M = sum((mass * J.T @ J for mass, J in jacobians), SX(5, 5))
    C = ca.jacobian(hip - (L_LEG - R) * along(q[3]), q)[[1, 0], :]  # normal, tangent
    C[1, 3] -= R  # the sole is carried by the leg
    pose = ca.vertcat(0, R, theta / 2, -theta / 2, torso)
    M, C = ca.substitute([M, C], [q], [pose])
    v_minus = RATE * ca.vertcat(R, 0, 1, 1, 0)

    L = ca.chol(M).T  # M = L Lᵀ
    Y = ca.solve(L, C.T)
    x = ca.solve(ca.chol(Y.T @ Y).T, C @ v_minus)
    impulse = -ca.solve(ca.chol(Y.T @ Y), x)
    v_plus = v_minus + ca.solve(L.T, Y @ impulse)
    T_minus, T_plus = (ca.sumsqr(L.T @ v) / 2 for v in (v_minus, v_plus))
    T_c_minus = ca.sumsqr(x) / 2
    energies = ca.vertcat(T_minus, T_plus, T_c_minus, T_minus - T_c_minus, T_minus - T_plus)
    return ca.Function("strike", parameters, [ca.vertcat(impulse, energies, v_plus)], {"cse": True})
