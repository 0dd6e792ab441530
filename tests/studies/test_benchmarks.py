"""The peers of the benchmark compute what jourdain does: its speed is compared with that of the same answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

import engines
import jourdain as jd
from jourdain import gallery
from jourdain.errors import BadEvent
from jourdain.inputs import Array
from jourdain.laws import ContactState
from jourdain.studies.benchmarks import (
    box_corner,
    compass,
    logs,
    motion,
    plate,
    report,
    rough_walker,
    run,
    timing,
    walker,
    walker_casadi,
    walker_numpy,
)
from jourdain.studies.benchmarks.contestant import Result, ratios

N_EVENTS = 501  # not a multiple of threads or chunks


@pytest.fixture(scope="module")
def expected() -> Array:
    return walker.table(gallery.walker().solve(parameters=walker.samples(N_EVENTS)))


def compare(peer: Callable[..., Array], expected: Array) -> None:
    found = peer(*walker.samples(N_EVENTS).values())
    assert found.shape == (len(walker.QUANTITIES), N_EVENTS)
    for name, ours, theirs in zip(walker.QUANTITIES, expected, found, strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-9 * np.abs(ours).max(), err_msg=name)


def test_the_walker_is_the_same() -> None:
    parameters = gallery.walker().parameters
    fixed = {"m_W": walker.M_W, "m_H": walker.M_H, "l": walker.L_LEG, "b": walker.B_LEG, "l_T": walker.L_TORSO}
    assert {name: parameters[name] for name in (*fixed, "rate")} == fixed | {"rate": walker.RATE}


@pytest.mark.parametrize("chunk", [64, 4096])
@pytest.mark.parametrize("peer", [walker_numpy.plain, walker_numpy.stacked, walker_numpy.by_columns])
def test_numpy(peer: Callable[..., Array], chunk: int, expected: Array) -> None:
    compare(lambda *parameters: peer(*parameters, chunk=chunk), expected)


@pytest.mark.parametrize("chunk", [64, 4096])
def test_pinocchio(chunk: int, expected: Array) -> None:
    engines.pinocchio()
    from jourdain.studies.benchmarks import walker_pinocchio

    compare(partial(walker_pinocchio.solve, chunk=chunk), expected)


@pytest.mark.parametrize("threads", [1, 2])
def test_casadi(threads: int, expected: Array) -> None:
    compare(walker_casadi.build(walker_casadi.strike(), N_EVENTS, threads), expected)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "SIDE", 8)
    monkeypatch.setattr(run, "N_CHECKED", 2000)
    for module in (run, timing):
        monkeypatch.setattr(module, "process", lambda code, cache=None, times=5: 0.125)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("short")
def test_the_whole_benchmark() -> None:
    """Every contestant is timed, the ratios are those of the rates, and the page has them all."""
    found = run.bench(repetitions=1, progress=False)
    rates = {result.name: result.rate for result in found.results["walker"]}
    ratio = rates["jourdain, 2 threads"] / rates["NumPy, batched"]
    assert found.ratios["jourdain / NumPy, batched"] == pytest.approx(ratio)
    assert found.to_dict()["events_per_second"] == rates
    page = report.markdown(found)
    contacts = {result.name: result.rate for result in found.results["contacts"]}
    assert found.to_dict()["contacts_per_second"] == contacts
    assert found.ratios[f"{run.COULOMB} / {run.IDEAL}"] == pytest.approx(contacts[run.COULOMB] / contacts[run.IDEAL])
    assert found.ratios[f"{run.SETS} / {run.NNLS}"] == pytest.approx(contacts[run.SETS] / contacts[run.NNLS])
    assert all(name in page for name in (*rates, *contacts, *found.times, *found.machine))
    # The table of rows, from which --only picks before anything is built, is that of what was timed.
    timed = [result for results in found.results.values() for result in results]
    names, rows = (
        {result.name for result in timed} | set(found.times),
        {n for table in run.ROWS.values() for n in table},
    )
    assert names <= rows
    if not found.missing:
        assert names == rows
        assert len(found.ratios) == len(run.PAIRS)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    ("only", "rows", "ratios"),
    [
        ("one-sided sets, k = 4", {run.SETS, run.NNLS}, {f"{run.SETS} / {run.NNLS}"}),
        (run.IVP, {run.IN_SPACE, run.IVP}, {f"{run.IN_SPACE} / {run.IVP}"}),
        ("T_c and its", {run.EVENT, run.GRADIENT}, {"gradient of T_c by 4 parameters / event"}),
        ("IMPORT", {run.IMPORT}, set()),
    ],
)
def test_one_row(only: str, rows: set[str], ratios: set[str]) -> None:
    """It is timed with those that it is compared with, and nothing else is."""
    found = run.bench(repetitions=1, progress=False, only=only)
    timed = [result for results in found.results.values() for result in results]
    assert {result.name for result in timed} | set(found.times) == rows
    assert set(found.ratios) == ratios
    assert all(name in report.markdown(found) for name in rows)


def test_a_row_that_is_not_there() -> None:
    with pytest.raises(jd.UnknownName, match="no row of the benchmark 'talon'"):
        run.bench(only="talon")
    with pytest.raises(
        jd.Error, match="'NumPy' begins several rows of the benchmark: 'NumPy, batched', 'NumPy, tuned'"
    ):
        run.bench(only="NumPy")


@pytest.mark.usefixtures("short")
def test_a_peer_that_differs_stops_the_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    true = walker_numpy.plain
    monkeypatch.setattr(walker_numpy, "plain", lambda **samples: 1.001 * true(**samples))
    with pytest.raises(
        BadEvent, match=r"NumPy, batched and jourdain differ in impulse.heel.normal by .*nothing was timed"
    ):
        run.bench(repetitions=1, progress=False)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    ("module", "peer", "message"),
    [
        (rough_walker, "by_stretches", "Routh's method in NumPy and jourdain differ in impulse.heel.normal"),
        (plate, "by_nnls", r"scipy.optimize.nnls and jourdain differ in impulse.corner_0.normal"),
        (box_corner, "by_solve_ivp", r"scipy.integrate.solve_ivp and jourdain differ in impulse.floor.normal"),
    ],
)
def test_contacts_that_differ_stop_it_too(module, peer: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    true = getattr(module, peer)
    monkeypatch.setattr(module, peer, lambda **samples: 1.001 * true(**samples))
    with pytest.raises(BadEvent, match=message):
        run.check_contacts(rough_walker.scenario(), plate.scenario(), box_corner.scenario())


def test_contacts_of_the_benchmark_do_different_things() -> None:
    """Heels slip and stick; corners hold in many combinations, and nothing fails."""
    t = rough_walker.scenario().solve(parameters=walker.samples(N_EVENTS))
    assert t.ok.all()
    assert {ContactState.SLIPS, ContactState.STICKS} <= set(t.contact["heel"])
    t = plate.scenario().solve(parameters=walker.samples(N_EVENTS, plate.RANGES))
    assert t.ok.all()
    assert len(set(zip(*t.contact.values(), strict=True))) > 5


# Motion


def test_motion_is_checked_before_it_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    gait = motion.gait()
    motion.check(gait)
    monkeypatch.setattr(compass, "G", 9.8100001)
    with pytest.raises(BadEvent, match="solve_ivp and jourdain strike at different times"):
        motion.check(gait)


def test_who_takes_part_in_motion() -> None:
    names = [one.name for one in motion.contestants(motion.gait())]
    assert names == [motion.WALK, motion.WALK_IVP, motion.BASIN, motion.BASIN_IVP]
    rates = [Result(name, rate) for name, rate in zip(names, (20.0, 1.0, 300.0, 2.0), strict=True)]
    assert list(ratios(rates, motion.PAIRS).values()) == [20.0, 150.0]


def test_logs_have_the_same_energies(tmp_path) -> None:
    path = tmp_path / "log.csv"
    model = logs.write(path, 20_000)
    logs.check(path, model)
    strike, curves = logs.by_jourdain(path, model)
    T_c, T_a = logs.by_numpy(path, model)
    assert len(T_c) == curves.sizes["t"] == 20_000
    calm = slice(100, 19_000)  # where nothing jumps, the one filter and ours hardly differ
    np.testing.assert_allclose(curves["T_c"][calm] + curves["T_a"][calm], T_c[calm] + T_a[calm], atol=1e-5)
    assert strike.T_c_minus == pytest.approx(model.solve(gamma=0.5).T_c_minus, rel=0.02)
