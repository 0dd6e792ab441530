"""Mechanical systems whose topology changes: a constraint has just changed; what is the motion now?"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# The table of contents, by subject: module → its public names. A module is imported when one of its names is first
# used, so that a script that needs only errors or arrays does not wait for SymPy.
_CONTENTS = {
    # mechanisms and robots
    "mechanism.mechanism": ("Mechanism",),
    "mechanism.constraint": ("Constraint",),
    "mechanism.contact": ("Contact",),
    "mechanism.sketch": ("Sketch",),
    "robots.load": ("load",),
    "robots.payload": ("payload",),
    "robots.scene": ("scene",),
    "robots.robot": ("Robot",),
    # events
    "events.event": ("Event",),
    "events.transition": ("Transition",),
    "events.arrays": ("transition",),
    "scenarios.scenario": ("Scenario",),
    # motion
    "motion.hybrid": ("Hybrid",),
    "motion.guards": ("Reaction", "Switch"),
    # errors and statuses
    "errors": (
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
        "Contradiction",
        "Error",
        "Infeasible",
        "LogWarning",
        "MechanismWarning",
        "MissingExtra",
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
        "Rheonomic",
        "RobotWarning",
        "ShapeError",
        "Status",
        "TooLarge",
        "UnknownName",
    ),
}
# Whole packages: contact laws, figures, classic problems, measured logs and the virtual testbed, datasets to files.
_PACKAGES = ("laws", "plots", "gallery", "experiment", "files")

_PLACES = {name: module for module, names in _CONTENTS.items() for name in names}
__all__ = [*_PLACES, *_PACKAGES]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"jourdain.{name}")
    if name not in _PLACES:
        raise AttributeError(f"module 'jourdain' has no attribute '{name}'")
    value = getattr(import_module(f"jourdain.{_PLACES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if TYPE_CHECKING:  # the same, for tools that read the source
    from jourdain import experiment as experiment
    from jourdain import files as files
    from jourdain import gallery as gallery
    from jourdain import laws as laws
    from jourdain import plots as plots
    from jourdain.errors import Ambiguous as Ambiguous
    from jourdain.errors import AtSwitch as AtSwitch
    from jourdain.errors import BadConstraint as BadConstraint
    from jourdain.errors import BadEvent as BadEvent
    from jourdain.errors import BadFriction as BadFriction
    from jourdain.errors import BadLog as BadLog
    from jourdain.errors import BadMechanism as BadMechanism
    from jourdain.errors import BadRestitution as BadRestitution
    from jourdain.errors import BadRobot as BadRobot
    from jourdain.errors import CannotWrite as CannotWrite
    from jourdain.errors import Contradiction as Contradiction
    from jourdain.errors import Error as Error
    from jourdain.errors import Infeasible as Infeasible
    from jourdain.errors import LogWarning as LogWarning
    from jourdain.errors import MechanismWarning as MechanismWarning
    from jourdain.errors import MissingExtra as MissingExtra
    from jourdain.errors import MissingValue as MissingValue
    from jourdain.errors import NameClash as NameClash
    from jourdain.errors import NoContact as NoContact
    from jourdain.errors import NotAffine as NotAffine
    from jourdain.errors import NotConverged as NotConverged
    from jourdain.errors import NotExpressible as NotExpressible
    from jourdain.errors import NotFinite as NotFinite
    from jourdain.errors import NotPositiveDefinite as NotPositiveDefinite
    from jourdain.errors import OffConstraint as OffConstraint
    from jourdain.errors import PriorViolated as PriorViolated
    from jourdain.errors import Rheonomic as Rheonomic
    from jourdain.errors import RobotWarning as RobotWarning
    from jourdain.errors import ShapeError as ShapeError
    from jourdain.errors import Status as Status
    from jourdain.errors import TooLarge as TooLarge
    from jourdain.errors import UnknownName as UnknownName
    from jourdain.events.arrays import transition as transition
    from jourdain.events.event import Event as Event
    from jourdain.events.transition import Transition as Transition
    from jourdain.mechanism.constraint import Constraint as Constraint
    from jourdain.mechanism.contact import Contact as Contact
    from jourdain.mechanism.mechanism import Mechanism as Mechanism
    from jourdain.mechanism.sketch import Sketch as Sketch
    from jourdain.motion.guards import Reaction as Reaction
    from jourdain.motion.guards import Switch as Switch
    from jourdain.motion.hybrid import Hybrid as Hybrid
    from jourdain.robots.load import load as load
    from jourdain.robots.payload import payload as payload
    from jourdain.robots.robot import Robot as Robot
    from jourdain.robots.scene import scene as scene
    from jourdain.scenarios.scenario import Scenario as Scenario
