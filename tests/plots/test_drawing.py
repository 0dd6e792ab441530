"""Drawings: every point, arrow and surface lies where the mechanics says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

import jourdain as jd
from cases import EVENTS
from jourdain import gallery
from jourdain.mechanism.sketch import Sketch
from jourdain.plots import drawing, event_plot
from jourdain.plots.plain_sketch import place
from jourdain.plots.views import VIEWS

DRAWN = [name for name in EVENTS if getattr(gallery, name)().sketch is not None]


def arrows(ax) -> list[tuple[np.ndarray, np.ndarray, str]]:
    """(start, vector, colour) of every arrow."""
    found = []
    for text in ax.texts:
        if text.arrow_patch is not None:
            start, end = np.array(text.xyann), np.array(text.xy)
            found.append((start, end - start, text.arrowprops["color"]))
    return found


def lines(ax) -> list[np.ndarray]:
    return [np.transpose(line.get_data()) for line in ax.lines]


def has_line_through(ax, points) -> bool:
    return any(len(line) == len(points) and np.allclose(line, points, atol=1e-12) for line in lines(ax))


def test_the_papers_mechanisms_can_be_drawn() -> None:
    assert {"walker", "pantograph", "sleigh", "four_bar", "slider_crank"} <= set(DRAWN)


@pytest.mark.parametrize("name", DRAWN)
def test_links_go_through_their_points(name: str) -> None:
    scenario = getattr(gallery, name)()
    ax, t = drawing(scenario), scenario.solve()
    in_plane = bool(ax.get_xlabel())
    view = VIEWS[scenario.sketch.view or ("xy" if in_plane else "oblique")]
    for link in scenario.sketch.links:
        assert has_line_through(ax, [view(place(scenario.event.mechanism, point, t.q)) for point in link])
    assert in_plane == (name not in ("box_dropped_flat", "cube", "thrown_box", "rolling_disc"))
    assert ax.get_aspect() == 1.0


def test_walker() -> None:
    """Arrows share a scale: those of velocities are in proportion to them, that of the heel's impulse has its slope."""
    scenario = gallery.walker()
    ax, t, mechanism = (
        drawing(scenario, theta=0.6, rho=0.3),
        scenario.solve(theta=0.6, rho=0.3),
        scenario.event.mechanism,
    )
    own = {"R": 0.3 * 0.8}
    heel, found = mechanism.position("heel", t.q, **own)[:2], arrows(ax)
    (impulse,) = (vector for start, vector, colour in found if colour == "#009E73")
    assert impulse[1] / impulse[0] == pytest.approx(t.impulse["heel.normal"] / t.impulse["heel.tangent"], rel=1e-12)
    assert impulse[1] > 0
    before = {name: mechanism.point_velocity(name, t.q, t.v_minus, **own)[:2] for name in ("hip", "heel")}
    drawn = {
        name: next(v for start, v, colour in found if colour == "#0072B2" and np.allclose(start, at))
        for name, at in (("hip", mechanism.position("hip", t.q, **own)[:2]), ("heel", heel))
    }
    scale = np.hypot(*drawn["hip"]) / np.hypot(*before["hip"])
    for name, v in before.items():
        assert drawn[name] == pytest.approx(scale * v, abs=1e-12)
    legend = "\n".join(text.get_text() for text in ax.get_legend().get_texts())
    assert "velocity before" in legend
    assert "velocity after" in legend
    label = next(text.get_text() for text in ax.texts if text.get_text().startswith("heel"))
    assert label == f"heel: {np.hypot(*t.impulse['heel']):.4g} N s"


def test_pantograph_wall_pushes_down() -> None:
    scenario = gallery.pantograph()
    for d in (0.0, 0.2):
        ax = drawing(scenario, d=d, gamma=0.3, beta=-0.02)
        wall, slide = (vector for start, vector, colour in arrows(ax) if colour == "#009E73")
        t = scenario.solve(d=d, gamma=0.3, beta=-0.02)
        assert wall / np.hypot(*wall) == pytest.approx([0, -1], abs=1e-12)
        assert slide / np.hypot(*slide) == pytest.approx([-1, 0], abs=1e-12)
        assert np.hypot(*slide) / np.hypot(*wall) == pytest.approx(0.02 / t.impulse["wall"], rel=1e-9)


def test_an_applied_impulse_is_drawn_as_the_vector_it_is() -> None:
    """P at D, across the sleigh; the blade answers across it too."""
    scenario = gallery.sleigh("struck")
    t, across = scenario.solve(theta=0.4), np.array([-np.sin(0.4), np.cos(0.4)])
    blade, struck = (vector for _, vector, colour in arrows(drawing(scenario, theta=0.4)) if colour == "#009E73")
    assert struck / np.hypot(*struck) == pytest.approx(across, abs=1e-9)
    assert blade @ across / np.hypot(*struck) == pytest.approx(t.impulse["blade"] / scenario.parameters["P"], rel=1e-9)


def test_joint_impulses_act_along_their_axes() -> None:
    """Both sides of a joint enter its rows; drawn is what the rocker gets."""
    scenario = gallery.four_bar()
    t = scenario.solve()
    found = {tuple(np.round(start, 9)): v for start, v, colour in arrows(drawing(scenario)) if colour == "#009E73"}
    joint = found[tuple(np.round(scenario.event.mechanism.position("rocker_pin", t.q)[:2], 9))]
    assert joint / np.hypot(*joint) == pytest.approx(t.impulse["joint"] / np.hypot(*t.impulse["joint"]), rel=1e-9)


def test_rows_that_are_called_x_and_mean_minus_x() -> None:
    """The arrow follows the coefficients of the rows, not their names."""
    from sympy.physics.mechanics import Particle, Point, ReferenceFrame, dynamicsymbols

    x, y = dynamicsymbols("x y")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    P = O.locatenew("P", x * N.x + y * N.y)
    ball = jd.Mechanism.from_sympy([Particle("ball", P, 1.0)], N, [x, y], points={"P": P, "O": O})
    wall = ball.constraint("wall", {"x": -x.diff(), "y": y.diff()})
    strike = ball.event(inert=[wall]).at(v={x: 1.0}, sketch=Sketch(links=[("O", "P")], acts={"wall": "P"}))
    (push,) = (vector for _, vector, colour in arrows(drawing(strike)) if colour == "#009E73")
    assert push / np.hypot(*push) == pytest.approx([-1, 0])


def test_arrows_after_surfaces_and_feet() -> None:
    """After the strike the rear foot moves as u⁺ says; the ground is solid below; soles look down."""
    scenario = gallery.walker()
    ax, t = drawing(scenario), scenario.solve()
    at = scenario.event.mechanism.position("stance_foot", t.q)[:2]
    (after,) = (v for start, v, colour in arrows(ax) if colour == "#D55E00" and np.allclose(start, at))
    u = t.u_plus["stance"][::-1]  # (tangent, normal) is (x, y) here
    assert after / np.hypot(*after) == pytest.approx(u / np.hypot(*u), rel=1e-9)
    patches: Any = ax.patches
    solids = [patch.get_xy() for patch in patches if patch.get_hatch()]
    assert len(solids) == 2
    for corners in solids:
        assert corners[:, 1].max() == pytest.approx(0, abs=1e-12)
        assert corners[:, 1].min() < 0
    rims = [line for line in lines(ax) if len(line) == 60]
    assert len(rims) == 2
    for rim in rims:  # a foot touches the ground and rises on both sides
        assert rim[:, 1].min() == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize(("name", "odd"), [("walker", {"rho": 1.0}), ("four_bar", {"s": 0.0})])
def test_odd_sizes_are_drawn_without_a_fuss(name: str, odd: dict[str, Any]) -> None:
    """A wheel has no side that looks away; a stop at the pivot lies no way."""
    ax = drawing(getattr(gallery, name)(), **odd)
    assert np.isfinite(np.concatenate(lines(ax))).all()


def test_at_rest_there_are_no_arrows() -> None:
    ax = drawing(gallery.sleigh("landing"), v_C=0.0, omega=0.0)
    assert arrows(ax) == []
    assert ax.get_legend() is None


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(jd.ShapeError, match=r"A drawing shows one event, not a batch \(2,\)"):
        drawing(gallery.walker(), theta=[0.3, 0.5])
    walker = gallery.walker()
    elsewhere = walker.event.at(
        q={"foot_y": sp.Symbol("R")}, v={"stance": 1.0, "foot_x": sp.Symbol("R")}, sketch=Sketch(acts={"heel": "hip"})
    )
    with pytest.raises(jd.BadEvent, match="'heel' is no row of the velocity of 'hip'; it acts elsewhere"):
        drawing(elsewhere)


@pytest.mark.parametrize("name", ["walker", "rolling_disc"])
def test_event_plot_has_the_energies_and_what_can_be_drawn(name: str) -> None:
    ax = event_plot(getattr(gallery, name)(), "a title")
    labels = [one.get_xlabel() for one in ax.figure.axes]
    assert labels == ["$x$ in m" if name == "walker" else "", "kinetic energy in J"]
    assert ax.get_title() == "a title"
