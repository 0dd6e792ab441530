"""Inertia of rigid bodies over CasADi scalars: (m, h = m c, I) about an origin, seen from other axes."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.inputs import Array


@dataclass(frozen=True)
class Inertia:
    """Of one or several bodies, about the origin of the axes in which it is written."""

    m: SX  # kg
    h: SX  # (3, 1), kg m: mass times centre of mass
    I: SX  # (3, 3), kg m²

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.m + other.m, self.h + other.h, self.I + other.I)

    def seen_from(self, r: SX, R: SX) -> Inertia:
        """The same in axes in which its own have the origin r and the rotation R."""
        H = R @ self.h
        h = H + self.m * r
        a, b, c = ca.vertsplit(r * (H + h))
        S = r @ h.T + H @ r.T  # symmetric; I' = R I Rᵀ + (r · (H + h)) E − S
        about_r = ca.diag(ca.vertcat(b + c, a + c, a + b)) - ca.triu(S, False)
        turned = self.I if R.is_eye() else R @ self.I @ R.T
        return Inertia(self.m, h, ca.triu2symm(ca.sparsify(ca.triu(turned) + about_r)))

    def spun(self, axis: Array, angle: SX) -> Inertia:
        """The same in axes against which its own are turned about one of them; its plane by the double angle."""
        x = int(np.flatnonzero(axis)[0])
        y, z = (x + 1) % 3, (x + 2) % 3
        c, s = ca.cos(angle), axis[x] * ca.sin(angle)
        mean, half = (self.I[y, y] + self.I[z, z]) / 2, (self.I[y, y] - self.I[z, z]) / 2
        double_c, double_s = c * c - s * s, 2 * s * c
        part = half * double_c - self.I[y, z] * double_s
        I = SX(3, 3)
        I[x, x], I[y, y], I[z, z] = self.I[x, x], mean + part, mean - part
        I[y, z] = I[z, y] = half * double_s + self.I[y, z] * double_c
        I[x, y] = I[y, x] = c * self.I[x, y] - s * self.I[x, z]
        I[x, z] = I[z, x] = s * self.I[x, y] + c * self.I[x, z]
        h = SX(3, 1)
        h[x], h[y], h[z] = self.h[x], c * self.h[y] - s * self.h[z], s * self.h[y] + c * self.h[z]
        return Inertia(self.m, ca.sparsify(h), ca.sparsify(I))


NOTHING = Inertia(SX(0), SX(3, 1), SX(3, 3))
