"""Newton's cradle, all contacts at once [Glocker & Aeberhard 2006; Brogliato, Nonsmooth Mechanics]."""

from __future__ import annotations

from itertools import pairwise

import sympy as sp
from sympy.physics.mechanics import Particle, dynamicsymbols

from jourdain.errors import Error
from jourdain.gallery._bodies import ground
from jourdain.gallery._origin import problem
from jourdain.laws import Frictionless
from jourdain.laws.frictionless import Rule
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario


@problem
def cradle(n: int = 3, law: Rule = "moreau") -> Scenario:
    """Newton's cradle: a ball runs into others that touch each other; all n push at the same time.

    v is the speed of the first, r the radius; touch_i is the contact of ball i and the next. The others leave with
    (1 + kappa) v/n. What one sees in a toy, the last ball leaving alone, is one collision after the other:
    `outcome.then(event)`.
    """
    if not 2 <= n <= 5:
        raise Error(f"A cradle has 2 to 5 balls, not {n}.")
    m, r, v = sp.symbols("m r v")
    N, O = ground()
    x = [dynamicsymbols(f"x_{i}") for i in range(1, n + 1)]
    centres = {f"C_{i}": O.locatenew(f"C_{i}", place * N.x) for i, place in enumerate(x, start=1)}

    mechanism = Mechanism.from_sympy(
        bodies=[Particle(f"ball_{i}", centre, m) for i, centre in enumerate(centres.values(), start=1)],
        frame=N,
        q=x,
        parameters={m: 0.1, r: 0.02},
        points=centres,
        units=dict.fromkeys(x, "m") | {m: "kg", r: "m"},
    )
    touching = [
        mechanism.contact(f"touch_{i}", normal=right - left - 2 * r, level="position", units="m")
        for i, (left, right) in enumerate(pairwise(x), start=1)
    ]
    return mechanism.event(contacts=dict.fromkeys(touching, Frictionless("kappa", law))).at(
        q={place: 2 * i * r for i, place in enumerate(x)},
        v={x[0]: v},
        defaults={v: 1.0, "kappa": 0.95},
        units={v: "m/s", "kappa": "1"},
        sketch=Sketch(arcs={name: (r, name) for name in centres}, velocities=list(centres)),
    )
