"""A planar mechanism in motion, as a film."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.data.files import check_place, whole_file
from jourdain.errors import BadEvent, CannotWrite, unknown
from jourdain.inputs import Array, FilePath
from jourdain.naming import name_of
from jourdain.plots.bodies import IN_METRES, draw_bodies, draw_ground
from jourdain.plots.style import SMALL, new_axes, short
from jourdain.progress import bar, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from jourdain.mechanism.sketch import Sketch
    from jourdain.motion.trajectory import Trajectory

FILMS = ("gif", "mp4")
DPI = 100
MOST_FRAMES = 3000


def check_film(path: Path) -> str:
    """The format that the suffix names; raises if it is none, or if what writes it is not there."""
    check_place(path)
    suffix = path.suffix.removeprefix(".").lower()
    if suffix not in FILMS:
        raise unknown("film format", suffix, FILMS)
    if suffix == "mp4" and _ffmpeg() is None:
        raise CannotWrite("An .mp4 needs ffmpeg, which is not here: pip install 'jourdain[video]', or write a .gif.")
    return suffix


def animate(
    run: Trajectory, path: FilePath, fps: int = 25, speed: float = 1.0, title: str = "", progress: bool | None = None
) -> None:
    """Write a film of a motion to a .gif or .mp4: `fps` pictures a second, `speed` times as quick as it was.

    What is drawn is the system's `sketch`.
    """
    from matplotlib import rc_context
    from matplotlib.animation import FFMpegWriter, PillowWriter

    suffix = check_film(Path(path))
    if not (fps > 0 and speed > 0):
        raise BadEvent(f"fps and speed are above 0, not {fps} and {speed}.")
    n = int(run.end * fps / speed) + 1
    if n > MOST_FRAMES:
        raise BadEvent(
            f"A film of {run.end:g} s has {n} pictures; make it quicker with speed=… ({MOST_FRAMES} at most)."
        )
    film = Film(run, np.minimum(np.arange(max(n, 2)) * speed / fps, run.end))
    ax = film.axes(title)
    ax.figure.draw_without_rendering()  # type: ignore[union-attr]
    ax.figure.set_layout_engine("none")  # type: ignore[union-attr]  # as it is now, for all pictures
    writer: Any = PillowWriter(fps=fps) if suffix == "gif" else FFMpegWriter(fps=fps, codec="libx264")
    with (
        rc_context({"animation.ffmpeg_path": _ffmpeg() or "ffmpeg"}),
        bar("film", len(film.times), progress) as advance,
        whole_file(Path(path)) as part,
        writer.saving(ax.figure, str(part), DPI),
    ):
        for i in range(len(film.times)):
            drawn = film.draw(ax, i)
            writer.grab_frame()
            for one in drawn:
                one.remove()
            (advance or quiet)(1)


def poses(run: Trajectory, n: int = 12, title: str = "") -> Axes:
    """The mechanism at n times of a motion, in one picture; the first ones are paler."""
    if not 1 <= n <= MOST_FRAMES:
        raise BadEvent(f"A picture shows 1 to {MOST_FRAMES} poses, not {n}.")
    film = Film(run, np.linspace(0, run.end, n))
    ax = film.axes(title)
    for i in range(n):
        for one in film.draw(ax, i, clock=False):
            one.set_alpha(0.15 + 0.85 * i / max(n - 1, 1))
    return ax


class Film:
    """Where everything is at some times of a motion, in the x–y plane."""

    def __init__(self, run: Trajectory, times: Array) -> None:
        if run.hybrid.sketch is None:
            raise BadEvent("The system has no sketch, so it cannot be drawn; give one: Hybrid(…, sketch=jd.Sketch(…)).")
        self.run, self.times, self.sketch = run, times, run.hybrid.sketch
        self.places, self.radii = _places(run, self.sketch, times)
        points = np.concatenate(list(self.places.values()))
        reach = max((float(r.max()) for r in self.radii.values()), default=0.0)
        low, high = points.min(axis=0) - reach, points.max(axis=0) + reach
        if self.sketch.tilt is None:  # a floor is seen though nothing touches it
            heights = [self._height(level) for level in self.sketch.floors]
            low[1], high[1] = min([low[1], *heights]), max([high[1], *heights])
        self.size = float(np.max(high - low)) or 1.0
        middle, half = (low + high) / 2, np.maximum((high - low) / 2, 0.25 * self.size)  # never just a strip
        self.low, self.high = middle - half, middle + half

    def axes(self, title: str) -> Axes:
        """With room for all of the motion, and what does not move."""
        margin = 0.05 * self.size + 1e-9
        (x0, y0), (x1, y1) = self.low - margin, self.high + margin
        height = float(np.clip(7.0 * (y1 - y0) / (x1 - x0), 2.2, 7.0))
        width = float(np.clip(height * (x1 - x0) / (y1 - y0), 3.5, 8.0))
        ax = new_axes(width + 0.9, height + 0.7)
        ax.set(aspect="equal", xlim=(x0, x1), ylim=(y0, y1), title=title, **IN_METRES)
        for level, side in self.sketch.floors.items():
            self._floor(ax, level, side, (x0 - (x1 - x0), x1 + (x1 - x0)), margin)
        return ax

    @property
    def _parameters(self) -> dict[str, float]:
        return dict(zip(self.run.hybrid.parameters, self.run.segments[0].parameters, strict=True))

    def _height(self, level: Any) -> float:
        return _number(level, self._parameters)

    def _floor(self, ax: Axes, level: Any, side: int, ends: tuple[float, float], depth: float) -> None:
        height, turn = self._height(level), _turn(self.sketch, self._parameters)
        line = np.array([[ends[0], height], [ends[1], height]])
        draw_ground(ax, line @ turn.T, turn @ [0, side * depth])

    def draw(self, ax: Axes, i: int, clock: bool = True) -> list[Any]:
        """The mechanism at a time; returns what was drawn."""
        at = {name: places[i] for name, places in self.places.items()}
        drawn = draw_bodies(ax, self.sketch, at, {name: float(r[i]) for name, r in self.radii.items()}, self.size)
        if clock:
            said = f"$t$ = {short(round(float(self.times[i]), 3))} s"
            drawn.append(ax.text(0.02, 0.97, said, transform=ax.transAxes, va="top", fontsize=SMALL))
        return drawn


def _places(run: Trajectory, sketch: Sketch, times: Array) -> tuple[dict[str, Array], dict[str, Array]]:
    """(places of the points, `(times, 2)` each; radii of the arcs, `(times,)` each)."""
    mechanism, hybrid = run.hybrid.mechanism, run.hybrid
    places = {name: np.zeros((len(times), 2)) for name in sketch.points()}
    radii = {name: np.zeros(len(times)) for name in sketch.arcs}
    starts = np.array([segment.t[0] for segment in run.segments])
    which = np.searchsorted(starts, times, side="right") - 1
    shift = np.zeros(2)

    def at(name: str, q: Array, p: Array) -> Array:
        own = dict(zip(mechanism.symbols.p_names, map(float, hybrid.mechanism_parameters(p)), strict=True))
        return np.asarray(mechanism.position(name, q, **own)[..., :2])

    for k, segment in enumerate(run.segments):
        now = np.flatnonzero(which == k)
        if now.size:
            q = segment.at(times[now])[:, 1 : 1 + hybrid.n_q]
            own = dict(zip(hybrid.parameters, segment.parameters, strict=True))
            turn = _turn(sketch, own)
            for name, found in places.items():
                found[now] = (at(name, q, segment.parameters) + shift) @ turn.T
            for name, (radius, _) in sketch.arcs.items():
                radii[name][now] = _number(radius, own)
        if sketch.anchor and k < len(run.events):
            event = run.events[k]
            before, after = (y[1 : 1 + hybrid.n_q] for y in (event.before, event.after))
            shift = shift + at(sketch.anchor, before, segment.parameters) - at(sketch.anchor, after, event.parameters)
    return places, radii


def _turn(sketch: Sketch, parameters: dict[str, float]) -> Array:
    """The rotation that lets the frame go down to the right."""
    angle = 0.0 if sketch.tilt is None else -_number(sketch.tilt, parameters)
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def _number(given: Any, parameters: Mapping[str, float]) -> float:
    """A number of a sketch: itself, or a parameter."""
    return float(given) if isinstance(given, int | float) else float(parameters[name_of(given)])


def _ffmpeg() -> str | None:
    """Where ffmpeg is: the system's, or that of imageio-ffmpeg."""
    from shutil import which

    found = which("ffmpeg")
    if found is None:
        try:
            from imageio_ffmpeg import get_ffmpeg_exe
        except ImportError:
            return None
        found = str(get_ffmpeg_exe())
    return found
