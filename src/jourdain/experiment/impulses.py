"""The impulses of a strike, by what the force sensor felt, and where they cannot be right."""

from __future__ import annotations

import numpy as np

from jourdain.experiment.contacts import extrapolated, saturated
from jourdain.experiment.strike_samples import StrikeSamples
from jourdain.inputs import Array

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


def impulse_along(samples: StrikeSamples, row: str, stop: float, stop_noise: float) -> tuple[float, float]:
    """∫ F dt by trapezoids from the onset to a time (s, and its standard deviation), and its standard deviation.

    That has five parts: the noise of the samples, that of the baseline, the forces at onset and end times how sure
    these are, and what the rule itself leaves out.
    """
    t, start, contact, lead = samples.log.t, samples.onset, samples.contact, samples.channel.lead
    force, noise = samples.force(row)
    jump = extrapolated(t, force, samples.within.start, contact.last, start) if contact.jump else 0.0
    inside = (t > start) & (t < stop)
    times = np.concatenate([[start], t[inside], [stop]])
    values = np.concatenate([[jump], force[inside], [np.interp(stop, t, force)]])
    impulse = float(np.trapezoid(values, times))
    weights = (times[2:] - times[:-2]) / 2  # of the samples inside
    ends = (times[-1] - times[-2]) / 2
    rule = abs(impulse - _coarse(times, values)) / 3  # its error falls with the square of the step
    parts = [
        noise * np.sqrt(np.sum(weights**2) + ends**2),
        noise / np.sqrt(max(lead.stop - lead.start, 1)) * (stop - start),
        abs(jump) * samples.onset_noise,
        abs(float(values[-1])) * stop_noise,
        rule,
    ]
    return impulse, float(np.sqrt(np.sum(np.square(parts))))


def _coarse(times: Array, values: Array) -> float:
    """The same with every other sample."""
    chosen = np.unique(np.concatenate([np.arange(0, len(times), 2), [len(times) - 1]]))
    return float(np.trapezoid(values[chosen], times[chosen]))


def saturates(samples: StrikeSamples, row: str, end: float, impulse: float) -> bool:
    """Whether the sensor was at its limit before the end of compression; then that is warned of."""
    above, noise = samples.force(row)
    force = samples.log.forces[row]
    stuck = saturated(samples.log.t, force, force - above, noise, samples.contact)
    if stuck is None or stuck[0] > end:
        return False
    samples.warn(
        f"'force.{row}' saturates at {stuck[2]:.4g} {samples.log.rig.force_unit(row)} from t = {stuck[0]:.6g} to "
        f"{stuck[1]:.6g} s: its impulse is more than the {abs(impulse):.4g} that was felt."
    )
    return True


def warn_if_off(samples: StrikeSamples, impulse: float, stop: float) -> None:
    """Warn of a normal impulse that is far from the one that stops the model."""
    if not 1 / OFF < impulse / stop < OFF:
        samples.warn(
            f"The impulse along '{samples.log.rig.normal}' from t = {samples.onset:.6g} s is {impulse:.4g}, "
            f"{impulse / stop:.3g} times the {stop:.4g} that stops the model: check its masses, the units, and "
            "what else pushes."
        )
