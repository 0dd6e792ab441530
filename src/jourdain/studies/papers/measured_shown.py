"""Tables and figures of what was measured, and what the model says of it."""

from __future__ import annotations

from math import degrees
from typing import TYPE_CHECKING

import numpy as np

from jourdain.data.numbers import fixed
from jourdain.plots.style import BLUE, MARKERS, VERMILION, new_figure, zero
from jourdain.studies.papers.case_columns import (
    BETA,
    GAMMA,
    LABEL,
    NORMAL,
    NUMBER,
    SHORT_VERSION,
    T_A_MINUS,
    T_A_PLUS,
    T_C_MINUS,
    CaseRow,
    D,
    case_rows,
    computed,
    printed,
)
from jourdain.studies.papers.case_figures import key_above, label_ticks, measured_points
from jourdain.studies.papers.experiments import claims
from jourdain.studies.papers.measured import MILLI
from jourdain.studies.papers.pantograph import Results
from jourdain.studies.papers.record import Beside, Cell, Column, Picture, Table, claims_table, table_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from jourdain.events.transition import Transition


def tables(found: Results) -> list[Table]:
    """All of them."""
    cases, ideal, nonideal = case_rows(found), case_rows(found, "FK-b"), case_rows(found, "FK-a")
    symmetric, asymmetric = ideal[:4], ideal[4:]
    short = case_rows(found, "FK-b", list(SHORT_VERSION))
    return [
        table_of("pantograph_FK-b_table_IV", "[FK-b] Table IV: measured, d = 0", symmetric, (NUMBER, *MEASURED)),
        table_of("pantograph_FK-b_table_VI", "[FK-b] Table VI: measured, d = 0.2 m", asymmetric, (NUMBER, *MEASURED)),
        table_of("pantograph_FK-c_table_4", "[FK-c] Table 4: measured, d = 0.2 m", short, (SHORT_NUMBER, *MEASURED)),
        table_of("pantograph_FK-a_table_2", "[FK-a] Table 2: energies measured, and the model's", nonideal, ENERGIES),
        table_of("pantograph_FK-a_table_3", "[FK-a] Table 3: impulses measured, and the model's", nonideal, IMPULSES),
        table_of("pantograph_nominal_energies", "Energies before the impact as measured ([FK-b] Tables IV, VI) and for "
                 "T⁻ = 10 mJ at the nominal γ", ideal, NOMINAL),
        table_of("pantograph_predicted_impulses", "The normal impulse, all fifteen cases, predicted from the measured "
                 "T_c⁻ and β̄", cases, PREDICTED_IMPULSES),
        table_of("pantograph_predicted_energies", "The energy of the admissible motion, all fifteen cases, predicted "
                 "from the measured T_a⁻ and β̄", cases, PREDICTED_ENERGIES),
        claims_table("pantograph_statements", "What the texts say of the experiments", claims(found)),
    ]  # fmt: skip


def _outcomes(row: CaseRow) -> list[Transition]:
    """With both signs of v_a⁻ where γ does not tell it."""
    p = row.found.predicted
    return [p.outcome] if p.sign_known[row.i] else [p.outcome, p.mirrored]


def _after(row: CaseRow) -> Cell:
    """T_a⁺ in the model."""
    values = [float(t.T_a_plus[row.i]) / MILLI for t in _outcomes(row)]
    return values[0] if len(values) == 1 else " or ".join(f"{value:.4f}" for value in values)


def _after_error(row: CaseRow) -> str:
    return " or ".join(fixed(100 * (row.case.T_a_plus / float(t.T_a_plus[row.i]) - 1)) for t in _outcomes(row))


def _change(row: CaseRow) -> str:
    """T_a⁺ − T_a⁻ in the model."""
    return " or ".join(fixed(float(t.T_a_plus[row.i] - t.T_a_minus[row.i]) / MILLI, 3) for t in _outcomes(row))


def _xi(row: CaseRow) -> Beside:
    """Printed, and from the printed energies."""
    case, found = row.case, row.found
    nominal = found.scenario.solve(d=case.d, gamma=case.gamma, parameters=dict(found.settings)).xi
    ours = case.T_c_minus / (case.T_c_minus + case.T_a_minus)
    as_model = "Equals ξ of the model at the nominal γ; the printed energies give another."
    return Beside(case.printed["xi"], ours, as_model if f"{nominal:.2f}" == case.printed["xi"] else "")


def _T_c_plus(row: CaseRow) -> float:
    """In the model: 0, but for rounding."""
    return round(float(row.found.predicted.outcome.T_c_plus[row.i]) / MILLI, 9)


def _nominal_error(row: CaseRow) -> float:
    return 100 * (row.case.T_c_minus / float(row.found.computed.T_c_minus[row.i]) - 1)


SHORT_NUMBER = Column("case", cell=lambda row: str(SHORT_VERSION[row.case.number]))
AFTER = (T_A_PLUS, Column("T_a_plus_model", "model", "mJ", 4, right=True, cell=_after))
XI = Column("xi", "ξ from the energies", decimals=3, beside=True, cell=_xi)
MODEL = computed("normal_model", "model", "N ms", 2, lambda found: found.predicted.outcome.impulse["wall"])
ERROR = computed("error", "error", "%", 1, lambda found: found.predicted.error("normal"))

MEASURED = (T_C_MINUS, T_A_MINUS, *AFTER, XI, NORMAL, MODEL, ERROR, BETA)
ENERGIES = (
    NUMBER,
    Column("d", "d", "m", cell=lambda row: row.case.printed["d_m"]),
    printed("gamma", "γ from the tangent", "°", "gamma_deg_from_tangent"),
    *(T_C_MINUS, T_A_MINUS),
    printed("T_c_plus_measured", "T_c⁺", "mJ", "T_c_plus_mJ"),
    Column("T_c_plus_model", "model", "mJ", 4, cell=_T_c_plus),
    *(*AFTER, XI),
)
IMPULSES = (
    *(NUMBER, NORMAL, MODEL, ERROR, BETA),
    computed("Lambda", "Λ̄ of the model", "N ms", 3, lambda found: found.predicted.outcome.Lambda["wall"]),
)
NOMINAL = (
    *(NUMBER, D, T_C_MINUS, T_A_MINUS),
    computed("T_c_model", "T_c⁻ model", "mJ", 3, lambda found: found.computed.T_c_minus),
    computed("T_a_model", "T_a⁻ model", "mJ", 3, lambda found: found.computed.T_a_minus),
    Column("error", "T_c⁻ off by", "%", 1, cell=_nominal_error),
)
PREDICTED_IMPULSES = (
    *(LABEL, D, GAMMA, T_C_MINUS, BETA, NORMAL),
    computed("normal_ideal", "model, β̄ = 0", "N ms", 2, lambda found: found.predicted.ideal.impulse["wall"]),
    *(MODEL, ERROR),
    computed("apparent_mass", "λ̄²/2T_c⁻", "kg", 3, lambda found: found.predicted.apparent_mass()),
    computed("model_mass", "model", "kg", 3, lambda found: found.predicted.model_mass()),
)
PREDICTED_ENERGIES = (
    *(LABEL, D, GAMMA, T_A_MINUS, BETA, *AFTER),
    Column("error", "error", "%", 1, right=True, cell=_after_error),
    Column(
        "change_measured", "T_a⁺ − T_a⁻", "mJ", 3, cell=lambda row: (row.case.T_a_plus - row.case.T_a_minus) / MILLI
    ),
    Column("change_model", "model", "mJ", 3, right=True, cell=_change),
)


def pictures(found: Results) -> list[Picture]:
    """The impulses of all cases."""
    return [Picture("pantograph_impulses", lambda: _impulse_errors(found))]


def _impulse_errors(found: Results) -> Figure:
    """Model and measurement, case by case, and over the direction."""
    figure = new_figure(7.2, 3.6)
    left, right = figure.subplots(1, 2, width_ratios=(1.2, 1))
    p = found.predicted
    left.bar(np.arange(len(found.cases)), p.outcome.impulse["wall"] / MILLI, 0.6, color=BLUE, alpha=0.75, label="model")
    measured_points(left, [case.normal / MILLI for case in found.cases])
    label_ticks(left, found.cases)
    left.set_ylabel(r"$\bar\lambda$ in N ms")
    key_above(left, 2)
    for paper, colour in (("FK-b", BLUE), ("FK-a", VERMILION)):
        for d, marker in zip((0.0, 0.1, 0.2), MARKERS, strict=False):
            these = [row.i for row in case_rows(found, paper) if row.case.d == d]
            if these:
                gamma = [degrees(found.cases[i].gamma) for i in these]
                right.plot(
                    gamma, 100 * p.error("normal")[these], marker, color=colour, markersize=7,
                    markerfacecolor=colour if paper == "FK-b" else "white", label=f"[{paper}], d = {d:g} m",
                )  # fmt: skip
    zero(right)
    right.set(xlabel=r"$\gamma$ in degrees", ylabel=r"measured $\bar\lambda$ above the model, in %")
    key_above(right, 2, fontsize=8)
    return figure
