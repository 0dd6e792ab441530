"""The event algebra: what a change of constraints does to the velocities, the impulses and the energy.

Written once. `la` is `unrolled` (CasADi scalars: single events, batches, derivatives) or `lapack` (raw arrays).
In x = L v (M = LᵀL) the kinetic energy is ½‖x‖² and an event is a projection:

    M (v⁺ − v⁻) = f̄ + C'ᵀλ̄      →   x⁺ = x⁻ + L⁻ᵀf̄ + Yᵀλ̄,   Y = C' L⁻¹
    C'v⁺ + b⁺ = target            →   Y x⁺ = target − b⁺

See README.md beside this file for the derivation and the signs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from jourdain.algebra import lapack
from jourdain.algebra.contacts.choice import TIE
from jourdain.algebra.contacts.contacts import ContactSolution
from jourdain.algebra.contacts.response import ContactResponse, contact_impulses
from jourdain.algebra.energy import Energy, booked, energy_parts, half_square, ratio, with_mass
from jourdain.algebra.entries import columns, larger, lengths, scaled, squares
from jourdain.algebra.linear import LinearAlgebra
from jourdain.algebra.problem import (
    Block,
    Decomposition,
    Problem,
    added_impulse,
    decompose,
    target,
)
from jourdain.algebra.record import CONTACT_FIELDS, Outcome
from jourdain.algebra.refinement import blurred, overpowered, refined, refined_with_contacts, sharp
from jourdain.algebra.span import RANK, span
from jourdain.kinds import AFTER_KINDS, BEFORE_KINDS, ON_KINDS, Kind


@dataclass(frozen=True)
class Jump:
    """How the velocities change: v⁺ = v⁻ + dv, x⁺ = x⁻ + x_f + Qᵀν, or x⁺ = x⁻ + x_a + Qᵀδ without what cancels.

    Rows that are on may take most of an impulse: then x_f and ν are large, and x_a and δ are not.
    """

    asked: Any  # (rows that are on, 1), u⁺
    x_minus: Any
    x_f: Any  # of all given impulses, those of contacts included
    x_a: Any  # the part of it that the rows that are on leave, x_f − QᵀQ x_f
    nu: Any  # along the rows of Q that are on
    delta: Any  # by how much Q x changes, ν + Q x_f
    dv: Any
    nonideal: Any  # (n, 1), generalized impulse of the nonideal rows
    given: Any  # (n, 1), of all given impulses without contacts
    response: ContactResponse | None


def outcome(problem: Problem, la: LinearAlgebra, independent: bool = False, refine: bool = False) -> Outcome:
    """Every number of the event that follows from its matrices.

    `independent`: for rows that are well conditioned (see `span`), which `Outcome.apart` says of each event, and an M
    that is not nearly singular: there the refinement changes nothing but the last digit. `refine`: light velocities
    keep their digits; over scalars `problem.dv` has them.
    """
    parts = decompose(problem, la, independent, any_mass=refine)
    on, T, blocks, nothing = parts.on, la.transpose, problem.blocks, la.zeros(0, 1, like=problem.M)
    jump = _jump(problem, parts, la, independent, refine)
    # Rows as rows of Y, but for those that are on and well apart: R has their lengths.
    others = [block for block in blocks if block.kind not in ON_KINDS or not independent]
    no_rows = la.zeros(0, problem.M.shape[-1], like=problem.M)
    Y = la.stack(no_rows, *(scaled(block.C, parts.factor, la) for block in others))
    lengths2 = la.stack(_on_lengths2(parts, 0), squares(Y, la))  # c M⁻¹ cᵀ
    before, after = _energies(parts, jump, la)
    apart = la.both(on.apart, sharp(problem.M, parts, jump.response, la)) if independent else on.apart
    blur = blurred(problem, parts, jump.response, la, refine)
    if problem.applied or problem.of_kind(Kind.NONIDEAL):
        driven = overpowered(problem.M, parts, jump.given, jump.x_f, before.T + after.T, la)
        apart = la.both(apart, la.where(driven, 0.0, 1.0) > 0)
        blur = la.where(driven, larger(blur, 1.0, la), blur)
    response, v_minus, v_plus = jump.response, problem.v_minus, problem.v_minus + jump.dv
    # −Δxᵀ(x⁻ + Δx/2), Δx = x_a + Qᵀδ
    loss = -(T(jump.x_a) @ (jump.x_minus + jump.x_a / 2) + T(jump.delta) @ (on.Q @ jump.x_minus + jump.delta / 2))
    impulse_on = on.impulse(jump.nu)
    if problem.mass_matrix is not None:  # M gives driven rows an energy that no mass has
        impulse_on = impulse_on - added_impulse(problem, jump.dv, la)
        added = la.largest(la.stack(*(block.S for block in blocks if block.S is not None))) > 0  # else M is mass_matrix
        pairs = ((before, v_minus), (after, v_plus))
        before, after = (with_mass(energy, problem.mass_matrix, v, added, la) for energy, v in pairs)
        loss = la.where(added, -T(jump.dv) @ (problem.mass_matrix @ (v_minus + jump.dv / 2)), loss)

    def stack(parts: list[Any]) -> Any:
        return la.stack(nothing, *parts)

    given = [_given_impulse(block, la) for block in blocks if block.kind not in (*ON_KINDS, Kind.CONTACT)]
    impulse = stack([impulse_on, *([] if response is None else [response.solution.impulse]), *given])
    b_minus, b_plus = stack([block.b_minus for block in blocks]), stack([block.b_plus for block in blocks])
    motion_minus, motion_plus = (stack([block.C @ v for block in blocks]) for v in (v_minus, v_plus))
    n_on, n_contact = on.keep.shape[-2], problem.n_rows(Kind.CONTACT)
    not_on = la.zeros(impulse.shape[-2] - n_on, 1, like=problem.M)
    idle = la.rows(not_on, n_contact, not_on.shape[-2])  # rows that neither are on nor touch
    drive_work, dissipated, at_supports = _support_work(problem, jump, impulse_on, la)
    x_free = jump.x_minus + jump.x_f
    values: Outcome = Outcome(
        **{f"{name}_minus": part for name, part in before._asdict().items()},
        **{f"{name}_plus": part for name, part in after._asdict().items()},
        xi=ratio(before.T_c, before.T, la),
        loss=loss,
        drive_work=drive_work,
        dissipated=dissipated,
        energy_created=nothing,
        q=nothing,
        v_minus=v_minus,
        v_plus=v_plus,
        outputs_minus=nothing,
        outputs_plus=nothing,
        u_minus=motion_minus + b_minus,
        u_plus=motion_plus + b_plus,
        impulse=impulse,
        Lambda=stack([on.impulse(on.Q @ parts.factor.solve_transposed(jump.nonideal)), not_on]),
        effective_mass=_effective_masses(parts, Y, lengths2),
        # Each impulse works on the mean of the velocities before and after (Thomson–Tait); the sum is T⁺ − T⁻.
        ledger=booked(problem, impulse * (motion_minus + motion_plus) / 2, at_supports, response, la),
        applied_work=stack([T(applied) @ (v_minus + jump.dv / 2) for applied in problem.applied]),
        redundant=stack([1 - on.keep, *([] if response is None else [response.redundant]), idle]),
        dof=_degrees_of_freedom(problem, parts),
        nullspace=on.nullspace(),
        row_length2=lengths2,
        row_length=None if independent else lengths(Y, la),
        required_friction=nothing,
        apart=apart if response is None else la.both(apart, response.apart),
        blurred=blur,
        target=jump.asked,
        pivots=parts.factor.pivots,
        M_diagonal=la.diagonal_of(problem.M),
        T_free=half_square(x_free, la),
        b_minus=b_minus,
        b_plus=b_plus,
        kappa=stack([*(block.kappa for block in problem.of_kind(Kind.ELASTIC)), *_numbers(problem, "restitution")]),
        friction=stack(_numbers(problem, "friction")),
        applied=jump.given - jump.nonideal,
        contact_one_of_many=la.zeros(1, 1, like=problem.M),
        **dict.fromkeys(CONTACT_FIELDS, nothing),
    )
    return values if response is None else _with_contacts(values, problem, response, la)


def change(problem: Problem) -> Any:
    """v⁺ − v⁻ over arrays, with all digits of light velocities."""
    return _jump(problem, decompose(problem, lapack, any_mass=True), lapack, False, refine=True).dv


def _jump(problem: Problem, parts: Decomposition, la: LinearAlgebra, independent: bool, refine: bool) -> Jump:
    """ν and v⁺ − v⁻: the parts along Q are given by the rows that are on, the others by what acts besides."""
    factor, on, T = parts.factor, parts.on, la.transpose
    M, v_minus, on_blocks = problem.M, problem.v_minus, problem.of_kind(*ON_KINDS)
    no_rows, none, one = la.zeros(0, 1, like=M), la.zeros(M.shape[-1], 1, like=M), la.ones(1, 1, like=M)

    # What is asked for: C'v⁺ + b⁺ = target.
    asked = la.stack(no_rows, *(target(block, v_minus, la) for block in on_blocks))
    b_plus = la.stack(no_rows, *(block.b_plus for block in on_blocks))
    C_on = la.stack(la.zeros(0, M.shape[-1], like=M), *(block.C for block in on_blocks))

    # What acts besides: f̄ = f̄_A + f̄_N.
    nonideal = sum((T(block.C) @ block.beta for block in problem.of_kind(Kind.NONIDEAL)), none)
    given = sum(problem.applied, nonideal)
    x_minus, x_f = factor.apply(v_minus), factor.solve_transposed(given)

    def response_to(f: Any, x_f: Any) -> tuple[Any, Any, Any]:
        """(x_a, δ, v⁺ − v⁻) of the rows that are on and of impulses: the given ones and f̄, x_f = L⁻ᵀ of their sum."""
        x_a = x_f - T(on.Q) @ (on.Q @ x_f)
        delta = on.coordinates(asked - b_plus) - on.Q @ x_minus
        dv = factor.solve(x_a + T(on.Q) @ delta)
        if not independent:
            # One step of refinement with the rows themselves: v⁺ ← v⁺ − M⁻¹C'ᵀW⁻¹(C'v⁺ + b⁺ − target).
            correction = on.coordinates(asked - b_plus - C_on @ (v_minus + dv))
            delta = delta + correction
            dv = dv + factor.solve(T(on.Q) @ correction)
        if refine and problem.dv is None:
            dv = refined(dv, on.impulse(delta - on.Q @ x_f), problem, parts, [(f, one)], C_on, asked - b_plus)
        return x_a, delta, dv

    x_a, delta, dv = response_to(none, x_f)
    contacts = contact_impulses(problem, parts, v_minus + dv, half_square(x_minus, la), la, independent)
    if contacts is not None:  # what the contacts do besides, and how the rows that are on answer
        x_f = x_f + factor.solve_transposed(contacts.generalized)
        x_a, delta, dv = response_to(contacts.generalized, x_f)
        if refine and problem.dv is None and contacts.solution.u_plus is not None:
            impulse = on.impulse(delta - on.Q @ x_f)
            dv = refined_with_contacts(dv, impulse, problem, parts, contacts, C_on, asked - b_plus)
    if refine:
        dv = dv if problem.dv is None else problem.dv
        step = factor.apply(dv)
        delta = on.Q @ step
        x_a = step - T(on.Q) @ delta
    return Jump(asked, x_minus, x_f, x_a, delta - on.Q @ x_f, delta, dv, nonideal, given, contacts)


def _energies(parts: Decomposition, jump: Jump, la: LinearAlgebra) -> tuple[Energy, Energy]:
    """T = T_r + T_c + T_a before and after: orthogonal parts of x."""
    Q_c = parts.Q_c if jump.response is None else la.stack(parts.Q_c, jump.response.Q)
    Q = la.stack(parts.Q_r, Q_c)
    along = Q @ jump.x_minus
    admissible = jump.x_minus - la.transpose(Q) @ along
    before = energy_parts(along, admissible, parts.n_regular, la)
    if jump.response is None:
        return before, energy_parts(along + jump.delta, admissible + jump.x_a, parts.n_regular, la)
    pushed = jump.response.Q @ jump.x_a  # along the rows of contacts
    left = jump.x_a - la.transpose(jump.response.Q) @ pushed
    return before, energy_parts(along + la.stack(jump.delta, pushed), admissible + left, parts.n_regular, la)


def _support_work(problem: Problem, jump: Jump, impulse_on: Any, la: LinearAlgebra) -> tuple[Any, Any, Any]:
    """(drive work, dissipated, work at the rows of contacts): with ũ⁻ = C'v⁻ + b⁺, ΔT = drive work − dissipated + work
    of f̄, contacts included.
    """
    T, no_rows = la.transpose, la.zeros(0, 1, like=problem.M)
    on_blocks, touching = problem.of_kind(*ON_KINDS), problem.of_kind(Kind.CONTACT)
    b_plus = la.stack(no_rows, *(block.b_plus for block in on_blocks))
    u_tilde = la.stack(no_rows, *(block.C @ problem.v_minus for block in on_blocks)) + b_plus
    drive_work = -T(b_plus) @ impulse_on
    dissipated = -T(impulse_on) @ (jump.asked + u_tilde) / 2
    if jump.response is None:
        return drive_work, dissipated, no_rows
    pushed, mean = jump.response.solution.impulse, problem.v_minus + jump.dv / 2
    at_supports = -pushed * la.stack(*(block.b_plus for block in touching))
    drive_work = drive_work + T(at_supports) @ la.ones(at_supports.shape[-2], 1, like=problem.M)
    dissipated = dissipated - T(pushed) @ la.stack(*(block.C @ mean + block.b_plus for block in touching))
    return drive_work, dissipated, at_supports


def _with_contacts(values: Outcome, problem: Problem, response: ContactResponse, la: LinearAlgebra) -> Outcome:
    """The fields about one-sided contacts; those of paths are 0 for laws that have none."""
    solution, blocks, empty = response.solution, problem.of_kind(Kind.CONTACT), values.contact_state
    zero, zeros = la.zeros(1, 1, like=problem.M), la.zeros(len(blocks), 1, like=problem.M)
    none = la.where(zero > 0, 0.0, float("nan"))
    path = [zeros] * 6 if solution.path is None else columns(solution.path, la)
    compression_work, restitution_work, friction_work, compression_end, slip_end, slip_impulse = path
    return replace(
        values,
        restitution=la.stack(*(block.numbers.get("restitution", none) for block in blocks)),
        contact_state=solution.state,
        contact_residual=solution.miss * la.ones(len(blocks), 1, like=problem.M),
        contact_margin=solution.margin,
        compression_work=compression_work,
        restitution_work=restitution_work,
        friction_work=friction_work,
        compression_end=compression_end,
        slip_end=slip_end,
        slip_impulse=slip_impulse,
        contact_undetermined=response.undetermined,
        contact_shared=response.shared,
        contact_one_of_many=zero if solution.one_of_many is None else la.where(solution.one_of_many > 0, 1.0, 0.0),
        contact_candidates=_candidates(solution, blocks, la),
        contact_asked=empty if solution.asked is None else solution.asked,
        contact_arrived=empty if solution.arrived is None else solution.arrived,
        contact_several=solution.several,
        contact_closing=solution.closing,
        contact_cancelled=response.cancelled,
        contact_mobility=response.mobility,
        contact_least=0 * solution.impulse if solution.least is None else solution.least,
        contact_kink=empty if solution.kink is None else solution.kink,
        contact_ways=empty if solution.ways is None else solution.ways,
    )


def _candidates(solution: ContactSolution, blocks: Sequence[Block], la: LinearAlgebra) -> Any:
    """1 for each way to hold that meets the laws, (ways, 1); empty unless a law lists them."""
    listed = any(block.law is not None and block.law.solver.lists_candidates for block in blocks)
    if solution.ways is None or not listed:
        return la.zeros(0, 1, like=solution.impulse)
    return la.where(solution.ways <= TIE, 1.0, 0.0)


def _numbers(problem: Problem, name: str) -> list[Any]:
    """A number of the laws of contacts, of those that have it."""
    return [block.numbers[name] for block in problem.of_kind(Kind.CONTACT) if name in block.numbers]


def _given_impulse(block: Block, la: LinearAlgebra) -> Any:
    return block.beta if block.kind == Kind.NONIDEAL else la.zeros(block.n_rows, 1, like=block.C)


def _on_lengths2(parts: Decomposition, start: int) -> Any:
    """Of rows that are on and well apart, the squares of their lengths along Q from row `start` on; else nothing."""
    la, on = parts.la, parts.on
    if not on.independent:
        return la.zeros(0, 1, like=on.Q)
    R_T = la.transpose(on.R)
    return squares(la.transpose(la.rows(R_T, start, R_T.shape[-2])), la)


def _effective_masses(parts: Decomposition, Y: Any, lengths2: Any) -> Any:
    """1 / (c Q M⁻¹ cᵀ) of each row: the mass that an impulse along it meets while the regular rows hold."""
    la = parts.la
    free2 = squares(Y - (Y @ la.transpose(parts.Q_r)) @ parts.Q_r, la)
    square = la.stack(_on_lengths2(parts, parts.n_regular), free2)
    # A row that the regular ones span; one whose square overflows is light.
    held = la.both(square <= RANK**2 * lengths2, square < float("inf"))
    return la.where(held, float("inf"), 1 / la.where(held, 1.0, square))


def _degrees_of_freedom(problem: Problem, parts: Decomposition) -> Any:
    """How many independent velocities there are before, during and after, (3, 1)."""
    la, n, keep = parts.la, problem.M.shape[-1], parts.on.keep
    before = [scaled(block.C, parts.factor, la) for block in problem.of_kind(*BEFORE_KINDS)]
    n_after = problem.n_rows(*AFTER_KINDS)
    spanned = span(before, n, la, like=problem.M, any_size=not parts.on.independent)
    kept = (spanned.keep, keep, la.rows(keep, 0, n_after))  # elastic rows come last
    return la.stack(*(n - la.transpose(some) @ some for some in kept))
