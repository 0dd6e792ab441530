"""The pantograph of Font-Llagunes & Kövecses: its printed tables, and an oracle that shares nothing with the gallery.

The oracle takes the place (x, y) of the end effector as coordinates: elbows by intersecting circles, Jacobians by a
complex step, T = ½ Σ m |ċ|² + ½ I ω². The wall stops ẏ, and the only other impulse beta is along x, so that with the
2×2 mass matrix m and the momenta p = m (ẋ, ẏ)

    T_a⁻ = p_x²/2m_xx,  T_c⁻ = T⁻ − T_a⁻,  ẋ⁺ = (p_x + beta)/m_xx,  wall = p_y − m_xy ẋ⁺,  T_a⁺ = (p_x + beta)²/2m_xx.

[FK-a]: non-ideal constraints, d = 0, 0.1, 0.2 m. [FK-b]: walker and pantograph, symmetric and asymmetric pose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import jourdain as jd
from jourdain import gallery
from jourdain.scenarios.scenario import Scenario
from oracles.dense import assert_same

Array = NDArray[np.float64]
FORMS: tuple[Any, ...] = ("minimal", "loop")
N_DRAWS = 50
STEP = 1e-30  # of the complex step: its square is lost, so derivatives are exact to rounding

# [FK-b] Tables III (d = 0) and V (d = 0.2 m), T⁻ = 10 mJ: gamma in degrees, speed in m/s, T_c⁻ and T_a⁻ in mJ, ξ.
COMPUTED = [
    (0.0, 0.0, 0.1974, 10.0, 0.0, 1.0),
    (0.0, 15.0, 0.1975, 9.34, 0.66, 0.93),
    (0.0, 30.0, 0.1978, 7.53, 2.47, 0.75),
    (0.0, 45.0, 0.1981, 5.03, 4.97, 0.50),
    (0.2, -7.58, 0.1955, 10.0, 0.0, 1.0),
    (0.2, 0.0, 0.1921, 9.82, 0.18, 0.98),
    (0.2, 15.0, 0.1857, 8.57, 1.43, 0.86),
    (0.2, 30.0, 0.1812, 6.56, 3.44, 0.66),
    (0.2, 45.0, 0.1794, 4.28, 5.72, 0.43),
]
# [FK-a] eqs 19, 20 and text: P_cᵀBᵀ and P_aᵀBᵀ in m, by d in m.
PROJECTIONS = {
    0.0: ([0.0, 0.0], [-0.1027, -0.1235]),
    0.1: ([-0.0027, 0.0009], [-0.0646, -0.1392]),
    0.2: ([-0.0192, -0.0027], [-0.0510, -0.1209]),
}


@pytest.fixture(scope="module")
def scenarios() -> dict[str, Scenario]:
    return {form: gallery.pantograph(form) for form in FORMS}


# The oracle


def elbow(x: Any, y: Any, p: dict[str, Any], side: int) -> tuple[Any, Any]:
    """Where the circles about motor (radius l1) and end effector (l2) meet, on the outer side; side 1: motor 1."""
    motor = side * p["l5"] / 2
    X, Y = x - motor, y
    r2 = X * X + Y * Y
    along = (r2 + p["l1"] ** 2 - p["l2"] ** 2) / (2 * r2)
    across = side * np.sqrt(p["l1"] ** 2 / r2 - along * along)
    return motor + along * X + across * Y, along * Y - across * X


def bodies(x: Any, y: Any, p: dict[str, Any]) -> list[tuple[Any, Any, tuple[Any, Any], tuple[Any, Any] | None]]:
    """(m, I, centre of mass, direction) of links 1 to 4 and of the end effector, which does not turn."""
    found = []
    for side in (1, -1):
        motor, (e_x, e_y) = side * p["l5"] / 2, elbow(x, y, p, side)
        inner = ((e_x - motor) / p["l1"], e_y / p["l1"])
        outer = ((x - e_x) / p["l2"], (y - e_y) / p["l2"])
        found.append((p["m1"], p["I1"], (motor + p["a1"] * inner[0], p["a1"] * inner[1]), inner))
        found.append((p["m2"], p["I2"], (e_x + p["a2"] * outer[0], e_y + p["a2"] * outer[1]), outer))
    return [*found, (p["mEE"], 0.0, (x, y), None)]


@dataclass(frozen=True)
class Oracle:
    """The end effector at (d, height), arrays over the draws."""

    p: dict[str, Any]

    def _derivatives(self) -> list[tuple[Array, Array, Array, Array]]:
        """(m, I, ∂centre/∂(x, y), ∂angle/∂(x, y)) of every body: shapes (n,), (n,), (2, 2, n), (2, n)."""
        x, y = self.p["d"], self.p["height"]
        steps = [bodies(x + 1j * STEP, y + 0j, self.p), bodies(x + 0j, y + 1j * STEP, self.p)]
        found = []
        for (m, I, c, e), (_, _, c_y, e_y) in zip(*steps, strict=True):
            moves = np.array([[np.imag(a), np.imag(b)] for a, b in zip(c, c_y, strict=True)]) / STEP
            turns = np.zeros_like(moves[0])
            if e is not None:
                turns = np.array([np.real(u[0]) * np.imag(u[1]) - np.real(u[1]) * np.imag(u[0]) for u in (e, e_y)])
            found.append((m, I, moves, turns / STEP))
        return found

    @property
    def m(self) -> Array:
        """The mass matrix in (x, y), (2, 2, n)."""
        return sum(
            m * np.einsum("kin,kjn->ijn", moves, moves) + I * np.einsum("in,jn->ijn", turns, turns)
            for m, I, moves, turns in self._derivatives()
        )

    @property
    def turns(self) -> Array:
        """How the links 1 to 4 turn with (x, y), (4, 2, n)."""
        return np.stack([turns for _, _, _, turns in self._derivatives()[:4]])

    def outcome(self) -> dict[str, Any]:
        p, m = self.p, self.m
        towards = np.stack([np.sin(p["gamma"]), np.cos(p["gamma"])])
        speed = np.sqrt(2 * p["energy"] / np.einsum("in,ijn,jn->n", towards, m, towards))
        p_x, p_y = np.einsum("ijn,jn->in", m, speed * towards)
        x_plus = (p_x + p["beta"]) / m[0, 0]
        wall, ideal = p_y - m[0, 1] * x_plus, p_y - m[0, 1] * p_x / m[0, 0]
        T_a = p_x**2 / (2 * m[0, 0])
        return {
            "speed": speed,
            "T_a_minus": T_a,
            "T_c_minus": p["energy"] - T_a,
            "xi": 1 - T_a / p["energy"],
            "wall": wall,
            "Lambda": ideal - wall,
            "T_a_plus": (p_x + p["beta"]) ** 2 / (2 * m[0, 0]),
            "rates_minus": np.einsum("kin,in->kn", self.turns, speed * towards),
            "rates_plus": self.turns[:, 0] * x_plus,
        }


def draw(scenario: Scenario, rng: np.random.Generator) -> dict[str, Any]:
    """Parameters within 20 %, poses and impulses: `N_DRAWS` that no arm or loop that is nearly stretched spoils."""
    n = 4 * N_DRAWS
    names = ("l1", "l2", "a1", "a2", "l5", "m1", "m2", "mEE", "I1", "I2")
    p = {name: scenario.parameters[name] * rng.uniform(0.8, 1.2, n) for name in names}
    p |= {"d": rng.uniform(-0.2, 0.2, n), "height": rng.uniform(0.18, 0.28, n), "energy": rng.uniform(0.002, 0.05, n)}
    p |= {"gamma": np.radians(rng.uniform(-80, 80, n)), "beta": rng.uniform(-0.05, 0.05, n)}
    reach = np.array([np.hypot(p["d"] - side * p["l5"] / 2, p["height"]) for side in (1, -1)])
    bent = (reach < 0.97 * (p["l1"] + p["l2"])) & (reach > 1.03 * np.abs(p["l1"] - p["l2"]))
    good = np.flatnonzero(bent.all(axis=0))
    right, left = (
        np.array(elbow(p["d"][good], p["height"][good], {k: v[good] for k, v in p.items()}, s)) for s in (1, -1)
    )
    good = good[np.hypot(*(right - left)) < 0.97 * 2 * p["l2"][good]][:N_DRAWS]
    assert len(good) == N_DRAWS
    return {name: values[good] for name, values in p.items()}


def solved(scenario: Scenario, p: dict[str, Any]) -> jd.Transition:
    """The outcome; a given beta may push."""
    t = scenario.solve(**p)
    assert np.isin(t.status, (jd.Status.OK, jd.Status.ENERGY_CREATED)).all()
    return t


# Against the oracle


@pytest.mark.parametrize("form", FORMS)
def test_pose(scenarios: dict[str, Scenario], form: str, rng: np.random.Generator) -> None:
    """The end effector is at (d, height), motor 1 on the side of +x, and the elbows are those on the outside."""
    mechanism, p = scenarios[form].event.mechanism, draw(scenarios[form], rng)
    q, zero = solved(scenarios[form], p).q, np.zeros(N_DRAWS)
    lengths = {name: p[name] for name in ("l1", "l2", "l5")}
    expected = {
        "EE": (p["d"], p["height"]),
        "motor_1": (p["l5"] / 2, zero),
        "motor_2": (-p["l5"] / 2, zero),
        "elbow_1": elbow(p["d"], p["height"], p, 1),
        "elbow_2": elbow(p["d"], p["height"], p, -1),
    }
    for name, (x, y) in expected.items():
        assert_same(name, mechanism.position(name, q, **lengths), np.stack([x, y, zero], axis=-1), 0.1, 1e-13)
    assert np.all(expected["elbow_1"][0] > expected["elbow_2"][0])


@pytest.mark.parametrize(
    "pose",
    [
        {"l1": 0.25, "l2": 0.15, "d": 0.0, "height": 0.1},  # EE below the line of the elbows
        {"d": -0.005, "height": -0.055},
        {"d": 0.1, "height": -0.2},  # below the motors
        {"d": 0.1, "height": 0.0, "l5": 0.1, "l1": 0.2, "l2": 0.2},
    ],
)
def test_unusual_poses(scenarios: dict[str, Scenario], pose: dict[str, Any]) -> None:
    """Two motor angles leave two places open for EE: it is the one asked for, with the elbows out, in both forms."""
    found = {form: scenarios[form].solve(gamma=0.2, **pose) for form in FORMS}
    for form, t in found.items():
        scenario = scenarios[form]
        own = dict(zip(scenario.event.parameters, scenario.state({"gamma": 0.2, **pose})[2], strict=True))
        at = {name: scenario.event.mechanism.position(name, t.q, **own) for name in ("EE", "elbow_1", "elbow_2")}
        assert_same("EE", at["EE"], np.array([pose["d"], pose["height"], 0.0]), 0.1, 1e-12)
        assert pose["height"] == 0 or at["elbow_1"][0] > at["elbow_2"][0]
    assert_same("wall", found["minimal"].impulse["wall"], found["loop"].impulse["wall"], 0.1, 1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_outcome(scenarios: dict[str, Scenario], form: str, rng: np.random.Generator) -> None:
    """Energies, impulses and the rates of the links, to 1e-12 of their scales."""
    p = draw(scenarios[form], rng)
    t, o = solved(scenarios[form], p), Oracle(p).outcome()
    momentum = 2 * p["energy"] / o["speed"] + np.abs(p["beta"])
    assert_same("T_minus", t.T_minus, p["energy"], p["energy"], 1e-13)
    assert_same("T_c_minus", t.T_c_minus, o["T_c_minus"], p["energy"], 1e-12)
    assert_same("T_a_minus", t.T_a_minus, o["T_a_minus"], p["energy"], 1e-12)
    assert_same("T_a_plus", t.T_a_plus, o["T_a_plus"], p["energy"] + o["T_a_plus"], 1e-12)
    assert_same("T_plus", t.T_plus, o["T_a_plus"], p["energy"] + o["T_a_plus"], 1e-12)
    assert_same("xi", t.xi, o["xi"], 1.0, 1e-12)
    assert_same("impulse of the wall", t.impulse["wall"], o["wall"], momentum, 1e-12)
    assert_same("Lambda of the wall", t.Lambda["wall"], o["Lambda"], momentum, 1e-12)
    assert_same("speed", np.hypot(t.u_minus["wall"], t.u_minus["slide"]), o["speed"], o["speed"], 1e-12)
    fastest = np.abs(o["rates_minus"]).max(axis=0) + np.abs(o["rates_plus"]).max(axis=0)
    for side in ("minus", "plus"):
        for i, name in enumerate(("q1", "q2", "q3", "q4")):
            if name in t.velocity_plus:
                found = getattr(t, f"velocity_{side}")[name]
                assert_same(f"rate of {name}, {side}", found, o[f"rates_{side}"][i], fastest, 1e-12)


def test_both_forms_agree(scenarios: dict[str, Scenario], rng: np.random.Generator) -> None:
    """Two coordinates, or four and a loop: the same event, to 1e-12."""
    p = draw(scenarios["minimal"], rng)
    a, b = (solved(scenarios[form], p) for form in FORMS)
    energy, momentum = a.T_minus + a.T_plus, np.abs(a.impulse["wall"]) + np.abs(p["beta"])
    for name in ("T_minus", "T_plus", "T_c_minus", "T_a_minus", "T_c_plus", "T_a_plus", "loss"):
        assert_same(name, getattr(a, name), getattr(b, name), energy, 1e-12)
    assert_same("xi", a.xi, b.xi, 1.0, 1e-12)
    assert_same("wall", a.impulse["wall"], b.impulse["wall"], momentum, 1e-12)
    assert_same("Lambda", a.Lambda["wall"], b.Lambda["wall"], momentum, 1e-12)
    for row in ("wall", "slide"):
        assert_same(f"u⁺ of {row}", a.u_plus[row], b.u_plus[row], Oracle(p).outcome()["speed"], 1e-12)
        assert_same(f"work of {row}", a.ledger[row], b.ledger[row], energy, 1e-12)
    for side in ("minus", "plus"):
        for name in ("q1", "q3"):
            first, second = (getattr(t, f"velocity_{side}")[name] for t in (a, b))
            scale = np.abs(a.v_minus).max(axis=-1) + np.abs(a.v_plus).max(axis=-1)
            assert_same(f"rate of {name}, {side}", first, second, scale, 1e-12)
    assert np.array_equal(a.status, b.status)
    assert np.all(np.stack(a.dof) == np.stack(b.dof))
    assert np.all(np.stack(a.dof, axis=-1) == [2, 1, 1])


def test_projectors(scenarios: dict[str, Scenario], rng: np.random.Generator) -> None:
    """With J = ∂(x, y)/∂(q1, q3): P_cᵀBᵀ = −(m_xy/m_xx) J_yᵀ, P_aᵀBᵀ = J_xᵀ + (m_xy/m_xx) J_yᵀ."""
    p = draw(scenarios["minimal"], rng)
    found, o = scenarios["minimal"].projectors(**p), Oracle(p)
    J = np.linalg.inv(np.moveaxis(o.turns[[0, 2]], -1, 0))
    share, m = (o.m[0, 1] / o.m[0, 0])[:, None], np.linalg.norm(J, axis=(1, 2))[:, None]
    assert_same("P_cT_BT", found.P_cT_BT[..., 0], -share * J[:, 1], m, 1e-12)
    assert_same("P_aT_BT", found.P_aT_BT[..., 0], J[:, 0] + share * J[:, 1], m, 1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_directions(scenarios: dict[str, Scenario], form: str, rng: np.random.Generator) -> None:
    """All is lost where p_x = 0, ẋ/ẏ = −m_xy/m_xx; nothing along the wall."""
    p = draw(scenarios[form], rng)
    m = Oracle(p).m
    for i in range(8):
        pose = {name: values[i] for name, values in p.items()}
        found = scenarios[form].directions(point="EE", **pose)
        assert_same("xi", found.xi, [1.0, 0.0], 1.0, 1e-12)
        assert_same("angle of ξ = 1", found.angle[0], np.arctan2(-m[0, 1, i], m[0, 0, i]), 1.0, 1e-12)
        assert_same("angle of ξ = 0", abs(found.angle[1]), np.pi / 2, 1.0, 1e-12)


# The papers


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("d", "gamma", "speed", "T_c", "T_a", "xi"), COMPUTED)
def test_tables_3_and_5(
    scenarios: dict[str, Scenario], form: str, d: float, gamma: float, speed: float, T_c: float, T_a: float, xi: float
) -> None:
    """[FK-b] Tables III and V: energies and ξ to the printed digit; the speeds are rounded otherwise, by 1.3e-4 m/s."""
    t = scenarios[form].solve(d=d, gamma=np.radians(gamma))
    assert pytest.approx(10.0, rel=1e-13) == 1e3 * t.T_minus
    assert pytest.approx(T_c, abs=0.005) == 1e3 * t.T_c_minus
    assert pytest.approx(T_a, abs=0.005) == 1e3 * t.T_a_minus
    assert t.xi == pytest.approx(xi, abs=0.005)
    velocity = scenarios[form].event.mechanism.point_velocity("EE", t.q, t.v_minus)
    assert np.linalg.norm(velocity) == pytest.approx(speed, abs=1.5e-4)
    assert np.degrees(np.arctan2(velocity[0], velocity[1])) == pytest.approx(gamma, abs=1e-10)
    assert t.loss == pytest.approx(t.T_c_minus, rel=1e-12)  # ideal and inert: what is constrained is lost


@pytest.mark.parametrize("form", FORMS)
def test_the_direction_that_loses_everything(scenarios: dict[str, Scenario], form: str) -> None:
    """[FK-b] Table V: −7.58° in the asymmetric pose; head on in the symmetric one."""
    for d, printed in ((0.2, -7.58), (0.0, 0.0)):
        found = scenarios[form].directions(point="EE", d=d)
        assert found.xi[0] == pytest.approx(1.0, abs=1e-12)
        assert np.degrees(found.angle[0]) == pytest.approx(printed, abs=0.02), f"d = {d}"
        assert found.point_velocity[1, 0] > 0, "it approaches the wall"


def test_projections(scenarios: dict[str, Scenario]) -> None:
    """[FK-a] eqs 19, 20: the row d = 0.1 m comes out within 4e-4 m."""
    printed_c, printed_a = PROJECTIONS[0.1]
    found = scenarios["minimal"].projectors(d=0.1)
    assert found.P_cT_BT[:, 0] == pytest.approx(printed_c, abs=4e-4)
    assert found.P_aT_BT[:, 0] == pytest.approx(printed_a, abs=4e-4)


def test_projections_that_differ(scenarios: dict[str, Scenario]) -> None:
    """[FK-a] prints unequal entries for d = 0, against the symmetry of its pose, and d = 0.2 is 3 to 15 % off."""
    found = scenarios["minimal"].projectors(d=0.0)
    assert found.P_cT_BT[:, 0] == pytest.approx(PROJECTIONS[0.0][0], abs=1e-14)
    assert found.P_aT_BT[:, 0] == pytest.approx([-0.101, -0.101], abs=5e-4)
    assert found.P_aT_BT[0, 0] == pytest.approx(found.P_aT_BT[1, 0], rel=1e-12)
    found = scenarios["minimal"].projectors(d=0.2)
    for what, matrix, printed in zip("ca", (found.P_cT_BT, found.P_aT_BT), PROJECTIONS[0.2], strict=True):
        off = np.abs(printed / matrix[:, 0] - 1)
        assert np.all((off > 0.03) & (off < 0.15)), f"P_{what}: {off}"


# Laws


@pytest.mark.parametrize("form", FORMS)
def test_impulse_and_Lambda_together_do_not_know_beta(
    scenarios: dict[str, Scenario], form: str, rng: np.random.Generator
) -> None:
    """λ̄ + Λ̄ is the impulse of the ideal event, in every row that is on; T_c⁻ and v_c⁺ are its own too."""
    p = draw(scenarios[form], rng)
    ideal, t = solved(scenarios[form], p | {"beta": np.zeros(N_DRAWS)}), solved(scenarios[form], p)
    scale = np.abs(ideal.impulse["wall"]) + np.abs(p["beta"])
    for name in {"wall", "loop"} & set(t.impulse):
        total, expected = t.impulse[name] + t.Lambda[name], ideal.impulse[name]
        assert_same(f"λ̄ + Λ̄ of {name}", total, expected, scale if name == "wall" else scale[:, None], 1e-12)
        assert not ideal.Lambda[name].any()
    assert_same("T_c_minus", t.T_c_minus, ideal.T_c_minus, p["energy"], 1e-13)
    assert_same("T_c_plus", t.T_c_plus, 0 * scale, p["energy"], 1e-13)


@pytest.mark.parametrize("form", FORMS)
def test_mirror(scenarios: dict[str, Scenario], form: str, rng: np.random.Generator) -> None:
    """d, gamma, beta → −d, −gamma, −beta changes sides: the rates of the motors are exchanged and turn round."""
    p = draw(scenarios[form], rng)
    t = solved(scenarios[form], p)
    other = solved(scenarios[form], p | {name: -p[name] for name in ("d", "gamma", "beta")})
    energy = t.T_minus + t.T_plus
    for name in ("T_c_minus", "T_a_minus", "T_a_plus", "loss"):
        assert_same(name, getattr(other, name), getattr(t, name), energy, 1e-12)
    momentum, rate = np.abs(t.impulse["wall"]) + np.abs(p["beta"]), np.abs(t.v_minus).max(axis=-1)
    assert_same("wall", other.impulse["wall"], t.impulse["wall"], momentum, 1e-12)
    assert_same("Lambda", other.Lambda["wall"], t.Lambda["wall"], momentum, 1e-12)
    for one, two in (("q1", "q3"), ("q2", "q4"))[: len(t.velocity_plus) // 2]:
        rate = rate + np.abs(t.velocity_plus[one]) + np.abs(t.velocity_plus[two])
        assert_same(f"{one} mirrored", other.velocity_plus[one], -t.velocity_plus[two], rate, 1e-12)
        assert_same(f"{two} mirrored", other.velocity_plus[two], -t.velocity_plus[one], rate, 1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_out_of_reach(scenarios: dict[str, Scenario], form: str) -> None:
    """l1 + l2 is 0.3433 m: alone it is refused, among others it has a status."""
    with pytest.raises(jd.NotFinite, match=r"There is no such pose: .*'q1'.*\(out of reach\?\)"):
        scenarios[form].solve(d=0.5)
    with pytest.raises(jd.NotFinite, match="There is no such pose"):
        scenarios[form].directions(point="EE", d=0.5)
    t = scenarios[form].solve(d=[0.0, 0.5])
    assert list(t.status) == [jd.Status.OK, jd.Status.NOT_FINITE]
    assert np.isnan(t.v_plus[1]).all()
