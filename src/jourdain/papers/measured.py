"""The fifteen measured impacts of [FK-a] and [FK-b], and what the model says of them.

A case is measured by its energies before: T_c⁻ and T_a⁻ give the prior velocity v⁻ = √T_c⁻ v₁ ± √T_a⁻ v₀ in the
directions with ξ = 1 and ξ = 0, each with T = 1 J. With the measured tangential impulse β̄ the model predicts the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jourdain.papers.printed import rows as printed_rows

if TYPE_CHECKING:
    from jourdain.outcome import Transition
    from jourdain.scenario import Scenario

Array = NDArray[np.float64]
MILLI = 1e-3
SAME_DIRECTION = np.radians(0.05)  # γ is printed to the hundredth of a degree at best


@dataclass(frozen=True)
class Case:
    """One measured case, in SI; the mean of several experiments."""

    paper: str
    number: int
    d: float
    gamma: float  # from the wall's normal
    T_c_minus: float
    T_a_minus: float
    T_a_plus: float
    xi: str  # as printed
    normal: float  # λ̄, N s
    tangential: float  # β̄, N s

    @property
    def label(self) -> str:
        return f"{self.paper} {self.number}"


def cases() -> tuple[Case, ...]:
    """Nine of [FK-b] Tables IV and VI, six of [FK-a] Tables 2 and 3."""
    nominal = {line["case"]: line for line in printed_rows("pantograph_computed")}
    found = []
    for line in printed_rows("pantograph_measured"):
        d = {"symmetric": 0.0, "asymmetric": 0.2}[nominal[line["case"]]["configuration"]]
        found.append(_case("FK-b", line, d, float(nominal[line["case"]]["gamma_deg"])))
    for line in printed_rows("pantograph_nonideal_measured"):
        found.append(_case("FK-a", line, float(line["d_m"]), 90 - float(line["gamma_deg_from_tangent"])))
    return tuple(found)


def _case(paper: str, line: dict[str, str], d: float, gamma_deg: float) -> Case:
    def energy(name: str) -> float:
        return float(line[f"{name}_mJ"]) * MILLI

    def impulse(name: str) -> float:
        return float(line[f"{name}_impulse_N_ms"]) * MILLI

    return Case(
        paper=paper,
        number=int(line["case"]),
        d=d,
        gamma=float(np.radians(gamma_deg)),
        T_c_minus=energy("T_c_minus"),
        T_a_minus=energy("T_a_minus"),
        T_a_plus=energy("T_a_plus"),
        xi=line["xi"],
        normal=impulse("normal"),
        tangential=impulse("tangential"),
    )


@dataclass(frozen=True)
class Prediction:
    """What the model says of the cases, in their order."""

    cases: tuple[Case, ...]
    outcome: Transition  # with the measured β̄
    ideal: Transition  # with β̄ = 0

    def error(self, measured: str) -> Array:
        """(measured − predicted) / predicted, of "normal" or "T_a_plus"."""
        predicted = self.outcome.impulse["wall"] if measured == "normal" else self.outcome.T_a_plus
        return np.array([getattr(case, measured) for case in self.cases]) / predicted - 1


def predict(pantograph: Scenario, measured: Sequence[Case], given: dict[str, Any]) -> Prediction:
    """The outcome of every case at its measured energies, with and without its tangential impulse."""
    pose = {d: pantograph.state({"d": d, **given}) for d in {case.d for case in measured}}
    q = np.array([pose[case.d][0] for case in measured])
    v = np.array([prior_velocity(pantograph, case, given) for case in measured])
    own = dict(zip(pantograph.event.parameters, next(iter(pose.values()))[2], strict=True))
    beta = np.array([case.tangential for case in measured])
    return Prediction(
        cases=tuple(measured),
        outcome=pantograph.event.solve(q, v, parameters={**own, "beta": beta}),
        ideal=pantograph.event.solve(q, v, parameters={**own, "beta": 0.0}),
    )


def prior_velocity(pantograph: Scenario, case: Case, given: dict[str, Any]) -> Array:
    """The motors' rates before, from the measured energies."""
    found = pantograph.directions(point="EE", d=case.d, **given)
    assert found.point_velocity is not None
    assert found.angle is not None
    along_x = np.sign(found.point_velocity[0, 1])  # of the direction with ξ = 0
    turned = case.gamma - found.angle[0]
    # In the direction of ξ = 1 nothing but the friction tells which way the little that is left was slipping.
    slip = -np.sign(case.tangential) if abs(turned) < SAME_DIRECTION else np.sign(turned)
    v: Array = np.sqrt(case.T_c_minus) * found.v[:, 0] + slip * along_x * np.sqrt(case.T_a_minus) * found.v[:, 1]
    return v


def repeated(measured: Sequence[Case]) -> list[tuple[Case, Case]]:
    """Pairs of cases with the same pose and direction, one of each paper."""
    first, second = ([case for case in measured if case.paper == paper] for paper in ("FK-a", "FK-b"))
    return [(a, b) for a in first for b in second if a.d == b.d and abs(a.gamma - b.gamma) < SAME_DIRECTION]


def apparent_mass(case: Case) -> float:
    """λ̄² / 2T_c⁻: the mass that would give the measured impulse at the measured energy, kg."""
    return case.normal**2 / (2 * case.T_c_minus)
