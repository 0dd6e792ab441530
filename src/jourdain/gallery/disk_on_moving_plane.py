"""A vertical disk rolling on a plane that starts to move [Wang & Chou 2003, eqs. 1 and 2]."""

from __future__ import annotations

from math import radians

import sympy as sp
from sympy.physics.mechanics import RigidBody, dynamicsymbols, inertia

from jourdain.gallery._bodies import ground, turned
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.scenarios.scenario import Scenario


@problem
def disk_on_moving_plane() -> Scenario:
    """A vertical disk rolls on a plane that starts to move.

    It stays upright; theta is its heading, phi its spin, (v_px, v_py) the velocity of the plane.
    """
    x, y, theta, phi = dynamicsymbols("x y theta phi")
    m, a, I, I_d, v_px, v_py = sp.symbols("m a I I_d v_px v_py")
    N, O = ground()
    A = turned(N, "A", theta)  # A.x forwards, A.y along the axle
    B = A.orientnew("B", "Axis", [phi, A.y])
    C = O.locatenew("C", x * N.x + y * N.y + a * N.z)

    mechanism = Mechanism.from_sympy(
        bodies=[RigidBody("disk", C, B, m, (inertia(B, I_d, I, I_d), C))],
        frame=N,
        q=[x, y, theta, phi],
        parameters={m: 2.0, a: 0.25, I: 0.0625, I_d: 0.03125, v_px: 0.0, v_py: 0.0},
        points={"C": C},
        units={x: "m", y: "m", theta: "rad", phi: "rad", m: "kg", a: "m", I: "kg m^2", I_d: "kg m^2"}
        | {v_px: "m/s", v_py: "m/s"},
    )
    roll = {
        "x": x.diff() - a * phi.diff() * sp.cos(theta) - v_px,
        "y": y.diff() - a * phi.diff() * sp.sin(theta) - v_py,
    }
    rolling = mechanism.constraint("rolling", roll, units="m/s")

    heading, turn, spin, p_x, p_y = sp.symbols("theta turn spin v_px_minus v_py_minus")
    event = mechanism.event(live={rolling: {v_px: (0.0, 0.5), v_py: (0.0, 0.3)}})
    return event.at(
        q={theta: heading},
        v={x: a * spin * sp.cos(heading) + p_x, y: a * spin * sp.sin(heading) + p_y, theta: turn, phi: spin},
        defaults={heading: radians(25), turn: 0.2, spin: 6.0},
        units={heading: "rad", turn: "rad/s", spin: "rad/s"}
        | dict.fromkeys(("v_px_minus", "v_px_plus", "v_py_minus", "v_py_plus"), "m/s"),
    )
