"""What the one-sided contacts of an event do to the rest of it, once their laws have found their impulses.

The rows that are on hold throughout, so contacts meet W = Ŷ Ŷᵀ with Ŷ = Y − Y QᵀQ, Q spanning the rows that are on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

from jourdain.algebra.contacts.contacts import Contacts, ContactSolution
from jourdain.algebra.entries import each_row, larger, root, row, scaled, smaller, squares
from jourdain.algebra.linear import LinearAlgebra, X
from jourdain.algebra.span import RANK, free_of, span
from jourdain.errors import BadEvent
from jourdain.kinds import ContactState, Kind

if TYPE_CHECKING:
    from jourdain.algebra.problem import Decomposition, Problem

EPSILON = 1e-15  # how well the direction of a row is known
SLOW = 1e-5  # of the speed that the kinetic energy allows: slower approaches meet their laws only to rounding of this
CLEAR = 1e-5  # of a contact's row, squared: what is left of it beside rows that are on, if it is well conditioned


@dataclass(frozen=True)
class ContactResponse(Generic[X]):
    """What the contacts of an event do."""

    generalized: X  # (n, 1), Σ Cᵀ impulse
    Q: X  # (rows, n), orthonormal rows of those that act, zero where none does
    redundant: X  # (rows, 1), 1 where a row that acts depends on those before it
    undetermined: X  # (rows, 1), 1 where the impulse of a row is one of many
    shared: X  # (rows that are on, 1), 1 where a contact could take over from one of these
    apart: X  # (1, 1), whether their rows are well conditioned, if that was assumed
    solution: ContactSolution[X]
    noise2: X  # (1, 1), how well the directions of rows that act are known, squared
    cancelled: X  # (1, 1), the largest part of a velocity that impulses give along rows that are not held, whose
    # rounding is that of all impulses
    mobility: X  # (rows, 1), Ŵ_ii: the speed along a row that a unit impulse along it gives


def contact_impulses(
    problem: Problem, parts: Decomposition, v: Any, energy: Any, la: LinearAlgebra, independent: bool = False
) -> ContactResponse | None:
    """For velocities v that the two-sided rows leave, and the kinetic energy before; None without contacts.

    `independent`: for rows that are well conditioned, as `ContactResponse.apart` says; see `span`.
    """
    blocks = problem.of_kind(Kind.CONTACT)
    if not blocks:
        return None
    C = la.stack(*(block.C for block in blocks))
    Y = scaled(C, parts.factor, la)
    v_minus, b_minus = problem.v_minus, la.stack(*(block.b_minus for block in blocks))
    allowed2 = 2 * energy * squares(Y, la)
    contacts = Contacts(
        blocks=blocks,
        Y=free_of(Y, parts.on.Q, la),
        unreduced=Y,
        u_minus=C @ v_minus + b_minus,
        u=la.stack(*(block.C @ v + block.b_plus for block in blocks)),
        speed=root(allowed2, la),
        usual=root(smaller(squares(C, la) * (la.transpose(v_minus) @ v_minus) + b_minus * b_minus, allowed2, la), la),
        least=SLOW * root(2 * energy, la),
        found=problem.found,
        independent=independent,
        la=la,
    )
    law = blocks[0].law  # all have the same solver
    assert law is not None
    solution = law.solver.respond(contacts)
    if not isinstance(solution, ContactSolution):
        raise BadEvent(f"The solver of {law!r} returned {solution!r}; return a ContactSolution, as `by_formula` does.")
    acting = la.where(la.absolute(solution.impulse) > 0, 1.0, 0.0)
    generalized = la.transpose(C) @ solution.impulse
    rows = each_row(la.scale_rows(acting, contacts.Y), la)
    leaning = _leaning(contacts, solution)
    sure = la.ones(1, 1, like=Y) > 0
    if independent:  # rows that nearly follow from those that are on lose digits in one pass; zero ones follow indeed
        free2, lengths2 = squares(contacts.Y, la), squares(Y, la)
        sure = la.every(la.where(free2 > 0, free2, lengths2) >= CLEAR * lengths2)
    if solution.apart is not None:
        none, others = la.zeros(len(rows), 1, like=Y), la.zeros(parts.on.keep.shape[-2], 1, like=Y)
        apart = la.both(la.both(solution.apart, sure), la.transpose(leaning) @ leaning <= 0)
        Q = _orthonormal(rows, la)
        noise2 = _noise2(contacts, acting, Q)
        nothing = la.zeros(1, 1, like=Y)
        mobility = squares(contacts.Y, la)
        return ContactResponse(generalized, Q, none, none, others, apart, solution, noise2, nothing, mobility)
    spanned = span(rows, Y.shape[-1], la, like=Y)
    redundant = acting * (1 - spanned.keep)
    # A dropped row and those that it depends on can share an impulse in many ways.
    among = la.absolute(spanned.N) @ redundant
    undetermined = la.where(acting * among > RANK, 1.0, 0.0) + leaning
    relieved = _relieved(contacts, leaning, parts)
    redundant, noise2 = redundant + leaning, _noise2(contacts, acting * spanned.keep, spanned.Q)
    if solution.phases is not None:  # rounding of impulses that cancel is more than that of the speeds that occur
        uneven2, speed2 = solution.phases.uneven * solution.phases.uneven, 2 * energy
        noise2 = noise2 * larger(la.where(speed2 > 0, uneven2 / la.where(speed2 > 0, speed2, 1.0), 1.0), 1.0, la)
    cancelled = la.zeros(1, 1, like=Y)
    if solution.path is None:
        held = 0 * acting if solution.held is None else solution.held
        if solution.phases is not None:
            held = larger(held, la.where(solution.phases.compression > 0, 1.0, 0.0), la)
        Q = span(each_row(la.scale_rows(held, contacts.Y), la), Y.shape[-1], la, like=Y).Q
        parts_of_v = la.absolute(parts.factor.solve(la.transpose(free_of(contacts.Y, Q, la))))
        free, pushes = root(squares(contacts.Y, la), la), la.absolute(solution.impulse)
        blurs = la.where(free > 0, la.transpose(free) @ pushes / la.where(free > 0, free, 1.0), 0.0)  # those of others
        cancelled = la.largest(parts_of_v @ ((1 - held) * acting * larger(blurs, pushes, la)))
    given = (generalized, spanned.Q, redundant, undetermined, relieved, sure, solution)
    return ContactResponse(*given, noise2, cancelled, squares(contacts.Y, la))


def _noise2(contacts: Contacts, acting: Any, Q: Any) -> Any:
    """The square of how well the directions Q of rows that act are known, (1, 1).

    What is left of row i, q_i·y_i, is short where it leans on rows before it: it is known the less, and so are those
    that lean on it.
    """
    la = contacts.la
    noise2 = EPSILON**2 * la.ones(1, 1, like=contacts.Y)
    for acts, q, y in zip(*(each_row(matrix, la) for matrix in (acting, Q, contacts.unreduced)), strict=True):
        left = q @ la.transpose(y)
        part = la.where(acts > 0, y @ la.transpose(y) / la.where(acts > 0, left * left, 1.0), 1.0)
        noise2 = noise2 * part
    return noise2


def _leaning(contacts: Contacts, solution: ContactSolution) -> Any:
    """Normals that touch and that the two-sided rows span, 1, else 0, (rows, 1).

    Such a contact may carry as much as it likes: the rows that hold it carry the less. It is given nothing.
    """
    la, flags = contacts.la, []
    free2, lengths2 = squares(contacts.Y, la), squares(contacts.unreduced, la)
    no_flag = la.zeros(1, 1, like=contacts.Y)
    for i, place in enumerate(contacts.places()):
        held = la.both(row(free2, place.normal, la) <= 0, row(lengths2, place.normal, la) > 0)
        touches = row(solution.state, i, la) == float(ContactState.GRAZES)
        flags += [la.where(la.both(held, touches), 1.0, 0.0), *([no_flag] * len(place.tangents))]
    return la.stack(*flags)


def _relieved(contacts: Contacts, leaning: Any, parts: Decomposition) -> Any:
    """Two-sided rows from which a leaning contact could take over, 1, else 0, (rows that are on, 1)."""
    la, on = contacts.la, parts.on
    lengths = la.where(on.scale > 0, 1 / la.where(on.scale > 0, on.scale, 1.0), 0.0)
    relieved = la.zeros(on.keep.shape[-2], 1, like=contacts.Y)
    ones = la.ones(on.keep.shape[-2], 1, like=contacts.Y)
    for place in contacts.places():
        y, leans = row(contacts.unreduced, place.normal, la), row(leaning, place.normal, la)
        part = la.absolute(on.impulse(on.Q @ la.transpose(y))) * lengths
        shared = part > RANK * root(y @ la.transpose(y), la)
        relieved = la.where(shared, larger(relieved, leans * ones, la), relieved)
    return relieved


def _orthonormal(rows: list[Any], la: LinearAlgebra) -> Any:
    """Gram–Schmidt in one pass, for rows that are well conditioned or zero."""
    Q = la.zeros(0, rows[0].shape[-1], like=rows[0])
    for y in rows:
        rest = y - (y @ la.transpose(Q)) @ Q
        square = rest @ la.transpose(rest)
        acts = square > 0
        Q = la.stack(Q, rest * la.where(acts, 1 / la.sqrt(la.where(acts, square, 1.0)), 0.0))
    return Q
