"""Motion: the compass gait, and its basin of attraction, beside `solve_ivp` with a NumPy right-hand side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from jourdain import gallery
from jourdain.errors import BadEvent
from jourdain.inputs import Array, Flags
from jourdain.motion.gait import Gait
from jourdain.studies.benchmarks import compass
from jourdain.studies.benchmarks.contestant import Contestant

WALK, WALK_IVP = "compass gait, simulate", "compass gait, solve_ivp"
BASIN, BASIN_IVP = "basin of the compass gait, 256 × 256", "basin of the compass gait, solve_ivp"
N_STEPS = 30
SIDE = 256
N_STARTS = 64  # that SciPy is timed on
LATE = 1e-9  # s: how far strikes may be apart
MOST_STEPS = 100
RTOL = 1e-8  # of the basin


def start(gait: Gait) -> Array:
    """The gait in the two angles of `compass`: (θ_st, θ_sw, ω_st, ω_sw)."""
    return np.array([*(part[name] for part in (gait.coordinate, gait.velocity) for name in ("theta_st", "theta_sw"))])


def check(gait: Gait) -> None:
    """Raise unless SciPy strikes at the same times and comes to the same gait from the same starts."""
    times, _ = compass.walk(start(gait), N_STEPS)
    ours = [event.t for event in _walk(gait).events]
    if len(ours) != len(times) or not np.max(np.abs(times - ours)) <= LATE:
        raise BadEvent("solve_ivp and jourdain strike at different times: nothing was timed.")
    if not np.array_equal(by_solve_ivp(gait), _basin(gait, *_some()).reached >= 0):
        raise BadEvent("solve_ivp and jourdain come to different gaits: nothing was timed.")


def contestants(gait: Gait) -> Iterator[Contestant]:
    first = start(gait)
    yield Contestant(WALK, N_STEPS, lambda: _walk(gait), f"{N_STEPS} steps, rtol 1e-10, 4 coordinates, foot held")
    yield Contestant(WALK_IVP, N_STEPS, lambda: compass.walk(first, N_STEPS), "2 coordinates, DOP853, terminal event")
    yield Contestant(BASIN, SIDE**2, lambda: _basin(gait, *_axes()), f"starts, until they fall or come, rtol {RTOL:g}")
    yield Contestant(BASIN_IVP, N_STARTS, lambda: by_solve_ivp(gait), f"{N_STARTS} of them, one by one")


PAIRS = ((WALK, WALK_IVP), (BASIN, BASIN_IVP))


def gait() -> Gait:
    return gallery.compass_gait().gait()


def _walk(gait: Gait) -> Any:
    return gait.hybrid.simulate(gait.q, gait.v, until=(N_STEPS + 0.01) * gait.period)


def _axes() -> tuple[Array, Array]:
    """(θ_st, ω_st) of the starts, along the two sides of the map."""
    return np.linspace(0.1, 0.45, SIDE)[:, None], np.linspace(-1.6, -0.6, SIDE)[None]


def _some() -> tuple[Array, Array]:
    """The same for those that SciPy does."""
    place = np.random.default_rng(0).integers(0, SIDE, (2, N_STARTS))
    theta, omega = _axes()
    return theta[place[0], 0], omega[0, place[1]]


def _basin(gait: Gait, theta: Array, omega: Array) -> Any:
    starts = {"theta_st": theta, "theta_sw": -theta}
    return gait.hybrid.basin(
        gait, q=starts, v={"theta_st": omega}, steps=MOST_STEPS, rtol=RTOL, atol=RTOL, progress=False
    )


def by_solve_ivp(gait: Gait) -> Flags:
    """Whether each of some starts comes to the gait."""
    target = start(gait)

    def near(state: Array) -> bool:
        return bool(np.max(np.abs(state - target) / (1 + np.abs(target))) <= compass.NEAR_GAIT)

    found = []
    for theta, omega in zip(*_some(), strict=True):
        _, end = compass.walk(np.array([theta, -theta, omega, target[3]]), MOST_STEPS, RTOL, near)
        found.append(near(end))
    return np.array(found)
