"""The study of a touchdown in one figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.data.numbers import significant
from jourdain.plots.energy import energy_bars
from jourdain.plots.robots import robot_picture
from jourdain.plots.style import BLUE, GREY, PALETTE, SMALL, VERMILION, bar_looks, bare, energy_scale, new_figure, short
from jourdain.studies.touchdown import FRICTION, KNEES, SPEEDS, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HATCHES = ("", "//", "..", "\\\\", "xx", "++")
BEYOND = 99.5  # percent of the states that a histogram shows; the rest is a tail that nobody sees


def landing_figure(study: Study, title: str, render: bool | None = None) -> Figure:
    """Six panels: the robot, the energies, the loss over states, directions, knees, feet."""
    figure = new_figure(13.0, 8.2)
    cells = figure.add_gridspec(2, 3, width_ratios=(1.15, 1.0, 1.0))
    robot: Any = study.scenario.event.mechanism
    picture = robot_picture(robot, study.outcome.q, study.feet, cells[0, 0], render)
    picture.set_title(title)
    energy_bars(study.outcome, figure.add_subplot(cells[0, 1]), "at this pose")
    _losses(figure.add_subplot(cells[0, 2]), study)
    _directions(figure.add_subplot(cells[1, 0]), study)
    _knees(figure.add_subplot(cells[1, 1]), study)
    _feet(figure.add_subplot(cells[1, 2]), study)
    return figure


def _losses(ax: Any, study: Study) -> None:
    loss = study.states["loss"].values
    loss = loss[np.isfinite(loss)]
    scale, unit = energy_scale(float(np.median(loss)))
    shown = loss[loss <= np.percentile(loss, BEYOND)] * scale
    ax.hist(shown, bins=80, color=BLUE, density=True)
    for quantile, style in ((0.05, ":"), (0.5, "-"), (0.95, ":")):
        ax.axvline(np.quantile(loss, quantile) * scale, color=VERMILION, linestyle=style)
    title = f"{study.states.sizes['sample']} states around the pose"
    ax.set(xlabel=f"lost energy in {unit} (5 %, median, 95 %)", yticks=[], title=title)


def _directions(ax: Any, study: Study) -> None:
    """Which way each direction goes: its components, each kind in units of its largest."""
    xi = study.directions.xi
    ax.barh(np.arange(len(xi)), xi, 0.6, **bar_looks(BLUE, ""))
    words = [_words(part) for part in study.base.T]
    ax.set_yticks(np.arange(len(xi)), words, fontsize=SMALL)
    for i, value in enumerate(xi):
        ax.annotate(f" {short(round(float(value), 6))}", (value, i), va="center", fontsize=SMALL)
    ax.invert_yaxis()
    title = "base velocities, costliest to gentlest"
    ax.set(xlim=(0, 1.15), xlabel="$\\xi$, the part of the energy that is lost", title=title)
    bare(ax)


def _words(components: Any) -> str:
    """The largest components of a base velocity, in m/s and rad/s."""
    symbols = ("v_x", "v_y", "v_z", "\\omega_x", "\\omega_y", "\\omega_z")
    assert len(symbols) == len(SPEEDS)
    order = np.argsort(-np.abs(components))
    large = [i for i in order[:3] if abs(components[i]) > 0.15 * abs(components[order[0]])]
    return "  ".join(f"${symbols[i]}$ {significant(components[i], 2, sign='+')}" for i in sorted(large))


def _knees(ax: Any, study: Study) -> None:
    if study.knees is None:
        ax.text(0.5, 0.5, "no limb bends", ha="center", va="center", transform=ax.transAxes)
        ax.set_axis_off()
        return
    ax.plot(np.degrees(KNEES), study.knees["xi"].values, color=BLUE)
    here = {**study.scenario.parameters, **study.values}.get("knee") or 0.0
    ax.axvline(np.degrees(here), color=GREY, linestyle=":")
    ax.set(xlabel="knee in degrees; feet stay under the hips", ylabel="$\\xi$", ylim=(0, 1.05))
    ax.set_title("the effect of the knees")


def _feet(ax: Any, study: Study) -> None:
    """What each foot does with friction, as shares of the states."""
    words = list(dict.fromkeys(word for shares in study.foot_shares.values() for word in shares))
    for k, word in enumerate(words):
        widths = [study.foot_shares[foot].get(word, 0.0) for foot in study.feet]
        lefts = [sum(study.foot_shares[foot].get(before, 0.0) for before in words[:k]) for foot in study.feet]
        looks = bar_looks(PALETTE[k % len(PALETTE)], HATCHES[k % len(HATCHES)])
        ax.barh(study.feet, np.multiply(widths, 100), 0.6, np.multiply(lefts, 100), label=word, **looks)
    ax.invert_yaxis()
    ax.set(xlim=(0, 100), xlabel="percent of the states", title=f"which feet hold, friction {FRICTION:g}")
    ax.legend(loc="upper center", bbox_to_anchor=(0.4, -0.14), ncols=3, frameon=False, fontsize=SMALL)
    bare(ax)
