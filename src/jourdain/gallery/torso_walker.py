"""The walker of Font-Llagunes & Kövecses walks down a slope, its torso held between the legs."""

from __future__ import annotations

import sympy as sp
from sympy.physics.mechanics import Particle, dynamicsymbols

from jourdain.gallery._bodies import ground, ground_contact, turned, two_legs
from jourdain.gallery._downhill import downhill, walk, walking_sketch
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.motion.hybrid import Hybrid


@problem
def torso_walker() -> Hybrid:
    """The walker of the papers walks down a slope; a spring and a damper hold its torso midway between the legs.

    Angles are absolute, from the normal of the slope, positive leaning forward. k and c turn the torso towards the
    bisector of the legs and each leg back by half. R is the radius of the feet; (foot_x, foot_y) is how far the stance
    foot has slipped and lifted: its centre is at (foot_x + R stance, foot_y + R).

    Does it walk? With the papers' masses and R = 0.3 m it does, on feet that press and lift as they should: multipliers
    −0.70, 0.21 ± 0.37 i. With their R = 0.2 m and c = 10 N m s/rad there is a gait, but one multiplier is −10.0.
    """
    foot_x, foot_y, stance, swing, torso = q = dynamicsymbols("foot_x foot_y stance swing torso")
    m, m_H, m_T, l, b, l_T, R, k, c, g, slope = sp.symbols("m m_H m_T l b l_T R k c g slope")
    N, O = ground()  # N lies along the slope, downhill
    A, B, C = turned(N, "A", -stance), turned(N, "B", -swing), turned(N, "C", -torso)  # y leans forward
    rear = O.locatenew("rear", (foot_x + R * stance) * N.x + (foot_y + R) * N.y)  # centres of the feet: rear, fore
    hip, fore, masses = two_legs(rear, A.y, B.y, length=l - R, b=b, m=m, m_H=m_H)
    chest = hip.locatenew("chest", l_T * C.y)

    mechanism = Mechanism.from_sympy(
        bodies=[*masses, Particle("trunk", chest, m_T)],
        frame=N,
        q=q,
        parameters={m: 5.0, m_H: 10.0, m_T: 10.0, l: 0.8, b: 0.4, l_T: 0.4, R: 0.3}
        | {k: 200.0, c: 18.0, g: 9.81, slope: 0.06},
        points={"rear": rear, "hip": hip, "fore": fore, "chest": chest},
        gravity=downhill(N, g, slope),
        units={foot_x: "m", foot_y: "m", stance: "rad", swing: "rad", torso: "rad"}
        | {m: "kg", m_H: "kg", m_T: "kg", l: "m", b: "m", l_T: "m", R: "m"}
        | {k: "N m/rad", c: "N m s/rad", g: "m/s^2", slope: "rad"},
    )
    sole = mechanism.contact("sole", normal=foot_y, tangent=[foot_x], level="position", units="m")
    v_heel = fore.pos_from(O).dt(N) + (-swing.diff() * N.z).cross(-R * N.y)  # of the leg where it touches
    strike = ground_contact(mechanism, "strike", v_heel, N)
    lean = torso - (stance + swing) / 2  # from the bisector of the legs
    torque = -k * lean - c * lean.diff()
    return walk(
        mechanism,
        sole,
        strike,
        heel_in_front=-(stance + swing),
        relabel={foot_x: 0, foot_y: 0, stance: swing, swing: stance},
        leaning=stance,
        forces={torso: torque, stance: -torque / 2, swing: -torque / 2},
        near=({"stance": -0.62, "swing": 0.62, "torso": -0.09}, {"stance": 0.99, "swing": -0.56, "torso": 2.5}),
        sketch=walking_sketch(
            [("rear", "hip", "fore"), ("hip", "chest")],
            slope,
            arcs={"rear": (R, "hip"), "fore": (R, "hip")},
            masses=["chest"],
        ),
    )
