"""Maps of what becomes of a one-sided contact: regions where closed forms have them, and the limits of the walker."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.colors import to_rgba
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure
from scipy.optimize import brentq

import jourdain as jd
from cases import REAR_FOOT_LIMITS
from jourdain import gallery, laws, plots
from jourdain.cli import main as cli
from jourdain.cli.overview import overview
from jourdain.data.columns import Columns
from jourdain.errors import ShapeError, UnknownName
from jourdain.laws import ContactState
from jourdain.plots.states import COLOURS

COULOMB = laws.Coulomb("friction", "kappa")


@pytest.fixture(scope="module")
def rod() -> xarray.Dataset:
    theta, friction = np.radians(np.linspace(1, 89, 89)), np.linspace(0, 1, 51)
    return gallery.rough_rod().sweep(theta=theta, friction=friction)


@pytest.fixture(scope="module")
def rear_foot() -> xarray.Dataset:
    """One-sided, with what it would do if it were released."""
    axes: dict[str, Any] = {"theta": np.radians(np.linspace(30, 110, 161)), "rho": np.linspace(0, 0.5, 51)}
    ds = gallery.walker(rear_foot="one-sided").sweep(**axes, keep=["contact_state.stance", "u_plus.stance.normal"])
    free = gallery.walker().sweep(**axes, keep=["u_plus.stance.normal"])["u_plus.stance.normal"]
    return ds.assign(free=free.assign_attrs(symbol="$u_n^+$ if released"))


def texts(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def cells(ax: Any) -> Any:
    (found,) = (one for one in ax.collections if isinstance(one, QuadMesh))
    return found


def boundaries(ax: Any) -> Any:
    """`(segments, 2 ends, 2 coordinates)`, as shown."""
    (found,) = (one for one in ax.collections if isinstance(one, LineCollection))
    return np.array(found.get_segments())


def zero(ax: Any) -> Any:
    """The points of the threshold, as shown."""
    (found,) = (one for one in ax.collections if isinstance(one, QuadContourSet))
    (path,) = found.get_paths()
    return path.vertices


# The figure


def test_cells_are_the_states_and_the_legend_names_those_that_occur(rod):
    ax = plots.state_map(rod)
    state = rod.contact_state.sel(one_sided="floor").transpose("friction", "theta")
    np.testing.assert_array_equal(cells(ax).get_array(), state)
    assert texts(ax) == ["sticks", "slips", "reverses"]
    assert ax.get_legend().get_title().get_text() == "floor"
    assert (ax.get_xlabel(), ax.get_ylabel()) == (r"$\theta$ in degrees", "friction")
    np.testing.assert_allclose([*ax.get_xlim(), *ax.get_ylim()], [1, 89, 0, 1], rtol=1e-14)
    keys = dict(zip(texts(ax), ax.get_legend().get_patches(), strict=True))
    for one in (ContactState.STICKS, ContactState.SLIPS, ContactState.REVERSES):
        shown = cells(ax).to_rgba(float(one))
        assert shown == to_rgba(COLOURS[one]) == keys[one.name.lower()].get_facecolor()
    assert len({to_rgba(colour) for colour in COLOURS.values()}) == len(ContactState)


def test_boundaries_lie_between_regions_and_nowhere_else(rod):
    """Each segment has two states beside it, and there are as many as pairs of neighbours that differ."""
    ax = plots.state_map(rod)
    state = rod.contact_state.isel(one_sided=0).assign_coords(theta=np.degrees(rod.theta))
    segments = boundaries(ax)
    along, cell = segments[:, 1] - segments[:, 0], np.array([1.0, 0.02])
    beside = (segments.mean(1) + side * 0.5 * cell * (along == 0) for side in (-1, 1))
    low, high = (
        state.sel(theta=xarray.DataArray(at[:, 0]), friction=xarray.DataArray(at[:, 1]), method="nearest")
        for at in beside
    )
    assert np.all(low.values != high.values)
    differ = sum(int((np.diff(state.values, axis=axis) != 0).sum()) for axis in (0, 1))
    assert len(segments) == differ > 0


def test_slip_reverses_up_to_the_friction_that_holds_a_rod_at_rest(rod):
    """Routh: once slip has stopped, it sticks where |W_nt| ≤ μ W_tt; W_nt = −3 sin cos / m, W_tt = (1 + 3 sin²) / m."""
    theta = rod.theta.values
    holding = 3 * np.sin(theta) * np.cos(theta) / (1 + 3 * np.sin(theta) ** 2)
    state = rod.contact_state.sel(one_sided="floor")
    stopped = state != ContactState.SLIPS
    expected = xarray.where(
        rod.friction >= xarray.DataArray(holding, dims="theta"), ContactState.STICKS, ContactState.REVERSES
    )
    assert np.all((state == expected) | ~stopped)
    levels = [segment for segment in boundaries(plots.state_map(rod)) if segment[0, 1] == segment[1, 1]]
    degrees, friction = np.mean(levels, axis=1).T
    column = np.argmin(np.abs(np.degrees(theta) - degrees[:, None]), axis=1)
    only = stopped.all("friction").values[column]  # no other boundary in its column
    assert only.sum() > 60
    np.testing.assert_allclose(friction[only], holding[column][only], atol=0.0101, err_msg="half a cell")


def test_failed_events_are_hatched_and_have_an_edge(rod):
    holed = rod.copy(deep=True)
    holed.contact_state[10:30, 5:20] = np.nan
    ax = plots.state_map(holed, "floor", over="friction")
    mask = np.isnan(holed.contact_state.isel(one_sided=0))  # (theta, friction)
    np.testing.assert_array_equal(np.ma.getmaskarray(cells(ax).get_array()), mask)
    assert texts(ax)[-1] == "no result"
    assert any(patch.get_hatch() for patch in ax.patches)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("friction", r"$\theta$ in degrees")
    nothing = plots.state_map(rod.assign(contact_state=np.nan * rod.contact_state))
    assert texts(nothing) == ["no result"]


def test_few_values_are_ticked_and_their_cells_shown_in_full():
    few = gallery.rough_rod().sweep(theta=np.radians(np.linspace(5, 85, 33)), friction=[0.2, 0.6])
    ax = plots.sweep_plot(few, "contact_state")
    np.testing.assert_allclose(ax.get_yticks(), [0.2, 0.6])
    np.testing.assert_allclose(ax.get_ylim(), [0.0, 0.8], atol=1e-15)
    assert ax.get_title() == "what became of floor"


def test_axes_that_are_given_are_drawn_into_and_take_measured_points(rod):
    figure = Figure()
    ax = figure.subplots()
    assert plots.sweep_plot(rod, "contact_state.floor", ax=ax) is ax
    assert ax.get_title() == ""
    plots.measured(ax, [np.pi / 4], [0.5], label="stuck")
    assert texts(ax)[-1] == "stuck"
    assert ax.get_legend().get_title().get_text() == "floor"


def test_a_map_of_many_events_makes_a_small_file(rod, tmp_path):
    plots.save(plots.state_map(rod), tmp_path / "map.svg")
    assert (tmp_path / "map.svg").stat().st_size < 200_000


@pytest.mark.parametrize("keep", [["contact_state"], ["contact_state.left"], None])
def test_one_of_several_contacts(keep):
    scenario = gallery.block_on_corners()
    ds = scenario.sweep(v=np.linspace(0.1, 2, 9), omega=np.linspace(-20, 20, 11), keep=keep)
    expected = scenario.sweep(v=ds.v.values, omega=ds.omega.values).contact_state.sel(one_sided="left")
    ax = plots.state_map(ds, "left", over="v")
    np.testing.assert_array_equal(cells(ax).get_array(), expected.transpose("omega", "v"))
    assert len(texts(ax)) > 1
    if keep != ["contact_state.left"]:
        picked = plots.state_map(ds.sel(one_sided="left"), over="v")
        np.testing.assert_array_equal(cells(picked).get_array(), cells(ax).get_array())
        assert picked.get_legend().get_title().get_text() == "left"
        with pytest.raises(ShapeError, match="There are several one-sided contacts; name one of 'left', 'right'"):
            plots.state_map(ds)


def test_what_cannot_be_drawn_is_refused(rod):
    with pytest.raises(UnknownName, match="does not hold 'contact_state'; sweep an event with a one-sided contact"):
        plots.state_map(gallery.walker().sweep(theta=[0.3, 0.4], rho=[0.0, 0.1]))
    with pytest.raises(UnknownName, match="There is no one-sided contact 'flor'; did you mean 'floor'"):
        plots.state_map(rod, "flor")
    with pytest.raises(ShapeError, match="A map needs two swept parameters, and there is 'theta'; use state_steps"):
        plots.state_map(rod.isel(friction=0))
    three = gallery.rough_rod().sweep(theta=[0.5, 1.0], friction=[0.1, 0.2], kappa=[0.0, 0.5])
    with pytest.raises(ShapeError, match=r"3 parameters are swept .* ds.isel\(kappa=0\)"):
        plots.state_map(three)
    with pytest.raises(ShapeError, match=r"Steps need one swept parameter, and there is 'theta', .*; use state_map"):
        plots.state_steps(rod)
    with pytest.raises(UnknownName, match="The dataset does not hold 'margin'"):
        plots.state_map(rod, threshold="margin")
    with pytest.raises(ShapeError, match="zero line needs a quantity over 'theta', 'friction', and there is 'theta'"):
        plots.state_map(rod.assign(margin=rod.theta - 1), threshold="margin")
    with pytest.raises(UnknownName, match="There is no swept parameter 'v'"):
        plots.state_map(rod, over="v")


def test_steps_have_the_names_of_the_states_and_gaps(rod):
    """Over one parameter the height is the state, in the order of their table."""
    one = rod.sel(theta=np.radians(8), method="nearest").copy(deep=True)
    one.contact_state[3] = np.nan
    ax = plots.sweep_plot(one, "contact_state.floor")
    state = one.contact_state.sel(one_sided="floor")
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), state)
    names = {tick: label.get_text() for tick, label in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)}
    assert {names[one] for one in np.unique(state[np.isfinite(state)])} == {"slips", "sticks"}
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("friction", "floor", "what became of floor")
    for line in ax.lines[1:]:  # each state in its colour
        drawn = np.asarray(line.get_ydata())
        (height,) = np.unique(drawn[np.isfinite(drawn)])
        assert line.get_color() == COLOURS[ContactState(int(height))]
        np.testing.assert_array_equal(np.isfinite(drawn), state == height)


# The walker: does the rear foot lift?


@pytest.mark.parametrize(("rho", "limit"), REAR_FOOT_LIMITS.items())
def test_the_rear_foot_lifts_up_to_a_limit(rear_foot, rho: float, limit: float) -> None:
    """Where the foot would stop opening if it were released, the one-sided foot begins to hold, also in the map."""
    walker = gallery.walker()

    def opening(theta: float) -> float:
        return float(walker.solve(theta=theta, rho=rho).u_plus["stance.normal"])

    theta = brentq(opening, np.radians(limit - 5), np.radians(limit + 5), xtol=1e-12)
    assert np.degrees(theta) == pytest.approx(limit, abs=0.05 if limit > 100 else 0.005)
    near = gallery.walker(rear_foot="one-sided").solve(theta=theta * (1 + np.array([-1e-6, 1e-6])), rho=rho)
    assert list(near.contact["stance"]) == [ContactState.LIFTS, ContactState.HOLDS]
    assert near.impulse["stance.normal"][1] > 0

    state = rear_foot["contact_state.stance"].sel(rho=rho, method="nearest")
    (change,) = np.flatnonzero(np.diff(state))
    assert rear_foot.theta[change] < theta < rear_foot.theta[change + 1]
    ax = plots.state_map(rear_foot, threshold="free")
    line = zero(ax)
    at = line[np.argsort(line[:, 1])]
    assert np.interp(rho, at[:, 1], at[:, 0]) == pytest.approx(np.degrees(theta), abs=0.01)
    assert texts(ax) == ["lifts", "holds", "$u_n^+$ if released = 0 (ticks: negative)"]


def test_the_threshold_runs_between_lifting_and_holding(rear_foot):
    """Every boundary of the regions is within a cell of it."""
    ax = plots.state_map(rear_foot, "stance", threshold="free")
    line, cell = zero(ax), np.array([0.5, 0.01])
    for point in boundaries(ax).mean(1):
        assert np.min(np.max(np.abs(line - point) / cell, axis=1)) < 1


def test_what_a_contact_holds_at_rest_has_no_zero_line(rear_foot):
    """u_n⁺ of a one-sided foot is 0 or more; where it is 0, rounding leaves either sign."""
    ax = plots.state_map(rear_foot, threshold="u_plus.stance.normal")
    assert texts(ax)[-1] == "$u^+$ of stance.normal ≥ 0 everywhere"
    assert not [one for one in ax.collections if isinstance(one, QuadContourSet)]


# The walker: what a rough heel needs


@pytest.mark.parametrize("kappa", [0.0, 0.5])
def test_a_heel_sticks_from_the_friction_on_that_the_ideal_strike_needs(kappa: float) -> None:
    """It arrives without slip, so it needs |W_nt| / W_tt at every instant, which is what the ideal strike needs in sum.

    With less it slips from the first instant to the last. Without restitution the loss grows with friction up to that
    of the ideal strike; with restitution, a heel that slips may lose more than one that sticks.
    """
    axes: dict[str, Any] = {"theta": np.radians(np.linspace(10, 60, 26)), "friction": np.linspace(0, 0.6, 61)}
    ds = gallery.walker(law=COULOMB).sweep(**axes, kappa=kappa)
    assert np.abs(ds.u_minus.sel(row="heel.tangent")).max() < 1e-15
    ideal = gallery.walker().sweep(theta=axes["theta"])
    margin = (ds.friction - ideal.required_friction.sel(contact="heel")).squeeze(drop=True)
    state = ds.contact_state.sel(one_sided="heel").squeeze(drop=True)
    clear = np.abs(margin) > 1e-9
    expected = xarray.where(margin > 0, ContactState.STICKS, ContactState.SLIPS)
    assert np.all((state == expected) | ~clear)
    assert set(np.unique(state)) == {ContactState.SLIPS, ContactState.STICKS}
    ax = plots.state_map(ds.assign(margin=margin), threshold="margin", over="theta")
    above = zero(ax)
    np.testing.assert_allclose(
        above[:, 1],
        np.interp(above[:, 0], np.degrees(axes["theta"]), ideal.required_friction.sel(contact="heel").squeeze()),
        atol=1e-9,
    )

    loss = ds.loss.squeeze(drop=True).transpose("theta", "friction")
    full = (1 - kappa**2) * ideal.loss.squeeze(drop=True)  # of a heel that sticks: its approach is given back κ-fold
    assert np.all((np.abs(loss - full) < 1e-12) | (margin < 1e-9).transpose("theta", "friction"))
    if kappa == 0:
        assert np.all(loss.diff("friction") > -1e-12)
    else:
        assert np.all(loss.max("friction") > 1.01 * full)


def test_a_heel_that_arrives_slipping_needs_enough_in_sum_and_at_the_end(rng: np.random.Generator) -> None:
    """The swing leg turns at a rate of its own: the heel slips forward or back, then sticks, or reverses.

    Without restitution it ends stuck from max(required_friction, |W_nt| / W_tt) on: what the ideal strike needs in sum
    does not do where slip that stopped would start again the other way. Stuck, it is the ideal strike, however it slid.
    """
    ideal, rough = gallery.walker(), gallery.walker(law=COULOMB)
    theta, rates, radius = 0.7, rng.uniform(-0.5, 3.0, 60), 0.2
    q = {"foot_y": radius, "stance": theta / 2, "swing": -theta / 2}
    v = {"foot_x": radius, "stance": 1.0, "swing": rates}
    strike = ideal.event.solve(q=q, v=v)
    in_sum = strike.required_friction["heel"]
    arrives = ideal.event.solve(q=q, v=v | {"swing": 1.0})  # without slip
    assert arrives.u_minus["heel.tangent"] == pytest.approx(0, abs=1e-15)
    at_an_instant = arrives.required_friction["heel"]
    needed = np.maximum(in_sum, at_an_instant)
    assert np.any(in_sum > at_an_instant)
    assert np.any(in_sum < at_an_instant)

    held = rough.event.solve(q=q, v=v, friction=1.001 * needed, kappa=0.0)
    assert np.all(held.contact["heel"] == ContactState.STICKS)
    np.testing.assert_allclose(held.v_plus, strike.v_plus, atol=1e-12)
    np.testing.assert_allclose(held.loss, strike.loss, rtol=1e-12)
    less = rough.event.solve(q=q, v=v, friction=0.999 * needed, kappa=0.0)
    stopped = less.contact["heel"] == ContactState.REVERSES
    assert np.all(stopped | (less.contact["heel"] == ContactState.SLIPS))
    backward = less.u_minus["heel.tangent"] < 0
    np.testing.assert_array_equal(stopped, backward)  # the ideal impulse brakes the forward slip only
    assert np.all(less.loss < strike.loss)


# The command line


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """Words as in a terminal, in a folder of their own: exit code, output, errors."""
    monkeypatch.chdir(tmp_path)

    def run(words: str) -> tuple[Any, str, str]:
        monkeypatch.setattr(sys, "argv", ["jourdain", *shlex.split(words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, printed.err

    return run


@pytest.fixture
def drawn(monkeypatch):
    """What `--plot` saves."""
    kept: list[Any] = []
    save = plots.save

    def kept_and_saved(ax: Any, path: Any) -> None:
        kept.append(ax)
        save(ax, path)

    monkeypatch.setattr(plots, "save", kept_and_saved)
    return kept


def test_the_rod_from_the_command_line(command, drawn):
    code, out, err = command(
        "run rough_rod --sweep theta=5:85:41 --sweep friction=0:1:21 --show contact_state.floor --plot rod.png"
    )
    assert (code, err) == (0, "")
    assert Path("rod.png").read_bytes().startswith(b"\x89PNG")
    ds = gallery.rough_rod().sweep(theta=np.radians(np.linspace(5, 85, 41)), friction=np.linspace(0, 1, 21))
    state = ds.contact_state.sel(one_sided="floor")
    np.testing.assert_array_equal(cells(drawn[0]).get_array(), state.transpose("friction", "theta"))
    counts = {one.name.lower(): int((state == one).sum()) for one in ContactState}
    (line,) = (line for line in out.splitlines() if line.startswith("floor: "))
    told = dict(part.rsplit(" ", 1) for part in line.removeprefix("floor: ").split(", "))
    assert told == {name: str(n) for name, n in counts.items() if n}
    assert sum(map(int, told.values())) == 41 * 21
    assert "contact_state" not in out


def test_the_walker_from_the_command_line(command, drawn):
    words = "run walker --set rear_foot=one-sided --sweep theta=30:110:41"
    code, out, err = command(f"{words} --sweep rho=0:0.5:11 --keep contact_state.stance --plot map.svg --out map.csv")
    assert (code, err) == (0, "")
    assert "rear_foot=one-sided" in out
    events, counts = out.splitlines()[2:4]
    assert events == "451 events, 451 ok"
    assert counts.startswith("stance: holds ")
    assert "least" not in out
    assert texts(drawn[0]) == ["lifts", "holds"]
    for name in ("contact_state", "contact_state.stance"):
        assert command(f"{words} --show {name} --plot steps.png")[0] == 0
        assert [label.get_text() for label in drawn.pop().get_yticklabels()] == ["lifts", "grazes", "holds"]


@pytest.mark.parametrize(
    ("rear_foot", "law", "expected"),
    [
        ("released", "frictionless", laws.Frictionless("kappa")),
        ("released", "coulomb", COULOMB),
        ("released", "moreau-coulomb", laws.MoreauCoulomb("friction", "kappa")),
        ("one-sided", "no-slip", laws.NoSlip("kappa")),
    ],
)
def test_laws_from_the_command_line(command, rear_foot: Any, law: str, expected: laws.Law):
    """Their numbers are parameters."""
    numbers: dict[str, Any] = {"kappa": 0.1} | ({"friction": 0.2} if "coulomb" in law else {})
    given = {"rear_foot": rear_foot, "law": law} | numbers
    words = " ".join(f"--set {name}={value}" for name, value in given.items())
    code, out, err = command(f"run walker {words} --sweep theta=20,40 --out ds.nc")
    assert (code, err) == (0, "")
    assert f"rear_foot={rear_foot}  law={law}  " in out
    t = gallery.walker(rear_foot, expected).solve(theta=np.radians([20, 40]), **numbers)
    with xarray.open_dataset("ds.nc") as ds:
        np.testing.assert_allclose(ds.loss, t.loss, rtol=1e-12)


def test_no_law_is_a_choice_too(command):
    assert command("run walker --set law=none")[1].partition("\n")[2] == command("run walker")[1].partition("\n")[2]
    code, out, _ = command("list")
    assert code == 0
    assert "law=none|" in out.replace("\n", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("walker --set law=colomb", "There is no law 'colomb'; did you mean 'coulomb'?"),
        ("walker --set rear_foot=onesided", "There is no rear_foot 'onesided'; did you mean 'one-sided'?"),
        ("walker --set rear_foot=one-sided --set law=coulomb", "'stance' has friction inside the event, but 'heel'"),
        ("walker --sweep law=none,coulomb", "'law' changes how 'walker' is built, so it cannot be swept"),
        ("walker --set friction=0.3", "There is no parameter 'friction'"),
        ("walker --sweep theta=20,40 --show contact_state --plot a.png", "no contact is one-sided"),
        ("rough_rod --sweep theta=20,40 --show contact_state.flor --plot a.png", "did you mean 'floor'?"),
        ("block_on_corners --sweep v=1,2 --show contact_state --plot a.png", "name one of 'left', 'right'."),
    ],
)
def test_mistakes_get_one_sentence_and_exit_code_2(command, words: str, message: str):
    code, out, err = command(f"run {words}")
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not list(Path().iterdir())


def test_counts_leave_failed_events_out():
    ds = gallery.rough_rod().sweep(friction=[0.1, 0.2, 0.9, -1.0], keep=["contact_state"])
    assert overview(Columns(ds)).splitlines() == ["4 events, 3 ok, 1 bad_friction", "floor: reverses 2, sticks 1"]
    lost = ds.isel(friction=[3])
    assert overview(Columns(lost)).splitlines()[1] == "floor: no result"
    assert jd.Status(int(lost.status.item())) is jd.Status.BAD_FRICTION


def test_the_threshold_between_two_states_goes_through_the_limits_of_the_rear_foot():
    """By interpolation of the margins: to a hundredth of a cell, without being told where it is."""
    walker = gallery.walker(rear_foot="one-sided")
    ds = walker.sweep(theta=np.radians(np.linspace(30, 110, 161)), rho=np.linspace(0, 0.5, 101))
    ax = plots.state_map(ds)
    line = zero(ax)
    assert texts(ax) == ["lifts", "holds", "threshold"]
    for rho, limit in REAR_FOOT_LIMITS.items():
        order = np.argsort(line[:, 1])
        assert np.interp(rho, line[order, 1], line[order, 0]) == pytest.approx(limit, abs=0.06 if rho == 0.5 else 0.01)
    without = plots.state_map(ds.drop_vars("contact_margin"))
    assert texts(without) == ["lifts", "holds"]
    assert len(boundaries(without))
