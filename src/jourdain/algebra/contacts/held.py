"""Contacts that lift or hold at the end of the event: Moreau's law, Poisson's law, Coulomb's for the velocity after."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from jourdain.algebra.contacts import moreau_plane
from jourdain.algebra.contacts.choice import Choice, Held
from jourdain.algebra.contacts.contacts import Contacts, ContactSolution, Rows
from jourdain.algebra.contacts.frictionless import hold, hold_by_poisson
from jourdain.algebra.entries import root, row, squares
from jourdain.errors import BadEvent
from jourdain.kinds import ContactState

IDLE = 1e-9  # of the same: impulses and speeds below this are none
SMALL = 1e-10  # of the impulses: less is rounding


def moreau(contacts: Contacts) -> ContactSolution:
    """0 ≤ λ ⊥ u⁺ + κ u⁻ ≥ 0 of contacts that close; those that may stick do, or slide."""
    Y, _, r = _taking_part(contacts, _closing(contacts))
    left = contacts.opening if any("sticks" in place.ways for place in contacts.places()) else None
    solution = _solution(contacts, hold(contacts, Y, r, left=left).answer())
    pushing = contacts.la.where(contacts.la.absolute(solution.impulse) > 0, 1.0, 0.0)
    rebound = -_restitution(contacts)
    return replace(solution, u_plus=rebound, held=pushing, least=rebound)


def poisson(contacts: Contacts) -> ContactSolution:
    """The impulse of compression is given back κ-fold; contacts that open take part too."""
    la, kappa = contacts.la, contacts.each(contacts.number("restitution"))
    Y, u, _ = _taking_part(contacts, contacts.each([la.ones(1, 1, like=contacts.u)] * len(contacts.blocks)))
    answer = hold_by_poisson(contacts, Y, u, kappa)
    assert answer.phases is not None
    again = answer.phases.again * root(squares(contacts.Y, la), la)
    touches = la.where(again > SMALL * la.largest(again), 1.0, 0.0)
    return replace(_solution(contacts, answer), u_plus=0 * u, held=touches, phases=answer.phases)


def moreau_coulomb(contacts: Contacts) -> ContactSolution:
    """Coulomb's law for the velocity after the event: all ways are tried in the plane; in space by iteration."""
    Y, _, r = _taking_part(contacts, _closing(contacts))
    if contacts.blocks[0].n_rows == 2:
        solution = _solution(contacts, moreau_plane.hold_with_friction(contacts, Y, r, contacts.opening))
        return _with_speeds(contacts, solution)
    inputs = moreau_plane.inputs_in_space(Y, r, contacts.number("friction"), contacts.la)
    answer = contacts.iterated(inputs)
    held = moreau_plane.held_in_space(contacts, Y, r, answer)
    solution = _solution(contacts, held, inputs, row(answer, Y.shape[-2], contacts.la) > 0)
    return _with_speeds(contacts, solution)


def _with_speeds(contacts: Contacts, solution: ContactSolution) -> ContactSolution:
    """The same, with u⁺ of normals that push, and of tangents whose impulse is inside its cone."""
    la, known = contacts.la, []
    for place, mu in zip(contacts.places(), contacts.number("friction"), strict=True):
        push = row(solution.impulse, place.normal, la)
        along = la.rows(solution.impulse, place.tangents[0], place.tangents[-1] + 1)
        inside = la.transpose(along) @ along < (1 - SMALL) * (mu * push) * (mu * push)
        normal = la.where(push > 0, 1.0, 0.0)
        known += [normal, *([la.where(inside, normal, 0.0)] * len(place.tangents))]
    rebound = -_restitution(contacts)
    return replace(solution, u_plus=rebound, held=la.stack(*known), least=rebound)


def by_formula(contacts: Contacts, impulse: Any) -> ContactSolution:
    """The solution of a law with a formula of its own: impulses (rows, 1) that push apart and let nothing sink in.

    Where they pull, or a contact closes after them, the event is INFEASIBLE. Margins are infinite: the formula is taken
    to have a derivative everywhere.
    """
    if getattr(impulse, "shape", (1,))[-2:] != (contacts.u.shape[-2], 1):
        raise BadEvent(f"The impulses of a formula are a column of {contacts.u.shape[-2]} rows; they are {impulse!r}.")
    la, after = contacts.la, contacts.u + contacts.W @ impulse
    choice = Choice(contacts, contacts.Y, contacts.u, unique=True)
    miss = choice.violation(impulse, after) / choice.usual
    margin = la.where(la.ones(len(contacts.blocks), 1, like=contacts.u) > 0, float("inf"), 0.0)
    return _solution(contacts, Held(impulse, after, miss, miss > float("inf"), margin))


def _closing(contacts: Contacts) -> Any:
    """1 along the rows of contacts that take part, 0 of those that open and are left alone; (rows, 1)."""
    la, opening = contacts.la, contacts.opening
    return contacts.each([la.where(row(opening, place.normal, la), 0.0, 1.0) for place in contacts.places()])


def _taking_part(contacts: Contacts, taken: Any) -> tuple[Any, Any, Any]:
    """(Y, u, r) of the rows that take part: u⁺ + κ u⁻ = r + W λ along normals, u⁺ along tangents."""
    Y, u = contacts.la.scale_rows(taken, contacts.Y), taken * contacts.u
    return Y, u, u + taken * _restitution(contacts)


def _restitution(contacts: Contacts) -> Any:
    """κ u⁻ along normals that close, (rows, 1)."""
    approach = contacts.la.where(contacts.u_minus < 0, contacts.u_minus, 0.0)
    return contacts.along_normals(contacts.each(contacts.number("restitution")) * approach)


def _solution(contacts: Contacts, held: Held, asked: Any = None, arrived: Any = None) -> ContactSolution:
    """The same with the state of each contact, and whether one closes that must not."""
    la, states, closing = contacts.la, [], contacts.la.zeros(1, 1, like=contacts.u)
    after = contacts.u + contacts.Y @ (la.transpose(contacts.Y) @ held.impulse)
    lengths2, opening = squares(contacts.Y, la), contacts.opening
    for place in contacts.places():
        i = place.normal
        allowed, end, left = row(contacts.speed, i, la), row(after, i, la), row(opening, i, la)
        pushes = row(held.impulse * lengths2, i, la) > IDLE * allowed
        idle = la.where(end > IDLE * allowed, float(ContactState.LIFTS), float(ContactState.GRAZES))
        idle = la.where(left, float(ContactState.SEPARATES), idle)
        states.append(la.where(pushes, _slip_state(contacts, place, after), idle))
        # Contacts that were left alone, and those that the two-sided rows hold, must not close all the same.
        watched = la.either(left, row(lengths2, i, la) <= 0)
        sinks = la.where(la.both(watched, end < 0), -end / la.where(allowed > 0, allowed, 1.0), 0.0)
        closing = la.where(sinks > closing, sinks, closing)
    return ContactSolution(
        impulse=held.impulse,
        state=la.stack(*states),
        miss=held.miss,
        several=held.several,
        closing=closing,
        margin=held.margin,
        ways=held.ways,
        one_of_many=held.one_of_many,
        apart=held.apart,
        asked=asked,
        arrived=arrived,
    )


def _slip_state(contacts: Contacts, place: Rows, after: Any) -> Any:
    """The state of a contact that pushed; a law that only holds says nothing of slip."""
    la = contacts.la
    if not place.tangents or not place.tells_slip:
        return float(ContactState.HOLDS)
    j, k = place.tangents[0], place.tangents[-1] + 1
    slip, before, speeds = (la.rows(column, j, k) for column in (after, contacts.u_minus, contacts.speed))
    slow2 = IDLE**2 * (la.transpose(speeds) @ speeds)
    back = la.both(la.transpose(slip) @ before < 0, la.transpose(before) @ before > slow2)
    slips = la.where(back, float(ContactState.REVERSES), float(ContactState.SLIPS))
    return la.where(la.transpose(slip) @ slip > slow2, slips, float(ContactState.STICKS))
