"""How sure the times, velocities and energies of a strike are: standard deviations, by address."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from jourdain.experiment.edges import Edge
from jourdain.experiment.rig import Rig
from jourdain.experiment.strike_samples import StrikeSamples
from jourdain.inputs import Array


def uncertainties(samples: StrikeSamples, sides: Mapping[str, tuple[Edge | None, float]]) -> dict[str, float]:
    """Standard deviations by address.

    `sides`: "minus", "plus", "release" → the state, None where it is not known, and the deviation of its time, s.
    """
    rig = samples.log.rig
    found: dict[str, float] = {}
    for side, (edge, time_noise) in sides.items():
        if edge is None:
            continue
        noises = _of_energies(rig, edge.q, edge.v, edge.noise)
        noises |= {f"v.{name}": float(x) for name, x in zip(rig.mechanism.symbols.v_names, edge.noise, strict=True)}
        changing = samples.edges.slopes(edge)  # what grows or falls while the time is not sure
        for name, noise in noises.items():
            quantity, dot, label = name.partition(".")
            found[f"{quantity}_{side}{dot}{label}"] = float(np.hypot(noise, changing[name] * time_noise))
        found[f"u_{side}.{rig.normal}"] = found.pop(f"u_{side}")
    found["xi"] = found["xi_minus"]
    return {name: value for name, value in found.items() if not name.startswith("xi_")}


def _of_energies(rig: Rig, q: Array, v: Array, noise: Array) -> dict[str, float]:
    """Standard deviations of T, T_c, T_a, ξ and u for independent errors of v with these standard deviations.

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
        found[name] = float(np.sqrt(np.sum((g * noise) ** 2) + np.sum((H * np.outer(noise, noise)) ** 2) / 2))
    T, T_c = float(at["T"][0]), float(at["T_c"][0])
    of_xi = (gradients["T_c"] - gradients["T"] * T_c / T) / T if T > 0 else np.zeros(n)
    found["xi"] = float(np.sqrt(np.sum((of_xi * noise) ** 2)))
    found["u"] = float(np.sqrt(np.sum(((at["u"][1 : 1 + n] - at["u"][0]) / h * noise) ** 2)))
    return found
