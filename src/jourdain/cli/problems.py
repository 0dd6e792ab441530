"""Which problem is meant: a name of the gallery or FILE.py:NAME, with what --set and --sweep choose of it."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jourdain.cli import own_file
from jourdain.cli.arguments import AXIS_COPIES, Keyword, assignment, axis, axis_length, setting
from jourdain.errors import BadArgument, listing, unknown
from jourdain.inputs import Array

if TYPE_CHECKING:
    from jourdain.events.event import Event
    from jourdain.motion.hybrid import Hybrid
    from jourdain.scenarios.scenario import Scenario

MANY = 20  # parameters; of more, only those that are given or not 0 are shown


@dataclass(frozen=True)
class Problem:
    """A model, and what the command line chooses of it; numbers in SI."""

    name: str
    model: Any  # a Scenario, a Hybrid or an Event
    structure: Mapping[str, str]  # the keywords that it was built with, as they were typed
    values: dict[str, float]  # of parameters that are fixed
    axes: dict[str, Array]  # of those that are swept

    @property
    def title(self) -> str:
        return self.name.replace("_", " ")

    @property
    def heading(self) -> str:
        """The problem and its parameters; where there are many, those that are given or not 0."""
        given, units = {**self.values, **self.axes}, units_of(self.model)
        shown: dict[str, Any] = {**self.model.parameters, **given}
        if len(shown) > MANY:
            shown = {key: value for key, value in shown.items() if key in given or value}
        choices = [f"{key}={text}" for key, text in self.structure.items()]
        numbers = [assignment(key, value, units.get(key, "")) for key, value in shown.items()]
        return f"{self.name}: {'  '.join([*choices, *numbers])}"


def units_of(model: Scenario | Hybrid | Event) -> Mapping[str, str]:
    """The units of the parameters of a model; those of one that moves include `until`."""
    from jourdain.motion.hybrid import Hybrid
    from jourdain.scenarios.scenario import Scenario

    if isinstance(model, Scenario):
        return model.units
    return {**model.mechanism.units, "until": "s"} if isinstance(model, Hybrid) else model.mechanism.units


def problem(
    name: str,
    fixed: Mapping[str, str],
    swept: Mapping[str, str] = {},
    one_event: bool = False,
    keep: Sequence[str] | None = None,
) -> Problem:
    """The problem of that name, with the texts of --set and --sweep as its choices and numbers.

    `one_event`: it must be a Scenario or an Event. `keep`: the quantities of a sweep.
    """
    from jourdain.events.event import Event
    from jourdain.scenarios.scenario import Scenario
    from jourdain.scenarios.sweep import check_size

    model, keywords = found(name)
    for key in swept:
        if key in keywords:
            raise BadArgument(f"'{key}' changes how '{name}' is built, so it cannot be swept; choose it with --set.")
        if key in fixed:
            raise BadArgument(f"'{key}' is given by --set and by --sweep; leave one out.")
    structure = {key: fixed[key] for key in keywords if key in fixed}
    if callable(model):
        model = _built(name, model, keywords, structure)
    if one_event and not isinstance(model, Scenario | Event):
        raise BadArgument(f"'{name}' is not one event (a Scenario or an Event); a log or a testbed needs one.")
    if not own_file.is_model(model):
        raise BadArgument(
            f"'{name}' is of the type {type(model).__name__}; {own_file.MODELS} is needed, or a function that "
            "returns one."
        )
    if isinstance(model, Event) and not one_event:
        model = with_state(model)
    units = units_of(model)
    numbers = {key: text for key, text in fixed.items() if key not in structure}
    known = [*model.parameters, *(["until"] if "until" in units else [])]
    for key in (*numbers, *swept):
        if key not in known:
            raise unknown("parameter", key, [*keywords, *known])
    values = {key: setting(key, text, units.get(key, "")) for key, text in numbers.items()}
    if swept and isinstance(model, Scenario):
        check_size(model, keep, [axis_length(key, text) for key, text in swept.items()], AXIS_COPIES)
    axes = {key: axis(key, text, units.get(key, "")) for key, text in swept.items()}
    return Problem(name, model, structure, values, axes)


def found(name: str) -> tuple[Any, dict[str, Keyword]]:
    """What a name stands for, in the gallery or in a file: a model, or a function and its keywords."""
    if own_file.split(name):
        model = own_file.model(name)
    else:
        from jourdain import gallery

        if name not in gallery.__all__:
            raise unknown("problem", name, gallery.__all__)
        model = getattr(gallery, name)
    if not callable(model):
        return model, {}
    parameters = own_file.guarded(name, lambda: inspect.signature(model).parameters)
    hints = own_file.hints(model)
    named = {key: one for key, one in parameters.items() if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}
    return model, {key: Keyword(key, one.default, hints.get(key)) for key, one in named.items()}


def _built(name: str, make: Callable[..., Any], keywords: Mapping[str, Keyword], texts: Mapping[str, str]) -> Any:
    """What a function makes of the choices of --set."""
    choices = {key: keywords[key].value(text) for key, text in texts.items()}
    missing = [key for key, keyword in keywords.items() if keyword.needed and key not in choices]
    if missing:
        raise BadArgument(f"'{name}' needs {listing(missing)}; give {missing[0]} as --set {missing[0]}=….")
    robot = choices.get("robot")
    if name == "touchdown" and robot and (robot != "quadruped" or os.path.isfile(robot)):  # a file
        from jourdain.robots.load import load_for_event

        choices["robot"] = load_for_event(robot, isolated=True)
    return own_file.guarded(name, lambda: make(**choices))


def with_state(event: Event) -> Scenario:
    """An event whose coordinates and velocities are parameters: those of x are q.x and v.x, 0 if not given."""
    import sympy as sp

    symbols, layout = event.mechanism.symbols, event.layout
    q, v = ({name: sp.Symbol(f"{which}.{name}") for name in names}
            for which, names in (("q", symbols.q_names), ("v", symbols.v_names)))  # fmt: skip
    units = {symbol: layout.coordinate_units.get(name, "") for name, symbol in q.items()}
    units |= {symbol: layout.units.get(name, "") for name, symbol in v.items()}
    neutral = event.mechanism.neutral_pose or [0.0] * len(q)
    defaults = dict(zip(q.values(), neutral, strict=True)) | dict.fromkeys(v.values(), 0.0)
    return event.at(q=q, v=v, defaults=defaults, units=units)
