"""Robot files that are odd: encodings, long chains, names. One sentence, or the robot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import jourdain as jd

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
URDF = f'<robot name="r"><link name="a">{INERTIAL}</link></robot>'
MJCF = '<mujoco><worldbody><body><joint type="hinge"/><geom size=".1"/></body></worldbody></mujoco>'


@pytest.mark.parametrize("encoding", ["no-such", "hex", "rot13", "zlib", "utf-7", "utf-32", "idna", "undefined"])
@pytest.mark.parametrize("text", [URDF, MJCF])
def test_encodings_that_are_none(encoding: str, text: str, tmp_path: Path):
    file = tmp_path / "r.xml"
    file.write_text(f'<?xml version="1.0" encoding="{encoding}"?>{text}')
    with pytest.raises(jd.BadRobot, match=r"cannot be read|is not sound XML"):
        jd.load(file, floating=True)


@pytest.mark.parametrize("name", ["x" * 300 + ".urdf", "loop.urdf", "loop.urdf/x", "a/" * 3000 + "x.xml"])
def test_files_that_cannot_be(name: str, tmp_path: Path):
    (tmp_path / "loop.urdf").symlink_to(tmp_path / "loop.urdf")
    with pytest.raises(jd.BadRobot, match=r"does not exist|is no path") as caught:
        jd.load(tmp_path / name)
    assert len(str(caught.value)) < 500 + len(str(tmp_path))


def test_a_chain_of_links_longer_than_calls_of_python_are_deep(tmp_path: Path):
    """One hinge, then links fixed to each other: the robot is a pendulum with the mass of all of them."""
    n = 1500
    links = "".join(f'<link name="l{i}">{INERTIAL}</link>' for i in range(n))
    joints = "".join(
        f'<joint name="j{i}" type="{"fixed" if i else "continuous"}"><origin xyz="0 0 0"/><parent link="l{i}"/>'
        f'<child link="l{i + 1}"/><axis xyz="0 1 0"/></joint>'
        for i in range(n - 1)
    )
    file = tmp_path / "chain.urdf"
    file.write_text(f'<robot name="r">{links}{joints}</robot>')
    robot = jd.load(file)
    assert len(robot.symbols.v_names) == 1
    np.testing.assert_allclose(sum(body.mass for body in robot.description.bodies), n)


@pytest.mark.parametrize("element", ["body", "frame", "nothing"])
@pytest.mark.parametrize("depth", [1000, 20_000])
def test_elements_that_are_nested_too_deep(element: str, depth: int, tmp_path: Path):
    file = tmp_path / "deep.xml"
    file.write_text(f"<mujoco><worldbody>{f'<{element}>' * depth}{f'</{element}>' * depth}</worldbody></mujoco>")
    with pytest.raises(jd.BadRobot, match=r"nest|deep"):
        jd.load(file)
