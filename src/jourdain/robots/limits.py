"""What MuJoCo's parser does not survive, recognised before it reads a file: the process would crash or never end.

A model that attaches itself, files that are no regular ones (a FIFO never ends), and sizes that no memory holds. What
cannot be recognised is for `jd.load(…, isolated=True)`.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from jourdain.errors import BadRobot

MOST_ELEMENTS = 50_000  # of a model, with all that is replicated and attached; MuJoCo takes half a minute for them
MOST_PIXELS = 10**8  # of a height field or a texture
MOST_ALONG_MESH = 1000  # points of a mesh that MuJoCo makes itself, in one direction
MOST_STEPS = 10**6  # of a motion that finds how long a muscle can be
MOST_PER_ELEMENT = 10**5  # of nkey, nuser_body, …
MOST = 10**8  # of other sizes
MOST_BYTES = 1 << 28  # of an XML file
COUNTED = {"replicate": 1, "composite": 3, "flexcomp": 3}  # stand for `count` times so many elements
PNG = b"\x89PNG\r\n\x1a\n"
FOLDERS = ("meshdir", "texturedir", "assetdir")


def check_limits(file: Path) -> None:
    """Raise BadRobot for a robot file, or one that it includes or attaches, that MuJoCo would not survive."""
    _Model(file).n_elements(file, ())


class _Model:
    """A robot file and those that it includes or attaches."""

    def __init__(self, main: Path) -> None:
        self.main = main
        self.counts: dict[Path, float] = {}  # elements of files that were looked through

    def n_elements(self, file: Path, around: Sequence[Path]) -> float:
        """How many elements a file stands for. `around`: the files that attach or include it."""
        here = file.resolve()
        if here in around:
            raise BadRobot(f"'{self.main}' cannot be read: '{file}' attaches or includes itself; leave that out.")
        if here not in self.counts:
            try:
                root = root_of(file)
            except (ElementTree.ParseError, OSError, ValueError, LookupError):  # no XML; MuJoCo says so
                return 1.0
            self.counts[here] = self._counted(root, file, (*around, here))
        return self.counts[here]

    def _counted(self, root: Element, file: Path, around: Sequence[Path]) -> float:
        folders = ["", *(one.get(word, "") for one in root.iter("compiler") for word in FOLDERS)]
        models = {}  # name → how many elements are attached
        for element in root.iter():
            self._check_size(element)
            for path in self._files(element, file, folders):
                if not path.is_file():
                    raise BadRobot(f"'{path}', which '{self.main}' names, is no regular file; give one.")
                self._check_picture(path)
                if element.tag == "model":
                    models[element.get("name") or path.stem] = self.n_elements(path, around)
        total, rest = 0.0, [(root, 1.0)]
        while rest:
            element, times = rest.pop()
            if element.tag in COUNTED:
                times *= COUNTED[element.tag] * _product(element.get("count", "1"))
            n_copies = models.get(element.get("model", ""), 1.0) if element.tag == "attach" else 1.0
            if element.tag == "include":
                n_copies = sum(self.n_elements(path, around) for path in self._files(element, file, folders))
            total += times * n_copies
            if total > MOST_ELEMENTS:
                raise BadRobot(
                    f"'{self.main}' describes more than {MOST_ELEMENTS} elements with what it replicates and attaches, "
                    f"at <{element.tag}>; take fewer."
                )
            rest += [(part, times) for part in element]
        for attribute, text in (item for size in root.iter("size") for item in size.attrib.items()):
            if attribute.startswith("nuser_") and total * _product(text) > MOST:
                raise self._too_large(attribute, text, "size")
        return total

    def _files(self, element: Element, file: Path, folders: Sequence[str]) -> Iterator[Path]:
        """The files that an element names, where they are there."""
        for attribute, name in element.attrib.items():
            if not attribute.startswith("file") or not name or "\0" in name:
                continue
            for spelt in dict.fromkeys([name, re.split(r"[/\\]", name)[-1]]):  # also where `strippath` cuts the folders
                places = (parent / folder / spelt for parent in (self.main.parent, file.parent) for folder in folders)
                path = next((place for place in places if os.path.exists(place)), None)
                if path is not None and not path.is_dir():
                    yield path
                    break

    def _check_size(self, element: Element) -> None:
        for attribute, text in element.attrib.items():
            n = _product(text)
            if element.tag == "size" and attribute != "memory":
                most = MOST_PER_ELEMENT if attribute == "nkey" or attribute.startswith("nuser_") else MOST
            elif element.tag == "numeric" and attribute == "size":
                most = MOST
            elif attribute in ("nrow", "width"):
                n, most = n * max(1.0, _product(element.get("ncol") or element.get("height") or "1")), MOST_PIXELS
            elif element.tag == "mesh" and attribute == "params":
                n, most = max(map(_product, text.split()), default=1.0), MOST_ALONG_MESH
            elif element.tag == "lengthrange" and attribute in ("inttotal", "timestep"):
                total, step = (_number(element.get(word, "")) for word in ("inttotal", "timestep"))
                n, most = (10.0 if total is None else total) / (0.01 if step is None else step or 1.0), MOST_STEPS
            else:
                continue
            if n > most:
                raise self._too_large(attribute, text, element.tag)

    def _check_picture(self, path: Path) -> None:
        """A small file may stand for a picture that no memory holds."""
        try:
            with path.open("rb") as file:
                head = file.read(24)
        except OSError:
            return
        width, height = int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
        if head.startswith(PNG) and width * height > MOST_PIXELS:
            raise BadRobot(
                f"'{path}', which '{self.main}' names, has {width} by {height} pixels; take a smaller picture."
            )

    def _too_large(self, attribute: str, text: str, tag: str) -> BadRobot:
        return BadRobot(
            f"'{self.main}' has {attribute}='{text[:40]}' in <{tag}>, more than memory or time allows; take less."
        )


def root_of(file: Path | str) -> Element:
    """The root of an XML file; read at once, since a long attribute in pieces is scanned again for each of them."""
    with open(file, "rb") as opened:
        content = opened.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES >> 20} MiB")
    return ElementTree.fromstring(content)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _product(text: str) -> float:
    """The product of the counts in a text, at least 1; texts that are no numbers count as 1."""
    try:
        product = math.prod(max(1.0, float(word)) for word in text.split())
    except ValueError:
        return 1.0
    return product if math.isfinite(product) else math.inf
