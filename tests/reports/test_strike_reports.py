"""Pages of measured strikes and repeats: the library's numbers and uncertainties, the warnings of the log."""

from __future__ import annotations

from pathlib import Path

import pytest

import jourdain as jd
from html_pages import Page, check_alone
from jourdain.experiment.strike import Strike
from jourdain.experiment.text import beside, number
from jourdain.reports.strikes import repeats_report, strike_report

D = {"d": 0.2}


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("logs")
    bed = jd.experiment.Testbed(jd.gallery.pantograph(), jd.experiment.Surface(friction=0.05), push=0.5)
    run = bed.run(d=0.2, gamma=0.5)
    paths = [folder / f"run <{i}> & co.csv" for i in range(3)]
    for seed, path in enumerate(paths):
        run.record(seed=seed).write(path)
    return paths


def strike(path: Path) -> Strike:
    return jd.experiment.read(path, jd.gallery.pantograph(), parameters=D).strike()


def test_a_strike(logs: list[Path], tmp_path: Path) -> None:
    found = strike(logs[0])
    found.report(tmp_path / "strike.html")
    text = (tmp_path / "strike.html").read_text(encoding="utf-8")
    page = check_alone(text)
    assert str(logs[0]) in page.captions[0]  # escaped
    _, *rows = page.tables["Quantities"]
    comparison = found.compare()
    assert len(rows) == len(comparison.predicted)
    for row, (name, predicted) in zip(rows, comparison.predicted.items(), strict=True):
        assert row[1] == beside(comparison.measured[name], comparison.uncertainty[name])
        assert float(row[2].replace("−", "-")) == pytest.approx(predicted, rel=5.1e-5, abs=1e-12)
    short = dict(page.tables["1"])
    assert short["onset"] == f"{beside(found.onset, found.uncertainty['onset'])} s"
    assert short["impulse wall"] == f"{beside(found.impulse['wall'], found.uncertainty['impulse.wall'])} N s"
    parameters = {row[0]: row for row in page.tables["Parameters"][1:]}
    assert parameters["l1"][2] == "0.1449 m"
    names: dict = {"event": jd.gallery.pantograph().event}
    exec(page.code[-1], names)
    assert names["strikes"][0].T_c_minus == pytest.approx(found.T_c_minus)


def test_repeats(logs: list[Path], tmp_path: Path) -> None:
    repeats = jd.experiment.average([strike(path) for path in logs])
    repeats.report(tmp_path / "repeats.html", title="Three & more")
    page = check_alone((tmp_path / "repeats.html").read_text(encoding="utf-8"))
    assert page.headings[0] == "Three & more"
    _, *rows = page.tables["Quantities"]
    for row, (name, mean) in zip(rows, repeats.mean.items(), strict=True):
        assert row[1:3] == [number(mean, repeats.error[name]), number(repeats.spread[name], repeats.spread[name] / 10)]
    assert [row[0] for row in page.tables["Logs"][1:]] == list(map(str, logs))


def test_warnings_of_the_log_are_on_the_page(logs: list[Path]) -> None:
    frame = jd.experiment.Testbed(jd.gallery.pantograph(), push=0.5).run(gamma=0.5).record(seed=1).frame()
    with pytest.warns(match="Samples are missing"):
        found = jd.experiment.read(frame.drop(index=range(20, 40)), jd.gallery.pantograph()).strike()
    page = check_alone(strike_report(found).html())
    assert "Warnings of the log" in page.headings
    assert any("Samples are missing" in said for said in page.captions)
    assert "a log that is no file" in page.captions[0]
    of_both = Page(repeats_report(jd.experiment.average([found])).html())
    assert any("Samples are missing" in said for said in of_both.captions)


def test_what_is_refused(logs: list[Path], tmp_path: Path) -> None:
    with pytest.raises(jd.Error, match=r"does not end in \.html"):
        strike(logs[0]).report(tmp_path / "strike.pdf")
    assert list(tmp_path.iterdir()) == []
