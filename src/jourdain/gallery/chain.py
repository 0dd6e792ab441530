"""A chain of equal rods is struck at its free end [Routh, Dynamics of a System of Rigid Bodies]."""

from __future__ import annotations

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from jourdain.errors import BadEvent
from jourdain.gallery._bodies import bar, ground, turned
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.scenarios.scenario import Scenario

MOST_RODS = 100  # whose equations are written in about a minute


@problem
def chain(n: int = 2) -> Scenario:
    """A chain of n equal rods in a straight line, at rest, is struck across at its free end A.

    P is the impulse, m the mass and L the length of a rod; (x, y) is A, theta_i the
    direction of rod i, joint_i its end.
    """
    if not 1 <= n <= MOST_RODS:
        raise BadEvent(f"A chain has 1 to {MOST_RODS} rods, not {n}.")
    x, y = dynamicsymbols("x y")
    m, L, P = sp.symbols("m L P")
    theta = [dynamicsymbols(f"theta_{i}") for i in range(1, n + 1)]
    N, O = ground()
    A = O.locatenew("A", x * N.x + y * N.y)
    bodies, points, end = [], {"A": A}, A
    for i, angle in enumerate(theta, start=1):
        B = turned(N, f"B{i}", angle)
        rod, end = bar(f"rod_{i}", end, B, L * B.x, m)
        bodies.append(rod)
        points[f"joint_{i}"] = end

    mechanism = Mechanism.from_sympy(
        bodies=bodies,
        frame=N,
        q=[x, y, *theta],
        parameters={m: 1.0, L: 1.0, P: 1.0},
        points=points,
        outputs={f"v_{name}": point.pos_from(O).dt(N).dot(N.y) for name, point in points.items()},
        units={x: "m", y: "m", m: "kg", L: "m", P: "N s"}
        | dict.fromkeys(theta, "rad")
        | {f"v_{name}": "m/s" for name in points},
    )
    return mechanism.event(impulses={A: P * N.y}).at()
