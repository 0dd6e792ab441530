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

    Parameters
    ----------
    links : sequence of sequences of str
        Lines through these points.
    arcs : mapping of str to (parameter, str)
        About a point of the plane: the radius, a parameter of the mechanism, and the point that the arc looks away
        from. Where both lie in one place, a whole circle.
    rings : mapping of str to (parameter, str)
        About a point: the radius, and a point on the axle. A wheel, seen from any side.
    masses : sequence of str
        Points where a mass is drawn.
    pivots : sequence of str
        Points held by the ground.
    velocities : sequence of str
        Points whose velocities, before and after, are arrows.
    acts : mapping of str to str
        Constraint, or what an applied impulse acts on → the point where the impulse is an arrow. Rows x, y of a
        constraint act along these axes, other rows as the velocity of the point enters them.
    surfaces : sequence of str
        Those of `acts` that are surfaces: across their first row, solid on the side where its velocity u is negative.
    floors : mapping of number or parameter to int
        For motions: height of a level surface → −1 if it is solid below, +1 above.
    anchor : str
        A point that stays where it is when legs swap their names and the origin moves: the picture moves on with it.
    view : str
        From which side: "xy", "xz", "yz" or "oblique"; by itself the plane in which all of it lies, else oblique.
    tilt : number or parameter
        The angle by which the frame goes down to the right, rad.

    Examples
    --------
    >>> arm = Sketch(links=[("motor", "elbow", "hand")], pivots=["motor"], acts={"wall": "hand"}, surfaces=["wall"])
    >>> arm.points()
    ('motor', 'elbow', 'hand')

    """

    links: Sequence[Sequence[str]] = ()
    arcs: Mapping[str, tuple[Expression, str]] = field(default_factory=dict)
    rings: Mapping[str, tuple[Expression, str]] = field(default_factory=dict)
    masses: Sequence[str] = ()
    pivots: Sequence[str] = ()
    velocities: Sequence[str] = ()
    acts: Mapping[str, str] = field(default_factory=dict)
    surfaces: Sequence[str] = ()
    floors: Mapping[Expression, int] = field(default_factory=dict)
    anchor: str = ""
    view: str = ""
    tilt: Expression | None = None

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
