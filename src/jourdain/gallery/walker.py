"""A compass walker with round feet and a torso strikes the ground with its heel [Font-Llagunes & Kövecses]."""

from __future__ import annotations

from collections.abc import Sequence
from math import radians
from typing import Literal, get_args

import sympy as sp
from sympy.physics.mechanics import Particle, dynamicsymbols

from jourdain.errors import BadEvent, check_choice
from jourdain.events.event import Event
from jourdain.gallery._bodies import ground, ground_contact, turned, two_legs
from jourdain.gallery._origin import problem
from jourdain.laws import Frictionless, Law
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.naming import refuse_clash
from jourdain.scenarios.scenario import Scenario

RearFoot = Literal["released", "one-sided"]


@problem
def walker(rear_foot: RearFoot = "released", law: Law | None = None) -> Scenario:
    """Heel strike of a walker with two straight legs, round feet and a torso; the rear foot lets go, or may lift.

    Angles are absolute, from the vertical, positive leaning forward; (foot_x, foot_y) is the centre of the stance foot.
    At the strike the legs stand at ±theta/2 and turn with `rate`. rho is the radius of the feet over the leg length l
    (hip to sole), mu the mass of the torso over that of both legs; legs, hip and torso are point masses.

    Released: the heel is inert, or strikes with the law, as in `law=jd.laws.Coulomb("friction")`. One-sided: the heel
    is inert, and the rear foot lifts or holds by the law, frictionless if none is given.
    """
    check_choice("rear_foot", rear_foot, get_args(RearFoot))
    foot_x, foot_y, stance, swing, torso = q = dynamicsymbols("foot_x foot_y stance swing torso")
    m, m_H, m_T, l, b, l_T, R = sp.symbols("m m_H m_T l b l_T R")
    N, O = ground()
    A, B, C = turned(N, "A", -stance), turned(N, "B", -swing), turned(N, "C", -torso)  # y leans forward
    rear = O.locatenew("rear", foot_x * N.x + foot_y * N.y)  # centres of the feet: rear and fore
    hip, fore, masses = two_legs(rear, A.y, B.y, length=l - R, b=b, m=m, m_H=m_H)
    # The touching points are carried by the legs.
    stance_foot, heel = rear.locatenew("stance_foot", -R * N.y), fore.locatenew("heel", -R * N.y)
    stance_foot.v2pt_theory(rear, N, A)
    heel.v2pt_theory(fore, N, B)

    chest = hip.locatenew("chest", l_T * C.y)
    mechanism = Mechanism.from_sympy(
        bodies=[*masses, Particle("trunk", chest, m_T)],
        frame=N,
        q=q,
        parameters={m: 5.0, m_H: 10.0, m_T: 10.0, l: 0.8, b: 0.4, l_T: 0.4, R: 0.2},
        points={"hip": hip, "heel": heel, "stance_foot": stance_foot, "rear": rear, "fore": fore, "chest": chest},
        units={foot_x: "m", foot_y: "m", stance: "rad", swing: "rad", torso: "rad"}
        | {m: "kg", m_H: "kg", m_T: "kg", l: "m", b: "m", l_T: "m", R: "m"},
    )
    new = ground_contact(mechanism, "heel", heel.vel(N), N)
    old = ground_contact(mechanism, "stance", stance_foot.vel(N), N)

    if rear_foot == "one-sided":
        event = mechanism.event(inert=[new], contacts={old: Frictionless() if law is None else law})
    elif law is None:
        event = mechanism.event(inert=[new], released=[old])
    else:
        event = mechanism.event(contacts={new: law}, released=[old])

    theta, lean, rho, mu, m_W, rate = own = sp.symbols("theta torso rho mu m_W rate")
    named = {} if law is None else _numbers(law, event, own)
    legs = (m_W - m_H) / (1 + mu)  # both, from m_W = m_H + m_T + 2m and mu = m_T/2m
    return event.at(
        q={foot_y: R, stance: theta / 2, swing: -theta / 2, torso: lean},
        v={foot_x: R * rate, stance: rate, swing: rate},  # the stance foot rolls
        parameters={R: rho * l, m: legs / 2, m_T: mu * legs},
        defaults=named | {theta: radians(40), lean: 0.0, rho: 0.25, mu: 1.0, m_W: 30.0, rate: 1.0},
        units=dict.fromkeys(named, "1") | {theta: "rad", lean: "rad", rho: "1", mu: "1", m_W: "kg", rate: "rad/s"},
        sketch=Sketch(
            links=[("rear", "hip", "fore"), ("hip", "chest")],
            arcs={"rear": (R, "hip"), "fore": (R, "hip")},
            masses=["hip", "chest"],
            velocities=["hip", "chest", "heel", "stance_foot"],
            acts={"heel": "heel", "stance": "stance_foot"},
            surfaces=["heel", "stance"],
        ),
    )


def _numbers(law: Law, event: Event, own: Sequence[sp.Symbol]) -> dict[str, float]:
    """The parameters that a law brings, with their defaults."""
    starts = {"friction": 0.6, "restitution": 0.0}
    named = {name: starts[field] for field, name in vars(law).items() if field in starts and isinstance(name, str)}
    for name in named:
        if event.parameters[name] is not None:
            raise BadEvent(f"'{name}' is a parameter of the walker itself; call that of the law differently.")
    refuse_clash((name, "parameter of the walker") for name in (*(symbol.name for symbol in own), *named))
    return named
