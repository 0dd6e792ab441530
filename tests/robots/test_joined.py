"""What a file joins besides the tree, and frames that share joints: loops, chains of mimics, rows that vanish."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import jourdain as jd
from engines import find

LOOP = """
<mujoco>
  <worldbody>
    <body name="hull" pos="0 0 1">
      <freejoint name="base"/>
      <geom type="box" size=".3 .2 .1" mass="4"/>
      <body name="a" pos="-.2 0 0"><joint name="ja" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02"/>
        <body name="b" pos="0 0 -.3"><joint name="jb" axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 .4 0 0" size=".02"/><site name="end" pos=".4 0 0"/>
          <site name="foot" pos=".2 0 -.1"/>
        </body>
      </body>
      <body name="c" pos=".2 0 0"><joint name="jc" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02"/>
        <site name="tip" pos="0 0 -.3"/>
      </body>
    </body>
  </worldbody>
  <equality><connect name="loop" site1="end" site2="tip"/></equality>
</mujoco>
"""
POSE = {"ja": 0.5, "jb": -0.5, "jc": 0.5}  # a parallelogram: it closes


@pytest.fixture
def four_bar(tmp_path: Path) -> jd.Robot:
    (tmp_path / "loop.xml").write_text(LOOP)
    return jd.load(tmp_path / "loop.xml")


@pytest.mark.parametrize("pair", [("FL_LOWER_LEG", "FL_UPPER_LEG"), ("FL_UPPER_LEG", "FL_LOWER_LEG")])
def test_neighbours_that_are_welded_are_locked(pair: tuple[str, str], rng: np.random.Generator) -> None:
    """Rows that no motion of the joint between them moves are zeros, not rounding that holds something."""
    solo = jd.load(find("solo12.urdf"), floating=True)
    q, v = solo.neutral, rng.normal(size=18)
    q[3:7] = rng.normal(size=4)
    q[3:7] /= np.linalg.norm(q[3:7])
    q[7:] = rng.uniform(-1, 1, 12)
    locked, welded = (solo.event(inert=[one]).solve(q, v) for one in (solo.lock("FL_KFE"), solo.weld(*pair)))
    assert np.allclose(welded.v_plus, locked.v_plus, atol=1e-12)
    assert welded.dof == locked.dof
    same = solo.event(inert=[solo.weld("FL_FOOT", "FL_LOWER_LEG")]).solve(q, v)
    assert np.array_equal(same.v_plus, v)
    assert same.dof.posterior == 18


@pytest.mark.parametrize("off", [0.0, 1e-12, 1e-10, 3e-9])
def test_a_planar_loop_that_is_nearly_closed(four_bar: jd.Robot, off: float) -> None:
    """Within the tolerance of the check, the row across the plane of the loop is still no row."""
    event = four_bar.event(inert=[four_bar.contact("foot")])
    v = {"base.z": -1.0, "base.y": 0.5}
    exact, t = event.solve(POSE, v), event.solve({**POSE, "jc": 0.5 + off}, v)
    assert t.dof == exact.dof == (7, 4, 4)
    assert t.loss == pytest.approx(exact.loss, rel=1e-7)
    assert t.redundant == ("loop.y",)


def test_a_row_of_a_loop_may_be_released_alone(four_bar: jd.Robot) -> None:
    v = {"base.z": -1.0}
    assert four_bar.event().solve(POSE, v).dof == (7, 7, 7)
    assert four_bar.event(released=["loop.x"]).solve(POSE, v).dof == (7, 8, 8)
    assert four_bar.event(released=["loop"]).solve(POSE, v).dof == (7, 9, 9)


def test_loops_hold_between_events(four_bar: jd.Robot) -> None:
    run = jd.Hybrid(four_bar, {"flight": []}).simulate(POSE, {"base.x": 0.1, "base.z": 0.2}, until=0.3)
    ends = [four_bar.position(name, run.q[-1]) for name in ("end", "tip")]
    assert np.allclose(ends[0], ends[1], atol=1e-9)
    energy = run.energy.kinetic + run.energy.potential
    assert energy[-1] == pytest.approx(energy[0], rel=1e-9)


LINK = """<link name="{}"><inertial><mass value="{}"/>
<inertia ixx=".1" iyy=".2" izz=".15" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
HINGE = """<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/><origin xyz="{}"/>
<axis xyz="0 1 0"/>{}</joint>"""


def chain(tmp_path: Path, base: str = "1", mimic: str = "j2", origin: str = "0 0 -.4", more: str = "") -> Path:
    """Three hinges, the last named first: j3 follows j2, which follows j1."""
    joints = [("j3", "b", "c", origin, f'<mimic joint="{mimic}" multiplier="2" offset="-.05"/>'),
              ("j2", "a", "b", "0 0 -.4", '<mimic joint="j1" multiplier="-.5" offset=".1"/>'),
              ("j1", "base", "a", "0 0 -.1", "")]  # fmt: skip
    links = [LINK.format(name, mass) for name, mass in (("base", base), ("a", "1"), ("b", "1"), ("c", "1"))]
    file = tmp_path / "chain.urdf"
    file.write_text(
        '<robot name="chain">' + "".join([*links, more, *(HINGE.format(*joint) for joint in joints)]) + "</robot>"
    )
    return file


def test_followers_may_lead(tmp_path: Path) -> None:
    robot = jd.load(chain(tmp_path), floating=True)
    assert np.allclose(robot.neutral[7:], [0.0, 0.1, 0.15])
    event = robot.event(inert=[robot.contact("c")])
    assert event.solve().dof == (7, 4, 4)
    t = event.solve({"j1": 0.3}, {"j1": 1.0})
    assert np.allclose(t.q[7:], [0.3, -0.05, -0.15])
    assert np.allclose(t.v_minus[6:], [1.0, -0.5, -1.0])


def test_fixed_joints_among_those_that_follow(tmp_path: Path) -> None:
    """The leader alone may be fixed, and holds the others."""
    file = chain(tmp_path)
    for name, leader in (("j3", "j2"), ("j2", "j1")):
        with pytest.raises(jd.BadRobot, match=f"Joint '{name}' follows '{leader}', so it cannot be fixed alone"):
            jd.load(file, floating=True, fixed=[name])
    held = jd.load(file, floating=True, fixed="j1")
    assert held.event(inert=[held.contact("c")]).solve(v={"base.z": -1.0}).dof.prior == 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"base": "nan"}, "'.*' has a number that is not finite: nan in attribute 'value' .* in <link name='base'>"),
        ({"base": "-1"}, "Body 'base' of '.*' has the mass -1 kg; masses are not negative"),
        ({"origin": "0 inf 0"}, "'.*' has a number that is not finite: inf in attribute 'xyz' .* in <joint name='j3'>"),
        ({"mimic": "j3"}, "Joint 'j3' of '.*' follows itself"),
        ({"more": '<link name="alone"/>'}, "has several roots, 'base', 'alone'; join them by joints"),
    ],
)
def test_files_that_are_unsound(tmp_path: Path, change: dict[str, str], message: str) -> None:
    with pytest.raises(jd.BadRobot, match=message):
        jd.load(chain(tmp_path, **change), floating=True)


@pytest.mark.parametrize("normal", [(2e-6, 0, -1), (1e-4, 1e-5, -1), (0.3, -0.2, -0.9), (1, 0, -1e-9), (0.6, 0.0, 0.8)])
def test_directions_of_a_contact_are_orthonormal(normal: tuple[float, ...]) -> None:
    box = jd.payload(1.0, (1.0, 1.0, 1.0))
    D = box.contact("body", normal=normal).rows()[0][:, :3]
    assert np.allclose(D @ D.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(D) == pytest.approx(1.0)


def test_words_that_are_no_robots_frames_or_numbers() -> None:
    box = jd.payload(1.0, (1.0, 1.0, 1.0))
    cases = [
        (lambda: jd.payload(1, (1, 1, 1), {"h": (0, 1)}), jd.BadRobot, "com, gravity and frames have 3 each"),
        (lambda: jd.payload("a", (1, 1, 1)), jd.BadRobot, "A payload is made of numbers"),  # type: ignore[arg-type]
        (lambda: jd.payload(np.inf, (1, 1, 1)), jd.BadRobot, "A number of the payload is not finite"),
        (lambda: jd.scene([box]), jd.BadRobot, "A scene is a dict of robots and payloads by name"),  # type: ignore[arg-type]
        (
            lambda: jd.scene({"a": 3}),  # type: ignore[dict-item]
            jd.BadRobot,
            "A scene is a dict of robots and payloads by name",
        ),
        (lambda: jd.load(find("solo12.urdf"), parameters=3), jd.BadRobot, "parameters is a list of texts as"),  # type: ignore[arg-type]
        (lambda: jd.load(find("solo12.urdf"), parameters={"a": []}), jd.BadRobot, "Parameter 'a' stands for texts as"),
        (lambda: box.contact("body", at="abc"), jd.BadConstraint, "is on its frame is given by 3 numbers"),  # type: ignore[arg-type]
        (lambda: box.contact("body", normal=(0, 1)), jd.BadConstraint, "The normal of contact 'body' is a direction"),
        (
            lambda: box.contact("body", tangent="x"),
            jd.BadConstraint,
            "tangents of contact 'body' are a list of directions",
        ),
    ]
    for call, error, message in cases:
        with pytest.raises(error, match=message):
            call()


def test_the_robot_floats_and_not_only_the_box_beside_it(tmp_path: Path) -> None:
    box = '<body name="box" pos="1 0 0"><freejoint name="box"/><geom size=".1"/></body>'
    hand = '<body name="hand" pos=".3 0 0"><joint name="j"/><geom size=".1"/></body>'
    arm = f'<body name="arm"><geom size=".1"/>{hand}</body>'
    table = '<body name="table"><geom size=".1"/></body>'
    for name, bodies, free in (("both", arm + box, 2), ("box", table + box, 1)):
        (tmp_path / f"{name}.xml").write_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
        robot = jd.load(tmp_path / f"{name}.xml", floating=True)
        assert len(robot.quaternions) == free


def test_where_a_floating_body_is_placed_is_no_parameter() -> None:
    with pytest.raises(jd.BadRobot, match="Where 'base_link' is placed is a coordinate, not a parameter: it floats"):
        jd.load(find("solo12.urdf"), floating=True, parameters=["base_link.x"])


def test_rows_do_not_depend_on_where_the_robot_is() -> None:
    """Not even by rounding: a robot a mile away has the same rows."""
    solo = jd.load(find("solo12.urdf"), floating=True)
    place = solo.symbols.q[:3]
    for rows in (solo.contact("FL_FOOT"), solo.weld("FL_FOOT"), solo.weld("FL_FOOT", "HR_FOOT")):
        assert not ca.depends_on(rows.C, place)
