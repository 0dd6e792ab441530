"""What the command line tells of one event beside its outcome, against the same from Python; and `--json`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import jourdain as jd

DOCS = Path(__file__).parents[2] / "docs" / "command_line.md"


def words(**settings: object) -> list[str]:
    return [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]


def answer(command, *arguments):
    code, said, wrong = command(*arguments, "--json")
    assert (code, wrong) == (0, "")
    return json.loads(said)


def test_gradient_is_sorted_by_what_a_per_cent_changes(command):
    scenario = jd.gallery.walker()
    at = {"theta": np.radians(50), "rho": 0.3}
    found = xr.Dataset.from_dict(answer(command, "run", "walker", *words(theta=50, rho=0.3), "--gradient", "loss"))
    names = [str(name) for name in found["parameter"].values]
    assert set(names) == set(scenario.parameters)
    expected = scenario.gradient("loss", names, **at)
    np.testing.assert_allclose(found["derivative"], [expected[name] for name in names], rtol=1e-12)
    values = np.array([{**scenario.parameters, **at}[name] for name in names])
    np.testing.assert_allclose(found["per_cent"], found["derivative"] * values / 100, rtol=1e-12)
    assert (np.diff(np.abs(found["per_cent"])) <= 0).all()
    code, said, _ = command("run", "walker", *words(theta=50, rho=0.3), "--gradient", "loss")
    assert code == 0
    line = next(line for line in said.splitlines() if line.startswith("theta "))
    assert f"{expected['theta'] * np.pi / 180:.6g}" in line.replace("−", "-")
    assert "J per °" in line
    lines = [line.split()[0] for line in said.splitlines()[5:]]
    assert lines == names


def test_minimize_within_limits(command, tmp_path):
    scenario = jd.gallery.walker()
    limits = {"impulse.heel.normal": (None, 26.0)}
    expected = scenario.minimize("loss", {"rho": (0, 0.5), "torso": (-0.3, 0.3)}, limits)
    over = ["--over", "rho=0:0.5", "--over", f"torso={np.degrees(-0.3)}:{np.degrees(0.3)}"]
    found = xr.Dataset.from_dict(
        answer(command, "run", "walker", "--minimize", "loss", *over, "--subject-to", "impulse.heel.normal=:26")
    )
    assert float(found["loss"]) == pytest.approx(expected.value, rel=1e-6)
    assert (found.attrs["least"], found.attrs["converged"]) == ("loss", "True")
    assert found.attrs["value"] == pytest.approx(expected.value, rel=1e-6)
    assert float(found["rho"]) == pytest.approx(expected.parameters["rho"], abs=1e-6)
    code, said, _ = command("run", "walker", "--maximize", "loss", *over, "--plot", tmp_path / "worst.png")
    assert code == 0
    assert said.splitlines()[2].startswith("largest loss = ")
    assert (tmp_path / "worst.png").stat().st_size > 5000


def test_directions(command):
    scenario = jd.gallery.walker()
    expected = scenario.directions("hip")
    found = xr.Dataset.from_dict(answer(command, "run", "walker", "--directions", "--point", "hip"))
    np.testing.assert_allclose(found["xi"], expected.xi, atol=1e-12)
    np.testing.assert_allclose(found["v"], expected.v, atol=1e-12)
    np.testing.assert_allclose(found["point_velocity"], expected.point_velocity, atol=1e-12)
    code, said, _ = command("run", "walker", "--directions")
    assert code == 0
    assert re.search(rf"ξ.* {expected.xi[0]:.6g}", said)


def test_symbolic(command):
    expected = jd.gallery.rolling_sphere().symbolic()
    found = answer(command, "run", "rolling_sphere", "--symbolic")
    assert found.pop("latex") == expected.latex()
    assert found == {name: str(formula) for name, formula in expected.formulas().items()}
    code, said, _ = command("run", "rolling_sphere", "--symbolic", "--latex")
    assert (code, said) == (0, f"{expected.latex()}\n")


def test_project(command, tmp_path):
    file = tmp_path / "off.py"
    file.write_text(
        "import jourdain as jd\nimport sympy as sp\nfrom sympy.physics.mechanics import *\n"
        "x, y = dynamicsymbols('x y')\nN, O = ReferenceFrame('N'), Point('O')\nO.set_vel(N, 0)\n"
        "P = O.locatenew('P', x*N.x + y*N.y)\n"
        "m = jd.Mechanism.from_sympy(bodies=[Particle('p', P, 2)], frame=N, q=[x, y])\n"
        "rail = m.constraint('rail', y, level='position')\nwall = m.constraint('wall', P.vel(N).dot(N.x))\n"
        "hit = m.event(regular=[rail], inert=[wall]).at(q={y: 0.01}, v={x: 1.0, y: 0.2})\n"
    )
    code, _, said = command("run", f"{file}:hit")
    assert code == 2
    assert "rail" in said
    found = answer(command, "run", f"{file}:hit", "--project")
    assert found["data_vars"]["loss"]["data"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--gradient", "v_plus"], "several numbers"),
        (["--gradient", "los"], "no quantity 'los'"),
        (["--minimize", "loss"], "need --over"),
        (["--minimize", "loss", "--over", "rho=0.5"], "NAME=LEAST:LARGEST"),
        (["--minimize", "loss", "--over", "rh=0:1"], "no parameter 'rh'"),
        (["--minimize", "loss", "--over", "rho=0:1", "--set", "rho=0.1"], "leave one out"),
        (["--over", "rho=0:1"], "--minimize or --maximize"),
        (["--minimize", "loss", "--over", "m_H=-5:10"], "not negative"),
        (["--minimize", "loss", "--over", "theta=60:10"], "the least first, not 'theta=60:10'"),
        (["--gradient", ""], "no quantity ''"),
        (["--subject-to", "loss=:1"], "for --minimize"),
        (["--gradient", "loss", "--directions"], "two answers"),
        (["--gradient", "loss", "--sweep", "rho=0:0.5:3"], "two answers"),
        (["--latex"], "--symbolic"),
        (["--point", "hip"], "--directions"),
        (["--directions", "--point", "hipp"], "did you mean 'hip'"),
        (["--directions", "--plot", "x.png"], "no picture"),
        (["--symbolic", "--out", "x.json"], "no numbers"),
        (["--gradient", "loss", "--keep", "loss"], "--keep"),
    ],
)
def test_refusals(arguments, message, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, said, wrong = command("run", "walker", *arguments)
    assert (code, said) == (2, "")
    assert message in wrong
    assert not list(tmp_path.iterdir())


def test_what_moves_has_no_gradient(command):
    code, _, wrong = command("run", "compass_gait", "--gradient", "loss")
    assert code == 2
    assert "moves" in wrong
    for option in (["--over", "slope=1:2"], ["--latex"], ["--point", "hip"]):
        assert command("run", "compass_gait", *option)[0] == 2


def test_json_of_an_event_a_sweep_and_a_motion(command, tmp_path):
    file = tmp_path / "t.json"
    found = answer(command, "run", "walker", "--set", "theta=50", "--out", file)
    assert found == json.loads(file.read_text())
    assert found["data_vars"]["loss"]["data"] == pytest.approx(jd.gallery.walker().solve(theta=np.radians(50)).loss)
    swept = xr.Dataset.from_dict(answer(command, "run", "walker", "--sweep", "theta=10:60:5", "--keep", "loss"))
    assert swept["loss"].shape == (5,)
    moved = xr.Dataset.from_dict(answer(command, "run", "bouncing_ball", "--set", "until=0.5"))
    assert "time" in moved.coords


def test_json_of_the_list(command):
    found = {one["name"]: one for one in answer(command, "list")}
    assert set(found) == set(jd.gallery.__all__)
    assert found["walker"]["parameters"]["theta"] == {"default": pytest.approx(np.radians(40)), "unit": "rad"}
    assert found["walker"]["choices"]["rear_foot"] == ["released", "one-sided"]
    assert "impulse.heel.normal" in answer(command, "list", "walker")["quantities"]


def test_json_of_a_new_file_a_testbed_and_a_log(command, tmp_path):
    assert answer(command, "new", tmp_path / "rod.py")["wrote"] == str(tmp_path / "rod.py")
    log = tmp_path / "strike.csv"
    made = answer(command, "testbed", "pantograph", "--set", "d=0.2", "--set", "push=0.5", "--out", log)
    read = answer(command, "log", log, "--model", "pantograph", "--set", "d=0.2")
    assert read["measured"]["T_c_minus"] == pytest.approx(made["T_c_minus"], rel=0.05)
    assert set(read["predicted"]) <= set(read["measured"])
    assert read["units"]["T_c_minus"] == "J"
    several = answer(command, "log", log, log, "--model", "pantograph", "--set", "d=0.2")
    assert len(several["strikes"]) == 2
    assert several["mean"]["T_c_minus"] == pytest.approx(read["measured"]["T_c_minus"])


COMMANDS = re.findall(r"^    (jourdain .*?)(?:  .*)?$", DOCS.read_text("utf-8"), re.MULTILINE)


def test_the_page_about_the_command_line(command, tmp_path, monkeypatch):
    """Every command of docs/command_line.md, in their order."""
    monkeypatch.chdir(tmp_path)
    assert len(COMMANDS) > 15
    for line in COMMANDS:
        code, said, wrong = command(*line.split()[1:])
        assert (code, wrong) == (0, ""), line
        assert said, line
