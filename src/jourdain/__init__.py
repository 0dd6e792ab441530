"""Mechanical systems whose topology changes: a constraint has just changed; what is the motion now?"""

from typing import Any

from jourdain.constraint import Constraint, Contact
from jourdain.errors import (
    BadConstraint,
    BadEvent,
    BadMechanism,
    BadRestitution,
    Contradiction,
    Error,
    MissingValue,
    NameClash,
    NotAffine,
    NotConverged,
    NotExpressible,
    NotFinite,
    NotPositiveDefinite,
    OffConstraint,
    PriorViolated,
    Rheonomic,
    ShapeError,
    Status,
    TooLarge,
    UnknownName,
)
from jourdain.event import Event
from jourdain.mechanism import Mechanism
from jourdain.scenario import Scenario
from jourdain.transition import Transition

from jourdain.arrays import transition  # isort: skip - after the module of the same name: jd.transition is the function

__all__ = [
    "BadConstraint",
    "BadEvent",
    "BadMechanism",
    "BadRestitution",
    "Constraint",
    "Contact",
    "Contradiction",
    "Error",
    "Event",
    "Mechanism",
    "MissingValue",
    "NameClash",
    "NotAffine",
    "NotConverged",
    "NotExpressible",
    "NotFinite",
    "NotPositiveDefinite",
    "OffConstraint",
    "PriorViolated",
    "Rheonomic",
    "Scenario",
    "ShapeError",
    "Status",
    "TooLarge",
    "Transition",
    "UnknownName",
    "gallery",
    "plots",
    "transition",
]


def __getattr__(name: str) -> Any:
    """`jd.gallery` and `jd.plots` bring SymPy and Matplotlib, so they are imported when first needed."""
    if name in ("gallery", "plots"):
        from importlib import import_module

        return import_module(f"jourdain.{name}")
    raise AttributeError(f"module 'jourdain' has no attribute '{name}'")
