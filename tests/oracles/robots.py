"""Robots by Pinocchio and dense algebra in NumPy: another reader, another recursion, other rows."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import engines

pin = engines.pinocchio()


@dataclass(frozen=True)
class Mimic:
    """Follower = offset + slope · leader."""

    follower: str
    leader: str
    slope: float
    offset: float


def mimics(file: Path) -> list[Mimic]:
    """As the URDF has them, of joints that move and follow one that does."""
    joints = ElementTree.parse(file).getroot().findall("joint")
    moving = {joint.get("name") for joint in joints if joint.get("type") != "fixed"}
    found = []
    for joint in joints:
        mimic = joint.find("mimic")
        if mimic is not None and joint.get("type") != "fixed" and mimic.get("joint") in moving:
            numbers = [float(mimic.get(key, default)) for key, default in (("multiplier", 1.0), ("offset", 0.0))]
            found.append(Mimic(str(joint.get("name")), str(mimic.get("joint")), *numbers))
    return found


class Oracle:
    """A URDF in Pinocchio, and its states as those of jourdain: q = (…), v = T v_pinocchio."""

    def __init__(self, file: Path, floating: bool) -> None:
        self.file, self.floating = file, floating
        root = (pin.JointModelFreeFlyer(),) if floating else ()
        self.model = pin.buildModelFromUrdf(str(file), *root)
        self.data = self.model.createData()

    @cached_property
    def mimics(self) -> list[Mimic]:
        return mimics(self.file)

    def joint(self, name: str) -> Any:
        return self.model.joints[self.model.getJointId(name)]

    def random_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Everywhere, within and beyond limits; joints that follow others do."""
        q = pin.neutral(self.model)
        if self.floating:
            q[:3] = rng.normal(size=3)
        for joint in list(self.model.joints)[1:]:
            at = slice(joint.idx_q, joint.idx_q + joint.nq)
            if joint.nq == 1:
                q[at] = rng.uniform(-2, 2)
            elif joint.nq == 2:
                angle = rng.uniform(-3, 3)
                q[at] = np.cos(angle), np.sin(angle)
            else:
                quaternion = rng.normal(size=4)
                q[joint.idx_q + 3 : joint.idx_q + 7] = quaternion / np.linalg.norm(quaternion)
        v = rng.normal(size=self.model.nv)
        for mimic in self.mimics:
            leader, follower = self.joint(mimic.leader), self.joint(mimic.follower)
            q[follower.idx_q] = mimic.offset + mimic.slope * q[leader.idx_q]
            v[follower.idx_v] = mimic.slope * v[leader.idx_v]
        return q, v

    def to_ours(self, names: tuple[str, ...], q: np.ndarray) -> np.ndarray:
        """T with v = T v_pinocchio, for our names of v."""
        T = np.zeros((len(names), self.model.nv))
        for i, name in enumerate(names):
            if name.startswith("base."):
                x, y, z, w = q[3:7]
                R = pin.Quaternion(w, x, y, z).toRotationMatrix()
                T[i, :6] = np.block([[R, np.zeros((3, 3))], [np.zeros((3, 3)), np.eye(3)]])[
                    ["x", "y", "z", "wx", "wy", "wz"].index(name.removeprefix("base."))
                ]
            else:
                T[i, self.joint(name).idx_v] = 1
        return T

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        M = np.triu(pin.crba(self.model, self.data, q))
        return M + np.triu(M, 1).T

    def jacobian(self, frame: str, q: np.ndarray) -> np.ndarray:
        """(6, n_v), world axes."""
        pin.framesForwardKinematics(self.model, self.data, q)
        return pin.computeFrameJacobian(
            self.model, self.data, q, self.model.getFrameId(frame, pin.FrameType.BODY), pin.LOCAL_WORLD_ALIGNED
        ).copy()

    def mimic_rows(self) -> np.ndarray:
        rows = np.zeros((len(self.mimics), self.model.nv))
        for i, mimic in enumerate(self.mimics):
            rows[i, self.joint(mimic.follower).idx_v] = 1
            rows[i, self.joint(mimic.leader).idx_v] = -mimic.slope
        return rows

    def strike(self, q: np.ndarray, v: np.ndarray, J: np.ndarray, kappa: float) -> tuple[np.ndarray, np.ndarray]:
        """(v⁺, impulses of J): rows of J end with −κ of their velocity, mimic rows hold."""
        M, C = self.mass_matrix(q), np.vstack([self.mimic_rows(), J])
        target = np.concatenate([np.zeros(len(C) - len(J)), -kappa * (J @ v)])
        K = np.block([[M, -C.T], [C, np.zeros((len(C), len(C)))]])
        x = np.linalg.solve(K, np.concatenate([M @ v, target]))
        return x[: len(v)], x[len(x) - len(J) :]
