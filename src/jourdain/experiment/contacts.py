"""Where a force sensor feels contacts: baseline and noise, onsets, ends, saturation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.polynomial.polynomial import polyfit, polyval

from jourdain.errors import NoContact
from jourdain.experiment.slopes import count_of
from jourdain.inputs import Array, Flags

FEW = 7  # samples without contact that a log must begin with
MOST_LEAD = 200  # samples before the first contact that tell baseline, drift and noise
CLEAR = 0.2  # of the largest force: no doubt a contact
FELT = 6.0  # standard deviations above the baseline, in several samples on end
TRACE = 4.0  # and where such a run really begins
SMALL = 1e-3  # of the largest force: less is no contact, however quiet the sensor
DRIFTS = 4.0  # standard deviations, over the lead, of a baseline that is no constant
LEAST = 3  # samples of a contact
APART = 3  # samples between two contacts
STRAIGHT = 3  # samples through which a force is carried back
JUMP = 0.05  # of the largest force: more than that before the first sample is a jump
RISEN = 0.1  # of the largest force: the beginning of a contact is over there
RISE = 6  # samples, at least, that tell how a contact begins
SMOOTH = 0.15  # of a step: how sure the onset of a force is that grows over several samples
GENTLE = 0.1  # of its beginning: the same where that is longer
POWERS = (0.5, 1.0, 1.5, 2.0, 3.0)  # of the time since its onset, with which a force may grow
ALIKE = 2.5  # times what the best of them leaves: powers that do as well
FLAT = 3  # samples at the extreme, which a sensor that saturates shows
BESIDE = 4  # samples on either side of them, which tell how high the force went


@dataclass(frozen=True)
class ContactInterval:
    """One stretch of contact. `first`, `last`: the samples that feel it; `onset`: between samples, s."""

    first: int
    last: int
    onset: float
    begins: bool  # the log begins in it
    ends: bool  # it ends before the log does
    peak: float  # the largest force above the baseline, with its sign
    jump: bool  # the force is there at once, so that it does not tell where between two samples it began
    unsure: float  # s, standard deviation of the onset


@dataclass(frozen=True)
class ChannelContacts:
    """What one force channel tells. `lead`: the samples before the first contact that the baseline is from."""

    lead: slice
    noise: float  # standard deviation
    contacts: tuple[ContactInterval, ...]
    spikes: tuple[int, ...]  # samples that stand out alone
    force: Array  # (n,), above the baseline


def find_contacts(t: Array, force: Array) -> ChannelContacts:
    """The contacts of a force channel `(n,)`: stretches in which it stands out of the noise before the first."""
    lead = _lead(force)
    base, noise = baseline(t, force, lead)
    above = force - base
    out = np.abs(above)
    largest = float(out.max(initial=0.0))
    threshold = max(FELT * noise, SMALL * largest)
    if threshold == 0:
        return ChannelContacts(lead, noise, (), (), above)
    runs, spikes = _runs(out > threshold)
    trace = max(TRACE * noise, SMALL * largest / 10)
    contacts: list[ContactInterval] = []
    for sure, last in runs:
        first = sure
        while first > 0 and out[first - 1] > trace and above[first - 1] * above[first] > 0:
            first -= 1
        while last + 1 < len(t) and out[last + 1] > trace:
            last += 1
        if first < sure and _jumps(t, out, sure, last) > 4 * out[sure - 1]:  # a stray before a jump is no beginning
            first = sure
        peak = float(above[first : last + 1][np.argmax(out[first : last + 1])])
        if contacts and first <= contacts[-1].last + 1:  # their traces overlap
            joined = max((contacts[-1].peak, peak), key=abs)
            contacts[-1] = replace(contacts[-1], last=last, ends=last + 1 < len(t), peak=joined)
            continue
        onset, jump, unsure = _onset(t, out, first, last)
        contacts.append(ContactInterval(first, last, onset, first == 0, last + 1 < len(t), peak, jump, unsure))
    return ChannelContacts(lead, noise, tuple(contacts), spikes, above)


def _lead(force: Array) -> slice:
    """The samples before the first contact that is beyond doubt, as far from it as it takes to rise."""
    out = np.abs(force - _free(force))
    rough = _spread(np.diff(force)) / np.sqrt(2)  # the noise, by what changes from sample to sample
    clear, _ = _runs(out > max(CLEAR * float(out.max(initial=0.0)), FELT * rough))
    if not clear:
        return slice(0, min(len(force), MOST_LEAD))
    first, last = clear[0]
    rise = int(np.argmax(out[first : last + 1])) + LEAST
    end = max(first - rise, min(first, FEW))
    return slice(max(0, end - MOST_LEAD), end)


def _free(force: Array) -> float:
    """Roughly what the sensor shows without contact: what it begins with, if it stays there for a while.

    Of a log that begins in contact, what it shows most of the time.
    """
    begins, mostly = float(np.median(force[:5])), float(np.median(force))
    wide = 0.02 * float(np.ptp(force))
    stays = int(np.argmax(np.append(np.abs(force - begins) > wide, True)))
    return begins if stays >= FEW else mostly


def baseline(t: Array, force: Array, lead: slice) -> tuple[Array, float]:
    """What the channel shows of no force `(n,)`, and its noise. A drift is followed where the lead shows one."""
    times, quiet = t[lead], force[lead]
    if len(quiet) < 2:
        return np.full(len(t), float(np.median(force[: max(len(quiet), 1)]))), 0.0
    level = float(np.median(quiet))
    noise = _spread(quiet - level)
    if len(quiet) >= 2 * FEW:
        line = polyfit(times - times[-1], quiet, 1)
        left = _spread(quiet - polyval(times - times[-1], line))
        if abs(line[1]) * (times[-1] - times[0]) > DRIFTS * left:
            return np.asarray(polyval(t - times[-1], line)), left
    near = quiet[np.abs(quiet - level) <= TRACE * noise]  # the mean of those is surer than the median
    return np.full(len(t), float(np.mean(near)) if len(near) else level), noise


def _spread(values: Array) -> float:
    """The standard deviation, by the median, which strays hardly move; of coarse steps, as it is."""
    spread = float(1.4826 * np.median(np.abs(values - np.median(values))))
    return spread if spread > 0 else float(np.std(values))


def _runs(out: Flags) -> tuple[list[tuple[int, int]], tuple[int, ...]]:
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


def _jumps(t: Array, out: Array, first: int, last: int) -> float:
    """The force carried back to the sample before, where that says that it was there at once; else 0."""
    carried, _ = extrapolated(t, out, first, last, float(t[first - 1]))
    return carried if carried > JUMP * float(out[first : last + 1].max()) else 0.0


def _onset(t: Array, out: Array, first: int, last: int) -> tuple[float, bool, float]:
    """Where the force begins, whether it is there at once, and the standard deviation.

    One that grows does so as (t − onset)ⁿ, n as suits its beginning best: a straight line would come late for the
    gentle start of a sphere on a plane, n = 1.5. The onset lies behind the last sample that feels nothing; of a long,
    gentle start as much may hide in the noise as is seen of it. Of a force that jumps the middle between two samples is
    taken.
    """
    if first == 0:
        return float(t[0]), False, 0.0
    before = float(t[first] - t[first - 1])
    if _jumps(t, out, first, last):
        return float(t[first]) - before / 2, True, before / np.sqrt(12)
    stretch = out[first : last + 1]
    n = max(RISE, int(np.argmax(np.append(stretch > RISEN * stretch.max(), True))))
    times, force = t[first : first + n] - t[first], stretch[:n]
    if n == RISE:
        n = int(np.argmax(np.append(np.diff(force) <= 0, True))) + 1  # then it goes over into something else
        times, force = times[:n], force[:n]
    several = []
    for power in POWERS if n > 2 else (1.0,) if n > 1 else ():
        start, slope = polyfit(times, force ** (1 / power), 1)
        if slope > 0:
            left = float(np.sum((np.maximum(start + slope * times, 0) ** power - force) ** 2))
            several.append((left, -float(start / slope)))
    if not several:
        return float(t[first]) - before / 2, False, before / np.sqrt(12)
    back = max(before, float(times[-1]) if n > RISE else 0.0)
    least = min(left for left, _ in several)
    alike = np.clip([onset for left, onset in several if left <= ALIKE * least], -back, 0.0)  # none is clearly better
    least_sure = SMOOTH * before if n == RISE else GENTLE * float(times[-1]) if n > RISE else before / np.sqrt(12)
    unsure = float(np.hypot(least_sure, np.ptp(alike) / 2))
    return float(t[first]) + float(alike.min() + alike.max()) / 2, False, unsure


def release_of(t: Array, force: Array, contact: ContactInterval) -> tuple[float, float]:
    """Where the force of a contact ends, and the standard deviation: its onset in time that runs backwards."""
    n = len(t) - 1
    back, _, unsure = _onset(-t[::-1], np.abs(force[::-1]), n - contact.last, n - contact.first)
    return -back, unsure


def extrapolated(t: Array, force: Array, first: int, last: int, at: float) -> tuple[float, float]:
    """The force before the first sample that feels it, and how unsure it is.

    On the line or the parabola through the first samples, whichever has less force, and not less than none: a coarse
    beginning that bends is no jump. Their distance tells how unsure it is.
    """
    samples = slice(first, min(first + STRAIGHT, last + 1))
    n, sign = samples.stop - samples.start, float(np.sign(force[first]))
    if n < 2:
        return float(force[first]), 0.0
    carried = [float(polyfit(t[samples] - at, sign * force[samples], degree)[0]) for degree in range(1, n)]
    return sign * max(min(carried), 0.0), float(np.ptp(carried))


def saturated(
    t: Array, force: Array, base: Array, noise: float, contact: ContactInterval
) -> tuple[float, float, float] | None:
    """(from, to, level) where a sensor is at its limit during a contact; None if it is not. `base`: what it rests at.

    Samples that stay at the extreme, within the noise, while those on either side of them point beyond it; or that are
    the same to the last digit, of a sensor that does not count.
    """
    inside = slice(contact.first, contact.last + 1)
    times, values = t[inside], force[inside]
    for sign in (1.0, -1.0):
        side = sign * values
        level, i = float(side.max()), int(np.argmax(side))
        if level - sign * base[inside][i] < CLEAR * float(np.max(np.abs(values - base[inside]))):
            continue  # the side to which it does not push
        stuck, _ = _runs(side >= level - max(3 * noise, 1e-12 * abs(level)))
        for start, end in stuck:
            flat = side[start : end + 1]
            same = int(np.sum(flat == level)) >= FLAT and count_of(force) == 0
            if same or _beyond(times, side, start, end) > level + max(6 * noise, 0.02 * abs(level)):
                return float(times[start]), float(times[end]), sign * level
    return None


def _beyond(t: Array, force: Array, start: int, end: int) -> float:
    """How high a parabola through the samples beside a stretch goes within it; −inf where they are too few."""
    sides = np.r_[max(start - BESIDE, 0) : start, end + 1 : min(end + 1 + BESIDE, len(t))]
    if start < 2 or len(t) - 1 - end < 2:
        return -np.inf
    middle = float(t[start] + t[end]) / 2
    return float(polyfit(t[sides] - middle, force[sides], 2)[0])


def check_contacts(found: ChannelContacts, t: Array, row: str) -> None:
    """Raise NoContact where nothing is felt."""
    if found.contacts:
        return
    out = np.abs(found.force)
    i = int(np.argmax(out))
    if found.spikes:
        raise NoContact(
            f"'{row}' has no contact that lasts {LEAST} samples: it only stands out at t = {t[found.spikes[0]]:.6g} s, "
            f"by {out[found.spikes[0]]:.4g}. Sample faster."
        )
    raise NoContact(
        f"There is no contact in the log: '{row}' departs from its baseline by {out[i]:.4g} at most, at "
        f"t = {t[i]:.6g} s; its noise is {found.noise:.2g}."
    )
