"""An outcome completed: the friction that contacts need, energy that came from nowhere, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from jourdain.algebra.checks import verdict
from jourdain.algebra.contacts.required_friction import required_friction
from jourdain.algebra.energy import energy_created
from jourdain.algebra.linear import LinearAlgebra
from jourdain.algebra.problem import Problem
from jourdain.algebra.record import Outcome


def completed(
    problem: Problem,
    values: Outcome,
    la: LinearAlgebra,
    contacts: Sequence[slice],
    checked: bool,
    sound_input: Any,
    independent: bool = False,
) -> tuple[Outcome, Any, Any]:
    """(outcome, verdict, whether the event has no numbers); see `verdict`. `contacts`: where their rows stand."""
    friction = required_friction(values, contacts, la)
    values = replace(values, required_friction=friction, energy_created=energy_created(problem, values, la))
    return values, *verdict(problem, values, la, checked, sound_input, independent)
