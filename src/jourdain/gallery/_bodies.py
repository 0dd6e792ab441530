"""What many problems share: the ground, frames turned about z, rigid bodies, legs, contacts, points that coincide."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TypeAlias

from sympy.physics.mechanics import Particle, Point, ReferenceFrame, RigidBody, Vector, inertia

from jourdain.inputs import Expression
from jourdain.mechanism.constraint import Constraint, ContactConstraint
from jourdain.mechanism.mechanism import Mechanism

FreeBody: TypeAlias = tuple[ReferenceFrame, ReferenceFrame, Point, RigidBody]  # N at rest, B of the body, C, the body


def ground() -> tuple[ReferenceFrame, Point]:
    """The frame N at rest, and its origin O."""
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    return N, O


def turned(frame: ReferenceFrame, name: str, angle: Expression) -> ReferenceFrame:
    """A new frame, turned from the given one by an angle about z, positive from x to y."""
    return frame.orientnew(name, "Axis", [angle, frame.z])


def planar_body(name: str, C: Point, B: ReferenceFrame, m: Expression, I: Expression) -> RigidBody:
    """A rigid body that turns about z only: C is its centre of mass, B its frame, I its moment of inertia about C."""
    return RigidBody(name, C, B, m, (inertia(B, 0, 0, I), C))


def free_planar_body(
    name: str, x: Expression, y: Expression, angle: Expression, m: Expression, I: Expression
) -> FreeBody:
    """The frame N at rest, and a body free in its plane: frame B turned by an angle, centre of mass C at (x, y)."""
    N, O = ground()
    B, C = turned(N, "B", angle), O.locatenew("C", x * N.x + y * N.y)
    return N, B, C, planar_body(name, C, B, m, I)


def bar(name: str, start: Point, B: ReferenceFrame, reach: Vector, m: Expression) -> tuple[RigidBody, Point]:
    """A uniform bar in the plane, and its end: `reach` goes from the start to the end and is fixed in its frame B."""
    C = start.locatenew(f"{name}_centre", reach / 2)
    return planar_body(name, C, B, m, m * reach.dot(reach) / 12), start.locatenew(f"{name}_end", reach)


def free_box(name: str, q: Sequence[Expression], m: Expression, sizes: Sequence[Expression]) -> FreeBody:
    """The frame N at rest, and a uniform box free in space: frame B, centre of mass C.

    `q`: x, y, z of C, then three angles about the axes z, y, x of the box in this order. `sizes`: along its x, y, z.
    """
    N, O = ground()
    B = ReferenceFrame("B")
    B.orient_body_fixed(N, q[3:], "ZYX")
    C = O.locatenew("C", q[0] * N.x + q[1] * N.y + q[2] * N.z)
    a, b, c = sizes
    I = inertia(B, m * (b**2 + c**2) / 12, m * (a**2 + c**2) / 12, m * (a**2 + b**2) / 12)
    return N, B, C, RigidBody(name, C, B, m, (I, C))


def box_corners(C: Point, B: ReferenceFrame, sizes: Sequence[Expression]) -> dict[str, Point]:
    """The corners of a box by name: below, then above; `BOX_EDGES` are the lines between them."""
    a, b, c = sizes
    corners = {}
    for face, up in (("corner", -1), ("top", 1)):
        for i, (x, y) in enumerate(product((-1, 1), repeat=2), start=1):
            name = f"{face}_{i}"
            corners[name] = C.locatenew(name, x * a / 2 * B.x + y * b / 2 * B.y + up * c / 2 * B.z)
    return corners


BOX_EDGES = (
    *(tuple(f"{face}_{i}" for i in (1, 2, 4, 3, 1)) for face in ("corner", "top")),
    *((f"corner_{i}", f"top_{i}") for i in range(1, 5)),
)


def set_body_rates(B: ReferenceFrame, N: ReferenceFrame, w: Sequence[Expression]) -> dict[Expression, Expression]:
    """Set the angular velocity of B in N to the components w along x, y, z of B. Returns w in the rates of q."""
    turning = B.ang_vel_in(N)
    B.set_ang_vel(N, w[0] * B.x + w[1] * B.y + w[2] * B.z)
    return {component: turning.dot(axis) for component, axis in zip(w, B, strict=True)}


def two_legs(
    foot: Point, up_stance: Vector, up_swing: Vector, length: Expression, b: Expression, m: Expression, m_H: Expression
) -> tuple[Point, Point, list[Particle]]:
    """Two straight legs that meet at a hip: the hip, the other foot, and the point masses.

    `foot`: where the stance leg starts. `length`: from there to the hip, as from the other foot. `up_stance`,
    `up_swing`: the directions of the legs. Each leg has a mass m at b from the hip, which has the mass m_H.
    """
    hip = foot.locatenew("hip", length * up_stance)
    other_foot = hip.locatenew("other_foot", -length * up_swing)
    masses = [
        Particle("stance_leg", hip.locatenew("stance_leg", -b * up_stance), m),
        Particle("swing_leg", hip.locatenew("swing_leg", -b * up_swing), m),
        Particle("pelvis", hip, m_H),
    ]
    return hip, other_foot, masses


def ground_contact(mechanism: Mechanism, name: str, velocity: Vector, N: ReferenceFrame) -> ContactConstraint:
    """A contact with ground along x: normal and tangent are y and x of the velocity of the point that touches it."""
    return mechanism.contact(name, normal=velocity.dot(N.y), tangent=[velocity.dot(N.x)], units="m/s")


def coincide(mechanism: Mechanism, name: str, gap: Vector, N: ReferenceFrame) -> Constraint:
    """Two points of the plane are one: the rows x and y of the gap between them are 0."""
    return mechanism.constraint(name, {"x": gap.dot(N.x), "y": gap.dot(N.y)}, level="position", units="m")
