"""Who takes part in a benchmark, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Contestant:
    """Something that does n of its kind when called: events, steps, starts."""

    name: str
    n: int
    call: Callable[[], Any]
    note: str = ""


@dataclass(frozen=True)
class Result:
    """How many per second, median over the repetitions."""

    name: str
    rate: float
    note: str = ""
