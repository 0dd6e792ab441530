"""A ball let go by a hand [Wang & Chou 2003, sections 2 and 5]."""

from __future__ import annotations

from typing import Literal, get_args

import sympy as sp
from sympy.physics.mechanics import Particle, dynamicsymbols

from jourdain.errors import check_choice
from jourdain.gallery._bodies import ground
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.scenarios.scenario import Scenario

Hand = Literal["opens", "pushes"]


@problem
def ball_let_go(hand: Hand = "opens") -> Scenario:
    """A ball let go by a moving hand, which only opens, or gives it a push as well.

    The grip is released: three degrees of freedom appear, and no velocity jumps unless the hand pushes with
    the impulse (P_x, P_y, P_z). The hand moves with (h_x, h_y, h_z).
    """
    check_choice("hand", hand, get_args(Hand))
    x, y, z = dynamicsymbols("x y z")
    m, h_x, h_y, h_z, P_x, P_y, P_z = sp.symbols("m h_x h_y h_z P_x P_y P_z")
    N, O = ground()
    C = O.locatenew("C", x * N.x + y * N.y + z * N.z)

    push = {P_x: 0.2, P_y: 0.0, P_z: 0.4} if hand == "pushes" else {}
    mechanism = Mechanism.from_sympy(
        bodies=[Particle("ball", C, m)],
        frame=N,
        q=[x, y, z],
        parameters={m: 0.2, h_x: 3.0, h_y: 0.0, h_z: 1.0, **push},
        points={"C": C},
        units={x: "m", y: "m", z: "m", m: "kg", h_x: "m/s", h_y: "m/s", h_z: "m/s", **dict.fromkeys(push, "N s")},
    )
    grip = mechanism.constraint("grip", {"x": x.diff() - h_x, "y": y.diff() - h_y, "z": z.diff() - h_z}, units="m/s")

    impulses = {"C": P_x * N.x + P_y * N.y + P_z * N.z} if push else {}
    event = mechanism.event(released=[grip], impulses=impulses)
    return event.at(v={x: h_x, y: h_y, z: h_z})
