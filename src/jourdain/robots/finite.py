"""Numbers of a robot file that are not finite: MuJoCo takes NaN for "not given", so they are refused before it reads.

Files that the file includes or attaches are looked through too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from jourdain.errors import BadRobot
from jourdain.robots.limits import root_of

# Attributes that hold names and texts; of some elements others do.
_TEXTS = """
    name class childclass model file fileback filedown filefront fileleft fileright fileup content_type assetdir
    meshdir texturedir actuator body body1 body2 camera flex frame geom geom1 geom2 hfield instance joint joint1
    joint2 jointinparent key material mesh node objname plugin prefix refname refsite cranksite sensor sep sidesite
    site site1 site2 slidersite subtree1 subtree2 target tendon tendon1 tendon2 texture
"""
MJCF_TEXTS = frozenset(_TEXTS.split())
MJCF_TEXTS_OF: dict[str, frozenset[str]] = {
    "text": frozenset(["name", "data"]),
    "config": frozenset(["key", "value"]),
    "rgba": frozenset(),  # of <visual>: colours of joints, cameras, …
    "scale": frozenset(),  # of <visual>
}
URDF_TEXTS = frozenset(["name", "link", "joint", "filename", "type", "reference"])
URDF_READ = ("link", "joint", "material")  # other parts of a URDF are for other programs
SUSPECT = re.compile(r"nan|inf|e\+?\d{3}|x|\d{300}", re.IGNORECASE)  # all that is not finite, and more; for speed
NOT_FINITE = re.compile(r"[+-]?(nan(\(\w*\))?|inf(inity)?)", re.IGNORECASE)


def check_finite(file: Path) -> None:
    """Raise BadRobot for a number that is NaN or infinite, however it is written, as `nan(1)` or `1e999`."""
    import mujoco

    try:
        files = mujoco.mju_getXMLDependencies(str(file))
    except mujoco.FatalError:  # something that is included is missing; MuJoCo says so when it reads the file
        files = []
    for name in dict.fromkeys([str(file), *(name for name in files if not name.lower().endswith(".dae"))]):
        try:
            root = root_of(name)
        except (ElementTree.ParseError, OSError, ValueError):  # a mesh or a picture; what is missing is said by MuJoCo
            continue
        for element, owner, texts in _urdf(root) if root.tag == "robot" else _mjcf(root):
            for attribute, value in element.attrib.items():
                if not SUSPECT.search(value) or attribute in texts:
                    continue
                bad = [token for token in value.split() if not _is_finite(token)]
                if bad:
                    where = "" if owner is element else f" in <{owner.tag} name='{owner.get('name')}'>"
                    own = f" name='{element.get('name')}'" if element.get("name") else ""
                    raise BadRobot(
                        f"'{name}' has a number that is not finite: {bad[0]} in attribute '{attribute}' of "
                        f"<{element.tag}{own}>{where}; write a finite number, or leave the attribute out."
                    )


def _mjcf(root: Element) -> Iterator[tuple[Element, Element, frozenset[str]]]:
    """Every element, the nearest one around it that has a name, and its attributes that are texts."""
    rest = [(root, root)]
    while rest:  # no recursion: elements may be nested deeper than Python's calls
        element, owner = rest.pop()
        owner = element if element.get("name") else owner
        yield element, owner if owner.get("name") else element, MJCF_TEXTS_OF.get(element.tag, MJCF_TEXTS)
        rest += [(part, owner) for part in reversed(element)]


def _urdf(root: Element) -> Iterator[tuple[Element, Element, frozenset[str]]]:
    for part in root:
        if part.tag == "mujoco":
            yield from _mjcf(part)
        elif part.tag in URDF_READ:
            yield from ((element, owner, URDF_TEXTS) for element, owner, _ in _mjcf(part))


def _is_finite(token: str) -> bool:
    """Whether C's strtod reads a finite number, or none at all."""
    if NOT_FINITE.fullmatch(token):
        return False
    try:
        return math.isfinite(float.fromhex(token) if "x" in token.lower() else float(token))
    except ValueError:
        return True
    except OverflowError:
        return False
