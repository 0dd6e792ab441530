"""Events of raw arrays, for people who have their own M and rows.

Small events in large batches are unrolled and compiled; LAPACK does the others, and the lanes that need another look.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any, TypeAlias

import casadi as ca
import numpy as np
from casadi import SX
from numpy.typing import ArrayLike, NDArray

from jourdain.algebra import lapack, unrolled
from jourdain.algebra.checks import DOUBTFUL_MASS, finite, verdict
from jourdain.algebra.contacts.iteration import Iteration
from jourdain.algebra.contacts.required_friction import required_friction
from jourdain.algebra.energy import energy_created
from jourdain.algebra.outcome import outcome
from jourdain.algebra.problem import Block, Problem, prior_projection, target
from jourdain.algebra.reorder import outcome_in_any_order
from jourdain.compute.evaluate import Evaluator, Values
from jourdain.data.layout import ConstraintLayout, Layout
from jourdain.errors import BadEvent, NotPositiveDefinite, ShapeError, Status
from jourdain.events.refusals import refusal
from jourdain.events.solver import promising
from jourdain.events.transition import Transition
from jourdain.inputs import Array, number
from jourdain.kinds import IMPULSIVE_KINDS, ON_KINDS, Kind
from jourdain.laws import Coulomb, Law, MoreauCoulomb
from jourdain.laws.accepted import WAYS, refuse_law, refuse_mixtures
from jourdain.mechanism.contact import ArrayContact

# An unrolled event compiles in a second up to this n, which pays from this many events on.
LARGEST_UNROLLED = 16
UNROLLED_FROM = 4096
MOST_WAYS_UNROLLED = 16  # in which contacts can hold: each is written out
SKEW = 1e-9  # of √(M_ii M_jj): M_ij and M_ji that differ by more are not rounding
RowArrays: TypeAlias = ArrayLike | tuple[ArrayLike, ...]  # rows `(*b, k, n)`, or (rows, b)
_NOT_HERE = ("q", "outputs_minus", "outputs_plus")  # what only mechanisms have


def transition(
    M: ArrayLike,
    v: ArrayLike,
    inert: RowArrays | None = None,
    regular: RowArrays | None = None,
    elastic: tuple[ArrayLike, ...] | None = None,
    live: tuple[ArrayLike, ...] | None = None,
    released: RowArrays | None = None,
    nonideal: tuple[ArrayLike, ...] | None = None,
    impulse: ArrayLike | None = None,
    contacts: Sequence[ArrayContact] = (),
    check: bool | str = True,
) -> Transition:
    """The outcome of an event given as arrays: M `(*b, n, n)`, v `(*b, n)`, rows `(*b, k, n)`; shapes broadcast.

    `inert`, `regular`, `released`: rows, or (rows, b). `elastic`: (rows, κ) or (rows, κ, b). `live`: (rows, b_minus,
    b_plus). `nonideal`: (rows, β̄). `impulse`: generalized, `(*b, n)`. `contacts`: one-sided, a list of `jd.Contact`.
    Names in the outcome are those of the arguments, rows `"inert.0"`…; of contacts `"contact 0"`…, rows
    `"contact 0.normal"`, `"contact 0.tangent"`. `check`: see `Event.solve`. A semidefinite M is accepted if no velocity
    is left without mass or constraint; the parts of the energy are NaN then.

    >>> import jourdain as jd
    >>> t = jd.transition([[2.0, 0.0], [0.0, 1.0]], [3.0, -1.0], inert=[[1.0, 1.0]])
    >>> t.v_plus, t.impulse["inert"], t.loss
    (array([ 2.333333, -2.333333]), array([-1.333333]), np.float64(1.333333))
    """
    if check not in (True, False, "project"):
        raise BadEvent(f"check is True, False or 'project', not {check!r}.")
    M, v = number("M", M), number("v", v)
    if M.ndim < 2 or M.shape[-1] != M.shape[-2]:
        raise ShapeError(f"M has shape {M.shape}; it must be (…, n, n).")
    n = M.shape[-1]
    if v.ndim < 1 or v.shape[-1] != n:
        raise ShapeError(f"v has shape {v.shape}; its last axis must be {n}, as M says.")
    given = {
        Kind.REGULAR: regular,
        Kind.LIVE: live,
        Kind.INERT: inert,
        Kind.ELASTIC: elastic,
        Kind.RELEASED: released,
        Kind.NONIDEAL: nonideal,
    }
    two_sided = [_block(kind, value, n) for kind, value in given.items() if value is not None]
    if not isinstance(contacts, list | tuple):
        raise BadEvent(f"contacts is a list of jd.Contact(normal=…, tangent=…, law=…), not {contacts!r}.")
    touching = [_contact_block(f"contact {i}", contact, n) for i, contact in enumerate(contacts)]
    laws = {f"contact {i}": block.law for i, block in enumerate(touching)}
    impulsive = [str(block.kind) for block in two_sided if block.kind in (*IMPULSIVE_KINDS, Kind.NONIDEAL)]
    refuse_mixtures(laws, [block.C.shape[-2] - 1 for block in touching], impulsive, impulse is not None)
    blocks = tuple(
        sorted([*two_sided, *touching], key=lambda block: list(Kind).index(block.kind))
    )  # as `Problem` has them
    f = None if impulse is None else number("impulse", impulse)
    if f is not None and (f.ndim < 1 or f.shape[-1] != n):
        raise ShapeError(f"impulse has shape {f.shape}; its last axis must be {n}, as M says.")
    problem = _broadcast(Problem(M, v[..., None], blocks, () if f is None else (f[..., None],)))

    layout = Layout(
        tuple(str(i) for i in range(n)),
        tuple(_constraint(name, block) for name, block in zip(_names(blocks), blocks, strict=True)),
        () if f is None else ("impulse",),
        (),
    )
    given_problem, batch = problem, problem.M.shape[:-2]
    if check == "project":
        problem = replace(problem, v_minus=_projected(problem))
    small = n <= LARGEST_UNROLLED and layout.n_on <= n  # more rows than velocities are never all independent
    small = small and Iteration.of(touching) is None
    small = small and math.prod(len(WAYS[type(law)]) for law in laws.values()) <= MOST_WAYS_UNROLLED
    if small and math.prod(batch) >= UNROLLED_FROM:
        found = _unrolled(problem, check is not False)
        if found is not None:
            return Transition(layout, *found)
    values, status = _by_lapack(problem, check is not False)
    if not batch and status > Status.ENERGY_CREATED:
        raise refusal(Status(int(status)), values, layout, _inputs(given_problem))
    return Transition(layout, _without_failed(values, status), status)


def _by_lapack(problem: Problem, checked: bool) -> tuple[dict[str, Array], NDArray[np.int8]]:
    """Every quantity, also of events that fail, and the status `(*batch,)`."""
    sound = _sound(problem)
    if not sound.all():
        problem = _neutral(problem, ~sound)
    with np.errstate(all="ignore"):  # what is not finite is refused
        skew = _asymmetric(problem.M)
        massless = ~lapack.positive_definite(problem.M)
        solved = _augmented(problem, massless) if massless.any() else problem
        values = outcome_in_any_order(solved)
        if massless.any():
            values = _without_parts(values, problem, massless)
        values |= {name: lapack.zeros(0, 1, like=problem.M) for name in _NOT_HERE}
        values["required_friction"] = required_friction(values, _contact_places(problem), lapack)
        values["u_rounding"] = _rounding(problem)
        values["energy_created"] = energy_created(problem, values, lapack)
        found, _ = verdict(problem, values, lapack, checked, sound[..., None, None])
        status = np.array(found[..., 0, 0] % DOUBTFUL_MASS).astype(np.int8)
        bad = skew | (massless & ~lapack.positive_definite(solved.M)) if massless.any() else skew
        status[bad & sound] = Status.NOT_POSITIVE_DEFINITE
        return values, status


def _without_failed(values: Mapping[str, Array], status: NDArray[np.int8]) -> dict[str, Array]:
    """NaN in all numbers of lanes that have none."""
    failed = status > Status.ENERGY_CREATED
    mask = failed[..., None, None]
    return {name: np.where(mask, np.nan, values[name]) if failed.any() else values[name] for name in Transition.NUMBERS}


def _unrolled(problem: Problem, checked: bool) -> tuple[Values, NDArray[np.int8]] | None:
    """By a compiled kernel where rows are well apart and nothing is wrong, by LAPACK elsewhere; None if few are."""
    kinds = tuple((block.kind, block.C.shape[-2], block.law) for block in problem.blocks)
    batch = problem.M.shape[:-2]
    columns = [
        array[..., i, j] for array in _arrays(problem) for i in range(array.shape[-2]) for j in range(array.shape[-1])
    ]
    event = _unrolled_event(problem.M.shape[-1], kinds, len(problem.applied), checked)
    if not promising(event, columns, batch):
        return None
    values, flags = event.over(columns, batch)
    status = flags[0]
    again = np.flatnonzero(status.reshape(-1))
    if again.size:
        place = np.unravel_index(again, batch)
        careful, found = _by_lapack(problem.changed(lambda array: array[place]), checked)
        for name, array in _without_failed(careful, found).items():
            start, n_rows, n_columns = values.places[name]
            values.table[start : start + n_rows * n_columns, again] = array.reshape(len(again), -1).T
        status.reshape(-1)[again] = found
    return values, status


@lru_cache(maxsize=64)
def _unrolled_event(
    n: int, kinds: tuple[tuple[Kind, int, Law | None], ...], n_applied: int, checked: bool
) -> Evaluator:
    """Every quantity of an event of this form, over scalars; flagged where something is to be looked at again."""
    blocks = []
    for kind, k, law in kinds:
        b_minus, b_plus = SX.sym("b_minus", k), SX.sym("b_plus", k)
        kappa = SX.sym("kappa", k if kind == Kind.ELASTIC else 1) if kind in (Kind.ELASTIC, Kind.CONTACT) else None
        beta = SX.sym("beta", k) if kind == Kind.NONIDEAL else None
        friction = SX.sym("friction") if isinstance(law, Coulomb | MoreauCoulomb) else None
        blocks.append(Block(kind, SX.sym("C", k, n), b_minus, b_plus, kappa, beta, friction, law))
    applied = tuple(SX.sym("f", n) for _ in range(n_applied))
    given = Problem(SX.sym("M", n, n), SX.sym("v", n), tuple(blocks), applied)
    # Rows of M are used from the diagonal to the left; that the others are the same is checked below.
    M = ca.tril2symm(ca.tril(given.M))
    problem = replace(given, M=M)
    values = outcome(problem, unrolled, independent=True)
    values |= {name: SX(0, 1) for name in _NOT_HERE}
    values["required_friction"] = required_friction(values, _contact_places(problem), unrolled)
    values["energy_created"] = energy_created(problem, values, unrolled)
    inputs = ca.vertcat(*(ca.vec(array.T) for array in _arrays(given)))  # row by row
    sound = finite(inputs, unrolled)
    for i in range(n):
        for j in range(i):
            difference = given.M[i, j] - given.M[j, i]
            sound = unrolled.both(sound, difference * difference <= SKEW**2 * (given.M[i, i] * given.M[j, j]))
    flags, _ = verdict(problem, values, unrolled, checked, sound, independent=True)
    return Evaluator([inputs], {name: values[name] for name in Transition.NUMBERS}, flags)


def _arrays(problem: Problem) -> list[Any]:
    """All arrays of an event, in a fixed order."""
    arrays = [problem.M, problem.v_minus, *problem.applied]
    for block in problem.blocks:
        parts = (block.C, block.b_minus, block.b_plus, block.kappa, block.beta, block.friction)
        arrays += [part for part in parts if part is not None]
    return arrays


def _rounding(problem: Problem) -> Array:
    """What C v⁻ may be off by rounding: without mass there is no energy to compare it with."""
    rows = [np.abs(block.C) @ np.abs(problem.v_minus) for block in problem.blocks]
    return 4 * np.finfo(float).eps * lapack.stack(lapack.zeros(0, 1, like=problem.M), *rows)


def _projected(problem: Problem) -> Array:
    """v⁻ moved onto the rows that are on before, M-orthogonally; with the augmented M where M is semidefinite.

    NaN where something is not finite.
    """
    sound = _sound(problem)
    projection = prior_projection(problem if sound.all() else _neutral(problem, ~sound))
    massless = ~lapack.positive_definite(projection.M)
    with np.errstate(all="ignore"):
        moved = outcome(_augmented(projection, massless) if massless.any() else projection, lapack)["v_plus"]
    return np.where(sound[..., None, None], moved, np.nan)


def _sound(problem: Problem) -> NDArray[np.bool_]:
    """Which lanes have finite numbers only, `(*batch,)`."""
    return np.asarray(np.all([np.isfinite(array).all(axis=-1) for array, _ in _inputs(problem).values()], axis=0))


def _block(kind: Kind, value: Any, n: int) -> Block:
    parts = _parts(kind, value)
    C = number(kind, parts[0])
    if C.ndim < 2 or C.shape[-1] != n:
        raise ShapeError(f"The rows of {kind} have shape {C.shape}; they must be (…, k, {n}).")
    k = C.shape[-2]

    def column(i: int, what: str, default: float = 0.0) -> Array:
        if len(parts) <= i:
            return np.full((k, 1), default)
        entry = number(f"{what} of {kind}", parts[i])
        if entry.ndim and entry.shape[-1] not in (1, k):
            raise ShapeError(f"{what} of {kind} has shape {entry.shape}; give one number, or (…, {k}), one per row.")
        return np.broadcast_to(entry, (*entry.shape[:-1], k))[..., None]

    if kind == Kind.LIVE:
        return Block(kind, C, column(1, "b_minus"), column(2, "b_plus"))
    if kind == Kind.ELASTIC:
        b = column(2, "b")
        return Block(kind, C, b, b, kappa=column(1, "κ"))
    if kind == Kind.NONIDEAL:
        zero = np.zeros((k, 1))
        return Block(kind, C, zero, zero, beta=column(1, "β̄"))
    b = column(1, "b")
    return Block(kind, C, b, b)


_FORMS = {
    Kind.LIVE: ("(rows, b_minus, b_plus)", 3, 3),
    Kind.ELASTIC: ("(rows, κ) or (rows, κ, b)", 2, 3),
    Kind.NONIDEAL: ("(rows, β̄)", 2, 2),
}


def _parts(kind: Kind, value: Any) -> Sequence[Any]:
    """Rows alone, or a tuple of rows and what belongs to them."""
    if kind not in _FORMS:
        return value if isinstance(value, tuple) and len(value) == 2 and number(kind, value[0]).ndim >= 2 else (value,)
    form, least, most = _FORMS[kind]
    if not isinstance(value, tuple) or not least <= len(value) <= most:
        raise BadEvent(f"{kind} is a tuple {form}.")
    return value


def _contact_block(name: str, contact: Any, n: int) -> Block:
    """Rows (normal, tangents); the numbers of the law are arrays of the block, its form stays."""
    if not isinstance(contact, ArrayContact):
        raise BadEvent(f"'{name}' is {contact!r}; give jd.Contact(normal=…, tangent=…, law=…).")
    normal = number(f"normal of {name}", contact.normal)
    if normal.ndim < 1 or normal.shape[-1] != n:
        raise ShapeError(f"The normal of {name} has shape {normal.shape}; it must be (…, {n}).")
    tangents = _tangents(name, contact.tangent, n)
    law = contact.law
    refuse_law(name, law, tangents.shape[-2])
    assert law is not None
    try:
        batch = np.broadcast_shapes(normal.shape[:-1], tangents.shape[:-2])
    except ValueError:
        raise ShapeError(
            f"The normal and the tangents of {name}, of shapes {normal.shape} and {tangents.shape}, do not broadcast."
        ) from None
    rows = [np.broadcast_to(part, (*batch, *part.shape[-2:])) for part in (normal[..., None, :], tangents)]
    C = np.concatenate(rows, axis=-2)
    numbers = {
        field.name: number(f"{field.name} of {name}", getattr(law, field.name))[..., None, None]
        for field in fields(law)
        if field.name in ("restitution", "friction")
    }
    zero, form = np.zeros((C.shape[-2], 1)), replace(law, **dict.fromkeys(numbers, 0.0))
    return Block(Kind.CONTACT, C, zero, zero, numbers["restitution"], None, numbers.get("friction"), form)


def _tangents(name: str, given: Any, n: int) -> Array:
    """`(*b, k, n)`, from an array or a list of rows `(*b, n)`; none is k = 0."""
    if given is None or (isinstance(given, list | tuple) and not given):
        return np.zeros((0, n))
    if isinstance(given, list | tuple):
        rows = [number(f"tangent of {name}", row) for row in given]
        try:
            tangents = np.stack(np.broadcast_arrays(*rows), axis=-2) if min(row.ndim for row in rows) else np.array(0.0)
        except ValueError:
            raise ShapeError(f"The tangents of {name} have shapes {[row.shape for row in rows]}: no stack.") from None
    else:
        tangents = number(f"tangent of {name}", given)
    if tangents.ndim < 2 or tangents.shape[-1] != n:
        raise ShapeError(f"The tangents of {name} have shape {tangents.shape}; they must be (…, k, {n}).")
    return tangents


def _names(blocks: Sequence[Block]) -> list[str]:
    """How the outcome calls them: by argument, contacts by number."""
    first = next((i for i, block in enumerate(blocks) if block.kind == Kind.CONTACT), 0)
    return [f"contact {i - first}" if block.kind == Kind.CONTACT else str(block.kind) for i, block in enumerate(blocks)]


def _constraint(name: str, block: Block) -> ConstraintLayout:
    """How one block stands in the outcome."""
    k, touches = block.C.shape[-2], block.kind == Kind.CONTACT
    rows = tuple(f"{name}.{i}" for i in range(k))
    if touches:
        tangents = [f"{name}.tangent"] if k == 2 else [f"{name}.tangent.{i}" for i in range(k - 1)]
        rows = (f"{name}.normal", *tangents)
    return ConstraintLayout(name, block.kind, rows, False, touches, False, law=block.law)


def _contact_places(problem: Problem) -> list[slice]:
    """Where the rows of each contact stand in the stack."""
    places, start = [], 0
    for block in problem.blocks:
        stop = start + block.C.shape[-2]
        if block.kind == Kind.CONTACT:
            places.append(slice(start, stop))
        start = stop
    return places


def _inputs(problem: Problem) -> dict[str, tuple[Array, list[str]]]:
    """What → (all its numbers `(*batch, m)`, how they are called), for the check that they are finite."""
    named = {"M": problem.M, "v": problem.v_minus}
    for name, block in zip(_names(problem.blocks), problem.blocks, strict=True):
        parts = {"rows": block.C, "b_minus": block.b_minus, "b_plus": block.b_plus, "κ": block.kappa, "β̄": block.beta}
        parts["friction"] = block.friction
        named |= {f"{what} of {name}": part for what, part in parts.items() if part is not None}
    if problem.applied:
        named["impulse"] = problem.applied[0]
    return {what: (_flat(array), _entries(what, array)) for what, array in named.items()}


def _flat(array: Array) -> Array:
    return array.reshape(*array.shape[:-2], array.shape[-2] * array.shape[-1])


def _entries(what: str, array: Array) -> list[str]:
    """How the entries of a matrix, or of a column, are called."""
    n_rows, n_columns = array.shape[-2:]
    return [f"{what}[{i}, {j}]" if n_columns > 1 else f"{what}[{i}]" for i in range(n_rows) for j in range(n_columns)]


def _broadcast(problem: Problem) -> Problem:
    """All arrays with one batch shape."""
    arrays = _arrays(problem)
    try:
        batch = np.broadcast_shapes(*(array.shape[:-2] for array in arrays))
    except ValueError:
        raise ShapeError(f"The leading shapes {[array.shape[:-2] for array in arrays]} do not broadcast.") from None
    return problem.changed(lambda array: np.broadcast_to(array, (*batch, *array.shape[-2:])))


def _neutral(problem: Problem, bad: NDArray[np.bool_]) -> Problem:
    """The lanes in `bad` replaced by something harmless; they are refused afterwards."""
    mask = bad[..., None, None]
    neutral = problem.changed(lambda array: np.where(mask, 0.0, array))
    return replace(neutral, M=np.where(mask, np.eye(problem.M.shape[-1]), problem.M))


def _augmented(problem: Problem, massless: NDArray[np.bool_]) -> Problem:
    """The same event with a positive definite M, in the lanes where M is only semidefinite.

    C'v⁺ = w is asked for anyway, so C'ᵀS(C'v⁺ − w) may be added to the momentum balance: M + C'ᵀSC' is positive
    definite iff ker M ∩ ker C' = 0, and λ̄ and v⁺ stay the same.
    """
    on = [block for block in problem.blocks if block.kind in ON_KINDS]
    semidefinite = massless & (lapack.smallest_eigenvalue(problem.M) >= -1e-12)
    add, shift = np.zeros_like(problem.M), np.zeros_like(problem.v_minus)
    trace = np.trace(problem.M, axis1=-2, axis2=-1)[..., None, None]
    mass = np.where(trace > 0, trace, 1.0)
    for block in on:
        C, CT = block.C, lapack.transpose(block.C)
        squares = np.sum(C * C, axis=-1, keepdims=True)
        S = mass / np.where(squares > 0, squares, 1.0)
        add = add + CT @ (S * C)
        shift = shift + CT @ (S * (target(block, problem.v_minus, lapack) - block.b_plus - C @ problem.v_minus))
    mask = semidefinite[..., None, None]
    M = np.where(mask, problem.M + add, problem.M)
    return replace(problem, M=M, applied=(*problem.applied, np.where(mask, shift, 0.0)))


def _without_parts(values: dict[str, Any], problem: Problem, massless: NDArray[np.bool_]) -> dict[str, Any]:
    """Energies with the true M; the parts T_c, T_a, T_r do not exist where M is semidefinite."""
    mask = massless[..., None, None]
    true = dict(values)
    true["applied_work"] = values["applied_work"][..., :-1, :]  # the last entry is that of the added terms
    work = values["ledger"].sum(axis=-2, keepdims=True) + true["applied_work"].sum(axis=-2, keepdims=True)
    true["loss"] = np.where(mask, -work, values["loss"])
    true["applied"] = sum(problem.applied, np.zeros_like(problem.v_minus))
    for side in ("minus", "plus"):
        v = values[f"v_{side}"]
        true[f"T_{side}"] = np.where(mask, lapack.transpose(v) @ problem.M @ v / 2, values[f"T_{side}"])
    for name in ("T_c_minus", "T_a_minus", "T_r_minus", "T_c_plus", "T_a_plus", "T_r_plus", "xi", "effective_mass"):
        true[name] = np.where(mask, np.nan, values[name])
    return true


def _asymmetric(M: Array) -> NDArray[np.bool_]:
    """Which lanes have an M that is not symmetric, `(*batch,)`; without batch axes it raises."""
    scale = np.sqrt(np.abs(np.diagonal(M, axis1=-2, axis2=-1)))
    skew = np.abs(M - lapack.transpose(M)) > SKEW * scale[..., :, None] * scale[..., None, :]
    if skew.any() and M.ndim == 2:
        i, j = np.argwhere(skew)[0]
        raise NotPositiveDefinite(f"M is not symmetric: M[{i}, {j}] = {M[i, j]:g} but M[{j}, {i}] = {M[j, i]:g}.")
    return np.asarray(skew.any(axis=(-2, -1)))
