"""A particle thrown on a smooth floor [Wang & Chou 2003, Example 1]."""

from __future__ import annotations

import sympy as sp
from sympy.physics.mechanics import Particle, dynamicsymbols

from jourdain.gallery._bodies import ground
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.scenarios.scenario import Scenario


@problem
def particle() -> Scenario:
    """A particle thrown on a smooth floor, elastic.

    x is along the floor, z up; kappa is the coefficient of restitution.
    """
    x, z = dynamicsymbols("x z")
    m, v_x, v_z = sp.symbols("m v_x v_z")
    N, O = ground()
    C = O.locatenew("C", x * N.x + z * N.z)

    mechanism = Mechanism.from_sympy(
        bodies=[Particle("particle", C, m)],
        frame=N,
        q=[x, z],
        parameters={m: 1.0},
        points={"C": C},
        units={x: "m", z: "m", m: "kg"},
    )
    floor = mechanism.constraint("floor", z, level="position", units="m")

    event = mechanism.event(elastic={floor: "kappa"})
    return event.at(
        v={x: v_x, z: v_z}, defaults={v_x: 2.0, v_z: -3.0, "kappa": 0.6}, units={v_x: "m/s", v_z: "m/s", "kappa": "1"}
    )
