"""Tables and figures of the papers' experiments on the virtual testbed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import degrees
from typing import TYPE_CHECKING

import numpy as np

from jourdain.data.numbers import amount, fixed
from jourdain.experiment.strike import Strike
from jourdain.inputs import Array
from jourdain.plots import energies_over_time, style
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
)
from jourdain.studies.papers.case_figures import key_above, label_ticks, measured_points
from jourdain.studies.papers.friction import PAPER, Fitted
from jourdain.studies.papers.measured import MILLI
from jourdain.studies.papers.panels import two_in_a_row
from jourdain.studies.papers.record import Column, Picture, Table, table_of
from jourdain.studies.papers.testbed import Bench

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def tables(found: Bench) -> list[Table]:
    """All of them."""
    fitted = {"Coulomb, f = μ": found.friction.coulomb, "f = c u_t, plate tilted": found.friction.by_slip}
    laws = [(name, law, found.friction.right_signs(law)) for name, law in fitted.items()]
    return [
        table_of("testbed_strikes", "The fifteen cases as measured, and as read from a log of the testbed with one "
                 "push and one μ for each set-up", case_rows(found), STRIKES),
        table_of("testbed_shares", "The normal impulse: what finite contact time, friction and the motors change, "
                 "each alone", case_rows(found), SHARES),
        table_of("testbed_push", "One constant push of the motors for each set-up, by least squares",
                 found.groups, PUSHES),
        table_of("testbed_orders", "v⁺ at the end of compression goes to that of the event with the stiffness k of the "
                 "surface, as k^(−order)", found.convergence, ORDERS),
        table_of("testbed_friction", "The tangential impulse of [FK-b]: least squares over the nine cases, with "
                 "standard deviations", laws, LAWS),
        table_of("testbed_tangential", "The tangential impulse, case by case", case_rows(found, PAPER), TANGENTIAL),
    ]  # fmt: skip


def pictures(found: Bench) -> list[Picture]:
    """All of them."""
    shown: dict[str, tuple[str, Sequence[int], dict[int, int]]] = {
        "pantograph_FK-a_figure_4": ("FK-a", (1, 2, 3, 4, 5, 6), {}),
        "pantograph_FK-b_figure_9": ("FK-b", (1, 2, 3, 4), {}),
        "pantograph_FK-b_figure_10": ("FK-b", (5, 6, 7, 8, 9), {}),
        "pantograph_FK-c_figure_5": ("FK-b", tuple(SHORT_VERSION), SHORT_VERSION),
    }
    return [
        *(Picture(name, partial(_over_time, found, *of)) for name, of in shown.items()),
        Picture("testbed_convergence", lambda: _convergence(found)),
        Picture("testbed_normal_impulse", lambda: _normal(found)),
        Picture("testbed_tangential_impulse", lambda: _tangential(found)),
    ]


# Tables


def _strike(name: str, unit: str, value: Callable[[Strike], float]) -> Column:
    """A number of the testbed's strike."""
    decimals = 3 if unit == "mJ" else 2
    return Column(
        f"{name}_testbed", "testbed", unit, decimals, cell=lambda row: value(row.found.strikes[row.i]) / MILLI
    )


def _compression(row: CaseRow) -> float:
    strike: Strike = row.found.strikes[row.i]
    return (strike.end - strike.onset) / MILLI


def _push_needed(found: Bench) -> Array:
    """What explains the rest of the excess, N."""
    return (found.excess - found.by_time - found.by_friction) / found.by_push


def _numbers(law: Fitted) -> str:
    shown = []
    for name, (value, deviation) in law.numbers.items():
        if name.startswith("tilt"):
            shown.append(f"{name}: {fixed(degrees(value), 2)} ± {degrees(deviation):.2f}°")
        else:
            unit, digits = (" s/m", 2) if name == "c" else ("", 3)
            shown.append(f"{name} = {fixed(value, digits)} ± {deviation:.{digits}f}{unit}")
    return "; ".join(shown)


STRIKES = (
    *(LABEL, T_C_MINUS, _strike("T_c_minus", "mJ", lambda strike: strike.T_c_minus)),
    *(T_A_MINUS, _strike("T_a_minus", "mJ", lambda strike: strike.T_a_minus)),
    *(T_A_PLUS, _strike("T_a_plus", "mJ", lambda strike: strike.T_a_plus)),
    *(NORMAL, _strike("normal", "N ms", lambda strike: strike.impulse["wall"])),
    *(BETA, _strike("tangential", "N ms", lambda strike: strike.impulse["slide"])),
    Column("compression", "compression", "ms", 1, cell=_compression),
)
SHARES = (
    *(LABEL, D, GAMMA),
    computed("excess", "measured above model", "%", 1, lambda found: found.excess),
    computed("by_time", "by contact time", "%", 2, lambda found: found.by_time),
    computed("by_friction", "by friction", "%", 2, lambda found: found.by_friction),
    computed("by_push", "by a push of 1 N", "%", 1, lambda found: found.by_push),
    computed("push_needed", "push that explains the rest", "N", 2, _push_needed),
)
LAWS = (  # of (name, law, whether each sign is right)
    Column("law", "friction inside the event", cell=lambda item: item[0]),
    Column("numbers", cell=lambda item: _numbers(item[1])),
    Column("rms", "rms left", "N ms", 2, cell=lambda item: item[1].rms / MILLI),
    Column("signs", "right signs", right=True, cell=lambda item: f"{item[2].sum()} of {len(item[2])}"),
)
PUSHES = (
    Column("cases", cell=lambda group: group.label),
    Column("push", "push", "N", right=True, cell=lambda group: f"{group.push:.2f} ± {group.deviation:.2f}"),
    Column("before", "rms of the deviation", "%", 1, cell=lambda group: 100 * group.before),
    Column("after", "with the push", "%", 1, cell=lambda group: 100 * group.after),
)
ORDERS = (
    Column("exponent", "n", right=True, cell=lambda one: f"{one.exponent:g}"),
    Column("order", "order found", decimals=3),
    Column("theory", "1/(n + 1)", decimals=3),
    Column("distance_soft", "distance, softest", digits=3, cell=lambda one: float(one.distance[0])),
    Column("distance_stiff", "stiffest", digits=3, cell=lambda one: float(one.distance[-1])),
    Column("time_soft", "compression, softest", "ms", 3, cell=lambda one: float(one.contact_time[0] / MILLI)),
    Column("time_stiff", "stiffest", "ms", 3, cell=lambda one: float(one.contact_time[-1] / MILLI)),
)
# The cases of [FK-b] are the first of all.
TANGENTIAL = (
    *(NUMBER, D, GAMMA),
    computed("slip", "ẋ before", "m/s", 3, lambda found: found.friction.slip_minus),
    BETA,
    computed("coulomb", "Coulomb", "N ms", 2, lambda found: found.friction.coulomb.tangential),
    computed("by_slip", "f = c u_t, tilted", "N ms", 2, lambda found: found.friction.by_slip.tangential),
)


# Figures


def _over_time(found: Bench, paper: str, numbers: Sequence[int], renamed: dict[int, int]) -> Figure:
    """T_c and T_a through one strike of each case, as the experiment's own evaluation gives them."""
    figure, axes = two_in_a_row(len(numbers), 2.3, sharex=True, sharey=True)
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
    ax.set(xlabel=r"stiffness $k$ in N/m$^n$", ylabel=r"$\|v^+ - v^+_\mathrm{event}\|_M\;/\;\|v^-\|_M$")
    key_above(ax, 3, 0.45, columnspacing=1.2)
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
    measured_points(ax, 100 * found.excess)
    style.zero(ax)
    label_ticks(ax, found.cases)
    ax.set_ylabel(r"$\bar\lambda$ above the model, in %")
    key_above(ax, 4)
    return ax


def _tangential(found: Bench) -> Axes:
    ax = style.new_axes(6.4, 3.4)
    rubbing, cases = found.friction, [case for case in found.cases if case.paper == PAPER]
    x = np.arange(len(cases))
    ax.bar(x - 0.2, rubbing.coulomb.tangential / MILLI, 0.36, color=style.BLUE, label="Coulomb")
    looks = style.bar_looks(style.VERMILION, "//")
    ax.bar(x + 0.2, rubbing.by_slip.tangential / MILLI, 0.36, label=r"$f = c\,u_t$, plate tilted", **looks)
    measured_points(ax, rubbing.measured / MILLI)
    style.zero(ax)
    ax.set_xticks(x, [f"{case.number}\n{amount(case.gamma, 'rad', 3)}" for case in cases], fontsize=style.SMALL)
    ax.set_xlabel(r"case of [FK-b], $\gamma$ (1–4: $d = 0$; 5–9: $d = 0.2$ m)")
    ax.set_ylabel(r"$\bar\beta$ in N ms")
    key_above(ax, 3)
    return ax
