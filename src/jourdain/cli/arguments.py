"""Words of the command line as values: `theta=20`, `theta=10:60:501`, `rho=0,0.25,0.5`. Angles are degrees here."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

import numpy as np

from jourdain.compute.memory import refuse_too_large
from jourdain.data.numbers import amount, shown_in
from jourdain.errors import BadArgument, unknown
from jourdain.inputs import Array
from jourdain.laws import Coulomb, Frictionless, Law, MoreauCoulomb, NoSlip

MAX_POINTS = 10**15  # of an axis
AXIS_COPIES = 4  # of its numbers, while it is made and swept
WORDS = "jourdain.words"  # of the command line, in the context of a command
AXIS = "PARAMETER=START:STOP:COUNT or PARAMETER=A,B,C"
BOUNDS = "NAME=LEAST:LARGEST"
SWITCHED = {"true": True, "false": False, "yes": True, "no": False, "True": True, "False": False}
LAWS: dict[str, Law | None] = {  # their numbers are parameters of the problem, under these names
    "none": None,
    "frictionless": Frictionless("kappa"),
    "no-slip": NoSlip("kappa"),
    "coulomb": Coulomb("friction", "kappa"),
    "moreau-coulomb": MoreauCoulomb("friction", "kappa"),
}


def pairs(option: str, form: str, words: Iterable[str]) -> dict[str, str]:
    """Name → text, from words such as `theta=20`; a name given twice is refused."""
    texts: dict[str, str] = {}
    for word in words:
        name, sign, text = (part.strip() for part in word.partition("="))
        if not sign or not name or not text:
            raise BadArgument(f"{option} takes {form}, not '{word}'.")
        if name in texts:
            raise BadArgument(f"{option} gives '{name}' twice; leave one out.")
        texts[name] = text
    return texts


def number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise BadArgument(f"{name} must be a number, not '{text}'.") from None
    if not math.isfinite(value):
        raise BadArgument(f"{name} must be finite, not '{text}'.")
    return value


def whole(name: str, text: str) -> int:
    value = number(name, text)
    if not value.is_integer():
        raise BadArgument(f"{name} must be a whole number, not '{text}'.")
    return int(value)


@dataclass(frozen=True)
class Keyword:
    """A keyword of the function that builds a problem."""

    name: str
    default: Any  # inspect.Parameter.empty if there is none
    kind: Any = None  # its type, where that is known

    @property
    def needed(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def listed(self) -> list[Any]:
        """What it may be, where that is a list; what it is if not given comes first."""
        if self._law:
            return list(LAWS)
        if isinstance(self.default, bool):
            return [self.default, not self.default]
        others = [one for one in self._literals if one != self.default]
        return [*([] if self.needed else [self.default]), *others] if others else []

    @property
    def _literals(self) -> list[Any]:
        """The values of a Literal, also within a union."""
        parts = [self.kind, *get_args(self.kind)]
        return [one for part in parts if get_origin(part) is Literal for one in get_args(part)]

    @property
    def values(self) -> list[Any]:
        """What it may be; where that is no list, what it is if not given."""
        return self.listed or ([] if self.needed else [self.default])

    @property
    def _law(self) -> bool:
        """Whether its type, such as `Law | None`, asks for the law of a contact."""
        return Law in (self.kind, *get_args(self.kind))

    def value(self, text: str) -> Any:
        """The text in the type of the keyword; of a law, one of `LAWS`."""
        if self._law:
            if text not in LAWS:
                raise unknown(self.name, text, LAWS)
            return LAWS[text]
        if self._literals:
            known = {str(one): one for one in self.listed}
            if text not in known:
                raise unknown(self.name, text, known)
            return known[text]
        kinds = [type(self.default), self.kind, *get_args(self.kind)]
        if bool in kinds:
            if text not in SWITCHED:
                raise unknown(self.name, text, SWITCHED)
            return SWITCHED[text]
        if float in kinds:
            return number(self.name, text)
        if int in kinds:
            return whole(self.name, text)
        return text

    def __str__(self) -> str:
        """As it is listed: what it may be, or what it is if not given."""
        return f"{self.name}={'|'.join(map(str, self.values)) or '?'}"


def setting(name: str, text: str, unit: str) -> float:
    """The value of a parameter, in SI."""
    value = number(name, text) * shown_in(unit)[1]
    check_not_negative(name, value, unit)
    return value


def check_not_negative(name: str, least: float, unit: str) -> None:
    """Raise for a negative mass: the mass matrix may be sound with it, but the outcome is not."""
    if unit in ("kg", "kg m^2") and least < 0:
        raise BadArgument(f"{name} is {least:g} {unit}; masses and inertias are not negative.")


def axis_length(name: str, text: str) -> int:
    """How many values a swept parameter has; nothing is made yet."""
    if ":" not in text:
        return text.count(",") + 1
    parts = text.split(":")
    if len(parts) != 3:
        raise BadArgument(f"--sweep takes {AXIS}, not '{name}={text}'.")
    count = whole(f"The count of {name}", parts[2])
    if count < 1:
        raise BadArgument(f"The count of {name} must be at least 1, not {count}.")
    if count > MAX_POINTS:
        raise BadArgument(f"The count of {name} is more than any machine holds; take fewer points.")
    return count


def axis(name: str, text: str, unit: str) -> Array:
    """The values of a swept parameter, in SI: equal steps from start to stop, both included, or a list."""
    count = axis_length(name, text)
    if ":" not in text:
        values = np.array([number(name, part) for part in text.split(",")])
    else:
        start, stop = (number(name, part) for part in text.split(":")[:2])
        refuse_too_large("The sweep", count, AXIS_COPIES, "take fewer points")
        with np.errstate(all="ignore"):  # said below
            values = np.linspace(start, stop, count)
    if not np.isfinite(values).all():
        raise BadArgument(f"The values of {name} must be finite, not '{text}'.")
    check_not_negative(name, float(values.min()), unit)
    return values * shown_in(unit)[1]


def assignment(name: str, value: float | Array | None, unit: str) -> str:
    """A parameter and its value as they can be typed; of an axis, its ends and how many values there are."""
    if value is None:
        return f"{name}=?"
    first, last = (amount(float(np.ravel(value)[i]), unit, minus="-") for i in (0, -1))
    return f"{name}={first} … {last} ({np.size(value)})" if np.size(value) > 1 else f"{name}={first}"
