"""Robots of example-robot-data against Pinocchio: mass matrices, Jacobians, strikes; what is redundant; errors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import engines
import jourdain as jd
from engines import find
from oracles.robots import Oracle

pin = engines.pinocchio()

# Robot, whether it floats, frames that strike.
ROBOTS = {
    "solo12.urdf": (True, ["FL_FOOT", "HR_FOOT"]),
    "anymal_b_simple_description/robots/anymal.urdf": (True, ["LF_FOOT", "RH_FOOT"]),
    "anymal_c_simple_description/urdf/anymal.urdf": (True, ["LF_FOOT", "RH_FOOT"]),
    "a1.urdf": (True, ["FL_foot", "RR_foot"]),
    "go2.urdf": (True, ["FL_foot", "RR_foot"]),
    "hyq_no_sensors.urdf": (True, ["lf_foot", "rh_foot"]),
    "bolt.urdf": (True, ["FL_FOOT", "FR_FOOT"]),
    "talos_reduced.urdf": (True, ["left_sole_link", "right_sole_link"]),
    "talos_full_v2.urdf": (True, ["left_sole_link", "right_sole_link"]),
    "g1_29dof_rev_1_0.urdf": (True, ["left_ankle_roll_link", "right_ankle_roll_link"]),
    "icub.urdf": (True, ["l_sole", "r_sole"]),
    "romeo_small.urdf": (True, ["l_sole", "r_sole"]),
    "simple_humanoid.urdf": (True, ["l_ankle", "r_ankle"]),
    "human.urdf": (True, ["left_foot", "right_foot"]),
    "centauro.urdf": (True, ["contact_1", "contact_4"]),
    "panda.urdf": (False, ["panda_hand"]),
    "ur5_robot.urdf": (False, ["tool0"]),
    "kinova.urdf": (True, ["j2s6s200_end_effector"]),
    "pr2.urdf": (False, ["l_gripper_tool_frame", "r_gripper_tool_frame"]),
    "tiago.urdf": (False, ["hand_grasping_frame"]),
    "baxter.urdf": (False, ["left_gripper", "right_gripper"]),
    "allegro_right_hand.urdf": (True, ["link_3.0_tip"]),
}
FAST = ("solo12.urdf", "talos_reduced.urdf", "talos_full_v2.urdf", "icub.urdf", "panda.urdf")


@pytest.fixture(scope="module")
def solo() -> jd.Robot:
    return jd.load(find("solo12.urdf"), floating=True)


@pytest.fixture(scope="module")
def talos() -> jd.Robot:
    return jd.load(find("talos_reduced.urdf"), floating=True)


def state(robot: jd.Robot, oracle: Oracle, rng: np.random.Generator):
    q, v = oracle.random_state(rng)
    return q, v, oracle.to_ours(robot.symbols.v_names, q), *robot.from_pinocchio(oracle.model, q, v)


def off(one: np.ndarray, other: np.ndarray) -> float:
    """Relative to the largest number."""
    return float(np.max(np.abs(one - other)) / np.max(np.abs(other)))


@pytest.mark.parametrize("name", ROBOTS)
def test_against_pinocchio(name: str, rng: np.random.Generator) -> None:
    floating, frames = ROBOTS[name]
    file = find(name)
    robot, oracle = jd.load(file, floating=floating), Oracle(file, floating)
    contacts = [robot.contact(frame) for frame in frames]
    events = {0.0: robot.event(inert=contacts), 0.5: robot.event(elastic=dict.fromkeys(contacts, 0.5))}
    for _ in range(3):
        q, v, T, q_ours, v_ours = state(robot, oracle, rng)
        assert off(T @ v, v_ours) < 1e-14
        assert off(T.T @ robot.mass_matrix(q_ours) @ T, oracle.mass_matrix(q)) < 1e-10
        for frame in (*frames, *rng.choice(list(robot.points), 3)):
            J = oracle.jacobian(frame, q)
            assert np.max(np.abs(robot.frame_jacobian(frame, q_ours) @ T - J)) < 1e-10, frame
            assert np.max(np.abs(robot.jacobian(frame, q_ours) @ T - J[:3])) < 1e-10, frame
            placement = oracle.data.oMf[oracle.model.getFrameId(frame, pin.FrameType.BODY)]
            assert np.max(np.abs(robot.position(frame, q_ours) - placement.translation)) < 1e-10, frame
            assert np.max(np.abs(robot.rotation(frame, q_ours) - placement.rotation)) < 1e-10, frame
        J = np.vstack([oracle.jacobian(frame, q)[[2, 0, 1]] for frame in frames])
        for kappa, event in events.items():
            v_plus, impulse = oracle.strike(q, v, J, kappa)
            t = event.solve(q_ours, v_ours)
            assert off(t.v_plus, T @ v_plus) < 1e-9, kappa
            assert off(np.concatenate([t.impulse[frame] for frame in frames]), impulse) < 1e-9, kappa


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore:.* mimic what is no joint")
@pytest.mark.parametrize("floating", [True, False])
@pytest.mark.parametrize("file", sorted(engines.robot_files().rglob("*.urdf")), ids=lambda file: file.name)
def test_every_file(file: Path, floating: bool, rng: np.random.Generator) -> None:
    """Every URDF of example-robot-data is read as Pinocchio reads it, or refused with the reason."""
    unsound = {"romeo.urdf": "move no mass", "romeo_laas_small.urdf": "move no mass", "ur3.urdf": "describes no body"}
    if not floating:
        unsound |= dict.fromkeys(("quadrotor_base.urdf", "iris_simple.urdf"), "Nothing moves")
    if file.name in unsound:
        with pytest.raises(jd.BadRobot, match=unsound[file.name]):
            jd.load(file, floating=floating)
        return
    robot = jd.load(file, floating=floating)
    oracle = Oracle(file, floating)
    for _ in range(5):
        q, _, T, q_ours, _ = state(robot, oracle, rng)
        assert off(T.T @ robot.mass_matrix(q_ours) @ T, oracle.mass_matrix(q)) < 1e-10
        for frame in robot.points:
            assert np.max(np.abs(robot.frame_jacobian(frame, q_ours) @ T - oracle.jacobian(frame, q))) < 1e-10, frame


@pytest.mark.parametrize("name", FAST)
def test_bias_and_weight_against_pinocchio(name: str, rng: np.random.Generator) -> None:
    floating, _ = ROBOTS[name]
    robot, oracle = jd.load(find(name), floating=floating), Oracle(find(name), floating)
    q, v, T, q_ours, v_ours = state(robot, oracle, rng)
    loads = robot.loads
    found = robot.evaluate(
        "loads", lambda: {"h": loads.bias, "w": loads.weight, "U": loads.potential}, q_ours, v_ours, {}
    )
    gravity = pin.computeGeneralizedGravity(oracle.model, oracle.data, q).copy()
    coriolis = pin.nonLinearEffects(oracle.model, oracle.data, q, v) - gravity
    # The linear velocity of the base is counted in the world, v = R v_base: v̇ = R (v̇_base + ω × v_base).
    turning = np.zeros(oracle.model.nv)
    if floating:
        turning[:3] = np.cross(v[3:6], v[:3])
    ours = T.T @ (found["h"][:, 0] + robot.mass_matrix(q_ours) @ T @ turning)
    assert off(ours, coriolis) < 1e-10
    assert off(-T.T @ found["w"][:, 0], gravity) < 1e-10
    assert found["U"][0, 0] == pytest.approx(pin.computePotentialEnergy(oracle.model, oracle.data, q), rel=1e-10)


def test_batches_are_the_same_events(talos: jd.Robot, rng: np.random.Generator) -> None:
    """A thousand and more go through the kernel, a few through CasADi; both by Pinocchio's numbers."""
    oracle = Oracle(find("talos_reduced.urdf"), True)
    states = [oracle.random_state(rng) for _ in range(1200)]
    q, v = (np.array(part) for part in zip(*states, strict=True))
    q_ours, v_ours = talos.from_pinocchio(oracle.model, q, v)
    frames = ["left_sole_link", "right_sole_link"]
    t = talos.event(inert=[talos.weld(frame) for frame in frames]).solve(q_ours, v_ours)
    assert t.ok.all()
    for i in (0, 7, 1199):
        J = np.vstack([oracle.jacobian(frame, q[i]) for frame in frames])
        v_plus, impulse = oracle.strike(q[i], v[i], J, 0.0)
        T = oracle.to_ours(talos.symbols.v_names, q[i])
        assert off(t.v_plus[i], T @ v_plus) < 1e-9
        assert off(np.concatenate([t.impulse[f"weld {frame}"][i] for frame in frames]), impulse) < 1e-9


def test_mimic_joints_follow(rng: np.random.Generator) -> None:
    """Given by name, the leader is enough; its followers have their place and speed."""
    robot = jd.load(find("talos_full_v2.urdf"), floating=True)
    assert len(robot.joined) == 12
    event = robot.event(inert=[robot.contact("left_sole_link")])
    t = event.solve(q={"gripper_left_joint": -0.3}, v={"gripper_left_joint": 2.0, "base.z": -1.0})
    index = {name: i for i, name in enumerate(robot.symbols.v_names)}
    followers = {"gripper_left_inner_double_joint": 1.0, "gripper_left_fingertip_1_joint": -1.0}
    for name, slope in followers.items():
        assert t.velocity_minus[name] == 2.0 * slope
        assert t.v_plus[index[name]] == pytest.approx(slope * t.v_plus[index["gripper_left_joint"]], rel=1e-9)
    with pytest.raises(jd.PriorViolated, match="mimic gripper_left_fingertip_1_joint"):
        event.solve(v={"gripper_left_joint": 2.0, "gripper_left_fingertip_1_joint": 2.0})
    with pytest.raises(jd.OffConstraint, match="mimic gripper_left_fingertip_1_joint"):
        event.solve(q={"gripper_left_joint": 0.2, "gripper_left_fingertip_1_joint": 0.2})


def test_mimic_joints_of_pinocchio(rng: np.random.Generator) -> None:
    """A Pinocchio model in which mimic joints are no coordinates: here they follow."""
    file = find("panda.urdf")
    model = pin.buildModelFromUrdf(str(file), mimic=True)
    robot = jd.load(file)
    q = pin.neutral(model)
    q[-1] = 0.03
    v = np.arange(1.0, model.nv + 1)
    q_ours, v_ours = robot.from_pinocchio(model, q, v)
    names = robot.symbols.q_names
    assert q_ours[names.index("panda_finger_joint1")] == q_ours[names.index("panda_finger_joint2")] == 0.03
    assert v_ours[names.index("panda_finger_joint1")] == v_ours[names.index("panda_finger_joint2")] == v[-1]


def test_rows_of_contacts(solo: jd.Robot) -> None:
    """(n, t1, t2) is (z, x, y) of the world for the default; else a right-handed triple with n first."""
    rng = np.random.default_rng(3)
    q = solo.neutral
    q[3:7] = rng.normal(size=4)
    q[3:7] /= np.linalg.norm(q[3:7])
    J = solo.jacobian("FL_FOOT", q)
    assert np.allclose(solo.contact("FL_FOOT").rows(q)[0], J[[2, 0, 1]], atol=1e-15)
    for i, n in enumerate([(0.0, 0.0, -1.0), (1.0, 2.0, 3.0), (1.0, 0.0, 0.0), (-0.1, 0.2, -0.9)]):
        C, b = solo.contact(f"wall {i}", normal=n, frame="FL_FOOT").rows(q)
        directions = np.linalg.lstsq(J.T, C.T, rcond=None)[0].T
        assert np.allclose(directions[0], np.array(n) / np.linalg.norm(n))
        assert np.allclose(np.cross(directions[1], directions[2]), directions[0])
        assert not b.any()
    assert solo.contact("FL_FOOT") is solo.contact("FL_FOOT", normal=[0, 0, 2])
    assert len(solo.contact("smooth", tangent=[], frame="FL_FOOT").row_names) == 1
    heel = solo.contact("heel", at=(0.0, 0.0, -0.02), frame="FL_FOOT").rows(q)[0]
    arm = solo.rotation("FL_FOOT", q) @ [0.0, 0.0, -0.02]
    spin = solo.frame_jacobian("FL_FOOT", q)[3:]
    assert np.allclose(heel, (J + np.cross(spin.T, arm).T)[[2, 0, 1]], atol=1e-15)


def test_welds_and_locks(solo: jd.Robot, rng: np.random.Generator) -> None:
    """A weld of two frames holds their relative twist, whatever frame it is told in; a lock one joint."""
    q = solo.neutral + np.r_[np.zeros(7), rng.uniform(-1, 1, 12)]
    v = rng.normal(size=18)
    weld, lock = solo.weld("FL_FOOT", "HR_LOWER_LEG"), solo.lock("FR_KFE")
    t = solo.event(inert=[weld, lock]).solve(q, v)
    J_a, J_b = solo.frame_jacobian("FL_FOOT", q) @ t.v_plus, solo.frame_jacobian("HR_LOWER_LEG", q) @ t.v_plus
    between = solo.position("FL_FOOT", q) - solo.position("HR_LOWER_LEG", q)
    assert np.allclose(J_a[3:], J_b[3:], atol=1e-10)
    assert np.allclose(J_a[:3], J_b[:3] + np.cross(J_b[3:], between), atol=1e-10)
    assert abs(t.velocity_plus["FR_KFE"]) < 1e-12
    assert np.shape(t.impulse[weld]) == (6,)
    assert np.shape(t.impulse["lock FR_KFE"]) == ()
    # Nothing from outside: both momenta of the whole stay.
    M = solo.mass_matrix(q)
    assert np.allclose((M @ (t.v_plus - v))[:6], 0, atol=1e-12)


# What is redundant


def test_two_welded_soles_with_straight_knees(talos: jd.Robot) -> None:
    """Straight legs lose a degree of freedom each; the rows are still consistent, v⁺ and energies unique."""
    event = talos.event(inert=[talos.weld("left_sole_link"), talos.weld("right_sole_link")])
    v = {"base.x": 0.3, "base.z": -1.0, "base.wy": 0.5, "arm_left_4_joint": 2.0}
    t = event.solve(v=v)
    W = np.vstack([talos.frame_jacobian(sole) for sole in ("left_sole_link", "right_sole_link")])
    M = talos.mass_matrix()
    rank = np.linalg.matrix_rank(W @ np.linalg.solve(M, W.T), tol=1e-9)
    assert t.dof.posterior == 38 - rank
    assert len(t.redundant) == 12 - rank
    assert np.abs(W @ t.v_plus).max() < 1e-9
    minus = talos.velocities(v)
    lam = np.linalg.lstsq(W @ np.linalg.solve(M, W.T), -W @ minus, rcond=1e-12)[0]
    assert off(t.v_plus, minus + np.linalg.solve(M, W.T @ lam)) < 1e-9
    assert t.T_minus - t.T_plus == pytest.approx(t.loss, rel=1e-9)


@pytest.mark.parametrize("bend", [0.0, 0.6])
def test_four_point_feet(solo: jd.Robot, bend: float) -> None:
    """Twelve rows on eighteen velocities, all independent, with bent legs and with straight ones."""
    feet = ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]
    q = {f"{leg}_HFE": -bend for leg in ("FL", "FR", "HL", "HR")} | {
        f"{leg}_KFE": 2 * bend for leg in ("FL", "FR", "HL", "HR")
    }
    event = solo.event(inert=[solo.contact(foot) for foot in feet])
    v = {"base.z": -1.0, "base.wx": 0.4, "FL_HFE": 1.0}
    t = event.solve(q, v)
    J = np.vstack([solo.jacobian(foot, q)[[2, 0, 1]] for foot in feet])
    M, minus = solo.mass_matrix(q), solo.velocities(v)
    W = J @ np.linalg.solve(M, J.T)
    rank = np.linalg.matrix_rank(W / np.sqrt(np.outer(np.diag(W), np.diag(W))), tol=1e-10)
    assert (len(t.redundant), t.dof.posterior) == (12 - rank, 18 - rank)
    assert rank == 12
    lam = np.linalg.lstsq(W, -J @ minus, rcond=1e-13)[0]
    assert off(t.v_plus, minus + np.linalg.solve(M, J.T @ lam)) < 1e-9
    assert t.loss > 0


def test_sole_as_four_corners(talos: jd.Robot, rng: np.random.Generator) -> None:
    """Twelve rows that hold six velocities: as a weld, but the impulses of the corners are not determined."""
    corners = [(x, y, 0.0) for x in (0.1, -0.1) for y in (0.06, -0.06)]
    points = [talos.contact(f"corner {i}", at=at, frame="left_sole_link") for i, at in enumerate(corners)]
    q = talos.neutral + np.r_[np.zeros(7), rng.uniform(-0.5, 0.5, 32)]
    v = rng.normal(size=38)
    t = talos.event(inert=points).solve(q, v)
    welded = talos.event(inert=[talos.weld("left_sole_link")]).solve(q, v)
    assert off(t.v_plus, welded.v_plus) < 1e-9
    assert t.loss == pytest.approx(welded.loss, rel=1e-9)
    assert len(t.redundant) == 6
    assert len(t.undetermined) == 12
    assert "redundant" in str(t)
    # Force and moment about the sole's origin are determined, and are the weld's.
    R = talos.rotation("left_sole_link", q)
    forces = np.array([t.impulse[point][[1, 2, 0]] for point in points])
    moment = sum(np.cross(R @ at, force) for at, force in zip(corners, forces, strict=True))
    assert off(np.r_[forces.sum(axis=0), moment], welded.impulse["weld left_sole_link"]) < 1e-8


# Design


def five_point(f, x: float, h: float) -> float:
    return (f(x - 2 * h) - 8 * f(x - h) + 8 * f(x + h) - f(x + 2 * h)) / (12 * h)


def test_gradient_by_a_shank_length(rng: np.random.Generator) -> None:
    robot = jd.load(find("solo12.urdf"), floating=True, parameters=["FL_LOWER_LEG.length", "base_link.mass"])
    event = robot.event(inert=[robot.contact("FL_FOOT"), robot.contact("HR_FOOT")])
    q, v = robot.neutral + np.r_[np.zeros(7), rng.uniform(-1, 1, 12)], rng.normal(size=18)
    wrt = ["FL_LOWER_LEG.length", "base_link.mass"]
    gradient = event.gradient("loss", wrt, q=q, v=v)
    for name in wrt:
        at = robot.parameters[name]
        numeric = five_point(lambda x, name=name: float(event.solve(q, v, parameters={name: x}).loss), at, 1e-3 * at)
        assert gradient[name] == pytest.approx(numeric, rel=1e-7)


def test_a_length_is_that_of_the_file(tmp_path: Path, rng: np.random.Generator) -> None:
    """A shank of another length is the robot whose file says so; so is another mass."""
    text = find("solo12.urdf").read_text()
    ankle = 'xyz="0 0.008 -0.16"'
    assert text.count(ankle) >= 1
    robot = jd.load(find("solo12.urdf"), floating=True, parameters=["FL_LOWER_LEG.length", "FL_FOOT.mass", "FL_FOOT.x"])
    assert robot.parameters["FL_LOWER_LEG.length"] == pytest.approx(np.hypot(0.008, 0.16))
    start = text.index(ankle, text.index('<joint name="FL_ANKLE"'))
    longer = tmp_path / "longer.urdf"
    longer.write_text(text[:start] + 'xyz="0.0 0.01 -0.2"' + text[start + len(ankle) :])
    other = jd.load(longer, floating=True)
    q, v = robot.neutral + np.r_[np.zeros(7), rng.uniform(-1, 1, 12)], rng.normal(size=18)
    by_parameter = robot.event(inert=[robot.contact("FL_FOOT")]).solve(
        q, v, parameters={"FL_LOWER_LEG.length": float(np.hypot(0.01, 0.2))}
    )
    assert off(by_parameter.v_plus, other.event(inert=[other.contact("FL_FOOT")]).solve(q, v).v_plus) < 1e-12


def test_one_parameter_for_all_legs(rng: np.random.Generator) -> None:
    legs = [f"{leg}_LOWER_LEG.length" for leg in ("FL", "FR", "HL", "HR")]
    robot = jd.load(find("solo12.urdf"), floating=True, parameters={"shank": legs})
    event = robot.event(inert=[robot.contact("FL_FOOT")])
    assert event.solve(v={"base.z": -1.0}, shank=0.2).ok
    assert np.linalg.norm(robot.position("HR_FOOT", shank=0.3) - robot.position("HR_LOWER_LEG")) == pytest.approx(0.3)
    with pytest.raises(jd.BadRobot, match=r"'m' stands for values from 0.0069.* to 1.16.*; open them one by one"):
        jd.load(find("solo12.urdf"), parameters={"m": ["FL_FOOT.mass", "base_link.mass"]})
    with pytest.raises(jd.UnknownName, match="no body 'FL_LOWERLEG'; did you mean 'FL_LOWER_LEG'"):
        jd.load(find("solo12.urdf"), parameters=["FL_LOWERLEG.mass"])
    with pytest.raises(jd.BadRobot, match=r"'FL_FOOT.weight' is no parameter of a body; write BODY.mass"):
        jd.load(find("solo12.urdf"), parameters=["FL_FOOT.weight"])
    with pytest.raises(jd.BadRobot, match="Body 'FL_FOOT' carries nothing away from its origin"):
        jd.load(find("solo12.urdf"), parameters=["FL_FOOT.length"])
    with pytest.raises(jd.BadRobot, match=r"'FL_FOOT.mass' is given to the parameters 'a' and 'b'"):
        jd.load(find("solo12.urdf"), parameters={"a": "FL_FOOT.mass", "b": "FL_FOOT.mass"})


# Scenes


def test_scene_keeps_momentum(tmp_path: Path, rng: np.random.Generator) -> None:
    """Two free robots and a weld between them: momentum and moment of momentum of the whole stay."""
    solo = jd.load(find("solo12.urdf"), floating=True)
    pair = jd.scene({"one": solo, "two": solo})
    assert pair.symbols.q_names[:2] == ("one/base.x", "one/base.y")
    assert "two/FL_FOOT" in pair.points
    q = np.r_[solo.neutral, solo.neutral]
    q[19:22] = 0.5, 0.1, 0.2
    q[7:19] += rng.uniform(-1, 1, 12)
    v = rng.normal(size=36)
    t = pair.event(inert=[pair.weld("one/FL_FOOT", "two/HR_FOOT")]).solve(q, v)
    M = pair.mass_matrix(q)
    change = M @ (t.v_plus - v)
    assert np.allclose(change[:3] + change[18:21], 0, atol=1e-11)
    one, two = (pair.rotation(f"{name}/base_link", q) @ change[i + 3 : i + 6] for name, i in (("one", 0), ("two", 18)))
    about_origin = one + two + np.cross(q[:3], change[:3]) + np.cross(q[19:22], change[18:21])
    assert np.allclose(about_origin, 0, atol=1e-11)
    with pytest.raises(jd.BadRobot, match="A scene needs at least one robot"):
        jd.scene({})


def test_payload_in_a_scene(rng: np.random.Generator) -> None:
    """A gripper closes on a box: both are one, as the composite of their inertias says."""
    solo = jd.load(find("solo12.urdf"), floating=True)
    box = jd.payload(3.0, np.diag([0.03, 0.02, 0.04]), {"handle": (0.0, 0.0, 0.1)})
    both = jd.scene({"robot": solo, "load": box})
    grip = both.weld("robot/FL_FOOT", "load/handle")
    t = both.event(inert=[grip]).solve(v={"load/base.x": 1.0, "load/base.wy": 0.7})
    linear, angular = np.split(t.impulse[grip], 2)  # on the foot; the box gets the opposite, at its handle
    turned = both.rotation("load/body", t.q)
    assert np.allclose(-linear, 3.0 * (t.v_plus[-6:-3] - t.v_minus[-6:-3]), atol=1e-12)
    arm = both.position("robot/FL_FOOT", t.q) - both.position("load/body", t.q)
    spin = turned @ np.diag([0.03, 0.02, 0.04]) @ (t.v_plus[-3:] - t.v_minus[-3:])
    assert np.allclose(-angular - np.cross(arm, linear), spin, atol=1e-12)
    with pytest.raises(jd.BadRobot, match="mass and inertia of a payload are positive, not -1 kg"):
        jd.payload(-1.0, (1.0, 1.0, 1.0))
    with pytest.raises(jd.BadRobot, match="A payload has an inertia of 3 numbers"):
        jd.payload(1.0, (1.0, 1.0))
    with pytest.raises(jd.BadRobot, match="The parts of a scene have different gravities"):
        jd.scene({"robot": solo, "load": jd.payload(1.0, (1.0, 1.0, 1.0), gravity=(0, 0, 0))})


def test_a_payload_tumbles_falls_and_strikes() -> None:
    """Free flight of a rigid body: the centre of mass falls, spin in the world stays; the gap is a guard."""
    box = jd.payload(2.0, (0.03, 0.05, 0.09), {"corner": (0.1, 0.1, -0.1)})
    gap = box.contact("corner", tangent=[], level="position")
    landing = jd.Switch("flight", "flight", guard=gap, event=box.event(elastic={gap: 0.5}))
    flight = jd.Hybrid(box, {"flight": []}, [landing])
    q, v = {"base.z": 1.0}, {"base.x": 0.3, "base.wx": 2.0, "base.wy": 0.1, "base.wz": 3.0}
    run = flight.simulate(q, v, until=0.5)
    strike = run.events[0]
    t, before, after = strike.t, strike.before[1:], strike.after[1:]  # q, v
    assert np.allclose(before[:3], [0.3 * t, 0.0, 1.0 - 9.81 / 2 * t**2], atol=1e-8)
    assert abs(np.linalg.norm(before[3:7]) - 1) < 1e-8
    assert abs(box.position("corner", before[:7])[2]) < 1e-8
    inertia, start = np.array([0.03, 0.05, 0.09]), box.velocities(v)
    assert np.allclose(box.rotation("body", before[:7]) @ (inertia * before[10:13]), inertia * start[3:], atol=1e-8)
    speeds = [box.point_velocity("corner", state[:7], state[7:13])[2] for state in (before, after)]
    assert speeds[1] == pytest.approx(-0.5 * speeds[0], rel=1e-8)


# Errors


def test_unknown_frames_and_joints(solo: jd.Robot) -> None:
    with pytest.raises(jd.UnknownName, match="There is no frame 'FL_FOTO'; did you mean 'FL_FOOT'"):
        solo.contact("FL_FOTO")
    with pytest.raises(jd.UnknownName, match="There is no frame 'handle'"):
        solo.weld("FL_FOOT", "handle")
    with pytest.raises(jd.UnknownName, match="There is no joint 'FL_KNEE'; did you mean"):
        solo.lock("FL_KNEE")
    with pytest.raises(jd.UnknownName, match="There is no joint 'knee'"):
        jd.load(find("solo12.urdf"), fixed=["knee"])


def test_contacts_that_are_none(solo: jd.Robot) -> None:
    with pytest.raises(
        jd.BadConstraint, match="normal of contact 'FL_FOOT' is a direction, 3 numbers that are not all 0"
    ):
        solo.contact("FL_FOOT", normal=(0.0, 0.0, 0.0))
    with pytest.raises(jd.BadConstraint, match="Where contact 'FL_FOOT' is on its frame is given by 3 numbers"):
        solo.contact("FL_FOOT", at=(0.0, 1.0))
    with pytest.raises(jd.BadConstraint, match="a frame has 'velocity', or 'position' of its normal alone"):
        solo.contact("FL_FOOT", level="position")
    with pytest.raises(jd.BadConstraint, match="level of a weld is 'velocity' or 'position', not 'rate'"):
        solo.weld("FL_FOOT", level="rate")
    solo.contact("HL_FOOT")
    with pytest.raises(
        jd.NameClash, match="something called 'HL_FOOT' already, and it is not this; choose another name"
    ):
        solo.contact("HL_FOOT", normal=(1.0, 0.0, 0.0))


FILES = {
    "absent.urdf": (None, "'.*absent.urdf' does not exist; give the path of a URDF or MJCF file"),
    "broken.urdf": ("<robot><link", "'.*broken.urdf' is not sound XML: unclosed token: line 1, column 7"),
    "html.xml": ("<html/>", "begins with <html>; a URDF begins with <robot>, an MJCF with <mujoco>"),
    "empty.urdf": ('<robot name="e"></robot>', "'.*empty.urdf' describes no body"),
    "weird.urdf": (
        '<robot name="w"><link name="a"/><link name="b"/><joint name="j" type="screw"><parent link="a"/>'
        '<child link="b"/></joint></robot>',
        "cannot be read as a robot: invalid joint type in URDF joint definition",
    ),
    "nested.urdf": (
        '<robot name="w"><link name="a"/><link name="b"/><joint name="j" type="floating"><parent link="a"/>'
        '<child link="b"/></joint></robot>',
        "Joint 'j' of '.*nested.urdf' is floating but hangs on a link; only the base may float",
    ),
    "still.urdf": (
        '<robot name="still"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        'ixz="0" iyz="0"/></inertial></link></robot>',
        "Nothing moves in 'still': it has no joint; floating=True lets its base move",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_no_robots(name: str, tmp_path: Path) -> None:
    text, message = FILES[name]
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(jd.BadRobot, match=message):
        jd.load(tmp_path / name)
    if text is not None:
        assert [file.name for file in tmp_path.iterdir()] == [name]  # no log, nothing left behind
    with pytest.raises(jd.BadRobot, match="is a folder"):
        jd.load(tmp_path)


def test_massless_joints_are_named() -> None:
    with pytest.raises(
        jd.BadRobot, match=r"Joints 'LHand', 'LFinger12', .* and 19 more move no mass in 'romeo'"
    ) as told:
        jd.load(find("romeo.urdf"), floating=True)
    fixed = told.value.joints
    assert len(fixed) == 24
    assert np.linalg.eigvalsh(jd.load(find("romeo.urdf"), floating=True, fixed=fixed).mass_matrix())[0] > 0
    small = find("romeo_laas_small.urdf")
    with pytest.raises(jd.BadRobot, match="Joints 'l_gripper_joint', 'r_gripper_joint' move no mass in 'RomeoH37'"):
        jd.load(small, floating=True)
    robot = jd.load(small, floating=True, fixed=["l_gripper_joint", "r_gripper_joint"])
    assert len(robot.symbols.v_names) == 37
    assert np.linalg.eigvalsh(robot.mass_matrix())[0] > 0


def test_quaternions_must_be_unit(solo: jd.Robot) -> None:
    event = solo.event(inert=[solo.contact("FL_FOOT")])
    q = solo.neutral
    q[3] = 1.2
    for ask in (lambda: event.solve(q, np.ones(18)), lambda: solo.mass_matrix(q), lambda: solo.position("FL_FOOT", q)):
        with pytest.raises(
            jd.OffConstraint, match=r"quaternion of 'base' has the length 1.2, but it must be 1; divide"
        ):
            ask()
    assert event.solve(q, np.ones(18), check="project").loss == pytest.approx(
        event.solve(v=np.ones(18)).loss, rel=1e-12
    )
    t = event.solve(np.array([solo.neutral, q]), np.ones(18))
    assert list(t.status) == [jd.Status.OK, jd.Status.OFF_CONSTRAINT]
    assert np.allclose(solo.assemble(q), solo.neutral)


@pytest.mark.parametrize(
    "name", ["solo12.urdf", "ur5_robot.urdf", pytest.param("pr2.urdf", marks=pytest.mark.exhaustive)]
)
def test_what_is_not_finite_fails_its_lane_alone(name: str) -> None:
    """Every coordinate and velocity in turn, also those on which M does not depend, by both roads."""
    floating = name == "solo12.urdf"
    robot = jd.load(find(name), floating=floating)
    event = robot.event(inert=[robot.contact(ROBOTS[name][1][0])])
    n_q, n_v = len(robot.symbols.q_names), len(robot.symbols.v_names)
    for n in (2 * (n_q + n_v), 1100):
        q, v = np.tile(robot.neutral + 0.0, (n, 1)), np.zeros((n, n_v))
        for i, bad in enumerate((np.nan, np.inf)):
            for k in range(n_q):
                q[2 * k + i, k] = bad
            for k in range(n_v):
                v[2 * (n_q + k) + i, k] = bad
        t = event.solve(q, v)
        expected = np.arange(n) >= 2 * (n_q + n_v)
        assert np.array_equal(t.ok, expected)
        assert set(t.status[~expected]) == {jd.Status.NOT_FINITE}


def test_mimic_of_a_joint_that_is_not_there() -> None:
    with pytest.warns(UserWarning, match=r"'Left_index_q2', .* of '.*' mimic what is no joint of the file"):
        jd.load(find("alex_psyonic_hands.urdf"))


def test_states_of_another_robot(solo: jd.Robot) -> None:
    model = pin.buildModelFromUrdf(str(find("talos_reduced.urdf")), pin.JointModelFreeFlyer())
    with pytest.raises(jd.UnknownName, match="no joint 'leg_left_1_joint'"):
        solo.from_pinocchio(model, pin.neutral(model), np.zeros(model.nv))
    with pytest.raises(jd.ShapeError, match=r"q has shape .*, but its last axis must be 39"):
        solo.from_pinocchio(model, np.zeros(3), np.zeros(model.nv))


def test_the_command_line_refuses_in_one_sentence(tmp_path: Path) -> None:
    solo = str(find("solo12.urdf"))
    cases = {
        ("--robot", str(tmp_path / "no.urdf"), "--feet", "A"): "does not exist; give the path of a URDF or MJCF file",
        (
            "--robot",
            solo,
        ): "Say which frames of the robot touch the ground: feet=A,B. The ends of its limbs are: 'FL_FOOT'",
        ("--robot", solo, "--feet", "FL_FOTO"): "There is no frame 'FL_FOTO'; did you mean 'FL_FOOT'?",
        ("--robot", solo, "--feet", "FL_FOOT", "--samples", "0"): "--samples must be at least 1, not 0",
        ("--robot", solo, "--feet", "FL_FOOT", "--samples", "9", "--sweep", "knee=0:9:3"): "leave one out",
    }
    for arguments, message in cases.items():
        command = [sys.executable, "-m", "jourdain.cli", "run", "touchdown", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
        assert done.returncode == 2, done.stderr
        assert message in done.stderr.replace("\n", " ")
        assert "Traceback" not in done.stderr


def test_mujoco_that_cannot_be_imported() -> None:
    code = f"import jourdain as jd; jd.load({str(find('solo12.urdf'))!r})"
    environment = {**os.environ, "MUJOCO_GL": "nonsense"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert "BadRobot: MuJoCo, which reads robot files, cannot be imported: invalid value for env" in done.stderr
