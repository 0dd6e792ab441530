"""Figures: each function takes and returns Matplotlib Axes. Labels and units come from `quantities` and the dataset."""

from jourdain.plots.animation import animate, poses
from jourdain.plots.curves import curve, energy_curves, measured
from jourdain.plots.drawing import drawing
from jourdain.plots.energy import energy_bars
from jourdain.plots.events import event_plot
from jourdain.plots.gaits import basin_map, branch_plot
from jourdain.plots.impulses import impulse_bars
from jourdain.plots.maps import parameter_map
from jourdain.plots.motion import motion_plot
from jourdain.plots.paths import impulse_path
from jourdain.plots.phases import energy_over_time, multiplier_plot, phase_portrait
from jourdain.plots.polar import polar
from jourdain.plots.robots import robot_picture
from jourdain.plots.saving import save
from jourdain.plots.states import state_map, state_steps
from jourdain.plots.strikes import energies_over_time, forces_over_time, strike_plot
from jourdain.plots.style import new_axes
from jourdain.plots.sweeps import sweep_plot

__all__ = [
    "animate",
    "basin_map",
    "branch_plot",
    "curve",
    "drawing",
    "energies_over_time",
    "energy_bars",
    "energy_curves",
    "energy_over_time",
    "event_plot",
    "forces_over_time",
    "impulse_bars",
    "impulse_path",
    "measured",
    "motion_plot",
    "multiplier_plot",
    "new_axes",
    "parameter_map",
    "phase_portrait",
    "polar",
    "poses",
    "robot_picture",
    "save",
    "state_map",
    "state_steps",
    "strike_plot",
    "sweep_plot",
]
