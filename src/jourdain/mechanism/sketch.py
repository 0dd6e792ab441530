"""How a mechanism is drawn: names of points, parameters and constraints, no numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jourdain.errors import unknown
from jourdain.inputs import Expression
from jourdain.naming import name_of

if TYPE_CHECKING:
    from jourdain.events.event import Event
    from jourdain.mechanism.mechanism import Mechanism


@dataclass(frozen=True, eq=False)
class Sketch:
    """What to draw; where everything lies follows from the pose.

    >>> arm = Sketch(links=[("motor", "elbow", "hand")], pivots=["motor"], acts={"wall": "hand"}, surfaces=["wall"])
    >>> arm.points()
    ('motor', 'elbow', 'hand')
    """

    links: Sequence[Sequence[str]] = ()  # lines through these points
    # About a point: the radius, a parameter of the mechanism, and the point that the arc looks away from.
    arcs: Mapping[str, tuple[Expression, str]] = field(default_factory=dict)
    # About a point: the radius, a parameter of the mechanism, and a point on the axle: a wheel, from any side.
    rings: Mapping[str, tuple[Expression, str]] = field(default_factory=dict)
    masses: Sequence[str] = ()  # points where a mass is drawn
    pivots: Sequence[str] = ()  # points held by the ground
    velocities: Sequence[str] = ()  # points whose velocities are arrows
    # Constraint, or what an applied impulse acts on → point where the impulse is an arrow. Rows x, y of a constraint
    # act along these axes, other rows as the velocity of the point enters them.
    acts: Mapping[str, str] = field(default_factory=dict)
    # Those of `acts` that are surfaces: across their first row, solid on the side where its velocity u is negative.
    surfaces: Sequence[str] = ()
    # For motions. Height of a level surface, a number or a parameter → −1 if it is solid below, +1 above.
    floors: Mapping[Expression, int] = field(default_factory=dict)
    # A point that stays where it is when legs swap their names and the origin moves: the picture moves on with it.
    anchor: str = ""
    view: str = ""  # from which side: "xy", "xz", "yz" or "oblique"; by itself the plane in which all of it lies
    tilt: Expression | None = None  # a number or a parameter: the angle by which the frame goes down to the right

    def points(self) -> tuple[str, ...]:
        """Every point that is drawn."""
        named = [*(name for line in self.links for name in line), *self.arcs, *self.rings, *self.masses, *self.pivots]
        away = [away for _, away in (*self.arcs.values(), *self.rings.values())]
        anchors = [self.anchor] if self.anchor else []
        return tuple(dict.fromkeys([*named, *away, *self.velocities, *self.acts.values(), *anchors]))

    def refuse_strange_points(self, mechanism: Mechanism) -> None:
        """Points and parameters must be the mechanism's."""
        for name in self.points():
            if name not in mechanism.points:
                raise unknown("point", name, mechanism.points)
        for radius, _ in (*self.arcs.values(), *self.rings.values()):
            if name_of(radius) not in mechanism.parameters:
                raise unknown("parameter of the mechanism", name_of(radius), mechanism.parameters)
        for number in (*self.floors, *([] if self.tilt is None else [self.tilt])):
            if not isinstance(number, int | float) and name_of(number) not in mechanism.parameters:
                raise unknown("parameter of the mechanism", name_of(number), mechanism.parameters)

    def refuse_strangers(self, event: Event) -> None:
        """Every name must be the event's."""
        self.refuse_strange_points(event.mechanism)
        acting = [*(role.constraint.name for role in event.roles), *event.applied]
        for name in self.acts:
            if name not in acting:
                raise unknown("constraint or applied impulse of the event", name, acting)
        for name in self.surfaces:
            if name not in self.acts:
                raise unknown("entry of acts for the surface", name, self.acts)
