"""An event: which rows are regular, live, inert, elastic, released or nonideal, and which impulses are applied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from casadi import SX
from numpy.typing import ArrayLike

from jourdain.algebra import unrolled
from jourdain.algebra.checks import DOUBTFUL_DIGITS, finite, rounding_of_rows
from jourdain.algebra.complete import completed
from jourdain.algebra.contacts.contacts import iteration_of
from jourdain.algebra.contacts.iteration import Iterated
from jourdain.algebra.lapack import positive_definite
from jourdain.algebra.outcome import outcome
from jourdain.algebra.problem import Block, Problem, prior_projection, with_regular_mass
from jourdain.algebra.record import FIELDS, KEPT, Outcome
from jourdain.compute.evaluate import Evaluator
from jourdain.compute.magnitude import magnitudes
from jourdain.compute.memory import check_batch
from jourdain.data.layout import ConstraintLayout, Entry, Layout
from jourdain.errors import BadEvent, Error, Status, listing
from jourdain.events.refusals import refusal
from jourdain.events.solver import Refined, Solver
from jourdain.events.transition import Transition
from jourdain.inputs import Array, Expression, StateLike, broadcast, named_values, parameter_vector, typical_parameters
from jourdain.kinds import BEFORE_KINDS, Kind
from jourdain.mechanism.assembly import assemble, assembler
from jourdain.mechanism.constraint import Constraint, ContactConstraint
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.symbols import PointLike
from jourdain.naming import name_of
from jourdain.output.printable import prints
from jourdain.output.tables import Table, names, page
from jourdain.quantities import rate_unit

if TYPE_CHECKING:
    from sympy.physics.mechanics import Vector

    from jourdain.algebra.closed_form import ClosedForm
    from jourdain.algebra.directions import Directions
    from jourdain.algebra.privileged import Phases
    from jourdain.algebra.projectors import Projectors
    from jourdain.events.analysis import Analysis
    from jourdain.events.gradient import EventGradient
    from jourdain.events.rank_change import RankChange
    from jourdain.mechanism.sketch import Sketch
    from jourdain.scenarios.scenario import Scenario


N_POSES = 64  # fixed random poses
ROUNDING = 1e-12  # of the speed that the kinetic energy allows: by this much velocities after an event may be off
NOTHING = 1e-20  # of the same: the rounding of such a velocity, once it is moved onto rows, is as large as itself
NOISE = 1e-13  # of its magnitude: an entry of a row that is not larger is rounding (sin π is 1e-16, not 0)


@dataclass(frozen=True)
class Role:
    """A constraint and the part it plays in an event."""

    constraint: Constraint
    block: Block


@dataclass(frozen=True)
class Expressions:
    """The quantities of an event, what is to be said of it, and whether it has no numbers."""

    values: Outcome[SX]
    verdict: SX
    failed: SX

    def entry(self, entry: Entry) -> SX:
        """The numbers that an address stands for, as a column."""
        numbers: SX = getattr(self.values, entry.quantity)[list(entry.places), 0]
        return ca.sum1(numbers) if entry.summed else numbers

    def doubtful(self, independent: bool) -> SX:
        """The verdict, DOUBTFUL_DIGITS added where light velocities lose digits; `independent` rows are then not so."""
        return self.verdict if independent else self.verdict + DOUBTFUL_DIGITS * (self.values.blurred > 0)

    def masked(self, values: Mapping[str, SX]) -> dict[str, SX]:
        """NaN where the event has no numbers."""
        return {name: ca.if_else(self.failed, float("nan"), value) for name, value in values.items()}


@dataclass(frozen=True, eq=False)
class Event:
    """A change of constraints. `solve` answers: the motion after, the impulses, the energy."""

    mechanism: Mechanism
    roles: tuple[Role, ...]  # sorted by kind
    applied: Mapping[str, SX]  # by name of point, body or velocity: generalized impulse (n_v, 1)
    parameters: Mapping[str, float | None]  # name → default; None: must be given
    symbols: Mapping[str, SX]  # of the parameters
    outputs: tuple[Mapping[str, SX], Mapping[str, SX]]  # named outputs before and after
    geometry: SX  # (rows, 1), the geometric rows, 0 where they hold
    jumping: Mapping[str, str]  # parameters of live rows → what they are called now
    regular_mass: bool = False  # whether regular rows add to M, which is singular without them

    # One state

    def solve(
        self,
        q: StateLike = None,
        v: StateLike = None,
        check: bool | str = True,
        parameters: Mapping[str, Any] = {},
        **more: ArrayLike,
    ) -> Transition:
        """The outcome at a configuration q for a prior velocity v.

        `q`, `v`: dicts by name (missing: 0) or arrays `(*batch, n)`; parameters as keywords. `check="project"` moves
        q and v onto the constraints that are on before, `check=False` does not look.
        """
        if check not in (True, False, "project"):
            raise BadEvent(f"check is True, False or 'project', not {check!r}.")
        state = self.state(q, v, {**named_values("parameters", parameters), **more} if parameters else more)
        given = state
        if check == "project":
            q_on, _ = self.assembled(state, range(len(self.mechanism.symbols.q_names)))  # judged below
            projector = self._at((q_on, *state[1:]))._projector
            state = (q_on, projector(q_on, *state[1:])["v_plus"][..., 0], state[2])
        values, status = (self._checked if check is not False else self._unchecked)(*state)
        if not status.ndim and status > Status.ENERGY_CREATED:
            shown = given if status == Status.NOT_FINITE else state
            raise self.refusal(Status(int(status)), shown, projected=check == "project")
        return Transition(self.layout, values, status)

    def refusal(self, status: Status, state: tuple[Array, Array, Array], projected: bool = False) -> Error:
        """Why one event has no numbers. `projected`: the state is what check="project" found."""
        names = (self.mechanism.symbols.q_names, self.mechanism.symbols.v_names, tuple(self.parameters))
        inputs = dict(zip(("q", "v", "parameter"), zip(state, names, strict=True), strict=True))
        known = self.expressions().values.columns(name for name in FIELDS if name != "u_rounding")
        solver = Solver(self.inputs, lambda _: (known, SX(0)), self.problem.M, self.iterated)
        values, _ = solver(*state)
        return refusal(status, Outcome(**{name: values[name] for name in known}), self.layout, inputs, projected)

    def state(self, q: StateLike, v: StateLike, parameters: Mapping[str, Any]) -> tuple[Array, Array, Array]:
        """q, v and the event's parameters, each `(*batch, n)` with one batch shape."""
        columns = parameter_vector(self.parameters, parameters, self.jumping)
        return broadcast(self.mechanism.coordinates(q), self.mechanism.velocities(v), columns, check_batch)

    @cached_property
    def problem(self) -> Problem:
        """The event over CasADi scalars. Rows that vanish at a pose do so exactly, not up to rounding."""
        blocks = [role.block for role in self.roles]
        ones = [self.mechanism.symbols.q[i] for places in self.mechanism.quaternions.values() for i in places]
        cleaned = [replace(block, C=_without_rounding(block.C, ones)) for block in blocks]
        iteration = iteration_of([block for block in blocks if block.kind == Kind.CONTACT])
        solution = None if iteration is None else SX.sym("found", iteration.n_outputs)
        applied = tuple(self.applied.values())
        problem = Problem(self.mechanism.M, self.mechanism.symbols.v, tuple(cleaned), applied, solution)
        return with_regular_mass(problem, unrolled) if self.regular_mass else problem

    @cached_property
    def definite(self) -> Event | None:
        """The same for samples whose M is singular: regular rows add to it. None if they do, or there are none."""
        if self.regular_mass or not any(role.block.kind == Kind.REGULAR for role in self.roles):
            return None
        return replace(self, regular_mass=True)

    def _at(self, state: tuple[Array, Array, Array]) -> Event:
        """The event itself, or `definite` where M is singular at one of these states."""
        if self.definite is None:
            return self
        M = self._mass_matrix(*state)["M"]
        singular = ~positive_definite(M[np.isfinite(M).all(axis=(-2, -1))])
        return self.definite if singular.any() else self

    @cached_property
    def _mass_matrix(self) -> Evaluator:
        return Evaluator(self.inputs, {"M": self.problem.M})

    @cached_property
    def iterated(self) -> Iterated | None:
        """What of the outcome is found by iteration; None where formulas do."""
        iteration, found = iteration_of(self.problem.of_kind(Kind.CONTACT)), self.problem.found
        if iteration is None or found is None:
            return None
        slopes = SX.sym("slopes", iteration.n_outputs, iteration.n_inputs)
        return Iterated(iteration, self.expressions().values.contact_asked, found, slopes)

    def generic_state(self) -> tuple[Array, Array, Array]:
        """Fixed random poses with the default parameters, for what is decided once per event."""
        rng = np.random.default_rng(64)
        s = self.mechanism.symbols
        q = rng.uniform(-np.pi, np.pi, (N_POSES, len(s.q_names)))
        p = typical_parameters(self.parameters, rng)
        return q, np.zeros((N_POSES, len(s.v_names))), np.broadcast_to(p, (N_POSES, len(p)))

    @cached_property
    def inputs(self) -> list[SX]:
        """The columns q, v and parameters that the event's expressions are written in."""
        s = self.mechanism.symbols
        return [s.q, s.v, ca.vertcat(SX(0, 1), *self.symbols.values())]

    @property
    def numbers_only(self) -> Problem:
        """The event without what an iteration finds, which is run where the event has numbers."""
        return replace(self.problem, found=None)

    @cached_property
    def dv(self) -> SX:
        """The symbols of v⁺ − v⁻ in expressions that are `refined`."""
        return SX.sym("dv", self.mechanism.M.shape[0])

    def expressions(self, independent: bool = False, checked: bool = True, refined: bool = False) -> Expressions:
        """Every quantity over CasADi scalars. `independent`: for rows that are well apart, see `algebra.span`.

        `refined`: v⁺ − v⁻ is given, as `dv`.
        """
        key = (independent, checked, refined)
        if key not in self._written:
            self._written[key] = self._write(*key)
        return self._written[key]

    @cached_property
    def _written(self) -> dict[tuple[bool, bool, bool], Expressions]:
        return {}

    def _write(self, independent: bool, checked: bool, refined: bool) -> Expressions:
        before, after = (ca.vertcat(SX(0, 1), *outputs.values()) for outputs in self.outputs)
        problem = replace(self.problem, dv=self.dv) if refined else self.problem
        values = outcome(problem, unrolled, independent, refined)
        values = replace(
            values,
            q=self.mechanism.symbols.q,
            geometry=self.geometry,
            outputs_minus=before,
            outputs_plus=ca.substitute(after, self.mechanism.symbols.v, values.v_plus),
        )
        contacts = [self.layout.slices[contact] for contact in self.layout.contacts]
        if self.regular_mass:
            values = replace(values, u_rounding=rounding_of_rows(problem, unrolled))
        # A v that is not finite shows in T_minus.
        sound = finite(ca.vertcat(self.mechanism.unproven, self.inputs[2]), unrolled)
        return Expressions(*completed(self.problem, values, unrolled, contacts, checked, sound, independent))

    def solver(self, checked: bool) -> Solver:
        """All numbers of an outcome, for states."""

        def build(independent: bool, refined: bool = False) -> tuple[dict[str, SX], SX]:
            found = self.expressions(independent, checked, refined)
            return found.masked(found.values.columns(KEPT)), found.doubtful(independent)

        again = Refined(lambda: self.numbers_only, self.dv, partial(build, False, refined=True))
        singular = None if self.definite is None else partial(self.definite.solver, checked)
        return Solver(self.inputs, build, self.problem.M, self.iterated, again, singular)

    @cached_property
    def _checked(self) -> Solver:
        return self.solver(checked=True)

    @cached_property
    def _unchecked(self) -> Solver:
        return self.solver(checked=False)

    @cached_property
    def layout(self) -> Layout:
        s, given = self.mechanism.symbols, self.mechanism.units
        units = {name: rate_unit(unit) if name in s.q_names else unit for name, unit in given.items()}
        constraints = tuple(
            ConstraintLayout(
                role.constraint.name,
                role.block.kind,
                role.constraint.row_names,
                role.constraint.scalar,
                isinstance(role.constraint, ContactConstraint),
                role.constraint.g is not None,
                role.constraint.units,
                role.block.law,
            )
            for role in self.roles
        )
        applied = tuple(f"impulse {name}" for name in self.applied)
        own = {name: unit for name, unit in given.items() if name in s.q_names}
        return Layout(
            tuple(s.v_names),
            constraints,
            applied,
            tuple(self.outputs[0]),
            units,
            tuple(s.q_names),
            own,
            tuple(self.mechanism.quaternions),
        )

    def assembled(self, state: tuple[Array, Array, Array], free: Sequence[int]) -> tuple[Array, Array]:
        """(q, largest |g|): the free coordinates moved so that the geometric rows hold, and by how much they do not."""
        if not self.geometry.numel():
            return state[0], np.zeros(state[0].shape[:-1])
        return assemble(assembler(self.inputs, self.geometry, free), state, free)

    @cached_property
    def _projector(self) -> Evaluator:
        """Its v_plus is v⁻ moved onto the rows that are on before; T_plus, T_way: energies of it and of the way."""
        M, moved = self.problem.M, outcome(prior_projection(self.problem), unrolled).v_plus
        energies = {"T_plus": moved, "T_way": moved - self.mechanism.symbols.v}
        return Evaluator(self.inputs, {"v_plus": moved} | {name: x.T @ M @ x / 2 for name, x in energies.items()})

    def without_rounding(self, q: Array, v: Array, energy: Array, parameters: Mapping[str, Any]) -> Array:
        """v, moved onto the rows that are on before where it misses them only by rounding.

        `energy`: `(*batch,)`, of the motions that v was computed from; its rounding may be much larger than that of v.
        """
        if not self.problem.of_kind(*BEFORE_KINDS):
            return v
        moved = self._projector(*self.state(q, v, parameters))
        rounding = moved["T_way"][..., 0] <= ROUNDING**2 * energy[..., None]
        rests = moved["T_plus"][..., 0] <= NOTHING**2 * energy[..., None]
        return np.where(rounding, np.where(rests, 0.0, moved["v_plus"][..., 0]), v)

    # Analysis

    @cached_property
    def analysis(self) -> Analysis:
        """What is prepared once for the methods below."""
        from jourdain.events.analysis import Analysis

        one_sided = self.layout.along("one_sided")
        if one_sided:
            raise BadEvent(
                f"The law of {listing(one_sided)} decides by the velocities, so there is no analysis and no closed "
                "form for all of them. Declare contacts inert or released, as the outcome says."
            )
        return Analysis(self)

    def _analysis_at(self, q: StateLike, parameters: Mapping[str, Any]) -> Analysis:
        self.analysis  # noqa: B018 (raises for events that have none)
        return self._at(self.state(q, None, parameters)).analysis

    def projectors(self, q: StateLike = None, parameters: Mapping[str, Any] = {}, **more: ArrayLike) -> Projectors:
        """P_c, P_a, P_R at a configuration, and what they make of the nonideal rows."""
        return self._analysis_at(q, {**parameters, **more}).projectors(q, {**parameters, **more})

    def directions(
        self,
        q: StateLike = None,
        point: PointLike | None = None,
        subspace: Sequence[Expression] | ArrayLike | None = None,
        axis: ArrayLike | Vector | None = None,
        parameters: Mapping[str, Any] = {},
        **more: ArrayLike,
    ) -> Directions:
        """The prior velocities that lose most and least: ξ falling, each with T = 1 J.

        They satisfy the rows that are on before. `subspace`: velocity names, or a matrix of columns, to look only at
        velocities that it contains. `point`: also the velocity of a point, and its angle from `axis` (default frame.y).
        """
        given = {**parameters, **more}
        return self._analysis_at(q, given).directions(q, point, subspace, axis, given)

    def phases(
        self,
        q: StateLike = None,
        v: StateLike = None,
        prefer: Sequence[Expression] = (),
        parameters: Mapping[str, Any] = {},
        **more: ArrayLike,
    ) -> Phases:
        """The privileged velocities of the prior, virtual and posterior phases, their maps and momenta."""
        given = {**parameters, **more}
        return self._analysis_at(q, given).phases(q, v, tuple(name_of(name) for name in prefer), given)

    def symbolic(self, simplify: bool = False, at: Mapping[Any, Any] = {}) -> ClosedForm:
        """The outcome in closed form, in SymPy; prior velocities are the symbols `<name>_minus`.

        Parameters
        ----------
        simplify
            Insert the rows that are on before, so that prior velocities which they determine do not appear, and look
            for the shortest formulas, with exact numbers and cos(α − β). Masses and lengths whose defaults are
            positive are taken to be positive. This takes longer.
        at
            What is inserted: {coordinate, parameter or prior velocity: number or expression}, as
            `{"m": 0, "phi": 2 * theta, "x_minus": 0}`. Masses may go to 0: the limit is taken.

        Returns
        -------
        ClosedForm
            `.v_plus`, `.impulse`, `.outputs_plus`, `.T_c_minus`, `.loss`, `.latex()`.

        Raises
        ------
        BadEvent
            Where M and the rows are too long, or rows are redundant.

        """
        from jourdain.events.formulas import closed_form, inserted_state

        self.analysis  # noqa: B018 (raises for events that have none)
        return closed_form(self, inserted_state(self.mechanism, self.parameters, at), simplify)

    # Derivatives

    def gradient(
        self,
        of: str,
        wrt: Expression | Iterable[Expression],
        q: StateLike = None,
        v: StateLike = None,
        check: bool = True,
        parameters: Mapping[str, Any] = {},
        **more: ArrayLike,
    ) -> dict[str, Array]:
        """Exact derivatives of a quantity, by what they are taken with respect to.

        `of`: "loss", "v_plus", "v_plus.theta", "impulse.heel.normal", …. `wrt`: "q", "v" (prior), "q.theta",
        "v.theta", parameters; one or several. A derivative has the shape of `of` followed by that of what it is taken
        by: `(*batch,)` for "loss" by a parameter, `(*batch, n_v, n_q)` for "v_plus" by "q".
        """
        from jourdain.events.gradient import EventGradient, names_in

        key = (of, names_in(wrt), check)
        if key not in self._gradients:
            self._gradients[key] = EventGradient(self, *key)
        state = self.state(q, v, {**named_values("parameters", parameters), **more})
        return self._gradients[key](state)

    @cached_property
    def rank_change(self) -> RankChange:
        """What tells states at which rows become redundant."""
        from jourdain.events.rank_change import RankChange

        return RankChange(self)

    @cached_property
    def _gradients(self) -> dict[Any, EventGradient]:
        return {}

    def function(self) -> ca.Function:
        """The jump map as a CasADi Function(q, v, p) → v_plus, impulse: p are the event's parameters in their order.

        Nothing is checked in it. Impulses are those of all rows, stacked as `impulse` in `to_dataset`.
        """
        if self.iterated is not None:
            raise BadEvent(
                f"The impulses of {listing(self.layout.along('one_sided'))}, in space and with friction, are found by "
                "iteration: there is no jump map of expressions. Use solve and gradient."
            )
        values = self.expressions().values
        outputs = [ca.densify(values.v_plus), ca.densify(values.impulse)]
        return ca.Function("jump", self.inputs, outputs, ["q", "v", "p"], ["v_plus", "impulse"], {"cse": True})

    def at(
        self,
        q: Mapping[Any, Expression] = {},
        v: Mapping[Any, Expression] = {},
        parameters: Mapping[Any, Expression] = {},
        energy: Expression | None = None,
        guess: Mapping[Any, float] = {},
        defaults: Mapping[Any, float] = {},
        units: Mapping[Any, str] = {},
        sketch: Sketch | None = None,
    ) -> Scenario:
        """The event at a pose and a prior velocity that depend on parameters: free symbols become its parameters.

        `q`, `v`: by coordinate and velocity, numbers or expressions in symbols (missing: 0). `parameters`: the event's
        own, expressed in others. `guess`: coordinates found near these numbers so that the geometric rows hold; `v` may
        be written in them, and their own rates, where `v` leaves them out, follow from the rows that are on before,
        quasi-velocities too. Rates that these rows (regular, live, released) do not determine raise BadEvent; where
        only special poses leave them open, NotFinite, which in a batch is the status NOT_FINITE.
        `energy`: v is scaled so that T_minus is this. `defaults`, `units`: of parameters. `sketch`: how it is drawn.
        """
        from jourdain.scenarios.builder import scenario

        return scenario(self, q, v, parameters, energy, guess, defaults, units, sketch)

    @prints
    def __repr__(self) -> str:
        kinds = [f"{role.constraint.name!r}: {role.block.kind}" for role in self.roles]
        return f"Event({names([*kinds, *(repr(f'impulse {name}') for name in self.applied)])})"

    def _repr_html_(self) -> str:
        from jourdain.mechanism.described import parameter_table

        return page("Event", [self.table, parameter_table(self.parameters, self.mechanism.units)])

    @property
    def table(self) -> Table:
        """Constraints, what becomes of them, their rows; impulses. For notebooks."""
        rows = [[role.constraint.name, repr(role.block.law) if role.block.law is not None else str(role.block.kind),
                 names(role.constraint.row_names)] for role in self.roles]  # fmt: skip
        return ("constraint", "is", "rows"), [*rows, *([name, "applied impulse", ""] for name in self.applied)]


def _without_rounding(C: SX, ones: Sequence[SX]) -> SX:
    """C with rows that are nothing but rounding set to zero: sin π is 1e-16. `ones`: see `magnitudes`."""
    rows = []
    for row in ca.vertsplit(C):
        entries = [entry for entry in ca.horzsplit(row) if entry.nnz()]
        sizes = [] if any(entry.is_constant() for entry in entries) else magnitudes(entries, ones)
        if sizes and all(size.cancels for size in sizes):
            pairs = zip(entries, sizes, strict=True)
            row = ca.if_else(unrolled.every(ca.vertcat(*(ca.fabs(x) <= NOISE * m.size for x, m in pairs))), 0, row)
        rows.append(row)  # NaN stays NaN
    return ca.sparsify(ca.vertcat(SX(0, C.shape[1]), *rows))
