"""Reports of one event: of a scenario, which knows its model, and of an outcome alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from jourdain.errors import Error
from jourdain.events.cells import ROUNDING
from jourdain.events.table import remarks
from jourdain.plots.data import check_single
from jourdain.plots.drawing import can_be_drawn, draw_outcome
from jourdain.plots.robots import robot_picture
from jourdain.reports import scripts
from jourdain.reports.asked import constraint_table, parameter_table, pose_table
from jourdain.reports.outcome import energy_parts, impulse_pictures, in_short, outcome_tables
from jourdain.reports.record import Part, Report, Section, Table, Words, picture
from jourdain.reports.titles import titled
from jourdain.robots.robot import Robot
from jourdain.scenarios.influence import influence

if TYPE_CHECKING:
    from jourdain.events.transition import Transition
    from jourdain.scenarios.scenario import Scenario

MOST_PARAMETERS = 16  # in the table of what changes the loss


def scenario_report(
    scenario: Scenario,
    t: Transition,
    given: Mapping[str, float],
    title: str = "",
    check: bool | str = True,
    command: Sequence[str] = (),
    more: Sequence[Section] = (),
) -> Report:
    """The report of one event of a scenario.

    Parameters
    ----------
    scenario : Scenario
        The event, with its model and parameters.
    t : Transition
        Its outcome.
    given : mapping
        The parameters that are not its defaults.
    title : str
        The title of the page; by itself the name in the gallery.
    check : bool or "project"
        As `t` was solved.
    command : sequence of str
        The words of the command line that asked for it.
    more : sequence of Section
        What else the page shows, before the script.

    """
    check_single(t.batch_shape, "A report shows one event")
    origin = scenario.origin
    parameters = {name: value for name, value in {**scenario.parameters, **given}.items() if value is not None}
    asked: list[Part] = [constraint_table(t, parameters)]
    asked += [parameter_table(parameters, scenario.units, given)] if parameters else []
    return _report(
        title or (titled(origin.name) if origin is not None else "An event"),
        [origin.about] if origin is not None else [],
        t,
        asked,
        drawn=_drawing(scenario, t, given),
        more=[Section("What changes the loss most", _influence(scenario, t, given)), *more],
        script=[*scripts.command_line(command), *scripts.of_scenario(scenario, t, given, check)],
    )


def transition_report(t: Transition, title: str = "") -> Report:
    """The report of one outcome, which knows neither its model nor its parameters."""
    check_single(t.batch_shape, "A report shows one event")
    return _report(title or "An event", [], t, [constraint_table(t)], drawn=[], more=[], script=scripts.of_outcome(t))


def _report(
    title: str,
    lead: Sequence[str],
    t: Transition,
    asked: list[Part],
    drawn: list[Part],
    more: Sequence[Section],
    script: list[Part],
) -> Report:
    pose = [pose_table(t.coordinate, t.layout.coordinate_units)] if t.coordinate else []
    return Report(title, [*lead, *(f"Note: {remark}." for remark in remarks(t))], [
        Section("In short", [in_short(t), *drawn]),
        Section("What was asked", [*asked, *pose]),
        Section("What comes of it", [*outcome_tables(t), *impulse_pictures(t)]),
        Section("Where the energy goes", energy_parts(t)),
        *more,
        Section("How to make it again", script),
    ])  # fmt: skip


def _drawing(scenario: Scenario, t: Transition, given: Mapping[str, float]) -> list[Part]:
    """The mechanism at the event, if it has points."""
    mechanism = scenario.event.mechanism
    if isinstance(mechanism, Robot):
        feet = [name for name in t.layout.contacts if name in mechanism.points]
        return [picture("drawing", robot_picture(mechanism, t.q, feet), "The robot at the event.")]
    if not can_be_drawn(scenario):
        return []
    try:
        caption = "The event, to scale: velocities before and after, and impulses."
        return [picture("drawing", draw_outcome(scenario, t, given), caption)]
    except Error as error:
        return [Words(f"The event is not drawn. {error}")]


def _influence(scenario: Scenario, t: Transition, given: Mapping[str, float]) -> list[Part]:
    """The parameters that change the loss, the most first."""
    if not scenario.parameters:
        return []
    try:
        found = influence(scenario, "loss", given)
    except Error as error:
        return [Words(f"The derivatives of the loss are left out. {error}")]
    least = ROUNDING * float(max(t.T_minus, t.T_plus))
    header, rows = found.table()
    telling = [row for row in rows if abs(found.slopes[row[0]]) > least][:MOST_PARAMETERS]
    if not telling:
        return [Words("The loss depends on none of the parameters.")]
    return [Table("Exact derivatives of the loss T⁻ − T⁺", header, telling, (0, 3))]
