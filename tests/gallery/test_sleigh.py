"""Wang & Chou's sleigh [WC section 7]: its closed forms, and four roads to them that share no code.

The roads: the library's multipliers; privileged momenta with D' written by hand; Newton and Euler with the impulse of
the blade as an unknown; Lagrange's impulsive equations. Each but the first is plain NumPy below.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from jourdain import gallery

Array = NDArray[np.float64]
CASES = ("struck", "landing", "earthquake")
N_DRAWS = 40


@dataclass(frozen=True)
class Sleigh:
    """One sleigh just before its event."""

    M: float
    I: float
    l: float
    theta: float
    v_minus: Array  # of C, and of theta
    P: float = 0.0  # across the blade
    a: float = 0.0  # where, before C
    ice_speed: float = 0.0  # afterwards
    ice_angle: float = 0.0

    @property
    def ahead(self) -> Array:
        return np.array([np.cos(self.theta), np.sin(self.theta)])

    @property
    def across(self) -> Array:
        return np.array([-np.sin(self.theta), np.cos(self.theta)])

    @property
    def ice(self) -> Array:
        return self.ice_speed * np.array([np.cos(self.ice_angle), np.sin(self.ice_angle)])


def draw(case: Any, rng: np.random.Generator) -> tuple[Sleigh, dict[str, Any]]:
    """A random sleigh, and the same as parameters of the gallery's scenario."""
    body = {name: rng.uniform(*ends) for name, ends in {"M": (1, 20), "I": (0.1, 5), "l": (0.1, 2)}.items()}
    theta, omega = rng.uniform(-3, 3), rng.uniform(-2, 2)
    if case == "landing":
        flight = {"v_C": rng.uniform(0.1, 3), "psi": rng.uniform(-3, 3)}
        v_C = flight["v_C"] * np.array([np.cos(flight["psi"]), np.sin(flight["psi"])])
        given = {**body, "theta": theta, "omega": omega, **flight}
        return Sleigh(**body, theta=theta, v_minus=np.array([*v_C, omega])), given
    u = rng.uniform(-3, 3)
    at_rest = Sleigh(**body, theta=theta, v_minus=np.zeros(3))
    v_minus = np.array([*(u * at_rest.ahead + body["l"] * omega * at_rest.across), omega])
    given = {**body, "theta": theta, "u": u, "omega": omega}
    if case == "struck":
        blow = {"P": rng.uniform(-5, 5), "a": rng.uniform(-1, 1)}
        return Sleigh(**body, theta=theta, v_minus=v_minus, **blow), {**given, **blow}
    ice = {"v_S_plus": rng.uniform(0.1, 2), "psi_S_plus": rng.uniform(-3, 3)}
    v_S, psi_S = ice.values()
    return Sleigh(**body, theta=theta, v_minus=v_minus, ice_speed=v_S, ice_angle=psi_S), {**given, **ice}


def privileged(s: Sleigh) -> Array:
    """D'ᵀ M (v⁺ − v⁻) = D'ᵀ f̄ with φ' = (u, θ̇) and v⁺ = D'φ⁺ + d [WC 18, 28, 55]."""
    mass = np.diag([s.M, s.M, s.I])
    D = np.column_stack([[*s.ahead, 0], [*(s.l * s.across), 1]])
    d = np.array([*s.ice, 0])
    f = np.array([*(s.P * s.across), s.P * s.a])
    phi = np.linalg.solve(D.T @ mass @ D, D.T @ (mass @ (s.v_minus - d) + f))
    return D @ phi + d


def newton_euler(s: Sleigh) -> Array:
    """M Δv_C = (P + R) e_y, I Δω = a P − l R, and A does not move across the blade relative to the ice."""
    e_x, e_y = s.across
    equations = np.array([
        [s.M, 0, 0, -e_x],
        [0, s.M, 0, -e_y],
        [0, 0, s.I, s.l],
        [e_x, e_y, -s.l, 0],
    ])  # fmt: skip
    momenta = np.array([s.M, s.M, s.I]) * s.v_minus + np.array([s.P * e_x, s.P * e_y, s.P * s.a])
    return np.linalg.solve(equations, np.array([*momenta, s.ice @ s.across]))[:3]


def lagrange(s: Sleigh) -> Array:
    """∂T/∂ẋ + ∂T/∂θ̇ D_x, and the same for y, jump by the impulses only, with θ̇⁺ from the blade [WC 61–64]."""
    D = s.across / s.l  # θ̇ = D·(v_C − v_S)
    before = s.M * s.v_minus[:2] + s.I * s.v_minus[2] * D
    applied = s.P * s.across + s.P * s.a * D
    v_C = np.linalg.solve(s.M * np.eye(2) + s.I * np.outer(D, D), before + applied + s.I * (D @ s.ice) * D)
    return np.array([*v_C, D @ (v_C - s.ice)])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("road", [privileged, newton_euler, lagrange])
def test_four_roads_agree(case: Any, road: Callable[[Sleigh], Array], rng: np.random.Generator) -> None:
    scenario = gallery.sleigh(case)
    for _ in range(N_DRAWS):
        s, given = draw(case, rng)
        t = scenario.solve(**given)
        v_plus = road(s)
        assert t.ok
        np.testing.assert_allclose(t.v_minus, s.v_minus, rtol=0, atol=1e-12 * np.abs(s.v_minus).max())
        np.testing.assert_allclose(t.v_plus, v_plus, rtol=0, atol=1e-12 * np.abs(v_plus).max())


def test_struck(rng: np.random.Generator) -> None:
    """u stays, θ̇ jumps by (a + l) P/(M l² + I) [WC 56]; linear momentum gives the impulse of the blade."""
    scenario = gallery.sleigh("struck")
    for _ in range(N_DRAWS):
        s, given = draw("struck", rng)
        t = scenario.solve(**given)
        jump = (s.a + s.l) * s.P / (s.M * s.l**2 + s.I)
        assert t.outputs["u"] == pytest.approx(given["u"], rel=0, abs=1e-12 * speed(s))
        assert t.velocity_plus["theta"] == pytest.approx(given["omega"] + jump, rel=0, abs=1e-12 * (2 + abs(jump)))
        assert t.impulse["blade"] == pytest.approx(
            s.M * s.l * jump - s.P, rel=0, abs=1e-12 * (abs(s.P) + s.M * s.l * abs(jump))
        )
        assert tuple(t.dof) == (2, 2, 2)


def test_landing(rng: np.random.Generator) -> None:
    """u⁺ = v_C cos(ψ − θ), θ̇⁺ = (M l v_C sin(ψ − θ) + I θ̇⁻)/(M l² + I) [WC 57]."""
    scenario = gallery.sleigh("landing")
    for _ in range(N_DRAWS):
        s, given = draw("landing", rng)
        t = scenario.solve(**given)
        v_C, angle, inertia = given["v_C"], given["psi"] - s.theta, s.M * s.l**2 + s.I
        omega = (s.M * s.l * v_C * np.sin(angle) + s.I * given["omega"]) / inertia
        slip = v_C * np.sin(angle) - s.l * given["omega"]  # of A across the blade, before
        assert t.outputs["u"] == pytest.approx(v_C * np.cos(angle), rel=0, abs=1e-12 * speed(s))
        assert t.velocity_plus["theta"] == pytest.approx(omega, rel=0, abs=1e-12 * (speed(s) / s.l + 2))
        assert t.u_minus["blade"] == pytest.approx(slip, rel=0, abs=1e-12 * speed(s))
        # The mass that A shows across the blade is M I/(M l² + I).
        mass = s.M * s.I / inertia
        assert t.effective_mass["blade"] == pytest.approx(mass, rel=1e-12)
        assert t.impulse["blade"] == pytest.approx(-mass * slip, rel=0, abs=1e-12 * mass * speed(s))
        assert t.loss == pytest.approx(mass * slip**2 / 2, rel=0, abs=float(1e-12 * t.T_minus))
        assert t.T_c_minus == pytest.approx(t.loss, rel=0, abs=float(1e-12 * t.T_minus))
        assert tuple(t.dof) == (3, 2, 2)


def test_earthquake(rng: np.random.Generator) -> None:
    """u⁺ = u⁻ − v_S cos(ψ_S − θ), θ̇⁺ = θ̇⁻ − M l/(M l² + I) v_S sin(ψ_S − θ) [WC case iii]."""
    scenario = gallery.sleigh("earthquake")
    for _ in range(N_DRAWS):
        s, given = draw("earthquake", rng)
        t = scenario.solve(**given)
        angle, inertia = s.ice_angle - s.theta, s.M * s.l**2 + s.I
        jump = -s.M * s.l / inertia * s.ice_speed * np.sin(angle)
        assert t.outputs["u"] == pytest.approx(
            given["u"] - s.ice_speed * np.cos(angle), rel=0, abs=1e-12 * (speed(s) + s.ice_speed)
        )
        assert t.velocity_plus["theta"] == pytest.approx(given["omega"] + jump, rel=0, abs=1e-12 * (2 + abs(jump)))
        # The blade gives what the mass M I/(M l² + I) takes to follow the ice; the ice does the work.
        impulse = s.M * s.I / inertia * s.ice_speed * np.sin(angle)
        assert t.impulse["blade"] == pytest.approx(impulse, rel=0, abs=1e-12 * s.M * (speed(s) + s.ice_speed))
        least = float(1e-12 * (t.T_minus + t.T_plus))
        assert t.ledger["blade"] == pytest.approx(t.T_plus - t.T_minus, rel=0, abs=least)
        assert t.drive_work == pytest.approx(s.ice_speed * np.sin(angle) * impulse, rel=0, abs=least)
        assert tuple(t.dof) == (2, 2, 2)


def speed(s: Sleigh) -> float:
    """The largest speed in sight, m/s."""
    return float(np.abs(s.v_minus[:2]).sum() + s.l * abs(s.v_minus[2]))
