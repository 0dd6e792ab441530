"""A box is dropped flat on the floor: four corners, of which three would do."""

from __future__ import annotations

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from jourdain.gallery._bodies import BOX_EDGES, box_corners, free_box, set_body_rates
from jourdain.gallery._origin import problem
from jourdain.laws import Frictionless
from jourdain.laws.frictionless import Rule
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario


@problem
def box_dropped_flat(law: Rule = "moreau") -> Scenario:
    """A box falls flat on a smooth floor: four corners push, and velocities do not depend on how they share it.

    a, b, c are its sizes along body x, y, z; v is the speed of the fall, w_x, w_y, w_z the angular velocity in body
    axes. (psi, theta, phi) say how it is turned, about its axes z, y, x in this order; it lands with psi.
    If it turns so quickly that a corner rises, Moreau's law cannot be met by the others; Poisson's can.
    """
    x, y, z, psi, theta, phi = q = dynamicsymbols("x y z psi theta phi")
    w = dynamicsymbols("w_x w_y w_z")
    m, a, b, c, v = sp.symbols("m a b c v")
    N, B, C, box = free_box("box", q, m, sizes=(a, b, c))
    kinematics = set_body_rates(B, N, w)

    corners = box_corners(C, B, (a, b, c))

    mechanism = Mechanism.from_sympy(
        bodies=[box],
        frame=N,
        q=q,
        v=[x.diff(), y.diff(), z.diff(), *w],
        kinematics=kinematics,
        parameters={m: 3.0, a: 0.4, b: 0.3, c: 0.2},
        points={"C": C, **corners},
        units=dict.fromkeys((x, y, z, a, b, c), "m")
        | dict.fromkeys((psi, theta, phi), "rad")
        | dict.fromkeys(w, "rad/s")
        | {m: "kg"},
    )
    contacts = [
        mechanism.contact(name, normal=corner.v2pt_theory(C, N, B).dot(N.z), units="m/s")
        for name, corner in corners.items()
        if name.startswith("corner")
    ]
    heading, *spin = sp.symbols("psi w_x w_y w_z")
    return mechanism.event(contacts=dict.fromkeys(contacts, Frictionless("kappa", law))).at(
        q={z: c / 2, psi: heading},
        v={z.diff(): -v, **dict(zip(w, spin, strict=True))},
        defaults={heading: 0.3, v: 2.0, "kappa": 0.5} | dict.fromkeys(spin, 0.0),
        units={heading: "rad", v: "m/s", "kappa": "1"} | dict.fromkeys(spin, "rad/s"),
        sketch=Sketch(
            links=BOX_EDGES,
            velocities=["C"],
            acts={f"corner_{i}": f"corner_{i}" for i in range(1, 5)},
        ),
    )
