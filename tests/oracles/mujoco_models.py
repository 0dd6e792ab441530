"""MJCF models, trees and closed loops, and what MuJoCo itself says of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import engines

mujoco = engines.mujoco()

Array = NDArray[np.float64]

TREES = {
    # A free joint with children, fixed bodies, armature, capsules, boxes and spheres, unnamed geoms.
    "dog": """
<mujoco model="dog">
  <default><joint armature="0.01" damping="0.5"/><geom density="700"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1" pos="0.1 0.2 -1" euler="10 20 0"/>
    <site name="flag" pos="1 -2 0.5" quat="0.5 0.5 -0.5 0.5"/>
    <body name="trunk" pos="0 0 0.6" euler="0 10 30">
      <freejoint/>
      <geom name="shell" type="box" size="0.3 0.15 0.08" pos="0.02 0 0.01" euler="3 4 5"/>
      <site name="imu" pos="0.1 0.02 0.05" euler="0 90 10"/>
      <body name="FL_hip" pos="0.25 0.14 0">
        <joint name="FL_hip" axis="1 0 0"/>
        <geom type="capsule" fromto="0 0 0 0 0.08 0" size="0.03"/>
        <body name="FL_thigh" pos="0 0.08 0">
          <joint name="FL_thigh" axis="0 1 0" range="-60 60"/>
          <geom name="FL_bone" type="capsule" fromto="0 0 0 -0.05 0 -0.25" size="0.025"/>
          <body name="FL_shank" pos="-0.05 0 -0.25">
            <joint name="FL_knee" axis="0 1 0.1" armature="0.002"/>
            <geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.02"/>
            <body name="FL_foot" pos="0 0.01 -0.25" axisangle="0 1 0 30">
              <geom name="FL_pad" type="sphere" size="0.03" pos="0.01 0 0"/>
              <site name="FL_toe" pos="0.02 0 -0.03"/>
            </body>
          </body>
        </body>
      </body>
      <body name="HR_hip" pos="-0.25 -0.14 0">
        <joint name="HR_hip" axis="1 0 0"/>
        <geom type="capsule" fromto="0 0 0 0 -0.08 0" size="0.03"/>
        <body name="HR_thigh" pos="0 -0.08 0">
          <joint name="HR_thigh" axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 -0.05 0 -0.25" size="0.025"/>
        </body>
      </body>
      <body name="head" pos="0.35 0 0.1"><geom type="sphere" size="0.07" pos="0.02 0 0"/></body>
    </body>
  </worldbody>
</mujoco>""",
    # Ball joints, also with an anchor and with armature; a slide after one; slides on oblique axes.
    "marionette": """
<mujoco model="marionette">
  <worldbody>
    <body name="rail" pos="0 0 1" quat="0.9 0.1 0.3 -0.2">
      <joint name="rail" type="slide" axis="1 2 -0.5" pos="0.3 0 0.1"/>
      <geom type="box" size="0.1 0.05 0.05" mass="0.8"/>
      <body name="upper" pos="0.1 0 -0.1">
        <joint name="shoulder" type="ball" pos="0.05 -0.02 0.1" armature="0.02"/>
        <geom type="capsule" fromto="0 0 0 0.3 0.1 0" size="0.03"/>
        <body name="lower" pos="0.3 0.1 0" euler="30 20 10">
          <joint name="elbow" type="ball"/>
          <joint name="screw" type="slide" axis="0.2 0.3 1" pos="1 1 1"/>
          <geom name="bone" type="cylinder" fromto="0 0 0 0 0 0.3" size="0.03"/>
          <site name="hand" pos="0 0 0.3" euler="0 0 45"/>
          <body name="string" pos="0 0 0.3"><joint name="string" type="slide" axis="-1 1 1"/>
            <geom type="sphere" size="0.04" pos="0.01 0.02 0.03"/></body>
        </body>
        <body name="tail" pos="-0.1 0.1 0.05">
          <joint name="tail" type="ball" pos="-0.1 0.2 0.3"/>
          <geom name="plume" type="ellipsoid" size="0.05 0.1 0.02" pos="0 0.1 0" euler="10 0 20"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>""",
    # Several joints on one body, with anchors of their own; references that are not 0; springs, which no event sees.
    "stacked": """
<mujoco model="stacked">
  <compiler angle="radian"/>
  <worldbody>
    <body name="cart" pos="0.2 0.1 0.3" euler="0.3 -0.2 0.5">
      <joint name="along" type="slide" axis="1 0.1 0" ref="0.4" stiffness="30" springref="0.1"/>
      <joint name="yaw" axis="0 0.2 1" pos="0.1 0.2 0" ref="0.7" stiffness="5" springref="-0.2" armature="0.3"/>
      <joint name="pitch" axis="0.1 1 0" pos="-0.2 0 0.3"/>
      <geom type="box" size="0.2 0.1 0.05"/>
      <body name="mast" pos="0 0 0.2">
        <joint name="tilt" axis="1 0 0" pos="0 0.1 0" ref="-1.1"/>
        <joint name="lift" type="slide" axis="0 0.5 1" ref="-0.3" armature="0.05"/>
        <joint name="spin" axis="1 1 1" pos="0.1 0.1 0.1" damping="1" frictionloss="0.2"/>
        <geom name="pole" type="capsule" fromto="0 0 0 0.1 0 0.4" size="0.03"/>
        <site name="top" pos="0.1 0 0.4"/>
      </body>
      <body name="swivel" pos="0.2 0 0">
        <joint name="roll" axis="1 0 0"/><joint name="ball" type="ball" pos="0.05 0 0.02"/>
        <geom type="sphere" size="0.06" pos="0.04 0.01 0"/>
      </body>
    </body>
  </worldbody>
</mujoco>""",
    # Inertia from geoms of every kind, from a mesh, from several at once, and written out.
    "shapes": """
<mujoco model="shapes">
  <asset>
    <mesh name="wedge" vertex="0 0 0  0.3 0 0  0 0.2 0  0 0 0.25  0.1 0.1 0.3"/>
  </asset>
  <worldbody>
    <body name="box"><joint name="j0" axis="0 1 0"/>
      <geom name="g0" type="box" size="0.1 0.2 0.05" pos="0.1 0 0" euler="10 20 30"/>
      <body name="capsule" pos="0.2 0 0.1"><joint name="j1" axis="0 0 1"/>
        <geom name="g1" type="capsule" size="0.04 0.2" pos="0 0.1 0" euler="40 0 0"/>
        <body name="sphere" pos="0 0.2 0"><joint name="j2" axis="1 0 0"/>
          <geom name="g2" type="sphere" size="0.07" pos="0.02 0 0.01"/>
          <body name="ellipsoid" pos="0.1 0.1 0"><joint name="j3" axis="1 1 0"/>
            <geom name="g3" type="ellipsoid" size="0.05 0.08 0.11" pos="0 0 0.05" axisangle="1 2 3 40"/>
            <body name="cylinder" pos="0 0 0.1"><joint name="j4" axis="0 1 1"/>
              <geom name="g4" type="cylinder" size="0.05 0.1" zaxis="1 1 1" mass="0.7"/>
              <geom name="g5" type="box" size="0.02 0.02 0.1" pos="0.1 0 0" density="2500"/>
            </body>
          </body>
          <body name="mesh" pos="-0.1 0.1 0"><joint name="j5" axis="1 0 1"/>
            <geom name="g6" type="mesh" mesh="wedge" pos="0.1 0 0" euler="0 30 0"/></body>
        </body>
      </body>
      <body name="written" pos="0 -0.3 0" euler="0 0 60"><joint name="j6" axis="0 1 0"/>
        <inertial pos="0.1 0.02 -0.03" mass="1.5" fullinertia="0.03 0.04 0.05 0.004 -0.003 0.002"/>
        <geom name="g7" type="box" size="0.1 0.1 0.1"/>
        <body name="principal" pos="0.2 0 0"><joint name="j7" axis="0 0 1"/>
          <inertial pos="0 0.05 0" quat="0.8 0.2 -0.4 0.1" mass="0.4" diaginertia="0.003 0.002 0.004"/></body>
      </body>
    </body>
  </worldbody>
</mujoco>""",
    # Bodies turned in every way of writing, frames, fixed chains; gravity along nothing in particular.
    "turned": """
<mujoco model="turned">
  <compiler angle="degree" eulerseq="zyx"/>
  <option gravity="3 -4 5.5"/>
  <worldbody>
    <frame pos="0.3 0.1 0" euler="20 0 -40">
      <body name="q" pos="0.1 0 0" quat="3 -1 2 0.5"><joint name="jq" axis="0 0 1"/>
        <geom type="box" size="0.1 0.1 0.2" pos="0.05 0 0"/>
        <body name="e" pos="0 0.2 0.1" euler="25 -35 45"><joint name="je" type="slide" axis="1 1 0"/>
          <geom type="box" size="0.05 0.1 0.2"/>
          <body name="a" pos="0.1 0.1 0.1" axisangle="1 -2 0.5 110">
            <geom type="box" size="0.05 0.1 0.15" pos="0.1 0 0.02"/>
            <body name="xy" pos="0 0 0.2" xyaxes="1 1 0 -1 1 0.5">
              <inertial pos="0.01 0.02 0.03" mass="0.3" diaginertia="0.001 0.002 0.0015"/>
              <site name="far" pos="0.1 0.2 0.3" xyaxes="0 1 0 0 0 1"/>
              <body name="z" pos="0.05 0.1 0" zaxis="1 0.3 -0.2"><joint name="jz" axis="0 1 0" pos="0.1 0 0"/>
                <geom name="end" type="cylinder" size="0.05 0.2" pos="0 0.1 0"/></body>
            </body>
          </body>
        </body>
      </body>
    </frame>
  </worldbody>
</mujoco>""",
    # No names: bodies, joints and sites; and one name for a site, a body, a geom and a joint.
    "unnamed": """
<mujoco>
  <worldbody>
    <body pos="0 0 1"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.04"/>
      <site pos="0.1 0 0"/>
      <body pos="0.3 0 0"><joint axis="0 0 1"/><joint type="slide" axis="1 0 0"/>
        <geom name="same" type="box" size="0.1 0.05 0.05" pos="0.1 0 0"/>
        <body name="same" pos="0.2 0 0"><joint name="same" axis="1 0 0" pos="0 0.1 0"/>
          <geom name="ball" type="sphere" size="0.08" pos="0.05 0 0"/>
          <body name="ball" pos="0 0.2 0"><joint type="ball"/><geom type="box" size="0.1 0.05 0.02" pos="0.1 0 0"/>
            <site name="same" pos="0.1 0.1 0.1" euler="20 30 40"/></body>
        </body>
        <body><joint axis="0 1 1"/><geom type="sphere" size="0.05" pos="0 0 0.2"/></body>
      </body>
    </body>
  </worldbody>
</mujoco>""",
    # Several free bodies, a fixed one, a mocap one, and a robot between them.
    "table": """
<mujoco model="table">
  <option gravity="0 9.81 0"/>
  <worldbody>
    <geom name="top" type="box" size="1 1 0.05"/>
    <body name="brick" pos="0 0 1"><freejoint name="brick"/>
      <geom type="box" size="0.1 0.05 0.03" pos="0.02 0 0.01"/></body>
    <body name="post" pos="0.5 0.5 0.5" euler="0 0 30"><geom name="wood" type="cylinder" size="0.05 0.5"/>
      <body name="arm" pos="0 0 0.5"><joint name="arm" axis="0 0 1"/>
        <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03"/></body>
    </body>
    <body name="hand" mocap="true" pos="-0.5 0.2 0.8" quat="0.7 0.1 -0.5 0.2"><geom type="sphere" size="0.05"/>
      <site name="palm" pos="0 0 0.05"/></body>
    <body name="plate" pos="0 1 1"><freejoint/><geom type="cylinder" size="0.2 0.01"/>
      <body name="cup" pos="0.1 0 0.02"><joint name="cup" axis="1 0 0"/>
        <geom type="ellipsoid" size="0.03 0.04 0.08" pos="0 0 0.08"/></body>
    </body>
    <body name="egg" pos="1 0 1"><joint name="egg" type="free" armature="0.2"/>
      <geom type="ellipsoid" size="0.02 0.02 0.03"/></body>
  </worldbody>
</mujoco>""",
    # Bodies that are repeated by the file, with defaults of classes.
    "rope": """
<mujoco model="rope">
  <default><default class="bead"><joint type="ball" pos="0.05 0 0" armature="1e-3"/>
    <geom type="capsule" size="0.02" fromto="0 0 0 0.1 0 0"/></default></default>
  <worldbody>
    <replicate count="2" offset="0 0.5 0" euler="0 0 40" sep="_">
      <body name="first" pos="0 0 2" childclass="bead"><joint name="first"/><geom/>
        <body name="second" pos="0.1 0 0"><joint name="second"/><geom/>
          <body name="third" pos="0.1 0 0"><joint name="third"/><geom name="bead"/>
            <site name="end" pos="0.1 0 0"/></body>
        </body>
      </body>
    </replicate>
  </worldbody>
</mujoco>""",
}

LOOPS = {
    # A planar four-bar: of the three rows of `pin` one is dependent on the others.
    "four-bar": """
<mujoco model="four-bar">
  <worldbody>
    <body name="crank"><joint name="crank" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.02"/>
      <body name="coupler" pos="0 0 0.3"><joint name="coupler" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0.6 0 0.2" size="0.02"/><site name="tip" pos="0.4 0 0.5"/></body>
    </body>
    <body name="rocker" pos="0.6 0 0"><joint name="rocker" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 0.5" size="0.02"/></body>
  </worldbody>
  <equality><connect name="pin" body1="coupler" body2="rocker" anchor="0.6 0 0.2"/></equality>
</mujoco>""",
    # A loop in space, closed by two sites, and one to the world by a body alone; the base is free.
    "crane": """
<mujoco model="crane">
  <worldbody>
    <site name="hook" pos="0.4 0.3 0.9"/>
    <body name="base" pos="0 0 0.5"><freejoint/><geom type="box" size="0.2 0.1 0.05"/>
      <body name="left" pos="0.1 0.1 0"><joint name="left" type="ball"/>
        <geom type="capsule" fromto="0 0 0 0.2 0 0.3" size="0.02"/>
        <site name="a" pos="0.2 0 0.3" euler="10 0 0"/></body>
      <body name="right" pos="0.1 -0.1 0"><joint name="right" axis="0 1 0.3"/>
        <geom type="capsule" fromto="0 0 0 0 0.1 0.3" size="0.02"/>
        <body name="link" pos="0 0.1 0.3" euler="0 10 20"><joint name="link" type="ball" pos="0.02 0 0"/>
          <geom type="capsule" fromto="0 0 0 0.3 0.1 0" size="0.02"/><site name="b" pos="0.3 0.05 0"/></body>
      </body>
    </body>
  </worldbody>
  <equality>
    <connect name="clevis" site1="a" site2="b"/>
    <connect name="hang" body1="left" anchor="0.1 0.02 0.2"/>
  </equality>
</mujoco>""",
    # Welds: with a relative pose, an anchor and a scale; by two sites; to a mocap body.
    "welds": """
<mujoco model="welds">
  <worldbody>
    <body name="fixture" mocap="true" pos="0.3 0.2 0.4" quat="0.9 0.1 0.2 -0.3"><site name="jaw" pos="0 0.1 0"/></body>
    <body name="one" pos="0 0 1"><freejoint name="one"/><geom type="box" size="0.1 0.05 0.2" pos="0.02 0 0"/>
      <body name="flap" pos="0.1 0 0.2"><joint name="flap" axis="0 1 0"/>
        <geom type="box" size="0.1 0.1 0.01" pos="0.1 0 0"/>
        <site name="corner" pos="0.2 0.1 0" euler="30 0 10"/></body>
    </body>
    <body name="two" pos="0.35 0.1 1.3" euler="30 20 10"><freejoint name="two"/><geom type="box" size="0.1 0.1 0.05"/>
      <site name="grip" pos="0 0.1 0" euler="5 5 5"/></body>
    <body name="three" pos="0.3 0.3 0.5"><freejoint name="three"/><geom type="box" size="0.02 0.1 0.05"/>
      <body name="leaf" pos="0 0.1 0"><joint name="leaf"/><geom type="box" size="0.02 0.1 0.05" pos="0.1 0 0"/></body>
    </body>
  </worldbody>
  <equality>
    <weld name="given" body1="one" body2="two" relpose="0.3 0.1 0.3 0.95 0.2 0.15 0.1" anchor="0.05 0.02 0.1"
          torquescale="3"/>
    <weld name="held" body1="three" body2="fixture"/>
    <weld name="sites" site1="corner" site2="grip" active="false"/>
  </equality>
</mujoco>""",
    # A weld by two sites.
    "gripper": """
<mujoco model="gripper">
  <worldbody>
    <body name="palm"><joint name="wrist" axis="1 0.2 0"/><geom type="box" size="0.1 0.1 0.1"/>
      <body name="finger" pos="0.1 0 0.1"><joint name="finger" axis="0 1 0.2"/>
        <geom type="box" size="0.02 0.02 0.2" pos="0 0 0.2"/><site name="nail" pos="0.02 0 0.4" euler="20 0 30"/></body>
    </body>
    <body name="load" pos="0.2 0.1 0.5" euler="0 20 10"><freejoint name="load"/>
      <geom type="ellipsoid" size="0.1 0.2 0.05"/>
      <site name="ring" pos="0 0.1 0.02" euler="0 10 10"/></body>
  </worldbody>
  <equality><weld name="sites" site1="nail" site2="ring"/></equality>
</mujoco>""",
    # Joints that follow: on a curve, with references, one that stands still, a slide that follows a hinge; one is off.
    "gears": """
<mujoco model="gears">
  <compiler angle="radian"/>
  <worldbody>
    <body name="plate" pos="0 0 1"><joint name="plate" axis="1 0 0" pos="0 0.3 0"/>
      <geom type="box" size="0.3 0.3 0.02"/>
      <body name="drive" pos="0.1 0 0"><joint name="drive" axis="0 0 1" ref="0.4"/>
        <geom type="box" size="0.1 0.05 0.02" pos="0.02 0 0"/></body>
      <body name="cam" pos="-0.1 0 0"><joint name="cam" axis="0 0.1 1" ref="-0.6"/>
        <geom type="box" size="0.1 0.05 0.02" pos="0.05 0 0"/>
        <body name="rod" pos="0.1 0 0"><joint name="rod" type="slide" axis="1 0 0.2" ref="0.1"/>
          <geom name="shaft" type="capsule" fromto="0 0 0 0.2 0 0" size="0.01"/><site name="nib" pos="0.2 0 0"/></body>
      </body>
      <body name="latch" pos="0 0.2 0"><joint name="latch" axis="0 1 0" ref="0.2"/>
        <geom type="sphere" size="0.05" pos="0.1 0 0"/></body>
      <body name="brake" pos="0 -0.2 0"><joint name="brake" axis="0 1 0"/>
        <geom type="sphere" size="0.05" pos="0.1 0 0"/></body>
    </body>
  </worldbody>
  <equality>
    <joint name="curve" joint1="cam" joint2="drive" polycoef="0.1 -1.5 0.4 0.2 -0.05"/>
    <joint name="rack" joint1="rod" joint2="drive" polycoef="0 0.05 0 0 0"/>
    <joint name="shut" joint1="latch" polycoef="0.25 0 0 0 0"/>
    <joint name="off" joint1="brake" joint2="drive" polycoef="0 2 0 0 0" active="false"/>
  </equality>
</mujoco>""",
}

MODELS = {**TREES, **LOOPS}


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """MuJoCo prints its warnings, and writes them to a file where it is run; here it does not."""
    before: Callable[[str], None] | None = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda said: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


class Simulator:
    """MuJoCo at a state (q, v)."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        self.model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        self.data = mujoco.MjData(model)

    @classmethod
    def of(cls, xml: str) -> Simulator:
        return cls(mujoco.MjModel.from_xml_string(xml))

    def random_state(self, rng: np.random.Generator, away: float | None = None) -> tuple[Array, Array]:
        """(q, v): anywhere, or so far away from where the file has it."""
        q, v = np.array(self.model.qpos0), rng.normal(size=self.model.nv)
        if away is not None:
            mujoco.mj_integratePos(self.model, q, rng.uniform(-away, away, self.model.nv), 1.0)
            return q, v
        for kind, at in zip(self.model.jnt_type, self.model.jnt_qposadr, strict=True):
            n = {int(mujoco.mjtJoint.mjJNT_FREE): 7, int(mujoco.mjtJoint.mjJNT_BALL): 4}.get(int(kind), 1)
            q[at : at + n] = rng.normal(size=n)
            if n > 1:
                q[at + n - 4 : at + n] /= np.linalg.norm(q[at + n - 4 : at + n])
        return q, v

    def at(self, q: Array, v: Array | None = None) -> Simulator:
        self.data.qpos[:] = q
        self.data.qvel[:] = 0 if v is None else v
        mujoco.mj_forward(self.model, self.data)
        return self

    @property
    def M(self) -> Array:
        found = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, found)
        return found

    @property
    def energy(self) -> tuple[float, float]:
        """Of gravity and springs, and of motion, J."""
        return float(self.data.energy[0]), float(self.data.energy[1])

    def rates(self, q: Array, v: Array) -> Array:
        """q̇ by differences of sixth order along MuJoCo's own integration."""
        h, found = 1e-2, np.zeros(self.model.nq)
        for k, weight in ((1, 45), (2, -9), (3, 1)):
            for sign in (1, -1):
                moved = q.copy()
                mujoco.mj_integratePos(self.model, moved, v, sign * k * h)
                found += sign * weight * moved / (60 * h)
        return found

    def frames(self) -> dict[str, tuple[str, int]]:
        """Name → what it is and its number: of one name the site has it, then the body, then the geom."""
        m, found = self.model, {}
        for kind, several in (("geom", range(m.ngeom)), ("body", range(1, m.nbody)), ("site", range(m.nsite))):
            for i in several:
                name = getattr(m, kind)(i).name
                if name or kind == "body":
                    found[name or f"body {i}"] = (kind, i)
        return found

    def place(self, kind: str, i: int) -> tuple[Array, Array]:
        """Position and rotation in the world."""
        own: Any = getattr(self.data, kind)(i)
        return np.array(own.xpos), np.array(own.xmat).reshape(3, 3)

    def jacobian(self, kind: str, i: int) -> Array:
        """(6, n_v): linear, angular."""
        J = np.zeros((6, self.model.nv))
        by = {"body": mujoco.mj_jacBody, "site": mujoco.mj_jacSite, "geom": mujoco.mj_jacGeom}
        by[kind](self.model, self.data, J[:3], J[3:], i)
        return J

    def rows(self, name: str) -> tuple[Array, Array]:
        """(J, how far off) of an equality, whether it is active or not."""
        i = self.model.equality(name).id
        before, self.data.eq_active[i] = int(self.data.eq_active[i]), 1
        mujoco.mj_forward(self.model, self.data)
        d = self.data
        own = (d.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY) & (d.efc_id == i)
        found = np.array(d.efc_J).reshape(-1, self.model.nv)[own], np.array(d.efc_pos)[own]
        self.data.eq_active[i] = before
        mujoco.mj_forward(self.model, self.data)
        return found
