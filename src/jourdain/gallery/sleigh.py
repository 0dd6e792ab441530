"""A sleigh with a knife blade on ice: struck, landing, or on ice that starts to move [Wang & Chou 2003, section 7]."""

from __future__ import annotations

from math import radians
from typing import Literal, get_args

import sympy as sp
from sympy.physics.mechanics import Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

from jourdain.errors import unknown
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario

Case = Literal["struck", "landing", "earthquake"]
CASES: tuple[str, ...] = get_args(Case)


def sleigh(case: Case = "struck") -> Scenario:
    """A sleigh with a blade: struck at D, landing on the ice, or on ice that starts to move.

    The blade touches the ice at A, a distance l behind the centre of mass C; D is a distance a before C.
    `u` is the speed along the blade relative to the ice.
    """
    if case not in CASES:
        raise unknown("case", case, CASES)
    x, y, theta = dynamicsymbols("x y theta")
    M, I, l, a, P, v_S, psi_S = sp.symbols("M I l a P v_S psi_S")
    N, B = ReferenceFrame("N"), ReferenceFrame("B")
    B.orient_axis(N, theta, N.z)
    O, C = Point("O"), Point("C")
    O.set_vel(N, 0)
    C.set_pos(O, x * N.x + y * N.y)
    A, D = C.locatenew("A", -l * B.x), C.locatenew("D", a * B.x)
    slip = A.vel(N)
    parameters, points = {M: 12.0, I: 2.0, l: 0.4}, {"A": A, "C": C}
    if case == "struck":
        parameters |= {a: 0.3, P: 5.0}
        points["D"] = D
    if case == "earthquake":
        parameters |= {v_S: 0.0, psi_S: 0.0}
        slip = slip - v_S * (sp.cos(psi_S) * N.x + sp.sin(psi_S) * N.y)

    mechanism = Mechanism.from_sympy(
        bodies=[RigidBody("sleigh", C, B, M, (inertia(B, 0, 0, I), C))],
        frame=N,
        q=[x, y, theta],
        parameters=parameters,
        points=points,
        outputs={"u": slip.dot(B.x)},
        units={x: "m", y: "m", theta: "rad", M: "kg", I: "kg m^2", l: "m", a: "m", P: "N s"},
    )
    blade = mechanism.constraint("blade", slip.dot(B.y), units="m/s")

    # The pose and the motion before; on the blade v_A = u e_x, relative to the ice.
    heading, u, omega, v_C, psi = sp.symbols("theta u omega v_C psi")
    ice = sp.Matrix([0, 0])
    if case == "earthquake":
        ice = sp.Symbol("v_S_minus") * sp.Matrix([sp.cos(sp.Symbol("psi_S_minus")), sp.sin(sp.Symbol("psi_S_minus"))])
    along_blade = {
        x: u * sp.cos(heading) - l * omega * sp.sin(heading) + ice[0],
        y: u * sp.sin(heading) + l * omega * sp.cos(heading) + ice[1],
        theta: omega,
    }
    flying = {x: v_C * sp.cos(psi), y: v_C * sp.sin(psi), theta: omega}
    units = {heading: "rad", u: "m/s", omega: "rad/s", v_C: "m/s", psi: "rad"}
    units |= {f"v_S_{side}": "m/s" for side in ("minus", "plus")} | {
        f"psi_S_{side}": "rad" for side in ("minus", "plus")
    }
    on_ice = {heading: radians(20), u: 1.0, omega: 0.5}
    sketch = Sketch(
        links=[tuple(points)],
        masses=["C"],
        velocities=["A", "C"],
        acts={"blade": "A"} | ({"D": "D"} if case == "struck" else {}),
    )
    if case == "struck":
        event = mechanism.event(regular=[blade], impulses={"D": P * B.y})
        return event.at(q={theta: heading}, v=along_blade, defaults=on_ice, units=units, sketch=sketch)
    if case == "landing":
        in_the_air = {heading: radians(20), v_C: 1.0, psi: radians(50), omega: 0.5}
        return mechanism.event(inert=[blade]).at(
            q={theta: heading}, v=flying, defaults=in_the_air, units=units, sketch=sketch
        )
    event = mechanism.event(live={blade: {v_S: (0.0, 0.5), psi_S: (0.0, radians(70))}})
    return event.at(q={theta: heading}, v=along_blade, defaults=on_ice, units=units, sketch=sketch)
