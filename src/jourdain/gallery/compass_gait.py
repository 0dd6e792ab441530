"""The compass walker that walks down a slope by itself [Goswami, Espiau & Keramane 1996]."""

from __future__ import annotations

from math import radians

import sympy as sp
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, dynamicsymbols

from jourdain.gallery._downhill import downhill, steps, walking_sketch
from jourdain.mechanism.mechanism import Mechanism
from jourdain.motion.hybrid import Hybrid


def compass_gait() -> Hybrid:
    """Two straight legs with point masses and a hip walk down a slope; the legs swap at every heel strike.

    theta_st, theta_sw are absolute, from the normal of the slope, positive where the hip is behind the foot. Each leg
    has a mass m at a distance a from its foot and b from the hip. The swing foot passes through the ground where the
    legs pass each other; that is not a strike.
    """
    foot_x, foot_y, theta_st, theta_sw = q = dynamicsymbols("foot_x foot_y theta_st theta_sw")
    m, m_H, a, b, g, slope = sp.symbols("m m_H a b g slope")
    N, A, B = ReferenceFrame("N"), ReferenceFrame("A"), ReferenceFrame("B")  # N lies along the slope, downhill
    A.orient_axis(N, theta_st, N.z)
    B.orient_axis(N, theta_sw, N.z)
    O = Point("O")
    O.set_vel(N, 0)
    foot = O.locatenew("foot", foot_x * N.x + foot_y * N.y)
    hip = foot.locatenew("hip", (a + b) * A.y)
    heel = hip.locatenew("heel", -(a + b) * B.y)

    mechanism = Mechanism.from_sympy(
        bodies=[
            Particle("stance_leg", foot.locatenew("stance_leg", a * A.y), m),
            Particle("swing_leg", hip.locatenew("swing_leg", -b * B.y), m),
            Particle("pelvis", hip, m_H),
        ],
        frame=N,
        q=q,
        parameters={m: 5.0, m_H: 10.0, a: 0.5, b: 0.5, g: 9.81, slope: radians(3)},
        points={"foot": foot, "hip": hip, "heel": heel},
        gravity=downhill(N, g, slope),
        units={foot_x: "m", foot_y: "m", theta_st: "rad", theta_sw: "rad"}
        | {m: "kg", m_H: "kg", a: "m", b: "m", g: "m/s^2", slope: "rad"},
    )
    stance = mechanism.contact("stance", normal=foot_y, tangent=[foot_x], level="position", units="m")
    v_heel = heel.pos_from(O).dt(N)
    strike = mechanism.contact("strike", normal=v_heel.dot(N.y), tangent=[v_heel.dot(N.x)], units="m/s")
    return Hybrid(
        mechanism,
        topologies={"stance": [stance]},
        switches=steps(
            heel_in_front=theta_st + theta_sw,
            strike=mechanism.event(inert=[strike], released=[stance]),
            relabel={foot_x: 0, foot_y: 0, theta_st: theta_sw, theta_sw: theta_st},
            leaning=theta_st,
        ),
        near=({"theta_st": 0.27, "theta_sw": -0.27}, {"theta_st": -1.1, "theta_sw": -0.38}),
        sketch=walking_sketch([("foot", "hip", "heel")], slope),
    )
