"""A sleigh with a knife blade on ice: struck, landing, or on ice that starts to move [Wang & Chou 2003, section 7]."""

from __future__ import annotations

from math import radians
from typing import Literal, get_args

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from jourdain.errors import check_choice
from jourdain.gallery._bodies import free_planar_body
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario

Case = Literal["struck", "landing", "earthquake"]
CASES: tuple[str, ...] = get_args(Case)


@problem
def sleigh(case: Case = "struck") -> Scenario:
    """A sleigh with a blade: struck at D, landing on the ice, or on ice that starts to move.

    The blade touches the ice at A, a distance l behind the centre of mass C; D is a distance a before C.
    `u` is the speed along the blade relative to the ice.
    """
    check_choice("case", case, CASES)
    x, y, theta = q = dynamicsymbols("x y theta")
    M, I, l, a, P, v_S, psi_S = sp.symbols("M I l a P v_S psi_S")
    N, B, C, body = free_planar_body("sleigh", x, y, theta, M, I)
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
        bodies=[body],
        frame=N,
        q=q,
        parameters=parameters,
        points=points,
        outputs={"u": slip.dot(B.x)},
        units={x: "m", y: "m", theta: "rad", M: "kg", I: "kg m^2", l: "m", a: "m", P: "N s"},
    )
    blade = mechanism.constraint("blade", slip.dot(B.y), units="m/s")

    # The pose and the motion before; on the blade v_A = u e_x, relative to the ice.
    heading, u, omega, v_C, psi = sp.symbols("theta u omega v_C psi")
    v_S_minus, psi_S_minus = sp.symbols("v_S_minus psi_S_minus") if case == "earthquake" else (0, 0)
    v = {
        x: u * sp.cos(heading) - l * omega * sp.sin(heading) + v_S_minus * sp.cos(psi_S_minus),
        y: u * sp.sin(heading) + l * omega * sp.cos(heading) + v_S_minus * sp.sin(psi_S_minus),
        theta: omega,
    }
    defaults = {heading: radians(20), u: 1.0, omega: 0.5}
    if case == "struck":
        event = mechanism.event(regular=[blade], impulses={"D": P * B.y})
    elif case == "landing":
        event = mechanism.event(inert=[blade])
        v = {x: v_C * sp.cos(psi), y: v_C * sp.sin(psi), theta: omega}  # it flies
        defaults = {heading: radians(20), v_C: 1.0, psi: radians(50), omega: 0.5}
    else:
        event = mechanism.event(live={blade: {v_S: (0.0, 0.5), psi_S: (0.0, radians(70))}})
    return event.at(
        q={theta: heading},
        v=v,
        defaults=defaults,
        units={heading: "rad", u: "m/s", omega: "rad/s", v_C: "m/s", psi: "rad"}
        | {"v_S_minus": "m/s", "v_S_plus": "m/s", "psi_S_minus": "rad", "psi_S_plus": "rad"},
        sketch=Sketch(
            links=[tuple(points)],
            masses=["C"],
            velocities=["A", "C"],
            acts={"blade": "A"} | ({"D": "D"} if case == "struck" else {}),
        ),
    )
