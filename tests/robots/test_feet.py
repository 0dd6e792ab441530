"""Feet are proposed where the geometry of limbs touches the ground, and feet that do not touch it get a warning."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import engines
import jourdain as jd
from jourdain import gallery
from oracles.mujoco_models import Simulator

mujoco = engines.mujoco()

Array = NDArray[np.float64]
LEGS = {"FL": (0.2, 0.1), "FR": (0.2, -0.1), "HL": (-0.2, 0.1), "HR": (-0.2, -0.1)}
SPHERE = '<geom size="0.02" pos="0.01 0 -0.22"/>'
SHANK = '<geom type="capsule" size="0.012" fromto="0 0 0 0.01 0 -0.2"/>'
VISUAL = '<geom size="0.05" pos="0 0 -0.4" contype="0" conaffinity="0" mass="0"/>'  # lower, but it touches nothing
MESH = '<asset><mesh name="wedge" vertex="-.02 -.01 0  .02 -.01 0  0 .01 0  0 0 -.25"/></asset>'
LEG = """
<body name="{name}_hip" pos="{x} {y} 0"><joint name="{name}_roll" axis="1 0 0" damping="1"/><geom size="0.04"/>
  <body name="{name}_thigh" pos="0 {side} 0" {tilt}><joint name="{name}_pitch" axis="0 1 0"/>
    <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.2"/>
    <body name="{name}_shank" pos="0 0 -0.2"><joint name="{name}_knee" axis="0 1 0" range="-150 -10"/>{foot}</body>
  </body>
</body>"""


def quadruped(foot: str, more: str = "", tilt: str = "", scale: float = 1.0) -> str:
    """Four legs whose shanks carry `foot`; `scale` of all lengths of the legs' places."""
    legs = [LEG.format(name=name, x=x * scale, y=y, side=0.05 * np.sign(y), foot=foot.replace("NAME", name), tilt=tilt)
            for name, (x, y) in LEGS.items()]  # fmt: skip
    return f"""<mujoco model="dog">{more}<worldbody><body name="trunk" pos="0 0 0.5"><freejoint name="base"/>
        <geom type="box" size="0.25 0.08 0.05"/>{"".join(legs)}
        <body name="head" pos="0.3 0 0.1"><joint name="neck" axis="0 1 0"/><geom size="0.06"/></body>
        </body></worldbody></mujoco>"""


def written(folder: Path, text: str, name: str = "robot.xml") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def proposed(file: Path) -> list[str]:
    """The names that the error of a touchdown without feet has."""
    with pytest.raises(jd.BadRobot, match="Say which frames of the robot touch the ground") as told:
        gallery.touchdown(file)
    return re.findall(r"'([^']*)'", str(told.value).split("limbs are: ")[1])


def loss_by_mujoco(xml: str, q: Array, v: Array, points: dict[str, Array]) -> float:
    """Of a landing on points of bodies that stick: masses and Jacobians by MuJoCo, then dense algebra."""
    s, rows = Simulator.of(xml).at(q, v), []
    for name, point in points.items():
        body, J = s.model.body(name).id, np.zeros((3, s.model.nv))
        at = s.data.xpos[body] + s.data.xmat[body].reshape(3, 3) @ point
        mujoco.mj_jac(s.model, s.data, J, None, at, body)
        rows.append(J)
    return loss(s.M, np.vstack(rows), v)


def loss(M: Array, C: Array, v: Array) -> float:
    """½ uᵀ W⁻¹ u of rows that are stopped, dependent ones too."""
    W, u = C @ np.linalg.solve(M, C.T), C @ v
    return float(u @ np.linalg.lstsq(W, u, rcond=1e-12)[0] / 2)


# What the shank carries, and where in its axes it touches the ground.
FEET: dict[str, tuple[str, str, tuple[float, float, float]]] = {
    "unnamed sphere": (SHANK + SPHERE, "", (0.01, 0, -0.22)),
    "sphere first": (SPHERE + SHANK, "", (0.01, 0, -0.22)),
    "sphere and what is only seen": (SHANK + SPHERE + VISUAL, "", (0.01, 0, -0.22)),
    "end of a capsule": (SHANK, "", (0.01, 0, -0.2)),
    "capsule from the foot to the knee": ('<geom type="capsule" size="0.012" fromto="0.01 0 -0.2 0 0 0"/>', "",
                                          (0.01, 0, -0.2)),
    "box": (SHANK + '<geom type="box" size="0.03 0.02 0.01" pos="0.01 0 -0.22"/>', "", (0.01, 0, -0.23)),
    "upright cylinder": (SHANK + '<geom type="cylinder" size="0.02 0.01" pos="0 0 -0.22"/>', "", (0, 0, -0.23)),
    "ellipsoid": (SHANK + '<geom type="ellipsoid" size="0.03 0.02 0.025" pos="0 0 -0.2"/>', "", (0, 0, -0.225)),
    "mesh": ('<geom type="mesh" mesh="wedge"/>', MESH, (0, 0, -0.25)),
    "sphere on a body of its own": (SHANK + '<body pos="0 0 -0.2"><geom size="0.02" pos="0 0 -0.02"/></body>', "",
                                    (0, 0, -0.22)),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "tilt"), [*((kind, "") for kind in FEET), ("unnamed sphere", 'euler="0 15 0"')])
def test_feet_of_quadrupeds(tmp_path: Path, kind: str, tilt: str) -> None:
    """Of unnamed geometry; the loss of a landing is that of MuJoCo's Jacobians at these points."""
    foot, more, point = FEET[kind]
    xml = quadruped(foot, more, tilt)
    robot = jd.load(written(tmp_path, xml))
    assert len(robot.feet) == 4
    scenario = gallery.touchdown(robot, robot.feet)
    for pose in ({}, {"knee": 1.2, "FL_roll": 0.2, "HR_pitch": -0.1, "v_x": 0.4, "FR_knee_rate": 1.0}):
        t = scenario.solve(parameters=pose)
        points = {f"{leg}_shank": np.array(point) for leg in LEGS}
        assert t.loss == pytest.approx(loss_by_mujoco(xml, t.q, t.v_minus, points), rel=1e-9)


def test_knees_are_no_feet(tmp_path: Path) -> None:
    """The origin of a shank is its knee: as a foot it costs more, and gets a warning."""
    file = written(tmp_path, quadruped(SHANK + SPHERE))
    names = proposed(file)
    assert names == [f"{leg}_shank_foot" for leg in LEGS]
    feet = gallery.touchdown(file, names).solve(knee=1.0).loss
    with pytest.warns(jd.RobotWarning, match="feet are far above the ground.*: 'FL_shank' by 0.2"):
        knees = gallery.touchdown(file, [f"{leg}_shank" for leg in LEGS])
    assert knees.solve(parameters={f"{leg}_knee": -1.0 for leg in LEGS}).loss > 1.5 * feet


@pytest.mark.parametrize("scale", [0.1, 30.0])
def test_feet_of_robots_of_all_sizes(tmp_path: Path, scale: float) -> None:
    xml = quadruped(SHANK + SPHERE)
    spec = mujoco.MjSpec.from_string(xml)
    for body in spec.bodies:
        body.pos = body.pos * scale
    for geom in spec.geoms:
        geom.size, geom.pos = geom.size * scale, geom.pos * scale
        if np.isfinite(geom.fromto).all():
            geom.fromto = geom.fromto * scale
    spec.compile()
    robot = jd.load(written(tmp_path, spec.to_xml()))
    assert robot.feet == tuple(f"{leg}_shank_foot" for leg in LEGS)
    for leg in LEGS:
        frame = robot.frame(f"{leg}_shank_foot")
        assert robot.description.bodies[frame.body].name == f"{leg}_shank"
        np.testing.assert_allclose(frame.position, scale * np.array([0.01, 0, -0.22]), atol=1e-12 * scale)


@pytest.mark.parametrize(
    ("named", "name"),
    [
        ('<geom name="NAME_toe" size="0.02" pos="0.01 0 -0.22"/>', "_toe"),
        (SPHERE + '<site name="NAME_tip" pos="0.01 0 -0.23"/>', "_tip"),
        (SPHERE + '<body name="NAME_end" pos="0.01 0 -0.22"/>', "_end"),
        (SPHERE + '<site name="NAME_imu" pos="0 0 -0.1"/>', "_shank_foot"),
        (SPHERE + '<site name="NAME_shank_foot" pos="0 0 -0.1"/>', "_shank_foot_"),
    ],
    ids=["geom", "site", "body", "site elsewhere", "name that is taken"],
)
def test_a_frame_at_the_foot_gives_its_name(tmp_path: Path, named: str, name: str) -> None:
    assert jd.load(written(tmp_path, quadruped(SHANK + named))).feet == tuple(f"{leg}{name}" for leg in LEGS)


def test_what_collides_with_the_ground_of_the_file(tmp_path: Path) -> None:
    """Contact types decide, and pairs that are named."""
    low = '<geom name="NAME_low" size="0.02" pos="0 0 -0.3" contype="2" conaffinity="2"/>'
    for ground, besides, expected in (
        ("", "", "_low"),
        ('<geom name="floor" type="plane" size="1 1 1"/>', "", "_shank_foot"),
        ('<geom name="floor" type="plane" size="1 1 1" contype="2"/>', "", "_low"),
        ('<geom name="floor" type="plane" size="1 1 1" contype="4" conaffinity="4"/>',
         "".join(f'<pair geom1="floor" geom2="{leg}_low"/>' for leg in LEGS), "_low"),
    ):  # fmt: skip
        xml = quadruped(SHANK + SPHERE + low).replace("<worldbody>", f"<worldbody>{ground}")
        file = written(tmp_path, xml.replace("</mujoco>", f"<contact>{besides}</contact></mujoco>"))
        assert jd.load(file).feet == tuple(f"{leg}{expected}" for leg in LEGS)


# Humanoids

SIDE = """
<body name="{s}_hip" pos="0 {y} -0.1"><joint name="{s}_hip" axis="0 1 0"/>
  <geom type="capsule" size="0.06" fromto="0 0 0 0 0 -0.4"/>
  <body name="{s}_shin" pos="0 0 -0.4"><joint name="{s}_knee" axis="0 1 0" range="0 120"/>
    <geom type="capsule" size="0.05" fromto="0 0 0 0 0 -0.4"/>
    <body name="{s}_ankle" pos="0 0 -0.45"><joint name="{s}_ankle" axis="0 1 0"/>{sole}</body></body></body>
<body name="{s}_arm" pos="0 {arm} 0.4"><joint name="{s}_shoulder" axis="0 1 0"/>
  <geom type="capsule" size="0.04" fromto="0 0 0 0 0 -0.6"/><geom size="0.05" pos="0 0 -0.65"/></body>"""
BALLS = "".join(f'<geom size="0.01" pos="{x} {y} -0.05"/>' for x in (-0.06, 0.14) for y in (-0.04, 0.04))
SOLES = {
    "box": ('<geom type="box" size="0.1 0.05 0.015" pos="0.04 0 -0.06"/>', -0.075),
    "named box": ('<geom name="{s}_sole" type="box" size="0.1 0.05 0.015" pos="0.04 0 -0.06"/>', -0.075),
    "four balls": (BALLS, -0.05),
    "two capsules": ("".join(f'<geom type="capsule" size="0.02" fromto="-0.06 {y} -0.05 0.14 {y} -0.05"/>'
                             for y in (-0.03, 0.03)), -0.05),
}  # fmt: skip


def humanoid(sole: str) -> str:
    sides = [SIDE.format(s=s, y=y, arm=2.5 * y, sole=sole.format(s=s)) for s, y in (("left", 0.1), ("right", -0.1))]
    return f"""<mujoco><worldbody><body name="pelvis" pos="0 0 1"><freejoint name="base"/>
        <geom type="box" size="0.1 0.15 0.3" pos="0 0 0.2"/>{"".join(sides)}</body></worldbody></mujoco>"""


@pytest.mark.parametrize("kind", SOLES)
def test_soles_touch_in_their_middle(tmp_path: Path, kind: str) -> None:
    """One foot per leg, hands are none; level at the default pose, so nothing is warned of."""
    sole, depth = SOLES[kind]
    xml = humanoid(sole)
    robot = jd.load(written(tmp_path, xml))
    assert [name.split("_")[0] for name in robot.feet] == ["left", "right"]
    t = gallery.touchdown(robot, robot.feet).solve(v_x=0.3)
    points = {f"{side}_ankle": np.array([0.04, 0, depth]) for side in ("left", "right")}
    assert t.loss == pytest.approx(loss_by_mujoco(xml, t.q, t.v_minus, points), rel=1e-9)


# URDF

INERTIAL = '<inertial><mass value="{}"/><inertia ixx="{}" iyy="{}" izz="{}" ixy="0" ixz="0" iyz="0"/></inertial>'
COLLISION = '<collision><origin xyz="{}"/><geometry>{}</geometry></collision>'


def urdf(shank: str, foot: str, at: str = "0 0 -0.2") -> str:
    small, parts = INERTIAL.format(0.3, 0.001, 0.001, 0.001), []
    for name, (x, y) in LEGS.items():
        parts.append(f"""
            <link name="{name}_thigh">{small}</link><link name="{name}_shank">{small}{shank}</link>
            <link name="{name}_foot">{foot}</link>
            <joint name="{name}_hip" type="continuous"><parent link="trunk"/><child link="{name}_thigh"/>
              <origin xyz="{x} {y} 0"/><axis xyz="0 1 0"/></joint>
            <joint name="{name}_knee" type="continuous"><parent link="{name}_thigh"/><child link="{name}_shank"/>
              <origin xyz="0 0 -0.2"/><axis xyz="0 1 0"/></joint>
            <joint name="{name}_end" type="fixed"><parent link="{name}_shank"/><child link="{name}_foot"/>
              <origin xyz="{at}"/></joint>""")
    box = COLLISION.format("0 0 0", '<box size="0.5 0.2 0.1"/>')
    return (
        f'<robot name="dog"><link name="trunk">{INERTIAL.format(8, 0.1, 0.2, 0.2)}{box}</link>{"".join(parts)}</robot>'
    )


BALL = COLLISION.format("0.01 0 -0.2", '<sphere radius="0.02"/>')
TOE = COLLISION.format("0 0 0", '<sphere radius="0.02"/>')
ROD = COLLISION.format("0 0 -0.1", '<cylinder radius="0.01" length="0.2"/>')
STL = COLLISION.format("0 0 0", '<mesh filename="package://dogs/meshes/toe.stl" scale="2 2 2"/>')


def tetrahedron(file: Path, ascii_text: bool) -> None:
    """As an STL whose lowest corner is at z = −0.01."""
    corners = np.array([[0.01, 0, 0], [-0.01, 0.01, 0], [-0.01, -0.01, 0], [0, 0, -0.01]])
    triangles = corners[[[0, 1, 2], [0, 1, 3], [1, 2, 3], [0, 2, 3]]]
    file.parent.mkdir(parents=True, exist_ok=True)
    if ascii_text:
        facets = ["facet normal 0 0 0\nouter loop\n" + "\n".join(f"vertex {x} {y} {z}" for x, y, z in triangle)
                  + "\nendloop\nendfacet" for triangle in triangles]  # fmt: skip
        file.write_text("solid t\n" + "\n".join(facets) + "\nendsolid t\n")
        return
    body = b"".join(np.array([[0, 0, 0], *triangle], np.float32).tobytes() + b"\0\0" for triangle in triangles)
    file.write_bytes(b"\0" * 80 + len(triangles).to_bytes(4, "little") + body)


URDFS = {
    "sphere on the shank": (urdf(BALL + ROD, ""), "_shank_foot", (0.01, 0, -0.2)),
    "sphere at a foot link": (urdf(ROD, TOE), "_foot", (0, 0, -0.2)),
    "sphere beside a foot link": (urdf(BALL + ROD, "", "0.01 0 -0.21"), "_foot", (0.01, 0, -0.21)),
    "end of a rod": (urdf(ROD, "", "0 0 -0.1"), "_shank_foot", (0, 0, -0.2)),
    "mesh of a foot link": (urdf(ROD, STL.replace('xyz="0 0 0"', 'xyz="0.05 0 0"')), "_foot_foot", (0.05, 0, -0.22)),
}


@pytest.mark.parametrize(("name", "ascii_text"), [*((name, False) for name in URDFS), ("mesh of a foot link", True)])
def test_feet_of_urdf(tmp_path: Path, name: str, ascii_text: bool) -> None:
    xml, end, point = URDFS[name]
    tetrahedron(tmp_path / "dogs/meshes/toe.stl", ascii_text)
    (tmp_path / "dogs/urdf").mkdir()
    file = written(tmp_path / "dogs/urdf", xml, "dog.urdf")
    robot = jd.load(file, floating=True)
    assert robot.feet == tuple(f"{leg}{end}" for leg in LEGS)
    t = gallery.touchdown(robot, robot.feet).solve(knee=0.9, v_x=0.2)
    J = []
    for leg in LEGS:
        twist, R = robot.frame_jacobian(f"{leg}_shank", t.q), robot.rotation(f"{leg}_shank", t.q)
        J.append(twist[:3] + np.cross(twist[3:].T, R @ point).T)
    assert t.loss == pytest.approx(loss(robot.mass_matrix(t.q), np.vstack(J), t.v_minus), rel=1e-8)


def test_meshes_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    """Nothing is proposed from where a body has its origin."""
    file = written(tmp_path, urdf("", STL), "dog.urdf")
    with pytest.raises(
        jd.BadRobot, match=r"None are proposed: no geometry .* meshes of 'FL_foot', 'FR_foot', .* cannot"
    ):
        gallery.touchdown(file)
    with pytest.raises(jd.BadRobot, match=r"None are proposed: no geometry of its limbs is known[^.]*\.$"):
        gallery.touchdown(written(tmp_path, urdf("", ""), "bare.urdf"))


# Feet above the ground


def told(file: Path, feet: list[str]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gallery.touchdown(file, feet)
    assert all(one.category is jd.RobotWarning and one.filename == __file__ for one in caught)
    return [str(one.message) for one in caught]


def test_feet_that_are_far_from_the_ground(tmp_path: Path) -> None:
    """Once, in one sentence, with those that are high; damping is no matter of a landing."""
    file = written(tmp_path, quadruped(SHANK + SPHERE))
    feet = proposed(file)
    assert told(file, feet) == []
    assert told(file, feet[:2]) == []
    (text,) = told(file, [*feet[:3], "HR_thigh"])
    assert "'HR_thigh' by 0.4" in text
    assert "'FL_shank_foot' by" not in text
    assert "\n" not in text
    (text,) = told(file, ["trunk", "head"])
    assert "'trunk' by" in text
    assert "'head' by" in text


def test_robots_without_geometry_are_compared_by_their_bodies(tmp_path: Path) -> None:
    file = written(tmp_path, urdf("", ""), "bare.urdf")
    assert told(file, ["FL_foot", "HR_foot"]) == []
    (text,) = told(file, ["FL_shank", "HR_foot"])
    assert "'FL_shank' by" in text


def test_the_command_says_it_of_the_pose_that_is_given(tmp_path: Path) -> None:
    file = written(tmp_path, quadruped(SHANK + SPHERE))
    command = [sys.executable, "-m", "jourdain.cli", "run", "touchdown", "--robot", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 2
    names = re.findall(r"'([^']*)'", done.stderr.split("limbs are: ")[1])
    assert names == [f"{leg}_shank_foot" for leg in LEGS]
    lifted = ["--feet", ",".join(names), "--set", "FL_knee=-80", "--samples", "100"]
    done = subprocess.run([*command, *lifted], capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert re.match(
        r"warning: At this pose feet are far above the ground.*: 'FL_shank_foot' by 0\.\d+ m; ", done.stderr
    )
    assert ".py:" not in done.stderr


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("a1.urdf", ("FR_foot", "FL_foot", "RR_foot", "RL_foot")),
        ("solo12.urdf", ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")),
        ("anymal_c_simple_description/urdf/anymal.urdf", ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")),
        ("hyq_no_sensors.urdf", ("lf_foot", "rf_foot", "lh_foot", "rh_foot")),
        ("talos_reduced.urdf", ("left_sole_link", "right_sole_link")),
        ("bolt.urdf", ("FL_FOOT", "FR_FOOT")),
    ],
)
def test_feet_of_robots_that_are_built(file: str, names: tuple[str, ...]) -> None:
    assert jd.load(engines.find(file), floating=True).feet == names
