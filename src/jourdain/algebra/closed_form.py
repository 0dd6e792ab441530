"""The outcome of an event in closed form.

The jump Δ = v⁺ − v⁻ is split along pivot velocities, which the rows determine, and free ones φ:

    C Δ = r,  Δ = D φ + d,  D = (−C_P⁻¹ C_F, I),  d = (C_P⁻¹ r, 0),  r = target − b⁺ − C v⁻
    Dᵀ M D φ = Dᵀ (f̄ − M d),   C_Pᵀ λ̄ = (M Δ − f̄)_P

Rows that are on before enter with C v⁻ = −b⁻, so that the formulas hold for prior velocities that satisfy them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice

import sympy as sp

from jourdain.algebra.readable import canonical, readable, shortest
from jourdain.errors import BadEvent
from jourdain.naming import Named
from jourdain.output import latex
from jourdain.output.printable import prints

SMALL = 250  # operations of what is printed without shared factors
ROUNDING = 1e-12  # of a row that holds
Tidy = Callable[[sp.Expr], sp.Expr]


@dataclass(frozen=True)
class ClosedForm:
    """Formulas by name. Prior velocities are the symbols `<name>_minus`."""

    v_plus: Mapping[str, sp.Expr]
    impulse: Mapping[str, sp.Expr]  # by constraint (a column where it has several rows), or by row
    outputs_plus: Mapping[str, sp.Expr]
    T_c_minus: sp.Expr
    loss: sp.Expr
    rows: tuple[str, ...]  # names of the rows that are on
    rates: tuple[str, ...]  # velocities that are rates of coordinates; the others are quasi-velocities
    q_plus: Mapping[str, sp.Expr] = field(default_factory=dict)  # of a switch that relabels: coordinates after

    def changed(self, change: Callable[[sp.Expr], sp.Expr]) -> ClosedForm:
        """Each formula changed by a function."""

        def each(formulas: Mapping[str, sp.Expr]) -> dict[str, sp.Expr]:
            return {name: change(e) for name, e in formulas.items()}

        rows = {row: change(self.impulse[row]) for row in self.rows}
        columns = {name: e.applyfunc(change) if isinstance(e, sp.MatrixBase) else rows[name] if name in rows
                   else change(e) for name, e in self.impulse.items()}  # fmt: skip
        return replace(
            self, v_plus=each(self.v_plus), impulse=Named("constraint or row", columns, rows),
            outputs_plus=each(self.outputs_plus), T_c_minus=change(self.T_c_minus), loss=change(self.loss),
            q_plus=each(self.q_plus),
        )  # fmt: skip

    def relabelled(
        self, q_plus: Mapping[str, sp.Expr], v_plus: Mapping[str, sp.Expr], rates: Sequence[str]
    ) -> ClosedForm:
        """With the state after a switch that relabels."""
        return replace(self, q_plus=q_plus, v_plus=v_plus, rates=tuple(rates))

    def formulas(self) -> dict[str, sp.Expr]:
        """All of them, keyed as quantities are addressed: "v_plus.theta", "impulse.blade", "loss"."""
        found = {f"q_plus.{name}": e for name, e in self.q_plus.items()}
        found |= {f"v_plus.{name}": e for name, e in self.v_plus.items()}
        found |= {f"impulse.{name}": self.impulse[name] for name in self.rows}
        found |= {f"outputs_plus.{name}": e for name, e in self.outputs_plus.items()}
        return found | {"T_c_minus": self.T_c_minus, "loss": self.loss}

    def shared(self, of: str | None = None) -> tuple[list[tuple[sp.Symbol, sp.Expr]], dict[str, sp.Expr]]:
        """Shared factors pulled out: definitions x0, x1, … in order, and the formulas in terms of them.

        `of`: only the formulas whose key starts with it, e.g. "impulse".
        """
        chosen = {key: e for key, e in self.formulas().items() if of is None or key.startswith(of)}
        definitions, reduced = sp.cse(list(chosen.values()), symbols=sp.numbered_symbols("x", start=0))
        return definitions, dict(zip(chosen, reduced, strict=True))

    def latex(self, of: str | None = None) -> str:
        """The formulas as a LaTeX `aligned` environment; long ones with their shared factors below."""
        definitions, formulas = self._printed(of)
        names = self._symbol_names()
        lines = [f"{self._label(key)} &= {sp.latex(e, symbol_names=names)}" for key, e in formulas.items()]
        lines += [f"{sp.latex(symbol)} &= {sp.latex(e, symbol_names=names)}" for symbol, e in definitions]
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    def _printed(self, of: str | None) -> tuple[list[tuple[sp.Symbol, sp.Expr]], dict[str, sp.Expr]]:
        """Formulas as they are; long ones with their shared factors."""
        if sum(sp.count_ops(e) for e in self.formulas().values()) < SMALL:
            return [], {k: e for k, e in self.formulas().items() if of is None or k.startswith(of)}
        return self.shared(of)

    def _label(self, key: str) -> str:
        kind, _, name = key.partition(".")
        if kind == "q_plus":
            return f"{latex.symbol(name)}^+"
        if kind == "v_plus":
            return f"{self._velocity(name)}^+"
        if kind == "impulse":
            return rf"\bar\lambda_{{\text{{{latex.escaped(name)}}}}}"
        if kind == "outputs_plus":
            return f"{latex.symbol(name)}^+"
        return {"T_c_minus": "T_c^-", "loss": "T^- - T^+"}[kind]

    def _velocity(self, name: str) -> str:
        return latex.symbol(name, dotted=name in self.rates)

    def _symbol_names(self) -> dict[sp.Symbol, str]:
        """x_minus as ẋ⁻, v_S_plus as v_S⁺; words upright."""
        names = {}
        for symbol in set().union(*(e.free_symbols for e in self.formulas().values())):
            names[symbol] = latex.symbol(symbol.name)
            for suffix, sign in (("_minus", "-"), ("_plus", "+")):
                stem = symbol.name.removesuffix(suffix)
                if stem != symbol.name:
                    label = self._velocity(stem) if stem in self.v_plus else latex.symbol(stem)
                    names[symbol] = f"{{{label}}}^{sign}"
        return names

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"

    @prints
    def __str__(self) -> str:
        definitions, formulas = self._printed(None)
        return "\n".join(f"{key} = {e}" for key, e in (*formulas.items(), *definitions))


def solve(
    M: sp.Matrix,
    C: sp.Matrix,
    before: sp.Matrix,
    jump: sp.Matrix,
    f: sp.Matrix,
    v_minus: sp.Matrix,
    G: sp.Matrix,
    g: sp.Matrix,
    n_regular: int,
    velocities: Sequence[str],
    rows: Mapping[str, Sequence[str]],
    outputs: Sequence[str],
    rates: Sequence[str],
    simplify: bool = False,
) -> ClosedForm:
    """The closed form for independent rows C (k × n), the first `n_regular` of them regular.

    `before` is C v⁻ as far as it is known, `jump` is r; outputs are G v + g; `rows` names those of each constraint.
    `simplify`: every step is a fraction of polynomials, however long, and what comes out is as short as can be found.
    """
    tidy, finish = (canonical, shortest) if simplify else (readable, readable)
    M, C = M.applyfunc(tidy), C.applyfunc(tidy)
    response = _Response(M, C, tidy)
    delta, impulse = response(jump, f)
    v_plus = sp.Matrix([_sum(*pair, tidy) for pair in zip(v_minus, delta, strict=True)])
    outputs_plus = (G * v_plus + g).applyfunc(finish)
    if simplify:
        v_plus = sp.Matrix([_sum(*pair, finish) for pair in zip(v_minus, delta, strict=True)])
    # loss = −f̄ᵀ(v⁻ + Δ/2) − λ̄ᵀ(C v⁻ + r/2)
    work = f.T * (v_minus + delta / 2) + impulse.T * (before + jump / 2)
    # T_c⁻ = ½‖(P_c + P_R) v⁻‖² − ½‖P_R v⁻‖²; the second is 0 unless a regular row has a bias.
    ideal = jump == -before and f.is_zero_matrix  # inert rows alone: their impulse is known already
    T_c = -(before.T * impulse)[0] / 2 if ideal and before.rows else _constrained_energy(response, before)
    held = before[:n_regular, :]
    if any(entry != 0 for entry in held):
        T_c -= _constrained_energy(_Response(M, C[:n_regular, :], tidy), held)
    impulse = impulse.applyfunc(finish)
    by_row = dict(zip([row for several in rows.values() for row in several], impulse, strict=True))
    by_constraint = {
        name: by_row[name] if several == (name,) else sp.Matrix([by_row[row] for row in several])
        for name, several in rows.items()
    }
    return ClosedForm(
        dict(zip(velocities, v_plus, strict=True)),
        Named("constraint or row", by_constraint, by_row),
        dict(zip(outputs, outputs_plus, strict=True)),
        finish(T_c),
        finish(-work[0]),
        tuple(by_row),
        tuple(rates),
    )


def _sum(v_minus: sp.Expr, delta: sp.Expr, finish: Tidy) -> sp.Expr:
    """v⁻ + Δ as one fraction or as a sum, whichever is shorter."""
    return min((finish(v_minus + delta), v_minus + finish(delta)), key=sp.count_ops)


def _constrained_energy(response: _Response, u: sp.Matrix) -> sp.Expr:
    """½ uᵀ W⁻¹ u."""
    _, impulse = response(u, sp.zeros(response.M.rows, 1))
    return (u.T * impulse)[0] / 2 if u.rows else sp.Integer(0)


def dependent_velocities(
    C: sp.Matrix, b: sp.Matrix, v: sp.Matrix, unknown: Sequence[sp.Symbol]
) -> dict[sp.Symbol, sp.Expr]:
    """What rows that hold, C v + b = 0, say of the symbols `unknown` in v: some of them by the others.

    Empty where the rows are dependent. Raises where a row holds for none of them.
    """
    moving = [j for j in range(v.rows) if v[j] in unknown]
    known = [j for j in range(v.rows) if j not in moving]
    offset = b + C.extract(list(range(C.rows)), known) * v.extract(known, [0])
    C, v = C.extract(list(range(C.rows)), moving).applyfunc(readable), v.extract(moving, [0])
    rows = [i for i in range(C.rows) if not C[i, :].is_zero_matrix]
    for i in set(range(C.rows)) - set(rows):
        missed = readable(offset[i])
        if missed.is_number and abs(missed.evalf()) > ROUNDING:
            raise BadEvent(
                f"Prior velocities that are inserted miss a row that is on before, by {missed}; leave one out."
            )
    try:
        pivots = _pivot_columns(C.extract(rows, list(range(C.cols))))
    except BadEvent:
        return {}
    free = [j for j in range(C.cols) if j not in pivots]
    inverse = _inverse(C.extract(rows, pivots)).applyfunc(readable)
    found = -inverse * (C.extract(rows, free) * v.extract(free, [0]) + offset.extract(rows, [0]))
    return dict(zip(v.extract(pivots, [0]), found.applyfunc(readable), strict=True))


class _Response:
    """(Δ, λ̄) for a jump r of the rows and an impulse f̄; the matrices are inverted once."""

    def __init__(self, M: sp.Matrix, C: sp.Matrix, tidy: Tidy) -> None:
        self.M, self.tidy, n = M, tidy, M.rows
        self.pivots = _pivot_columns(C)
        self.free = [j for j in range(n) if j not in self.pivots]
        C_P, C_F = C.extract(list(range(C.rows)), self.pivots), C.extract(list(range(C.rows)), self.free)
        self.C_P_inverse = _inverse(C_P).applyfunc(tidy)
        block = -self.C_P_inverse * C_F
        self.D = sp.zeros(n, len(self.free))
        for i, row in enumerate(self.pivots):
            self.D[row, :] = block[i, :].applyfunc(tidy)
        for i, row in enumerate(self.free):
            self.D[row, i] = 1
        self.mass_inverse = _inverse((self.D.T * M * self.D).applyfunc(tidy))

    def __call__(self, r: sp.Matrix, f: sp.Matrix) -> tuple[sp.Matrix, sp.Matrix]:
        d = sp.zeros(self.M.rows, 1)
        for i, row in enumerate(self.pivots):
            d[row] = self.tidy((self.C_P_inverse[i, :] * r)[0])
        phi = self.mass_inverse * (self.D.T * (f - self.M * d)).applyfunc(self.tidy)
        delta = self.D * phi + d
        momentum = (self.M * delta - f).extract(self.pivots, [0]) if self.pivots else sp.zeros(0, 1)
        return delta, (self.C_P_inverse.T * momentum).applyfunc(self.tidy)


def _pivot_columns(C: sp.Matrix) -> list[int]:
    """The columns whose determinant is simplest: a number if there is one, else the fewest operations."""
    k = C.rows
    if k == 0:
        return []
    best: tuple[float, list[int]] | None = None
    moving = [j for j in range(C.cols) if not C[:, j].is_zero_matrix]
    for columns in islice(combinations(moving, k), 500):
        determinant = readable(C.extract(list(range(k)), list(columns)).det(method="berkowitz"))
        cost = float("inf") if determinant == 0 else sp.count_ops(determinant) + len(determinant.free_symbols)
        if cost < (best[0] if best else float("inf")):
            best = (cost, list(columns))
    if best is None:
        raise BadEvent("No set of velocities was found that the rows determine in closed form; leave some rows out.")
    return best[1]


def _inverse(A: sp.Matrix) -> sp.Matrix:
    """A⁻¹, block by block where A falls into independent blocks."""
    inverse = sp.zeros(*A.shape)
    for block in A.connected_components() if A.rows else []:
        part = _inverse_of_block(A.extract(block, block))
        for i, row in enumerate(block):
            for j, column in enumerate(block):
                inverse[row, column] = part[i, j]
    return inverse


def _inverse_of_block(A: sp.Matrix) -> sp.Matrix:
    """By cofactors of placeholder symbols, so that entries are not expanded into each other."""
    names: dict[sp.Expr, sp.Symbol] = {}
    symmetric = A.is_symmetric()

    def placeholder(i: int, j: int) -> sp.Expr:
        entry = A[min(i, j), max(i, j)] if symmetric else A[i, j]
        if entry.is_number or entry.is_Symbol:
            return entry
        return names.setdefault(entry, sp.Dummy(f"a{len(names)}"))

    B = sp.Matrix(A.rows, A.cols, placeholder)
    if A.rows <= 4:
        inverse = B.adjugate(method="berkowitz") / B.det(method="berkowitz")
    else:
        inverse = B.inv(method="LDL" if symmetric else "LU")
    tidied = inverse.applyfunc(sp.factor if A.rows <= 3 else sp.together)
    return tidied.xreplace({symbol: e for e, symbol in names.items()})
