"""P_c, P_a, P_R: the parts of a velocity that an event constrains, admits, and that the regular rows hold [FK]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic

from jourdain.algebra.linear import LinearAlgebra, X
from jourdain.algebra.problem import Problem, decompose
from jourdain.kinds import Kind


@dataclass(frozen=True)
class Projectors(Generic[X]):
    """v = P_R v + P_c v + P_a v, M-orthogonal; impulses split by the transposes. `(*batch, n_v, n_v)`."""

    P_c: X
    P_a: X
    P_R: X
    P_cT_BT: X  # (*batch, n_v, rows): what the nonideal rows do to the constrained motion
    P_aT_BT: X  # and to the admissible motion


def projectors(problem: Problem, la: LinearAlgebra) -> Projectors:
    """In x = L v they are QᵀQ, so P = L⁻¹ QᵀQ L."""
    parts = decompose(problem, la)
    n = problem.M.shape[-1]

    def projector(Q: Any) -> Any:
        return parts.factor.solve(la.transpose(Q) @ (Q @ parts.factor.L))

    P_c, P_R = projector(parts.Q_c), projector(parts.Q_r)
    P_a = la.identity(problem.M) - P_R - P_c
    B = la.stack(la.zeros(0, n, like=problem.M), *(block.C for block in problem.of_kind(Kind.NONIDEAL)))
    BT = la.transpose(B)
    return Projectors(P_c, P_a, P_R, la.transpose(P_c) @ BT, la.transpose(P_a) @ BT)
