"""`--report` on the command line: the page, where it is refused, and that nothing is left by halves."""

from __future__ import annotations

from pathlib import Path

import pytest

import jourdain as jd
from html_pages import check_alone


def page_at(path: Path):
    return check_alone(path.read_text(encoding="utf-8"))


def test_an_event(command, tmp_path):
    path = tmp_path / "walker.html"
    code, said, wrong = command("run", "walker", "--set", "theta=50", "--report", path)
    assert (code, wrong) == (0, "")
    assert said.rstrip().endswith(f"wrote {path}")
    page = page_at(path)
    assert page.code[0] == f"jourdain run walker --set theta=50 --report {path}"
    assert "theta=0.8726646259971648" in page.code[1]
    assert ["theta", "θ", "50°", "0.872665", "given"] in page.tables["Parameters"]
    loss = float(jd.gallery.walker().solve(theta=0.8726646259971648).loss)
    assert dict(page.tables["1"])["lost, T⁻ − T⁺"].startswith(f"{loss:.6g} J")


def test_beside_other_files_and_json(command, tmp_path):
    files = [tmp_path / name for name in ("w.csv", "w.png", "w.html")]
    code, said, _ = command("run", "walker", "--out", files[0], "--plot", files[1], "--report", files[2])
    assert code == 0
    assert said.split()[-6:] == ["wrote", str(files[0]), "wrote", str(files[1]), "wrote", str(files[2])]
    assert all(file.stat().st_size > 100 for file in files)
    files[2].unlink()
    code, said, _ = command("run", "walker", "--json", "--report", files[2])
    assert code == 0
    assert said.startswith("{")
    assert page_at(files[2]).headings[0] == "Walker"


def test_a_gait_a_motion_and_an_optimum(command, tmp_path):
    path = tmp_path / "x.html"
    assert command("run", "compass_gait", "--set", "slope=4", "--report", path)[0] == 0
    assert "period" in dict(page_at(path).tables["1"])
    assert command("run", "bouncing_ball", "--set", "until=1", "--report", path)[0] == 0
    assert dict(page_at(path).tables["1"])["duration"] == "1 s"
    assert command("run", "walker", "--minimize", "loss", "--over", "rho=0:0.5", "--report", path)[0] == 0
    rho = next(row for row in page_at(path).tables["Parameters"] if row[0] == "rho")
    assert rho[-1] == "given"
    assert command("run", "walker", "--project", "--report", path)[0] == 0
    assert "'project'" in page_at(path).code[-1]


def test_a_log_and_repeats(command, tmp_path):
    logs, path = [tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "x.html"
    run = jd.experiment.Testbed(jd.gallery.pantograph(), push=0.5).run(d=0.2, gamma=0.5)
    for seed, log in enumerate(logs):
        run.record(seed=seed).write(log)
    for several in (logs[:1], logs):
        code, said, _ = command("log", *several, "--model", "pantograph", "--set", "d=0.2", "--report", path)
        assert code == 0
        assert said.rstrip().endswith(f"wrote {path}")
        page = page_at(path)
        assert page.headings[0] == "Pantograph: measured"
        assert page.code[0].startswith("jourdain log ")
        path.unlink()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["walker", "--report", "x.pdf"], "'x.pdf' does not end in .html"),
        (["walker", "--report", "x"], "call it 'x.html'"),
        (["walker", "--report", "no/x.html"], "The folder 'no' does not exist; make it first."),
        (["walker", "--report", "x.html", "--sweep", "rho=0,1"], "--report shows one event, and --sweep is none"),
        (["walker", "--report", "x.html", "--gradient", "loss"], "--report shows one event, and --gradient is none"),
        (["walker", "--report", "x.html", "--symbolic"], "--report shows one event, and --symbolic is none"),
        (["walker", "--report", "x.html", "--report", "y.html"], "--report is given 2 times"),
        (["compass_gait", "--report", "x.html", "--sweep", "slope=3:4:3"], "--report shows one motion or gait"),
        (["compass_gait", "--report", "x.png"], "does not end in .html"),
        (["pantograph", "--report", "x.html", "--set", "d=9"], "pose"),
    ],
)
def test_what_is_refused(words: list[str], message: str, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, said, wrong = command("run", *words)
    assert (code, said) == (2, "")
    assert message in wrong
    assert "Traceback" not in wrong
    assert list(tmp_path.iterdir()) == []


def test_the_log_itself_is_not_written_to(command, tmp_path):
    path = tmp_path / "log.html"
    path.write_text("precious")
    code, _, wrong = command("log", path, "--model", "pantograph", "--report", path)
    assert code == 2
    assert "is the log itself; choose another name" in wrong
    assert path.read_text() == "precious"


def test_a_page_that_cannot_be_made_leaves_nothing(command, tmp_path, monkeypatch):
    """What fails while the page is made leaves no numbers and no picture either."""

    def fails(*_: object, **__: object) -> None:
        raise jd.Error("It cannot be drawn.")

    monkeypatch.setattr("jourdain.reports.outcome.energy_bars", fails)
    code, said, wrong = command("run", "walker", "--out", tmp_path / "w.csv", "--report", tmp_path / "w.html")
    assert (code, said) == (2, "")
    assert "It cannot be drawn." in wrong
    assert list(tmp_path.iterdir()) == []
