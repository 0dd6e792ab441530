"""A sphere rolls into a step [textbooks on dynamics]."""

from __future__ import annotations

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from jourdain.gallery._bodies import free_planar_body
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario


@problem
def step() -> Scenario:
    """A sphere rolling on the level hits the edge of a step of height h and turns about it.

    The step is rough and does not bounce; omega_plus/omega = 1 − 5 h/7 r. phi turns forwards.
    """
    x, y, phi = q = dynamicsymbols("x y phi")
    m, r, h, omega = sp.symbols("m r h omega")
    N, B, C, sphere = free_planar_body("sphere", x, y, -phi, m, I=2 * m * r**2 / 5)

    sine, cosine = sp.sqrt(h * (2 * r - h)) / r, (r - h) / r  # of the angle from the vertical to the edge
    away, up = -sine * N.x + cosine * N.y, cosine * N.x + sine * N.y
    sole, front = C.locatenew("sole", -r * N.y), C.locatenew("front", -r * away)  # they touch, carried by the sphere
    for point in (sole, front):
        point.v2pt_theory(C, N, B)

    mechanism = Mechanism.from_sympy(
        bodies=[sphere],
        frame=N,
        q=q,
        parameters={m: 1.0, r: 0.1, h: 0.03},
        points={"C": C, "sole": sole, "front": front},
        units={x: "m", y: "m", phi: "rad", m: "kg", r: "m", h: "m"},
    )
    v_C, slip = C.vel(N), -r * phi.diff()  # of the touching point relative to the centre
    level = mechanism.contact("level", normal=v_C.dot(N.y), tangent=[v_C.dot(N.x) + slip], units="m/s")
    edge = mechanism.contact("edge", normal=v_C.dot(away), tangent=[v_C.dot(up) + slip], units="m/s")

    event = mechanism.event(released=[level], inert=[edge])
    return event.at(
        q={y: r},
        v={x: r * omega, phi: omega},
        defaults={omega: 10.0},
        units={omega: "rad/s"},
        sketch=Sketch(
            arcs={"C": (r, "C")}, velocities=["C"], acts={"level": "sole", "edge": "front"}, surfaces=["level"]
        ),
    )
