"""The slider of a slider-crank runs into a stop: what do its joints feel?"""

from __future__ import annotations

from math import radians

import sympy as sp
from sympy.physics.mechanics import Particle, dynamicsymbols

from jourdain.gallery._bodies import bar, coincide, ground, turned
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario


@problem
def slider_crank() -> Scenario:
    """A crank drives a slider through a rod; the slider runs into a stop with restitution kappa.

    Crank r and rod L are uniform bars, their angles absolute, from the line of the slider; x is the slider's place.
    The pin of rod and slider closes the loop: rod and x are found near a guess for each angle theta of the crank, and
    the impulses of `pin` are what it passes from the rod to the slider.
    """
    crank, rod, x = q = dynamicsymbols("crank rod x")
    r, L, m_r, m_L, m_s = sp.symbols("r L m_r m_L m_s")
    N, O = ground()
    A, B = turned(N, "A", crank), turned(N, "B", rod)
    crank_bar, knee = bar("crank_bar", O, A, r * A.x, m_r)
    rod_bar, end = bar("rod_bar", knee, B, L * B.x, m_L)
    slider = O.locatenew("slider", x * N.x)

    mechanism = Mechanism.from_sympy(
        bodies=[crank_bar, rod_bar, Particle("block", slider, m_s)],
        frame=N,
        q=q,
        parameters={r: 0.1, L: 0.3, m_r: 0.5, m_L: 0.8, m_s: 1.5},
        points={"O": O, "knee": knee, "slider": slider},
        units={crank: "rad", rod: "rad", x: "m", r: "m", L: "m", m_r: "kg", m_L: "kg", m_s: "kg"},
    )
    pin = coincide(mechanism, "pin", slider.pos_from(end), N)
    stop = mechanism.constraint("stop", -x.diff(), units="m/s")

    theta, omega, kappa = sp.symbols("theta omega kappa")
    return mechanism.event(regular=[pin], elastic={stop: "kappa"}).at(
        q={crank: theta},
        v={crank: omega},  # rod and slider follow from the pin
        guess={rod: 0.1, x: 0.3},
        defaults={theta: radians(-50), omega: 10.0, kappa: 0.2},
        units={theta: "rad", omega: "rad/s", kappa: "1"},
        sketch=Sketch(
            links=[("O", "knee", "slider")],
            masses=["slider"],
            pivots=["O"],
            velocities=["knee", "slider"],
            acts={"stop": "slider", "pin": "slider"},
            surfaces=["stop"],
        ),
    )
