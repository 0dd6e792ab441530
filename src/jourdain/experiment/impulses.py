"""The impulses of a strike, by what the force sensor felt, and where they cannot be right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from jourdain.experiment.contacts import extrapolated, saturated
from jourdain.experiment.strike_samples import StrikeSamples
from jourdain.inputs import Array

COARSE = 3  # one of so many samples is enough to tell what the trapezoidal rule leaves out
Curve: TypeAlias = tuple[ArrayLike, ArrayLike]  # times and forces
OUTSTANDING = 4.0  # times the usual bend of a force from sample to sample: more is a drop
EDGE = 2  # samples at either end of a contact, where a force begins or ends
OFF = 2.0  # times: an impulse further than this from what stops the model is worth a warning


def rough_impulse(samples: StrikeSamples) -> float | None:
    """About the impulse of the compression: two thirds of that until the force has fallen to half its peak.

    None where the log ends while the force still grows.
    """
    t, sign = samples.log.t[samples.within], float(np.sign(samples.contact.peak))
    force = samples.channel.force[samples.within] * sign
    peak = int(np.argmax(force))
    if peak == len(force) - 1:
        return None
    fallen = peak + int(np.argmax(np.append(force[peak:] < force[peak] / 2, True)))
    whole = np.trapezoid(force[: fallen + 1], t[: fallen + 1]) + force[0] * (t[0] - samples.onset) / 2
    return float(whole) * sign / 1.5


@dataclass(frozen=True)
class Integral:
    """∫ F dt of one row during compression, or behind it, and what its standard deviation is made of."""

    value: float
    coarse: Array  # (COARSE,), the same by one of several samples, each of them first once
    noise: float  # standard deviation by the noise of the samples, of the baseline, and by a drop between samples
    onset: float = 0.0  # how it changes with the onset, per s: by the force there where it jumps
    end: float = 0.0  # how it changes with the end of compression, per s: by the force there
    beginning: float = 0.0  # standard deviation by what a force that jumps does before its first sample


def compressing(samples: StrikeSamples, force: Array, noise: float, end: float) -> Integral:
    """∫ F dt by trapezoids from the onset to the end of compression.

    A force that grows is summed from the last free sample on: in even steps what the rule leaves out at both ends of a
    smooth pulse cancels. One that jumps is followed from its onset.
    """
    t, first = samples.log.t, samples.within.start
    at_end = float(np.interp(end, t, force))
    stop = int(np.searchsorted(t, end))
    if samples.contact.jump:
        jump, unsure = extrapolated(t, force, first, samples.contact.last, samples.onset)
        found = _integral(samples, force, noise, ([samples.onset], [jump]), slice(first, stop), ([end], [at_end]))
        bend, rule = unsure * (t[first] - samples.onset) / 2, (np.mean(found.coarse) - found.value) / (COARSE**2 - 1)
        beginning = float(np.copysign(np.hypot(bend, rule), force[first]))
        return replace(found, onset=-jump, end=at_end, beginning=beginning)
    free = t[first - 1] - np.arange(COARSE, 0, -1) * samples.log.step, np.zeros(COARSE)
    return replace(_integral(samples, force, noise, free, slice(first - 1, stop), ([end], [at_end])), end=at_end)


def springing_back(samples: StrikeSamples, force: Array, noise: float, end: float) -> Integral:
    """∫ F dt by trapezoids from the end of compression to that of the contact, or of the log."""
    t, last = samples.log.t, samples.contact.last
    at_end = float(np.interp(end, t, force))
    inside = slice(int(np.searchsorted(t, end, "right")), last + 2)
    if inside.start >= min(inside.stop, len(t)):  # an end that was given behind the contact
        return Integral(0.0, np.zeros(COARSE), 0.0)
    free = t[last + 1] + np.arange(1, COARSE + 1) * samples.log.step if samples.contact.ends else np.zeros(0)
    return replace(
        _integral(samples, force, noise, ([end], [at_end]), inside, (free, np.zeros(len(free)))), end=-at_end
    )


def _integral(samples: StrikeSamples, force: Array, noise: float, head: Curve, inside: slice, tail: Curve) -> Integral:
    """By trapezoids through points before the samples, the samples, and points behind them."""
    several = zip(head, (samples.log.t, force), tail, strict=True)
    times, values = (np.concatenate([before, all_of_it[inside], behind]) for before, all_of_it, behind in several)
    weights = (np.append(np.diff(times), 0.0) + np.append(0.0, np.diff(times)))[values != 0] / 2
    lead = samples.channel.lead
    baseline = noise / np.sqrt(max(lead.stop - lead.start, 1)) * np.sum(weights)
    coarse = []
    for start in range(COARSE):
        chosen = np.unique(np.concatenate([[0], np.arange(start, len(times), COARSE), [len(times) - 1]]))
        coarse.append(np.trapezoid(values[chosen], times[chosen]))
    drop = _drop(samples, force, float(times[0]), float(times[-1])) * samples.log.step / np.sqrt(12)
    spread = float(np.linalg.norm([noise * np.linalg.norm(weights), baseline, drop]))
    return Integral(float(np.trapezoid(values, times)), np.array(coarse), spread)


def _drop(samples: StrikeSamples, force: Array, start: float, stop: float) -> float:
    """By how much a force drops from one sample to the next between two times, as friction does that comes to stick."""
    inside = slice(samples.within.start + EDGE, samples.contact.last + 1 - EDGE)
    steps, t = np.diff(force[inside]), samples.log.t[inside][1:-2]
    bends = np.abs(steps[1:-1] - (steps[:-2] + steps[2:]) / 2)
    if not len(bends):
        return 0.0
    here = bends[(t >= start) & (t < stop)]
    return max(float(np.max(here, initial=0.0) - OUTSTANDING * np.median(bends)), 0.0)


@dataclass(frozen=True)
class Impulses:
    """The impulses of a strike by row, and standard deviations by address."""

    compression: Mapping[str, float]  # from the onset to the end of compression
    contact: Mapping[str, float]  # to the release, or the end of the log
    uncertainty: Mapping[str, float]


def impulses(samples: StrikeSamples, end: float, end_noise: float, whole: bool) -> Impulses:
    """Of all logged rows. `end`: of compression, s; `whole`: whether the friction ratio is that of all the contact."""
    rig, rows = samples.log.rig, tuple(samples.log.forces)
    first, second = {}, {}
    for row in rows:
        force, noise = samples.force(row)
        first[row], second[row] = (stage(samples, force, noise, end) for stage in (compressing, springing_back))
    total = {row: first[row].value + second[row].value for row in rows}
    full = {row: saturation(samples, row, total[row]) for row in rows}
    noises = samples.onset_noise, end_noise
    found: dict[str, float] = {}
    for row in rows:
        sound, early = full[row] == np.inf, full[row] > end
        found[f"impulse.{row}"] = _deviation(float, [[first[row]]], *noises) if early else np.inf
        both = [[first[row]], [second[row]]]
        found[f"impulse_contact.{row}"] = _deviation(lambda c, r: c + r, both, *noises) if sound else np.inf
        if row == rig.normal and samples.contact.ends:
            found["restitution_poisson"] = _deviation(lambda c, r: r / c, both, *noises) if sound else np.inf
    rubbing = (rig.normal, *rig.rubbing)
    if len(rubbing) > 1 and {*rubbing} <= {*rows}:
        stages = [[part[row] for row in rubbing] for part in ((first, second) if whole else (first,))]
        sound = all(full[row] > (samples.log.t[-1] if whole else end) for row in rubbing)

        def ratio(*values: float) -> float:
            return friction_ratio(*np.reshape(values, (len(stages), -1)).sum(axis=0))

        found["friction_ratio"] = _deviation(ratio, stages, *noises) if sound else np.inf
    return Impulses({row: first[row].value for row in rows}, total, found)


def friction_ratio(normal: float, *tangents: float) -> float:
    """|λ̄_t|/λ̄_n."""
    return float(np.linalg.norm(tangents) / normal)


def _deviation(
    of: Callable[..., float], stages: Sequence[Sequence[Integral]], onset_noise: float, end_noise: float
) -> float:
    """Standard deviation of a function of integrals, stage after stage, to first order.

    It has three parts: the noise of the samples; what rows share, the forces at onset and end of compression times how
    sure these are (s), and the beginning; and what the rule leaves out in each stage, which depends on where samples
    fall and falls with the square of the step.
    """
    parts = [part for stage in stages for part in stage]
    values = np.array([part.value for part in parts])
    h = 1e-6 * float(np.max(np.abs(values), initial=1e-300))
    slopes = np.array([(of(*(values + step)) - of(*(values - step))) / (2 * h) for step in h * np.eye(len(parts))])
    noise = slopes * [part.noise for part in parts]
    shared = slopes @ [[part.onset, part.end, part.beginning] for part in parts] * [onset_noise, end_noise, 1.0]
    coarse = (slopes[:, None] * [part.coarse for part in parts]).reshape(len(stages), -1, COARSE).sum(axis=1)
    rule = np.std(coarse, axis=1) / COARSE**2
    return float(np.sqrt(np.sum(noise**2) + np.sum(shared**2) + np.sum(rule**2)))


def saturation(samples: StrikeSamples, row: str, impulse: float) -> float:
    """When the sensor was first at its limit during the contact, s; then that is warned of. Infinite: never."""
    above, noise = samples.force(row)
    force = samples.log.forces[row]
    stuck = saturated(samples.log.t, force, force - above, noise, samples.contact)
    if stuck is None:
        return np.inf
    samples.warn(
        f"'force.{row}' saturates at {stuck[2]:.4g} {samples.log.rig.force_unit(row)} from t = {stuck[0]:.6g} to "
        f"{stuck[1]:.6g} s: its impulse is more than the {abs(impulse):.4g} that was felt."
    )
    return stuck[0]


def warn_if_off(samples: StrikeSamples, impulse: float, stop: float) -> None:
    """Warn of a normal impulse that is far from the one that stops the model."""
    if not 1 / OFF < impulse / stop < OFF:
        samples.warn(
            f"The impulse along '{samples.log.rig.normal}' from t = {samples.onset:.6g} s is {impulse:.4g}, "
            f"{impulse / stop:.3g} times the {stop:.4g} that stops the model: check its masses, the units, and "
            "what else pushes."
        )
