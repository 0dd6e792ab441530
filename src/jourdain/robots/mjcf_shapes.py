"""Geoms of a compiled MJCF that may touch the ground."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.inputs import Array, Flags
from jourdain.robots.description import Shape
from jourdain.robots.mjcf_names import geom_name
from jourdain.robots.rotations import from_quaternion
from jourdain.robots.shapes import primitive

if TYPE_CHECKING:
    import mujoco


def shapes_of(model: mujoco.MjModel) -> tuple[Shape, ...]:
    """Of all bodies, which move or may; planes and height fields are ground."""
    found = []
    for i in np.flatnonzero(_touching(model) & (model.geom_bodyid != 0)):
        made = _points(model, int(i))
        if made is not None:
            geom = model.geom(i)
            rotation, body = from_quaternion(geom.quat), int(model.geom_bodyid[i]) - 1
            found.append(Shape(geom_name(model, int(i)), body, np.array(geom.pos), rotation, *made))
    return tuple(found)


def _touching(model: mujoco.MjModel) -> Flags:
    """Which geoms collide with the ground of the file; if it has none, with one that collides with all that can."""
    import mujoco

    flat = [mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD]
    grounds = np.flatnonzero((model.body_weldid[model.geom_bodyid] == 0) & np.isin(model.geom_type, flat))
    able = (model.geom_contype | model.geom_conaffinity) != 0
    if len(grounds):
        kinds, wanted = model.geom_contype[grounds], model.geom_conaffinity[grounds]
        able = ((model.geom_contype[:, None] & wanted) | (model.geom_conaffinity[:, None] & kinds)).any(axis=1)
    for one, other in zip(model.pair_geom1, model.pair_geom2, strict=True):
        able[one] |= other in grounds
        able[other] |= one in grounds
    return np.asarray(able)


def _points(model: mujoco.MjModel, i: int) -> tuple[Array, float] | None:
    """Points and radius of a geom; of a mesh, the corners of its convex hull."""
    import mujoco

    kind: Any = mujoco.mjtGeom(model.geom_type[i])
    if kind != mujoco.mjtGeom.mjGEOM_MESH:
        return primitive(kind.name.removeprefix("mjGEOM_").lower(), np.array(model.geom_size[i]))
    mesh = int(model.geom_dataid[i])
    first = int(model.mesh_vertadr[mesh])
    vertices = np.array(model.mesh_vert[first : first + model.mesh_vertnum[mesh]], dtype=float)
    graph = int(model.mesh_graphadr[mesh])
    if graph >= 0:
        n = int(model.mesh_graph[graph])  # then the number of faces, where the edges of each corner start, and its id
        vertices = vertices[model.mesh_graph[graph + 2 + n : graph + 2 + 2 * n]]
    return vertices, 0.0
