"""An experiment in MuJoCo: a driven two-link arm runs its tip into a wall, with MuJoCo's own soft contact.

The motion, the contact force and so the true impulse are MuJoCo's; the noise is Gaussian, not counts. The links are
those of `two_links`, written down once for each engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from sympy.physics.mechanics import Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

import engines
import jourdain as jd

Array = NDArray[Any]
LENGTHS, MASSES, INERTIAS, RADIUS = (0.3, 0.25), (0.8, 0.5), (0.006, 0.003), 0.01
STEP = 1e-5  # s
EVERY = 100  # steps from sample to sample: 1 kHz

MODEL = """
<mujoco>
  <option timestep="{step}" gravity="0 0 0" integrator="implicitfast" cone="elliptic" impratio="10"/>
  <worldbody>
    <geom name="wall" type="plane" pos="0 {wall} 0" zaxis="0 -1 0" size="2 2 .1" friction="{friction} 0 0"
          solref="{solref}" contype="1" conaffinity="2"/>
    <body name="upper">
      <joint name="a" axis="0 0 1"/>
      <inertial pos="0.15 0 0" mass="0.8" diaginertia="0.006 0.006 0.006"/>
      <body name="lower" pos="0.3 0 0">
        <joint name="b" axis="0 0 1"/>
        <inertial pos="0.125 0 0" mass="0.5" diaginertia="0.003 0.003 0.003"/>
        <geom name="tip" type="sphere" pos="0.25 0 0" size="0.01" friction="{friction} 0 0" solref="{solref}"
              contype="2" conaffinity="1" mass="0"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def two_links() -> tuple[jd.Event, jd.Mechanism]:
    """The same arm, its tip's contact with a wall across y."""
    a, b = dynamicsymbols("a b")
    N, A, B, O = ReferenceFrame("N"), ReferenceFrame("A"), ReferenceFrame("B"), Point("O")
    O.set_vel(N, 0)
    A.orient_axis(N, a, N.z)
    B.orient_axis(A, b, N.z)
    elbow = O.locatenew("elbow", LENGTHS[0] * A.x)
    tip = elbow.locatenew("tip", LENGTHS[1] * B.x)
    C1, C2 = O.locatenew("C1", LENGTHS[0] / 2 * A.x), elbow.locatenew("C2", LENGTHS[1] / 2 * B.x)
    bodies = [
        RigidBody("upper", C1, A, MASSES[0], (inertia(A, 0, 0, INERTIAS[0]), C1)),
        RigidBody("lower", C2, B, MASSES[1], (inertia(B, 0, 0, INERTIAS[1]), C2)),
    ]
    arm = jd.Mechanism.from_sympy(bodies, N, [a, b], points={"tip": tip}, units={a: "rad", b: "rad"})
    # The surface of the sphere turns with the link: its lowest point is RADIUS beyond the centre.
    turning = RADIUS * (a.diff() + b.diff())
    velocity = tip.pos_from(O).dt(N)
    wall = arm.contact("wall", normal=-velocity.dot(N.y), tangent=[sp.expand(velocity.dot(N.x)) - turning], units="m/s")
    return arm.event(inert=[wall.normal], nonideal={wall.tangent: "beta"}), arm


@dataclass(frozen=True)
class Truth:
    """What MuJoCo knows of its own strike."""

    t: Array  # of every step
    q: Array
    normal: Array  # N, pushes apart
    tangential: Array  # N, along +x
    onset: float
    end: float
    q_minus: Array
    v_minus: Array
    impulse: tuple[float, float]  # N s, to the end of compression

    def sampled(self, phase: int) -> tuple[Array, Array, Array, Array]:
        """(t, q, normal, tangential) at 1 kHz, the first sample so many steps late."""
        chosen = slice(phase, None, EVERY)
        return self.t[chosen], self.q[chosen], self.normal[chosen], self.tangential[chosen]


def strike(solref: str, friction: float, q: Array, v: Array, torque: Array, seconds: float = 0.3) -> Truth:
    """The arm from a state on, the wall where it comes to after 0.2 s."""
    mujoco = engines.mujoco()
    free = _made(solref, friction, 10.0)
    data = mujoco.MjData(free)
    data.qpos[:], data.qvel[:] = q, v
    data.qfrc_applied[:] = torque
    for _ in range(round(0.2 / STEP)):
        mujoco.mj_step(free, data)
    place = LENGTHS[0] * np.sin(data.qpos[0]) + LENGTHS[1] * np.sin(data.qpos.sum()) + RADIUS
    model = _made(solref, friction, place)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, v
    data.qfrc_applied[:] = torque
    n = round(seconds / STEP)
    states, forces = np.empty((n, 4)), np.zeros((n, 2))
    force = np.empty(6)
    for i in range(n):
        states[i] = *data.qpos, *data.qvel
        mujoco.mj_step1(model, data)
        data.qfrc_applied[:] = torque
        mujoco.mj_step2(model, data)
        if data.ncon:
            mujoco.mj_contactForce(model, data, 0, force)
            axes = data.contact[0].frame.reshape(3, 3)
            # The frame's x axis points from the first geom to the second: the wall's normal or its opposite.
            world = axes.T @ force[:3]
            sign = np.sign(axes[0] @ [0, -1, 0]) if data.contact[0].geom[0] == 0 else -np.sign(axes[0] @ [0, 1, 0])
            world = world * (1.0 if sign > 0 else -1.0)
            forces[i] = -world[1], world[0]
    t = np.arange(n) * STEP
    touching = np.nonzero(forces[:, 0] > 0)[0]
    first = int(touching[0])
    closing = -_row(states)[first:]
    last = first + int(np.argmax(closing <= 0))
    p: Any = np.trapezoid(forces[first : last + 1], dx=STEP, axis=0)
    p_normal, p_tangential = map(float, p)
    return Truth(t, states[:, :2], forces[:, 0], forces[:, 1], t[first], t[last], states[first, :2], states[first, 2:],
                 (p_normal, p_tangential))  # fmt: skip


def _row(states: Array) -> Array:
    """−ẏ of the tip."""
    a, ab, va, vb = states[:, 0], states[:, :2].sum(1), states[:, 2], states[:, 3]
    return -(LENGTHS[0] * np.cos(a) * va + LENGTHS[1] * np.cos(ab) * (va + vb))


def _made(solref: str, friction: float, wall: float) -> Any:
    return engines.mujoco().MjModel.from_xml_string(
        MODEL.format(step=STEP, solref=solref, friction=friction, wall=wall)
    )
