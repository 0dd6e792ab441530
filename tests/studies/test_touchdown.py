"""Robots of the gallery: a landing against dense algebra and its laws, the study of it, a capture, their pictures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

import jourdain as jd
from engines import find
from jourdain import gallery
from jourdain.gallery.touchdown import ROBOTS
from jourdain.plots.render import rendered
from jourdain.robots.limbs import limb
from jourdain.studies.touchdown import KNEES, draws, sampled, study

FEET = ("FL", "FR", "HL", "HR")


@pytest.fixture(scope="module")
def landing() -> jd.Scenario:
    return gallery.touchdown()


def dense(robot: jd.Robot, q: np.ndarray, v: np.ndarray, feet: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """(v⁺, impulses) in NumPy."""
    M, J = robot.mass_matrix(q), np.vstack([robot.jacobian(foot, q)[[2, 0, 1]] for foot in feet])
    impulse = np.linalg.solve(J @ np.linalg.solve(M, J.T), -J @ v)
    return v + np.linalg.solve(M, J.T @ impulse), impulse


def test_landing_is_the_dense_one(landing: jd.Scenario, rng: np.random.Generator) -> None:
    robot = landing.event.mechanism
    assert isinstance(robot, jd.Robot)
    samples = draws(landing, {}, 5, rng)
    t = landing.solve(parameters=samples)
    for i in range(5):
        v_plus, impulse = dense(robot, t.q[i], t.v_minus[i], FEET)
        assert np.allclose(t.v_plus[i], v_plus, rtol=1e-9, atol=1e-10)
        assert np.allclose(np.concatenate([t.impulse[foot][i] for foot in FEET]), impulse, rtol=1e-9, atol=1e-10)


def test_parameters_of_the_pose(landing: jd.Scenario) -> None:
    """Roll about x, then pitch about y, then yaw about z of the world; the knee keeps feet under hips."""
    robot, angles = landing.event.mechanism, {"roll": 0.3, "pitch": -0.5, "yaw": 1.1}
    assert isinstance(robot, jd.Robot)
    turns = []
    for axis, name in zip(np.eye(3), angles, strict=True):
        K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
        turns.append(np.eye(3) + np.sin(angles[name]) * K + (1 - np.cos(angles[name])) * K @ K)
    q = landing.solve(parameters=angles).q
    assert np.allclose(robot.rotation("trunk", q), turns[2] @ turns[1] @ turns[0])
    for knee in (0.2, 1.5):
        q = landing.solve(knee=knee).q
        for foot in FEET:
            under = robot.position(foot, q) - robot.position(f"{foot}_thigh", q)
            assert np.allclose(under[:2], 0, atol=1e-12)  # thigh and shank are equally long
            assert under[2] == pytest.approx(-0.5 * np.cos(knee / 2))


def test_joints_whose_names_mean_something_else(tmp_path: Path) -> None:
    """A joint called roll is not the roll of the base."""
    text = (ROBOTS / "quadruped.xml").read_text()
    for old, new in (("FL_abduction", "roll"), ("FL_knee", "knee"), ("FR_knee", "axis")):
        text = text.replace(f'"{old}"', f'"{new}"')
    (tmp_path / "odd.xml").write_text(text)
    odd, usual = gallery.touchdown(str(tmp_path / "odd.xml"), FEET), gallery.touchdown()
    given = {
        "roll": 0.2,
        "knee": 0.9,
        "roll_joint": 0.3,
        "knee_joint": -0.1,
        "axis_joint": 0.05,
        "knee_joint_rate": 1.0,
    }
    names = {
        "roll_joint": "FL_abduction",
        "knee_joint": "FL_knee",
        "axis_joint": "FR_knee",
        "knee_joint_rate": "FL_knee_rate",
    }
    t = usual.solve(parameters={names.get(name, name): value for name, value in given.items()})
    assert np.allclose(odd.solve(parameters=given).v_plus, t.v_plus)


def test_straight_knees_lose_everything(landing: jd.Scenario) -> None:
    """Nothing gives way above a straight leg: a level robot that falls straight down stops dead."""
    t = landing.solve(knee=0.0)
    assert t.xi == pytest.approx(1.0, abs=1e-6)
    assert t.T_plus < 1e-6 * t.T_minus
    assert landing.solve(knee=1.0).xi < 0.5


@pytest.mark.parametrize(
    ("file", "foot", "knee"),
    [
        ("solo12.urdf", "FL_FOOT", "FL_KFE"),
        ("talos_reduced.urdf", "left_sole_link", "leg_left_4_joint"),
        ("icub.urdf", "r_sole", "r_knee"),
        ("g1_29dof_rev_1_0.urdf", "right_ankle_roll_link", "right_knee_joint"),
        ("go2.urdf", "RR_foot", "RR_calf_joint"),
    ],
)
def test_knees_are_found(file: str, foot: str, knee: str) -> None:
    assert limb(jd.load(find(file), floating=True), foot).knee == knee


def test_study(landing: jd.Scenario) -> None:
    found = study(landing, FEET, {"v_z": -0.8}, 4000)
    assert found.states.sizes["sample"] == 4000
    assert found.outcome.velocity_minus["base.z"] == -0.8
    # The directions of the base velocity are what they say: each loses ξ of its 1 J, and none more than the first.
    for xi, v in zip(found.directions.xi, found.directions.v.T, strict=True):
        t = landing.event.solve(found.outcome.q, v)
        assert t.T_minus == pytest.approx(1.0, rel=1e-9)
        assert t.loss == pytest.approx(xi, abs=1e-9)
    rng, names = np.random.default_rng(0), landing.event.mechanism.symbols.v_names[:6]
    random = landing.event.solve(found.outcome.q, dict(zip(names, rng.normal(size=(6, 500)), strict=True)))
    assert found.directions.xi[-1] - 1e-9 <= random.xi.min() <= random.xi.max() <= found.directions.xi[0] + 1e-9
    assert found.knees is not None
    assert found.knees["xi"].values[60] == pytest.approx(landing.solve(knee=KNEES[60], v_z=-0.8).xi, rel=1e-9)
    for foot in FEET:
        assert sum(found.foot_shares[foot].values()) == pytest.approx(1.0)
    for words in ("4000 states around the pose", "costliest first", "knees from 0° to 120°", "what holds"):
        assert words in found.text


def test_a_study_without_outcomes(landing: jd.Scenario) -> None:
    with pytest.raises(jd.BadEvent, match="None of the 10 states around the pose has an outcome: the input has NaN"):
        sampled(landing, FEET, {"v_x": np.nan}, 10)


def test_states_without_an_outcome_are_told_and_left_out(landing: jd.Scenario) -> None:
    found = study(landing, FEET, {}, 1200)
    whole = found.text
    normal = found.states["impulse.FL.normal"].values
    pulling = float(np.mean(normal < 0))
    places = np.flatnonzero(normal >= 0)[:600]
    found.states["loss"][places] = np.nan
    found.states["impulse.FL.normal"][places] = np.nan
    assert "without an outcome" not in whole
    assert "1200 states around the pose, 600 of them without an outcome, which are left out" in found.text
    line = next(line for line in found.text.splitlines() if line.startswith("FL  "))
    assert float(line.split()[1]) == pytest.approx(100 * 2 * pulling, abs=0.06)


def test_laws_of_the_command_line_have_numbers() -> None:
    t = gallery.touchdown(law=jd.laws.MoreauCoulomb("friction", "kappa")).solve()
    assert {str(t.contact[foot]) for foot in FEET} <= {"sticks", "slips"}


def test_states_of_the_study_are_those_of_solve(landing: jd.Scenario) -> None:
    states = study(landing, FEET, {}, 1500).states
    samples = draws(landing, {}, 1500, np.random.default_rng(7))
    t = landing.solve(parameters={name: values[:20] for name, values in samples.items()})
    assert np.allclose(states["loss"].values[:20], t.loss, rtol=1e-9)
    assert np.allclose(states["impulse.FL.normal"].values[:20], t.impulse["FL.normal"], rtol=1e-9)


@pytest.mark.parametrize("arm", ["free", "locked"])
def test_capture_keeps_momentum(arm: Any) -> None:
    """Linear momentum and moment of momentum about the origin, as sums over the bodies, before and after."""
    scenario = gallery.capture(arm)
    t = scenario.solve(omega_x=0.3, v_y=-0.1, shoulder=-0.9)
    scene = scenario.event.mechanism
    assert isinstance(scene, jd.Robot)
    assert np.allclose(scene.position("servicer/gripper", t.q), scene.position("target/handle", t.q), atol=1e-9)
    assert np.allclose(scene.rotation("servicer/gripper", t.q), scene.rotation("target/handle", t.q), atol=1e-8)
    momenta = []
    for v in (t.v_minus, t.v_plus):
        total = np.zeros(6)
        for body in scene.description.bodies:
            J, R = scene.frame_jacobian(body.name, t.q), scene.rotation(body.name, t.q)
            (velocity, omega), centre = np.split(J @ v, 2), R @ body.com
            p = body.mass * (velocity + np.cross(omega, centre))
            spin = R @ body.inertia @ R.T @ omega
            total += np.concatenate([p, spin + np.cross(scene.position(body.name, t.q) + centre, p)])
        momenta.append(total)
    # The rotors of the arm (armature) spin about their axes, which turn with the arm; they have no momentum here.
    assert np.allclose(momenta[0][:3], momenta[1][:3], atol=1e-9)
    change = scene.mass_matrix(t.q) @ (t.v_plus - t.v_minus)
    bases = [scene.symbols.v_names.index(f"{name}/base.x") for name in ("servicer", "target")]
    moment = np.zeros(3)
    for name, i in zip(("bus", "satellite"), bases, strict=True):
        base = f"{'servicer' if name == 'bus' else 'target'}/{name}"
        moment += scene.rotation(base, t.q) @ change[i + 3 : i + 6] + np.cross(
            scene.position(base, t.q), change[i : i + 3]
        )
    assert np.allclose(moment, 0, atol=1e-9)
    assert t.loss > 0
    if arm == "locked":  # all is one rigid body: every part has the same angular velocity
        spins = [scene.frame_jacobian(body.name, t.q)[3:] @ t.v_plus for body in scene.description.bodies]
        assert np.ptp(spins, axis=0).max() < 1e-12
        assert t.loss > gallery.capture().solve(omega_x=0.3, v_y=-0.1, shoulder=-0.9).loss
    with pytest.raises(jd.UnknownName, match="no arm 'stiff'"):
        gallery.capture("stiff")  # type: ignore[arg-type]


def test_rows_of_a_weld_have_units_of_their_own() -> None:
    layout = gallery.capture().event.layout
    units = [(layout.unit("u_minus", f"grasp.{row}"), layout.unit("impulse", f"grasp.{row}")) for row in ("x", "rz")]
    assert units == [("m/s", "N s"), ("rad/s", "N m s")]
    assert layout.unit("impulse") == ""  # not the same for all


def test_a_robot_has_no_closed_form(landing: jd.Scenario) -> None:
    with pytest.raises(jd.BadEvent, match=r"M and the rows take \d+ operations, so a closed form would be too long"):
        landing.event.symbolic()


def test_touchdown_needs_a_robot_that_floats(tmp_path: Path) -> None:
    arm = jd.load(find("ur5_robot.urdf"))
    with pytest.raises(jd.BadRobot, match="A touchdown needs a robot with one free base, but it has 0"):
        gallery.touchdown(arm, "tool0")
    with pytest.raises(jd.BadRobot, match=r"Say which frames .* The ends of its limbs are: 'FL_FOOT', 'FR_FOOT'"):
        gallery.touchdown(find("solo12.urdf"))


def test_pictures(tmp_path: Path, landing: jd.Scenario) -> None:
    """A stick figure is there always, with every link, every foot and the ground; a rendered one where a GL is."""
    robot, q = landing.event.mechanism, landing.solve().q
    assert isinstance(robot, jd.Robot)
    ax = jd.plots.robot_picture(robot, q, FEET, render=False)
    lines: Any = ax.lines
    drawn = np.array([line.get_data_3d() for line in lines])
    assert {text.get_text().strip() for text in ax.texts} == set(FEET)
    assert drawn[:, 2].min() == pytest.approx(robot.position("FL", q)[2])
    assert len(drawn) == 12 + 4
    jd.plots.save(ax, tmp_path / "stick.png")
    assert imread(tmp_path / "stick.png").std() > 0.05
    with pytest.raises(jd.ShapeError, match="A picture shows one pose, not a batch"):
        jd.plots.robot_picture(robot, np.array([q, q]))
    jd.plots.save(jd.plots.event_plot(landing, "landing"), tmp_path / "event.png")
    assert imread(tmp_path / "event.png").std() > 0.05


def test_rendered_picture_shows_the_robot() -> None:
    order = {"sources": [{"path": str(ROBOTS / "quadruped.xml"), "floating": False, "prefix": ""}],
             "coordinates": {}, "floor": 0.0}  # fmt: skip
    pixels = rendered(order)
    if pixels is None:
        pytest.skip("no GL here")
    assert pixels.std() > 10
    higher = rendered({**order, "coordinates": {"FL_knee": [-1.5], "FR_knee": [-1.5]}})
    assert higher is not None
    assert np.mean(higher != pixels) > 0.005


def test_without_a_gl_there_is_no_rendered_picture(monkeypatch: pytest.MonkeyPatch, landing: jd.Scenario) -> None:
    monkeypatch.setenv("MUJOCO_GL", "off")
    assert rendered({"sources": [], "coordinates": {}, "floor": None}) is None
    robot = landing.event.mechanism
    assert isinstance(robot, jd.Robot)
    with pytest.raises(jd.ShapeError, match="MuJoCo cannot render this robot here"):
        jd.plots.robot_picture(robot, render=True)


def test_the_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "jourdain.cli", "run", "touchdown", "--robot", str(find("solo12.urdf")), "--feet",
               "FL_FOOT,HR_FOOT", "--samples", "3000", "--set", "v_z=-0.5", "--plot", str(tmp_path / "p.png"), "--out",
               str(tmp_path / "s.csv")]  # fmt: skip
    environment = {**os.environ, "MUJOCO_GL": "off"}
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=environment)
    assert done.returncode == 0, done.stderr
    for words in ("knee=40°", "v_z=-0.5 m/s", "3000 states", "gentlest last", "FL_FOOT", "wrote"):
        assert words in done.stdout
    assert len((tmp_path / "s.csv").read_text().splitlines()) == 3001
    assert imread(tmp_path / "p.png").std() > 0.05
