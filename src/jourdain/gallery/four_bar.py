"""The rocker of a four-bar linkage runs into a stop: what do its joints feel?"""

from __future__ import annotations

from math import radians

import sympy as sp
from sympy.physics.mechanics import Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario


def four_bar() -> Scenario:
    """A crank drives a rocker through a coupler; the rocker runs into a stop with restitution kappa.

    Uniform bars of lengths l1 (crank), l2 (coupler), l3 (rocker) on a ground l4 long; angles are absolute, from the
    ground. The stop is a distance s from the rocker's pivot, on its clockwise side. The joint of coupler and rocker
    closes the loop: coupler and rocker are found near a guess for each angle theta of the crank, and the impulses of
    `joint` are what its pin passes from the coupler to the rocker.
    """
    crank, coupler, rocker = q = dynamicsymbols("crank coupler rocker")
    lengths = l1, l2, l3 = sp.symbols("l1:4")
    masses = m1, m2, m3 = sp.symbols("m1:4")
    l4, s = sp.symbols("l4 s")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    pivot = O.locatenew("pivot", l4 * N.x)
    bodies, start, ends = [], O, []
    for name, angle, l, m in zip(("crank", "coupler", "rocker"), q, lengths, masses, strict=True):
        start = pivot if name == "rocker" else start
        B = ReferenceFrame(name.upper())
        B.orient_axis(N, angle, N.z)
        centre = start.locatenew(f"{name}_centre", l / 2 * B.x)
        bodies.append(RigidBody(f"{name}_bar", centre, B, m, (inertia(B, 0, 0, m * l**2 / 12), centre)))
        ends.append(start.locatenew(f"{name}_end", l * B.x))
        start = ends[-1]
    pad = pivot.locatenew("pad", s * B.x)

    mechanism = Mechanism.from_sympy(
        bodies=bodies,
        frame=N,
        q=q,
        parameters={l1: 0.1, l2: 0.25, l3: 0.2, l4: 0.3, s: 0.15, m1: 0.5, m2: 1.2, m3: 1.0},
        points={"O": O, "pivot": pivot, "pad": pad, "crank_pin": ends[0], "rocker_pin": ends[2]},
        units=dict.fromkeys(q, "rad") | dict.fromkeys((*lengths, l4, s), "m") | dict.fromkeys(masses, "kg"),
    )
    gap = ends[2].pos_from(ends[1])
    joint = mechanism.constraint("joint", {"x": gap.dot(N.x), "y": gap.dot(N.y)}, level="position", units="m")
    stop = mechanism.constraint("stop", pad.vel(N).dot(B.y), units="m/s")

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
