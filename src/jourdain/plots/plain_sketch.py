"""A sketch of a mechanism that has none: points that stay at one distance are linked, others are masses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.inputs import Array
from jourdain.kinds import Kind
from jourdain.mechanism.constraint import ContactConstraint
from jourdain.mechanism.sketch import Sketch

if TYPE_CHECKING:
    from jourdain.events.event import Event
    from jourdain.mechanism.mechanism import Mechanism

N_POSES, SEED = 6, 5
ALIKE = 1e-9  # of the distances: what stays the same
MOST_VELOCITIES = 6


def plain_sketch(event: Event, parameters: Mapping[str, float]) -> Sketch:
    """Links, pivots, masses, velocities and where impulses act, as far as points tell them."""
    mechanism = event.mechanism
    poses = np.random.default_rng(SEED).uniform(-1.0, 1.0, (N_POSES, len(mechanism.symbols.q_names)))
    for four in map(list, mechanism.quaternions.values()):
        poses[:, four] /= np.linalg.norm(poses[:, four], axis=-1, keepdims=True)
    places = {name: place(mechanism, name, poses, **parameters)
              for name, motion in mechanism.points.items() if motion.place is not None}  # fmt: skip
    places = {name: at for name, at in places.items() if np.isfinite(at).all()}
    motions = {name: mechanism.jacobian(name, poses, **parameters) for name in places}
    links = _links(places)
    linked = {name for link in links for name in link}
    still = [name for name in places if not motions[name].any()]
    moving = [name for name in places if name not in still]
    acts = _acts(event, mechanism, poses, parameters, motions)
    return Sketch(
        links=links,
        masses=[name for name in moving if name not in linked],
        pivots=[name for name in still if name in linked],
        velocities=moving[:MOST_VELOCITIES],
        acts=acts,
        surfaces=[role.constraint.name for role in event.roles
                  if isinstance(role.constraint, ContactConstraint) and role.constraint.name in acts],
    )  # fmt: skip


def place(mechanism: Mechanism, point: str, q: Any, **parameters: Any) -> Array:
    """Where a point is drawn, `(*batch, 3)`: its position, else how it lies beside the first body."""
    known = mechanism.points[point].place
    if known is None:
        return mechanism.position(point, q, **parameters)  # raises
    return mechanism.evaluate(f"place {point}", lambda: {"r": known}, q, None, parameters)["r"][..., 0]


def _links(places: Mapping[str, Array]) -> list[tuple[str, str]]:
    """The shortest tree of lines between points whose distance is the same in all poses."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    names = list(places)
    if len(names) < 2:
        return []
    at = np.array([places[name] for name in names])  # (points, poses, 3)
    apart = np.linalg.norm(at[:, None] - at[None], axis=-1)
    rigid = np.ptp(apart, axis=-1) <= ALIKE * apart.max(initial=1.0)
    tree = minimum_spanning_tree(csr_array(np.triu(np.where(rigid, apart[..., 0], 0.0), 1))).tocoo()
    return [(names[i], names[j]) for i, j in zip(tree.row, tree.col, strict=True)]


def _acts(
    event: Event, mechanism: Mechanism, poses: Array, parameters: Mapping[str, Any], motions: Mapping[str, Array]
) -> dict[str, str]:
    """Constraint or applied impulse → the point whose velocity its rows are combinations of."""
    found = {name: name for name in event.applied if name in motions}

    for role in event.roles:
        if role.block.kind == Kind.NONIDEAL:
            continue
        C, _ = role.constraint.rows(poses, **parameters)
        for name, J in motions.items():
            e = np.array([directions_of(*pair) for pair in zip(C, J, strict=True)])
            is_speed = np.allclose(np.linalg.norm(e, axis=-1), 1.0)  # a rotation over a length has another size
            if is_speed and np.allclose(e @ J, C, atol=ALIKE * np.abs(C).max(initial=0.0)):
                found[role.constraint.name] = name
                break
    return found


def directions_of(C: Array, J: Array) -> Array:
    """Which way rows push a point: e with e J = C, row by row, `(rows, 3)`.

    Where several do, an axis if one is among them, else the shortest; where none does, the nearest.
    """
    e = np.asarray(C @ np.linalg.pinv(J))
    for axis, along in zip(np.eye(3), J, strict=True):
        for sign in (1.0, -1.0):
            fits = np.all(np.isclose(sign * along, C, atol=1e-9 * np.abs(C).max(initial=0.0)), axis=-1)
            e[fits & np.any(along)] = sign * axis
    return e
