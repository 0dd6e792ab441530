"""What the walkers share that walk down a slope: gravity, the heel strike after which the legs swap, the fall."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp
from sympy.physics.mechanics import ReferenceFrame

from jourdain.mechanism.constraint import Constraint
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.motion.guards import Switch
from jourdain.motion.hybrid import Hybrid


def downhill(N: ReferenceFrame, g: Any, slope: Any) -> Any:
    """Gravity in a frame whose x axis lies along the slope, downhill, and whose y axis is its normal."""
    return g * (sp.sin(slope) * N.x - sp.cos(slope) * N.y)


def walk(
    mechanism: Mechanism,
    stance: Constraint,
    strike: Constraint,
    heel_in_front: Any,
    relabel: Mapping[Any, Any],
    leaning: Any,
    **more: Any,
) -> Hybrid:
    """A walker with one topology, "stance": at heel strike the stance foot lets go and the legs swap; it may fall.

    `stance`, `strike`: the stance foot and the heel that lands, which is inert. `heel_in_front`: falls to 0 where the
    swing foot is on the slope, in front. Where the legs pass each other it starts at 0, which is not a strike.
    `leaning`: angle of the stance leg from the normal of the slope. `more`: of the Hybrid.
    """
    event = mechanism.event(inert=[strike], released=[stance])
    return Hybrid(
        mechanism,
        topologies={"stance": [stance]},
        switches=[
            Switch("stance", "stance", guard=heel_in_front, after_rising=True, event=event, relabel=relabel),
            Switch("stance", None, guard=sp.cos(leaning), name="fallen"),
        ],
        **more,
    )


def walking_sketch(links: list[tuple[str, ...]], slope: Any, **more: Any) -> Sketch:
    """Links and a heavy hip on the slope; the picture follows the hip."""
    masses = ["hip", *more.pop("masses", [])]
    return Sketch(links=links, masses=masses, floors={0: -1}, anchor="hip", tilt=slope, **more)
