"""Roots of URDF files that are called "world": MuJoCo takes them for the world, here they float with their mass."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import engines
import jourdain as jd
from oracles.robots import Oracle

pin = engines.pinocchio()

INERTIAL = """<inertial><origin xyz="0.1 -0.2 0.05" rpy="0.3 0.1 -0.4"/><mass value="{}"/>
    <inertia ixx="0.3" iyy="0.4" izz="0.5" ixy="0.02" ixz="-0.01" iyz="0.03"/></inertial>"""
ROBOT = """<robot name="r">
  <link name="{root}">{inertial}</link>
  <link name="arm">{arm}</link>
  <link name="tool">{tool}</link>
  <joint name="j" type="{kind}"><parent link="{root}"/><child link="arm"/><origin xyz="0.1 0.2 0.3" rpy="0.2 0 0.1"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="k" type="continuous"><parent link="arm"/><child link="tool"/><origin xyz="0 0 0.4"/>
    <axis xyz="1 0 0"/></joint>
</robot>"""


def written(folder: Path, root: str, mass: float | None, kind: str = "revolute") -> Path:
    file = folder / f"{root}.urdf"
    inertial = "" if mass is None else INERTIAL.format(mass)
    arm, tool = INERTIAL.format(1.5), INERTIAL.format(0.7)
    file.write_text(ROBOT.format(root=root, inertial=inertial, arm=arm, tool=tool, kind=kind))
    return file


@pytest.mark.parametrize("kind", ["revolute", "fixed", "prismatic"])
@pytest.mark.parametrize("mass", [5.0, None])
def test_a_root_called_world_is_like_any_other(tmp_path: Path, mass: float | None, kind: str) -> None:
    """Pinocchio reads the same file with a root of another name."""
    other = written(tmp_path, "base_link", mass, kind)
    robots = [jd.load(written(tmp_path, "world", mass, kind), floating=True), jd.load(other, floating=True)]
    oracle, rng = Oracle(other, True), np.random.default_rng(1)
    assert robots[0].symbols.q_names == robots[1].symbols.q_names
    assert "world" not in robots[0].points
    for robot in robots:
        assert robot.mass_matrix()[0, 0] == pytest.approx((mass or 0.0) + 2.2)
        for _ in range(3):
            q, v = oracle.random_state(rng)
            T = oracle.to_ours(robot.symbols.v_names, q)
            ours, _ = robot.from_pinocchio(oracle.model, q, v)
            expected = oracle.mass_matrix(q)
            assert np.allclose(T.T @ robot.mass_matrix(ours) @ T, expected, rtol=1e-11, atol=1e-11 * expected.max())


def test_a_root_called_world_that_does_not_float(tmp_path: Path) -> None:
    robot = jd.load(written(tmp_path, "world", 5.0))
    other = jd.load(written(tmp_path, "base_link", 5.0))
    assert robot.symbols.v_names == other.symbols.v_names == ("j", "k")
    assert np.allclose(robot.mass_matrix({"k": 0.3}), other.mass_matrix({"k": 0.3}), rtol=1e-13)


def test_the_root_alone(tmp_path: Path) -> None:
    file = tmp_path / "alone.urdf"
    file.write_text(f'<robot name="r"><link name="world">{INERTIAL.format(5)}</link></robot>')
    assert np.allclose(np.diag(jd.load(file, floating=True).mass_matrix())[:3], 5.0)


def test_a_file_whose_base_floats_by_a_joint_of_its_own(tmp_path: Path) -> None:
    """It is free once, not twice; a root with mass under a floating joint is refused as any other link."""
    file = written(tmp_path, "world", None, "floating")
    for floating in (True, False):
        robot = jd.load(file, floating=floating)
        assert len(robot.symbols.v_names) == 7
        assert robot.mass_matrix()[0, 0] == pytest.approx(2.2)
    with pytest.raises(jd.BadRobot, match=r"Joint 'j' of '.*' is floating but hangs on a link"):
        jd.load(written(tmp_path, "world", 5.0, "floating"), floating=True)


def test_world_in_the_middle_is_refused(tmp_path: Path) -> None:
    """MuJoCo would put its mass and its joint nowhere."""
    file = written(tmp_path, "base_link", 5.0)
    file.write_text(file.read_text().replace('"arm"', '"world"'))
    with pytest.raises(
        jd.BadRobot, match=r"Link 'world' of '.*' hangs on another link; only the root may have that name"
    ):
        jd.load(file, floating=True)
