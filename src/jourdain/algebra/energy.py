"""Kinetic energy and its parts, the work of each impulse, and energy that came from nowhere."""

from __future__ import annotations

from typing import Any, NamedTuple

from jourdain.algebra.contacts.response import ContactResponse
from jourdain.algebra.entries import columns, larger
from jourdain.algebra.linear import LinearAlgebra
from jourdain.algebra.problem import Problem
from jourdain.algebra.record import Outcome
from jourdain.kinds import ON_KINDS, Kind

GAIN = 1e-10  # of the energies: less is rounding, not energy created
ROUNDING = 1e-28  # of the energy that impulses would give without the rows: the square of what v⁺ is rounded by


class Energy(NamedTuple):
    """Kinetic energy, and its parts in the constrained motion, the admissible motion and along the regular rows."""

    T: Any
    T_c: Any
    T_a: Any
    T_r: Any


def energy_parts(along: Any, admissible: Any, n_regular: int, la: LinearAlgebra) -> Energy:
    """`along`: x along the rows of Q, the regular ones first; `admissible`: what is left of x."""
    T_r = half_square(la.rows(along, 0, n_regular), la)
    T_c = half_square(la.rows(along, n_regular, along.shape[-2]), la)
    T_a = half_square(admissible, la)
    return Energy(T_r + T_c + T_a, T_c, T_a, T_r)


def with_mass(energy: Energy, M: Any, v: Any, where: Any, la: LinearAlgebra) -> Energy:
    """The same with T = ½ vᵀM v; T_r is what T_c and T_a leave of it. `where`: in which samples."""
    T = la.where(where, la.transpose(v) @ M @ v / 2, energy.T)
    return energy._replace(T=T, T_r=la.where(where, larger(T - energy.T_c - energy.T_a, 0.0, la), energy.T_r))


def half_square(x: Any, la: LinearAlgebra) -> Any:
    """½‖x‖², (1, 1)."""
    return la.transpose(x) @ x / 2


def ratio(part: Any, whole: Any, la: LinearAlgebra) -> Any:
    """The quotient, NaN where the whole is 0."""
    return la.where(whole > 0, part / la.where(whole > 0, whole, 1.0), float("nan"))


def booked(problem: Problem, work: Any, at_supports: Any, response: ContactResponse | None, la: LinearAlgebra) -> Any:
    """The ledger: work on the mean velocity; of contacts that follow a path of their own, along that path.

    A path has the work relative to the support; what a support that moves does comes to it.
    """
    if response is None or response.solution.path is None:
        return work
    start = problem.n_rows(*ON_KINDS)
    compression, restitution, friction, *_ = columns(response.solution.path, la)
    k = response.solution.impulse.shape[-2]
    after = la.rows(work, start + k, work.shape[-2])
    # Friction has one work: in space it is booked to the first tangent.
    along_path = la.stack(compression + restitution, friction, la.zeros(k - 2, 1, like=work))
    return la.stack(la.rows(work, 0, start), along_path + at_supports, after)


def energy_created(problem: Problem, values: Outcome, la: LinearAlgebra) -> Any:
    """The energy that came from nowhere, J, (1, 1): ΔT > 0 without moving supports or applied impulses."""
    if not problem.of_kind(Kind.ELASTIC, Kind.NONIDEAL, Kind.CONTACT):  # a projection creates none
        return la.zeros(1, 1, like=problem.M)
    k = problem.n_rows(*ON_KINDS, Kind.CONTACT)  # they come first; released supports do no work
    still = la.both(la.every(la.rows(values.b_plus, 0, k) == 0), la.every(values.applied == 0))
    # Rows that take all of an impulse leave velocities of its rounding.
    real = -values.loss > GAIN * (values.T_minus + values.T_plus) + ROUNDING * values.T_free
    return la.where(la.both(still, real), -values.loss, 0.0)
