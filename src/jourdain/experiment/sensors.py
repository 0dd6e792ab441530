"""What sensors make of a motion: samples, encoders that count, a force sensor with noise, offset and range."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.compute.memory import refuse_too_large
from jourdain.data.columns import Columns
from jourdain.errors import BadEvent, unknown
from jourdain.experiment.testbed import Run
from jourdain.inputs import Array, FilePath

if TYPE_CHECKING:
    import pandas
    import xarray

COPIES = 3  # of the samples, besides themselves, while they are made
COUNTED = {"rad": 2 * np.pi / 2**18, "m": 2e-6}  # what encoders tell apart where nothing is said, by unit


@dataclass(frozen=True)
class Sensors:
    """How a strike is measured: like the papers' device, unless something else is said.

    `resolution`: what the encoders tell apart, one number or {coordinate: number}; by itself 18 bits a turn, 2 µm
    along a slide. `rates`: whether velocities are logged too, with the noise `rate_noise`.
    """

    rate: float = 1000.0  # Hz
    resolution: float | Mapping[str, float] | None = None
    force_noise: float = 1e-3  # N, standard deviation
    force_offset: float = 0.0  # N, what it shows of no force
    force_resolution: float = 0.0  # N
    force_range: float = np.inf  # N, beyond which it saturates
    rates: bool = False
    rate_noise: float = 0.0

    def __post_init__(self) -> None:
        if not self.rate > 0 or not np.isfinite(self.rate):
            raise BadEvent(f"The rate of the sensors is above 0 Hz, not {self.rate!r}.")
        for name in ("force_noise", "force_resolution", "rate_noise"):
            if not getattr(self, name) >= 0:
                raise BadEvent(f"{name} is not negative, but {getattr(self, name)!r} is given.")
        if not self.force_range > 0:
            raise BadEvent(f"The force_range is above 0 N, not {self.force_range!r}.")


@dataclass(frozen=True, eq=False, repr=False)
class Recording:
    """A log as a data acquisition system writes it, and the run behind it."""

    run: Run
    t: Array  # (samples,), from 0
    q: Array  # (samples, n_q)
    force: Array  # (samples, rows), along `run.force_rows`
    v: Array | None  # (samples, n_v)
    onset: float  # where the strike is on the clock of the log, s
    end: float  # of compression, on that clock

    def __repr__(self) -> str:
        return f"<Recording: {len(self.t)} samples, {self.t[-1] - self.t[0]:.3g} s>"

    def frame(self) -> pandas.DataFrame:
        """The log as a table: `t [s]`, `q.NAME [rad]`, …, `force.ROW [N]`."""
        import pandas

        return pandas.DataFrame({column.header: column.values for column in Columns(self.to_dataset()).columns})

    def write(self, path: FilePath) -> None:
        """The log as .csv, .parquet, .nc or .json, in full or not at all."""
        from jourdain.data.files import write

        write(self.to_dataset(), path)

    def to_dataset(self) -> xarray.Dataset:
        """Along t: q, v and force."""
        import xarray

        m, rig = self.run.rig.mechanism, self.run.rig
        q_names, v_names, rows = list(m.symbols.q_names), list(m.symbols.v_names), list(self.run.force_rows)
        units = rig.event.layout.units
        data: dict[str, Any] = {"q": (("t", "coordinate"), self.q)}
        coords: dict[str, Any] = {
            "t": ("t", self.t, {"units": "s"}),
            "coordinate": q_names,
            "coordinate_unit": ("coordinate", [m.units.get(name, "") for name in q_names]),
        }
        if self.v is not None:
            data["v"] = (("t", "velocity"), self.v)
            coords |= {"velocity": v_names, "velocity_unit": ("velocity", [units.get(name, "") for name in v_names])}
        data["force"] = (("t", "row"), self.force)
        coords |= {"row": rows, "row_unit": ("row", [rig.row_unit(row) for row in rows])}
        return xarray.Dataset(data, coords)


def recorded(run: Run, sensors: Sensors, seed: int | None) -> Recording:
    """See `Run.record`."""
    rng = np.random.default_rng(seed)
    step = 1 / sensors.rate
    phase = 0.0 if seed is None else float(rng.uniform(0, step))  # a strike does not wait for a sample
    n = int((run.stop - run.start - phase) * sensors.rate) + 1
    n_numbers = 1 + len(run.rig.pose) + len(run.v_minus) + len(run.force_rows)
    remedy = "take a lower rate, or a shorter lead or after"
    refuse_too_large("The log", n, n_numbers, remedy, n_beside=COPIES * n * n_numbers, called="samples")
    t: Array = np.arange(n, dtype=float) * step
    found = run.at(run.start + phase + t)
    q = found["q"].copy()
    for i, size in enumerate(_resolutions(run, sensors)):
        if size:
            q[:, i] = np.round(q[:, i] / size) * size
    force = found["force"] + sensors.force_offset
    v = found["v"].copy() if sensors.rates else None
    if seed is not None:
        force = force + sensors.force_noise * rng.standard_normal(force.shape)
        if v is not None:
            v += sensors.rate_noise * rng.standard_normal(v.shape)
    if sensors.force_resolution:
        force = np.round(force / sensors.force_resolution) * sensors.force_resolution
    force = np.clip(force, -sensors.force_range, sensors.force_range)
    return Recording(run, t, q, force, v, -run.start - phase, run.end - run.start - phase)


def _resolutions(run: Run, sensors: Sensors) -> list[float]:
    """What the encoder of each coordinate tells apart; 0: everything."""
    names, units = run.rig.mechanism.symbols.q_names, run.rig.mechanism.units
    given = sensors.resolution
    if given is None:
        return [COUNTED.get(units.get(name, ""), 0.0) for name in names]
    if not isinstance(given, Mapping):
        return [float(given)] * len(names)
    for name in given:
        if name not in names:
            raise unknown("coordinate", name, names)
    return [float(given.get(name, 0.0)) for name in names]
