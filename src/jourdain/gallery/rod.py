"""A rod falls on the floor with one end [Routh, Dynamics of a System of Rigid Bodies; Beer & Johnston, ch. 17]."""

from __future__ import annotations

from math import radians
from typing import Literal, get_args

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from jourdain.errors import check_choice
from jourdain.gallery._bodies import free_planar_body, ground_contact
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.scenarios.scenario import Scenario

Floor = Literal["smooth", "rough"]


@problem
def rod(floor: Floor = "smooth") -> Scenario:
    """A falling rod hits the floor with one end: smooth and elastic, or rough and plastic.

    theta is its inclination to the horizontal, v the speed of the fall, omega the rate at which it lays itself down.
    theta = 0 on the rough floor: it falls flat, and the end A is latched.
    """
    check_choice("floor", floor, get_args(Floor))
    x, y, theta = q = dynamicsymbols("x y theta")
    m, L = sp.symbols("m L")
    N, B, C, body = free_planar_body("rod", x, y, theta, m, I=m * L**2 / 12)
    A = C.locatenew("A", -L / 2 * B.x)

    mechanism = Mechanism.from_sympy(
        bodies=[body],
        frame=N,
        q=q,
        parameters={m: 1.0, L: 1.0},
        points={"A": A, "C": C},
        outputs={"omega": -theta.diff()},
        units={x: "m", y: "m", theta: "rad", m: "kg", L: "m", "omega": "rad/s"},
    )
    touch = ground_contact(mechanism, "floor", A.vel(N), N)
    smooth = floor == "smooth"
    event = mechanism.event(elastic={touch.normal: "kappa"}) if smooth else mechanism.event(inert=[touch])

    inclination, v, omega = sp.symbols("theta v omega")
    return event.at(
        q={x: L / 2 * sp.cos(inclination), y: L / 2 * sp.sin(inclination), theta: inclination},
        v={y: -v, theta: -omega},
        defaults={inclination: radians(35), v: 2.0, omega: 0.0} | ({"kappa": 0.5} if smooth else {}),
        units={inclination: "rad", v: "m/s", omega: "rad/s"} | ({"kappa": "1"} if smooth else {}),
    )
