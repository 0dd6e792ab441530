"""A ball bounces ever lower until it lies still [Newton's restitution; Zeno's paradox in finite time]."""

from __future__ import annotations

import sympy as sp
from sympy.physics.mechanics import Particle, dynamicsymbols

from jourdain.gallery._bodies import ground
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.motion.guards import Switch
from jourdain.motion.hybrid import Hybrid


@problem
def bouncing_ball() -> Hybrid:
    """A ball falls on the floor and bounces with restitution kappa; its bounces pile up to rest.

    z is the height above the floor. Dropped from rest it lies still at t₁ (1 + κ)/(1 − κ), t₁ = √(2z/g).
    """
    z = dynamicsymbols("z")
    m, g, kappa = sp.symbols("m g kappa")
    N, O = ground()
    P = O.locatenew("P", z * N.y)
    mechanism = Mechanism.from_sympy(
        bodies=[Particle("ball", P, m)],
        frame=N,
        q=[z],
        parameters={m: 1.0, g: 9.81, kappa: 0.8},
        points={"P": P},
        gravity=-g * N.y,
        units={z: "m", m: "kg", g: "m/s^2", kappa: "1"},
    )
    floor = mechanism.constraint("floor", z, level="position", units="m")
    bounce = Switch("flight", "flight", guard=floor, event=mechanism.event(elastic={floor: kappa}))
    return Hybrid(
        mechanism,
        topologies={"flight": []},
        switches=[bounce],
        start=({"z": 1.0}, {}),
        sketch=Sketch(masses=["P"], floors={0: -1}),
    )
