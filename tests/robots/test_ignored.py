"""`robot.ignored`: what a file has and is not used; `jd.load` warns of what would change a motion."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engines
import jourdain as jd
from jourdain.gallery.touchdown import ROBOTS

mujoco = engines.mujoco()

# {joint}, {body}: attributes of a joint and of a body; {option} and {more}: parts of the file.
MJCF = """
<mujoco model="m">{option}<worldbody>
  <geom name="floor" type="plane" size="1 1 1"/>
  <body name="thigh" {body}><joint name="hip" axis="0 1 0" {joint}/><geom size="0.1" pos="0 0 0.2"/>
    <body name="shank"><joint name="knee" axis="0 1 0"/><geom name="ball" size="0.1" pos="0 0 0.2"/>
      <geom size="0.1" contype="0" conaffinity="0"/></body></body>
</worldbody>{more}</mujoco>"""
GEOMS = ("floor", "thigh geom 0", "ball")
TENDON = "<tendon><fixed name='rope' {}><joint joint='knee' coef='1'/></fixed></tendon>"

# What is put into the file, the kinds of it with their names, and whether it acts by itself.
CASES: dict[str, tuple[dict[str, str], dict[str, tuple[str, ...]], bool]] = {
    "nothing": ({}, {}, False),
    "spring": ({"joint": "stiffness='3'"}, {"springs": ("hip",)}, True),
    "damping": ({"joint": "damping='0.3'"}, {"damping": ("hip",)}, True),
    "friction": ({"joint": "frictionloss='0.3'"}, {"friction loss": ("hip",)}, True),
    "limits": ({"joint": "range='-10 10'"}, {"limits": ("hip",)}, False),
    "gravity": ({"body": "gravcomp='1'"}, {"gravity compensation": ("thigh",)}, True),
    "fluid": ({"option": "<option viscosity='0.1'/>"}, {"fluid": ("viscosity",)}, True),
    "actuators": (
        {"more": "<actuator><motor name='m' joint='hip'/><position joint='knee' kp='9'/></actuator>"},
        {"actuators": ("m", "actuator 1")},
        False,
    ),
    "keyframes": ({"more": "<keyframe><key name='home' qpos='0 1'/></keyframe>"}, {"keyframes": ("home",)}, False),
    "sensors": ({"more": "<sensor><jointpos joint='hip'/></sensor>"}, {"sensors": ("sensor 0",)}, False),
    "tendon": ({"more": TENDON.format("")}, {"tendons": ("rope",)}, False),
    "tendon that pulls": (
        {"more": TENDON.format("stiffness='1' damping='2' frictionloss='3'")},
        {"springs": ("rope",), "damping": ("rope",), "friction loss": ("rope",), "tendons": ("rope",)},
        True,
    ),
    "switched off": (
        {"option": "<option><flag spring='disable' contact='disable'/></option>", "joint": "stiffness='3'"},
        {},
        False,
    ),
}


def loaded(file: Path, **options: Any) -> tuple[jd.Robot, list[str]]:
    """A robot and the warnings of reading it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = jd.load(file, **options)
    assert all(one.category is jd.RobotWarning and one.filename == __file__ for one in caught)
    return robot, [str(one.message) for one in caught]


@pytest.mark.parametrize("name", CASES)
def test_what_is_ignored_and_what_would_act(tmp_path: Path, name: str) -> None:
    parts, kinds, acts = CASES[name]
    file = tmp_path / "m.xml"
    file.write_text(MJCF.format(**{"joint": "", "body": "", "option": "", "more": ""} | parts))
    robot, told = loaded(file)
    found = robot.ignored
    assert found.pop("contact geoms", ()) == (() if name == "switched off" else GEOMS)
    assert found == kinds
    assert len(told) == acts
    for text in told:
        assert f" of '{file}', which would act between events; " in text
        assert text.endswith(".")
        for kind in kinds:
            assert (kind in text) == (kind != "tendons")


@pytest.mark.parametrize("name", [name for name, (_, _, acts) in CASES.items() if acts])
def test_what_would_act_does_so_in_mujoco(tmp_path: Path, name: str) -> None:
    """Where there is a warning, MuJoCo's accelerations are not those of gravity alone."""
    empty = dict.fromkeys(("joint", "body", "option", "more"), "")
    accelerations = []
    for parts in (CASES[name][0], {}):
        model = mujoco.MjModel.from_xml_string(MJCF.format(**empty | parts))
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = [0.3, -0.4], [1.0, 2.0]
        mujoco.mj_forward(model, data)
        accelerations.append(np.array(data.qacc))
    assert np.abs(accelerations[0] - accelerations[1]).max() > 1e-3


def test_all_in_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "m.xml"
    parts = {"joint": "stiffness='3' damping='1' range='-9 9'", "body": "gravcomp='1'", "option": "", "more": ""}
    file.write_text(MJCF.format(**parts))
    _, (text,) = loaded(file)
    assert "jd.load leaves out springs, damping and gravity compensation of " in text
    assert "limits" not in text
    assert text.count(". ") == 0


def test_fixed_joints_have_no_springs(tmp_path: Path) -> None:
    file = tmp_path / "m.xml"
    file.write_text(MJCF.format(joint="stiffness='3' range='-9 9'", body="", option="", more=""))
    robot, told = loaded(file, fixed=["hip"])
    assert robot.ignored == {"contact geoms": GEOMS}
    assert not told


def test_names_in_a_scene(tmp_path: Path) -> None:
    file = tmp_path / "m.xml"
    file.write_text(MJCF.format(joint="stiffness='3'", body="", option="", more=""))
    robot, _ = loaded(file)
    both = jd.scene({"a": robot, "b": robot, "load": jd.payload(1.0, (1, 1, 1), gravity=(0.0, 0.0, -9.81))})
    assert both.ignored["springs"] == ("a/hip", "b/hip")
    assert len(both.ignored["contact geoms"]) == 6
    assert jd.payload(1.0, (1, 1, 1)).ignored == {}


URDF = """
<robot name="r"><link name="base">{inertial}</link><link name="leg">{inertial}
    <collision name="shin"><geometry><sphere radius="0.1"/></geometry></collision>
    <collision><geometry><mesh filename="nowhere.stl"/></geometry></collision>
    <visual><geometry><sphere radius="0.1"/></geometry></visual></link>
  <joint name="knee" type="revolute"><parent link="base"/><child link="leg"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="5" velocity="5"/>{dynamics}</joint>
  <transmission name="drive"><joint name="knee"/></transmission></robot>"""
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


@pytest.mark.parametrize(
    ("dynamics", "kinds"),
    [("", []), ('<dynamics damping="0.1"/>', ["damping"]), ('<dynamics friction="1" damping="0"/>', ["friction loss"]),
     ('<dynamics friction="1" damping="2"/>', ["damping", "friction loss"])],
)  # fmt: skip
def test_urdf(tmp_path: Path, dynamics: str, kinds: list[str]) -> None:
    file = tmp_path / "m.urdf"
    file.write_text(URDF.format(inertial=INERTIAL, dynamics=dynamics))
    robot, told = loaded(file, floating=True)
    ignored = robot.ignored
    assert len(ignored.pop("contact geoms")) == 2
    assert ignored == {"limits": ("knee",), "actuators": ("drive",)} | dict.fromkeys(kinds, ("knee",))
    assert len(told) == bool(kinds)
    assert all(kind in text for kind in kinds for text in told)


@pytest.mark.parametrize("name", ["quadruped.xml", "servicer.xml", "target.xml"])
def test_robots_of_the_gallery_have_nothing_that_acts(name: str) -> None:
    assert loaded(ROBOTS / name)[1] == []
