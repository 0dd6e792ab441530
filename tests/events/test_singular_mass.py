"""M that is singular, and definite on what the regular rows admit: as without the velocities that move no mass.

The crane: a trolley x and a load at (X, Y), held by a massless rope of angle theta. Its M is singular, since theta
moves no mass. The same crane in x and theta alone has a definite M, and must give the same answers.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
from sympy import cos, sin, symbols
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

import jourdain as jd
from jourdain.compute.evaluate import KERNEL_FROM

T = dynamicsymbols._t
NUMBERS = {"m": 3.0, "load": 1.5, "l": 0.7, "g": 9.81, "wind": 0.2}
SHARED = (
    "T_minus",
    "T_plus",
    "T_c_minus",
    "T_a_minus",
    "T_c_plus",
    "T_a_plus",
    "xi",
    "loss",
    "drive_work",
    "dissipated",
)


def crane(redundant: bool, rope: float = 0.0) -> jd.Mechanism:
    """With X and Y as coordinates, or without; `rope` is its moment of inertia."""
    x, X, Y, theta = dynamicsymbols("x X Y theta")
    m, load, l, g, wind, turn = symbols("m load l g wind turn")
    N, O, trolley, bob = ReferenceFrame("N"), Point("O"), Point("trolley"), Point("bob")
    A = N.orientnew("A", "Axis", (theta, N.z))
    O.set_vel(N, 0)
    trolley.set_pos(O, x * N.x)
    bob.set_pos(O, X * N.x + Y * N.y if redundant else (x + l * sin(theta)) * N.x - l * cos(theta) * N.y)
    middle = O.locatenew("middle", 0 * N.x)
    middle.set_vel(N, 0)
    bodies = [
        Particle("car", trolley, m),
        Particle("weight", bob, load),
        RigidBody("rope", middle, A, 0, (inertia(A, 0, 0, turn), middle)),
    ]
    numbers = {**dict(zip((m, load, l, g, wind), NUMBERS.values(), strict=True)), turn: rope}
    own = [x, theta, *([X, Y] if redundant else [])]
    mechanism = jd.Mechanism.from_sympy(
        bodies, N, q=own, parameters=numbers, points={"bob": bob, "trolley": trolley}, origin=O, gravity=-g * N.y,
        outputs={"along": bob.pos_from(O).dot(N.x).diff(T)},
    )  # fmt: skip
    if redundant:
        mechanism.constraint("rope holds", [X - x - l * sin(theta), Y + l * cos(theta)], level="position")
    wall = (X if redundant else x + l * sin(theta)).diff(T)
    up = (Y if redundant else -l * cos(theta)).diff(T)
    mechanism.constraint("wall", wall - wind)
    mechanism.constraint("brake", x.diff(T))
    mechanism.contact("floor", normal=up, tangent=[wall])
    return mechanism


def both(**kinds: Any) -> tuple[jd.Event, jd.Event]:
    """The same event of both cranes; the redundant one has its rope as a regular constraint."""
    return crane(True).event(regular=["rope holds"], **kinds), crane(False).event(**kinds)


def states(rng: np.random.Generator, n: int) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Random (q, v) of the redundant crane and of the other one."""
    l = NUMBERS["l"]
    q, v = rng.uniform(-1, 1, (2, n, 2))
    x, theta = q.T
    dx, dtheta = v.T
    X, Y = x + l * np.sin(theta), -l * np.cos(theta)
    dX, dY = dx + l * np.cos(theta) * dtheta, l * np.sin(theta) * dtheta
    return (np.stack([x, theta, X, Y], -1), np.stack([dx, dtheta, dX, dY], -1)), (q, v)


KINDS: dict[str, dict[str, Any]] = {
    "wall, inert": {"inert": ["wall"]},
    "wall, elastic": {"elastic": {"wall": 0.4}},
    "brake and wall": {"elastic": {"wall": 0.4}, "inert": ["brake"]},
    "floor, frictionless": {"contacts": {"floor": jd.laws.MoreauCoulomb(friction=0.0, restitution=0.5)}},
    "floor, friction inside": {"contacts": {"floor": jd.laws.Coulomb(friction=0.3, restitution=0.5)}},
    "floor, friction at the end": {"contacts": {"floor": jd.laws.MoreauCoulomb(friction=0.3)}},
    "blow": {"inert": ["brake"], "impulses": {"bob": [0.4, 0.1]}},
}


@pytest.mark.parametrize("kinds", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("n", [3, KERNEL_FROM + 1], ids=["interpreted", "compiled"])
def test_events_are_those_of_independent_velocities(kinds: dict[str, Any], n: int, rng: np.random.Generator) -> None:
    (ours, theirs), (long, short) = both(**kinds), states(rng, n)
    got, expected = ours.solve(*long), theirs.solve(*short)
    np.testing.assert_array_equal(got.status, expected.status)
    assert (got.status == jd.Status.OK).mean() > 0.9
    np.testing.assert_allclose(got.v_plus[:, :2], expected.v_plus, atol=1e-12)
    for name in SHARED:
        np.testing.assert_allclose(getattr(got, name), getattr(expected, name), atol=1e-11, err_msg=name)
    for name in ("wall", "brake", "floor"):
        if name in expected.impulse:
            np.testing.assert_allclose(got.impulse[name], expected.impulse[name], atol=1e-11)
            np.testing.assert_allclose(got.effective_mass[name], expected.effective_mass[name], rtol=1e-10)
    np.testing.assert_allclose(sum(got.ledger.values()), got.T_plus - got.T_minus, atol=1e-12)
    np.testing.assert_allclose(got.T_r_minus, 0, atol=1e-12)
    M = crane(True).mass_matrix(long[0])
    np.testing.assert_allclose(got.T_plus, np.einsum("bi,bij,bj->b", got.v_plus, M, got.v_plus) / 2, atol=1e-12)


def test_the_regular_rows_take_the_impulse_that_the_balance_asks_for(rng: np.random.Generator) -> None:
    event, _ = both(elastic={"wall": 0.4})
    (q, v), _ = states(rng, 5)
    t = event.solve(q, v)
    M = event.mechanism.mass_matrix(q)
    rows = np.stack([np.vstack([event.mechanism.find_constraint(name).rows(one)[0].reshape(-1, 4) for name in
                                ("rope holds", "wall")]) for one in q])  # fmt: skip
    impulse = np.concatenate([t.impulse["rope holds"], t.impulse["wall"][:, None]], axis=1)
    left = np.einsum("bij,bj->bi", M, t.v_plus - t.v_minus) - np.einsum("bki,bk->bi", rows, impulse)
    np.testing.assert_allclose(left, 0, atol=1e-13)
    free = event.solve(q, v + 0.1, check=False)  # off the regular rows: they take that too
    impulse = np.concatenate([free.impulse["rope holds"], free.impulse["wall"][:, None]], axis=1)
    left = np.einsum("bij,bj->bi", M, free.v_plus - free.v_minus) - np.einsum("bki,bk->bi", rows, impulse)
    np.testing.assert_allclose(left, 0, atol=1e-12)
    np.testing.assert_allclose(free.loss, free.T_minus - free.T_plus, atol=1e-12)
    np.testing.assert_allclose(sum(free.ledger.values()), free.T_plus - free.T_minus, atol=1e-12)


def test_a_mass_that_is_zero_in_some_samples_only(rng: np.random.Generator) -> None:
    """A rope that has a moment of inertia by default, and none in half of the samples."""
    mechanism = crane(True, rope=0.1)
    event = mechanism.event(regular=["rope holds"], inert=["wall"])
    (q, v), short = states(rng, 8)
    turn = np.where(np.arange(8) % 2, 0.1, 0.0)
    got, expected = event.solve(q, v, turn=turn), crane(False).event(inert=["wall"]).solve(*short, turn=turn)
    assert got.ok.all()
    np.testing.assert_allclose(got.v_plus[:, :2], expected.v_plus, atol=1e-12)
    np.testing.assert_allclose(got.xi, expected.xi, atol=1e-12)
    one = event.solve(q[0], v[0], turn=0.0)
    np.testing.assert_allclose(one.v_plus, got.v_plus[0], atol=1e-13)
    slopes, h = event.gradient("loss", ["m"], q[0], v[0], turn=0.0), 1e-5
    low, high = (event.solve(q[0], v[0], turn=0.0, m=NUMBERS["m"] + step).loss for step in (-h, h))
    assert slopes["m"] == pytest.approx((high - low) / (2 * h), rel=1e-6)
    bad = event.solve(q, v, turn=np.where(np.arange(8) % 2, -5.0, 0.0))
    np.testing.assert_array_equal(bad.status, np.where(np.arange(8) % 2, jd.Status.NOT_POSITIVE_DEFINITE, 0))


def test_gradients_are_those_of_independent_velocities(rng: np.random.Generator) -> None:
    ours, theirs = both(elastic={"wall": 0.4})
    (q, v), short = states(rng, 4)
    for of in ("loss", "T_c_minus", "xi"):
        got, expected = (
            ours.gradient(of, ["m", "load", "wind"], q, v),
            theirs.gradient(of, ["m", "load", "wind"], *short),
        )
        for name in expected:
            np.testing.assert_allclose(got[name], expected[name], atol=1e-11)


def test_what_can_be_read_off_the_event_is_that_of_independent_velocities(rng: np.random.Generator) -> None:
    ours, theirs = both(inert=["brake"])
    (q, v), (q_short, v_short) = states(rng, 1)
    got, expected = ours.directions(q[0], point="bob"), theirs.directions(q_short[0], point="bob")
    np.testing.assert_allclose(got.xi, expected.xi, atol=1e-12)
    np.testing.assert_allclose(got.v[:2], expected.v, atol=1e-11)
    np.testing.assert_allclose(got.angle, expected.angle, atol=1e-10)
    P, P_short = ours.projectors(q[0]), theirs.projectors(q_short[0])
    for name in ("P_c", "P_a"):
        np.testing.assert_allclose((getattr(P, name) @ v[0])[:2], getattr(P_short, name) @ v_short[0], atol=1e-12)
    np.testing.assert_allclose(P.P_R @ v[0], 0, atol=1e-12)
    for name in ("prior", "virtual", "posterior"):
        phase = getattr(ours.phases(q[0], v[0], prefer=["x", "theta"]), name)
        other = getattr(theirs.phases(q_short[0], v_short[0], prefer=["x", "theta"]), name)
        assert phase.names == other.names
        np.testing.assert_allclose(phase.mass, other.mass, atol=1e-12)
        np.testing.assert_allclose(phase.momenta_minus, other.momenta_minus, atol=1e-12)


def test_closed_forms_do_not_mention_what_was_added(rng: np.random.Generator) -> None:
    ours, theirs = both(inert=["brake"])
    (q, v), (q_short, v_short) = states(rng, 1)
    values = dict(NUMBERS, turn=0.0, x=q[0, 0], theta=q[0, 1], X=q[0, 2], Y=q[0, 3])
    values |= {f"{name}_minus": number for name, number in zip(("x", "theta", "X", "Y"), v[0], strict=True)}
    formula, expected = ours.symbolic(), theirs.solve(q_short[0], v_short[0])
    for name, number in (("loss", expected.loss), ("T_c_minus", expected.T_c_minus)):
        expression = getattr(formula, name)
        assert float(expression.subs({s: values[s.name] for s in expression.free_symbols})) == pytest.approx(
            number, abs=1e-12
        )


def test_the_motion_is_that_of_independent_velocities() -> None:
    long, short = crane(True), crane(False)
    ours = jd.Hybrid(long, {"on": ["rope holds"]}).simulate(
        {"theta": 0.5, "X": 0.7 * np.sin(0.5), "Y": -0.7 * np.cos(0.5)}, until=2.0
    )
    theirs = jd.Hybrid(short, {"on": []}).simulate({"theta": 0.5}, until=2.0)
    for name in ("x", "theta"):
        np.testing.assert_allclose(ours.coordinate[name][-1], theirs.coordinate[name][-1], atol=1e-8)
    np.testing.assert_allclose(ours.energy.gap, 0, atol=1e-8)
    # The rope pulls the load: M v̇ = forces + Cᵀ λ along X.
    s = ours.reaction["rope holds"][-1]
    slope = (ours.velocity["X"][-1] - ours.velocity["X"][-2]) / (ours.t[-1] - ours.t[-2])
    assert s[0] == pytest.approx(NUMBERS["load"] * slope, abs=0.3)


def test_scenarios_and_their_sweeps(rng: np.random.Generator) -> None:
    theta = symbols("theta_0")
    l = symbols("l")
    long, short = both(inert=["wall"])
    ours = long.at(q={"theta": theta, "X": l * sin(theta), "Y": -l * cos(theta)}, v={"x": 1.0, "X": 1.0})
    theirs = short.at(q={"theta": theta}, v={"x": 1.0})
    at = np.linspace(-1, 1, 21)
    got, expected = ours.sweep(theta_0=at, keep=["loss", "xi"]), theirs.sweep(theta_0=at, keep=["loss", "xi"])
    for name in ("loss", "xi"):
        np.testing.assert_allclose(got[name], expected[name], atol=1e-12)
    assert ours.gradient("loss", "m", theta_0=0.3)["m"] == pytest.approx(theirs.gradient("loss", "m", theta_0=0.3)["m"])


def test_rows_that_do_not_hold_what_has_no_mass() -> None:
    mechanism = crane(True)
    with pytest.raises(jd.NotPositiveDefinite, match="'theta' moves no mass"):
        mechanism.event(inert=["wall"]).solve(v={"x": 1.0})


@pytest.mark.parametrize("n_regular", [2, 3])
@pytest.mark.parametrize("batch", [(), (50,), (5000,)])
def test_arrays(n_regular: int, batch: tuple[int, ...], rng: np.random.Generator) -> None:
    """Against the dense system of M, rows and impulses."""
    n = 5
    half = rng.normal(size=(*batch, n, n - n_regular))
    M, R, C = half @ np.swapaxes(half, -1, -2), rng.normal(size=(*batch, n_regular, n)), rng.normal(size=(*batch, 1, n))
    Z = np.swapaxes(np.linalg.svd(R)[2], -1, -2)[..., n_regular:]
    v = (Z @ rng.normal(size=(*batch, n - n_regular, 1)))[..., 0]
    t = jd.transition(M, v, regular=R, inert=C)
    assert np.all(t.ok)
    rows = np.concatenate([R, C], axis=-2)
    k = n_regular + 1
    K = np.concatenate([np.concatenate([M, -np.swapaxes(rows, -1, -2)], -1),
                        np.concatenate([rows, np.zeros((*batch, k, k))], -1)], -2)  # fmt: skip
    right = np.concatenate([(M @ v[..., None])[..., 0], np.zeros((*batch, k))], -1)
    expected = np.linalg.solve(K, right[..., None])[..., 0]
    scale = np.linalg.cond(K)[..., None] * 1e-13
    assert np.all(np.abs(t.v_plus - expected[..., :n]) <= scale)
    energy = np.einsum("...i,...ij,...j", v, M, v) / 2
    np.testing.assert_allclose(t.T_minus, energy, rtol=1e-9)
    np.testing.assert_allclose(t.T_c_minus + t.T_a_minus, energy, rtol=1e-9)
    np.testing.assert_allclose(t.loss, t.T_c_minus, rtol=1e-7, atol=1e-12)
    assert np.all((t.xi >= 0) & (t.xi <= 1))


def test_arrays_whose_regular_rows_do_not_suffice_have_no_parts(rng: np.random.Generator) -> None:
    M, R, C = np.diag([1.0, 1.0, 0.0, 0.0]), np.array([[0, 0, 1.0, 0]]), np.array([[0.5, 0, 0, 1.0]])
    t = jd.transition(M, [1.0, 1.0, 0.0, 0.0], regular=R, inert=C)
    assert t.ok
    assert np.isnan(t.T_c_minus)
    assert t.T_plus == pytest.approx(t.T_minus - t.loss)


def two(m: float) -> Any:
    """M = diag(2, m), in which s is driven at the speed b, or held to x by a gear."""
    q, v, b, mass = (
        ca.vertcat(*(ca.SX.sym(name) for name in several.split())) for several in ("x s", "dx ds", "b", "m")
    )
    own = [(mass, m), (b, 1.0)]
    made = jd.Mechanism.from_casadi(q, v, ca.diag(ca.vertcat(2.0, mass)), ca.SX.eye(2), own, bias=ca.SX(2, 1))
    made.constraint("drive", v[1] - b)
    made.constraint("gear", v[1] - 2 * v[0])
    made.constraint("wall", v[0])
    return made


@pytest.mark.parametrize("speed", [1.0, 1e4, 1e6])
def test_what_drives_a_row_is_no_energy(speed: float) -> None:
    """A support moves quickly, without a mass; energies of the rest keep their digits."""
    event = two(0.0).event(regular=["drive"], inert=["wall"])
    arrays = jd.transition(
        np.diag([2.0, 0.0]), [1e-3, speed], regular=(np.array([[0, 1.0]]), [-speed]), inert=np.array([[1.0, 0]])
    )
    for t in (event.solve(v=[1e-3, speed], b=speed), arrays):
        np.testing.assert_allclose([t.T_minus, t.loss, t.xi], [1e-6, 1e-6, 1.0], rtol=1e-12)
        assert t.T_plus == t.T_r_minus == 0


def test_negative_masses_are_refused() -> None:
    event = two(0.0).event(regular=["gear"], inert=["wall"])
    with pytest.raises(jd.NotPositiveDefinite):
        event.solve(v=[1.0, 2.0], m=-0.1)
    batch = event.solve(v=[1.0, 2.0], m=[-0.1, 0.0, 0.3])
    np.testing.assert_array_equal(batch.status, [jd.Status.NOT_POSITIVE_DEFINITE, 0, 0])


def test_a_mass_of_zero_that_is_given() -> None:
    """By default there is a mass; nothing of an event needs it."""
    massless, event = (two(m).event(regular=["gear"], inert=["wall"]) for m in (0.0, 0.3))
    v = [1.0, 2.0]
    np.testing.assert_allclose(event.solve(v=v, m=0.0).v_plus, massless.solve(v=v, m=0.0).v_plus)
    np.testing.assert_allclose(event.solve(v=[1.0, 2.1], m=0.0, check="project").v_minus, [1.0, 2.0])  # s has no mass
    np.testing.assert_allclose(event.projectors(m=0.0).P_c, massless.projectors().P_c)
    np.testing.assert_allclose(event.directions(m=0.0).xi, massless.directions().xi)
    assert event.phases(m=0.0).prior.names == massless.phases().prior.names


def test_a_prior_row_without_energy_may_be_off_by_rounding() -> None:
    s, d, x = (ca.SX.sym(name) for name in "sdx")
    v = ca.vertcat(*(ca.SX.sym(name) for name in ("ds", "dd", "dx")))
    made = jd.Mechanism.from_casadi(ca.vertcat(s, d, x), v, ca.SX(ca.diag(ca.vertcat(0.0, 0.0, 2.0))), ca.SX.eye(3))
    rows = [made.constraint("drive", v[0] - 1), made.constraint("gear", 0.3 * v[0] - 0.7 * v[1])]
    event = made.event(regular=rows, inert=[made.constraint("wall", v[2])])
    assert event.solve(v=[1.0, 0.3 / 0.7 * (1 + 1e-15), 0.0]).ok


@pytest.mark.parametrize("light", [0.0, 1e-33, 1e-30, 1e-20, 1e-10])
def test_nearly_massless_velocities_are_solved_or_refused(light: float) -> None:
    """Masses that are nothing but rounding, as sin²(π): never a row that is dropped without a word."""
    arrays = [1.0, 1.0, -0.7], [[1.0, -1.0, 0.0]], [[0.0, 1.0, 1.0]]
    v, regular, inert = (np.array(array) for array in arrays)
    try:
        t = jd.transition(np.diag([1.0, light, 2.0]), v, regular=regular, inert=inert)
    except jd.NotConverged:
        assert 0 < light < 1e-25
    else:
        np.testing.assert_allclose(t.v_plus, [0.8, 0.8, -0.8], rtol=1e-9)
