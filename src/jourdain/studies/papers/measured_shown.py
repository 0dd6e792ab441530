"""Tables and figures of what was measured, and what the model says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import degrees
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.data.numbers import fixed
from jourdain.plots.style import BLACK, BLUE, MARKERS, SMALL, VERMILION, new_figure
from jourdain.studies.papers.experiments import claims
from jourdain.studies.papers.measured import MILLI, Case
from jourdain.studies.papers.pantograph import Results
from jourdain.studies.papers.pantograph_shown import CASE, GAMMA, SHORT_VERSION, D
from jourdain.studies.papers.record import Beside, Cell, Column, Picture, Table, claims_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def tables(found: Results) -> list[Table]:
    """All of them."""
    return [
        measured(found, [1, 2, 3, 4], "pantograph_FK-b_table_IV", "[FK-b] Table IV: measured, d = 0"),
        measured(found, [5, 6, 7, 8, 9], "pantograph_FK-b_table_VI", "[FK-b] Table VI: measured, d = 0.2 m"),
        measured(found, list(SHORT_VERSION), "pantograph_FK-c_table_4", "[FK-c] Table 4: measured, d = 0.2 m", True),
        energies_nonideal(found),
        impulses_nonideal(found),
        nominal_energies(found),
        predicted_impulses(found),
        predicted_energies(found),
        claims_table("pantograph_statements", "What the texts say of the experiments", claims(found)),
    ]


MEASURED: dict[str, Any] = {"color": BLACK, "markerfacecolor": "white", "markersize": 6, "label": "measured"}  # points


def as_printed(name: str, symbol: str, unit: str) -> Column:
    return Column(name, symbol, unit, right=True)


T_C_THERE, T_A_THERE = as_printed("T_c_minus", "T_c⁻", "mJ"), as_printed("T_a_minus", "T_a⁻", "mJ")
T_A_PLUS = (as_printed("T_a_plus_measured", "T_a⁺", "mJ"), Column("T_a_plus_model", "model", "mJ", 4, right=True))
NORMAL = (as_printed("normal_measured", "λ̄", "N ms"), Column("normal_model", "model", "N ms", 2))
BETA = as_printed("tangential_measured", "β̄", "N ms")
XI_THERE = Column("xi", "ξ from the energies", decimals=3, beside=True)
ERROR = Column("error", "error", "%", 1, right=True)


def _cases(found: Results, paper: str, numbers: Sequence[int] = ()) -> Iterator[tuple[int, Case]]:
    """(place, case) of a paper, in its order."""
    for i, case in enumerate(found.cases):
        if case.paper == paper and (not numbers or case.number in numbers):
            yield i, case


def _energies(case: Case) -> tuple[str, str]:
    return case.printed["T_c_minus_mJ"], case.printed["T_a_minus_mJ"]


def _impulses(found: Results, i: int) -> tuple[Cell, ...]:
    """λ̄ measured, model, error; β̄."""
    p, case = found.predicted, found.cases[i]
    normal, tangential = case.printed["normal_impulse_N_ms"], case.printed["tangential_impulse_N_ms"]
    return normal, float(p.outcome.impulse["wall"][i]) / MILLI, 100 * float(p.error("normal")[i]), tangential


def _after(found: Results, i: int) -> tuple[Cell, Cell]:
    """T_a⁺ measured and in the model; where γ does not tell the sign of v_a⁻, with both."""
    p, printed = found.predicted, found.cases[i].printed["T_a_plus_mJ"]
    one, other = (float(t.T_a_plus[i]) / MILLI for t in (p.outcome, p.mirrored))
    return printed, one if p.sign_known[i] else f"{one:.4f} or {other:.4f}"


def _xi(found: Results, case: Case) -> Beside:
    """Printed, and from the printed energies."""
    nominal = found.scenario.solve(d=case.d, gamma=case.gamma, parameters=dict(found.settings)).xi
    ours = case.T_c_minus / (case.T_c_minus + case.T_a_minus)
    as_model = "Equals ξ of the model at the nominal γ; the printed energies give another."
    return Beside(case.printed["xi"], ours, as_model if f"{nominal:.2f}" == case.printed["xi"] else "")


def measured(found: Results, numbers: Sequence[int], name: str, title: str, short: bool = False) -> Table:
    """[FK-b] Tables IV and VI, [FK-c] Table 4, with the model's T_a⁺ and λ̄ beside."""
    lines: list[tuple[Cell, ...]] = []
    for i, case in _cases(found, "FK-b", numbers):
        number = SHORT_VERSION[case.number] if short else case.number
        lines.append((str(number), *_energies(case), *_after(found, i), _xi(found, case), *_impulses(found, i)))
    return Table(name, title, (CASE, T_C_THERE, T_A_THERE, *T_A_PLUS, XI_THERE, *NORMAL, ERROR, BETA), lines)


def energies_nonideal(found: Results) -> Table:
    """[FK-a] Table 2."""
    lines: list[tuple[Cell, ...]] = []
    for i, case in _cases(found, "FK-a"):
        after = (case.printed["T_c_plus_mJ"], round(float(found.predicted.outcome.T_c_plus[i]) / MILLI, 9))
        lines.append((
            str(case.number), case.printed["d_m"], case.printed["gamma_deg_from_tangent"], *_energies(case), *after,
            *_after(found, i), _xi(found, case),
        ))  # fmt: skip
    columns = (
        CASE, D, Column("gamma", "γ from the tangent", "°", right=True), T_C_THERE, T_A_THERE,
        as_printed("T_c_plus_measured", "T_c⁺", "mJ"), Column("T_c_plus_model", "model", "mJ", 4), *T_A_PLUS, XI_THERE,
    )  # fmt: skip
    return Table("pantograph_FK-a_table_2", "[FK-a] Table 2: energies measured, and the model's", columns, lines)


def impulses_nonideal(found: Results) -> Table:
    """[FK-a] Table 3."""
    lines: list[tuple[Cell, ...]] = [
        (str(case.number), *_impulses(found, i), float(found.predicted.outcome.Lambda["wall"][i]) / MILLI)
        for i, case in _cases(found, "FK-a")
    ]
    columns = (CASE, *NORMAL, ERROR, BETA, Column("Lambda", "Λ̄ of the model", "N ms", 3))
    return Table("pantograph_FK-a_table_3", "[FK-a] Table 3: impulses measured, and the model's", columns, lines)


def nominal_energies(found: Results) -> Table:
    """[FK-b]: what was computed for T⁻ = 10 mJ, and what was measured when that was tried."""
    lines: list[tuple[Cell, ...]] = []
    for i, case in _cases(found, "FK-b"):
        T_c = float(found.computed.T_c_minus[i])
        lines.append((str(case.number), f"{case.d:g}", *_energies(case), T_c / MILLI,
                      float(found.computed.T_a_minus[i]) / MILLI, 100 * (case.T_c_minus / T_c - 1)))  # fmt: skip
    columns = (
        CASE, D, T_C_THERE, T_A_THERE, Column("T_c_model", "T_c⁻ model", "mJ", 3),
        Column("T_a_model", "T_a⁻ model", "mJ", 3), Column("error", "T_c⁻ off by", "%", 1),
    )  # fmt: skip
    title = "Energies before the impact as measured ([FK-b] Tables IV, VI) and for T⁻ = 10 mJ at the nominal γ"
    return Table("pantograph_nominal_energies", title, columns, lines)


def predicted_impulses(found: Results) -> Table:
    """All fifteen measured cases: λ̄, and the mass that it implies."""
    p = found.predicted
    lines: list[tuple[Cell, ...]] = []
    for i, case in enumerate(found.cases):
        normal, model, error, beta = _impulses(found, i)
        ideal = float(p.ideal.impulse["wall"][i]) / MILLI
        masses = (float(p.apparent_mass()[i]), float(p.model_mass()[i]))
        lines.append((case.label, f"{case.d:g}", _gamma(case), _energies(case)[0], beta, normal, ideal, model, error,
                      *masses))  # fmt: skip
    columns = (
        CASE, D, GAMMA, T_C_THERE, BETA, NORMAL[0], Column("normal_ideal", "model, β̄ = 0", "N ms", 2),
        Column("normal_model", "model", "N ms", 2), ERROR, Column("apparent_mass", "λ̄²/2T_c⁻", "kg", 3),
        Column("model_mass", "model", "kg", 3),
    )  # fmt: skip
    title = "The normal impulse, all fifteen cases, predicted from the measured T_c⁻ and β̄"
    return Table("pantograph_predicted_impulses", title, columns, lines)


def predicted_energies(found: Results) -> Table:
    """All fifteen measured cases: T_a⁺ and its change."""
    p = found.predicted
    lines: list[tuple[Cell, ...]] = []
    for i, case in enumerate(found.cases):
        there, model = _after(found, i)
        signs = (p.outcome,) if p.sign_known[i] else (p.outcome, p.mirrored)
        error = " or ".join(fixed(100 * (case.T_a_plus / float(t.T_a_plus[i]) - 1)) for t in signs)
        change = " or ".join(fixed(float(t.T_a_plus[i] - t.T_a_minus[i]) / MILLI, 3) for t in signs)
        beta = case.printed["tangential_impulse_N_ms"]
        lines.append((case.label, f"{case.d:g}", _gamma(case), _energies(case)[1], beta, there, model, error,
                      (case.T_a_plus - case.T_a_minus) / MILLI, change))  # fmt: skip
    columns = (
        CASE, D, GAMMA, T_A_THERE, BETA, *T_A_PLUS, ERROR, Column("change_measured", "T_a⁺ − T_a⁻", "mJ", 3),
        Column("change_model", "model", "mJ", 3, right=True),
    )  # fmt: skip
    title = "The energy of the admissible motion, all fifteen cases, predicted from the measured T_a⁻ and β̄"
    return Table("pantograph_predicted_energies", title, columns, lines)


def _gamma(case: Case) -> float:
    return round(degrees(case.gamma), 9)


def pictures(found: Results) -> list[Picture]:
    """The impulses of all cases."""
    return [Picture("pantograph_impulses", lambda: _impulse_errors(found))]


def _impulse_errors(found: Results) -> Figure:
    """Model and measurement, case by case, and over the direction."""
    figure = new_figure(7.2, 3.6)
    left, right = figure.subplots(1, 2, width_ratios=(1.2, 1))
    p, x = found.predicted, np.arange(len(found.cases))
    left.bar(x, p.outcome.impulse["wall"] / MILLI, 0.6, color=BLUE, alpha=0.75, label="model")
    there = [case.normal / MILLI for case in found.cases]
    left.plot(x, there, "o", **MEASURED)
    left.set_xticks(x, [case.label for case in found.cases], rotation=60, ha="right", fontsize=SMALL)
    left.set_ylabel(r"$\bar\lambda$ in N ms")
    left.legend(frameon=False, ncols=2, fontsize=SMALL, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    for paper, colour in (("FK-b", BLUE), ("FK-a", VERMILION)):
        for d, marker in zip((0.0, 0.1, 0.2), MARKERS, strict=False):
            these = [i for i, case in _cases(found, paper) if case.d == d]
            if these:
                gamma = [degrees(found.cases[i].gamma) for i in these]
                right.plot(
                    gamma, 100 * p.error("normal")[these], marker, color=colour, markersize=7,
                    markerfacecolor=colour if paper == "FK-b" else "white", label=f"[{paper}], d = {d:g} m",
                )  # fmt: skip
    right.axhline(0, color=BLACK, linewidth=0.8)
    right.set_xlabel(r"$\gamma$ in degrees")
    right.set_ylabel(r"measured $\bar\lambda$ above the model, in %")
    right.legend(frameon=False, fontsize=8, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure
