"""All problems of [WC]: their closed forms beside the numbers, and the maps of Table 1 for the sleigh."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import sympy as sp

from jourdain import gallery
from jourdain.gallery.sleigh import Case
from jourdain.plots import energy_bars
from jourdain.plots.style import new_figure
from jourdain.studies.papers.panels import drawings
from jourdain.studies.papers.record import Cell, Column, Formula, Picture, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from jourdain.algebra.privileged import Phase, Phases
    from jourdain.scenarios.scenario import Scenario

m, M, I, I_1, I_2, m_1, m_2 = sp.symbols("m M I I_1 I_2 m_1 m_2")
r, a, l, P, kappa = sp.symbols("r a l P kappa")
alpha, beta, theta, psi, psi_S = sp.symbols("alpha beta theta psi psi_S_plus")
omega, spin = sp.symbols("omega spin")
u, v_C, v_S, v_x, v_z, h_x, h_y, h_z = sp.symbols("u v_C v_S_plus v_x v_z h_x h_y h_z")
v_1x, v_1y, v_2x, v_2y = sp.symbols("v_1x v_1y v_2x v_2y")


@dataclass(frozen=True)
class Problem:
    """A problem of the paper: where, and what its closed forms say of which quantity."""

    title: str
    source: str
    scenario: Scenario
    closed: Mapping[str, Any]  # address of a quantity → SymPy, in the scenario's parameters
    ours: tuple[str, ...] = ()  # addresses whose closed form the paper does not print

    def solved(self) -> dict[str, float]:
        """The same quantities, by the engine."""
        ds = self.scenario.sweep(keep=list(self.closed))
        return {address: float(ds[address]) for address in self.closed}

    def evaluated(self, address: str) -> float:
        """The closed form with the scenario's parameters."""
        return float(self.closed[address].subs(self.scenario.parameters))


def problems() -> list[Problem]:
    """Every problem that the paper solves or sets up, with its numbers of our choice."""
    jump_x, jump_y = (sp.Symbol(f"v_p{axis}_plus") - sp.Symbol(f"v_p{axis}_minus") for axis in "xy")
    along = jump_x * sp.cos(theta) + jump_y * sp.sin(theta)  # Δv_p along the heading
    rolling_1, rolling_2 = m_1 + I_1 / r**2, m_2 + I_2 / r**2
    approach = (v_1x - v_2x) * sp.cos(beta) + (v_1y - v_2y) * sp.sin(beta)
    around_A = M * l**2 + I
    return [
        Problem(
            "particle on a smooth floor", "Example 1", gallery.particle(),
            {"v_plus.x": v_x, "v_plus.z": -kappa * v_z, "impulse.floor": -m * (1 + kappa) * v_z},
            ours=("impulse.floor",),
        ),
        Problem(
            "ball let go from a hand", "§2 and §5", gallery.ball_let_go(),
            {"v_plus.x": h_x, "v_plus.y": h_y, "v_plus.z": h_z},
        ),
        Problem(
            "ball rolling onto an incline", "Fig. 1", gallery.ball_on_incline(),
            {"v_plus.phi": omega * (I + m * r**2 * sp.cos(alpha)) / (I + m * r**2)}, ours=("v_plus.phi",),
        ),
        Problem(
            "disk on a plane that starts to move", "eqs 1–2", gallery.disk_on_moving_plane(),
            {"v_plus.phi": spin - m * a / (I + m * a**2) * along}, ours=("v_plus.phi",),
        ),
        Problem(
            "two rolling balls collide", "§3", gallery.two_balls(),
            {"impulse.touch": (1 + kappa) * approach / (1 / rolling_1 + 1 / rolling_2)}, ours=("impulse.touch",),
        ),
        Problem(
            "sleigh, struck at D", "case (i)", gallery.sleigh("struck"),
            {"outputs_plus.u": u, "v_plus.theta": omega + (a + l) / around_A * P},
        ),
        Problem(
            "sleigh, landing", "case (ii), eq. 57", gallery.sleigh("landing"),
            {"outputs_plus.u": v_C * sp.cos(psi - theta),
             "v_plus.theta": (M * l * v_C * sp.sin(psi - theta) + I * omega) / around_A},
        ),
        Problem(
            "sleigh, earthquake", "case (iii)", gallery.sleigh("earthquake"),
            {"outputs_plus.u": u - v_S * sp.cos(psi_S - theta),
             "v_plus.theta": omega - M * l / around_A * v_S * sp.sin(psi_S - theta)},
        ),
    ]  # fmt: skip


NAMES = {  # address → as the paper writes it
    "v_plus.x": "ẋ⁺", "v_plus.y": "ẏ⁺", "v_plus.z": "ż⁺", "v_plus.phi": "φ̇⁺", "v_plus.theta": "θ̇⁺",
    "outputs_plus.u": "u⁺", "impulse.floor": "λ̄ floor", "impulse.touch": "λ̄ touch",
}  # fmt: skip


def closed_forms() -> Table:
    """Closed form beside number."""
    lines: list[tuple[Cell, ...]] = []
    for problem in problems():
        for address, solved in problem.solved().items():
            expected = problem.evaluated(address)
            whose = "ours" if address in problem.ours else "[WC]"
            lines.append((problem.title, problem.source, NAMES[address], whose, Formula(problem.closed[address]),
                          expected, solved, abs(solved - expected)))  # fmt: skip
    columns = (
        Column("problem"), Column("source", "[WC]"), Column("quantity"), Column("by"),
        Column("closed_form", "closed form"),
        Column("closed_form_value", "its value", digits=9), Column("solved", digits=9),
        Column("difference", digits=1),
    )  # fmt: skip
    return Table("WC_problems", "All problems of [WC], closed form beside number", columns, lines)


# Table 1


def maps(case: str, names: tuple[str, ...], blade: bool, side: str) -> dict[str, tuple[sp.Matrix, sp.Matrix]]:
    """Table 1 for the sleigh in closed form: map → (matrix, offset) of φ, for privileged velocities of these names.

    `blade`: whether it is on; `side` of the ice's velocity, which jumps in the earthquake.
    """
    ice = sp.zeros(2, 1)
    if case == "earthquake":
        speed, heading = sp.symbols(f"v_S_{side} psi_S_{side}")
        ice = speed * sp.Matrix([sp.cos(heading), sp.sin(heading)])
    e_x, e_y = sp.Matrix([sp.cos(theta), sp.sin(theta)]), sp.Matrix([-sp.sin(theta), sp.cos(theta)])
    # Rows in (ẋ, ẏ, θ̇) of C, and what is taken away: across the blade at A [WC 54, 59], along it, the velocities.
    rows = {
        "blade": (sp.Matrix([[*e_y, -l]]), e_y.dot(ice)),
        "u": (sp.Matrix([[*e_x, 0]]), e_x.dot(ice)),
        **{name: (sp.eye(3)[i, :], sp.Integer(0)) for i, name in enumerate(("x", "y", "theta"))},
    }
    used = [*(["blade"] if blade else []), *names]
    A = sp.Matrix.vstack(*(rows[name][0] for name in used))
    inverse = A.inv()
    D = inverse[:, len(used) - len(names) :].applyfunc(sp.simplify)
    d = (inverse * sp.Matrix([rows[name][1] for name in used])).applyfunc(sp.simplify)
    found = {"φ → q̇  (D, d)": (D, d)}
    G, g = rows["u"]
    found["φ → u  (G, g)"] = ((G * D).applyfunc(sp.simplify), (G * d - sp.Matrix([g])).applyfunc(sp.simplify))
    for point, behind in (("A", l), ("C", 0)):
        J = sp.Matrix.hstack(sp.eye(2), -behind * e_y)  # v_A = v_C − l θ̇ e_y
        found[f"φ → v_{point}  (β, γ)"] = ((J * D).applyfunc(sp.simplify), (J * d).applyfunc(sp.simplify))
    return found


def table_1() -> Table:
    """The maps of each phase for the three cases; phases with the same maps share their lines."""
    lines: list[tuple[Cell, ...]] = []
    for case in get_args(Case):
        scenario = gallery.sleigh(case)
        for titles, phase, side in _distinct(scenario.phases()):
            closed = maps(case, phase.names, len(phase.names) < 3, side)
            solved = solved_maps(phase)
            for title, (matrix, offset) in closed.items():
                number, shift = solved[title]
                known = not np.isnan(shift).any()
                worst = _worst(matrix, number, scenario)
                if known:
                    worst = max(worst, _worst(offset, shift[:, None], scenario))
                lines.append((
                    case, titles, ", ".join(_dotted(name) for name in phase.names), title, Formula(matrix),
                    Formula(offset) if known else "undefined", _rounded(number),
                    _rounded(shift[:, None]) if known else "undefined", worst,
                ))  # fmt: skip
    columns = (
        Column("case"), Column("phase"), Column("phi", "φ"), Column("map"), Column("matrix", "matrix"),
        Column("offset"), Column("matrix_solved", "matrix, solved"), Column("offset_solved", "offset, solved"),
        Column("difference", digits=1),
    )  # fmt: skip
    return Table("WC_table_1", "Table 1 of [WC] for the sleigh: the maps of each phase", columns, lines)


def solved_maps(phase: Phase) -> dict[str, tuple[Any, Any]]:
    """The engine's maps, by the titles of `maps`."""
    found = {"φ → q̇  (D, d)": (phase.D, phase.d), "φ → u  (G, g)": (phase.G, phase.g)}
    for point in ("A", "C"):
        beta, gamma = phase.points[point]
        found[f"φ → v_{point}  (β, γ)"] = (beta[:2], gamma[:2])
    return found


def _distinct(phases: Phases) -> list[tuple[str, Phase, str]]:
    """(titles, phase, side) with phases that are the same taken together."""
    found: list[tuple[str, Phase, str]] = []
    for title, side in (("prior", "minus"), ("virtual", "plus"), ("posterior", "plus")):
        phase = getattr(phases, title)
        for i, (titles, other, other_side) in enumerate(found):
            if phase.names == other.names and np.array_equal(phase.d, other.d) and np.array_equal(phase.D, other.D):
                found[i] = (f"{titles}, {title}", other, other_side)
                break
        else:
            found.append((title, phase, side))
    return found


def _worst(closed: sp.Matrix, solved: Any, scenario: Scenario) -> float:
    values = np.array(closed.subs(scenario.parameters).evalf(), dtype=float)
    return float(np.max(np.abs(values - solved)))


def _rounded(matrix: Any) -> Formula:
    return Formula(sp.Matrix(np.round(matrix, 5) + 0.0).applyfunc(lambda x: sp.Float(x, 5) if x else sp.Integer(0)))


def _dotted(name: str) -> str:
    return {"u": "u", "x": "ẋ", "y": "ẏ", "theta": "θ̇"}[name]


# Figures


def pictures() -> list[Picture]:
    """The sleigh in its three cases."""
    return [
        Picture("WC_sleigh", lambda: drawings([(case, gallery.sleigh(case), {}) for case in get_args(Case)])),
        Picture("WC_sleigh_energy", _energies),
    ]


def _energies() -> Figure:
    figure = new_figure(6.4, 6.6)
    for ax, case in zip(figure.subplots(3, 1), get_args(Case), strict=True):
        energy_bars(gallery.sleigh(case).solve(), ax, title=case)
    return figure
