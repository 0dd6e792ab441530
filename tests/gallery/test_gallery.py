"""Every problem of the gallery against its closed form, to 1e-12."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

import jourdain as jd
from cases import EVENTS
from jourdain import gallery
from jourdain.events.transition import Transition
from jourdain.scenarios.scenario import Scenario

CASES: list[tuple[str, dict[str, Any]]] = [
    ("ball_let_go", {}),
    ("ball_let_go", {"hand": "pushes"}),
    ("ball_on_incline", {}),
    ("ball_on_rough_plane", {}),
    ("ballistic_pendulum", {}),
    ("bicycle", {}),
    ("block_on_corners", {}),
    ("block_on_corners", {"law": "poisson"}),
    ("box_dropped_flat", {}),
    ("box_dropped_flat", {"law": "poisson"}),
    ("docking", {}),
    ("chain", {}),
    ("chain", {"n": 1}),
    ("chain", {"n": 5}),
    ("cradle", {}),
    ("cradle", {"n": 5, "law": "poisson"}),
    ("cube", {}),
    ("disk_on_moving_plane", {}),
    ("double_pendulum", {}),
    ("four_bar", {}),
    ("jointed_four_bar", {}),
    ("pantograph", {}),
    ("pantograph", {"coordinates": "loop"}),
    ("particle", {}),
    ("percussion", {}),
    ("rocking_block", {}),
    ("rod", {}),
    ("rod", {"floor": "rough"}),
    ("rolling_disc", {}),
    ("rolling_sphere", {}),
    ("rolling_sphere", {"shape": "hoop"}),
    ("rough_rod", {}),
    ("rough_rod", {"hypothesis": "newton"}),
    ("sleigh", {}),
    ("sleigh", {"case": "landing"}),
    ("sleigh", {"case": "earthquake"}),
    ("slider_crank", {}),
    ("step", {}),
    ("thrown_box", {}),
    ("thrown_box", {"hypothesis": "newton"}),
    ("two_balls", {}),
    ("walker", {}),
    ("walker", {"rear_foot": "one-sided"}),
]
IDS = ["-".join([name, *map(str, keywords.values())]) for name, keywords in CASES]
N_DRAWS = 40


def same(actual: Any, expected: Any, scale: Any = None) -> None:
    """Equal to 1e-12 of the expected value, or of `scale` where terms cancel."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    allowed = 1e-12 * np.abs(expected if scale is None else scale) * np.ones_like(actual)
    error = np.abs(actual - expected)
    assert np.all(error <= allowed), f"off by {np.max(error / np.maximum(allowed, 1e-300)):.3g} × 1e-12 at worst"


def draw(scenario: Scenario, rng: np.random.Generator, **ranges: tuple[float, float]) -> tuple[Transition, Any]:
    """The outcome for random parameters, one lane each, and the parameters by name."""
    values = {name: rng.uniform(*ends, size=N_DRAWS) for name, ends in ranges.items()}
    t = scenario.solve(parameters=values)
    assert np.all(t.ok)
    return t, SimpleNamespace(**values)


# All of them


def test_every_problem_is_here() -> None:
    assert {name for name, _ in CASES} == set(EVENTS)
    assert sorted(gallery.__all__) == gallery.__all__


@pytest.mark.parametrize(("name", "keywords"), CASES, ids=IDS)
def test_solves_with_its_defaults(name: str, keywords: dict[str, Any]) -> None:
    scenario = getattr(gallery, name)(**keywords)
    t = scenario.solve()
    assert t.ok
    assert t.status is jd.Status.OK
    assert np.isfinite(t.v_plus).all()
    same(sum(t.ledger.values()), t.T_plus - t.T_minus, scale=t.T_plus + t.T_minus)
    for text in (str(t), t._repr_html_()):
        for row in t.layout.rows:
            assert row.name in text


@pytest.mark.parametrize(("name", "keywords"), CASES, ids=IDS)
def test_has_a_title_defaults_and_units(name: str, keywords: dict[str, Any]) -> None:
    problem = getattr(gallery, name)
    title = problem.__doc__.splitlines()[0]
    assert title.endswith(".")
    assert len(title) <= 110
    scenario = problem(**keywords)
    assert None not in scenario.parameters.values()
    named = [*scenario.parameters, *scenario.event.mechanism.symbols.q_names]
    assert [name for name in named if name not in scenario.units] == []


@pytest.mark.parametrize(
    ("name", "keyword", "message"),
    [
        ("ball_let_go", {"hand": "closes"}, "There is no hand 'closes'"),
        ("pantograph", {"coordinates": "polar"}, "no kind of coordinates 'polar'; there are: 'minimal', 'loop'"),
        ("rod", {"floor": "wet"}, "There is no floor 'wet'; there are: 'smooth', 'rough'"),
        ("rolling_sphere", {"shape": "spheer"}, "There is no shape 'spheer'; did you mean 'sphere'?"),
        ("sleigh", {"case": "strucked"}, "There is no case 'strucked'; did you mean 'struck'?"),
        ("chain", {"n": 0}, "A chain has 1 to 100 rods, not 0"),
        ("chain", {"n": 10**9}, "A chain has 1 to 100 rods"),
        ("rimless_wheel", {"n": 10**9}, "A rimless wheel has 1000 spokes at most"),
        ("block_on_corners", {"law": "hertz"}, "There is no law 'hertz'; there are: 'moreau', 'poisson'"),
        ("cradle", {"n": 6}, "A cradle has 2 to 5 balls, not 6"),
        ("double_pendulum", {"hypothesis": "routh"}, "There is no hypothesis 'routh'; there are: 'newton'"),
    ],
)
def test_refuses_a_structure_that_is_not_there(name: str, keyword: dict[str, Any], message: str) -> None:
    with pytest.raises(jd.Error, match=message.replace("?", r"\?")):
        getattr(gallery, name)(**keyword)


# Wang & Chou 2003, "The analysis of constrained impulsive motion"


def test_particle(rng: np.random.Generator) -> None:
    """Example 1: the velocity along the floor stays, the other one turns round with κ."""
    t, p = draw(gallery.particle(), rng, m=(0.1, 5), v_x=(-3, 3), v_z=(-5, -0.1), kappa=(0, 1))
    same(t.velocity_plus["x"], p.v_x)
    same(t.velocity_plus["z"], -p.kappa * p.v_z, scale=p.v_z)
    same(t.impulse["floor"], -p.m * (1 + p.kappa) * p.v_z)
    same(t.loss, p.m * (1 - p.kappa**2) * p.v_z**2 / 2, scale=t.T_minus)
    assert np.all(np.stack(t.dof, axis=-1) == [2, 1, 2])


def test_ball_let_go(rng: np.random.Generator) -> None:
    """Sections 2 and 5: releasing alone changes no velocity, only the degrees of freedom."""
    t, p = draw(gallery.ball_let_go(), rng, m=(0.1, 2), h_x=(-3, 3), h_y=(-3, 3), h_z=(-3, 3))
    assert np.array_equal(t.v_plus, np.stack([p.h_x, p.h_y, p.h_z], axis=-1))
    assert np.all(t.impulse["grip"] == 0)
    assert np.all(t.loss == 0)
    assert np.all(np.stack(t.dof, axis=-1) == [0, 3, 3])


def test_ball_let_go_with_a_push(rng: np.random.Generator) -> None:
    """Linear momentum: m Δv = P."""
    pushes = {"P_x": (-1, 1), "P_y": (-1, 1), "P_z": (-1, 1)}
    t, p = draw(gallery.ball_let_go(hand="pushes"), rng, m=(0.1, 2), h_x=(-3, 3), h_y=(-3, 3), h_z=(-3, 3), **pushes)
    for axis, h, P in (("x", p.h_x, p.P_x), ("y", p.h_y, p.P_y), ("z", p.h_z, p.P_z)):
        same(t.velocity_plus[axis], h + P / p.m, scale=np.abs(h) + np.abs(P / p.m))
        same(t.u_plus[f"grip.{axis}"], P / p.m, scale=np.abs(h) + np.abs(P / p.m))


def test_ball_on_incline(rng: np.random.Generator) -> None:
    """Fig. 1: ω⁺/ω⁻ = (I + m r² cos α)/(I + m r²)."""
    ranges = {"m": (0.1, 5), "r": (0.05, 0.5), "I": (0.001, 0.5), "alpha": (0.05, 1.4), "omega": (1, 20)}
    t, p = draw(gallery.ball_on_incline(), rng, **ranges)
    mr2, v = p.m * p.r**2, p.r * p.omega
    omega_plus = p.omega * (p.I + mr2 * np.cos(p.alpha)) / (p.I + mr2)
    same(t.velocity_plus["phi"], omega_plus)
    same(t.velocity_plus["x"], p.r * omega_plus * np.cos(p.alpha))
    same(t.velocity_plus["y"], p.r * omega_plus * np.sin(p.alpha))
    same(t.impulse["incline.normal"], p.m * v * np.sin(p.alpha))  # linear momentum across the incline
    along = p.m * (p.r * omega_plus - v * np.cos(p.alpha))  # and along it; it also slows the spin
    same(t.impulse["incline.tangent"], along, scale=p.m * v)
    same(t.impulse["incline.tangent"], p.I * (p.omega - omega_plus) / p.r, scale=p.m * v)
    same(t.required_friction["incline"], along / (p.m * v * np.sin(p.alpha)), scale=1 / np.sin(p.alpha))
    same(t.T_plus, (p.I + mr2) * omega_plus**2 / 2)
    assert np.all(t.u_plus["level.normal"] > 0)  # it lifts off the level
    # A homogeneous sphere: v⁺/v⁻ = (2 + 5 cos β)/7 (textbooks).
    t = gallery.ball_on_incline().solve(
        I=0.4 * mr2, **{name: getattr(p, name) for name in ("m", "r", "alpha", "omega")}
    )
    same(t.velocity_plus["phi"] / p.omega, (2 + 5 * np.cos(p.alpha)) / 7)


def test_disk_on_moving_plane(rng: np.random.Generator) -> None:
    """Equations 1 and 2, solved: φ̇⁺ = φ̇⁻ − m a/(I + m a²) Δv_p·e, e the heading."""
    plane = dict.fromkeys(("v_px_minus", "v_px_plus", "v_py_minus", "v_py_plus"), (-2, 2))
    ranges = {"m": (0.5, 5), "a": (0.1, 1), "I": (0.01, 1), "I_d": (0.01, 1), "theta": (-3, 3)}
    t, p = draw(gallery.disk_on_moving_plane(), rng, spin=(1, 9), turn=(-1, 1), **ranges, **plane)
    c, s = np.cos(p.theta), np.sin(p.theta)
    jump = (p.v_px_plus - p.v_px_minus) * c + (p.v_py_plus - p.v_py_minus) * s
    spin_plus = p.spin - p.m * p.a / (p.I + p.m * p.a**2) * jump
    size = np.abs(p.spin) + np.abs(p.spin - spin_plus)
    same(t.velocity_plus["phi"], spin_plus, scale=size)
    same(t.velocity_plus["theta"], p.turn)
    speed = p.a * size + np.abs(p.v_px_plus) + np.abs(p.v_py_plus)
    same(t.velocity_plus["x"], p.a * spin_plus * c + p.v_px_plus, scale=speed)
    same(t.velocity_plus["y"], p.a * spin_plus * s + p.v_py_plus, scale=speed)
    # Linear momentum gives the impulses of the plane; along the heading they change the spin.
    scale = p.m * (speed + np.abs(p.v_px_minus) + np.abs(p.v_py_minus))
    along = t.impulse["rolling.x"] * c + t.impulse["rolling.y"] * s
    across = t.impulse["rolling.y"] * c - t.impulse["rolling.x"] * s
    same(along, p.I * p.m / (p.I + p.m * p.a**2) * jump, scale=scale)
    same(across, p.m * ((p.v_py_plus - p.v_py_minus) * c - (p.v_px_plus - p.v_px_minus) * s), scale=scale)


def test_two_balls(rng: np.random.Generator) -> None:
    """Section 3: rolling balls collide like particles of mass m + I/r² (Routh; friction keeps them rolling)."""
    masses = {"m_1": (0.1, 1), "m_2": (0.1, 1), "I_1": (1e-5, 1e-3), "I_2": (1e-5, 1e-3), "r": (0.02, 0.1)}
    speeds = dict.fromkeys(("v_1x", "v_1y", "v_2x", "v_2y"), (-2, 2))
    t, p = draw(gallery.two_balls(), rng, beta=(-3, 3), kappa=(0, 1), **masses, **speeds)
    c, s = np.cos(p.beta), np.sin(p.beta)
    M_1, M_2 = p.m_1 + p.I_1 / p.r**2, p.m_2 + p.I_2 / p.r**2
    M = M_1 * M_2 / (M_1 + M_2)
    u = (p.v_2x - p.v_1x) * c + (p.v_2y - p.v_1y) * s
    J = -(1 + p.kappa) * M * u
    speed = np.abs(p.v_1x) + np.abs(p.v_1y) + np.abs(p.v_2x) + np.abs(p.v_2y)
    same(t.u_minus["touch"], u, scale=speed)
    same(t.impulse["touch"], J, scale=M * speed)
    for v_minus, n, axis in ((p.v_1x, c, "1x"), (p.v_1y, s, "1y")):
        same(t.velocity_plus[f"v_{axis}"], v_minus - J * n / M_1, scale=speed * (1 + M / M_1))
    for v_minus, n, axis in ((p.v_2x, c, "2x"), (p.v_2y, s, "2y")):
        same(t.velocity_plus[f"v_{axis}"], v_minus + J * n / M_2, scale=speed * (1 + M / M_2))
    for i, I, M_i, sign in ((1, p.I_1, M_1, 1), (2, p.I_2, M_2, -1)):
        same(t.velocity_plus[f"w_{i}y"] * p.r, t.velocity_plus[f"v_{i}x"], scale=speed * (1 + M / M_i))
        same(-t.velocity_plus[f"w_{i}x"] * p.r, t.velocity_plus[f"v_{i}y"], scale=speed * (1 + M / M_i))
        assert np.all(t.velocity_plus[f"w_{i}z"] == 0)
        # The friction that keeps a ball rolling is I/r² times the change of its velocity.
        friction = sign * J * I / p.r**2 / M_i
        same(t.impulse[f"rolling_{i}"], np.stack([friction * c, friction * s], axis=-1), scale=(M * speed)[:, None])
    same(t.loss, (1 - p.kappa**2) * M * u**2 / 2, scale=t.T_minus)


def test_two_balls_with_vertical_spin() -> None:
    """A smooth touch takes no notice of the spin about the vertical."""
    scenario = gallery.two_balls()
    q, v, _ = scenario.state({})
    v[4] = 7.0
    assert scenario.event.solve(q, v, kappa=0.9).velocity_plus["w_1z"] == 7.0


# Rods


def test_rod_on_a_smooth_floor(rng: np.random.Generator) -> None:
    """ω = 6(1+e) v cosθ/(L(1+3cos²θ)), impulse m v(1+e)/(1+3cos²θ) (Routh; Beer & Johnston ch. 17)."""
    t, p = draw(gallery.rod(), rng, m=(0.1, 5), L=(0.1, 3), theta=(0, 1.5), v=(0.1, 5), kappa=(0, 1))
    c = np.cos(p.theta)
    J = p.m * p.v * (1 + p.kappa) / (1 + 3 * c**2)
    same(t.outputs["omega"], 6 * (1 + p.kappa) * p.v * c / (p.L * (1 + 3 * c**2)))
    same(t.impulse["floor.normal"], J)
    same(t.velocity_plus["y"], J / p.m - p.v, scale=p.v)
    assert np.all(t.velocity_plus["x"] == 0)
    same(t.loss, (1 - p.kappa**2) * p.m * p.v**2 / (1 + 3 * c**2) / 2, scale=t.T_minus)


def test_rod_on_a_rough_floor(rng: np.random.Generator) -> None:
    """ω = 3 v cosθ/2L (textbooks), and a spin ω about the centre leaves ω/4 (Routh, Loney)."""
    t, p = draw(gallery.rod("rough"), rng, m=(0.1, 5), L=(0.1, 3), theta=(0, 1.5), v=(0.1, 5))
    c, s = np.cos(p.theta), np.sin(p.theta)
    omega = 3 * p.v * c / (2 * p.L)
    same(t.outputs["omega"], omega)
    same(t.impulse["floor.normal"], p.m * (p.v - omega * p.L / 2 * c))  # linear momentum
    same(t.impulse["floor.tangent"], p.m * omega * p.L / 2 * s)
    same(t.T_plus, p.m * p.L**2 * omega**2 / 6)

    t, p = draw(gallery.rod("rough"), rng, m=(0.1, 5), L=(0.1, 3), theta=(-3, 3), v=(0, 0), omega=(1, 9))
    same(t.outputs["omega"], p.omega / 4)


def test_rod_latched_flat(rng: np.random.Generator) -> None:
    """Falls flat, one end latched: ω = 3v/2L, impulse m v/4, T⁺/T⁻ = 3/4 (textbooks)."""
    t, p = draw(gallery.rod("rough"), rng, m=(0.1, 5), L=(0.1, 3), theta=(0, 0), v=(0.1, 5))
    same(t.outputs["omega"], 3 * p.v / (2 * p.L))
    same(t.impulse["floor"], np.stack([p.m * p.v / 4, 0 * p.v], axis=-1), scale=p.m[:, None] * p.v[:, None])
    same(t.T_plus / t.T_minus, 0.75)
    same(t.xi, 0.25)


@pytest.mark.parametrize("n", range(1, 9))
def test_chain(n: int, rng: np.random.Generator) -> None:
    """v_A = x_n P/m with x_1 = 4, x_{n+1} = 4 − 4/(4 + x_n); T = x_n P²/2m (Routh)."""
    t, p = draw(gallery.chain(n), rng, m=(0.1, 5), L=(0.1, 3), P=(0.1, 5))
    x_n = 4.0
    for _ in range(n - 1):
        x_n = 4 - 4 / (4 + x_n)
    same(t.outputs["v_A"], x_n * p.P / p.m)
    same(t.T_plus, x_n * p.P**2 / (2 * p.m))
    same(t.ledger["impulse A"], t.T_plus)
    assert np.all(t.velocity_plus["x"] == 0)


def test_chain_of_two() -> None:
    """The ends and the joint move with (7/2, −1, 1/2) P/m (Routh)."""
    t = gallery.chain(n=2).solve(m=0.5, L=0.7, P=3.0)
    same([t.outputs[name] for name in ("v_A", "v_joint_1", "v_joint_2")], np.array([3.5, -1.0, 0.5]) * 3.0 / 0.5)


@pytest.mark.parametrize("n", range(1, 9))
def test_chain_solved(n: int) -> None:
    """The recurrence solved: x_n = 2√3 (1 + ρⁿ)/(1 − ρⁿ), ρ = (2 − √3)², so x_n → 2√3 (Routh)."""
    rho = (2 - np.sqrt(3)) ** 2
    same(gallery.chain(n).solve().outputs["v_A"], 2 * np.sqrt(3) * (1 + rho**n) / (1 - rho**n))


# Pendulums


def test_ballistic_pendulum(rng: np.random.Generator) -> None:
    """ω = m v d/(I + m d²), I about the pivot (textbooks); inclined, the arm of the bullet is d cosθ."""
    ranges = {"m": (0.005, 0.05), "M": (1, 10), "I": (0.01, 1), "c": (0.1, 1), "d": (0.1, 2), "v": (10, 500)}
    t, p = draw(gallery.ballistic_pendulum(), rng, **ranges)
    I = p.I + p.M * p.c**2
    omega = p.m * p.v * p.d / (I + p.m * p.d**2)
    same(t.velocity_plus["theta"], omega)
    same(t.impulse["catch.x"], -p.m * p.v * I / (I + p.m * p.d**2))
    same(t.T_plus, p.m * p.v**2 / 2 * p.m * p.d**2 / (I + p.m * p.d**2))

    t, p = draw(gallery.ballistic_pendulum(), rng, theta=(-1, 1), omega=(0, 3), **ranges)
    I = p.I + p.M * p.c**2
    omega = (I * p.omega + p.m * p.v * p.d * np.cos(p.theta)) / (I + p.m * p.d**2)
    same(t.velocity_plus["theta"], omega)
    same(t.velocity_plus["y"], p.d * omega * np.sin(p.theta))


def test_percussion(rng: np.random.Generator) -> None:
    """ω = P s/m(k² + d²); the pivot answers with P(s d/(k² + d²) − 1), nothing at s = (k² + d²)/d (textbooks)."""
    ranges = {"m": (0.1, 5), "d": (0.1, 1), "k": (0.1, 1), "P": (0.1, 5)}
    t, p = draw(gallery.percussion(), rng, s=(0.05, 2), **ranges)
    h2 = p.k**2 + p.d**2
    same(t.velocity_plus["theta"], p.P * p.s / (p.m * h2))
    same(t.impulse["pivot.x"], p.P * (p.s * p.d / h2 - 1), scale=p.P * (p.s * p.d / h2 + 1))
    assert np.all(t.impulse["pivot.y"] == 0)
    same(t.T_plus, (p.P * p.s) ** 2 / (2 * p.m * h2))

    t = gallery.percussion().solve(m=p.m, d=p.d, k=p.k, P=p.P, s=h2 / p.d)
    same(t.impulse["pivot.x"], 0, scale=p.P)
    t = gallery.percussion().solve()
    same(t.impulse["pivot"], [0, 0], scale=1.0)


def test_sphere_on_a_hinged_rod() -> None:
    """2 kg at 5 m/s on the end of a hinged rod, 8 kg, 1.2 m, e = 0.8: ω = 45/14 (Beer & Johnston SP 17.10)."""
    x, theta = dynamicsymbols("x theta")
    m, M, L = sp.symbols("m M L")
    N, B = ReferenceFrame("N"), ReferenceFrame("B")
    B.orient_axis(N, theta, N.z)
    O = Point("O")
    O.set_vel(N, 0)
    C, end = O.locatenew("C", -L / 2 * B.y), O.locatenew("end", -L * B.y)
    ball = O.locatenew("ball", x * N.x - L * N.y)
    I = M * L**2 / 12
    mechanism = jd.Mechanism.from_sympy(
        bodies=[RigidBody("rod", C, B, M, (inertia(B, I, 0, I), C)), Particle("sphere", ball, m)],
        frame=N,
        q=[x, theta],
        parameters={m: 2.0, M: 8.0, L: 1.2},
    )
    touch = mechanism.constraint("touch", end.pos_from(ball).dot(N.x), level="position")
    t = mechanism.event(elastic={touch: 0.8}).solve(v={"x": 5.0})
    same(t.velocity_plus["theta"], 45 / 14)
    same(t.velocity_plus["x"], -1 / 7, scale=5.0)
    same(t.impulse["touch"], 2 * (5 + 1 / 7))


# Round things


@pytest.mark.parametrize(("shape", "ratio"), [("sphere", 5 / 7), ("hoop", 1 / 2)])
def test_sliding_then_rolling(shape: Any, ratio: float, rng: np.random.Generator) -> None:
    """v⁺/v⁻ = 5/7 for a sphere, 1/2 for a hoop, and T in the same ratio (textbooks)."""
    t, p = draw(gallery.rolling_sphere(shape), rng, m=(0.1, 5), r=(0.05, 1), v=(0.1, 5))
    same(t.velocity_plus["x"], ratio * p.v)
    same(t.velocity_plus["phi"], ratio * p.v / p.r)
    same(t.T_plus / t.T_minus, ratio)
    same(t.impulse["rolling"], (ratio - 1) * p.m * p.v)
    # With spin: the angular momentum about a point of the ground is conserved.
    t, p = draw(gallery.rolling_sphere(shape), rng, m=(0.1, 5), r=(0.05, 1), v=(0.1, 5), omega=(0, 20))
    same(t.velocity_plus["x"], ratio * p.v + (1 - ratio) * p.r * p.omega)


def test_step(rng: np.random.Generator) -> None:
    """ω⁺/ω⁻ = 1 − 5h/7r (textbooks)."""
    t, p = draw(gallery.step(), rng, m=(0.1, 5), r=(0.1, 0.2), h=(0.01, 0.09), omega=(1, 20))
    ratio = 1 - 5 * p.h / (7 * p.r)
    same(t.velocity_plus["phi"], ratio * p.omega)
    same(t.T_plus / t.T_minus, ratio**2)
    sine = np.sqrt(1 - (1 - p.h / p.r) ** 2)
    same(t.impulse["edge.normal"], p.m * p.r * p.omega * sine)
    same(t.impulse["edge.tangent"], 2 / 7 * p.m * p.h * p.omega)  # I (ω⁻ − ω⁺)/r
    assert np.all(t.u_plus["level.normal"] > 0)


def test_disc_caught_by_its_rim() -> None:
    """A disc that spins about its centre, a rim point fixed: ω⁺ = ω/3 (Routh, Loney)."""
    m, r, omega = 1.7, 0.3, 4.0
    t = jd.transition(np.diag([m, m, m * r**2 / 2]), np.array([0, 0, omega]), inert=[[1.0, 0.0, 0.0], [0.0, 1.0, r]])
    same(t.v_plus[2], omega / 3)
    same(t.T_plus / t.T_minus, 1 / 3)


# Blocks and bodies


def test_rocking_block(rng: np.random.Generator) -> None:
    """ω⁺/ω⁻ = 1 − 1.5 sin²α (Housner 1963)."""
    t, p = draw(gallery.rocking_block(), rng, m=(1, 2000), R=(0.1, 5), alpha=(0.05, 0.7), omega=(0.1, 2))
    ratio = 1 - 1.5 * np.sin(p.alpha) ** 2
    same(t.velocity_plus["theta"], ratio * p.omega)
    same(t.T_plus / t.T_minus, ratio**2)
    # Linear momentum: before, the centre turns about the right corner; after, about the left one.
    momentum = p.m * p.R * p.omega
    same(t.impulse["left.normal"], momentum * (1 + ratio) * np.sin(p.alpha))
    same(t.impulse["left.tangent"], momentum * (1 - ratio) * np.cos(p.alpha), scale=momentum)
    same(t.u_plus["right.normal"], 2 * p.R * np.sin(p.alpha) * ratio * p.omega)  # it lifts


def test_docking(rng: np.random.Generator) -> None:
    """ω⁺ = (I1ω1 + I2ω2 + m̃ d×(v2 − v1))/(I1 + I2 + m̃d²), m̃ = m1m2/(m1 + m2) (momentum)."""
    bodies = {"m_1": (1, 9), "m_2": (1, 9), "I_1": (0.1, 5), "I_2": (0.1, 5), "a_1": (0.1, 2), "a_2": (0.1, 2)}
    speeds = dict.fromkeys(("v_1x", "v_1y", "omega_1", "v_2x", "v_2y", "omega_2"), (-1, 1))
    t, p = draw(gallery.docking(), rng, theta=(-3, 3), **bodies, **speeds)
    m = p.m_1 * p.m_2 / (p.m_1 + p.m_2)
    d = p.a_1 + p.a_2
    d_x, d_y = d * np.cos(p.theta), d * np.sin(p.theta)
    dv_x, dv_y = p.v_2x - p.v_1x, p.v_2y - p.v_1y
    I = p.I_1 + p.I_2 + m * d**2
    omega = (p.I_1 * p.omega_1 + p.I_2 * p.omega_2 + m * (d_x * dv_y - d_y * dv_x)) / I
    same(t.velocity_plus["theta_1"], omega, scale=1.0)  # terms of the order of 1 rad/s cancel
    same(t.velocity_plus["theta_2"], omega, scale=1.0)
    G_x, G_y = ((p.m_1 * a + p.m_2 * b) / (p.m_1 + p.m_2) for a, b in ((p.v_1x, p.v_2x), (p.v_1y, p.v_2y)))
    share = p.m_2 / (p.m_1 + p.m_2)  # of d, from body 1 to the common centre of mass
    same(t.velocity_plus["x_1"], G_x + share * d_y * omega, scale=1.0)
    same(t.velocity_plus["y_1"], G_y - share * d_x * omega, scale=1.0)
    same(t.T_plus, (p.m_1 + p.m_2) * (G_x**2 + G_y**2) / 2 + I * omega**2 / 2, scale=t.T_minus)
    # Newton and Euler for body 2: the latch and the twist are all that acts on it.
    J_x, J_y = t.impulse["latch.x"], t.impulse["latch.y"]
    same(J_x, p.m_2 * (t.velocity_plus["x_2"] - p.v_2x), scale=p.m_1 + p.m_2)
    moment = -p.a_2 * (np.cos(p.theta) * J_y - np.sin(p.theta) * J_x)
    same(t.impulse["twist"] + moment, p.I_2 * (omega - p.omega_2), scale=I + p.a_2 * (p.m_1 + p.m_2))


def test_cube(rng: np.random.Generator) -> None:
    """ω⁺ = ω/4√3, however the cube is turned (Routh, Loney); then T⁺ = T⁻/12."""
    t, p = draw(gallery.cube(), rng, m=(0.1, 5), a=(0.1, 2), omega=(1, 20), psi=(-3, 3), theta=(-1.4, 1.4), phi=(-3, 3))
    omega = p.omega / (4 * np.sqrt(3))
    same(t.velocity_plus["w_x"], omega)
    same(t.velocity_plus["w_y"], 0, scale=p.omega)
    same(t.velocity_plus["w_z"], 0, scale=p.omega)
    same(t.T_plus, t.T_minus / 12)
    assert np.all(t.dof.virtual == 1)
    # Newton and Euler in body axes.
    near = np.stack([t.impulse[f"edge.near_{axis}"] for axis in "xyz"], axis=-1)
    far = np.stack([0 * p.m, t.impulse["edge.far_y"], t.impulse["edge.far_z"]], axis=-1)
    momentum = (p.m * p.omega * p.a)[:, None]
    same(near + far, -momentum / (8 * np.sqrt(3)) * [0, 1, 1], scale=momentum)
    half = p.a[:, None] / 2
    moment = np.cross(half * [-1, 1, -1], near) + np.cross(half * [1, 1, -1], far)
    change = (p.m * p.a**2 / 6)[:, None] * (t.v_plus - t.v_minus)[:, 3:]
    same(moment, change, scale=momentum * half)


# Classics of SymPy's users


def test_rolling_disc(rng: np.random.Generator) -> None:
    """M is diagonal in the disc's axes: one row c, λ̄ = −(1 + κ) u⁻ / c M⁻¹ cᵀ."""
    t, p = draw(gallery.rolling_disc(), rng, m=(0.5, 5), r=(0.1, 0.5), beta=(-1, 1), tilt=(-0.6, 0.6), v=(1, 5),
                fall=(-1, 1), turn=(-2, 2), kappa=(0, 1))  # fmt: skip
    M = p.m * p.r**2 * np.array([[5 / 4], [3 / 2], [1 / 4]])
    c = p.r * np.array([-np.sin(p.beta) * np.cos(p.tilt), np.cos(p.beta) + np.sin(p.beta) * np.sin(p.tilt),
                        np.sin(p.beta) * np.cos(p.tilt)])  # fmt: skip
    w = np.array([p.fall, p.v / p.r, p.turn])
    impulse = -(1 + p.kappa) * np.sum(c * w, axis=0) / np.sum(c**2 / M, axis=0)
    scale = np.abs(w).sum(axis=0) * np.abs(c).sum(axis=0) / np.sum(c**2 / M, axis=0)
    same(t.impulse["post"], impulse, scale=scale)
    same(t.v_plus, (w + c / M * impulse).T, scale=(np.abs(w) + np.abs(c / M) * scale).T.sum(axis=1, keepdims=True))


def test_bicycle_has_the_mass_matrix_of_the_benchmark() -> None:
    """[Meijaard et al. 2007, section 4]: lean and steer rates, upright and straight, to all digits that are printed."""
    mechanism = gallery.bicycle().event.mechanism
    names = mechanism.symbols.v_names
    free = [names.index(name) for name in ("w_lean", "w_steer", "w_rear")]
    bound = [i for i in range(len(names)) if i not in free]
    C = np.vstack([mechanism.constraints[name].rows()[0] for name in mechanism.joined])
    D = np.zeros((len(names), len(free)))
    D[free] = np.eye(len(free))
    D[bound] = -np.linalg.solve(C[:, bound], C[:, free])
    printed = [[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]]
    np.testing.assert_allclose((D.T @ mechanism.mass_matrix() @ D)[:2, :2], printed, rtol=0, atol=6e-15 * 80)


def test_bicycle_leaves_the_ground_at_the_kerb() -> None:
    t = gallery.bicycle().solve(v=[2.0, 4.0], fall=0.0)
    assert np.all(t.u_plus["holonomic 0"] > 0)
    same(t.v_plus[1], 2 * t.v_plus[0], scale=np.abs(t.v_plus[1]).max())
    same(t.loss, t.T_c_minus)


def test_four_bar_of_joints_has_the_energy_of_the_other_one(rng: np.random.Generator) -> None:
    t, p = draw(gallery.jointed_four_bar(), rng, theta=(0.5, 1.5), omega=(-3, 3))
    other = gallery.four_bar()
    energies = [other.solve(theta=theta, omega=omega).T_minus for theta, omega in zip(p.theta, p.omega, strict=True)]
    np.testing.assert_allclose(t.T_minus, energies, rtol=1e-10)
    np.testing.assert_allclose(t.loss, t.T_minus, rtol=1e-12)  # nothing is left to move
    np.testing.assert_allclose(-t.impulse["jam"] * t.u_minus["jam"] / 2, t.loss, rtol=1e-10)
