"""A file of one's own on the command line: `jourdain new`, `list`, `run`, `testbed`, `log` with FILE.py:NAME."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import jourdain as jd
from jourdain.cli import own_file, starter

STARTER = Path(starter.__file__)


@pytest.fixture
def rod(command, tmp_path) -> Path:
    file = tmp_path / "rod.py"
    code, said, _ = command("new", file)
    assert code == 0
    assert f"jourdain run {file}:rod" in said
    return file


MODELS = """
from typing import Literal
import sympy as sp
from jourdain import Event, Hybrid, Mechanism, Scenario, gallery
from jourdain.laws import Law

bounce = gallery.bouncing_ball()
walker = gallery.walker
hit = gallery.rough_rod().event
number = 3


def chosen(n: int = 2, free: bool = False, law: Law | None = None, share: float = 0.5,
           side: Literal["left", "right"] = "left") -> Scenario:
    '''A particle.

    More of it.
    '''
    assert isinstance(free, bool) and isinstance(share, float) and isinstance(n, int), (n, free, share)
    print(n, free, law, share, side)
    return gallery.particle()


def needs(n, m=1) -> "Scenario":
    return gallery.particle()


def helper(x):
    return x


def wrong() -> Event:
    return 1 / 0


def mechanism():
    return gallery.particle().event.mechanism
"""


@pytest.fixture
def models(tmp_path) -> Path:
    file = tmp_path / "models.py"
    file.write_text(MODELS)
    return file


def test_the_starter_runs_and_sweeps(rod, command, tmp_path):
    code, said, _ = command("run", f"{rod}:rod", "--set", "theta=60", "--plot", tmp_path / "rod.png")
    assert code == 0
    assert (tmp_path / "rod.png").stat().st_size > 5000
    expected = starter.rod().solve(theta=np.radians(60))
    assert f"{expected.velocity_plus['x']:.6g}" in said
    code, said, _ = command("run", rod, "--sweep", "theta=5:85:17", "--show", "loss", "--plot", tmp_path / "map.png")
    assert code == 0
    assert "17 events, 17 ok" in said
    assert subprocess.run([sys.executable, rod], capture_output=True, check=True).stdout.count(b"\n") > 20


def test_the_starter_is_short():
    lines = [line for line in STARTER.read_text().splitlines() if line.strip()]
    assert len(lines) <= 60


def test_new_leaves_what_is_there(rod, command, tmp_path):
    text = rod.read_text()
    code, _, said = command("new", rod)
    assert (code, rod.read_text()) == (2, text)
    assert "exists" in said
    code, _, said = command("new", tmp_path / "rod.txt")
    assert code == 2
    assert "rod.py" in said
    code, _, said = command("new", tmp_path / "nowhere" / "rod.py")
    assert code == 2


def test_list(models, command):
    code, said, _ = command("list", models)
    assert code == 0
    for name in ("bounce", "hit", "chosen", "needs", "wrong"):
        assert name in said
    assert "ZeroDivisionError" in said
    for name in ("helper", "number", "walker"):  # a function of the gallery is none of the file
        assert f"\n{name}" not in said


@pytest.mark.parametrize("name", ["walker", "compass_gait"])
def test_list_one(name, command):
    model = getattr(jd.gallery, name)()
    code, said, _ = command("list", name)
    assert code == 0
    for parameter in model.parameters:
        assert f"{parameter}=" in said
    if isinstance(model, jd.Scenario):
        assert "impulse.heel.normal" in said


def test_models_of_all_kinds(models, command, tmp_path):
    code, said, _ = command("run", f"{models}:bounce", "--set", "until=0.5")
    assert code == 0
    assert "ended by" in said
    assert command("run", f"{models}:walker", "--set", "rear_foot=one-sided")[0] == 0
    state = {"q.theta": 50.0, "v.x": 0.6, "v.y": -2.0}
    settings = [word for name, value in state.items() for word in ("--set", f"{name}={value}")]
    code, said, _ = command(
        "run", f"{models}:hit", *settings, "--set", "kappa=0.5", "--set", "friction=0.3", "--out", tmp_path / "t.json"
    )
    assert code == 0
    expected = jd.gallery.rough_rod().solve()
    found = json.loads((tmp_path / "t.json").read_text())
    assert f"{expected.loss:.4g}"[:4] in json.dumps(found)


def test_keywords_become_choices(models, command):
    settings = ["n=3", "free=true", "law=coulomb", "share=0.25", "side=right"]
    code, said, printed = command("run", f"{models}:chosen", *(word for one in settings for word in ("--set", one)))
    assert code == 0
    assert "3 True Coulomb" in printed  # what the file prints is not the answer
    assert "0.25 right" in printed
    assert "n=3" in said
    _, said, _ = command("run", f"{models}:chosen", "--json")
    assert json.loads(said)
    for wrong, message in (("n=2.5", "whole number"), ("free=maybe", "free"), ("side=up", "side"), ("law=x", "law")):
        code, _, said = command("run", f"{models}:chosen", "--set", wrong)
        assert code == 2
        assert message in said


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wrong", "ZeroDivisionError: division by zero (models.py, line 33: return 1 / 0)"),
        ("needs", "needs 'n'"),
        ("number", "is of the type int; a Scenario"),
        ("mechanism", "Mechanism; a Scenario, an Event or a Hybrid is needed"),
        ("chose", "did you mean 'chosen'"),
        ("", "Which problem"),
    ],
)
def test_refusals(name, message, models, command):
    code, said, wrong = command("run", f"{models}:{name}" if name else models)
    assert (code, said) == (2, "")
    assert message in wrong
    assert "Traceback" not in wrong
    assert "site-packages" not in wrong


def test_errors_of_the_library_name_the_line(tmp_path, command):
    file = tmp_path / "bad.py"
    file.write_text("import jourdain as jd\n\nrod = jd.gallery.rough_rod()\nrod.solve(thta=1.0)\n")
    code, _, said = command("run", f"{file}:rod")
    assert code == 2
    assert "bad.py, line 4: rod.solve(thta=1.0)" in said
    assert "'thta'" in said


def test_modules_beside_the_file(tmp_path, command):
    (tmp_path / "shared_lengths.py").write_text("L = 2.0\n")
    file = tmp_path / "rig.py"
    file.write_text("from shared_lengths import L\nimport jourdain as jd\nball = jd.gallery.particle()\n")
    assert command("run", f"{file}:ball")[0] == 0


def test_a_file_is_imported_only_if_it_is_named(tmp_path, command, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("walker.py").write_text("raise SystemExit(7)\n")
    assert command("run", "walker")[0] == 0
    assert own_file.split("walker") is None


def test_testbed_and_log(models, command, tmp_path):
    models.write_text("import jourdain as jd\n\n\ndef rig() -> jd.Scenario:\n    return jd.gallery.pantograph()\n")
    log = tmp_path / "strike.csv"
    code, _, said = command("testbed", f"{models}:rig", "--set", "d=0.2", "--set", "push=0.5", "--out", log)
    assert (code, said) == (0, "")
    code, said, _ = command("log", log, "--model", f"{models}:rig", "--set", "d=0.2")
    assert code == 0
    assert "T_c" in said


def test_names_of_files_that_texts_of_python_cannot_hold(command, tmp_path):
    for name in ("a b.py", "a\\N{x}.py", "it's.py", '"""x.py'):
        code, said, _ = command("new", tmp_path / name)
        assert code == 0
        compile((tmp_path / name).read_text(), name, "exec")
        assert shlex.quote(f"{tmp_path / name}:rod") in said


KEYWORDS = """
from __future__ import annotations
from typing import Literal, TYPE_CHECKING
import jourdain as jd
if TYPE_CHECKING:
    from nowhere import Unknown


def union(k: Literal["a", "b"] | None = None, n: Literal[1, 2] = 1, other: Unknown = None) -> jd.Scenario:
    return jd.gallery.particle()


def more(a: float = 1.0, *args, **kwargs):
    return jd.gallery.particle()
"""


def test_literals_in_unions_and_beside_unknown_types(command, tmp_path):
    file = tmp_path / "k.py"
    file.write_text(KEYWORDS)
    assert command("run", f"{file}:union", "--set", "k=b", "--set", "n=2")[0] == 0
    for wrong in ("k=c", "n=3"):
        code, _, said = command("run", f"{file}:union", "--set", wrong)
        assert code == 2, wrong
        assert wrong[2] in said
    assert "k=None|a|b" in command("list", f"{file}:union")[1]
    assert command("run", f"{file}:more", "--set", "a=2")[0] == 0


def test_a_file_named_like_a_library(command, tmp_path):
    """It stands beside the model, and is not taken for the library."""
    (tmp_path / "xarray.py").write_text("raise RuntimeError\n")
    (tmp_path / "own.py").write_text("import jourdain as jd\nball = jd.gallery.particle()\n")
    words = [sys.executable, "-m", "jourdain.cli", "run", str(tmp_path / "own.py"), "--sweep", "kappa=0:1:3", "--json"]
    ran = subprocess.run(words, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout)


def test_an_event_of_a_robot_starts_neutral(command, tmp_path):
    (tmp_path / "r.py").write_text("import jourdain as jd\nfeet = jd.gallery.touchdown().event\n")
    code, said, wrong = command("run", f"{tmp_path / 'r.py'}:feet", "--set", "v.base.z=-1")
    assert (code, wrong) == (0, "")
    assert "solved" in said
