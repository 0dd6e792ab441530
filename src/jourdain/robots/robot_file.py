"""Robot files to descriptions: which kind, whether it is sound, and whether its root floats."""

from __future__ import annotations

import contextlib
import re
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from jourdain.errors import BadRobot, MissingExtra, RobotWarning, listing, optional, shortened
from jourdain.inputs import FilePath
from jourdain.robots.description import GROUND, Description, Source
from jourdain.robots.file_joints import joint_of, placed
from jourdain.robots.finite import check_finite
from jourdain.robots.limits import check_limits, root_of
from jourdain.robots.mjcf import from_mjcf
from jourdain.robots.rotations import to_quaternion
from jourdain.robots.urdf import from_urdf

MOST_SAID = 5  # of MuJoCo's warnings


def read(path: FilePath, floating: bool) -> Description:
    """What a URDF or MJCF file says. `floating`: the root body of a URDF, or a fixed one of an MJCF, moves freely."""
    file = Path(path)
    kind = _kind(file)
    with _in_one_sentence(file, kind):
        check_limits(file)
        check_finite(file)
        found = from_urdf(file, floating) if kind == "robot" else from_mjcf(file)
    if not found.bodies:
        raise BadRobot(f"'{file}' describes no body.")
    _refuse_unsound(found, file)
    found = replace(found.settled(), sources=(Source(str(file.absolute()), False),))
    return _floating(found, file) if floating else found


def _kind(file: Path) -> str:
    """The root element, of an XML file that can be read."""
    try:
        what = "is a folder" if file.is_dir() else "is no regular file" if file.exists() else "does not exist"
        what = "" if file.is_file() else what
    except (OSError, ValueError):  # too long for a path, as the text of a file is
        raise BadRobot(f"'{shortened(str(file), 80)}' is no path; give the path of a URDF or MJCF file.") from None
    if what:
        raise BadRobot(f"'{file}' {what}; give the path of a URDF or MJCF file.")
    try:
        root = root_of(file).tag
    except ElementTree.ParseError as error:
        raise BadRobot(f"'{file}' is not sound XML: {error}.") from None
    except (OSError, ValueError, LookupError) as error:  # of encodings that Python or expat does not know
        raise BadRobot(f"'{file}' cannot be read: {error}.") from None
    if root not in ("robot", "mujoco"):
        raise BadRobot(f"'{file}' begins with <{root}>; a URDF begins with <robot>, an MJCF with <mujoco>.")
    return root


def _check_version(version: str, kind: str) -> None:
    """Raise for versions of MuJoCo that hand out a file wrongly, without a word.

    Before 3.14 the inertia of a URDF link comes in axes that are not those of the file, before 3.13 mimic joints are
    missing. MJCF is compiled by MuJoCo itself: 3.9 and 3.10, the last for Intel Macs, agree with its own numbers.
    """
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if numbers >= (3, 14) or (kind == "mujoco" and numbers in ((3, 9), (3, 10))):
        return
    what = "a URDF" if kind == "robot" else "an MJCF file"
    raise BadRobot(f"MuJoCo {version} does not hand out {what} as it is written: pip install 'mujoco>=3.14'.")


@contextlib.contextmanager
def _in_one_sentence(file: Path, kind: str) -> Iterator[None]:
    """What MuJoCo cannot read is said in one sentence, and so are its warnings, which it would print and log."""
    try:
        mujoco = optional("mujoco", "robots", "Reading a robot file")
    except MissingExtra:
        raise
    except Exception as error:  # a GL that is asked for by MUJOCO_GL and is not there may raise anything
        raise BadRobot(f"MuJoCo, which reads robot files, cannot be imported: {error}.") from None
    _check_version(mujoco.__version__, kind)
    before = mujoco.get_mju_user_warning()
    warned: list[str] = []
    mujoco.set_mju_user_warning(warned.append)
    try:
        yield
    except BadRobot:
        raise
    except (ValueError, RuntimeError) as error:
        said = re.sub(r"^(XML )?Error:? *", "", " ".join(str(error).split())).rstrip(".")
        raise BadRobot(f"'{file}' cannot be read as a robot: {said}.") from None
    finally:
        mujoco.set_mju_user_warning(before)
    # That a mimic has no leader is said of all such joints together, in `urdf`.
    lines = list(dict.fromkeys(" ".join(one.split()).rstrip(".") for one in warned if not one.startswith("<mimic>")))
    if lines:
        more = f"; and {len(lines) - MOST_SAID} more" if len(lines) > MOST_SAID else ""
        warnings.warn(f"MuJoCo warns of '{file}': {'; '.join(lines[:MOST_SAID])}{more}.", RobotWarning, stacklevel=6)


def _refuse_unsound(found: Description, file: Path) -> None:
    """Numbers that are not finite, and masses below 0, would come out much later as something else."""
    for body in found.bodies:
        numbers = [body.position, body.rotation, body.com, body.inertia, np.array(body.mass)]
        if not all(np.isfinite(array).all() for array in numbers):
            raise BadRobot(f"Body '{body.name}' of '{file}' has a number that is not finite in its place or inertia.")
        # Moments of inertia that no body can have are common in files (iCub's hips); M tells whether they do harm.
        if body.mass < 0:
            raise BadRobot(f"Body '{body.name}' of '{file}' has the mass {body.mass:g} kg; masses are not negative.")
    for equality in found.equalities:
        if not np.isfinite(equality.polynomial).all():
            raise BadRobot(f"'{equality.name}' of '{file}' has a coefficient that is not finite.")
        if equality.kind == "joint" and equality.joints[0] == equality.joints[1]:
            raise BadRobot(f"Joint '{equality.joints[0]}' of '{file}' follows itself.")


def _carries_joints(found: Description, root: int) -> bool:
    """Whether something moves on a body."""
    carried = {root}
    for i, body in enumerate(found.bodies):  # parents first
        if body.parent in carried:
            carried.add(i)
    return any(found.bodies[i].joints for i in carried)


def _floating(found: Description, file: Path) -> Description:
    """With a free joint "base" under its root; a file whose robot is free already is as it is."""
    roots = [i for i, body in enumerate(found.bodies) if body.parent == GROUND]
    if any(joint.kind == "free" for joint in found.joints()):
        roots = [i for i in roots if not found.bodies[i].joints and _carries_joints(found, i)]
        if not roots:
            return found
    if len(roots) != 1 or found.bodies[roots[0]].joints:
        raise BadRobot(
            f"'{file}' cannot float: that needs one root body that is fixed to the world, but there are: "
            f"{listing(found.bodies[i].name for i in roots)}."
        )
    root = found.bodies[roots[0]]
    base = joint_of("base", "free", np.array([0.0, 0.0, 1.0]), np.zeros(3), [0.0] * 6, file)
    base = placed(base, np.array([*root.position, *to_quaternion(root.rotation)]))
    bodies = [replace(body, joints=(base,)) if body is root else body for body in found.bodies]
    sources = tuple(replace(source, floating=True) for source in found.sources)
    return replace(found, bodies=tuple(bodies), sources=sources)
