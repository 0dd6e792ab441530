"""A passive walker with knees [McGeer 1990; Hsu Chen 2007, MIT thesis, whose parameters these are]."""

from __future__ import annotations

import sympy as sp
from sympy.physics.mechanics import Particle, dynamicsymbols

from jourdain.gallery._bodies import ground, ground_contact, turned
from jourdain.gallery._downhill import downhill, walking_sketch
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.motion.guards import Switch
from jourdain.motion.hybrid import Hybrid


@problem
def kneed_walker() -> Hybrid:
    """A walker with knees walks down a slope: the knee of the swing leg locks when it is straight, until heel strike.

    Angles are absolute, from the normal of the slope, positive where the hip is behind the foot: stance_thigh,
    stance_shank, swing_thigh, swing_shank. The stance knee is always locked; at heel strike both are, then the other
    leg swings and its knee is free. A shank has its mass m_s at a1 from the foot and b1 from the knee, a thigh m_t at
    a2 from the knee and b2 from the hip.
    """
    foot_x, foot_y, stance_thigh, stance_shank, swing_thigh, swing_shank = q = dynamicsymbols(
        "foot_x foot_y stance_thigh stance_shank swing_thigh swing_shank"
    )
    m_H, m_t, m_s, a1, b1, a2, b2, g, slope = sp.symbols("m_H m_t m_s a1 b1 a2 b2 g slope")
    N, O = ground()  # N lies along the slope, downhill
    shank, thigh, thigh_2, shank_2 = (  # up each link
        turned(N, angle.name, angle).y for angle in (stance_shank, stance_thigh, swing_thigh, swing_shank)
    )
    foot = O.locatenew("foot", foot_x * N.x + foot_y * N.y)
    knee = foot.locatenew("knee", (a1 + b1) * shank)
    hip = knee.locatenew("hip", (a2 + b2) * thigh)
    knee_2 = hip.locatenew("swing_knee", -(a2 + b2) * thigh_2)
    heel = knee_2.locatenew("heel", -(a1 + b1) * shank_2)

    mechanism = Mechanism.from_sympy(
        bodies=[
            Particle("shank_1", foot.locatenew("shank_1", a1 * shank), m_s),
            Particle("thigh_1", knee.locatenew("thigh_1", a2 * thigh), m_t),
            Particle("pelvis", hip, m_H),
            Particle("thigh_2", hip.locatenew("thigh_2", -b2 * thigh_2), m_t),
            Particle("shank_2", knee_2.locatenew("shank_2", -b1 * shank_2), m_s),
        ],
        frame=N,
        q=q,
        parameters={m_H: 0.5, m_t: 0.5, m_s: 0.05, a1: 0.375, b1: 0.125, a2: 0.175, b2: 0.325, g: 9.81, slope: 0.0504},
        points={"foot": foot, "knee": knee, "hip": hip, "other_knee": knee_2, "heel": heel},
        gravity=downhill(N, g, slope),
        units={foot_x: "m", foot_y: "m"}
        | dict.fromkeys((stance_thigh, stance_shank, swing_thigh, swing_shank, slope), "rad")
        | dict.fromkeys((m_H, m_t, m_s), "kg")
        | dict.fromkeys((a1, b1, a2, b2), "m")
        | {g: "m/s^2"},
    )
    stance = mechanism.contact("stance", normal=foot_y, tangent=[foot_x], level="position", units="m")
    stance_knee = mechanism.constraint("stance_knee", stance_thigh - stance_shank, level="position", units="rad")
    swing_knee = mechanism.constraint("swing_knee", swing_thigh - swing_shank, level="position", units="rad")
    strike = ground_contact(mechanism, "strike", heel.pos_from(O).dt(N), N)
    return Hybrid(
        mechanism,
        topologies={"unlocked": [stance, stance_knee], "locked": [stance, stance_knee, swing_knee]},
        switches=[
            Switch(
                "unlocked",
                "locked",
                guard=swing_knee,
                after_rising=True,  # it starts straight
                event=mechanism.event(regular=[stance, stance_knee], inert=[swing_knee]),
            ),
            Switch(
                "locked",
                "unlocked",
                guard=stance_thigh + swing_thigh,  # the heel is on the slope, in front
                after_rising=True,
                event=mechanism.event(regular=[stance_knee, swing_knee], inert=[strike], released=[stance]),
                relabel={foot_x: 0, foot_y: 0}
                | {stance_thigh: swing_thigh, stance_shank: swing_shank}
                | {swing_thigh: stance_thigh, swing_shank: stance_shank},
            ),
            Switch("unlocked", None, guard=sp.cos(stance_thigh), name="fallen"),
            Switch("locked", None, guard=sp.cos(stance_thigh), name="fallen"),
        ],
        near=(
            {"stance_thigh": 0.238, "stance_shank": 0.238, "swing_thigh": -0.238, "swing_shank": -0.238},
            {"stance_thigh": -1.1, "stance_shank": -1.1, "swing_thigh": -0.04, "swing_shank": -0.04},
        ),
        sketch=walking_sketch([("foot", "knee", "hip", "other_knee", "heel")], slope),
    )
