"""The one-sided contacts of an event as their laws see them, what a solver makes of them, and what a law offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol

from jourdain.algebra.entries import row
from jourdain.algebra.linear import LinearAlgebra, X
from jourdain.errors import BadEvent, Status

if TYPE_CHECKING:
    from jourdain.algebra.contacts.iteration import Iteration
    from jourdain.algebra.problem import Block

SEPARATES = 1e-8  # of the speed that the kinetic energy allows: a contact that opens quicker is left alone


class ContactLaw(Protocol):
    """What the library asks of a law; see `jourdain.laws.Law`."""

    @property
    def numbers(self) -> tuple[str, ...]: ...

    @property
    def solver(self) -> ContactSolver: ...

    def values(self) -> Mapping[str, Any]: ...

    def form(self) -> tuple[Any, ...]: ...


@dataclass(frozen=True)
class ContactSolver:
    """How the contacts of an event are solved together. Laws that `respond` in the same way can be mixed."""

    name: str
    respond: Callable[[Contacts], ContactSolution]
    needs: tuple[str, ...] = ()  # numbers that it reads of each law
    ways: tuple[str, ...] = ("lifts", "holds")  # in which a contact can hold, in the order in which they are tried
    prefer: str = ""  # "sticks" or "slides": which way is taken where several are consistent; "" if none is
    least_tangents: int = 0  # tangential rows that a contact must have,
    most_tangents: int | None = None  # and may have
    ledger: tuple[str, ...] = ()  # parts of the work that are booked apart: "friction", or those along a path
    in_space: Callable[[int], Iteration] | None = None  # number of contacts → what their impulses are found by
    alone: str = ""  # why one such contact must act alone, such as "has friction inside the event"; "" if others may
    hypothesis: str = ""  # on the end of restitution, of solvers that follow the impulses as they grow
    mixed: str = ""  # what to say of contacts with other solvers beside this one
    lists_candidates: bool = False  # the outcome says which ways are consistent
    unmet: str = "{names}: " + Status.INFEASIBLE.message + "."  # what to say where its conditions cannot be met
    sinks: str = ""  # the same where restitution takes work: the contact approaches again
    takes_opening: bool = False  # contacts that open before the event take part
    remedy: str = ""  # what to use for contacts that open before and are driven together

    @property
    def slips_at_the_end(self) -> bool:
        """Whether friction acts against the slip after the event."""
        return any(way.startswith("slips") for way in self.ways)

    def iteration(self, n_contacts: int, n_tangents: int) -> Iteration | None:
        """What finds the impulses where formulas do not: of contacts in space, of most solvers with friction."""
        return self.in_space(n_contacts) if self.in_space is not None and n_tangents > 1 else None


@dataclass(frozen=True)
class Rows:
    """Where the rows of one contact stand in the stack."""

    normal: int
    tangents: tuple[int, ...] = ()
    ways: tuple[str, ...] = ("lifts", "holds")  # in which it can hold; see `ContactSolver`
    prefer: str = ""

    @property
    def tells_slip(self) -> bool:
        """Whether its law says something of slip, or only that it holds."""
        return "holds" not in self.ways

    def acting(self, way: str) -> tuple[int, ...]:
        """Which of its rows act in a way: none (it lifts), the normal (it holds or slides), all (it sticks)."""
        rows = {"lifts": (), "sticks": (self.normal, *self.tangents)}
        return rows.get(way, (self.normal,))

    def score(self, way: str) -> int:
        """How much it prefers a way: to stick, or not to."""
        return {"sticks": 1, "slides": -1}.get(self.prefer, 0) if way == "sticks" else 0


@dataclass(frozen=True)
class Contacts(Generic[X]):
    """The contacts of an event, all their rows stacked: of each its normal, then its tangents.

    The two-sided rows hold throughout, so impulses λ along the rows meet W = Y Yᵀ: u becomes u + W λ.
    """

    blocks: Sequence[Block[X]]
    Y: X  # (rows, n), Y Yᵀ = W
    unreduced: X  # (rows, n), before the two-sided rows were taken out
    u_minus: X  # (rows, 1), before the event
    u: X  # (rows, 1), with what the two-sided rows do, without the contacts
    speed: X  # (rows, 1), √(2T · c M⁻¹ cᵀ): the largest that the kinetic energy allows
    usual: X  # (rows, 1), the same or, if it is less, |c| |v⁻|: energy allows a light mass any speed
    least: X  # (1, 1), a speed along unit rows: slower ones are rounding of what the mechanism does
    independent: bool  # rows are taken to be well conditioned
    found: X | None  # (f, 1), what an `Iteration` found; None: it is run on the spot, with numbers
    la: LinearAlgebra[X]

    @property
    def opening(self) -> Any:
        """Conditions (rows, 1), true along rows that open; contacts whose normals do are left alone by most laws."""
        return self.u_minus > SEPARATES * self.usual  # type: ignore[operator]

    @property
    def W(self) -> Any:
        """(rows, rows)."""
        return self.Y @ self.la.transpose(self.Y)  # type: ignore[operator]

    def number(self, name: str) -> list[X]:
        """A number of the laws by name, such as "restitution", (1, 1) of each contact."""
        for block in self.blocks:
            if name not in block.numbers:
                raise BadEvent(f"A solver asks for '{name}', but the law {block.law!r} names {list(block.numbers)}.")
        return [block.numbers[name] for block in self.blocks]

    def iterated(self, asked: X) -> Any:
        """What the iteration of the solver answers."""
        if self.found is not None:
            return self.found
        iteration = iteration_of(self.blocks)
        assert iteration is not None
        return iteration(asked)

    def places(self) -> list[Rows]:
        """Where the rows of each contact stand, and the ways in which it can hold."""
        places, start = [], 0
        for block in self.blocks:
            assert block.law is not None
            k = block.n_rows
            solver = block.law.solver
            places.append(Rows(start, tuple(range(start + 1, start + k)), solver.ways, solver.prefer))
            start += k
        return places

    def each(self, values: Sequence[Any]) -> X:
        """One number per contact, repeated along its rows."""
        ones = [self.la.ones(block.n_rows, 1, like=self.u) for block in self.blocks]
        return self.la.stack(*(value * one for value, one in zip(values, ones, strict=True)))

    def along_normals(self, column: X) -> X:
        """The column with zeros along tangents."""
        la, zero = self.la, self.la.zeros(1, 1, like=column)
        rows = [part for c in self.places() for part in (row(column, c.normal, la), *([zero] * len(c.tangents)))]
        return la.stack(*rows)


@dataclass(frozen=True)
class Phases(Generic[X]):
    """The impulses of contacts that come to rest first and are driven apart then: λ_c + κ λ_c + z."""

    compression: X  # (rows, 1), λ_c: rows that push are at rest then
    given_back: X  # (rows, 1), κ
    again: X  # (rows, 1), z, of contacts that touch again
    uneven: X  # (1, 1), what is given back by κ that differ, as a speed along unit rows; much of it may cancel


@dataclass(frozen=True)
class ContactSolution(Generic[X]):
    """What a solver decides."""

    impulse: X  # (rows of all contacts, 1), N s
    state: X  # (contacts, 1), `ContactState`
    miss: X  # (1, 1): by how much the laws are not met, of the usual speed
    several: X  # (1, 1): whether they can be met in several ways
    closing: X  # (1, 1): how quickly contacts that were left alone close after all, of the speed that energy allows
    margin: X  # (contacts, 1): how far each is from doing something else, of the usual speed or impulse
    # (contacts, 6): work of compression, restitution and friction, J; normal impulses at the end of compression and of
    # the first slip, and the tangential one there. None for laws that have no path.
    path: X | None = None
    ways: X | None = None  # (ways, 1): by how much each way to hold misses the laws, where ways are tried
    one_of_many: X | None = None  # (1, 1): whether the motion rests on the least of many impulses of compression
    kink: X | None = None  # (tangents, 1), of the usual speed: slips that are 0 and could go either way; else 1
    apart: X | None = None  # (1, 1), whether rows taken to be well conditioned are; None: that was not assumed
    asked: X | None = None  # (m, 1), of an `Iteration`, for solvers that need one
    arrived: X | None = None  # (1, 1), whether it did
    u_plus: X | None = None  # (rows, 1), what the law demands of u⁺ along the rows `held`; None: of no row
    held: X | None = None  # (rows, 1), 1 along these rows, else 0
    least: X | None = None  # (rows, 1), what u⁺ may not fall below along normals; None: 0
    phases: Phases[X] | None = None  # of laws that have two; then `held` says which rows are at rest in the end


def iteration_of(blocks: Sequence[Block[Any]]) -> Iteration | None:
    """What finds the impulses of these contacts; None where formulas do."""
    if not blocks:
        return None
    law = blocks[0].law
    assert law is not None
    return law.solver.iteration(len(blocks), blocks[0].n_rows - 1)
