"""Mechanical systems whose topology changes: a constraint has just changed; what is the motion now?"""

from jourdain.constraint import Constraint, Contact
from jourdain.errors import (
    BadEvent,
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
    UnknownName,
)
from jourdain.event import Event
from jourdain.mechanism import Mechanism
from jourdain.transition import Transition  # isort: skip
from jourdain.arrays import transition  # after the module of the same name, so that jd.transition is the function
