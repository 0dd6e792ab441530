"""The onset of a contact whose force jumps: where the motion leaves the one that it had before.

The force is there at once (a damper, a plastic contact), so its samples do not tell where between two of them it began.
The motion does: along the struck row it departs from the approach, carried on, by

    D(t) = ∬ F dt dt / m    from the onset on,

with a mass m that is not taken from the model but fitted; the onset is where the two agree best.
"""

from __future__ import annotations

import numpy as np

from jourdain.inputs import Array

TRIED = 61  # onsets between two samples
FOLLOWED = 10  # samples behind the onset


def kink(t: Array, departure: Array, force: Array, at_once: tuple[float, float]) -> tuple[float, float]:
    """The onset and its standard deviation, s.

    `t`: the last free sample, then those of the contact; `departure` and `force`: at the latter. `at_once`: the force
    carried back to the last free sample, and its slope.
    """
    t, departure, force = t[: FOLLOWED + 1], departure[:FOLLOWED], force[:FOLLOWED]
    onsets = np.linspace(t[0], t[1], TRIED)
    left = np.array([_misfit(onset, t, departure, force, at_once) for onset in onsets])
    i = min(max(int(np.argmin(left)), 1), TRIED - 2)
    h = onsets[1] - onsets[0]
    bent = (left[i - 1] - 2 * left[i] + left[i + 1]) / h**2
    if bent <= 0:
        return float(onsets[i]), float(t[1] - t[0]) / np.sqrt(12)
    best = float(np.clip(onsets[i] + (left[i - 1] - left[i + 1]) / (2 * h * bent), t[0], t[1]))
    # Least squares: twice the variance of what is left, over the curvature of its sum.
    return best, float(np.sqrt(2 * left.min() / max(len(force) - 2, 1) / bent))


def _misfit(onset: float, t: Array, departure: Array, force: Array, at_once: tuple[float, float]) -> float:
    """What is left of the departure with the mass that suits best."""
    start = at_once[0] + at_once[1] * (onset - t[0])
    times, values = np.concatenate([[onset], t[1:]]), np.concatenate([[start], force])
    # Between samples the force is a straight line: its integrals are exact.
    h = np.diff(times)
    speed = np.concatenate([[0.0], np.cumsum(h * (values[:-1] + values[1:]) / 2)])
    way = np.cumsum(h * speed[:-1] + h**2 * (2 * values[:-1] + values[1:]) / 6)
    scale = float(departure @ way / (way @ way))
    return float(np.sum((departure - scale * way) ** 2))
