"""How a motion depends on where it starts and on parameters: derivatives carried along steps, guards and jumps.

A step is y + h Σ B_i k_i, k_i = f(y + h Σ_j A_ij k_j), then moved onto the constraints. Each of these is differentiated
as it stands, for steps of given length: the results are the derivatives of the very steps that were made.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jourdain.compute.runge_kutta import dop853
from jourdain.errors import NotConverged
from jourdain.inputs import Array
from jourdain.motion.flow import Flow
from jourdain.motion.guards import Switch
from jourdain.motion.hybrid import Hybrid
from jourdain.motion.trajectory import Segment


@dataclass(frozen=True)
class Sensitivity:
    """Derivatives by (x, p₀), the state x = (q, v) and the parameters that the motion started with."""

    hybrid: Hybrid
    S: Array  # ∂y/∂(x, p₀), (n, n_x + n_p)
    P: Array  # ∂p/∂(x, p₀), (n_p, n_x + n_p)

    @classmethod
    def at_start(cls, hybrid: Hybrid, n_y: int) -> Sensitivity:
        n_x, n_p = hybrid.n_q + hybrid.n_v, len(hybrid.parameters)
        one = np.eye(n_x + n_p)
        S = np.zeros((n_y, n_x + n_p))
        S[1 : 1 + n_x] = one[:n_x]
        return cls(hybrid, S, one[n_x:])

    def along(self, segment: Segment) -> Sensitivity:
        """After the steps of a segment, of given length."""
        hybrid, S = self.hybrid, self.S
        flow = hybrid.flow_at(segment.topology, segment.y, segment.parameters)
        P = self.P[hybrid.mechanism_places]
        p = hybrid.mechanism_parameters(segment.parameters)
        for by_y, by_p in zip(*step_slopes(flow, segment.y[:-1], np.diff(segment.t), p), strict=True):
            S = by_y @ S + by_p @ P
        return replace(self, S=S)

    def at_guard(self, switch: Switch, y: Array, p: Array) -> Sensitivity:
        """The saltation: E(y, p) = 0 moves y along its path, S ← S − ẏ (E_y S + E_p P)/Ė."""
        hybrid = self.hybrid
        flow = hybrid.flow_at(switch.source, y, p)
        i = hybrid.guard_owners(switch.source).index(switch)
        watched = flow.watch(y, hybrid.mechanism_parameters(p))
        slope, rate = watched["slope"][:, 0], watched["rates"][i, 0]
        if not np.isfinite(rate) or rate == 0:
            raise NotConverged(
                f"A guard of '{switch.source}' grazes at t = {y[0]:.6g} s: a step that ends there has no derivative. "
                "Start elsewhere, or change the parameters."
            )
        change = watched["by_y"][i] @ self.S + watched["by_p"][i] @ self.P[hybrid.mechanism_places]
        return replace(self, S=np.asarray(self.S - np.outer(slope, change / rate)))

    def after_jump(self, slopes: Array) -> Sensitivity:
        """`slopes`: ∂(q, v, p)/∂(q, v, p before) of the jump."""
        n_x, S = self.hybrid.n_q + self.hybrid.n_v, self.S.copy()
        after = slopes @ np.vstack([S[1 : 1 + n_x], self.P])
        S[1 : 1 + n_x] = after[:n_x]
        return replace(self, S=S, P=after[n_x:])


def step_slopes(flow: Flow, y: Array, h: Array, p: Array) -> tuple[Array, Array]:
    """(∂y_after/∂y, ∂y_after/∂p), `(steps, n, n)` and `(steps, n, n_p)`, of steps from `y (steps, n)`, `h (steps,)`."""
    tableau, (m, n) = dop853(), y.shape
    p = np.broadcast_to(p, (m, len(p)))
    length = h[:, None, None]
    start = np.concatenate([np.broadcast_to(np.eye(n), (m, n, n)), np.zeros((m, n, p.shape[1]))], axis=-1)
    slopes, by = np.zeros((len(tableau.B), m, n)), np.zeros((len(tableau.B), *start.shape))  # k_i, ∂k_i/∂(y, p)
    for i, weights in enumerate(tableau.A):
        at = flow.slope_by(y + h[:, None] * np.tensordot(weights, slopes, 1), p)
        slopes[i] = at["slope"][..., 0]
        by[i] = at["by_y"] @ (start + length * np.tensordot(weights, by, 1))
        by[i, ..., n:] += at["by_p"]
    after = y + h[:, None] * np.tensordot(tableau.B, slopes, 1)
    carried = start + length * np.tensordot(tableau.B, by, 1)
    if flow.dynamics.held:
        projection = flow.project_by(after, p)
        carried = projection["by_y"] @ carried
        carried[..., n:] += projection["by_p"]
    return carried[..., :n], carried[..., n:]
