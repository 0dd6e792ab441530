"""The compass walker of [FK-b] §4 and [FK-c] §3.1: what their figures show, maps, the best design."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import degrees
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from jourdain import gallery
from jourdain.data.numbers import fixed
from jourdain.studies.papers.record import Claim, Settings, verdict

if TYPE_CHECKING:
    import xarray

    from jourdain.scenarios.optimum import Optimum
    from jourdain.scenarios.scenario import Scenario

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
    lifts: dict[Any, Any] = {REAR: (0.0, None)}

    def legs(n: int, rho: ArrayLike) -> xarray.Dataset:
        return walker.sweep(theta=np.radians(np.linspace(10, 60, n)), rho=rho, keep=KEEP, **upright)

    def torso(n: int, mu: ArrayLike) -> xarray.Dataset:
        return walker.sweep(torso=np.radians(np.linspace(-20, 20, n)), mu=mu, keep=KEEP, **strike)

    def least(over: Mapping[str, tuple[float, float]], given: dict[str, Any]) -> Optimum:
        return walker.minimize("loss", over=over, subject_to=lifts, **given)

    return Results(
        scenario=walker,
        settings=settings,
        legs=legs(501, RADII),
        torso=torso(401, MASS_RATIOS),
        legs_map=legs(121, np.linspace(0, 0.5, 121)),
        torso_map=torso(121, np.geomspace(0.1, 10, 121)),
        lift_limits={rho: lift_limit(walker, rho, upright) for rho in (0.0, 0.05, 0.1, 0.25, 0.5)},
        best=least(RANGES, {"theta": STEP, **settings}),
        best_torso=least({"torso": (np.radians(-90), np.radians(90))}, {**strike, "mu": 1.0}),
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


def claims(found: Results) -> list[Claim]:
    """What the text of [FK-b] §4 (and [FK-c] §3.1) says of the figures."""
    legs, torso = lifted(found.legs), found.torso
    T_c, sizes = legs.T_c_minus, [abs(legs[name]) for name in HEEL]
    at_40 = [f"{value:.2f}" for value in T_c.sel(theta=STEP, method="nearest").values]
    limit, leaning = found.lift_limits[0.0], torso.sel(torso=slice(0, None))
    peaks = np.degrees(torso.torso[torso.T_c_minus.argmax("torso")].values)
    inner = [
        f"{fixed(angle)}° for μ = {mu:g}"
        for mu, angle in zip(MASS_RATIOS, peaks, strict=True)
        if abs(angle) < degrees(RANGES["torso"][1]) - 0.1
    ]
    low_mu = _rises(torso.T_c_minus.sel(torso=slice(None, -1e-9)), "mu")
    normal, tangential = (_falls_with_mu_from(abs(torso[name])) for name in HEEL)
    from_here = _falls_with_mu_from(torso.T_c_minus)
    return [
        Claim("Fig. 2", "T_c⁻ grows with θ", verdict(_rises(T_c, "theta")), f"from {_range(T_c)} over all curves"),
        Claim("Fig. 2", "T_c⁻ falls with ρ; point feet lose most", verdict(_rises(-T_c, "rho")),
              f"{' J, '.join(at_40)} J at θ = 40° for ρ = {', '.join(f'{rho:g}' for rho in RADII)}"),
        Claim("Fig. 3", "both impulses grow with θ and fall with ρ",
              verdict(all(_rises(size, "theta") and _rises(-size, "rho") for size in sizes)),
              "; ".join(f"|λ̄_{axis}| from {_range(size, 'N s')}" for axis, size in zip("nt", sizes, strict=True))),
        Claim("Fig. 2", "for ρ = 0 and θ > 43° the rear foot does not lift", "not as printed",
              f"it does up to {degrees(limit):.2f}°"),
        Claim("Fig. 4", "leaning forward (q₅ > 0) lowers T_c⁻ and raises T_a⁻",
              verdict(_rises(-leaning.T_c_minus, "torso") and _rises(leaning.T_a_minus, "torso")),
              "for each μ" + (f"; leaning back, T_c⁻ peaks at {', '.join(inner)}" if inner else "")),
        Claim("Fig. 4", "for q₅ < 0 a low μ loses less", verdict(low_mu), "at every q₅ < 0 of the figure"),
        Claim("Fig. 4", "for q₅ > 0 a high μ loses less", verdict(from_here < CROSSING, f"from {_onwards(from_here)}"),
              "nearer to upright the curves cross"),
        Claim("Fig. 5", "the impulses are completely correlated with T_c⁻",
              verdict(_alike(torso, HEEL[0]) > 0.999, "for λ̄_n; for λ̄_t in the main"),
              "correlation with T_c⁻ over q₅ and μ: "
              + ", ".join(f"{_alike(torso, name):.3f} for λ̄_{axis}" for axis, name in zip("nt", HEEL, strict=True))
              + f"; a high μ lowers |λ̄_n| from {_onwards(normal)}, |λ̄_t| from {_onwards(tangential)}"),
    ]  # fmt: skip


def _falls_with_mu_from(size: xarray.DataArray) -> float:
    """The torso's angle from which on, leaning forward, a higher mu has the lower value; rad, NaN if nowhere."""
    falls = (size.diff("mu") < 0).all("mu").values
    onwards = np.logical_and.accumulate(falls[::-1])[::-1]
    return float(size.torso.values[np.argmax(onwards)]) if onwards.any() else float("nan")


def _onwards(angle: float) -> str:
    """As in "from q₅ = 2.4° on"."""
    return f"q₅ = {fixed(degrees(angle))}° on" if np.isfinite(angle) else "nowhere on"


def _rises(array: xarray.DataArray, over: str) -> bool:
    """Along this parameter, wherever both neighbours are known."""
    steps = array.diff(over)
    return bool(steps.notnull().any() and ((steps > 0) | steps.isnull()).all())


def _range(array: xarray.DataArray, unit: str = "J") -> str:
    return f"{float(array.min()):.3g} to {float(array.max()):.3g} {unit}"


def _alike(ds: xarray.Dataset, name: str) -> float:
    return float(np.corrcoef(np.abs(ds[name].values.ravel()), ds.T_c_minus.values.ravel())[0, 1])
