"""What a simulation found: segments of motion, and the events between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jourdain.errors import ShapeError, unknown
from jourdain.outcome import Transition
from jourdain.runge_kutta import along

if TYPE_CHECKING:
    import xarray

    from jourdain.motion.hybrid import Hybrid, Switch

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Segment:
    """Motion in one topology, step by step. y = (t, q, v, w), see `flow`."""

    topology: str
    y: Array  # (steps + 1, n)
    polynomials: Array  # (steps, 7, n), between y[i] and y[i + 1]; the last may be cut short by an event
    lengths: Array  # (steps,), of the steps that the polynomials belong to
    parameters: Array  # (n_p,)

    @property
    def t(self) -> Array:
        return np.asarray(self.y[:, 0])

    def at(self, t: Array) -> Array:
        """States at times within the segment, `(times, n)`."""
        if not len(self.lengths):
            return np.repeat(self.y[:1], len(t), axis=0)
        i = np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, len(self.lengths) - 1)
        x = ((t - self.t[i]) / self.lengths[i])[:, None]
        coefficients = [self.polynomials[i, k] for k in range(self.polynomials.shape[1])]
        found = np.asarray(along(self.y[i], coefficients, x))
        found[:, 0] = t
        return found


@dataclass(frozen=True)
class Happened:
    """An event of a trajectory."""

    t: float
    switch: Switch
    outcome: Transition | None  # None where nothing jumps
    before: Array  # (n,), y just before
    after: Array  # (n,), y just after event and relabelling
    lost: float  # kinetic energy, J


@dataclass(frozen=True)
class Trajectory:
    """Segments and events of a run. Times, q and v are those of all steps; `at(t)` evaluates in between."""

    hybrid: Hybrid
    segments: Sequence[Segment]
    events: Sequence[Happened]
    stopped: str  # why it ended

    @cached_property
    def t(self) -> Array:
        """Times of all steps, s; the two sides of an event have the same."""
        return np.concatenate([segment.t for segment in self.segments])

    @cached_property
    def _y(self) -> Array:
        return np.concatenate([segment.y for segment in self.segments])

    @property
    def q(self) -> Array:
        """`(times, n_q)`."""
        return self._y[:, 1 : 1 + self.hybrid.n_q]

    @property
    def v(self) -> Array:
        """`(times, n_v)`."""
        return self._y[:, 1 + self.hybrid.n_q : 1 + self.hybrid.n_q + self.hybrid.n_v]

    @property
    def end(self) -> float:
        return float(self.segments[-1].t[-1])

    def at(self, t: ArrayLike) -> tuple[Array, Array]:
        """(q, v) at times `(*shape,)`; just after an event where one falls on it."""
        times = np.asarray(t, dtype=float)
        flat = times.ravel()
        start = self.segments[0].t[0]
        if flat.size and not (flat.min() >= start and flat.max() <= self.end):
            raise ShapeError(f"The run goes from {start:g} s to {self.end:g} s; ask for times in between.")
        starts = np.array([segment.t[0] for segment in self.segments])
        which = np.searchsorted(starts, flat, side="right") - 1
        found = np.empty((flat.size, self._y.shape[1]))
        for i in np.unique(which):
            found[which == i] = self.segments[i].at(flat[which == i])
        n_q, n_v = self.hybrid.n_q, self.hybrid.n_v
        shaped = found.reshape(*times.shape, -1)
        return shaped[..., 1 : 1 + n_q], shaped[..., 1 + n_q : 1 + n_q + n_v]

    def coordinate(self, name: str) -> Array:
        """A coordinate at all steps."""
        names = self.hybrid.mechanism.symbols.q_names
        if name not in names:
            raise unknown("coordinate", name, names)
        return np.asarray(self.q[:, names.index(name)])

    def velocity(self, name: str) -> Array:
        """A velocity at all steps."""
        names = self.hybrid.mechanism.symbols.v_names
        if name not in names:
            raise unknown("velocity", name, names)
        return np.asarray(self.v[:, names.index(name)])

    @cached_property
    def energy(self) -> EnergyAccount:
        """Kinetic and potential energy at all steps, and where it went."""
        return account(self)

    def to_dataset(self) -> xarray.Dataset:
        """q and v along `time`, with energies, the topology, and the events along `event`."""
        from jourdain.motion.labelled import trajectory_dataset

        return trajectory_dataset(self)

    def __repr__(self) -> str:
        return f"<Trajectory {self.end:g} s, {len(self.events)} events: {self.stopped}>"


@dataclass(frozen=True)
class EnergyAccount:
    """T + U = (T + U)₀ + work of forces + work of supports + what events changed, at all steps, J."""

    kinetic: Array  # (times,)
    potential: Array  # 0 where none is known
    forces: Array  # work of forces that have no potential, so far
    supports: Array  # work of supports that move
    events: Array  # what events changed so far, ≤ 0 mostly; with what relabelling does to the potential
    ledger: Mapping[str, float] = field(default_factory=dict)  # the same at the end, by constraint

    @property
    def gap(self) -> Array:
        """By how much the account does not close, (times,)."""
        total = self.kinetic + self.potential
        return np.asarray(total - total[0] - self.forces - self.supports - self.events)


def _split(y: Array, n_q: int, n_v: int) -> tuple[Array, Array, Array]:
    """(t, q, v) of one state, as stacks of one."""
    return y[:1], y[None, 1 : 1 + n_q], y[None, 1 + n_q : 1 + n_q + n_v]


def account(run: Trajectory) -> EnergyAccount:
    hybrid, n_q, n_v = run.hybrid, run.hybrid.n_q, run.hybrid.n_v
    parts: list[Array] = []
    changed = 0.0
    ledger: dict[str, float] = {}
    happened = iter(run.events)
    for segment in run.segments:
        t, q, v = segment.t, segment.y[:, 1 : 1 + n_q], segment.y[:, 1 + n_q : 1 + n_q + n_v]
        energies = hybrid.energies(t, q, v, segment.parameters)
        works = segment.y[:, 1 + n_q + n_v :]
        parts.append(np.column_stack([energies, works, np.full(len(t), changed)]))
        event = next(happened, None)
        if event is not None:
            # Relabelling may move the origin: the same place has another potential then.
            sides = [
                hybrid.energies(*_split(y, n_q, n_v), segment.parameters)[0, 1] for y in (event.before, event.after)
            ]
            changed += float(sides[1] - sides[0]) - event.lost
            names = {} if event.outcome is None else {name: float(work) for name, work in event.outcome.ledger.items()}
            for name, work in names.items():
                ledger[name] = ledger.get(name, 0.0) + work
    kinetic, potential, forces, supports, so_far = np.concatenate(parts).T
    return EnergyAccount(kinetic, potential, forces, supports, so_far, ledger)
