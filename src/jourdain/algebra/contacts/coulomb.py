"""One contact with friction inside the event: its path, in the plane by formulas, in space by iteration."""

from __future__ import annotations

from functools import partial
from typing import Any

from jourdain.algebra.contacts import coulomb_plane, coulomb_space
from jourdain.algebra.contacts.contacts import Contacts, ContactSolution
from jourdain.algebra.contacts.iteration import Iteration
from jourdain.algebra.contacts.slip import N_ASKED, N_FINISH
from jourdain.algebra.entries import root, row
from jourdain.algebra.linear import LinearAlgebra
from jourdain.kinds import ContactState

SLOW = 1e-13  # of the speed that the kinetic energy allows: what is slower neither approaches nor slips
ROUNDING = 1e-13  # of the sum of what impulses change: what rounding leaves of it


def coulomb(contacts: Contacts, hypothesis: str) -> ContactSolution:
    """What the contact does while its normal impulse grows; it is the only one of its event."""
    la, (friction,), (restitution,) = contacts.la, contacts.number("friction"), contacts.number("restitution")
    allowed, speeds = row(contacts.speed, 0, la), la.rows(contacts.speed, 1, contacts.u.shape[-2])
    tangents = la.rows(contacts.u, 1, contacts.u.shape[-2])
    grazes = la.absolute(row(contacts.u, 0, la)) <= SLOW * allowed
    u, W = la.stack(la.where(grazes, 0.0, row(contacts.u, 0, la)), tangents), contacts.W
    slow = SLOW * root(la.transpose(speeds) @ speeds, la)
    inputs, arrived = None, None
    if W.shape[-1] == 2:
        path = coulomb_plane.planar(contacts.Y, u, friction, restitution, hypothesis, la, slow)
    else:
        inputs = coulomb_plane.inputs_in_space(contacts.Y, u, friction, restitution, la)
        path, arrived = coulomb_plane.in_space(W, u, contacts.iterated(inputs), hypothesis, la, slow)
    u_n, zero = row(u, 0, la), la.zeros(1, 1, like=contacts.u)
    untouched = la.where(grazes, float(ContactState.GRAZES), float(ContactState.SEPARATES))
    works = (path.compression, path.restitution, path.friction)
    return ContactSolution(
        impulse=la.stack(path.p_n, path.p_t),
        state=la.where(path.state > 0, path.state, untouched),
        path=la.side_by_side(*works, path.p_c, path.p_slip, path.p_t_slip),
        miss=_certificate(W, u, path, friction, la),
        several=zero > 0,
        closing=zero,
        kink=la.where(path.unslipped, tangents / la.where(speeds > 0, speeds, 1.0), 1.0),
        margin=la.where(u_n < 0, path.margin, u_n / la.where(allowed > 0, allowed, 1.0)),
        asked=inputs,
        arrived=arrived,
    )


def iteration(hypothesis: str) -> Iteration:
    """What integrates the path of a contact in space."""
    return Iteration(N_ASKED, N_FINISH + 1, partial(coulomb_space.find, hypothesis=hypothesis))


def _certificate(W: Any, u: Any, path: coulomb_plane.Path, friction: Any, la: LinearAlgebra) -> Any:
    """By how much the end of a path breaks what every law asks: it pushes, does not sink in, stays in the cone."""
    u_n, p_t = row(u, 0, la), path.p_t
    approach = la.where(u_n < 0, -u_n, 1.0)
    along_normal, impulse = row(W, 0, la), la.stack(path.p_n, p_t)
    noise = ROUNDING * (la.absolute(along_normal) @ la.absolute(impulse))
    after = u_n + along_normal @ impulse + noise
    pull = root(la.transpose(p_t) @ p_t, la)
    usual = la.where(path.p_n > 0, path.p_n, 1.0)
    lengths = root(la.diagonal_of(W), la)
    across, tangents = row(lengths, 0, la), la.rows(lengths, 1, W.shape[-1])
    along = root(la.transpose(tangents) @ tangents, la)
    scale = (across + friction * along) * usual
    outside = (pull - friction * path.p_n) * along / la.where(scale > 0, scale, 1.0)
    worst = path.stuck
    for broken in (-after / approach, -path.p_n / usual, outside):
        worst = la.where(broken > worst, broken, worst)
    return la.where(u_n < 0, worst, 0.0)
