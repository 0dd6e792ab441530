"""The Whipple bicycle with the benchmark's parameters [Meijaard, Papadopoulos, Ruina & Schwab 2007]."""

from __future__ import annotations

from math import pi

import sympy as sp
from sympy.physics.mechanics import KanesMethod, Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario

LENGTHS = {"wheelbase": 1.02, "trail": 0.08, "r_R": 0.3, "r_F": 0.35, "x_B": 0.3, "z_B": 0.9, "x_H": 0.9, "z_H": 0.7}
MASSES = {"m_R": 2.0, "m_B": 85.0, "m_H": 4.0, "m_F": 3.0}
# Along x (forward), y (left), z (up); wheels have the same about x and z.
INERTIAS = {"R_xx": 0.0603, "R_yy": 0.12, "F_xx": 0.1405, "F_yy": 0.28}
INERTIAS |= {"B_xx": 9.2, "B_yy": 11.0, "B_zz": 2.8, "H_xx": 0.05892, "H_yy": 0.06, "H_zz": 0.00708}
# Sizes of the products of inertia: the frame's masses lie above and ahead or below and behind, the fork's across that.
INERTIAS |= {"B_xz": 2.4, "H_xz": 0.00756}


@problem
def bicycle() -> Scenario:
    """A bicycle runs against a kerb: its front wheel leaves the ground and goes on about the edge.

    It rides straight and upright at the speed v, falling over at the rate fall; the kerb is h high. R and F are the
    wheels, B the frame with its rider, H the fork, whose axis is tilted by lam; x and z of their centres of mass are
    measured from where the rear wheel touches the ground. Wheels have spins, but no angles.
    """
    yaw, lean, steer, pitch = q = dynamicsymbols("yaw lean steer pitch")
    w_yaw, w_lean, w_steer, w_pitch, w_rear, w_front = dynamicsymbols("w_yaw w_lean w_steer w_pitch w_rear w_front")
    p = {name: sp.Symbol(name) for name in (*LENGTHS, *MASSES, *INERTIAS)}
    wheelbase, trail, r_R, r_F, x_B, z_B, x_H, z_H = (p[name] for name in LENGTHS)
    lam, g, h = sp.symbols("lam g h")

    N = ReferenceFrame("N")
    Y = N.orientnew("Y", "Axis", [yaw, N.z])
    L = Y.orientnew("L", "Axis", [lean, Y.x])
    B = L.orientnew("B", "Axis", [pitch, L.y])
    axis = B.orientnew("axis", "Axis", [-lam, B.y])  # of steering, along its z, upwards and backwards
    turned = axis.orientnew("turned", "Axis", [-steer, axis.z])
    H = turned.orientnew("H", "Axis", [lam, turned.y])  # as B where it goes straight
    R, F = ReferenceFrame("R"), ReferenceFrame("F")
    Y.set_ang_vel(N, w_yaw * N.z)
    L.set_ang_vel(Y, w_lean * Y.x)
    B.set_ang_vel(L, w_pitch * L.y)
    turned.set_ang_vel(axis, -w_steer * axis.z)
    R.set_ang_vel(B, w_rear * B.y)
    F.set_ang_vel(H, w_front * H.y)

    rear = Point("rear")  # of the wheel, where it touches the ground
    rear.set_vel(N, 0)
    hub_R = rear.locatenew("hub_R", r_R * L.z)
    centre_B = hub_R.locatenew("centre_B", x_B * B.x + (z_B - r_R) * B.z)
    on_axis = hub_R.locatenew("on_axis", (wheelbase + trail) * B.x - r_R * B.z)
    centre_H = on_axis.locatenew("centre_H", (x_H - wheelbase - trail) * H.x + z_H * H.z)
    hub_F = on_axis.locatenew("hub_F", -trail * H.x + r_F * H.z)
    down = (H.y.dot(N.z) * H.y - N.z).normalize()  # in the plane of the front wheel
    front = hub_F.locatenew("front", r_F * down)
    edge = hub_F.locatenew("edge", (r_F - h) * down + sp.sqrt(r_F**2 - (r_F - h) ** 2) * down.cross(H.y))
    for point, base, frame in ((hub_R, rear, R), (centre_B, hub_R, B), (on_axis, hub_R, B), (centre_H, on_axis, H),
                               (hub_F, on_axis, H), (front, hub_F, F), (edge, hub_F, F)):  # fmt: skip
        point.v2pt_theory(base, N, frame)

    def body(name: str, centre: Point, frame: ReferenceFrame, fixed: ReferenceFrame) -> RigidBody:
        xx, yy, zz, xz = (p.get(f"{name}_{axes}", 0) for axes in ("xx", "yy", "zz", "xz"))
        I = inertia(fixed, xx, yy, zz or xx, 0, 0, -xz if name == "B" else xz)
        return RigidBody(f"body_{name}", centre, frame, p[f"m_{name}"], (I, centre))

    bodies = [body("R", hub_R, R, B), body("B", centre_B, B, B), body("H", centre_H, H, H), body("F", hub_F, F, H)]
    kane = KanesMethod(
        N,
        q_ind=[yaw, lean, steer],
        q_dependent=[pitch],
        configuration_constraints=[front.pos_from(rear).dot(N.z)],
        u_ind=[w_lean, w_steer, w_rear],
        u_dependent=[w_yaw, w_pitch, w_front],
        velocity_constraints=[front.vel(N).dot(direction) for direction in (Y.x, Y.y, Y.z)],
        kd_eqs=[u - x.diff() for u, x in zip((w_yaw, w_lean, w_steer, w_pitch), q, strict=True)],
        bodies=bodies,
        forcelist=[(one.masscenter, -one.mass * g * N.z) for one in bodies],
        constraint_solver="CRAMER",
    )
    axles = [hub.locatenew(f"axle_{hub.name[-1]}", r_R / 4 * along) for hub, along in ((hub_R, B.y), (hub_F, H.y))]
    speeds = (w_yaw, w_lean, w_steer, w_pitch, w_rear, w_front)
    kinds = {"rad": [*q, lam], "rad/s": speeds, "m": [*LENGTHS, h], "kg": MASSES, "kg m^2": INERTIAS, "m/s^2": [g]}
    mechanism = Mechanism.from_system(
        kane,
        parameters={**LENGTHS, **MASSES, **INERTIAS, lam: pi / 10, g: 9.81, h: 0.05},
        points={point.name: point for point in (front, edge, rear, hub_R, hub_F, centre_B, *axles)},
        units={symbol: unit for unit, several in kinds.items() for symbol in several},
    )
    rows = {name: edge.vel(N).dot(direction) for name, direction in (("x", Y.x), ("y", Y.y), ("z", Y.z))}
    kerb = mechanism.constraint("kerb", rows, units="m/s")
    v, fall = sp.symbols("v fall")
    return mechanism.event(released=mechanism.joined, inert=[kerb]).at(
        v={w_rear: v / r_R, w_front: v / r_F, w_lean: fall},
        defaults={v: 4.0, fall: 0.2},
        units={v: "m/s", fall: "rad/s"},
        sketch=Sketch(
            links=[("hub_R", "centre_B", "hub_F")],
            rings={"hub_R": (r_R, "axle_R"), "hub_F": (r_F, "axle_F")},
            masses=["centre_B"],
            velocities=["centre_B", "hub_F"],
            acts={"kerb": "edge"},
            view="xz",
        ),
    )
