"""Kinetic energy and its parts, the work of each impulse, and energy that came from nowhere."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from jourdain.algebra.contacts.problem import Touched
from jourdain.algebra.entries import columns
from jourdain.algebra.problem import Problem
from jourdain.kinds import ON_KINDS, Kind

GAIN = 1e-10  # of the energies: less is rounding, not energy created


def energy_parts(side: str, along: Any, admissible: Any, n_regular: int, la: ModuleType) -> dict[str, Any]:
    """T and its parts; `along`: x along the rows of Q, the regular ones first."""
    T_r = half_square(la.rows(along, 0, n_regular), la)
    T_c = half_square(la.rows(along, n_regular, along.shape[-2]), la)
    T_a = half_square(admissible, la)
    return {f"T_{side}": T_r + T_c + T_a, f"T_c_{side}": T_c, f"T_a_{side}": T_a, f"T_r_{side}": T_r}


def half_square(x: Any, la: ModuleType) -> Any:
    """½‖x‖², (1, 1)."""
    return la.transpose(x) @ x / 2


def ratio(part: Any, whole: Any, la: ModuleType) -> Any:
    """The quotient, NaN where the whole is 0."""
    return la.where(whole > 0, part / la.where(whole > 0, whole, 1.0), float("nan"))


def booked(problem: Problem, work: Any, at_supports: Any, touched: Touched | None, la: ModuleType) -> Any:
    """The ledger: work on the mean velocity; of contacts that follow a path of their own, along that path.

    A path tells the work relative to the support; what a support that moves does comes to it.
    """
    if touched is None or touched.solved.path is None:
        return work
    start = sum(block.C.shape[-2] for block in problem.of_kind(*ON_KINDS))
    compression, restitution, friction, *_ = columns(touched.solved.path, la)
    k = touched.solved.impulse.shape[-2]
    after = la.rows(work, start + k, work.shape[-2])
    # Friction has one work: in space it is booked to the first tangent.
    along_path = la.stack(compression + restitution, friction, la.zeros(k - 2, 1, like=work))
    return la.stack(la.rows(work, 0, start), along_path + at_supports, after)


def energy_created(problem: Problem, values: dict[str, Any], la: ModuleType) -> Any:
    """The energy that came from nowhere, J, (1, 1): ΔT > 0 without moving supports or applied impulses."""
    if not problem.of_kind(Kind.ELASTIC, Kind.NONIDEAL, Kind.CONTACT):  # a projection creates none
        return la.zeros(1, 1, like=problem.M)
    gain = -values["loss"]
    k = values["target"].shape[-2]  # rows that are on; released supports do no work
    k += sum(block.C.shape[-2] for block in problem.of_kind(Kind.CONTACT))  # they come next
    still = la.both(la.every(la.rows(values["b_plus"], 0, k) == 0), la.every(values["applied"] == 0))
    real = gain > GAIN * (values["T_minus"] + values["T_plus"])
    return la.where(la.both(still, real), gain, 0.0)
