"""How a mechanism is drawn: every name of a sketch is checked when the scenario is made."""

from __future__ import annotations

import operator
from typing import Any

import pytest
from test_gallery import CASES

import jourdain as jd
from jourdain import gallery
from jourdain.events.event import Event
from jourdain.mechanism.sketch import Sketch
from jourdain.scenarios.scenario import Scenario


@pytest.fixture(scope="module")
def strike() -> Scenario:
    return gallery.walker()


@pytest.fixture(scope="module")
def struck() -> Event:
    """An event with an impulse at the point D."""
    return gallery.sleigh("struck").event


def test_points_are_all_that_are_drawn_once() -> None:
    sketch = Sketch(
        links=[("hip", "knee", "foot"), ("hip", "head")],
        arcs={"foot": ("R", "knee"), "heel": ("R", "ankle")},
        masses=["hip"],
        pivots=["ground"],
        velocities=["toe", "hip"],
        acts={"contact": "sole"},
        surfaces=["contact"],
    )
    expected = ["hip", "knee", "foot", "head", "heel", "ground", "ankle", "toe", "sole"]
    assert sorted(sketch.points()) == sorted(expected)
    assert Sketch().points() == ()


@pytest.mark.parametrize(
    "sketch",
    [
        {"links": [("rear", "hpi")]},
        {"arcs": {"hpi": ("R", "hip")}},
        {"arcs": {"rear": ("R", "hpi")}},
        {"masses": ["hpi"]},
        {"pivots": ["hpi"]},
        {"velocities": ["hpi"]},
        {"acts": {"heel": "hpi"}},
    ],
    ids=["link", "arc", "away from", "mass", "pivot", "velocity", "act"],
)
def test_a_point_that_is_not_there(strike: Scenario, sketch: dict[str, Any]) -> None:
    with pytest.raises(jd.UnknownName, match=r"There is no point 'hpi'; did you mean 'hip'\?"):
        strike.event.at(sketch=Sketch(**sketch))


def test_a_constraint_that_is_not_there(strike: Scenario) -> None:
    message = r"There is no constraint or applied impulse of the event 'heal'; did you mean 'heel'\?"
    with pytest.raises(jd.UnknownName, match=message):
        strike.event.at(sketch=Sketch(acts={"heal": "heel"}))


def test_a_surface_that_acts_nowhere(strike: Scenario) -> None:
    with pytest.raises(jd.UnknownName, match="There is no entry of acts for the surface 'stance'"):
        strike.event.at(sketch=Sketch(acts={"heel": "heel"}, surfaces=["stance"]))


def test_a_constraint_of_the_mechanism_that_the_event_does_not_have(strike: Scenario) -> None:
    """Only what takes part can act."""
    without = strike.event.mechanism.event(inert=["heel"])
    without.at(sketch=Sketch(acts={"heel": "heel"}))
    message = "There is no constraint or applied impulse of the event 'stance'; there are: 'heel'"
    with pytest.raises(jd.UnknownName, match=message):
        without.at(sketch=Sketch(acts={"stance": "stance_foot"}))


def test_an_applied_impulse_acts_too(struck: Event) -> None:
    sketch = Sketch(acts={"blade": "A", "D": "D"})
    assert struck.at(sketch=sketch).sketch is sketch
    with pytest.raises(
        jd.UnknownName, match="no constraint or applied impulse of the event 'hammer'; there are: 'blade', 'D'"
    ):
        struck.at(sketch=Sketch(acts={"hammer": "D"}))


def test_a_radius_that_is_not_there(strike: Scenario) -> None:
    """The radius is a parameter of the event; name and symbol both do, a parameter of the scenario alone does not."""
    strike.event.at(sketch=Sketch(arcs={"rear": ("R", "hip")}))
    with pytest.raises(jd.UnknownName, match="There is no parameter of the mechanism 'rho'; "):
        strike.event.at(sketch=Sketch(arcs={"rear": ("rho", "hip")}))
    with pytest.raises(jd.UnknownName, match=r"There is no parameter of the mechanism 'l_TT'; did you mean 'l_T'\?"):
        strike.event.at(sketch=Sketch(arcs={"rear": ("l_TT", "hip")}))


def test_sketches_of_the_gallery() -> None:
    """Points and constraints are the event's, surfaces act somewhere, radii are lengths, links join different points.

    Mechanisms of bars and feet have a sketch.
    """
    drawn = set()
    for name, keywords in CASES:
        scenario = getattr(gallery, name)(**keywords)
        sketch, event = scenario.sketch, scenario.event
        if sketch is None:
            continue
        drawn.add(name)
        acting = {constraint.name for constraint in event.layout.constraints} | set(event.applied)
        assert set(sketch.points()) <= set(event.mechanism.points), name
        assert set(sketch.acts) <= acting, name
        assert set(sketch.surfaces) <= set(sketch.acts), name
        assert all(event.mechanism.units[str(radius)] == "m" for radius, _ in sketch.arcs.values()), name
        assert all(len(line) > 1 and all(map(operator.ne, line, line[1:])) for line in sketch.links), name
    assert drawn >= {"four_bar", "pantograph", "sleigh", "slider_crank", "walker"}
