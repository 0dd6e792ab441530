"""A thrown box strikes a rough floor with a corner: jourdain's scenario, and a loop over `scipy.integrate.solve_ivp`.

Darboux and Keller's equations over the normal impulse, compression and restitution up to their events, as one writes
them down; friction is low enough that the slip never stops. In: arrays `(n,)` by name. Out: `(4, n)`, one row per
entry of `QUANTITIES`.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

from jourdain import gallery
from jourdain.inputs import Array
from jourdain.scenarios.scenario import Scenario

MASS, SIDES, FALL, RESTITUTION = 1.0, np.array([0.3, 0.2, 0.1]), 2.0, 0.5  # the defaults of the gallery's box
RANGES = {"theta": (-0.9, -0.3), "phi": (0.3, 0.9), "v_x": (0.5, 1.5), "v_y": (-1.0, 1.0), "friction": (0.05, 0.15)}
QUANTITIES = ("impulse.floor.normal", "impulse.floor.tangent.0", "impulse.floor.tangent.1", "loss")
BEYOND = 100.0  # N s, more than any impulse here
RELATIVE, ABSOLUTE = 1e-11, 1e-13  # tolerances that give ten digits


def scenario() -> Scenario:
    return gallery.thrown_box()


def by_solve_ivp(theta: Array, phi: Array, v_x: Array, v_y: Array, friction: Array) -> Array:
    """Impulses and loss of each event, `(4, n)`; Stronge's end of restitution."""
    columns = [_one(*numbers) for numbers in zip(theta, phi, v_x, v_y, friction, strict=True)]
    return np.array(columns).T


def _one(theta: float, phi: float, v_x: float, v_y: float, mu: float) -> Array:
    c, s = np.cos, np.sin
    R = np.array([[c(theta), s(theta) * s(phi), s(theta) * c(phi)], [0, c(phi), -s(phi)],
                  [-s(theta), c(theta) * s(phi), c(theta) * c(phi)]])  # fmt: skip
    a, b, h = SIDES
    inertia = R @ np.diag(np.array([b * b + h * h, a * a + h * h, a * a + b * b]) * MASS / 12) @ R.T
    x, y, z = R @ -SIDES / 2
    arm = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    W = np.eye(3) / MASS - arm @ np.linalg.solve(inertia, arm)
    W = W[np.ix_([2, 0, 1], [2, 0, 1])]  # normal first
    u = np.array([-FALL, v_x, v_y])

    def slope(p: float, state: Array) -> Array:
        """(u, p_t, work of the normal impulse) over p."""
        push = np.array([1.0, *(-mu * state[1:3] / np.hypot(state[1], state[2]))])
        return np.array([*(W @ push), *push[1:], state[0]])

    def stopped(p: float, state: Array) -> float:
        return float(state[0])

    def given_back(p: float, state: Array) -> float:
        return float(state[5] - (1 - RESTITUTION**2) * stored)

    state, p, stored = np.array([*u, 0.0, 0.0, 0.0]), 0.0, 0.0
    for event in (stopped, given_back):
        event.terminal, event.direction = True, 1.0  # type: ignore[attr-defined]
        phase = solve_ivp(slope, (p, p + BEYOND), state, "DOP853", events=event, rtol=RELATIVE, atol=ABSOLUTE)
        state, p = phase.y[:, -1], phase.t[-1]
        stored = stored or float(state[5])  # the work of compression
    impulse = np.array([p, state[3], state[4]])
    return np.array([*impulse, -impulse @ (u + W @ impulse / 2)])
