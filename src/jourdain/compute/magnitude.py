"""How large an expression would be if nothing in it cancelled: what its rounding is measured by.

Terms of a sum add up, and a sine or cosine counts as 1: l (sin a + sin b) has the magnitude 2 |l|. A number far below
the magnitude of its expression is what rounding leaves of 0. Units and the size of parameters do not matter to that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import casadi as ca
from casadi import SX


class Magnitude(NamedTuple):
    size: SX
    cancels: bool  # False: the number is as large as its magnitude says, 0 only where a factor is


def magnitudes(expressions: Sequence[SX], ones: Iterable[SX] = ()) -> list[Magnitude]:
    """Of scalars. `ones`: symbols that count as 1, such as the components of a unit quaternion."""
    found = {symbol.element_hash(): Magnitude(SX(1), True) for symbol in ones}
    waiting = list(expressions)
    while waiting:
        node = waiting[-1]
        parts = [node.dep(i) for i in range(node.n_dep())]
        missing = [part for part in parts if part.element_hash() not in found]
        if missing:  # what an operation depends on comes before it
            waiting += missing
            continue
        waiting.pop()
        if node.element_hash() not in found:
            found[node.element_hash()] = _of_operation(node, parts, [found[part.element_hash()] for part in parts])
    return [found[expression.element_hash()] for expression in expressions]


def _of_operation(node: SX, parts: list[SX], of_parts: list[Magnitude]) -> Magnitude:
    if node.is_leaf() or node.op() not in _RULES:
        return Magnitude(ca.fabs(node), False)
    rule, cancels = _RULES[node.op()]
    size = rule(node, parts, [part.size for part in of_parts])
    return Magnitude(size, cancels or any(part.cancels for part in of_parts))


# By operation: the magnitude of a node, from its parts and their magnitudes; and whether something cancels in it.
_Rule = Callable[[SX, list[SX], list[SX]], SX]
_RULES: dict[int, tuple[_Rule, bool]] = {
    ca.OP_ADD: (lambda node, parts, sizes: sizes[0] + sizes[1], True),
    ca.OP_SUB: (lambda node, parts, sizes: sizes[0] + sizes[1], True),
    ca.OP_SIN: (lambda node, parts, sizes: SX(1), True),
    ca.OP_COS: (lambda node, parts, sizes: SX(1), True),
    ca.OP_TAN: (lambda node, parts, sizes: 1 + ca.fabs(node), True),
    ca.OP_NEG: (lambda node, parts, sizes: sizes[0], False),
    ca.OP_FABS: (lambda node, parts, sizes: sizes[0], False),
    ca.OP_TWICE: (lambda node, parts, sizes: 2 * sizes[0], False),
    ca.OP_SQ: (lambda node, parts, sizes: sizes[0] ** 2, False),
    ca.OP_SQRT: (lambda node, parts, sizes: ca.sqrt(sizes[0]), False),
    ca.OP_MUL: (lambda node, parts, sizes: sizes[0] * sizes[1], False),
    ca.OP_DIV: (lambda node, parts, sizes: sizes[0] / ca.fabs(parts[1]), False),
    ca.OP_IF_ELSE_ZERO: (lambda node, parts, sizes: ca.if_else(parts[0], sizes[1], 0), False),
}
