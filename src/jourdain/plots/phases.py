"""A motion in the plane of a coordinate and its rate, its energy over time, and the multipliers of a gait."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.inputs import Array
from jourdain.plots.style import (
    BLACK,
    BLUE,
    GREY,
    LINE_STYLES,
    ORANGE,
    PALETTE,
    VERMILION,
    display,
    energy_scale,
    legend,
    new_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from jourdain.motion.gait import Gait
    from jourdain.motion.trajectory import Segment, Trajectory

N_TIMES = 300  # of each segment
STILL = 1e-9  # of the largest: a coordinate that moves less is left out


def phase_portrait(run: Trajectory, ax: Axes | None = None, title: str = "") -> Axes:
    """The rate of each coordinate that moves over the coordinate; dotted where an event jumps.

    Only coordinates whose rates are velocities, of the unit that most of them have.
    """
    mechanism = run.hybrid.mechanism
    names, v_names = mechanism.symbols.q_names, mechanism.symbols.v_names
    places = {name: (1 + i, 1 + len(names) + v_names.index(name)) for i, name in enumerate(names) if name in v_names}
    states = [_states(segment) for segment in run.segments]
    spans = {name: max(float(np.ptp(y[:, i])) for y in states) for name, (i, _) in places.items()}
    moving = [name for name in places if spans[name] > STILL * max(spans.values())]
    units = [mechanism.units.get(name, "") for name in moving]
    unit = max(dict.fromkeys(units), key=units.count, default="")
    ax = new_axes(6.0, 4.0) if ax is None else ax
    keys = []
    for k, name in enumerate(one for one in moving if mechanism.units.get(one, "") == unit):
        shown, (i, j), colour = display(name, unit), places[name], PALETTE[k % len(PALETTE)]
        style = LINE_STYLES[k % len(LINE_STYLES)]
        looks: Any = {"color": colour, "linestyle": style, "label": shown.symbol}
        lines = [ax.plot(shown.factor * y[:, i], shown.factor * y[:, j], **looks) for y in states]
        for before, after in pairwise(states):
            jump = np.array([before[-1], after[0]])
            ax.plot(shown.factor * jump[:, i], shown.factor * jump[:, j], color=colour, linestyle=":", linewidth=0.8)
        keys.append(lines[0][0])
    said = display("", unit).unit
    of = f" in {'degrees' if said == '°' else said}" if said else ""
    ax.set(xlabel=f"coordinate{of}", ylabel=f"rate{f'{of}/s' if of else ''}", title=title)
    legend(ax, keys)
    return ax


def energy_over_time(run: Trajectory, ax: Axes | None = None, title: str = "") -> Axes:
    """Kinetic and potential energy of a motion and their sum; grey lines where events are."""
    states = [_states(segment) for segment in run.segments]
    found = [run.hybrid.energies(y, segment.parameters) for y, segment in zip(states, run.segments, strict=True)]
    (kinetic, potential), t = np.concatenate(found).T, np.concatenate([y[:, 0] for y in states])
    parts = {"kinetic": (kinetic, BLUE, "-")}
    if run.energy.has_potential and np.ptp(potential) > 0:
        height = potential - potential.min()
        parts |= {"potential, from its least": (height, ORANGE, "--"), "sum": (kinetic + height, BLACK, "-.")}
    scale, unit = energy_scale(np.concatenate([values for values, _, _ in parts.values()]))
    ax = new_axes() if ax is None else ax
    keys = [ax.plot(t, scale * values, color=colour, linestyle=style, label=name)[0]
            for name, (values, colour, style) in parts.items()]  # fmt: skip
    for event in run.events:
        ax.axvline(event.t, color=GREY, linewidth=0.5, zorder=0)
    ax.set(xlabel="time in s", ylabel=f"energy in {unit}", title=title)
    if len(keys) > 1:
        legend(ax, keys)
    return ax


def multiplier_plot(gait: Gait, ax: Axes | None = None, title: str = "") -> Axes:
    """The multipliers of a gait in the complex plane, with the unit circle: inside it motions nearby come back."""
    ax = new_axes(4.2, 3.8) if ax is None else ax
    around = np.exp(1j * np.linspace(0, 2 * np.pi, 181))
    ax.plot(around.real, around.imag, color=GREY, linewidth=1.0)
    ax.axhline(0, color=GREY, linewidth=0.5)
    ax.axvline(0, color=GREY, linewidth=0.5)
    values = gait.multipliers
    inside = np.abs(values) < 1
    for chosen, colour, marker in ((inside, BLUE, "o"), (~inside, VERMILION, "s")):
        ax.plot(values[chosen].real, values[chosen].imag, marker, color=colour, markersize=7)
    ax.set(aspect="equal", xlabel="real part", ylabel="imaginary part", title=title)
    ax.margins(0.08)
    return ax


def _states(segment: Segment) -> Array:
    """Along a segment, `(times, n)`."""
    return segment.at(np.linspace(segment.t[0], segment.t[-1], N_TIMES))
