"""What one event looks like when nobody says how."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from jourdain.inputs import named_values
from jourdain.plots.drawing import can_be_drawn, draw_outcome
from jourdain.plots.energy import energy_bars
from jourdain.plots.robots import robot_picture
from jourdain.plots.style import new_figure
from jourdain.robots.robot import Robot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from jourdain.events.transition import Transition
    from jourdain.scenarios.scenario import Scenario


def event_plot(scenario: Scenario, title: str = "", parameters: Mapping[str, Any] = {}, **more: ArrayLike) -> Axes:
    """The energies before and after; above them the mechanism, if it has points.

    Axes of the topmost.
    """
    given = {**named_values("parameters", parameters), **more}
    return outcome_plot(scenario, scenario.solve(parameters=given), given, title)


def outcome_plot(scenario: Scenario, t: Transition, parameters: Mapping[str, Any], title: str) -> Axes:
    """See `event_plot`, of an outcome that is known."""
    robot = scenario.event.mechanism
    if isinstance(robot, Robot):
        feet = [name for name in t.layout.contacts if name in robot.points]
        figure = new_figure(6.4, 8.4)
        cells = figure.add_gridspec(2, 1, height_ratios=(1.5, 1))
        energy_bars(t, figure.add_subplot(cells[1]))
        picture = robot_picture(robot, t.q, feet, cells[0])
        picture.set_title(title)
        return picture
    if not can_be_drawn(scenario):
        return energy_bars(t, title=title)
    above, below = new_figure(6.4, 7.2).subplots(2, 1, height_ratios=(1.3, 1))
    energy_bars(t, below)
    draw_outcome(scenario, t, parameters, above)
    above.set_title(title)
    return above  # type: ignore[no-any-return]
