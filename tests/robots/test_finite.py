"""NaN and infinity in robot files are refused wherever they stand; MuJoCo's warnings reach the user."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

import engines
import jourdain as jd

engines.mujoco()

SPELLINGS = (
    "nan",
    "NaN",
    "-nan",
    "nan(1)",
    "inf",
    "-inf",
    "+INF",
    "Infinity",
    "-infinity",
    "1e999",
    "-1E400",
    "0x1p2000",
)

# Something of every section. All that is not a number is no number: a value that reads as one is a place to try.
MJCF = """
<mujoco model="m">
  <compiler boundmass="0.01" boundinertia="0.0001"/>
  <option timestep="0.002" gravity="0 0 -9.81" density="1.2"/>
  <visual><rgba joint="0 1 1 1" camera="1 1 1 1"/><scale com="0.4" camera="0.3"/><map force="0.005"/></visual>
  <statistic extent="1" center="0 0 0"/>
  <default><joint armature="0.01" damping="0.1"/>
    <default class="c"><geom density="900" friction="0.6 0.1 0.1"/></default></default>
  <custom><numeric name="n" data="1 2"/><text name="t" data="words"/></custom>
  <asset><mesh name="tetra" vertex="0 0 0 1 0 0 0 1 0 0 0 1" scale="1 1 1"/>
    <material name="mat" rgba="1 0 0 1"/></asset>
  <worldbody>
    <light pos="0 0 3" dir="0 0 -1"/>
    <body name="a" pos="0 0 1" quat="1 0 0 0" gravcomp="0.5">
      <joint name="j" type="hinge" axis="0 1 0" pos="0 0 0.1" range="-90 90" ref="3" stiffness="2" springref="1"/>
      <inertial pos="0 0 0.1" mass="1" fullinertia="1 1 1 0 0 0"/>
      <geom name="g" type="capsule" fromto="0 0 0 0 0 0.3" size="0.02" class="c" user="1 2"/>
      <body name="b" pos="0 0 0.3" euler="0 10 0">
        <joint name="k" axis="0 1 0" frictionloss="0.1"/>
        <inertial pos="0 0 0.1" mass="1" diaginertia="0.1 0.1 0.1"/>
        <geom type="mesh" mesh="tetra" contype="0" conaffinity="0"/>
        <site name="s" pos="0 0 0.4" size="0.01"/>
      </body>
    </body>
    <body name="free" pos="1 0 0"><freejoint name="f"/><geom size="0.1" mass="2"/></body>
  </worldbody>
  <contact><exclude body1="a" body2="b"/></contact>
  <equality><joint name="e" joint1="j" joint2="k" polycoef="0 1 0 0 0"/></equality>
  <tendon><fixed name="t" stiffness="3"><joint joint="j" coef="2"/></fixed></tendon>
  <actuator><motor name="act" joint="j" gear="3" ctrlrange="-1 1"/></actuator>
  <sensor><jointpos name="p" joint="j" noise="0.1"/></sensor>
  <keyframe><key name="home" time="0" qpos="0 0 1 0 0 1 0 0 0"/></keyframe>
</mujoco>"""

URDF = """
<robot name="r">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base">
    <inertial><origin xyz="0 0 0.1" rpy="0 0 0"/><mass value="2"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <collision><origin xyz="0 0 0" rpy="0 0 0"/><geometry><box size="1 1 1"/></geometry></collision>
    <visual><geometry><sphere radius="1"/></geometry></visual>
  </link>
  <link name="leg">
    <inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <collision><geometry><cylinder radius="0.1" length="1"/></geometry></collision>
    <collision><geometry><mesh filename="leg.stl" scale="1 1 1"/></geometry></collision>
  </link>
  <link name="toe">
    <inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="knee" type="revolute"><parent link="base"/><child link="leg"/><origin xyz="0 0 1" rpy="0 0 0"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="5" velocity="5"/>
    <dynamics damping="0.1" friction="0.2"/></joint>
  <joint name="ankle" type="revolute"><parent link="leg"/><child link="toe"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="5" velocity="5"/><mimic joint="knee" multiplier="2" offset="0.1"/></joint>
</robot>"""


def places(xml: str) -> Iterator[tuple[int, str, int]]:
    """Element, attribute and token of every number."""
    for i, element in enumerate(ElementTree.fromstring(xml).iter()):
        for attribute, value in element.attrib.items():
            try:
                numbers = [float(token) for token in value.split()]
            except ValueError:
                continue
            yield from ((i, attribute, k) for k in range(len(numbers)))


def changed(xml: str, place: tuple[int, str, int], token: str) -> str:
    root = ElementTree.fromstring(xml)
    i, attribute, k = place
    element = list(root.iter())[i]
    tokens = element.attrib[attribute].split()
    tokens[k] = token
    element.set(attribute, " ".join(tokens))
    return ElementTree.tostring(root, encoding="unicode")


@pytest.mark.parametrize(("name", "xml"), [("model.xml", MJCF), ("model.urdf", URDF)], ids=["MJCF", "URDF"])
def test_every_number_of_a_file(tmp_path: Path, name: str, xml: str) -> None:
    file, every = tmp_path / name, list(places(xml))
    file.write_text(xml)
    jd.load(file)
    assert len(every) > 60
    for n, place in enumerate(every):
        token = SPELLINGS[n % len(SPELLINGS)]
        file.write_text(changed(xml, place, token))
        with pytest.raises(jd.BadRobot, match="has a number that is not finite") as told:
            jd.load(file)
        assert f"{token} in attribute '{place[1]}' of <" in str(told.value)
        assert f"'{file}'" in str(told.value)


@pytest.mark.parametrize("token", SPELLINGS)
def test_every_spelling(tmp_path: Path, token: str) -> None:
    for name, xml, mass in (("m.xml", MJCF, 'mass="1"'), ("m.urdf", URDF, 'mass value="1"')):
        file = tmp_path / name
        file.write_text(xml.replace(mass, mass.replace("1", token)))
        with pytest.raises(jd.BadRobot, match=r"attribute '(mass|value)' of <(inertial|mass)> in <(body|link) name='"):
            jd.load(str(file))


@pytest.mark.parametrize("name", ["inf", "nan", "-inf", "1e999"])
def test_names_and_texts_are_no_numbers(tmp_path: Path, name: str) -> None:
    """Bodies, joints, sites, classes, references and texts may be called so."""
    mjcf, urdf = MJCF.replace('data="words"', f'data="{name}"'), URDF.replace("leg.stl", name)
    for old in ("a", "j", "g", "s", "c", "mat", "tetra", "act", "home", "e", "m"):
        mjcf = mjcf.replace(f'="{old}"', f'="{name}"')
    for old in ("leg", "knee", "grey"):
        urdf = urdf.replace(f'"{old}"', f'"{name}"')
    for file, text in ((tmp_path / "m.xml", mjcf), (tmp_path / "m.urdf", urdf)):
        file.write_text(text)
        robot = jd.load(file)
        assert name in robot.points
        assert name in robot.symbols.q_names


INCLUDED = """
<mujocoinclude><body name="b"><joint name="j" axis="0 1 0"/><geom size="0.1" {}/></body></mujocoinclude>"""


@pytest.mark.parametrize("folder", [".", "parts"])
def test_what_is_included_or_attached(tmp_path: Path, folder: str) -> None:
    """An include in an include, and a model that is attached; the message names the file that has the number."""
    (tmp_path / folder).mkdir(exist_ok=True)
    main, inner, other = tmp_path / "main.xml", tmp_path / folder / "inner.xml", tmp_path / folder / "other.xml"
    outer = tmp_path / folder / "outer.xml"
    main.write_text(f"""<mujoco><asset><model name="o" file="{folder}/other.xml"/></asset><worldbody>
        <include file="{folder}/outer.xml"/><attach model="o" body="t" prefix="x"/></worldbody></mujoco>""")
    outer.write_text(f'<mujocoinclude><include file="{folder}/inner.xml"/></mujocoinclude>')

    def write(bad: str, worse: str) -> None:
        inner.write_text(INCLUDED.format(bad))
        other.write_text(
            f"<mujoco><worldbody>{INCLUDED.format(worse)}</worldbody></mujoco>".replace(
                "mujocoinclude", "frame"
            ).replace('name="b"', 'name="t"')
        )

    write("", "")
    assert set(jd.load(main).points) == {"b", "xt"}
    for (bad, worse), file in {('density="nan"', ""): inner, ("", 'mass="inf"'): other}.items():
        write(bad, worse)
        with pytest.raises(jd.BadRobot, match=rf"{file.name}' has a number that is not finite: (nan|inf) in attribute"):
            jd.load(main)


def test_settings_for_mujoco_in_a_urdf(tmp_path: Path) -> None:
    file = tmp_path / "m.urdf"
    file.write_text(URDF.replace('<robot name="r">', '<robot name="r"><mujoco><compiler boundmass="nan"/></mujoco>'))
    with pytest.raises(jd.BadRobot, match="nan in attribute 'boundmass' of <compiler>"):
        jd.load(file)


def test_what_other_programs_read_is_left_to_them(tmp_path: Path) -> None:
    file = tmp_path / "m.urdf"
    file.write_text(URDF.replace("</robot>", '<gazebo reference="leg"><kp value="inf"/></gazebo></robot>'))
    jd.load(file)


def test_a_text_instead_of_a_path() -> None:
    with pytest.raises(jd.BadRobot, match=r"is no path|does not exist"):
        jd.load(MJCF)


def test_warnings_of_mujoco_are_given_once(tmp_path: Path) -> None:
    """A limit of width 0, which MuJoCo drops; a file without anything of the kind has no warning."""
    file = tmp_path / "m.urdf"
    quiet = URDF.replace('damping="0.1" friction="0.2"', "")
    narrow = 'lower="0.5" upper="0.5"'
    file.write_text(quiet.replace('lower="-1" upper="1"', narrow))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        jd.load(file)
    (told,) = [one for one in caught if issubclass(one.category, jd.RobotWarning)]
    assert told.filename == __file__
    text = str(told.message)
    assert text.startswith(f"MuJoCo warns of '{file}': ")
    assert "'knee' has equal" in text
    assert "'ankle' has equal" in text
    assert "\n" not in text
    file.write_text(quiet)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jd.load(file)
