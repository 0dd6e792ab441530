"""The pantograph of [FK-a, FK-b, FK-c]: what they computed, and curves between their cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain import gallery
from jourdain.inputs import Array
from jourdain.studies.papers.measured import CONFIGURATIONS, Case, Prediction, cases, predict
from jourdain.studies.papers.printed import rows as printed_rows
from jourdain.studies.papers.record import Settings

if TYPE_CHECKING:
    import xarray

    from jourdain.algebra.directions import Directions
    from jourdain.algebra.projectors import Projectors
    from jourdain.events.transition import Transition
    from jourdain.scenarios.scenario import Scenario

VARIED = ("d", "gamma", "energy", "beta")  # what the papers vary; the rest may be set
OFFSETS = (0.0, 0.1, 0.2)  # d in [FK-a], m
# The papers print height 0.225 m, I1 = 0.0004 and I2 = 0.0007 kg m²; these round to them.
ROUNDED = {"height": 0.225, "I1": 0.000418, "I2": 0.00068}
ENERGIES = ("T_c_minus", "T_a_minus", "T_minus")
KEEP = (*ENERGIES, "xi", "impulse.wall", "u_minus.wall", "u_minus.slide")


@dataclass(frozen=True)
class Results:
    """Everything that is computed for the pantograph."""

    scenario: Scenario
    settings: Settings
    computed: Transition  # the nine cases of [FK-b] Tables III and V
    directions: dict[float, Directions]  # d → the velocities that lose all and nothing
    projectors: dict[float, Projectors]  # d → P_cᵀBᵀ and P_aᵀBᵀ
    fitted: dict[float, tuple[float, float]]  # d → where the end effector has the Bᵀ that is printed
    over_gamma: xarray.Dataset  # both configurations, T⁻ = 10 mJ
    over_d: xarray.Dataset  # the two directions of [FK-a], T_c⁻ as they measured it in the mean
    around: xarray.Dataset  # ξ over all directions towards the wall
    rounded: Transition  # the nine cases with other parameters that round to the printed ones
    cases: tuple[Case, ...]  # what was measured
    predicted: Prediction  # of the measured cases


def results(settings: Settings = {}) -> Results:
    """All of it, for the papers' parameters or with some of them set."""
    pantograph, degree = gallery.pantograph(), np.radians
    given: dict[str, Any] = dict(settings)
    lines = printed_rows("pantograph_computed")
    d = np.array([CONFIGURATIONS[line["configuration"]] for line in lines])
    gamma = degree([float(line["gamma_deg"]) for line in lines])
    measured, sweep = cases(), partial(pantograph.sweep, keep=KEEP, **given)
    return Results(
        scenario=pantograph,
        settings=settings,
        computed=pantograph.solve(d=d, gamma=gamma, **given),
        directions={at: pantograph.directions(point="EE", d=at, **given) for at in OFFSETS},
        projectors={at: pantograph.projectors(d=at, **given) for at in OFFSETS},
        fitted={float(line["d_m"]): fitting_place(pantograph, line) for line in printed_rows("pantograph_projections")},
        over_gamma=sweep(gamma=degree(np.linspace(-30, 60, 361)), d=list(CONFIGURATIONS.values())),
        over_d=_at_constant_T_c(pantograph, [case for case in measured if case.paper == "FK-a"], given),
        around=sweep(gamma=degree(np.linspace(-90, 90, 3601)), d=OFFSETS),
        rounded=pantograph.solve(d=d, gamma=gamma, **{**given, **ROUNDED}),
        cases=measured,
        predicted=predict(pantograph, measured, given),
    )


def speeds(t: Transition) -> Array:
    """Of the end effector before, m/s."""
    return np.asarray(np.hypot(t.u_minus["wall"], t.u_minus["slide"]))


def fitting_place(pantograph: Scenario, line: Mapping[str, str]) -> tuple[float, float]:
    """(d, height) where P_cᵀBᵀ + P_aᵀBᵀ = Bᵀ, which is geometry alone, is as printed."""
    from scipy.optimize import root

    printed = np.array([float(line[f"PcT_BT_{i}"]) + float(line[f"PaT_BT_{i}"]) for i in (1, 2)])

    def miss(place: Any) -> Any:
        P = pantograph.projectors(d=place[0], height=place[1])
        return (P.P_cT_BT + P.P_aT_BT)[:, 0] - printed

    # Of several, the one nearest to the pose that the paper names.
    found = root(miss, (float(line["d_m"]), pantograph.parameters["height"]), tol=1e-12)
    return float(found.x[0]), float(found.x[1])


def _at_constant_T_c(pantograph: Scenario, measured: list[Case], given: dict[str, Any]) -> xarray.Dataset:
    """Over d, for the directions that were measured, with T_c⁻ as in their mean: [FK-a] kept it constant."""
    gamma = sorted({case.gamma for case in measured})
    found = pantograph.sweep(gamma=gamma, d=np.linspace(-0.05, 0.22, 271), keep=ENERGIES, **given)
    scale = np.mean([case.T_c_minus for case in measured]) / found["T_c_minus"]  # energies grow in proportion
    for name in ENERGIES:
        found[name] = (found[name] * scale).assign_attrs(found[name].attrs)
    return found
