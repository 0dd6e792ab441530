"""Whole inputs, and how they are broken."""

from __future__ import annotations

import random
import re

MJCF = """<mujoco model="leg">
  <compiler angle="radian"/>
  <default><geom type="capsule" size="0.02" mass="0.3"/></default>
  <worldbody>
    <body name="hip" pos="0 0 0.9">
      <freejoint/>
      <inertial pos="0 0 0" mass="3" diaginertia="0.1 0.1 0.1"/>
      <body name="thigh"><joint name="knee" axis="0 1 0" range="-1 1"/><geom fromto="0 0 0 0 0 -0.4"/>
        <body name="shank" pos="0 0 -0.4"><joint name="ankle" axis="0 1 0"/><geom fromto="0 0 0 0 0 -0.4"/>
          <site name="toe" pos="0 0 -0.42"/></body></body>
    </body>
  </worldbody>
  <actuator><motor joint="knee"/></actuator>
</mujoco>
"""
URDF = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0 0.2" rpy="0 0 0"/><mass value="1.5"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="lower"><inertial><mass value="0.8"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="10" velocity="5"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0 0 0.4"/>
    <axis xyz="0 1 0"/></joint>
</robot>
"""
MODEL = """import sympy as sp
import jourdain as jd

def striking(mass=2.0):
    return jd.gallery.walker()

model = jd.gallery.walker()
"""
COMMANDS = (
    "list",
    "list walker",
    "run walker",
    "run walker --set rho=0.3 --keep loss",
    "run walker --sweep theta=10:60:11 --show loss",
    "run rough_rod --set friction=0.2 --sweep theta=10:80:5",
    "run cradle --json",
    "run walker --out answer.csv",
    "log strike.csv --model walker",
    "testbed walker --out strike.csv",
    "--version",
)
ODD = (
    "", " ", "0", "-1", "1e999", "nan", "inf", "-0", "1e-320", "9" * 400, "x", "λ", "\x00", "\ufeff", "a" * 300, "..",
    "/", "%s", "{}", "[1,2", "__import__('os')", "1:2:3:4", "=", ",", ";", "\n", "<", "&amp;", "&x;", "]]>", "--", "-",
    "1,5",
)  # fmt: skip


def log(rng: random.Random) -> str:
    """A block that falls onto a plate, as a logger writes it."""
    rows = ["t [s],y [mm],floor [N]"]
    for i in range(rng.randint(5, 120)):
        t, y = i * 1e-3, 10.0 - 0.5 * i
        rows.append(f"{t:.3f},{max(y, 0.0):.2f},{0.0 if y > 0 else 40.0:.1f}")
    return "\n".join(rows) + "\n"


def broken(text: str, rng: random.Random) -> str:
    """The text with one or two things changed."""
    for _ in range(rng.randint(1, 2)):
        text = rng.choice((_number, _number, _number, _word, _cut, _twice, _character, _swap))(text, rng)
    return text


def _number(text: str, rng: random.Random) -> str:
    return _replaced(text, r"-?\d+\.?\d*", rng)


def _word(text: str, rng: random.Random) -> str:
    return _replaced(text, r"[A-Za-z_]+", rng)


def _replaced(text: str, pattern: str, rng: random.Random) -> str:
    found = list(re.finditer(pattern, text))
    if not found:
        return text + rng.choice(ODD)
    one, other = rng.choice(found), rng.choice(found)
    new = rng.choice((rng.choice(ODD), other.group(), one.group() * 2))
    return text[: one.start()] + new + text[one.end() :]


def _cut(text: str, rng: random.Random) -> str:
    start = rng.randrange(len(text) + 1)
    return text[:start] + text[start + rng.randint(1, 40) :]


def _twice(text: str, rng: random.Random) -> str:
    start = rng.randrange(len(text) + 1)
    return text[:start] + text[start : start + rng.randint(1, 80)] + text[start:]


def _character(text: str, rng: random.Random) -> str:
    place = rng.randrange(len(text) + 1)
    return text[:place] + rng.choice(ODD) + text[place + 1 :]


def _swap(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    return "\n".join(lines)
