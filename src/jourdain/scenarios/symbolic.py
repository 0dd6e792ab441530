"""The outcome of a scenario in closed form: that of its event, with the pose and the prior velocity inserted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import sympy as sp
from casadi import SX

from jourdain.algebra.closed_form import ClosedForm, readable
from jourdain.events.event import Event
from jourdain.mechanism.to_sympy import to_sympy
from jourdain.naming import Named

MOST = 800  # operations of what SymPy is asked to simplify


def closed_form(
    event: Event, state: tuple[SX, SX, SX], symbols: SX, names: Sequence[str], simplify: bool
) -> ClosedForm:
    """`state`: q, v and the event's parameters, written in the scenario's parameters `symbols`, called `names`."""
    s = event.mechanism.symbols
    own = [event.mechanism.sympy_parameters.get(name, sp.Symbol(name)) for name in names]
    written = to_sympy(dict(zip("qvp", state, strict=True)), [(symbols, own)])
    named = {
        "q": [sp.Symbol(name) for name in s.q_names],
        "v": [sp.Symbol(f"{name}_minus") for name in s.v_names],
        "p": [event.mechanism.sympy_parameters.get(name, sp.Symbol(name)) for name in event.parameters],
    }
    inserted = {symbol: e for part, several in named.items() for symbol, e in zip(several, written[part], strict=True)}
    found = event.symbolic()

    def at(e: sp.Expr) -> sp.Expr:
        e = e.xreplace(inserted)
        return shortest(e) if simplify else e

    rows = {row: at(found.impulse[row]) for row in found.rows}
    by_constraint = {name: e.applyfunc(at) if isinstance(e, sp.MatrixBase) else rows[name] if name in rows else at(e)
                     for name, e in found.impulse.items()}  # fmt: skip
    return replace(
        found,
        v_plus=_each(found.v_plus, at),
        impulse=Named("constraint or row", by_constraint, rows),
        outputs_plus=_each(found.outputs_plus, at),
        T_c_minus=at(found.T_c_minus),
        loss=at(found.loss),
    )


def _each(formulas: Mapping[str, sp.Expr], change: Callable[[sp.Expr], sp.Expr]) -> dict[str, sp.Expr]:
    return {name: change(e) for name, e in formulas.items()}


def shortest(e: sp.Expr) -> sp.Expr:
    """The shortest of what polynomials in sines and cosines, and what SymPy's rules for angles, make of it.

    >>> a, b = sp.symbols("a b")
    >>> shortest(sp.cos(a) * sp.cos(b) + sp.sin(a) * sp.sin(b))
    cos(a - b)
    """
    found = [e, readable(e)]
    if sp.count_ops(found[-1]) <= MOST:
        turned = sp.trigsimp(found[-1])
        found += [turned, readable(turned), sp.factor(turned)]
        found.append(sp.simplify(min(found, key=sp.count_ops)))
    return min(found, key=sp.count_ops)
