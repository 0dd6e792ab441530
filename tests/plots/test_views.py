"""Drawings: every problem of the gallery has one; sketches that nobody wrote; views."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

import jourdain as jd
from jourdain import gallery
from jourdain.plots.plain_sketch import plain_sketch
from jourdain.plots.views import VIEWS, view_of

EVENTS = [name for name in gallery.__all__ if name not in ("capture", "touchdown")]


def arrows(ax):
    return [note.arrow_patch for note in ax.texts if isinstance(getattr(note, "arrow_patch", None), FancyArrowPatch)]


def impulses(ax):
    """The vectors of green arrows."""
    return [np.array(text.xy) - np.array(text.xyann) for text in ax.texts
            if text.arrow_patch is not None and text.arrowprops["color"] == "#009E73"]  # fmt: skip


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_of_the_gallery_is_drawn(name):
    scenario = getattr(gallery, name)()
    if not isinstance(scenario, jd.Scenario):
        pytest.skip("it moves")
    ax = jd.plots.drawing(scenario)
    ax.figure.canvas.draw()
    assert arrows(ax)
    assert ax.lines or ax.patches


def test_without_points_there_are_bars_and_a_sentence():
    x = dynamicsymbols("x")
    N, P = ReferenceFrame("N"), Point("P")
    P.set_vel(N, x.diff() * N.x)
    mechanism = jd.Mechanism.from_sympy([Particle("P", P, 1.0)], N, [x])
    scenario = mechanism.event(inert=[mechanism.constraint("stop", x.diff())]).at(v={"x": 1.0})
    with pytest.raises(jd.BadEvent, match="no point has a known place"):
        jd.plots.drawing(scenario)
    assert isinstance(jd.plots.event_plot(scenario).figure, Figure)


def test_planes_are_recognised_and_views_chosen():
    vectors = np.random.default_rng(3).normal(size=(5, 3))
    for name, across in (("xy", 2), ("xz", 1), ("yz", 0)):
        flat = vectors.copy()
        flat[:, across] = 0
        assert view_of(None, flat) is VIEWS[name]
    assert view_of(None, vectors) is VIEWS["oblique"]
    assert view_of("xz", vectors) is VIEWS["xz"]
    with pytest.raises(jd.Error, match="no view 'top'"):
        view_of("top", vectors)


@pytest.mark.parametrize("name", VIEWS)
def test_views_are_orthogonal_projections(name):
    view = VIEWS[name]
    np.testing.assert_allclose(view.matrix @ view.matrix.T, np.eye(2), atol=1e-15)
    np.testing.assert_allclose(view(view.towards), 0, atol=1e-15)


def test_the_view_of_a_drawing():
    box = gallery.box_dropped_flat()
    assert "$z$" in jd.plots.drawing(box, view="xz").get_ylabel()
    assert jd.plots.drawing(box).get_xlabel() == ""


@pytest.fixture
def pendulum():
    """Two links: O–A of length 1, A–B of length 2 with its middle C; a foot that strikes a floor."""
    q1, q2 = q = dynamicsymbols("q1 q2")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    frames = [N.orientnew(name, "Axis", [angle, N.z]) for name, angle in zip("DE", q, strict=True)]
    A = O.locatenew("A", frames[0].x)
    C, B = (A.locatenew(name, reach * frames[1].x) for name, reach in (("C", 1), ("B", 2)))
    bodies = [RigidBody(f"b{i}", point, frame, 1, (inertia(frame, 0, 0, 1), point))
              for i, (point, frame) in enumerate(zip((A, C), frames, strict=True))]  # fmt: skip
    mechanism = jd.Mechanism.from_sympy(bodies, N, q, points={"O": O, "A": A, "B": B, "C": C})
    floor = mechanism.contact("floor", normal=B.vel(N).dot(N.y), tangent=[B.vel(N).dot(N.x)])
    elbow = mechanism.constraint("elbow", q2.diff() - q1.diff())
    return mechanism.event(inert=[floor, elbow])


def test_points_that_stay_at_one_distance_are_linked(pendulum):
    sketch = plain_sketch(pendulum, {})
    assert {frozenset(link) for link in sketch.links} == {frozenset("OA"), frozenset("AC"), frozenset("CB")}
    assert sketch.pivots == ["O"]
    assert sketch.masses == []
    assert set(sketch.velocities) == {"A", "B", "C"}
    assert sketch.acts["floor"] == "B"
    assert sketch.surfaces == ["floor"]


def test_an_event_without_a_sketch_is_drawn(pendulum):
    angle = sp.Symbol("angle")
    scenario = pendulum.at(q={"q1": angle, "q2": -angle}, v={"q1": 1.0, "q2": -0.5}, defaults={angle: 0.4})
    ax = jd.plots.drawing(scenario)
    assert len(ax.lines) > 3
    assert any("floor" in text.get_text() for text in ax.texts)


def test_fonts_of_a_pdf_are_embedded_as_truetype(tmp_path):
    jd.plots.save(jd.plots.drawing(gallery.walker()), tmp_path / "walker.pdf")
    written = (tmp_path / "walker.pdf").read_bytes()
    assert b"/Type3" not in written
    assert b"/FontFile2" in written


def test_a_point_that_moves_on_a_circle_is_pushed_along_the_axis_that_its_row_names():
    """A rod on a pivot meets a wall: the impulse is horizontal, though its end cannot move that way alone."""
    theta = dynamicsymbols("theta")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    B = N.orientnew("B", "Axis", [theta, N.z])
    C, A = O.locatenew("C", 0.5 * B.x), O.locatenew("A", B.x)
    rod = jd.Mechanism.from_sympy([RigidBody("rod", C, B, 1, (inertia(B, 0, 0, 1 / 12), C))], N, [theta],
                                  points={"O": O, "A": A})  # fmt: skip
    wall = rod.contact("wall", normal=-A.vel(N).dot(N.x))
    turn = rod.constraint("turn", theta.diff() / 2)
    scenario = rod.event(inert=[wall]).at(q={theta: np.radians(60)}, v={theta: -1.0})
    ax, t = jd.plots.drawing(scenario), scenario.solve()
    assert any(f"wall: {t.impulse['wall'][0]:.4g} N s" == text.get_text() for text in ax.texts)
    (push,) = impulses(ax)
    assert push[1] == pytest.approx(0, abs=1e-12)
    assert "turn" not in plain_sketch(rod.event(inert=[turn]), {}).acts


def test_numbers_of_a_projection_are_those_in_space():
    box = gallery.box_dropped_flat()
    ax, t = jd.plots.drawing(box), box.solve()
    push = float(np.ravel(t.impulse["corner_1"])[0])
    assert any(text.get_text() == f"corner_1: {push:.4g} N s" for text in ax.texts)
    assert "2 m/s" in ax.get_legend().get_texts()[0].get_text()


def test_robots_are_drawn_too():
    assert arrows(jd.plots.drawing(gallery.touchdown()))


def test_a_wheel_is_a_circle_across_its_axle():
    """Rings of a sketch: all points at one distance from the middle, across the axle, from any side."""
    from jourdain.plots.drawing import _circle

    for normal in np.eye(3) * 3.0:
        ring = _circle(normal)
        np.testing.assert_allclose(np.linalg.norm(ring, axis=1), 1.0)
        np.testing.assert_allclose(ring @ normal, 0.0, atol=1e-12)
        np.testing.assert_allclose(ring[0], ring[-1], atol=1e-12)


@pytest.mark.parametrize("name", ["bicycle", "rolling_disc"])
def test_bodies_that_roll_are_drawn_beside_each_other(name):
    """Their places in the frame are not known, as nothing says how far they rolled; distances within are right."""
    scenario = getattr(jd.gallery, name)()
    mechanism = scenario.event.mechanism
    with pytest.raises(jd.Error, match="not known"):
        mechanism.position(next(iter(mechanism.points)))
    ax = jd.plots.drawing(scenario)
    assert len(ax.get_lines()) > 3
    if name == "bicycle":
        from jourdain.plots.plain_sketch import place

        q = scenario.solve().q
        hubs = [place(mechanism, hub, q) for hub in ("hub_R", "hub_F")]
        p = mechanism.parameters
        assert np.linalg.norm(hubs[1] - hubs[0]) == pytest.approx(np.hypot(p["wheelbase"], p["r_F"] - p["r_R"]))
