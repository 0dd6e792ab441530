"""The command line and the demonstration, as a person uses them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from jourdain import demo, gallery
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
        (["run", "sleigh", "--set", "M=-1"], "The mass matrix is not positive definite"),
        (["run", "sleigh", "--plot", "/nowhere/at/all.png"], "The folder '/nowhere/at' does not exist"),
        (["run", "sleigh", "--plot", "picture.xyz"], "There is no picture format 'xyz'"),
        (["run", "chain", "--set", "n=2.7"], "n must be a whole number, not '2.7'."),
        (["run", "chain", "--set", "n=inf"], "n must be a whole number, not 'inf'."),
        (["run", "particle", "--set", "kappa=1.5"], "The restitution of 'floor' is 1.5; it must lie in [0, 1]."),
    ],
)
def test_mistakes_get_one_sentence_and_exit_code_2(arguments, message):
    result = jourdain(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not Path("picture.xyz").exists()


def test_demo_prints_every_event_and_draws_it(tmp_path: Path, capsys):
    demo.main(str(tmp_path))
    printed = capsys.readouterr().out
    titles = [title for title, _ in demo.variants()]
    assert len(titles) == len(gallery.__all__) + 2
    for title in titles:
        assert title.replace("_", " ") in printed
        assert (tmp_path / f"{title.replace(' ', '_')}.png").stat().st_size > 5000


def test_energy_bars_add_up():
    """The drawn widths are the energies."""
    t = gallery.sleigh("landing").solve()
    ax = energy_bars(t, title="landing")
    widths = sorted(bar.get_width() for bar in ax.patches)
    assert widths == pytest.approx(sorted([t.T_a_minus, t.T_c_minus, t.T_a_plus, t.ledger["blade"]]), rel=1e-12)
    assert ax.get_xlabel() == "kinetic energy in J"
