"""Which problem is meant: a name of the gallery or FILE.py:NAME, with what --set and --sweep choose of it."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from jourdain.cli.arguments import AXIS_COPIES, assignment, axis, axis_length, setting, structural
from jourdain.errors import BadArgument, Error, shortened, unknown
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

    `one_event`: it must be a Scenario or an Event, and may be FILE.py:NAME. `keep`: the quantities of a sweep.
    """
    from jourdain.events.event import Event
    from jourdain.scenarios.scenario import Scenario
    from jourdain.scenarios.sweep import check_size

    model, hints = _from_file(name) if one_event and name.rpartition(":")[0].endswith(".py") else _from_gallery(name)
    keywords: Mapping[str, inspect.Parameter] = {}
    if callable(model):
        keywords = _guarded(name, lambda: inspect.signature(model).parameters)
    for key in swept:
        if key in keywords:
            raise BadArgument(f"'{key}' changes how '{name}' is built, so it cannot be swept; choose it with --set.")
        if key in fixed:
            raise BadArgument(f"'{key}' is given by --set and by --sweep; leave one out.")
    structure = {key: fixed[key] for key in keywords if key in fixed}
    if callable(model):
        make, choices = model, {key: structural(key, text, keywords[key].default, hints.get(key))
                                for key, text in structure.items()}  # fmt: skip
        robot = choices.get("robot")
        if name == "touchdown" and robot and (robot != "quadruped" or os.path.isfile(robot)):  # a file
            from jourdain.robots.load import load_for_event

            choices["robot"] = load_for_event(robot, isolated=True)
        model = _guarded(name, lambda: make(**choices))
    if one_event and not isinstance(model, Scenario | Event):
        raise BadArgument(f"'{name}' is not one event (a Scenario or an Event); a log or a testbed needs one.")
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


def _from_gallery(name: str) -> tuple[Any, Mapping[str, Any]]:
    """The function that builds a problem of the gallery, and the types of its keywords."""
    from jourdain import gallery

    if name not in gallery.__all__:
        raise unknown("problem", name, gallery.__all__)
    maker = getattr(gallery, name)
    return maker, get_type_hints(maker)


def _from_file(name: str) -> tuple[Any, Mapping[str, Any]]:
    """What FILE.py:NAME is: a model, or a function that makes one; the types of its keywords are not looked at."""
    path, _, wanted = name.rpartition(":")
    if not os.path.isfile(path):
        raise BadArgument(f"There is no file '{shortened(path)}'.")
    spec = spec_from_file_location(Path(path).stem, path)
    assert spec is not None
    assert spec.loader is not None
    module, loader = module_from_spec(spec), spec.loader
    _guarded(path, lambda: loader.exec_module(module))
    if not _guarded(path, lambda: hasattr(module, wanted)):
        raise unknown(f"name in '{path}'", wanted, [one for one in vars(module) if not one.startswith("_")])
    return getattr(module, wanted), {}


def _guarded(name: str, run: Callable[[], Any]) -> Any:
    """What somebody's own file makes; what goes wrong in it becomes an error of one sentence."""
    try:
        return run()
    except Error:
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a person's own file raises, SystemExit included
        try:
            said = shortened(" ".join(str(error).split()))
        except Exception:  # its text raises too
            said = ""
        raise BadArgument(f"'{name}' cannot be run: {type(error).__name__}{': ' if said else ''}{said}") from None
