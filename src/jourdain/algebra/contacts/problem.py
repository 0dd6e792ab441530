"""The one-sided contacts of an event: what their laws make of the velocities that the two-sided rows leave them.

The rows that are on hold throughout, so contacts meet W = Ŷ Ŷᵀ with Ŷ = Y − Y QᵀQ, Q spanning the rows that are on.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

from jourdain.algebra.contacts import coulomb_plane as coulomb
from jourdain.algebra.contacts.frictionless import Rows, hold, poisson
from jourdain.algebra.contacts.iteration import Iteration
from jourdain.algebra.contacts.moreau_plane import asked_in_space, found_in_space, hold_with_friction
from jourdain.algebra.entries import each_row, larger, root, row, scaled, squares
from jourdain.algebra.span import RANK, span
from jourdain.kinds import ContactState, Kind
from jourdain.laws import Coulomb, Frictionless, MoreauCoulomb, NoSlip

if TYPE_CHECKING:
    from jourdain.algebra.problem import Block, Decomposition, Problem

SEPARATES = 1e-8  # of the speed that the kinetic energy allows: a contact that opens quicker is left alone
ROUNDING = 1e-13  # of the same
SLOW = 1e-5  # of the same: contacts that approach slower meet their laws only to rounding of this
IDLE = 1e-9  # of the same: impulses and speeds below this are none


@dataclass(frozen=True)
class Solved:
    """What the laws decide."""

    impulse: Any  # (rows of all contacts, 1), N s
    state: Any  # (contacts, 1), `ContactState`
    # (contacts, 6): work of compression, restitution and friction, J; normal impulses at the end of compression and of
    # the first slip, and the tangential one there. None for laws that have no path.
    path: Any
    miss: Any  # (1, 1): by how much the laws are not met, of the usual speed
    several: Any  # (1, 1): whether they can be met in several ways
    closing: Any  # (1, 1): how quickly contacts that were left alone close after all, of the speed that energy allows
    margin: Any  # (contacts, 1): how far each is from doing something else, of the usual speed or impulse
    ways: Any = None  # (ways, 1): by how much each way to hold misses the laws, where ways are tried
    one_of_many: Any = None  # (1, 1): whether the motion rests on the least of many impulses of compression
    kink: Any = None  # (tangents, 1), of the usual speed: slips that are 0 and would go either way; 1 where they do not
    apart: Any = None  # (1, 1), whether rows that were taken to be well apart are; None: that was not assumed
    asked: Any = None  # (m, 1), of an `Iteration`, for laws that need one
    arrived: Any = None  # (1, 1), whether it did


@dataclass(frozen=True)
class Touched:
    """What the contacts of an event do."""

    generalized: Any  # (n, 1), Σ Cᵀ impulse
    Q: Any  # (rows, n), orthonormal rows of those that act, zero where none does
    redundant: Any  # (rows, 1), 1 where a row that acts depends on those before it
    undetermined: Any  # (rows, 1), 1 where the impulse of a row is one of many
    shared: Any  # (rows that are on, 1), 1 where a contact could take over from one of these
    apart: Any  # (1, 1), whether their rows are well apart, if that was assumed
    solved: Solved


def contact_impulses(
    problem: Problem, parts: Decomposition, v: Any, energy: Any, la: ModuleType, independent: bool = False
) -> Touched | None:
    """For velocities v that the two-sided rows leave, and the kinetic energy before; None without contacts.

    `independent`: for rows that are well apart, as `Touched.apart` tells; see `span`.
    """
    blocks = problem.of_kind(Kind.CONTACT)
    if not blocks:
        return None
    C = la.stack(*(block.C for block in blocks))
    Y = scaled(C, parts.factor, la)
    meets = Meeting(
        blocks=blocks,
        Y=_free(Y, parts.on.Q, la),
        own=Y,
        u_minus=la.stack(*(block.C @ problem.v_minus + block.b_minus for block in blocks)),
        u=la.stack(*(block.C @ v + block.b_plus for block in blocks)),
        speed=root(2 * energy * squares(Y, la), la),
        least=SLOW * root(2 * energy, la),
        found=problem.found,
        independent=independent,
        la=la,
    )
    solved = _frictional(meets) if isinstance(blocks[0].law, Coulomb) else _held(meets)
    acting = la.where(la.absolute(solved.impulse) > 0, 1.0, 0.0)
    generalized = la.transpose(C) @ solved.impulse
    rows = each_row(la.scale_rows(acting, meets.Y), la)
    leaning = _leaning(meets, solved)
    if solved.apart is not None:
        none, others = la.zeros(len(rows), 1, like=Y), la.zeros(parts.on.keep.shape[-2], 1, like=Y)
        apart = la.both(solved.apart, la.transpose(leaning) @ leaning <= 0)
        return Touched(generalized, _orthonormal(rows, la), none, none, others, apart, solved)
    spanned = span(rows, Y.shape[-1], la, like=Y)
    redundant = acting * (1 - spanned.keep)
    # A dropped row and those that it depends on can share an impulse in many ways.
    among = la.absolute(spanned.N) @ redundant
    undetermined = la.where(acting * among > RANK, 1.0, 0.0) + leaning
    relieved = _relieved(meets, leaning, parts)
    sure = la.ones(1, 1, like=Y) > 0
    return Touched(generalized, spanned.Q, redundant + leaning, undetermined, relieved, sure, solved)


def _leaning(m: Meeting, solved: Solved) -> Any:
    """Normals that touch and that the two-sided rows span, 1, else 0, (rows, 1).

    Such a contact may carry as much as it likes: the rows that hold it carry the less. It is given nothing.
    """
    la, flags = m.la, []
    lengths2, own2 = squares(m.Y, la), squares(m.own, la)
    for i, contact in enumerate(m.places()):
        held = la.both(row(lengths2, contact.normal, la) <= 0, row(own2, contact.normal, la) > 0)
        touches = row(solved.state, i, la) == float(ContactState.GRAZES)
        flags += [la.where(la.both(held, touches), 1.0, 0.0), *([la.zeros(1, 1, like=m.Y)] * len(contact.tangents))]
    return la.stack(*flags)


def _relieved(m: Meeting, leaning: Any, parts: Decomposition) -> Any:
    """Two-sided rows from which a leaning contact could take over, 1, else 0, (rows that are on, 1)."""
    la, on = m.la, parts.on
    lengths = la.where(on.scale > 0, 1 / la.where(on.scale > 0, on.scale, 1.0), 0.0)
    found = la.zeros(on.keep.shape[-2], 1, like=m.Y)
    for contact in m.places():
        y, leans = row(m.own, contact.normal, la), row(leaning, contact.normal, la)
        part = la.absolute(on.impulse(on.Q @ la.transpose(y))) * lengths
        shared = part > RANK * root(y @ la.transpose(y), la)
        found = la.where(shared, larger(found, leans * la.ones(found.shape[-2], 1, like=found), la), found)
    return found


def _orthonormal(rows: list[Any], la: ModuleType) -> Any:
    """Gram–Schmidt in one pass, for rows that are well apart or zero."""
    Q = la.zeros(0, rows[0].shape[-1], like=rows[0])
    for y in rows:
        rest = y - (y @ la.transpose(Q)) @ Q
        square = rest @ la.transpose(rest)
        acts = square > 0
        Q = la.stack(Q, rest * la.where(acts, 1 / la.sqrt(la.where(acts, square, 1.0)), 0.0))
    return Q


@dataclass(frozen=True)
class Meeting:
    """Contacts as they meet: all their rows stacked."""

    blocks: list[Block]
    Y: Any  # (rows, n), Ŷ
    own: Any  # (rows, n), before the two-sided rows were taken out
    u_minus: Any  # (rows, 1), before the event
    u: Any  # (rows, 1), with what the two-sided rows do, without the contacts
    speed: Any  # (rows, 1), √(2T · c M⁻¹ cᵀ): the largest that the kinetic energy allows
    least: Any  # (1, 1), a speed along unit rows: slower ones are rounding of what the mechanism does
    independent: bool  # rows are taken to be well apart
    found: Any  # (f, 1), what an `Iteration` found; None: it is run on the spot, with numbers
    la: ModuleType

    def iterated(self, asked: Any) -> Any:
        """What the laws' iteration answers."""
        if self.found is not None:
            return self.found
        iteration = Iteration.of(self.blocks)
        assert iteration is not None
        return iteration(asked)

    def places(self) -> list[Rows]:
        """Where the rows of each contact stand, and whether it may stick."""
        found, start = [], 0
        for block in self.blocks:
            k = block.C.shape[-2]
            found.append(Rows(start, tuple(range(start + 1, start + k)), isinstance(block.law, NoSlip)))
            start += k
        return found

    def each(self, values: list[Any]) -> Any:
        """One number per contact, repeated along its rows."""
        ones = [self.la.ones(block.C.shape[-2], 1, like=self.u) for block in self.blocks]
        return self.la.stack(*(value * one for value, one in zip(values, ones, strict=True)))


def _held(m: Meeting) -> Solved:
    """Frictionless and no-slip contacts, all at once."""
    la, contacts = m.la, m.places()
    opening = m.u_minus > SEPARATES * m.speed
    alone = [la.rows(opening, contact.normal, contact.normal + 1) for contact in contacts]
    by_poisson = all(getattr(block.law, "law", "") == "poisson" for block in m.blocks)
    # Moreau's law is asked for only of contacts that close; Poisson's may be asked of all.
    taken = m.each([la.ones(1, 1, like=m.u) if by_poisson else la.where(one, 0.0, 1.0) for one in alone])
    kappa = m.each([block.kappa for block in m.blocks])
    Y, u = la.scale_rows(taken, m.Y), taken * m.u
    approach = la.where(m.u_minus < 0, m.u_minus, 0.0)
    r = u + taken * _along_normals(contacts, kappa * approach, la)  # u⁺ + κ u⁻ ≥ 0 along normals
    asked, arrived = None, None
    if isinstance(m.blocks[0].law, MoreauCoulomb):
        friction = [block.friction for block in m.blocks]
        if len(contacts[0].tangents) == 1:
            found = hold_with_friction(Y, r, friction, contacts, la, m.least, m.own)
        else:
            asked = asked_in_space(Y, r, friction, la)
            answer = m.iterated(asked)
            found = found_in_space(Y, r, friction, contacts, answer, la, m.least)
            arrived = la.rows(answer, Y.shape[-2], Y.shape[-2] + 1) > 0
    elif by_poisson:
        found = poisson(Y, u, kappa, contacts, la, m.least, m.independent, m.own)
    else:
        found = hold(Y, r, contacts, la, m.least, m.independent, m.own)
    after = m.u + m.Y @ (la.transpose(m.Y) @ found.impulse)
    states, closing = [], la.zeros(1, 1, like=m.u)
    lengths2 = squares(m.Y, la)
    for contact, block, left in zip(contacts, m.blocks, alone, strict=True):
        i = contact.normal
        allowed, end = row(m.speed, i, la), row(after, i, la)
        pushes = la.rows(found.impulse * lengths2, i, i + 1) > IDLE * allowed
        holds: Any = float(ContactState.HOLDS)
        if contact.tangents and not isinstance(block.law, Frictionless):
            j, k = contact.tangents[0], contact.tangents[-1] + 1
            slip, before, speeds = (la.rows(column, j, k) for column in (after, m.u_minus, m.speed))
            slow2 = IDLE**2 * (la.transpose(speeds) @ speeds)
            back = la.both(la.transpose(slip) @ before < 0, la.transpose(before) @ before > slow2)
            slips = la.where(back, float(ContactState.REVERSES), float(ContactState.SLIPS))
            holds = la.where(la.transpose(slip) @ slip > slow2, slips, float(ContactState.STICKS))
        idle = la.where(end > IDLE * allowed, float(ContactState.LIFTS), float(ContactState.GRAZES))
        idle = la.where(left, float(ContactState.SEPARATES), idle)
        states.append(la.where(pushes, holds, idle))
        # Contacts that were left alone, and those that the two-sided rows hold, must not close all the same.
        held_fast = row(lengths2, i, la) <= 0
        watched = la.either(left, held_fast)
        sinks = la.where(la.both(watched, end < 0), -end / la.where(allowed > 0, allowed, 1.0), 0.0)
        closing = la.where(sinks > closing, sinks, closing)
    return Solved(
        impulse=found.impulse,
        state=la.stack(*states),
        path=None,
        miss=found.miss,
        several=found.several,
        closing=closing,
        margin=found.margin,
        ways=found.ways,
        one_of_many=found.one_of_many,
        apart=found.apart,
        asked=asked,
        arrived=arrived,
    )


def _frictional(m: Meeting) -> Solved:
    """One contact with friction inside the event."""
    la, (block,) = m.la, m.blocks
    # What is only rounding does not approach, nor slip.
    grazes = la.absolute(row(m.u, 0, la)) <= ROUNDING * row(m.speed, 0, la)
    tangents = la.rows(m.u, 1, m.u.shape[-2])
    u = la.stack(la.where(grazes, 0.0, row(m.u, 0, la)), tangents)
    W = m.Y @ la.transpose(m.Y)
    speeds = la.rows(m.speed, 1, m.u.shape[-2])
    slow = ROUNDING * root(la.transpose(speeds) @ speeds, la)
    zero = la.zeros(1, 1, like=m.u)
    asked, arrived = None, None
    if W.shape[-1] == 2:
        path = coulomb.planar(W, u, block.friction, block.kappa, block.law.hypothesis, la, slow)
    else:
        asked = coulomb.asked_in_space(W, u, block.friction, block.kappa, la)
        found = m.iterated(asked)
        path, arrived = coulomb.in_space(W, u, found, block.law.hypothesis, la, slow)
    u_n, allowed = row(u, 0, la), row(m.speed, 0, la)
    state = la.where(grazes, float(ContactState.GRAZES), float(ContactState.SEPARATES))
    for name in ("SLIPS", "STICKS", "REVERSES"):
        state = la.where(path.state == float(getattr(coulomb, name)), float(ContactState[name]), state)
    told = la.side_by_side(
        path.compression, path.restitution, path.friction, path.p_c, path.p_slip, path.p_t_slip
    )  # fmt: skip
    return Solved(
        impulse=la.stack(path.p_n, path.p_t),
        state=state,
        path=told,
        miss=_certificate(W, u, path, block.friction, la),
        several=zero > 0,
        closing=zero,
        kink=la.where(path.unslipped, tangents / la.where(speeds > 0, speeds, 1.0), 1.0),
        margin=la.where(u_n < 0, path.margin, u_n / la.where(allowed > 0, allowed, 1.0)),
        asked=asked,
        arrived=arrived,
    )


def _certificate(W: Any, u: Any, path: coulomb.Path, friction: Any, la: ModuleType) -> Any:
    """By how much the end of a path breaks what every law asks: it pushes, does not sink in, stays in the cone."""
    u_n, p_t = row(u, 0, la), path.p_t
    approach = la.where(u_n < 0, -u_n, 1.0)
    after = u_n + row(W, 0, la) @ la.stack(path.p_n, p_t)
    pull = root(la.transpose(p_t) @ p_t, la)
    usual = la.where(path.p_n > 0, path.p_n, 1.0)
    worst = path.stuck
    for broken in (-after / approach, -path.p_n / usual, (pull - friction * path.p_n) / usual):
        worst = la.where(broken > worst, broken, worst)
    return la.where(u_n < 0, worst, 0.0)


def _free(Y: Any, Q: Any, la: ModuleType) -> Any:
    """Ŷ = Y − Y QᵀQ; a row that Q spans is zero, not what rounding leaves of it."""
    rows = []
    for i in range(Y.shape[-2]):
        y = row(Y, i, la)
        rest = y
        for _ in range(2):
            rest = rest - (rest @ la.transpose(Q)) @ Q
        spanned = rest @ la.transpose(rest) <= RANK**2 * (y @ la.transpose(y))
        rows.append(la.where(spanned, 0.0, 1.0) * rest)
    return la.stack(*rows)


def _along_normals(contacts: list[Rows], column: Any, la: ModuleType) -> Any:
    """The column with zeros along tangents."""
    zero = la.zeros(1, 1, like=column)
    rows = [part for c in contacts for part in (la.rows(column, c.normal, c.normal + 1), *([zero] * len(c.tangents)))]
    return la.stack(*rows)
