"""The slider of a slider-crank runs into a stop: what do its joints feel?"""

from __future__ import annotations

from math import radians

import sympy as sp
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario


def slider_crank() -> Scenario:
    """A crank drives a slider through a rod; the slider runs into a stop with restitution kappa.

    Crank r and rod L are uniform bars, their angles absolute, from the line of the slider; x is the slider's place.
    The pin of rod and slider closes the loop: rod and x are found near a guess for each angle theta of the crank, and
    the impulses of `pin` are what it passes from the rod to the slider.
    """
    crank, rod, x = q = dynamicsymbols("crank rod x")
    r, L, m_r, m_L, m_s = sp.symbols("r L m_r m_L m_s")
    N, A, B = ReferenceFrame("N"), ReferenceFrame("A"), ReferenceFrame("B")
    A.orient_axis(N, crank, N.z)
    B.orient_axis(N, rod, N.z)
    O = Point("O")
    O.set_vel(N, 0)
    knee, slider = O.locatenew("knee", r * A.x), O.locatenew("slider", x * N.x)
    end = knee.locatenew("end", L * B.x)
    bars = (("crank_bar", O, A, r, m_r), ("rod_bar", knee, B, L, m_L))
    bodies = []
    for name, start, frame, length, m in bars:
        centre = start.locatenew(f"{name}_centre", length / 2 * frame.x)
        bodies.append(RigidBody(name, centre, frame, m, (inertia(frame, 0, 0, m * length**2 / 12), centre)))

    mechanism = Mechanism.from_sympy(
        bodies=[*bodies, Particle("block", slider, m_s)],
        frame=N,
        q=q,
        parameters={r: 0.1, L: 0.3, m_r: 0.5, m_L: 0.8, m_s: 1.5},
        points={"O": O, "knee": knee, "slider": slider},
        units={crank: "rad", rod: "rad", x: "m", r: "m", L: "m", m_r: "kg", m_L: "kg", m_s: "kg"},
    )
    gap = slider.pos_from(end)
    pin = mechanism.constraint("pin", {"x": gap.dot(N.x), "y": gap.dot(N.y)}, level="position", units="m")
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
