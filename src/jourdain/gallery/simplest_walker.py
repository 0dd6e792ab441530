"""The simplest walker: a hip on two massless legs with tiny feet [Garcia, Chatterjee, Ruina & Coleman 1998]."""

from __future__ import annotations

import sympy as sp
from sympy.physics.mechanics import Particle, dynamicsymbols

from jourdain.gallery._bodies import ground, turned
from jourdain.gallery._downhill import downhill, walk, walking_sketch
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.motion.hybrid import Hybrid


@problem
def simplest_walker() -> Hybrid:
    """A hip on two legs whose feet weigh next to nothing walks down a slope; the legs swap at every heel strike.

    theta is the angle of the stance leg from the normal of the slope, positive where the hip is behind the foot, phi
    that between the legs: both feet touch where phi = 2 theta. The swing foot passes through the ground where the legs
    pass each other; that is not a strike. Feet have the mass m, the hip m_H; l = g = 1: times are in units of √(l/g).

    theta and phi are measured from the line between the hip and the place of the stance foot; `stretch` is what this is
    longer than l, `trail` what the leg turns from it. Both are 0 in stance. So the heavy hip has coordinates of its
    own, and nothing that the light feet do is lost in rounding.
    """
    theta, phi, stretch, trail = q = dynamicsymbols("theta phi stretch trail")
    m, m_H, l, g, slope = sp.symbols("m m_H l g slope")
    N, O = ground()  # N lies along the slope, downhill
    A, B, L = turned(N, "A", theta), turned(N, "B", theta - phi), turned(N, "L", theta + trail)
    hip = O.locatenew("hip", (l + stretch) * A.y)
    foot, heel = hip.locatenew("foot", -l * L.y), hip.locatenew("heel", -l * B.y)

    mechanism = Mechanism.from_sympy(
        bodies=[Particle("stance_foot", foot, m), Particle("swing_foot", heel, m), Particle("pelvis", hip, m_H)],
        frame=N,
        q=q,
        parameters={m: 1e-10, m_H: 1.0, l: 1.0, g: 1.0, slope: 0.009},
        points={"foot": foot, "hip": hip, "heel": heel},
        gravity=downhill(N, g, slope),
        units={theta: "rad", phi: "rad", stretch: "m", trail: "rad"}
        | {m: "kg", m_H: "kg", l: "m", g: "m/s^2", slope: "rad"},
    )
    stance = mechanism.constraint("stance", {"along": stretch, "across": l * trail}, level="position", units="m")
    v_heel = heel.pos_from(O).dt(N)
    strike = mechanism.constraint("strike", {"along": v_heel.dot(B.y), "across": v_heel.dot(B.x)}, units="m/s")
    return walk(
        mechanism,
        stance,
        strike,
        heel_in_front=2 * theta - phi,
        relabel={theta: theta - phi, phi: -phi - trail, stretch: 0, trail: 0},
        leaning=theta,
        near=({"theta": 0.2, "phi": 0.4}, {"theta": -0.2, "phi": -0.016}),
        until=20.0,
        sketch=walking_sketch([("foot", "hip", "heel")], slope),
    )
