"""Logs as people have them: other headers, units, gaps, NaN, drift, saturation. Clear words, or right numbers."""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pytest

import jourdain as jd
from cases import puck, read_csv
from jourdain.experiment import Run, Sensors, Strike, Surface, Testbed, read
from jourdain.experiment.contacts import find_contacts
from jourdain.experiment.units import factor, header
from oracles import mujoco_arm as mujoco_bench

Frame: TypeAlias = pd.DataFrame
Change = Callable[[Frame], Frame]
T, Q1, Q3, WALL, SLIDE = "t [s]", "q.q1 [rad]", "q.q3 [rad]", "force.wall [N]", "force.slide [N]"


@cache
def pantograph() -> jd.Scenario:
    return jd.gallery.pantograph()


@cache
def run_once() -> Run:
    return Testbed(pantograph(), push=0.5).run(gamma=0.5, d=0.2)


def frame(seed: int = 1, sensors: Sensors | None = None) -> Frame:
    return run_once().record(Sensors() if sensors is None else sensors, seed).frame()


def strike_of(log: Frame, **asked) -> Strike:
    return read(log, pantograph(), parameters={"d": 0.2}, **asked).strike()


def right(strike: Strike, rel: float = 0.01) -> None:
    run = run_once()
    assert strike.T_c_minus == pytest.approx(run.T_c_minus, rel=2 * rel)
    assert strike.T_a_minus == pytest.approx(run.T_a_minus, rel=2 * rel)
    assert strike.impulse["wall"] == pytest.approx(run.impulse["wall"], rel=rel)


def put(log: Frame, column: str, row: int | slice, value: float) -> Frame:
    log.iloc[row, log.columns.get_loc(column)] = value
    return log


# Headers and units


@pytest.mark.parametrize(
    ("text", "name", "unit"),
    [("q.q1 [rad]", "q.q1", "rad"), ("Fz(mN)", "Fz", "mN"), (" t ", "t", ""), ("angle 1 [°]", "angle 1", "°")],
)
def test_headers_are_names_and_units(text: str, name: str, unit: str) -> None:
    assert header(text) == (name, unit)


def test_units_have_factors() -> None:
    assert factor("a", "deg", "rad") == pytest.approx(np.pi / 180)
    assert factor("F", "-mN", "N") == -1e-3
    assert factor("w", "rpm", "rad/s") == pytest.approx(2 * np.pi / 60)
    assert factor("M", "N*mm", "N m") == 1e-3
    assert factor("x", "", "m") == 1.0
    with pytest.raises(jd.BadLog, match=r"Column 'q1' is in 'furlong', but it must be in one of 'rad', 'mrad', 'deg'"):
        factor("q1", "furlong", "rad")


@pytest.mark.parametrize(
    "change",
    [
        lambda log: log.rename(columns={Q1: "q1", Q3: "q3", WALL: "wall", SLIDE: "slide", T: "Time"}),
        lambda log: log.assign(**{Q1: np.degrees(log[Q1])}).rename(columns={Q1: "q1 [deg]"}),
        lambda log: log.assign(**{Q1: np.degrees(log[Q1])}).rename(columns={Q1: "q1 (°)"}),
        lambda log: log.assign(**{WALL: 1e3 * log[WALL]}).rename(columns={WALL: "wall [mN]"}),
        lambda log: log.assign(**{T: 1e3 * log[T] + 7}).rename(columns={T: "t [ms]"}),
        lambda log: log.assign(**{T: log[T] + 1.7e9}),
        lambda log: log.assign(**{T: pd.Timestamp("2026-11-16") + pd.to_timedelta(log[T], unit="s")}).rename(
            columns={T: "time"}
        ),
        lambda log: log.assign(**{WALL: log[WALL] + 4.0, SLIDE: log[SLIDE] - 1.0}),  # sensors have offsets
        lambda log: log.assign(**{WALL: log[WALL] + 0.4 * log[T] + 1.0}),  # and drift
        lambda log: log.drop(columns=SLIDE),
        lambda log: log.assign(comment="ok", spare=np.nan),
        lambda log: log.astype(np.float32).astype(float),
    ],
)
def test_logs_as_people_have_them(change: Change) -> None:
    right(strike_of(change(frame())))


def test_columns_and_units_are_given() -> None:
    log = frame().rename(columns={Q1: "Encoder A", Q3: "Encoder B", WALL: "Fz [N]"})
    log["Encoder A"], log["Fz [N]"] = np.degrees(log["Encoder A"]), -log["Fz [N]"]
    strike = strike_of(
        log, columns={"q1": "Encoder A", "q.q3": "Encoder B", "wall": "Fz"}, units={"q1": "deg", "wall": "-N"}
    )
    right(strike)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda log: log.drop(columns=T), r"no column for the time, 't' or 'time', but 'q\.q1'"),
        (lambda log: log.drop(columns=Q3), r"no column for 'q\.q3', and has 't', 'q\.q1'"),
        (lambda log: log.drop(columns=WALL), r"no column for the force along 'wall': 'force\.wall' or 'wall'"),
        (lambda log: log.rename(columns={Q1: "q1 [parsec]"}), r"Column 'q1' is in 'parsec', but it must be"),
        (lambda log: log.assign(**{"v.q1": 1.0}), r"Some rates are logged and 'v\.q3' is not"),
        (lambda log: log.assign(**{"q.q1 [mrad]": 1.0}), r"two columns 'q\.q1'"),
        (lambda log: log.assign(**{Q1: [*["x"] * 5, *log[Q1][5:]]}), r"Column 'q\.q1' has 'x' at sample 1"),
        (lambda log: log[:20], r"The log has 20 usable samples; 30 at least"),
        (lambda log: log.iloc[::-1], r"Time runs backwards at sample 2: after t = 0\.2\d+ s comes"),
        (lambda log: pd.concat([log, log]), r"Time runs backwards at sample \d+: .* two runs follow each other"),
        (lambda log: put(log, T, 50, np.nan), r"The time of sample 51 is nan"),
        (lambda log: put(log, T, 100, log[T].iloc[99]), r"Time stands still at t = 0\.099 s while 'q\.q1'"),
        (lambda log: log.drop(index=range(155, 160)), r"missing from t = 0\.154 to 0\.16 s, within the compression"),
        (lambda log: log.drop(index=[149]), r"Samples are missing from t = 0\.148 to 0\.15 s, at the onset|within"),
        (lambda log: log.assign(**{WALL: 1e-3 * np.random.default_rng(3).standard_normal(len(log))}),
         r"There is no contact in the log: 'wall' departs from its baseline by 0\.00\d+ at most, at t = "),
        (lambda log: log.assign(**{WALL: 0.0}), r"There is no contact in the log"),
        (lambda log: put(log.assign(**{WALL: 0.0}), WALL, 120, 5.0), r"no contact that lasts 3 samples: .* t = 0\.12"),
        (lambda log: log[155:], r"begins in contact, at t = 0\.155 s|Only \d samples"),
        (lambda log: log[147:], r"Only \d samples lie before the strike at t = 0\.1[45]\d"),
        (lambda log: log[:158], r"Compression does not end in the log: at t = 0\.15\d s 'wall' still closes"),
        (lambda log: log.assign(**{Q1: -log[Q1], Q3: -log[Q3]}), r"does not close before|no motion|does not end"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told(change: Change, text: str) -> None:
    log = change(frame())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jd.LogWarning)  # of gaps, which are told as such too
        with pytest.raises(jd.BadLog, match=text):
            strike_of(log)


# Units that are off


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda log: log.assign(**{Q1: np.degrees(log[Q1]), Q3: np.degrees(log[Q3])}),
         r"looks like 'q\.q1', 'q\.q3' in deg: .*t = 0\.149.* Say units=\{'q\.q1': 'deg', …\}"),
        (lambda log: log.assign(**{WALL: 1e3 * log[WALL], SLIDE: 1e3 * log[SLIDE]}),
         r"looks like 'force\.wall', 'force\.slide' in mN: .* is 1\.\d+e\+03 times what stops the model"),
        (lambda log: log.assign(**{WALL: 1e-3 * log[WALL]}), r"in kN"),
        (lambda log: log.assign(**{WALL: -log[WALL]}), r"in -N"),
        (lambda log: log.assign(**{T: 1e3 * log[T]}), r"looks like 't' in ms"),
        (lambda log: log.assign(**{T: 1e6 * log[T]}), r"looks like 't' in us"),
        (lambda log: log.rename(columns={T: "t [ms]"}), r"looks like 't' in s:"),
        (lambda log: log.rename(columns={Q1: "q1 [deg]", Q3: "q3 [deg]"}), r"looks like 'q\.q1', 'q\.q3' in rad:"),
        (lambda log: log.assign(**{Q1: np.degrees(log[Q1]), Q3: np.degrees(log[Q3]), WALL: 1e3 * log[WALL]}),
         r"'q\.q1', 'q\.q3' in deg and 'force\.wall', 'force\.slide' in mN"),
        (lambda log: log.assign(**{"v.q1": 0.4 * log[Q1], "v.q3": log[Q3]}), r"The logged rates have 'q\d' move with"),
    ],
)  # fmt: skip
def test_units_that_are_off_are_recognised_and_said(change: Change, text: str) -> None:
    """Whatever the header says, the impulse and the motion do not fit each other."""
    with pytest.raises(jd.BadLog, match=text):
        strike_of(change(frame()))


@pytest.mark.parametrize(
    ("angle", "force", "text"),
    [
        (180 / np.pi, 1.0, r"'q\.a', 'q\.b' in deg: .* units=\{'q\.a': 'rad', …\} if it is right as it is"),
        (1.0, 1e3, r"'force\.wall\.normal' in mN: .* units=\{'force\.wall\.normal': 'N', …\} if it is right"),
    ],
)
def test_a_mechanism_without_units_is_no_obstacle(angle: float, force: float, text: str) -> None:
    _, arm = mujoco_bench.two_links()
    bare = replace(arm, units={})
    wall = bare.contact("wall", normal=arm.find_constraint("wall.normal").C @ bare.symbols.v)
    event = bare.event(inert=[wall])
    run = Testbed(event).run({"a": 0.6, "b": 0.9}, {"a": 1.0, "b": 0.7})
    log = run.record(Sensors(resolution=1e-5), seed=1).frame()
    assert read(log, event).strike().T_c_minus == pytest.approx(run.T_c_minus, rel=0.02)
    log[["q.a", "q.b"]] *= angle
    log["force.wall.normal"] *= force
    with pytest.raises(jd.BadLog, match=text):
        read(log, event).strike()


def test_rates_in_degrees_are_recognised() -> None:
    log = run_once().record(Sensors(rates=True), 1).frame()
    log["v.q1 [rad/s]"], log["v.q3 [rad/s]"] = np.degrees(log["v.q1 [rad/s]"]), np.degrees(log["v.q3 [rad/s]"])
    with pytest.raises(jd.BadLog, match=r"They look like deg/s: say units=\{'v\.q\d': 'deg/s', …\}"):
        strike_of(log)
    right(strike_of(log, units={"v.q1": "deg/s", "v.q3": "deg/s"}))


def test_units_that_are_insisted_on_are_only_warned_about() -> None:
    log = frame().assign(**{WALL: 1e3 * frame()[WALL], SLIDE: 1e3 * frame()[SLIDE]})
    with pytest.warns(jd.LogWarning, match=r"in mN: as it is read|times the .* that stops the model"):
        strike = strike_of(log, units={"wall": "N", "slide": "N"})
    assert strike.impulse["wall"] == pytest.approx(1e3 * run_once().impulse["wall"], rel=0.02)
    assert strike.warnings


# Doubtful, but read


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda log: put(log, Q1, 40, np.nan), r"'q\.q1' is NaN at t = 0\.04 s: such samples are left out"),
        (lambda log: put(log, WALL, slice(20, 30), np.inf), r"'force\.wall' is infinite at t = 0\.02, .*10 in all"),
        (
            lambda log: log.drop(index=range(60, 70)),
            r"Samples are missing after t = 0\.059 s; the longest gap is 11 ms",
        ),
        (lambda log: pd.concat([log[:80], log[79:]]), r"Samples are there twice at t = 0\.079 s"),
        (lambda log: put(log, WALL, 60, 5.0), r"'wall' stands out at t = 0\.06 s for less than 3 samples"),
    ],
)
def test_what_is_doubtful_is_said_with_its_time(change: Change, text: str) -> None:
    with pytest.warns(jd.LogWarning, match=text):
        strike = strike_of(change(frame()))
    right(strike, 0.02)
    assert len(strike.warnings) >= 1


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("noise", [0.0, 2e-3])
def test_a_sensor_that_saturates_is_told(part: float, noise: float) -> None:
    log = frame()
    limit = part * log[WALL].max()
    log[WALL] = np.minimum(log[WALL], limit) + noise * np.random.default_rng(0).standard_normal(len(log))
    with pytest.warns(jd.LogWarning) as said:
        strike = strike_of(log)
    texts = [str(one.message) for one in said]
    assert any(re.match(r"'force\.wall' saturates at \d\.\d+ N from t = 0\.1\d+ to 0\.1\d+ s: its", t) for t in texts)
    assert strike.uncertainty["impulse.wall"] == np.inf
    assert "or more" in str(strike)


def frozen(log: Frame, column: str, first: float, last: float, dither: float = 0.0) -> Frame:
    """A log whose channel keeps its value between two times, perhaps to a count."""
    values, t = log[column].to_numpy().copy(), log[T]
    inside = ((t >= first) & (t <= last)).to_numpy()
    values[inside] = values[inside][0] + dither * np.random.default_rng(0).integers(0, 2, inside.sum())
    return log.assign(**{column: values})


@pytest.mark.parametrize("column", [Q1, Q3])
@pytest.mark.parametrize(
    ("first", "last"),
    [(0.0, 1.0), (0.0, 0.149), (0.12, 0.149), (0.139, 0.149), (0.1, 0.2), (0.13, 0.16), (0.155, 1.0), (0.15, 0.2)],
)
@pytest.mark.parametrize("resolution", [None, 2e-4, 0.0])
def test_an_encoder_that_stands_still_is_told(column: str, first: float, last: float, resolution: Any) -> None:
    log = frozen(frame(sensors=Sensors(resolution=resolution)), column, first, last)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with suppress(jd.BadLog):  # it may be too wrong to go on
            strike_of(log)
    name = column.partition(" ")[0]
    texts = [str(one.message) for one in said if "stands still" in str(one.message)]
    assert len(texts) == 1
    assert re.match(
        rf"'{re.escape(name)}' stands still from t = [\d.]+ to [\d.]+ s, but .*: its sensor is stuck", texts[0]
    )


def test_encoders_that_stand_still_together_or_but_for_a_count_are_told() -> None:
    step = 2 * np.pi / 2**18
    log = frozen(frozen(frame(), Q3, 0.0, 1.0, step), Q1, 0.0, 1.0, step)
    with pytest.warns(jd.LogWarning) as said, suppress(jd.BadLog):
        strike_of(log)
    texts = " ".join(str(one.message) for one in said)
    assert "'q.q1' stands still" in texts
    assert "'q.q3' stands still" in texts


def test_a_logged_rate_that_stands_still_is_told() -> None:
    log = run_once().record(Sensors(rates=True, rate_noise=1e-3), 1).frame()
    log.loc[log[T] > 0.149, "v.q3 [rad/s]"] = log["v.q3 [rad/s]"][148]
    with pytest.warns(
        jd.LogWarning, match=r"'v\.q3' stands still from t = 0\.149 to .* the forces of the contact must"
    ):
        strike_of(log)


@pytest.mark.parametrize("push", [0.0, 6.0, 20.0])
@pytest.mark.parametrize("damping", [0.0, 8.0])
@pytest.mark.parametrize("resolution", [None, 1e-4, 0.0])
def test_a_coordinate_at_rest_is_no_encoder_that_stands_still(push: float, damping: float, resolution: Any) -> None:
    """x rests all the time, or sticks; z turns within a count, or comes to rest on the floor under a push."""
    law = jd.laws.Coulomb("mu", 0.0)
    for event, v in ((puck().event(inert=["floor.normal"]), {"z": -0.3}),
                     (puck().event(contacts={"floor": law}), {"z": -0.3, "x": 0.1})):  # fmt: skip
        given = {"mu": 0.5} if "mu" in event.parameters else {}
        surface = Surface(damping=damping, friction=given.get("mu", 0.0))
        run = Testbed(event, surface, push=push).run(v=v, after=0.3, **given)
        log = run.record(Sensors(resolution=resolution), 1).frame()
        for columns in (list(log), [one for one in log if "tangent" not in one]):  # friction need not be logged
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                read(log[columns], event, parameters=given).strike(number=1)
            assert not [one for one in said if "stands still" in str(one.message)]


@pytest.mark.parametrize(("d", "gamma"), [(0.1, -0.3), (0.0, 0.0), (0.2, 0.8)])
def test_an_encoder_that_turns_is_not_taken_for_one_that_stands_still(d: float, gamma: float) -> None:
    run = Testbed(pantograph(), push=0.5).run(d=d, gamma=gamma)
    for resolution in (None, 1e-5, 1e-4, 1e-3):
        log = run.record(Sensors(resolution=resolution), 1).frame()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            read(log, pantograph(), parameters={"d": d}).strike()
        assert not [one for one in said if "stands still" in str(one.message)]


def test_encoders_that_are_too_coarse_are_told() -> None:
    with pytest.warns(
        jd.LogWarning, match=r"from t = 0\.1\d+ s on is only \d+ times as deep as the noise of the coord"
    ):
        strike_of(frame(sensors=Sensors(resolution=3e-3)))
    right(strike_of(frame(sensors=Sensors(resolution=2e-4))), 0.03)


def test_a_coarse_sensor_is_not_taken_for_one_that_saturates() -> None:
    right(strike_of(frame(sensors=Sensors(force_resolution=0.2))), 0.02)


def test_two_contacts_are_told_and_can_be_chosen() -> None:
    one = frame()
    two = one.assign(**{T: one[T] + one[T].iloc[-1] + 1e-3})
    log = pd.concat([one, two], ignore_index=True)
    with pytest.warns(
        jd.LogWarning, match=r"There are 2 contacts in the log, from t = 0\.149\d*, 0\.3\d* s; the first"
    ):
        first = strike_of(log)
    right(first)
    whole = read(log, pantograph(), parameters={"d": 0.2})
    with pytest.raises(jd.BadLog, match=r"The log has 2 contacts; choose number=1 … 2, not 3"):
        whole.strike(number=3)
    right(whole.strike(number=2))


def test_compression_that_fades_is_told() -> None:
    """A force that stops the tip without springing back: the end is where hardly any closing is left."""
    x, m, tau = 0.5, 0.7, 4e-3  # u decays as e^(−t/τ)
    t = np.arange(400) * 1e-3
    s = np.maximum(t - 0.2005, 0)
    z = np.where(s > 0, 0.3 * tau * np.expm1(-s / tau), -0.3 * (t - 0.2005))
    force = np.where(s > 0, m * 0.3 / tau * np.exp(-s / tau), 0.0) + np.where(s > 0, 2e-3, 0.0)
    import casadi as ca

    q, v = ca.SX.sym("z"), ca.SX.sym("vz")
    mass = jd.Mechanism.from_casadi(q, v, m * ca.SX.eye(1), units={"z": "m"})
    event = mass.event(inert=[mass.contact("floor", normal=q, level="position", units="m")])
    with pytest.warns(jd.LogWarning, match=r"Compression fades out rather than ends: from t = 0\.21\d s on"):
        strike = read({"t": t, "z": z, "floor.normal": force}, event).strike()
    assert strike.impulse["floor.normal"] == pytest.approx(m * 0.3, rel=0.06)
    assert strike.onset == pytest.approx(0.2005, abs=1e-3)
    assert x == 0.5


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"onset": "x"}, "onset is a time in s, not 'x'"),
        ({"window": 0.0}, "window is a time in s, above 0, not 0.0"),
        ({"onset": 5.0}, "onset = 5 s lies outside the log|No contact follows onset = 5 s"),
        ({"end": 0.1}, "end = 0.1 s must lie behind the onset"),
        ({"number": 0}, "choose number=1"),
    ],
)
def test_what_is_asked_wrongly_is_told(asked: dict, text: str) -> None:
    log = read(frame(), pantograph(), parameters={"d": 0.2})
    with pytest.raises(jd.BadLog, match=text):
        log.strike(**asked)


def test_times_that_are_given_far_off_are_told() -> None:
    log = read(frame(), pantograph(), parameters={"d": 0.2})
    with pytest.warns(jd.LogWarning, match=r"The onset is given as 0\.1 s, but 'wall' is first felt at t = 0\.149"):
        log.strike(onset=0.1)
    with pytest.warns(jd.LogWarning, match=r"The end of compression is given as 0\.161 s, but 'wall' still has u = -0"):
        log.strike(end=0.161)


@pytest.mark.parametrize(
    ("source", "asked", "text"),
    [
        (3, {}, "A log is a .csv or .parquet file, a DataFrame or a dict of arrays, not int"),
        ("nowhere.csv", {}, "There is no file 'nowhere.csv'"),
        (None, {"columns": {"q9": "a"}}, "There is no column of a log 'q9'"),
        (None, {"columns": {"q1": "a"}}, "There is no column 'a'"),
        (None, {"columns": {"q1": 1}}, "columns and units are dicts of texts, but 'q1' has 1"),
        (None, {"normal": "slide"}, "There is no struck row 'slide'"),
        (None, {"parameters": {"d": [0.1, 0.2]}}, "one strike at a time"),
    ],
)
def test_what_is_no_log_is_told(source, asked: dict, text: str) -> None:
    with pytest.raises(jd.Error, match=text):
        read(frame() if source is None else source, pantograph(), **asked)


def test_uncertain_stamps_are_allowed_for() -> None:
    """Stamps that are off by 30 µs: the numbers are less sure, and say so."""
    rng = np.random.default_rng(0)
    errors, stated = [], []
    for seed in range(20):
        log = frame(seed)
        log[T] += 3e-5 * rng.standard_normal(len(log))
        strike = strike_of(log)
        errors.append(strike.T_c_minus / run_once().T_c_minus - 1)
        stated.append(strike.uncertainty["T_c_minus"] / run_once().T_c_minus)
    assert np.max(np.abs(errors)) < 0.06
    assert np.std(errors) < 3 * np.mean(stated)


def test_contacts_of_a_channel() -> None:
    t: Any = np.arange(300) * 1e-3
    force = np.where((t > 0.1) & (t < 0.12), 5 * np.sin((t - 0.1) / 0.02 * np.pi), 0.0)
    noise = 1e-3 * np.random.default_rng(1).standard_normal(len(t))
    found = find_contacts(t, force + noise + 2.0)
    (contact,) = found.contacts
    assert contact.onset == pytest.approx(0.1, abs=1e-3)
    assert t[contact.last] == pytest.approx(0.12, abs=2e-3)
    assert found.noise == pytest.approx(1e-3, rel=0.3)
    assert not contact.jump
    step = np.where((t > 0.1003) & (t < 0.12), 5.0 * np.exp(-(t - 0.1) / 0.01), 0.0)
    (jump,) = find_contacts(t, step + noise).contacts
    assert jump.jump
    assert jump.onset == pytest.approx(0.1003, abs=1e-3)


# Files, which are never touched


@pytest.mark.parametrize("form", ["plain", "semicolons", "tabs", "comments", "bom", "latin", "parquet"])
def test_files_are_read_and_left_alone(form: str, tmp_path: Path) -> None:
    log = frame()
    path = tmp_path / ("log.parquet" if form == "parquet" else "log.csv")
    if form == "parquet":
        log.to_parquet(path)
    elif form == "semicolons":
        log.to_csv(path, sep=";", decimal=",", index=False)
    elif form == "tabs":
        log.to_csv(path, sep="\t", index=False)
    elif form == "latin":
        log = log.assign(**{Q1: np.degrees(log[Q1])}).rename(columns={Q1: "q1 [°]"})
        path.write_bytes(log.to_csv(index=False).encode("latin-1"))
    else:
        before = {"comments": "# rig 7\n# second try\n", "bom": "\ufeff"}.get(form, "")
        path.write_text(before + log.to_csv(index=False), encoding="utf-8")
    path.chmod(0o444)
    kept = hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns
    right(read(path, pantograph(), parameters={"d": 0.2}).strike())
    assert (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns) == kept
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("log.csv", b"", "is empty; a log has a header and samples"),
        ("log.csv", b"t,q1\n1,2\n1,2,3\n", "cannot be read: CSV parse error"),
        ("log.parquet", b"not parquet", "cannot be read"),
        ("log.xlsx", b"", "is no log that can be read; give a .csv or .parquet file"),
    ],
)
def test_files_that_are_no_logs_are_told(name: str, content: bytes, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(jd.BadLog, match=text):
        read(path, pantograph())


# The command line


def test_a_testbed_writes_a_log_and_log_reads_it(command, tmp_path: Path) -> None:
    path, picture, curves = tmp_path / "run.csv", tmp_path / "run.png", tmp_path / "curves.csv"
    given = ("d=0.2", "gamma=30", "push=0.5", "surface.friction=0.1", "sensors.force_noise=0.002")
    settings = [word for one in given for word in ("--set", one)]
    code, out, err = command("testbed", "pantograph", *settings, "--out", path)
    assert (code, err) == (0, "")
    assert "impulse along slide: −0.009" in out
    kept = path.read_bytes()
    code, out, err = command("log", path, "--model", "pantograph", "--set", "d=0.2", "--plot", picture, "--out", curves)
    assert (code, err) == (0, "")
    for word in ("onset 0.149", "T_c⁻/T⁻", "λ̄ wall (N s)", f"wrote {curves}", f"wrote {picture}"):
        assert word in out
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert curves.read_text().startswith("t [s],T [J],T_c [J],T_a [J],u [m/s],force.wall [N],force.slide [N]\n")
    assert path.read_bytes() == kept


def test_several_logs_are_repeats(command, tmp_path: Path) -> None:
    paths = [tmp_path / f"{i}.parquet" for i in range(3)]
    for i, path in enumerate(paths):
        run_once().record(seed=i).write(path)
    code, out, _ = command("log", *paths, "--model", "pantograph", "--set", "d=0.2", "--out", tmp_path / "all.csv")
    assert code == 0
    assert "3 strikes" in out
    assert "spread" in out
    table = read_csv(tmp_path / "all.csv")
    assert len(table) == 3
    assert "impulse.wall [N s]" in table.columns


def test_logs_of_an_elastic_event_are_compared_after_the_contact(command, tmp_path: Path) -> None:
    (tmp_path / "rig.py").write_text(
        "import jourdain as jd\nfrom cases import puck\n"
        "event = puck().event(contacts={'floor': jd.laws.Coulomb(0.2, 0.9)})\n"
    )
    run = Testbed(puck().event(contacts={"floor": jd.laws.Coulomb(0.2, 0.9)}), Surface(damping=0.5, friction=0.2)).run(
        v={"z": -0.3, "x": 0.4}
    )
    paths = [tmp_path / f"{i}.csv" for i in range(2)]
    for i, path in enumerate(paths):
        run.record(seed=i).write(path)
    for chosen in (paths[:1], paths):
        code, out, err = command("log", *chosen, "--model", f"{tmp_path}/rig.py:event", "--out", tmp_path / "out.csv")
        assert (code, err) == (0, "")
        table = out[out.index("after the contact\n" if len(chosen) > 1 else "after the contact  ") :]
        rows = [line for line in table.splitlines() if line.endswith("%")]
        off = {line.partition("  ")[0]: float(line.split()[-2].replace("−", "-")) for line in rows}
        assert {"T⁺ (J)", "λ̄ floor.normal (N s)", "e Newton", "e Poisson", "|λ̄_t|/λ̄_n"} <= off.keys()
        assert max(map(abs, off.values())) < 7
    assert {"restitution_newton", "friction_ratio"} <= {*read_csv(tmp_path / "out.csv").columns}


def test_a_refusal_comes_with_what_is_doubtful(command, tmp_path: Path) -> None:
    frozen(frame(), Q1, 0.0, 1.0).to_csv(tmp_path / "log.csv", index=False)
    code, _, err = command("log", tmp_path / "log.csv", "--model", "pantograph", "--set", "d=0.2")
    assert code == 2
    assert "warning: 'q.q1' stands still from t = 0.149" in err


def test_a_model_of_ones_own(command, tmp_path: Path) -> None:
    run_once().record(seed=1).write(tmp_path / "log.csv")
    (tmp_path / "rig.py").write_text(
        "import jourdain as jd\n"
        "mine = jd.gallery.pantograph()\n"
        "def made(coordinates='minimal'):\n    return jd.gallery.pantograph(coordinates)\n"
        "def bad():\n    raise RuntimeError('no rig')\n"
        "event = mine.event\nnumber = 3\n"
    )
    for name in ("mine", "made", "event"):
        code, out, err = command("log", tmp_path / "log.csv", "--model", f"{tmp_path}/rig.py:{name}")
        assert (code, err) == (0, ""), name
        assert "onset 0.149" in out
    for name, text in (("bad", "cannot be run: RuntimeError: no rig"), ("number", "is not one event"),
                       ("other", "There is no name in")):  # fmt: skip
        code, _, err = command("log", tmp_path / "log.csv", "--model", f"{tmp_path}/rig.py:{name}")
        assert code == 2
        assert text in err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--model", "pantograf"], "There is no problem 'pantograf'; did you mean 'pantograph'?"),
        (["--model", "compass_gait"], "'compass_gait' is not one event"),
        (["--model", "pantograph", "--set", "dd=1"], "There is no parameter 'dd'"),
        (["--model", "pantograph", "--column", "q1=Encoder"], "There is no column 'Encoder'"),
        (["--model", "pantograph", "--unit", "q1=parsec"], "Column 'q.q1' is in 'parsec'"),
        (["--model", "pantograph", "--strike", "4"], "The log has 1 contacts; choose --strike 1"),
        (["--model", "pantograph", "--out", "LOG"], "is the log itself; choose another name"),
        (["--model", "pantograph", "--unit", "wall=kN"], "Say --unit force.wall=N or write it into the header"),
    ],
)
def test_mistakes_exit_with_2(command, arguments: list[str], text: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    run_once().record(seed=1).write(path)
    kept = path.read_bytes()
    code, _, err = command("log", path, *(str(path) if word == "LOG" else word for word in arguments))
    assert code == 2
    assert text in err
    assert "Traceback" not in err
    assert path.read_bytes() == kept


def test_warnings_are_printed(command, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    put(frame(), Q1, 40, np.nan).to_csv(path, index=False)
    code, out, err = command("log", path, "--model", "pantograph", "--set", "d=0.2")
    assert code == 0
    assert "warning: 'q.q1' is NaN at t = 0.04 s" in err
    assert "onset" in out


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (["surface.stifness=1"], "There is no number of the surface 'stifness'; did you mean 'stiffness'?"),
        (["surface.stiffness=-1"], "The stiffness of a surface is above 0"),
        (["gamma=180"], "'wall' does not close at the strike"),
        (["pusch=1"], "There is no parameter 'pusch'"),
    ],
)
def test_mistakes_of_the_testbed_exit_with_2(command, settings: list[str], text: str, tmp_path: Path) -> None:
    given = [word for setting in settings for word in ("--set", setting)]
    code, _, err = command("testbed", "pantograph", *given, "--out", tmp_path / "log.csv")
    assert code == 2
    assert text in err
    assert not (tmp_path / "log.csv").exists()


# Numbers, names and units that no log has


@pytest.mark.parametrize(
    "value", [1e300, -1e308, 1e160, 1e40, 10**400, pytest.param(-(10**5000), id="long"), [1.0], {}, 1j]
)
@pytest.mark.parametrize("column", [T, Q1, WALL])
@pytest.mark.parametrize("sample", [0, 100, -1])
def test_numbers_that_nothing_measures_are_told(value: Any, column: str, sample: int) -> None:
    table = {name: list(values) for name, values in run_once().record(seed=1).frame().items()}
    table[column][sample] = value
    with pytest.raises(jd.BadLog, match=r"which nothing measures|is too large|is no number|has the shape") as caught:
        read(table, pantograph())
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("unit", [b"\xff\xfe", b"\xb0", b"\xc3"])
def test_units_of_parquet_that_are_not_utf_8_are_told(unit: bytes, tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.Table.from_pandas(run_once().record(seed=1).frame())
    fields = [field.with_metadata({b"units": unit}) for field in table.schema]
    parquet.write_table(table.cast(pyarrow.schema(fields)), tmp_path / "x.parquet")
    with pytest.raises(jd.BadLog, match=r"The unit of column 't .s.' is not UTF-8"):
        read(tmp_path / "x.parquet", pantograph())


@pytest.mark.parametrize("name", ["x" * 300 + ".csv", "loop.csv", "loop.csv/x.csv", "a/" * 3000 + "x.parquet"])
def test_files_that_cannot_be_are_told(name: str, tmp_path: Path) -> None:
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    with pytest.raises(jd.BadLog, match="There is no file"):
        read(tmp_path / name, pantograph())


def test_headers_of_several_lines() -> None:
    assert header("force\nleft [N]") == ("force\nleft", "N")
