"""Geometry that may touch the ground, as points with balls around them: what lies between belongs to it too."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from jourdain.inputs import Array
from jourdain.robots.description import Mesh, Shape

N_RIM = 32  # points of a circle
TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])  # of a binary STL
SCHEME = re.compile(r"^(package|file|model)://")


def primitive(kind: str, size: Array) -> tuple[Array, float] | None:
    """Points `(n, 3)` and radius of a shape in its own axes; None for a kind that has none. `size` as MuJoCo has it."""
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    turn = np.linspace(0, 2 * np.pi, N_RIM, endpoint=False)
    rim = np.stack([np.cos(turn), np.sin(turn), np.ones(N_RIM)], axis=1)
    if kind == "sphere":
        return np.zeros((1, 3)), float(size[0])
    if kind == "capsule":
        return np.array([[0, 0, -size[1]], [0, 0, size[1]]]), float(size[0])
    if kind == "box":
        return signs * size, 0.0
    if kind == "cylinder":
        return np.concatenate([rim * [size[0], size[0], z] for z in (-size[1], size[1])]), 0.0
    if kind == "ellipsoid":
        tilt = np.linspace(-np.pi / 2, np.pi / 2, N_RIM + 1)
        rings = [np.stack([np.cos(a) * rim[:, 0], np.cos(a) * rim[:, 1], np.full(N_RIM, np.sin(a))], 1) for a in tilt]
        return np.concatenate(rings) * size, 0.0
    return None


def points_of(shape: Shape) -> Array:
    """Its points `(n, 3)` in the axes of its body; none if the file of its mesh is missing or is no STL or OBJ."""
    points = shape.points if shape.mesh is None else _vertices(_path(shape.mesh)) * shape.points
    return np.asarray(points @ shape.rotation.T + shape.position)


def _path(mesh: Mesh) -> Path:
    """Of a mesh of a URDF: beside the file, in its folder of meshes, or in a package that contains the file."""
    tail, file = SCHEME.sub("", mesh.name), Path(mesh.robot)
    places = [file.parent / tail, file.parent / mesh.folder / Path(tail).name]
    for parent in file.absolute().parents:
        places += [parent / tail, parent / tail.partition("/")[2]]
    return next((place for place in places if place.is_file()), places[0])


def _vertices(path: Path) -> Array:
    """Of an STL or OBJ file, `(n, 3)`."""
    if not path.is_file():  # a FIFO never ends
        return np.empty((0, 3))
    try:
        data = path.read_bytes()
    except OSError:
        return np.empty((0, 3))
    if path.suffix.lower() == ".stl" and len(data) == 84 + TRIANGLE.itemsize * int.from_bytes(data[80:84], "little"):
        return np.asarray(np.frombuffer(data, TRIANGLE, offset=84)["corners"].reshape(-1, 3), dtype=float)
    word = {".stl": rb"vertex", ".obj": rb"v"}.get(path.suffix.lower())
    rows = re.findall(rb"^\s*" + word + rb"\s+(\S+)\s+(\S+)\s+(\S+)", data, re.MULTILINE) if word else []
    try:
        return np.array(rows, dtype=float).reshape(-1, 3)
    except ValueError:
        return np.empty((0, 3))
