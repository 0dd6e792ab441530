"""A strike out of a log: the motion before its onset and at the end of compression, and the impulses between."""

from __future__ import annotations

import warnings

import numpy as np

from jourdain.errors import BadLog, LogWarning
from jourdain.experiment.compression import compression_end, end_noise, warn_of_doubts
from jourdain.experiment.edges import Edge
from jourdain.experiment.impulses import impulses, rough_impulse, warn_if_off
from jourdain.experiment.logs import Log
from jourdain.experiment.plausible import refuse_rates, refuse_units
from jourdain.experiment.rig import Rig
from jourdain.experiment.slopes import DEGREE
from jourdain.experiment.standstill import warn_of_standstill
from jourdain.experiment.strike import State, Strike, Until
from jourdain.experiment.strike_samples import LEAST_BEFORE, LOCAL, StrikeSamples, strike_samples
from jourdain.experiment.uncertainty import uncertainties

CURVE = 61  # samples, at most, of a window of the curves over time


def split(log: Log, number: int | None, onset: float | None, end: float | None, window: float | None) -> Strike:
    """See `Log.strike`."""
    said: list[str] = []

    def warn(text: str) -> None:
        said.append(text)
        warnings.warn(text, LogWarning, stacklevel=6)

    rig = log.rig
    samples, minus = _approach(strike_samples(log, number, onset, end, window, warn))
    before = rig.states(minus.q, minus.v)
    u_minus = float(before["u"])
    if not u_minus < 0:
        raise BadLog(
            f"'{rig.normal}' does not close before the contact at t = {samples.onset:.6g} s: u = {u_minus:.4g}. "
            "Check the signs of the coordinates, the row, or the onset."
        )
    plus = compression_end(samples, end, u_minus)
    samples.check_gap(samples.onset, plus.t, "within the compression")
    after = rig.states(plus.q, plus.v)
    warn_of_doubts(samples, minus, plus, u_minus, float(after["u"]), end is not None)
    unsure_end = 0.0 if end is not None else end_noise(samples, plus)
    growing = samples.edges.slopes(minus)
    release, unsure_release = samples.release()
    free = None if release is None else _after(samples, release)
    released = None if free is None else _state(rig, free)
    until: Until = "contact" if free is not None and rig.elastic(minus.q, minus.v) else "compression"
    if free is not None and until == "contact":
        samples.check_gap(plus.t, free.t, "within the contact")
    felt = impulses(samples, plus.t, unsure_end, until == "contact")
    sides = {"minus": (minus, samples.onset_noise), "plus": (plus, unsure_end), "release": (free, unsure_release)}
    uncertainty = {"onset": samples.onset_noise, "end": unsure_end, "release": unsure_release}
    uncertainty |= {**uncertainties(samples, sides), **felt.uncertainty}
    uncertainty["loss"] = float(np.hypot(uncertainty["T_minus"], uncertainty["T_plus"]))
    if released is not None:
        of_u = uncertainty[f"u_release.{rig.normal}"], uncertainty[f"u_minus.{rig.normal}"] * released.u / u_minus
        uncertainty["restitution_newton"] = float(np.hypot(*of_u)) / abs(u_minus)
    # What drove it before drives it on during the compression.
    driven = 1 + max(growing["u"] * (plus.t - samples.onset) / u_minus, 0.0)
    warn_if_off(samples, felt.compression[rig.normal], float(before["stop"]) * driven)
    breaks, windows = _segments(samples, minus)
    return Strike(
        log=log, number=samples.number, onset=samples.onset, end=plus.t, release=release, until=until,
        q_minus=minus.q, v_minus=minus.v, q_plus=plus.q, v_plus=plus.v,
        T_minus=float(before["T"]), T_c_minus=float(before["T_c"]), T_a_minus=float(before["T_a"]),
        T_plus=float(after["T"]), T_c_plus=float(after["T_c"]), T_a_plus=float(after["T_a"]),
        u_minus=u_minus, released=released, impulse=felt.compression, impulse_contact=felt.contact,
        uncertainty=uncertainty, warnings=(*log.warnings, *said), breaks=breaks, windows=windows,
    )  # fmt: skip


def _approach(samples: StrikeSamples) -> tuple[StrikeSamples, Edge]:
    """The state just before the onset, and the samples with the onset where the motion says it is."""
    log, onset = samples.log, samples.onset
    samples.check_gap(float(log.t[samples.within.start - 1]), onset, "at the onset")
    minus = samples.edges.at(samples.before, onset, DEGREE)
    warn_of_standstill(samples, minus)
    if minus.rates is not None:
        refuse_rates(log, log.rig.rates(minus.q, minus.v), minus.places.rate(onset), onset)
    rough = rough_impulse(samples)
    if rough is not None:
        refuse_units(log, minus.q, minus.v, rough, onset, samples.warn)
    if samples.onset_given or not samples.contact.jump:
        return samples, minus
    samples = samples.moved_to_kink(minus)
    return samples, samples.edges.at(samples.before, samples.onset, DEGREE)


def _after(samples: StrikeSamples, release: float) -> Edge | None:
    """The state just after the contact; None where too few samples are left before the next one."""
    log, number, contacts = samples.log, samples.number, samples.channel.contacts
    start = samples.contact.last + 1
    stop = contacts[number].first if number < len(contacts) else len(log.t)
    if stop - start < LEAST_BEFORE:
        return None
    return samples.edges.at(slice(start, min(stop, start + LOCAL)), release, DEGREE)


def _state(rig: Rig, edge: Edge) -> State:
    at = rig.states(edge.q, edge.v)
    return State(edge.q, edge.v, *(float(at[name]) for name in ("T", "T_c", "T_a", "u")))


def _segments(samples: StrikeSamples, minus: Edge) -> tuple[list[int], list[int]]:
    """Where segments of the log begin, and the window of each: what serves best on either side of the onset."""
    free, touching = min(minus.n, CURVE), samples.edges.at(samples.within, samples.onset, DEGREE).n
    breaks, windows = [], [free]
    for contact in samples.channel.contacts:
        breaks += [contact.first, contact.last + 1] if contact.ends else [contact.first]
        windows += [touching, free] if contact.ends else [touching]
    if breaks and breaks[0] == 0:
        return breaks[1:], windows[1:]
    return breaks, windows
