"""What the walkers share that walk down a slope: gravity, the heel strike after which the legs swap, the fall."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp
from sympy.physics.mechanics import ReferenceFrame

from jourdain.events.event import Event
from jourdain.mechanism.sketch import Sketch
from jourdain.motion.guards import Switch


def downhill(N: ReferenceFrame, g: Any, slope: Any) -> Any:
    """Gravity in a frame whose x axis lies along the slope, downhill, and whose y axis is its normal."""
    return g * (sp.sin(slope) * N.x - sp.cos(slope) * N.y)


def steps(heel_in_front: Any, strike: Event, relabel: Mapping[Any, Any], leaning: Any) -> list[Switch]:
    """The switches of a walker with one topology, "stance": heel strike and fall.

    `heel_in_front`: falls to 0 where the swing foot is on the slope, in front. Where the legs pass each other it starts
    at 0, which is not a strike. `leaning`: angle of the stance leg from the normal of the slope.
    """
    return [
        Switch("stance", "stance", guard=heel_in_front, after_rising=True, event=strike, relabel=relabel),
        Switch("stance", None, guard=sp.cos(leaning), name="fallen"),
    ]


def walking_sketch(links: list[tuple[str, ...]], slope: Any, **more: Any) -> Sketch:
    """Links and a heavy hip on the slope; the picture follows the hip."""
    masses = ["hip", *more.pop("masses", [])]
    return Sketch(links=links, masses=masses, floors={0: -1}, anchor="hip", tilt=slope, **more)
