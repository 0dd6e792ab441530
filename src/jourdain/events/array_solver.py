"""How events of raw arrays are solved: small ones in large batches compiled, others by LAPACK with the same checks."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.algebra import lapack, unrolled
from jourdain.algebra.checks import DOUBTFUL_MASS, finite, rounding_of_rows
from jourdain.algebra.complete import completed
from jourdain.algebra.contacts.contacts import iteration_of
from jourdain.algebra.entries import lengths
from jourdain.algebra.outcome import outcome
from jourdain.algebra.problem import Block, Problem, prior_projection, target, with_regular_mass
from jourdain.algebra.record import KEPT, Outcome
from jourdain.algebra.reorder import outcome_in_any_order
from jourdain.compute.evaluate import Evaluator, Values
from jourdain.compute.fallback import Samples, computed_again, promising
from jourdain.errors import NotPositiveDefinite, Status
from jourdain.inputs import Array, Flags, Statuses
from jourdain.kinds import ON_KINDS, Kind
from jourdain.laws.together import n_ways

# An unrolled event compiles in a second up to this n, which pays from this many events on.
LARGEST_UNROLLED = 16
UNROLLED_FROM = 4096
MOST_WAYS_UNROLLED = 16  # in which contacts can hold: each is written out
SKEW = 1e-9  # of √(M_ii M_jj): M_ij and M_ji that differ by more are not rounding


def solved(problem: Problem[Array], checked: bool) -> tuple[Mapping[str, Array], Statuses]:
    """What an `Outcome` keeps of events with batch axes, NaN where one has no numbers, and the status `(*batch,)`."""
    if _compiles(problem):
        found = _unrolled(problem, checked)
        if found is not None:
            return found
    values, status = by_lapack(problem, checked)
    return _without_failed(values, status), status


def _compiles(problem: Problem[Array]) -> bool:
    """Whether it pays to compile the event: it is small, and there are many."""
    n, contacts = problem.M.shape[-1], problem.of_kind(Kind.CONTACT)
    return (
        math.prod(problem.M.shape[:-2]) >= UNROLLED_FROM
        and n <= LARGEST_UNROLLED
        and problem.n_rows(*ON_KINDS) <= n  # more rows than velocities are never all independent
        and iteration_of(contacts) is None
        and n_ways(block.law for block in contacts if block.law is not None) <= MOST_WAYS_UNROLLED
        and all(isinstance(part, Hashable) for block in contacts if block.law is not None for part in block.law.form())
    )


def by_lapack(problem: Problem[Array], checked: bool) -> tuple[Outcome[Array], Statuses]:
    """Every quantity, also of events that fail, and the status `(*batch,)`."""
    sound = _sound(problem)
    if not sound.all():
        problem = _neutral(problem, ~sound)
    with np.errstate(all="ignore"):  # what is not finite is refused
        skew = _asymmetric(problem.M)
        solved, short = _definite(problem)
        values = outcome_in_any_order(solved)
        if short.any():
            values = _without_parts(values, problem, short)
        values = replace(values, u_rounding=rounding_of_rows(problem, lapack))
        contacts = _contact_places(problem)
        values, found, _ = completed(problem, values, lapack, contacts, checked, sound[..., None, None])
        status = np.array(found[..., 0, 0] % DOUBTFUL_MASS).astype(np.int8)
        bad = skew if solved is problem else skew | ~lapack.positive_definite(solved.M)
        status[bad & sound] = Status.NOT_POSITIVE_DEFINITE
        return values, status


def _without_failed(values: Outcome[Array], status: Statuses) -> dict[str, Array]:
    """What is kept, NaN in all numbers of samples that have none."""
    failed = status > Status.ENERGY_CREATED
    kept = values.columns(KEPT)
    return {name: np.where(failed[..., None, None], np.nan, kept[name]) for name in kept} if failed.any() else kept


def _unrolled(problem: Problem[Array], checked: bool) -> tuple[Values, Statuses] | None:
    """By a compiled kernel where rows are well conditioned and all is right, else by LAPACK; None if few are."""
    batch = problem.M.shape[:-2]
    columns = [
        array[..., i, j] for array in arrays(problem) for i in range(array.shape[-2]) for j in range(array.shape[-1])
    ]
    forms = tuple(Form.of(block) for block in problem.blocks)
    event = _unrolled_event(problem.M.shape[-1], forms, len(problem.applied), checked)
    if not promising(event, columns, batch):
        return None

    def robust(samples: Samples) -> tuple[dict[str, Array], Statuses]:
        place = np.unravel_index(samples, batch)
        values, status = by_lapack(problem.changed(lambda array: array[place]), checked)
        return _without_failed(values, status), status

    values, (status,) = event.over(columns, batch)
    return computed_again(values, status, robust)


@dataclass(frozen=True)
class Form:
    """What a block is apart from its numbers: blocks of one form share a compiled event."""

    key: tuple[Any, ...]
    block: Block[SX] = field(compare=False)  # over symbols

    @classmethod
    def of(cls, block: Block[Array]) -> Form:
        key = (block.kind, block.n_rows, block.law and block.law.form(), tuple(block.numbers))
        return cls(key, block.changed(lambda array: SX.sym("x", *array.shape[-2:])))


@lru_cache(maxsize=64)
def _unrolled_event(n: int, forms: tuple[Form, ...], n_applied: int, checked: bool) -> Evaluator:
    """Every quantity of an event of this form, over scalars; flagged where something is to be looked at again."""
    applied = tuple(SX.sym("f", n) for _ in range(n_applied))
    given = Problem(SX.sym("M", n, n), SX.sym("v", n), tuple(form.block for form in forms), applied)
    # Rows of M are used from the diagonal to the left; that the others are the same is checked below.
    problem = replace(given, M=ca.tril2symm(ca.tril(given.M)))
    inputs = ca.vertcat(*(ca.vec(array.T) for array in arrays(given)))  # row by row
    sound = finite(inputs, unrolled)
    for i in range(n):
        for j in range(i):
            difference = given.M[i, j] - given.M[j, i]
            sound = unrolled.both(sound, difference * difference <= SKEW**2 * (given.M[i, i] * given.M[j, j]))
    values = outcome(problem, unrolled, independent=True)
    places = _contact_places(problem)
    values, flags, _ = completed(problem, values, unrolled, places, checked, sound, independent=True)
    return Evaluator([inputs], values.columns(KEPT), flags, constants_once=True)


def arrays(problem: Problem) -> list[Any]:
    """All arrays of an event, in a fixed order."""
    blocks = [array for block in problem.blocks for array in block.arrays().values()]
    return [problem.M, problem.v_minus, *problem.applied, *blocks]


def projected(problem: Problem[Array]) -> Array:
    """v⁻ moved onto the rows that are on before, M-orthogonally; with the augmented M where M is semidefinite.

    NaN where something is not finite.
    """
    sound = _sound(problem)
    projection = prior_projection(problem if sound.all() else _neutral(problem, ~sound))
    with np.errstate(all="ignore"):
        moved = outcome(_definite(projection)[0], lapack).v_plus
    return np.where(sound[..., None, None], moved, np.nan)


def _sound(problem: Problem[Array]) -> Flags:
    """Which samples have finite numbers only, `(*batch,)`."""
    return np.asarray(np.all([np.isfinite(array).all(axis=(-2, -1)) for array in arrays(problem)], axis=0))


def _contact_places(problem: Problem) -> list[slice]:
    """Where the rows of each contact stand in the stack."""
    places = zip(problem.blocks, problem.stacked_places(), strict=True)
    return [place for block, place in places if block.kind == Kind.CONTACT]


def _neutral(problem: Problem[Array], bad: Flags) -> Problem[Array]:
    """The samples in `bad` replaced by something harmless; they are refused afterwards."""
    mask = bad[..., None, None]
    neutral = problem.changed(lambda array: np.where(mask, 0.0, array))
    return replace(neutral, M=np.where(mask, np.eye(problem.M.shape[-1]), problem.M))


def _definite(problem: Problem[Array]) -> tuple[Problem[Array], Flags]:
    """The same event with a positive definite M where the rows can make it so; and where the regular ones do not."""
    short = ~lapack.positive_definite(problem.M)
    if not short.any():
        return problem, short
    semidefinite = short & (lapack.smallest_eigenvalue(problem.M) >= -lapack.SEMIDEFINITE)
    if problem.n_rows(Kind.REGULAR):
        enough = semidefinite & lapack.positive_definite(with_regular_mass(problem, lapack).M)
        problem = with_regular_mass(problem, lapack, enough[..., None, None])
        short, semidefinite = short & ~enough, semidefinite & ~enough
    return (_augmented(problem, semidefinite) if short.any() else problem), short


def _augmented(problem: Problem[Array], semidefinite: Flags) -> Problem[Array]:
    """The same event with a positive definite M, in the samples where all rows that are on are needed for that.

    C'v⁺ = w is asked for anyway, so C'ᵀS(C'v⁺ − w) may be added to the momentum balance: M + C'ᵀSC' is positive
    definite iff ker M ∩ ker C' = 0, and λ̄ and v⁺ stay the same.
    """
    on = [block for block in problem.blocks if block.kind in ON_KINDS]
    add, shift = np.zeros_like(problem.M), np.zeros_like(problem.v_minus)
    trace = np.trace(problem.M, axis1=-2, axis2=-1)[..., None, None]
    mass = np.where(trace > 0, trace, 1.0)
    for block in on:
        length = lengths(block.C, lapack)
        scale = 1 / np.where(length > 0, length, 1.0)
        C, missing = block.C * scale, target(block, problem.v_minus, lapack) - block.b_plus - block.C @ problem.v_minus
        add = add + mass * lapack.transpose(C) @ C
        shift = shift + mass * lapack.transpose(C) @ (scale * missing)
    mask = semidefinite[..., None, None]
    M = np.where(mask, problem.M + add, problem.M)
    return replace(problem, M=M, applied=(*problem.applied, np.where(mask, shift, 0.0)))


def _without_parts(values: Outcome[Array], problem: Problem[Array], massless: Flags) -> Outcome[Array]:
    """Energies with the true M; the parts T_c, T_a, T_r do not exist where M is semidefinite."""
    mask = massless[..., None, None]
    applied_work = values.applied_work[..., :-1, :]  # the last entry is that of the added terms
    # Not the sum of the works: rows may take most of an impulse.
    loss = -lapack.transpose(values.v_plus - values.v_minus) @ problem.M @ (values.v_plus + values.v_minus) / 2
    parts = ("T_c_minus", "T_a_minus", "T_r_minus", "T_c_plus", "T_a_plus", "T_r_plus", "xi", "effective_mass")

    def energy(v: Array, T: Array) -> Array:
        return np.where(mask, lapack.transpose(v) @ problem.M @ v / 2, T)

    return replace(
        values,
        applied_work=applied_work,
        loss=np.where(mask, loss, values.loss),
        applied=sum(problem.applied, np.zeros_like(problem.v_minus)),
        T_minus=energy(values.v_minus, values.T_minus),
        T_plus=energy(values.v_plus, values.T_plus),
        **{name: np.where(mask, np.nan, part) for name, part in values.columns(parts).items()},
    )


def _asymmetric(M: Array) -> Flags:
    """Which samples have an M that is not symmetric, `(*batch,)`; without batch axes it raises."""
    scale = np.sqrt(np.abs(np.diagonal(M, axis1=-2, axis2=-1)))
    skew = np.abs(M - lapack.transpose(M)) > SKEW * scale[..., :, None] * scale[..., None, :]
    if skew.any() and M.ndim == 2:
        i, j = np.argwhere(skew)[0]
        raise NotPositiveDefinite(f"M is not symmetric: M[{i}, {j}] = {M[i, j]:g} but M[{j}, {i}] = {M[j, i]:g}.")
    return np.asarray(skew.any(axis=(-2, -1)))
