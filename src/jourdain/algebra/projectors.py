"""P_c, P_a, P_R: the parts of a velocity that an event constrains, admits, and that the regular rows hold [FK]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jourdain.algebra.linear import LinearAlgebra
from jourdain.algebra.problem import Problem, decompose
from jourdain.inputs import Array
from jourdain.kinds import Kind


@dataclass(frozen=True)
class Projectors:
    """v = P_R v + P_c v + P_a v, M-orthogonal; impulses split by the transposes. `(*batch, n_v, n_v)`."""

    P_c: Array
    P_a: Array
    P_R: Array
    P_cT_BT: Array  # (*batch, n_v, rows): what the nonideal rows do to the constrained motion
    P_aT_BT: Array  # and to the admissible motion


def projector_matrices(problem: Problem, la: LinearAlgebra) -> dict[str, Any]:
    """The fields of `Projectors`, by name. In x = L v they are QᵀQ, so P = L⁻¹ QᵀQ L."""
    parts = decompose(problem, la)
    n = problem.M.shape[-1]

    def projector(Q: Any) -> Any:
        return parts.factor.solve(la.transpose(Q) @ (Q @ parts.factor.L))

    P_c, P_R = projector(parts.Q_c), projector(parts.Q_r)
    P_a = la.identity(problem.M) - P_R - P_c
    B = la.stack(la.zeros(0, n, like=problem.M), *(block.C for block in problem.of_kind(Kind.NONIDEAL)))
    BT = la.transpose(B)
    return {
        "P_c": P_c,
        "P_a": P_a,
        "P_R": P_R,
        "P_cT_BT": la.transpose(P_c) @ BT,
        "P_aT_BT": la.transpose(P_a) @ BT,
    }
