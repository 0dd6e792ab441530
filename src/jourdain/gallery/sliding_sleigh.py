"""A sleigh lands on the ice and slides on its blade [Chaplygin 1911; Wang & Chou 2003, case (ii), and what follows]."""

from __future__ import annotations

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from jourdain.gallery._bodies import ground, planar_body, turned
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.motion.guards import Switch
from jourdain.motion.hybrid import Hybrid


@problem
def sliding_sleigh() -> Hybrid:
    """A flying sleigh lands on the ice, which its blade grips, and slides on as Chaplygin's does.

    The blade touches the ice at A, a distance l behind the centre of mass C at (x, y), which flies at the height z
    above where it slides; theta is the heading. u is the speed along the blade. Sliding, M u² + (I + M l²) ω² stays,
    and it turns until it runs straight: u = V tanh(τ), ω = V √(M/(I + M l²)) / cosh(τ), with τ growing evenly.
    """
    x, y, z, theta = q = dynamicsymbols("x y z theta")
    M, I, l, g = sp.symbols("M I l g")
    N, O = ground()
    B, C = turned(N, "B", theta), O.locatenew("C", x * N.x + y * N.y + z * N.z)
    A = C.locatenew("A", -l * B.x)
    v_A = A.pos_from(O).dt(N)

    mechanism = Mechanism.from_sympy(
        bodies=[planar_body("sleigh", C, B, M, I)],
        frame=N,
        q=q,
        parameters={M: 12.0, I: 2.0, l: 0.4, g: 9.81},
        points={"A": A, "C": C},
        outputs={"u": v_A.dot(B.x)},
        gravity=-g * N.z,
        units={x: "m", y: "m", z: "m", theta: "rad", M: "kg", I: "kg m^2", l: "m", g: "m/s^2", "u": "m/s"},
    )
    ice = mechanism.constraint("ice", z, level="position", units="m")
    blade = mechanism.constraint("blade", v_A.dot(B.y), units="m/s")
    landing = Switch("flight", "ice", guard=ice, event=mechanism.event(inert=[ice, blade]))
    return Hybrid(
        mechanism,
        topologies={"flight": [], "ice": [ice, blade]},
        switches=[landing],
        start=({"z": 0.5, "theta": 0.3}, {"x": 1.0, "y": 0.5, "theta": 2.0}),
        until=5.0,
        sketch=Sketch(links=[("A", "C")], masses=["C"]),
    )
