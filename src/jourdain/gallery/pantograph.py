"""A pantograph of two motors and four links runs its end effector into a wall [Font-Llagunes & Kövecses]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import sympy as sp
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, RigidBody, dynamicsymbols

from jourdain.errors import check_choice
from jourdain.gallery._bodies import coincide, ground, planar_body, turned
from jourdain.gallery._origin import problem
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario

Coordinates = Literal["minimal", "loop"]
l1, l2, a1, a2, l5, m1, m2, mEE, I1, I2 = sp.symbols("l1 l2 a1 a2 l5 m1 m2 mEE I1 I2")
LENGTHS = {l1: 0.1449, l2: 0.1984, a1: 0.0519, a2: 0.1081, l5: 0.0445}  # those of the papers, as the masses
MASSES = {m1: 0.1202, m2: 0.1084, mEE: 0.3144}
PARAMETERS = LENGTHS | MASSES | {I1: 0.0004, I2: 0.0007}
UNITS = dict.fromkeys(LENGTHS, "m") | dict.fromkeys(MASSES, "kg") | {I1: "kg m^2", I2: "kg m^2"}


@problem
def pantograph(coordinates: Coordinates = "minimal") -> Scenario:
    """The end effector of a two-motor pantograph strikes a wall, with a given impulse beta along it.

    The motors are l5 apart on the x axis, motor 1 on the side of +x with links 1 and 2, motor 2 with links 3 and 4,
    elbows out. The end effector EE is at (d, height) and moves with (sin gamma, cos gamma), gamma from the normal of
    the wall, so fast that T⁻ = energy. `minimal`: the angles of links 1 and 3; `loop`: of all four links, and the loop
    closed by regular rows.
    """
    check_choice("kind of coordinates", coordinates, get_args(Coordinates))
    beta, side = sp.symbols("beta side")
    q1, q2, q3, q4 = q = dynamicsymbols("q1 q2 q3 q4")
    if coordinates == "minimal":
        q = [q1, q3]
        q2, q4 = outer_angles(q1, q3, side)
    links = four_links(q1, q2, q3, q4)
    N, EE = links.frame, links.points["EE"]

    mechanism = Mechanism.from_sympy(
        bodies=links.bodies,
        frame=N,
        q=q,
        parameters=PARAMETERS | {beta: 0.0} | ({side: 1.0} if coordinates == "minimal" else {}),
        points=links.points,
        units=dict.fromkeys(q, "rad") | UNITS | {beta: "N s", side: ""},
    )
    wall = mechanism.constraint("wall", -EE.vel(N).dot(N.y), units="m/s")
    slide = mechanism.constraint("slide", EE.vel(N).dot(N.x), units="m/s")
    regular = [coincide(mechanism, "loop", links.end_4.pos_from(EE), N)] if coordinates == "loop" else []

    d, height, gamma, energy = sp.symbols("d height gamma energy")
    towards = (sp.sin(gamma), sp.cos(gamma))
    above = sp.Piecewise((1, height >= 0), (-1, True))  # of the motors; the elbows are out on either side
    (q1_at, q2_at), (q1_rate, q2_rate) = _reach((d - l5 / 2, height), towards, elbow=-above)
    (q3_at, q4_at), (q3_rate, q4_rate) = _reach((d + l5 / 2, height), towards, elbow=above)
    pose = {"q1": q1_at, "q2": q2_at, "q3": q3_at, "q4": q4_at}
    motion = {"q1": q1_rate, "q2": q2_rate, "q3": q3_rate, "q4": q4_rate}
    used = mechanism.symbols.q_names
    return mechanism.event(regular=regular, inert=[wall], nonideal={slide: beta}).at(
        q={name: pose[name] for name in used},
        v={name: motion[name] for name in used},
        parameters={side: sp.Piecewise((1, sp.sin(q4_at - q2_at) <= 0), (-1, True))} if len(used) == 2 else {},
        energy=energy,
        defaults={d: 0.0, gamma: 0.0, energy: 0.01, height: 0.2252},
        units={d: "m", gamma: "rad", energy: "J", height: "m"},
        sketch=Sketch(
            links=[("motor_1", "elbow_1", "EE"), ("motor_2", "elbow_2", "EE")],
            masses=["EE"],
            pivots=["motor_1", "motor_2"],
            velocities=["EE"],
            acts={"wall": "EE", "slide": "EE"},
            surfaces=["wall"],
        ),
    )


@dataclass(frozen=True)
class Links:
    """The four links of the pantograph and its tip."""

    frame: ReferenceFrame
    origin: Point  # midway between the motors
    bodies: list[Any]
    points: dict[str, Point]
    end_4: Point  # of link 4; that of link 2 is EE


def four_links(q1: Any, q2: Any, q3: Any, q4: Any) -> Links:
    """Links at these angles from the x axis: 1 and 2 from motor 1, 3 and 4 from motor 2."""
    N, O = ground()

    def link(i: int, start: Point, angle: Any, length: Any, centre: Any, m: Any, I: Any) -> tuple[RigidBody, Point]:
        """Link i from its joint at `start`, and its end."""
        L = turned(N, f"L{i}", angle)
        C = start.locatenew(f"C{i}", centre * L.x)
        return planar_body(f"link_{i}", C, L, m, I), start.locatenew(f"E{i}", length * L.x)

    motor_1, motor_2 = O.locatenew("motor_1", l5 / 2 * N.x), O.locatenew("motor_2", -l5 / 2 * N.x)
    link_1, elbow_1 = link(1, motor_1, q1, l1, a1, m1, I1)
    link_2, EE = link(2, elbow_1, q2, l2, a2, m2, I2)
    link_3, elbow_2 = link(3, motor_2, q3, l1, a1, m1, I1)
    link_4, end_4 = link(4, elbow_2, q4, l2, a2, m2, I2)
    bodies = [link_1, link_2, link_3, link_4, Particle("tip", EE, mEE)]
    points = {"EE": EE, "motor_1": motor_1, "elbow_1": elbow_1, "motor_2": motor_2, "elbow_2": elbow_2}
    return Links(N, O, bodies, points, end_4)


def outer_angles(q1: Any, q3: Any, side: Any) -> tuple[Any, Any]:
    """The angles of links 2 and 4: they form an isosceles triangle on the line from elbow 2 to elbow 1.

    `side`: on which side of that line it stands, 1 for the left; two motors leave both open.
    """
    x, y = l5 + l1 * (sp.cos(q1) - sp.cos(q3)), l1 * (sp.sin(q1) - sp.sin(q3))
    tilt, at_base = sp.atan2(y, x), side * sp.acos(sp.sqrt(x**2 + y**2) / (2 * l2))
    return sp.pi + tilt - at_base, tilt + at_base


def _reach(end: tuple[Any, Any], velocity: tuple[Any, Any], elbow: Any) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Angles and rates of two links whose end is at `end` from the motor and moves with `velocity`.

    `elbow`: on which side of the line from the motor to the end it is, 1 for the left, −1 for the right.
    """
    (x, y), (v_x, v_y) = end, velocity
    r2 = x**2 + y**2
    inner = sp.atan2(y, x) + elbow * sp.acos((l1**2 + r2 - l2**2) / (2 * l1 * sp.sqrt(r2)))
    outer = sp.atan2(y - l1 * sp.sin(inner), x - l1 * sp.cos(inner))
    across = sp.sin(outer - inner)
    inner_rate = (sp.cos(outer) * v_x + sp.sin(outer) * v_y) / (l1 * across)  # along the outer link both ends agree
    outer_rate = -(sp.cos(inner) * v_x + sp.sin(inner) * v_y) / (l2 * across)  # along the inner one only it moves
    return (inner, outer), (inner_rate, outer_rate)
