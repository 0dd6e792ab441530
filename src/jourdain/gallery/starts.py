"""Where the motions of the gallery that are no gaits start when nobody says where, and for how long they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import pi


@dataclass(frozen=True)
class Start:
    """A state near the constraints of the first topology, onto which it is moved, and the time to show, s."""

    until: float
    q: Mapping[str, float] = field(default_factory=dict)
    v: Mapping[str, float] = field(default_factory=dict)


STARTS = {
    "bouncing_ball": Start(10.0, {"z": 1.0}),
    "pantograph_at_wall": Start(3.0, {"q1": 0.6, "q3": pi - 0.6}),
    "rocking": Start(20.0, {"theta": 0.2}),
    "sliding_sleigh": Start(5.0, {"z": 0.5, "theta": 0.3}, {"x": 1.0, "y": 0.5, "theta": 2.0}),
    "tether": Start(60.0, {"x_2": 10.0}, {"x_2": 2.0, "y_2": 2.0}),
}
