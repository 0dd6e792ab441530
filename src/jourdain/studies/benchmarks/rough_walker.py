"""The walker's heel strike with friction inside the event: jourdain's scenario, and Routh's method in NumPy.

In and out as in `walker`. The peer follows the event stretch by stretch: it ends compression, restitution or the slip,
whichever comes first, as one does by hand.
"""

from __future__ import annotations

import numpy as np

from jourdain import gallery
from jourdain.inputs import Array
from jourdain.laws import Coulomb
from jourdain.scenarios.scenario import Scenario
from jourdain.studies.benchmarks.walker import QUANTITIES
from jourdain.studies.benchmarks.walker_numpy import reduced

FRICTION, RESTITUTION = 0.3, 0.2
MOST_STRETCHES = 3  # the slip stops once, compression ends once, and the event


def scenario() -> Scenario:
    """The heel strikes with friction; the rear foot lets go."""
    return gallery.walker(law=Coulomb(FRICTION, RESTITUTION, "stronge"))


def by_stretches(theta: Array, rho: Array, torso: Array, mu: Array) -> Array:
    """Impulses, energies and v⁺ of each event, `(12, n)`; Stronge's end of restitution."""
    v_minus, T_minus, u, X, W = reduced(theta, rho, torso, mu)
    n, none = theta.size, np.zeros_like(theta)
    (W_nn, W_nt), (_, W_tt) = W
    u_n, u_t = u.copy()
    s = np.sign(u_t)
    sticks = np.abs(W_nt) <= FRICTION * W_tt
    p, p_t, work, stored = (np.zeros(n) for _ in range(4))  # work of the normal impulse; that of compression
    back, going, stopped = np.zeros(n, bool), u_n < 0, s == 0
    for _ in range(MOST_STRETCHES):
        pull = np.where(stopped, np.where(sticks, -W_nt / W_tt, -FRICTION * np.sign(W_nt)), -FRICTION * s)  # dp_t/dp
        rate_n, rate_t = W_nn + W_nt * pull, np.where(stopped & sticks, none, W_nt + W_tt * pull)
        with np.errstate(all="ignore"):
            slip_ends = np.where(~stopped & (s * rate_t < 0), -u_t / rate_t, np.inf)
            # Work that is still to be given back: u_n p + rate p²/2.
            missing = -(RESTITUTION**2) * stored - (work - stored)
            given = (np.sqrt(np.maximum(u_n**2 + 2 * rate_n * missing, 0)) - u_n) / rate_n
            phase_ends = np.where(back, given, np.where(rate_n > 0, -u_n / rate_n, np.inf))
        step = np.where(going, np.minimum(slip_ends, phase_ends), 0)
        slip_first = slip_ends < phase_ends
        work += u_n * step + rate_n * step**2 / 2
        u_n, u_t, p, p_t = u_n + rate_n * step, u_t + rate_t * step, p + step, p_t + pull * step
        stored = np.where(going & ~slip_first & ~back, work, stored)
        ended = back & ~slip_first
        back, stopped = back | (going & ~slip_first), stopped | (going & slip_first)
        going &= ~ended
    if going.any():
        raise RuntimeError(f"{going.sum()} events did not end")
    out = np.empty((len(QUANTITIES), n))
    out[0], out[1], out[2] = p, p_t, T_minus
    out[6] = -(u[0] * p + u[1] * p_t + (W_nn * p * p + 2 * W_nt * p * p_t + W_tt * p_t * p_t) / 2)
    out[3] = T_minus - out[6]
    out[4] = (W_tt * u[0] ** 2 - 2 * W_nt * u[0] * u[1] + W_nn * u[1] ** 2) / (W_nn * W_tt - W_nt**2) / 2
    out[5] = T_minus - out[4]
    out[7:] = v_minus + X[0] * p + X[1] * p_t
    return out
