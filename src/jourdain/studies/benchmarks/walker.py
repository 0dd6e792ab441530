"""The heel strike that every peer computes: what goes in, what comes out, and jourdain's own answer.

In: four arrays `(n,)`: theta and torso in rad, rho and mu; the rest of the walker is fixed. Out: an array `(12, n)`,
one row per entry of `QUANTITIES`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from jourdain.data.dataset import kept
from jourdain.events.solver import Solver
from jourdain.events.transition import Transition
from jourdain.inputs import Array
from jourdain.scenarios.scenario import Scenario

# [FK-b] Table I, and the rate of the legs before the strike.
M_W, M_H, L_LEG, B_LEG, L_TORSO, RATE = 30.0, 10.0, 0.8, 0.4, 0.4, 1.0

QUANTITIES = (
    *("impulse.heel.normal", "impulse.heel.tangent"),
    *("T_minus", "T_plus", "T_c_minus", "T_a_minus", "loss"),
    *("v_plus.foot_x", "v_plus.foot_y", "v_plus.stance", "v_plus.swing", "v_plus.torso"),
)
RANGES = {
    "theta": (np.radians(10), np.radians(60)),
    "rho": (0.0, 0.5),
    "torso": (np.radians(-20), np.radians(20)),
    "mu": (0.1, 10.0),
}  # those of the papers' figures


def samples(n: int, ranges: Mapping[str, tuple[float, float]] = RANGES, seed: int = 0) -> dict[str, Array]:
    """n numbers of each range, by name, `(n,)`; those of the walker in the order of the peers' arguments."""
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(*ends, size=n) for name, ends in ranges.items()}


def table(t: Transition) -> Array:
    """The same quantities of jourdain's outcome, `(12, n)`."""
    energies = [t.T_minus, t.T_plus, t.T_c_minus, t.T_a_minus, t.loss]
    return np.stack([*t.impulse["heel"].T, *energies, *t.v_plus.T])


def solver(scenario: Scenario) -> Solver:
    """What a sweep that keeps these quantities uses."""
    return scenario.solver(kept(scenario.event.layout, QUANTITIES))
