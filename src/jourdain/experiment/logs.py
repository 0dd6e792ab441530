"""Logs: time, coordinates, rates and forces, checked and in SI. The source is never touched."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jourdain.errors import BadLog, LogWarning, listing, unknown
from jourdain.experiment.log_files import columns_of, floats
from jourdain.experiment.notices import Keyword, Notice
from jourdain.experiment.rig import Rig, rig
from jourdain.experiment.units import factor
from jourdain.inputs import Array, FilePath, Flags
from jourdain.naming import name_of
from jourdain.output.printable import prints
from jourdain.output.tables import names, page

if TYPE_CHECKING:
    import pandas

    from jourdain.events.event import Event
    from jourdain.experiment.strike import Strike
    from jourdain.scenarios.scenario import Scenario

TIME = ("t", "time", "timestamp")
LEAST = 30  # samples of a log
LARGEST = 1e30  # number of a column; powers of larger ones overflow
GAP = 1.5  # of the usual step: a longer one is a gap
SHOWN = 5  # time stamps in a message
CLOSED = 1e-8  # what coordinates that follow from loops may miss, in the unit of the loop


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """Samples in SI, times rising. Forces push apart where positive."""

    rig: Rig
    t: Array  # (n,)
    q: Array  # (n, n_q)
    v: Array | None  # (n, n_v); None where rates are not logged
    forces: Mapping[str, Array]  # row → (n,)
    gaps: tuple[tuple[float, float], ...]  # (from, to) where samples are missing
    trusted: frozenset[str]  # columns whose units were given by hand
    units: Mapping[str, str]  # column → the unit that it was read in
    warnings: tuple[str, ...]  # what was said of it
    source: str = ""

    @prints
    def __repr__(self) -> str:
        columns = [*self.rig.mechanism.symbols.q_names, *self.forces]
        return f"<Log {self.source!r}: {len(self.t)} samples, {self.t[-1] - self.t[0]:g} s, {names(columns)}>"

    def _repr_html_(self) -> str:
        s = self.rig.mechanism.symbols
        rows = [["samples", f"{len(self.t)}, every {self.step:g} s, from {self.t[0]:g} s to {self.t[-1]:g} s"]]
        rows += [["coordinates", names(s.q_names)], ["rates", names(s.v_names) if self.v is not None else "not logged"]]
        rows += [["forces", names(self.forces) or "none"], *(["warning", said] for said in self.warnings)]
        rows += [["gap", f"{start:g} s to {end:g} s"] for start, end in self.gaps]
        return page(f"Log {self.source}", [((), rows)])

    @cached_property
    def step(self) -> float:
        """The usual time from sample to sample, s."""
        return float(np.median(np.diff(self.t)))

    def strike(
        self,
        number: int | None = None,
        onset: float | None = None,
        end: float | None = None,
        window: float | None = None,
    ) -> Strike:
        """One of its strikes: v⁻, v⁺, energies over time, ξ, impulses, each with its uncertainty.

        `number`: which contact, from 1; the first if not given. `onset`, `end` (of compression): s on the clock of the
        log; found if not given. `window`: s of samples beside the strike that tell velocities; by itself as many as
        serve best.
        """
        from jourdain.experiment.split import split

        return split(self, number, onset, end, window)

    def strikes(self) -> tuple[Strike, ...]:
        """All of them; a contact of which nothing can be told is left out, and said so."""
        from jourdain.experiment.split import split
        from jourdain.experiment.strike_samples import contacts_of

        found = []
        for i, contact in enumerate(contacts_of(self).contacts):
            try:
                found.append(split(self, i + 1, None, None, None))
            except BadLog as error:
                told = f"The contact from t = {contact.onset:.6g} s on is left out: {error}"
                warnings.warn(told, LogWarning, stacklevel=2)
        return tuple(found)


def read(
    source: FilePath | pandas.DataFrame | Mapping[str, ArrayLike],
    model: Scenario | Event,
    columns: Mapping[Any, str] = {},
    units: Mapping[Any, str] = {},
    normal: str | None = None,
    parameters: Mapping[str, float] = {},
) -> Log:
    """A log of a Scenario or an Event: a .csv or .parquet file, a DataFrame, or a dict of arrays.

    Columns are found by name: `t`, coordinates `q.NAME` or NAME, rates `v.NAME` (optional), forces along rows
    `force.ROW` or ROW, those besides the normal one optional; `columns={"q1": "Encoder A"}` says what else one is
    called. Units stand in the header, `q1 [deg]`, or in `units={"q1": "deg", "wall": "-mN"}`; SI if not. A coordinate
    that is not logged must follow from the others by the loops of the mechanism. `normal`: the row that closes.
    `parameters`: of the scenario or event.

    >>> import jourdain as jd
    >>> bed = jd.experiment.Testbed(jd.gallery.pantograph(), push=0.5)
    >>> log = read(bed.run(gamma=0.5).record(seed=1).frame(), jd.gallery.pantograph())
    >>> len(log.t), log.step, list(log.forces)
    (224, 0.001, ['wall', 'slide'])
    """
    made = rig(model, normal, parameters)
    given = columns_of(source)
    name = str(source) if isinstance(source, str | Path) else ""
    found = _Reader(made, given, {name_of(k): v for k, v in columns.items()}, {name_of(k): v for k, v in units.items()})
    return found.log(name)


class _Reader:
    """Columns → samples."""

    def __init__(
        self, made: Rig, given: dict[str, tuple[Any, str]], columns: Mapping[str, str], units: Mapping[str, str]
    ) -> None:
        self.rig, self.given = made, given
        self.said: list[str] = []
        self.units: dict[str, str] = {}
        self.trusted: set[str] = set()
        s = made.mechanism.symbols
        self.targets = {
            "t": "s",
            **{f"q.{name}": made.mechanism.units.get(name, "") for name in s.q_names},
            **{f"v.{name}": made.event.layout.units.get(name, "") for name in s.v_names},
            **{f"force.{row}": made.force_unit(row) for row in made.rows},
        }
        short = {**{row: f"force.{row}" for row in made.rows}, **{name: f"q.{name}" for name in s.q_names}}
        self.short = {**short, **{target: target for target in self.targets}, **dict.fromkeys(TIME, "t")}
        self.renamed = {self._target(key, text): text for key, text in columns.items()}
        self.in_unit = {self._target(key, text): text for key, text in units.items()}

    def _target(self, key: str, text: Any) -> str:
        if not isinstance(text, str):
            raise BadLog(f"columns and units are dicts of texts, but '{key}' has {text!r}.")
        if key not in self.short:
            raise unknown("column of a log", key, self.targets)
        return self.short[key]

    def warn(self, text: str) -> None:
        self.said.append(text)
        warnings.warn(text, LogWarning, stacklevel=5)

    def log(self, source: str) -> Log:
        s = self.rig.mechanism.symbols
        t = self._times()
        normal = f"force.{self.rig.normal}"
        if self._place(normal) is None:
            row, given = self.rig.normal, listing(self.given)
            what = f"The log has no column for the force along '{row}': '{normal}' or '{row}'. It has {given};"
            raise BadLog(Notice(what, "say which one it is by ", Keyword("columns", {row: ""}), "."))
        measured = [name for name in s.q_names if self._place(f"q.{name}") is not None]
        q = {name: self._numbers(f"q.{name}") for name in measured}
        v = {name: self._numbers(f"v.{name}") for name in s.v_names if self._place(f"v.{name}") is not None}
        forces = {
            row: self._numbers(f"force.{row}") for row in self.rig.rows if self._place(f"force.{row}") is not None
        }
        if v and len(v) < len(s.v_names):
            missing = listing(f"v.{name}" for name in s.v_names if name not in v)
            raise BadLog(f"Some rates are logged and {missing} is not; give all of them, or none.")
        several = {**{f"q.{k}": x for k, x in q.items()}, **{f"v.{k}": x for k, x in v.items()},
                   **{f"force.{k}": x for k, x in forces.items()}}  # fmt: skip
        self._tell_gaps(t)
        keep = self._sound(t, several)
        t = t[keep]
        self._refuse_short(t)
        gaps = tuple((float(t[i]), float(t[i + 1])) for i in _long_steps(t))
        whole = self._configuration({name: values[keep] for name, values in q.items()}, len(t))
        if not v:
            self._refuse_undetermined()
        rates = np.stack([v[name][keep] for name in s.v_names], axis=-1) if v else None
        return Log(
            self.rig, t, whole, rates, {row: values[keep] for row, values in forces.items()}, gaps,
            frozenset(self.trusted), self.units, tuple(self.said), source,
        )  # fmt: skip

    def _place(self, target: str) -> str | None:
        """The column that stands for a target."""
        if target in self.renamed:
            text = self.renamed[target]
            for name, (_, unit) in self.given.items():
                if text in (name, f"{name} [{unit}]", f"{name} ({unit})"):
                    return name
            raise unknown("column", text, self.given)
        aliases = [key for key, known in self.short.items() if known == target]
        taken = set(self.renamed.values())
        for alias in (target, *aliases):
            for name in self.given:
                if name not in taken and (name == alias or (target == "t" and name.lower() == alias)):
                    return name
        return None

    def _numbers(self, target: str) -> Array:
        """A column in SI."""
        name = self._place(target)
        assert name is not None
        values, written = self.given[name]
        unit = self.in_unit.get(target, written)
        if target in self.in_unit:
            self.trusted.add(target)
        times = factor(name, unit, self.targets[target])
        self.units[target] = unit or self.targets[target]
        array = floats(name, values)
        large = np.nonzero(np.isfinite(array) & (np.abs(array) > LARGEST))[0]
        if len(large):
            raise BadLog(
                f"Column '{name}' has {array[large[0]]:.6g} at sample {large[0] + 1}{_and_more(len(large))}, which "
                f"nothing measures ({LARGEST:g} is the most); remove such samples, or leave the number empty."
            )
        return array if times == 1 else array * times

    def _times(self) -> Array:
        if self._place("t") is None:
            what = f"The log has no column for the time, 't' or 'time', but {listing(self.given)};"
            raise BadLog(Notice(what, Keyword("columns"), " names it."))
        t = self._numbers("t")
        bad = np.nonzero(~np.isfinite(t))[0]
        if len(bad):
            raise BadLog(
                f"The time of sample {bad[0] + 1} is {t[bad[0]]}, and of {len(bad)} in all; remove such lines."
            )
        back = np.nonzero(np.diff(t) < 0)[0]
        if len(back):
            i = int(back[0])
            raise BadLog(
                f"Time runs backwards at sample {i + 2}: after t = {t[i]:.9g} s comes {t[i + 1]:.9g} s"
                f"{_and_more(len(back))}. Sort the log by its time, or cut it there if two runs follow each other."
            )
        return t

    def _sound(self, t: Array, several: Mapping[str, Array]) -> Flags:
        """Which samples are kept: whole ones, each time once."""
        keep = np.ones(len(t), dtype=bool)
        for name, values in several.items():
            if len(values) != len(t):
                raise BadLog(f"Column '{name}' has {len(values)} samples and the time {len(t)}; they must agree.")
            bad = ~np.isfinite(values)
            if bad.any():
                what = "NaN" if np.isnan(values[bad]).any() else "infinite"
                self.warn(f"'{name}' is {what} at t = {_stamps(t[bad])} s: such samples are left out, as gaps.")
                keep &= ~bad
        twice = np.nonzero(np.diff(t) == 0)[0]
        if len(twice):
            differ = [name for name, values in several.items() if (values[twice] != values[twice + 1])[
                np.isfinite(values[twice]) & np.isfinite(values[twice + 1])].any()]  # fmt: skip
            if differ:
                raise BadLog(
                    f"Time stands still at t = {_stamps(t[twice])} s while {listing(differ)} changes; "
                    "correct the times of these samples, or leave out all but one."
                )
            self.warn(f"Samples are there twice at t = {_stamps(t[twice])} s; the second one is left out.")
            keep[twice + 1] = False
        return keep

    def _refuse_short(self, t: Array) -> None:
        if len(t) < LEAST:
            raise BadLog(
                f"The log has {len(t)} usable samples; {LEAST} at least are needed, most of them before the strike."
            )

    def _tell_gaps(self, t: Array) -> None:
        long = _long_steps(t)
        if len(long):
            steps = np.diff(t)
            i = long[np.argmax(steps[long])]
            self.warn(
                f"Samples are missing after t = {_stamps(t[long])} s; the longest gap is {steps[i] * 1e3:.4g} ms, "
                f"{steps[i] / np.median(steps):.3g} steps, after t = {t[i]:.6g} s."
            )

    def _refuse_undetermined(self) -> None:
        """Velocities that no coordinate tells must be logged."""
        open_ = self.rig.undetermined()
        if open_:
            columns = listing(f"v.{name}" for name in open_)
            raise BadLog(f"The coordinates do not tell {listing(open_)}: log all velocities, {columns} among them.")

    def _configuration(self, q: Mapping[str, Array], n: int) -> Array:
        """All coordinates `(n, n_q)`: those that are not logged follow from the loops, or the log is not enough."""
        m, strike = self.rig.mechanism, self.rig.strike
        names = m.symbols.q_names
        followed = m.followed("q", q)  # of joints that mimic others
        missing = [name for name in names if name not in followed]
        whole = np.stack([np.broadcast_to(followed.get(name, self.rig.pose[i]), n) for i, name in enumerate(names)], -1)
        if not missing:
            return np.ascontiguousarray(whole)
        free = [names.index(name) for name in missing]
        p = np.array([self.rig.parameters[name] for name in strike.parameters], dtype=float)
        from jourdain.mechanism.assembly import assembler

        at = assembler(strike.inputs, strike.geometry, free)(self.rig.pose, np.zeros(len(m.symbols.v_names)), p)
        if not strike.geometry.numel() or np.linalg.matrix_rank(at["J"], tol=1e-8) < len(free):
            lacking, header = listing(f"q.{name}" for name in missing), Keyword("columns", {}, more=True)
            what = f"The log has no column for {lacking}, and has {listing(self.given)};"
            raise BadLog(Notice(what, header, " says what a coordinate is called there."))
        state = (whole, np.zeros((n, len(m.symbols.v_names))), np.broadcast_to(p, (n, len(p))))
        found, missed = strike.assembled(state, free)
        if not (missed <= CLOSED).all():
            i = int(np.argmax(~(missed <= CLOSED)))
            raise BadLog(
                f"{listing(missing)} is not logged and cannot be found from the loops at sample {i + 1}: "
                f"{missed[i]:.1e} remains. Check the units of the logged coordinates, or log it."
            )
        return found


def _long_steps(t: Array) -> NDArray[np.intp]:
    """The samples behind which others are missing."""
    steps = np.diff(t)
    return np.nonzero(steps > GAP * np.median(steps))[0] if len(steps) else np.zeros(0, dtype=np.intp)


def _stamps(t: Array) -> str:
    """Some times, and how many there are."""
    shown = ", ".join(f"{one:.6g}" for one in t[:SHOWN])
    return shown + (f", … ({len(t)} in all)" if len(t) > SHOWN else "")


def _and_more(n: int) -> str:
    return f", and {n - 1} times more" if n > 1 else ""
