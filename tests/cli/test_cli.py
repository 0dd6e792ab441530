"""The command line and the demonstration, as a person uses them."""

import inspect
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray

import jourdain as jd
from cases import EVENTS, read_csv
from jourdain import gallery
from jourdain.cli import demo, main
from jourdain.cli.commands.log import as_option
from jourdain.cli.problems import problem
from jourdain.data.columns import Columns
from jourdain.errors import BadArgument
from jourdain.experiment.notices import Keyword, Notice
from jourdain.output.printable import ascii_text
from jourdain.plots import energy_bars


def jourdain(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "jourdain.cli", *arguments], capture_output=True, text=True, encoding="utf-8"
    )


def test_list_names_every_problem():
    result = jourdain("list")
    assert result.returncode == 0
    for name in gallery.__all__:
        assert name in result.stdout


def test_run_takes_degrees_and_structure(tmp_path: Path):
    picture = tmp_path / "energy.png"
    result = jourdain("run", "sleigh", "--set", "case=landing", "--set", "theta=30", "--plot", str(picture))
    assert result.returncode == 0, result.stderr
    assert "theta=30°" in result.stdout
    expected = gallery.sleigh("landing").solve(theta=np.pi / 6)
    assert f"{expected.loss:.6g}" in result.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "sleihg"], "There is no problem 'sleihg'; did you mean 'sleigh'?"),
        (["run", "sleigh", "--set", "thata=3"], "There is no parameter 'thata'; did you mean 'theta'?"),
        (["run", "sleigh", "--set", "theta"], "--set takes PARAMETER=VALUE, not 'theta'."),
        (["run", "sleigh", "--set", "theta=steep"], "theta must be a number, not 'steep'."),
        (["run", "sleigh", "--set", "case=flying"], "There is no case 'flying'; did you mean 'landing'?"),
        (["run", "walker", "--set", "m_H=40"], "The mass matrix is not positive definite"),
        (["run", "sleigh", "--set", "M=-1"], "M is -1 kg; masses and inertias are not negative."),
        (["run", "walker", "--set", "mu=-1"], "'m', 'm_T' cannot be computed from these parameters; change them."),
        (["run", "pantograph", "--set", "d=0.5"], "There is no such pose: 'q1', 'q3' cannot be computed"),
        (["run", "walker", "--out", "a.nc", "--out", "a.csv"], "--out is given 2 times; one file at a time."),
        (["run", "walker", "--out", "a.svg"], "'a.svg' is the name of a picture"),
        (["run", "walker", "--plot", "a.pgf"], "There is no picture format 'pgf'"),
        (["run", "walker", "--plot", "a"], "'a' has no suffix; .png, .svg or .pdf says how it is to be drawn."),
        (["run", "sleigh", "--plot", "/nowhere/at/all.png"], "The folder '/nowhere/at' does not exist"),
        (["run", "sleigh", "--plot", "picture.xyz"], "There is no picture format 'xyz'"),
        (["run", "chain", "--set", "n=2.7"], "n must be a whole number, not '2.7'."),
        (["run", "chain", "--set", "n=inf"], "n must be finite, not 'inf'."),
        (["run", "particle", "--set", "kappa=1.5"], "The restitution of 'floor' is 1.5; it must lie in [0, 1]."),
    ],
)
def test_mistakes_get_one_sentence_and_exit_code_2(arguments, message):
    result = jourdain(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not Path("picture.xyz").exists()


# Sweeps


def test_a_grid_of_heel_strikes(tmp_path: Path):
    """Ends included, degrees in, radians out; the numbers are those of the scenario."""
    path = tmp_path / "x.nc"
    result = jourdain("run", "walker", "--sweep", "theta=10:60:501", "--sweep", "rho=0,0.25,0.5", "--out", str(path))
    assert result.returncode == 0, result.stderr
    assert "theta=10° … 60° (501)" in result.stdout
    assert "1503 events, 1503 ok" in result.stdout
    assert f"wrote {path}" in result.stdout
    expected = gallery.walker().sweep(theta=np.radians(np.linspace(10, 60, 501)), rho=[0, 0.25, 0.5])
    with xarray.open_dataset(path) as ds:
        assert ds.loss.dims == ("theta", "rho")
        xarray.testing.assert_equal(ds.load(), expected)
        assert ds.theta.attrs["units"] == "rad"
    at = expected.impulse.sel(row="heel.normal").argmax(...)
    theta = np.degrees(expected.theta[at["theta"]].item())
    (line,) = (line for line in result.stdout.splitlines() if line.startswith("impulse.heel.normal (N s)"))
    assert line.endswith(f"{expected.impulse.sel(row='heel.normal').max().item():.6g}  theta={theta:.6g}°, rho=0")


@pytest.mark.parametrize("problem", EVENTS)
def test_every_problem_over_each_of_its_parameters(problem: str, command, tmp_path: Path):
    """One at a time, a few points, to a table: what single events give."""
    scenario = getattr(gallery, problem)()
    for name, default in scenario.parameters.items():
        factor = 180 / np.pi if scenario.units.get(name) == "rad" else 1.0
        low = float(default or 0.0) * factor
        high = low + 0.04 * (abs(low) or 1.0) if name != "kappa" else low - 0.1
        path = tmp_path / f"{name}.csv"
        code, out, err = command("run", problem, "--sweep", f"{name}={low!r}:{high!r}:3", "--out", path)
        assert (code, err) == (0, ""), name
        assert "3 events, 3 ok" in out, name
        table = read_csv(path).rename(columns=lambda column: column.partition(" [")[0])
        values = np.linspace(low, high, 3) / factor
        assert table.columns[0] == name
        assert table[name].to_numpy() == pytest.approx(values, rel=1e-14, abs=1e-300)
        assert list(table.status) == ["ok"] * 3
        t = scenario.solve(**{name: values})
        assert table.loss.to_numpy() == pytest.approx(t.loss, rel=1e-9, abs=1e-12 * np.max(t.T_minus))
        for row in scenario.event.layout.rows:
            impulse = table[f"impulse.{row.name}"].to_numpy()
            assert impulse == pytest.approx(t.impulse[row.name], rel=1e-9, abs=1e-9), row.name


def structures() -> list[tuple[str, str, str]]:
    """Problem, keyword and value, of every choice that is not the default; those known by an error's list."""
    found = []
    for name in gallery.__all__:
        for keyword, parameter in inspect.signature(getattr(gallery, name)).parameters.items():
            if isinstance(parameter.default, str):
                try:
                    getattr(gallery, name)(**{keyword: "?"})
                except jd.BadRobot:
                    pass  # a file, or frames of one: no list of choices
                except jd.UnknownName as error:
                    choices = str(error).partition("there are: ")[2].split("'")[1::2]
                    found += [(name, keyword, choice) for choice in choices if choice != parameter.default]
    return found


@pytest.mark.parametrize(("problem", "keyword", "choice"), structures())
def test_every_structure_can_be_swept(problem: str, keyword: str, choice: str, command, tmp_path: Path):
    scenario = getattr(gallery, problem)(**{keyword: choice})
    name, default = next((name, value) for name, value in scenario.parameters.items() if value)
    factor = 180 / np.pi if scenario.units.get(name) == "rad" else 1.0
    values = f"{default * factor!r},{1.01 * default * factor!r}"
    path = tmp_path / "ds.parquet"
    code, out, err = command(
        "run", problem, "--set", f"{keyword}={choice}", "--sweep", f"{name}={values}", "--out", path
    )
    assert (code, err) == (0, "")
    assert f"{keyword}={choice}" in out
    assert pd.read_parquet(path).loss.to_numpy() == pytest.approx(
        scenario.solve(**{name: np.array([1.0, 1.01]) * default}).loss, rel=1e-9, abs=1e-12
    )


def test_a_single_event_to_a_file(command, tmp_path: Path):
    """No axes: one line; no dimension."""
    t = gallery.sleigh("landing").solve(theta=np.pi / 6)
    for suffix in ("csv", "json", "nc", "parquet"):
        path = tmp_path / f"ds.{suffix}"
        code, out, err = command("run", "sleigh", "--set", "case=landing", "--set", "theta=30", "--out", path)
        assert (code, err) == (0, "")
        assert f"{t.loss:.6g}" in out
    table = read_csv(tmp_path / "ds.csv")
    assert len(table) == 1
    assert table["theta [rad]"][0] == pytest.approx(np.pi / 6)
    assert table["loss [J]"][0] == pytest.approx(t.loss, rel=1e-12)
    with xarray.open_dataset(tmp_path / "ds.nc") as ds:
        assert ds.loss.dims == ()
        assert ds.loss.item() == pytest.approx(t.loss, rel=1e-12)
    assert json.loads((tmp_path / "ds.json").read_text(encoding="utf-8"))["data_vars"]["status"]["data"] == 0


def test_keep(command, tmp_path: Path):
    """Only what is asked for, in the file and on the screen; what is shown is kept too."""
    words = ["run", "walker", "--sweep", "theta=20,40", "--keep", "xi", "--keep", "v_plus.torso"]
    code, out, err = command(*words, "--out", tmp_path / "ds.nc")
    assert (code, err) == (0, "")
    with xarray.open_dataset(tmp_path / "ds.nc") as ds:
        assert list(ds.data_vars) == ["xi", "v_plus.torso", "status"]
    assert "v_plus.torso (rad/s)" in out
    assert "loss" not in out
    picture = tmp_path / "loss.png"
    code, out, err = command(*words, "--out", tmp_path / "ds.csv", "--plot", picture, "--show", "loss")
    assert (code, err) == (0, "")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "loss [J]" in read_csv(tmp_path / "ds.csv").columns


@pytest.mark.parametrize(
    ("sweeps", "show"),
    [(["theta=10:60:26"], None), (["theta=10:60:26"], "impulse.heel.normal"), (["theta=10:60:26", "rho=0,0.5"], None),
     (["theta=10:60:26", "rho=0:0.5:11"], "xi")],
)  # fmt: skip
def test_plot_of_a_sweep(command, tmp_path: Path, sweeps: list[str], show: str | None):
    picture = tmp_path / "sweep.svg"
    words = [word for sweep in sweeps for word in ("--sweep", sweep)] + (["--show", show] if show else [])
    code, out, err = command("run", "walker", *words, "--plot", picture)
    assert (code, err) == (0, "")
    assert f"wrote {picture}" in out
    assert b"<svg" in picture.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["sweep.svg"]


def test_events_that_fail_are_told(command, tmp_path: Path):
    """Others keep their numbers; where the first one failed, and why. A step higher than the sphere has no edge."""
    code, out, err = command("run", "step", "--sweep", "h=0.05:0.35:7", "--out", tmp_path / "ds.csv")
    assert (code, err) == (0, "")
    assert "7 events, 4 ok, 3 not_finite" in out
    assert "not_finite, first at h=0.25 m: 'edge.normal' (inert) has no finite coefficients" in out
    table = read_csv(tmp_path / "ds.csv")
    assert list(table.status) == ["ok"] * 4 + ["not_finite"] * 3
    assert table["loss [J]"].isna().tolist() == [False] * 4 + [True] * 3


def test_poses_that_are_not_found_are_told(command):
    code, out, err = command("run", "four_bar", "--sweep", "l2=0.2,0.25,5")
    assert (code, err) == (0, "")
    assert "3 events, 2 ok, 1 not_converged" in out
    assert "not_converged, first at l2=5 m: No 'coupler', 'rocker' near the guess satisfies the geometric rows" in out


def test_the_table_shows_angles_in_degrees(command):
    code, out, _ = command("run", "walker", "--sweep", "theta=20,40", "--keep", "q.stance")
    assert code == 0
    (line,) = (line for line in out.splitlines() if line.startswith("q.stance (°)"))
    assert line.split()[2:] == ["10", "theta=20°", "20", "theta=40°"]


def test_a_sweep_in_which_nothing_varies(command):
    code, out, _ = command("run", "walker", "--sweep", "theta=20")
    assert code == 0
    assert "1 event, 1 ok" in out
    assert "No quantity varies." in out


SLEIGH = ["run", "sleigh", "--sweep", "theta=10:20:3"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "sleigh", "--sweep", "theta"], "--sweep takes PARAMETER=START:STOP:COUNT or PARAMETER=A,B,C, not"),
        (["run", "sleigh", "--sweep", "theta=10:20"], "or PARAMETER=A,B,C, not 'theta=10:20'."),
        (["run", "sleigh", "--sweep", "theta=10:20:3:4"], "or PARAMETER=A,B,C, not 'theta=10:20:3:4'."),
        (["run", "sleigh", "--sweep", "theta=10:20:0"], "The count of theta must be at least 1, not 0."),
        (["run", "sleigh", "--sweep", "theta=10:20:2.5"], "The count of theta must be a whole number, not '2.5'."),
        (["run", "sleigh", "--sweep", "theta=10:20:x"], "The count of theta must be a number, not 'x'."),
        (["run", "sleigh", "--sweep", "theta=10:20:1e15"], "The sweep has 1,000,000,000,000,000 events"),
        (["run", "sleigh", "--sweep", "theta=10,x"], "theta must be a number, not 'x'."),
        (["run", "sleigh", "--sweep", "theta=10,,20"], "theta must be a number, not ''."),
        (["run", "sleigh", "--sweep", "theta=10,nan"], "theta must be finite, not 'nan'."),
        (["run", "sleigh", "--sweep", "theta=0:inf:3"], "theta must be finite, not 'inf'."),
        (["run", "sleigh", "--sweep", "thata=1,2"], "There is no parameter 'thata'; did you mean 'theta'?"),
        (["run", "sleigh", "--sweep", "case=landing,struck"], "'case' changes how 'sleigh' is built"),
        ([*SLEIGH, "--sweep", "theta=1,2"], "--sweep gives 'theta' twice; leave one out."),
        ([*SLEIGH, "--set", "theta=1"], "'theta' is given by --set and by --sweep; leave one out."),
        ([*SLEIGH, "--set", "M=1", "--set", "M=2"], "--set gives 'M' twice; leave one out."),
        ([*SLEIGH, "--keep", "los"], "There is no quantity 'los'; did you mean 'loss'?"),
        ([*SLEIGH, "--keep", "impulse.blad"], "There is no entry of impulse 'blad'; did you mean 'blade'?"),
        (["run", "sleigh", "--keep", "loss"], "--keep says what a --sweep keeps or --out writes"),
        (["run", "sleigh", "--show", "loss"], "--show says what --plot shows of a --sweep"),
        ([*SLEIGH, "--show", "loss"], "--show says what --plot shows of a --sweep"),
        ([*SLEIGH, "--plot", "a.png", "--show", "los"], "There is no quantity 'los'; did you mean 'loss'?"),
        ([*SLEIGH, "--plot", "a.png", "--sweep", "M=1,2", "--sweep", "I=1,2"], "--plot shows one or two swept"),
        ([*SLEIGH, "--plot", "a.png", "--show", "v_plus", "--out", "a.nc"], "'v_plus' has several numbers per event"),
        ([*SLEIGH, "--out", "a.xlsx"], "There is no file format 'xlsx'; there are: 'nc', 'csv', 'parquet', 'json'"),
        ([*SLEIGH, "--out", "a"], "'a' has no suffix; .nc, .csv, .parquet, .json, .tex say how it is to be written."),
        ([*SLEIGH, "--out", "nowhere/a.nc"], "The folder 'nowhere' does not exist; make it first."),
        ([*SLEIGH, "--out", "a.nc", "--plot", "nowhere/a.png"], "The folder 'nowhere' does not exist; make it first."),
        ([*SLEIGH, "--out", "a.nc", "--plot", "."], "'.' is a folder; give the name of a file."),
        (["run", "walker", "--sweep", "m_W=1,2", "--out", "a.nc"], "No event of the sweep has an outcome (2 events"),
        (["run", "sleigh", "--sweep", "M=1,-2"], "M is -2 kg; masses and inertias are not negative."),
        (["run", "walker", "--sweep", "m_W=1,2"], "first at m_W=1 kg: The mass matrix is not positive definite"),
        (["run", "four_bar", "--sweep", "l2=5,6"], "first at l2=5 m: No 'coupler', 'rocker' near the guess"),
        (["run", "step", "--set", "h=0.5"], "'edge.normal' (inert) has no finite coefficients at this state"),
    ],
)
def test_mistakes_of_sweeps(arguments, message, command, tmp_path: Path, monkeypatch):
    """One clear sentence, exit code 2, and nothing written."""
    monkeypatch.chdir(tmp_path)
    code, out, err = command(*arguments)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert out == ""
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("problem", ["walker", "compass_gait"])
def test_a_command_that_only_prints_imports_neither_xarray_nor_matplotlib(problem: str):
    """They take longer than the event."""
    program = f"""if True:
        import sys
        from jourdain.cli.main import app
        app(["run", "{problem}"], standalone_mode=False)
        print([name for name in ("xarray", "matplotlib") if name in sys.modules])
    """
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, encoding="utf-8")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(f"{problem}: ")
    assert result.stdout.splitlines()[-1] == "[]"


def count_calls(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> list[str]:
    """A list that grows by one with each call of a method."""
    calls: list[str] = []
    method = getattr(owner, name)

    def counted(*arguments, **keywords):
        calls.append(name)
        return method(*arguments, **keywords)

    monkeypatch.setattr(owner, name, counted)
    return calls


@pytest.mark.parametrize("suffix", ["csv", "json"])
@pytest.mark.parametrize("problem", ["walker", "particle", "four_bar", "capture"])
def test_an_event_is_solved_once_for_text_file_and_picture(problem: str, suffix: str, command, monkeypatch, tmp_path):
    solved, swept = (count_calls(monkeypatch, *what) for what in ((jd.Event, "solve"), (jd.Scenario, "sweep")))
    code, out, err = command("run", problem, "--out", tmp_path / f"ds.{suffix}", "--plot", tmp_path / "event.png")
    assert (code, err) == (0, "")
    assert out.count("wrote") == 2
    assert len(solved) == 1
    assert not swept


def test_the_columns_of_a_sweep_are_built_once(command, monkeypatch, tmp_path):
    """For the overview, what failed, what pulls, and the file."""
    built, solved = (count_calls(monkeypatch, *what) for what in ((Columns, "_quantities"), (jd.Scenario, "sweep")))
    code, _, err = command("run", "walker", "--sweep", "theta=10:40:4", "--out", tmp_path / "ds.csv")
    assert (code, err) == (0, "")
    assert len(built) == len(solved) == 1


@pytest.mark.parametrize("step", [6, pytest.param(1, marks=pytest.mark.exhaustive)])
def test_demo_prints_every_event_and_draws_it(step: int, tmp_path: Path, capsys, monkeypatch):
    variants = list(demo.variants())
    assert len(variants) == len(gallery.__all__) + 2
    monkeypatch.setattr(demo, "variants", lambda: variants[::step])
    demo.main(str(tmp_path))
    printed = capsys.readouterr().out
    titles = [title for title, _ in variants[::step]]
    for title in titles:
        assert title.replace("_", " ") in printed
        assert (tmp_path / f"{title.replace(' ', '_')}.png").stat().st_size > 5000


def test_energy_bars_add_up():
    """The drawn widths are the energies."""
    t = gallery.sleigh("landing").solve()
    ax = energy_bars(t, title="landing")
    bars: Any = ax.patches
    widths = sorted(bar.get_width() for bar in bars)
    assert widths == pytest.approx(sorted([t.T_a_minus, t.T_c_minus, t.T_a_plus, t.ledger["blade"]]), rel=1e-12)
    assert ax.get_xlabel() == "kinetic energy in J"


def test_a_sweep_tells_which_contacts_pull():
    """With feet longer than the legs the heel would have to be held down."""
    result = jourdain("run", "walker", "--sweep", "rho=0.5,1.5,2")
    assert result.returncode == 0
    n_pulling = int((gallery.walker().solve(rho=[0.5, 1.5, 2.0]).impulse["heel.normal"] < 0).sum())
    assert n_pulling > 0
    assert f"'heel' pulls in {n_pulling} of 3 events (it is two-sided here)." in result.stdout
    assert "pulls" not in jourdain("run", "walker", "--sweep", "rho=0,0.5").stdout


@pytest.mark.parametrize(
    ("keyword", "in_python", "as_typed"),
    [
        (Keyword("units", {"q1": "deg"}), "units={'q1': 'deg'}", "--unit q1=deg"),
        (Keyword("units", {"q1": "deg", "wall": "mN"}, more=True), "units={'q1': 'deg', 'wall': 'mN', …}",
         "--unit q1=deg --unit wall=mN"),
        (Keyword("columns", {"wall": ""}), "columns={'wall': …}", "--column wall=HEADER"),
        (Keyword("columns", {}, more=True), "columns={…}", "--column NAME=HEADER"),
        (Keyword("columns"), "columns=", "--column NAME=HEADER"),
        (Keyword("number", 2, method="strike"), "strike(number=2)", "--strike 2"),
        (Keyword("end"), "end=", "--end"),
    ],
)  # fmt: skip
def test_a_remedy_is_worded_for_python_and_for_the_command_line(keyword: Keyword, in_python: str, as_typed: str):
    notice = Notice("The log is odd.", "Give ", keyword, ".")
    assert str(notice) == f"The log is odd. Give {in_python}."
    assert notice.worded(as_option) == f"The log is odd. Give {as_typed}."
    assert str(jd.BadLog(notice)) == str(notice)


def test_reproduce_needs_a_folder():
    result = jourdain("reproduce", "--out", "")
    assert result.returncode == 2
    assert "--out needs the name of a folder." in result.stderr


@pytest.mark.parametrize("name", ["", "list", "run", "log", "testbed", "reproduce", "bench"])
def test_help(name: str, command):
    code, out, _ = command(*name.split(), "--help")
    assert code == 0
    assert "Usage: jourdain" in out
    assert name in out


# Outputs that are closed or full


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices of POSIX")
@pytest.mark.parametrize(
    ("arguments", "suffix"),
    [
        (["run", "particle"], "nc"),
        (["run", "particle"], "png"),
        (["run", "walker", "--sweep", "theta=10:60:5"], "csv"),
        (["testbed", "pantograph"], "csv"),
    ],
)
@pytest.mark.parametrize("output", ["closed", "full"])
def test_files_are_written_before_the_text_is_printed(tmp_path: Path, arguments: list[str], suffix: str, output: str):
    path = tmp_path / f"x.{suffix}"
    words = [sys.executable, "-m", "jourdain.cli", *arguments, "--plot" if suffix == "png" else "--out", str(path)]
    if output == "full":
        with Path("/dev/full").open("w") as full:
            result = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True)
        assert "jourdain: The output cannot be written: No space left on device." in result.stderr
        assert result.returncode == 2
        stderr = result.stderr
    else:
        read, write = os.pipe()
        os.close(read)
        result = subprocess.run(words, stdout=write, stderr=subprocess.PIPE, text=True)
        os.close(write)
        stderr = result.stderr
    assert "Traceback" not in stderr
    assert path.stat().st_size > 50


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
@pytest.mark.parametrize("words", [["run", "nope"], ["run", "particle"], ["--help"]])
def test_an_output_that_is_closed_from_the_beginning(words: list[str]):
    command = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "jourdain.cli", *words]
    result = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    assert result.returncode == (2 if "nope" in words else 0)
    assert "Traceback" not in result.stderr


def test_signs_where_the_output_has_none():
    words = [sys.executable, "-m", "jourdain.cli", "run", "walker"]
    full, narrow = (
        subprocess.run(words, capture_output=True, env={**os.environ, "PYTHONIOENCODING": encoding}).stdout.decode(
            encoding
        )
        for encoding in ("utf-8", "cp1252")
    )
    assert "−" in full
    assert ascii_text(full) == ascii_text(narrow)


# Nothing ends in a traceback


@pytest.mark.parametrize(
    "text",
    [
        "raise ZeroDivisionError('two\\nlines')",
        "class Own(BaseException): pass\nraise Own('x')",
        "class Mute(Exception):\n    def __str__(self): raise KeyError('x')\nraise Mute",
        "model = dict",
        "def __getattr__(name): raise TypeError(name)",
        "# -*- coding: no-such -*-",
        "def f(): f()\nf()",
        "raise SystemExit(0)",
        "def model(): raise OSError(5, 'Input/output error')",
    ],
)
def test_exceptions_of_a_model_file_are_one_sentence(text: str, tmp_path: Path):
    file = tmp_path / "own.py"
    file.write_text(text)
    with pytest.raises(BadArgument, match=r"own.py.* cannot be run: ") as caught:
        problem(f"{file}:model", {}, one_event=True)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("error", "message", "code"),
    [
        (RuntimeError("boom\nand more"), "An unexpected error, RuntimeError: boom and more.", 1),
        (OSError(28, "No space left on device"), "The output cannot be written: No space left on device.", 2),
        (PermissionError(13, "Permission denied", "x" * 4000), "cannot be used: Permission denied.", 2),
        (MemoryError(), "The memory is not enough for this", 2),
        (RecursionError("maximum recursion depth exceeded"), "An unexpected error, RecursionError", 1),
        (BadArgument("said"), "jourdain: said", 2),
    ],
)
def test_whatever_is_raised_is_one_sentence(error: Exception, message: str, code: int, monkeypatch, capsys):
    def raises(**options: Any) -> None:
        raise error

    monkeypatch.setattr(main, "app", raises)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    with pytest.raises(SystemExit) as caught:
        main.main()
    assert caught.value.code == code
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert len(said) < 600
    monkeypatch.setenv("JOURDAIN_TRACEBACK", "1")
    with pytest.raises(type(error)):
        main.main()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["log", "a.csv", "--model", "pantograph", "--plot", "a.png", "--plot", "b.png"], "--plot is given 2 times"),
        (["log", "a.csv", "--model", "pantograph", "--model", "sleigh"], "--model is given 2 times; give it once."),
        (["testbed", "pantograph", "--out", "a.csv", "--seed", "1", "--seed", "2"], "--seed is given 2 times"),
        (["run", "walker", "--show", "loss", "--show=xi"], "--show is given 2 times; give it once."),
        (["bench", "--only", "a", "--only", "b", "--only", "c"], "--only is given 3 times; give it once."),
        (["run", "particle", "--plot", "x.gif"], "'x.gif' is a film, which shows a motion; this is one picture"),
        (["log", "a.csv", "--model", "pantograph", "--plot", "x.MP4"], "'x.MP4' is a film"),
    ],
)
def test_options_are_given_once_and_films_are_of_motions(arguments: list[str], message: str):
    result = jourdain(*arguments)
    assert message in result.stderr
    assert result.returncode == 2
