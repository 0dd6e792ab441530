"""How restitution ends where there is friction: three hypotheses, one table for the plane and for space.

Compression ends at u_n = 0 with the normal impulse p_c and its work w_c < 0. From there on u_n, the impulse p and its
work w = ∫ u_n dp grow, and restitution ends when one of the three has reached its end:

    newton    u_n = e (−u_n⁻)        poisson    p = e p_c        stronge    w = −e² w_c
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from jourdain.algebra.entries import root
from jourdain.algebra.linear import LinearAlgebra

NEVER = 1e300  # an impulse that is never reached; finite, so that derivatives stay numbers


class Growth(NamedTuple):
    """What grows from the end of compression on, or the rates of these."""

    u_n: Any
    p: Any
    w: Any


class Compression(NamedTuple):
    """The approach −u_n⁻, and the impulse and its work at the end of compression."""

    approach: Any
    p_c: Any
    w_c: Any


@dataclass(frozen=True)
class Hypothesis:
    """What grows until restitution ends, and up to which value."""

    grows: Literal["u_n", "p", "w"]
    end: Callable[[Any, Compression], Any]  # restitution e, compression → its value at the end

    @property
    def by_impulse(self) -> bool:
        """Whether impulse is counted, also where it moves nothing."""
        return self.grows == "p"

    def excess(self, at: Growth, e: Any, compression: Compression) -> Any:
        """Negative until restitution ends."""
        return getattr(at, self.grows) - self.end(e, compression)

    def rate(self, rates: Growth) -> Any:
        """How quickly the excess grows."""
        return getattr(rates, self.grows)

    def from_rest(self, n: Any, e: Any, compression: Compression, la: LinearAlgebra) -> Any:
        """The impulse of restitution if du_n/dp = n from its start on; it has a derivative at e = 0 too."""
        rises = n > 0
        slope = la.where(rises, n, 1.0)
        if self.grows == "p":
            return e * compression.p_c
        if self.grows == "u_n":
            return la.where(rises, e * compression.approach / slope, NEVER)
        return e * root(-2 * compression.w_c / slope, la)

    def onward(self, at: Growth, n: Any, e: Any, compression: Compression, la: LinearAlgebra) -> Any:
        """The impulse that is left from a state on, if du_n/dp = n from there on."""
        owed = -self.excess(at, e, compression)
        if self.grows == "p":
            return owed
        if self.grows == "u_n":
            rises = n > 0
            return la.where(rises, owed / la.where(rises, n, 1.0), NEVER)
        # w + u_n x + n x²/2 is the end: x = 2 owed / (u_n + √(u_n² + 2 n owed)).
        square = at.u_n * at.u_n + 2 * n * owed
        speed = at.u_n + root(square, la)  # twice the mean
        gives = la.both(square >= 0, speed > 0)
        return la.where(gives, 2 * owed / la.where(gives, speed, 1.0), la.where(owed > 0, NEVER, 0.0))


HYPOTHESES = {
    "newton": Hypothesis("u_n", lambda e, compression: e * compression.approach),
    "poisson": Hypothesis("p", lambda e, compression: e * compression.p_c),
    "stronge": Hypothesis("w", lambda e, compression: -e * e * compression.w_c),
}
