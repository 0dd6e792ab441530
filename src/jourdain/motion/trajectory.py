"""The result of a simulation: segments of motion, and the events between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from jourdain.compute.memory import check_batch
from jourdain.compute.runge_kutta import along
from jourdain.errors import ShapeError
from jourdain.events.transition import Transition
from jourdain.inputs import Array, FilePath, n_entries
from jourdain.motion.flow import N_WORKS
from jourdain.naming import Named
from jourdain.output.printable import prints
from jourdain.output.tables import MOST, page

if TYPE_CHECKING:
    import xarray

    from jourdain.mechanism.constraint import Constraint
    from jourdain.motion.guards import Switch
    from jourdain.motion.hybrid import Hybrid


@dataclass(frozen=True)
class Segment:
    """Motion in one topology, step by step. y = (t, q, v, w), see `flow`."""

    topology: str
    y: Array  # (steps + 1, n)
    polynomials: Array  # (steps, 7, n), between y[i] and y[i + 1]; the last may be cut short by an event
    lengths: Array  # (steps,), of the steps that the polynomials belong to
    parameters: Array  # (n_p,)
    next: float | None = None  # length of the step that would have come next, s

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
        states = np.asarray(along(self.y[i], coefficients, x))
        states[:, 0] = t
        return states


@dataclass(frozen=True)
class EventRecord:
    """An event of a trajectory."""

    t: float
    switch: Switch
    before: Array  # (n,), y just before
    after: Array  # (n,), y just after event and relabelling
    parameters: Array  # (n_p,), those after
    solve: Callable[[], Transition | None] = field(repr=False)

    @cached_property
    def outcome(self) -> Transition | None:
        """Outcome of the switch's event; None if it has none."""
        return self.solve()

    @property
    def lost(self) -> float:
        """Loss of kinetic energy, J."""
        return 0.0 if self.outcome is None else float(self.outcome.loss)


@dataclass(frozen=True)
class Trajectory:
    """Segments and events of a run. Times, q and v are those of all steps; `at(t)` evaluates in between."""

    hybrid: Hybrid
    segments: Sequence[Segment]
    events: Sequence[EventRecord]
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
        return self.hybrid.state(self._y)[0]

    @property
    def v(self) -> Array:
        """`(times, n_v)`."""
        return self.hybrid.state(self._y)[1]

    @property
    def end(self) -> float:
        return float(self.segments[-1].t[-1])

    def at(self, t: ArrayLike) -> tuple[Array, Array]:
        """(q, v) at times `(*shape,)`; just after an event where one falls on it."""
        check_batch((n_entries(t),), self._y.shape[1])
        times = np.asarray(t, dtype=float)
        flat = times.ravel()
        start = self.segments[0].t[0]
        if flat.size and not (flat.min() >= start and flat.max() <= self.end):
            raise ShapeError(f"The run goes from {start:g} s to {self.end:g} s; ask for times in between.")
        starts = np.array([segment.t[0] for segment in self.segments])
        which = np.searchsorted(starts, flat, side="right") - 1
        states = np.empty((flat.size, self._y.shape[1]))
        for i in np.unique(which):
            states[which == i] = self.segments[i].at(flat[which == i])
        return self.hybrid.state(states.reshape(*times.shape, -1))

    @cached_property
    def coordinate(self) -> Named[Array]:
        """Each coordinate at all steps, `(times,)`."""
        names = self.hybrid.mechanism.symbols.q_names
        return Named("coordinate", dict(zip(names, self.q.T, strict=True)))

    @cached_property
    def velocity(self) -> Named[Array]:
        """Each velocity at all steps, `(times,)`."""
        names = self.hybrid.mechanism.symbols.v_names
        return Named("velocity", dict(zip(names, self.v.T, strict=True)))

    @cached_property
    def reaction(self) -> Named[Array]:
        """λ of each constraint at all steps, `(times,)` or `(times, rows)`; NaN while it is not on.

        The force of a row, M v̇ + h = f + Cᵀ λ: of a contact's normal positive where it pushes apart.
        """
        return reactions(self)

    @cached_property
    def energy(self) -> EnergyAccount:
        """Kinetic and potential energy at all steps, and where it went."""
        return account(self)

    def to_dataset(self) -> xarray.Dataset:
        """q and v along `time`, with energies, the topology, and the events along `event`."""
        from jourdain.motion.labelled import trajectory_dataset

        return trajectory_dataset(self)

    def animate(
        self, path: str | PathLike[str], fps: int = 25, speed: float = 1.0, progress: bool | None = None
    ) -> None:
        """A film of it, .gif or .mp4: `fps` pictures a second, `speed` times as fast as it was."""
        from jourdain.plots.animation import animate

        animate(self, path, fps, speed, progress=progress)

    def report(self, path: FilePath, title: str = "") -> None:
        """Write one page of HTML that needs nothing else: course, energy, events, script.

        Parameters
        ----------
        path : str or Path
            Where to write it; it ends in .html. The file is there in full or not at all.
        title : str
            The title of the page; by itself the name in the gallery.

        Raises
        ------
        CannotWrite
            If no such file can be written.

        """
        from jourdain.reports.motions import motion_report
        from jourdain.reports.template import check_page, write_page

        check_page(path)
        write_page(motion_report(self, title).html(), path)

    @prints
    def __repr__(self) -> str:
        n = len(self.events)
        return f"<Trajectory {self.end:g} s, {n} event{'s' * (n != 1)}: {self.stopped}>"

    def _repr_html_(self) -> str:
        from jourdain.motion.text import event_table, headline, state_table

        more = f" ({len(self.events) - MOST} more events are not shown)" if len(self.events) > MOST else ""
        return page(f"{headline(self)}{more}", [state_table(self), event_table(self, MOST)])


@dataclass(frozen=True, repr=False)
class EnergyAccount:
    """T + U = (T + U)₀ + work of forces + work of supports + what events changed, at all steps, J."""

    kinetic: Array  # (times,)
    potential: Array  # 0 where none is known: then gravity is one of the forces, and has_potential is False
    forces: Array  # work of forces that have no potential, so far
    supports: Array  # work of supports that move
    events: Array  # what events changed so far; with what new names and parameters make of the same motion
    ledger: Mapping[str, float] = field(default_factory=dict)  # the same at the end: by constraint, and "relabelling"
    has_potential: bool = True  # False where there is no fixed point that potential energy could be measured from

    def __repr__(self) -> str:
        return f"<EnergyAccount: {len(self.kinetic)} times, closed to {np.abs(self.gap).max(initial=0.0):.1e} J>"

    @property
    def gap(self) -> Array:
        """By how much the account does not close, (times,)."""
        total = self.kinetic + self.potential
        return np.asarray(total - total[0] - self.forces - self.supports - self.events)


def account(run: Trajectory) -> EnergyAccount:
    """See `Trajectory.energy`."""
    energies, parts, changed = run.hybrid.energies, list[Array](), 0.0
    ledger: dict[str, float] = {}
    for i, segment in enumerate(run.segments):
        works, p = segment.y[:, -N_WORKS:], segment.parameters
        parts.append(np.column_stack([energies(segment.y, p), works, np.full(len(works), changed)]))
        if i == len(run.events):
            continue
        event = run.events[i]
        booked = {} if event.outcome is None else {name: float(work) for name, work in event.outcome.ledger.items()}
        if event.switch.relabel or event.switch.parameters:
            # Relabelling may move the origin, so that the same place has another potential, and parameters may change.
            T_new, U_new = energies(event.after[None], event.parameters)[0]
            T, U = energies(event.after[None], p)[0, 0], energies(event.before[None], p)[0, 1]
            booked["relabelling"] = float(T_new - T + U_new - U)
        for name, work in booked.items():
            ledger[name] = ledger.get(name, 0.0) + work
        changed += sum(booked.values())
    kinetic, potential, forces, supports, so_far = np.concatenate(parts).T
    known = run.hybrid.mechanism.loads.potential is not None
    return EnergyAccount(kinetic, potential, forces, supports, so_far, ledger, known)


def reactions(run: Trajectory) -> Named[Array]:
    """See `Trajectory.reaction`."""
    held = run.hybrid.held
    rows = list(dict.fromkeys(row for c in held.values() for row in c.row_names))
    table = np.full((len(run.t), len(rows)), np.nan)
    first = 0
    for segment in run.segments:
        flow = run.hybrid.flow_at(segment.topology, segment.y, segment.parameters)
        on = [rows.index(row) for c in run.hybrid.topologies[segment.topology] for row in c.row_names]
        inputs = run.hybrid.inputs(segment.y, segment.parameters)
        table[first : first + len(segment.y), on] = flow.watch(segment.y, inputs)["reaction"][..., 0]
        first += len(segment.y)

    def of(constraint: Constraint) -> Array:
        numbers = table[:, [rows.index(row) for row in constraint.row_names]]
        return numbers[:, 0] if constraint.scalar else numbers

    parts = {name: of(part) for c in held.values() for name, part in c.parts().items()}
    return Named("constraint of a topology", {name: of(c) for name, c in held.items()}, parts)
