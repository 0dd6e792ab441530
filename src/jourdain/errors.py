"""What can go wrong, one class per kind; and the status that a lane of a batch carries instead of an exception."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import IntEnum
from importlib import import_module
from typing import Any

from jourdain.output.printable import prints


class Error(ValueError):
    """Base of every error that jourdain raises about its input."""

    @prints
    def __str__(self) -> str:
        return super().__str__()


class UnknownName(Error, KeyError):
    """A name that is not there; the nearest right one is suggested."""

    @prints
    def __str__(self) -> str:  # KeyError would print the repr
        return str(self.args[0])


class NameClash(Error):
    """Two things with one name."""


class MissingValue(Error):
    """A parameter without a default that was not given."""


class ShapeError(Error):
    """An array whose shape does not fit."""


class NotFinite(Error):
    """NaN or infinity in the input."""


class NotAffine(Error):
    """An expression that must be affine in the velocities and is not."""


class NotExpressible(Error):
    """A SymPy expression that has no counterpart in CasADi, or uses what an event does not know."""


class Rheonomic(Error):
    """A body moves although no generalized velocity does."""


class BadMechanism(Error):
    """Bodies, coordinates or kinematics that do not make a mechanism."""


class MechanismWarning(UserWarning):
    """What is doubtful about bodies that SymPy describes; what comes out of them may be too."""


class BadRobot(Error):
    """A robot file that cannot be read, or says what is not supported. `joints`: all that move no mass, if they do."""

    joints: Sequence[str] = ()


class RobotWarning(UserWarning):
    """What is doubtful about a robot file, or is in it and not used though it acts."""


class MissingExtra(Error, ImportError):
    """A package that one of the extras installs, as in `pip install 'jourdain[robots]'`, is not there."""


class BadConstraint(Error):
    """Expressions that do not make a constraint."""


class BadEvent(Error):
    """Kinds, values, impulses or options that do not make an event."""


class OffConstraint(Error):
    """A configuration that misses a geometric constraint."""


class PriorViolated(Error):
    """A prior velocity that breaks a constraint that is on before the event."""


class Contradiction(Error):
    """Rows that ask for different things."""


class NotPositiveDefinite(Error):
    """A mass matrix that is not positive definite."""


class BadRestitution(Error):
    """A coefficient of restitution outside [0, 1]."""


class BadFriction(Error):
    """A coefficient of friction below 0."""


class Infeasible(Error):
    """Contacts whose laws cannot be satisfied together."""


class Ambiguous(Error):
    """Contacts whose laws can be satisfied in several ways.

    `candidates`: those that are consistent, each {contact: what it does}; empty where they cannot be listed.
    """

    candidates: Sequence[Mapping[str, str]] = ()


class AtSwitch(Error):
    """A state at which a contact is on the verge of doing something else, or rows become redundant: no derivative."""


class NotConverged(Error):
    """An iteration that did not arrive."""


class TooLarge(Error):
    """A computation whose results would not fit in memory."""


class CannotWrite(Error):
    """A file that cannot be written."""


class BadLog(Error):
    """A log that cannot be read as one: columns, times, units, gaps."""


class LogWarning(UserWarning):
    """What is doubtful about a log; what comes out of it may be too."""


class NoContact(BadLog):
    """A log in which nothing strikes."""


class BadArgument(Error):
    """Words of the command line that do not say what to do."""


class Status(IntEnum):
    """What became of one event. OK is 0; a status other than OK and ENERGY_CREATED comes with NaN in all numbers.

    AT_SWITCH is one of derivatives only: the outcome itself is told by the states of its contacts.
    """

    OK = 0
    ENERGY_CREATED = 1
    NOT_FINITE = 2
    NOT_POSITIVE_DEFINITE = 3
    OFF_CONSTRAINT = 4
    PRIOR_VIOLATED = 5
    BAD_RESTITUTION = 6
    CONTRADICTION = 7
    NOT_CONVERGED = 8
    BAD_FRICTION = 9
    INFEASIBLE = 10
    AMBIGUOUS = 11
    AT_SWITCH = 12

    @property
    def message(self) -> str:
        """What it means and what to do."""
        return _MESSAGES[self]


_MESSAGES = {
    Status.OK: "solved",
    Status.ENERGY_CREATED: "energy created: with friction use hypothesis='stronge', for coupled rows one κ; or the "
    "given nonideal impulses are not consistent with rigid bodies",
    Status.NOT_FINITE: "the input has NaN or infinity, or an expression has no finite value there",
    Status.NOT_POSITIVE_DEFINITE: "the mass matrix is not positive definite; check masses and inertias",
    Status.OFF_CONSTRAINT: "the configuration misses a geometric constraint; correct q, or pass check='project'",
    Status.PRIOR_VIOLATED: "the prior velocity breaks a row that is on before; correct v, or pass check='project'",
    Status.BAD_RESTITUTION: "a coefficient of restitution lies outside [0, 1]",
    Status.CONTRADICTION: "the rows contradict each other; leave one of them out",
    Status.BAD_FRICTION: "a coefficient of friction is negative",
    Status.INFEASIBLE: "no impulses satisfy the laws of all contacts together; use Frictionless(law='poisson')",
    Status.AMBIGUOUS: "the laws of the contacts can be satisfied in several ways; rigid bodies do not tell which",
    Status.NOT_CONVERGED: "an iteration did not arrive: coordinates that satisfy the geometric rows (guess closer), or "
    "impulses of a contact in space; or digits are lost beside very light masses (make these heavier)",
    Status.AT_SWITCH: "a contact is on the verge of lifting, sticking or slipping, or rows are redundant just here: "
    "derivatives differ on either side; take them a little beside",
}


def listing(names: Iterable[str]) -> str:
    """Names in quotes, as a person lists them."""
    return ", ".join(f"'{name}'" for name in names) or "none"


def shortened(text: str, most: int = 200) -> str:
    """A text that may be long, as a name or a message of somebody else, cut in the middle."""
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 :]}"


def quaternion_told(name: str, size: float) -> str:
    """What is said of a quaternion whose length is not 1."""
    return (
        f"The quaternion of '{name}' has the length {size:.9g}, but it must be 1; divide it by its length, or "
        "pass check='project' to an event."
    )


def unknown(what: str, name: str, known: Iterable[str]) -> UnknownName:
    """The error for a name that is not there, with the nearest right one or the list of all."""
    known = list(known)
    near = [one for one in known if one.lower() == name.lower()]
    near = near or difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean '{near[0]}'?" if near else f"there are: {listing(known)}."
    return UnknownName(f"There is no {what} '{name}'; {hint}")


def check_choice(what: str, name: object, known: Collection[str]) -> None:
    """UnknownName for a name that is none of the known ones."""
    if name not in known:
        raise unknown(what, str(name), known)


def optional(module: str, extra: str, purpose: str) -> Any:
    """A package of an extra, imported; raises MissingExtra, which names the extra, if it is not installed.

    >>> optional("no_such_package", "robots", "Reading a robot file")
    Traceback (most recent call last):
    jourdain.errors.MissingExtra: Reading a robot file needs no_such_package: pip install 'jourdain[robots]'.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:  # it is installed, but something that it needs is not
            raise
        raise MissingExtra(f"{purpose} needs {error.name}: pip install 'jourdain[{extra}]'.") from None
