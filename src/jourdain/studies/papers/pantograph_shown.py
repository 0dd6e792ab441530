"""Tables and figures of what `pantograph` computes."""

from __future__ import annotations

from math import degrees
from typing import TYPE_CHECKING

import numpy as np

from jourdain.plots import energy_curves, measured, polar
from jourdain.plots.style import new_figure
from jourdain.quantities import QUANTITIES
from jourdain.studies.papers.case_columns import SHORT_VERSION
from jourdain.studies.papers.measured import CONFIGURATIONS, MILLI
from jourdain.studies.papers.panels import drawings
from jourdain.studies.papers.pantograph import ROUNDED, Results, speeds
from jourdain.studies.papers.printed import column, last_digit, said
from jourdain.studies.papers.printed import rows as printed_rows
from jourdain.studies.papers.record import Beside, Cell, Column, Picture, Table, parameters_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from jourdain.algebra.projectors import Projectors

D = Column("d", "d", "m")
COMPUTED = (
    Column("case"),
    Column("gamma", "γ", "°", 2),
    Column("speed", "‖v_EE⁻‖", "m/s", 5, beside=True),
    Column("T_c_minus", "T_c⁻", "mJ", 3, beside=True),
    Column("T_a_minus", "T_a⁻", "mJ", 3, beside=True),
    Column("xi", "ξ", decimals=3, beside=True),
)


def tables(found: Results) -> list[Table]:
    """All of them."""
    title = "Parameters ([FK-a] Table 1, [FK-b] Table II, [FK-c] Table 2)"
    return [
        parameters_table("pantograph_parameters", title, found.scenario, found.settings),
        computed(found, "symmetric", "pantograph_FK-b_table_III", "[FK-b] Table III: symmetric configuration, d = 0"),
        computed(found, "asymmetric", "pantograph_FK-b_table_V", "[FK-b] Table V: asymmetric configuration, d = 0.2 m"),
        computed(
            found, "asymmetric", "pantograph_FK-c_table_3", "[FK-c] Table 3: d = 0.2 m, γ from the tangent", short=True
        ),
        directions(found),
        projections(found),
    ]


# Computed by the authors


def computed(found: Results, configuration: str, name: str, title: str, short: bool = False) -> Table:
    """[FK-b] Tables III and V, T⁻ = 10 mJ in every case; in short [FK-c] Table 3, which has γ from the tangent."""
    lines: list[tuple[Cell, ...]] = []
    for i, line in enumerate(printed_rows("pantograph_computed")):
        number, gamma = int(line["case"]), float(line["gamma_deg"])
        if line["configuration"] == configuration and (number in SHORT_VERSION or not short):
            case: tuple[str, float] = (str(SHORT_VERSION[number]), 90 - gamma) if short else (str(number), gamma)
            lines.append((*case, *_computed(found, i, line)))
    return Table(name, title, COMPUTED, lines)


def _computed(found: Results, i: int, line: dict[str, str]) -> tuple[Beside, ...]:
    t = found.computed
    within = ", ".join(f"{name} = {value:g}" for name, value in ROUNDED.items())
    fits = f"{speeds(found.rounded)[i]:.4f}" == line["speed_m_per_s"]
    reason = f"Rounding of the parameters: with {within}, which round to the printed ones, it is as printed." * fits
    columns: dict[str, tuple[float, str]] = {
        "speed_m_per_s": (float(speeds(t)[i]), reason),
        "T_c_minus_mJ": (float(t.T_c_minus[i]) / MILLI, ""),
        "T_a_minus_mJ": (float(t.T_a_minus[i]) / MILLI, ""),
        "xi": (float(t.xi[i]), ""),
    }
    return tuple(
        Beside(line[name], ours, why, column("pantograph_computed", name)) for name, (ours, why) in columns.items()
    )


def directions(found: Results) -> Table:
    """The velocity of the end effector that loses everything."""
    lines: list[tuple[Cell, ...]] = []
    for d, one in found.directions.items():
        assert one.angle is not None
        angle = degrees(one.angle[0]) + 0.0
        cells: tuple[Cell, ...] = (angle, 90 - angle)
        if d == CONFIGURATIONS["asymmetric"]:
            cells = (Beside(said("xi_1_from_normal"), angle), Beside(said("xi_1_from_tangent"), 90 - angle))
        lines.append((f"{d:g}", float(one.xi[0]), *cells))
    columns = (
        D, Column("xi", "ξ", decimals=6), Column("from_normal", "γ from the normal", "°", 3, True),
        Column("from_tangent", "from the tangent", "°", 3, True),
    )  # fmt: skip
    return Table("pantograph_directions", "The direction that loses everything (ξ = 1)", columns, lines)


def projections(found: Results) -> Table:
    """[FK-a] eqs 19 and 20, and the text before them."""
    lines: list[tuple[Cell, ...]] = []
    for line in printed_rows("pantograph_projections"):
        d = float(line["d_m"])
        reason = _reason(found, d, line)
        cells = [
            Beside(line[name], value + 0.0, reason, column("pantograph_projections", name))
            for name, value in _split(found.projectors[d]).items()
        ]
        lines.append((f"{d:g}", *cells))
    vectors = [Column(f"P_{part}T_BT_{i}", f"(P_{part}ᵀBᵀ)_{i}", "m", 5, True) for part in "ca" for i in (1, 2)]
    title = "[FK-a] eqs 19–20 and text: how the tangential impulse splits"
    return Table("pantograph_FK-a_eqs_19_20", title, (D, *vectors), lines)


def _split(P: Projectors) -> dict[str, float]:
    """P_cᵀBᵀ and P_aᵀBᵀ, by the headers of the printed table."""
    vectors = {"PcT": P.P_cT_BT, "PaT": P.P_aT_BT}
    return {f"{part}_BT_{i}": float(vector[i - 1, 0]) for part, vector in vectors.items() for i in (1, 2)}


def _reason(found: Results, d: float, line: dict[str, str]) -> str:
    """Whether another pose explains what is printed."""
    x, y = found.fitted[d]
    there = _split(found.scenario.projectors(d=x, height=y))
    unit = last_digit(line["PaT_BT_1"])
    off = max(abs(value - float(line[name])) for name, value in there.items()) / unit
    split = (
        f"there both vectors are as printed within {off:.1f} units." if off < 2 else "but there they do not split so."
    )
    symmetric = "At d = 0 both entries must be equal. " if d == 0 else ""
    return (
        f"{symmetric}The nearest pose with the printed sum, Bᵀ, has the end effector at ({x:.4f}, {y:.4f}) m; {split}"
    )


# Figures


def pictures(found: Results) -> list[Picture]:
    """Drawings, energies with the measured points, ξ over direction."""
    by_d = {d: f"{configuration}, d = {d:g} m" for configuration, d in CONFIGURATIONS.items()}
    by_gamma = {gamma: f"γ = {degrees(gamma):g}° from the normal" for gamma in found.over_d.gamma.values}
    return [
        Picture("pantograph_drawing", lambda: _drawings(found)),
        Picture("pantograph_energies_gamma", lambda: _energies(found, "gamma", "FK-b", by_d), found.over_gamma),
        Picture("pantograph_energies_d", lambda: _energies(found, "d", "FK-a", by_gamma), found.over_d),
        Picture("pantograph_xi", lambda: polar(found.around, "xi", over="gamma"), found.around),
    ]


def _drawings(found: Results) -> Figure:
    return drawings([
        (f"{name}, d = {d:g} m", found.scenario, {"d": d, "gamma": np.radians(30), **found.settings})
        for name, d in CONFIGURATIONS.items()
    ])  # fmt: skip


def _energies(found: Results, over: str, paper: str, panels: dict[float, str]) -> Figure:
    """Energies and the measured points over γ or d, one panel for each value of the other one."""
    figure = new_figure(7.2, 3.1)
    axes = figure.subplots(1, 2, sharey=True)
    by, ds = ("d", found.over_gamma) if over == "gamma" else ("gamma", found.over_d)
    for ax, (value, title) in zip(axes, panels.items(), strict=True):
        energy_curves(ds.sel({by: value}), over=over, ax=ax)
        cases = [case for case in found.cases if case.paper == paper and getattr(case, by) == value]
        for name in ("T_c_minus", "T_a_minus", "T_a_plus"):
            x, y = ([getattr(case, what) for case in cases] for what in (over, name))
            measured(ax, x, y, label=f"${QUANTITIES[name].latex}$ measured")
        ax.set_title(title, fontsize=10)
    axes[0].get_legend().remove()
    return figure
