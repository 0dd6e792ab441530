"""Many motions from event to event, all samples at once; only states at events are kept."""

from __future__ import annotations

import numpy as np

from jourdain.inputs import Array
from jourdain.motion.flow import Stop
from jourdain.motion.gait import MAX_SWITCHES
from jourdain.motion.hybrid import Hybrid
from jourdain.motion.locate import Indices
from jourdain.motion.motions import States, move
from jourdain.motion.settings import Settings
from jourdain.motion.steps import ManyByKernel


def step_many(
    hybrid: Hybrid, topology: str, y: Array, p: Array, longest: float, settings: Settings
) -> tuple[Array, Array]:
    """States and parameters when the topology has been entered again, `(samples, n)`; NaN where the motion has ended.

    `longest`: s that it may take to the next guard.
    """
    y, p = y.copy(), p.copy()
    moving = {topology: np.arange(len(y))}  # samples by topology
    for _ in range(MAX_SWITCHES):
        entered: dict[str, list[Indices]] = {}
        for name, samples in moving.items():
            inputs, until = hybrid.mechanism_parameters(p[samples]), y[samples, 0] + longest
            flows, switches = hybrid.flows(name), hybrid.guard_owners(name)
            states = States(y[samples], inputs, until, len(switches), settings)
            falls = move(states, flows, ManyByKernel) == Stop.GUARD
            y[samples] = np.nan
            for i, switch in enumerate(switches):
                here = np.flatnonzero(falls & (states.guard == i))
                if not here.size or switch.target is None:
                    continue
                there = samples[here]
                y[there], p[there] = hybrid.jump(switch)(states.y[here], p[there])
                if switch.target != topology:
                    entered.setdefault(switch.target, []).append(there)
        moving = {name: np.concatenate(several) for name, several in entered.items()}
        if not moving:
            break
    for samples in moving.values():
        y[samples] = np.nan
    return y, p
