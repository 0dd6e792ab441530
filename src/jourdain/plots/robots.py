"""A robot at a pose: as MuJoCo renders its file, or as a stick figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jourdain.errors import ShapeError
from jourdain.inputs import Flags, StateLike
from jourdain.plots.data import check_single
from jourdain.plots.render import rendered
from jourdain.plots.style import BLUE, GREY, SMALL, VERMILION, new_figure
from jourdain.robots.description import GROUND, N_Q

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from jourdain.robots.robot import Robot

WHITE = 250  # of 255


def robot_picture(
    robot: Robot,
    q: StateLike = None,
    marks: Sequence[str] = (),
    cell: Any = None,
    render: bool | None = None,
    parameters: Mapping[str, Any] = {},
) -> Axes:
    """The robot at q. `marks`: frames to point out, as its feet; ground is drawn under them.

    `render`: False draws a stick figure, lengths in m; True wants MuJoCo's picture; if not given, that where a GL and
    the meshes are there. `cell`: of a grid in a figure, where to draw; else in a figure of its own.
    """
    pose = robot.coordinates(q)
    check_single(pose.shape[:-1], "A picture shows one pose")
    if cell is None:
        cell = new_figure(6.0, 4.6).add_gridspec(1, 1)[0]
    figure = cell.get_gridspec().figure
    heights = [float(_at(robot, name, pose, parameters)[2]) for name in marks]
    floor = min(heights) if heights else None
    pixels = None if render is False else rendered(_order(robot, pose, floor))
    if pixels is None and render:
        raise ShapeError(
            "MuJoCo cannot render this robot here: there is no GL, or its meshes are missing; leave render out."
        )
    if pixels is not None:
        ax: Axes = figure.add_subplot(cell)
        ax.imshow(_trimmed(pixels))
        ax.set_axis_off()
        return ax
    return _stick(figure.add_subplot(cell, projection="3d"), robot, pose, marks, floor, parameters)


def _at(robot: Robot, name: str, q: Any, parameters: Mapping[str, Any]) -> Any:
    """Where a frame or a foot is, `(3,)`."""
    place = robot.place(name)
    return robot.evaluate(f"place {name}", lambda: {"r": robot.tree.position(place)}, q, None, parameters)["r"][..., 0]


def _trimmed(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Without the white around it."""
    seen: Flags = np.any(pixels < WHITE, axis=2)
    rows, columns = (np.flatnonzero(seen.any(axis=axis)) for axis in (1, 0))
    return pixels if not rows.size else pixels[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def _order(robot: Robot, q: Any, floor: float | None) -> dict[str, Any]:
    """What `render` needs to know."""
    coordinates, start = {}, 0
    for joint in robot.description.joints():
        coordinates[joint.name] = [float(number) for number in q[start : start + N_Q[joint.kind]]]
        start += N_Q[joint.kind]
    sources = [vars(source) for source in robot.description.sources]
    return {"sources": sources, "coordinates": coordinates, "floor": floor}


def _stick(
    ax: Any, robot: Robot, q: Any, marks: Sequence[str], floor: float | None, parameters: Mapping[str, Any]
) -> Axes:
    bodies = robot.description.bodies
    places = [robot.position(body.name, q, **parameters) if body.name in robot.points else None for body in bodies]

    def bone(parent: int, end: Any) -> None:
        above = None if parent == GROUND else places[parent]
        if above is not None and end is not None:
            ax.plot(*np.transpose([above, end]), color=BLUE, linewidth=2.5, solid_capstyle="round")

    for body, here in zip(bodies, places, strict=True):
        bone(body.parent, here)
    ends = [_at(robot, name, q, parameters) for name in marks]
    for name, end in zip(marks, ends, strict=True):
        bone(robot.frame(name).body, end)
        ax.scatter(*end, color=VERMILION, s=28, zorder=5)
        ax.text(*end, f" {name}", fontsize=SMALL)
    seen = np.array([place for place in (*places, *ends) if place is not None])
    middle, half = (seen.min(axis=0) + seen.max(axis=0)) / 2, max(float(np.ptp(seen, axis=0).max()) / 2, 0.05)
    if floor is not None:
        x, y = np.meshgrid(middle[0] + np.array([-half, half]), middle[1] + np.array([-half, half]))
        ax.plot_surface(x, y, np.full((2, 2), floor), color=GREY, alpha=0.25)
    for axis, centre in zip("xyz", middle, strict=True):
        getattr(ax, f"set_{axis}lim")(centre - half, centre + half)
        getattr(ax, f"set_{axis}label")(f"${axis}$ in m", fontsize=SMALL)
    ax.set_box_aspect((1, 1, 1), zoom=1.15)
    ax.tick_params(labelsize=7)
    ax.view_init(elev=18, azim=-50)
    return ax  # type: ignore[no-any-return]
