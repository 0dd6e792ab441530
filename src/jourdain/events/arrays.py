"""Events of raw arrays, for people who have their own M and rows: what is given becomes a `Problem`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import casadi as ca
import numpy as np
from casadi import SX
from numpy.typing import ArrayLike

from jourdain.algebra.problem import Block, Problem
from jourdain.algebra.record import KEPT
from jourdain.compute.evaluate import Evaluator
from jourdain.compute.memory import check_batch
from jourdain.data.layout import ConstraintLayout, Layout
from jourdain.errors import BadEvent, ShapeError, Status
from jourdain.events.array_solver import arrays, by_lapack, projected, solved
from jourdain.events.refusals import refusal
from jourdain.events.transition import Transition
from jourdain.inputs import Array, number
from jourdain.kinds import IMPULSIVE_KINDS, Kind
from jourdain.laws import approach
from jourdain.laws.together import check_law, check_together
from jourdain.mechanism.contact import ArrayContact
from jourdain.mechanism.expression import to_sx

RowArrays: TypeAlias = ArrayLike | tuple[ArrayLike, ...]  # rows `(*b, k, n)`, or (rows, b)


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
    is left without mass or constraint; where the regular rows do not suffice for that, the parts of the energy are NaN.

    >>> import jourdain as jd
    >>> t = jd.transition([[2.0, 0.0], [0.0, 1.0]], [3.0, -1.0], inert=[[1.0, 1.0]])
    >>> t.v_plus, t.impulse["inert"], t.loss
    (array([ 2.333333, -2.333333]), array([-1.333333]), np.float64(1.333333))
    """
    if check not in (True, False, "project"):
        raise BadEvent(f"check is True, False or 'project', not {check!r}.")
    M, v = number("M", M), number("v", v)
    if M.ndim < 2 or M.shape[-1] != M.shape[-2] or not M.shape[-1]:
        raise ShapeError(f"M has shape {M.shape}; it must be (…, n, n), with at least one velocity.")
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
    laws = {f"contact {i}": block.law for i, block in enumerate(touching) if block.law is not None}
    impulsive = [str(block.kind) for block in two_sided if block.kind in (*IMPULSIVE_KINDS, Kind.NONIDEAL)]
    check_together(laws, [block.n_rows - 1 for block in touching], impulsive, impulse is not None)
    blocks = tuple(sorted([*two_sided, *touching], key=lambda block: list(Kind).index(block.kind)))
    f = None if impulse is None else number("impulse", impulse)
    if f is not None and (f.ndim < 1 or f.shape[-1] != n):
        raise ShapeError(f"impulse has shape {f.shape}; its last axis must be {n}, as M says.")
    given_problem = _broadcast(Problem(M, v[..., None], blocks, () if f is None else (f[..., None],)))
    problem = given_problem
    if check == "project":
        problem = replace(problem, v_minus=projected(problem))
    problem = replace(problem, blocks=tuple(_at_approach(block, problem.v_minus) for block in problem.blocks))

    constraints = tuple(_constraint(name, block) for name, block in zip(_names(blocks), blocks, strict=True))
    layout = Layout(tuple(str(i) for i in range(n)), constraints, () if f is None else ("impulse",), ())
    if problem.M.ndim > 2:
        return Transition(layout, *solved(problem, check is not False))
    values, status = by_lapack(problem, check is not False)
    if status > Status.ENERGY_CREATED:
        raise refusal(Status(int(status)), values, layout, _inputs(given_problem), check == "project")
    return Transition(layout, values.columns(KEPT), status)


def _block(kind: Kind, value: Any, n: int) -> Block[Array]:
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


def _contact_block(name: str, contact: Any, n: int) -> Block[Array]:
    """Rows (normal, tangents), and the numbers of the law; those that depend on the approach are filled in later."""
    if not isinstance(contact, ArrayContact):
        raise BadEvent(f"'{name}' is {contact!r}; give jd.Contact(normal=…, tangent=…, law=…).")
    normal = number(f"normal of {name}", contact.normal)
    if normal.ndim < 1 or normal.shape[-1] != n:
        raise ShapeError(f"The normal of {name} has shape {normal.shape}; it must be (…, {n}).")
    tangents = _tangents(name, contact.tangent, n)
    law = check_law(name, contact.law, tangents.shape[-2])
    try:
        batch = np.broadcast_shapes(normal.shape[:-1], tangents.shape[:-2])
    except ValueError:
        raise ShapeError(
            f"The normal and the tangents of {name}, of shapes {normal.shape} and {tangents.shape}, do not broadcast."
        ) from None
    rows = [np.broadcast_to(part, (*batch, *part.shape[-2:])) for part in (normal[..., None, :], tangents)]
    C = np.concatenate(rows, axis=-2)
    zero = np.zeros((C.shape[-2], 1))
    numbers = {
        what: np.zeros((1, 1)) if _depends_on_approach(value) else number(f"{what} of {name}", value)[..., None, None]
        for what, value in law.values().items()
    }
    return Block(Kind.CONTACT, C, zero, zero, law=law, numbers=numbers)


def _depends_on_approach(value: Any) -> bool:
    return approach in getattr(value, "free_symbols", ())


def _at_approach(block: Block[Array], v_minus: Array) -> Block[Array]:
    """The block with those numbers of its law that depend on the approach speed |u_n⁻|."""
    law = block.law
    given = {} if law is None else law.values()
    depending = {what: value for what, value in given.items() if _depends_on_approach(value)}
    if not depending:
        return block
    symbol, speed = SX.sym("approach"), np.abs(block.C[..., :1, :] @ v_minus + block.b_minus[..., :1, :])[..., 0]

    def lookup(name: Any) -> SX:
        if name != approach:
            raise BadEvent(f"The law {law!r} depends on '{name}'; of raw arrays only jd.laws.approach is known.")
        return symbol

    evaluate = Evaluator([symbol], {what: ca.densify(to_sx(value, lookup)) for what, value in depending.items()})
    return replace(block, numbers={**block.numbers, **{what: evaluate(speed)[what] for what in depending}})


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


def _names(blocks: Sequence[Block[Array]]) -> list[str]:
    """How the outcome calls them: by argument, contacts by number."""
    first = next((i for i, block in enumerate(blocks) if block.kind == Kind.CONTACT), 0)
    return [f"contact {i - first}" if block.kind == Kind.CONTACT else str(block.kind) for i, block in enumerate(blocks)]


def _constraint(name: str, block: Block[Array]) -> ConstraintLayout:
    """How one block stands in the outcome."""
    k, touches = block.C.shape[-2], block.kind == Kind.CONTACT
    rows = tuple(f"{name}.{i}" for i in range(k))
    if touches:
        tangents = [f"{name}.tangent"] if k == 2 else [f"{name}.tangent.{i}" for i in range(k - 1)]
        rows = (f"{name}.normal", *tangents)
    return ConstraintLayout(name, block.kind, rows, False, touches, False, law=block.law)


def _inputs(problem: Problem[Array]) -> dict[str, tuple[Array, list[str]]]:
    """What → (all its numbers `(*batch, m)`, how they are called), for the check that they are finite."""
    named = {"M": problem.M, "v": problem.v_minus}
    called = {"C": "rows", "kappa": "κ", "beta": "β̄"}
    for name, block in zip(_names(problem.blocks), problem.blocks, strict=True):
        named |= {f"{called.get(what, what)} of {name}": part for what, part in block.arrays().items()}
    if problem.applied:
        named["impulse"] = problem.applied[0]
    return {what: (_flat(array), _entries(what, array)) for what, array in named.items()}


def _flat(array: Array) -> Array:
    return array.reshape(*array.shape[:-2], array.shape[-2] * array.shape[-1])


def _entries(what: str, array: Array) -> list[str]:
    """How the entries of a matrix, or of a column, are called."""
    n_rows, n_columns = array.shape[-2:]
    return [f"{what}[{i}, {j}]" if n_columns > 1 else f"{what}[{i}]" for i in range(n_rows) for j in range(n_columns)]


def _broadcast(problem: Problem[Array]) -> Problem[Array]:
    """All arrays with one batch shape."""
    shapes = [array.shape[:-2] for array in arrays(problem)]
    try:
        batch = np.broadcast_shapes(*shapes)
    except ValueError:
        raise ShapeError(f"The leading shapes {shapes} do not broadcast.") from None
    check_batch(batch, sum(array.shape[-1] * array.shape[-2] for array in arrays(problem)))
    return problem.changed(lambda array: np.broadcast_to(array, (*batch, *array.shape[-2:])))
