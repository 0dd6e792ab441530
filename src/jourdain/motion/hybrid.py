"""A mechanism that moves, lands and lifts: topologies, switches between them, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import casadi as ca
import numpy as np
from casadi import SX
from numpy.typing import ArrayLike

from jourdain.compute.evaluate import Evaluator
from jourdain.errors import BadEvent, NotConverged, NotFinite, listing, unknown
from jourdain.inputs import Array, Expression, ParameterLike, StateLike, number, parameter_vector
from jourdain.mechanism.constraint import Constraint, ConstraintLike
from jourdain.mechanism.mechanism import Mechanism
from jourdain.mechanism.sketch import Sketch
from jourdain.motion.dynamics import Dynamics
from jourdain.motion.flow import Flow
from jourdain.motion.guards import Switch, guard_expressions, guard_kind
from jourdain.naming import name_of

if TYPE_CHECKING:
    from jourdain.motion.basin import Basin
    from jourdain.motion.continuation import Branch
    from jourdain.motion.gait import Gait
    from jourdain.motion.jump import Jump
    from jourdain.motion.steps import Force
    from jourdain.motion.trajectory import Trajectory

Method = Literal["explicit", "Radau", "BDF"]


class Hybrid:
    """A mechanism with topologies (name → constraints that are on) and switches between them.

    `forces`: {velocity: generalized force} besides the mechanism's own, an expression or a function of (t, q, v), which
    is slow. Parameters are those of the mechanism and of the events; `defaults` changes their values. Where nothing
    else is said, `gait` starts from `near` and `simulate` from `start`, each a (q, v), and goes on `until` a time, s.
    `sketch`: how it is drawn.

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
        near: tuple[StateLike, StateLike] | None = None,
        start: tuple[StateLike, StateLike] | None = None,
        until: float = 10.0,
        sketch: Sketch | None = None,
    ) -> None:
        self.mechanism = mechanism
        if not isinstance(topologies, Mapping) or not topologies:
            raise BadEvent("topologies is a dict {name: [constraints that are on]}, with one entry at least.")
        self.topologies: dict[str, tuple[Constraint, ...]] = {}
        for topology, several in topologies.items():
            given = [mechanism.find_constraint(one) for one in several]
            self.topologies[topology] = (*given, *mechanism.always(given))
        self.switches = tuple(switches)
        for switch in self.switches:
            for name in (switch.source, switch.target):
                if name is not None and name not in self.topologies:
                    raise unknown("topology", name, self.topologies)
            if switch.event is not None and switch.event.mechanism is not mechanism:
                raise BadEvent(f"The event of the switch from '{switch.source}' is one of another mechanism.")
        own = {name_of(key): float(value) for key, value in defaults.items()}
        self.parameters: dict[str, float | None] = {**mechanism.parameters}
        for switch in self.switches:
            if switch.event is not None:
                self.parameters |= {
                    k: v for k, v in switch.event.parameters.items() if k not in self.parameters and k != "t"
                }
        for name in own:
            if name not in self.parameters:
                raise unknown("parameter", name, self.parameters)
        self.parameters |= own
        self._applied, self._given, self.functions = self._generalized(forces)
        self.near, self.start, self.until, self.sketch = near, near if start is None else start, until, sketch
        if sketch is not None:
            sketch.refuse_strange_points(mechanism)
        self._flows: dict[tuple[str, bool], Flow] = {}
        self.jumps: dict[Switch, Jump] = {}  # made when they are first needed

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
        from jourdain.motion.simulate import Settings, simulate

        if q is None and v is None and self.start is not None:
            q, v = self._begin(topology, parameters)
        settings, end = Settings(rtol, rtol if atol is None else atol, method), self.until if until is None else until
        return simulate(self, q, v, end, self.first(topology), max_events, settings, parameters, progress)

    def gait(
        self,
        near: tuple[StateLike, StateLike] | Gait | None = None,
        steps: int = 1,
        topology: str | None = None,
        rtol: float = 1e-12,
        atol: float = 1e-12,
        **parameters: ParameterLike,
    ) -> Gait:
        """The periodic motion near a state (q, v), or near another gait: a fixed point of the map of `steps` steps.

        A step ends when its topology is entered again. Its state is that just after the event and relabelling.
        """
        from jourdain.motion.gait import find_gait, state_near
        from jourdain.motion.simulate import Settings, refuse_settings

        near = self.near if near is None else near
        if near is None:
            raise BadEvent("near is a state (q, v) from which the gait is looked for; give one.")
        if not isinstance(steps, int) or steps < 1:
            raise BadEvent(f"steps is how many steps the gait has, 1 or more, not {steps!r}.")
        refuse_settings(Settings(rtol, atol))
        p = self.parameter_array(parameters)
        if self.functions:
            raise BadEvent("A gait needs derivatives of all forces; give them as expressions, not as Python functions.")
        return find_gait(self, state_near(self, near), self.first(topology), steps, p, Settings(rtol, atol))

    def continuation(
        self, gait: Gait, rtol: float = 1e-12, atol: float = 1e-12, progress: bool | None = None, **values: ArrayLike
    ) -> Branch:
        """The branch of gaits through one, over the range of a parameter: `continuation(gait, slope=np.linspace(…))`.

        It is followed by arclength, round folds; gaits at the given values are on it (`missing`: those that it does not
        reach), and flips and folds are located.
        """
        from jourdain.motion.continuation import follow_branch
        from jourdain.motion.simulate import Settings, refuse_settings

        refuse_settings(Settings(rtol, atol))
        if gait.hybrid is not self:
            raise BadEvent("The gait is one of another system.")
        if len(values) != 1:
            raise BadEvent(f"A branch is followed over one parameter, given by its values, not over {listing(values)}.")
        ((name, several),) = values.items()
        if name not in self.parameters:
            raise unknown("parameter", name, self.parameters)
        return follow_branch(self, gait, name, number(f"values of '{name}'", several), Settings(rtol, atol), progress)

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

        `q`, `v`: dicts of arrays that broadcast against each other; what is not named is that of the first gait. Starts
        lie in its topology. All go through one kernel. `steps`: at most, before a start is left undecided.
        """
        from jourdain.motion.basin import find_basin
        from jourdain.motion.gait import Gait
        from jourdain.motion.simulate import Settings

        several = [gaits] if isinstance(gaits, Gait) else list(gaits)
        return find_basin(self, several, q, v, steps, Settings(rtol, atol), progress)

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
        own = dict(zip(m.symbols.p_names, map(float, self.own(p)), strict=True))
        geometric = [c for c in held if c.g is not None]
        placed = m.assemble(q, hold=[*geometric, *hold], **own) if geometric else m.coordinates(q)
        if not held:
            return placed, m.velocities(v)
        return placed, m.event(inert=held).solve(placed, v, check=False, parameters=own).v_plus

    def _begin(self, topology: str | None, parameters: Mapping[str, Any]) -> tuple[Array, Array]:
        """The start, on the constraints: what it names keeps its value where that is possible."""
        q, v = self.start or (None, None)
        try:
            return self.project(q, v, topology, q if isinstance(q, Mapping) else (), **parameters)
        except NotConverged:
            return self.project(q, v, topology, **parameters)

    # What the flow needs

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
    def own_places(self) -> list[int]:
        """Where the mechanism's own parameters stand among all."""
        names = list(self.parameters)
        return [names.index(name) for name in self.mechanism.symbols.p_names]

    def own(self, parameters: Array) -> Array:
        """The mechanism's own parameters of all."""
        return np.asarray(parameters[..., self.own_places])

    def inputs(self, y: Array, p: Array) -> Array:
        """What a flow depends on besides its states `y (…, n)`: own parameters, and what the Python functions say."""
        flat, own = y.reshape(-1, y.shape[-1]), self.own(p)
        given = [[self._force(place, one) for place in self.functions] for one in flat]
        numbers = np.hstack([np.broadcast_to(own, (len(flat), len(own))), np.reshape(given, (len(flat), -1))])
        return numbers.reshape(*y.shape[:-1], -1)

    def _force(self, place: int, y: Array) -> float:
        """What a Python function says at a state."""
        t, q, v = float(y[0]), y[1 : 1 + self.n_q], y[1 + self.n_q : 1 + self.n_q + self.n_v]
        value = self.functions[place](t, q, v)
        if np.ndim(value) or not isinstance(value, int | float | np.number | np.ndarray):
            name = self.mechanism.symbols.v_names[place]
            raise BadEvent(
                f"The force along '{name}' is {value!r} at t = {t:.6g} s; the function must give one number."
            )
        return float(value)

    def flow_at(self, topology: str, y: Array, p: Array) -> Flow:
        """The flow of a topology: the quick one where its rows are well apart, at all states, else the careful one."""
        quick = self.flow(topology)
        return quick if quick.apart(y, self.inputs(y, p)) else self.flow(topology, independent=False)

    def flow(self, topology: str, independent: bool = True) -> Flow:
        """The motion in one topology, with the guards of the switches that leave it."""
        key = (topology, independent)
        if key not in self._flows:
            held = self.topologies[topology]
            dynamics = Dynamics(self.mechanism, held, self._applied, self._given, independent)
            guards = [guard_expressions(switch, self.mechanism, dynamics) for switch in self.leaving(topology)]
            column = ca.vertcat(SX(0, 1), *(part for guard in guards for part in guard))
            kinds = tuple(guard_kind(switch) for switch in self.guard_owners(topology))
            self._flows[key] = Flow(dynamics, column, kinds)
        return self._flows[key]

    @property
    def held(self) -> dict[str, Constraint]:
        """Constraints that are on in some topology, by name."""
        return {c.name: c for several in self.topologies.values() for c in several}

    def leaving(self, topology: str) -> list[Switch]:
        return [switch for switch in self.switches if switch.source == topology]

    def guard_owners(self, topology: str) -> list[Switch]:
        """The switch of each guard of a flow: one that goes either way has two."""
        return [switch for switch in self.leaving(topology) for _ in range(2 if switch.direction == 0 else 1)]

    def _generalized(self, forces: Mapping[Any, Any]) -> tuple[SX, SX, dict[int, Force]]:
        """(forces along the velocities, symbols of those that Python functions give, these by place)."""
        s = self.mechanism.symbols
        column, given = SX(len(s.v_names), 1), SX(0, 1)
        functions: dict[int, Force] = {}
        for key, force in forces.items():
            name = name_of(key)
            if name not in s.v_names:
                raise unknown("velocity", name, s.v_names)
            place = s.v_names.index(name)
            if callable(force) and not hasattr(force, "free_symbols") and not isinstance(force, SX):
                functions[place] = force
                symbol = SX.sym(f"force along {name}")
                given = ca.vertcat(given, symbol)
                column[place] += symbol
            else:
                column[place] += s.translate(force)
        return column, given, functions

    # Numbers

    def energies(self, t: Array, q: Array, v: Array, parameters: Array) -> Array:
        """Kinetic and potential energy, J, `(times, 2)`."""
        p = np.broadcast_to(self.own(parameters), (len(t), len(self.own_places)))
        values = self._energies(t[:, None], q, v, p)
        return np.asarray(values["energies"][..., 0])

    @cached_property
    def _energies(self) -> Evaluator:
        m, s = self.mechanism, self.mechanism.symbols
        kinetic = s.v.T @ m.M @ s.v / 2
        potential = SX(0) if m.loads.potential is None else m.loads.potential
        return Evaluator([s.t, s.q, s.v, s.p], {"energies": ca.vertcat(kinetic, potential)})

    def __repr__(self) -> str:
        return f"Hybrid(topologies={list(self.topologies)}, parameters={self.parameters})"
