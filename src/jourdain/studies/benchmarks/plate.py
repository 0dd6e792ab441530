"""A plate that can twist lands on its four corners: jourdain's scenario, and a loop over `scipy.optimize.nnls`.

Moreau's law without friction is 0 ≤ λ ⊥ Wλ + (1 + κ)u⁻ ≥ 0 while all corners close, that is, least squares over λ ≥ 0.
In: arrays `(n,)` by name. Out: `(10, n)`, one row per entry of `QUANTITIES`.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import sympy as sp
from casadi import SX
from scipy.optimize import nnls

from jourdain.inputs import Array
from jourdain.laws import Frictionless
from jourdain.mechanism.mechanism import Mechanism
from jourdain.scenarios.scenario import Scenario

CORNERS = ((-0.2, -0.15), (-0.2, 0.15), (0.2, -0.15), (0.2, 0.15))  # m, from the middle of the plate
MASSES = (3.0, 0.2, 0.3, 0.01)  # of falling, turning about x and y, twisting: it reaches far beyond its corners
RESTITUTION = 0.5
RANGES = {"d_x": (-0.1, 0.1), "d_y": (-0.1, 0.1), "w_x": (-1.5, 1.5), "w_y": (-1.5, 1.5)}  # all corners close
QUANTITIES = (
    *(f"impulse.corner_{i}.normal" for i in range(4)),
    *("T_plus", "loss"),
    *(f"v_plus.{name}" for name in ("fall", "roll", "pitch", "twist")),
)


def scenario() -> Scenario:
    """It falls with 1 m/s and turns with w_x, w_y; (d_x, d_y) is where its centre of mass is."""
    q = ca.vertcat(*(SX.sym(name) for name in ("fall", "roll", "pitch", "twist")))
    v, d_x, d_y = SX.sym("v", 4), SX.sym("d_x"), SX.sym("d_y")
    mechanism = Mechanism.from_casadi(q, v, SX(ca.diag(ca.DM(MASSES))), parameters=[(d_x, 0.0), (d_y, 0.0)])
    feet = []
    for i, (x, y) in enumerate(CORNERS):
        rise = v[0] + v[1] * (y - d_y) - v[2] * (x - d_x) + v[3] * (x - d_x) * (y - d_y)
        feet.append(mechanism.contact(f"corner_{i}", normal=rise, tangent=[]))
    w_x, w_y = sp.symbols("w_x w_y")
    return mechanism.event(contacts=dict.fromkeys(feet, Frictionless(RESTITUTION))).at(
        v={"fall": -1, "roll": w_x, "pitch": w_y}, defaults={w_x: 0.0, w_y: 0.0}
    )


def by_nnls(d_x: Array, d_y: Array, w_x: Array, w_y: Array) -> Array:
    """All that can be done for all events at once is; only the least squares are in the loop."""
    n, root = d_x.size, np.sqrt(MASSES)
    C = np.empty((n, 4, 4))
    for i, (x, y) in enumerate(CORNERS):
        C[:, i] = np.stack([np.ones(n), y - d_y, d_x - x, (x - d_x) * (y - d_y)], axis=-1)
    v_minus = np.stack([-np.ones(n), w_x, w_y, np.zeros(n)], axis=-1)
    A, x_minus = np.ascontiguousarray((C / root).transpose(0, 2, 1)), v_minus * root
    impulse = np.stack([nnls(one, other)[0] for one, other in zip(A, -(1 + RESTITUTION) * x_minus, strict=True)])
    x_plus = x_minus + np.einsum("nij,nj->ni", A, impulse)
    T_minus, T_plus = ((x * x).sum(axis=-1) / 2 for x in (x_minus, x_plus))
    return np.concatenate([impulse.T, [T_plus, T_minus - T_plus], (x_plus / root).T])
