"""The event as a problem over matrices: blocks of rows by kind, and what of it does not depend on velocities.

`la` is `unrolled` (CasADi scalars: single events, batches, derivatives) or `lapack` (raw arrays).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from jourdain.algebra.entries import scaled
from jourdain.algebra.span import Span, span
from jourdain.kinds import BEFORE_KINDS, ON_KINDS, Kind


@dataclass(frozen=True)
class Block:
    """The rows u = C v + b of one constraint of an event."""

    kind: Kind
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
    """One event: blocks sorted by `Kind` and generalized applied impulses, one column each."""

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

    def of_kind(self, *kinds: Kind) -> list[Block]:
        return [block for block in self.blocks if block.kind in kinds]


def target(block: Block, v_minus: Any, la: ModuleType) -> Any:
    """What u⁺ must be: 0, or −κ u⁻ for elastic rows, u⁻ before any applied impulse [WC 27]."""
    if block.kind != Kind.ELASTIC:
        return la.zeros(block.C.shape[-2], 1, like=block.C)
    return -block.kappa * (block.C @ v_minus + block.b_minus)


def prior_projection(problem: Problem) -> Problem:
    """The event whose v⁺ is v⁻ moved M-orthogonally onto the rows that are on before."""
    before = problem.of_kind(*BEFORE_KINDS)
    blocks = tuple(replace(block, kind=Kind.INERT, b_plus=block.b_minus, kappa=None, beta=None) for block in before)
    return Problem(problem.M, problem.v_minus, blocks, ())


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
    n_regular = sum(block.C.shape[-2] for block in problem.of_kind(Kind.REGULAR))
    return Decomposition(factor, on, n_regular, la)
