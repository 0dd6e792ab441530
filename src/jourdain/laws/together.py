"""Which contacts can take part in one event: a law for each, and laws that go together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jourdain.algebra.contacts.contacts import ContactLaw, ContactSolver
from jourdain.errors import BadEvent, listing
from jourdain.laws.law import Law

MOST_WAYS = 81  # of all contacts of an event, all tried: six without friction, four that may stick, or three rough ones
MOST_IN_SPACE = 8  # contacts whose impulses are found by iteration


def check_law(name: str, law: Any, n_tangents: int) -> Law:
    """The law, if it is one and this contact can follow it."""
    if not isinstance(law, Law):
        raise BadEvent(f"contacts gives '{name}' the law {law!r}; give one of jd.laws, such as Frictionless(0.5).")
    kind, solver = type(law).__name__, law.solver
    if "__dataclass_fields__" not in vars(type(law)):
        raise BadEvent(f"The law {kind} is no dataclass; write @dataclass(frozen=True) above it.")
    if not isinstance(solver, ContactSolver):
        raise BadEvent(f"The solver of {kind} is {solver!r}; make it a property that returns a ContactSolver.")
    if missing := [number for number in solver.needs if number not in law.values()]:
        raise BadEvent(f"The law {kind} has no {listing(missing)}, which its solver needs; add it to `numbers`.")
    if n_tangents < solver.least_tangents:
        if n_tangents:
            raise BadEvent(f"'{name}' has {n_tangents} tangential rows; {kind} needs {solver.least_tangents}.")
        raise BadEvent(f"'{name}' has no tangential rows, so nothing can slip; give tangent=[…], or Frictionless.")
    if solver.most_tangents is not None and n_tangents > solver.most_tangents:
        most = "with friction a contact has one, or two in space"
        most = most if solver.most_tangents == 2 else f"{kind} takes {solver.most_tangents} at most"
        raise BadEvent(f"'{name}' has {n_tangents} tangential rows; {most}.")
    return law


def n_ways(laws: Iterable[ContactLaw]) -> int:
    """In how many ways contacts can hold together."""
    return math.prod(len(law.solver.ways) for law in laws)


def check_together(
    laws: Mapping[str, ContactLaw], n_tangents: Sequence[int], impulsive: Sequence[str], applied: bool
) -> None:
    """BadEvent for laws that rigid bodies do not allow together, or that would have too many ways to hold.

    `laws`: by contact; `n_tangents`: of each. `impulsive`: what else acts impulsively, nonideal rows too. `applied`:
    whether an impulse does.
    """
    solvers = [law.solver for law in laws.values()]
    alone = [(name, solver.alone) for name, solver in zip(laws, solvers, strict=True) if solver.alone]
    if alone and (len(laws) > 1 or impulsive or applied):
        first, reason = alone[0]
        others = [name for name in laws if name != first] + list(impulsive)
        together = listing(others) if others else "an applied impulse"
        raise BadEvent(
            f"'{first}' {reason}, but {together} acts at the same time: rigid bodies do "
            "not tell how they grow together. Use MoreauCoulomb, or solve one after the other."
        )
    if len({solver.respond for solver in solvers}) > 1:
        mixed = [solver.mixed or f"{solver.name} with other laws; give all of them one" for solver in solvers]
        special = [text for solver, text in zip(solvers, mixed, strict=True) if solver.mixed]
        raise BadEvent(f"The contacts {listing(laws)} mix {(special or mixed)[0]}.")
    if solvers and solvers[0].in_space is not None and max(n_tangents) > 1:
        if len(set(n_tangents)) > 1:
            raise BadEvent(f"Of {listing(laws)} some are planar and some in space; give all of them two tangents.")
        if len(laws) > MOST_IN_SPACE:
            raise BadEvent(f"There are {len(laws)} contacts in space with friction; take {MOST_IN_SPACE} at most.")
        return  # found by iteration: ways are not tried
    if (ways := n_ways(laws.values())) > MOST_WAYS:
        raise BadEvent(f"The contacts have {ways} ways to hold, more than the {MOST_WAYS} that are tried; take fewer.")
