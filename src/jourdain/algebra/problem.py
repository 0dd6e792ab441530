"""The event as a problem over matrices: blocks of rows by kind, and what of it does not depend on velocities.

`la` is `unrolled` (CasADi scalars: single events, batches, derivatives) or `lapack` (raw arrays).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Generic

from jourdain.algebra.entries import scaled
from jourdain.algebra.linear import Factor, LinearAlgebra, X
from jourdain.algebra.span import Span, span
from jourdain.kinds import BEFORE_KINDS, ON_KINDS, Kind

if TYPE_CHECKING:
    from jourdain.algebra.contacts.contacts import ContactLaw


@dataclass(frozen=True)
class Block(Generic[X]):
    """The rows u = C v + b of one constraint of an event."""

    kind: Kind
    C: X  # (k, n)
    b_minus: X  # (k, 1)
    b_plus: X  # (k, 1)
    kappa: X | None = None  # (k, 1), restitution of elastic rows
    beta: X | None = None  # (k, 1), given impulse of nonideal rows
    law: ContactLaw | None = None  # of a one-sided contact
    numbers: Mapping[str, X] = field(default_factory=dict)  # of its law, (1, 1) each: "restitution", "friction", …
    S: X | None = None  # (k, 1), of regular rows: Cᵀ diag(S) C was added to M, see `with_regular_mass`

    @property
    def n_rows(self) -> int:
        return int(self.C.shape[-2])  # type: ignore[attr-defined]

    def arrays(self) -> dict[str, X]:
        """All of its arrays, by name."""
        names = ("C", "b_minus", "b_plus", "kappa", "beta", "S")
        parts = {name: getattr(self, name) for name in names}
        return {name: part for name, part in parts.items() if part is not None} | dict(self.numbers)

    def changed(self, change: Callable[[X], Any]) -> Block[Any]:
        """The same block with `change` applied to each of its arrays."""
        changed = {name: change(part) for name, part in self.arrays().items()}
        numbers = {name: changed.pop(name) for name in self.numbers}
        return replace(self, numbers=numbers, **changed)


@dataclass(frozen=True)
class Problem(Generic[X]):
    """One event: blocks sorted by `Kind` and generalized applied impulses, one column each."""

    M: X  # (n, n)
    v_minus: X  # (n, 1)
    blocks: tuple[Block[X], ...]
    applied: tuple[X, ...]  # of (n, 1)
    found: X | None = None  # (f, 1), what the iteration of contacts in space finds; None: it is run with numbers
    dv: X | None = None  # (n, 1), v⁺ − v⁻ where it is known with more digits, see `refinement`
    mass_matrix: X | None = None  # (n, n), where regular rows add to M, see `with_regular_mass`; None: it is M

    def changed(self, change: Callable[[X], Any]) -> Problem[Any]:
        """The same event with `change` applied to each of its arrays."""
        blocks = tuple(block.changed(change) for block in self.blocks)
        applied = tuple(change(f) for f in self.applied)
        M, v_minus = change(self.M), change(self.v_minus)
        itself = None if self.mass_matrix is None else change(self.mass_matrix)
        return replace(self, M=M, v_minus=v_minus, blocks=blocks, applied=applied, mass_matrix=itself)

    def of_kind(self, *kinds: Kind) -> list[Block[X]]:
        return [block for block in self.blocks if block.kind in kinds]

    def n_rows(self, *kinds: Kind) -> int:
        return sum(block.n_rows for block in self.of_kind(*kinds))

    def stacked_places(self) -> list[slice]:
        """Where the rows of each block stand in the stack."""
        stops = list(accumulate(block.n_rows for block in self.blocks))
        return [slice(start, stop) for start, stop in zip([0, *stops], stops, strict=False)]


def target(block: Block, v_minus: Any, la: LinearAlgebra) -> Any:
    """What u⁺ must be: 0, or −κ u⁻ for elastic rows, u⁻ before any applied impulse [WC 27]."""
    if block.kappa is None:
        return la.zeros(block.C.shape[-2], 1, like=block.C)
    return -block.kappa * (block.C @ v_minus + block.b_minus)


def prior_projection(problem: Problem) -> Problem:
    """The event whose v⁺ is v⁻ moved M-orthogonally onto the rows that are on before."""
    before = problem.of_kind(*BEFORE_KINDS)
    blocks = tuple(
        replace(block, kind=Kind.INERT, b_plus=block.b_minus, kappa=None, beta=None, S=None) for block in before
    )
    return Problem(problem.M, problem.v_minus, blocks, ())


def with_regular_mass(problem: Problem, la: LinearAlgebra, where: Any = True) -> Problem:
    """The same event with M + Cᵀ S C over the regular rows C, which is definite where M is on what these rows admit.

    C v⁺ = C v⁻ = −b, so v⁺, the impulses, T_c and T_a are those of M. Energies follow from M itself; `added_impulse`
    is what to take off the impulses where v⁻ is not on these rows. S is the mass that a row meets in the velocities
    it moves; those without a mass count as the whole mechanism. `where`: in which samples; elsewhere S is 0.
    """
    mass, ones = la.diagonal_of(problem.M), la.ones(problem.M.shape[-1], 1, like=problem.M)
    whole = la.transpose(ones) @ mass
    whole = la.where(whole > 0, whole, 1.0)
    mobility = la.where(mass > 0, 1 / la.where(mass > 0, mass, 1.0), ones @ (1 / whole))
    M, blocks = problem.M, []
    for block in problem.blocks:
        if block.kind == Kind.REGULAR:
            met = (block.C * block.C) @ mobility
            S = la.where(la.both(met > 0, where), 1 / la.where(met > 0, met, 1.0), 0.0)
            M, block = M + la.transpose(block.C) @ la.scale_rows(S, block.C), replace(block, S=S)
        blocks.append(block)
    return replace(problem, M=M, blocks=tuple(blocks), mass_matrix=problem.M)


def added_impulse(problem: Problem, dv: Any, la: LinearAlgebra) -> Any:
    """By how much the impulses of rows that are on are more than those of the event without; (rows, 1)."""
    parts = [
        la.zeros(block.n_rows, 1, like=problem.M) if block.S is None else la.scale_rows(block.S, block.C @ dv)
        for block in problem.of_kind(*ON_KINDS)
    ]
    return la.stack(la.zeros(0, 1, like=problem.M), *parts)


@dataclass(frozen=True)
class Decomposition:
    """M factored and the rows that are on during the event spanned: what does not depend on velocities."""

    factor: Factor
    on: Span
    n_regular: int  # rows of the span that are regular; the others act impulsively
    la: LinearAlgebra

    @property
    def Q_r(self) -> Any:
        """Orthonormal rows of the regular part."""
        return self.la.rows(self.on.Q, 0, self.n_regular)

    @property
    def Q_c(self) -> Any:
        """Orthonormal rows of what acts impulsively, orthogonal to the regular part."""
        return self.la.rows(self.on.Q, self.n_regular, self.on.Q.shape[-2])


def decompose(problem: Problem, la: LinearAlgebra, independent: bool = False, any_mass: bool = False) -> Decomposition:
    """Factor M and span the rows that are on during the event.

    `any_mass`: rows that are independent in the velocities are kept also where light masses make them parallel.
    """
    factor = la.factor(problem.M)
    n = problem.M.shape[-1]
    on_blocks = problem.of_kind(*ON_KINDS)
    rows = [block.C for block in on_blocks]
    if any_mass:
        on = spanned_at_any_mass(rows, factor, problem.M, la)
    else:
        on = span([scaled(C, factor, la) for C in rows], n, la, problem.M, independent, any_size=True)
    return Decomposition(factor, on, problem.n_rows(Kind.REGULAR), la)


def spanned_at_any_mass(rows: Sequence[Any], factor: Factor, M: Any, la: LinearAlgebra) -> Span:
    """What rows C_s span; those that are independent in the velocities are kept."""
    n = M.shape[-1]
    clear = span(rows, n, la, M, any_size=True).keep
    return span([scaled(C, factor, la) for C in rows], n, la, M, any_size=True, clear=clear)
