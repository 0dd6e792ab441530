"""What is measured: the event of a mechanism, the row along which it strikes, and the energies of any of its states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.algebra.problem import Block
from jourdain.compute.evaluate import Evaluator
from jourdain.errors import BadEvent, MissingValue, listing, unknown
from jourdain.events.event import Event
from jourdain.inputs import Array
from jourdain.kinds import IMPULSIVE_KINDS, Kind
from jourdain.mechanism.constraint import Constraint, ContactConstraint
from jourdain.mechanism.mechanism import Mechanism
from jourdain.quantities import unit_along
from jourdain.scenarios.scenario import Scenario

STRUCK = (*IMPULSIVE_KINDS, Kind.CONTACT)  # kinds of rows that a strike acts on


@dataclass(frozen=True, eq=False)
class Rig:
    """A mechanism that strikes, with all its numbers; the pose and the motion come from a log or a testbed."""

    event: Event
    parameters: Mapping[str, float]  # of the event, all of them
    normal: str  # the row that closes: u < 0 before, 0 at the end of compression; its force pushes apart
    rows: tuple[str, ...]  # whose forces count: struck rows, then tangents and nonideal ones
    pose: Array  # (n_q,), near the strike: where coordinates that are not measured are looked for

    @property
    def mechanism(self) -> Mechanism:
        return self.event.mechanism

    def elastic(self, q: Array, v: Array) -> bool:
        """Whether the event goes beyond compression at a prior state: some struck row has a restitution above 0."""
        return bool(np.any(self._restitutions(q, v, self.p)["restitution"] > 0))

    @cached_property
    def _restitutions(self) -> Evaluator:
        parts = [(role.block.kappa, role.block.numbers.get("restitution")) for role in self.event.roles]
        several = [part for both in parts for part in both if part is not None]
        return Evaluator(self.event.inputs, {"restitution": ca.vertcat(SX(1, 1), *several)})

    @cached_property
    def compression(self) -> Event:
        """The event until the end of compression: the same without restitution."""
        roles = [replace(role, block=_inelastic(role.block)) for role in self.event.roles]
        return replace(self.event, roles=tuple(roles))

    @cached_property
    def p(self) -> Array:
        """The event's parameters in their order."""
        return np.array([self.parameters[name] for name in self.event.parameters], dtype=float)

    @cached_property
    def own(self) -> Array:
        """The mechanism's own parameters in their order."""
        return np.array([self.parameters[name] for name in self.mechanism.symbols.p_names], dtype=float)

    def constraints(self, *kinds: str) -> tuple[Constraint, ...]:
        """Those that take part as one of these kinds."""
        return tuple(role.constraint for role in self.event.roles if role.block.kind in kinds)

    def row(self, name: str) -> Constraint:
        """One row, as a constraint."""
        return self.mechanism.find_constraint(name)

    @property
    def tangents(self) -> tuple[str, ...]:
        """The rows along which it may rub: tangents of the contact that closes, and nonideal rows."""
        struck = next(c for c in self.constraints(*STRUCK) if self.normal in c.row_names)
        along = struck.row_names[1:] if isinstance(struck, ContactConstraint) else ()
        return (*along, *(row for c in self.constraints(Kind.NONIDEAL) for row in c.row_names))

    @property
    def rubbing(self) -> tuple[str, ...]:
        """The tangents whose impulses are of the unit of the normal one, as the friction ratio takes them."""
        return tuple(row for row in self.tangents if self.row_unit(row) == self.row_unit(self.normal))

    def row_unit(self, row: str) -> str:
        """Of u along a row; "" where it is not known."""
        units = self.row(row).units
        return units if isinstance(units, str) else units[0]

    def force_unit(self, row: str) -> str:
        """Of the force along a row."""
        return unit_along("force", self.row_unit(row))

    @cached_property
    def strike(self) -> Event:
        """The event with every struck row inert and each contact by its normal only: what T_c and T_a mean here."""
        struck = [
            c.normal if isinstance(c, ContactConstraint) and role.block.kind == Kind.CONTACT else c
            for role in self.event.roles
            if role.block.kind in STRUCK
            for c in (role.constraint,)
        ]
        return self.mechanism.event(regular=self._given_regular, inert=struck)

    @cached_property
    def _given_regular(self) -> list[Constraint]:
        """Regular rows that are not there by themselves."""
        regular = self.constraints(Kind.REGULAR)
        by_itself = {c.name for c in self.mechanism.always(())}
        return [c for c in regular if c.name not in by_itself]

    @cached_property
    def _states(self) -> Evaluator:
        values = self.strike.expressions(checked=False).values
        normal = self.row(self.normal)
        u = normal.C @ self.mechanism.symbols.v + normal.b
        wanted = values.columns(("T_minus", "T_c_minus", "T_a_minus"))
        # What stops the normal row alone: other struck rows may lean on it.
        alone = self.mechanism.event(regular=self._given_regular, inert=[normal])
        stop = alone.expressions(checked=False).values.impulse[alone.layout.along("row").index(self.normal)]
        return Evaluator(self.strike.inputs, {**wanted, "u": u, "stop": stop})

    def states(self, q: Array, v: Array) -> dict[str, Array]:
        """Of states `(*batch, n)`: T, T_c, T_a in J, u of the normal row, and `stop`, the impulse that stops it."""
        p = np.array([self.parameters[name] for name in self.strike.parameters], dtype=float)
        found = self._states(q, v, np.broadcast_to(p, (*np.shape(q)[:-1], len(p))))
        names = {"T_minus": "T", "T_c_minus": "T_c", "T_a_minus": "T_a", "u": "u", "stop": "stop"}
        return {short: found[name][..., 0, 0] for name, short in names.items()}

    def normal_row(self, q: Array) -> Array:
        """C of the normal row `(n_v,)`, at a pose that may be a little off its constraints."""
        return np.asarray(self._normal_row(q, self.own)["C"][0])

    @cached_property
    def _normal_row(self) -> Evaluator:
        s = self.mechanism.symbols
        return Evaluator([s.q, s.p], {"C": self.row(self.normal).C})

    def pushed(self, q: Array, rows: tuple[str, ...]) -> Array:
        """V̇ by a force of 1 along each row `(rows, n_v)` at a pose, while the regular rows hold."""
        s, held = self.mechanism.symbols, self.constraints(Kind.REGULAR)
        R = ca.vertcat(SX(0, len(s.v_names)), *(c.C for c in held))
        C = ca.vertcat(*(self.row(row).C for row in rows))
        at = Evaluator([s.q, s.p], {"M": self.mechanism.M, "R": R, "C": C})(q, self.own)
        n, k = len(s.v_names), len(at["R"])
        matrix = np.block([[at["M"], at["R"].T], [at["R"], np.zeros((k, k))]])
        forces = np.concatenate([at["C"].T, np.zeros((k, len(rows)))])
        return np.asarray((np.linalg.pinv(matrix, rcond=1e-12, hermitian=True) @ forces)[:n].T)

    def velocities(self, q: Array, rates: Array) -> Array:
        """V `(*batch, n_v)` from q and its rates, by least squares where there are fewer velocities than rates."""
        if self._rates_are_velocities:
            return rates
        at = self._kinematics(q, np.broadcast_to(self.own, (*q.shape[:-1], len(self.own))))["N"]
        return np.asarray((np.linalg.pinv(at) @ rates[..., None])[..., 0])

    def rates(self, q: Array, v: Array) -> Array:
        """The rates of the coordinates, N v, at one state `(n_q,)`, `(n_v,)`."""
        return v if self._rates_are_velocities else np.asarray(self._kinematics(q, self.own)["N"] @ v)

    def undetermined(self) -> list[str]:
        """Velocities that the rates of the coordinates do not tell, as the spin of a ball without an angle."""
        if self._rates_are_velocities:
            return []
        N = self._kinematics(self.pose, self.own)["N"]
        _, size, V = np.linalg.svd(N)
        free = V[np.sum(size > 1e-9 * max(size.max(initial=0.0), 1.0)) :]
        return [
            name for i, name in enumerate(self.mechanism.symbols.v_names) if np.abs(free[:, i]).max(initial=0.0) > 1e-6
        ]

    @cached_property
    def _rates_are_velocities(self) -> bool:
        """Whether N is the unit matrix."""
        N = self.mechanism.symbols.N
        return (
            N.shape[0] == N.shape[1] and N.is_constant() and np.array_equal(np.array(ca.evalf(N)), np.eye(N.shape[0]))
        )

    @cached_property
    def _kinematics(self) -> Evaluator:
        s = self.mechanism.symbols
        return Evaluator([s.q, s.p], {"N": s.N})


def _inelastic(block: Block[SX]) -> Block[SX]:
    """The same rows with a restitution of 0."""
    numbers = {name: SX.zeros(1, 1) if name == "restitution" else value for name, value in block.numbers.items()}
    return replace(block, kappa=None if block.kappa is None else SX.zeros(*block.kappa.shape), numbers=numbers)


def rig(model: Scenario | Event, normal: str | None = None, parameters: Mapping[str, float] = {}) -> Rig:
    """Of a Scenario or an Event. `normal`: the row that closes.

    By itself that of the first struck contact or, where a scenario tells the motion, the struck row that closes most.
    """
    v = None
    if isinstance(model, Scenario):
        event = model.event
        q, v, p = model.state(parameters)
        if np.ndim(p) != 1:
            raise BadEvent("A log or a testbed is about one strike at a time; give parameters without batch axes.")
        own = dict(zip(event.parameters, map(float, p), strict=True))
    elif isinstance(model, Event):
        event, q = model, model.mechanism.neutral
        for name in parameters:
            if name not in event.parameters:
                raise unknown("parameter", name, event.parameters)
        own = {}
        for name, default in event.parameters.items():
            value = parameters.get(name, default)
            if value is None:
                raise MissingValue(f"Parameter '{name}' has no default; give it in parameters={{…}}.")
            own[name] = float(value)
    else:
        raise BadEvent(f"A log is that of an Event or a Scenario, not of {type(model).__name__}.")
    struck = [c for role in event.roles if role.block.kind in STRUCK for c in (role.constraint,)]
    known = [row for c in struck for row in c.row_names]
    if not known:
        raise BadEvent("Nothing strikes in this event: no row of it is inert, elastic, live or a one-sided contact.")
    if normal is None:
        normal = _closing(event, struck, q, v, own)
    elif normal not in known:
        raise unknown("struck row", normal, known)
    beside = [row for role in event.roles if role.block.kind == Kind.NONIDEAL for row in role.constraint.row_names]
    missing = [name for name in event.mechanism.parameters if name not in own]
    if missing:
        raise BadEvent(f"{listing(missing)} jumps in this event, so it has no one value in a log; use inert rows.")
    return Rig(event, own, normal, (*known, *beside), np.asarray(q, dtype=float))


def _closing(event: Event, struck: list[Constraint], q: Array, v: Array | None, own: Mapping[str, float]) -> str:
    """The struck row that closes most; the first where the motion is not known. Tangents of contacts do not close."""
    rows = [row for c in struck for row in (c.row_names[:1] if isinstance(c, ContactConstraint) else c.row_names)]
    if v is None or np.ndim(v) != 1 or len(rows) == 1:
        return rows[0]
    mechanism = event.mechanism
    given = {name: own[name] for name in mechanism.parameters if name in own}

    def u(row: str) -> float:
        C, b = mechanism.find_constraint(row).rows(q, **given)
        return float(C[0] @ v + b[0])

    return min(rows, key=u)
