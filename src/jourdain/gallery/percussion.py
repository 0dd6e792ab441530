"""A compound pendulum is struck: the centre of percussion [textbooks on dynamics]."""

from __future__ import annotations

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from jourdain.gallery._bodies import coincide, ground, planar_body, turned
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.scenarios.scenario import Scenario


@problem
def percussion() -> Scenario:
    """A hanging pendulum is struck at a distance s from its pivot; at (k² + d²)/d the pivot feels nothing.

    d is the distance of the centre of mass from the pivot, k the radius of gyration about it, P the blow.
    By default a uniform rod of 1 m is struck at its centre of percussion.
    """
    x, y, theta = q = dynamicsymbols("x y theta")
    m, d, k, s, P, omega = sp.symbols("m d k s P omega")
    N, O = ground()
    B, C = turned(N, "B", theta), O.locatenew("C", x * N.x + y * N.y)
    top, S = C.locatenew("top", d * B.y), C.locatenew("S", (d - s) * B.y)

    mechanism = Mechanism.from_sympy(
        bodies=[planar_body("pendulum", C, B, m, m * k**2)],
        frame=N,
        q=q,
        parameters={m: 1.0, d: 0.5, k: 12**-0.5, s: 2 / 3, P: 1.0},
        points={"C": C, "top": top, "S": S},
        units={x: "m", y: "m", theta: "rad", m: "kg", d: "m", k: "m", s: "m", P: "N s"},
    )
    pivot = coincide(mechanism, "pivot", top.pos_from(O), N)

    event = mechanism.event(regular=[pivot], impulses={S: P * N.x})
    return event.at(q={y: -d}, v={x: d * omega, theta: omega}, defaults={omega: 0.0}, units={omega: "rad/s"})
