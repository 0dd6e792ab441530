"""Robots: feet and soles that land, beside a loop over Pinocchio's impulse dynamics, one core each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from jourdain.events.event import Event
from jourdain.inputs import Array
from jourdain.robots.load import load_for_event
from jourdain.robots.robot import Robot
from jourdain.studies.benchmarks.contestant import Contestant, check_equal

N_STATES = 100_000
N_LOOP = 2000  # that Pinocchio is timed on
ABSENT = "Pinocchio or example-robot-data is not installed (PyPI); the robots were left out."


@dataclass(frozen=True)
class Case:
    """A robot of example-robot-data that lands on some of its frames."""

    title: str
    file: str
    frames: tuple[str, ...]
    welded: bool = False  # 6 rows each, else 3

    @cached_property
    def path(self) -> Path:
        folder = data_folder()
        assert folder is not None
        return folder / self.file

    @cached_property
    def robot(self) -> Robot:
        return load_for_event(self.path)

    @cached_property
    def event(self) -> Event:
        make = self.robot.weld if self.welded else self.robot.contact
        return self.robot.event(inert=[make(frame) for frame in self.frames])

    @cached_property
    def model(self) -> Any:
        import pinocchio

        return pinocchio.buildModelFromUrdf(str(self.path), pinocchio.JointModelFreeFlyer())

    @cached_property
    def states(self) -> tuple[Array, Array]:
        """Of Pinocchio: (q, v), all joints within a radian of neutral."""
        rng = np.random.default_rng(0)
        q = rng.uniform(-1, 1, (N_STATES, self.model.nq))
        q[:, 3:7] = rng.normal(size=(N_STATES, 4))
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
        return q, rng.normal(size=(N_STATES, self.model.nv))

    @cached_property
    def ours(self) -> tuple[Array, Array]:
        """The same states as ours."""
        return self.robot.from_pinocchio(self.model, *self.states)

    def by_pinocchio(self, n: int) -> tuple[Array, Array]:
        """(v⁺, impulses) of the first n states, one by one; its own Cholesky factorization of M and of W."""
        import pinocchio as pin

        model, data = self.model, self.model.createData()
        frames = [model.getFrameId(frame, pin.FrameType.BODY) for frame in self.frames]
        world, k = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED, 6 if self.welded else 3
        v_plus, impulses = np.empty((n, model.nv)), np.empty((n, k * len(frames)))
        for i in range(n):
            q, v = self.states[0][i], self.states[1][i]
            pin.computeJointJacobians(model, data, q)
            pin.updateFramePlacements(model, data)
            J = np.vstack([pin.getFrameJacobian(model, data, frame, world)[:k] for frame in frames])
            v_plus[i] = pin.impulseDynamics(model, data, q, v, J)
            impulses[i] = data.impulse_c
        return v_plus, impulses


TALOS, SOLES = "talos_data/robots/talos_reduced.urdf", ("left_sole_link", "right_sole_link")
CASES = (
    Case("solo12, 2 feet, 6 rows", "solo_description/robots/solo12.urdf", ("FL_FOOT", "HR_FOOT")),
    Case("talos_reduced, 2 soles, 6 rows", TALOS, SOLES),
    Case("talos_reduced, 2 welds, 12 rows", TALOS, SOLES, welded=True),
)


def data_folder() -> Path | None:
    """Where the robots are; None if they are not installed."""
    try:
        import pinocchio
    except ImportError:
        return None
    prefixes = [folder for folder in Path(pinocchio.__file__).parents if folder.name == "cmeel.prefix"]
    folders = [prefix / "share/example-robot-data/robots" for prefix in prefixes]
    return next((folder for folder in folders if folder.is_dir()), None)


def check(case: Case, n: int = 200) -> None:
    """Raise unless Pinocchio finds the same velocities and impulses."""
    v_plus, impulses = case.by_pinocchio(n)
    _, theirs = case.robot.from_pinocchio(case.model, case.states[0][:n], v_plus)
    t = case.event.solve(*case.ours)
    rows = slice(None) if case.welded else [1, 2, 0]
    ours = np.concatenate([t.impulse[role.constraint][:n, rows] for role in case.event.roles], axis=-1)
    for what, one, other in (("v_plus", t.v_plus[:n], theirs), ("the impulses", ours, impulses)):
        check_equal("Pinocchio", f"{what} of {case.title}", one, other, np.max(np.abs(other)))


def contestants(one_thread: Callable[[Callable[[], Any]], Callable[[], Any]]) -> Iterator[Contestant]:
    for case in CASES if data_folder() is not None else ():
        solve = one_thread(partial(case.event.solve, *case.ours))
        yield Contestant(case.title, N_STATES, solve, "event.solve: all numbers of the outcome, with checks; 1 thread")
        loop = partial(case.by_pinocchio, N_LOOP)
        yield Contestant(f"{case.title}, Pinocchio", N_LOOP, loop, "impulseDynamics in a Python loop: v⁺ and impulses")


PAIRS = tuple((case.title, f"{case.title}, Pinocchio") for case in CASES)


def build_code(case: Case) -> str:
    """A program that prints the seconds from a file to a first answer in a batch, libraries imported before."""
    make = "weld" if case.welded else "contact"
    return f"""
import time
import casadi, llvmlite.binding, mujoco, numpy as np
import jourdain as jd
jd.load, jd.Mechanism, jd.Transition
import jourdain.events.builder, jourdain.compute.kernel.batch, jourdain.robots.robot_file
t = time.perf_counter()
robot = jd.load({str(case.path)!r}, floating=True)
event = robot.event(inert=[robot.{make}(frame) for frame in {case.frames!r}])
q = np.tile(robot.neutral, (2000, 1))
q[:, 7:] += 0.5
event.solve(q, np.ones((2000, len(robot.symbols.v_names))))
print(time.perf_counter() - t)
"""
