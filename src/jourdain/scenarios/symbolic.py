"""The outcome of a scenario in closed form: that of its event, with the pose and the prior velocity inserted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp
from casadi import SX

from jourdain.algebra.closed_form import ClosedForm
from jourdain.errors import BadEvent
from jourdain.events import formulas
from jourdain.events.event import Event
from jourdain.mechanism.to_sympy import to_sympy
from jourdain.naming import name_of


def closed_form(
    event: Event, state: tuple[SX, SX, SX], symbols: SX, names: Sequence[str], at: Mapping[Any, Any], simplify: bool
) -> ClosedForm:
    """`state`: q, v and the event's parameters, written in the scenario's parameters `symbols`, called `names`.

    `at`: what is inserted for these parameters.
    """
    own = {name: formulas.parameter_symbol(event.mechanism, name) for name in names}
    exact = event.mechanism.symbols.exact_numbers.table
    written = to_sympy(dict(zip("qvp", state, strict=True)), [(symbols, list(own.values()))], exact)
    if any(column.has(sp.nan) for column in written.values()):
        raise BadEvent("The pose does not exist for all parameters, and has no formula; use event.symbolic().")
    given = formulas.inserted_values(own, at, name_of, "parameter")
    inserted = {symbol: e.xreplace(given) for part, several in formulas.symbols_of(event).items()
                for symbol, e in zip(several, written[part], strict=True)}  # fmt: skip
    return formulas.closed_form(event, inserted, simplify)
