"""Light velocities between rows that hold heavy ones: where they lose digits, and how they keep them.

Rows that share light velocities and differ in heavy ones are nearly parallel in the metric of M: at a ratio r of masses
what is left of one is 1/√r of it, and its direction is known to ε√r. That is enough for energies, but light velocities
are √r times what they are in x = L v, and ε r of them is noise. With residuals that are not rounded,

    g = f̄ + C'ᵀλ̄ − M dv,   ρ = target − b⁺ − C'(v⁻ + dv),   dv ← dv + L⁻¹((I − QᵀQ) L⁻ᵀg + Qᵀ R⁻¹ρ),

each step takes out all of the error but ε√r of it. At still larger ratios, or where the rows share much of what they
hold, `span` drops a row that is independent in the velocities themselves; the refined solution keeps it. The same gives
back what is lost where rows take nearly all of a given impulse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from jourdain.algebra import lapack
from jourdain.algebra.contacts.response import ContactResponse
from jourdain.algebra.entries import larger
from jourdain.algebra.linear import LinearAlgebra
from jourdain.algebra.problem import Decomposition, Problem, spanned_at_any_mass
from jourdain.algebra.span import RANK, Span, span
from jourdain.inputs import Array, Flags
from jourdain.kinds import ON_KINDS, Kind

DIGITS = 1e-9  # of the velocities: they are known this well
BLURS = DIGITS / 5  # what loses more is refined
DIGITS_OF_DERIVATIVES = 1e-6  # which are not refined
UNREFINED_PIVOT = 1e-3  # of the diagonal; above it velocities need no refinement
DROPPED = 3.0  # how `blurred` says that a row is lost for good
TAKEN = 1e10  # times the energy before and after: impulses that would give more, without rows, are refined
SETTLED = 1e-10  # of the velocities: what the last step may change
N_STEPS = 3  # the second one does up to r = 1e14, the third up to 1e20

Product = tuple[Array, Array]  # (A, x) stands for A x


def blurred(
    problem: Problem, parts: Decomposition, response: ContactResponse | None, la: LinearAlgebra, refine: bool = False
) -> Any:
    """How much noise in the directions of rows may cost the lightest velocity, (1, 1).

    0: at most BLURS. 1: more. 2: more than DIGITS_OF_DERIVATIVES, or a row was dropped that is independent in the
    velocities. 3: one was dropped although the event was solved so that such rows are kept (`refine`).
    """
    lost, lightest = _lost(problem.M, parts, response, la), la.smallest(parts.factor.pivots)
    hidden = la.where(_hidden(problem, parts.on, la), 1.0, 0.0)
    severe = la.either(lost > DIGITS_OF_DERIVATIVES**2 * lightest, la.transpose(hidden) @ hidden > 0)
    blur = la.where(severe, 2.0, la.where(lost > BLURS**2 * lightest, 1.0, 0.0))
    if not refine:
        return blur
    clear = span([block.C for block in problem.of_kind(*ON_KINDS)], problem.M.shape[-1], la, problem.M, any_size=True)
    n_clear, n_kept = (la.transpose(keep) @ keep for keep in (clear.keep, parts.on.keep))  # which ones may differ
    return la.where(n_clear > n_kept, DROPPED, blur)


def _hidden(problem: Problem, on: Span, la: LinearAlgebra) -> Any:
    """Whether a row was dropped, y_D = F y_S, though c_D − F c_S is more than rounding, row by row."""
    n = problem.M.shape[-1]
    units = la.scale_rows(on.scale, la.stack(la.zeros(0, n, like=on.Q), *(b.C for b in problem.of_kind(*ON_KINDS))))
    ones = la.ones(n, 1, like=on.Q)
    return n * (la.absolute(la.transpose(on.N) @ units) @ ones) > RANK * (la.absolute(units) @ ones)


def overpowered(M: Any, parts: Decomposition, f: Any, x_f: Any, energy: Any, la: LinearAlgebra) -> Any:
    """Whether rows take so much of impulses that their rounding shows in the lightest velocity that is left, (1, 1).

    f̄: the given ones, which contacts may take; x_f = L⁻ᵀ of these and of what contacts do, which rows may take.
    """
    x_given = parts.factor.solve_transposed(f)
    square = larger(la.transpose(x_given) @ x_given, la.transpose(x_f) @ x_f, la)
    return square * la.largest(la.diagonal_of(M)) > TAKEN * energy * la.smallest(parts.factor.pivots)


def sharp(M: Any, parts: Decomposition, response: ContactResponse | None, la: LinearAlgebra) -> Any:
    """Whether nothing is `blurred`, of rows that are well apart. The sum of 1/pivots costs less than comparing each."""
    every = la.transpose(la.ones(M.shape[-1], 1, like=M)) @ parts.factor.inverse_pivots
    return _lost(M, parts, response, la) * every <= BLURS**2


def _lost(M: Any, parts: Decomposition, response: ContactResponse | None, la: LinearAlgebra) -> Any:
    """The noise, squared, times the masses: over a pivot of M, what a velocity loses, squared."""
    noise2 = parts.on.noise * parts.on.noise + (0.0 if response is None else response.noise2)
    return noise2 * (la.transpose(la.ones(M.shape[-1], 1, like=M)) @ la.diagonal_of(M))


def refined(
    dv: Array,
    impulse: Array,
    problem: Problem[Array],
    parts: Decomposition,
    pushes: Sequence[Product],
    C: Array,
    target: Array,
) -> Array:
    """v⁺ − v⁻, refined. `impulse`: λ̄ of the rows C that are on; `pushes`: what is not given; `target`: C v⁺."""
    moves, _ = _sums(dv, impulse, problem, parts, pushes, C, target)
    return np.asarray(sum(reversed(moves)))  # the small ones first


def _sums(
    dv: Array,
    impulse: Array,
    problem: Problem[Array],
    parts: Decomposition,
    pushes: Sequence[Product],
    C: Array,
    target: Array,
) -> tuple[list[Array], list[Array]]:
    """The same and λ̄, refined: parts whose sums have more digits than a number has."""
    on, factor, T = parts.on, parts.factor, lapack.transpose
    one = np.ones((1, 1))
    given = [*pushes, *((applied, one) for applied in problem.applied)]  # their sum would be rounded
    nonideal = problem.of_kind(Kind.NONIDEAL)
    given += [(T(block.C), block.beta) for block in nonideal if block.beta is not None]
    moves, impulses = [dv], [impulse]
    for _ in range(N_STEPS):
        acting = [*given, *((T(C), part) for part in impulses)]
        g = lapack.exact_sum(*acting, *((problem.M, -move) for move in moves))
        rho = lapack.exact_sum((target, one), (C, -problem.v_minus), *((C, -move) for move in moves))
        x_g, along = factor.solve_transposed(g), _met_best(on, rho)
        step = factor.solve(x_g - T(on.Q) @ (on.Q @ x_g - along))
        moves.append(np.where(np.isfinite(step).all(axis=-2, keepdims=True), step, 0.0))
        push = on.impulse(along - on.Q @ x_g)
        impulses.append(np.where(np.isfinite(push).all(axis=-2, keepdims=True), push, 0.0))
    speeds = [moves[-1], problem.v_minus, problem.v_minus + sum(reversed(moves))]
    speeds += [factor.solve(factor.solve_transposed(A @ x)) for A, x in (*given, (T(C), impulse))]
    settled = _small(speeds) & _small([factor.apply(v) for v in speeds])
    moves[-1], impulses[-1] = (np.where(settled, found[-1], np.nan) for found in (moves, impulses))
    return moves, impulses


def _small(speeds: Sequence[Array]) -> Flags:
    """Whether the first of (step, v⁻, v⁺, what impulses alone would do, …) is next to nothing, (1, 1)."""
    step, before, after, *driven = (np.linalg.norm(v, axis=-2, keepdims=True) for v in speeds)
    return np.asarray(step <= SETTLED * (before + after + SETTLED * sum(driven)), bool)


def _met_best(on: Span, r: Array) -> Array:
    """The coordinates along Q that meet all rows best, those that were dropped too.

    Of rows that are redundant the last are dropped; where the first are nearly parallel these know more. Where none is
    dropped, R is solved with as it is: what is left of a row may be shorter than RANK beside light masses.
    """
    R, r = lapack.stack(on.units @ lapack.transpose(on.Q)), lapack.scale_rows(on.scale, r)
    R, r = (np.where(np.isfinite(part).all(axis=(-2, -1), keepdims=True), part, 0.0) for part in (R, r))
    best = np.asarray(np.linalg.pinv(R, rcond=RANK / 10) @ r)
    return np.where(lapack.every(on.keep > 0), lapack.scale_rows(on.keep, on.triangle @ r), best)


def refined_with_contacts(
    dv: Array,
    impulse: Array,
    problem: Problem[Array],
    parts: Decomposition,
    response: ContactResponse[Array],
    C: Array,
    target: Array,
) -> Array:
    """The same for contacts: their rows that are held are rows that are on; impulses along others are given.

    Where a law has two phases the first is refined before, since its impulses may be large and nearly cancel.
    """
    solution, touching, T = response.solution, problem.of_kind(Kind.CONTACT), lapack.transpose
    assert solution.u_plus is not None
    assert solution.held is not None
    b_plus = lapack.stack(*(block.b_plus for block in touching))
    C_contacts, n_on = lapack.stack(*(block.C for block in touching)), target.shape[-2]

    def holding(held: Array, u_plus: Array) -> tuple[Decomposition, Array, Array]:
        """(parts, the rows, what these come to)."""
        rows = [C, held * C_contacts]
        on = spanned_at_any_mass(rows, parts.factor, problem.M, lapack)
        return replace(parts, on=on), lapack.stack(*rows), lapack.stack(target, held * (u_plus - b_plus))

    last, pushes = solution.impulse, list[Product]()
    if solution.phases is not None:
        last, compression = solution.phases.again, solution.phases.compression
        stopped = np.where(compression > 0, 1.0, 0.0)
        at_rest, rows, wanted = holding(stopped, 0 * compression)
        _, sums = _sums(0 * dv, lapack.stack(0 * target, compression), problem, at_rest, [], rows, wanted)
        for part in sums:
            impulses = stopped * lapack.rows(part, n_on, part.shape[-2])
            back, rounded = lapack.exact_product(impulses, solution.phases.given_back)
            pushes += [(T(C_contacts), one) for one in (impulses, back, rounded)]
    pushes.append((T(C_contacts), (1 - solution.held) * last))
    in_the_end, rows, wanted = holding(solution.held, solution.u_plus)
    return refined(dv, lapack.stack(impulse, solution.held * last), problem, in_the_end, pushes, rows, wanted)
