"""Answers about one event beside its outcome: derivatives, the best parameters, directions, the closed form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.cli.answers import Answer
from jourdain.cli.arguments import BOUNDS, assignment, check_not_negative, number
from jourdain.data.addresses import find, unit_of
from jourdain.data.numbers import amount, shown_in, with_unit
from jourdain.errors import BadArgument, unknown
from jourdain.events.table import aligned, rounded
from jourdain.scenarios.influence import influence
from jourdain.scenarios.sweep import outcome_dataset

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

    from jourdain.events.transition import Transition
    from jourdain.reports.record import Report
    from jourdain.scenarios.scenario import Scenario


def gradient(scenario: Scenario, values: Mapping[str, float], of: str) -> Answer:
    """How a quantity changes with each parameter: what changes it most per cent comes first."""
    import xarray

    _one_number(scenario, of)
    found = influence(scenario, of, values)
    value = _quantity(scenario.solve(parameters=values), of)
    unit, size = shown_in(found.unit)
    lines = [f"{of} = {rounded(value / size)}{f' {unit}' if unit else ''}", "", *aligned(*found.table(), left=(0, 3))]

    def dataset() -> xarray.Dataset:
        order = found.order
        ds = xarray.Dataset(
            {"value": ("parameter", [found.numbers[name] for name in order]),
             "derivative": ("parameter", [found.slopes[name] for name in order]),
             "per_cent": ("parameter", [found.per_cent[name] for name in order]), "quantity": ((), float(value))},
            {"parameter": order, "parameter_unit": ("parameter", [scenario.units.get(name, "") for name in order])},
            {"source": of, "unit": found.unit},
        )  # fmt: skip
        ds["derivative"].attrs["long_name"] = f"derivative of {of} by the parameter, SI"
        ds["per_cent"].attrs["long_name"] = f"change of {of} with 1 % of the parameter, SI"
        return ds

    return Answer("\n".join(lines), dataset)


def optimum(
    scenario: Scenario,
    values: Mapping[str, float],
    of: str,
    over: Mapping[str, str],
    subject_to: Mapping[str, str],
    largest: bool,
    title: str,
) -> Answer:
    """The parameters within bounds for which a quantity is least or largest, and the event there."""
    _one_number(scenario, of)
    if not over:
        raise BadArgument("--minimize and --maximize need --over PARAMETER=LEAST:LARGEST, several times for several.")
    for name in over:
        if name not in scenario.parameters:
            raise unknown("parameter", name, scenario.parameters)
        if name in values:
            raise BadArgument(f"'{name}' is given by --set and by --over; leave one out.")
    for address in subject_to:
        _one_number(scenario, address)
    layout = scenario.event.layout
    ranges = {name: _bounds("--over", name, text, scenario.units.get(name, "")) for name, text in over.items()}
    limits = {one: _bounds("--subject-to", one, text, unit_of(layout, one)) for one, text in subject_to.items()}
    for name, (least, most) in ranges.items():
        if least is not None:
            check_not_negative(name, least, scenario.units.get(name, ""))
        if least is not None and most is not None and least > most:
            raise BadArgument(f"--over takes {BOUNDS}, the least first, not '{name}={over[name]}'.")
    search = scenario.maximize if largest else scenario.minimize
    fixed: dict[str, Any] = dict(values)
    found = search(of, ranges, limits, **fixed)
    where = [assignment(name, value, scenario.units.get(name, "")) for name, value in found.parameters.items()]
    held = [f"{one} = {amount(_quantity(found.transition, one), unit_of(layout, one))}" for one in limits]
    alike = sum(one.converged and bool(np.isclose(one.value, found.value, rtol=1e-5)) for one in found.starts)
    lines = [
        f"{'largest' if largest else 'least'} {of} = {amount(found.value, unit_of(layout, of))} at {'  '.join(where)}",
        *held,
        f"reached from {alike} of {len(found.starts)} starts",
        *([] if found.converged else ["NOT CONVERGED: a bound or an edge may hold it; narrow --over"]),
        "",
        str(found.transition),
    ]
    there = {**values, **found.parameters}

    def dataset() -> xarray.Dataset:
        ds = outcome_dataset(scenario, found.transition, there, None)
        about = {"largest" if largest else "least": of, "value": found.value, "converged": str(found.converged)}
        return ds.assign_attrs(about)

    def figure() -> Axes:
        from jourdain.plots.events import outcome_plot

        return outcome_plot(scenario, found.transition, there, title)

    def report(command: Sequence[str]) -> Report:
        from jourdain.reports.events import scenario_report

        return scenario_report(scenario, found.transition, there, command=command)

    return Answer("\n".join(lines), dataset, figure, report=report)


def directions(scenario: Scenario, values: Mapping[str, float], point: str | None) -> Answer:
    """The prior velocities that lose most and least, a column each."""
    import xarray

    layout, mechanism = scenario.event.layout, scenario.event.mechanism
    if point is not None and point not in mechanism.points:
        raise unknown("point", point, mechanism.points)
    found = scenario.directions(point, parameters=values)
    rows = [["ξ, part that is lost if inert", *(rounded(xi, 1.0) for xi in found.xi)]]
    scale = float(np.max(np.abs(found.v), initial=0.0))
    rows += [[with_unit(name, layout.units.get(name, "")), *(rounded(entry, scale) for entry in found.v[i])]
             for i, name in enumerate(layout.velocities)]  # fmt: skip
    if found.point_velocity is not None and found.angle is not None:
        rows += [[f"{point}.{axis} (m/s)", *(rounded(entry, scale) for entry in found.point_velocity[i])]
                 for i, axis in enumerate("xyz")]  # fmt: skip
        rows.append([f"angle of {point} from y (°)", *(rounded(np.degrees(angle), 1.0) for angle in found.angle)])
    header = ["velocities of 1 J", *(str(i + 1) for i in range(len(found.xi)))]

    def dataset() -> xarray.Dataset:
        numbers: dict[str, Any] = {"xi": ("direction", found.xi), "v": (("velocity", "direction"), found.v)}
        if found.point_velocity is not None and found.angle is not None:
            numbers["point_velocity"] = (("axis", "direction"), found.point_velocity, {"units": "m/s"})
            numbers["angle"] = ("direction", found.angle, {"units": "rad"})
        names = {"velocity": list(layout.velocities), "direction": np.arange(1, len(found.xi) + 1)}
        return xarray.Dataset(numbers, {**names, **({"axis": list("xyz")} if "angle" in numbers else {})})

    return Answer("\n".join(aligned(header, rows)), dataset)


def closed_form(scenario: Scenario, latex: bool) -> Answer:
    """The outcome as formulas."""
    formulas = scenario.event.symbolic() if scenario.guessed else scenario.symbolic()
    said = {name: str(formula) for name, formula in formulas.formulas().items()}
    return Answer(formulas.latex() if latex else str(formulas), data=lambda: {**said, "latex": formulas.latex()})


def _one_number(scenario: Scenario, address: str) -> None:
    if find(scenario.event.layout, address).names:
        raise BadArgument(f"'{address}' is several numbers; give one, such as loss or impulse.heel.normal.")


def _quantity(outcome: Transition, address: str) -> float:
    """One number of an outcome, in SI."""
    from jourdain.data.addresses import select

    return float(select(outcome.to_dataset(), address).values)


def _bounds(option: str, name: str, text: str, unit: str) -> tuple[float | None, float | None]:
    """`0:0.5`, `:10` or `0:`, in SI."""
    parts = text.split(":")
    if len(parts) != 2 or not any(part.strip() for part in parts):
        raise BadArgument(f"{option} takes {BOUNDS}, not '{name}={text}'.")
    least, most = (number(name, part) * shown_in(unit)[1] if part.strip() else None for part in parts)
    return least, most
