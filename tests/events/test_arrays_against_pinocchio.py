"""`jd.transition` with M and J from Pinocchio against `pinocchio.impulseDynamics`, which asks for J v⁺ = −r J v⁻."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import engines
import jourdain as jd

pin = engines.pinocchio()

Array = NDArray[np.float64]
RESTITUTIONS = pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
RTOL = 1e-9


def random_tree(n_joints: int, seed: int) -> Any:
    """Bodies of random inertia on random revolute and prismatic joints, numbered depth first as Pinocchio needs."""
    rng = np.random.default_rng(seed)
    pin.seed(seed)
    model = pin.Model()
    kinds = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ, pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ)
    path = [0]  # from the base to the last joint
    for i in range(n_joints):
        path = path[: max(1, len(path) - int(rng.integers(3)))]
        parent = path[-1]
        joint = model.addJoint(parent, kinds[rng.integers(6)](), pin.SE3.Random(), f"joint {i}")
        path.append(joint)
        model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
        model.addFrame(pin.Frame(f"tip {i}", joint, pin.SE3.Random(), pin.FrameType.OP_FRAME))
    return model


def state(model: Any, seed: int) -> tuple[Any, Array, Array, Array]:
    """data, q, v, M at a random configuration."""
    rng = np.random.default_rng(seed)
    pin.seed(seed)
    low = np.where(np.isfinite(model.lowerPositionLimit), np.maximum(model.lowerPositionLimit, -1), -1)
    high = np.where(np.isfinite(model.upperPositionLimit), np.minimum(model.upperPositionLimit, 1), 1)
    q, v = pin.randomConfiguration(model, low, np.maximum(high, low)), rng.standard_normal(model.nv)
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    M = pin.crba(model, data, q)
    return data, q, v, np.triu(M) + np.triu(M, 1).T


def frame_rows(model: Any, data: Any, frames: list[int]) -> Array:
    """Velocities of the frames' origins along the axes of the world."""
    return np.vstack([pin.getFrameJacobian(model, data, i, pin.LOCAL_WORLD_ALIGNED)[:3] for i in frames])


def compare(model: Any, q: Array, v: Array, M: Array, J: Array, restitution: float) -> None:
    data = model.createData()
    expected = pin.impulseDynamics(model, data, q, v, J, restitution).copy()
    impulse = data.impulse_c.copy()
    t = jd.transition(M, v, elastic=(J, restitution))
    speed = np.sqrt(v @ M @ v) + np.sqrt(expected @ M @ expected)
    error = t.v_plus - expected
    assert np.sqrt(error @ M @ error) <= RTOL * speed, f"v_plus\n got {t.v_plus}\n not {expected}"
    np.testing.assert_allclose(
        t.impulse["elastic"], impulse, rtol=0, atol=1e-8 * np.abs(impulse).max(), err_msg="impulse"
    )
    np.testing.assert_allclose(t.T_minus, pin.computeKineticEnergy(model, data, q, v), rtol=1e-12)
    np.testing.assert_allclose(t.T_plus, pin.computeKineticEnergy(model, data, q, expected), rtol=RTOL)
    if restitution == 0:
        inert = jd.transition(M, v, inert=J)
        np.testing.assert_allclose(inert.v_plus, t.v_plus, rtol=0, atol=1e-10 * np.abs(t.v_plus).max())
        np.testing.assert_allclose(inert.impulse["inert"], impulse, rtol=0, atol=1e-8 * np.abs(impulse).max())


@RESTITUTIONS
@pytest.mark.parametrize("feet", [("rleg6_joint",), ("rleg6_joint", "lleg6_joint")])
def test_humanoid_feet(restitution: float, feet: tuple[str, ...]) -> None:
    pin.seed(0)
    model = pin.buildSampleModelHumanoidRandom()
    for seed in range(5):
        data, q, v, M = state(model, seed)
        joints = [model.getJointId(foot) for foot in feet]
        assert all(joint < model.njoints for joint in joints)
        J = np.vstack([pin.getJointJacobian(model, data, joint, pin.LOCAL_WORLD_ALIGNED)[:3] for joint in joints])
        compare(model, q, v, M, J, restitution)


@RESTITUTIONS
def test_a_humanoid_foot_flat_on_the_ground(restitution: float) -> None:
    pin.seed(1)
    model = pin.buildSampleModelHumanoidRandom()
    for seed in range(5):
        data, q, v, M = state(model, seed)
        J = pin.getJointJacobian(model, data, model.getJointId("rleg6_joint"), pin.LOCAL)
        compare(model, q, v, M, J, restitution)


@RESTITUTIONS
@pytest.mark.parametrize("n_joints", [4, 8, 16, 30])
def test_random_trees(restitution: float, n_joints: int) -> None:
    for seed in range(5):
        model = random_tree(n_joints, seed)
        data, q, v, M = state(model, seed)
        frame = model.getFrameId(f"tip {n_joints - 1}")
        J = frame_rows(model, data, [frame])
        if np.linalg.cond(J) > 1e4:  # Pinocchio needs independent rows: one direction less
            J = J[:1]
        compare(model, q, v, M, J, restitution)


@RESTITUTIONS
def test_manipulator(restitution: float) -> None:
    model = pin.buildSampleModelManipulator()
    for seed in range(5):
        data, q, v, M = state(model, seed)
        J = pin.getJointJacobian(model, data, model.njoints - 1, pin.LOCAL_WORLD_ALIGNED)[:3]
        compare(model, q, v, M, J, restitution)


def test_a_batch_of_humanoids() -> None:
    pin.seed(2)
    model = pin.buildSampleModelHumanoidRandom()
    joint = model.getJointId("lleg6_joint")
    Ms, vs, Js, expected = [], [], [], []
    for seed in range(8):
        data, q, v, M = state(model, seed)
        J = pin.getJointJacobian(model, data, joint, pin.LOCAL_WORLD_ALIGNED)[:3].copy()
        Ms.append(M)
        vs.append(v)
        Js.append(J)
        expected.append(pin.impulseDynamics(model, model.createData(), q, v, J, 0.0).copy())
    t = jd.transition(np.array(Ms), np.array(vs), inert=np.array(Js))
    error = t.v_plus - np.array(expected)
    speed = np.sqrt(2 * t.T_minus) + np.sqrt(2 * t.T_plus)
    assert np.all(np.sqrt(np.einsum("bi,bij,bj->b", error, np.array(Ms), error)) <= RTOL * speed)


def test_a_walking_humanoid_keeps_one_foot_and_lands_the_other() -> None:
    """The standing foot regular, the landing foot inert: the same as both rows in Pinocchio, from a v⁻ that stands."""
    pin.seed(3)
    model = pin.buildSampleModelHumanoidRandom()
    for seed in range(5):
        data, q, v, M = state(model, seed)
        stand, land = (
            pin.getJointJacobian(model, data, model.getJointId(name), pin.LOCAL_WORLD_ALIGNED)[:3].copy()
            for name in ("rleg6_joint", "lleg6_joint")
        )
        v = pin.impulseDynamics(model, model.createData(), q, v, stand, 0.0).copy()
        both = model.createData()
        expected = pin.impulseDynamics(model, both, q, v, np.vstack([stand, land]), 0.0).copy()
        t = jd.transition(M, v, regular=stand, inert=land)
        impulse = both.impulse_c
        error = t.v_plus - expected
        assert np.sqrt(error @ M @ error) <= RTOL * (np.sqrt(2 * t.T_minus) + np.sqrt(2 * t.T_plus))
        found = np.concatenate([t.impulse["regular"], t.impulse["inert"]])
        np.testing.assert_allclose(found, impulse, rtol=0, atol=1e-8 * np.abs(impulse).max())
