"""A scenario: an event at a pose and a prior velocity that depend on parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from casadi import SX
from numpy.typing import ArrayLike

from jourdain.algebra.checks import TOLERANCE
from jourdain.algebra.contacts.iteration import Iterated
from jourdain.algebra.problem import Problem
from jourdain.compute.evaluate import Evaluator
from jourdain.data.layout import Entry
from jourdain.errors import BadEvent, Error, NotConverged, NotFinite, Status, listing
from jourdain.events.event import Event
from jourdain.events.solver import Refined, Solver
from jourdain.events.transition import Transition
from jourdain.inputs import (
    Array,
    Expression,
    FilePath,
    Flags,
    State,
    Statuses,
    broadcast_shape,
    named_values,
    parameter_vector,
)
from jourdain.mechanism.symbols import PointLike
from jourdain.naming import Origin
from jourdain.output.printable import prints
from jourdain.output.tables import names, page

if TYPE_CHECKING:
    import pandas
    import xarray
    from sympy.physics.mechanics import Vector

    from jourdain.algebra.closed_form import ClosedForm
    from jourdain.algebra.directions import Directions
    from jourdain.algebra.privileged import Phases
    from jourdain.algebra.projectors import Projectors
    from jourdain.events.gradient import ScenarioGradient
    from jourdain.mechanism.sketch import Sketch
    from jourdain.scenarios.optimum import BoundsLike, Optimum


def undetermined_rates(names: Iterable[str]) -> str:
    """The message about rates of guessed coordinates that nothing determines."""
    return (
        f"v leaves out {listing(names)}, on which the rates of guessed coordinates depend, and the rows that are on "
        "before (regular, live, released) do not determine what it leaves out; give it in v."
    )


@dataclass(frozen=True)
class Pose:
    """The inputs of a scenario's expressions: parameters, then guessed coordinates."""

    columns: Sequence[Array | float]  # each broadcasts to `batch`
    batch: tuple[int, ...]
    arrived: Flags | None  # whether guessed coordinates were found, `(*batch,)`; None if there are none

    def judged(self, status: Statuses) -> Statuses:
        """The status, which knows of lanes whose guess did not arrive."""
        return status if self.arrived is None else np.where(self.arrived, status, np.int8(Status.NOT_CONVERGED))


@dataclass(frozen=True, eq=False)
class Scenario:
    """An event at q(parameters), v(parameters). `parameters` lists them with their defaults (None: must be given)."""

    event: Event
    parameters: Mapping[str, float | None]
    symbols: Mapping[str, SX]  # of the parameters
    q: SX  # (n_q, 1), in the parameters
    v: SX  # (n_v, 1)
    event_parameters: SX  # in the order of the event's own
    energy: SX | None  # what T_minus is scaled to
    guessed: Mapping[str, SX]  # coordinates solved from the geometric rows, and what stands for them in v
    following: tuple[str, ...]  # velocities that follow from the rows that are on before; NaN where open
    units: Mapping[str, str]
    sketch: Sketch | None = None  # how it is drawn
    origin: Origin | None = None  # the problem of the gallery that it is

    def solve(self, check: bool | str = True, parameters: Mapping[str, Any] = {}, **more: ArrayLike) -> Transition:
        """The outcome for these parameters; each may be an array, and they broadcast."""
        pose = self.pose({**named_values("parameters", parameters), **more})
        q, v, p = self._state(pose)
        outcome = self.event.solve(q, v, check, parameters=self._own(p))
        return outcome if pose.arrived is None else outcome.judged(pose.judged)

    def sweep(
        self,
        *,
        samples: Mapping[Any, ArrayLike] | pandas.DataFrame | None = None,
        keep: Sequence[str] | None = None,
        progress: bool | None = None,
        **axes: ArrayLike,
    ) -> xarray.Dataset:
        """Outcomes over a grid that the keywords span, as labelled data; a single number fixes its parameter.

        `samples`: a dict of equally long arrays, or a DataFrame: one dimension `sample`. `keep`: which quantities,
        as in "loss", "v_plus", "impulse.heel.normal"; all if not given. `progress`: a bar; if not given, when it
        takes long and someone watches. An event that fails has NaN and a `status`.
        """
        from jourdain.scenarios.sweep import sweep

        return sweep(self, axes, samples, keep, progress)

    def gradient(
        self, of: str, wrt: Expression | Iterable[Expression], parameters: Mapping[str, Any] = {}, **at: ArrayLike
    ) -> dict[str, Array]:
        """Exact derivatives of a quantity with respect to parameters, by name; see `Event.gradient`."""
        from jourdain.events.gradient import names_in, shaped

        found = self.gradient_of((of,), names_in(wrt))
        _, J, _ = found({**named_values("parameters", parameters), **at})
        return shaped(J, found.entries[0], found.variables)

    def gradient_of(self, of: tuple[str, ...], wrt: tuple[str, ...]) -> ScenarioGradient:
        """Values and derivatives of some quantities, prepared once."""
        from jourdain.events.gradient import ScenarioGradient

        if (of, wrt) not in self._gradients:
            self._gradients[of, wrt] = ScenarioGradient(self, of, wrt)
        return self._gradients[of, wrt]

    def minimize(
        self,
        of: str,
        over: Mapping[Any, BoundsLike],
        subject_to: Mapping[str, BoundsLike] = {},
        starts: int = 8,
        **fixed: float,
    ) -> Optimum:
        """The parameters within bounds for which a quantity is least, from several starts, with exact derivatives.

        `over`: parameter → (least, largest). `subject_to`: quantity → (least, largest); None leaves a side open.
        """
        from jourdain.scenarios.optimum import minimize

        return minimize(self, of, over, subject_to, starts, fixed, sign=1.0)

    def maximize(
        self,
        of: str,
        over: Mapping[Any, BoundsLike],
        subject_to: Mapping[str, BoundsLike] = {},
        starts: int = 8,
        **fixed: float,
    ) -> Optimum:
        """As `minimize`, for the largest value."""
        from jourdain.scenarios.optimum import minimize

        return minimize(self, of, over, subject_to, starts, fixed, sign=-1.0)

    # Analysis at the scenario's pose, see `Event`

    def projectors(self, parameters: Mapping[str, Any] = {}, **more: ArrayLike) -> Projectors:
        """P_c, P_a, P_R, and what they make of the nonideal rows."""
        q, _, own = self._named_state(parameters, more)
        return self.event.projectors(q, parameters=own)

    def directions(
        self,
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
        q, _, own = self._named_state(parameters, more)
        return self.event.directions(q, point, subspace, axis, parameters=own)

    def phases(self, prefer: Sequence[Any] = (), parameters: Mapping[str, Any] = {}, **more: ArrayLike) -> Phases:
        """The privileged velocities of the prior, virtual and posterior phases, their maps and momenta."""
        q, v, own = self._named_state(parameters, more)
        return self.event.phases(q, v, prefer, parameters=own)

    def symbolic(self, simplify: bool = True, at: Mapping[Any, Any] = {}) -> ClosedForm:
        """The outcome in closed form, in the scenario's parameters: pose and prior velocity are inserted.

        Parameters
        ----------
        simplify
            Look for the shortest formulas; False leaves them as they come, which is quicker.
        at
            What is inserted: {parameter: number or expression}, as `{"omega": 0, "phi": 2 * theta}`. Masses may go
            to 0: the limit is taken.

        Returns
        -------
        ClosedForm
            `.v_plus`, `.impulse`, `.outputs_plus`, `.T_c_minus`, `.loss`, `.latex()`.

        Raises
        ------
        BadEvent
            Where coordinates are found near a guess, M and the rows are too long, or rows are redundant.

        """
        from jourdain.scenarios.symbolic import closed_form

        if self.guessed:
            raise BadEvent(f"{listing(self.guessed)} are found near a guess and have no formula; use event.symbolic().")
        if None not in self.parameters.values():
            self.solve()  # raises where the prior velocity misses a row that is on before
        return closed_form(self.event, self._expressions, self.inputs[0], list(self.parameters), at, simplify)

    def report(
        self,
        path: FilePath,
        title: str = "",
        check: bool | str = True,
        parameters: Mapping[str, float] = {},
        **more: float,
    ) -> None:
        """Solve the event and write one page of HTML that needs nothing else, to hand to others.

        It holds what was asked, a drawing, the outcome with units, figures, what changes the loss most, and the script
        that makes it.

        Parameters
        ----------
        path : str or Path
            Where to write it; it ends in .html. The file is there in full or not at all.
        title : str
            The title of the page; by itself the name in the gallery.
        check : bool or "project"
            As for `solve`.
        parameters : mapping
            Parameters, as for `solve`.
        **more : float
            Parameters by name.

        Raises
        ------
        ShapeError
            If a parameter is an array: a report shows one event.
        CannotWrite
            If no such file can be written.

        Examples
        --------
        >>> import tempfile, pathlib, jourdain as jd
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     jd.gallery.walker().report(f"{folder}/walker.html", theta=0.7)
        ...     pathlib.Path(folder, "walker.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
        True

        """
        from jourdain.reports.events import scenario_report
        from jourdain.reports.template import check_page, write_page

        check_page(path)
        given = {**named_values("parameters", parameters), **more}
        page = scenario_report(self, self.solve(check, parameters=given), given, title, check)
        write_page(page.html(), path)

    # What the event sees

    def pose(self, parameters: Mapping[str, Any]) -> Pose:
        """The numbers that decide the event, guessed coordinates found."""
        columns = parameter_vector(self.parameters, parameters)
        batch = broadcast_shape(columns)
        if not self.guessed:
            return Pose(columns, batch, None)
        start, _ = self._first.over(columns, batch)  # q with the guess, and the event's parameters
        q, p = start["q"][..., 0], start["p"][..., 0]
        names = self.event.mechanism.symbols.q_names
        still = np.zeros((*batch, len(self.event.mechanism.symbols.v_names)))
        places = [names.index(name) for name in self.guessed]
        q, missed = self.event.assembled((q, still, p), places)
        arrived = missed <= TOLERANCE
        if not batch and np.isfinite(missed) and not arrived:
            raise NotConverged(
                f"No {listing(self.guessed)} near the guess satisfies the geometric rows: {missed:.1e} remains. "
                "Guess closer, or check that the pose exists."
            )
        found = np.where(arrived[..., None], q[..., places], np.nan)
        return Pose([*columns, *np.moveaxis(found, -1, 0)], batch, ~np.isfinite(missed) | arrived)

    def state(self, parameters: Mapping[str, Any]) -> State:
        """q, v and the event's parameters, each `(*batch, n)`."""
        return self._state(self.pose(parameters))

    def _named_state(
        self, parameters: Mapping[str, Any], more: Mapping[str, Any]
    ) -> tuple[Array, Array, dict[str, Array]]:
        q, v, p = self.state({**named_values("parameters", parameters), **more})
        return q, v, self._own(p)

    def _own(self, p: Array) -> dict[str, Array]:
        """The event's parameters by name."""
        return {name: p[..., i] for i, name in enumerate(self.event.parameters)}

    def _state(self, pose: Pose) -> State:
        """q, v and the event's parameters, each `(*batch, n)`."""
        values, _ = self._composition.over(pose.columns, pose.batch)
        q, v, p = (values[name][..., 0] for name in ("q", "v", "p"))
        if (
            not pose.batch
            and np.isfinite(np.array(pose.columns, dtype=float)).all()
            and not np.isfinite([*q, *p]).all()
        ):
            lost = {name for name, value in zip(self.event.parameters, p, strict=True) if not np.isfinite(value)}
            if lost:
                raise NotFinite(f"{listing(sorted(lost))} cannot be computed from these parameters; change them.")
            named = zip(self.event.mechanism.symbols.q_names, q, strict=True)
            nowhere = listing(name for name, value in named if not np.isfinite(value))
            raise NotFinite(
                f"There is no such pose: {nowhere} cannot be computed (out of reach?). Change the parameters."
            )
        no_velocity = v.ndim == 1 and np.isfinite([*q, *p]).all() and not np.isfinite(v).all()
        if no_velocity and self._open(pose):
            raise NotFinite(undetermined_rates(self.following))
        if no_velocity and self.energy is not None:
            raise BadEvent("The prior velocity cannot be scaled to this energy: it is zero, or the energy is negative.")
        return q, v, p

    def _open(self, pose: Pose) -> bool:
        """Whether, at one pose, the velocities that follow from rows are not determined and the others are finite."""
        unscaled = Evaluator(self.inputs, {"v": self.v}).over(pose.columns, pose.batch)[0]["v"][..., 0]
        following = np.isin(self.event.mechanism.symbols.v_names, self.following)
        return bool(following.any() and np.isnan(unscaled[following]).all() and np.isfinite(unscaled[~following]).all())

    def refusal(self, status: Status, parameters: Mapping[str, Any]) -> Error:
        """Why one event has no numbers."""
        return self.event.refusal(status, self.state(parameters))

    @cached_property
    def inputs(self) -> tuple[SX, ...]:
        """The columns of parameters and of guessed coordinates that the scenario is written in."""
        return tuple(ca.vertcat(SX(0, 1), *symbols.values()) for symbols in (self.symbols, self.guessed))

    @cached_property
    def _expressions(self) -> tuple[SX, SX, SX]:
        """q, v and the event's parameters in the inputs."""
        mechanism, q = self.event.mechanism, SX(self.q)
        for name, symbol in self.guessed.items():
            q[mechanism.symbols.q_names.index(name)] = symbol
        v, p = self.v, self.event_parameters
        if self.energy is not None:
            (M,) = ca.Function("M", self.event.inputs, [mechanism.M]).call([q, v, p])
            v = v * ca.sqrt(self.energy / (v.T @ M @ v / 2))
        return q, v, p

    def composed(self, expressions: Sequence[SX]) -> list[SX]:
        """Expressions of the event written in the scenario's inputs; what is constant there is worked out."""
        symbols = [self.event.dv] if self.event.iterated is None else [self.event.dv, self.event.iterated.found]  # stay
        function = ca.Function("event", [*self.event.inputs, *symbols], [SX(expression) for expression in expressions])
        return [ca.sparsify(SX(e)) for e in function.call([*self._expressions, *symbols])]

    @cached_property
    def iterated(self) -> Iterated | None:
        """See `Event.iterated`, written in the scenario's inputs."""
        if self.event.iterated is None:
            return None
        return replace(self.event.iterated, asked=ca.densify(self.composed([self.event.iterated.asked])[0]))

    @cached_property
    def _first(self) -> Evaluator:
        return Evaluator([self.inputs[0]], {"q": self.q, "p": self.event_parameters})

    @cached_property
    def _composition(self) -> Evaluator:
        return Evaluator(self.inputs, dict(zip(("q", "v", "p"), self._expressions, strict=True)))

    @cached_property
    def _gradients(self) -> dict[Any, ScenarioGradient]:
        return {}

    def solver(self, entries: Mapping[str, Entry]) -> Solver:
        """Some quantities as functions of the parameters, by name; made once for each choice."""
        key = tuple(entries)
        if key not in self._solvers:

            def build(independent: bool, refined: bool = False) -> tuple[dict[str, SX], SX]:
                found = self.event.expressions(independent, refined=refined)
                chosen = found.masked({variable: found.entry(entry) for variable, entry in entries.items()})
                *outputs, verdict = self.composed([*chosen.values(), found.doubtful(independent)])
                return dict(zip(chosen, outputs, strict=True)), verdict

            def problem() -> Problem[SX]:
                return self.event.numbers_only.changed(lambda array: self.composed([array])[0])

            (M,) = self.composed([self.event.problem.M])
            again = Refined(problem, self.event.dv, partial(build, False, refined=True))
            singular = None if self.definite is None else partial(self.definite.solver, entries)
            self._solvers[key] = Solver(self.inputs, build, M, self.iterated, again, singular)
        return self._solvers[key]

    @cached_property
    def definite(self) -> Scenario | None:
        """The same of `Event.definite`."""
        return None if self.event.definite is None else replace(self, event=self.event.definite)

    @cached_property
    def _solvers(self) -> dict[tuple[str, ...], Solver]:
        return {}

    @prints
    def __repr__(self) -> str:
        given = (name if value is None else f"{name}={value:g}" for name, value in self.parameters.items())
        return f"Scenario({names(given)})"

    def _repr_html_(self) -> str:
        from jourdain.mechanism.described import parameter_table

        return page("Scenario", [parameter_table(self.parameters, self.units), self.event.table])
