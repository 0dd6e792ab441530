"""What every contact law has. Numbers may be numbers, SymPy expressions in parameters, or names of new ones."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, ClassVar, TypeAlias, TypeGuard

import sympy as sp

from jourdain.algebra.contacts.contacts import ContactSolver
from jourdain.errors import BadEvent, BadFriction, BadRestitution, check_choice, listing

Number: TypeAlias = Any  # a number, an array for `jd.transition`, a SymPy expression (SymPy has no types), or a name

approach = sp.Symbol("approach", nonnegative=True)
"""The normal speed |u_n⁻| of a contact before the event, relative to its support; for the numbers of its law."""


@dataclass(frozen=True)
class Law(ABC):
    """What a one-sided contact does in an event. A law of your own is a frozen dataclass with this base.

    Its fields are its numbers and its choices, and it has a `solver`.

    Attributes
    ----------
    numbers : tuple of str
        Names of the attributes (fields or properties) that are its numbers: "restitution", "friction", or others. The
        solver gets them by `contacts.number(name)`. A number that others are written in comes before them. Restitution
        must lie in [0, 1], friction must be 0 or more.
    choices : mapping
        Fields that are no numbers: name → allowed values, None among them if none need be chosen.
    solver : ContactSolver
        How its contacts are solved: one of `jd.laws.solvers`, or one of your own.

    Examples
    --------
    Without friction; restitution falls with the approach speed, e = exp(−u / scale):

    >>> import sympy as sp
    >>> import jourdain as jd
    >>> @dataclass(frozen=True)
    ... class Softening(jd.laws.Law):
    ...     scale: float = 2.0
    ...
    ...     @property
    ...     def restitution(self):
    ...         return sp.exp(-jd.laws.approach / self.scale)
    ...
    ...     @property
    ...     def solver(self):
    ...         return jd.laws.solvers.MOREAU
    >>> ball = jd.Contact(normal=[1.0], law=Softening())
    >>> jd.transition([[1.0]], [[-1.0], [-3.0]], contacts=[ball]).v_plus[:, 0]
    array([0.606531, 0.669390])

    """

    numbers: ClassVar[tuple[str, ...]] = ("restitution",)
    choices: ClassVar[Mapping[str, tuple[str | None, ...]]] = {}

    @property
    @abstractmethod
    def solver(self) -> ContactSolver:
        """How its contacts are solved: one of `jd.laws.solvers`, or a `ContactSolver` of your own."""

    def __post_init__(self) -> None:
        """Numbers are checked at once; what has a name is checked with its value."""
        values = self.values()
        restitution, friction = values.get("restitution", 0.0), values.get("friction", 0.0)
        if isinstance(restitution, Real) and not 0 <= float(restitution) <= 1:
            raise BadRestitution(f"The restitution of a contact is {restitution}; it must lie in [0, 1].")
        if isinstance(friction, Real) and not (float(friction) >= 0 and math.isfinite(float(friction))):
            raise BadFriction(f"The friction of a contact is {friction}; it must be finite, and 0 or more.")
        for name, choices in self.choices.items():
            if (chosen := getattr(self, name)) is not None or None not in choices:
                check_choice(name, chosen, [choice for choice in choices if choice is not None])

    def values(self) -> dict[str, Number]:
        """Its numbers as they were given, by name."""
        missing = [name for name in self.numbers if not hasattr(self, name)]
        if missing or isinstance(self.numbers, str):
            kind = type(self).__name__
            raise BadEvent(f"The law {kind} has no {listing(missing)}; `numbers` is a tuple of its attributes.")
        return {name: getattr(self, name) for name in self.numbers}

    def form(self) -> tuple[Any, ...]:
        """What the law is apart from its numbers: laws with one form share their compiled events."""
        chosen = (getattr(self, one.name) for one in fields(self) if one.name not in self.numbers)
        return (type(self), self.solver, *chosen)


def is_law(value: object) -> TypeGuard[Law]:
    """Whether something is a contact law, whichever it is."""
    return isinstance(value, Law)
