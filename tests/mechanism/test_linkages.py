"""A four-bar and a slider-crank that run into a stop, against closed forms and free bodies.

One degree of freedom: the stop turns the whole motion round, v⁺ = −κ v⁻. T⁻ comes from instant centres, and every
impulse from a dense system of Newton's and Euler's balances of each body with unknown impulses at each of its pins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import jourdain as jd
from jourdain import gallery
from jourdain.scenarios.scenario import Scenario
from oracles.dense import assert_same

Array = NDArray[np.float64]
N_DRAWS = 40
four_bar, slider_crank = cache(gallery.four_bar), cache(gallery.slider_crank)  # made once


# Free bodies


@dataclass(frozen=True)
class Body:
    m: float
    I: float  # about the centre of mass
    centre: Array


@dataclass(frozen=True)
class Joint:
    """Something that acts at `place` on `body`, and with the opposite sign on `other` (None: the ground)."""

    place: Array
    body: int
    other: int | None
    along: tuple[Array, ...]  # directions of its impulses
    kappa: float = 0.0  # the bodies part with −κ times what they met with


def free_bodies(bodies: Sequence[Body], joints: Sequence[Joint], before: Array) -> tuple[Array, Array]:
    """Velocities after, (body, (x, y, ω)), and the impulses in the order of joints and directions.

    m Δċ = Σ J, I Δω = Σ r × J for each body, and for each direction e of a joint e·(u⁺ + κ u⁻) = 0.
    """
    n = 3 * len(bodies)
    columns, kappas = [], []
    for joint in joints:
        for e in joint.along:
            column = np.zeros(n)  # what a unit impulse does; as a row, e·u from the velocities
            for which, sign in ((joint.body, 1), (joint.other, -1)):
                if which is not None:
                    r = joint.place - bodies[which].centre
                    column[3 * which : 3 * which + 3] += sign * np.array([e[0], e[1], r[0] * e[1] - r[1] * e[0]])
            columns.append(column)
            kappas.append(joint.kappa)
    G, v = np.array(columns), before.ravel()
    inertia = np.concatenate([[body.m, body.m, body.I] for body in bodies])
    A = np.block([[np.diag(inertia), -G.T], [G, np.zeros((len(G), len(G)))]])
    x = np.linalg.solve(A, np.concatenate([inertia * v, -np.array(kappas) * (G @ v)]))
    return x[:n].reshape(-1, 3), x[n:]


def bar(m: float, start: Array, end: Array) -> Body:
    return Body(m, m * np.dot(end - start, end - start) / 12, (start + end) / 2)


def cross(a: Array, b: Array) -> float:
    return float(a[0] * b[1] - a[1] * b[0])


def turned(a: Array) -> Array:
    """By 90° to the left: the velocity per unit of ω."""
    return np.array([-a[1], a[0]])


def meet(a: Array, along_a: Array, b: Array, along_b: Array) -> Array:
    """Where two lines meet."""
    return a + along_a * cross(b - a, along_b) / cross(along_a, along_b)


X, Y = np.array([1.0, 0.0]), np.array([0.0, 1.0])


@dataclass(frozen=True)
class Expected:
    """All of one event."""

    points: dict[str, Any]
    T_minus: float
    v_minus: Array  # in the coordinates of the gallery
    v_plus: Array
    u_minus: float  # of the stop
    joint: Array  # impulse on the rocker, or the slider
    stop: float


def four_bar_oracle(p: dict[str, Any]) -> Expected:
    """Instant centres: the coupler turns about the point where the lines of crank and rocker meet."""
    O, D = np.zeros(2), p["l4"] * X
    A = p["l1"] * np.array([np.cos(p["theta"]), np.sin(p["theta"])])
    # The joint: where the circles about A (radius l2) and D (l3) meet, to the left of the way from A to D.
    way = D - A
    r2 = way @ way
    along = (r2 + p["l2"] ** 2 - p["l3"] ** 2) / (2 * r2)
    C = A + along * way + np.sqrt(p["l2"] ** 2 / r2 - along**2) * turned(way)
    P = meet(O, A, D, C - D)
    omega = p["omega"]
    coupler = omega * (A @ A) / ((A - P) @ A)
    rocker = coupler * ((C - P) @ (C - D)) / ((C - D) @ (C - D))
    bodies = [bar(p["m1"], O, A), bar(p["m2"], A, C), bar(p["m3"], D, C)]
    to_G = bodies[1].centre - P
    I_coupler = bodies[1].I + p["m2"] * (to_G @ to_G)  # about its instant centre
    T = (p["m1"] * p["l1"] ** 2 / 3 * omega**2 + I_coupler * coupler**2 + p["m3"] * p["l3"] ** 2 / 3 * rocker**2) / 2
    pad, across = D + p["s"] / p["l3"] * (C - D), turned(C - D) / p["l3"]
    rates = [omega, coupler, rocker]
    centres = [omega * turned(bodies[0].centre), coupler * turned(to_G), rocker * turned(bodies[2].centre - D)]
    before = np.array([[*v, w] for v, w in zip(centres, rates, strict=True)])
    pins = [Joint(O, 0, None, (X, Y)), Joint(A, 1, 0, (X, Y)), Joint(D, 2, None, (X, Y)), Joint(C, 2, 1, (X, Y))]
    after, impulses = free_bodies(bodies, [*pins, Joint(pad, 2, None, (across,), p["kappa"])], before)
    points = {"O": O, "pivot": D, "crank_pin": A, "rocker_pin": C, "pad": pad}
    return Expected(points, T, np.array(rates), after[:, 2], p["s"] * rocker, impulses[6:8], impulses[8])


def slider_crank_oracle(p: dict[str, Any]) -> Expected:
    """Instant centres: the rod turns about the point where the line of the crank meets that across the slider's way."""
    O, A = np.zeros(2), p["r"] * np.array([np.cos(p["theta"]), np.sin(p["theta"])])
    S = (A[0] + np.sqrt(p["L"] ** 2 - A[1] ** 2)) * X
    P = meet(O, A, S, Y)
    omega = p["omega"]
    rod = omega * (A @ A) / ((A - P) @ A)
    speed = (rod * turned(S - P))[0]
    crank_bar, rod_bar = bar(p["m_r"], O, A), bar(p["m_L"], A, S)
    to_G = rod_bar.centre - P
    I_rod = rod_bar.I + p["m_L"] * (to_G @ to_G)
    T = (p["m_r"] * p["r"] ** 2 / 3 * omega**2 + I_rod * rod**2 + p["m_s"] * speed**2) / 2
    bodies = [crank_bar, rod_bar, Body(p["m_s"], 1.0, S)]  # the slider does not turn: nothing acts beside its centre
    before = np.array([[*omega * turned(crank_bar.centre), omega], [*rod * turned(to_G), rod], [speed, 0.0, 0.0]])
    pins = [Joint(O, 0, None, (X, Y)), Joint(A, 1, 0, (X, Y)), Joint(S, 2, 1, (X, Y)), Joint(S, 2, None, (Y,))]
    after, impulses = free_bodies(bodies, [*pins, Joint(S, 2, None, (-X,), p["kappa"])], before)
    v_plus = np.array([after[0, 2], after[1, 2], after[2, 0]])
    points = {"O": O, "knee": A, "slider": S}
    return Expected(points, T, np.array([omega, rod, speed]), v_plus, -speed, impulses[4:6], impulses[7])


# Cases


def draw_four_bar(rng: np.random.Generator) -> dict[str, Any]:
    """Any angle of the crank; lengths that close for all of them."""
    usual = {"l1": 0.1, "l2": 0.25, "l3": 0.2, "l4": 0.3, "s": 0.15, "m1": 0.5, "m2": 1.2, "m3": 1.0}
    p = {name: value * rng.uniform(0.9, 1.1, N_DRAWS) for name, value in usual.items()}
    return p | {"theta": rng.uniform(-3, 3, N_DRAWS), "omega": rng.uniform(-4, 4, N_DRAWS)}


def draw_slider_crank(rng: np.random.Generator) -> dict[str, Any]:
    p = {"r": (0.05, 0.15), "L": (0.2, 0.5), "m_r": (0.1, 1), "m_L": (0.1, 2), "m_s": (0.2, 3)}
    return {name: rng.uniform(*ends, N_DRAWS) for name, ends in (p | {"theta": (-3, 3), "omega": (-20, 20)}).items()}


@dataclass(frozen=True)
class Case:
    scenario: Callable[[], Scenario]
    oracle: Callable[[dict[str, Any]], Expected]
    draw: Callable[[np.random.Generator], dict[str, Any]]
    joint: str
    lengths: tuple[str, ...]


CASES = {
    "four_bar": Case(four_bar, four_bar_oracle, draw_four_bar, "joint", ("l1", "l2", "l3", "l4", "s")),
    "slider_crank": Case(slider_crank, slider_crank_oracle, draw_slider_crank, "pin", ("r", "L")),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


def expected(case: Case, p: dict[str, Any]) -> list[Expected]:
    return [case.oracle({name: values[i] for name, values in p.items()}) for i in range(N_DRAWS)]


def solved(case: Case, p: dict[str, Any]) -> jd.Transition:
    t = case.scenario().solve(**p)
    assert np.all(t.ok)
    return t


# Laws


@pytest.mark.parametrize("kappa", [None, 0.0, 1.0])
def test_outcome(case: Case, kappa: float | None, rng: np.random.Generator) -> None:
    """v⁺ = −κ v⁻, loss = (1 − κ²) T⁻, stop = −(1 + κ) m_eff u⁻ with T⁻ = ½ m_eff u⁻²; T⁻ = ½ I_eff ω²."""
    p = case.draw(rng)
    p["kappa"] = rng.uniform(0, 1, N_DRAWS) if kappa is None else np.full(N_DRAWS, kappa)
    t, o = solved(case, p), expected(case, p)
    T, u = np.array([e.T_minus for e in o]), np.array([e.u_minus for e in o])
    v = np.array([e.v_minus for e in o])
    scale = np.abs(v).max(axis=-1, keepdims=True)
    assert_same("v_minus", t.v_minus, v, scale, 1e-12)
    assert_same("v_plus", t.v_plus, -p["kappa"][:, None] * v, scale, 1e-12)
    assert_same("T_minus", t.T_minus, T, T, 1e-12)
    assert_same("T_c_minus", t.T_c_minus, T, T, 1e-12)
    assert_same("T_a_minus", t.T_a_minus, 0 * T, T, 1e-12)
    assert_same("xi", t.xi, np.ones(N_DRAWS), 1.0, 1e-12)
    assert_same("loss", t.loss, (1 - p["kappa"] ** 2) * T, T, 1e-12)
    assert_same("u⁻ of the stop", t.u_minus["stop"], u, np.abs(u), 1e-11)
    assert_same("u⁺ of the stop", t.u_plus["stop"], -p["kappa"] * u, np.abs(u), 1e-11)
    m_eff = 2 * T / u**2
    assert_same("impulse of the stop", t.impulse["stop"], -(1 + p["kappa"]) * m_eff * u, m_eff * np.abs(u), 1e-11)
    assert_same("effective mass", t.effective_mass["stop"], m_eff, m_eff, 1e-11)
    assert_same("work of the stop", t.ledger["stop"], -(1 - p["kappa"] ** 2) * T, T, 1e-12)
    assert np.all(np.stack(t.dof, axis=-1) == [1, 0, 1])


def test_impulses_by_free_bodies(case: Case, rng: np.random.Generator) -> None:
    """What the pin of the loop passes on, and the stop, are those of Newton's and Euler's balances."""
    p = case.draw(rng) | {"kappa": rng.uniform(0, 1, N_DRAWS)}
    t, o = solved(case, p), expected(case, p)
    pins, stops = np.array([e.joint for e in o]), np.array([e.stop for e in o])
    size = np.linalg.norm(pins, axis=-1) + np.abs(stops)
    assert_same("impulse of the joint", t.impulse[case.joint], pins, size[:, None], 1e-11)
    assert_same("impulse of the stop", t.impulse["stop"], stops, size, 1e-11)
    v_plus = np.array([e.v_plus for e in o])
    assert_same("v_plus", t.v_plus, v_plus, np.abs(t.v_minus).max(axis=-1, keepdims=True), 1e-11)


def test_an_approaching_stop_pushes(case: Case) -> None:
    """With its defaults the mechanism runs into the stop."""
    t = case.scenario().solve()
    assert t.u_minus["stop"] < 0 < t.impulse["stop"]


def test_elastic_twice_is_nothing(case: Case) -> None:
    """κ = 1 is its own inverse, and keeps the energy."""
    t = case.scenario().solve(kappa=1.0)
    again = case.scenario().event.solve(t.q, t.v_plus, kappa=1.0)
    assert_same("v after two", again.v_plus, t.v_minus, np.abs(t.v_minus).max(), 1e-12)
    assert_same("T_plus", t.T_plus, t.T_minus, t.T_minus, 1e-12)


# The pose


def test_points(case: Case, rng: np.random.Generator) -> None:
    """Every named point is where circles and lines put it: the loop closes, on one side."""
    p = case.draw(rng)
    q, mechanism = solved(case, p).q, case.scenario().event.mechanism
    lengths = {name: p[name] for name in case.lengths}
    o = expected(case, p | {"kappa": np.zeros(N_DRAWS)})
    assert set(o[0].points) == set(mechanism.points)
    for name in o[0].points:
        place = np.array([[*e.points[name], 0.0] for e in o])
        assert_same(name, mechanism.position(name, q, **lengths), place, 1.0, 1e-11)


def four_bar_gap(q: Array) -> Array:
    """From the end of the coupler to that of the rocker, as complex numbers, with the default lengths."""
    crank, coupler, rocker = np.exp(1j * np.moveaxis(q, -1, 0))
    return 0.3 + 0.2 * rocker - 0.1 * crank - 0.25 * coupler


def slider_crank_gap(q: Array) -> Array:
    crank, rod = np.exp(1j * np.moveaxis(q[..., :2], -1, 0))
    return q[..., 2] - 0.1 * crank - 0.3 * rod


GAPS = {"four_bar": four_bar_gap, "slider_crank": slider_crank_gap}


@pytest.mark.parametrize("name", CASES)
def test_a_full_turn_stays_on_one_branch(name: str) -> None:
    """From one guess the loop closes at every angle, its angles move little from one to the next and come back."""
    theta = np.linspace(0, 2 * np.pi, 721)
    t = CASES[name].scenario().solve(theta=theta)
    assert np.all(t.ok)
    assert np.all(np.abs(GAPS[name](t.q)) <= 1e-9), "the points of the joint coincide"
    others = t.q[:, 1:]
    assert np.all(np.abs(np.diff(others, axis=0)) < 2 * theta[1]), "no jump"
    assert_same("after a turn", others[-1], others[0], 1.0, 1e-12)
    if name == "four_bar":  # the joint stays to the left of the way from the crank's pin to the pivot
        crank, coupler = np.exp(1j * t.q[:, 0]), np.exp(1j * t.q[:, 1])
        assert np.all(np.imag(np.conj(0.3 - 0.1 * crank) * coupler) > 0)
    else:
        assert np.all(np.cos(t.coordinate["rod"]) > 0), "the slider stays before the crank"


def test_a_sweep_equals_single_solves(case: Case) -> None:
    """Coordinates found for many at once are those found one by one."""
    theta = np.radians([-150.0, -80.0, -10.0, 35.0, 60.0, 110.0])
    data = case.scenario().sweep(theta=theta, keep=["q", "v_plus", "loss", "impulse"])
    assert np.all(data.status == jd.Status.OK)
    for i, angle in enumerate(theta):
        t = case.scenario().solve(theta=angle)
        here = data.isel(theta=i)
        impulses = np.concatenate([t.impulse[case.joint], [t.impulse["stop"]]])
        assert_same("q", here["q"].values, t.q, 1.0, 1e-12)
        assert_same("v_plus", here["v_plus"].values, t.v_plus, np.abs(t.v_minus).max(), 1e-11)
        assert_same("loss", here["loss"].values, t.loss, t.T_minus, 1e-11)
        assert_same("impulse", here["impulse"].values, impulses, np.abs(impulses).max(), 1e-11)


def test_assemble_finds_the_same_pose(case: Case) -> None:
    """`Mechanism.assemble` from nearby, the crank held."""
    for theta in np.radians([-120.0, -40.0, 30.0, 75.0]):
        t = case.scenario().solve(theta=theta)
        found = case.scenario().event.mechanism.assemble(t.q + np.array([0.0, 0.05, -0.05]), hold=["crank"])
        assert_same("q", found, t.q, 1.0, 1e-12)


@pytest.mark.parametrize(
    ("name", "lengths", "guessed"),
    [("four_bar", {"l4": 2.0}, "'coupler', 'rocker'"), ("slider_crank", {"L": 0.05}, "'rod', 'x'")],
)
def test_what_cannot_close_is_refused(name: str, lengths: dict[str, Any], guessed: str) -> None:
    """A ground longer than all bars; a rod too short for the crank."""
    scenario = CASES[name].scenario()
    with pytest.raises(jd.NotConverged, match=f"No {guessed} near the guess satisfies the geometric rows"):
        scenario.solve(**lengths)
    t = scenario.solve(parameters={length: [scenario.parameters[length], value] for length, value in lengths.items()})
    assert list(t.status) == [jd.Status.OK, jd.Status.NOT_CONVERGED]
    assert np.isnan(t.v_plus[1]).all()


def test_dead_centres_of_the_slider() -> None:
    """Stretched and folded, the slider rests: the stop has nothing to do, and nothing is lost."""
    t = slider_crank().solve(theta=[0.0, np.pi])
    assert np.all(t.ok)
    assert_same("x", t.coordinate["x"], [0.4, 0.2], 1.0, 1e-12)
    assert_same("u⁻ of the stop", t.u_minus["stop"], [0.0, 0.0], 1.0, 1e-12)
    assert_same("T_plus", t.T_plus, t.T_minus, t.T_minus, 1e-12)
