"""A compass walker rolls over its round feet down a slope [McGeer 1990, Int. J. Robotics Res. 9]."""

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
def round_foot_walker() -> Hybrid:
    """Two straight legs on round feet walk down a slope; the stance foot rolls, the legs swap at every heel strike.

    theta_st, theta_sw are absolute, from the normal of the slope, positive where the hip is behind the foot. R is the
    radius of the feet; each leg has a mass m at a distance a from its sole and b from the hip. (foot_x, foot_y) is how
    far the stance foot has slipped and lifted: its centre is at (foot_x − R theta_st, foot_y + R). The point that
    touches is carried by the leg. The swing foot passes through the ground where the legs pass each other; that is not
    a strike.
    """
    foot_x, foot_y, theta_st, theta_sw = q = dynamicsymbols("foot_x foot_y theta_st theta_sw")
    m, m_H, a, b, R, g, slope = sp.symbols("m m_H a b R g slope")
    N, O = ground()  # N lies along the slope, downhill
    A, B = turned(N, "A", theta_st), turned(N, "B", theta_sw)
    rear = O.locatenew("rear", (foot_x - R * theta_st) * N.x + (foot_y + R) * N.y)  # centres of the feet: rear, fore
    hip, fore, masses = two_legs(rear, A.y, B.y, length=a + b - R, b=b, m=m, m_H=m_H)

    mechanism = Mechanism.from_sympy(
        bodies=masses,
        frame=N,
        q=q,
        parameters={m: 5.0, m_H: 10.0, a: 0.5, b: 0.5, R: 0.2, g: 9.81, slope: radians(1.5)},
        points={"rear": rear, "hip": hip, "fore": fore},
        gravity=downhill(N, g, slope),
        units={foot_x: "m", foot_y: "m", theta_st: "rad", theta_sw: "rad"}
        | {m: "kg", m_H: "kg", a: "m", b: "m", R: "m", g: "m/s^2", slope: "rad"},
    )
    stance = mechanism.contact("stance", normal=foot_y, tangent=[foot_x], level="position", units="m")
    v_heel = fore.pos_from(O).dt(N) + (theta_sw.diff() * N.z).cross(-R * N.y)  # of the leg where it touches
    strike = ground_contact(mechanism, "strike", v_heel, N)
    return walk(
        mechanism,
        stance,
        strike,
        heel_in_front=theta_st + theta_sw,
        relabel={foot_x: 0, foot_y: 0, theta_st: theta_sw, theta_sw: theta_st},
        leaning=theta_st,
        near=({"theta_st": 0.24, "theta_sw": -0.24}, {"theta_st": -1.0, "theta_sw": -0.5}),
        sketch=walking_sketch([("rear", "hip", "fore")], slope, arcs={"rear": (R, "hip"), "fore": (R, "hip")}),
    )
