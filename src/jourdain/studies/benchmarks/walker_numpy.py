"""The heel strike in NumPy, over arrays of events, in three ways: plainly, with M written out, and eliminated by hand.

With W = C M⁻¹ Cᵀ and u⁻ = C v⁻: λ = −W⁻¹ u⁻,
v⁺ = v⁻ + M⁻¹ Cᵀ λ, T_c⁻ = −½ u⁻·λ, T_a⁻ = T⁻ − T_c⁻.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from jourdain.inputs import Array
from jourdain.studies.benchmarks.walker import B_LEG, L_LEG, L_TORSO, M_H, M_W, QUANTITIES, RATE

N = 5  # velocities: foot_x, foot_y, stance, swing, torso
Entries = dict[tuple[int, int], Array]


@dataclass(frozen=True)
class Strike:
    """A chunk of events, one array per entry that is not zero."""

    M: Entries  # (row, column), on and below the diagonal
    C: Entries  # rows normal, tangent
    v_minus: dict[int, Array]

    @property
    def n_events(self) -> int:
        return self.v_minus[0].size


def plain(theta: Array, rho: Array, torso: Array, mu: Array, chunk: int = 2048) -> Array:
    """As one writes it: Jacobians of the masses, M = Σ m JᵀJ as a stack, `np.linalg.solve`."""
    return _in_chunks(_plain, (theta, rho, torso, mu), chunk)


def _plain(theta: Array, rho: Array, torso: Array, mu: Array, out: Array) -> None:
    n, stance, swing = theta.size, theta / 2, -theta / 2
    m, R = (M_W - M_H) / 2 / (1 + mu), rho * L_LEG
    leg = L_LEG - R  # foot centre to hip

    def jacobian(*parts: tuple[int, Array | float, Array]) -> Array:
        """Of a point that hangs from the foot by lengths along angles: (which velocity, length, angle)."""
        J = np.zeros((n, 2, N))
        J[:, 0, 0] = J[:, 1, 1] = 1
        for k, length, angle in parts:
            J[:, 0, k], J[:, 1, k] = length * np.cos(angle), -length * np.sin(angle)
        return J

    masses = [
        (m, jacobian((2, leg - B_LEG, stance))),
        (m, jacobian((2, leg, stance), (3, -B_LEG, swing))),
        (np.full(n, M_H), jacobian((2, leg, stance))),
        (2 * m * mu, jacobian((2, leg, stance), (4, L_TORSO, torso))),
    ]
    M = np.zeros((n, N, N))
    for mass, J in masses:
        M += mass[:, None, None] * (J.transpose(0, 2, 1) @ J)
    C = jacobian((2, leg, stance), (3, -leg, swing))[:, ::-1].copy()  # normal, tangent
    C[:, 1, 3] -= R
    v_minus = np.zeros((n, N))
    v_minus[:, 0], v_minus[:, 2], v_minus[:, 3] = R * RATE, RATE, RATE
    X = np.linalg.solve(M, C.transpose(0, 2, 1))
    u = C @ v_minus[..., None]
    impulse = -np.linalg.solve(C @ X, u)
    v_plus = v_minus + (X @ impulse)[..., 0]
    out[:2] = impulse[..., 0].T
    out[2], out[3] = (np.einsum("ni,ni->n", v, (M @ v[..., None])[..., 0]) / 2 for v in (v_minus, v_plus))
    out[4] = -(u * impulse).sum(axis=(1, 2)) / 2
    out[5], out[6] = out[2] - out[4], out[2] - out[3]
    out[7:] = v_plus.T


def stacked(theta: Array, rho: Array, torso: Array, mu: Array, chunk: int = 4096) -> Array:
    """M as a stack `(n, 5, 5)`, factored by `np.linalg.cholesky`, one LAPACK call per event inside NumPy."""
    return _in_chunks(_with_entries(_cholesky), (theta, rho, torso, mu), chunk)


def by_columns(theta: Array, rho: Array, torso: Array, mu: Array, chunk: int = 8192) -> Array:
    """M factored entry by entry, each an array over the events; faster still, if one writes out the zeros of M."""
    return _in_chunks(_with_entries(_elimination), (theta, rho, torso, mu), chunk)


def reduced(theta: Array, rho: Array, torso: Array, mu: Array) -> tuple[Array, Array, Array, Array, Array]:
    """v⁻ `(5, n)`, T⁻ `(n,)`, u⁻ `(2, n)`, M⁻¹Cᵀ `(2, 5, n)` and W `(2, 2, n)`: all that the heel sees."""
    strike = _strike(theta, rho, torso, mu)
    v_minus = np.zeros((N, strike.n_events))
    for k, velocity in strike.v_minus.items():
        v_minus[k] = velocity
    T_minus = sum((1 if i == j else 2) * entry * v_minus[i] * v_minus[j] for (i, j), entry in strike.M.items()) / 2
    return v_minus, np.asarray(T_minus), *_elimination(strike)


def _in_chunks(solve: Callable[..., None], parameters: tuple[Array, ...], size: int) -> Array:
    """`solve(*parameters, out)` for some events at a time, whose temporaries stay in the cache."""
    n = parameters[0].size
    out = np.empty((len(QUANTITIES), n))
    for start in range(0, n, size):
        solve(*(values[start : start + size] for values in parameters), out[:, start : start + size])
    return out


def _with_entries(solve: Callable[[Strike], tuple[Array, Array, Array]]) -> Callable[..., None]:
    def whole(theta: Array, rho: Array, torso: Array, mu: Array, out: Array) -> None:
        strike = _strike(theta, rho, torso, mu)
        _report(strike, *solve(strike), out)

    return whole


def _strike(theta: Array, rho: Array, torso: Array, mu: Array) -> Strike:
    c, s, c_T, s_T = np.cos(theta / 2), np.sin(theta / 2), np.cos(torso), np.sin(torso)  # legs at ±theta/2
    m = (M_W - M_H) / 2 / (1 + mu)
    m_T = 2 * m * mu
    R = rho * L_LEG
    L = L_LEG - R  # foot centre to hip
    d = L - B_LEG  # foot centre to the mass of the stance leg
    above = m + M_H + m_T  # what the stance leg carries at the hip
    moment = m * d + above * L
    mb, ml = m * B_LEG, m_T * L_TORSO
    M = {
        (0, 0): np.full_like(R, M_W), (1, 1): np.full_like(R, M_W),
        (2, 0): moment * c, (2, 1): -moment * s, (2, 2): m * d * d + above * L * L,
        (3, 0): -mb * c, (3, 1): -mb * s, (3, 2): -mb * L * (c * c - s * s), (3, 3): mb * B_LEG,
        (4, 0): ml * c_T, (4, 1): -ml * s_T, (4, 2): ml * L * (c * c_T + s * s_T), (4, 4): ml * L_TORSO,
    }  # fmt: skip
    one, Ls, Lc = np.ones_like(R), L * s, L * c
    C = {(0, 1): one, (0, 2): -Ls, (0, 3): -Ls, (1, 0): one, (1, 2): Lc, (1, 3): -Lc - R}
    rate = np.full_like(R, RATE)
    return Strike(M, C, {0: R * RATE, 2: rate, 3: rate})


def _cholesky(strike: Strike) -> tuple[Array, Array, Array]:
    """u⁻ `(2, n)`, M⁻¹Cᵀ `(2, 5, n)` and W `(2, 2, n)`; NumPy has no triangular solve, so that is written out."""
    n = strike.n_events
    M, C, v = np.zeros((n, N, N)), np.zeros((2, N, n)), np.zeros((N, n))
    for (i, j), entry in strike.M.items():
        M[:, i, j] = entry  # the lower triangle is all that is read
    for (i, j), entry in strike.C.items():
        C[i, j] = entry
    for i, entry in strike.v_minus.items():
        v[i] = entry
    L = np.ascontiguousarray(np.linalg.cholesky(M).transpose(1, 2, 0))
    Y = np.empty((2, N, n))  # C L⁻ᵀ
    for k in range(N):
        Y[:, k] = (C[:, k] - np.einsum("jn,rjn->rn", L[k, :k], Y[:, :k])) / L[k, k]
    X = Y.copy()  # Y L⁻¹
    for k in reversed(range(N)):
        X[:, k] = (Y[:, k] - np.einsum("jn,rjn->rn", L[k + 1 :, k], X[:, k + 1 :])) / L[k, k]
    return np.einsum("rkn,kn->rn", C, v), X, np.einsum("rkn,skn->rsn", Y, Y)


def _elimination(strike: Strike) -> tuple[Array, Array, Array]:
    """The same by M = FᵀDF, eliminating from the last velocity to the first, which keeps the zeros; y = C F⁻¹."""
    D, F, Y = dict(strike.M), {}, dict(strike.C)
    for k in reversed(range(N)):
        for i in (i for i in range(k) if (k, i) in D):
            F[k, i] = D[k, i] / D[k, k]
            for j in (j for j in range(i + 1) if (k, j) in D):
                update = F[k, i] * D[k, j]
                D[i, j] = D[i, j] - update if (i, j) in D else -update
            for row in (row for row in range(2) if (row, k) in Y):
                update = F[k, i] * Y[row, k]
                Y[row, i] = Y[row, i] - update if (row, i) in Y else -update
    u, X, W = np.zeros((2, strike.n_events)), np.zeros((2, N, strike.n_events)), np.empty((2, 2, strike.n_events))
    for (row, k), entry in strike.C.items():
        if k in strike.v_minus:
            u[row] += entry * strike.v_minus[k]
    for (row, k), entry in Y.items():
        X[row, k] = entry / D[k, k]
    for row, other in ((0, 0), (0, 1), (1, 1)):
        W[row, other] = W[other, row] = sum(entry * X[other, k] for (r, k), entry in Y.items() if r == row)
    for (k, i), entry in sorted(F.items()):
        X[:, k] -= entry * X[:, i]
    return u, X, W


def _report(strike: Strike, u: Array, X: Array, W: Array, out: Array) -> None:
    """Impulses, energies and v⁺ into `out`."""
    determinant = W[0, 0] * W[1, 1] - W[0, 1] * W[1, 0]
    normal = (W[0, 1] * u[1] - W[1, 1] * u[0]) / determinant
    tangent = (W[1, 0] * u[0] - W[0, 0] * u[1]) / determinant
    v_plus = np.multiply(X[0], normal, out=out[7:])
    v_plus += X[1] * tangent
    for k, velocity in strike.v_minus.items():
        v_plus[k] += velocity
    p = np.zeros((N, strike.n_events))  # M v⁻, and then M v⁺
    for (i, j), entry in strike.M.items():
        if j in strike.v_minus:
            p[i] += entry * strike.v_minus[j]
        if i in strike.v_minus and i != j:
            p[j] += entry * strike.v_minus[i]
    out[0], out[1] = normal, tangent
    out[2] = sum(velocity * p[k] for k, velocity in strike.v_minus.items()) / 2
    for (row, k), entry in strike.C.items():
        p[k] += entry * out[row]
    out[3] = np.einsum("kn,kn->n", v_plus, p) / 2
    out[4] = -(u[0] * normal + u[1] * tangent) / 2
    np.subtract(out[2], out[4], out=out[5])
    np.subtract(out[2], out[3], out=out[6])
