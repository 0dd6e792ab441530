"""What fits in memory: limits of the machine, the process and its control groups; refusals before anything is made."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import psutil
import pytest

import jourdain as jd
from jourdain import gallery
from jourdain.compute import memory
from jourdain.inputs import n_entries
from jourdain.studies import touchdown

GB = 10**9


# Limits


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is not kept elsewhere")
@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_limits_of_the_process_are_seen(limit):
    import resource

    which = getattr(resource, limit)
    soft, hard = resource.getrlimit(which)
    taken = psutil.Process().memory_info()
    before = taken.vms if limit == "RLIMIT_AS" else taken.data
    resource.setrlimit(which, (before + GB, hard))
    try:
        assert memory.available() <= 1.01 * GB
        with pytest.raises(
            jd.TooLarge, match=r"has 1,000,000,000 events of 1 number, 9 GB, but .*B are free; take less"
        ):
            memory.refuse_too_large("It", GB, 1, "take less")
    finally:
        resource.setrlimit(which, (soft, hard))


def group(folder: Path, version: int, limit: str, used: int, given_back: int) -> None:
    names = ("memory.max", "memory.current") if version == 2 else ("memory.limit_in_bytes", "memory.usage_in_bytes")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / names[0]).write_text(f"{limit}\n")
    (folder / names[1]).write_text(f"{used}\n")
    name = "inactive_file" if version == 2 else "total_inactive_file"
    (folder / "memory.stat").write_text(f"anon 5\n{name} {given_back}\n")


UNLIMITED = {1: "9223372036854771712", 2: "max"}


@pytest.mark.parametrize(("version", "place", "line"), [
    (2, "", "0::/a/b"), (2, "unified", "0::/a/b"), (1, "memory", "4:memory:/a/b"), (1, "memory", "4:cpu,memory:/a/b"),
])  # fmt: skip
@pytest.mark.parametrize("limited", ["a", "a/b", "", None])
def test_limits_of_control_groups_are_seen(tmp_path, version, place, line, limited):
    """Of the group itself, of one above it, of the root of a container; the system takes back what files are cached."""
    for path in ("", "a", "a/b"):
        limit = str(3 * GB) if path == limited else UNLIMITED[version]
        group(tmp_path / place / path, version, limit, 2 * GB, GB // 2)
    own = tmp_path / "own"
    own.write_text(f"9:pids:/\n{line}\n")
    found = min(memory._group_limits(tmp_path, own), default=math.inf)
    if limited is None:
        assert found == math.inf
    else:
        assert found == 1.5 * GB


@pytest.mark.parametrize("line", ["0::/not/seen/from/here", "4:memory:/../../x", "0::/", "nonsense", ""])
def test_groups_that_are_not_seen_leave_those_above(tmp_path, line):
    for version, place in ((2, ""), (1, "memory")):
        group(tmp_path / place, version, str(3 * GB), 2 * GB, 0)
    own = tmp_path / "own"
    own.write_text(f"{line}\n")
    assert set(memory._group_limits(tmp_path, own)) <= {float(GB)}
    assert bool(list(memory._group_limits(tmp_path, own))) == (line.count(":") == 2)
    assert list(memory._group_limits(tmp_path, tmp_path / "none")) == []


def test_the_least_limit_counts(monkeypatch):
    for own, groups in (([5.0], [7.0]), ([7.0], [5.0])):
        monkeypatch.setattr(memory, "_own_limits", lambda own=own: iter(own))
        monkeypatch.setattr(memory, "_group_limits", lambda groups=groups: iter(groups))
        assert memory.available() == 5.0
    monkeypatch.setattr(memory, "_own_limits", lambda: iter([-3.0]))
    assert memory.available() == 0


# Refusals


@pytest.mark.parametrize(("values", "n"), [
    (range(10), 10), (range(10**30), sys.maxsize), (np.ones((3, 4)), 12), (2.0, 1), ([1, 2], 2), (iter([]), 1),
])  # fmt: skip
def test_sizes_are_known_before_arrays_are_made(values, n):
    assert n_entries(values) == n


HUGE = 10**10
VIEW = np.broadcast_to(0.3, HUGE)  # takes no room itself
ZEROS = np.broadcast_to(0.0, HUGE)
AXIS = np.linspace(0.2, 0.9, 100_000)
BED = jd.experiment.Testbed(gallery.particle())
REFUSED = {
    "an axis": lambda s: s.sweep(theta=VIEW),
    "an axis, one number kept": lambda s: s.sweep(theta=VIEW, keep="loss"),
    "a range": lambda s: s.sweep(theta=range(HUGE), keep="loss"),
    "samples": lambda s: s.sweep(samples={"theta": VIEW}, keep="loss"),
    "a grid": lambda s: s.sweep(theta=AXIS, rho=AXIS, keep="loss"),
    "broadcast parameters": lambda s: s.solve(theta=AXIS[:, None], rho=AXIS),
    "gradients": lambda s: s.gradient("loss", "theta", theta=VIEW),
    "states of an event": lambda s: s.event.solve(q=np.broadcast_to(0.3, (HUGE, 5))),
    "mass matrices": lambda s: s.event.mechanism.mass_matrix(np.broadcast_to(0.3, (HUGE, 5))),
    "raw arrays": lambda s: jd.transition(np.broadcast_to(np.eye(2), (HUGE, 2, 2)), [1.0, 2.0], inert=[[1.0, 0.0]]),
    "raw arrays that broadcast": lambda s: jd.transition(
        np.eye(2), np.ones((10**5, 1, 2)), inert=np.ones((10**5, 1, 2))
    ),
    "a state by name": lambda s: s.event.solve(q={"stance": VIEW}),
    "a velocity by name": lambda s: s.event.solve(v={"stance": VIEW}),
    "names that broadcast": lambda s: s.event.solve(q={"stance": AXIS[:, None], "swing": AXIS}),
    "a range by name": lambda s: s.event.solve(q={"stance": range(HUGE)}),
    "a range of a parameter": lambda s: s.event.solve(m=range(HUGE)),
    "projectors": lambda s: s.event.projectors({"stance": VIEW}),
    "rows": lambda s: jd.transition(np.eye(2), [1.0, 2.0], inert=np.broadcast_to(1.0, (HUGE, 1, 2))),
    "times of a motion": lambda s: gallery.bouncing_ball().simulate(until=0.1).at(ZEROS),
    "samples of a log": lambda s: BED.run().record(jd.experiment.Sensors(rate=1e12)),
    "times of a strike": lambda s: BED.run().at(ZEROS),
    "states around a touchdown": lambda s: touchdown.study(s, ("heel",), {}, HUGE),
    "starts of a search": lambda s: s.minimize("loss", {"theta": (0.2, 0.9)}, starts=HUGE),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_fit_is_refused_before_it_is_made(what, monkeypatch):
    scenario = gallery.walker()
    monkeypatch.setattr(memory, "available", lambda: 4.0 * GB)
    before = psutil.Process().memory_info().rss
    with pytest.raises(jd.TooLarge, match=r"has [\d,]+ \w+ of \d+ numbers?, .*B, but 4 GB are free; .*\w+ .*\."):
        REFUSED[what](scenario)
    assert psutil.Process().memory_info().rss - before < 3e8


@pytest.mark.parametrize("sweep", [["theta=10:60:1000000000"], ["theta=10:60:60000", "rho=0:0.5:60000"]])
def test_axes_of_the_command_line_are_refused_before_they_are_made(command, monkeypatch, sweep):
    def made(*_: object) -> None:
        raise AssertionError("an axis was made")

    monkeypatch.setattr(memory, "available", lambda: 12.0 * GB)
    monkeypatch.setattr(np, "linspace", made)
    code, _, err = command("run", "walker", *(word for axis in sweep for word in ("--sweep", axis)), "--keep", "loss")
    assert code == 2
    assert "but 12 GB are free; take fewer points" in err


@pytest.mark.parametrize("words", [
    ["run", "touchdown", "--samples", "1000000000000"],
    ["testbed", "particle", "--out", "log.csv", "--set", "sensors.rate=1e12"],
    ["testbed", "particle", "--out", "log.csv", "--set", "lead=1e9"],
])  # fmt: skip
def test_numbers_of_samples_are_refused_before_they_are_made(command, monkeypatch, tmp_path, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(memory, "available", lambda: 12.0 * GB)
    code, _, err = command(*words)
    assert code == 2
    assert "but 12 GB are free; take" in err
    assert not list(tmp_path.iterdir())


def test_what_is_said_to_fit_fits():
    """The peak of a long sweep is not above what was counted."""
    import tracemalloc

    scenario, axis = gallery.walker(), np.linspace(0.2, 0.9, 100_000)
    for keep, n_numbers in (("loss", 1), (["loss", "v_plus"], 6)):
        scenario.sweep(theta=axis[:2000], keep=keep)
        tracemalloc.start()
        scenario.sweep(theta=axis, keep=keep)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1.05 * axis.size * (8 * n_numbers + 1 + 16) + 2e5
