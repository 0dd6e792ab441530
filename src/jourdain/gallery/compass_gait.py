"""The compass walker that walks down a slope by itself [Goswami, Espiau & Keramane 1996]."""

from __future__ import annotations

from math import radians

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from jourdain.gallery._bodies import ground, ground_contact, turned, two_legs
from jourdain.gallery._downhill import downhill, walk, walking_sketch
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.motion.hybrid import Hybrid


@problem
def compass_gait() -> Hybrid:
    """Two straight legs with point masses and a hip walk down a slope; the legs swap at every heel strike.

    theta_st, theta_sw are absolute, from the normal of the slope, positive where the hip is behind the foot. Each leg
    has a mass m at a distance a from its foot and b from the hip. The swing foot passes through the ground where the
    legs pass each other; that is not a strike.
    """
    foot_x, foot_y, theta_st, theta_sw = q = dynamicsymbols("foot_x foot_y theta_st theta_sw")
    m, m_H, a, b, g, slope = sp.symbols("m m_H a b g slope")
    N, O = ground()  # N lies along the slope, downhill
    A, B = turned(N, "A", theta_st), turned(N, "B", theta_sw)
    foot = O.locatenew("foot", foot_x * N.x + foot_y * N.y)
    hip, heel, masses = two_legs(foot, A.y, B.y, length=a + b, b=b, m=m, m_H=m_H)

    mechanism = Mechanism.from_sympy(
        bodies=masses,
        frame=N,
        q=q,
        parameters={m: 5.0, m_H: 10.0, a: 0.5, b: 0.5, g: 9.81, slope: radians(3)},
        points={"foot": foot, "hip": hip, "heel": heel},
        gravity=downhill(N, g, slope),
        units={foot_x: "m", foot_y: "m", theta_st: "rad", theta_sw: "rad"}
        | {m: "kg", m_H: "kg", a: "m", b: "m", g: "m/s^2", slope: "rad"},
    )
    stance = mechanism.contact("stance", normal=foot_y, tangent=[foot_x], level="position", units="m")
    strike = ground_contact(mechanism, "strike", heel.pos_from(O).dt(N), N)
    return walk(
        mechanism,
        stance,
        strike,
        heel_in_front=theta_st + theta_sw,
        relabel={foot_x: 0, foot_y: 0, theta_st: theta_sw, theta_sw: theta_st},
        leaning=theta_st,
        near=({"theta_st": 0.27, "theta_sw": -0.27}, {"theta_st": -1.1, "theta_sw": -0.38}),
        sketch=walking_sketch([("foot", "hip", "heel")], slope),
    )
