"""The heel strike in Pinocchio: a Python loop over events around its C++ algorithms.

The tree starts at the hip, whence stance leg, swing leg and torso turn by absolute angles. Then rho moves nothing but
the heel, mu changes three masses, and the model is built once: per event the masses and the heel's place are written
into it. Whatever does not need Pinocchio (states before, energies from its M and J, velocities of the foot) is done in
NumPy, over chunks of events.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jourdain.inputs import Array
from jourdain.studies.benchmarks.walker import B_LEG, L_LEG, L_TORSO, M_H, M_W, QUANTITIES, RATE


def solve(theta: Array, rho: Array, torso: Array, mu: Array, chunk: int = 4096) -> Array:
    """Impulses, energies and v⁺ of each event, `(12, n)`."""
    strike = _Strike()
    n = theta.size
    out = np.empty((len(QUANTITIES), n))
    for start in range(0, n, chunk):
        some = slice(start, start + chunk)
        strike(theta[some], rho[some], torso[some], mu[some], out[:, some])
    return out


class _Strike:
    """The model, in the plane of x (forward) and z (up); rotations about y lean forward."""

    def __init__(self) -> None:
        import pinocchio as pin

        here = pin.SE3.Identity()
        model = pin.Model()
        x = model.addJoint(0, pin.JointModelPX(), here, "hip_x")
        hip = model.addJoint(x, pin.JointModelPZ(), here, "hip_z")
        model.appendBodyToJoint(hip, _point_mass(M_H, 0.0), here)
        joints = []
        for name, height in (("stance", -B_LEG), ("swing", -B_LEG), ("torso", L_TORSO)):
            joint = model.addJoint(hip, pin.JointModelRY(), here, name)
            model.appendBodyToJoint(joint, _point_mass(1.0, height), here)
            joints.append(joint)
        self.heel = model.addFrame(pin.Frame("heel", model.getJointId("swing"), here, pin.FrameType.OP_FRAME))
        # What changes from event to event, taken now that the model grows no more.
        self.limbs = [model.inertias[joint] for joint in joints]
        self.heel_placement = model.frames[self.heel].placement
        self.model, self.data = model, model.createData()
        # Views of what Pinocchio writes; the impulses have their size, and stay in place, after a first call.
        pin.impulseDynamics(model, self.data, pin.neutral(model), np.zeros(5), np.eye(2, 5))
        self.M, self.impulse = self.data.M, self.data.impulse_c

    def __call__(self, theta: Array, rho: Array, torso: Array, mu: Array, out: Array) -> None:
        n, half, zero = theta.size, theta / 2, np.zeros_like(theta)
        c, s, R = np.cos(half), np.sin(half), rho * L_LEG
        L = L_LEG - R
        leg = (M_W - M_H) / 2 / (1 + mu)
        q = np.stack([zero, zero, half, -half, torso], axis=-1)
        v_minus = np.stack([(R + L * c), -L * s, zero + 1, zero + 1, zero], axis=-1) * RATE
        places = np.stack([-R * s, zero, -L - R * c], axis=-1)  # of the sole, in the axes of the swing leg
        M, J = np.empty((n, 5, 5)), np.empty((n, 2, 5))
        v_plus, impulse = np.empty((n, 5)), np.empty((n, 2))

        model, data, heel, placement = self.model, self.data, self.heel, self.heel_placement
        stance_leg, swing_leg, trunk = self.limbs
        M_view, impulse_view = self.M, self.impulse
        import pinocchio as pin

        frame_jacobian, impulse_dynamics, axes = pin.computeFrameJacobian, pin.impulseDynamics, pin.LOCAL_WORLD_ALIGNED
        events = zip(q, v_minus, leg.tolist(), (2 * leg * mu).tolist(), places, J, strict=True)
        for i, (q_i, v_i, m, m_T, place, J_i) in enumerate(events):
            stance_leg.mass = swing_leg.mass = m
            trunk.mass = m_T
            placement.translation = place
            J_i[:] = frame_jacobian(model, data, q_i, heel, axes)[2::-2]  # rows z and x
            v_plus[i] = impulse_dynamics(model, data, q_i, v_i, J_i)
            impulse[i] = impulse_view
            M[i] = M_view

        lower = np.tril_indices(5, -1)
        M[:, lower[0], lower[1]] = M[:, lower[1], lower[0]]  # Pinocchio fills the upper triangle
        out[:2] = impulse.T
        for row, v in ((2, v_minus), (3, v_plus)):
            out[row] = np.einsum("ni,ni->n", v, (M @ v[:, :, None])[:, :, 0]) / 2
        out[4] = -np.einsum("ni,ni->n", (J @ v_minus[:, :, None])[:, :, 0], impulse) / 2
        out[5], out[6] = out[2] - out[4], out[2] - out[3]
        out[7:] = v_plus.T
        out[7] -= L * c * v_plus[:, 2]  # from the hip to the centre of the stance foot
        out[8] += L * s * v_plus[:, 2]


def _point_mass(mass: float, height: float) -> Any:
    import pinocchio as pin

    return pin.Inertia(mass, np.array([0.0, 0.0, height]), np.zeros((3, 3)))
