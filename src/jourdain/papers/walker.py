"""The compass walker of [FK-b] §4 and [FK-c] §3.1: what their figures show, maps, the best design."""

from __future__ import annotations

from dataclasses import dataclass
from math import degrees
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain import gallery
from jourdain.papers.record import Settings

if TYPE_CHECKING:
    import xarray

    from jourdain.optimum import Optimum
    from jourdain.scenario import Scenario

VARIED = ("theta", "rho", "torso", "mu")  # what the papers vary; the rest may be set
HEEL = ("impulse.heel.normal", "impulse.heel.tangent")
REAR = "u_plus.stance.normal"  # the rear foot lifts where this is positive
KEEP = ("T_c_minus", "T_a_minus", "T_minus", "xi", *HEEL, REAR)
RADII = (0.0, 0.25, 0.5)  # rho in Figs 2 and 3
MASS_RATIOS = (0.1, 1.0, 10.0)  # mu in Figs 4 and 5
STEP = np.radians(40)  # theta in Figs 4 and 5
RANGES = {"rho": (0.0, 0.5), "torso": (np.radians(-20), np.radians(20)), "mu": (0.1, 10.0)}  # in their figures
CROSSING = np.radians(3)  # curves of different mu cross nearer to an upright torso


@dataclass(frozen=True)
class Results:
    """Everything that is computed for the walker."""

    scenario: Scenario
    settings: Settings
    legs: xarray.Dataset  # over theta and rho: Figs 2 and 3
    torso: xarray.Dataset  # over torso and mu: Figs 4 and 5
    legs_map: xarray.Dataset
    torso_map: xarray.Dataset
    lift_limits: dict[float, float]  # rho → theta beyond which the rear foot stays on the ground
    best: Optimum  # within the ranges of the papers
    best_torso: Optimum  # the torso alone, in a wider range


def results(settings: Settings = {}) -> Results:
    """All of it, for the papers' parameters or with some of them set."""
    walker = gallery.walker()
    upright: dict[str, Any] = {"torso": 0.0, "mu": 1.0, **settings}
    strike: dict[str, Any] = {"theta": STEP, "rho": 0.25, **settings}
    degree = np.radians
    lifts: dict[Any, Any] = {REAR: (0.0, None)}
    return Results(
        scenario=walker,
        settings=settings,
        legs=walker.sweep(theta=degree(np.linspace(10, 60, 501)), rho=RADII, keep=KEEP, **upright),
        torso=walker.sweep(torso=degree(np.linspace(-20, 20, 401)), mu=MASS_RATIOS, keep=KEEP, **strike),
        legs_map=walker.sweep(
            theta=degree(np.linspace(10, 60, 121)), rho=np.linspace(0, 0.5, 121), keep=KEEP, **upright
        ),
        torso_map=walker.sweep(
            torso=degree(np.linspace(-20, 20, 121)), mu=np.geomspace(0.1, 10, 121), keep=KEEP, **strike
        ),
        lift_limits={rho: lift_limit(walker, rho, upright) for rho in (0.0, 0.05, 0.1, 0.25, 0.5)},
        best=walker.minimize(
            "loss",
            over=RANGES,
            subject_to=lifts,
            **{"theta": STEP, **settings},
        ),
        best_torso=walker.minimize(
            "loss", over={"torso": (degree(-90), degree(90))}, subject_to=lifts, **{**strike, "mu": 1.0}
        ),
    )


def lift_limit(walker: Scenario, rho: float, fixed: Settings) -> float:
    """The smallest angle between the legs at which the rear foot no longer lifts, rad; NaN if it always does."""
    from scipy.optimize import brentq

    def opening(theta: Any) -> Any:
        return walker.solve(theta=theta, rho=rho, parameters=fixed).u_plus["stance.normal"]

    theta = np.radians(np.linspace(2, 170, 169))
    lifting = opening(theta) > 0
    ends = np.flatnonzero(lifting[:-1] & ~lifting[1:])
    return float(brentq(opening, theta[ends[0]], theta[ends[0] + 1], xtol=1e-13)) if len(ends) else float("nan")


def lifted(ds: xarray.Dataset) -> xarray.Dataset:
    """Only where the rear foot lifts: there the model, which lets go of it, holds."""
    return ds.where(ds[REAR] >= 0)


def claims(found: Results) -> list[tuple[str, str, bool, str]]:
    """What the text says of the figures: (figure, statement, whether it holds, evidence)."""
    legs, torso = lifted(found.legs), found.torso
    T_c, sizes = legs.T_c_minus, [abs(legs[name]) for name in HEEL]
    grows, falls = _rises(T_c, "theta"), _rises(-T_c, "rho")
    forward = torso.sel(torso=slice(CROSSING, None))
    backward = torso.sel(torso=slice(None, -CROSSING))
    limit = found.lift_limits[0.0]
    peaks = np.degrees(torso.torso[torso.T_c_minus.argmax("torso")])
    inner = [
        f"{angle:.1f}° for μ = {mu:g}".replace("-", "−")
        for mu, angle in zip(MASS_RATIOS, peaks, strict=True)
        if abs(angle) < 19.9
    ]
    leaning = torso.sel(torso=slice(0, None))
    return [
        ("2", "T_c⁻ grows with θ", grows, _range(T_c)),
        ("2", "T_c⁻ falls with ρ; point feet lose most", falls, _range(T_c)),
        ("3", "both impulses grow with θ and fall with ρ", all(_rises(s, "theta") and _rises(-s, "rho") for s in sizes),
         ", ".join(_range(size, "N s") for size in sizes)),
        ("2", "the curve of the point feet ends within the figure", limit < float(T_c.theta.max()),
         f"at {degrees(limit):.2f}°"),
        ("4", "leaning forward (q₅ > 0) lowers T_c⁻ and raises T_a⁻",
         _rises(-leaning.T_c_minus, "torso") and _rises(leaning.T_a_minus, "torso"),
         "from upright on, for each μ" + (f"; behind, T_c⁻ peaks at {', '.join(inner)}" if inner else "")),
        ("4", "for q₅ < 0 a low μ loses less", _rises(backward.T_c_minus, "mu"), "at q₅ ≤ −3°"),
        ("4", "for q₅ > 0 a high μ loses less", _rises(-forward.T_c_minus, "mu"), "at q₅ ≥ 3°"),
        ("5", "the impulses follow T_c⁻", min(_alike(torso, name) for name in HEEL) > 0.9,
         "correlation with T_c⁻ over q₅ and μ: " + ", ".join(f"{_alike(torso, name):.3f}" for name in HEEL)),
    ]  # fmt: skip


def _rises(array: xarray.DataArray, over: str) -> bool:
    """Along this parameter, wherever both neighbours are known."""
    steps = array.diff(over)
    return bool(((steps > 0) | steps.isnull()).all())


def _range(array: xarray.DataArray, unit: str = "J") -> str:
    return f"{float(array.min()):.3g} to {float(array.max()):.3g} {unit}"


def _alike(ds: xarray.Dataset, name: str) -> float:
    return float(np.corrcoef(np.abs(ds[name].values.ravel()), ds.T_c_minus.values.ravel())[0, 1])
