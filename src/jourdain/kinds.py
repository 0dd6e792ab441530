"""How a constraint takes part in an event, and what became of a one-sided contact."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Kind(StrEnum):
    """How a constraint takes part in an event; in the order in which rows are stacked and their rank is decided."""

    REGULAR = "regular"  # on before, during and after
    LIVE = "live"  # the same, but its bias jumps: the support starts to move
    INERT = "inert"  # off before, on during and after
    ELASTIC = "elastic"  # on during the event only, with restitution
    CONTACT = "contact"  # one-sided: the event decides whether it acts
    RELEASED = "released"  # on before only
    NONIDEAL = "nonideal"  # never on: its rows carry a given impulse


ON_KINDS = (Kind.REGULAR, Kind.LIVE, Kind.INERT, Kind.ELASTIC)  # on during the event
BEFORE_KINDS = (Kind.REGULAR, Kind.LIVE, Kind.RELEASED)  # hold for the prior velocity
AFTER_KINDS = (Kind.REGULAR, Kind.LIVE, Kind.INERT)  # hold for the posterior velocity
IMPULSIVE_KINDS = (Kind.LIVE, Kind.INERT, Kind.ELASTIC)  # act impulsively


class ContactState(IntEnum):
    """What became of a one-sided contact in an event."""

    SEPARATES = 0  # it was opening before and is left alone
    LIFTS = 1  # no impulse, and it opens
    GRAZES = 2  # no impulse, and it does not open: on the verge
    HOLDS = 3  # it pushed; without friction nothing is said of its slip
    STICKS = 4  # it pushed, and does not slip at the end
    SLIPS = 5  # it pushed, and slips as before
    REVERSES = 6  # it pushed, and slips the other way at the end

    def __str__(self) -> str:
        return self.name.lower()
