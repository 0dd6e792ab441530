"""A four-bar linkage made of SymPy's joints, one of which jams."""

from __future__ import annotations

from math import radians

import sympy as sp
from sympy.physics.mechanics import PinJoint, RigidBody, System, dynamicsymbols, inertia

from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario


@problem
def jointed_four_bar() -> Scenario:
    """A four-bar linkage of joints runs and the hinge between its crank and its coupler jams.

    Uniform bars of lengths l1 (crank), l2 (coupler), l3 (rocker) on a ground l4 long; q1, q2, q3 are the angles of each
    bar to the one before, w1, w2, w3 their rates. The rocker ends at the ground: `holonomic 0` and `holonomic 1`, whose
    impulses are those of this last hinge. The crank turns at omega.
    """
    q1, q2, q3 = q = dynamicsymbols("q1 q2 q3")
    w1, w2, w3 = w = dynamicsymbols("w1 w2 w3")
    lengths, masses, l4 = sp.symbols("l1 l2 l3"), sp.symbols("m1 m2 m3"), sp.Symbol("l4")
    ground = RigidBody("ground")
    bars = [RigidBody(name, mass=m) for name, m in zip(("crank", "coupler", "rocker"), masses, strict=True)]
    for one, m, l in zip(bars, masses, lengths, strict=True):
        one.central_inertia = inertia(one.frame, 0, 0, m * l**2 / 12)

    system = System.from_newtonian(ground)
    previous, end, pins = ground, 0 * ground.x, []
    for i, (one, l) in enumerate(zip(bars, lengths, strict=True)):
        hinge = PinJoint(f"hinge_{i + 1}", previous, one, q[i], w[i], parent_point=end, child_point=-l / 2 * one.x,
                         joint_axis=previous.z)  # fmt: skip
        system.add_joints(hinge)
        pins.append(hinge.parent_point)
        previous, end = one, l / 2 * one.x
    tip = previous.masscenter.locatenew("tip", end)
    gap = tip.pos_from(ground.masscenter) - l4 * ground.x
    system.q_ind, system.q_dep = [q1], [q2, q3]
    system.u_ind, system.u_dep = [w1], [w2, w3]
    system.add_holonomic_constraints(gap.dot(ground.x), gap.dot(ground.y))

    kinds = {"rad": q, "rad/s": w, "m": [*lengths, l4], "kg": masses}
    mechanism = Mechanism.from_system(
        system,
        parameters=dict(zip((*lengths, l4, *masses), (0.1, 0.25, 0.2, 0.3, 0.5, 1.2, 1.0), strict=True)),
        points={**dict(zip("OAB", pins, strict=True)), "tip": tip},
        units={symbol: unit for unit, several in kinds.items() for symbol in several},
    )
    jam = mechanism.constraint("jam", w2, units="rad/s")
    theta, omega = sp.symbols("theta omega")
    return mechanism.event(inert=[jam]).at(
        q={q1: theta},
        v={w1: omega},  # the others follow from the loop
        guess={q2: -0.6, q3: -2.0},
        defaults={theta: radians(60), omega: 2.0},
        units={theta: "rad", omega: "rad/s"},
        sketch=Sketch(
            links=[("O", "A", "B", "tip")],
            pivots=["O", "tip"],
            velocities=["A", "B"],
            acts={"holonomic 0": "tip", "holonomic 1": "tip"},
        ),
    )
