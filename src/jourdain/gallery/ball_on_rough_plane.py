"""A ball with spin bounces on a rough plane [Brach 1991, Mechanical Impact Dynamics; Stronge 2000]."""

from __future__ import annotations

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from jourdain.gallery._bodies import free_planar_body, ground_contact
from jourdain.gallery._origin import problem
from jourdain.laws import Coulomb
from jourdain.laws.coulomb import Hypothesis
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario


@problem
def ball_on_rough_plane(hypothesis: Hypothesis = "stronge") -> Scenario:
    """A ball thrown on a rough plane slips all the way, or ends up rolling.

    v_t is its speed along the plane, v_n towards it, omega its spin, positive as if it rolled forward. With
    u = v_t − r omega it slips while friction < (2/7) |u|/((1 + kappa) v_n); else v_t_plus = v_t − (2/7) u.
    """
    x, y, phi = q = dynamicsymbols("x y phi")
    m, r, v_t, v_n, omega = sp.symbols("m r v_t v_n omega")
    N, B, C, ball = free_planar_body("ball", x, y, -phi, m, I=2 * m * r**2 / 5)
    sole = C.locatenew("sole", -r * N.y)
    touching = sole.v2pt_theory(C, N, B)  # carried by the ball

    mechanism = Mechanism.from_sympy(
        bodies=[ball],
        frame=N,
        q=q,
        parameters={m: 0.2, r: 0.03},
        points={"C": C, "sole": sole},
        units={x: "m", y: "m", phi: "rad", m: "kg", r: "m"},
    )
    plane = ground_contact(mechanism, "plane", touching, N)

    return mechanism.event(contacts={plane: Coulomb("friction", "kappa", hypothesis)}).at(
        q={y: r},
        v={x: v_t, y: -v_n, phi: omega},
        defaults={v_t: 3.0, v_n: 2.0, omega: -20.0, "friction": 0.2, "kappa": 0.8},
        units={v_t: "m/s", v_n: "m/s", omega: "rad/s", "friction": "1", "kappa": "1"},
        sketch=Sketch(
            arcs={"C": (r, "C")}, masses=["C"], velocities=["C", "sole"], acts={"plane": "sole"}, surfaces=["plane"]
        ),
    )
