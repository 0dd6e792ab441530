"""What a switch does to the state as formulas: its event, then relabelling, at its guard."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sympy as sp
from casadi import SX

from jourdain.algebra.closed_form import ClosedForm
from jourdain.algebra.readable import shortest, with_short_roots
from jourdain.errors import BadEvent
from jourdain.events.formulas import hidden_form, inserted_state, parameter_symbol, positive_sizes, rates, symbols_of
from jourdain.mechanism.exact import ExactNumbers, exact_number
from jourdain.mechanism.to_sympy import to_sympy
from jourdain.motion.guards import Reaction, Switch, guard_expression

if TYPE_CHECKING:
    from jourdain.motion.hybrid import Hybrid

ZERO = 1e-12  # what remains of a condition that holds, where it is a double


def jump_formulas(hybrid: Hybrid, switch: Switch, at: Mapping[Any, Any], simplify: bool) -> ClosedForm:
    """See `Hybrid.symbolic`."""
    if switch.event is None:
        raise BadEvent(f"The switch from '{switch.source}' has no event: velocities do not jump there.")
    jump, conditions = hybrid.jump(switch), _conditions(hybrid, switch)
    q, v, p, new_q, new_v, _ = jump.expressions
    exact = hybrid.mechanism.symbols.exact_numbers  # of all that was translated by now
    given = inserted_state(hybrid.mechanism, hybrid.parameters, at)
    given = {symbol: exact.hidden(e) for symbol, e in given.items()}
    inserted = _on_the_guard(hybrid, switch, conditions, given, exact)
    found = hidden_form(switch.event, inserted, simplify)
    if not switch.relabel:
        return found.changed(exact.shown)
    names = list(hybrid.parameters)
    symbols = symbols_of(switch.event)["q"]
    parameters = [parameter_symbol(hybrid.mechanism, name) for name in names]
    v_plus = [sp.Dummy(name) for name in found.v_plus]
    inputs = [(q, symbols), (v, v_plus), (p, parameters)]
    written = to_sympy({"q": new_q, "v": new_v}, inputs, exact.table)
    after = dict(zip(v_plus, found.v_plus.values(), strict=True))
    sizes = positive_sizes(hybrid.mechanism)
    own = {positive: symbol for symbol, positive in sizes.items()}

    def formula(e: sp.Expr) -> sp.Expr:
        e = with_short_roots(e.xreplace(inserted).xreplace(sizes)).xreplace(after).xreplace(sizes)
        if simplify:
            e = shortest(e.xreplace({angle: _known_angle(angle, exact) for angle in e.atoms(sp.atan2, sp.atan)}))
        return e.xreplace(own)

    s = hybrid.mechanism.symbols
    return found.relabelled(
        dict(zip(s.q_names, map(formula, written["q"]), strict=True)),
        dict(zip(s.v_names, map(formula, written["v"]), strict=True)),
        rates(hybrid.mechanism),
    ).changed(exact.shown)


def _known_angle(angle: sp.Expr, exact: ExactNumbers) -> sp.Expr:
    """The angle of a direction whose components are in a ratio of numbers; others as they are."""
    y, x = angle.args if isinstance(angle, sp.atan2) else (angle.args[0], sp.Integer(1))
    length = sp.sqrt(shortest(x**2 + y**2))
    direction = [exact.shown(shortest(part / length)) for part in (y, x)]
    if any(part.free_symbols for part in direction):
        return angle
    return exact_number(math.atan2(*map(float, direction)), exact.table)


def _conditions(hybrid: Hybrid, switch: Switch) -> list[SX]:
    """What is 0 when the switch acts: the gaps of what is on before, and the guard."""
    held = [c.g for c in hybrid.topologies[switch.source] if c.g is not None]
    return held if isinstance(switch.guard, Reaction) else [*held, guard_expression(switch, hybrid.mechanism)]


def _on_the_guard(
    hybrid: Hybrid, switch: Switch, conditions: list[SX], inserted: dict[Any, sp.Expr], exact: ExactNumbers
) -> dict[Any, sp.Expr]:
    """Besides `inserted`, coordinates that the conditions give as linear formulas of the others."""
    s, event = hybrid.mechanism.symbols, switch.event
    assert event is not None
    parameters = [parameter_symbol(hybrid.mechanism, name) for name in s.p_names]
    coordinates = symbols_of(event)["q"]
    inputs = [(s.q, coordinates), (s.p, parameters), (s.t, [sp.Symbol("t")])]
    written = to_sympy({str(i): condition for i, condition in enumerate(conditions)}, inputs, exact.table)
    for condition in [entry for column in written.values() for entry in column]:
        left = shortest(condition.xreplace(inserted))
        if exact.shown(left).is_number:
            if abs(exact.shown(left).evalf()) > ZERO:
                raise BadEvent(
                    f"at contradicts the guard or the constraints of '{switch.source}': {exact.shown(condition)} = 0."
                )
            continue
        for coordinate in reversed(coordinates):
            slope = sp.diff(left, coordinate)
            if slope != 0 and not slope.free_symbols & set(coordinates):
                value = shortest(coordinate - left / slope)
                inserted = {symbol: e.xreplace({coordinate: value}) for symbol, e in inserted.items()}
                inserted[coordinate] = value
                break
    return inserted
