"""How sure the numbers of a strike are: noise of velocities into energies, of forces into impulses."""

from __future__ import annotations

import numpy as np

from jourdain.experiment.rig import Rig
from jourdain.inputs import Array


def energy_noise(rig: Rig, q: Array, v: Array, noise: Array, side: str) -> dict[str, float]:
    """Standard deviations of T, T_c, T_a (and ξ) for independent errors of v with these standard deviations.

    Energies are quadratic in v, so T(v + δ) = T + g·δ + ½ δᵀHδ holds exactly, and for normal errors
    var T = Σ (g σ)² + ½ Σ (H σσᵀ)². Differences give g and H without error, in a pose that is known.
    """
    n, h = len(v), np.where(noise > 0, noise, 1.0)
    steps = np.concatenate([np.zeros((1, n)), np.diag(h), -np.diag(h), [h[i] * np.eye(n)[i] + h[j] * np.eye(n)[j]
                            for i in range(n) for j in range(n)]])  # fmt: skip
    at = rig.states(np.broadcast_to(q, (len(steps), len(q))), v + steps)
    found = {}
    gradients = {}
    for name in ("T", "T_c", "T_a"):
        values = at[name]
        here, plus, minus = values[0], values[1 : 1 + n], values[1 + n : 1 + 2 * n]
        both = values[1 + 2 * n :].reshape(n, n)
        g = (plus - minus) / (2 * h)
        H = (both - plus[:, None] - plus[None, :] + here) / np.outer(h, h)
        H[np.diag_indices(n)] = (plus + minus - 2 * here) / h**2
        gradients[name] = g
        found[f"{name}_{side}"] = float(
            np.sqrt(np.sum((g * noise) ** 2) + np.sum((H * np.outer(noise, noise)) ** 2) / 2)
        )
    if side == "minus":
        T, T_c = float(at["T"][0]), float(at["T_c"][0])
        g = gradients["T_c"] / T - gradients["T"] * T_c / T**2
        found["xi"] = float(np.sqrt(np.sum((g * noise) ** 2)))
        found[f"u_minus.{rig.normal}"] = float(np.sqrt(np.sum(((at["u"][1 : 1 + n] - at["u"][0]) / h * noise) ** 2)))
    return found


def impulse_of(
    t: Array, force: Array, lead: tuple[float, int], onset: tuple[float, float, float], end: tuple[float, float]
) -> tuple[float, float]:
    """∫ F dt by trapezoids from the onset (time, its deviation, force there) to the end (time, its deviation).

    Also its standard deviation: by the noise of the samples, that of the baseline, the forces at onset and end times
    how sure these are, and what the rule itself leaves out. `force`: above the baseline; `lead`: the noise of a sample,
    and how many tell the baseline.
    """
    (start, onset_noise, jump), (stop, end_noise) = onset, end
    inside = (t > start) & (t < stop)
    times = np.concatenate([[start], t[inside], [stop]])
    values = np.concatenate([[jump], force[inside], [np.interp(stop, t, force)]])
    value = float(np.trapezoid(values, times))
    noise, n_lead = lead
    weights = (times[2:] - times[:-2]) / 2  # of the samples inside
    ends = (times[-1] - times[-2]) / 2
    rule = abs(value - _coarse(times, values)) / 3  # its error falls with the square of the step
    parts = [
        noise * np.sqrt(np.sum(weights**2) + ends**2),
        noise / np.sqrt(max(n_lead, 1)) * (stop - start),
        abs(jump) * onset_noise,
        abs(float(values[-1])) * end_noise,
        rule,
    ]
    return value, float(np.sqrt(np.sum(np.square(parts))))


def _coarse(times: Array, values: Array) -> float:
    """The same with every other sample."""
    chosen = np.unique(np.concatenate([np.arange(0, len(times), 2), [len(times) - 1]]))
    return float(np.trapezoid(values[chosen], times[chosen]))
