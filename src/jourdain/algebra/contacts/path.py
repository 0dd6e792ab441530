"""What a contact with friction does while its normal impulse grows: the event in impulse space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from jourdain.errors import BadEvent, ShapeError, unknown
from jourdain.inputs import Array

if TYPE_CHECKING:
    from jourdain.events.transition import Transition


@dataclass(frozen=True)
class ImpulsePath:
    """The path by its knots: between them u and the tangential impulse are straight lines over the normal impulse p.

    In space the slip turns, and the knots lie close.
    """

    p: Array  # (knots,), normal impulse, N s, rising from 0
    u_n: Array  # (knots,), m/s
    u_t: Array  # (knots,), in space (knots, 2)
    p_t: Array  # tangential impulse, N s, likewise
    p_c: float  # where compression ends
    p_slip: float  # where the first slip ends; inf if it does not

    def at(self, p: ArrayLike) -> dict[str, Array]:
        """u_n and u_t, m/s, p_t, N s, and the work done so far, J, at normal impulses p of any shape, N s.

        All have the shape of p; in space u_t and p_t have `(*shape, 2)`.
        """
        p = np.asarray(p, dtype=float)
        lines = {name: self._line(name, p) for name in ("u_n", "u_t", "p_t")}
        return {**lines, "work": np.array([self._work(one) for one in np.ravel(p)]).reshape(p.shape)}

    def _line(self, name: str, p: Array) -> Array:
        line = getattr(self, name)
        if line.ndim == 1:
            return np.asarray(np.interp(p, self.p, line))
        return np.stack([np.interp(p, self.p, one) for one in line.T], axis=-1)

    def _work(self, end: float) -> float:
        """∫ u_n dp + ∫ u_t · dp_t; trapezoids are exact between knots."""
        p = np.concatenate([self.p[self.p < end], [end]])
        u_n, u_t, p_t = (self._line(name, p) for name in ("u_n", "u_t", "p_t"))
        rubbed = np.sum((u_t[1:] + u_t[:-1]) / 2 * np.diff(p_t, axis=0))
        return float(np.trapezoid(u_n, p) + rubbed)


def planar_path(t: Transition, contact: str, p_c: float, p_slip: float, p_t_slip: float) -> ImpulsePath:
    """The path of a planar contact from what its outcome keeps: impulses p_c, p_slip, p_t_slip, N s."""
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


def path_in_space(t: Transition, contact: str, asked: Array) -> ImpulsePath:
    """The path of a contact in space: integrated once more, with what it passes noted."""
    from jourdain.algebra.contacts.coulomb_space import trail

    hypothesis = t.layout.law_of(contact).solver.hypothesis
    u, mass = t.u_minus[contact], float(t.effective_mass[contact][0])
    if not u[0] < 0:
        return ImpulsePath(np.zeros(1), u[:1], u[None, 1:], np.zeros((1, 2)), 0.0, 0.0)
    y, p_c, p_s = trail(asked, hypothesis)
    push = -u[0] * mass  # its unit of impulse
    longer2 = mass * float(np.mean(1 / t.effective_mass[contact][1:]))
    along = np.sqrt(longer2) if longer2 > 0 else 1.0  # the unit of tangents; see `slip`
    p, p_t, z = y[:, 0], push / along * y[:, 1:3], y[:, 4:6]
    a, (r_11, r_21, r_22), slip, s = asked[:2], asked[2:5], asked[5:7], asked[9]
    u_n = -1 + s * p + (z - slip) @ a
    u_t = np.column_stack([r_11 * z[:, 0], r_21 * z[:, 0] + r_22 * z[:, 1]])
    return ImpulsePath(push * p, -u[0] * u_n, -u[0] * along * u_t, p_t, push * p_c, push * p_s)


def check_path(t: Transition, contact: str) -> None:
    """Only one event, and a contact with friction inside it, have a path."""
    if t.batch_shape:
        raise ShapeError(f"A path is that of one event, not of a batch {t.batch_shape}; pick one.")
    if contact not in t.layout.along("one_sided"):
        raise unknown("one-sided contact", contact, t.layout.along("one_sided"))
    if not t.layout.law_of(contact).solver.hypothesis:
        raise BadEvent(f"'{contact}' has no friction inside the event, and so no path; give it the law Coulomb.")
