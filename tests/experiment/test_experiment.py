"""Logs to mechanics: what is read from a log is what was there, from the testbed and from another engine."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.signal import savgol_filter

import jourdain as jd
from cases import puck
from jourdain.experiment import Log, Run, Sensors, Strike, Surface, Testbed, average, read
from jourdain.experiment.rig import rig
from jourdain.experiment.slopes import count_of, nearest_fit, noise_of, rates_along
from oracles import mujoco_arm as mujoco_bench

SEEDS = 100


@cache
def pantograph(coordinates: Any = "minimal") -> jd.Scenario:
    return jd.gallery.pantograph(coordinates)


@cache
def run_of(push: float = 0.5, **parameters: float) -> Run:
    return Testbed(pantograph(), push=push).run(**parameters)


def strike_of(run: Run, seed: int = 0, sensors: Sensors | None = None, **asked: Any) -> Strike:
    made = run.record(Sensors() if sensors is None else sensors, seed)
    return read(made.frame(), run.rig.event, parameters=run.rig.parameters).strike(**asked)


# What was there


@pytest.mark.parametrize("push", [pytest.param(0.0, marks=pytest.mark.exhaustive), 0.5])
@pytest.mark.parametrize(
    ("d", "gamma_deg"),
    [
        *((0.1, 30), (0.2, 60)),
        *(
            pytest.param(d, deg, marks=pytest.mark.exhaustive)
            for d, deg in ((0, 15), (0, 30), (0, 45), (0.2, 15), (0.2, 30), (0.2, 45))
        ),
    ],
)
def test_energies_impulses_and_onset_over_seeds(d: float, gamma_deg: float, push: float) -> None:
    """T_c⁻ and T_a⁻ within 2 %, impulses within 1 %, the onset within one sample."""
    run = run_of(push, d=d, gamma=np.radians(gamma_deg))
    for seed in range(SEEDS):
        made = run.record(seed=seed)
        strike = read(made.frame(), pantograph(), parameters={"d": d}).strike()
        assert strike.T_c_minus == pytest.approx(run.T_c_minus, rel=0.02), seed
        assert strike.T_a_minus == pytest.approx(run.T_a_minus, rel=0.02), seed
        assert strike.impulse["wall"] == pytest.approx(run.impulse["wall"], rel=0.01), seed
        assert strike.impulse["slide"] == pytest.approx(run.impulse["slide"], rel=0.01), seed
        assert strike.onset == pytest.approx(made.onset, abs=1e-3), seed
        assert strike.T_a_plus == pytest.approx(run.T_a_plus, abs=0.005 * run.T_minus), seed


@pytest.mark.parametrize(("d", "gamma_deg"), [(0, 0), (0.2, -7.58), (0.2, 0)])
def test_strikes_that_lose_everything(d: float, gamma_deg: float) -> None:
    """Where T_a⁻ is next to nothing, it is found to be: within 0.1 % of T⁻."""
    run = run_of(d=d, gamma=np.radians(gamma_deg))
    for seed in range(20):
        strike = strike_of(run, seed)
        assert strike.T_c_minus == pytest.approx(run.T_c_minus, rel=0.02)
        assert strike.T_a_minus == pytest.approx(run.T_a_minus, abs=1e-3 * run.T_minus)
        assert strike.impulse["wall"] == pytest.approx(run.impulse["wall"], rel=0.01)


@pytest.mark.parametrize(
    ("solref", "friction"),
    [
        ("0.02 0.3", 0.05),
        pytest.param("-20000 -10", 0.3, marks=pytest.mark.exhaustive),
        pytest.param("0.02 1", 0.3, marks=pytest.mark.exhaustive),
        pytest.param("-5000 -20", 0.05, marks=pytest.mark.exhaustive),
        pytest.param("0.02 1", 0.05, marks=pytest.mark.exhaustive),
        pytest.param("0.02 0.3", 0.3, marks=pytest.mark.exhaustive),
        pytest.param("-5000 -20", 0.3, marks=pytest.mark.exhaustive),
        pytest.param("-20000 -10", 0.05, marks=pytest.mark.exhaustive),
    ],
)
def test_another_engine_with_other_noise(solref: str, friction: float) -> None:
    """MuJoCo's soft contact, whose force is there at once, sampled anywhere between two steps; Gaussian noise. 3 %."""
    event, _ = mujoco_bench.two_links()
    truth = mujoco_bench.strike(solref, friction, np.array([0.6, 0.9]), np.array([0.5, 0.7]), np.array([0.05, 0.02]))
    model = rig(event, parameters={"beta": 0.0})
    before = model.states(truth.q_minus, truth.v_minus)
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        t, q, normal, tangential = truth.sampled(int(rng.integers(mujoco_bench.EVERY)))
        a, b = (q + 5e-6 * rng.standard_normal(q.shape)).T
        log = {
            "t": t,
            "a": a,
            "b": b,
            "wall.normal": normal + 2e-3 * rng.standard_normal(len(t)),
            "wall.tangent": tangential + 2e-3 * rng.standard_normal(len(t)),
        }
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The compression from .* lasts", jd.LogWarning)  # 5 ms
            strike = read(log, event, parameters={"beta": 0.0}).strike()
        assert strike.T_c_minus == pytest.approx(before["T_c"], rel=0.03), seed
        assert strike.T_a_minus == pytest.approx(before["T_a"], rel=0.03), seed
        assert strike.impulse["wall.normal"] == pytest.approx(truth.impulse[0], rel=0.03), seed
        assert strike.impulse["wall.tangent"] == pytest.approx(truth.impulse[1], rel=0.03), seed
        assert strike.onset == pytest.approx(truth.onset, abs=1e-3), seed


def test_uncertainties_are_what_seeds_show() -> None:
    """Errors over their stated deviations have a deviation of about 1."""
    run = run_of(d=0.2, gamma=np.radians(30))
    strikes = [strike_of(run, seed) for seed in range(SEEDS)]
    truth = {"T_c_minus": run.T_c_minus, "T_a_minus": run.T_a_minus, "xi": run.xi}
    for name, there in truth.items():
        pulls = [(getattr(one, name) - there) / one.uncertainty[name] for one in strikes]
        assert 0.4 < np.std(pulls) < 1.6, name
    for row, there in run.impulse.items():
        pulls = [(one.impulse[row] - there) / one.uncertainty[f"impulse.{row}"] for one in strikes]
        assert 0.4 < np.std(pulls) < 1.8, row


def test_a_filter_across_the_strike_loses_the_jump() -> None:
    """What the one-sided polynomials are for: Savitzky and Golay's filter, as wide, is off by a fifth of T_c⁻."""
    run = run_of(0.0, gamma=0.0)
    made = run.record(seed=0)
    strike = read(made.frame(), pantograph()).strike()
    n = int(np.searchsorted(made.t, made.onset))
    smeared = savgol_filter(made.q, strike.windows[0], 2, deriv=1, delta=1e-3, axis=0)[n - 1]
    across = run.rig.states(made.q[n - 1], smeared)["T_c"]
    assert abs(across / run.T_c_minus - 1) > 0.2
    assert strike.T_c_minus == pytest.approx(run.T_c_minus, rel=0.01)


def test_curves_follow_the_energies() -> None:
    run = run_of(d=0.2, gamma=np.radians(30))
    made = run.record(seed=0)
    strike = read(made.frame(), pantograph(), parameters={"d": 0.2}).strike()
    curves = strike.curves
    np.testing.assert_allclose(curves["T"], curves["T_c"] + curves["T_a"], rtol=1e-9)
    truth = run.at(made.t - made.onset)
    there = run.rig.states(truth["q"], truth["v"])
    for name in ("T_c", "T_a"):
        np.testing.assert_allclose(curves[name], there[name], atol=0.02 * run.T_minus)
    assert curves["T_c"].attrs["units"] == "J"
    assert set(curves) == {"T", "T_c", "T_a", "u", "force.wall", "force.slide"}


# Other mechanisms and events


def test_coordinates_of_a_loop_that_are_not_logged_follow() -> None:
    run = Testbed(pantograph("loop"), push=0.5).run(d=0.15, gamma=0.5)
    frame = run.record(seed=2).frame()[["t [s]", "q.q1 [rad]", "q.q3 [rad]", "force.wall [N]", "force.slide [N]"]]
    strike = read(frame, pantograph("loop"), parameters={"d": 0.15}).strike()
    assert strike.T_c_minus == pytest.approx(run.T_c_minus, rel=0.02)
    assert strike.T_a_minus == pytest.approx(run.T_a_minus, rel=0.02)
    assert strike.impulse["wall"] == pytest.approx(run.impulse["wall"], rel=0.01)
    compared = strike.compare()
    assert compared.predicted["impulse.wall"] == pytest.approx(
        run.rig.states(run.at(0.0)["q"], run.v_minus)["stop"], 0.02
    )


def puck_log(event: jd.Event, surface: Surface, seed: int = 1, **parameters: float) -> tuple[Run, Strike]:
    run = Testbed(event, surface).run(v={"z": -0.3, "x": 0.4}, **parameters)
    return run, read(run.record(seed=seed).frame(), event, parameters=parameters).strike()


def test_an_inert_event_is_compared_at_the_end_of_compression() -> None:
    run, strike = puck_log(
        puck().event(inert=["floor.normal"], nonideal={"floor.tangent": "beta"}), Surface(), beta=0.0
    )
    compared = strike.compare()
    assert compared.until == "compression"
    assert compared.predicted["impulse.floor.normal"] == pytest.approx(0.7 * 0.3, rel=0.01)
    # The tangential impulse that was felt is given to the model, which then knows what it does to x.
    assert "impulse.floor.tangent" not in compared.predicted
    assert compared.predicted["v_plus.x"] == pytest.approx(0.4 + run.impulse["floor.tangent"] / 0.7, rel=0.01)
    assert compared.deviation("impulse.floor.normal") == pytest.approx(0, abs=0.01)
    assert compared.measured["v_plus.x"] == pytest.approx(compared.predicted["v_plus.x"], rel=0.01)


def test_an_elastic_event_is_compared_after_the_contact() -> None:
    run, strike = puck_log(puck().event(elastic={"floor.normal": "e"}), Surface(damping=0.0, friction=0.0), e=1.0)
    compared = strike.compare()
    assert compared.until == "contact"
    assert compared.measured["v_plus.z"] == pytest.approx(0.3, rel=0.02)
    assert compared.predicted["v_plus.z"] == pytest.approx(0.3, rel=0.02)
    assert compared.measured["impulse.floor.normal"] == pytest.approx(2 * 0.7 * 0.3, rel=0.02)
    assert strike.restitution == pytest.approx(1.0, abs=0.03)
    assert run.release is not None


ELASTIC_CASES: dict[str, tuple[Surface, dict[str, float], dict[str, Any]]] = {
    "Hertz": (Surface(damping=0.5, friction=0.2), {"z": -0.3, "x": 0.4}, {}),
    "linear, short": (Surface(1e5, 1.0, damping=0.5, friction=0.1), {"z": -0.3, "x": 0.4}, {}),
    "pushed": (Surface(damping=1.0, friction=0.1), {"z": -0.3, "x": 0.4}, {"push": 2.0}),
}


@cache
def bouncing(case: str) -> tuple[Run, tuple[Strike, ...]]:
    """Strikes of an elastic contact with friction, over seeds."""
    surface, v, more = ELASTIC_CASES[case]
    event = puck().event(contacts={"floor": jd.laws.Coulomb("mu", "e")})
    run = Testbed(event, surface, **more).run(v=v, mu=surface.friction, e=0.8)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The compression from .* lasts", jd.LogWarning)
        strikes = tuple(strike_of(run, seed, Sensors(force_noise=0.02)) for seed in range(SEEDS // 2))
    return run, strikes


def after_contact(run: Run) -> dict[str, float]:
    """The truth just after the contact, by address."""
    assert run.release is not None
    at, normal = run.at(run.release), run.rig.normal
    state, before = run.rig.states(at["q"], at["v"]), run.rig.states(run.at(0.0)["q"], run.v_minus)
    names = run.rig.mechanism.symbols.v_names
    return {
        **{f"{part}_plus": float(state[part]) for part in ("T", "T_c", "T_a")},
        "loss": float(before["T"] - state["T"]),
        **{f"v_plus.{name}": float(x) for name, x in zip(names, at["v"], strict=True)},
        **{f"impulse.{row}": value for row, value in run.impulse_contact.items()},
        "restitution_newton": -float(state["u"] / before["u"]),
        "restitution_poisson": run.impulse_contact[normal] / run.impulse[normal] - 1,
        "friction_ratio": abs(run.impulse_contact["floor.tangent"]) / run.impulse_contact[normal],
    }


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.exhaustive if case == "pushed" else ()) for case in ELASTIC_CASES]
)
def test_uncertainties_after_an_elastic_contact_are_what_seeds_show(case: str) -> None:
    """Errors just after the contact over their own deviations have a deviation of about 1."""
    run, strikes = bouncing(case)
    compared = [strike.compare() for strike in strikes]
    for name, there in after_contact(run).items():
        pulls = np.array([(one.measured[name] - there) / one.uncertainty[name] for one in compared])
        assert 0.2 < np.sqrt(np.mean(pulls**2)) < 1.6, name
        assert np.max(np.abs(pulls)) < 5, name
    for name in ("restitution_newton", "restitution_poisson", "friction_ratio"):
        assert getattr(strikes[0], name) == compared[0].measured[name]
        assert strikes[0].uncertainty[name] == compared[0].uncertainty[name]


@pytest.mark.parametrize("case", ELASTIC_CASES)
def test_the_impulse_of_the_whole_contact_is_as_good_as_a_sum(case: str) -> None:
    run, strikes = bouncing(case)
    for row, there in run.impulse_contact.items():
        sums = []
        for one in strikes:
            t, force = one.log.t, one.log.forces[row]
            beside = (t > one.onset - 3e-3) & (t < one.release + 3e-3)
            sums.append(np.sum(force[beside] - np.mean(force[t < one.onset - 3e-3])) * one.log.step)
        ours = np.array([one.impulse_contact[row] for one in strikes])
        rms, plain = (np.sqrt(np.mean((np.array(found) - there) ** 2)) for found in (ours, sums))
        assert rms <= 1.02 * plain, row


@pytest.mark.parametrize("damping", [0.2, 0.5])
def test_a_contact_that_jumps_beats_the_sum(damping: float) -> None:
    """A spring and a damper, F = −m (ω² z + 2ζω ż), in closed form: the force is there at once."""
    m, u, omega = 0.7, 0.3, 100.0
    omega_d = omega * np.sqrt(1 - damping**2)
    decay = damping / np.sqrt(1 - damping**2)
    release = np.arctan2(2 * decay, decay**2 - 1) / omega_d  # where F is 0 again

    def z(s: Any) -> Any:
        return -u / omega_d * np.exp(-damping * omega * s) * np.sin(omega_d * s)

    def rate(s: Any) -> Any:
        return -u * np.exp(-damping * omega * s) * (np.cos(omega_d * s) - decay * np.sin(omega_d * s))

    event = puck().event(elastic={"floor.normal": "e"})
    errors, sums, pulls = [], [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        t: Any = np.arange(260) * 1e-3
        s = t - 0.15 - 1e-3 * rng.uniform()
        force = np.where((s > 0) & (s < release), -m * (omega**2 * z(s) + 2 * damping * omega * rate(s)), 0.0)
        way = np.where(s < 0, -u * s, np.where(s < release, z(s), z(release) + rate(release) * (s - release)))
        noisy = force + 1e-3 * rng.standard_normal(len(t))
        log = {"t": t, "x": 0.4 * t, "z": np.round(way / 2e-6) * 2e-6, "floor.normal": noisy}
        strike = read(log, event, parameters={"e": 0.5}).strike()
        there = m * (rate(release) + u)
        errors.append(strike.impulse_contact["floor.normal"] - there)
        sums.append(np.sum(noisy[100:]) * 1e-3 - there)
        pulls.append((strike.restitution_newton - rate(release) / u) / strike.uncertainty["restitution_newton"])
    assert np.std(errors) < 0.3 * np.std(sums)
    assert np.max(np.abs(pulls)) < 3


def test_repeats_of_an_elastic_event_are_compared_after_the_contact() -> None:
    """Averages are the means of what single strikes compare, and the law's own numbers come back."""
    run, strikes = bouncing("Hertz")
    truth = after_contact(run)
    event, parameters = run.rig.event, {"mu": 0.2, "e": truth["restitution_newton"]}
    several = [read(run.record(seed=seed).frame(), event, parameters=parameters).strike() for seed in range(5)]
    found = average(several)
    single = [strike.compare() for strike in several]
    assert found.until == single[0].until == "contact"
    for name, there in truth.items():
        assert found.mean[name] == pytest.approx(np.mean([one.measured[name] for one in single])), name
        assert found.predicted[name] == pytest.approx(there, rel=0.02), name
        assert found.mean[name] == pytest.approx(there, rel=0.01), name
    for word in ("5 strikes, after the contact", "e Newton", "e Poisson", "|λ̄_t|/λ̄_n"):
        assert word in str(found)
    assert average(strikes).mean["impulse.floor.normal"] == pytest.approx(run.impulse_contact["floor.normal"], rel=1e-3)


def test_an_elastic_event_whose_release_is_not_logged_is_compared_at_the_end_of_compression() -> None:
    """Both end there, and so do repeats some of which go on."""
    run, _ = bouncing("Hertz")
    event, given = run.rig.event, {"mu": 0.2, "e": 0.8}
    whole = run.record(seed=3)
    cut = whole.frame()[: int((whole.end + 5e-3) * 1000)]
    strike, other = (read(log, event, parameters=given).strike() for log in (cut, whole.frame()))
    assert (strike.until, other.until) == ("compression", "contact")
    assert strike.restitution_newton is None
    assert strike.restitution_poisson is None
    for name, value in strike.compare().predicted.items():
        assert strike.compare().measured[name] == pytest.approx(value, rel=0.02, abs=2e-3), name
    both = average([strike, other])
    assert both.until == "compression"
    assert both.mean["impulse.floor.normal"] == pytest.approx(run.impulse["floor.normal"], rel=0.01)
    assert both.predicted["impulse.floor.normal"] == pytest.approx(0.7 * 0.3, rel=0.01)


def test_a_restitution_that_depends_on_the_approach_decides_what_is_compared() -> None:
    law = jd.laws.Frictionless(sp.Piecewise((0.9, jd.laws.approach > 0.2), (0.0, True)))
    event = puck().event(contacts={"floor": law})
    for speed, until in ((0.3, "contact"), (0.1, "compression")):
        run = Testbed(event, Surface(damping=0.0, friction=0.0)).run(v={"z": -speed})
        assert strike_of(run).until == until


def test_friction_inside_the_event_is_compared_too() -> None:
    law = jd.laws.Coulomb("mu", 0.0)
    _, strike = puck_log(puck().event(contacts={"floor": law}), Surface(friction=0.2), mu=0.2)
    compared = strike.compare()
    assert compared.until == "compression"
    assert compared.predicted["impulse.floor.tangent"] == pytest.approx(-0.2 * 0.7 * 0.3, rel=0.02)
    for name, there in compared.predicted.items():
        assert compared.measured[name] == pytest.approx(there, abs=0.02), name


def test_a_robot_with_a_quaternion(tmp_path) -> None:
    """Velocities are not the rates of q here; they follow from them."""
    path = tmp_path / "box.xml"
    path.write_text(
        "<mujoco><worldbody><body name='box'><freejoint name='free'/>"
        "<geom type='box' size='0.1 0.06 0.04' mass='2'/></body></worldbody></mujoco>"
    )
    box = jd.load(str(path))
    event = box.event(contacts={box.contact("box", at=(0.1, 0.06, -0.04)): jd.laws.MoreauCoulomb(0.3, 0.0)})
    names = box.symbols.v_names
    v = dict(zip(names, (0.3, 0.1, -0.5, 0.7, -0.4, 0.2), strict=True))
    run = Testbed(event, Surface(2e4, friction=0.3)).run(v=v)
    made = run.record(Sensors(resolution=2e-6), seed=3)
    strike = read(made.frame(), event).strike()
    np.testing.assert_allclose(strike.v_minus, run.v_minus, atol=0.01)
    assert strike.T_c_minus == pytest.approx(run.T_c_minus, rel=0.02)
    for row, there in run.impulse.items():
        assert strike.impulse[row] == pytest.approx(there, rel=0.02, abs=2e-3), row


def test_velocities_that_no_coordinate_tells_must_be_logged() -> None:
    balls = jd.gallery.two_balls()
    run = Testbed(balls, Surface(2e3)).run()
    frame = run.record(seed=1).frame()
    with pytest.raises(jd.BadLog, match=r"The coordinates do not tell .*: log all velocities"):
        read(frame, balls)
    strike = read(run.record(Sensors(rates=True), seed=1).frame(), balls).strike()
    assert strike.T_c_minus == pytest.approx(run.T_c_minus, rel=0.02)


def test_rates_that_are_logged_are_used() -> None:
    run = run_of(d=0.2, gamma=0.4)
    strike = strike_of(run, 1, Sensors(rates=True, rate_noise=1e-3, resolution=1e-3))  # encoders alone would not do
    assert strike.log.v is not None
    assert strike.T_c_minus == pytest.approx(run.T_c_minus, rel=0.01)
    assert strike.impulse["wall"] == pytest.approx(run.impulse["wall"], rel=0.01)
    assert strike.curves["T"].sizes["t"] == len(strike.log.t)


# What may be given, and several at once


def test_onset_end_and_window_may_be_given() -> None:
    run = run_of(gamma=0.4)
    made = run.record(seed=4)
    log = read(made.frame(), pantograph())
    strike = log.strike(onset=made.onset, end=made.end, window=0.06)
    assert (strike.onset, strike.end) == (made.onset, made.end)
    assert strike.uncertainty["end"] == 0
    assert strike.impulse["wall"] == pytest.approx(run.impulse["wall"], rel=0.003)
    assert strike.T_c_minus == pytest.approx(run.T_c_minus, rel=0.02)


def test_repeats_are_averaged_with_their_spread() -> None:
    run = run_of(d=0.2, gamma=0.4)
    strikes = [strike_of(run, seed) for seed in range(8)]
    found = average(strikes)
    values = [one.T_c_minus for one in strikes]
    assert found.n == 8
    assert found.mean["T_c_minus"] == pytest.approx(np.mean(values))
    assert found.spread["T_c_minus"] == pytest.approx(np.std(values, ddof=1))
    assert found.error["T_c_minus"] == pytest.approx(np.std(values, ddof=1) / np.sqrt(8))
    assert found.mean["T_c_minus"] == pytest.approx(run.T_c_minus, rel=0.01)
    assert found.predicted["impulse.wall"] == pytest.approx(strikes[0].compare().predicted["impulse.wall"], rel=0.01)
    assert np.isnan(average(strikes[:1]).spread["T_c_minus"])
    assert "8 strikes" in str(found)
    with pytest.raises(jd.BadLog, match="There are no strikes to average"):
        average([])
    _, other = puck_log(puck().event(inert=["floor.normal"]), Surface(friction=0.0))
    with pytest.raises(jd.BadLog, match="those of different events"):
        average([strikes[0], other])


def test_all_strikes_of_a_log() -> None:
    """A particle that bounces: each strike has the energy that the last one left."""
    event = puck().event(inert=["floor.normal"])
    bed = Testbed(event, Surface(damping=0.5, friction=0.0), push=6.0)
    run = bed.run(v={"z": -0.3}, after=0.25)
    log = read(run.record(seed=1).frame(), event)
    with pytest.warns(jd.LogWarning, match=r"There are \d contacts in the log, from t = 0\.\d+, 0\.\d+"):
        first = log.strike()
    with pytest.warns(jd.LogWarning, match=r"The contact from t = 0\.28\d+ s on is left out: Compression does not end"):
        found = log.strikes()
    assert len(found) == 3
    assert found[0].T_c_minus == first.T_c_minus == pytest.approx(0.7 * 0.3**2 / 2, rel=0.01)
    assert log.strike(number=2).T_c_minus == found[1].T_c_minus < first.T_c_minus
    assert found[1].T_c_minus == pytest.approx(0.7 * found[0].v_release[1] ** 2 / 2, rel=0.06)


def test_texts_and_pictures(tmp_path) -> None:
    strike = strike_of(run_of(d=0.2, gamma=0.4))
    text = str(strike)
    for word in ("onset 0.149", "end of compression", "constrained, T_c", "ξ = T_c⁻/T⁻", "wall (N s)", "±"):
        assert word in text
    assert "λ̄ wall (N s)" in str(strike.compare())
    assert "<pre>" in strike._repr_html_()
    ax = jd.plots.strike_plot(strike, "one")
    assert ax.get_ylabel() == "energy in mJ"
    energies = {line.get_label() for line in ax.get_lines()}
    assert {"$T_c$", "$T_a$"} <= energies
    spots = [line for line in ax.get_lines() if line.get_marker() == "o"]
    assert sorted({float(np.asarray(spot.get_xdata())[0]) for spot in spots}) == pytest.approx(
        [0, 1e3 * (strike.end - strike.onset)]
    )
    several = jd.plots.strike_plot(average([strike, strike_of(run_of(d=0.2, gamma=0.4), 1)]))
    jd.plots.save(several, tmp_path / "several.png")
    jd.plots.save(jd.plots.forces_over_time(strike), tmp_path / "forces.svg")


# Polynomials


def test_fits_are_exact_for_polynomials_of_their_degree() -> None:
    t = np.linspace(0, 0.1, 101)
    y = np.stack([1 + 2 * t - 30 * t**2 + 400 * t**3, t**3], axis=-1)
    exact = np.stack([2 - 60 * t + 1200 * t**2, 3 * t**2], axis=-1)
    found = nearest_fit(t, y, 0.1, np.zeros(2), 3)
    np.testing.assert_allclose(found.rate(0.1), exact[-1], rtol=1e-9)
    np.testing.assert_allclose(rates_along(t, y, [40], [11, 21]), exact, atol=1e-9)


def test_segments_do_not_see_each_other() -> None:
    t: Any = np.arange(60) * 1e-3
    y = np.where(t < 0.03, 2 * t, 0.06 - 3 * (t - 0.03))[:, None]
    rates = rates_along(t, y, [30], [15, 15])[:, 0]
    np.testing.assert_allclose(rates, np.where(t < 0.03, 2.0, -3.0), atol=1e-9)


def test_uneven_times_are_followed() -> None:
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 0.2, 300))
    y = np.sin(12 * t)[:, None]
    np.testing.assert_allclose(rates_along(t, y, [], [21])[20:-20, 0], 12 * np.cos(12 * t)[20:-20], atol=0.05)


def test_noise_is_told_from_motion() -> None:
    rng = np.random.default_rng(1)
    t: Any = np.arange(600) * 1e-3
    motion = np.stack([np.sin(8 * t), 1.3 * t], axis=-1)
    white = motion + [1e-5, 3e-5] * rng.standard_normal(motion.shape)
    np.testing.assert_allclose(noise_of(t, white), [1e-5, 3e-5], rtol=0.15)
    step = 2 * np.pi / 2**12
    counted = np.round(motion / step) * step
    np.testing.assert_allclose(noise_of(t, counted), step / np.sqrt(12), rtol=0.25)
    assert count_of(counted[:, 1]) == pytest.approx(step)
    assert count_of(white[:, 0]) == 0
    # Stamps that are off count as noise of what moves.
    late = t + 2e-5 * rng.standard_normal(len(t))
    assert noise_of(late, motion)[1] == pytest.approx(1.3 * 2e-5, rel=0.15)


def test_a_window_follows_noise_and_motion() -> None:
    """Quiet samples take a narrow window, noisy ones a wide one."""
    t: Any = np.arange(300) * 1e-3 - 0.3
    y = np.sin(20 * t)[:, None]
    widths = [nearest_fit(t, y, 0.0, np.array([noise]), 3).n for noise in (1e-7, 1e-5, 1e-3)]
    assert widths == sorted(widths)
    assert 2 * widths[0] < widths[2]


def test_log_is_part_of_the_surface() -> None:
    assert jd.experiment.Log is Log
    assert issubclass(jd.NoContact, jd.BadLog)
