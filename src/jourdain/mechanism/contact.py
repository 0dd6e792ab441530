"""Contacts of raw arrays, `jd.Contact(normal=…, tangent=…, law=…)`, and the base that all contacts share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from jourdain.errors import BadEvent
from jourdain.laws import Law


class Contact:
    """Something that may touch: a normal row, u_n > 0 opens, and tangential rows.

    `Contact(normal=…, tangent=…, law=…)` makes an `ArrayContact`, for `jd.transition`. `Mechanism.contact` makes a
    `ContactConstraint`, which gets its law from the event.

    >>> import jourdain as jd
    >>> floor = jd.Contact(normal=[0.0, 1.0], tangent=[[1.0, 0.0]], law=jd.laws.Coulomb(0.5))
    >>> jd.transition([[2.0, 0.0], [0.0, 2.0]], [3.0, -1.0], contacts=[floor]).impulse["contact 0"]
    array([ 2., -1.])
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> ArrayContact:  # the arguments are those of the kind of contact
        return super().__new__(ArrayContact if cls is Contact else cls)


@dataclass(frozen=True, eq=False, kw_only=True)
class ArrayContact(Contact):
    """A one-sided contact of raw arrays. Numbers of the law may be arrays `(*b,)`."""

    normal: ArrayLike | None = None  # (*b, n)
    tangent: ArrayLike | None = None  # (*b, k, n), or a list of k rows (*b, n)
    law: Law | None = None

    def __post_init__(self) -> None:
        for what, value in (("normal", self.normal), ("law", self.law)):
            if value is None:
                raise BadEvent(f"A contact needs its {what}; give jd.Contact(normal=…, tangent=…, law=jd.laws.…).")
