"""The fifteen measured impacts of [FK-a] and [FK-b], and what the model says of them.

A case is measured by its energies before: T_c⁻ and T_a⁻ give the prior velocity v⁻ = √T_c⁻ v₁ ± √T_a⁻ v₀ in the
directions with ξ = 1 and ξ = 0, each with T = 1 J. With the measured tangential impulse β̄ the model predicts the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.inputs import Array
from jourdain.studies.papers.printed import rows as printed_rows

if TYPE_CHECKING:
    from jourdain.events.transition import Transition
    from jourdain.scenarios.scenario import Scenario

MILLI = 1e-3
CONFIGURATIONS = {"symmetric": 0.0, "asymmetric": 0.2}  # d in [FK-b], m
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
    normal: float  # λ̄, N s
    tangential: float  # β̄, N s
    printed: Mapping[str, str]  # the same as texts, by the headers of the printed table

    @property
    def label(self) -> str:
        return f"{self.paper} {self.number}"


def cases() -> tuple[Case, ...]:
    """Nine of [FK-b] Tables IV and VI, six of [FK-a] Tables 2 and 3."""
    nominal = {line["case"]: line for line in printed_rows("pantograph_computed")}
    found = []
    for line in printed_rows("pantograph_measured"):
        d = CONFIGURATIONS[nominal[line["case"]]["configuration"]]
        found.append(_case("FK-b", line, d, float(nominal[line["case"]]["gamma_deg"])))
    for line in printed_rows("pantograph_nonideal_measured"):
        found.append(_case("FK-a", line, float(line["d_m"]), 90 - float(line["gamma_deg_from_tangent"])))
    return tuple(found)


def _case(paper: str, line: dict[str, str], d: float, gamma_deg: float) -> Case:
    energies = {name: float(line[f"{name}_mJ"]) * MILLI for name in ("T_c_minus", "T_a_minus", "T_a_plus")}
    impulses = {name: float(line[f"{name}_impulse_N_ms"]) * MILLI for name in ("normal", "tangential")}
    return Case(paper, int(line["case"]), d, float(np.radians(gamma_deg)), **energies, **impulses, printed=line)


@dataclass(frozen=True)
class Prediction:
    """What the model says of the cases, in their order."""

    cases: tuple[Case, ...]
    outcome: Transition  # with the measured β̄
    ideal: Transition  # with β̄ = 0
    mirrored: Transition  # with the other sign of v_a⁻: λ̄ is the same
    sign_known: tuple[bool, ...]  # whether γ tells the sign of v_a⁻

    def error(self, measured: str) -> Array:
        """(measured − predicted) / predicted, of "normal" or "T_a_plus"."""
        predicted = self.outcome.impulse["wall"] if measured == "normal" else self.outcome.T_a_plus
        return np.array([getattr(case, measured) for case in self.cases]) / predicted - 1

    def apparent_mass(self) -> Array:
        """λ̄² / 2T_c⁻: the mass that would give the measured impulse at the measured energy, kg."""
        return np.array([case.normal**2 / (2 * case.T_c_minus) for case in self.cases])

    def model_mass(self) -> Array:
        """The effective mass at the wall, kg."""
        return np.asarray(self.outcome.effective_mass["wall"])

    def excess(self, paper: str, d: float | None = None) -> tuple[float, float]:
        """By how much the apparent mass lies above the model's, least and most, in %."""
        chosen = [case.paper == paper and d in (None, case.d) for case in self.cases]
        above = 100 * (self.apparent_mass() / self.model_mass() - 1)[chosen]
        return float(above.min()), float(above.max())


def predict(pantograph: Scenario, measured: Sequence[Case], given: dict[str, Any]) -> Prediction:
    """The outcome of every case at its measured energies, with and without its tangential impulse."""
    q = np.array([pantograph.state({"d": case.d, **given})[0] for case in measured])
    constrained, admissible, known = zip(*(prior_parts(pantograph, case, given) for case in measured), strict=True)
    v_c, v_a = np.array(constrained), np.array(admissible)
    own = dict(zip(pantograph.event.parameters, pantograph.state(given)[2], strict=True))
    beta = np.array([case.tangential for case in measured])

    def solved(v: Array, beta: Any) -> Transition:
        return pantograph.event.solve(q, v, parameters={**own, "beta": beta})

    return Prediction(
        tuple(measured), solved(v_c + v_a, beta), solved(v_c + v_a, 0.0), solved(v_c - v_a, beta), tuple(known)
    )


def prior_parts(pantograph: Scenario, case: Case, given: dict[str, Any]) -> tuple[Array, Array, bool]:
    """v_c⁻ and v_a⁻ of the motors from the measured energies, and whether γ tells the sign of v_a⁻."""
    found = pantograph.directions(point="EE", d=case.d, **given)
    assert found.point_velocity is not None
    assert found.angle is not None
    along_x = np.sign(found.point_velocity[0, 1])  # of the direction with ξ = 0
    turned = case.gamma - found.angle[0]
    known = abs(turned) > SAME_DIRECTION
    slip = np.sign(turned) if known else 1.0
    v_a: Array = slip * along_x * np.sqrt(case.T_a_minus) * found.v[:, 1]
    return np.sqrt(case.T_c_minus) * found.v[:, 0], v_a, bool(known)
