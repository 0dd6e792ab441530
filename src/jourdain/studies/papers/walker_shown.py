"""Tables and figures of what `walker` computes."""

from __future__ import annotations

from math import degrees
from typing import TYPE_CHECKING

from jourdain.plots import curve, drawing, parameter_map
from jourdain.plots.content import content
from jourdain.plots.style import new_figure
from jourdain.studies.papers.printed import said
from jourdain.studies.papers.record import Beside, Cell, Column, Picture, Table, claims_table, parameters_table
from jourdain.studies.papers.walker import HEEL, REAR, STEP, Results, claims, lifted

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def tables(found: Results) -> list[Table]:
    """All of them."""
    title = "Parameters of the walker ([FK-b] Table I, [FK-c] Table 1)"
    return [
        parameters_table("walker_parameters", title, found.scenario, found.settings),
        lift_table(found),
        claims_table("walker_statements", "What the text of [FK-b] says of its figures", claims(found)),
        best_table(found),
    ]


def lift_table(found: Results) -> Table:
    """Where the rear foot stays on the ground."""
    reason = (
        "This is the angle of the model as it is printed; inertia of legs or torso, which is not given, only raises it."
    )
    lines: list[tuple[Cell, ...]] = [
        (f"{rho:g}", Beside(said("point_foot_limit"), degrees(limit), reason) if rho == 0 else degrees(limit))
        for rho, limit in found.lift_limits.items()
    ]
    columns = (Column("rho", "ρ"), Column("theta_limit", "θ up to which the rear foot lifts", "°", 2, beside=True))
    return Table(
        "walker_lift_off", "End of the curves: where the rear foot no longer lifts (q₅ = 0, μ = 1)", columns, lines
    )


def best_table(found: Results) -> Table:
    """The design with the smallest loss."""
    questions = {
        "ρ, q₅ and μ within the papers' ranges": found.best,
        "the torso alone, ρ = 0.25, μ = 1": found.best_torso,
    }
    lines: list[tuple[Cell, ...]] = []
    for question, best in questions.items():
        t = best.transition
        chosen = {"rho": 0.25, "mu": 1.0, **found.settings, **best.parameters}
        rates = (t.loss, t.xi, *(t.impulse[name.removeprefix("impulse.")] for name in HEEL), t.u_plus["stance.normal"])
        lines.append((question, chosen["rho"], degrees(chosen["torso"]), chosen["mu"], *map(float, rates)))
    columns = (
        Column("free"), Column("rho", "ρ"), Column("torso", "q₅", "°"), Column("mu", "μ"),
        Column("loss", "T⁻ − T⁺", "J"), Column("xi", "ξ"), Column("normal_impulse", "λ̄_n", "N s"),
        Column("tangential_impulse", "λ̄_t", "N s"),
        Column("rear_foot", "rear foot's u_n⁺", "m/s"),
    )  # fmt: skip
    return Table("walker_best", "The least loss at θ = 40°, while the rear foot lifts", columns, lines)


# Figures


def pictures(found: Results) -> list[Picture]:
    """The papers' figures, and what they could not afford."""
    legs, strike = lifted(found.legs), {"theta": STEP, **found.settings}
    return [
        Picture("walker_drawing", lambda: drawing(found.scenario, parameters=strike)),
        Picture("walker_figures_2_3", lambda: _panels(legs, "theta", found), found.legs),
        Picture("walker_figures_4_5", lambda: _panels(found.torso, "q5"), found.torso),
        Picture("walker_map_theta_rho", lambda: _map(found.legs_map, zero="rear"), found.legs_map),
        Picture("walker_map_torso_mu", lambda: _map(found.torso_map, log=True), found.torso_map),
    ]


SHOWN = {"T_c_minus": "T_c_minus", "T_a_minus": "T_a_minus", "normal": HEEL[0], "tangential": HEEL[1]}  # panel → what


def _as_in_the_papers(ds: xarray.Dataset) -> xarray.Dataset:
    """With their symbols, and the impulses' magnitudes, which are what they draw."""
    shown = ds.rename({"torso": "q5"}) if "torso" in ds.dims else ds
    sizes = {
        name: abs(shown[SHOWN[name]]).assign_attrs(symbol=rf"$|\bar\lambda_{axis}|$", units="N s")
        for name, axis in (("normal", "n"), ("tangential", "t"))
    }
    return shown.assign({**sizes, "rear": shown[REAR].assign_attrs(symbol="$u_n^+$ of the rear foot")})


def _panels(ds: xarray.Dataset, over: str, limits: Results | None = None) -> Figure:
    """T_c⁻, T_a⁻ and the two impulses, each in a panel of its own."""
    shown = _as_in_the_papers(ds)
    figure = new_figure(7.2, 5.4)
    for ax, (name, quantity) in zip(figure.subplots(2, 2).flat, SHOWN.items(), strict=True):
        curve(shown, name, over=over, ax=ax)
        if limits is not None and (end := limits.lift_limits[0.0]) < float(shown[over].max()):
            t = limits.scenario.solve(theta=end, rho=0.0, parameters={"torso": 0.0, "mu": 1.0, **limits.settings})
            value = abs(t.impulse[quantity.removeprefix("impulse.")]) if quantity in HEEL else getattr(t, quantity)
            shown_as = content(ax)
            assert shown_as is not None
            ax.plot(shown_as.x.factor * end, shown_as.y.factor * value, "o", color="black", markersize=5)
        legend = ax.get_legend()
        if legend is not None and ax is not figure.axes[1]:
            legend.remove()  # the same lines in each panel
    return figure


def _map(ds: xarray.Dataset, zero: str | None = None, log: bool = False) -> Axes:
    ax = parameter_map(_as_in_the_papers(ds), "T_c_minus", zero=zero)
    if log:
        ax.set_yscale("log")
    return ax
