"""The samples of one strike: which contact of a log it is, where it begins, and what lies before and within it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from jourdain.errors import BadLog
from jourdain.experiment import contacts
from jourdain.experiment.contacts import ChannelContacts, ContactInterval
from jourdain.experiment.edges import Edge, Edges
from jourdain.experiment.kink import kink
from jourdain.experiment.logs import Log
from jourdain.experiment.notices import Keyword, Notice
from jourdain.inputs import Array

LEAST_BEFORE = 7  # samples between the contact before, or the beginning, and the strike
QUIET = 200  # samples before a strike that tell the noise
LOCAL = 2000  # samples on either side of a strike that are looked at
SPIKE = 0.05  # of the largest force: what stands out by more before a contact is worth a warning
AWAY = 3  # samples between a given onset and the felt one that are worth a warning


@dataclass(frozen=True, eq=False)
class StrikeSamples:
    """Where a strike lies in its log. `warn`: takes what is worth a warning."""

    log: Log
    channel: ChannelContacts  # of the normal force
    number: int  # of the contact, from 1
    onset: float  # s
    onset_noise: float  # s, standard deviation; 0 of an onset that was given
    onset_given: bool
    before: slice
    within: slice  # the contact
    edges: Edges
    warn: Callable[[str], None]

    @property
    def contact(self) -> ContactInterval:
        return self.channel.contacts[self.number - 1]

    def force(self, row: str) -> tuple[Array, float]:
        """A force above its baseline, and its noise."""
        base, noise = contacts.baseline(self.log.t, self.log.forces[row], self.channel.lead)
        return self.log.forces[row] - base, noise

    def check_gap(self, start: float, end: float, where: str) -> None:
        """Raise BadLog if samples are missing between two times."""
        for a, b in self.log.gaps:
            if b > start and a < end:
                raise BadLog(
                    f"Samples are missing from t = {a:.6g} to {b:.6g} s, {where} of the strike at "
                    f"t = {self.onset:.6g} s; nothing can be told of it."
                )

    def release(self) -> tuple[float | None, float]:
        """The end of the contact and its standard deviation, s; None and NaN where the log ends before."""
        if not self.contact.ends:
            return None, np.nan
        return contacts.release_of(self.log.t, self.channel.force, self.contact)

    def moved_to_kink(self, minus: Edge) -> StrikeSamples:
        """With the onset where the motion departs from the approach, see `kink`."""
        log, rig = self.log, self.log.rig
        t, q = log.t[self.within], log.q[self.within]
        C = rig.normal_row(minus.q)
        away = rig.velocities(np.broadcast_to(minus.q, q.shape), q - minus.places.value(t)) @ C
        first, last = self.within.start, self.contact.last
        free, force = float(log.t[first - 1]), self.channel.force
        start, at_first = (contacts.extrapolated(log.t, force, first, last, at)[0] for at in (free, t[0]))
        slope = (at_first - start) / (t[0] - free)
        times = np.append(free, t)
        onset, noise = kink(times, away, force[self.within], (start, slope))
        carried = float(np.sqrt(np.sum((C * minus.noise) ** 2))) * (t - onset)  # the approach is not sure either
        other, _ = kink(times, away + carried, force[self.within], (start, slope))
        return replace(self, onset=onset, onset_noise=float(np.hypot(noise, other - onset)))


def contacts_of(log: Log) -> ChannelContacts:
    """The contacts that the normal force shows; NoContact where there are none."""
    found = contacts.find_contacts(log.t, log.forces[log.rig.normal])
    contacts.check_contacts(found, log.t, log.rig.normal)
    return found


def strike_samples(
    log: Log,
    number: int | None,
    onset: float | None,
    end: float | None,
    window: float | None,
    warn: Callable[[str], None],
) -> StrikeSamples:
    """See `Log.strike`."""
    for name, value in (("onset", onset), ("end", end), ("window", window)):
        if value is not None and not (isinstance(value, int | float) and np.isfinite(value)):
            raise BadLog(f"{name} is a time in s, not {value!r}.")
    if window is not None and not window > 0:
        raise BadLog(f"window is a time in s, above 0, not {window!r}.")
    channel = contacts_of(log)
    number = _chosen(log, channel, number, onset, warn)
    contact = channel.contacts[number - 1]
    placed = _placed(log, contact, onset, end, warn)
    first = int(np.searchsorted(log.t, placed))
    start = channel.contacts[number - 2].last + 1 if number > 1 else 0
    if first - start < LEAST_BEFORE:
        raise BadLog(
            f"Only {first - start} samples lie before the strike at t = {placed:.6g} s; {LEAST_BEFORE} at "
            "least are needed to tell the velocity."
        )
    before, within = slice(max(start, first - LOCAL), first), slice(first, contact.last + 1)
    edges = Edges(log, slice(max(start, first - QUIET), first), window)
    noise = contact.unsure if onset is None else 0.0
    return StrikeSamples(log, channel, number, placed, noise, onset is not None, before, within, edges, warn)


def _chosen(
    log: Log, channel: ChannelContacts, number: int | None, onset: float | None, warn: Callable[[str], None]
) -> int:
    """The number of the contact: as given, the one that follows a given onset, or the first."""
    intervals, t = channel.contacts, log.t
    if number is not None and not (isinstance(number, int) and 1 <= number <= len(intervals)):
        n = len(intervals)
        raise BadLog(Notice(f"The log has {n} contacts;", "choose ", Keyword("number", 1), f" … {n}, not {number!r}."))
    if number is None and onset is not None:
        after = [i for i, one in enumerate(intervals) if t[one.last] > onset]
        if not after:
            last = t[intervals[-1].last]
            raise BadLog(f"No contact follows onset = {onset:.6g} s: the last one ends at t = {last:.6g} s.")
        return after[0] + 1
    if number is None and len(intervals) > 1:
        others = ", ".join(f"{one.onset:.6g}" for one in intervals[:5]) + (", …" if len(intervals) > 5 else "")
        what = f"There are {len(intervals)} contacts in the log, from t = {others} s; the first is taken."
        warn(Notice(what, Keyword("number", 2, method="strike"), " takes the second."))
    first = intervals[(number or 1) - 1]
    for i in channel.spikes:
        if i < first.first and abs(channel.force[i]) > SPIKE * abs(first.peak):
            warn(f"'{log.rig.normal}' stands out at t = {t[i]:.6g} s for less than 3 samples; that is no contact.")
    return number or 1


def _placed(
    log: Log, contact: ContactInterval, onset: float | None, end: float | None, warn: Callable[[str], None]
) -> float:
    """The onset, found or given."""
    t = log.t
    if onset is None and contact.begins:
        raise BadLog(f"The log begins in contact, at t = {t[0]:.6g} s; it must begin before the strike.")
    if onset is not None and not t[0] < onset < t[-1]:
        raise BadLog(f"onset = {onset:.6g} s lies outside the log, {t[0]:.6g} to {t[-1]:.6g} s.")
    if onset is None:
        onset = contact.onset
    elif abs(onset - contact.onset) > AWAY * log.step:
        warn(f"The onset is given as {onset:.6g} s, but '{log.rig.normal}' is first felt at t = {contact.onset:.6g} s.")
    if end is not None and not onset < end <= t[-1]:
        raise BadLog(f"end = {end:.6g} s must lie behind the onset {onset:.6g} s and within the log ({t[-1]:.6g} s).")
    return float(onset)
