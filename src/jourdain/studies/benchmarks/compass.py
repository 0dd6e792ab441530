"""The compass gait as most people simulate it: a NumPy right-hand side, `solve_ivp`, a terminal event, a heel strike.

Two angles from the normal of the slope, positive where the hip is behind the foot; derived by hand, apart from the
library: Lagrange for the swing, angular momenta about the new foot and about the hip for the strike.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, sin

import numpy as np

from jourdain.inputs import Array

M, M_HIP, A, B, G, SLOPE = 5.0, 10.0, 0.5, 0.5, 9.81, np.radians(3)
L = A + B
RTOL = 1e-10
LONGEST = 14.0  # s that a step may take: twenty times the gait's
NEAR_GAIT = 1e-4  # of 1 + |state|


def slope(_: float, state: Array) -> Array:
    """The rate of (θ_st, θ_sw, ω_st, ω_sw)."""
    st, sw, w_st, w_sw = state
    c, s = cos(st - sw), sin(st - sw)
    mass = np.array([[(M_HIP + M) * L**2 + M * A**2, -M * L * B * c], [-M * L * B * c, M * B**2]])
    force = np.array(
        [
            M * L * B * s * w_sw**2 + ((M_HIP + M) * L + M * A) * G * sin(st - SLOPE),
            -M * L * B * s * w_st**2 - M * B * G * sin(sw - SLOPE),
        ]
    )
    return np.concatenate([state[2:], np.linalg.solve(mass, force)])


def strike(state: Array) -> Array:
    """The state after the heel has struck and the legs have swapped."""
    st, sw, w_st, w_sw = state
    c = cos(st - sw)
    before = np.array([[(M_HIP * L**2 + 2 * M * A * L) * c - M * A * B, -M * A * B], [-M * A * B, 0.0]])
    after = np.array([[M_HIP * L**2 + M * A**2 + M * L**2 - M * L * B * c, M * B**2 - M * L * B * c],
                      [-M * L * B * c, M * B**2]])  # fmt: skip
    rates = np.linalg.solve(after, before @ np.array([w_st, w_sw]))
    return np.array([sw, st, *rates])


def _heel(_: float, state: Array) -> float:
    """Falls through 0 where the heel is on the slope, in front; not before the hip has passed the foot."""
    return float(state[0] + state[1]) if state[0] < 0 else 1.0


def _fallen(_: float, state: Array) -> float:
    return cos(state[0])


def walk(
    state: Array, steps: int, rtol: float = RTOL, watch: Callable[[Array], bool] | None = None
) -> tuple[Array, Array]:
    """(times of the strikes, state after the last); shorter if it falls or `watch` says that it is enough."""
    from scipy.integrate import solve_ivp

    heel, fallen = (lambda t, y: _heel(t, y)), (lambda t, y: _fallen(t, y))
    for event in (heel, fallen):
        event.terminal, event.direction = True, -1  # type: ignore[attr-defined]
    t, times = 0.0, list[float]()
    for _ in range(steps):
        done = solve_ivp(slope, (t, t + LONGEST), state, "DOP853", events=(heel, fallen), rtol=rtol, atol=rtol)
        if done.status != 1 or not len(done.t_events[0]):
            return np.array(times), np.full(4, np.nan)
        t, state = float(done.t_events[0][0]), strike(done.y_events[0][0])
        times.append(t)
        if watch is not None and watch(state):
            break
    return np.array(times), state
