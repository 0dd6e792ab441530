"""A rod is dropped on a rough floor, and one of its ends strikes. A model to start from: change what you like.

jourdain run FILE.py:rod                                       one strike
jourdain run FILE.py:rod --set theta=60 --plot rod.png         another one, drawn
jourdain run FILE.py:rod --sweep theta=5:85:81 --show loss --plot sweep.png
python FILE.py                                                 the same sweep, from Python
"""

import numpy as np
import sympy as sp
from sympy.physics.mechanics import Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

import jourdain as jd


def rod() -> jd.Scenario:
    """A rod that falls at v, inclined by theta to the floor, strikes it with its end A."""
    # Bodies: coordinates, masses and lengths are symbols; C is the centre of mass, B turns with the rod.
    x, y, angle = dynamicsymbols("x y angle")
    m, L = sp.symbols("m L")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    B = N.orientnew("B", "Axis", [angle, N.z])
    C = O.locatenew("C", x * N.x + y * N.y)
    A, D = C.locatenew("A", -L / 2 * B.x), C.locatenew("D", L / 2 * B.x)
    body = RigidBody("rod", C, B, m, (inertia(B, 0, 0, m * L**2 / 12), C))

    mechanism = jd.Mechanism.from_sympy(
        bodies=[body],
        frame=N,
        q=[x, y, angle],
        parameters={m: 1.0, L: 1.0},  # with their usual values
        points={"A": A, "C": C, "D": D},
        units={x: "m", y: "m", angle: "rad", m: "kg", L: "m"},
    )

    # A contact: the velocity that opens it, then that along the floor. What happens in it is its law.
    floor = mechanism.contact("floor", normal=A.vel(N).dot(N.y), tangent=[A.vel(N).dot(N.x)])
    event = mechanism.event(contacts={floor: jd.laws.Coulomb("friction", "restitution")})

    # The event at a pose and a velocity, which depend on parameters of your own.
    theta, v = sp.symbols("theta v")
    return event.at(
        q={x: L / 2 * sp.cos(theta), y: L / 2 * sp.sin(theta), angle: theta},
        v={y: -v},
        defaults={theta: np.radians(40), v: 2.0, "friction": 0.3, "restitution": 0.5},
        units={theta: "rad", v: "m/s", "friction": "1", "restitution": "1"},
        sketch=jd.Sketch(
            links=[("A", "D")], masses=["C"], velocities=["A", "C"], acts={"floor": "A"}, surfaces=["floor"]
        ),
    )


if __name__ == "__main__":
    scenario = rod()
    print(scenario.solve())
    print(scenario.sweep(theta=np.radians(np.linspace(5, 85, 81)), friction=[0.1, 0.3, 1.0]))
