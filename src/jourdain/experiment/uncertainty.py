"""How sure the times, velocities and energies of a strike are: standard deviations, by address."""

from __future__ import annotations

import numpy as np

from jourdain.experiment.edges import Edge
from jourdain.experiment.rig import Rig
from jourdain.experiment.strike_samples import StrikeSamples
from jourdain.inputs import Array


def uncertainties(
    samples: StrikeSamples, minus: Edge, plus: Edge, end_noise: float, growing: dict[str, float]
) -> dict[str, float]:
    """Standard deviations by address. `growing`: how fast u and energies change at the onset, per s."""
    rig, v_names = samples.log.rig, samples.log.rig.mechanism.symbols.v_names
    found = {"onset": samples.onset_noise, "end": end_noise}
    for side, edge in (("minus", minus), ("plus", plus)):
        found |= _of_energies(rig, edge.q, edge.v, edge.noise, side)
        found |= {f"v_{side}.{name}": float(x) for name, x in zip(v_names, edge.noise, strict=True)}
    for address in ("T_minus", "T_c_minus", "T_a_minus", "xi"):  # they grow or fall while the onset is not sure
        moved = growing[address.removesuffix("_minus")] * samples.onset_noise
        found[address] = float(np.hypot(found[address], moved))
    return found


def _of_energies(rig: Rig, q: Array, v: Array, noise: Array, side: str) -> dict[str, float]:
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
