"""Films, poses, branches, basins and motions as figures; what moves on the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from PIL import Image

import jourdain as jd
from cases import MOTIONS, read_csv
from jourdain import gallery, plots
from jourdain.cli import main as cli
from jourdain.plots import animation
from oracles import motion as oracle


def walk(until: float = 2.0) -> Any:
    hybrid = gallery.compass_gait()
    gait = hybrid.gait()
    return hybrid.simulate(gait.q, gait.v, until=until)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """The command line in this process: exit code, output, errors."""

    def run(*arguments: Any) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["jourdain", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return run


# Where things are drawn


def test_a_walker_moves_on_down_its_slope() -> None:
    """The hip goes on where legs swap and the origin moves; feet stand on the tilted floor."""
    run = walk(5.0)
    film = animation.Film(run, np.linspace(0, run.end, 400))
    hip = film.places["hip"]
    assert np.all(np.diff(hip[:, 0]) > 0)
    assert np.max(np.abs(np.diff(hip, axis=0))) < 0.02
    slope = np.radians(3)
    above = film.places["foot"] @ [np.sin(slope), np.cos(slope)]
    np.testing.assert_allclose(above, 0, atol=1e-9)
    steps = np.unique(np.round(film.places["foot"] @ [np.cos(slope), -np.sin(slope)], 6))
    np.testing.assert_allclose(np.diff(steps), 2 * np.sin(0.27102868), atol=1e-5)  # stride by stride


def test_floors_that_nothing_touches_are_seen() -> None:
    run = gallery.bouncing_ball().simulate(until=0.2)
    ax = plots.poses(run, 3)
    low, high = ax.get_ylim()
    assert low < 0 < 1 < high
    left, right = ax.get_xlim()
    assert right - left > 0.4  # no strip


@pytest.mark.parametrize("name", MOTIONS)
def test_every_motion_can_be_drawn(name: str) -> None:
    hybrid = getattr(gallery, name)()
    run = hybrid.simulate(until=min(hybrid.until, 2.0))
    assert plots.poses(run, 4, name).get_xlabel() == "$x$ in m"
    assert plots.motion_plot(run, name).get_title() == name


def n_frames(film: Any) -> int:
    return film.n_frames


def test_films(tmp_path: Path) -> None:
    run = walk(1.0)
    run.animate(tmp_path / "walk.gif", fps=10)
    with Image.open(tmp_path / "walk.gif") as film:
        assert n_frames(film) == 11
        assert film.info["duration"] == 100  # ms
    run.animate(tmp_path / "slow.gif", fps=10, speed=0.5)
    with Image.open(tmp_path / "slow.gif") as film:
        assert n_frames(film) == 21
    pytest.importorskip("imageio_ffmpeg", reason="films as .mp4 need imageio-ffmpeg")
    run.animate(tmp_path / "walk.mp4", fps=10)
    assert (tmp_path / "walk.mp4").read_bytes()[4:8] == b"ftyp"


def test_films_that_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = walk(1.0)
    bare = jd.Hybrid(run.hybrid.mechanism, {"free": []}).simulate(until=0.1)
    for call, kind, message in (
        (lambda: run.animate(tmp_path / "a.avi"), jd.UnknownName, "There is no film format 'avi'"),
        (lambda: run.animate(tmp_path / "no" / "a.gif"), jd.CannotWrite, "does not exist"),
        (lambda: run.animate(tmp_path / "a.gif", fps=0), jd.BadEvent, "fps and speed are above 0"),
        (lambda: run.animate(tmp_path / "a.gif", speed=1e-4), jd.BadEvent, "make it quicker with speed="),
        (lambda: bare.animate(tmp_path / "a.gif"), jd.BadEvent, r"The system has no sketch.*Hybrid\(…, sketch="),
    ):
        with pytest.raises(kind, match=message):
            call()
    monkeypatch.setattr(animation, "_ffmpeg", lambda: None)
    with pytest.raises(jd.CannotWrite, match=r"An .mp4 needs ffmpeg.*or write a .gif"):
        run.animate(tmp_path / "a.mp4")
    assert not list(tmp_path.iterdir())


def test_sketches_name_what_is_there() -> None:
    made = gallery.compass_gait().mechanism
    with pytest.raises(jd.UnknownName, match="There is no point 'hap'; did you mean 'hip'"):
        jd.Hybrid(made, {"a": []}, sketch=jd.Sketch(links=[("foot", "hap")]))
    with pytest.raises(jd.UnknownName, match="There is no parameter of the mechanism 'slipe'; did you mean 'slope'"):
        jd.Hybrid(made, {"a": []}, sketch=jd.Sketch(masses=["hip"], tilt="slipe"))


# Branches and basins


def test_a_branch_is_solid_up_to_its_flip() -> None:
    hybrid = gallery.compass_gait()
    branch = hybrid.continuation(hybrid.gait(), slope=np.radians([3.0, 5.0]))
    ax = plots.branch_plot(branch, "theta_st")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("slope in degrees", r"$\theta_{\mathrm{st}}$ in degrees")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["stable", "unstable", "flip"]
    solid: Any = [line.get_xdata() for line in ax.lines if line.get_linestyle() == "-"]
    dashed: Any = [line.get_xdata() for line in ax.lines if line.get_linestyle() == "--"]
    flip = np.degrees(branch.bifurcations[0].value)
    assert np.max(solid) == pytest.approx(flip)
    assert np.min(dashed) == pytest.approx(flip)
    assert plots.branch_plot(branch, "multipliers").get_ylabel() == "modulus of multipliers"
    with pytest.raises(jd.UnknownName, match="There is no quantity of a branch 'theta'"):
        plots.branch_plot(branch, "theta")


def test_the_map_of_a_basin() -> None:
    hybrid = gallery.compass_gait()
    gait = hybrid.gait()
    theta, omega = np.linspace(0.2, 0.3, 12), np.linspace(-1.3, -0.9, 16)
    basin = hybrid.basin(gait, q={"theta_st": theta[:, None], "theta_sw": -theta[:, None]}, v={"theta_st": omega})
    ax = plots.basin_map(basin)
    assert ax.get_xlabel() == r"rate of $\theta_{\mathrm{st}}$ in rad/s"
    assert ax.get_ylabel() == r"$\theta_{\mathrm{st}}$ in degrees"
    (star,) = (np.asarray(line.get_xydata())[0] for line in ax.lines)
    np.testing.assert_allclose(star, [gait.velocity["theta_st"], np.degrees(gait.coordinate["theta_st"])])
    (mesh,) = (one for one in ax.collections if one.get_array() is not None)
    np.testing.assert_array_equal(mesh.get_array() == 2, basin.reached == 0)
    with pytest.raises(jd.ShapeError, match="needs starts over two things, and there are 1"):
        plots.basin_map(hybrid.basin(gait, v={"theta_st": omega}))


# Command line


@pytest.mark.parametrize("name", MOTIONS)
def test_every_motion_runs_and_goes_to_a_file(name: str, command: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    code, out, err = command("run", name, "--set", "until=1", "--out", path, "--plot", tmp_path / "run.png")
    assert (code, err) == (0, "")
    assert "energy in J" in out
    table = read_csv(path)
    assert table.columns[0] == "time [s]"
    assert table["time [s]"].iloc[-1] <= 1.0 + 1e-12
    assert (tmp_path / "run.png").stat().st_size > 5000


def test_a_gait_and_its_branch(command: Any, tmp_path: Path) -> None:
    code, out, _ = command("run", "compass_gait", "--set", "slope=2")
    assert code == 0
    assert f"gait of 1 step, period {oracle.compass_gait(2.0).period:.9g} s, stable" in out
    path = tmp_path / "branch.nc"
    code, out, _ = command("run", "compass_gait", "--sweep", "slope=3:5:3", "--out", path, "--plot", tmp_path / "b.svg",
                           "--show", "multipliers")  # fmt: skip
    assert code == 0
    assert "flip at slope=4.3909°" in out
    assert "unstable" in out
    with xarray.open_dataset(path) as ds:
        assert np.degrees(ds["slope"].values.min()) == pytest.approx(3)
        assert "flip at 0.0766" in ds.attrs["bifurcations"]


def test_a_film_from_the_command_line(command: Any, tmp_path: Path) -> None:
    code, out, _ = command("run", "bouncing_ball", "--set", "until=0.4", "--plot", tmp_path / "ball.gif")
    assert code == 0
    assert "wrote" in out
    with Image.open(tmp_path / "ball.gif") as film:
        assert n_frames(film) == 11


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "bouncing_ball", "--sweep", "g=1:2:3"], "'bouncing_ball' has no gait to follow over a parameter"),
        (["run", "compass_gait", "--sweep", "slope=3:4:2", "--sweep", "g=9:10:2"], "Gaits are followed over one"),
        (
            ["run", "compass_gait", "--sweep", "slope=3:4:2", "--plot", "a.gif"],
            "'a.gif' is a film, which shows one motion",
        ),
        (
            ["run", "compass_gait", "--sweep", "slope=3:4:2", "--set", "until=3"],
            "until is for one motion, not for gaits",
        ),
        (["run", "compass_gait", "--keep", "loss"], "'compass_gait' moves; --keep is for problems that are one event"),
        (["run", "compass_gait", "--show", "theta_st"], "--show says what --plot shows of a --sweep"),
        (["run", "compass_gait", "--set", "slope=40"], "fallen. Start elsewhere, or change the parameters."),
        (["run", "compass_gait", "--set", "stride=1"], "There is no parameter 'stride'"),
        (["run", "bouncing_ball", "--set", "m=0"], "accelerations are not finite"),
        (["run", "bouncing_ball", "--set", "until=-1"], "until is the time at which the run ends"),
        (["run", "bouncing_ball", "--plot", "nowhere/a.gif"], "The folder 'nowhere' does not exist"),
        (["run", "rimless_wheel", "--set", "n=3"], "A rimless wheel has 5 spokes or more, not 3"),
    ],
)
def test_mistakes_get_one_sentence(
    arguments: list[str], message: str, command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = command(*arguments)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert out == ""
    assert not list(tmp_path.iterdir())
