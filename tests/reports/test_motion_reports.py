"""Pages of gaits and motions: whole, with the library's own numbers, and with a script that gives them again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import jourdain as jd
from cases import MOTIONS
from html_pages import Page, check_alone
from jourdain.motion.gait import Gait
from jourdain.motion.trajectory import Trajectory
from jourdain.reports.motions import gait_report, motion_report

DIGITS = 5.1e-6  # relative: six significant digits


def number(text: str) -> float:
    return float(text.replace("−", "-").split("°")[0].split()[0])


def again(page: Page, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict:
    """What the script of a page leaves."""
    monkeypatch.chdir(folder)
    names: dict = {}
    exec(page.code[-1], names)
    return names


def check_events(page: Page, run: Trajectory) -> None:
    """When events were, and what they cost."""
    header, *rows = page.tables[next(title for title in page.tables if title.startswith("Events"))]
    for event, row in zip(run.events, rows, strict=False):
        cells = dict(zip(header, row, strict=True))
        assert number(cells["time in s"]) == pytest.approx(event.t, rel=DIGITS)
        if event.outcome is not None:
            T = float(event.outcome.T_minus)
            assert number(cells["lost in J"]) == pytest.approx(event.lost, rel=DIGITS, abs=1e-12 * T)
            assert number(cells["T⁻ in J"]) == pytest.approx(T, rel=DIGITS)


def check_gait(gait: Gait, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = check_alone(gait_report(gait).html())
    short = dict(page.tables["1"])
    assert number(short["period"]) == pytest.approx(gait.period, rel=DIGITS)
    assert short["stable"].startswith("yes" if gait.stable else "no")
    largest = float(np.abs(gait.multipliers).max())
    assert number(short["largest modulus of the multipliers"]) == pytest.approx(largest, rel=DIGITS)
    title = next(title for title in page.tables if title.startswith("Multipliers"))
    for row, one in zip(page.tables[title][1:], gait.multipliers, strict=False):
        expected = [abs(one), one.real, one.imag]
        assert list(map(number, row)) == pytest.approx(expected, rel=DIGITS, abs=1e-12)
    state = page.tables["State just after the event, relabelled"][1:]
    assert len(state) == len(gait.q) + len(gait.v)
    names = [*gait.coordinate]
    for row, (name, value) in zip(state, gait.coordinate.items(), strict=False):
        size = np.pi / 180 if gait.hybrid.mechanism.units.get(name) == "rad" else 1.0
        assert row[0] in names
        assert number(row[1]) * size == pytest.approx(value, rel=DIGITS, abs=1e-12)
    check_events(page, gait.trajectory)
    found = again(page, folder, monkeypatch)["gait"]
    assert found.period == pytest.approx(gait.period, rel=1e-9)
    np.testing.assert_allclose(found.q, gait.q, atol=1e-8)


def check_motion(run: Trajectory, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = check_alone(motion_report(run).html())
    assert dict(page.tables["1"])["events"] == str(len(run.events))
    if run.events:
        check_events(page, run)
    kinetic, potential = page.tables["Energy"][1:3]
    energy = run.energy
    scale = max(abs(energy.kinetic).max(), abs(energy.potential).max())
    for row, part in ((kinetic, energy.kinetic), (potential, energy.potential)):
        assert list(map(number, row[1:])) == pytest.approx([part[0], part[-1]], rel=DIGITS, abs=1e-12 * scale)
    found = again(page, folder, monkeypatch)["run"]
    assert len(found.events) == pytest.approx(len(run.events), abs=1)  # the last one may be at the end
    n = min(len(found.events), len(run.events))
    assert [one.t for one in found.events[:n]] == pytest.approx([one.t for one in run.events[:n]], rel=1e-9)


def test_a_gait_at_other_parameters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gait = jd.gallery.compass_gait().gait(slope=0.07)
    check_gait(gait, tmp_path, monkeypatch)
    gait.report(tmp_path / "gait.html", title="A walk & <more>")
    page = check_alone((tmp_path / "gait.html").read_text(encoding="utf-8"))
    assert page.headings[0] == "A walk & <more>"
    assert ["slope", "", "4.0107°", "0.07", "given"] in page.tables["Parameters"]


def test_a_motion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = jd.gallery.bouncing_ball().simulate(until=2.0, kappa=0.7)
    check_motion(run, tmp_path, monkeypatch)
    run.report(tmp_path / "run.html")
    assert check_alone((tmp_path / "run.html").read_text(encoding="utf-8")).headings[0] == "Bouncing ball"


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", MOTIONS)
def test_every_problem_that_moves_has_a_page(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = getattr(jd.gallery, name)()
    if system.near is None:
        check_motion(system.simulate(), tmp_path, monkeypatch)
    else:
        check_gait(system.gait(), tmp_path, monkeypatch)


def test_a_system_of_ones_own(tmp_path: Path) -> None:
    """Nothing to draw, no gallery: the page says what its script needs."""
    import casadi as ca

    z, w = ca.SX.sym("z<b>"), ca.SX.sym("w")
    ball = jd.Mechanism.from_casadi(z, w, ca.SX.eye(1), potential=9.81 * z)
    floor = ball.constraint("floor", z, level="position")
    bounce = jd.Switch("flight", "flight", guard=floor, event=ball.event(elastic={floor: 0.5}))
    run = jd.Hybrid(ball, {"flight": []}, [bounce]).simulate([1.0], until=1.0)
    text = motion_report(run).html()
    assert "<b>" not in text
    page = check_alone(text)
    assert any("the system that this page does not hold" in said for said in page.captions)
    names: dict = {"system": run.hybrid}
    exec(page.code[-1].rpartition("run.report")[0], names)
    assert [one.t for one in names["run"].events] == pytest.approx([one.t for one in run.events])


def test_what_is_refused(tmp_path: Path) -> None:
    run = jd.gallery.bouncing_ball().simulate(until=0.5)
    with pytest.raises(jd.Error, match=r"does not end in \.html"):
        run.report(tmp_path / "run.pdf")
    assert list(tmp_path.iterdir()) == []
