"""What an outcome must satisfy before it is handed out, as one number per event; written over `la` like the event.

Speeds along a row c are compared with √(2T · c M⁻¹ cᵀ), the largest that the kinetic energy T allows, so that units
drop out; and with |c| (|v⁻| + |v⁺|), since a light mass would be allowed any speed.
"""

from __future__ import annotations

import sys
from functools import reduce
from typing import Any

from jourdain.algebra.entries import LARGEST_SQUARE, LEAST_SQUARE, lengths, root, row, smaller
from jourdain.algebra.linear import LinearAlgebra
from jourdain.algebra.problem import Problem
from jourdain.algebra.record import Outcome
from jourdain.algebra.refinement import DIGITS, DROPPED, UNREFINED_PIVOT
from jourdain.algebra.span import RANK, SMALL_PIVOT
from jourdain.errors import Status
from jourdain.kinds import BEFORE_KINDS, ON_KINDS, Kind

TOLERANCE = 1e-8  # of the speed that the kinetic energy allows along a row; of g in its own unit
LARGEST = sys.float_info.max
ROUNDING = 1e-14  # of the terms of a sum
IMPULSE_ROUNDING = 4e-15  # of impulses that follow from those along other rows
SINKING = 1e-6  # of the speeds that occur: a contact that sinks in quicker was solved with too few digits

# What this algebra cannot decide is marked and looked at again. The first is of `independent` rows, the second of
# the full text: no event has both.
DOUBTFUL_ROWS = 32  # the rows were taken to be well apart: the event is solved again without that
DOUBTFUL_DIGITS = 32  # added to a status: light velocities may have lost digits, see `refinement`
DOUBTFUL_MASS = 64  # added to a status: M may be positive definite only up to rounding; its eigenvalues decide


def verdict(
    problem: Problem,
    values: Outcome,
    la: LinearAlgebra,
    checked: bool,
    sound_input: Any,
    independent: bool = False,
) -> tuple[Any, Any]:
    """(verdict, whether the event has no numbers), (1, 1). The verdict is the `Status`, DOUBTFUL_MASS added where M is.

    For `independent` rows it is 0 or DOUBTFUL_ROWS: whatever is wrong is left to the other look.

    `sound_input`: whether all input is finite. The first test that fails decides.
    """
    numbers = [values.v_plus, values.impulse, values.u_minus, values.u_plus, values.T_minus, values.T_plus]
    lost = la.zeros(1, 1, like=problem.M) > 0
    if not independent:  # the refinement did not settle, though all is finite without it
        sound = la.both(sound_input, finite(la.stack(values.u_minus, values.T_minus, values.T_free), la))
        sound = la.both(sound, la.where(finite(values.v_plus, la), 0.0, 1.0) > 0)
        lost = la.both(values.blurred > 0, sound)
    if independent:  # large pivots and finite energies leave no doubt about v⁺, nor about rows that are on
        k, stop = values.target.shape[-2], values.impulse.shape[-2]
        speeds = [la.rows(u, k, stop) for u in (values.u_minus, values.u_plus)]
        numbers = [values.impulse, *speeds, values.T_minus, values.T_plus]
    tests = [] if independent else [(Status.NOT_CONVERGED, la.where(lost, 0.0, 1.0) > 0)]
    tests.append((Status.NOT_FINITE, la.both(sound_input, finite(la.stack(*numbers), la))))
    tests.append((Status.NOT_FINITE, la.every(_of_ordinary_size(problem, values, la, independent))))
    if problem.mass_matrix is not None:
        tests.append((Status.NOT_POSITIVE_DEFINITE, la.every(la.diagonal_of(problem.mass_matrix) >= 0)))
    if checked:
        if values.geometry is not None:
            tests.append((Status.OFF_CONSTRAINT, la.every(la.absolute(values.geometry) <= TOLERANCE)))
        holds = _prior_exact if independent else _prior_holds
        tests.append((Status.PRIOR_VIOLATED, la.every(holds(problem, values, la))))
    tests.append((Status.BAD_RESTITUTION, la.every(la.both(values.kappa >= 0, values.kappa <= 1))))
    if problem.of_kind(Kind.CONTACT):
        tests.append((Status.BAD_FRICTION, la.every(values.friction >= 0)))
        if values.contact_arrived.shape[-2]:
            tests.append((Status.NOT_CONVERGED, values.contact_arrived))
        met = la.both(la.every(values.contact_residual <= TOLERANCE), values.contact_closing <= TOLERANCE)
        tests.append((Status.INFEASIBLE, met))
        if not independent:
            tests.append((Status.NOT_CONVERGED, _contacts_have_digits(problem, values, la)))
        tests.append((Status.AMBIGUOUS, la.where(values.contact_several, 0.0, 1.0) > 0))
    if not independent:  # rows that are well apart cannot contradict each other
        tests.append((Status.NOT_CONVERGED, values.blurred < DROPPED))
        tests.append((Status.CONTRADICTION, la.every(_on_target(problem, values, la))))
    tests.append((Status.NOT_FINITE, finite(la.stack(values.outputs_minus, values.outputs_plus), la)))
    tests.append((Status.ENERGY_CREATED, values.energy_created <= 0))
    if independent:
        sure = la.every(values.pivots > UNREFINED_PIVOT * values.M_diagonal)
        sound = reduce(la.both, [passed for _, passed in tests], la.both(sure, values.apart))
        return la.where(sound, 0.0, float(DOUBTFUL_ROWS)), la.zeros(1, 1, like=problem.M) > 0
    sure = la.every(values.pivots > SMALL_PIVOT * values.M_diagonal)  # pivots never exceed the diagonal
    status = la.zeros(1, 1, like=problem.M)
    for code, passed in reversed(tests):  # the first that fails is written last
        status = la.where(passed, status, float(code))
    return status + la.where(sure, 0.0, float(DOUBTFUL_MASS)), status > float(Status.ENERGY_CREATED)


def finite(column: Any, la: LinearAlgebra) -> Any:
    """Whether all of a column is, (1, 1). A sum tells: what is not finite in one term is not in the sum."""
    return la.transpose(la.absolute(column)) @ la.ones(column.shape[-2], 1, like=column) <= LARGEST


def _usual_speeds(rows: Any, row_length: Any, energy: Any, values: Outcome, la: LinearAlgebra) -> Any:
    """The speed along each row that is usual in this event, (k, 1): what energy allows, or what occurs if it is less.

    Velocities may be rounding of what energy allows.
    """
    allowed = root(2 * energy, la) * row_length
    return smaller(lengths(rows, la) * _speed(values, la) + ROUNDING / TOLERANCE * allowed, allowed, la)


def _speed(values: Outcome, la: LinearAlgebra) -> Any:
    """|v⁻| + |v⁺|."""
    return sum(lengths(la.transpose(v), la) for v in (values.v_minus, values.v_plus))


def _contacts_have_digits(problem: Problem, values: Outcome, la: LinearAlgebra) -> Any:
    """Whether contacts leave v⁺ its digits, and their laws hold in speeds that occur.

    Laws are solved in the speeds that given impulses would cause, or that the energy allows light masses.
    """
    speed, start = _speed(values, la), values.target.shape[-2]
    mobility = values.contact_mobility
    impulse = la.rows(values.impulse, start, start + mobility.shape[-2])
    noise = ROUNDING * la.transpose(root(mobility, la)) @ la.absolute(impulse)  # of the impulses, along unit rows
    conditions = [IMPULSE_ROUNDING * values.contact_cancelled <= DIGITS * speed]
    for block, place in zip(problem.blocks, problem.stacked_places(), strict=True):
        if block.kind == Kind.CONTACT:
            u, b, length = (
                la.rows(x, place.start, place.stop) for x in (values.u_plus, values.b_plus, values.row_length)
            )
            free, least = (
                la.rows(x, place.start - start, place.stop - start) for x in (mobility, values.contact_least)
            )
            push, usual = la.rows(values.impulse, place.start, place.stop), lengths(block.C, la) * speed
            usual = usual + la.absolute(row(b, 0, la))
            blur = noise * root(free, la)
            # Refined velocities that should be 0 are rounding of rounding.
            rounding = ROUNDING * (root(2 * (values.T_minus + values.T_plus + values.T_free), la) * length + blur)
            conditions.append(row(_keeps_out(u, least, usual, rounding), 0, la))
            pushes = row(_pushes(push, free, blur, usual), 0, la)
            # A contact that lifts has no impulse; of redundant ones any share will do.
            shares = la.largest(la.rows(values.contact_undetermined, place.start - start, place.stop - start)) > 0
            idle = la.either(la.absolute(row(push, 0, la)) <= 0, shares)
            conditions.append(la.either(idle, pushes))
            if block.law is not None and block.law.solver.slips_at_the_end:
                holds = _friction_holds(push, u, free, blur, usual, block.numbers["friction"], la)
                conditions.append(la.either(shares, holds))
    return la.either(values.blurred <= 0, la.every(la.stack(*conditions)))


def _keeps_out(u: Any, least: Any, usual: Any, rounding: Any) -> Any:
    """Whether a contact leaves at least as quickly as its law says, in usual speeds and up to rounding."""
    return u + SINKING * usual + rounding >= least


def _pushes(push: Any, free: Any, noise: Any, usual: Any) -> Any:
    """Whether an impulse pushes, and is known well enough to say so, against the speed that it gives its row."""
    return push * free + TOLERANCE * usual - noise >= 0


def _friction_holds(push: Any, u: Any, free: Any, noise: Any, usual: Any, friction: Any, la: LinearAlgebra) -> Any:
    """Whether a contact sticks and its impulse is inside the cone of friction, or slips and it is on it, against u⁺.

    Rows of one contact, the normal first: impulses, u⁺, the speed that a unit impulse gives, its rounding, usual ones.
    """
    k = push.shape[-2]
    along, slip, free, noise, usual = (la.rows(x, 1, k) for x in (push, u, free, noise, usual))
    cone = friction * row(push, 0, la)
    room = (cone - root(la.transpose(along) @ along, la)) * la.largest(free)
    none, blur = TOLERANCE * la.largest(usual), la.largest(noise)
    sticks = la.transpose(slip) @ slip <= TOLERANCE**2 * (la.transpose(usual) @ usual)
    slips = la.both(la.absolute(room) <= none + blur, la.transpose(along) @ slip <= 0)
    return la.where(sticks, la.where(cone > 0, room + none - blur, 0.0), la.where(slips, 0.0, -1.0)) >= 0


def rounding_of_rows(problem: Problem, la: LinearAlgebra) -> Any:
    """What C v⁻ may be off by rounding, (rows, 1): without mass there is no energy to compare it with."""
    rows = [la.absolute(block.C) @ la.absolute(problem.v_minus) for block in problem.blocks]
    return 4 * sys.float_info.epsilon * la.stack(la.zeros(0, 1, like=problem.M), *rows)


def _prior_holds(problem: Problem, values: Outcome, la: LinearAlgebra) -> Any:
    """Whether the prior velocity satisfies the rows that are on before, row by row."""
    conditions = [la.ones(1, 1, like=problem.M) > 0]
    for block, place in zip(problem.blocks, problem.stacked_places(), strict=True):
        if block.kind in BEFORE_KINDS:
            rows = (values.u_minus, values.b_minus, values.row_length)
            u, b, length = (la.rows(x, place.start, place.stop) for x in rows)
            slack = TOLERANCE * (la.absolute(b) + _usual_speeds(block.C, length, values.T_minus, values, la))
            if values.u_rounding is not None:
                slack = slack + la.rows(values.u_rounding, place.start, place.stop)
            conditions.append(la.absolute(u) <= slack)
    return la.stack(*conditions)


def _prior_exact(problem: Problem, values: Outcome, la: LinearAlgebra) -> Any:
    """The same up to rounding of C v⁻, which needs no M⁻¹; what is off by more is left to the other look."""
    conditions = [la.ones(1, 1, like=problem.M) > 0]
    for block in problem.of_kind(*BEFORE_KINDS):
        terms = la.absolute(block.C) @ la.absolute(problem.v_minus) + la.absolute(block.b_minus)
        conditions.append(la.absolute(block.C @ problem.v_minus + block.b_minus) <= ROUNDING * terms)
    return la.stack(*conditions)


def _of_ordinary_size(problem: Problem, values: Outcome, la: LinearAlgebra, independent: bool) -> Any:
    """Whether squares of rows neither over- nor underflow, row by row, where something rests on them.

    That are the laws of contacts and, for `independent` rows, the degrees of freedom before.
    """
    conditions = [la.ones(1, 1, like=problem.M) > 0]
    for block, place in zip(problem.blocks, problem.stacked_places(), strict=True):
        if block.kind == Kind.CONTACT or (independent and block.kind == Kind.RELEASED):
            square = la.rows(values.row_length2, place.start, place.stop)
            large = square >= LEAST_SQUARE
            if not independent:  # there is no doubt about a row of zeros
                large = la.either(large, la.absolute(block.C) @ la.ones(block.C.shape[-1], 1, like=block.C) <= 0)
            conditions += [square <= LARGEST_SQUARE, large]
    return la.stack(*conditions)


def _on_target(problem: Problem, values: Outcome, la: LinearAlgebra) -> Any:
    """Whether the rows that are on during the event come out as they must, row by row: C'v⁺ + b⁺ = target.

    A row that was dropped may be off by the part of it, shorter than RANK, that the others do not span.
    """
    target = values.target
    k, C = target.shape[-2], [block.C for block in problem.of_kind(*ON_KINDS)]
    u, b, length = (la.rows(x, 0, k) for x in (values.u_plus, values.b_plus, values.row_length))
    energy = values.T_minus + values.T_plus + values.T_free
    usual = _usual_speeds(la.stack(la.zeros(0, problem.M.shape[-1], like=problem.M), *C), length, energy, values, la)
    slack = TOLERANCE * (la.absolute(b) + la.absolute(target)) + (TOLERANCE + RANK) * usual
    return la.absolute(u - target) <= slack
