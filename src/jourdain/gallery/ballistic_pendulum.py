"""A bullet is caught by a pendulum [textbooks on dynamics]."""

from __future__ import annotations

import sympy as sp
from sympy.physics.mechanics import Particle, dynamicsymbols

from jourdain.gallery._bodies import coincide, ground, planar_body, turned
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario


@problem
def ballistic_pendulum() -> Scenario:
    """A ballistic pendulum catches a bullet at depth d below its pivot.

    The centre of mass hangs at depth c; I is the moment of inertia about it. theta is the inclination at the catch.
    """
    theta, x, y = dynamicsymbols("theta x y")
    m, M, I, c, d = sp.symbols("m M I c d")
    N, O = ground()  # O is the pivot
    B = turned(N, "B", theta)
    C, D = O.locatenew("C", -c * B.y), O.locatenew("D", -d * B.y)
    bullet = O.locatenew("bullet", x * N.x + y * N.y)

    mechanism = Mechanism.from_sympy(
        bodies=[planar_body("pendulum", C, B, M, I), Particle("shot", bullet, m)],
        frame=N,
        q=[theta, x, y],
        parameters={m: 0.01, M: 5.0, I: 0.1, c: 0.8, d: 0.9},
        points={"O": O, "C": C, "D": D, "bullet": bullet},
        units={theta: "rad", x: "m", y: "m", m: "kg", M: "kg", I: "kg m^2", c: "m", d: "m"},
    )
    catch = coincide(mechanism, "catch", bullet.pos_from(D), N)

    inclination, omega, v = sp.symbols("theta omega v")
    event = mechanism.event(inert=[catch])
    return event.at(
        q={theta: inclination, x: d * sp.sin(inclination), y: -d * sp.cos(inclination)},
        v={theta: omega, x: v},
        defaults={inclination: 0.0, omega: 0.0, v: 400.0},
        units={inclination: "rad", omega: "rad/s", v: "m/s"},
        sketch=Sketch(links=[("O", "C", "D")], pivots=["O"], masses=["bullet"], velocities=["bullet", "C"]),
    )
