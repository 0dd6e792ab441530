"""The best parameters of a scenario, where the best is known: closed forms, Lagrange conditions, fine sweeps."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import brentq

import jourdain as jd
from jourdain import gallery
from models import loop

a, b = sp.symbols("a b")


@cache
def rod() -> jd.Scenario:
    """loss = ½ (1 − κ²) m v² / (1 + 3 cos²θ), impulse (1 + κ) m v / (1 + 3 cos²θ)."""
    return gallery.rod()


@cache
def particle() -> jd.Scenario:
    """loss = ½ (1 − κ²) m v_z², impulse −(1 + κ) m v_z, T_minus = ½ m (v_x² + v_z²)."""
    return gallery.particle()


def thrown(x, z, m=None, **defaults) -> jd.Scenario:
    """A particle of mass m (1 kg) thrown on a plastic floor with (x, z), expressions in a and b."""
    own = {} if m is None else {"m": m}
    return particle().event.at(v={"x": x, "z": z}, parameters=own, defaults={"kappa": 0.0, **defaults})


# Known optima


def test_inside_the_bounds():
    """The rocking block [Housner]: omega_plus/omega = 1 − 1.5 sin²α vanishes at sin²α = 2/3, and all energy is lost."""
    block = gallery.rocking_block()
    best = block.maximize("loss", over={"alpha": (0.05, 1.5)})
    assert best.converged
    assert best.parameters["alpha"] == pytest.approx(np.arcsin(np.sqrt(2 / 3)), rel=1e-6)
    m, R, omega = (block.parameters[name] for name in ("m", "R", "omega"))
    assert best.value == pytest.approx(2 / 3 * m * R**2 * omega**2, rel=1e-12)
    assert best.transition.xi == pytest.approx(1.0, abs=1e-12)


def test_at_a_bound():
    """The flatter the rod lies, the less it loses; the steeper, the more, up to 90°."""
    least = rod().minimize("loss", over={"theta": (0.3, 1.2)})
    assert least.converged
    assert least.parameters == pytest.approx({"theta": 0.3}, rel=1e-12)
    assert least.value == pytest.approx(0.5 * 0.75 * 4 / (1 + 3 * np.cos(0.3) ** 2), rel=1e-12)
    most = rod().maximize("loss", over={"theta": (0.3, 1.2)}, v=3.0, kappa=0.0)
    assert most.parameters == pytest.approx({"theta": 1.2}, rel=1e-12)
    assert most.value == pytest.approx(0.5 * 9 / (1 + 3 * np.cos(1.2) ** 2), rel=1e-12)
    assert rod().maximize("loss", over={"theta": (0.0, 3.0)}).parameters["theta"] == pytest.approx(np.pi / 2, abs=1e-6)


def test_one_bound_active_the_other_parameter_inside():
    """T_c of the walker with a heavy torso peaks at q5 = −15.9° [docs/theory.md §9]; it falls with rho."""
    best = gallery.walker().maximize("T_c_minus", over={"torso": (-0.6, 0.6), "rho": (0.25, 0.5)}, mu=10.0)
    assert best.converged
    assert np.degrees(best.parameters["torso"]) == pytest.approx(-15.9, abs=0.05)
    assert best.parameters["rho"] == pytest.approx(0.25, abs=1e-9)


def test_bounds_that_are_open_and_bounds_that_meet():
    """min ½ m (v_x² + v_z²) over v_x."""
    free = particle().minimize("T_minus", over={"v_x": (None, None)})
    assert free.converged
    assert free.parameters["v_x"] == pytest.approx(0.0, abs=1e-6)
    assert free.value == pytest.approx(4.5, rel=1e-12)
    half = particle().minimize("T_minus", over={"v_x": (1.0, None)})
    assert half.parameters["v_x"] == pytest.approx(1.0, rel=1e-12)
    other = particle().minimize("T_minus", over={"v_x": (None, -0.5), "v_z": (-4.0, None)})
    assert other.parameters == pytest.approx({"v_x": -0.5, "v_z": 0.0}, abs=1e-6)
    fixed = particle().minimize("T_minus", over={"v_x": (-1.0, 1.0), "v_z": (-2.0, -2.0)})
    assert fixed.parameters == pytest.approx({"v_x": 0.0, "v_z": -2.0}, abs=1e-6)


def test_subject_to_a_limit():
    """The steepest rod whose impulse stays below J: 1 + 3 cos²θ = (1 + κ) m v / J."""
    best = rod().maximize("loss", over={"theta": (0.0, 1.5)}, subject_to={"impulse.floor.normal": (None, 1.5)})
    assert best.converged
    assert np.cos(best.parameters["theta"]) ** 2 == pytest.approx((1.5 * 2 / 1.5 - 1) / 3, rel=1e-9)
    assert best.transition.impulse["floor.normal"] == pytest.approx(1.5, rel=1e-7)
    idle = rod().maximize("loss", over={"theta": (0.0, 1.5)}, subject_to={"impulse.floor.normal": (None, 50.0)})
    assert idle.parameters["theta"] == pytest.approx(1.5, rel=1e-12)
    both = rod().minimize("loss", over={"theta": (0.0, 1.5)}, subject_to={"impulse.floor.normal": (1.0, 1.5)})
    assert np.cos(both.parameters["theta"]) ** 2 == pytest.approx((1.5 * 2 / 1.0 - 1) / 3, rel=1e-9)


def test_subject_to_an_equation():
    """Of all throws with an energy E the one straight down loses most, the one along the floor nothing."""
    over, same = {"v_x": (-5.0, 5.0), "v_z": (-5.0, 5.0)}, {"T_minus": (2.0, 2.0)}
    most = particle().maximize("loss", over=over, subject_to=same)
    assert most.converged
    assert most.value == pytest.approx((1 - 0.6**2) * 2.0, rel=1e-7)
    assert abs(most.parameters["v_z"]) == pytest.approx(2.0, rel=1e-7)
    assert most.transition.T_minus == pytest.approx(2.0, rel=1e-7)
    least = particle().minimize("loss", over=over, subject_to=same)
    assert least.value == pytest.approx(0.0, abs=1e-10)
    assert abs(least.parameters["v_x"]) == pytest.approx(2.0, rel=1e-6)


def test_centre_of_percussion():
    """A blow at s = d + k²/d leaves the pivot in peace."""
    pendulum = gallery.percussion()
    quiet = pendulum.minimize("T_plus", over={"s": (0.1, 1.0)}, subject_to={"impulse.pivot.x": (0.0, 0.0)})
    assert quiet.converged
    assert quiet.parameters["s"] == pytest.approx(2 / 3, rel=1e-6)
    assert quiet.transition.impulse["pivot.x"] == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("speed", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_units_do_not_matter(speed):
    """The same throw in other units: bounds hold in the size of their quantities, not to an absolute number."""
    scenario = thrown(speed * a, speed * b, a=3.0, b=2.0)
    best = scenario.minimize("T_minus", over={"a": (-4, 4), "b": (-4, 4)}, subject_to={"impulse.floor": (speed, None)})
    assert best.converged
    assert best.parameters == pytest.approx({"a": 0.0, "b": -1.0}, abs=1e-5)
    assert best.value == pytest.approx(speed**2 / 2, rel=1e-6)
    for start in best.starts:
        assert start.value == pytest.approx(speed**2 / 2, rel=1e-6)


def test_a_start_where_the_objective_vanishes():
    """Its slope does not."""
    best = thrown(1.0, a - sp.Rational(1, 2), a=0.5).maximize("impulse.floor", over={"a": (-2, 2)}, starts=1)
    assert best.starts[0].start == {"a": 0.5}
    assert best.converged
    assert best.parameters == pytest.approx({"a": -2.0}, rel=1e-12)
    assert best.value == pytest.approx(2.5, rel=1e-12)


def test_level_objectives():
    """Nothing to gain anywhere: the start is as good as any place."""
    best = particle().minimize("T_r_minus", over={"v_x": (-5.0, 5.0)})
    assert best.converged
    assert best.value == 0.0


# Several starts


def test_several_starts_find_the_lowest_of_local_minima():
    """v_x = 2 + cos 3a + a²/10 + a/50 has four minima in [−4, 4]; that next to the default, 3, is not the lowest."""
    scenario = thrown(2 + sp.cos(3 * a) + a**2 / 10 + a / 50, -1.0, a=3.0)
    lowest = brentq(lambda p: -3 * np.sin(3 * p) + p / 5 + 1 / 50, -1.3, -0.8)
    best = scenario.minimize("T_minus", over={"a": (-4, 4)})
    assert best.parameters["a"] == pytest.approx(lowest, abs=1e-6)
    assert len(best.starts) == 8
    assert all(start.converged for start in best.starts)
    reached = {round(start.parameters["a"], 3) for start in best.starts}
    assert len(reached) >= 3
    assert best.value == min(start.value for start in best.starts)
    alone = scenario.minimize("T_minus", over={"a": (-4, 4)}, starts=1)
    assert len(alone.starts) == 1
    assert alone.starts[0].start == {"a": 3.0}
    assert alone.value > 2 * best.value
    highest = scenario.maximize("T_minus", over={"a": (-4, 4)}, starts=20)
    grid = scenario.sweep(a=np.linspace(-4, 4, 4001), keep="T_minus").T_minus.values
    assert highest.value == pytest.approx(grid.max(), rel=1e-5)
    assert highest.value >= grid.max() * (1 - 1e-12)


def test_the_same_every_time():
    scenario = thrown(2 + sp.cos(3 * a) + a**2 / 10, b, a=3.0, b=1.0)
    one, other = (scenario.minimize("T_minus", over={"a": (-4, 4), "b": (-1, 2)}) for _ in range(2))
    assert one.starts == other.starts
    assert one.parameters == other.parameters
    again = thrown(2 + sp.cos(3 * a) + a**2 / 10, b, a=3.0, b=1.0)
    assert again.minimize("T_minus", over={"a": (-4, 4), "b": (-1, 2)}).starts == one.starts


def test_starts_lie_within_the_bounds_and_the_first_is_the_default():
    best = gallery.walker().minimize("loss", over={"rho": (0.3, 0.4), "torso": (-0.1, 0.1)}, starts=12)
    assert len(best.starts) == 12
    assert best.starts[0].start == {"rho": 0.3, "torso": 0.0}  # the default, moved into the bounds
    for start in best.starts:
        assert 0.3 <= start.start["rho"] <= 0.4
        assert -0.1 <= start.start["torso"] <= 0.1
        assert 0.3 <= start.parameters["rho"] <= 0.4
    assert len({start.start["rho"] for start in best.starts}) == 12


def test_what_an_optimum_carries():
    best = rod().maximize("loss", over={"theta": (0.0, 3.0)}, kappa=0.2, v=1.5)
    t = rod().solve(theta=best.parameters["theta"], kappa=0.2, v=1.5)
    assert best.transition.loss == t.loss
    assert np.array_equal(best.transition.v_plus, t.v_plus)
    assert best.value == pytest.approx(t.loss, rel=1e-13)
    assert repr(best).startswith("<Optimum 1.08 at theta=1.5708; reached from ")
    assert repr(best).endswith("of 8 starts>")
    by_symbol = rod().maximize("loss", over={sp.Symbol("theta"): [0.0, 3.0]}, kappa=0.2, v=1.5)
    assert by_symbol.parameters == best.parameters


# Where the event has no outcome


def test_a_region_without_outcome_is_gone_round():
    """The mass a is negative in a part of the bounds; ½ a (1/a + a)² is least at a² = 1/3."""
    scenario = thrown(0, 1 / a + a, m=a, a=2.5)
    best = scenario.minimize("loss", over={"a": (-1, 3)})
    assert best.converged
    assert best.parameters["a"] == pytest.approx(3**-0.5, rel=1e-6)
    failed = [start for start in best.starts if np.isnan(start.value)]
    assert failed
    for start in failed:
        assert start.start["a"] <= 0
        assert not start.feasible
        assert not start.converged
        assert start.message == f"no outcome at the start: {jd.Status.NOT_POSITIVE_DEFINITE.message}"
    assert len(best.starts) == 8


def test_steps_into_a_region_without_outcome_are_shortened():
    """a + √(1 − a²) is largest at a = √½ and is not a number beyond 1."""
    best = thrown(0, a + sp.sqrt(1 - a**2), a=0.0).maximize("loss", over={"a": (-3, 3)})
    assert best.converged
    assert best.parameters["a"] == pytest.approx(0.5**0.5, rel=1e-5)
    assert best.value == pytest.approx(1.0, rel=1e-9)


def test_an_optimum_at_the_edge_of_what_exists_is_not_called_converged():
    """a + b grows towards a = 1, beyond which there is nothing: best seen, but no slope vanishes there."""
    scenario = thrown(a + b, sp.sqrt(1 - a) / 1000, a=0.5, b=0.5)
    best = scenario.maximize("T_minus", over={"a": (0, 3), "b": (0, 3)})
    assert not best.converged
    assert best.transition.ok
    assert np.isfinite(best.value)
    assert best.parameters["a"] <= 1
    assert best.value == max(start.value for start in best.starts if np.isfinite(start.value))


def test_energy_created_is_an_outcome():
    """Its numbers exist, so it does not stand in the way."""
    mechanism = gallery.walker().event.mechanism
    scenario = mechanism.event(elastic={"heel.normal": 0.0, "heel.tangent": "kappa"}).at(
        q={"stance": 0.35, "swing": -0.35}, v={"foot_x": "slide", "foot_y": -0.1}, defaults={"kappa": 0.5, "slide": 1.0}
    )
    best = scenario.maximize("energy_created", over={"kappa": (0, 1), "slide": (-2, 2)})
    grid = scenario.sweep(kappa=np.linspace(0, 1, 51), slide=np.linspace(-2, 2, 81), keep="energy_created")
    assert best.value == pytest.approx(grid.energy_created.values.max(), rel=1e-9)
    assert best.value > 0
    assert best.transition.status == jd.Status.ENERGY_CREATED


# The walker


def test_walker():
    """The least loss with a rear foot that lifts: no point of a fine sweep is better."""
    walker = gallery.walker()
    over = {"rho": (0, 0.5), "torso": (-0.3, 0.3)}
    best = walker.minimize("loss", over=over, subject_to={"u_plus.stance.normal": (0, None)})
    assert best.converged
    assert best.transition.u_plus["stance.normal"] >= 0
    ds = walker.sweep(
        rho=np.linspace(0, 0.5, 101), torso=np.linspace(-0.3, 0.3, 121), keep=["loss", "u_plus.stance.normal"]
    )
    allowed = ds.loss.where(ds["u_plus.stance.normal"] >= 0)
    assert best.value <= allowed.min().item() + 1e-12
    assert best.value == pytest.approx(allowed.min().item(), rel=1e-3)


def test_walker_whose_rear_foot_would_not_lift():
    """A wide step: the limit is active, and no point of a fine sweep that keeps it is better."""
    walker = gallery.walker()
    over = {"rho": (0, 0.3), "torso": (-0.3, 0.3)}
    limit = {"u_plus.stance.normal": (0, None), "required_friction.heel": (None, 0.45)}
    theta = np.radians(58)
    free = walker.maximize("loss", over=over, theta=theta)
    best = walker.maximize("loss", over=over, subject_to=limit, theta=theta)
    assert best.converged
    assert best.value < free.value
    axes: dict[str, Any] = {"rho": np.linspace(0, 0.3, 201), "torso": np.linspace(-0.3, 0.3, 201)}
    ds = walker.sweep(**axes, theta=theta, keep=["loss", *limit])
    kept = (ds["u_plus.stance.normal"] >= 0) & (ds["required_friction.heel"] <= 0.45)
    highest = ds.loss.where(kept).max().item()
    assert best.value >= highest * (1 - 1e-9)
    assert best.value == pytest.approx(highest, rel=2e-3)
    assert free.transition.u_plus["stance.normal"] < 0
    assert best.transition.u_plus["stance.normal"] >= -1e-7


def test_coordinates_that_close_a_loop():
    """Derivatives that follow the closing coordinates lead to the best of a sweep."""
    scenario = loop()
    best = scenario.minimize("loss", over={"theta": (0.3, 1.2)}, starts=4)
    ds = scenario.sweep(theta=np.linspace(0.3, 1.2, 2001), keep="loss")
    assert best.converged
    assert best.value <= ds.loss.min().item() + 1e-12
    assert best.value == pytest.approx(ds.loss.min().item(), rel=1e-5)


# What is refused


def test_refusals():
    minimize = gallery.walker().minimize
    rho = {"rho": (0, 0.5)}
    arguments: dict[str, Any]
    for error, text, arguments in (
        (jd.UnknownName, "There is no parameter 'rh'; did you mean 'rho'", {"over": {"rh": (0, 1)}}),
        (jd.UnknownName, "There is no parameter 'thta'; did you mean 'theta'", {"over": rho, "thta": 0.3}),
        (jd.UnknownName, "There is no quantity 'los'; did you mean 'loss'", {"of": "los", "over": rho}),
        (jd.UnknownName, "no entry of u_plus 'stanse'; did you mean 'stance'",
         {"over": rho, "subject_to": {"u_plus.stanse": (0, None)}}),
        (jd.BadEvent, "over={} names no parameter; say which may change and between which bounds", {"over": {}}),
        (jd.BadEvent, r"The bounds of 'rho' are \(0.5, 0\); the first must not exceed", {"over": {"rho": (0.5, 0)}}),
        (jd.BadEvent, r"The bounds of 'loss' are \(2, 1\); the first", {"over": rho, "subject_to": {"loss": (2, 1)}}),
        (jd.BadEvent, r"The bounds of 'rho' are \(nan, 1\)", {"over": {"rho": (np.nan, 1)}}),
        (jd.ShapeError, r"The bounds of 'rho' must be a pair \(least, largest\), not 0.3", {"over": {"rho": 0.3}}),
        (jd.ShapeError, r"The bounds of 'rho' must be a pair \(least, largest\), not '01'", {"over": {"rho": "01"}}),
        (jd.ShapeError, "bounds of 'rho' must be a pair", {"over": {"rho": ([0, 0.1], 0.3)}}),
        (jd.ShapeError, "bound of 'rho' must be a number or an array of numbers", {"over": {"rho": ("low", 0.3)}}),
        (jd.ShapeError, r"over must be a dict by name, not \['rho'\]", {"over": ["rho"]}),
        (jd.ShapeError, "subject_to must be a dict by name", {"over": rho, "subject_to": ["loss"]}),
        (jd.ShapeError, "An objective or a bound must be a single number, such", {"of": "v_plus", "over": rho}),
        (jd.ShapeError, "An objective or a bound must be a single number, such as 'loss' or 'impulse.heel.normal'",
         {"over": rho, "subject_to": {"impulse.heel": (0, None)}}),
        (jd.ShapeError, r"Parameter 'theta' has shape \(2,\); give a single", {"over": rho, "theta": [0.3, 0.4]}),
        (jd.NameClash, "'rho' is named in over and is given a value; leave one out", {"over": rho, "rho": 0.2}),
        (jd.BadEvent, "'dof.prior' is a whole number: it has no derivative", {"of": "dof.prior", "over": rho}),
        (jd.BadEvent, "starts is 0; it must be a whole number, 1 or more", {"over": rho, "starts": 0}),
        (jd.BadEvent, "starts is 2.5; it must be a whole number, 1 or more", {"over": rho, "starts": 2.5}),
    ):  # fmt: skip
        with pytest.raises(error, match=text):
            minimize(**({"of": "loss"} | arguments))


def test_no_start_leads_anywhere():
    walker = gallery.walker()
    text = "From none of 3 starts a solvable event that meets subject_to was reached: 3 × subject_to is not met"
    with pytest.raises(jd.NotConverged, match=text):
        walker.minimize("loss", over={"rho": (0, 0.3)}, subject_to={"u_plus.stance.normal": (10, None)}, starts=3)
    with pytest.raises(jd.NotConverged, match="3 × no outcome at the start: the mass matrix is not positive definite"):
        walker.minimize("loss", over={"rho": (0, 0.3)}, m_H=-90.0, starts=3)


def test_parameters_without_a_default():
    """Two bounds give a start in their middle; others must be given."""
    scenario = particle().event.at(v={"x": a, "z": b}, defaults={"kappa": 0.0})
    best = scenario.minimize("T_minus", over={"a": (1, 4), "b": (-1, 3)})
    assert best.starts[0].start == {"a": 2.5, "b": 1.0}
    assert best.parameters == pytest.approx({"a": 1.0, "b": 0.0}, abs=1e-6)
    with pytest.raises(
        jd.MissingValue, match="Parameter 'a' has no default; give it two bounds, so that there is a st"
    ):
        scenario.minimize("T_minus", over={"a": (1, None), "b": (-1, 3)})
    with pytest.raises(jd.MissingValue, match="Parameter 'b' has no default; give it as b="):
        scenario.minimize("T_minus", over={"a": (1, 4)})
    assert scenario.minimize("T_minus", over={"a": (1, 4)}, b=2.0).value == pytest.approx(2.5, rel=1e-12)
