"""Two bodies are caught by a tether, swing about each other, and are let go [momentum-exchange tethers]."""

from __future__ import annotations

from math import radians

import sympy as sp
from sympy.physics.mechanics import Particle, dynamicsymbols

from jourdain.gallery._bodies import ground
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.motion.guards import Switch
from jourdain.motion.hybrid import Hybrid


@problem
def tether() -> Hybrid:
    """Two bodies fly apart until their tether is taut, swing about each other, and part when it has turned by `turn`.

    (x_1, y_1), (x_2, y_2) are their places in the plane, L is the length of the tether, which takes out the speed along
    it when it becomes taut. psi_0 is set to the direction from body 1 to body 2 at that moment; turn is less than 180°.
    """
    x_1, y_1, x_2, y_2 = q = dynamicsymbols("x_1 y_1 x_2 y_2")
    m_1, m_2, L, turn, psi_0 = sp.symbols("m_1 m_2 L turn psi_0")
    N, O = ground()
    P_1, P_2 = O.locatenew("P_1", x_1 * N.x + y_1 * N.y), O.locatenew("P_2", x_2 * N.x + y_2 * N.y)

    mechanism = Mechanism.from_sympy(
        bodies=[Particle("body_1", P_1, m_1), Particle("body_2", P_2, m_2)],
        frame=N,
        q=q,
        parameters={m_1: 400.0, m_2: 150.0, L: 20.0, turn: radians(120), psi_0: 0.0},
        points={"P_1": P_1, "P_2": P_2},
        units=dict.fromkeys(q, "m") | {m_1: "kg", m_2: "kg", L: "m", turn: "rad", psi_0: "rad"},
    )
    dx, dy = x_2 - x_1, y_2 - y_1
    slack = L - sp.sqrt(dx**2 + dy**2)
    line = mechanism.constraint("line", slack, level="position", units="m")
    psi = sp.atan2(dy, dx)
    return Hybrid(
        mechanism,
        topologies={"slack": [], "taut": [line], "parted": []},
        switches=[
            Switch("slack", "taut", guard=line, event=mechanism.event(inert=[line]), parameters={psi_0: psi}),
            Switch("taut", "parted", guard=sp.cos(psi - psi_0) - sp.cos(turn), event=mechanism.event(released=[line])),
        ],
        start=({"x_2": 10.0}, {"x_2": 2.0, "y_2": 2.0}),
        until=60.0,
        sketch=Sketch(links=[("P_1", "P_2")], masses=["P_1", "P_2"]),
    )
