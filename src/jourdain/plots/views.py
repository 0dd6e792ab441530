"""From which side a drawing is seen: three numbers of the frame to two of the paper."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from jourdain.errors import unknown
from jourdain.inputs import Array

AZIMUTH, ELEVATION = np.radians(-60.0), np.radians(22.0)  # of the eye, in the oblique view; z points up
FLAT = 1e-9  # of the largest extent: what lies in a plane


@dataclass(frozen=True)
class View:
    """Right and up on the paper, as rows in the frame, (2, 3), and what the axes are called."""

    matrix: Array
    labels: tuple[str, str] | None  # None: the three axes are drawn instead

    def __call__(self, vector: Any) -> Array:
        """On the paper: `(*shape, 3)` to `(*shape, 2)`."""
        return np.asarray(vector) @ self.matrix.T

    @property
    def towards(self) -> Array:
        """To the eye, in the frame."""
        return np.asarray(np.cross(*self.matrix))


def _plane(i: int, j: int) -> View:
    names = ("$x$ in m", "$y$ in m", "$z$ in m")
    return View(np.eye(3)[[i, j]], (names[i], names[j]))


def _oblique() -> View:
    right = np.array([-np.sin(AZIMUTH), np.cos(AZIMUTH), 0.0])
    up = np.array([-np.sin(ELEVATION) * np.cos(AZIMUTH), -np.sin(ELEVATION) * np.sin(AZIMUTH), np.cos(ELEVATION)])
    return View(np.array([right, up]), None)


VIEWS = {"xy": _plane(0, 1), "xz": _plane(0, 2), "yz": _plane(1, 2), "oblique": _oblique()}


def view_of(name: str | None, vectors: Iterable[Array]) -> View:
    """The view of that name; without one the plane in which all of these vectors lie, else the oblique view."""
    if name is not None:
        if name not in VIEWS:
            raise unknown("view", name, VIEWS)
        return VIEWS[name]
    table = np.array([np.zeros(3), *vectors])
    sizes = np.abs(table).max(axis=0)
    flat = sizes <= FLAT * sizes.max()
    for name, across in (("xy", 2), ("xz", 1), ("yz", 0)):
        if flat[across]:
            return VIEWS[name]
    return VIEWS["oblique"]
