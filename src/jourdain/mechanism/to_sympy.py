"""CasADi SX → SymPy: the way back, for closed forms that a person reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca
import sympy as sp
from casadi import SX
from sympy.logic.boolalg import BooleanAtom, BooleanFunction

from jourdain.errors import NotExpressible
from jourdain.mechanism.exact import exact_number

_OPERATIONS: dict[int, Callable[..., Any]] = {
    ca.OP_ADD: lambda a, b: a + b, ca.OP_SUB: lambda a, b: a - b, ca.OP_MUL: lambda a, b: a * b,
    ca.OP_DIV: lambda a, b: a / b, ca.OP_NEG: lambda a: -a, ca.OP_INV: lambda a: 1 / a,
    ca.OP_SQ: lambda a: a**2, ca.OP_TWICE: lambda a: 2 * a, ca.OP_SQRT: sp.sqrt, ca.OP_POW: lambda a, b: a**b,
    ca.OP_CONSTPOW: lambda a, b: a**b, ca.OP_SIN: sp.sin, ca.OP_COS: sp.cos, ca.OP_TAN: sp.tan,
    ca.OP_ASIN: sp.asin, ca.OP_ACOS: sp.acos, ca.OP_ATAN: sp.atan, ca.OP_ATAN2: sp.atan2,
    ca.OP_SINH: sp.sinh, ca.OP_COSH: sp.cosh, ca.OP_TANH: sp.tanh, ca.OP_ASINH: sp.asinh, ca.OP_ACOSH: sp.acosh,
    ca.OP_ATANH: sp.atanh, ca.OP_EXP: sp.exp, ca.OP_LOG: sp.log, ca.OP_FABS: sp.Abs, ca.OP_SIGN: sp.sign,
    ca.OP_ERF: sp.erf, ca.OP_FMIN: sp.Min, ca.OP_FMAX: sp.Max, ca.OP_FLOOR: sp.floor, ca.OP_CEIL: sp.ceiling,
    ca.OP_LT: lambda a, b: sp.false if sp.nan in (a, b) else a < b,
    ca.OP_LE: lambda a, b: sp.false if sp.nan in (a, b) else a <= b, ca.OP_EQ: sp.Eq, ca.OP_NE: sp.Ne,
    ca.OP_AND: sp.And, ca.OP_OR: sp.Or, ca.OP_NOT: sp.Not, ca.OP_ASSIGN: lambda a: a,
    ca.OP_IF_ELSE_ZERO: lambda c, a: sp.Piecewise((a, c), (0, True)),
}  # fmt: skip

# Operands that are true or not.
_CONDITIONS = {ca.OP_AND: (0, 1), ca.OP_OR: (0, 1), ca.OP_NOT: (0,), ca.OP_IF_ELSE_ZERO: (0,)}


def to_sympy(
    expressions: Mapping[str, SX],
    inputs: Sequence[tuple[SX, Sequence[sp.Expr]]],
    exact: Mapping[float, sp.Expr] = {},
) -> dict[str, sp.Matrix]:
    """Each SX matrix as a SymPy matrix; `inputs` are columns of CasADi symbols and what stands for their entries.

    `exact`: numbers that doubles round, by their doubles.
    """
    columns = [ca.densify(ca.vec(expression)) for expression in expressions.values()]
    function = ca.Function("tape", [column for column, _ in inputs], columns)
    work: dict[int, sp.Expr] = {}
    entries: dict[tuple[int, int], sp.Expr] = {}
    for k in range(function.n_instructions()):
        operation = function.instruction_id(k)
        read, write = function.instruction_input(k), function.instruction_output(k)
        if operation == ca.OP_INPUT:
            work[write[0]] = inputs[read[0]][1][read[1]]
        elif operation == ca.OP_CONST:
            work[write[0]] = exact_number(function.instruction_constant(k), exact)
        elif operation == ca.OP_OUTPUT:
            entries[write[0], write[1]] = work[read[0]]
        elif operation in _OPERATIONS:
            work[write[0]] = _OPERATIONS[operation](*_operands(operation, [work[i] for i in read]))
        else:
            raise NotExpressible(f"CasADi's operation {operation} has no closed form in SymPy.")
    found = {}
    for i, (name, expression) in enumerate(expressions.items()):
        n_rows, n_columns = expression.shape
        values = [[entries.get((i, c * n_rows + r), sp.Integer(0)) for c in range(n_columns)] for r in range(n_rows)]
        found[name] = sp.Matrix(n_rows, n_columns, [entry for row in values for entry in row])
    return found


def _operands(operation: int, operands: Sequence[Any]) -> list[Any]:
    """Truth as a number, and a number as truth, where the operation wants it: in CasADi they are the same."""
    found = []
    for place, operand in enumerate(operands):
        truth = isinstance(operand, sp.core.relational.Relational | BooleanFunction | BooleanAtom)
        wanted = place in _CONDITIONS.get(operation, ())
        if wanted and not truth:
            operand = sp.Ne(operand, 0)
        elif truth and not wanted:
            operand = sp.Piecewise((1, operand), (0, True))
        found.append(operand)
    return found
