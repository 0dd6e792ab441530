"""A mechanism that moves, lands and lifts: topologies and the switches between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import casadi as ca
import numpy as np
from casadi import SX
from numpy.typing import ArrayLike

from jourdain.compute.evaluate import Evaluator
from jourdain.compute.fallback import FastThenRobust
from jourdain.errors import BadEvent, NotConverged, NotFinite, listing, unknown
from jourdain.inputs import Array, Expression, ParameterLike, StateLike, number, parameter_vector
from jourdain.mechanism.constraint import Constraint, ConstraintLike
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.singular import is_singular
from jourdain.mechanism.sketch import Sketch
from jourdain.motion.dynamics import Dynamics
from jourdain.motion.flow import Flow, Stop
from jourdain.motion.forces import Drive, Force, given_number, total_forces
from jourdain.motion.guards import Switch, guard_expressions, guard_kind
from jourdain.motion.jump import Jump
from jourdain.motion.locate import Indices
from jourdain.motion.settings import Method, Settings
from jourdain.naming import Origin, name_of
from jourdain.output.printable import prints
from jourdain.output.tables import names, page

if TYPE_CHECKING:
    from jourdain.algebra.closed_form import ClosedForm
    from jourdain.motion.basin import Basin
    from jourdain.motion.continuation import Branch
    from jourdain.motion.gait import Gait
    from jourdain.motion.trajectory import Trajectory

StatePair: TypeAlias = tuple[StateLike, StateLike]  # q, v


class Hybrid:
    """A mechanism with topologies (name → constraints that are on) and switches between them.

    `forces`: {velocity: generalized force} besides the mechanism's own, an expression or a function of (t, q, v), which
    is slow. `drive`: {parameter in the mechanism's loads: its course}, in the same forms. Parameters are those of the
    mechanism and of the events; `defaults` changes their values. By default
    `gait` starts from `near` and `simulate` from `start`, each a (q, v), and goes on `until` a time, s. `sketch`: how
    it is drawn.

    >>> import casadi as ca, jourdain as jd
    >>> z, w = ca.SX.sym("z"), ca.SX.sym("w")
    >>> ball = jd.Mechanism.from_casadi(z, w, ca.SX.eye(1), potential=9.81 * z)
    >>> floor = ball.constraint("floor", z, level="position")
    >>> bounce = jd.Switch("flight", "flight", guard=floor, event=ball.event(elastic={floor: 0.5}))
    >>> run = jd.Hybrid(ball, {"flight": []}, [bounce]).simulate([1.0], until=1.0)
    >>> [round(event.t, 6) for event in run.events], run.energy.ledger["floor"]
    ([0.451524, 0.903047], -9.196875)
    """

    def __init__(
        self,
        mechanism: Mechanism,
        topologies: Mapping[str, Iterable[ConstraintLike]],
        switches: Sequence[Switch] = (),
        forces: Mapping[Any, Expression] = {},
        defaults: Mapping[Any, float] = {},
        near: StatePair | None = None,
        start: StatePair | None = None,
        until: float = 10.0,
        sketch: Sketch | None = None,
        drive: Mapping[Any, Drive] = {},
    ) -> None:
        self.mechanism = mechanism
        if not isinstance(topologies, Mapping) or not topologies:
            raise BadEvent("topologies is a dict {name: [constraints that are on]}, with one entry at least.")
        self.topologies: dict[str, tuple[Constraint, ...]] = {}
        for topology, constraints in topologies.items():
            given = [mechanism.find_constraint(constraint) for constraint in constraints]
            self.topologies[topology] = (*given, *mechanism.always(given))
        self.switches = tuple(switches)
        self._check_switches()
        self.parameters = self._all_parameters({name_of(key): float(value) for key, value in defaults.items()})
        self._forces = total_forces(mechanism, forces, drive)
        self.near, self.start, self.until, self.sketch = near, near if start is None else start, until, sketch
        if sketch is not None:
            sketch.refuse_strange_points(mechanism)
        self.origin: Origin | None = None  # the problem of the gallery that it is
        self._flows: dict[str, FastThenRobust[Flow]] = {}
        self._jumps: dict[Switch, Jump] = {}

    def _check_switches(self) -> None:
        """Raise for a topology that does not exist, and for an event of another mechanism."""
        for switch in self.switches:
            for name in (switch.source, switch.target):
                if name is not None and name not in self.topologies:
                    raise unknown("topology", name, self.topologies)
            if switch.event is not None and switch.event.mechanism is not self.mechanism:
                raise BadEvent(f"The event of the switch from '{switch.source}' is one of another mechanism.")

    def _all_parameters(self, defaults: Mapping[str, float]) -> dict[str, float | None]:
        """Parameters of the mechanism and of the events, with their values by default."""
        parameters: dict[str, float | None] = {**self.mechanism.parameters}
        for switch in self.switches:
            if switch.event is not None:
                parameters |= {k: v for k, v in switch.event.parameters.items() if k not in parameters and k != "t"}
        for name in defaults:
            if name not in parameters:
                raise unknown("parameter", name, parameters)
        return {**parameters, **defaults}

    @property
    def functions(self) -> Mapping[str, Force]:
        """Python functions that give forces or drive parameters, by what they give."""
        return self._forces.functions

    @property
    def n_q(self) -> int:
        return len(self.mechanism.symbols.q_names)

    @property
    def n_v(self) -> int:
        return len(self.mechanism.symbols.v_names)

    def simulate(
        self,
        q: StateLike = None,
        v: StateLike = None,
        until: float | None = None,
        topology: str | None = None,
        rtol: float = 1e-10,
        atol: float | None = None,
        max_events: int = 10_000,
        method: Method = "explicit",
        progress: bool | None = None,
        **parameters: ParameterLike,
    ) -> Trajectory:
        """Motion from a state on: flow, guards, events, until a time is reached.

        `topology`: the one to start in; the first if not given. `q`, `v`: as for `Event.solve`; if neither is given,
        those of `start`, moved onto the constraints. `atol`: as `rtol` if not given. `method`: explicit Runge–Kutta
        steps of order 8, compiled; or SciPy's "Radau" or "BDF", for stiff forces. `progress`: None shows a bar when
        it takes long.
        """
        from jourdain.motion.simulate import simulate

        if q is None and v is None and self.start is not None:
            q, v = self._default_start(topology, parameters)
        settings, end = Settings(rtol, rtol if atol is None else atol, method), self.until if until is None else until
        return simulate(self, q, v, end, self.first(topology), max_events, settings, parameters, progress)

    def gait(
        self,
        near: StatePair | Gait | None = None,
        steps: int = 1,
        topology: str | None = None,
        rtol: float = 1e-12,
        atol: float = 1e-12,
        **parameters: ParameterLike,
    ) -> Gait:
        """The periodic motion near a state (q, v), or near another gait: a fixed point of the map of `steps` steps.

        A step ends when its topology is entered again. Its state is that just after the event and relabelling.
        """
        from jourdain.motion.gait import StepMap, check_not_driven, state_near

        near = self.near if near is None else near
        if near is None:
            raise BadEvent("near is a state (q, v) from which the gait is looked for; give one.")
        if not isinstance(steps, int) or steps < 1:
            raise BadEvent(f"steps is how many steps the gait has, 1 or more, not {steps!r}.")
        settings, p = Settings(rtol, atol), self.parameter_array(parameters)
        if self.functions:
            raise BadEvent("A gait needs derivatives of all forces; give them as expressions, not as Python functions.")
        x, step_map = state_near(self, near), StepMap(self, self.first(topology), steps, settings)
        check_not_driven(self)
        return step_map.fixed_point(x, p)

    def continuation(
        self, gait: Gait, rtol: float = 1e-12, atol: float = 1e-12, progress: bool | None = None, **values: ArrayLike
    ) -> Branch:
        """The branch of gaits through one, over the range of a parameter: `continuation(gait, slope=np.linspace(…))`.

        It is followed by arclength, round folds; gaits at the given values are on it (`missing`: those that it does not
        reach), and flips and folds are located.
        """
        from jourdain.motion.continuation import follow_branch

        settings = Settings(rtol, atol)
        if gait.hybrid is not self:
            raise BadEvent("The gait is one of another system.")
        if len(values) != 1:
            raise BadEvent(f"A branch is followed over one parameter, given by its values, not over {listing(values)}.")
        ((name, numbers),) = values.items()
        if name not in self.parameters:
            raise unknown("parameter", name, self.parameters)
        return follow_branch(self, gait, name, number(f"values of '{name}'", numbers), settings, progress)

    def basin(
        self,
        gaits: Gait | Sequence[Gait],
        q: StateLike = None,
        v: StateLike = None,
        steps: int = 100,
        rtol: float = 1e-8,
        atol: float = 1e-8,
        progress: bool | None = None,
    ) -> Basin:
        """Which gait each of many starts comes to: `basin(gait, q={"theta": θ[:, None]}, v={"theta": ω})`.

        `q`, `v`: dicts of arrays that broadcast against each other; entries that are not named are those of the first
        gait. Starts lie in its topology. `steps`: at most, before a start is left undecided.
        """
        from jourdain.motion.basin import find_basin
        from jourdain.motion.gait import Gait

        targets = [gaits] if isinstance(gaits, Gait) else list(gaits)
        return find_basin(self, targets, q, v, steps, Settings(rtol, atol), progress)

    def symbolic(self, switch: Switch, at: Mapping[Any, Any] = {}, simplify: bool = True) -> ClosedForm:
        """What a switch does in closed form, in SymPy: its event, then relabelling, at its guard.

        Parameters
        ----------
        switch
            One of `switches`, with an event.
        at
            What is inserted, as in `Event.symbolic`: `{"m": 0, "phi": 2 * theta}`. Coordinates that the guard and the
            geometry of the topology before determine linearly are inserted by themselves.
        simplify
            Insert the constraints that are on before, and look for the shortest formulas.

        Returns
        -------
        ClosedForm
            `.v_plus` and `.q_plus` are those after relabelling; impulses, `T_c_minus` and `loss` those of the event.

        Raises
        ------
        BadEvent
            Where the switch has no event, or `at` contradicts its guard.

        """
        from jourdain.motion.symbolic import jump_formulas

        if switch not in self.switches:
            raise BadEvent("The switch is not one of this system; give one of its `switches`.")
        return jump_formulas(self, switch, at, simplify)

    def first(self, topology: str | None) -> str:
        """A topology by name; the first if none is given."""
        if topology is None:
            return next(iter(self.topologies))
        if topology not in self.topologies:
            raise unknown("topology", topology, self.topologies)
        return topology

    def project(
        self,
        q: StateLike = None,
        v: StateLike = None,
        topology: str | None = None,
        hold: Iterable[Expression] = (),
        **parameters: ParameterLike,
    ) -> tuple[Array, Array]:
        """(q, v) moved onto the constraints of a topology: q by Newton's method, v M-orthogonally.

        `hold`: coordinates that keep their value.
        """
        m, held = self.mechanism, self.topologies[self.first(topology)]
        p = self.parameter_array(parameters)
        known = dict(zip(m.symbols.p_names, map(float, self.mechanism_parameters(p)), strict=True))
        geometric = [c for c in held if c.g is not None]
        placed = m.assemble(q, hold=[*geometric, *hold], **known) if geometric else m.coordinates(q)
        if not held:
            return placed, m.velocities(v)
        return placed, m.event(inert=held).solve(placed, v, check=False, parameters=known).v_plus

    def _default_start(self, topology: str | None, parameters: Mapping[str, Any]) -> tuple[Array, Array]:
        """`start`, on the constraints: coordinates that it names keep their values where that is possible."""
        assert self.start is not None
        q, v = self.start
        try:
            return self.project(q, v, topology, q if isinstance(q, Mapping) else (), **parameters)
        except NotConverged:
            return self.project(q, v, topology, **parameters)

    # Numbers and flows

    def parameter_array(self, given: Mapping[str, Any]) -> Array:
        """All parameters, `(n,)`, in the order of `parameters`."""
        columns = parameter_vector(self.parameters, given)
        for name, value in zip(self.parameters, columns, strict=True):
            if np.ndim(value):
                raise BadEvent(f"Parameter '{name}' of a simulation is one number, not an array.")
            if not np.isfinite(value):
                raise NotFinite(f"Parameter '{name}' is {value}; every number must be finite.")
        return np.array(columns, dtype=float)

    @cached_property
    def mechanism_places(self) -> Indices:
        """Where the parameters of the mechanism stand among all."""
        names = list(self.parameters)
        return np.array([names.index(name) for name in self.mechanism.symbols.p_names], dtype=np.int64)

    def mechanism_parameters(self, parameters: Array) -> Array:
        """The parameters of the mechanism, `(…, n_p)`, from all of them."""
        return np.asarray(parameters[..., self.mechanism_places])

    def inputs(self, y: Array, p: Array) -> Array:
        """What a flow depends on besides its states `y (…, n)`: the mechanism's parameters, forces by functions."""
        flat, known = y.reshape(-1, y.shape[-1]), self.mechanism_parameters(p)
        given = [[given_number(what, function, state[0], *self.state(state))
                  for what, function in self.functions.items()] for state in flat]  # fmt: skip
        numbers = np.hstack([np.broadcast_to(known, (len(flat), len(known))), np.reshape(given, (len(flat), -1))])
        return numbers.reshape(*y.shape[:-1], -1)

    def flow_at(self, topology: str, y: Array, p: Array) -> Flow:
        """The flow of a topology that holds at all these states: the fast one where its rows are independent."""
        flows = self.flows(topology)
        stop = flows.fast.inspect(y, self.inputs(y, p))["stop"]
        return flows.robust if (stop == Stop.DEPENDENT).any() else flows.fast

    def flows(self, topology: str) -> FastThenRobust[Flow]:
        """The motion in one topology, with the guards of the switches that leave it."""
        if topology not in self._flows:
            self._flows[topology] = FastThenRobust(partial(self._flow, topology))
        return self._flows[topology]

    @cached_property
    def _singular(self) -> bool:
        return is_singular(self.mechanism, self.parameters)

    def _flow(self, topology: str, independent: bool) -> Flow:
        dynamics = Dynamics(
            self.mechanism,
            self.topologies[topology],
            self._forces.total,
            self._forces.given,
            independent,
            self._singular,
        )
        guards = [guard_expressions(switch, self.mechanism, dynamics) for switch in self.leaving(topology)]
        column = ca.vertcat(SX(0, 1), *(part for guard in guards for part in guard))
        return Flow(dynamics, column, tuple(guard_kind(switch) for switch in self.guard_owners(topology)))

    def jump(self, switch: Switch) -> Jump:
        """What a switch does to the state."""
        if switch not in self._jumps:
            self._jumps[switch] = Jump(self, switch)
        return self._jumps[switch]

    @property
    def held(self) -> dict[str, Constraint]:
        """Constraints that are on in some topology, by name."""
        return {c.name: c for constraints in self.topologies.values() for c in constraints}

    def leaving(self, topology: str) -> list[Switch]:
        return [switch for switch in self.switches if switch.source == topology]

    def guard_owners(self, topology: str) -> list[Switch]:
        """The switch of each guard of a flow: one that goes either way has two."""
        return [switch for switch in self.leaving(topology) for _ in range(2 if switch.direction == 0 else 1)]

    def state(self, y: Array) -> tuple[Array, Array]:
        """(q, v) of y = (t, q, v, w), `(…, n)`."""
        return y[..., 1 : 1 + self.n_q], y[..., 1 + self.n_q : 1 + self.n_q + self.n_v]

    def energies(self, y: Array, parameters: Array) -> Array:
        """Kinetic and potential energy of states `(times, n)`, J, `(times, 2)`."""
        p = np.broadcast_to(self.mechanism_parameters(parameters), (len(y), len(self.mechanism_places)))
        return np.asarray(self._energies(y[:, :1], *self.state(y), p)["energies"][..., 0])

    @cached_property
    def _energies(self) -> Evaluator:
        m, s = self.mechanism, self.mechanism.symbols
        kinetic = s.v.T @ m.M @ s.v / 2
        potential = SX(0) if m.loads.potential is None else m.loads.potential
        return Evaluator([s.t, s.q, s.v, s.p], {"energies": ca.vertcat(kinetic, potential)})

    @prints
    def __repr__(self) -> str:
        return f"Hybrid(topologies={list(self.topologies)}, parameters=[{names(self.parameters)}])"

    def _repr_html_(self) -> str:
        from jourdain.mechanism.described import mechanism_table, parameter_table

        on = [[name, names(map(name_of, listed)) or "nothing"] for name, listed in self.topologies.items()]
        switches = [[f"{one.source} → {one.target or 'the end'}", one.name] for one in self.switches]
        parameters = parameter_table(self.parameters, self.mechanism.units)
        tables = [
            (("topology", "what is on"), on),
            (("switch", ""), switches),
            parameters,
            mechanism_table(self.mechanism),
        ]
        return page("Hybrid", tables)
