"""The gallery's one-sided contacts against closed forms, and maps of what becomes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_gallery import draw, same

import jourdain as jd
from cases import REAR_FOOT_LIMITS
from jourdain import gallery, laws
from jourdain.laws import ContactState

HYPOTHESES: tuple[Any, ...] = ("newton", "poisson", "stronge")
N_SAMPLES = 400


def samples(rng: np.random.Generator, **ranges: tuple[float, float]) -> dict[str, Any]:
    return {name: rng.uniform(*ends, size=N_SAMPLES) for name, ends in ranges.items()}


# The walker


@pytest.mark.parametrize(("rho", "limit"), REAR_FOOT_LIMITS.items())
def test_the_rear_foot_lifts_up_to_a_limit(rho: float, limit: float) -> None:
    """The threshold curve over theta and rho [docs/theory.md §6]."""
    degrees = np.linspace(limit - 5, limit + 5, 1001)
    last_digit = 0.1 if limit > 100 else 0.01
    ds = gallery.walker(rear_foot="one-sided").sweep(theta=np.radians(degrees), rho=rho)
    state = ds.contact_state.sel(one_sided="stance").to_numpy().ravel()
    (change,) = np.flatnonzero(np.diff(state))
    assert degrees[change : change + 2].mean() == pytest.approx(limit, abs=0.51 * last_digit + 0.005)
    assert (state[0], state[-1]) == (ContactState.LIFTS, ContactState.HOLDS)
    assert np.all(ds.u_plus.sel(row="stance.normal") >= -1e-12)
    assert np.all(ds.impulse.sel(row="stance.normal") >= 0)


def test_while_it_lifts_it_might_as_well_be_released() -> None:
    theta = np.radians(np.linspace(10, 60, 51))
    t, other = (gallery.walker(rear_foot=foot).solve(theta=theta) for foot in ("one-sided", "released"))
    assert np.all(t.contact["stance"] == ContactState.LIFTS)
    same(t.v_plus, other.v_plus, scale=1.0)
    same(t.loss, other.loss)


def test_a_heel_with_enough_friction_sticks_and_with_less_it_slips(rng: np.random.Generator) -> None:
    """It comes without slip: what an inert heel needs is what a rough one needs, and all hypotheses agree."""
    theta, rho = np.radians(rng.uniform(10, 60, 40)), rng.uniform(0, 0.4, 40)
    inert = gallery.walker().solve(theta=theta, rho=rho)
    needed = inert.required_friction["heel"]
    for hypothesis in HYPOTHESES:
        strike = gallery.walker(law=laws.Coulomb("friction", 0.0, hypothesis))
        held = strike.solve(theta=theta, rho=rho, friction=needed * 1.001)
        assert np.all(held.contact["heel"] == ContactState.STICKS)
        same(held.v_plus, inert.v_plus, scale=10.0)
        slips = strike.solve(theta=theta, rho=rho, friction=needed * 0.5)
        assert np.all(np.abs(slips.u_plus["heel.tangent"]) > 1e-6)
        assert np.all(slips.impulse["heel.normal"] > 0)
        same(np.abs(slips.impulse["heel.tangent"]), needed * 0.5 * slips.impulse["heel.normal"], scale=100.0)
        assert np.all(slips.loss < inert.loss)  # less is stopped


def test_the_walkers_laws() -> None:
    assert gallery.walker().event.parameters == gallery.walker(law=laws.Coulomb(0.2)).event.parameters
    rough = gallery.walker(law=laws.Coulomb("friction", "e"))
    assert (rough.parameters["friction"], rough.parameters["e"]) == (0.6, 0.0)
    assert (rough.units["friction"], rough.units["e"]) == ("1", "1")
    assert gallery.walker("one-sided", laws.NoSlip("kappa")).parameters["kappa"] == 0.0
    assert gallery.walker("one-sided", laws.Frictionless(0.3)).solve().contact["stance"] is ContactState.LIFTS
    with pytest.raises(jd.UnknownName, match="There is no rear_foot 'both'; there are: 'released', 'one-sided'"):
        gallery.walker("both")  # type: ignore[arg-type]
    with pytest.raises(jd.BadEvent, match="'stance' has friction inside the event, but 'heel' acts at the same time"):
        gallery.walker("one-sided", laws.Coulomb("friction"))
    with pytest.raises(jd.NameClash, match="two things called 'mu', a parameter of the walker each"):
        gallery.walker(law=laws.Coulomb("mu"))  # it is the mass ratio


# A rod on a rough floor


def rod(p: dict[str, Any]) -> tuple[Any, ...]:
    """W_nn, W_nt, W_tt, u_n and u_t of its end."""
    sin, cos = np.sin(p["theta"]), np.cos(p["theta"])
    u = -p["v"] + p["omega"] * p["L"] / 2 * cos, p["v_x"] - p["omega"] * p["L"] / 2 * sin
    return (1 + 3 * cos**2) / p["m"], -3 * sin * cos / p["m"], (1 + 3 * sin**2) / p["m"], *u


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_rough_rod(hypothesis: Any, rng: np.random.Generator) -> None:
    """Routh: where each state is; the impulses where slip does not stop, and, from no slip, where it sticks."""
    scenario = gallery.rough_rod(hypothesis)
    p = samples(rng, m=(0.5, 3), L=(0.5, 2), theta=(0.05, 1.5), v=(1, 4), v_x=(-1, 2), omega=(-0.5, 0.5))
    p |= samples(rng, friction=(0, 2.5), kappa=(0, 1))  # up to where it jams: W_nn < μ |W_nt|
    W_nn, W_nt, W_tt, u_n, u_t = rod(p)
    mu, s = p["friction"], np.sign(u_t)
    t = scenario.solve(**p)
    rate = s * W_nt - mu * W_tt  # of |u_t|, over the normal impulse
    stops = np.where(rate < 0, np.abs(u_t) / -rate, np.inf)
    with np.errstate(divide="ignore"):
        alone = np.where(W_nn > mu * s * W_nt, -(1 + p["kappa"]) * u_n / (W_nn - mu * s * W_nt), np.inf)
    slips, sticks = alone <= stops, np.abs(W_nt) <= mu * W_tt
    expected = np.where(slips, ContactState.SLIPS, np.where(sticks, ContactState.STICKS, ContactState.REVERSES))
    np.testing.assert_array_equal(t.contact["floor"], expected)
    assert np.any((W_nn < mu * s * W_nt) & (stops < np.inf))
    assert set(expected) == {ContactState.SLIPS, ContactState.STICKS, ContactState.REVERSES}
    same(t.impulse["floor.normal"][slips], alone[slips])
    same(t.impulse["floor.tangent"][slips], (-mu * s * alone)[slips])

    p |= {"v_x": p["omega"] * p["L"] / 2 * np.sin(p["theta"])}
    t = scenario.solve(**p)
    held = np.abs(W_nt) < 0.999 * mu * W_tt
    p_n = -(1 + p["kappa"]) * u_n / (W_nn - W_nt**2 / W_tt)
    assert np.all(t.contact["floor"][held] == ContactState.STICKS)
    same(t.impulse["floor.normal"][held], p_n[held], scale=10 * p_n[held])
    same(t.impulse["floor.tangent"][held], (-W_nt / W_tt * p_n)[held], scale=10 * p_n[held])


def test_map_of_the_rough_rod() -> None:
    """Over angle and friction: a little friction lets slip reverse, more of it sticks, steep and flat rods slip on."""
    degrees, friction = np.linspace(0.5, 89.5, 90), np.linspace(0, 1, 41)
    ds = gallery.rough_rod().sweep(theta=np.radians(degrees), friction=friction, keep=["contact_state"])
    state = ds.contact_state.sel(one_sided="floor")
    assert state.dims == ("theta", "friction")
    assert set(np.unique(state)) == {ContactState.SLIPS, ContactState.STICKS, ContactState.REVERSES}
    assert np.all(state.sel(friction=1) == ContactState.STICKS)
    assert state.sel(theta=np.radians(45), method="nearest").sel(friction=0) == ContactState.REVERSES
    assert np.all(state.isel(theta=[0, -1]).sel(friction=0) == ContactState.SLIPS)


# Kane's double pendulum


def test_double_pendulum_creates_energy_by_newtons_hypothesis_only() -> None:
    """Kane's paradox."""
    newton, poisson, stronge = (gallery.double_pendulum(hypothesis).solve() for hypothesis in HYPOTHESES)
    assert newton.status is jd.Status.ENERGY_CREATED
    assert newton.energy_created == pytest.approx(newton.T_plus - newton.T_minus)
    assert newton.T_plus > 1.5 * newton.T_minus
    for t in (poisson, stronge):
        assert t.ok
        assert t.T_plus < t.T_minus
    assert {t.contact["floor"] for t in (newton, poisson, stronge)} == {ContactState.REVERSES}
    restored = stronge.ledger["floor restitution"] / -stronge.ledger["floor compression"]
    assert restored == pytest.approx(0.7**2, rel=1e-12)


def test_double_pendulum(rng: np.random.Generator) -> None:
    """The path of a slip that reverses during restitution, by hand."""
    p = samples(rng, m=(0.5, 2), L=(0.5, 2), theta_1=(0.2, 0.4), theta_2=(0.5, 0.7), omega_1=(-0.2, -0.1))
    p |= samples(rng, omega_2=(-0.4, -0.2), kappa=(0, 1))
    m, L, e = p["m"], p["L"], p["kappa"]
    one, two = np.array([p["theta_1"], p["theta_2"]])
    M = np.array([[4 / 3 + 0 * one, np.cos(one - two) / 2], [np.cos(one - two) / 2, 1 / 3 + 0 * one]]) * m * L**2
    M = np.moveaxis(M, -1, 0)
    J = np.moveaxis(L * np.array([[np.sin(one), np.sin(two)], [np.cos(one), np.cos(two)]]), -1, 0)
    W = J @ np.linalg.solve(M, np.swapaxes(J, -1, -2))
    u_n, u_t = np.einsum("mij,mj->im", J, np.stack([p["omega_1"], p["omega_2"]], axis=-1))
    W_nn, W_nt, W_tt = W[:, 0, 0], W[:, 0, 1], W[:, 1, 1]
    assert np.all(u_n < 0)
    assert np.all(u_t < 0)  # slips back, and W_nt > 0 throws it forth
    mu = p["friction"] = rng.uniform(0.2, 0.95, N_SAMPLES) * W_nt / W_tt  # too little to stick
    n_1, n_2 = W_nn + mu * W_nt, W_nn - mu * W_nt  # du_n/dp before and after the slip reverses
    p_1, p_c = -u_t / (W_nt + mu * W_tt), -u_n / n_1
    u_1, work = u_n + n_1 * p_1, u_n * p_c / 2
    assert np.all(p_c < p_1)
    for hypothesis in HYPOTHESES:
        t = gallery.double_pendulum(hypothesis).solve(**p)
        left = -(e**2) * work - n_1 * (p_1 - p_c) ** 2 / 2  # of the work to be given back
        p_f = {
            "newton": p_1 + (-e * u_n - u_1) / n_2,
            "poisson": (1 + e) * p_c,
            "stronge": p_1 + (np.sqrt(np.maximum(u_1**2 + 2 * n_2 * left, 0)) - u_1) / n_2,
        }[hypothesis]
        reverses = p_f > p_1
        assert 50 < reverses.sum() < N_SAMPLES
        np.testing.assert_array_equal(t.contact["floor"] == ContactState.REVERSES, reverses)
        scale = (100 * p_f)[reverses]
        same(t.impulse["floor.normal"][reverses], p_f[reverses], scale=scale)
        same(t.impulse["floor.tangent"][reverses], (mu * p_1 - mu * (p_f - p_1))[reverses], scale=scale)
        same(t.ledger["floor compression"][reverses], work[reverses], scale=100 * work[reverses])


# A ball on a rough plane


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_ball_on_rough_plane(hypothesis: Any, rng: np.random.Generator) -> None:
    """Brach 1991, with spin: slips while μ < (2/7) |u|/((1 + e) v_n), else rolls with v_t − 2u/7."""
    p = samples(rng, m=(0.1, 1), r=(0.02, 0.2), v_t=(-3, 3), v_n=(0.5, 4), omega=(-20, 20), friction=(0, 0.5))
    p |= samples(rng, kappa=(0, 1))
    t = gallery.ball_on_rough_plane(hypothesis).solve(**p)
    u = p["v_t"] - p["r"] * p["omega"]
    normal = (1 + p["kappa"]) * p["v_n"]
    slips = p["friction"] < 2 / 7 * np.abs(u) / normal
    assert 50 < slips.sum() < 350
    np.testing.assert_array_equal(t.contact["plane"], np.where(slips, ContactState.SLIPS, ContactState.STICKS))
    pushed = np.where(slips, p["friction"] * np.sign(u) * normal, 2 / 7 * u)  # the tangential impulse over the mass
    scale = np.abs(p["v_t"]) + p["v_n"] + np.abs(p["r"] * p["omega"])
    same(t.velocity_plus["x"], p["v_t"] - pushed, scale=scale)
    same(t.velocity_plus["y"], p["kappa"] * p["v_n"], scale=scale)
    same(t.velocity_plus["phi"], p["omega"] + 5 / 2 * pushed / p["r"], scale=scale / p["r"])
    same(t.impulse["plane.normal"], p["m"] * normal)
    assert np.all(t.T_plus <= t.T_minus)


def test_a_ball_without_spin() -> None:
    """Brach's threshold itself: 5 v_t/7 from there on."""
    limit = 2 / 7 * 3.0 / (1.8 * 2.0)
    for factor, state in ((0.999, ContactState.SLIPS), (1.001, ContactState.STICKS)):
        t = gallery.ball_on_rough_plane().solve(omega=0.0, friction=factor * limit)
        assert t.contact["plane"] is state
    same(t.velocity_plus["x"], 5 / 7 * 3.0)


# Several at once


@pytest.mark.parametrize("law", ["moreau", "poisson"])
def test_block_on_corners(law: Any, rng: np.random.Generator) -> None:
    """Both push while |ω| < 6 v b/(b² + h²): the motion turns round with κ. Beyond, one corner is struck alone."""
    scenario = gallery.block_on_corners(law)
    p = samples(rng, m=(0.5, 5), b=(0.2, 1), h=(0.2, 1), v=(0.5, 3), kappa=(0, 1))
    b, h, m, v, kappa = p["b"], p["h"], p["m"], p["v"], p["kappa"]
    I, limit = m * (b**2 + h**2) / 12, 6 * v * b / (b**2 + h**2)
    omega = rng.choice([-1, 1], N_SAMPLES) * np.minimum(rng.uniform(0, 2, N_SAMPLES) * limit, 1.99 * v / b)
    t = scenario.solve(**p, omega=omega)
    assert np.all(t.ok)
    both = np.abs(omega) < limit
    same(t.velocity_plus["y"][both], (kappa * v)[both], scale=10 * v[both])
    same(t.velocity_plus["theta"][both], (-kappa * omega)[both], scale=10 * limit[both])
    for side, name in ((-1, "left"), (1, "right")):
        expected = (1 + kappa) * (m * v / 2 - side * I * omega / b)
        same(t.impulse[f"{name}.normal"][both], expected[both], scale=10 * (m * v)[both])
        struck = ~both & (side * omega < 0)  # this corner comes quicker
        alone = (1 + kappa) * (v + np.abs(omega) * b / 2) / (1 / m + b**2 / (4 * I))
        same(t.impulse[f"{name}.normal"][struck], alone[struck], scale=10 * (m * v)[struck])
        assert np.all(t.contact[name][struck] == ContactState.HOLDS)
        assert np.all(t.contact[name][~both & ~struck] == ContactState.LIFTS)
    assert 50 < both.sum() < 350


def test_a_block_that_lands_without_turning(rng: np.random.Generator) -> None:
    """Both corners take half, also without loss."""
    t, p = draw(gallery.block_on_corners(), rng, m=(0.5, 5), v=(0.5, 3), kappa=(0, 1), omega=(0, 0))
    for name in ("left.normal", "right.normal"):
        same(t.impulse[name], p.m * p.v * (1 + p.kappa) / 2)
    same(t.loss, (1 - p.kappa**2) * p.m * p.v**2 / 2, scale=p.m * p.v**2)


@pytest.mark.parametrize("law", ["moreau", "poisson"])
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_cradle(n: int, law: Any, rng: np.random.Generator) -> None:
    """All at once: the others leave with w = (1 + κ) v/n, the first follows with w − κ v [Glocker & Aeberhard]."""
    t, p = draw(gallery.cradle(n, law), rng, m=(0.05, 1), v=(0.5, 3), kappa=(0, 1))
    w = (1 + p.kappa) * p.v / n
    same(t.velocity_plus["x_1"], w - p.kappa * p.v, scale=p.v)
    for i in range(2, n + 1):
        same(t.velocity_plus[f"x_{i}"], w, scale=10 * p.v)
        same(t.impulse[f"touch_{i - 1}.normal"], p.m * (n + 1 - i) * w, scale=10 * p.m * p.v)
    same(t.loss, p.m * p.v**2 * (1 - p.kappa**2) * (1 - 1 / n) / 2, scale=10 * p.m * p.v**2)


def test_box_dropped_flat(rng: np.random.Generator) -> None:
    """Velocities turn round with κ; four impulses have one undetermined pattern and the least of them is taken."""
    sizes = {"m": (0.5, 5), "a": (0.2, 1), "b": (0.2, 1), "c": (0.2, 1), "psi": (-3, 3)}
    motion = {"v": (1, 3), "w_x": (-0.1, 0.1), "w_y": (-0.1, 0.1), "w_z": (-1, 1), "kappa": (0, 1)}
    t, p = draw(gallery.box_dropped_flat(), rng, **sizes, **motion)
    same(t.velocity_plus["z"], p.kappa * p.v, scale=10 * p.v)
    for name, before in (("w_x", p.w_x), ("w_y", p.w_y)):
        same(t.velocity_plus[name], -p.kappa * before, scale=100 * p.v)
    same(t.velocity_plus["w_z"], p.w_z, scale=100 * p.v)
    pushed = np.stack([t.impulse[f"corner_{i}.normal"] for i in range(1, 5)], axis=-1)
    total = p.m * (1 + p.kappa) * p.v
    same(pushed.sum(axis=-1), total, scale=10 * total)
    same(pushed @ [1, -1, -1, 1], 0, scale=10 * total)  # none of the pattern that changes nothing
    assert np.all(pushed > 0)
    for name in ("x", "y"):
        same(t.velocity_plus[name], 0, scale=p.v)


def test_a_box_that_turns_quickly() -> None:
    """One corner rises: three that turn round with κ would drive it into the floor; Poisson's law holds it off."""
    motion = {"v": 1.3, "w_x": -6.5, "w_y": -5.7, "psi": 1.6, "kappa": 0.4}
    with pytest.raises(jd.Infeasible, match=r"'corner_3': opening before.* use Frictionless\(law='poisson'\)"):
        gallery.box_dropped_flat().solve(parameters=motion)
    t = gallery.box_dropped_flat("poisson").solve(parameters=motion)
    assert max(t.u_minus[f"corner_{i}.normal"] for i in range(1, 5)) > 0
    for i in range(1, 5):
        assert t.u_plus[f"corner_{i}.normal"] >= -1e-12
        assert t.impulse[f"corner_{i}.normal"] >= 0
    assert t.T_plus < t.T_minus


# One event after the other


def one_after_the_other(kappa: float) -> list[jd.Event]:
    balls = gallery.cradle().event.mechanism
    return [balls.event(contacts={name: laws.Frictionless(kappa)}) for name in ("touch_1", "touch_2")]


PLACE = {"x_2": 0.04, "x_3": 0.08}


def test_cradle_in_sequence() -> None:
    """(1, 0, 0) → (0, 0, 1) without loss, where all at once gives (−1/3, 2/3, 2/3)."""
    first, second = one_after_the_other(1.0)
    t = first.solve(PLACE, {"x_1": 1.0})
    last = t.then(second)
    same(last.v_plus, [0, 0, 1], scale=1.0)
    np.testing.assert_array_equal(last.v_minus, t.v_plus)
    np.testing.assert_array_equal(last.q, t.q)
    same(gallery.cradle().solve(kappa=1.0).v_plus, [-1 / 3, 2 / 3, 2 / 3], scale=1.0)


def test_then_in_a_batch() -> None:
    """Lanes go on; one that has no numbers keeps its status."""
    balls = gallery.cradle().event.mechanism
    first, second = (balls.event(contacts={f"touch_{i}": laws.Frictionless("kappa")}) for i in (1, 2))
    t = first.solve(PLACE, {"x_1": [1.0, 2.0, 3.0]}, kappa=[0.5, 1.0, 1.5])
    last = t.then(second, kappa=0.5)
    assert list(last.status) == [jd.Status.OK, jd.Status.OK, jd.Status.BAD_RESTITUTION]
    same(last.v_plus[:2], [[0.25, 0.1875, 0.5625], [0, 0.5, 1.5]], scale=1.0)
    assert np.isnan(last.v_plus[2]).all()
    alone = first.solve(PLACE, {"x_1": 1.0}, kappa=0.5)
    several = alone.then(second, kappa=[0.0, 1.0])
    same(several.v_plus, [[0.25, 0.375, 0.375], [0.25, 0, 0.75]], scale=1.0)
    assert alone.then(second, parameters={"kappa": 0.0}).ok


def test_then_checks_as_solve_does() -> None:
    first, _ = one_after_the_other(1.0)
    joined = gallery.cradle().event.mechanism.event(regular=["touch_2"])
    moved = first.solve(PLACE, {"x_1": 1.0})
    with pytest.raises(jd.PriorViolated, match="'touch_2"):
        moved.then(joined)
    same(moved.then(joined, check="project").v_plus, [0, 0.5, 0.5], scale=1.0)
    same(moved.then(first).v_plus, moved.v_plus, scale=1.0)  # it opens: nothing happens


def test_then_refuses_another_mechanism() -> None:
    t = gallery.cradle().solve()
    with pytest.raises(jd.BadEvent, match="its coordinates are 'x', 'y', 'theta', those of this outcome 'x_1', 'x_2'"):
        t.then(gallery.rod().event, kappa=0.5)
    with pytest.raises(jd.MissingValue, match="'kappa' has no default"):
        t.then(gallery.cradle().event)


# A box thrown on a corner


def test_a_corner_that_sticks_is_caught() -> None:
    """With κ = 0 the velocity after is that of a corner that is caught, however the slip came to rest."""
    scenario = gallery.thrown_box()
    caught = scenario.event.mechanism.event(inert=["floor"])
    for friction in (0.9, 1.2):
        t = scenario.solve(friction=friction, kappa=0.0)
        assert t.contact["floor"] is ContactState.STICKS
        q, v, _ = scenario.state({})
        same(t.v_plus, caught.solve(q, v).v_plus, scale=10.0)


def test_a_turned_box_slips_the_turned_way() -> None:
    """Turned by 90° about the vertical with its velocity, the tangents turn too."""
    scenario = gallery.thrown_box()
    one = scenario.solve(v_x=0.7, v_y=-0.2)
    other = scenario.solve(psi=np.pi / 2, v_x=0.2, v_y=0.7)
    n, x, y = one.impulse["floor"]
    same(other.impulse["floor"], [n, -y, x], scale=1.0)
    same(other.loss, one.loss, scale=1.0)


def test_without_friction_only_the_normal_counts() -> None:
    """p = (1 + κ) v m_eff, by all hypotheses."""
    for hypothesis in ("newton", "poisson", "stronge"):
        t = gallery.thrown_box(hypothesis).solve(friction=0.0)
        p = 1.5 * 2.0 * t.effective_mass["floor.normal"]
        same(t.impulse["floor"], [p, 0, 0], scale=1.0)
