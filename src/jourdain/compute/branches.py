"""Choices that are operations: the same formula over NumPy arrays and over CasADi scalars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import casadi as ca
import numpy as np


class Branches(NamedTuple):
    """How to choose between two values, and the smaller of two."""

    where: Callable[..., Any]  # condition, value if it holds, value if not
    smaller: Callable[..., Any]

    def larger(self, a: Any, b: Any) -> Any:
        return -self.smaller(-a, -b)


ARRAYS = Branches(np.where, np.minimum)
SCALARS = Branches(ca.if_else, ca.fmin)
