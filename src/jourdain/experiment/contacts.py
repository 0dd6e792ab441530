"""Where a force sensor feels contacts: baseline and noise, onsets, ends, saturation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from jourdain.errors import NoContact

Array = NDArray[np.float64]
LEAST_LEAD = 20  # samples before the first contact that tell baseline and noise
MOST_LEAD = 200
FELT = 6.0  # standard deviations above the baseline, in several samples on end
TRACE = 3.0  # and where such a run really begins
SMALL = 1e-3  # of the largest force: less is no contact, however quiet the sensor
STRAIGHT = 3  # samples through which a force is carried back
JUMP = 0.05  # of the largest force: more than that before the first sample is a jump
RISE = 6  # samples that tell how a contact begins
POWERS = (0.5, 1.0, 1.5, 2.0)  # of the time since its onset, with which a force may grow
LEAST = 3  # samples of a contact
APART = 3  # samples between two contacts
FLAT = 3  # equal samples at the extreme are a sensor that saturates


@dataclass(frozen=True)
class Contact:
    """One stretch of contact. `first`, `last`: the samples that feel it; `onset`: between samples, s."""

    first: int
    last: int
    onset: float
    begins: bool  # the log begins in it
    ends: bool  # it ends before the log does
    peak: float  # the largest force above the baseline, with its sign
    jump: bool  # the force is there at once, so that it does not tell where between two samples it began


@dataclass(frozen=True)
class Felt:
    """What one force channel tells."""

    baseline: float
    noise: float  # standard deviation
    lead: int  # samples that the baseline is from
    contacts: tuple[Contact, ...]
    spikes: tuple[int, ...]  # samples that stand out alone

    def about(self, force: Array) -> Array:
        """The force above the baseline."""
        return force - self.baseline


def felt(t: Array, force: Array) -> Felt:
    """The contacts of a force channel `(n,)`: stretches in which it stands out of the noise of its beginning."""
    lead = min(max(LEAST_LEAD, min(len(t) // 10, MOST_LEAD)), len(t))
    baseline, noise = _quiet(force[:lead])
    out = np.abs(force - baseline)
    threshold = max(FELT * noise, SMALL * float(out.max(initial=0.0)))
    if threshold == 0:
        return Felt(baseline, noise, lead, (), ())
    runs, spikes = _runs(out > threshold)
    trace = max(TRACE * noise, SMALL * float(out.max()) / 10)
    contacts = []
    for first, last in runs:
        while first > 0 and out[first - 1] > trace and np.sign(force[first - 1] - baseline) == np.sign(
            force[first] - baseline
        ):  # fmt: skip
            first -= 1
        while last + 1 < len(t) and out[last + 1] > trace:
            last += 1
        peak = float((force - baseline)[first : last + 1][np.argmax(out[first : last + 1])])
        onset, jump = _onset(t, out, first, last)
        contacts.append(Contact(first, last, onset, first == 0, last + 1 < len(t), peak, jump))
    return Felt(baseline, noise, lead, _joined(t, out, contacts), spikes)


def _quiet(lead: Array) -> tuple[float, float]:
    """Baseline and noise, by the median: a contact within the lead hardly moves them."""
    baseline = float(np.median(lead))
    noise = float(1.4826 * np.median(np.abs(lead - baseline)))
    if noise == 0:  # a sensor that counts in coarse steps shows one value most of the time
        noise = float(np.std(lead)) if np.median(np.abs(lead - baseline)) == 0 < np.std(lead) else 0.0
    return baseline, noise


def _runs(out: NDArray[np.bool_]) -> tuple[list[tuple[int, int]], tuple[int, ...]]:
    """Stretches of samples that stand out, those closer than APART joined; and those that are too short for one."""
    edges = np.diff(np.concatenate([[0], out.astype(np.int8), [0]]))
    starts, ends = np.nonzero(edges == 1)[0], np.nonzero(edges == -1)[0] - 1
    joined: list[tuple[int, int]] = []
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        if joined and start - joined[-1][1] <= APART and end - start + 1 >= LEAST:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    long = [run for run in joined if run[1] - run[0] + 1 >= LEAST]
    spikes = tuple(start for start, end in joined if end - start + 1 < LEAST)
    return long, spikes


def _joined(t: Array, out: Array, contacts: list[Contact]) -> tuple[Contact, ...]:
    """Contacts whose traces overlap are one."""
    found: list[Contact] = []
    for contact in contacts:
        if found and contact.first <= found[-1].last + 1:
            last = found[-1]
            peak = max((last.peak, contact.peak), key=abs)
            found[-1] = replace(last, last=contact.last, ends=contact.ends, peak=peak)
        else:
            found.append(contact)
    return tuple(found)


def _onset(t: Array, out: Array, first: int, last: int) -> tuple[float, bool]:
    """Where the force begins, and whether it is there at once.

    One that grows does so as (t − onset)ⁿ, n as suits its first samples best: a straight line would come late for the
    gentle start of a sphere on a plane, n = 1.5. The onset lies behind the last sample that feels nothing, but for what
    may hide in the noise. Of a force that jumps the middle between two samples is taken.
    """
    if first == 0:
        return float(t[0]), False
    before = float(t[first] - t[first - 1])
    if extrapolated(t, out, first, last, float(t[first - 1])) > JUMP * float(out[first : last + 1].max()):
        return float(t[first]) - before / 2, True
    samples = slice(first, min(first + RISE, last + 1))
    times, force = t[samples], out[samples]
    rising = int(np.argmax(np.append(np.diff(force) <= 0, True))) + 1  # then it goes over into something else
    times, force = times[:rising] - t[first], force[:rising]
    best, least = 0.0, np.inf
    for n in POWERS if rising > 2 else (1.0,) if rising > 1 else ():
        start, slope = np.polynomial.polynomial.polyfit(times, force ** (1 / n), 1)
        if slope > 0:
            left = float(np.sum((np.maximum(start + slope * times, 0) ** n - force) ** 2))
            if left < least:
                best, least = -float(start / slope), left
    return float(t[first]) + float(np.clip(best, -1.5 * before, 0.0)), False


def extrapolated(t: Array, force: Array, first: int, last: int, at: float) -> float:
    """The force before the first sample that feels it, on the line through the first ones."""
    samples = slice(first, min(first + STRAIGHT, last + 1))
    if samples.stop - samples.start < 2:
        return float(force[first])
    return float(np.polynomial.polynomial.polyfit(t[samples] - at, force[samples], 1)[0])


def saturated(t: Array, force: Array, first: int, last: int) -> tuple[float, float, float] | None:
    """(from, to, level) where samples are stuck at an extreme of the channel; None if they are not.

    Near a smooth peak a coarse sensor shows equal samples too: then the samples beside them are one step away.
    """
    stretch = force[first : last + 1]
    for level in (float(force.max()), float(force.min())):
        stuck, _ = _runs(stretch == level)
        moved = np.abs(np.diff(stretch))
        step = float(np.min(moved[moved > 0], initial=np.inf))
        for start, end in stuck:
            if end - start + 1 < FLAT:
                continue
            beside = [abs(level - float(stretch[i])) for i in (start - 1, end + 1) if 0 <= i < len(stretch)]
            if beside and max(beside) > 3 * step:
                return float(t[first + start]), float(t[first + end]), level
    return None


def refuse_none(found: Felt, t: Array, force: Array, row: str) -> None:
    """Raise where nothing is felt."""
    if found.contacts:
        return
    i = int(np.argmax(np.abs(force - found.baseline)))
    if found.spikes:
        raise NoContact(
            f"'{row}' has no contact that lasts {LEAST} samples: it only stands out at t = {t[found.spikes[0]]:.6g} s, "
            f"by {force[found.spikes[0]] - found.baseline:.4g}. Sample faster, or give onset= and end=."
        )
    raise NoContact(
        f"There is no contact in the log: '{row}' departs from its baseline {found.baseline:.4g} by "
        f"{abs(force[i] - found.baseline):.4g} at most, at t = {t[i]:.6g} s; its noise is {found.noise:.2g}."
    )
