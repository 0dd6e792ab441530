"""What is refused of one-sided contacts, whichever way they are given."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from jourdain.errors import BadEvent, listing
from jourdain.laws.coulomb import Coulomb
from jourdain.laws.frictionless import Frictionless
from jourdain.laws.law import Law
from jourdain.laws.moreau_coulomb import MoreauCoulomb
from jourdain.laws.no_slip import NoSlip

# The ways in which a contact can hold, in the order in which the algebra tries them.
WAYS: dict[type[Law], tuple[str, ...]] = {
    Frictionless: ("lifts", "holds"),
    NoSlip: ("lifts", "slides", "sticks"),
    MoreauCoulomb: ("lifts", "sticks", "slips forward", "slips backward"),
    Coulomb: ("strikes",),
}
MOST_WAYS = 81  # of all contacts of an event, all tried: six without friction, four that may stick, or three rough ones
MOST_IN_SPACE = 8  # contacts whose impulses are found by iteration


def refuse_law(name: str, law: Any, n_tangents: int) -> None:
    """BadEvent for what is no law, or one that this contact cannot follow."""
    if type(law) not in WAYS:
        raise BadEvent(f"contacts gives '{name}' the law {law!r}; give one of jd.laws, such as Frictionless(0.5).")
    if not isinstance(law, Frictionless) and not n_tangents:
        raise BadEvent(f"'{name}' has no tangential rows, so nothing can slip; give tangent=[…], or Frictionless.")
    if isinstance(law, Coulomb | MoreauCoulomb) and n_tangents > 2:
        raise BadEvent(f"'{name}' has {n_tangents} tangential rows; with friction a contact has one, or two in space.")


def refuse_mixtures(
    laws: Mapping[str, Law], n_tangents: Sequence[int], impulsive: Sequence[str], applied: bool
) -> None:
    """Laws that rigid bodies do not allow together, or that would have too many ways to hold.

    `laws`: by contact; `n_tangents`: of each. `impulsive`: what else acts impulsively, nonideal rows too. `applied`:
    whether an impulse does.
    """
    frictional = [name for name, law in laws.items() if isinstance(law, Coulomb)]
    if frictional and (len(laws) > 1 or impulsive or applied):
        others = [name for name in laws if name != frictional[0]] + list(impulsive)
        together = listing(others) if others else "an applied impulse"
        raise BadEvent(
            f"'{frictional[0]}' has friction inside the event, but {together} acts at the same time: rigid bodies do "
            "not tell how they grow together. Use MoreauCoulomb, or solve one after the other."
        )
    kinds = {law.law for law in laws.values() if isinstance(law, Frictionless)}
    if len(kinds) > 1 or (kinds == {"poisson"} and len({type(law) for law in laws.values()}) > 1):
        raise BadEvent(f"The contacts {listing(laws)} mix Moreau's and Poisson's law; give all of them one.")
    if len({isinstance(law, MoreauCoulomb) for law in laws.values()}) > 1:
        raise BadEvent(f"The contacts {listing(laws)} mix MoreauCoulomb with other laws; give all of them friction.")
    if any(isinstance(law, MoreauCoulomb) for law in laws.values()) and max(n_tangents) > 1:
        if len(set(n_tangents)) > 1:
            raise BadEvent(f"Of {listing(laws)} some are planar and some in space; give all of them two tangents.")
        if len(laws) > MOST_IN_SPACE:
            raise BadEvent(f"There are {len(laws)} contacts in space with friction; take {MOST_IN_SPACE} at most.")
        return  # found by iteration: ways are not tried
    n_ways = math.prod(len(WAYS[type(law)]) for law in laws.values())
    if n_ways > MOST_WAYS:
        raise BadEvent(
            f"The contacts have {n_ways} ways to hold, more than the {MOST_WAYS} that are tried; take fewer."
        )
