"""Mechanical systems whose topology changes: a constraint has just changed; what is the motion now?"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jourdain import experiment, gallery, laws, plots
    from jourdain.arrays import transition
    from jourdain.constraint import Constraint
    from jourdain.contact import Contact
    from jourdain.errors import (
        Ambiguous,
        AtSwitch,
        BadConstraint,
        BadEvent,
        BadFriction,
        BadLog,
        BadMechanism,
        BadRestitution,
        BadRobot,
        CannotWrite,
        Contradiction,
        Error,
        Infeasible,
        LogWarning,
        MissingValue,
        NameClash,
        NoContact,
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
    from jourdain.loading import load, payload, scene
    from jourdain.mechanism import Mechanism
    from jourdain.motion.hybrid import Hybrid, Reaction, Switch
    from jourdain.outcome import Transition
    from jourdain.robot import Robot
    from jourdain.scenario import Scenario
    from jourdain.sketch import Sketch

__all__ = [
    "Ambiguous",
    "AtSwitch",
    "BadConstraint",
    "BadEvent",
    "BadFriction",
    "BadLog",
    "BadMechanism",
    "BadRestitution",
    "BadRobot",
    "CannotWrite",
    "Constraint",
    "Contact",
    "Contradiction",
    "Error",
    "Event",
    "Hybrid",
    "Infeasible",
    "LogWarning",
    "Mechanism",
    "MissingValue",
    "NameClash",
    "NoContact",
    "NotAffine",
    "NotConverged",
    "NotExpressible",
    "NotFinite",
    "NotPositiveDefinite",
    "OffConstraint",
    "PriorViolated",
    "Reaction",
    "Rheonomic",
    "Robot",
    "Scenario",
    "ShapeError",
    "Sketch",
    "Status",
    "Switch",
    "TooLarge",
    "Transition",
    "UnknownName",
    "experiment",
    "gallery",
    "laws",
    "load",
    "payload",
    "plots",
    "scene",
    "transition",
]

# Where the names above live: each module is imported when one of its names is first asked for, so that a script that
# needs errors or arrays only does not wait for SymPy.
_MODULES = {"Hybrid": "motion.hybrid", "Reaction": "motion.hybrid", "Switch": "motion.hybrid",
            "Constraint": "constraint", "Contact": "contact", "Event": "event", "Mechanism": "mechanism",
            "Robot": "robot", "Scenario": "scenario", "Sketch": "sketch", "Transition": "outcome",
            "load": "loading", "payload": "loading", "scene": "loading", "transition": "arrays"}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'jourdain' has no attribute '{name}'")
    if name in ("experiment", "gallery", "laws", "plots"):
        return import_module(f"jourdain.{name}")
    found = getattr(import_module(f"jourdain.{_MODULES.get(name, 'errors')}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
