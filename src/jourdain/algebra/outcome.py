"""The event algebra: what a change of constraints does to the velocities, the impulses and the energy.

Written once. `la` is `unrolled` (CasADi scalars: single events, batches, derivatives) or `lapack` (raw arrays).
In x = L v (M = LᵀL) the kinetic energy is ½‖x‖² and an event is a projection:

    M (v⁺ − v⁻) = f̄ + C'ᵀλ̄      →   x⁺ = x⁻ + L⁻ᵀf̄ + Yᵀλ̄,   Y = C' L⁻¹
    C'v⁺ + b⁺ = target            →   Y x⁺ = target − b⁺

See README.md beside this file for the derivation and the signs.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from jourdain.algebra.contacts.problem import Touched, contact_impulses
from jourdain.algebra.energy import booked, energy_parts, half_square, ratio
from jourdain.algebra.entries import columns, scaled, squares
from jourdain.algebra.problem import Block, Decomposition, Problem, decompose, target
from jourdain.algebra.span import RANK, span
from jourdain.kinds import AFTER_KINDS, BEFORE_KINDS, ON_KINDS, Kind


def outcome(problem: Problem, la: ModuleType, independent: bool = False) -> dict[str, Any]:
    """Every quantity of the event, by name. Rows are stacked in the order of `problem.blocks`.

    `independent`: for rows that are well apart (see `span`), which "apart" tells of each event, and an M that is not
    nearly singular: there the refinement changes nothing but the last digit.
    """
    parts = decompose(problem, la, independent)
    factor, on, Q_r, Q_c = parts.factor, parts.on, parts.Q_r, parts.Q_c
    T = la.transpose
    M, v_minus, blocks = problem.M, problem.v_minus, problem.blocks
    on_blocks = problem.of_kind(*ON_KINDS)
    no_rows, none = la.zeros(0, 1, like=M), la.zeros(M.shape[-1], 1, like=M)

    def stack(parts: list[Any]) -> Any:
        return la.stack(no_rows, *parts)

    # What is asked for: C'v⁺ + b⁺ = target.
    asked = stack([target(block, v_minus, la) for block in on_blocks])
    b_plus = stack([block.b_plus for block in on_blocks])
    C_on = la.stack(la.zeros(0, M.shape[-1], like=M), *(block.C for block in on_blocks))

    # What acts besides: f̄ = f̄_A + f̄_N.
    nonideal = sum((T(block.C) @ block.beta for block in problem.of_kind(Kind.NONIDEAL)), none)
    f = sum(problem.applied, nonideal)
    x_f, x_nonideal = factor.solve_transposed(f), factor.solve_transposed(nonideal)

    # x⁺ = x⁻ + x_f + Qᵀν: the parts along Q are given by the rows, the others stay.
    x_minus = factor.apply(v_minus)

    def response(x_f: Any) -> tuple[Any, Any]:
        """(ν, v⁺ − v⁻) of the rows that are on to impulses f̄."""
        nu = on.coordinates(asked - b_plus) - on.Q @ (x_minus + x_f)
        jump = factor.solve(x_f + T(on.Q) @ nu)
        if not independent:
            # One step of refinement with the rows themselves: v⁺ ← v⁺ − M⁻¹C'ᵀW⁻¹(C'v⁺ + b⁺ − target).
            correction = on.coordinates(asked - b_plus - C_on @ (v_minus + jump))
            nu = nu + correction
            jump = jump + factor.solve(T(on.Q) @ correction)
        return nu, jump

    nu, jump = response(x_f)
    touched = contact_impulses(problem, parts, v_minus + jump, half_square(x_minus, la), la, independent)
    if touched is not None:  # what the contacts do besides, and how the rows that are on answer
        x_f = x_f + factor.solve_transposed(touched.generalized)
        nu, jump = response(x_f)
        Q_c = la.stack(Q_c, touched.Q)
    x_free = x_minus + x_f
    n_touched = Q_c.shape[-2] - parts.Q_c.shape[-2]
    Q = la.stack(Q_r, Q_c)
    v_plus = v_minus + jump
    impulse_on = on.impulse(nu)

    motion_minus, motion_plus = (stack([block.C @ v for block in blocks]) for v in (v_minus, v_plus))
    u_minus = motion_minus + stack([block.b_minus for block in blocks])
    u_plus = motion_plus + stack([block.b_plus for block in blocks])
    others = la.zeros(sum(block.C.shape[-2] for block in blocks) - C_on.shape[-2], 1, like=M)  # rows that are not on
    n_contact = sum(block.C.shape[-2] for block in problem.of_kind(Kind.CONTACT))
    idle = la.rows(others, n_contact, others.shape[-2])  # rows that neither are on nor touch
    at_contacts = [] if touched is None else [touched.solved.impulse]
    given = [_given_impulse(block, la) for block in blocks if block.kind not in (*ON_KINDS, Kind.CONTACT)]
    impulse = stack([impulse_on, *at_contacts, *given])

    # Energy: T = T_r + T_c + T_a, orthogonal parts of x.
    along = Q @ x_minus
    admissible = x_minus - T(Q) @ along
    energies = energy_parts("minus", along, admissible, Q_r.shape[-2], la)
    # What acts besides moves both parts, the rows that are on only theirs: Q x⁺ = Q x⁻ + Q x_f + ν.
    pushed = Q @ x_f
    along = along + pushed + la.stack(nu, la.zeros(n_touched, 1, like=M))
    admissible = admissible + (x_f - T(Q) @ pushed)
    energies |= energy_parts("plus", along, admissible, Q_r.shape[-2], la)

    # Each impulse works on the mean of the velocities before and after (Thomson–Tait); the sum is T⁺ − T⁻.
    mean = v_minus + jump / 2
    applied_work = stack([T(applied) @ mean for applied in problem.applied])

    # Moving supports: with ũ⁻ = C'v⁻ + b⁺, ΔT = drive work − dissipated (+ work of f̄), contacts included.
    drive_work = -T(b_plus) @ impulse_on
    dissipated = -T(impulse_on) @ (asked + C_on @ v_minus + b_plus) / 2
    at_supports = no_rows
    if touched is not None:
        pushed, touching = touched.solved.impulse, problem.of_kind(Kind.CONTACT)
        at_supports = -pushed * stack([block.b_plus for block in touching])
        drive_work = drive_work + T(at_supports) @ la.ones(at_supports.shape[-2], 1, like=M)
        dissipated = dissipated - T(pushed) @ stack([block.C @ mean + block.b_plus for block in touching])

    return energies | {
        "v_minus": v_minus,
        "v_plus": v_plus,
        "impulse": impulse,
        "Lambda": stack([on.impulse(on.Q @ x_nonideal), others]),
        "u_minus": u_minus,
        "u_plus": u_plus,
        "ledger": booked(problem, impulse * (motion_minus + motion_plus) / 2, at_supports, touched, la),
        "applied_work": applied_work,
        "loss": -(T(x_f) @ (x_minus + x_f / 2) + T(nu) @ (on.Q @ x_free + nu / 2)),  # −Δxᵀ(x⁻ + Δx/2), Δx = x_f + Qᵀν
        "xi": ratio(energies["T_c_minus"], energies["T_minus"], la),
        "drive_work": drive_work,
        "dissipated": dissipated,
        "effective_mass": _effective_masses(problem, parts),
        "redundant": stack([1 - on.keep, *([] if touched is None else [touched.redundant]), idle]),
        "dof": _degrees_of_freedom(problem, parts),
        "apart": on.apart if touched is None else la.both(on.apart, touched.apart),
        "nullspace": on.nullspace(),
        "target": asked,
        # What the checks need.
        "pivots": factor.pivots,
        "M_diagonal": la.diagonal_of(M),
        "row_length2": _lengths2(problem, parts),
        "T_free": half_square(x_free, la),
        "b_minus": stack([block.b_minus for block in blocks]),
        "b_plus": stack([block.b_plus for block in blocks]),
        "kappa": stack([block.kappa for block in problem.of_kind(Kind.ELASTIC, Kind.CONTACT)]),
        "friction": stack([block.friction for block in problem.of_kind(Kind.CONTACT) if block.friction is not None]),
        "applied": f - nonideal,
        **_of_contacts(problem, touched, la),
    }


def _of_contacts(problem: Problem, touched: Touched | None, la: ModuleType) -> dict[str, Any]:
    """What contacts tell of themselves; paths, (contacts, 1), are 0 for laws that have none."""
    names = ("compression_work", "restitution_work", "friction_work", "compression_end", "slip_end", "slip_impulse")
    none = la.zeros(len(problem.of_kind(Kind.CONTACT)), 1, like=problem.M)
    parts = [none] * len(names) if touched is None or touched.solved.path is None else columns(touched.solved.path, la)
    nothing = la.zeros(0, 1, like=problem.M)
    told = dict.fromkeys(
        ("state", "undetermined", "several", "closing", "margin", "kink", "ways", "asked", "arrived"), nothing
    )
    told["one_of_many"] = la.zeros(1, 1, like=problem.M)
    told["shared"] = nothing
    miss = none
    if touched is not None:
        told |= {name: value for name, value in vars(touched.solved).items() if name in told and value is not None}
        told["one_of_many"] = la.where(told["one_of_many"] > 0, 1.0, 0.0)
        told["undetermined"] = touched.undetermined
        told["shared"] = touched.shared
        miss = touched.solved.miss * la.ones(none.shape[-2], 1, like=problem.M)
    told["residual"] = miss
    return dict(zip(names, parts, strict=True)) | {f"contact_{name}": value for name, value in told.items()}


def _given_impulse(block: Block, la: ModuleType) -> Any:
    return block.beta if block.kind == Kind.NONIDEAL else la.zeros(block.C.shape[-2], 1, like=block.C)


def _on_lengths2(parts: Decomposition, start: int) -> Any:
    """Of rows that are on and well apart, the squares of their lengths along Q from row `start` on; else nothing."""
    la, on = parts.la, parts.on
    if not on.independent:
        return la.zeros(0, 1, like=on.Q)
    R_T = la.transpose(on.R)
    return squares(la.transpose(la.rows(R_T, start, R_T.shape[-2])), la)


def _lengths2(problem: Problem, parts: Decomposition) -> Any:
    """c M⁻¹ cᵀ of each row, (k, 1)."""
    la = parts.la
    others = [block for block in problem.blocks if block.kind not in ON_KINDS or not parts.on.independent]
    return la.stack(_on_lengths2(parts, 0), *(squares(scaled(block.C, parts.factor, la), la) for block in others))


def _effective_masses(problem: Problem, parts: Decomposition) -> Any:
    """1 / (c Q M⁻¹ cᵀ) of each row: the mass that an impulse along it meets while the regular rows hold."""
    la = parts.la
    free2 = [_on_lengths2(parts, parts.n_regular)]
    for block in problem.blocks:
        if block.kind not in ON_KINDS or not parts.on.independent:
            Y = scaled(block.C, parts.factor, la)
            free2.append(squares(Y - (Y @ la.transpose(parts.Q_r)) @ parts.Q_r, la))
    square = la.stack(*free2)
    held = square <= RANK**2 * _lengths2(problem, parts)  # a row that the regular ones span
    return la.where(held, float("inf"), 1 / la.where(held, 1.0, square))


def _degrees_of_freedom(problem: Problem, parts: Decomposition) -> Any:
    """How many independent velocities there are before, during and after, (3, 1)."""
    la, n, keep = parts.la, problem.M.shape[-1], parts.on.keep
    before = [scaled(block.C, parts.factor, la) for block in problem.of_kind(*BEFORE_KINDS)]
    n_after = sum(block.C.shape[-2] for block in problem.of_kind(*AFTER_KINDS))
    kept = (span(before, n, la, like=problem.M).keep, keep, la.rows(keep, 0, n_after))  # elastic rows come last
    return la.stack(*(n - la.transpose(some) @ some for some in kept))
