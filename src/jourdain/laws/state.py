"""What became of a contact in an event."""

from enum import IntEnum


class ContactState(IntEnum):
    """Of one one-sided contact."""

    SEPARATES = 0  # it was opening before and is left alone
    LIFTS = 1  # no impulse, and it opens
    GRAZES = 2  # no impulse, and it does not open: on the verge
    HOLDS = 3  # it pushed; without friction nothing is said of its slip
    STICKS = 4  # it pushed, and does not slip at the end
    SLIPS = 5  # it pushed, and slips as before
    REVERSES = 6  # it pushed, and slips the other way at the end

    def __str__(self) -> str:
        return self.name.lower()
