"""Reports of motions and gaits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from jourdain.data.numbers import amount, significant
from jourdain.events.cells import ROUNDING
from jourdain.events.table import rounded, row_table
from jourdain.inputs import Array
from jourdain.motion import text
from jourdain.motion.labelled import state_labels
from jourdain.plots.animation import poses
from jourdain.plots.motion import motion_plot
from jourdain.plots.phases import energy_over_time, multiplier_plot, phase_portrait
from jourdain.reports import scripts
from jourdain.reports.asked import parameter_table
from jourdain.reports.record import Part, Report, Section, Table, Words, picture
from jourdain.reports.titles import titled

if TYPE_CHECKING:
    from jourdain.motion.gait import Gait
    from jourdain.motion.hybrid import Hybrid
    from jourdain.motion.trajectory import EventRecord, Trajectory

N_POSES = 14  # in the picture of a motion
MOST_EVENTS = 24  # in a table
MOST_SHOWN = 4  # events whose rows are shown


def gait_report(gait: Gait, title: str = "", command: Sequence[str] = ()) -> Report:
    """The report of a gait: its period, its stability, its state, its events and its energy."""
    origin, run = gait.hybrid.origin, gait.trajectory
    lost = sum(event.lost for event in run.events)
    rows = [
        ["period", f"{significant(gait.period)} s"],
        ["steps", str(gait.steps)],
        ["stable", "yes, motions nearby come back to it" if gait.stable else "no, motions nearby leave it"],
        ["largest modulus of the multipliers", significant(np.abs(gait.multipliers[:1]).max(initial=0.0))],
        ["lost in the events of a period", f"{significant(lost)} J"],
    ]
    return Report(
        title or (titled(origin.name) if origin is not None else "A gait"),
        [origin.about] if origin is not None else [],
        [
            Section("In short", [Table("", [], rows, (0, 1)), *_pose_pictures(run)]),
            Section("What was asked", _asked(gait.hybrid, gait.parameters)),
            Section("The gait", [_state_table("State just after the event, relabelled", run, (gait.q, gait.v)),
                                 *_multipliers(gait), *_courses(run)]),
            *_accounts(run),
            Section("How to make it again", [*scripts.command_line(command), *scripts.of_gait(gait)]),
        ],
    )  # fmt: skip


def motion_report(run: Trajectory, title: str = "", command: Sequence[str] = ()) -> Report:
    """The report of a motion: its course, its events and its energy."""
    origin = run.hybrid.origin
    parameters = dict(zip(run.hybrid.parameters, map(float, run.segments[0].parameters), strict=True))
    start, end = ((run.q[i], run.v[i]) for i in (0, -1))
    rows = [["duration", f"{significant(run.end)} s"], ["events", str(len(run.events))], ["ended by", run.stopped]]
    states = [_state_table("State at the start", run, start), _state_table("State at the end", run, end)]
    return Report(
        title or (titled(origin.name) if origin is not None else "A motion"),
        [origin.about] if origin is not None else [],
        [
            Section("In short", [Table("", [], rows, (0, 1)), *_pose_pictures(run)]),
            Section("What was asked", _asked(run.hybrid, parameters)),
            Section("The motion", [*_courses(run), *states]),
            *_accounts(run),
            Section("How to make it again", [*scripts.command_line(command), *scripts.of_motion(run)]),
        ],
    )  # fmt: skip


def _asked(hybrid: Hybrid, parameters: Mapping[str, float]) -> list[Part]:
    """Topologies, switches, parameters."""
    on = [
        [name, ", ".join(c.name for c in constraints) or "nothing"] for name, constraints in hybrid.topologies.items()
    ]
    switches = [[s.source, s.target or "the end", s.name] for s in hybrid.switches]
    given = {name: x for name, x in parameters.items() if x != hybrid.parameters.get(name)}
    found = [
        Table("Topologies: what is on between events", ["topology", "on"], on, (0, 1)),
        Table("Switches between them", ["from", "to", "by"], switches, (0, 1, 2)).without_empty(),
        parameter_table(parameters, hybrid.mechanism.units, given),
    ]
    return [table for table in found if table.rows]


def _pose_pictures(run: Trajectory) -> list[Part]:
    if run.hybrid.sketch is None:
        return []
    return [picture("poses", poses(run, N_POSES), f"The motion at {N_POSES} times, the first ones paler.")]


def _courses(run: Trajectory) -> list[Part]:
    """Figures over time, and in the phase plane."""
    return [
        picture("coordinates", motion_plot(run), "The coordinates over time; grey lines: events."),
        picture("phase portrait", phase_portrait(run), "The phase plane; dotted: jumps at events, and by new names."),
    ]


def _multipliers(gait: Gait) -> list[Part]:
    rows = [[significant(abs(one)), significant(one.real), significant(one.imag, zero=1e-12)]
            for one in gait.multipliers if abs(one) > 1e-9]  # fmt: skip
    zeros = len(gait.multipliers) - len(rows)
    said = f" ({zeros} more are 0)" if zeros else ""
    caption = "Inside the unit circle a multiplier says that a small change of the start is less after a step."
    return [
        Table(f"Multipliers{said}", ["modulus", "real part", "imaginary part"], rows, ()),
        picture("multipliers", multiplier_plot(gait), caption),
    ]


def _accounts(run: Trajectory) -> list[Section]:
    """The energy of a motion, and its events."""
    header, rows = text.energy_table(run)
    over_time = picture("energy", energy_over_time(run), "The energy over time; grey lines: events.")
    solved = [(i, event) for i, event in enumerate(run.events) if event.outcome is not None]
    events: list[Part] = [_events(run.events)] if run.events else []
    for i, event in solved[:MOST_SHOWN]:
        assert event.outcome is not None
        events.append(Table(f"Rows of event {i + 1}", *row_table(event.outcome), left=(0, 1)))
    if len(solved) > MOST_SHOWN:
        events.append(Words(f"The rows of {len(solved) - MOST_SHOWN} more events are not shown."))
    return [Section("Where the energy goes", [over_time, Table("Energy", header, rows)]), Section("Events", events)]


def _events(events: Sequence[EventRecord]) -> Table:
    """When each was, which, and what it cost."""
    rows = []
    for i, event in enumerate(events[:MOST_EVENTS]):
        name = event.switch.name or f"{event.switch.source} → {event.switch.target or 'the end'}"
        row = [str(i + 1), name, rounded(event.t)]
        t = event.outcome
        scale = 0.0 if t is None else ROUNDING * float(max(t.T_minus, t.T_plus))
        row += [""] * 4 if t is None else [significant(x, zero=scale) for x in (t.T_minus, t.T_plus, t.loss, t.xi)]
        rows.append(row)
    more = f"; {len(events) - MOST_EVENTS} more are not shown" if len(events) > MOST_EVENTS else ""
    header = ["event", "", "time in s", "T⁻ in J", "T⁺ in J", "lost in J", "ξ = T_c⁻/T⁻"]
    return Table(f"Events{more}", header, rows, (0, 1)).without_empty()


def _state_table(title: str, run: Trajectory, state: tuple[Array, Array]) -> Table:
    """Coordinates and velocities, angles in degrees."""
    numbers = np.concatenate(state)
    numbers = np.where(np.abs(numbers) > ROUNDING, numbers, 0.0)
    labels = state_labels(run.hybrid.mechanism)
    rows = [[label.said, amount(value, label.unit), significant(value) if label.unit == "rad" else ""]
            for label, value in zip(labels, numbers, strict=True)]  # fmt: skip
    return Table(title, ["", "value", "in rad"], rows).without_empty()
