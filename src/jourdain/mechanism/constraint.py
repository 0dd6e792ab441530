"""Constraints: named rows u = C(q) v + b. All kinds of rows are this one record, combined by stacking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import casadi as ca
from casadi import SX

from jourdain.errors import BadConstraint, NotAffine, unknown
from jourdain.inputs import Array
from jourdain.mechanism import contact as touching
from jourdain.mechanism.mechanism import Mechanism
from jourdain.naming import refuse_clash
from jourdain.quantities import rate_unit


@dataclass(frozen=True, eq=False)
class Constraint:
    """Named rows of a mechanism. What role they play is decided by the event."""

    name: str
    row_names: tuple[str, ...]  # full: "blade", or "loop.x", "loop.y", or "grip.0", "grip.1"
    scalar: bool  # written as one expression: its numbers have no row axis
    C: SX  # (k, n_v)
    b: SX  # (k, 1)
    g: SX | None  # (k, 1), geometric rows; None at velocity level
    units: str | tuple[str, ...]  # of u, of all rows or of each; "" if not given
    mechanism: Mechanism

    def rows(self, q: Any = None, **parameters: Any) -> tuple[Array, Array]:
        """(C, b) at a configuration, `(*batch, k, n_v)` and `(*batch, k)`."""
        expressions = {"C": self.C, "b": self.b}
        values = self.mechanism.evaluate(f"rows {self.name}", lambda: expressions, q, None, parameters)
        return values["C"], values["b"][..., 0]

    def parts(self) -> dict[str, Constraint]:
        """Itself and what can be named of it, by name."""
        rows = {} if self.scalar else {row: self.subset(row, [i], scalar=True) for i, row in enumerate(self.row_names)}
        return {**rows, self.name: self}

    def subset(self, name: str, indices: Sequence[int], scalar: bool) -> Constraint:
        """Some of the rows as a constraint of their own."""
        index = list(indices)
        names = tuple(self.row_names[i] for i in index)
        g = None if self.g is None else self.g[index]
        units = self.units if isinstance(self.units, str) else tuple(self.units[i] for i in index)
        return Constraint(name, names, scalar, self.C[index, :], self.b[index], g, units, self.mechanism)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, rows={list(self.row_names)})"


@dataclass(frozen=True, eq=False, repr=False)
class Contact(Constraint, touching.Contact):
    """A constraint with the rows (normal, tangents). u_normal > 0 opens; an impulse > 0 pushes apart."""

    @property
    def normal(self) -> Constraint:
        return self.subset(f"{self.name}.normal", [0], scalar=True)

    @property
    def tangent(self) -> Constraint:
        n = len(self.row_names)
        if n == 1:
            raise unknown("constraint", f"{self.name}.tangent", self.parts())
        return self.subset(f"{self.name}.tangent", range(1, n), scalar=n == 2)

    def parts(self) -> dict[str, Constraint]:
        own = super().parts()
        return own if len(self.row_names) == 1 else own | {f"{self.name}.tangent": self.tangent}


Kind = TypeVar("Kind", bound=Constraint)


def constraint(mechanism: Mechanism, name: str, expression: Any, level: str, units: str | None) -> Constraint:
    """See `Mechanism.constraint`."""
    if isinstance(expression, Mapping):
        row_names = tuple(f"{name}.{row}" for row in expression)
        expressions = list(expression.values())
    elif isinstance(expression, list | tuple) or (isinstance(expression, SX) and expression.numel() != 1):
        expressions = ca.vertsplit(ca.vec(expression)) if isinstance(expression, SX) else list(expression)
        row_names = tuple(f"{name}.{i}" for i in range(len(expressions)))
    else:
        row_names, expressions = (name,), [expression]
    scalar = row_names == (name,)
    return _named(Constraint, mechanism, name, row_names, scalar, expressions, level, units)


def contact(mechanism: Mechanism, name: str, normal: Any, tangent: list[Any], level: str, units: str | None) -> Contact:
    """See `Mechanism.contact`."""
    tangents = [f"{name}.tangent"] if len(tangent) == 1 else [f"{name}.tangent.{i}" for i in range(len(tangent))]
    row_names = (f"{name}.normal", *tangents)
    return _named(Contact, mechanism, name, row_names, False, [normal, *tangent], level, units)


def _named(
    cls: type[Kind],
    mechanism: Mechanism,
    name: str,
    row_names: tuple[str, ...],
    scalar: bool,
    expressions: list[Any],
    level: str,
    units: str | None,
) -> Kind:
    if level not in ("velocity", "position"):
        raise BadConstraint(f"The level of constraint '{name}' is 'velocity' or 'position', not {level!r}.")
    if not expressions:
        raise BadConstraint(f"Constraint '{name}' has no rows; give at least one expression.")
    # A contact may carry the name of a coordinate or of its point: rows have names of their own, "stance.normal".
    harmless = ("coordinate", "velocity", "point") if cls is Contact else ()
    taken = [pair for pair in mechanism.names() if pair[0] == name and pair[1] not in harmless]
    parts = {part for c in mechanism.constraints.values() for part in c.parts()}
    clashing = [(part, "constraint or row") for part in parts if part in (name, *row_names)]
    refuse_clash([*taken, (name, "constraint")])
    refuse_clash([*clashing, *((row, "row") for row in {name, *row_names})])
    for expression in expressions:
        if isinstance(expression, bool) or any(
            getattr(expression, f"is_{k}", False) for k in ("Boolean", "Relational")
        ):
            raise BadConstraint(f"Constraint '{name}' is given as {expression}; write the expression that must vanish.")
    rows = [mechanism.symbols.translate(expression) for expression in expressions]
    column = ca.vertcat(*rows)
    s = mechanism.symbols
    if level == "position":
        if ca.depends_on(column, s.v):
            raise NotAffine(f"Constraint '{name}' is at position level but contains velocities; use level='velocity'.")
        C, b = ca.sparsify(ca.jacobian(column, s.q) @ s.N), ca.sparsify(ca.jacobian(column, s.t))
        u_units = rate_unit(units or "")
    else:
        for row_name, row, expression in zip(row_names, rows, expressions, strict=True):
            _refuse_nonlinear(mechanism, row_name, row, expression)
        C, b = mechanism.affine(f"constraint '{name}'", column)
        for i, row_name in enumerate(row_names):
            if C[i, :].nnz() == 0 and ca.depends_on(b[i], s.q):
                raise BadConstraint(f"'{row_name}' contains no velocity; is it meant with level='position'?")
        u_units = units or ""
    made = cls(name, row_names, scalar, C, b, column if level == "position" else None, u_units, mechanism)
    mechanism.constraints[name] = made
    return made


def _refuse_nonlinear(mechanism: Mechanism, name: str, row: SX, expression: Any) -> None:
    """NotAffine, showing the terms of the user's own expression that are not affine in v."""
    if _is_affine(mechanism, row):
        return
    offending = [str(expression)]
    if not isinstance(expression, SX):
        import sympy

        terms = sympy.Add.make_args(sympy.expand(expression))
        translated = [(term, mechanism.symbols.translate(term)) for term in terms]
        offending = [str(term) for term, sx in translated if not _is_affine(mechanism, sx)] or offending
    raise NotAffine(f"Constraint '{name}' is not affine in the velocities: {', '.join(offending)}.")


def _is_affine(mechanism: Mechanism, expression: SX) -> bool:
    try:
        mechanism.affine("term", expression)
    except NotAffine:
        return False
    return True
