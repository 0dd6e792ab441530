"""Mechanisms that several test files use."""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, dynamicsymbols

import jourdain as jd


def planar_walker():
    """A compass walker with round feet and a torso, five coordinates [docs/theory.md §9]."""
    fx, fy, stance, swing, torso = q = dynamicsymbols("foot_x foot_y stance swing torso")
    m, m_H, m_T, l, d, l_T, R = p = sp.symbols("m m_H m_T l d l_T R")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)

    def along(angle):
        return sp.sin(angle) * N.x + sp.cos(angle) * N.y

    foot = O.locatenew("foot", fx * N.x + fy * N.y)
    hip = foot.locatenew("hip", (l - R) * along(stance))
    legs = [hip.locatenew(f"leg_{i}", -d * along(angle)) for i, angle in enumerate((stance, swing))]
    head = hip.locatenew("head", l_T * along(torso))
    heel = hip.locatenew("heel", -(l - R) * along(swing))
    bodies = [Particle("leg_0", legs[0], m), Particle("leg_1", legs[1], m)]
    bodies += [Particle("pelvis", hip, m_H), Particle("trunk", head, m_T)]
    defaults = dict(zip(p, (5.0, 10.0, 10.0, 0.8, 0.4, 0.4, 0.2), strict=True))
    mechanism = jd.Mechanism.from_sympy(bodies, N, q, parameters=defaults, points={"hip": hip, "heel_centre": heel})
    centre = heel.pos_from(O)
    sole = centre.dt(N) - R * swing.diff() * N.x
    mechanism.contact("heel", normal=sole.dot(N.y), tangent=[sole.dot(N.x)], units="m/s")
    mechanism.contact("stance", normal=fy.diff(), tangent=[fx.diff() - R * stance.diff()], units="m/s")
    return mechanism, bodies, N, q


def bars(rows: str = "xy") -> jd.Mechanism:
    """Three bars in a chain; "loop" pins its end to the ground at (d, h)."""
    _, coupler, rocker = angles = dynamicsymbols("crank coupler rocker")
    lengths = l_1, l_2, l_3 = sp.symbols("l_1 l_2 l_3")
    d, h, m = sp.symbols("d h m")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    end, bodies = O, []
    for i, (angle, length) in enumerate(zip(angles, lengths, strict=True)):
        end = end.locatenew(f"P{i}", length * (sp.cos(angle) * N.x + sp.sin(angle) * N.y))
        bodies.append(Particle(f"bob_{i}", end, m * (i + 1)))
    mechanism = jd.Mechanism.from_sympy(
        bodies, N, angles, points={"end": end}, parameters={l_1: 0.4, l_2: 1.0, l_3: 0.8, d: 1.1, h: 0.1, m: 0.7}
    )
    gap = end.pos_from(O) - d * N.x - h * N.y
    x, y = gap.dot(N.x), gap.dot(N.y)
    expressions = {"x": x, "y": y, "s": x - 2 * y}
    mechanism.constraint("loop", {row: expressions[row] for row in rows}, level="position")
    mechanism.constraint("stop", rocker.diff() - coupler.diff())
    return mechanism


def loop(rows: str = "xy", energy: Any = None) -> jd.Scenario:
    """The end is caught by its pin while the crank turns; the other angles are those that close the loop."""
    return bars(rows).event(inert=["loop"], elastic={"stop": "kappa"}).at(
        q={"crank": "theta"}, v={"crank": "omega", "coupler": 0.4, "rocker": -0.3},
        guess={"coupler": 0.3, "rocker": -1.2}, energy=energy, defaults={"omega": 1.5, "kappa": 0.3},
    )  # fmt: skip
