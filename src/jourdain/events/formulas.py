"""The outcome of an event as formulas, at a pose and a prior velocity that may be formulas themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
import sympy as sp
from casadi import SX

from jourdain.algebra import unrolled
from jourdain.algebra.closed_form import ClosedForm, dependent_velocities, solve
from jourdain.algebra.problem import target
from jourdain.algebra.readable import limit, shortest, with_short_roots
from jourdain.errors import BadEvent, listing
from jourdain.errors import unknown as unknown_name
from jourdain.kinds import BEFORE_KINDS, ON_KINDS, Kind
from jourdain.mechanism.exact import exact_number
from jourdain.mechanism.to_sympy import to_sympy
from jourdain.naming import name_of
from jourdain.progress import working

if TYPE_CHECKING:
    from jourdain.events.event import Event
    from jourdain.mechanism.mechanism import Mechanism

MOST_OPERATIONS = 250  # in M and the rows of what has a closed form; the pantograph has 183 and takes ten seconds
MOST_SIMPLIFIED = 150  # of what is simplified; the walker has 99
Inserted = Mapping[sp.Symbol, sp.Expr]


def closed_form(event: Event, inserted: Inserted = {}, simplify: bool = False) -> ClosedForm:
    """The formulas of `Event.symbolic`. `inserted`: what stands for coordinates, prior velocities and parameters.

    `simplify` inserts the rows that are on before, too, and looks for the shortest formulas.
    """
    return hidden_form(event, inserted, simplify).changed(event.mechanism.symbols.exact_numbers.shown)


def hidden_form(event: Event, inserted: Inserted, simplify: bool) -> ClosedForm:
    """The same while π/n stands as a symbol."""
    _check_size(event, MOST_SIMPLIFIED if simplify else MOST_OPERATIONS)
    _check_names(event)
    with working("Deriving", "the closed form of an event", 1) as begin:
        begin()
        found = _formulas(event, inserted, simplify)
    for address, e in found.formulas().items():
        if e.has(sp.nan, sp.zoo, sp.oo, -sp.oo):
            raise BadEvent(
                f"{address} is not finite in general where this is inserted: rows are dependent there, or a mass is 0 "
                "that something needs; insert less."
            )
    return found


def _formulas(event: Event, inserted: Inserted, simplify: bool) -> ClosedForm:
    """The outcome at what is inserted."""
    exact = event.mechanism.symbols.exact_numbers
    sizes = positive_sizes(event.mechanism) if simplify else {}
    written, inserted = _written(event), {symbol: exact.hidden(e) for symbol, e in inserted.items()}
    vanishing = _vanishing(written["M"], inserted)
    at = {name: matrix.xreplace({**inserted, **{symbol: symbol for symbol in vanishing}}).xreplace(sizes)
          for name, matrix in written.items()}  # fmt: skip
    if simplify:
        at = {name: matrix.applyfunc(with_short_roots) for name, matrix in at.items()}
        unknown = [symbol for symbol in symbols_of(event)["v"] if symbol not in inserted]
        held = dependent_velocities(at["C_prior"], at["b_prior"], at["v"], unknown)
        at = {name: matrix.xreplace(held) for name, matrix in at.items()}
    on = [i for i, row in enumerate(event.layout.rows) if row.kind in ON_KINDS]
    found = solve(
        at["M"], at["C"][on, :], at["before"], at["jump"], at["f"], at["v"], at["G"], at["g_plus"],
        n_regular=len(event.analysis.select((Kind.REGULAR,))), velocities=event.mechanism.symbols.v_names,
        rows={c.name: c.rows for c in event.layout.constraints if c.kind in ON_KINDS},
        outputs=list(event.mechanism.outputs), rates=rates(event.mechanism), simplify=simplify,
    )  # fmt: skip
    own = {positive: symbol for symbol, positive in sizes.items()}

    def finished(e: sp.Expr) -> sp.Expr:
        if vanishing:
            e = limit(e, [symbol.xreplace(sizes) for symbol in vanishing])
            e = shortest(e) if simplify else e
        return e.xreplace(own)

    return found.changed(finished)


def positive_sizes(mechanism: Mechanism) -> dict[sp.Symbol, sp.Symbol]:
    """Lengths and masses whose defaults are positive, and positive symbols for them: √(l²) is l."""
    return {parameter_symbol(mechanism, name): sp.Dummy(name, positive=True)
            for name, value in mechanism.parameters.items()
            if mechanism.units.get(name) in ("m", "kg") and value is not None and value > 0}  # fmt: skip


def symbols_of(event: Event) -> dict[str, list[sp.Symbol]]:
    """What q, v⁻ and the event's parameters are called in formulas."""
    m = event.mechanism
    return {
        "q": [sp.Symbol(name) for name in m.symbols.q_names],
        "v": [sp.Symbol(f"{name}_minus") for name in m.symbols.v_names],
        "p": [parameter_symbol(m, name) for name in event.parameters],
    }


def parameter_symbol(mechanism: Mechanism, name: str) -> sp.Symbol:
    """The user's own symbol of a parameter, where there is one."""
    return mechanism.sympy_parameters.get(name, sp.Symbol(name))


def rates(mechanism: Mechanism) -> list[str]:
    """The velocities that are rates of coordinates."""
    return [name for name in mechanism.symbols.v_names if name in mechanism.symbols.q_names]


def inserted_state(mechanism: Mechanism, parameters: Iterable[str], at: Mapping[Any, Any]) -> dict[Any, sp.Expr]:
    """`at` as formulas have it: by coordinate, prior velocity ("theta_minus", or the rate) and parameter."""
    s = mechanism.symbols
    known = {name: sp.Symbol(name) for name in s.q_names} | {f"{n}_minus": sp.Symbol(f"{n}_minus") for n in s.v_names}
    known |= {name: parameter_symbol(mechanism, name) for name in parameters}

    def name(key: Any) -> str:
        rate = type(key).__name__ == "Derivative" or (name_of(key) in s.v_names and name_of(key) not in s.q_names)
        return f"{name_of(key)}_minus" if rate else name_of(key)

    return inserted_values(known, at, name, "coordinate, prior velocity or parameter")


def inserted_values(
    known: Mapping[str, sp.Symbol], at: Mapping[Any, Any], name: Callable[[Any], str], what: str
) -> dict[Any, sp.Expr]:
    """Symbol → what is inserted for it. `known`: those of the formulas, by name; `what`: what they are, for errors."""

    def expression(value: Any) -> sp.Expr:
        if isinstance(value, str | bool) or not isinstance(value, int | float | sp.Expr | np.number):
            raise BadEvent(f"at takes numbers and SymPy expressions, not {value!r}.")
        e = exact_number(float(value)) if isinstance(value, float | np.number) else sp.sympify(value)
        if not np.isfinite(complex(e)) if e.is_number else False:
            raise BadEvent(f"at takes finite numbers, not {value!r}.")
        functions = e.atoms(sp.Derivative) | e.atoms(sp.core.function.AppliedUndef)
        e = e.xreplace({one: sp.Symbol(name(one)) for one in functions})
        return e.xreplace({one: known[one.name] for one in e.free_symbols if one.name in known})

    found = {}
    for key, value in at.items():
        if name(key) not in known:
            raise unknown_name(what, name(key), known)
        found[known[name(key)]] = expression(value)
    return _composed(found)


def _composed(inserted: dict[Any, sp.Expr]) -> dict[Any, sp.Expr]:
    """Formulas that use others of them, with these inserted: all can be inserted at once."""
    for _ in range(len(inserted) + 1):
        after = {symbol: e.xreplace(inserted) for symbol, e in inserted.items()}
        if after == inserted:
            return inserted
        inserted = after
    raise BadEvent(f"at defines {listing(map(str, inserted))} by each other; give one of them without the others.")


def _check_names(event: Event) -> None:
    """Raise where a parameter is called as a prior velocity is in formulas."""
    for name in event.parameters:
        velocity = name.removesuffix("_minus")
        if velocity != name and velocity in event.mechanism.symbols.v_names:
            raise BadEvent(
                f"The parameter '{name}' is called as formulas call the prior velocity of '{velocity}'; rename it."
            )


def _check_size(event: Event, most: int) -> None:
    """Raise for events whose closed form would be too long, or does not exist."""
    written = [event.mechanism.M, *(role.block.C for role in event.roles)]
    n = ca.Function("size", event.inputs, written, {"cse": True}).n_instructions()
    if n > most:
        remedy = "solve, gradient or function" if n > MOST_OPERATIONS else "event.symbolic() without simplify"
        raise BadEvent(
            f"M and the rows take {n} operations, so a closed form would be too long to be found or read; use {remedy}."
        )
    on = event.analysis.select(ON_KINDS)
    independent = event.analysis.independent(ON_KINDS)
    if len(independent) < len(on):
        names = [event.layout.rows[on[i]].name for i in range(len(on)) if i not in independent]
        raise BadEvent(f"Rows {listing(names)} are redundant, so impulses have no closed form; leave them out.")


def _written(event: Event) -> dict[str, sp.Matrix]:
    """M, rows, biases, impulses and outputs of the event in SymPy.

    Rows that are on before have C v⁻ = −b⁻; the others are to jump by C(v⁺ − v⁻) = target − b⁺ − C v⁻.
    """
    s, own = event.mechanism.symbols, symbols_of(event)
    inputs = [(s.q, own["q"]), (s.v, own["v"]), (event.inputs[2], own["p"])]
    blocks = [role.block for role in event.roles if role.block.kind in ON_KINDS]
    prior = [role.block for role in event.roles if role.block.kind in BEFORE_KINDS]
    before = [-block.b_minus if block.kind in BEFORE_KINDS else block.C @ s.v for block in blocks]
    jump = [target(block, s.v, unrolled) - block.b_plus - u for block, u in zip(blocks, before, strict=True)]
    n = len(s.v_names)
    matrices = {
        "M": event.mechanism.M,
        "v": s.v,
        "before": ca.vertcat(SX(0, 1), *before),
        "jump": ca.vertcat(SX(0, 1), *jump),
        "C": ca.vertcat(SX(0, n), *(role.block.C for role in event.roles)),  # as written
        "C_prior": ca.vertcat(SX(0, n), *(block.C for block in prior)),
        "b_prior": ca.vertcat(SX(0, 1), *(block.b_minus for block in prior)),
    }
    return to_sympy(event.analysis.at_pose.outputs | matrices, inputs, s.exact_numbers.table)


def _vanishing(M: sp.Matrix, inserted: Inserted) -> list[sp.Symbol]:
    """Parameters that are to be 0 and without which M would be singular, as the mass of a light foot."""
    zero = [symbol for symbol, e in inserted.items() if e == 0 and symbol in M.free_symbols]
    there = {symbol: e for symbol, e in inserted.items() if symbol not in zero}
    rng = np.random.default_rng(0)

    def singular(M: sp.Matrix) -> bool:
        numbers = {symbol: rng.uniform(0.5, 1.5) for symbol in sorted(M.free_symbols, key=str)}
        return bool(np.linalg.matrix_rank(np.array(M.evalf(subs=numbers), dtype=float)) < M.rows)

    kept: list[sp.Symbol] = []
    for symbol in zero:
        if singular(M.xreplace({**there, symbol: sp.Integer(0)})):
            kept.append(symbol)
        else:
            there[symbol] = sp.Integer(0)
    return kept
