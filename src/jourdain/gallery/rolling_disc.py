"""A disc that rolls and leans hits a post with its rim, described by Kane's method in SymPy."""

from __future__ import annotations

from math import radians

import sympy as sp
from sympy.physics.mechanics import KanesMethod, Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario


@problem
def rolling_disc() -> Scenario:
    """A thin disc that rolls and leans hits a post with the foremost point of its rim.

    It rolls at speed v, leans by tilt, falls and turns at the rates fall and turn; w_x, w_y, w_z are its angular
    velocity along its heading, its axle and its upper radius. The surface of the post faces the disc at the angle beta
    from its heading; it touches smoothly, with restitution kappa, and the disc goes on rolling.
    """
    heading, lean, spin = q = dynamicsymbols("heading lean spin")
    w_x, w_y, w_z = w = dynamicsymbols("w_x w_y w_z")
    m, r, g, beta = sp.symbols("m r g beta")
    N = ReferenceFrame("N")
    Y = N.orientnew("Y", "Axis", [heading, N.z])
    L = Y.orientnew("L", "Axis", [lean, Y.x])
    R = L.orientnew("R", "Axis", [spin, L.y])
    turning = R.ang_vel_in(N)
    R.set_ang_vel(N, w_x * L.x + w_y * L.y + w_z * L.z)

    touching = Point("touching")
    touching.set_vel(N, 0)
    centre = touching.locatenew("centre", r * L.z)
    centre.v2pt_theory(touching, N, R)
    rim = centre.locatenew("rim", r * L.x)
    rim.v2pt_theory(centre, N, R)
    I = inertia(L, m * r**2 / 4, m * r**2 / 2, m * r**2 / 4)
    disc = RigidBody("disc", centre, R, m, (I, centre))
    kane = KanesMethod(N, q_ind=q, u_ind=w, kd_eqs=[w_i - turning.dot(axis) for w_i, axis in zip(w, L, strict=True)],
                       bodies=[disc], forcelist=[(centre, -m * g * N.z)])  # fmt: skip

    mechanism = Mechanism.from_system(
        kane,
        parameters={m: 2.0, r: 0.3, g: 9.81, beta: radians(30)},
        points={"rim": rim, "centre": centre, "axle": centre.locatenew("axle", r / 4 * L.y), "touching": touching},
        units=dict.fromkeys([*q, beta], "rad") | dict.fromkeys(w, "rad/s") | {m: "kg", r: "m", g: "m/s^2"},
    )
    facing = sp.cos(beta) * Y.x + sp.sin(beta) * Y.y
    post = mechanism.constraint("post", rim.vel(N).dot(facing), units="m/s")
    kappa, v, tilt, fall, turn = sp.symbols("kappa v tilt fall turn")
    return mechanism.event(elastic={post: "kappa"}).at(
        q={lean: tilt},
        v={w_x: fall, w_y: v / r, w_z: turn},
        defaults={kappa: 0.5, v: 3.0, tilt: radians(20), fall: 0.4, turn: 1.0},
        units={kappa: "1", v: "m/s", tilt: "rad", fall: "rad/s", turn: "rad/s"},
        sketch=Sketch(
            links=[("centre", "axle")],
            rings={"centre": (r, "axle")},
            velocities=["rim", "centre"],
            acts={"post": "rim"},
            surfaces=["post"],
        ),
    )
