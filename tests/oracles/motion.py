"""What motion between events must give, derived by hand, in plain NumPy, SciPy and mpmath. Nothing here is Jourdain's.

Walkers. x runs downhill along the slope, y along its normal; an angle is that of a leg, absolute, counter-clockwise
from the slope's normal, so that it is positive where the upper end is behind (uphill of) the lower one. Seen from the
stance foot a particle k is at Σ_i L_ki e(θ_i), e(θ) = (−sin θ, cos θ), with constant lengths L_ki. Lagrange gives, with
A_ij = Σ_k m_k L_ki L_kj and B_i = Σ_k m_k L_ki,

    Σ_j A_ij (cos(θ_i − θ_j) ω̇_j + sin(θ_i − θ_j) ω_j²) = B_i g sin(θ_i − slope),

for straight legs and for knees alike. Events keep angular momenta: a heel strike that of everything about the new
stance foot and that of the trailing leg about the hip; a knee strike that of everything about the stance foot and that
of the swing leg about the hip.

Gaits. No guard is searched for: the state after the event and the durations of the phases are unknowns, the guards and
the return of the state are equations. The flow is an extrapolated midpoint rule of order 20 with a fixed number of
steps in extended precision; it is analytic in everything, so complex steps give its derivatives to all digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import atan, cos, cosh, hypot, inf, pi, radians, sin, sqrt, tanh
from typing import Any, NamedTuple

import mpmath
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import ellipj, ellipk

Array = NDArray[Any]
Angles = Sequence[Any] | Array
Flow = Callable[[Array], Array]  # the rate of change of a state (n, …)
REAL, COMPLEX = np.longdouble, np.clongdouble
TINY = 1e-40  # of a complex step: its square is nothing beside 1


# ── Flow ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def flow(rate: Flow, x: Array, duration: Any, steps: int, rows: int = 10) -> Array:
    """The state after `duration`, by the midpoint rule with 2, 4, …, 2·rows substeps, extrapolated to none (Gragg)."""
    h = duration / REAL(steps)
    counts = [REAL(2 * (j + 1)) for j in range(rows)]
    for _ in range(steps):
        table: list[Array] = []
        start = rate(x)
        for j, n in enumerate(counts):
            d = h / n
            previous, current = x, x + d * start
            for _ in range(2 * j + 1):
                previous, current = current, previous + 2 * d * rate(current)
            row = [(previous + current + d * rate(current)) / 2]  # Gragg's smoothing: only even powers of d are left
            for i in range(j):
                row.append(row[i] + (row[i] - table[i]) / ((n / counts[j - 1 - i]) ** 2 - 1))
            table = row
        x = table[-1]
    return x


def solve(A: Sequence[Sequence[Any]], b: Sequence[Any]) -> list[Any]:
    """A x = b for one, two or three unknowns with columns of numbers in each place (Cramer)."""
    if len(b) == 1:
        return [b[0] / A[0][0]]
    if len(b) == 2:
        det = A[0][0] * A[1][1] - A[0][1] * A[1][0]
        return [(b[0] * A[1][1] - A[0][1] * b[1]) / det, (A[0][0] * b[1] - A[1][0] * b[0]) / det]
    (a, b_, c), (d, e, f), (g, h, i) = A
    C = [e * i - f * h, f * g - d * i, d * h - e * g]  # cofactors of the first row, then of the others
    D = [c * h - b_ * i, a * i - c * g, b_ * g - a * h]
    E = [b_ * f - c * e, c * d - a * f, a * e - b_ * d]
    det = a * C[0] + b_ * C[1] + c * C[2]
    return [(C[j] * b[0] + D[j] * b[1] + E[j] * b[2]) / det for j in range(3)]


# ── Chains of legs ──────────────────────────────────────────────────────────────────────────────────────────────────

Particles = Sequence[tuple[float, tuple[float, ...]]]  # mass, and its lengths along each angle, from the stance foot


def chain(particles: Particles, g: float, slope: Any) -> Flow:
    """The rate of (θ, ω) of particles on a chain of massless rods that stands on the slope."""
    n = len(particles[0][1])
    A = [[sum(m * REAL(L[i]) * REAL(L[j]) for m, L in particles) for j in range(n)] for i in range(n)]
    B = [sum(m * REAL(L[i]) for m, L in particles) for i in range(n)]

    def rate(x: Array) -> Array:
        theta, omega = x[:n], x[n:]
        s, c = np.sin(theta), np.cos(theta)
        sin_down, cos_down = np.sin(slope), np.cos(slope)
        M, f = [[A[i][i] for _ in range(n)] for i in range(n)], []
        for i in range(n):
            force = B[i] * REAL(g) * (s[i] * cos_down - c[i] * sin_down)
            for j in range(n):
                if j != i:
                    M[i][j] = A[i][j] * (c[i] * c[j] + s[i] * s[j])
                    force = force - A[i][j] * (s[i] * c[j] - c[i] * s[j]) * omega[j] ** 2
            f.append(force)
        return np.stack([*omega, *solve(M, f)])

    return rate


def place(lengths: Sequence[float], theta: Angles) -> tuple[Any, Any]:
    return (
        sum(-REAL(L) * np.sin(t) for L, t in zip(lengths, theta, strict=True)),
        sum(REAL(L) * np.cos(t) for L, t in zip(lengths, theta, strict=True)),
    )


def momentum(particles: Particles, theta: Angles, omega: Angles, about: Sequence[float]) -> Any:
    """Σ m (r − r_P) × ṙ, where P is the point with the lengths `about`."""
    total: Any = 0
    for m, L in particles:
        x, y = place([a - b for a, b in zip(L, about, strict=True)], theta)
        vx = sum(-REAL(l) * np.cos(t) * w for l, t, w in zip(L, theta, omega, strict=True))
        vy = sum(-REAL(l) * np.sin(t) * w for l, t, w in zip(L, theta, omega, strict=True))
        total = total + m * (x * vy - y * vx)
    return total


def rates_from(momenta: Callable[[Sequence[Any]], list[Any]], values: list[Any]) -> list[Any]:
    """The rates with the given momenta, which are linear in them."""
    n = len(values)
    columns = [momenta([REAL(1) if j == i else REAL(0) for j in range(n)]) for i in range(n)]
    return solve([[columns[j][i] for j in range(n)] for i in range(n)], values)


# ── Gaits ───────────────────────────────────────────────────────────────────────────────────────────────────────────

Step = Callable[[Array, Array, Any], tuple[Array, list[Any]]]  # (state after an event, durations, parameter) → the next


@dataclass(frozen=True)
class Gait:
    """A fixed point of the step map (or of the k-th power of it), just after the event."""

    state: Array  # (n,) what is free on the section, see the function that made it
    durations: Array  # of the phases, in order
    parameter: float
    jacobian: Array  # (n, n) of the step map
    tangent: Array  # (n,) derivative of the step map by the parameter
    residual: float

    @property
    def period(self) -> float:
        return float(self.durations.sum())

    @property
    def multipliers(self) -> Array:
        """Floquet multipliers, the largest modulus first, then the one with the positive imaginary part."""
        values = np.linalg.eigvals(self.jacobian)
        return np.array(sorted(values, key=lambda z: (-round(abs(z), 12), -z.imag)))


def repeated(step: Step, times: int) -> Step:
    """The step map taken several times; durations one after the other."""

    def steps(x: Array, durations: Array, parameter: Any) -> tuple[Array, list[Any]]:
        guards = []
        for part in np.split(durations, times):
            x, crossed = step(x, part, parameter)
            guards += crossed
        return x, guards

    return steps


def gait(step: Step, state: ArrayLike, durations: ArrayLike, parameter: float, hold: int = -1) -> Gait:
    """Newton on z = (state, durations, parameter); z[hold] keeps its value, by default the parameter."""
    z = np.concatenate([np.atleast_1d(np.asarray(part, REAL)) for part in (state, durations, parameter)])
    n, size = np.size(state), len(z)
    free = [i for i in range(size) if i != hold % size]
    for _ in range(30):
        columns = z[:, None].astype(COMPLEX) + np.asarray(1j * TINY * np.eye(size), COMPLEX)
        with np.errstate(over="ignore", invalid="ignore"):  # far from a gait the flow may go anywhere
            x, guards = step(columns[:n], columns[n:-1], columns[-1])
        residual = np.stack([*(x - columns[:n]), *guards])
        J = (residual.imag / TINY).astype(float)
        r = residual[:, 0].real
        if not np.all(np.isfinite(J)):
            break
        z[free] -= np.linalg.solve(J[:, free], r.astype(float))
        if np.max(np.abs(r)) < 1e-15 * (1 + np.max(np.abs(J))):
            by_time = np.linalg.solve(J[n:, n:-1], np.column_stack([J[n:, :n], J[n:, -1]]))  # −∂durations
            total = np.column_stack([J[:n, :n] + np.eye(n), J[:n, -1]]) - J[:n, n:-1] @ by_time
            return Gait(
                z[:n].astype(float),
                z[n:-1].astype(float),
                float(z[-1]),
                total[:, :n],
                total[:, -1],
                float(np.max(np.abs(r))),
            )
    raise ArithmeticError(f"no gait near {state!r}, {durations!r}, {parameter}: residual {r}")


def secant(f: Callable[[float], tuple[float, Any]], a: float, b: float, tolerance: float = 1e-11) -> Any:
    """The thing that comes with the zero of f."""
    (fa, _), (fb, found) = f(a), f(b)
    for _ in range(25):
        if abs(b - a) < tolerance or fb == 0:
            return found
        a, fa, b = b, fb, b - fb * (b - a) / (fb - fa)
        fb, found = f(b)
    raise ArithmeticError(f"no zero near {a}, {b}")


def flip(step: Step, near: Gait, parameter: float) -> Gait:
    """The gait with a multiplier −1; the two parameters are near it, and it is reached from the first."""
    last = [near]

    def value(p: float) -> tuple[float, Gait]:
        ahead = last[0].state + along(last[0]) * (p - last[0].parameter)
        last[0] = gait(step, ahead, last[0].durations, p)
        return float(np.linalg.det(last[0].jacobian + np.eye(len(ahead)))), last[0]

    return secant(value, near.parameter, parameter)


def along(g: Gait) -> Array:
    """How the gait's state changes with the parameter."""
    return np.linalg.solve(np.eye(len(g.state)) - g.jacobian, g.tangent)


# ── Walkers ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Leg:
    """Point masses on a straight leg, by their distances from the foot."""

    masses: tuple[tuple[float, float], ...]
    length: float


def straight(leg: Leg, m_H: float) -> tuple[Particles, Particles, Particles]:
    """Particles of the stance leg, the hip, the swing leg, along the angles (stance, swing)."""
    l = leg.length
    return (
        [(m, (r, 0.0)) for m, r in leg.masses],
        [(m_H, (l, 0.0))],
        [(m, (l, r - l)) for m, r in leg.masses],
    )


def heel_strike(leg: Leg, m_H: float, theta: Angles, omega: Angles) -> tuple[list[Any], list[Any]]:
    """Angles and rates (stance, swing) of straight legs after the swing foot has landed and the legs have swapped."""
    stance, hip, swing = straight(leg, m_H)
    l, everything = leg.length, [*stance, *hip, *swing]
    before = [
        momentum(everything, theta, omega, (l, -l)),  # about the foot that lands
        momentum(stance, theta, omega, (l, 0.0)),  # of the leg that leaves, about the hip
    ]
    swapped = [theta[1], theta[0]]

    def after(rates: Sequence[Any]) -> list[Any]:
        return [momentum(everything, swapped, rates, (0.0, 0.0)), momentum(swing, swapped, rates, (l, 0.0))]

    return swapped, rates_from(after, before)


def straight_step(leg: Leg, m_H: float, g: float, steps: int = 8) -> Step:
    """From after a heel strike to after the next: (θ_st, ω_st, ω_sw), θ_sw = −θ_st. The foot may scuff on its way."""
    particles = [p for part in straight(leg, m_H) for p in part]

    def step(x: Array, durations: Array, slope: Any) -> tuple[Array, list[Any]]:
        y = flow(chain(particles, g, slope), np.stack([x[0], -x[0], x[1], x[2]]), durations[0], steps)
        theta, omega = heel_strike(leg, m_H, y[:2], y[2:])
        return np.stack([theta[0], *omega]), [y[0] + y[1]]  # both feet on the slope: θ_st + θ_sw = 0

    return step


def limit_step(
    x: Array, durations: Array, slope: Any, push_off: float = 0.0, steps: int = 8
) -> tuple[Array, list[Any]]:
    """Garcia's walker: the feet have no mass, l = g = 1. The state is (θ, θ̇), with φ = 2θ, φ̇ = (1 − cos 2θ) θ̇.

    The hip is an inverted pendulum; a foot falls on an arc about the hip, in the hip's accelerated frame. At heel
    strike the hip keeps its velocity across the new leg and loses the one along it; the foot that leaves is at rest
    until it does. A push-off is an impulse along the trailing leg just before (Kuo 2002), P per mass of the hip.
    """

    def rate(y: Array) -> Array:
        theta, phi, w, p = y
        alpha = np.sin(theta - slope)
        return np.stack([w, p, alpha, alpha + (w**2 - np.cos(theta - slope)) * np.sin(phi)])

    y = flow(rate, np.stack([x[0], 2 * x[0], x[1], (1 - np.cos(2 * x[0])) * x[1]]), durations[0], steps)
    theta, phi, w, _ = y
    # Along the old leg e(θ) the hip gets P; across the new leg, which is at −θ, that is P sin 2θ.
    return np.stack([-theta, w * np.cos(2 * theta) + push_off * np.sin(2 * theta)]), [phi - 2 * theta]


def compass_step(steps: int = 8) -> Step:
    """Goswami's: m = 5 at a = b = 0.5, m_H = 10, g = 9.81."""
    return straight_step(Leg(((5.0, 0.5),), 1.0), 10.0, 9.81, steps)


def footed_step(ratio: float = 1e-10) -> Step:
    """The simplest walker with feet of a mass, in units of the hip's; l = g = 1."""
    return straight_step(Leg(((ratio, 0.0),), 1.0), 1.0, 1.0)


@dataclass(frozen=True)
class Knees:
    """The kneed walker: point masses on thighs and shanks. By default Hsu Chen's (2007)."""

    m_hip: float = 0.5
    m_thigh: float = 0.5
    m_shank: float = 0.05
    foot_to_shank: float = 0.375  # a1
    shank_to_knee: float = 0.125  # b1
    knee_to_thigh: float = 0.175  # a2
    thigh_to_hip: float = 0.325  # b2
    g: float = 9.81

    @property
    def shank(self) -> float:
        return self.foot_to_shank + self.shank_to_knee

    @property
    def thigh(self) -> float:
        return self.knee_to_thigh + self.thigh_to_hip

    @property
    def locked(self) -> Leg:
        return Leg(
            ((self.m_shank, self.foot_to_shank), (self.m_thigh, self.shank + self.knee_to_thigh)),
            self.shank + self.thigh,
        )

    @property
    def bent(self) -> tuple[Particles, Particles]:
        """Stance leg and hip, and the swing leg, along (stance leg, swing thigh, swing shank)."""
        l = self.locked.length
        upper = [*((m, (r, 0.0, 0.0)) for m, r in self.locked.masses), (self.m_hip, (l, 0.0, 0.0))]
        swing = [
            (self.m_thigh, (l, -self.thigh_to_hip, 0.0)),
            (self.m_shank, (l, -self.thigh, -self.shank_to_knee)),
        ]
        return upper, swing


HSU_CHEN = Knees()


def knee_strike(knees: Knees, theta: Angles, omega: Angles) -> list[Any]:
    """The rates (stance leg, swing leg) once the swing knee has locked; angles (stance, thigh, shank = thigh)."""
    upper, swing = knees.bent
    hip = (knees.locked.length, 0.0, 0.0)
    before = [
        momentum([*upper, *swing], theta, omega, (0.0, 0.0, 0.0)),  # about the stance foot
        momentum(swing, theta, omega, hip),  # of the swing leg about the hip
    ]

    def after(rates: Sequence[Any]) -> list[Any]:
        both = [rates[0], rates[1], rates[1]]
        return [momentum([*upper, *swing], theta, both, (0.0, 0.0, 0.0)), momentum(swing, theta, both, hip)]

    return rates_from(after, before)


def kneed_step(knees: Knees = HSU_CHEN, steps: int = 8) -> Step:
    """From after a heel strike to after the next: (θ_st, ω_st, ω_sw), θ_sw = −θ_st, both knees straight.

    The swing knee is free at once; durations are those up to the knee strike and from there to the heel strike.
    """
    upper, swing = knees.bent
    straight_legs = [p for part in straight(knees.locked, knees.m_hip) for p in part]

    def step(x: Array, durations: Array, slope: Any) -> tuple[Array, list[Any]]:
        start = np.stack([x[0], -x[0], -x[0], x[1], x[2], x[2]])
        y = flow(chain([*upper, *swing], knees.g, slope), start, durations[0], steps)
        w = knee_strike(knees, y[:3], y[3:])
        z = flow(chain(straight_legs, knees.g, slope), np.stack([y[0], y[1], *w]), durations[1], steps)
        theta, omega = heel_strike(knees.locked, knees.m_hip, z[:2], z[2:])
        return np.stack([theta[0], *omega]), [y[1] - y[2], z[0] + z[1]]

    return step


@cache
def compass_gait(degrees: float = 3.0) -> Gait:
    """(θ_st, ω_st, ω_sw) after the heel strike; sought from the one at 3°, so not far from there."""
    step, g = compass_step(), None
    for d in np.linspace(3.0, degrees, 1 + int(np.ceil(abs(degrees - 3.0) / 0.5))):
        start = [0.27, -1.09, -0.38] if g is None else g.state + along(g) * (radians(d) - g.parameter)
        g = gait(step, start, [0.734] if g is None else g.durations, radians(d))
    assert g is not None
    return g


@cache
def compass_flips() -> tuple[Gait, Gait]:
    """Where the compass gait doubles its period, and where the doubled one does; the parameter is the slope in rad."""
    first = flip(compass_step(6), compass_gait(4.3), radians(4.35))
    twice = repeated(compass_step(6), 2)
    doubled = gait(twice, [0.299, -1.155, -0.151], [0.71, 0.79], radians(4.8))
    return first, flip(twice, doubled, radians(4.9))


@cache
def simplest_gait(name: str = "long", slope: float = 0.009, push_off: float = 0.0) -> Gait:
    """Garcia's walker in the limit of no feet: (θ, θ̇). `name` is long or short."""
    if slope > 0.02:
        near = simplest_gait(name, slope / 1.5, push_off)
        start, durations = near.state + along(near) * (slope - near.parameter), near.durations
    else:
        T = slope_zero(name)
        theta = (slope * tanh(T / 2) ** 2) ** (1 / 3) or sqrt(push_off * tanh(T / 2))
        start, durations = np.array([theta, -theta / tanh(T / 2)]), np.array([T])
    return gait(with_push_off(push_off), start, durations, slope)


def with_push_off(push_off: float) -> Step:
    return lambda x, durations, slope: limit_step(x, durations, slope, push_off)


@cache
def footed_gait(name: str = "long", slope: float = 0.009, ratio: float = 1e-10) -> Gait:
    """The simplest walker with feet of a mass: (θ_st, ω_st, ω_sw)."""
    near = simplest_gait(name, slope)
    theta, omega = near.state
    return gait(footed_step(ratio), [theta, omega, omega * cos(2 * theta)], near.durations, slope)


def slope_zero(name: str) -> float:
    """The period of the simplest walker's gaits as the slope goes to 0.

    Then θ → (slope · tanh²(T/2))^⅓ → 0 and the motion is linear: θ ∝ sinh(t − T/2), φ = θ/2 + sines; the foot arrives
    with φ = 2θ if cos(T/2) = 0 (the short gait) or tan(T/2) = −3 tanh(T/2) (the long one). Neither branch turns back:
    both start here, with a multiplier 1 that belongs to the vanishing of θ, and slope ∝ θ³.
    """
    if name == "short":
        return pi
    return float(brentq(lambda T: sin(T / 2) + 3 * tanh(T / 2) * cos(T / 2), 3.3, 4.5, xtol=1e-15))


@cache
def simplest_flip(ratio: float = 0.0) -> Gait:
    """Where the long gait doubles its period; the parameter is the slope."""
    if ratio:
        return flip(footed_step(ratio), footed_gait("long", 0.0149, ratio), 0.0152)
    return flip(limit_step, simplest_gait("long", 0.0149), 0.0152)


@cache
def kneed_gait(slope: float = 0.0504, knees: Knees = HSU_CHEN) -> Gait:
    """(θ_st, ω_st, ω_sw) after the heel strike, from the slope's normal (from the vertical: subtract the slope)."""
    return gait(kneed_step(knees), [0.238, -1.10, -0.05], [0.35, 0.21], slope)


# ── Rimless wheel ───────────────────────────────────────────────────────────────────────────────────────────────────


class Rimless(NamedTuple):
    omega_plus: float  # forward, after the strike
    omega_minus: float  # before the push-off and the strike
    period: float
    multiplier: float
    push_off_work: float  # per mass
    loss: float  # at the strike, per mass


def rimless(spokes: int = 8, slope: float = 0.08, l: float = 1.0, g: float = 9.81, push_off: float = 0.0) -> Rimless:
    """A mass on massless spokes; push_off is an impulse per mass along the trailing spoke, just before the strike.

    From strike to strike ω⁻² = ω⁺² + K, K = 4 (g/l) sin α sin slope, α = π/spokes. At a strike, with p = push_off/l,
    ω⁺ = ω⁻ cos 2α + p sin 2α. So ω⁺ = (p + cos 2α √(p² + K))/sin 2α, and on the level p = ω tan α (Kuo 2002).
    """
    alpha, p = pi / spokes, push_off / l
    K, c, s = 4 * g / l * sin(alpha) * sin(slope), cos(2 * alpha), sin(2 * alpha)
    plus = (p + c * sqrt(p * p + K)) / s
    minus = sqrt(plus**2 + K)
    if plus**2 <= 2 * g / l * (1 - cos(alpha - slope)):
        raise ValueError(f"rate {plus} after a strike: too slow to get over the top")
    period = integral(  # 1/ω at an angle from the vertical
        lambda x: 1 / np.sqrt(plus**2 + 2 * g / l * (cos(slope - alpha) - np.cos(x))), slope - alpha, slope + alpha
    )
    after_push = (l * minus) ** 2 + push_off**2
    return Rimless(plus, minus, period, c * plus / minus, push_off**2 / 2, (after_push - (l * plus) ** 2) / 2)


def rimless_step(spokes: int = 8, l: float = 1.0, g: float = 9.81, push_off: float = 0.0) -> Step:
    """The same as a one-legged chain: θ goes from α to −α, the state is its rate (negative)."""
    alpha = REAL(pi) / spokes

    def step(x: Array, durations: Array, slope: Any) -> tuple[Array, list[Any]]:
        y = flow(chain([(1.0, (l,))], g, slope), np.stack([alpha + 0 * x[0], x[0]]), durations[0], 6)
        return np.stack([y[1] * np.cos(2 * alpha) - push_off / l * np.sin(2 * alpha)]), [y[0] + alpha]

    return step


def integral(f: Callable[[Array], Array], a: float, b: float, panels: int = 8, nodes: int = 40) -> float:
    """Gauss' rule on panels: for integrands that are analytic there."""
    x, w = np.polynomial.legendre.leggauss(nodes)
    edges = np.linspace(a, b, panels + 1)
    half = np.diff(edges)[:, None] / 2
    return float(np.sum(f(edges[:-1, None] + half * (1 + x)) * w * half))


# ── Bouncing, rocking, sliding, swinging ────────────────────────────────────────────────────────────────────────────


class Bounces(NamedTuple):
    times: Array  # of the impacts
    speeds: Array  # upwards, after each
    end: float  # when it has come to rest


def bouncing_ball(height: float, kappa: float, g: float = 9.81, impacts: int = 10) -> Bounces:
    """Dropped from rest: the flights are t₁ and then 2 t₁ κ^k, t₁ = √(2h/g)."""
    t1, k = sqrt(2 * height / g), np.arange(impacts)
    after = 2 * kappa * (1 - kappa**k) / (1 - kappa) if kappa < 1 else 2.0 * k
    end = t1 * (1 + kappa) / (1 - kappa) if kappa < 1 else inf
    return Bounces(t1 * (1 + after), g * t1 * kappa ** (k + 1), end)


class Rocking(NamedTuple):
    ratio: float  # of the rates after and before an impact; its square is Housner's r
    times: Array  # of the impacts
    rates: Array  # magnitudes, before each
    amplitudes: Array  # before each
    end: float  # when it has come to rest


def rocking_block(half_width: float, half_height: float, tilt: float, g: float = 9.81, impacts: int = 8) -> Rocking:
    """Housner's block, let go at a tilt, on corners that neither slide nor bounce; nothing is linearised.

    About a corner I = (4/3) m R²: θ̈ = −p² sin(α − θ), p² = 3g/4R, tan α = half_width/half_height. At an impact the
    angular momentum about the new corner is kept: ω⁺/ω⁻ = 1 − (3/2) sin²α.
    """
    R, alpha = hypot(half_width, half_height), atan(half_width / half_height)
    p, ratio = sqrt(3 * g / (4 * R)), 1 - 1.5 * sin(alpha) ** 2

    def quarter(theta: float) -> float:
        """The time from rest at theta to 0, by θ = theta (1 − s²) in ½ θ̇² = p² (cos(α − theta) − cos(α − θ))."""

        def integrand(s: Array) -> Array:
            d = theta * s * s / 2
            return 2 * theta / (p * np.sqrt(4 * np.sin(alpha - theta + d) * (np.sin(d) / (s * s))))

        return integral(integrand, 0, 1)

    rates, amplitudes, times = [p * sqrt(4 * sin(alpha - tilt / 2) * sin(tilt / 2))], [tilt], [quarter(tilt)]
    while rates[-1] > 1e-9 * rates[0]:
        w = rates[-1] * ratio
        # cos(α − θ) = cos α + w²/2p², by the product 2 sin(α − θ/2) sin(θ/2) so that small angles keep their digits
        rise = w * w / (2 * p * p)
        theta = float(brentq(lambda x: 2 * sin(alpha - x / 2) * sin(x / 2) - rise, 0, amplitudes[-1], xtol=1e-300))  # noqa: B023
        rates.append(w)
        amplitudes.append(theta)
        times.append(times[-1] + 2 * quarter(theta))
    last = times[-1] - times[-2]  # from here on the flights are a geometric series
    end = times[-1] + last * ratio / (1 - ratio)
    return Rocking(ratio, np.array(times[:impacts]), np.array(rates[:impacts]), np.array(amplitudes[:impacts]), end)


class Sleigh(NamedTuple):
    u: float  # of the blade, forward
    omega: float
    heading: float
    x: float  # of the blade
    y: float


def sleigh(t: float, u: float, omega: float, m: float = 1.0, I: float = 1.0, a: float = 1.0) -> Sleigh:
    """Chaplygin's: blade at the origin heading along x at t = 0, centre of mass a ahead of it, I about that centre.

    u̇ = a ω², J ω̇ = −m a u ω, J = I + m a²: u = U tanh τ, ω = W sech τ, τ = k t + τ₀, with U, W from the energy and
    k = m a U/J. The heading turns by π W/k from t = −∞ to ∞.
    """
    J = I + m * a * a
    U, W = sqrt(u * u + J / m * omega**2), sqrt(m / J * u * u + omega**2)
    k = m * a * U / J
    tau0, side = float(np.arcsinh(u / (sqrt(J / m) * abs(omega)))), 1 if omega > 0 else -1

    def heading(time: Any) -> Any:  # the Gudermannian
        return side * 2 * W / k * (np.arctan(np.tanh((k * time + tau0) / 2)) - atan(tanh(tau0 / 2)))

    def along_axis(axis: Callable[[Array], Array]) -> float:
        return integral(lambda s: U * np.tanh(k * s + tau0) * axis(heading(s)), 0, t)

    tau = k * t + tau0
    return Sleigh(U * tanh(tau), side * W / cosh(tau), float(heading(t)), along_axis(np.cos), along_axis(np.sin))


def sleigh_lands(
    v_t: float, v_n: float, omega: float, m: float = 1.0, I: float = 1.0, a: float = 1.0
) -> tuple[float, float]:
    """(u, ω) after the blade has landed: v_t, v_n of the centre of mass along and to the left of the heading.

    The impulse acts across the blade, so v_t and the angular momentum about the blade, I ω + m a v_n, are kept;
    after, v_n = a ω.
    """
    return v_t, (I * omega + m * a * v_n) / (I + m * a * a)


class Swing(NamedTuple):
    theta: float  # from hanging down
    omega: float
    tension: float
    energy: float  # above hanging


def pendulum(t: float, amplitude: float, l: float = 1.0, m: float = 1.0, g: float = 9.81) -> Swing:
    """From rest at the amplitude: sin(θ/2) = k cd(√(g/l) t), k = sin(amplitude/2)."""
    k, w = sin(amplitude / 2), sqrt(g / l)
    K = float(ellipk(k * k))
    sn, cn, _, _ = ellipj(float(mpmath.fmod(mpmath.mpf(w) * t, 4 * K)) + K, k * k)  # cd(u) = sn(u + K)
    theta, omega = 2 * float(np.arcsin(k * sn)), 2 * k * w * float(cn)
    return Swing(theta, omega, m * (g * cos(theta) + l * omega**2), 2 * m * g * l * k * k)


# ── Guards that dip ─────────────────────────────────────────────────────────────────────────────────────────────────


class Dip(NamedTuple):
    """A guard that is positive but for a moment."""

    enter: float | None  # crossings; None where depth ≤ 0
    leave: float | None
    lowest: float  # the time of the minimum
    depth: float  # −(the guard there)
    offset: float  # what places the obstacle, see the function


def ceiling(depth: float, speed: float = 4.905, g: float = 9.81, A: float = 0.01, frequency: float = 60.0) -> Dip:
    """A ball thrown up at `speed` from 0 under a ceiling at offset + A cos(frequency t); guard = ceiling − ball.

    The ball's path is a parabola, which a Runge–Kutta step of any length gets right: nothing but the guard itself says
    that something happens. There are many local minima, and only the lowest reaches below zero.
    """
    with mpmath.workdps(40):
        A_, f_, v_, g_ = map(mpmath.mpf, (A, frequency, speed, g))

        def relative(t: Any) -> Any:
            return A_ * mpmath.cos(f_ * t) - v_ * t + g_ * t * t / 2

        def slope(t: Any) -> Any:
            return -A_ * f_ * mpmath.sin(f_ * t) - v_ + g_ * t

        grid = np.linspace(0, 2 * speed / g, 20001)
        values = A * np.cos(frequency * grid) - speed * grid + g * grid**2 / 2
        lowest = mpmath.findroot(slope, grid[int(np.argmin(values))])
        offset = mpmath.mpf(float(-relative(lowest) - mpmath.mpf(depth)))  # a double, so that others can have it
        exact = -(relative(lowest) + offset)
        if exact <= 0:
            return Dip(None, None, float(lowest), float(exact), float(offset))
        half = mpmath.sqrt(2 * exact / (g_ - A_ * f_**2 * mpmath.cos(f_ * lowest)))
        enter, leave = (
            mpmath.findroot(lambda t: relative(t) + offset, (lowest + s * half, lowest + s * half * 1.01))
            for s in (-1, 1)
        )
        return Dip(float(enter), float(leave), float(lowest), float(exact), float(offset))


def peg(
    depth: float, radius: float = 0.01, at: float = 0.3, v: tuple[float, float] = (3.0, 4.0), g: float = 9.81
) -> Dip:
    """A ball thrown from (0, 0) grazes a round peg; guard = distance from its centre − radius. `offset` is its height.

    The centre is above where the ball is at the time `at`, about radius − depth along the normal; its x is that of
    `peg_x`. The squared distance is a quartic in t, whose roots are the crossings.
    """
    with mpmath.workdps(40):
        vx, vy, g_, r = mpmath.mpf(v[0]), mpmath.mpf(v[1]), mpmath.mpf(g), mpmath.mpf(radius)
        slope = (v[1] - g * at) / v[0]
        centre_x = mpmath.mpf(peg_x(radius, at, v, g))
        centre_y = mpmath.mpf(v[1] * at - g * at * at / 2 + (radius - depth) / sqrt(1 + slope * slope))
        # |r(t) − c|² − radius²
        quartic = [
            g_**2 / 4,
            -g_ * vy,
            vx**2 + vy**2 + g_ * centre_y,
            -2 * (vx * centre_x + vy * centre_y),
            centre_x**2 + centre_y**2 - r**2,
        ]
        slopes = [(4 - i) * c for i, c in enumerate(quartic[:4])]
        turning = mpmath.polyroots(slopes, maxsteps=500, extraprec=200)
        real = [mpmath.re(t) for t in turning if abs(mpmath.im(t)) < mpmath.mpf(10) ** -25]
        lowest = min(real, key=lambda t: mpmath.polyval(quartic, t))
        exact = r - mpmath.sqrt(mpmath.polyval(quartic, lowest) + r**2)
        if exact <= 0:
            return Dip(None, None, float(lowest), float(exact), float(centre_y))
        roots = mpmath.polyroots(quartic, maxsteps=500, extraprec=200)
        crossings = sorted(mpmath.re(t) for t in roots if abs(mpmath.im(t)) < mpmath.mpf(10) ** -25)
        return Dip(float(crossings[0]), float(crossings[1]), float(lowest), float(exact), float(centre_y))


def peg_x(radius: float = 0.01, at: float = 0.3, v: tuple[float, float] = (3.0, 4.0), g: float = 9.81) -> float:
    slope = (v[1] - g * at) / v[0]
    return v[0] * at - radius * slope / sqrt(1 + slope * slope)
