"""Figures show the numbers of the dataset, under their symbols and in their units."""

import subprocess
import sys
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure
from matplotlib.projections.polar import PolarAxes

import jourdain as jd
from jourdain import gallery, plots
from jourdain.errors import ShapeError, UnknownName
from jourdain.plots.data import quantity
from jourdain.plots.style import display

THETA = np.radians([50.0, 10.0, 20.0, 30.0, 40.0])
RHO = [0.0, 0.25, 0.5]


@pytest.fixture(scope="module")
def walker():
    return gallery.walker()


@pytest.fixture(scope="module")
def lines(walker):
    return walker.sweep(theta=THETA, rho=RHO)


@pytest.fixture(scope="module")
def grid(walker):
    return walker.sweep(theta=np.radians(np.linspace(10, 60, 12)), rho=np.linspace(0.0, 0.5, 9))


@pytest.fixture(scope="module")
def fan(walker):
    """Over an angle that goes both ways."""
    return walker.sweep(torso=np.radians(np.linspace(-90, 90, 19)), mu=[0.5, 1.0], keep=["xi", "loss", "u_plus"])


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


# Lines


def test_a_curve_is_the_dataset_in_the_order_of_its_parameter(lines):
    ax = plots.curve(lines, "impulse.heel.normal")
    assert ax.get_xlabel() == r"$\theta$ in degrees"
    assert ax.get_ylabel() == r"$\bar\lambda$ of heel.normal in N s"
    assert texts(ax) == [r"$\rho$ = 0", r"$\rho$ = 0.25", r"$\rho$ = 0.5"]
    in_order = lines.sortby("theta")
    for line, rho in zip(ax.lines, RHO, strict=True):
        np.testing.assert_allclose(np.asarray(line.get_xdata()), [10, 20, 30, 40, 50], rtol=1e-14)
        np.testing.assert_array_equal(line.get_ydata(), in_order.impulse.sel(row="heel.normal", rho=rho))
    looks = {(line.get_color(), str(line.get_linestyle())) for line in ax.lines}
    assert len({colour for colour, _ in looks}) == len({style for _, style in looks}) == len(RHO)


def test_the_other_parameter_can_be_drawn_over(lines):
    ax = plots.curve(lines.isel(theta=[2, 4]), "xi", over="rho")
    assert (ax.get_xlabel(), ax.get_ylabel()) == (r"$\rho$", r"$\xi$")
    assert texts(ax) == [r"$\theta$ = 20°", r"$\theta$ = 40°"]


def test_failed_events_leave_gaps(lines):
    holed = lines.copy(deep=True)
    holed["loss"][3, 1] = np.nan  # theta = 30°, rho = 0.25
    ax = plots.curve(holed, "loss")
    assert [np.isnan(line.get_ydata()).tolist() for line in ax.lines][1] == [False, False, True, False, False]
    assert np.isfinite(ax.lines[0].get_ydata()).all()


def test_energies_read_well_and_share_the_unit_of_their_axes(walker):
    slow = walker.sweep(theta=THETA, rate=0.1)
    ax = plots.curve(slow, "T_c_minus", label="slow")
    assert ax.get_ylabel() == "$T_c^-$ in mJ"
    larger = slow.T_minus.copy(data=1e3 * slow.T_minus.values)
    plots.curve(slow.assign(T_minus=larger), "T_minus", ax=ax)  # alone it would be in J
    assert ax.get_ylabel() == "$T_c^-$, $T^-$ in mJ"
    np.testing.assert_allclose(np.asarray(ax.lines[0].get_ydata()), 1e3 * slow.T_c_minus.sortby("theta"), rtol=1e-14)
    np.testing.assert_allclose(np.asarray(ax.lines[1].get_ydata()), 1e6 * slow.T_minus.sortby("theta"), rtol=1e-14)
    assert texts(ax) == ["slow", "$T^-$"]
    with pytest.raises(ShapeError, match=r"The axes show \$T_c\^-\$ in mJ; .* in N s does not fit beside it"):
        plots.curve(slow, "impulse.heel.normal", ax=ax)
    with pytest.raises(ShapeError, match=r"along x, not \$l\$; take axes of their own"):
        plots.curve(walker.sweep(l=[0.8, 0.9]), "loss", ax=ax)


def test_energy_curves_are_both_energies(lines):
    ax = plots.energy_curves(lines)
    assert ax.get_ylabel() == "$T_c^-$, $T_a^-$ in J"
    assert texts(ax)[:2] == ["$T_c^-$, constrained", "$T_a^-$, admissible"]
    assert texts(ax)[2:] == [r"$\rho$ = 0", r"$\rho$ = 0.25", r"$\rho$ = 0.5"]
    expected = lines.sortby("theta")
    drawn = [line.get_ydata() for line in ax.lines]
    np.testing.assert_array_equal(drawn, [*expected.T_c_minus.values.T, *expected.T_a_minus.values.T])
    assert [line.get_linestyle() for line in ax.lines] == ["-"] * 3 + ["--"] * 3
    assert [line.get_color() for line in ax.lines[:3]] == [line.get_color() for line in ax.lines[3:]]
    assert len({line.get_marker() for line in ax.lines[:3]}) == 3


def test_measured_points_are_shown_in_the_units_of_the_axes(lines):
    ax = plots.energy_curves(lines.isel(rho=0))
    plots.measured(ax, [0.5, 1.0], [1.0, 2.0], y_error=0.1)
    points = ax.lines[2]
    np.testing.assert_allclose(np.asarray(points.get_xdata()), np.degrees([0.5, 1.0]), rtol=1e-14)
    np.testing.assert_array_equal(points.get_ydata(), [1.0, 2.0])
    assert (points.get_linestyle(), points.get_markerfacecolor()) == ("None", "white")
    plots.measured(ax, 0.6, 1.5, label="second day")
    assert texts(ax)[2:] == ["measured", "second day"]
    assert ax.lines[-1].get_marker() != points.get_marker()
    with pytest.raises(ShapeError, match=r"as many x as y, not shapes \(2,\) and \(3,\)"):
        plots.measured(ax, [1, 2], [1, 2, 3])
    with pytest.raises(ShapeError, match=r"measured adds points to what jourdain.plots drew"):
        plots.measured(Figure().subplots(), [1], [1])


# Maps


def test_a_map_is_the_dataset_with_levels_and_a_unit(grid):
    ax = plots.parameter_map(grid, "loss")
    (cells,) = (one for one in ax.collections if isinstance(one, QuadMesh))
    np.testing.assert_array_equal(cells.get_array(), grid.loss.transpose("rho", "theta"))
    assert cells.get_rasterized()
    assert (ax.get_xlabel(), ax.get_ylabel()) == (r"$\theta$ in degrees", r"$\rho$")
    assert cells.colorbar.ax.get_ylabel() == "$T^- - T^+$ in J"
    np.testing.assert_allclose(ax.get_xlim(), (10, 60), rtol=1e-14)
    (levels,) = (one for one in ax.collections if isinstance(one, QuadContourSet))
    assert 3 <= len(list(levels.levels)) <= 8
    assert grid.loss.min() < min(levels.levels)
    assert max(levels.levels) < grid.loss.max()
    assert levels.labelTexts
    assert ax.get_legend() is None


def test_a_map_hatches_failed_events_and_leaves_them_out(grid):
    holed = grid.copy(deep=True)
    holed["loss"][2:5, 3:] = np.nan
    ax = plots.parameter_map(holed, "loss", over="rho")
    (cells,) = (one for one in ax.collections if isinstance(one, QuadMesh))
    np.testing.assert_array_equal(np.ma.getmaskarray(cells.get_array()), np.isnan(holed.loss.transpose("theta", "rho")))
    assert texts(ax) == ["no result"]
    assert any(patch.get_hatch() for patch in ax.patches)


def test_the_zero_line_lies_where_the_quantity_vanishes_with_ticks_on_its_negative_side(grid):
    ax = plots.parameter_map(grid, "loss", zero="u_plus.stance.normal")
    assert texts(ax) == ["$u^+$ of stance.normal = 0 (ticks: negative)"]
    zero = next(one for one in ax.collections if isinstance(one, QuadContourSet) and list(one.levels) == [0.0])
    (path,) = zero.get_paths()
    u = quantity(grid, "u_plus.stance.normal").assign_coords(theta=np.degrees(grid.theta))

    def at(points: Any) -> Any:
        return np.array([float(u.interp(theta=float(theta), rho=float(rho))) for theta, rho in points])

    scale = float(abs(u).max())
    vertices = np.asarray(path.vertices)
    assert np.abs(at(vertices)).max() < 1e-3 * scale
    start, end = vertices[:2]
    middle, (along_x, along_y) = (start + end) / 2, (end - start) / [50, 0.5]  # in parts of the axes
    step = np.array([along_y, -along_x]) / np.hypot(along_x, along_y) * [50, 0.5] / 20  # the line turned by −90°
    assert at([middle + step])[0] < 0 < at([middle - step])[0]


def test_a_zero_line_that_is_nowhere_is_said(grid):
    ax = plots.parameter_map(grid, "xi", zero="T_minus")
    assert texts(ax) == ["$T^-$ > 0 everywhere"]
    assert texts(plots.parameter_map(grid, "xi", zero="T_r_minus")) == ["$T_r^-$ = 0 everywhere"]


def test_a_constant_map_has_no_levels(grid):
    ax = plots.parameter_map(grid.assign(loss=0 * grid.loss + 2), "loss")
    assert not [one for one in ax.collections if isinstance(one, QuadContourSet)]


# Directions


def test_polar_has_zero_at_the_top_and_turns_clockwise(fan):
    ax = plots.polar(fan, over="torso")
    assert ax.name == "polar"
    assert isinstance(ax, PolarAxes)
    assert (ax.get_theta_offset(), ax.get_theta_direction()) == (np.pi / 2, -1)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), fan.xi.isel(mu=0))
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), fan.torso)
    largest = fan.xi.isel(mu=1).max()
    at = np.degrees(fan.torso[fan.xi.isel(mu=1).argmax("torso")])
    assert texts(ax)[1] == r"$\mu$ = 1" + f"\nlargest: {largest:.4g} at {at:.4g}°".replace("-", "−")
    assert ax.get_title() == r"$\xi$ over torso"
    assert ax.get_xticklabels()[0].get_text() == "−90°"
    plots.measured(ax, [0.5], [0.1])  # radians, on polar axes as on others
    np.testing.assert_array_equal(ax.lines[-1].get_xdata(), [0.5])


def test_polar_refuses_what_is_no_direction(fan, lines):
    with pytest.raises(ShapeError, match=r"A polar plot needs polar axes: figure.add_subplot"):
        plots.polar(fan, over="torso", ax=Figure().subplots())
    with pytest.raises(ShapeError, match=r"needs an angle in rad, not \$\\rho\$; name one with over="):
        plots.polar(lines, over="rho")
    with pytest.raises(ShapeError, match=r"A radius cannot be negative, as 'u_plus.stance.normal' is here; use curve"):
        plots.polar(fan - 10, "u_plus.stance.normal", over="torso")


# One event


def test_impulse_bars_are_the_impulses(walker):
    t = walker.solve()
    ax = plots.impulse_bars(t)
    bars: Any = ax.patches
    assert [bar.get_width() for bar in bars] == [t.impulse["heel.normal"], t.impulse["heel.tangent"]]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["heel.normal", "heel.tangent"]
    assert ax.get_xlabel() == r"impulse along the row, $\bar\lambda$ in N s"
    assert ax.get_legend() is None
    assert "−2.637 N s" in [text.get_text() for text in ax.texts]


def test_impulse_bars_mark_pulls(walker):
    pulling = walker.solve(rate=-1.0)  # the reverse motion, held two-sided
    ax = plots.impulse_bars(pulling)
    assert pulling.impulse["heel.normal"] < 0
    assert texts(ax) == ["pulls, where a contact can only push"]
    assert [bool(bar.get_hatch()) for bar in ax.patches] == [True, False]


def test_impulse_bars_mark_what_is_not_determined():
    t = jd.transition(M=np.eye(2), v=[1.0, 0.0], inert=[[1.0, 0.0], [2.0, 0.0]])
    assert texts(plots.impulse_bars(t)) == ["one of many: rigid bodies do not determine it"]


def test_impulse_bars_refuse_units_that_do_not_mix():
    t = gallery.docking().solve()
    with pytest.raises(ShapeError, match=r"do not share an axis \(.*N s: .*N m s: 'twist'\); name rows="):
        plots.impulse_bars(t)
    assert len(plots.impulse_bars(t, rows=["twist"]).patches) == 1
    with pytest.raises(UnknownName, match="There is no row that carries an impulse 'twits'; did you mean 'twist'"):
        plots.impulse_bars(t, rows=["twits"])
    with pytest.raises(ShapeError, match="rows is empty"):
        plots.impulse_bars(t, rows=[])


def test_bars_show_one_event(walker):
    batch = walker.solve(rate=[1.0, 2.0])
    for bars in (plots.energy_bars, plots.impulse_bars):
        with pytest.raises(ShapeError, match=rf"{bars.__name__} shows one event, not a batch \(2,\)"):
            bars(batch)


def test_energy_bars_draw_rounding_as_zero():
    ax = plots.energy_bars(gallery.pantograph().solve())
    assert " 0 mJ" in [text.get_text() for text in ax.texts]


# What the command line shows


def test_sweep_plot_chooses(walker, lines, grid):
    assert plots.sweep_plot(lines).get_ylabel() == "$T_c^-$, $T_a^-$ in J"
    assert plots.sweep_plot(lines.isel(rho=0)).get_ylabel() == "$T_c^-$, $T_a^-$ in J"
    ax = plots.sweep_plot(lines, "u_plus.stance.normal")
    assert (ax.get_ylabel(), ax.get_title()) == ("$u^+$ of stance.normal in m/s", "row velocity after")
    ax = plots.sweep_plot(grid)
    assert any(isinstance(one, QuadMesh) for one in ax.collections)
    assert ax.get_title() == "energy lost"
    few = grid.isel(rho=slice(6))
    assert not plots.sweep_plot(few, "xi").collections
    only = walker.sweep(theta=THETA, keep=["xi"])
    assert plots.sweep_plot(only).get_ylabel() == r"$\xi$"


def test_sweep_plot_draws_into_given_axes(grid):
    ax = plots.new_axes()
    assert plots.sweep_plot(grid, ax=ax) is ax
    assert ax.get_title() == ""


def test_what_cannot_be_shown_is_refused(walker, grid):
    three = walker.sweep(theta=[0.2, 0.4], rho=[0.0, 0.1], mu=[1.0, 2.0], keep=["loss"])
    with pytest.raises(ShapeError, match=r"3 parameters are swept \('theta', 'rho', 'mu'\) .* ds.isel\(mu=0\)"):
        plots.sweep_plot(three)
    with pytest.raises(ShapeError, match="3 parameters are swept"):
        plots.curve(three, "loss")
    plots.sweep_plot(three.isel(mu=0))
    with pytest.raises(ShapeError, match=r"No parameter is swept; give one of them several values"):
        plots.sweep_plot(walker.sweep(theta=0.3))
    with pytest.raises(ShapeError, match="The dataset holds samples, which lie on no grid"):
        plots.sweep_plot(walker.sweep(samples={"theta": [0.1, 0.2]}))
    with pytest.raises(ShapeError, match=r"There are no values along 'axis_0'"):
        plots.sweep_plot(walker.solve(rate=[1.0, 2.0]).to_dataset())
    with pytest.raises(ShapeError, match=r"'rho' takes 9 values, more than lines can be told apart"):
        plots.curve(grid, "loss")
    with pytest.raises(ShapeError, match="A map needs two swept parameters, and there is 'theta'; use curve"):
        plots.parameter_map(grid.isel(rho=0), "loss")
    with pytest.raises(UnknownName, match="There is no swept parameter 'rh'; did you mean 'rho'"):
        plots.curve(grid, "loss", over="rh")


# Addresses and units


def test_quantities_are_found_by_address(walker, lines):
    np.testing.assert_array_equal(quantity(lines, "v_plus.torso"), lines.v_plus.sel(velocity="torso"))
    assert quantity(lines, "v_plus.torso").attrs["units"] == "rad/s"
    assert quantity(lines, "v_plus.foot_x").attrs["units"] == "m/s"
    assert quantity(lines, "q.torso").attrs["units"] == "rad"
    assert quantity(lines, "effective_mass.heel.normal").attrs["units"] == "kg"
    np.testing.assert_allclose(quantity(lines, "ledger.heel"), lines.ledger.sum("row"), rtol=1e-14)
    chosen = walker.sweep(theta=THETA, keep=["impulse.heel.normal", "u_plus.stance", "ledger.heel"])
    assert quantity(chosen, "impulse.heel.normal").attrs["units"] == "N s"
    assert quantity(chosen, "u_plus.stance.tangent").shape == (5,)
    assert quantity(chosen, "ledger.heel").attrs["units"] == "J"
    struck = gallery.sleigh("struck").sweep(theta=[0.1, 0.2])
    np.testing.assert_array_equal(quantity(struck, "ledger.impulse D"), struck.applied_work.sel(applied="impulse D"))
    mixed = gallery.docking().sweep(theta=[0.1, 0.2])
    assert quantity(mixed, "impulse.twist").attrs["units"] == "N m s"


def test_quantities_of_ones_own_carry_their_own_symbol(lines):
    cost = (lines.loss / lines.l).assign_attrs(symbol="$c$", units="N")
    ax = plots.curve(lines.isel(rho=0).assign(cost=cost.isel(rho=0)), "cost")
    assert ax.get_ylabel() == "$c$ in N"


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("los", "The dataset does not hold 'los'; it has 'T_minus', "),
        ("impulse.hel.normal", "There is no entry of impulse 'hel.normal'; did you mean 'heel.normal'"),
        ("impulse", "'impulse' has several numbers per event; name one of 'impulse.heel.normal', "),
        ("u_plus.stance", "'u_plus.stance' has several .* 'u_plus.stance.normal', 'u_plus.stance.tangent'"),
    ],
)
def test_what_the_dataset_does_not_hold_is_refused(lines, address, message):
    with pytest.raises(jd.Error, match=message):
        plots.curve(lines, address)


def test_a_dataset_from_a_file_is_drawn_alike(lines, tmp_path):
    import xarray

    lines.to_netcdf(tmp_path / "sweep.nc")
    with xarray.open_dataset(tmp_path / "sweep.nc") as read:
        ax = plots.curve(read, "v_plus.torso")
    assert ax.get_ylabel() == plots.curve(lines, "v_plus.torso").get_ylabel() == "$v^+$ of torso in rad/s"


@pytest.mark.parametrize(
    ("largest", "unit", "factor"),
    [(2500.0, "kJ", 1e-3), (1.0, "J", 1.0), (0.02, "mJ", 1e3), (2e-5, "µJ", 1e6), (0, "J", 1)],
)
def test_energies_have_the_unit_in_which_they_read_well(largest, unit, factor):
    shown = display("loss", "J", [0.0, -largest, np.nan, np.inf], "$T$")
    assert (shown.label, shown.factor) == (f"$T$ in {unit}", factor)


# Files


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_the_same_commands_give_the_same_file(grid, tmp_path, suffix):
    files = [tmp_path / f"{i}.{suffix}" for i in range(2)]
    before = dict(mpl.rcParams)
    for file in files:
        plots.save(plots.parameter_map(grid, "loss", zero="u_plus.stance.normal"), file)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert dict(mpl.rcParams) == before


def test_a_map_of_many_events_makes_a_small_file(walker, tmp_path):
    many = walker.sweep(theta=np.linspace(0.2, 1.0, 150), rho=np.linspace(0.0, 0.5, 100), keep=["loss"])
    plots.save(plots.sweep_plot(many), tmp_path / "map.svg")
    assert (tmp_path / "map.svg").stat().st_size < 300_000


def test_figures_and_parts_of_figures_are_saved(lines, tmp_path):
    figure = Figure(layout="constrained")
    left, right = np.asarray(figure.subfigures(1, 2))
    plots.energy_curves(lines, ax=left.subplots())
    ax = plots.curve(lines, "xi", ax=right.subplots())
    plots.save(ax, tmp_path / "axes.png")
    plots.save(figure, tmp_path / "figure.png")
    sizes = [(tmp_path / name).read_bytes()[16:24] for name in ("axes.png", "figure.png")]  # in the header of a PNG
    assert sizes[0] == sizes[1]
    with pytest.raises(UnknownName, match="There is no picture format 'xyz'"):
        plots.save(figure, tmp_path / "figure.xyz")


def test_nothing_needs_a_display_and_matplotlib_waits_until_it_is_needed(tmp_path):
    script = f"""
import sys
import jourdain as jd
from jourdain.plots import energy_bars, save
assert not any(name.partition(".")[0] == "matplotlib" for name in sys.modules)
save(energy_bars(jd.gallery.particle().solve()), {str(tmp_path / "bars.png")!r})
assert "matplotlib.pyplot" not in sys.modules
"""
    environment = {"PATH": "", "MPLBACKEND": "TkAgg"}  # a window would be refused: there is no DISPLAY
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "bars.png").exists()
