"""A wheel without a rim rolls down a slope on its spokes [McGeer 1990; push-off: Kuo 2002, J. Biomech. Eng. 124]."""

from __future__ import annotations

import sympy as sp
from sympy.physics.mechanics import Particle, dynamicsymbols

from jourdain.errors import BadEvent
from jourdain.gallery._bodies import ground, turned
from jourdain.gallery._downhill import downhill
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.motion.guards import Switch
from jourdain.motion.hybrid import Hybrid

MOST_SPOKES = 1000


@problem
def rimless_wheel(n: int = 8) -> Hybrid:
    """A hub on n massless spokes rolls down a slope from spoke to spoke; each strike is inert.

    theta is the angle of the standing spoke from the normal of the slope, positive leaning downhill; the spoke is
    longer than l by `stretch`, which is 0 while it stands. At a strike downhill the spoke that stood pushes the hub off
    along itself with the impulse `push`, just before the next one lands. A wheel that is too slow rocks to rest.
    """
    if n < 5:
        raise BadEvent(f"A rimless wheel has 5 spokes or more, not {n}: it would not vault over them.")
    if n > MOST_SPOKES:
        raise BadEvent(f"A rimless wheel has {MOST_SPOKES} spokes at most, not {n}.")
    theta, stretch = q = dynamicsymbols("theta stretch")
    m, l, g, slope, push = sp.symbols("m l g slope push")
    alpha = sp.pi / n
    N, O = ground()  # N lies along the slope, downhill
    A = turned(N, "A", -theta)
    hub = O.locatenew("hub", (l + stretch) * A.y)
    spokes = [turned(A, f"spoke_{i}", -2 * alpha * i).y for i in range(n)]  # from the tip to the hub
    tips = {f"tip_{i}": hub.locatenew(f"tip_{i}", -l * spoke) for i, spoke in enumerate(spokes)}

    mechanism = Mechanism.from_sympy(
        bodies=[Particle("wheel", hub, m)],
        frame=N,
        q=q,
        parameters={m: 1.0, l: 1.0, g: 9.81, slope: 0.08, push: 0.0},
        points={"hub": hub, **tips},
        gravity=downhill(N, g, slope),
        units={theta: "rad", stretch: "m", m: "kg", l: "m", g: "m/s^2", slope: "rad", push: "N s"},
    )
    stance = mechanism.constraint("stance", stretch, level="position", units="m")

    def strike(name: str, way: int, source: str) -> Switch:
        """The next spoke lands, downhill (1) or uphill (−1)."""
        foot = O.locatenew(name, way * 2 * l * sp.sin(alpha) * N.x)
        spoke = hub.pos_from(foot)
        x, y = spoke.dot(N.x), spoke.dot(N.y)
        length = sp.sqrt(x**2 + y**2)
        landed = mechanism.constraint(name, length - l, level="position", units="m")
        return Switch(
            source,
            "stance",
            guard=landed if source == "pushed" else alpha - way * theta,
            event=mechanism.event(released=[stance] if source == "stance" else [], inert=[landed]),
            relabel={theta: sp.atan2(x, y), stretch: length - l},
        )

    return Hybrid(
        mechanism,
        topologies={"stance": [stance], "pushed": []},
        switches=[
            Switch(
                "stance",
                "pushed",
                guard=alpha - theta,
                event=mechanism.event(released=[stance], impulses={hub: push * A.y}),
            ),
            strike("downhill", 1, "pushed"),
            strike("uphill", -1, "stance"),
        ],
        near=({"theta": -float(alpha)}, {"theta": 1.0}),
        sketch=Sketch(
            links=[("hub", f"tip_{i}") for i in range(n)], masses=["hub"], floors={0: -1}, anchor="hub", tilt=slope
        ),
    )
