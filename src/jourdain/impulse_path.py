"""What a contact with friction does while its normal impulse grows: the event in impulse space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jourdain.errors import BadEvent, ShapeError

if TYPE_CHECKING:
    from jourdain.outcome import Transition

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ImpulsePath:
    """The path by its knots: between them u and the tangential impulse are straight lines over the normal impulse p."""

    p: Array  # (knots,), normal impulse, N s, rising from 0
    u_n: Array  # (knots,), m/s
    u_t: Array
    p_t: Array  # tangential impulse, N s
    p_c: float  # where compression ends
    p_slip: float  # where the first slip ends; inf if it does not

    def at(self, p: ArrayLike) -> dict[str, Array]:
        """u_n, u_t, p_t and the work done so far, J, at these normal impulses."""
        p = np.asarray(p, dtype=float)
        lines = {name: np.interp(p, self.p, getattr(self, name)) for name in ("u_n", "u_t", "p_t")}
        return {**lines, "work": np.array([self._work(one) for one in np.ravel(p)]).reshape(p.shape)}

    def _work(self, end: float) -> float:
        """∫ u_n dp + ∫ u_t dp_t; trapezoids are exact between knots."""
        p = np.concatenate([self.p[self.p < end], [end]])
        u_n, u_t, p_t = (np.interp(p, self.p, line) for line in (self.u_n, self.u_t, self.p_t))
        return float(np.trapezoid(u_n, p) + np.trapezoid(u_t, p_t))


def impulse_path(t: Transition, contact: str, p_c: float, p_slip: float, p_t_slip: float) -> ImpulsePath:
    """The path of a contact from what its outcome keeps; see `Transition.path`."""
    (u_n, u_t), (v_n, v_t), (p_f, p_t) = t.u_minus[contact], t.u_plus[contact], t.impulse[contact]
    knots = {0.0: (u_n, u_t, 0.0)}
    if p_f > 0:
        knots[float(p_f)] = (v_n, v_t, p_t)
    if 0 < p_slip < p_f:
        # Before p_c the line of u_n breaks so that its area is the work of compression; after it, it ran straight.
        compression = t.ledger[f"{contact} compression"]
        bend = (2 * compression - u_n * p_slip) / p_c if p_slip < p_c else u_n * (1 - p_slip / p_c)
        knots[p_slip] = (bend, 0.0, p_t_slip)
    order = sorted(knots)
    u_n, u_t, p_t = np.array([knots[p] for p in order]).T
    return ImpulsePath(np.array(order), u_n, u_t, p_t, p_c, p_slip)


def refuse(t: Transition, contact: str) -> None:
    """Only one event, and a contact with friction inside it, have a path."""
    if t.batch_shape:
        raise ShapeError(f"A path is that of one event, not of a batch {t.batch_shape}; pick one.")
    if not any(c.path for c in t.layout.constraints if c.name == contact):
        raise BadEvent(f"'{contact}' has no friction inside the event, and so no path; give it the law Coulomb.")
