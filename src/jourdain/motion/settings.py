"""How motion is integrated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from jourdain.errors import BadEvent, unknown

Method = Literal["explicit", "Radau", "BDF"]


@dataclass(frozen=True)
class Settings:
    """Tolerances of a step, relative and absolute, and the method."""

    rtol: float
    atol: float
    method: Method = "explicit"

    def __post_init__(self) -> None:
        for name in ("rtol", "atol"):
            value = getattr(self, name)
            if not is_number(value) or not value > 0:
                raise BadEvent(f"{name} is a tolerance above 0, not {value!r}.")
        if self.method not in get_args(Method):
            raise unknown("method", str(self.method), get_args(Method))


def is_number(value: Any) -> bool:
    """Whether it is one finite number."""
    return isinstance(value, int | float | np.integer | np.floating) and bool(np.isfinite(value))
