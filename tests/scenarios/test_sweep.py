"""Sweeps: labelled results that are those of single events, whatever the number of lanes and whatever fails in some."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sympy as sp
import xarray
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, dynamicsymbols

import cases
import jourdain as jd
from cases import EVENTS
from jourdain import gallery
from jourdain.algebra.record import KEPT
from jourdain.compute import memory
from jourdain.compute.kernel.batch import CHUNK
from jourdain.data.addresses import find
from jourdain.events.array_solver import LARGEST_UNROLLED, UNROLLED_FROM
from jourdain.quantities import QUANTITIES, SCALARS
from jourdain.scenarios.sweep import outcome_dataset

MANY = 2100  # lanes: by a compiled kernel


@cache
def walker() -> jd.Scenario:
    return gallery.walker()


@cache
def rig() -> jd.Scenario:
    """A cart on a guide with three arms, in which everything can go wrong, by the choice of parameters.

    The wall stops the cart. The track's row is the wall's at a = 0 and at a = π; there it must have no bias w. `psi` is
    found such that its arm touches the ceiling at d; the guide must hold before (slip = 0).
    """
    x, y, phi, psi, chi = q = dynamicsymbols("x y phi psi chi")
    m, l, a, w, d = sp.symbols("m l a w d")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    cart = O.locatenew("cart", x * N.x + y * N.y)
    ends = [cart.locatenew(f"end_{s}", l * (sp.cos(s) * N.x + sp.sin(s) * N.y)) for s in (phi, psi, chi)]
    bodies = [Particle("body", cart, m), *(Particle(f"bob_{i}", end, 0.5 + 0.1 * i) for i, end in enumerate(ends))]
    mechanism = jd.Mechanism.from_sympy(
        bodies, N, q, parameters={m: 3.0, l: 0.6, a: 0.7, w: 0.0, d: 0.3}, points={"tip": ends[1]},
        outputs={"speed": x.diff() - y.diff()}, units={x: "m", y: "m", phi: "rad", m: "kg", "speed": "m/s"},
    )  # fmt: skip
    mechanism.constraint("guide", y.diff())
    mechanism.constraint("wall", x.diff(), units="m/s")
    mechanism.constraint("track", sp.cos(a) * x.diff() + sp.sin(a) * phi.diff() - w)
    mechanism.constraint("ceiling", ends[1].pos_from(O).dot(N.y) - d, level="position")
    mechanism.constraint("stop", chi.diff() - phi.diff())
    event = mechanism.event(regular=["guide"], inert=["wall", "track", "ceiling"], elastic={"stop": "kappa"})
    return event.at(
        q={phi: 0.4, chi: "chi"}, v={x: 1.0, y: "slip", phi: "omega", psi: 0.0, chi: -0.4}, guess={psi: 0.2},
        defaults={"chi": 1.1, "slip": 0.0, "omega": 0.8, "kappa": 0.6}, units={"omega": "rad/s"},
    )  # fmt: skip


FAILURES: dict[str, tuple[dict[str, Any], jd.Status]] = {
    "NaN": ({"chi": np.nan}, jd.Status.NOT_FINITE),
    "infinity": ({"l": np.inf}, jd.Status.NOT_FINITE),
    "negative mass": ({"m": -5.0}, jd.Status.NOT_POSITIVE_DEFINITE),
    "no mass": ({"m": -1.8}, jd.Status.NOT_POSITIVE_DEFINITE),  # as much as the arms have
    "prior": ({"slip": 0.1}, jd.Status.PRIOR_VIOLATED),
    "κ": ({"kappa": 1.2}, jd.Status.BAD_RESTITUTION),
    "κ < 0": ({"kappa": -0.1}, jd.Status.BAD_RESTITUTION),
    "contradiction": ({"a": 0.0, "w": 0.3}, jd.Status.CONTRADICTION),
    "guess": ({"d": 9.0}, jd.Status.NOT_CONVERGED),
}


def assert_same_outcome(ds: xarray.Dataset, at: Mapping[str, Any], t: jd.Transition, rtol: float = 1e-12) -> None:
    """One point of a dataset is the outcome of one event, every quantity, at the size of its numbers."""
    other = t.to_dataset()
    point = ds.isel(at)
    assert set(point.data_vars) == set(other.data_vars)
    for name in other.data_vars:
        found, expected = point[name].values, other[name].values
        size = np.abs(expected[np.isfinite(expected)])
        atol = rtol * max(np.max(size, initial=0.0), 1.0)
        np.testing.assert_allclose(found, expected, rtol=0, atol=atol, err_msg=f"{name} at {dict(at)}")


# What it looks like


def test_grid():
    """Dimensions in the order of the keywords, then what a quantity has along it; all parameters are coordinates."""
    theta, rho = [0.3, 0.5, 0.7], [0.0, 0.25]
    ds = walker().sweep(theta=theta, rho=rho, mu=2.0)
    assert ds.loss.dims == ("theta", "rho")
    assert ds.loss.shape == (3, 2)
    assert ds.v_plus.dims == ("theta", "rho", "velocity")
    assert ds.impulse.dims == ds.u_minus.dims == ds.ledger.dims == ("theta", "rho", "row")
    assert ds.required_friction.dims == ("theta", "rho", "contact")
    assert list(ds.velocity.values) == ["foot_x", "foot_y", "stance", "swing", "torso"]
    assert list(ds.row.values) == ["heel.normal", "heel.tangent", "stance.normal", "stance.tangent"]
    assert list(ds.contact.values) == ["heel", "stance"]
    assert list(ds.phase.values) == ["prior", "virtual", "posterior"]
    assert ds.status.dtype == np.int8
    assert set(SCALARS) <= set(ds.data_vars)
    assert ds.theta.values.tolist() == theta
    assert ds.rho.values.tolist() == rho
    for name, value in walker().parameters.items():
        if name not in ("theta", "rho"):
            assert ds[name].dims == ()
            assert ds[name].item() == (2.0 if name == "mu" else value)
    t = walker().solve(theta=0.5, rho=0.25, mu=2.0)
    assert ds.loss.sel(theta=0.5, rho=0.25).item() == pytest.approx(t.loss, rel=1e-13)
    assert ds.impulse.sel(theta=0.5, rho=0.25, row="heel.normal").item() == pytest.approx(t.impulse["heel.normal"])


@pytest.mark.parametrize("problem", EVENTS)
@pytest.mark.parametrize("some", [False, True])
def test_an_outcome_is_labelled_as_a_sweep_without_axes(problem: str, some: bool):
    """Variables, dimensions, coordinates, attributes, numbers; all of them, or some by their addresses."""
    scenario = getattr(gallery, problem)()
    keep = ["loss", "v_plus"] if some else None
    for constraint in scenario.event.layout.constraints[:1] if keep else ():
        name, rows = constraint.name, constraint.rows
        keep += [f"impulse.{name}", f"ledger.{name}", f"u_plus.{rows[-1]}"]
    expected = scenario.sweep(keep=keep)
    ds = outcome_dataset(scenario, scenario.solve(), {}, keep)
    assert list(ds.variables) == list(expected.variables)
    assert ds.attrs == expected.attrs
    for name, variable in expected.variables.items():
        assert ds[name].dims == variable.dims
        assert {key: str(value) for key, value in ds[name].attrs.items()} == {
            key: str(value) for key, value in variable.attrs.items()
        }
    xarray.testing.assert_allclose(ds, expected, rtol=1e-9, atol=1e-10)


def test_units_and_names():
    """Symbol, units and long name come from the table of quantities; units of rows and velocities lie along them."""
    ds = walker().sweep(theta=[0.3, 0.5])
    assert ds.loss.attrs == {"symbol": "T⁻ − T⁺", "units": "J", "long_name": "energy lost"}
    assert "units" not in ds.xi.attrs  # a number
    for name, variable in ds.data_vars.items():
        assert variable.attrs["long_name"] == QUANTITIES[str(name)].long_name
    assert ds.theta.attrs == {"units": "rad", "long_name": "parameter theta"}
    assert ds.m_W.attrs == {"units": "kg", "long_name": "parameter m_W"}
    assert ds.velocity_unit.values.tolist() == ["m/s", "m/s", "rad/s", "rad/s", "rad/s"]
    assert ds.row_unit.values.tolist() == ["m/s"] * 4
    assert ds.u_plus.attrs["units"] == "m/s"  # of all rows
    assert ds.impulse.attrs["units"] == "N s"
    assert "units" not in ds.v_plus.attrs  # not the same for all velocities


def test_status_says_what_its_numbers_mean():
    """CF conventions: flag_values and flag_meanings, one each per member of Status."""
    flags = walker().sweep(theta=[0.3]).status.attrs
    assert flags["flag_values"].dtype == np.int8
    assert flags["flag_values"].tolist() == list(jd.Status)
    assert flags["flag_meanings"].split() == [one.name.lower() for one in jd.Status]


def test_samples():
    """A dict of arrays or a DataFrame: one dimension, and the parameters along it."""
    columns = {"theta": np.array([0.3, 0.5, 0.4]), "rho": np.array([0.0, 0.1, 0.3])}
    by_dict = walker().sweep(samples=columns)
    assert by_dict.loss.dims == ("sample",)
    assert by_dict.theta.dims == by_dict.rho.dims == ("sample",)
    assert by_dict.theta.attrs["units"] == "rad"
    xarray.testing.assert_identical(walker().sweep(samples=pd.DataFrame(columns)), by_dict)
    xarray.testing.assert_identical(walker().sweep(samples={sp.Symbol(k): v for k, v in columns.items()}), by_dict)
    for i in range(3):
        assert_same_outcome(by_dict, {"sample": i}, walker().solve(theta=columns["theta"][i], rho=columns["rho"][i]))


def test_samples_and_axes_together():
    """Samples first, then the grid; single numbers fix their parameter."""
    ds = walker().sweep(samples={"theta": [0.3, 0.5], "rho": [0.0, 0.1]}, mu=[1.0, 2.0, 4.0], torso=0.1, m_W=40)
    assert ds.loss.dims == ("sample", "mu")
    assert ds.torso.item() == 0.1
    assert_same_outcome(ds, {"sample": 1, "mu": 2}, walker().solve(theta=0.5, rho=0.1, mu=4.0, torso=0.1, m_W=40.0))


def test_axes_of_any_kind():
    """Lists, ranges, integers, Series, DataArrays."""
    plain = walker().sweep(mu=[1.0, 2.0, 3.0], keep=["loss"])
    for axis in ((1, 2, 3), range(1, 4), np.arange(1, 4), pd.Series([1, 2, 3]), xarray.DataArray([1.0, 2, 3])):
        xarray.testing.assert_identical(walker().sweep(mu=axis, keep=["loss"]), plain)


def test_no_axis_at_all():
    ds = walker().sweep()
    assert ds.loss.dims == ()
    assert_same_outcome(ds, {}, walker().solve())
    assert walker().sweep(m_H=-90.0).status.item() == jd.Status.NOT_POSITIVE_DEFINITE


# keep=


def test_keep():
    """Whole quantities and addresses; what is along a dimension in part only has a dimension of its own."""
    keep = ["loss", "v_plus", "impulse.heel.normal", "impulse.heel", "ledger.heel", "v_plus.torso",
            "u_plus.stance.normal", "required_friction.heel", "dof"]  # fmt: skip
    ds = walker().sweep(theta=[0.3, 0.5], keep=keep)
    assert list(ds.data_vars) == [*keep, "status"]
    everything = walker().sweep(theta=[0.3, 0.5])
    assert ds["impulse.heel"].dims == ("theta", "impulse.heel_row")
    assert ds["impulse.heel_row"].values.tolist() == ["heel.normal", "heel.tangent"]
    equal = {
        "loss": everything.loss,
        "v_plus": everything.v_plus,
        "impulse.heel.normal": everything.impulse.sel(row="heel.normal"),
        "impulse.heel": everything.impulse.sel(row=["heel.normal", "heel.tangent"]),
        "ledger.heel": everything.ledger.sel(row=["heel.normal", "heel.tangent"]).sum("row"),
        "v_plus.torso": everything.v_plus.sel(velocity="torso"),
        "u_plus.stance.normal": everything.u_plus.sel(row="stance.normal"),
        "required_friction.heel": everything.required_friction.sel(contact="heel"),
        "dof": everything.dof,
    }
    for name, expected in equal.items():
        np.testing.assert_allclose(ds[name].values, expected.values, rtol=1e-13, atol=1e-15, err_msg=name)
    assert ds["impulse.heel.normal"].attrs == {
        "symbol": "λ̄", "units": "N s", "long_name": "impulse along the row: heel.normal",
    }  # fmt: skip
    assert ds["v_plus.torso"].attrs["units"] == "rad/s"
    assert ds["ledger.heel"].attrs["units"] == "J"


def test_keep_one_or_nothing():
    assert list(walker().sweep(theta=[0.3], keep="loss").data_vars) == ["loss", "status"]
    assert list(walker().sweep(theta=[0.3], keep=[]).data_vars) == ["status"]
    assert list(walker().sweep(theta=[0.3], keep=["status", "xi"]).data_vars) == ["xi", "status"]


def test_keep_of_what_is_applied_and_of_outputs():
    struck = gallery.sleigh("struck")
    ds = struck.sweep(theta=[0.1, 0.4], keep=["ledger.impulse D", "outputs.u", "applied_work", "outputs_minus"])
    t = struck.solve(theta=0.4)
    assert ds["ledger.impulse D"].values[1] == pytest.approx(t.ledger["impulse D"], rel=1e-13)
    assert ds["outputs.u"].values[1] == pytest.approx(t.outputs["u"], rel=1e-13)
    assert ds.applied_work.dims == ("theta", "applied")
    assert ds.outputs_minus.dims == ("theta", "output")


# Equal to single events


@pytest.mark.parametrize("problem", EVENTS)
def test_every_gallery_problem_over_its_first_parameters(problem):
    """A few points of each: what `solve` gives."""
    scenario = getattr(gallery, problem)()
    axes = {name: value * np.array([1.0, 1.05]) for name, value in list(scenario.parameters.items())[-2:]}
    ds = scenario.sweep(**axes)
    for place in np.ndindex(2, 2):
        at = {name: axis[i] for (name, axis), i in zip(axes.items(), place, strict=True)}
        assert_same_outcome(ds, dict(zip(axes, place, strict=True)), scenario.solve(**at))


def test_many_events_are_single_events():
    """Through the compiled kernel, every quantity."""
    theta, rho, torso = np.linspace(0.1, 1.0, 70), np.linspace(0.0, 0.5, 10), np.array([-0.2, 0.0, 0.1])
    ds = walker().sweep(theta=theta, rho=rho, torso=torso)
    assert ds.loss.size == MANY
    assert not ds.status.any()
    rng = np.random.default_rng(3)
    for place in zip(rng.integers(0, 70, 40), rng.integers(0, 10, 40), rng.integers(0, 3, 40), strict=True):
        at = dict(zip(("theta", "rho", "torso"), (int(i) for i in place), strict=True))
        point = {"theta": theta[place[0]], "rho": rho[place[1]], "torso": torso[place[2]]}
        assert_same_outcome(ds, at, walker().solve(**point))
    whole = walker().solve(theta=theta[:, None, None], rho=rho[:, None], torso=torso)
    assert whole.batch_shape == (70, 10, 3)
    np.testing.assert_allclose(ds.v_plus.values, whole.v_plus, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ds["impulse"].sel(row="heel.normal").values, whole.impulse["heel.normal"], atol=1e-11)


def test_one_by_one_many_and_in_parts_agree():
    """How many lanes there are decides the road, not the result."""
    theta = np.linspace(0.1, 1.0, MANY)
    many = walker().sweep(theta=theta)
    parts = xarray.concat([walker().sweep(theta=part) for part in np.split(theta, 4)], "theta", data_vars="minimal")
    for name in many.data_vars:
        np.testing.assert_allclose(many[name].values, parts[name].values, rtol=1e-12, atol=1e-12, err_msg=name)


# Lanes that fail


@pytest.mark.parametrize("n", [len(FAILURES) + 3, MANY])
def test_lanes_that_fail_do_not_disturb_the_others(n):
    """NaN in all numbers and the right status; the neighbours are, to the last bit, those of the clean sweep."""
    scenario = rig()
    rng = np.random.default_rng(8)
    samples = {name: np.full(n, value) for name, value in scenario.parameters.items()}
    samples["a"], samples["chi"] = rng.uniform(0.4, 1.2, n), rng.uniform(-1.0, 1.0, n)
    clean = scenario.sweep(samples=samples)
    assert not clean.status.any()
    lanes = dict(zip(FAILURES, rng.permutation(n)[: len(FAILURES)], strict=True))
    for failure, lane in lanes.items():
        for name, value in FAILURES[failure][0].items():
            samples[name][lane] = value
    ds = scenario.sweep(samples=samples)
    for failure, lane in lanes.items():
        assert ds.status.values[lane] == FAILURES[failure][1], failure
    wrong = np.isin(np.arange(n), list(lanes.values()))
    for name in map(str, clean.data_vars):
        if name != "status":
            assert np.isnan(ds[name].values[wrong]).all(), name
        assert np.array_equal(ds[name].values[~wrong], clean[name].values[~wrong]), name
    for lane in np.flatnonzero(~wrong)[:5]:
        assert_same_outcome(ds, {"sample": lane}, scenario.solve(**{p: values[lane] for p, values in samples.items()}))


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("n", [3, MANY])
def test_a_sweep_that_fails_everywhere(failure, n):
    changes, status = FAILURES[failure]
    ds = rig().sweep(omega=np.linspace(0.5, 1.0, n), keep=["loss", "impulse", "dof"], **changes)
    assert (ds.status == status).all()
    assert np.isnan(ds.loss).all()
    assert np.isnan(ds.impulse).all()


@pytest.mark.parametrize("n", [4, MANY])
def test_a_configuration_off_its_constraint(n):
    mechanism = rig().event.mechanism
    event = mechanism.event(inert=["ceiling"])
    psi = np.full(n, np.arcsin(0.5))
    psi[1] += 0.01
    ds = event.at(q={"psi": "psi"}, v={"psi": 1.0}).sweep(psi=psi, keep=["v_plus"])
    assert ds.status.values[1] == jd.Status.OFF_CONSTRAINT
    assert np.isnan(ds.v_plus.values[1]).all()
    assert not np.delete(ds.status.values, 1).any()


@pytest.mark.parametrize("n", [4, MANY])
def test_energy_that_comes_from_nowhere_keeps_its_numbers(n):
    """Different κ in coupled rows: a status, and the amount."""
    mechanism = gallery.walker().event.mechanism
    scenario = mechanism.event(elastic={"heel.normal": "kappa", "heel.tangent": 1.0}).at(
        q={"stance": 0.35, "swing": -0.35}, v={"foot_x": -2.0, "foot_y": -1.0}
    )
    kappa = np.linspace(0.0, 1.0, n)
    ds = scenario.sweep(kappa=kappa)
    created = ds.status.values == jd.Status.ENERGY_CREATED
    assert created.any()
    assert ((ds.status.values == 0) | created).all()
    assert np.isfinite(ds.v_plus).all()
    assert (ds.energy_created.values[created] > 0).all()
    np.testing.assert_allclose(ds.energy_created.values, np.where(created, -ds.loss, 0.0), atol=1e-12)
    for i in (0, n // 2, n - 1):
        assert_same_outcome(ds, {"kappa": i}, scenario.solve(kappa=kappa[i]))


@pytest.mark.parametrize("n", [60, MANY])
def test_a_mass_matrix_that_is_singular_up_to_rounding(n):
    """Three links of mass m with a load at their tip: m = 0 leaves a velocity that moves nothing, at every pose."""
    angles = dynamicsymbols("a_1 a_2 a_3")
    m = sp.Symbol("m")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    joint, bodies = O, []
    for i, angle in enumerate(angles):
        joint = joint.locatenew(f"P{i}", sp.cos(angle) * N.x + sp.sin(angle) * N.y)
        bodies.append(Particle(f"link_{i}", joint, m if i < 2 else 1.0))
    arm = jd.Mechanism.from_sympy(bodies, N, angles, parameters={m: 0.4})
    lock = arm.constraint("lock", angles[0].diff())
    scenario = arm.event(inert=[lock]).at(q=dict(zip(angles, "abc", strict=True)), v=dict.fromkeys(angles, 1.0))
    samples = dict(zip("abc", np.random.default_rng(2).uniform(-np.pi, np.pi, (3, n)), strict=True))
    clean = scenario.sweep(samples={**samples, "m": np.full(n, 0.4)})
    hollow = np.arange(n) % 3 == 1
    ds = scenario.sweep(samples={**samples, "m": np.where(hollow, 0.0, 0.4)})
    slope = scenario.gradient("loss", "m", **samples, m=np.where(hollow, 0.0, 0.4))["m"]
    assert np.array_equal(ds.status.values, np.where(hollow, jd.Status.NOT_POSITIVE_DEFINITE, 0))
    assert np.array_equal(np.isnan(slope), hollow)
    for name in map(str, clean.data_vars):
        if name != "status":
            assert np.isnan(ds[name].values[hollow]).all(), name
        assert np.array_equal(ds[name].values[~hollow], clean[name].values[~hollow]), name


# Rows that depend on each other in some lanes


@pytest.mark.parametrize("n", [7, MANY])
def test_rows_that_become_dependent_in_some_lanes(n):
    """At a = 0, π (and within RANK of it) the track says what the wall says: one row fewer, the impulse is shared."""
    scenario = rig()
    a = np.linspace(0.3, 1.2, n)
    singular = {1: 0.0, 2: np.pi, 4: 1e-10, n - 1: -np.pi}
    nearly = {3: 1e-6, n - 2: 3e-3}  # independent still
    for lane, value in {**singular, **nearly}.items():
        a[lane] = value
    ds = scenario.sweep(a=a)
    assert not ds.status.any()
    track = ds.redundant.sel(row="track").values
    assert np.flatnonzero(track).tolist() == sorted(singular)
    assert (ds.dof.sel(phase="virtual").values == np.where(track > 0, 1, 0)).all()
    for lane in (*singular, *nearly, 0, n // 2):
        assert_same_outcome(ds, {"a": lane}, scenario.solve(a=a[lane]), 1e-12 if lane not in nearly else 1e-8)
    once = ds.impulse.sel(row="wall").values[1]
    alone = scenario.event.mechanism.event(regular=["guide"], inert=["wall", "ceiling"], elastic={"stop": 0.6}).at(
        q={"phi": 0.4, "chi": 1.1}, v={"x": 1.0, "phi": 0.8, "psi": 0.0, "chi": -0.4}, guess={"psi": 0.2}
    )  # fmt: skip
    t = alone.solve()
    assert ds.v_plus.values[1] == pytest.approx(t.v_plus, abs=1e-13)
    assert once == pytest.approx(t.impulse["wall"] / 2, rel=1e-12)  # two rows of one length share it evenly


def test_rows_that_depend_on_each_other_everywhere():
    """No lane takes the quick road; all are right."""
    mechanism = gallery.walker().event.mechanism
    heel = mechanism.constraints["heel"].C @ mechanism.symbols.v
    mechanism.constraint("again", [2 * heel[0] - heel[1], heel[1]])
    scenario = mechanism.event(inert=["heel", "again"]).at(
        q={"stance": "theta", "swing": -sp.Symbol("theta")}, v={"stance": 1.0, "swing": 1.0}
    )
    theta = np.linspace(0.2, 0.9, MANY)
    ds = scenario.sweep(theta=theta)
    assert ds.redundant.sum("row").values.tolist() == [2.0] * MANY
    for i in (0, 700, MANY - 1):
        assert_same_outcome(ds, {"theta": i}, scenario.solve(theta=theta[i]))
    plain = mechanism.event(inert=["heel"]).solve(q={"stance": theta, "swing": -theta}, v={"stance": 1.0, "swing": 1.0})
    np.testing.assert_allclose(ds.v_plus.values, plain.v_plus, atol=1e-12)
    np.testing.assert_allclose(ds.loss.values, plain.loss, rtol=1e-12)


# What is refused


def test_a_sweep_that_does_not_fit_is_refused_before_anything_is_made(monkeypatch):
    """Its size and the remedy are said."""
    axes: dict[str, Any] = {name: np.ones(100_000) for name in ("theta", "rho", "mu")}
    found = [str(name) for name in walker().sweep(theta=[0.3]).data_vars if name != "status"]
    n = sum(max(len(find(walker().event.layout, name).names), 1) for name in found)
    with pytest.raises(jd.TooLarge, match=f"The sweep has 1,000,000,000,000,000 events of {n} numbers, .* TB, but"):
        walker().sweep(**axes)
    with pytest.raises(jd.TooLarge, match=r"keep fewer quantities \(keep=\['loss'\]\), take fewer points, or sweep in"):
        walker().sweep(**axes)
    with pytest.raises(jd.TooLarge, match=r"events of 1 number, 9e.* are free; take fewer points, or sweep in parts"):
        walker().sweep(**axes, keep=["loss"])
    monkeypatch.setattr(memory, "available", lambda: 1000.0)
    monkeypatch.setattr(type(walker()), "pose", None)  # nothing is looked at
    with pytest.raises(jd.TooLarge, match=r"has 101 events of 1 number, 2.5. kB, but 1 kB are free"):  # axis twice
        walker().sweep(theta=np.ones(101), keep="loss")
    with pytest.raises(jd.TooLarge, match="has 5 events of 65 numbers"):  # loops are closed for all events at once
        rig().sweep(chi=np.ones(5), keep="loss")
    monkeypatch.undo()
    assert walker().sweep(theta=np.ones(101), keep="loss").loss.size == 101


def test_refusals():
    sweep = walker().sweep
    for error, text, arguments in (
        (jd.UnknownName, "There is no parameter 'thta'; did you mean 'theta'", {"thta": [0.3]}),
        (jd.UnknownName, "There is no parameter 'R'", {"R": 0.3}),
        (jd.UnknownName, "There is no parameter 'rh'; did you mean 'rho'", {"samples": {"theta": [1.0], "rh": [1.0]}}),
        (jd.UnknownName, "There is no parameter 'note'", {"samples": pd.DataFrame({"note": ["a", "b"]})}),
        (jd.UnknownName, "There is no quantity 'los'; did you mean 'loss'", {"theta": [0.3], "keep": ["los"]}),
        (jd.UnknownName, "no entry of impulse 'hel'; did you mean 'heel'", {"theta": [0.3], "keep": ["impulse.hel"]}),
        (jd.UnknownName, "This event has no 'outputs_plus': the mechanism names no outputs", {"keep": ["outputs"]}),
        (jd.UnknownName, "This event has no 'applied_work': no impulse is applied", {"keep": ["applied_work"]}),
        (jd.ShapeError, r"The axis 'theta' has shape \(1, 2\); give a number or a one-dim", {"theta": [[0.3, 0.4]]}),
        (jd.ShapeError, "axis 'theta' must be a number or an array of numbers, not 'wide'", {"theta": "wide"}),
        (jd.ShapeError, r"samples must be a dict of arrays by parameter, or a DataFrame, not \[1\]", {"samples": [1]}),
        (jd.ShapeError, r"The samples of 'theta' have shape \(\); give one number per", {"samples": {"theta": 0.3}}),
        (jd.ShapeError, "The samples must be equally many for all parameters, not {'theta': 1, 'rho': 2}",
         {"samples": {"theta": [0.3], "rho": [0.1, 0.2]}}),
        (jd.ShapeError, "The samples must be equally many for all parameters, not {}", {"samples": {}}),
        (jd.NameClash, "'theta' is given by samples and as an axis; leave one out",
         {"samples": {"theta": [0.3]}, "theta": [0.4]}),
    ):  # fmt: skip
        with pytest.raises(error, match=text):
            sweep(**arguments)
    with pytest.raises(jd.MissingValue, match="Parameter 'psi' has no default; give it as psi="):
        rig().event.mechanism.event(inert=["wall"]).at(q={"psi": "psi"}).sweep(a=[0.1, 0.2])


@pytest.mark.parametrize(("name", "what"), [
    ("loss", "a quantity that is kept"),
    ("status", "a quantity that is kept"),
    ("row", "a dimension of the results"),
    ("velocity", "a dimension of the results"),
    ("row_unit", "a label of the results"),
])  # fmt: skip
def test_parameters_that_are_called_like_a_part_of_the_results(name, what):
    scenario = walker().event.mechanism.event(inert=["heel"]).at(q={"stance": name}, v={"stance": 1.0})
    for arguments in ({name: [0.1, 0.2]}, {"samples": {name: [0.1, 0.2]}}):
        with pytest.raises(jd.NameClash, match=f"'{name}' is a parameter and also {what}; choose with keep="):
            scenario.sweep(**arguments)
    axes: dict[str, Any] = {name: 0.1, "m": [1.0, 2.0]}
    fixed = scenario.sweep(**axes)
    assert fixed.loss.dims == ("m",)
    if name != "status":
        axes = {name: [0.1, 0.2], "keep": ["xi"]}
        kept = scenario.sweep(**axes)
        assert kept.xi.dims == (name,)
    sample = walker().event.mechanism.event(inert=["heel"]).at(q={"stance": "sample"}, v={"stance": 1.0})
    with pytest.raises(jd.NameClash, match="'sample' is a parameter and also the dimension of the samples; rename it"):
        sample.sweep(samples={"m": [1.0, 2.0]}, sample=[0.1, 0.2])


# Files, bars, threads, nothing


@pytest.mark.parametrize("keep", [None, ["loss", "impulse.heel", "ledger.heel", "v_plus.torso", "dof"]])
def test_netcdf(tmp_path, keep):
    """What is written is what is read."""
    ds = walker().sweep(theta=[0.3, np.nan, 0.5], rho=[0.0, 0.25], keep=keep)
    ds.to_netcdf(tmp_path / "sweep.nc")
    xarray.testing.assert_identical(xarray.load_dataset(tmp_path / "sweep.nc"), ds)
    samples = gallery.sleigh("struck").sweep(samples={"theta": [0.3, 0.4], "P": [1.0, 2.0]})
    samples.to_netcdf(tmp_path / "samples.nc")
    xarray.testing.assert_identical(xarray.load_dataset(tmp_path / "samples.nc"), samples)


@pytest.mark.parametrize("n", [3, MANY])
def test_progress(n, capsys, monkeypatch):
    """A bar on the standard error, where it is a terminal, if asked for."""
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes the captured stream for a terminal
    monkeypatch.setenv("TERM", "xterm")
    theta = np.linspace(0.2, 0.9, n)
    silent = walker().sweep(theta=theta, progress=False)
    assert capsys.readouterr() == ("", "")
    shown = walker().sweep(theta=theta, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "sweep" in err
    assert "100%" in err
    xarray.testing.assert_identical(shown, silent)
    walker().sweep(theta=theta)  # nobody watches: the stream is no terminal
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("axes", [{"m_H": []}, {"m_H": [], "l": [0.7, 0.8]}, {"samples": {"l": []}}])
@pytest.mark.parametrize("scenario", [walker, rig])
def test_nothing_to_sweep(scenario, axes):
    """An axis without points: a dataset without events."""
    given = {{"m_H": "m"}.get(name, name) if scenario is rig else name: axis for name, axis in axes.items()}
    ds = scenario().sweep(**given)
    assert ds.loss.size == 0
    assert ds.status.dtype == np.int8
    assert ds.v_plus.shape == (*ds.loss.shape, 5)


@pytest.mark.parametrize("n", [4, MANY])
def test_an_energy_that_no_velocity_can_have(n):
    """A velocity of zero cannot be scaled: not finite, in its lane only."""
    scenario = (
        walker()
        .event.mechanism.event(inert=["heel"])
        .at(q={"stance": 0.3, "swing": -0.3}, v={"stance": "w"}, energy="E", defaults={"E": 2.0})
    )
    w, E = np.linspace(1.0, 2.0, n), np.full(n, 2.0)
    w[1], E[2] = 0.0, -1.0
    ds = scenario.sweep(samples={"w": w, "E": E}, keep=["T_minus", "loss"])
    assert np.flatnonzero(ds.status.values == jd.Status.NOT_FINITE).tolist() == [1, 2]
    assert np.isnan(ds.loss.values[[1, 2]]).all()
    np.testing.assert_allclose(np.delete(ds.T_minus.values, [1, 2]), 2.0, rtol=1e-14)


def test_threads_do_not_change_a_bit(monkeypatch):
    """Lanes are dealt out in chunks; who takes which does not matter, nor does a lane that fails in one of them."""
    n = 2 * CHUNK + 4321
    theta = np.linspace(0.05, 1.2, n)
    theta[[5, CHUNK, n - 1]] = np.nan
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("JOURDAIN_THREADS", threads)
        found.append(walker().sweep(samples={"theta": theta, "rho": np.linspace(0, 0.5, n)}, keep=["loss", "v_plus"]))
    xarray.testing.assert_identical(*found)
    assert np.flatnonzero(found[0].status).tolist() == [5, CHUNK, n - 1]
    monkeypatch.setenv("JOURDAIN_THREADS", "some")
    with pytest.raises(jd.BadEvent, match="JOURDAIN_THREADS is 'some'; it must be a whole number, 1 or more"):
        walker().sweep(theta=theta[6:5000], keep=["loss", "v_plus"])


def test_lanes_do_not_know_how_they_lie_in_memory():
    """Strided, reversed and broadcast axes."""
    theta = np.linspace(0.2, 0.9, 2 * MANY)
    plain = walker().sweep(theta=np.ascontiguousarray(theta[::2]), keep=["loss"]).loss.values
    assert np.array_equal(walker().sweep(theta=theta[::2], keep=["loss"]).loss.values, plain)
    assert np.array_equal(walker().sweep(theta=theta[::2][::-1], keep=["loss"]).loss.values, plain[::-1])
    same = walker().sweep(theta=np.broadcast_to(0.4, (MANY,)), keep=["loss"]).loss.values
    assert np.array_equal(same, np.full(MANY, same[0]))


# Raw arrays: many small events are unrolled and compiled


def arrays(rng: np.random.Generator, n: int, sizes: Mapping[str, int], n_lanes: int, applied: bool) -> Any:
    """Arrays of many events: a few drawn, the others the same at another speed (v, b, f̄, β̄ times a number)."""
    drawn = [cases.draw(rng, n=n, sizes=sizes, applied=applied, decades=2.0) for _ in range(48)]
    M, v, keywords = cases.batch(drawn)
    pick, speed = np.arange(n_lanes) % len(drawn), rng.uniform(0.5, 2.0, n_lanes)

    def scaled(array):
        return array[pick] * speed[:, None]

    for kind, value in keywords.items():
        if kind == "impulse":
            keywords[kind] = scaled(value)
        elif kind == "elastic":
            keywords[kind] = (value[0][pick], value[1][pick].copy(), scaled(value[2]))
        else:
            keywords[kind] = (value[0][pick], *(scaled(part) for part in value[1:]))
    return (
        M[pick].copy(),
        scaled(v),
        {
            kind: tuple(np.array(part) for part in value) if isinstance(value, tuple) else value
            for kind, value in keywords.items()
        },
    )


def by_lapack(M: Any, v: Any, keywords: Mapping[str, Any], **options: Any) -> list[jd.Transition]:
    """The same events in batches that are too small to be unrolled."""
    found = []
    for start in range(0, len(M), 2048):
        some = slice(start, start + 2048)
        part: dict[str, Any] = {kind: tuple(one[some] for one in value) if isinstance(value, tuple) else value[some]
                for kind, value in keywords.items()}  # fmt: skip
        found.append(jd.transition(M[some], v[some], **part, **options))
    return found


def assert_same_roads(t: jd.Transition, parts: list[jd.Transition], rtol: float) -> None:
    """Every number of every lane, compared with the largest number of its quantity in its lane."""
    status = np.concatenate([part.status for part in parts])
    assert np.array_equal(t.status, status)
    for name in KEPT:
        one, other = t._values[name], np.concatenate([part._values[name] for part in parts])
        assert one.shape == other.shape, name
        if not one.size:
            continue
        usual = np.isfinite(other)
        assert np.array_equal(np.isnan(one), np.isnan(other)), name
        assert np.array_equal(np.where(usual, 0.0, np.nan_to_num(one)), np.where(usual, 0.0, np.nan_to_num(other))), (
            name
        )
        scale = np.maximum(np.max(np.where(usual, np.abs(other), 0.0), axis=(-2, -1), keepdims=True), 1.0)
        error = np.where(usual, np.abs(np.where(usual, one, 0.0) - np.where(usual, other, 0.0)), 0.0) / scale
        worst = int(np.argmax(error.reshape(len(error), -1).max(axis=-1)))
        assert error.max() <= rtol, f"{name}: off by {error.max():.1e} in lane {worst}\n{one[worst]}\n{other[worst]}"


ROADS = {
    "every kind": (6, {"regular": 1, "live": 1, "inert": 2, "elastic": 1, "released": 1, "nonideal": 1}, True),
    "inert": (3, {"inert": 2}, False),
    "elastic": (4, {"elastic": 2, "released": 1}, True),
    "no rows": (2, {}, True),
    "the largest": (LARGEST_UNROLLED, {"regular": 1, "inert": 2}, False),
}


@pytest.mark.parametrize(
    ("form", "check"), [*((form, True) for form in ROADS), ("every kind", False), ("every kind", "project")]
)
def test_unrolled_events_are_those_of_lapack(form, check):
    """Every quantity of every lane; the batch may have several axes."""
    n, sizes, applied = ROADS[form]
    M, v, keywords = arrays(np.random.default_rng(4), n, sizes, UNROLLED_FROM, applied)
    if check == "project":
        v = v + 0.1
    t = jd.transition(M, v, **keywords, check=check)
    assert t.ok.all() or "elastic" in sizes or "nonideal" in sizes
    assert (t.status <= jd.Status.ENERGY_CREATED).all()
    assert_same_roads(t, by_lapack(M, v, keywords, check=check), 1e-11)

    def folded(array):
        return array.reshape(64, -1, *array.shape[1:])

    two_axes = {kind: tuple(map(folded, value)) if isinstance(value, tuple) else folded(value)
                for kind, value in keywords.items()}  # fmt: skip
    again = jd.transition(folded(M), folded(v), **two_axes, check=check)
    assert again.v_plus.shape == (64, UNROLLED_FROM // 64, n)
    assert np.array_equal(again.v_plus.reshape(-1, n), t.v_plus)
    assert np.array_equal(again.status.reshape(-1), t.status)


def test_unrolled_events_share_what_they_share():
    """One M and one set of rows for many velocities, broadcast."""
    rng = np.random.default_rng(5)
    case = cases.draw(rng, n=5, sizes={"inert": 2, "elastic": 1}, biased=False, decades=1.0)
    v = rng.normal(size=(5000, 5))
    t = jd.transition(case.M, v, **case.arguments())
    for lane in (0, 1234, 4999):
        single = jd.transition(case.M, v[lane], **case.arguments())
        assert t.v_plus[lane] == pytest.approx(single.v_plus, abs=1e-12)
        assert t.impulse["inert"][lane] == pytest.approx(single.impulse["inert"], abs=1e-12)
        assert t.loss[lane] == pytest.approx(single.loss, abs=1e-12)


def test_unrolled_lanes_that_need_another_look():
    """Redundant rows, semidefinite and skew M, NaN, contradictions, κ outside [0, 1]: each lane as by LAPACK."""
    rng = np.random.default_rng(6)
    n, sizes = 5, {"regular": 1, "inert": 3, "elastic": 1}
    M, v, keywords = arrays(rng, n, sizes, UNROLLED_FROM + 5, applied=True)
    lanes = rng.permutation(len(M))[:900]
    kinds = np.array_split(lanes, 12)
    C, b = keywords["inert"]
    regular, b_regular = keywords["regular"]
    E, kappa, _ = keywords["elastic"]
    repeated, mixed, across, contradicting, massless, hollow, *others = kinds
    skew, not_a_number, infinite, prior, bad_kappa, negative = others
    C[repeated, 2], b[repeated, 2] = -3 * C[repeated, 0], -3 * b[repeated, 0]
    C[mixed, 1], b[mixed, 1] = C[mixed, 0] + 2 * C[mixed, 2], b[mixed, 0] + 2 * b[mixed, 2]
    C[across, 0], b[across, 0] = 2 * regular[across, 0] - C[across, 1], 2 * b_regular[across, 0] - b[across, 1]
    C[contradicting, 2], b[contradicting, 2] = C[contradicting, 0], b[contradicting, 0] + 1.0
    for lane in massless:  # no mass along a direction that the rows hold
        direction = M[lane] @ C[lane, 0]
        M[lane] -= np.outer(direction, direction) / (C[lane, 0] @ direction)
        M[lane] = (M[lane] + M[lane].T) / 2
    for lane in hollow:  # nor along one that they do not hold
        M[lane] = np.diag([1.0, 1.0, 0.0, 1.0, 1.0])
        regular[lane, :, 2] = C[lane, :, 2] = E[lane, :, 2] = 0.0
    for lane in (*massless, *hollow):
        row = regular[lane, 0]
        v[lane] -= row * (row @ v[lane] + b_regular[lane, 0]) / (row @ row)
    M[skew, 0, 1] += 0.5 * np.sqrt(M[skew, 0, 0] * M[skew, 1, 1])
    M[not_a_number[::2], 1, 1], v[not_a_number[1::2], 0] = np.nan, np.nan
    C[infinite, 1, 1] = np.inf
    v[prior] += 0.5
    kappa[bad_kappa, 0] = 1.3
    M[negative] *= -1
    t = jd.transition(M, v, **keywords)
    for some, status in (
        (contradicting, "CONTRADICTION"), (hollow, "NOT_POSITIVE_DEFINITE"), (skew, "NOT_POSITIVE_DEFINITE"),
        (not_a_number, "NOT_FINITE"), (infinite, "NOT_FINITE"), (prior, "PRIOR_VIOLATED"),
        (bad_kappa, "BAD_RESTITUTION"), (negative, "NOT_POSITIVE_DEFINITE"),
    ):  # fmt: skip
        assert (t.status[some] == jd.Status[status]).all(), status
        assert np.isnan(t.v_plus[some]).all()
    good = np.concatenate([repeated, mixed, across, massless])
    assert (t.status[good] <= jd.Status.ENERGY_CREATED).all()
    parts = t.T_c_minus + t.T_a_minus + t.T_r_minus
    sine = np.sum(regular[massless, 0] * C[massless, 0], axis=-1)
    sine /= np.linalg.norm(regular[massless, 0], axis=-1) * np.linalg.norm(C[massless, 0], axis=-1)
    held = massless[np.abs(sine) > 1e-9]  # by the regular row alone
    np.testing.assert_allclose(parts[held], t.T_minus[held], rtol=1e-9)
    assert np.isnan(parts[np.setdiff1d(massless, held)]).all()
    assert np.isfinite(t.v_plus[good]).all()
    redundant = np.zeros(len(M), dtype=bool)
    redundant[np.concatenate([repeated, mixed, across])] = True
    found = np.any(list(t.redundant.values()), axis=0)
    assert np.array_equal(found[t.status <= 1], redundant[t.status <= 1])
    assert_same_roads(t, by_lapack(M, v, keywords), 1e-11)
    clean_M, clean_v, clean = arrays(np.random.default_rng(6), n, sizes, UNROLLED_FROM + 5, applied=True)
    untouched = np.setdiff1d(np.arange(len(M)), lanes)
    plain = jd.transition(clean_M, clean_v, **clean)
    np.testing.assert_allclose(
        t.v_plus[untouched], plain.v_plus[untouched], rtol=0, atol=1e-13 * np.abs(v[untouched]).max()
    )
    for lane in (*(some[0] for some in (repeated, mixed, across, massless)), untouched[0]):
        arguments: dict[str, Any] = {}
        for kind, value in keywords.items():
            arguments[kind] = tuple(part[lane] for part in value) if isinstance(value, tuple) else value[lane]
        single = jd.transition(M[lane], v[lane], **arguments)
        assert t.v_plus[lane] == pytest.approx(single.v_plus, abs=1e-10)
        for kind in sizes:
            assert t.impulse[kind][lane] == pytest.approx(single.impulse[kind], rel=1e-9, abs=1e-9), kind
