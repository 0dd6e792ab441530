"""Constraints: named rows u = C(q) v + b. All kinds of rows are this one record, combined by stacking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import casadi as ca
from casadi import SX

from jourdain.errors import BadConstraint, NameClash, NotAffine
from jourdain.inputs import Array, Expression, ParameterLike, RowsLike, StateLike
from jourdain.mechanism.contact import Contact
from jourdain.naming import Named, refuse_clash
from jourdain.output.printable import prints
from jourdain.quantities import rate_unit

if TYPE_CHECKING:
    from jourdain.mechanism.mechanism import Mechanism


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
    groups: Mapping[str, Sequence[int]] = field(default_factory=dict)  # name → rows that it stands for together

    def rows(self, q: StateLike = None, **parameters: ParameterLike) -> tuple[Array, Array]:
        """(C, b) at a configuration, `(*batch, k, n_v)` and `(*batch, k)`."""
        expressions = {"C": self.C, "b": self.b}
        values = self.mechanism.evaluate(f"rows {self.name}", lambda: expressions, q, None, parameters)
        return values["C"], values["b"][..., 0]

    def parts(self) -> dict[str, Constraint]:
        """Itself and what can be named of it, by name."""
        rows = {} if self.scalar else {row: self.subset(row, [i]) for i, row in enumerate(self.row_names)}
        return {**rows, self.name: self, **{name: self.subset(name, several) for name, several in self.groups.items()}}

    def subset(self, name: str, indices: Sequence[int]) -> Constraint:
        """Some of the rows as a constraint of their own."""
        index = list(indices)
        names = tuple(self.row_names[i] for i in index)
        g = None if self.g is None else self.g[index]
        units = self.units if isinstance(self.units, str) else tuple(self.units[i] for i in index)
        return Constraint(name, names, len(index) == 1, self.C[index, :], self.b[index], g, units, self.mechanism)

    @prints
    def __repr__(self) -> str:
        kind = "Contact" if isinstance(self, Contact) else "Constraint"
        return f"{kind}({self.name!r}, rows={list(self.row_names)})"


@dataclass(frozen=True, eq=False, repr=False)
class ContactConstraint(Constraint, Contact):
    """A constraint with the rows (normal, tangents). u_normal > 0 opens; an impulse > 0 pushes apart."""

    @property
    def normal(self) -> Constraint:
        return self.subset(f"{self.name}.normal", [0])

    @property
    def tangent(self) -> Constraint:
        """All tangents."""
        return Named("constraint", self.parts())[f"{self.name}.tangent"]


ConstraintLike: TypeAlias = Constraint | str  # itself or its name; "foot.normal" names rows of one
ConstraintsLike: TypeAlias = ConstraintLike | Sequence[ConstraintLike] | AbstractSet[ConstraintLike] | None
AnyConstraint = TypeVar("AnyConstraint", bound=Constraint)


def contact_rows(name: str, n_tangents: int) -> tuple[tuple[str, ...], dict[str, Sequence[int]]]:
    """The names of a contact's rows, and its groups of rows."""
    tangents = [f"{name}.tangent"] if n_tangents == 1 else [f"{name}.tangent.{i}" for i in range(n_tangents)]
    return (f"{name}.normal", *tangents), {f"{name}.tangent": range(1, 1 + n_tangents)} if n_tangents else {}


def constraint(mechanism: Mechanism, name: str, expression: Expression, level: str, units: str | None) -> Constraint:
    """See `Mechanism.constraint`."""
    if isinstance(expression, Mapping):
        row_names = tuple(f"{name}.{row}" for row in expression)
        expressions = list(expression.values())
    elif isinstance(expression, list | tuple) or is_matrix(expression):
        expressions = ca.vertsplit(ca.vec(expression)) if isinstance(expression, SX) else list(expression)
        row_names = tuple(f"{name}.{i}" for i in range(len(expressions)))
    else:
        row_names, expressions = (name,), [expression]
    parts = _rows(mechanism, name, row_names, expressions, level, units)
    return mechanism.register(Constraint(name, row_names, row_names == (name,), *parts, mechanism))


def contact(
    mechanism: Mechanism, name: str, normal: Expression, tangent: RowsLike, level: str, units: str | None
) -> ContactConstraint:
    """See `Mechanism.contact`."""
    single = not isinstance(tangent, list | tuple) and not is_matrix(tangent)
    several: list[Expression] = [] if tangent is None else [tangent] if single else [*tangent]
    row_names, groups = contact_rows(name, len(several))
    parts = _rows(mechanism, name, row_names, [normal, *several], level, units)
    return mechanism.register(ContactConstraint(name, row_names, False, *parts, mechanism, groups))


def _rows(
    mechanism: Mechanism,
    name: str,
    row_names: tuple[str, ...],
    expressions: list[Expression],
    level: str,
    units: str | None,
) -> tuple[SX, SX, SX | None, str]:
    """C, b, g and the units of u, of the expressions of a constraint."""
    if level not in ("velocity", "position"):
        raise BadConstraint(f"The level of constraint '{name}' is 'velocity' or 'position', not {level!r}.")
    if not expressions:
        raise BadConstraint(f"Constraint '{name}' has no rows; give at least one expression.")
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
        return C, b, column, rate_unit(units or "")
    for row_name, row, expression in zip(row_names, rows, expressions, strict=True):
        _refuse_nonlinear(mechanism, row_name, row, expression)
    C, b = s.affine(f"constraint '{name}'", column)
    for i, row_name in enumerate(row_names):
        if C[i, :].nnz() == 0 and ca.depends_on(b[i], s.q):
            raise BadConstraint(f"'{row_name}' contains no velocity; is it meant with level='position'?")
    return C, b, None, units or ""


def is_matrix(expression: Any) -> bool:
    """Whether it is a matrix of CasADi or SymPy, not a scalar."""
    if isinstance(expression, SX):
        return bool(expression.numel() != 1)
    return hasattr(expression, "tolist") and getattr(expression, "is_Matrix", False)


def check_names(made: Constraint, by_frame: bool) -> None:
    """Raise NameClash if a name of a constraint is taken. `by_frame`: it may be called as a frame of a robot is."""
    mechanism, own = made.mechanism, (made.name, *made.row_names)
    parts = {part for c in mechanism.constraints.values() for part in c.parts()}
    if by_frame:
        clash = next((part for part in own if part in parts or part in mechanism.parameters), None)
        if clash is not None:
            raise NameClash(f"There is something called '{clash}' already, and it is not this; choose another name.")
        return
    # A contact may carry the name of a coordinate or of its point: rows have names of their own, "stance.normal".
    harmless = ("coordinate", "velocity", "point") if isinstance(made, Contact) else ()
    taken = [pair for pair in mechanism.names() if pair[0] == made.name and pair[1] not in harmless]
    refuse_clash([*taken, (made.name, "constraint")])
    refuse_clash([(part, "constraint or row") for part in parts if part in own] + [(row, "row") for row in {*own}])


def _refuse_nonlinear(mechanism: Mechanism, name: str, row: SX, expression: Expression) -> None:
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
        mechanism.symbols.affine("term", expression)
    except NotAffine:
        return False
    return True
