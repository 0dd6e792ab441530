"""The rocker of a four-bar linkage runs into a stop: what do its joints feel?"""

from __future__ import annotations

from math import radians

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from jourdain.gallery._bodies import bar, coincide, ground, turned
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario


@problem
def four_bar() -> Scenario:
    """A crank drives a rocker through a coupler; the rocker runs into a stop with restitution kappa.

    Uniform bars of lengths l1 (crank), l2 (coupler), l3 (rocker) on a ground l4 long; angles are absolute, from the
    ground. The stop is a distance s from the rocker's pivot, on its clockwise side. The joint of coupler and rocker
    closes the loop: coupler and rocker are found near a guess for each angle theta of the crank, and the impulses of
    `joint` are what its pin passes from the coupler to the rocker.
    """
    crank, coupler, rocker = q = dynamicsymbols("crank coupler rocker")
    l1, l2, l3, l4, s, m1, m2, m3 = sp.symbols("l1 l2 l3 l4 s m1 m2 m3")
    N, O = ground()
    A, B, C = turned(N, "A", crank), turned(N, "B", coupler), turned(N, "C", rocker)
    pivot = O.locatenew("pivot", l4 * N.x)
    crank_bar, crank_pin = bar("crank_bar", O, A, l1 * A.x, m1)
    coupler_bar, coupler_end = bar("coupler_bar", crank_pin, B, l2 * B.x, m2)
    rocker_bar, rocker_pin = bar("rocker_bar", pivot, C, l3 * C.x, m3)
    pad = pivot.locatenew("pad", s * C.x)

    mechanism = Mechanism.from_sympy(
        bodies=[crank_bar, coupler_bar, rocker_bar],
        frame=N,
        q=q,
        parameters={l1: 0.1, l2: 0.25, l3: 0.2, l4: 0.3, s: 0.15, m1: 0.5, m2: 1.2, m3: 1.0},
        points={"O": O, "pivot": pivot, "pad": pad, "crank_pin": crank_pin, "rocker_pin": rocker_pin},
        units=dict.fromkeys(q, "rad") | dict.fromkeys((l1, l2, l3, l4, s), "m") | dict.fromkeys((m1, m2, m3), "kg"),
    )
    joint = coincide(mechanism, "joint", rocker_pin.pos_from(coupler_end), N)
    stop = mechanism.constraint("stop", pad.vel(N).dot(C.y), units="m/s")

    theta, omega, kappa = sp.symbols("theta omega kappa")
    return mechanism.event(regular=[joint], elastic={stop: "kappa"}).at(
        q={crank: theta},
        v={crank: omega},  # the others follow from the joint
        guess={coupler: 0.5, rocker: 1.7},
        defaults={theta: radians(60), omega: -2.0, kappa: 0.3},
        units={theta: "rad", omega: "rad/s", kappa: "1"},
        sketch=Sketch(
            links=[("O", "crank_pin", "rocker_pin", "pivot")],
            pivots=["O", "pivot"],
            velocities=["crank_pin", "rocker_pin"],
            acts={"stop": "pad", "joint": "rocker_pin"},
            surfaces=["stop"],
        ),
    )
