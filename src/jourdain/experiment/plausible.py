"""Units that are off by a factor of a thousand, degrees for radians, a sign: told by the balance of momentum.

The impulse that the sensor felt must be about the one that stops the model at the measured velocity. Where it is not by
far, the changes of unit that people forget are tried; the one that brings the two together is named.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import pi

import numpy as np
from numpy.typing import NDArray

from jourdain.errors import BadLog, listing
from jourdain.experiment.logs import Log
from jourdain.experiment.notices import Keyword, Notice
from jourdain.experiment.units import factor, si, word
from jourdain.inputs import Array

FITS = 5.0  # times: between a fifth and five times may be friction, motors, a mass that is not known well
TWO_FIT = 3.0  # two changes of unit at once must explain more: they fit almost anything
HOPELESS = 20.0  # times: nothing but a mistake
AGREE = 0.3  # of a velocity: rates that differ more from those of the coordinates are refused
TURNS = 4 * pi  # rad: an angle beyond it is more likely one in degrees


@dataclass(frozen=True)
class Slip:
    """A unit that people forget to say, or say wrongly: which columns, and the factor that sets them right."""

    columns: tuple[str, ...]
    word: str  # what the unit is then
    q: NDArray[np.float64] | float = 1.0  # factor of the coordinates, `(n_q,)`
    time: float = 1.0
    force: float = 1.0


def refuse_units(log: Log, q: Array, v: Array, impulse: float, onset: float, warn: Callable[[str], None]) -> None:
    """Raise, or warn where the units were given by hand, if others would make sense of the log."""
    ratio = _ratio(log, q, v, impulse, ())
    odd = _far(log)
    if 1 / FITS < ratio < FITS and not odd:
        return
    slips = _slips(log)
    several: list[tuple[Slip, ...]] = [(slip,) for slip in slips]
    several += [pair for pair in combinations(slips, 2) if not {*pair[0].columns} & {*pair[1].columns}]
    best, fitting = ratio, None
    for changed in several:
        if len(changed) > 1 and (fitting is not None or (1 / HOPELESS < ratio < HOPELESS and not odd)):
            break
        found, near = _ratio(log, q, v, impulse, changed), FITS if len(changed) == 1 else TWO_FIT
        if 1 / near < found < near and (fitting is None or abs(np.log(found)) < abs(np.log(best))):
            best, fitting = found, changed
    fits = 1 / FITS < ratio < FITS
    if fitting is None or (fits and abs(np.log(best)) > abs(np.log(ratio)) / 2 - 0.1):  # not clearly better
        if not np.isfinite(ratio):
            raise BadLog(
                f"The model has no motion at the measured state at t = {onset:.6g} s, "
                f"{_state(log, q)}: check the units and the origin of the coordinates."
            )
        if not 1 / HOPELESS < ratio < HOPELESS and f"force.{log.rig.normal}" not in log.trusted:
            unit = Keyword("units", {log.rig.normal: log.rig.force_unit(log.rig.normal) or "N"})
            raise BadLog(Notice(
                f"The impulse along '{log.rig.normal}' at t = {onset:.6g} s is {ratio:.3g} times what stops the model: "
                "check the units of times, coordinates and forces, and which column is which.", unit, " insists.",
            ))  # fmt: skip
        return  # what is still off is told when the impulse is known
    columns = [column for slip in fitting for column in slip.columns]
    told = " and ".join(f"{listing(slip.columns)} in {slip.word}" for slip in fitting)
    off = f"the impulse at t = {onset:.6g} s is {ratio:.3g} times what stops the model"
    if not np.isfinite(ratio):
        off = f"the model has no such motion at t = {onset:.6g} s"
    text = f"The log looks like {told}: as it is read, {off}; with that, the impulse is {best:.3g} times what stops it."
    if {*columns} <= log.trusted:
        warn(text)
        return
    given = Keyword("units", {slip.columns[0]: slip.word for slip in fitting}, more=True)
    kept = {slip.columns[0]: log.units.get(slip.columns[0]) or si(slip.word) for slip in fitting}
    as_it_is = Keyword("units", kept, more=True), " if it is right as it is."
    raise BadLog(Notice(text, "Say ", given, " or write it into the header; ", *as_it_is))


def refuse_rates(log: Log, logged: Array, moving: Array, onset: float) -> None:
    """Raise where the rates of coordinates that follow from logged velocities are not those that the log moves with."""
    if float(np.max(np.abs(logged - moving))) <= AGREE * float(np.max(np.abs(moving))):
        return
    i = int(np.argmax(np.abs(logged - moving)))
    name, ratio = log.rig.mechanism.symbols.q_names[i], float(logged[i] / moving[i]) if moving[i] else np.inf
    turning = {"deg/s": 180 / pi, "rpm": 60 / (2 * pi), "mrad/s": 1e3}
    words = turning if _unit(log, name) == "rad" else {"mm/s": 1e3, "cm/s": 1e2}
    near = [word for word, factor in words.items() if abs(ratio / factor - 1) < AGREE / 2]
    remedy: tuple[str | Keyword, ...] = ("Correct them, or leave them out.",)
    if near:
        remedy = f"They look like {near[0]}: say ", Keyword("units", {f"v.{name}": near[0]}, more=True), "."
    what = f"The logged rates have '{name}' move with {logged[i]:.4g} at t = {onset:.6g} s, but it moves with"
    raise BadLog(Notice(f"{what} {moving[i]:.4g}.", *remedy))


def _state(log: Log, q: Array) -> str:
    names = log.rig.mechanism.symbols.q_names
    return ", ".join(f"{name} = {value:.4g}" for name, value in zip(names[:4], q, strict=False))


def _ratio(log: Log, q: Array, v: Array, impulse: float, slips: tuple[Slip, ...]) -> float:
    """Felt by needed impulse with these changes; NaN where the model has no such state."""
    q_factor: NDArray[np.float64] | float = 1.0
    time, force = 1.0, 1.0
    for slip in slips:
        q_factor, time, force = q_factor * slip.q, time * slip.time, force * slip.force
    names = log.rig.mechanism.symbols
    rates = np.broadcast_to(q_factor, len(names.q_names))
    # A velocity scales as its coordinate does; quasi-velocities stay what they are but for the time.
    by_name = dict(zip(names.q_names, rates, strict=True))
    scale = np.array([by_name.get(name, 1.0) for name in names.v_names])
    needed = float(log.rig.states(q * q_factor, v * scale / time)["stop"])
    return impulse * force * time / needed if needed > 0 else float("nan")


def _far(log: Log) -> bool:
    """Whether an angle lies where angles in radians rarely do."""
    angles = [i for i, name in enumerate(log.rig.mechanism.symbols.q_names) if _unit(log, name) == "rad"]
    return bool(angles) and bool(np.max(np.abs(log.q[:, angles])) > TURNS)


def _unit(log: Log, name: str) -> str:
    return log.rig.mechanism.units.get(name, "")


def _slips(log: Log) -> list[Slip]:
    """The likely ones first."""
    names = log.rig.mechanism.symbols.q_names
    forces = tuple(f"force.{row}" for row in log.forces)

    def as_read(column: str, expected: str, times: float) -> str:
        """The unit that a column has if its numbers, as they are read, must be multiplied."""
        return word(expected, factor(column, log.units.get(column, ""), expected) * times)

    def coordinates(unit: str, times: float) -> Slip:
        chosen = [_unit(log, name) in (unit, "") for name in names]  # one without a unit may be either
        columns = tuple(f"q.{name}" for name, one in zip(names, chosen, strict=True) if one)
        return Slip(columns, as_read(columns[0], unit, times) if columns else "", np.where(chosen, times, 1.0))

    def force(times: float) -> Slip:
        return Slip(forces, as_read(forces[0], log.rig.force_unit(log.rig.normal) or "N", times), force=times)

    def clock(times: float) -> Slip:
        return Slip(("t",), as_read("t", "s", times), time=times)

    tried = [
        coordinates("rad", pi / 180), force(1e-3), coordinates("m", 1e-3), clock(1e-3), clock(1e-6), force(1e3),
        force(-1.0), coordinates("rad", 180 / pi), clock(1e3), coordinates("rad", 1e-3),
    ]  # fmt: skip
    return [slip for slip in tried if slip.word]
