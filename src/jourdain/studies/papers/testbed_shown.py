"""Tables and figures of the papers' experiments on the virtual testbed."""

from __future__ import annotations

from collections.abc import Sequence
from math import degrees
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.data.numbers import amount, fixed
from jourdain.plots import energies_over_time, style
from jourdain.studies.papers.friction import PAPER, Fitted
from jourdain.studies.papers.measured import MILLI
from jourdain.studies.papers.measured_shown import BETA, MEASURED, NORMAL, T_A_THERE, T_C_THERE, as_printed
from jourdain.studies.papers.pantograph_shown import CASE, GAMMA, SHORT_VERSION, D
from jourdain.studies.papers.record import Cell, Column, Picture, Table
from jourdain.studies.papers.testbed import Bench

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KEY: dict[str, Any] = {"frameon": False, "fontsize": style.SMALL, "loc": "lower center"}  # of a figure, above it


def tables(found: Bench) -> list[Table]:
    """All of them."""
    return [strikes(found), explained(found), pushes(found), orders(found), laws(found), tangential(found)]


def pictures(found: Bench) -> list[Picture]:
    """All of them."""
    shown = {
        "pantograph_FK-a_figure_4": ("FK-a", (1, 2, 3, 4, 5, 6), {}),
        "pantograph_FK-b_figure_9": ("FK-b", (1, 2, 3, 4), {}),
        "pantograph_FK-b_figure_10": ("FK-b", (5, 6, 7, 8, 9), {}),
        "pantograph_FK-c_figure_5": ("FK-b", tuple(SHORT_VERSION), SHORT_VERSION),
    }
    panels = [
        Picture(name, lambda of=of: _over_time(found, *of))  # type: ignore[misc]
        for name, of in shown.items()
    ]
    return [
        *panels,
        Picture("testbed_convergence", lambda: _convergence(found)),
        Picture("testbed_normal_impulse", lambda: _normal(found)),
        Picture("testbed_tangential_impulse", lambda: _tangential(found)),
    ]


# Tables


def strikes(found: Bench) -> Table:
    """All fifteen cases: what was measured, and what a log of the testbed gives."""
    lines: list[tuple[Cell, ...]] = []
    for case, strike in zip(found.cases, found.strikes, strict=True):
        ours = {
            "T_c_minus_mJ": strike.T_c_minus, "T_a_minus_mJ": strike.T_a_minus, "T_a_plus_mJ": strike.T_a_plus,
            "normal_impulse_N_ms": strike.impulse["wall"], "tangential_impulse_N_ms": strike.impulse["slide"],
        }  # fmt: skip
        beside = [cell for name, value in ours.items() for cell in (case.printed[name], value / MILLI)]
        lines.append((case.label, *beside, (strike.end - strike.onset) / MILLI))
    columns = (
        CASE, T_C_THERE, Column("T_c_minus_testbed", "testbed", "mJ", 3), T_A_THERE,
        Column("T_a_minus_testbed", "testbed", "mJ", 3), as_printed("T_a_plus_measured", "T_a⁺", "mJ"),
        Column("T_a_plus_testbed", "testbed", "mJ", 3), NORMAL[0], Column("normal_testbed", "testbed", "N ms", 2), BETA,
        Column("tangential_testbed", "testbed", "N ms", 2), Column("compression", "compression", "ms", 1),
    )  # fmt: skip
    title = (
        "The fifteen cases as measured, and as read from a log of the testbed with one push and one μ for each set-up"
    )
    return Table("testbed_strikes", title, columns, lines)


def explained(found: Bench) -> Table:
    """What could make the measured normal impulse larger than the model's."""
    lines: list[tuple[Cell, ...]] = []
    for i, case in enumerate(found.cases):
        rest = found.excess[i] - found.by_time[i] - found.by_friction[i]
        shares = (found.excess[i], found.by_time[i], found.by_friction[i], found.by_push[i])
        lines.append((case.label, f"{case.d:g}", round(degrees(case.gamma), 9), *(100 * float(x) for x in shares),
                      float(rest / found.by_push[i])))  # fmt: skip
    columns = (
        CASE, D, GAMMA, Column("excess", "measured above model", "%", 1), Column("by_time", "by contact time", "%", 2),
        Column("by_friction", "by friction", "%", 2), Column("by_push", "by a push of 1 N", "%", 1),
        Column("push_needed", "push that explains the rest", "N", 2),
    )  # fmt: skip
    title = "The normal impulse: what finite contact time, friction and the motors change, each alone"
    return Table("testbed_shares", title, columns, lines)


def pushes(found: Bench) -> Table:
    """One push for each set-up."""
    lines: list[tuple[Cell, ...]] = [
        (group.label, f"{group.push:.2f} ± {group.deviation:.2f}", 100 * group.before, 100 * group.after)
        for group in found.groups
    ]
    columns = (
        Column("cases"), Column("push", "push", "N", right=True),
        Column("before", "rms of the deviation", "%", 1), Column("after", "with the push", "%", 1),
    )  # fmt: skip
    return Table("testbed_push", "One constant push of the motors for each set-up, by least squares", columns, lines)


def orders(found: Bench) -> Table:
    """The order of convergence to the rigid outcome."""
    lines: list[tuple[Cell, ...]] = [
        (f"{one.exponent:g}", one.order, one.theory, float(one.distance[0]), float(one.distance[-1]),
         float(one.contact_time[0] / MILLI), float(one.contact_time[-1] / MILLI))
        for one in found.convergence
    ]  # fmt: skip
    columns = (
        Column("exponent", "n", right=True), Column("order", "order found", decimals=3),
        Column("theory", "1/(n + 1)", decimals=3), Column("distance_soft", "distance, softest", digits=3),
        Column("distance_stiff", "stiffest", digits=3), Column("time_soft", "compression, softest", "ms", 3),
        Column("time_stiff", "stiffest", "ms", 3),
    )  # fmt: skip
    title = "v⁺ at the end of compression goes to that of the event with the stiffness k of the surface, as k^(−order)"
    return Table("testbed_orders", title, columns, lines)


def laws(found: Bench) -> Table:
    """The two laws of friction with their numbers."""
    fitted = {"Coulomb, f = μ": found.friction.coulomb, "f = c u_t, plate tilted": found.friction.by_slip}
    lines: list[tuple[Cell, ...]] = [
        (name, _numbers(law), law.rms / MILLI, _signs(found, law)) for name, law in fitted.items()
    ]
    columns = (
        Column("law", "friction inside the event"), Column("numbers"), Column("rms", "rms left", "N ms", 2),
        Column("signs", "right signs", right=True),
    )  # fmt: skip
    title = "The tangential impulse of [FK-b]: least squares over the nine cases, with standard deviations"
    return Table("testbed_friction", title, columns, lines)


def tangential(found: Bench) -> Table:
    """The nine cases by both laws."""
    rubbing, cases = found.friction, [case for case in found.cases if case.paper == PAPER]
    lines: list[tuple[Cell, ...]] = [
        (str(case.number), f"{case.d:g}", round(degrees(case.gamma), 9), float(rubbing.slip_minus[i]),
         case.printed["tangential_impulse_N_ms"], float(rubbing.coulomb.tangential[i] / MILLI),
         float(rubbing.by_slip.tangential[i] / MILLI))
        for i, case in enumerate(cases)
    ]  # fmt: skip
    columns = (
        CASE, D, GAMMA, Column("slip", "ẋ before", "m/s", 3), BETA, Column("coulomb", "Coulomb", "N ms", 2),
        Column("by_slip", "f = c u_t, tilted", "N ms", 2),
    )  # fmt: skip
    return Table("testbed_tangential", "The tangential impulse, case by case", columns, lines)


def _numbers(law: Fitted) -> str:
    shown = []
    for name, (value, deviation) in law.numbers.items():
        if name.startswith("tilt"):
            shown.append(f"{name}: {fixed(degrees(value), 2)} ± {degrees(deviation):.2f}°")
        else:
            unit, digits = (" s/m", 2) if name == "c" else ("", 3)
            shown.append(f"{name} = {fixed(value, digits)} ± {deviation:.{digits}f}{unit}")
    return "; ".join(shown)


def _signs(found: Bench, law: Fitted) -> str:
    right = np.sign(law.tangential) == np.sign(found.friction.measured)
    return f"{right.sum()} of {len(right)}"


# Figures


def _over_time(found: Bench, paper: str, numbers: Sequence[int], renamed: dict[int, int]) -> Figure:
    """T_c and T_a through one strike of each case, as the experiment's own evaluation gives them."""
    n_rows = (len(numbers) + 1) // 2
    figure = style.new_figure(7.2, 2.3 * n_rows)
    axes = list(figure.subplots(n_rows, 2, sharex=True, sharey=True, squeeze=False).flat)
    at = {case.number: i for i, case in enumerate(found.cases) if case.paper == paper}
    for k, (ax, number) in enumerate(zip(axes, numbers, strict=False)):
        energies_over_time(found.strikes[at[number]], ax, f"case {renamed.get(number, number)}", key=k == 0)
        if k + 2 < len(numbers):
            ax.set_xlabel("")
        ax.tick_params(labelbottom=k + 2 >= len(numbers))
        if k % 2:
            ax.set_ylabel("")
    for ax in axes[len(numbers) :]:
        ax.axis("off")
    return figure


def _convergence(found: Bench) -> Axes:
    ax = style.new_axes(5.6, 3.8)
    for i, one in enumerate(found.convergence):
        ax.loglog(one.stiffness, one.distance, style.MARKERS[i], color=style.PALETTE[i], markersize=5,
                  label=f"n = {one.exponent:g}: order {one.order:.3f}")  # fmt: skip
        line = one.distance[-1] * (one.stiffness / one.stiffness[-1]) ** -one.theory
        ax.loglog(one.stiffness, line, color=style.PALETTE[i], linestyle=style.LINE_STYLES[i], linewidth=0.9,
                  label=f"$k^{{-1/{one.exponent + 1:g}}}$")  # fmt: skip
    ax.set_xlabel(r"stiffness $k$ in N/m$^n$")
    ax.set_ylabel(r"$\|v^+ - v^+_\mathrm{event}\|_M\;/\;\|v^-\|_M$")
    ax.legend(ncols=3, bbox_to_anchor=(0.45, 1.0), columnspacing=1.2, **KEY)
    return ax


def _normal(found: Bench) -> Axes:
    """The measured excess, and what the testbed has of it."""
    ax = style.new_axes(7.2, 3.6)
    x = np.arange(len(found.cases))
    push = {i: group.push for group in found.groups for i in group.places}
    motors = np.array([push[i] * found.by_push[i] for i in range(len(x))])
    ax.bar(x, 100 * motors, 0.6, label="motors, one push for each set-up", **style.bar_looks(style.BLUE, ""))
    ax.bar(x - 0.15, 100 * found.by_time, 0.25, label="contact time", **style.bar_looks(style.ORANGE, ""))
    ax.bar(x + 0.15, 100 * found.by_friction, 0.25, label="friction", **style.bar_looks(style.GREEN, ""))
    ax.plot(x, 100 * found.excess, "o", **MEASURED)
    ax.axhline(0, color=style.BLACK, linewidth=0.8)
    ax.set_xticks(x, [case.label for case in found.cases], rotation=60, ha="right", fontsize=style.SMALL)
    ax.set_ylabel(r"$\bar\lambda$ above the model, in %")
    ax.legend(ncols=4, bbox_to_anchor=(0.5, 1.0), **KEY)
    return ax


def _tangential(found: Bench) -> Axes:
    ax = style.new_axes(6.4, 3.4)
    rubbing, cases = found.friction, [case for case in found.cases if case.paper == PAPER]
    x = np.arange(len(cases))
    ax.bar(x - 0.2, rubbing.coulomb.tangential / MILLI, 0.36, color=style.BLUE, label="Coulomb")
    looks = style.bar_looks(style.VERMILION, "//")
    ax.bar(x + 0.2, rubbing.by_slip.tangential / MILLI, 0.36, label=r"$f = c\,u_t$, plate tilted", **looks)
    ax.plot(x, rubbing.measured / MILLI, "o", **MEASURED)
    ax.axhline(0, color=style.BLACK, linewidth=0.8)
    ax.set_xticks(x, [f"{case.number}\n{amount(case.gamma, 'rad', 3)}" for case in cases], fontsize=style.SMALL)
    ax.set_xlabel(r"case of [FK-b], $\gamma$ (1–4: $d = 0$; 5–9: $d = 0.2$ m)")
    ax.set_ylabel(r"$\bar\beta$ in N ms")
    ax.legend(ncols=3, bbox_to_anchor=(0.5, 1.0), **KEY)
    return ax
