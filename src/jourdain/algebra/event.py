"""The event algebra: what a change of constraints does to the velocities, the impulses and the energy.

Written once. `la` is `unrolled` (CasADi scalars: single events, batches, derivatives) or `lapack` (raw arrays).
In x = L v (M = LᵀL) the kinetic energy is ½‖x‖² and an event is a projection:

    M (v⁺ − v⁻) = f̄ + C'ᵀλ̄      →   x⁺ = x⁻ + L⁻ᵀf̄ + Yᵀλ̄,   Y = C' L⁻¹
    C'v⁺ + b⁺ = target            →   Y x⁺ = target − b⁺

See README.md beside this file for the derivation and the signs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from jourdain.algebra.contacts import Touched, contact_impulses
from jourdain.algebra.lengths import scaled, squares
from jourdain.algebra.span import RANK, Span, span

ON_KINDS = ("regular", "live", "inert", "elastic")  # on during the event, in the order in which rank is decided
KINDS = (*ON_KINDS, "contact", "released", "nonideal")  # contacts are one-sided: the event decides
BEFORE_KINDS = ("regular", "live", "released")  # hold for the prior velocity
AFTER_KINDS = ("regular", "live", "inert")  # hold for the posterior velocity
IMPULSIVE_KINDS = ("live", "inert", "elastic")


@dataclass(frozen=True)
class Block:
    """The rows u = C v + b of one constraint of an event."""

    kind: str  # one of KINDS
    C: Any  # (k, n)
    b_minus: Any  # (k, 1)
    b_plus: Any  # (k, 1)
    kappa: Any = None  # (k, 1), restitution of elastic rows; (1, 1) of a contact
    beta: Any = None  # (k, 1), given impulse of nonideal rows
    friction: Any = None  # (1, 1), of a contact whose law has one
    law: Any = None  # of a contact: which of `laws`

    def changed(self, change: Callable[[Any], Any]) -> Block:
        """The same block with `change` applied to each of its arrays."""
        names = ("C", "b_minus", "b_plus", "kappa", "beta", "friction")
        parts = {name: getattr(self, name) for name in names}
        return replace(self, **{name: change(part) for name, part in parts.items() if part is not None})


@dataclass(frozen=True)
class Problem:
    """One event: blocks sorted by kind (see `KINDS`) and generalized applied impulses, one column each."""

    M: Any  # (n, n)
    v_minus: Any  # (n, 1)
    blocks: tuple[Block, ...]
    applied: tuple[Any, ...]  # of (n, 1)
    found: Any = None  # (f, 1), what the iteration of contacts in space finds; None: it is run with numbers

    def changed(self, change: Callable[[Any], Any]) -> Problem:
        """The same event with `change` applied to each of its arrays."""
        blocks = tuple(block.changed(change) for block in self.blocks)
        applied = tuple(change(f) for f in self.applied)
        return replace(self, M=change(self.M), v_minus=change(self.v_minus), blocks=blocks, applied=applied)

    def of_kind(self, *kinds: str) -> list[Block]:
        return [block for block in self.blocks if block.kind in kinds]


@dataclass(frozen=True)
class Decomposition:
    """M factored and the rows that are on during the event spanned: what does not depend on velocities."""

    factor: Any
    on: Span
    n_regular: int  # rows of the span that are regular; the others act impulsively
    la: ModuleType

    @property
    def Q_r(self) -> Any:
        """Orthonormal rows of the regular part."""
        return self.la.rows(self.on.Q, 0, self.n_regular)

    @property
    def Q_c(self) -> Any:
        """Orthonormal rows of what acts impulsively, orthogonal to the regular part."""
        return self.la.rows(self.on.Q, self.n_regular, self.on.Q.shape[-2])


def decompose(problem: Problem, la: ModuleType, independent: bool = False) -> Decomposition:
    """Factor M and span the rows that are on during the event."""
    factor = la.factor(problem.M)
    n = problem.M.shape[-1]
    on_blocks = problem.of_kind(*ON_KINDS)
    on = span([scaled(block.C, factor, la) for block in on_blocks], n, la, problem.M, independent)
    n_regular = sum(block.C.shape[-2] for block in problem.of_kind("regular"))
    return Decomposition(factor, on, n_regular, la)


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

    def stack(columns: list[Any]) -> Any:
        return la.stack(no_rows, *columns)

    # What is asked for: C'v⁺ + b⁺ = target.
    asked = stack([target(block, v_minus, la) for block in on_blocks])
    b_plus = stack([block.b_plus for block in on_blocks])
    C_on = la.stack(la.zeros(0, M.shape[-1], like=M), *(block.C for block in on_blocks))

    # What acts besides: f̄ = f̄_A + f̄_N.
    nonideal = sum((T(block.C) @ block.beta for block in problem.of_kind("nonideal")), none)
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
    n_contact = sum(block.C.shape[-2] for block in problem.of_kind("contact"))
    idle = la.rows(others, n_contact, others.shape[-2])  # rows that neither are on nor touch
    at_contacts = [] if touched is None else [touched.solved.impulse]
    given = [_given_impulse(block, la) for block in blocks if block.kind not in (*ON_KINDS, "contact")]
    impulse = stack([impulse_on, *at_contacts, *given])

    # Energy: T = T_r + T_c + T_a, orthogonal parts of x.
    along = Q @ x_minus
    admissible = x_minus - T(Q) @ along
    energies = _energies("minus", along, admissible, Q_r.shape[-2], la)
    # What acts besides moves both parts, the rows that are on only theirs: Q x⁺ = Q x⁻ + Q x_f + ν.
    pushed = Q @ x_f
    along = along + pushed + la.stack(nu, la.zeros(n_touched, 1, like=M))
    admissible = admissible + (x_f - T(Q) @ pushed)
    energies |= _energies("plus", along, admissible, Q_r.shape[-2], la)

    # Each impulse works on the mean of the velocities before and after (Thomson–Tait); the sum is T⁺ − T⁻.
    mean = v_minus + jump / 2
    applied_work = stack([T(applied) @ mean for applied in problem.applied])

    # Moving supports: with ũ⁻ = C'v⁻ + b⁺, ΔT = drive work − dissipated (+ work of f̄), contacts included.
    drive_work = -T(b_plus) @ impulse_on
    dissipated = -T(impulse_on) @ (asked + C_on @ v_minus + b_plus) / 2
    at_supports = no_rows
    if touched is not None:
        pushed, touching = touched.solved.impulse, problem.of_kind("contact")
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
        "ledger": _booked(problem, impulse * (motion_minus + motion_plus) / 2, at_supports, touched, la),
        "applied_work": applied_work,
        "loss": -(T(x_f) @ (x_minus + x_f / 2) + T(nu) @ (on.Q @ x_free + nu / 2)),  # −Δxᵀ(x⁻ + Δx/2), Δx = x_f + Qᵀν
        "xi": _ratio(energies["T_c_minus"], energies["T_minus"], la),
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
        "kappa": stack([block.kappa for block in problem.of_kind("elastic", "contact")]),
        "friction": stack([block.friction for block in problem.of_kind("contact") if block.friction is not None]),
        "applied": f - nonideal,
        **_of_contacts(problem, touched, la),
    }


def _booked(problem: Problem, work: Any, at_supports: Any, touched: Touched | None, la: ModuleType) -> Any:
    """The ledger: work on the mean velocity; of contacts that follow a path of their own, along that path.

    A path tells the work relative to the support; what a support that moves does comes to it.
    """
    if touched is None or touched.solved.path is None:
        return work
    start = sum(block.C.shape[-2] for block in problem.of_kind(*ON_KINDS))
    compression, restitution, friction, *_ = _columns(touched.solved.path, la)
    k = touched.solved.impulse.shape[-2]
    after = la.rows(work, start + k, work.shape[-2])
    # Friction has one work: in space it is booked to the first tangent.
    along_path = la.stack(compression + restitution, friction, la.zeros(k - 2, 1, like=work))
    return la.stack(la.rows(work, 0, start), along_path + at_supports, after)


def _of_contacts(problem: Problem, touched: Touched | None, la: ModuleType) -> dict[str, Any]:
    """What contacts tell of themselves; paths, (contacts, 1), are 0 for laws that have none."""
    names = ("compression_work", "restitution_work", "friction_work", "compression_end", "slip_end", "slip_impulse")
    none = la.zeros(len(problem.of_kind("contact")), 1, like=problem.M)
    parts = [none] * len(names) if touched is None or touched.solved.path is None else _columns(touched.solved.path, la)
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


def _columns(X: Any, la: ModuleType) -> list[Any]:
    rows = la.transpose(X)
    return [la.transpose(la.rows(rows, i, i + 1)) for i in range(rows.shape[-2])]


def prior_projection(problem: Problem) -> Problem:
    """The event whose v⁺ is v⁻ moved M-orthogonally onto the rows that are on before."""
    before = problem.of_kind(*BEFORE_KINDS)
    blocks = tuple(replace(block, kind="inert", b_plus=block.b_minus, kappa=None, beta=None) for block in before)
    return Problem(problem.M, problem.v_minus, blocks, ())


def _energies(side: str, along: Any, admissible: Any, n_regular: int, la: ModuleType) -> dict[str, Any]:
    """T and its parts; `along`: x along the rows of Q, the regular ones first."""
    T_r = half_square(la.rows(along, 0, n_regular), la)
    T_c = half_square(la.rows(along, n_regular, along.shape[-2]), la)
    T_a = half_square(admissible, la)
    return {f"T_{side}": T_r + T_c + T_a, f"T_c_{side}": T_c, f"T_a_{side}": T_a, f"T_r_{side}": T_r}


def half_square(x: Any, la: ModuleType) -> Any:
    """½‖x‖², (1, 1)."""
    return la.transpose(x) @ x / 2


def _ratio(part: Any, whole: Any, la: ModuleType) -> Any:
    """The quotient, NaN where the whole is 0."""
    return la.where(whole > 0, part / la.where(whole > 0, whole, 1.0), float("nan"))


def target(block: Block, v_minus: Any, la: ModuleType) -> Any:
    """What u⁺ must be: 0, or −κ u⁻ for elastic rows, u⁻ before any applied impulse [WC 27]."""
    if block.kind != "elastic":
        return la.zeros(block.C.shape[-2], 1, like=block.C)
    return -block.kappa * (block.C @ v_minus + block.b_minus)


def _given_impulse(block: Block, la: ModuleType) -> Any:
    return block.beta if block.kind == "nonideal" else la.zeros(block.C.shape[-2], 1, like=block.C)


def _on_lengths2(parts: Decomposition, start: int) -> Any:
    """Of rows that are on and well apart, the squares of their lengths along Q from row `start` on; else nothing."""
    la, on = parts.la, parts.on
    if not on.independent:
        return la.zeros(0, 1, like=on.Q)
    columns = la.transpose(on.R)
    return squares(la.transpose(la.rows(columns, start, columns.shape[-2])), la)


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
