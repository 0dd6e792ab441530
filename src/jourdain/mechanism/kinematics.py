"""How the rates of the coordinates follow from the velocities: q̇ = N(q) v."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
from casadi import SX

from jourdain.compute.sampled import differ
from jourdain.errors import BadMechanism, NotAffine, Rheonomic, ShapeError, listing
from jourdain.inputs import Expression
from jourdain.mechanism.symbols import Symbols
from jourdain.naming import name_of


def kinematics_matrix(symbols: Symbols, kinematics: Mapping[Any, Any] | None) -> SX:
    """N with q̇ = N v, from {quasi-velocity: expression linear in the rates} or {rate: expression linear in v}."""
    kinematics = dict(kinematics or {})
    quasi = [name for name in symbols.v_names if name not in symbols.q_names]
    by_rate = {name_of(key): value for key, value in kinematics.items() if _is_rate(key)}
    by_quasi = {name_of(key): value for key, value in kinematics.items() if not _is_rate(key)}
    n_q, n_v = len(symbols.q_names), len(symbols.v_names)
    raw_rates = SX.sym("rate", n_q)
    if by_rate and by_quasi:
        raise BadMechanism("kinematics mixes rates and quasi-velocities as keys; use one form.")
    if by_rate or set(symbols.q_names) <= set(symbols.v_names):  # quasi-velocities without a coordinate are free
        rates = []
        for name in symbols.q_names:
            if name in by_rate:
                rates.append(symbols.translate(by_rate[name]))
            elif name in symbols.v_names:
                rates.append(symbols.v[symbols.v_names.index(name)])
            else:
                raise BadMechanism(
                    f"The rate of '{name}' is neither in v nor in kinematics; say how it follows from v."
                )
        return _linear(ca.vertcat(*rates), symbols.v, "kinematics")
    missing = [name for name in quasi if name not in by_quasi]
    if missing:
        raise BadMechanism(
            f"kinematics does not say what {listing(missing)} is; give it as an expression in the rates."
        )
    if n_q != n_v:
        raise ShapeError(
            f"There are {n_v} velocities for {n_q} coordinates; give kinematics as {{rate: expression in v}}."
        )
    # v = Y(q) q̇; the rates that are velocities themselves drop out, the rest is a small matrix.
    Y = SX(n_v, n_q)
    for i, name in enumerate(symbols.v_names):
        if name in by_quasi:
            expression = symbols.translate(by_quasi[name], rates=raw_rates)
            Y[i, :] = _linear(expression, raw_rates, f"kinematics of '{name}'")
        else:
            Y[i, symbols.q_names.index(name)] = 1
    return _inverse(Y, [i for i, name in enumerate(symbols.v_names) if name in by_quasi], symbols)


def _inverse(Y: SX, rows: list[int], symbols: Symbols) -> SX:
    """Y⁻¹ where the rows not in `rows` are unit rows."""
    n = Y.shape[0]
    columns = [j for j, name in enumerate(symbols.q_names) if name not in symbols.v_names]
    block = Y[rows, columns]
    solved = inverse(block)
    N = SX(n, n)
    for i, name in enumerate(symbols.v_names):
        if i not in rows:
            j = symbols.q_names.index(name)
            N[j, i] = 1
            N[columns, i] = -solved @ Y[rows, j]
    N[columns, rows] = solved
    return ca.sparsify(N)


def _linear(expression: SX, variables: SX, what: str) -> SX:
    J = ca.jacobian(expression, variables)
    rest = ca.substitute(expression, variables, SX.zeros(*variables.shape))
    if ca.depends_on(J, variables) or not ca.sparsify(ca.simplify(rest)).is_zero():
        raise NotAffine(f"The {what} must be linear in the velocities, without a constant term.")
    return ca.sparsify(J)


def _is_rate(key: Any) -> bool:
    return type(key).__name__ == "Derivative"


def solved_kinematics(symbols: Symbols, equations: Sequence[Expression]) -> SX:
    """N with q̇ = N v, from expressions in q̇, v and q that vanish, linear in q̇ and v."""
    wanted = [j for j, name in enumerate(symbols.q_names) if name not in symbols.v_names]
    unknown = SX.sym("rate", len(wanted))
    N, rates = SX(len(symbols.q_names), len(symbols.v_names)), SX(len(symbols.q_names), 1)
    for j, name in enumerate(symbols.q_names):
        if name in symbols.v_names:
            N[j, symbols.v_names.index(name)] = 1
            rates[j] = symbols.v[symbols.v_names.index(name)]
        else:
            rates[j] = unknown[wanted.index(j)]
    column = ca.vertcat(SX(0, 1), *(symbols.translate(equation, rates=rates) for equation in equations))
    both = ca.vertcat(unknown, symbols.v)
    coefficients = ca.sparsify(ca.jacobian(column, both))
    if ca.depends_on(coefficients, both):
        raise NotAffine("The kinematics must be linear in the rates of the coordinates and in the velocities.")
    if differ(ca.substitute(column, both, SX.zeros(*both.shape)), SX.zeros(*column.shape)):
        raise Rheonomic(
            "The kinematics have a term without velocities, so that coordinates change although no velocity does; "
            "describe moving supports as constraints with a bias instead."
        )
    A, B = coefficients[:, : len(wanted)], coefficients[:, len(wanted) :]
    telling = [i for i in range(A.shape[0]) if A[i, :].nnz()]  # u − q̇ where u is q̇ itself says nothing
    if len(telling) != len(wanted):
        raise BadMechanism(
            f"There are {len(telling)} kinematic equations for the rates of "
            f"{listing(symbols.q_names[j] for j in wanted)}; give one for each."
        )
    N[wanted, :] = -_solve_in_blocks(A[telling, :], B[telling, :])
    return ca.sparsify(N)


def _solve_in_blocks(A: SX, B: SX) -> SX:
    """A⁻¹ B; unknowns that no equation connects are solved for on their own."""
    X = SX(A.shape[1], B.shape[1])
    left = set(range(A.shape[0]))
    while left:
        rows, columns = {min(left)}, set[int]()
        while True:
            columns = {j for i in rows for j in A[i, :].sparsity().get_col()}
            more = {i for i in left if columns & set(A[i, :].sparsity().get_col())}
            if more <= rows:
                break
            rows |= more
        if len(rows) != len(columns):
            raise BadMechanism("The kinematic equations do not determine all rates of the coordinates.")
        i, j = sorted(rows), sorted(columns)
        X[j, :] = inverse(A[i, j]) @ B[i, :]
        left -= rows
    return X


def inverse(A: SX) -> SX:
    """A⁻¹, by minors where it is small."""
    return ca.inv_minor(A) if A.shape[0] <= 4 else ca.solve(A, SX.eye(A.shape[0]))
