"""A ball rolling from a level onto an inclined plane [Wang & Chou 2003, Fig. 1]."""

from __future__ import annotations

from math import radians

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from jourdain.gallery._bodies import free_planar_body, turned
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario


@problem
def ball_on_incline() -> Scenario:
    """A ball rolling on a rough level plane bumps into a rough inclined plane.

    It lets go of the level and rolls up the incline: omega_plus/omega = (I + m r² cos α)/(I + m r²).
    phi turns forwards; a contact has the rows normal, and slip along the plane.
    """
    x, y, phi = q = dynamicsymbols("x y phi")
    m, r, I, alpha, omega = sp.symbols("m r I alpha omega")
    N, B, C, ball = free_planar_body("ball", x, y, -phi, m, I)
    A = turned(N, "A", alpha)  # A.x up the incline
    sole, front = (
        C.locatenew("sole", -r * N.y),
        C.locatenew("front", -r * A.y),
    )  # they touch, and are carried by the ball
    for point in (sole, front):
        point.v2pt_theory(C, N, B)

    mechanism = Mechanism.from_sympy(
        bodies=[ball],
        frame=N,
        q=q,
        parameters={m: 1.0, r: 0.1, I: 0.004, alpha: radians(30)},
        points={"C": C, "sole": sole, "front": front},
        units={x: "m", y: "m", phi: "rad", m: "kg", r: "m", I: "kg m^2", alpha: "rad"},
    )
    slip = -r * phi.diff()  # of the touching point relative to the centre
    level = mechanism.contact("level", normal=y.diff(), tangent=[x.diff() + slip], units="m/s")
    v_C = C.vel(N)
    incline = mechanism.contact("incline", normal=v_C.dot(A.y), tangent=[v_C.dot(A.x) + slip], units="m/s")

    event = mechanism.event(released=[level], inert=[incline])
    return event.at(
        v={x: r * omega, phi: omega},
        defaults={omega: 10.0},
        units={omega: "rad/s"},
        sketch=Sketch(
            arcs={"C": (r, "C")},
            velocities=["C"],
            acts={"level": "sole", "incline": "front"},
            surfaces=["level", "incline"],
        ),
    )
