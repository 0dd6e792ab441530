"""Tables and figures of what `pantograph` and `measured` compute."""

from __future__ import annotations

from math import degrees
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.papers.measured import MILLI, Case
from jourdain.papers.pantograph import CONFIGURATIONS, Results, speeds
from jourdain.papers.printed import last_digit
from jourdain.papers.printed import rows as printed_rows
from jourdain.papers.record import Beside, Cell, Column, Picture, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CASE, GAMMA = Column("case"), Column("gamma", "γ", "°", 2)
T_C, T_A = Column("T_c_minus", "T_c⁻", "mJ", 3, beside=True), Column("T_a_minus", "T_a⁻", "mJ", 3, beside=True)
XI, SPEED = Column("xi", "ξ", decimals=3, beside=True), Column("speed", "‖v_EE⁻‖", "m/s", 5, beside=True)
# [FK-b] case → case of [FK-c], which shows some of them
SHORT_VERSION = {5: 1, 6: 2, 7: 3, 8: 4}


def tables(found: Results) -> list[Table]:
    """All of them."""
    return [
        parameters(found),
        computed(found, "symmetric", "pantograph_FK-b_table_III", "[FK-b] Table III: symmetric configuration, d = 0"),
        computed(found, "asymmetric", "pantograph_FK-b_table_V", "[FK-b] Table V: asymmetric configuration, d = 0.2 m"),
        computed_short(found),
        directions(found),
        projections(found),
        measured(found, [1, 2, 3, 4], "pantograph_FK-b_table_IV", "[FK-b] Table IV: measured, d = 0"),
        measured(found, [5, 6, 7, 8, 9], "pantograph_FK-b_table_VI", "[FK-b] Table VI: measured, d = 0.2 m"),
        measured(found, list(SHORT_VERSION), "pantograph_FK-c_table_4", "[FK-c] Table 4: measured, d = 0.2 m", True),
        energies_nonideal(found),
        impulses_nonideal(found),
        predictions(found),
    ]


def parameters(found: Results) -> Table:
    """[FK-a] Table 1."""
    used = {**found.scenario.parameters, **found.settings}
    lines = [
        (line["parameter"], line["description"], line["unit"].replace("^2", "²"),
         Beside(line["value"], float(used[line["parameter"]] or 0)))
        for line in printed_rows("pantograph_parameters")
    ]  # fmt: skip
    columns = (Column("parameter"), Column("meaning"), Column("unit"), Column("value", beside=True))
    return Table(
        "pantograph_parameters", "Parameters ([FK-a] Table 1, [FK-b] Table II, [FK-c] Table 2)", columns, lines
    )


# Computed by the authors


def computed(found: Results, configuration: str, name: str, title: str) -> Table:
    """[FK-b] Tables III and V: T⁻ = 10 mJ in every case."""
    lines: list[tuple[Cell, ...]] = [
        (line["case"], float(line["gamma_deg"]), *_computed(found, i, line))
        for i, line in enumerate(printed_rows("pantograph_computed"))
        if line["configuration"] == configuration
    ]
    return Table(name, title, (CASE, GAMMA, SPEED, T_C, T_A, XI), lines)


def computed_short(found: Results) -> Table:
    """[FK-c] Table 3: the same cases, γ from the tangent."""
    lines: list[tuple[Cell, ...]] = [
        (str(SHORT_VERSION[int(line["case"])]), 90 - float(line["gamma_deg"]), *_computed(found, i, line))
        for i, line in enumerate(printed_rows("pantograph_computed"))
        if int(line["case"]) in SHORT_VERSION
    ]
    title = "[FK-c] Table 3: d = 0.2 m, γ from the tangent"
    return Table("pantograph_FK-c_table_3", title, (CASE, GAMMA, SPEED, T_C, T_A, XI), lines)


def _computed(found: Results, i: int, line: dict[str, str]) -> tuple[Beside, ...]:
    t = found.computed
    reason = f"I1 is printed with one digit: half a unit of it moves this speed by {found.speed_margin[i]:.1g} m/s."
    return (
        Beside(line["speed_m_per_s"], float(speeds(t)[i]), reason),
        Beside(line["T_c_minus_mJ"], float(t.T_c_minus[i]) / MILLI),
        Beside(line["T_a_minus_mJ"], float(t.T_a_minus[i]) / MILLI),
        Beside(line["xi"], float(t.xi[i])),
    )


def directions(found: Results) -> Table:
    """The velocity of the end effector that loses everything."""
    lines: list[tuple[Cell, ...]] = []
    for d, one in found.directions.items():
        assert one.angle is not None
        angle = degrees(one.angle[0]) + 0.0
        known = d == CONFIGURATIONS["asymmetric"]
        cells = (Beside("-7.58", angle), Beside("97.58", 90 - angle)) if known else (angle, 90 - angle)
        lines.append((f"{d:g}", float(one.xi[0]), *cells))
    columns = (
        Column("d", "d", "m"), Column("xi", "ξ", decimals=6), Column("from_normal", "γ from the normal", "°", 3, True),
        Column("from_tangent", "from the tangent", "°", 3, True),
    )  # fmt: skip
    return Table("pantograph_directions", "The direction that loses everything (ξ = 1)", columns, lines)


def projections(found: Results) -> Table:
    """[FK-a] eqs 19 and 20, and the text before them."""
    lines: list[tuple[Cell, ...]] = []
    for line in printed_rows("pantograph_projections"):
        d = float(line["d_m"])
        P = found.projectors[d]
        ours = (*P.P_cT_BT[:, 0], *P.P_aT_BT[:, 0])
        texts = (line[name] for name in ("PcT_BT_1", "PcT_BT_2", "PaT_BT_1", "PaT_BT_2"))
        reason = _reason(found, d, line)
        cells = [Beside(text, float(value) + 0.0, reason) for text, value in zip(texts, ours, strict=True)]
        lines.append((f"{d:g}", *cells))
    columns = (
        Column("d", "d", "m"), *(Column(f"P_cT_BT_{i}", f"(P_cᵀBᵀ)_{i}", "m", 5, True) for i in (1, 2)),
        *(Column(f"P_aT_BT_{i}", f"(P_aᵀBᵀ)_{i}", "m", 5, True) for i in (1, 2)),
    )  # fmt: skip
    title = "[FK-a] eqs 19–20 and text: how the tangential impulse splits"
    return Table("pantograph_FK-a_eqs_19_20", title, columns, lines)


def _reason(found: Results, d: float, line: dict[str, str]) -> str:
    """Whether another pose explains what is printed."""
    x, y = found.fitted[d]
    there = found.scenario.projectors(d=x, height=y).P_cT_BT[:, 0]
    unit = last_digit(line["PaT_BT_1"])
    fits = all(abs(there[i - 1] - float(line[f"PcT_BT_{i}"])) < 2 * unit for i in (1, 2))
    split = "There both vectors are as printed." if fits else "But there they do not split as printed."
    symmetric = "At d = 0 both entries must be equal. " if d == 0 else ""
    return f"{symmetric}The printed sum, Bᵀ, belongs to an end effector at ({x:.4f}, {y:.4f}) m. {split}"


# Measured by the authors

MEASURED_T_C, MEASURED_T_A = Column("T_c_minus", "T_c⁻", "mJ"), Column("T_a_minus", "T_a⁻", "mJ")
T_A_PLUS = (Column("T_a_plus_measured", "T_a⁺ measured", "mJ"), Column("T_a_plus_model", "model", "mJ", 4))
NORMAL = (Column("normal_measured", "λ̄ measured", "N ms", 2), Column("normal_model", "model", "N ms", 2))
ERROR = Column("normal_error", "error", "%", 1)
BETA = Column("tangential_measured", "β̄ measured", "N ms", 2)


def _places(found: Results, paper: str) -> dict[int, int]:
    """Case number → where it stands among the measured ones."""
    return {case.number: i for i, case in enumerate(found.cases) if case.paper == paper}


def _xi(found: Results, case: Case) -> Beside:
    """Printed, and from the printed energies."""
    nominal = found.scenario.solve(d=case.d, gamma=case.gamma, parameters=dict(found.settings)).xi
    ours = case.T_c_minus / (case.T_c_minus + case.T_a_minus)
    as_model = "The print is ξ of the model at the nominal γ; the printed energies give another."
    return Beside(case.xi, ours, as_model if f"{nominal:.2f}" == case.xi else "")


def measured(found: Results, numbers: list[int], name: str, title: str, short: bool = False) -> Table:
    """[FK-b] Tables IV and VI, [FK-c] Table 4, with the model's T_a⁺ and λ̄ beside."""
    lines: list[tuple[Cell, ...]] = []
    for number in numbers:
        i = _places(found, "FK-b")[number]
        case, t = found.cases[i], found.predicted.outcome
        lines.append((
            str(SHORT_VERSION[number] if short else number), case.T_c_minus / MILLI, case.T_a_minus / MILLI,
            case.T_a_plus / MILLI, float(t.T_a_plus[i]) / MILLI, _xi(found, case), case.normal / MILLI,
            float(t.impulse["wall"][i]) / MILLI, 100 * float(found.predicted.error("normal")[i]),
            case.tangential / MILLI,
        ))  # fmt: skip
    columns = (CASE, MEASURED_T_C, MEASURED_T_A, *T_A_PLUS, XI, *NORMAL, ERROR, BETA)
    return Table(name, title, columns, lines)


def energies_nonideal(found: Results) -> Table:
    """[FK-a] Table 2."""
    lines: list[tuple[Cell, ...]] = []
    for line in printed_rows("pantograph_nonideal_measured"):
        i = _places(found, "FK-a")[int(line["case"])]
        case, t = found.cases[i], found.predicted.outcome
        energies = (float(line[f"{name}_mJ"]) for name in ("T_c_minus", "T_a_minus", "T_c_plus"))
        lines.append((line["case"], f"{case.d:g}", degrees(case.gamma), *energies, float(t.T_c_plus[i]) / MILLI,
                      case.T_a_plus / MILLI, float(t.T_a_plus[i]) / MILLI, _xi(found, case)))  # fmt: skip
    after = (Column("T_c_plus_measured", "T_c⁺ measured", "mJ"), Column("T_c_plus_model", "model", "mJ", 4))
    columns = (CASE, Column("d", "d", "m"), GAMMA, MEASURED_T_C, MEASURED_T_A, *after, *T_A_PLUS, XI)
    return Table("pantograph_FK-a_table_2", "[FK-a] Table 2: energies, γ from the normal", columns, lines)


def impulses_nonideal(found: Results) -> Table:
    """[FK-a] Table 3."""
    lines: list[tuple[Cell, ...]] = []
    for number, i in _places(found, "FK-a").items():
        case, t = found.cases[i], found.predicted.outcome
        lines.append((str(number), case.normal / MILLI, float(t.impulse["wall"][i]) / MILLI,
                      100 * float(found.predicted.error("normal")[i]), case.tangential / MILLI,
                      float(t.Lambda["wall"][i]) / MILLI))  # fmt: skip
    columns = (CASE, *NORMAL, ERROR, BETA, Column("Lambda", "Λ̄ model", "N ms", 3))
    return Table("pantograph_FK-a_table_3", "[FK-a] Table 3: impulses", columns, lines)


def predictions(found: Results) -> Table:
    """All fifteen measured cases, from their energies and β̄."""
    p = found.predicted
    lines: list[tuple[Cell, ...]] = []
    for i, case in enumerate(found.cases):
        lines.append((
            case.label, f"{case.d:g}", degrees(case.gamma), case.tangential / MILLI,
            case.normal / MILLI, float(p.ideal.impulse["wall"][i]) / MILLI, float(p.outcome.impulse["wall"][i]) / MILLI,
            100 * float(p.error("normal")[i]),
            case.T_a_minus / MILLI, case.T_a_plus / MILLI, float(p.outcome.T_a_plus[i]) / MILLI,
            100 * float(p.error("T_a_plus")[i]),
        ))  # fmt: skip
    columns = (
        CASE, Column("d", "d", "m"), GAMMA, BETA, NORMAL[0], Column("normal_ideal", "model, β̄ = 0", "N ms", 2),
        Column("normal_model", "model with β̄", "N ms", 2), ERROR, MEASURED_T_A, *T_A_PLUS,
        Column("T_a_plus_error", "error", "%", 1),
    )  # fmt: skip
    title = "Predicted from the measured T_c⁻, T_a⁻ and β̄, all fifteen cases; error = (measured − model) / model"
    return Table("pantograph_predictions", title, columns, lines)


# Figures


def pictures(found: Results) -> list[Picture]:
    """Drawings, energies with the measured points, ξ over direction, impulses."""
    return [
        Picture("pantograph_drawing", lambda: _drawings(found)),
        Picture("pantograph_energies_gamma", lambda: _over_gamma(found), found.over_gamma),
        Picture("pantograph_energies_d", lambda: _over_d(found), found.over_d),
        Picture("pantograph_xi", lambda: _polar(found), found.around),
        Picture("pantograph_impulses", lambda: _impulses(found)),
    ]


def _drawings(found: Results) -> Figure:
    from matplotlib.figure import Figure

    from jourdain.plots import drawing

    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    given: dict[str, Any] = dict(found.settings)
    drawing(found.scenario, left, d=0.0, gamma=np.radians(30), **given)
    drawing(found.scenario, right, d=CONFIGURATIONS["asymmetric"], gamma=np.radians(30), **given)
    left.get_legend().remove()
    return figure


def _over_gamma(found: Results) -> Figure:
    """One panel for each configuration."""
    from matplotlib.figure import Figure

    from jourdain.plots import energy_curves

    figure = Figure(figsize=(7.2, 3.1), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for ax, (configuration, d) in zip(axes, CONFIGURATIONS.items(), strict=True):
        energy_curves(found.over_gamma.sel(d=d), over="gamma", ax=ax)
        _points(ax, [case for case in found.cases if case.paper == "FK-b" and case.d == d], "gamma")
        ax.set_title(f"{configuration}, d = {d:g} m", fontsize=10)
    axes[0].get_legend().remove()
    return figure


def _over_d(found: Results) -> Figure:
    """One panel for each direction."""
    from matplotlib.figure import Figure

    from jourdain.plots import energy_curves

    figure = Figure(figsize=(7.2, 3.1), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for ax, gamma in zip(axes, found.over_d.gamma.values, strict=True):
        energy_curves(found.over_d.sel(gamma=gamma), over="d", ax=ax)
        _points(ax, [case for case in found.cases if case.paper == "FK-a" and case.gamma == gamma], "d")
        ax.set_title(f"γ = {degrees(gamma):g}° from the normal", fontsize=10)
    axes[0].get_legend().remove()
    return figure


def _points(ax: Axes, some: list[Case], over: str) -> None:
    from jourdain.plots import measured

    x = [getattr(case, over) for case in some]
    measured(ax, x, [case.T_c_minus for case in some], label="$T_c^-$ measured")
    measured(ax, x, [case.T_a_minus for case in some], label="$T_a^-$ measured")
    measured(ax, x, [case.T_a_plus for case in some], label="$T_a^+$ measured")


def _polar(found: Results) -> Axes:
    from jourdain.plots import polar

    return polar(found.around, "xi", over="gamma")


def _impulses(found: Results) -> Figure:
    """Model and measurement, case by case."""
    from matplotlib.figure import Figure

    from jourdain.plots.style import BLACK, BLUE, MARKERS, SMALL, VERMILION

    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.2, 1))
    p = found.predicted
    model = p.outcome.impulse["wall"] / MILLI
    there = np.array([case.normal for case in found.cases]) / MILLI
    x = np.arange(len(found.cases))
    left.bar(x, model, 0.6, color=BLUE, alpha=0.75, label="model")
    left.plot(x, there, "o", color=BLACK, markerfacecolor="white", markersize=6, label="measured")
    left.set_xticks(x, [case.label for case in found.cases], rotation=60, ha="right", fontsize=SMALL)
    left.set_ylabel(r"$\bar\lambda$ in N ms")
    left.legend(frameon=False, ncols=2, fontsize=SMALL, loc="upper center", bbox_to_anchor=(0.5, 1.12))
    for (paper, colour), marker in zip((("FK-b", BLUE), ("FK-a", VERMILION)), MARKERS, strict=False):
        these = [i for i, case in enumerate(found.cases) if case.paper == paper]
        right.plot([found.cases[i].T_c_minus / MILLI for i in these], 100 * p.error("normal")[these], marker,
                   color=colour, label=f"[{paper}]", markersize=7)  # fmt: skip
    right.axhline(0, color=BLACK, linewidth=0.8)
    right.set_xlabel("$T_c^-$ measured, in mJ")
    right.set_ylabel(r"measured $\bar\lambda$ above the model, in %")
    right.legend(frameon=False, fontsize=SMALL)
    return figure
