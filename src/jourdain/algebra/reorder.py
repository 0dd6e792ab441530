"""Redundant rows of raw arrays, taken in a better order.

`span` keeps the first rows it meets. If a combination such as a + 1e6 b comes before its parts, it is kept in the place
of one of them and knows the direction of a only to 1e-10. Rows of one kind may be taken in any order, so lanes with
redundant rows are solved again with weak rows behind the others.
"""

from __future__ import annotations

from dataclasses import replace
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from jourdain.algebra import lapack
from jourdain.algebra.entries import lengths, scaled
from jourdain.algebra.outcome import outcome
from jourdain.algebra.problem import Block, Problem
from jourdain.algebra.record import FIELDS, Outcome
from jourdain.algebra.span import RANK
from jourdain.inputs import Array
from jourdain.kinds import ON_KINDS, Kind

Order = NDArray[np.intp]
WEAK = 0.1  # a row is taken before its turn only if what is left of the next one is shorter than this part of its own

_BY_ROW = (
    "impulse",
    "ledger",
    "Lambda",
    "redundant",
    "u_minus",
    "u_plus",
    "effective_mass",
    "row_length",
    "row_length2",
    "b_minus",
    "b_plus",
)
_BY_ROW_ON = ("target", "nullspace")


def outcome_in_any_order(problem: Problem[Array]) -> Outcome[Array]:
    """`outcome` over arrays; lanes with redundant rows solved in an order in which weak rows come last.

    Lanes whose light velocities lose digits are refined.
    """
    values = outcome(problem, lapack)
    redundant, light = (values.redundant > 0).any(axis=(-2, -1)), values.blurred[..., 0, 0] > 0
    if not (redundant | light).any():
        return values
    merged = {name: np.array(array) for name in FIELDS if (array := getattr(values, name)) is not None}
    for lanes, refine in ((redundant & ~light, False), (redundant & light, True), (light & ~redundant, True)):
        if lanes.any():
            selected = problem.changed(itemgetter(lanes))
            again = _reordered(selected, refine) if redundant[lanes].any() else outcome(selected, lapack, refine=refine)
            for name, array in merged.items():
                array[lanes] = getattr(again, name)
    # Redundant are the rows that depend on those before them, as they were given, unless their number was misjudged.
    agreed = values.redundant.sum(axis=(-2, -1)) == merged["redundant"].sum(axis=(-2, -1))
    merged["redundant"] = np.where(agreed[..., None, None], values.redundant, merged["redundant"])
    return Outcome(**merged)


def _reordered(problem: Problem[Array], refine: bool) -> Outcome[Array]:
    """`outcome` of lanes whose weak rows are taken last; what it says of rows is in the order in which they came."""
    orders = _orders(problem)
    blocks = tuple(_taken(block, order) for block, order in zip(problem.blocks, orders, strict=True))
    values = outcome(replace(problem, blocks=blocks), lapack, refine=refine)
    back = _back(orders)
    on = _back([order for block, order in zip(blocks, orders, strict=True) if block.kind in ON_KINDS])
    elastic = [order for block, order in zip(blocks, orders, strict=True) if block.kind == Kind.ELASTIC]
    n_numbers = values.kappa.shape[-2] - sum(order.shape[-1] for order in elastic)  # a contact has one κ, not per row
    kappa = _back([*elastic, *([np.zeros((len(problem.M), 1), dtype=np.intp)] * n_numbers)])
    places = dict.fromkeys(_BY_ROW, back) | dict.fromkeys(_BY_ROW_ON, on) | {"kappa": kappa}
    restored = {
        name: np.take_along_axis(array, place[..., None], axis=-2)
        for name, place in places.items()
        if (array := getattr(values, name)) is not None
    }
    return replace(values, **restored)


def _taken(block: Block, order: Order) -> Block:
    if block.kind not in ON_KINDS:
        return block
    return block.changed(lambda array: np.take_along_axis(array, order[..., None], axis=-2))


def _orders(problem: Problem) -> list[Order]:
    """In which order to take the rows of each block, `(lanes, k)`."""
    factor = lapack.factor(problem.M)
    n_lanes, n = problem.M.shape[0], problem.M.shape[-1]
    Q = np.zeros((n_lanes, 0, n))
    orders = []
    for block in problem.blocks:
        k = block.C.shape[-2]
        if block.kind not in ON_KINDS:
            orders.append(np.broadcast_to(np.arange(k), (n_lanes, k)))
            continue
        rest = scaled(block.C, factor, lapack)
        size = lengths(rest, lapack)
        rest = rest / np.where(size > 0, size, 1.0)
        for _ in range(2):
            rest = rest - (rest @ lapack.transpose(Q)) @ Q
        order, left = np.zeros((n_lanes, 0), dtype=np.intp), np.ones((n_lanes, k), dtype=bool)
        for _ in range(k):
            length = np.where(left, np.sqrt(np.sum(rest**2, axis=-1)), -1.0)
            # The first that is not weak beside the longest, so that the order changes only where it matters.
            pick = np.argmax(left & (length >= WEAK * length.max(axis=-1, keepdims=True)), axis=-1)[:, None]
            q = np.take_along_axis(rest, pick[..., None], axis=-2)
            size = np.take_along_axis(length, pick, axis=-1)[..., None]
            q = np.where(size > RANK, q / np.maximum(size, RANK), 0.0)
            rest = rest - (rest @ lapack.transpose(q)) @ q
            Q = np.concatenate([Q, q], axis=-2)
            np.put_along_axis(left, pick, False, axis=-1)
            order = np.concatenate([order, pick], axis=-1)
        orders.append(order)
    return orders


def _back(orders: list[Order]) -> Order:
    """Where each row of the stack has gone, `(lanes, rows)`."""
    places, start = [], 0
    for order in orders:
        places.append(start + np.argsort(order, axis=-1))
        start += order.shape[-1]
    return np.concatenate(places, axis=-1) if places else np.zeros((1, 0), dtype=np.intp)
