"""The study of a touchdown: the outcome at a pose, and what it depends on; for people, as text, data and one figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import radians
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.compute.memory import refuse_too_large
from jourdain.errors import BadArgument, BadEvent, Status
from jourdain.events.table import aligned, rounded
from jourdain.events.transition import Transition
from jourdain.gallery.touchdown import BASE, base_of, landing, warn_of_high_feet
from jourdain.kinds import ContactState
from jourdain.laws import MoreauCoulomb
from jourdain.progress import bar, quiet
from jourdain.robots.robot import Robot
from jourdain.scenarios.scenario import Scenario

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

N_STATES = 1_000_000
CHUNK = 100_000  # states that are solved at a time
N_FRICTION_STATES = 2000  # states for which contacts with friction are solved, which takes an iteration
FRICTION = 0.6
SEED = 7
# Spread of the sampled states about the pose: normal, but for joints, which are uniform.
SPREAD = {"v": 0.3, "omega": 0.5, "angle": radians(5), "joint": radians(20), "rate": 1.0}  # m/s, rad/s, rad, rad, rad/s
QUANTILES = (0.05, 0.5, 0.95)
KNEES = np.radians(np.linspace(0, 120, 121))
TURNS, SPEEDS = BASE[:3], BASE[3:]


@dataclass(frozen=True, eq=False)
class Study:
    """What a touchdown costs a robot, at a pose and around it."""

    scenario: Scenario
    feet: tuple[str, ...]
    values: Mapping[str, float]  # parameters of the pose that are not the scenario's own
    outcome: Transition
    states: xarray.Dataset  # sampled: loss, xi, impulses and required friction of the feet, over `sample`
    directions: Any  # of the base velocity, by falling ξ, each with T = 1 J
    base: Any  # (6, 6), their components
    knees: xarray.Dataset | None  # over `knee`; None where no limb bends
    foot_shares: Mapping[str, Mapping[str, float]]  # foot → what it does → share of states

    @property
    def text(self) -> str:
        """As a person reads it."""
        return "\n".join([str(self.outcome), "", *self._states_text(), "", *self._directions_text(),
                          *self._knees_text(), "", *self._feet_text()])  # fmt: skip

    def _states_text(self) -> list[str]:
        n, rows = self.states.sizes["sample"], []
        impulses = {f"impulse.{foot}.normal": f"{foot}, normal (N s)" for foot in self.feet}
        for name, title in {"loss": "lost (J)", "xi": "ξ", **impulses}.items():
            values = self.states[name].values
            ends = np.quantile(values[np.isfinite(values)], QUANTILES)
            rows.append([title, *(rounded(end, float(np.max(np.abs(ends)))) for end in ends)])
        failed = int(np.sum(~np.isfinite(self.states["loss"].values)))
        lost = f", {failed} of them without an outcome, which are left out" if failed else ""
        return [f"{n} states around the pose{lost}: {self.states.attrs['spread']}",
                *aligned(["", "5 %", "median", "95 %"], rows, left=(0,))]  # fmt: skip

    def _directions_text(self) -> list[str]:
        rows = [[rounded(xi, 1.0), *(rounded(part, float(np.abs(self.base).max())) for part in column)]
                for xi, column in zip(self.directions.xi, self.base.T, strict=True)]  # fmt: skip
        header = ["ξ", *(f"{speed} ({'m/s' if speed[0] == 'v' else 'rad/s'})" for speed in SPEEDS)]
        return ["velocities of the base, 1 J each, joints at rest, by what they lose: costliest first, gentlest last",
                *aligned(header, rows)]  # fmt: skip

    def _knees_text(self) -> list[str]:
        xi = np.array([]) if self.knees is None else self.knees["xi"].values
        if not np.isfinite(xi).any():
            return []
        low, high = int(np.nanargmin(xi)), int(np.nanargmax(xi))
        return ["", f"knees from 0° to 120°: ξ from {xi[low]:.3g} at {np.degrees(KNEES[low]):.0f}° "
                f"to {xi[high]:.3g} at {np.degrees(KNEES[high]):.0f}°"]  # fmt: skip

    def _feet_text(self) -> list[str]:
        rows = []
        for foot in self.feet:
            impulse = self.states[f"impulse.{foot}.normal"].values
            pulls = float(np.mean(impulse[np.isfinite(impulse)] < 0))
            shares = ", ".join(f"{what} {100 * share:.1f} %" for what, share in self.foot_shares[foot].items())
            rows.append([foot, f"{100 * pulls:.1f} %", shares])
        return [f"what holds: two-sided, a foot would have to pull; with friction {FRICTION:g} (law MoreauCoulomb) it",
                *aligned(["foot", "pulls", "does"], rows, left=(0, 2))]  # fmt: skip

    def figure(self, title: str) -> Figure:
        """Six panels: the robot, the energies, the loss over states, directions, knees, feet."""
        from jourdain.studies.touchdown_figure import landing_figure

        return landing_figure(self, title)


def study(scenario: Scenario, feet: tuple[str, ...], values: Mapping[str, float], n: int = N_STATES) -> Study:
    """The study of an ideal touchdown; `values`: parameters of the pose about which states are sampled."""
    if n < 1:
        raise BadArgument(f"--samples must be at least 1, not {n}.")
    n_numbers = len(kept(feet))  # twice, while their parts are joined
    refuse_too_large("The study", n, n_numbers, "take fewer samples", n_beside=n * n_numbers, called="states")
    robot = scenario.event.mechanism
    assert isinstance(robot, Robot)
    outcome = scenario.solve(parameters=values)
    if values:  # else it is the pose of which `touchdown` has warned
        warn_of_high_feet(robot, feet, outcome.q)
    ideal = scenario if not scenario.event.layout.along("one_sided") else landing(robot, feet)
    pose = {name: value for name, value in values.items() if name in ideal.parameters}
    states = sampled(ideal, feet, pose, n)
    names = base_of(robot).velocity_names()
    directions = ideal.directions(subspace=list(names), parameters=pose)
    places = [robot.symbols.v_names.index(name) for name in names]
    knees = None
    if "knee" in ideal.parameters:
        fixed = {name: value for name, value in pose.items() if name != "knee"}
        knees = ideal.sweep(knee=KNEES, **fixed, keep=["xi", "loss", "T_minus"], progress=False)
    shares = foot_shares(robot, feet, pose, min(n, N_FRICTION_STATES))
    return Study(scenario, feet, values, outcome, states, directions, directions.v[places], knees, shares)


def draws(scenario: Scenario, values: Mapping[str, float], n: int, rng: np.random.Generator) -> dict[str, Any]:
    """States about a pose: parameter → (n,)."""
    found: dict[str, Any] = {}
    for name, default in scenario.parameters.items():
        middle = values.get(name, default or 0.0)
        if name in SPEEDS:
            found[name] = middle + SPREAD["v" if name[0] == "v" else "omega"] * rng.standard_normal(n)
        elif name in TURNS:
            found[name] = middle + SPREAD["angle"] * rng.standard_normal(n)
        elif name.endswith("_rate"):
            found[name] = middle + SPREAD["rate"] * rng.standard_normal(n) * (scenario.units.get(name) == "rad/s")
        elif scenario.units.get(name) == "rad" and name != "knee":
            found[name] = middle + SPREAD["joint"] * rng.uniform(-1, 1, n)
        else:
            found[name] = np.full(n, middle)
    return found


def kept(feet: tuple[str, ...]) -> list[str]:
    """The quantities of a sampled state."""
    return ["T_minus", "loss", "xi", *(f"impulse.{foot}.normal" for foot in feet),
            *(f"required_friction.{foot}" for foot in feet)]  # fmt: skip


def sampled(scenario: Scenario, feet: tuple[str, ...], values: Mapping[str, float], n: int) -> xarray.Dataset:
    """Loss, ξ, impulses and required friction over n states, solved in pieces with a bar."""
    import xarray

    keep = kept(feet)
    rng, parts = np.random.default_rng(SEED), []
    with bar("states", n, None) as advance:
        for start in range(0, n, CHUNK):
            size = min(CHUNK, n - start)
            parts.append(scenario.sweep(samples=draws(scenario, values, size, rng), keep=keep, progress=False)
                         .drop_vars(list(scenario.parameters), errors="ignore"))  # fmt: skip
            (advance or quiet)(size)
    whole = xarray.concat(parts, dim="sample").assign_coords(sample=np.arange(n))
    if not np.isfinite(whole["loss"].values).any():
        reason = Status(int(whole["status"].values[0])).message
        raise BadEvent(f"None of the {n} states around the pose has an outcome: {reason}.")
    angle, joint = (f"{np.degrees(SPREAD[what]):.0f}°" for what in ("angle", "joint"))
    whole.attrs["spread"] = (
        f"velocity ± {SPREAD['v']:g} m/s, angular ± {SPREAD['omega']:g} rad/s, attitude ± {angle} (normal), "
        f"joints ± {joint} (uniform), their rates ± {SPREAD['rate']:g} rad/s (normal)"
    )
    return whole


def foot_shares(
    robot: Robot, feet: tuple[str, ...], values: Mapping[str, float], n: int
) -> dict[str, dict[str, float]]:
    """What each foot does where it can slip and lift, as shares of n states."""
    rough = landing(robot, feet, MoreauCoulomb(FRICTION, 0.0))
    samples = draws(rough, values, n, np.random.default_rng(SEED))
    found = rough.sweep(samples=samples, keep=[f"contact_state.{foot}" for foot in feet], progress=None)
    shares = {}
    for foot in feet:
        states = found[f"contact_state.{foot}"].values
        codes, counts = np.unique(states[np.isfinite(states)].astype(int), return_counts=True)
        order = np.argsort(-counts, kind="stable")
        shares[foot] = {str(ContactState(codes[i])): float(counts[i] / counts.sum()) for i in order}
    return shares
