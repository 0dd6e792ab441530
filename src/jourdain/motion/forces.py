"""What drives a mechanism between events: its own loads, forces along velocities, parameters that vary in time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.errors import BadEvent, unknown
from jourdain.inputs import Array, Expression
from jourdain.mechanism.mechanism import Mechanism
from jourdain.naming import name_of

Force: TypeAlias = Callable[[float, Array, Array], Any]  # t, q, v → one number
Drive: TypeAlias = Expression | Force


@dataclass(frozen=True)
class Forces:
    """All generalized forces of a mechanism."""

    total: SX  # (n_v, 1)
    given: SX  # (functions, 1), symbols in `total` whose numbers Python functions give
    functions: Mapping[str, Force]  # by what they give, in the order of `given`


def total_forces(mechanism: Mechanism, forces: Mapping[Any, Drive], drive: Mapping[Any, Drive]) -> Forces:
    """The mechanism's own forces, its parameters driven, and those along velocities."""
    s = mechanism.symbols
    given, functions = SX(0, 1), dict[str, Force]()

    def value(what: str, source: Drive) -> SX:
        """An expression as it is, or a symbol for what a function gives."""
        nonlocal given
        if not callable(source) or hasattr(source, "free_symbols") or isinstance(source, SX):
            return s.translate(source)
        symbol = SX.sym(what)
        given, functions[what] = ca.vertcat(given, symbol), source
        return symbol

    added = SX(len(s.v_names), 1)
    for key, force in forces.items():
        name = name_of(key)
        if name not in s.v_names:
            raise unknown("velocity", name, s.v_names)
        added[s.v_names.index(name)] += value(f"force along '{name}'", force)
    places, values = [], []
    for key, source in drive.items():
        name = name_of(key)
        if name not in s.p_names:
            raise unknown("parameter", name, s.p_names)
        places.append(s.p_names.index(name))
        _check_only_in_forces(mechanism, name)
        values.append(value(f"drive of '{name}'", source))
    own = mechanism.loads.force
    if places:
        own = ca.substitute(own, s.p[places], ca.vertcat(*values))
    return Forces(own + added, given, functions)


def _check_only_in_forces(mechanism: Mechanism, name: str) -> None:
    """Raise BadEvent for a parameter that cannot be driven, since it changes more than forces."""
    s, loads = mechanism.symbols, mechanism.loads
    own = {"the mass matrix": mechanism.M, "the kinematics": s.N}
    own |= {} if loads.potential is None else {"the potential energy": loads.potential}
    for constraint in mechanism.constraints.values():
        rows = [constraint.C, constraint.b, *([] if constraint.g is None else [constraint.g])]
        own[f"constraint '{constraint.name}'"] = ca.vertcat(*map(ca.vec, rows))
    for where, expression in own.items():
        if ca.depends_on(ca.vec(expression), s.parameters[name]):
            raise BadEvent(f"Parameter '{name}' cannot be driven: it stands in {where}, not only in loads.")


def given_number(what: str, function: Force, t: float, q: Array, v: Array) -> float:
    """The number that a Python function gives at a state."""
    value = function(float(t), q, v)
    if np.ndim(value) or not isinstance(value, int | float | np.number | np.ndarray):
        raise BadEvent(f"The {what} is {value!r} at t = {t:.6g} s; the function must give one number.")
    return float(value)
