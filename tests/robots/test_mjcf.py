"""MJCF files by `jd.load` against MuJoCo: q and v are its own, and so are masses, forces, places and closed loops."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import pytest
from numpy.typing import NDArray

import engines
import jourdain as jd
from jourdain.robots.robot import Robot
from oracles.dense import assert_same
from oracles.mujoco_models import LOOPS, MODELS, TREES, Simulator, silence

mujoco = engines.mujoco()

Array = NDArray[np.float64]
RTOL = 1e-11  # of the largest entry
SEEDS = (0, 1, 2)
GEOM = "<geom size='0.1' pos='0.1 0.02 0'/>"
EQUALITIES = [(name, model.equality(i).name) for name, xml in LOOPS.items()
              for model in [mujoco.MjModel.from_xml_string(xml)] for i in range(model.neq)]  # fmt: skip


class Both(NamedTuple):
    """A file in jourdain and in MuJoCo."""

    robot: Robot
    simulator: Simulator


def load(folder: Path, xml: str, **options: Any) -> Both:
    file = folder / "model.xml"
    file.write_text(xml)
    return Both(jd.load(file, **options), Simulator.of(xml))


@pytest.fixture(scope="module")
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Both:
    """The model that the test is about, read once."""
    return load(tmp_path_factory.mktemp("mjcf"), MODELS[request.param])


every_model = pytest.mark.parametrize("both", MODELS, indirect=True)
every_loop = pytest.mark.parametrize("both", LOOPS, indirect=True)
every_equality = pytest.mark.parametrize(("both", "name"), EQUALITIES, indirect=["both"])
every_seed = pytest.mark.parametrize("seed", SEEDS)


def largest(array: Any) -> float:
    return float(np.max(np.abs(array), initial=0.0)) or 1.0


def same(what: str, actual: Any, expected: Any, rtol: float = RTOL, scale: float | None = None) -> None:
    assert_same(what, actual, expected, largest(expected) if scale is None else scale, rtol)


def force(robot: Robot, q: Array, v: Array) -> Array:
    """h − weight of M v̇ + h = weight: MuJoCo's qfrc_bias."""
    loads = robot.loads
    return robot.evaluate("bias − weight", lambda: {"h": loads.bias - loads.weight}, q, v, {})["h"][..., 0]


def off(robot: Robot, name: str, q: Array) -> Array:
    """g of a constraint."""
    g = robot.constraints[name].g
    return robot.evaluate(f"g {name}", lambda: {"g": g}, q, None, {})["g"][..., 0]


def span(rows: Array) -> Array:
    """The orthogonal projector onto the row space."""
    _, sizes, V = np.linalg.svd(rows, full_matrices=False)
    V = V[sizes > 1e-9 * sizes[0]]
    return V.T @ V


def compare(robot: Robot, simulator: Simulator, q: Array, v: Array) -> None:
    """All that holds for a tree, at one state."""
    s = simulator.at(q, v)
    same("M", robot.mass_matrix(q), s.M)
    same("T", robot.kinetic_energy(q, v), s.energy[1])
    same("bias − weight", force(robot, q, v), s.data.qfrc_bias)
    still = force(robot, q, 0 * v)
    same("weight", still, s.at(q).data.qfrc_bias, scale=largest(still))
    N = robot.evaluate("N", lambda: {"N": robot.symbols.N}, q, None, {})["N"]
    same("N v", N @ v, s.rates(q, v))
    for name, (kind, i) in s.frames().items():
        J, (position, rotation) = s.jacobian(kind, i), s.place(kind, i)
        same(f"Jacobian of {kind} '{name}'", robot.frame_jacobian(name, q), J)
        same(f"velocity of {kind} '{name}'", robot.point_velocity(name, q, v), J[:3] @ v, scale=largest(J) * largest(v))
        same(f"position of {kind} '{name}'", robot.position(name, q), position)
        same(f"rotation of {kind} '{name}'", robot.rotation(name, q), rotation)


# Trees, and the trees of closed loops


@every_model
@every_seed
def test_masses_forces_and_places_are_those_of_mujoco(both: Both, seed: int) -> None:
    compare(*both, *both.simulator.random_state(np.random.default_rng(seed)))


@every_model
def test_the_neutral_pose_is_that_of_the_file(both: Both) -> None:
    """But for joints that follow others: these are where the equality has them."""
    robot, expected = both.robot, np.array(both.simulator.model.qpos0)
    for equality in robot.description.equalities:
        if equality.kind == "joint" and equality.active:
            place = robot.symbols.q_names.index(equality.joints[0])
            assert abs(off(robot, equality.name, robot.neutral)[0]) < 1e-12
            expected[place] = robot.neutral[place]
    same("neutral", robot.neutral, expected, rtol=0)
    compare(*both, np.array(both.simulator.model.qpos0), np.ones(both.simulator.model.nv))


@every_model
def test_many_poses_at_once(both: Both) -> None:
    rng = np.random.default_rng(5)
    q, v = (np.array(part) for part in zip(*(both.simulator.random_state(rng) for _ in range(6)), strict=True))
    M, h, T = both.robot.mass_matrix(q), force(both.robot, q, v), both.robot.kinetic_energy(q, v)
    for i in range(len(q)):
        s = both.simulator.at(q[i], v[i])
        same("M", M[i], s.M)
        same("bias − weight", h[i], s.data.qfrc_bias)
        same("T", T[i], s.energy[1])


@every_model
def test_every_frame_of_the_file_has_a_name(both: Both) -> None:
    assert {*both.robot.points} == {*both.simulator.frames()}


@pytest.mark.parametrize("both", [name for name in TREES if name != "stacked"], indirect=True)  # that one has springs
@every_seed
def test_potential_of_gravity(both: Both, seed: int) -> None:
    """Up to what bodies have that never move."""
    rng, robot, heights = np.random.default_rng(seed), both.robot, []
    for _ in range(2):
        q, _ = both.simulator.random_state(rng)
        U = robot.evaluate("U", lambda: {"U": ca.densify(robot.loads.potential)}, q, None, {})["U"][0, 0]
        heights.append((U, both.simulator.at(q).energy[0]))
    (one, its), (other, others) = heights
    same("U", one - other, its - others, scale=abs(its) + abs(others))


def test_names_of_what_has_none(tmp_path: Path) -> None:
    robot, _ = load(tmp_path, TREES["unnamed"])
    joints = [joint.name for joint in robot.description.joints()]
    assert joints == ["body 1", "body 2.0", "body 2.1", "same", "ball", "body 5"]
    assert robot.symbols.v_names[4:7] == ("ball.wx", "ball.wy", "ball.wz")


def test_names_of_free_joints(tmp_path: Path) -> None:
    alone, several = (load(tmp_path, TREES[name]).robot for name in ("dog", "table"))
    assert alone.symbols.q_names[:7] == ("base.x", "base.y", "base.z", "base.qw", "base.qx", "base.qy", "base.qz")
    assert alone.symbols.v_names[:6] == ("base.x", "base.y", "base.z", "base.wx", "base.wy", "base.wz")
    assert [name for name in several.symbols.q_names if name.endswith("x")] == [
        "brick.x", "brick.qx", "plate.x", "plate.qx", "egg.x", "egg.qx"
    ]  # fmt: skip


def test_the_site_has_the_name_then_the_body_then_the_geom(tmp_path: Path) -> None:
    robot, s = load(tmp_path, TREES["unnamed"])
    q, _ = s.random_state(np.random.default_rng(3))
    s.at(q)
    site, body, geom = s.data.site("same").xpos, s.data.body("same").xpos, s.data.geom("same").xpos
    assert min(np.linalg.norm(site - body), np.linalg.norm(site - geom)) > 0.1
    same("same", robot.position("same", q), site)
    assert np.linalg.norm(s.data.body("ball").xpos - s.data.geom("ball").xpos) > 0.1
    same("ball", robot.position("ball", q), s.data.body("ball").xpos)


# What acts besides, or does not


def test_rotors_of_actuators_have_inertia(tmp_path: Path) -> None:
    """Armature of an actuator, seen through its gear."""
    xml = f"""<mujoco><worldbody><body name="a"><joint name="j" axis="0 1 0"/>{GEOM}</body></worldbody>
        <actuator><motor joint="j" gear="3" armature="2"/></actuator></mujoco>"""
    file = tmp_path / "model.xml"
    file.write_text(xml)
    expected = Simulator.of(xml).at(np.zeros(1)).M
    assert expected[0, 0] > 18  # 3² · 2 and the body
    same("M", jd.load(file).mass_matrix(), expected)


def test_gravity_that_is_switched_off(tmp_path: Path) -> None:
    xml = f"""<mujoco><option><flag gravity="disable"/></option>
        <worldbody><body name="a"><joint name="j" axis="0 1 0"/>{GEOM}</body></worldbody></mujoco>"""
    robot, s = load(tmp_path, xml)
    q, v = np.array([0.3]), np.array([1.2])
    same("bias − weight", force(robot, q, v), s.at(q, v).data.qfrc_bias)


def test_equalities_that_are_switched_off(tmp_path: Path) -> None:
    xml = f"""<mujoco><option><flag equality="disable"/></option>
        <worldbody><body name="a"><joint name="j" axis="0 1 0"/>{GEOM}</body></worldbody>
        <equality><joint name="e" joint1="j"/></equality></mujoco>"""
    robot, s = load(tmp_path, xml)
    assert s.at(np.zeros(1)).data.ne == 0
    assert robot.joined == ()


# Roots that float

RAFT = """
<mujoco model="raft"><option gravity="1 2 -9"/><worldbody>
  <body name="raft" pos="{pos}" quat="{quat}">{free}<geom type="box" size="0.3 0.2 0.05" pos="0.02 0.01 0"/>
    <body name="mast" pos="0.1 0 0.05" euler="5 0 10"><joint name="mast" axis="0 1 0.1" pos="0 0 0.02" ref="20"/>
      <geom name="pole" type="capsule" fromto="0 0 0 0 0 0.5" size="0.02"/><site name="top" pos="0 0 0.5"/></body>
    <body name="keel" pos="0 0 -0.1"><geom type="ellipsoid" size="0.2 0.02 0.1"/></body>
  </body>
</worldbody></mujoco>"""
LEVEL, TURNED = {"pos": "0 0 0", "quat": "1 0 0 0"}, {"pos": "0.3 -0.2 0.5", "quat": "0.6 0.1 -0.7 0.2"}


@pytest.mark.parametrize("root", [LEVEL, TURNED], ids=["level", "turned"])
@every_seed
def test_a_root_that_floats_is_one_with_a_free_joint(tmp_path: Path, root: dict[str, str], seed: int) -> None:
    robot, _ = load(tmp_path, RAFT.format(**root, free=""), floating=True)
    s = Simulator.of(RAFT.format(**root, free='<freejoint name="base"/>'))
    assert len(robot.symbols.q_names) == s.model.nq == 8
    compare(robot, s, *s.random_state(np.random.default_rng(seed)))


@pytest.mark.parametrize("moved", ["pos", "quat"])
def test_a_root_that_floats_is_where_the_file_has_it(tmp_path: Path, moved: str) -> None:
    root = LEVEL | {moved: TURNED[moved]}
    robot, _ = load(tmp_path, RAFT.format(**root, free=""), floating=True)
    s = Simulator.of(RAFT.format(**root, free='<freejoint name="base"/>'))
    same("neutral", robot.neutral, s.model.qpos0)
    same("top", robot.position("top"), s.at(s.model.qpos0).data.site("top").xpos)


def test_a_root_that_is_free_stays_as_it_is(tmp_path: Path) -> None:
    robot, s = load(tmp_path, TREES["dog"], floating=True)
    compare(robot, s, *s.random_state(np.random.default_rng(4)))


# Closed loops


def assembled(both: Both, seed: int, *hold: str) -> tuple[Array, Array]:
    """A pose that closes the loops, not far from the file's, and a random v that does not keep to them."""
    q, v = both.simulator.random_state(np.random.default_rng(seed), away=0.15)
    return both.robot.assemble(q, hold=hold or both.robot.joined), v


@every_equality
@every_seed
def test_assembled_poses_close_the_loop_for_mujoco(both: Both, name: str, seed: int) -> None:
    q, _ = assembled(both, seed, name)
    J, missed = both.simulator.at(q).rows(name)
    assert len(J) == len(both.robot.constraints[name].row_names)
    same(f"g of '{name}'", missed, np.zeros(len(J)), rtol=1e-10, scale=1.0)


@every_equality
@every_seed
def test_rows_of_equalities_at_poses_where_they_hold(both: Both, name: str, seed: int) -> None:
    q, _ = assembled(both, seed, name)
    expected, _ = both.simulator.at(q).rows(name)
    C, b = both.robot.constraints[name].rows(q)
    assert not b.any()
    assert np.linalg.matrix_rank(C, 1e-9) == np.linalg.matrix_rank(expected, 1e-9)
    same(f"row space of '{name}'", span(C), span(expected), rtol=1e-10)
    linear = 3 if len(C) == 6 else len(C)  # MuJoCo counts the turns of a weld in other axes, half and scaled
    same(f"rows of '{name}'", C[:linear], expected[:linear])


@every_equality
@every_seed
def test_gaps_of_equalities_at_poses_where_they_are_off(both: Both, name: str, seed: int) -> None:
    q, _ = both.simulator.random_state(np.random.default_rng(seed))
    expected, missed = both.simulator.at(q).rows(name)
    assert np.abs(missed).max() > 1e-3
    linear = 3 if len(expected) == 6 else len(expected)
    same(f"g of '{name}'", off(both.robot, name, q)[:linear], missed[:linear])


@pytest.mark.parametrize(("both", "name"), [pair for pair in EQUALITIES if pair[0] in ("welds", "gripper")],
                         indirect=["both"])  # fmt: skip
def test_turns_of_welds_to_first_order(both: Both, name: str) -> None:
    """Off by a small turn, MuJoCo says half of it in its own axes, times a scale; the length is the same."""
    q, v = assembled(both, 0, name)
    s, h = both.simulator, 1e-5
    scale = s.model.eq_data[s.model.equality(name).id, 10]
    mujoco.mj_integratePos(s.model, q, v, h)
    turn, half = off(both.robot, name, q)[3:], s.at(q).rows(name)[1][3:]
    assert np.linalg.norm(turn) > 0.1 * h
    same("turn", np.linalg.norm(turn), 2 * np.linalg.norm(half) / scale, rtol=1e-8)
    assert turn @ both.robot.constraints[name].rows(q)[0][3:] @ v > 0  # it grows along v


CONTACTS = {"four-bar": "tip", "crane": "base", "welds": "corner", "gripper": "load", "gears": "shaft"}


@every_loop
@every_seed
def test_strikes_on_closed_loops_satisfy_the_dense_equations(
    both: Both, seed: int, request: pytest.FixtureRequest
) -> None:
    """M and all rows from MuJoCo; v⁻ is projected onto the loops first."""
    struck = CONTACTS[request.node.callspec.params["both"]]
    robot, (q, v) = both.robot, assembled(both, seed)
    s = both.simulator.at(q, v)
    M, loops = s.M, np.vstack([s.rows(name)[0] for name in robot.joined])
    touching = s.jacobian(*s.frames()[struck])[[2, 0, 1]]
    t = robot.event(inert=[robot.contact(struck)]).solve(q=q, v=v, check="project")

    def held(v: Array, C: Array) -> Array:
        """The KKT equations M(v⁺ − v) = Cᵀλ, C v⁺ = 0, with dependent rows."""
        K = np.block([[M, -C.T], [C, np.zeros((len(C), len(C)))]])
        return np.linalg.lstsq(K, np.concatenate([M @ v, np.zeros(len(C))]), rcond=1e-12)[0][: len(v)]

    before = held(v, loops)
    after = held(before, np.vstack([loops, touching]))
    assert np.abs(loops @ v).max() > 1e-2
    assert np.abs(touching @ before).max() > 1e-2
    same("v_minus", t.v_minus, before, rtol=1e-10)
    same("v_plus", t.v_plus, after, rtol=1e-10, scale=largest(before))
    same("T_plus", t.T_plus, after @ M @ after / 2, rtol=1e-10, scale=float(before @ M @ before / 2))
    pushed = touching.T @ t.impulse[struck]
    for name in robot.joined:
        pushed = pushed + robot.constraints[name].rows(q)[0].T @ np.atleast_1d(t.impulse[name])
    same("M(v⁺ − v⁻)", pushed, M @ (after - before), rtol=1e-10)


def test_impulses_of_a_loop_with_independent_rows(tmp_path: Path) -> None:
    both = load(tmp_path, LOOPS["crane"])
    robot, (q, v) = both.robot, assembled(both, 7)
    s = both.simulator.at(q)
    C = np.vstack([s.rows("clevis")[0], s.rows("hang")[0], s.jacobian(*s.frames()["link"])[[2, 0, 1]]])
    assert np.linalg.matrix_rank(C) == len(C) == 9
    t = robot.event(inert=[robot.contact("link")]).solve(q=q, v=v, check="project")
    W = C @ np.linalg.solve(s.M, C.T)
    expected = np.linalg.solve(W, -C @ t.v_minus)
    found = np.concatenate([t.impulse["clevis"], t.impulse["hang"], t.impulse["link"]])
    same("impulses", found, expected, rtol=1e-10)


def test_an_inactive_equality_waits_to_be_named(tmp_path: Path) -> None:
    both = load(tmp_path, LOOPS["gears"])
    robot, (q, v) = both.robot, assembled(both, 0, "curve", "rack", "shut", "off")
    assert robot.joined == ("curve", "rack", "shut")
    s = both.simulator.at(q)
    loops = np.vstack([s.rows(name)[0] for name in robot.joined])
    contact = robot.contact("nib", tangent=[])
    without = robot.event(inert=[contact]).solve(q=q, v=v, check="project")
    named = robot.event(regular=["off"], inert=[contact]).solve(q=q, v=v, check="project")
    own = s.rows("off")[0]
    for t in (without, named):
        assert largest(t.v_plus) > 1e-2
        same("loops", loops @ t.v_plus, np.zeros(len(loops)), rtol=1e-10, scale=largest(t.v_minus))
    assert abs((own @ without.v_plus)[0]) > 1e-2
    same("off", own @ named.v_plus, np.zeros(1), rtol=1e-10, scale=largest(named.v_minus))


def test_a_joined_constraint_may_take_another_part(tmp_path: Path) -> None:
    """Inert, it stops what is not along it, instead of being there before."""
    both = load(tmp_path, LOOPS["gears"])
    robot, (q, v) = both.robot, assembled(both, 1)
    s = both.simulator.at(q)
    others, curve = np.vstack([s.rows(name)[0] for name in ("rack", "shut")]), s.rows("curve")[0]
    M = s.M
    t = robot.event(inert=["curve"]).solve(q=q, v=v, check="project")
    v_minus = v - np.linalg.solve(M, others.T) @ np.linalg.solve(others @ np.linalg.solve(M, others.T), others @ v)
    same("v_minus", t.v_minus, v_minus, rtol=1e-10)
    C = np.vstack([others, curve])
    v_plus = v_minus - np.linalg.solve(M, C.T) @ np.linalg.solve(C @ np.linalg.solve(M, C.T), C @ v_minus)
    same("v_plus", t.v_plus, v_plus, rtol=1e-10)


def test_a_weld_is_not_closed_by_a_half_turn(tmp_path: Path) -> None:
    """Turned by 180°, the two frames are as far from one another as they can be."""
    xml = f"""<mujoco><worldbody><body name="a"><freejoint name="f"/>{GEOM}</body></worldbody>
        <equality><weld name="w" body1="a" relpose="0 0 0 1 0 0 0"/></equality></mujoco>"""
    robot, s = load(tmp_path, xml)
    q = np.array([0, 0, 0, 0, 1.0, 0, 0])
    assert np.abs(s.at(q).rows("w")[1]).max() == 1
    with pytest.raises(jd.OffConstraint, match="misses 'w"):
        robot.event(inert=[robot.contact("a")]).solve(q=q)


def test_welds_are_assembled_from_anywhere(tmp_path: Path) -> None:
    """From random turns; what is found closes the weld, or it is said that nothing was found."""
    both, rng, found = load(tmp_path, LOOPS["gripper"]), np.random.default_rng(0), []
    for _ in range(20):
        with contextlib.suppress(jd.NotConverged):
            found.append(both.robot.assemble(both.simulator.random_state(rng)[0]))
    missed = np.array([both.simulator.at(q).rows("sites")[1] for q in found])
    assert len(found) > 5
    same("g", missed, np.zeros((len(found), 6)), rtol=1e-10, scale=1.0)


def test_a_weld_without_torque_is_a_connect(tmp_path: Path) -> None:
    xml = f"""<mujoco><worldbody><body name="a"><freejoint name="f"/>{GEOM}</body></worldbody>
        <equality><weld name="w" body1="a" torquescale="0"/></equality></mujoco>"""
    robot, s = load(tmp_path, xml)
    expected, _ = s.at(robot.neutral).rows("w")
    C, _ = robot.constraints["w"].rows()
    assert np.linalg.matrix_rank(expected) == 3
    same("row space", span(C), span(expected))


TWICE = """
<mujoco><worldbody>
  <body name="a"><joint name="j"/><joint name="k" axis="0 1 0"/>{geom}</body>
  <body name="b"><freejoint name="f"/>{geom}</body>
</worldbody><equality>{equalities}</equality></mujoco>"""


@pytest.mark.parametrize(
    ("equalities", "rank"),
    [
        ('<connect body1="a" body2="b" anchor="0 0 0"/><connect body1="a" body2="b" anchor="0 0 1"/>', 5),
        ('<joint joint1="j"/><joint joint1="j" joint2="k" polycoef="0 2 0 0 0"/>', 2),
    ],
    ids=["a hinge of two connects", "one joint twice"],
)
def test_unnamed_equalities_of_the_same_things_are_all_there(tmp_path: Path, equalities: str, rank: int) -> None:
    robot, s = load(tmp_path, TWICE.format(geom=GEOM, equalities=equalities))
    s.at(robot.neutral)
    expected = np.array(s.data.efc_J).reshape(-1, s.model.nv)[: s.data.ne]
    assert np.linalg.matrix_rank(expected) == rank
    C = np.vstack([c.rows()[0] for c in robot.constraints.values()])
    same("row space", span(C), span(expected))


# URDF that MuJoCo compiles as it is

ROBOTS = ("a1.urdf", "laikago.urdf", "quadruped.urdf", "alexander_v1.lowerBodyOnly.urdf", "panda_collision.urdf",
          "simple_humanoid_classical.urdf", "TwoDofs.urdf", "double_pendulum_simple.urdf")  # fmt: skip


@pytest.mark.parametrize("name", ROBOTS)
def test_masses_of_urdf_are_those_of_mujoco(name: str) -> None:
    (file,) = engines.robot_files().rglob(name)
    robot = jd.load(file)
    with silence():
        s = Simulator(mujoco.MjModel.from_xml_path(str(file)))
    names = [s.model.joint(i).name for i in range(s.model.njnt)]
    assert {*names} == {*robot.symbols.v_names}
    order = [names.index(joint) for joint in robot.symbols.v_names]
    for seed in SEEDS:
        q, v = s.random_state(np.random.default_rng(seed))
        s.at(q, v)
        same("M", robot.mass_matrix(q[order]), s.M[np.ix_(order, order)])
        same("bias − weight", force(robot, q[order], v[order]), s.data.qfrc_bias[order])


# What cannot be read


def body(joint: str, inside: str = GEOM) -> str:
    return f"<body name='arm'>{joint}{inside}</body>"


def model(world: str, besides: str = "") -> str:
    return f"<mujoco model='thing'><worldbody>{world}</worldbody>{besides}</mujoco>"


HINGE = body("<joint name='j'/>")
TENDON = "<tendon><fixed name='t'><joint joint='j' coef='1'/></fixed></tendon>"
CLOTH = "<flexcomp name='f' type='grid' count='3 3 1' spacing='.1 .1 .1' radius='.01' dim='2' mass='1'/>"
REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "tendon": (model(HINGE, f"{TENDON}<equality><tendon name='rope' tendon1='t'/></equality>"), {},
               r"The equality 'rope' of '.*model.xml' is of type tendon; supported are connect, weld and joint\."),
    "unnamed tendon": (model(HINGE, f"{TENDON}<equality><tendon tendon1='t'/></equality>"), {},
                       r"The equality of '.*model.xml' is of type tendon;"),
    "flex": (model(HINGE + CLOTH, "<equality><flex name='e' flex='f'/></equality>"), {},
             r"The equality 'e' of '.*' is of type flex; supported are connect, weld and joint\."),
    "tendon with armature": (
        model(HINGE + "<site name='s'/>" + body("<joint name='k'/>", GEOM + "<site name='r' pos='1 0 0'/>")
              .replace("arm", "leg"),
              "<tendon><spatial armature='1'><site site='s'/><site site='r'/></spatial></tendon>"),
        {}, r"has a tendon with armature, whose inertia is not supported; give it to the joints\."),
    "mesh": (f"<mujoco><asset><mesh name='m' file='nowhere.stl'/></asset><worldbody>{HINGE}</worldbody></mujoco>", {},
             r"'.*model.xml' cannot be read as a robot: Error opening file '.*nowhere.stl'"),
    "kind of joint": (model(body("<joint type='screw'/>")), {}, r"cannot be read as a robot: .*'screw'"),
    "ball before hinge": (model(body("<joint type='ball'/><joint/>")), {}, "ball followed by rotation in body 'arm'"),
    "free inside": (model(body("<joint/>", GEOM + f"<body><freejoint/>{GEOM}</body>")), {},
                    "free joint can only be used on top level"),
    "no mass": (model(body("<joint/>", "")), {}, "mass and inertia of moving bodies must be larger than"),
    "ball that follows": (model(body("<joint name='j' type='ball'/>"), "<equality><joint joint1='j'/></equality>"), {},
                          "only HINGE and SLIDE joint allowed"),
    "no body": (model(GEOM), {}, r"'.*model.xml' describes no body\."),
    "no joint": (model(body("")), {}, r"Nothing moves in 'thing': it has no joint; floating=True lets its base move\."),
    "root with a joint": (model(HINGE), {"floating": True},
                          r"cannot float: that needs one root body that is fixed to the world, but there are: 'arm'\."),
    "two roots": (model(body("") + body("").replace("arm", "leg")), {"floating": True},
                  r"cannot float: .* but there are: 'arm', 'leg'\."),
    "XML": ("<mujoco><worldbody>", {}, r"'.*model.xml' is not sound XML: no element found"),
    "SDF": ("<sdf/>", {}, r"begins with <sdf>; a URDF begins with <robot>, an MJCF with <mujoco>\."),
    "fixed ball": (model(body("<joint name='j' type='ball'/>") + HINGE.replace("arm", "leg").replace("'j'", "'k'")),
                   {"fixed": ["j"]}, "Joint 'j' cannot be fixed: only hinges and slides"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_said(tmp_path: Path, name: str) -> None:
    xml, options, message = REFUSED[name]
    file = tmp_path / "model.xml"
    file.write_text(xml)
    with pytest.raises(jd.BadRobot, match=message) as told:
        jd.load(file, **options)
    assert "\n" not in str(told.value)
    assert str(told.value).endswith(".")


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(jd.BadRobot, match=r"nothing.xml' does not exist; give the path of a URDF or MJCF file\."):
        jd.load(tmp_path / "nothing.xml")
    with pytest.raises(jd.BadRobot, match=f"'{re.escape(str(tmp_path))}' is a folder; give the path"):
        jd.load(tmp_path)


def test_unknown_joints_and_frames(tmp_path: Path) -> None:
    robot, _ = load(tmp_path, TREES["dog"])
    with pytest.raises(jd.UnknownName, match=r"no joint 'FL_kne'; did you mean 'FL_knee'"):
        jd.load(tmp_path / "model.xml", fixed=["FL_kne"])
    with pytest.raises(jd.UnknownName, match=r"no frame 'FL_to'; did you mean 'FL_toe'"):
        robot.contact("FL_to")


def test_two_joints_of_one_name_are_told(tmp_path: Path) -> None:
    """An unnamed joint has the name of its body, which may be that of another joint."""
    file = tmp_path / "model.xml"
    file.write_text(model(f"{body('<joint/>')}<body name='leg'><joint name='arm'/>{GEOM}</body>"))
    with pytest.raises(jd.NameClash, match="There are two things called 'arm', a coordinate each"):
        jd.load(file)


def test_joints_fixed_where_their_reference_is(tmp_path: Path) -> None:
    """What is left is the robot whose joints stand at ref."""
    file = tmp_path / "model.xml"
    file.write_text(TREES["stacked"])
    robot, s = jd.load(file, fixed=["yaw", "tilt", "lift"]), Simulator.of(TREES["stacked"])
    q, _ = s.random_state(np.random.default_rng(0))
    names, n = [s.model.joint(i).name for i in range(s.model.njnt)], s.model.nv
    for name in ("yaw", "tilt", "lift"):
        at = s.model.joint(name).qposadr[0]
        q[at] = s.model.qpos0[at]
    kept_q = [i for i in range(s.model.nq) if names[_owner(s.model.jnt_qposadr, i)] not in ("yaw", "tilt", "lift")]
    kept_v = [i for i in range(n) if names[s.model.dof_jntid[i]] not in ("yaw", "tilt", "lift")]
    same("M", robot.mass_matrix(q[kept_q]), s.at(q).M[np.ix_(kept_v, kept_v)])


def _owner(first: Array, i: int) -> int:
    """The last of the places that are not after i."""
    return int(np.flatnonzero(first <= i)[-1])


URDF = """
<robot name="turned">
  <link name="base">
    <inertial>
      <origin xyz="0.1 0.2 0.3" rpy="0.3 0.4 0.5"/>
      <mass value="2"/>
      <inertia ixx="1" iyy="1.2" izz="1.5" ixy="0.1" ixz="0.2" iyz="0.3"/>
    </inertial>
  </link>
</robot>
"""


def test_an_inertia_in_turned_axes(tmp_path: Path) -> None:
    """I = R I_file Rᵀ + m (r² 1 − r rᵀ), R = Z(yaw) Y(pitch) X(roll): what MuJoCo before 3.14 does not tell."""
    file = tmp_path / "turned.urdf"
    file.write_text(URDF)
    M = jd.load(file, floating=True).mass_matrix()
    (a, b, c), r = (0.3, 0.4, 0.5), np.array([0.1, 0.2, 0.3])
    X = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    Y = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    Z = np.array([[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]])
    R = Z @ Y @ X
    inertia = R @ np.array([[1, 0.1, 0.2], [0.1, 1.2, 0.3], [0.2, 0.3, 1.5]]) @ R.T
    np.testing.assert_allclose(M[3:, 3:], inertia + 2 * (r @ r * np.eye(3) - np.outer(r, r)), rtol=1e-12)


@pytest.mark.parametrize("version", ["2.3.7", "3.8.0", "3.9.0", "3.10.0", "3.11.0", "3.13.2"])
def test_versions_of_mujoco_that_read_wrongly_are_refused(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over the URDFs of example-robot-data these give other mass matrices than Pinocchio."""
    monkeypatch.setattr(mujoco, "__version__", version)
    file = tmp_path / "turned.urdf"
    file.write_text(URDF)
    with pytest.raises(jd.BadRobot, match=rf"MuJoCo {version} does not .* a URDF .*pip install 'mujoco>=3.14'"):
        jd.load(file, floating=True)
    quadruped = Path(jd.gallery.__file__).parent / "robots/quadruped.xml"
    if version in ("3.9.0", "3.10.0"):
        assert len(jd.load(quadruped).symbols.v_names) == 18
    else:
        with pytest.raises(jd.BadRobot, match="an MJCF file"):
            jd.load(quadruped)
