"""Answers of problems that are one event: the event, events over a grid, the study of a touchdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jourdain.cli.answers import Answer
from jourdain.cli.overview import failures, overview, pulling
from jourdain.data.addresses import find
from jourdain.data.columns import Columns
from jourdain.inputs import Array
from jourdain.kinds import Kind
from jourdain.scenarios.sweep import outcome_dataset

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

    from jourdain.reports.record import Report
    from jourdain.scenarios.scenario import Scenario


def event(
    scenario: Scenario,
    values: Mapping[str, float],
    title: str,
    keep: Sequence[str] | None = None,
    project: bool = False,
) -> Answer:
    """One event, solved once for text, dataset and figure. `project`: its start is moved onto the constraints."""
    check: bool | str = "project" if project else True
    outcome = scenario.solve(check, parameters=values)

    def dataset() -> xarray.Dataset:
        return outcome_dataset(scenario, outcome, values, keep)

    def figure() -> Axes:
        from jourdain.plots.events import outcome_plot

        return outcome_plot(scenario, outcome, values, title)

    def report(command: Sequence[str]) -> Report:
        from jourdain.reports.events import scenario_report

        return scenario_report(scenario, outcome, values, check=check, command=command)

    return Answer(str(outcome), dataset, figure, report=report)


def sweep(
    scenario: Scenario, values: Mapping[str, float], axes: Mapping[str, Array], keep: list[str], show: str | None
) -> Answer:
    """Events over a grid; what is shown is kept too."""
    if keep:
        single = [address for address in keep if address != "status" and not find(scenario.event.layout, address).names]
        show = show or next(iter(single), keep[0])
        keep = list(dict.fromkeys([*keep, show]))
    given: dict[str, Any] = {**values, **axes}
    table = Columns(scenario.sweep(keep=keep or None, **given))
    notes = [*failures(scenario, table, values), *pulling(scenario, table)]
    text = "\n".join([overview(table, everything=bool(keep)), *(["", *notes] if notes else [])])

    def figure() -> Axes:
        from jourdain.plots import sweep_plot

        return sweep_plot(table.dataset, show)

    return Answer(text, lambda: table, figure)


def touchdown(scenario: Scenario, values: Mapping[str, float], n_states: int | None) -> Answer:
    """The study of a touchdown; `n_states`: around the pose, by itself a million."""
    from jourdain.studies.touchdown import N_STATES, study

    feet = tuple(role.constraint.name for role in scenario.event.roles if role.block.kind in (Kind.INERT, Kind.CONTACT))
    found = study(scenario, feet, values, N_STATES if n_states is None else n_states)

    def report(command: Sequence[str]) -> Report:
        from jourdain.reports.events import scenario_report
        from jourdain.reports.record import Code, Section, picture

        around = picture("study", found.figure("touchdown"), "The pose, and what a landing costs around it.")
        study = Section("The study of the touchdown", [around, Code("In words and numbers:", found.text)])
        return scenario_report(scenario, scenario.solve(parameters=values), values, command=command, more=[study])

    return Answer(found.text, lambda: found.states, lambda: found.figure("touchdown"), report=report)
