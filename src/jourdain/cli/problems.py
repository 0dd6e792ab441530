"""Which problem is meant: a name of the gallery or FILE.py:NAME, with what --set chooses of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from jourdain.cli.arguments import AXIS, axis, pairs, setting, structural
from jourdain.errors import BadArgument, Error, unknown

if TYPE_CHECKING:
    from jourdain.events.event import Event
    from jourdain.motion.hybrid import Hybrid
    from jourdain.scenarios.scenario import Scenario


def units_of(made: Scenario | Hybrid) -> Mapping[str, str]:
    """Of the parameters of a problem."""
    from jourdain.scenarios.scenario import Scenario

    return made.units if isinstance(made, Scenario) else {**made.mechanism.units, "until": "s"}


def problem_of(
    name: str, settings: list[str], sweeps: list[str]
) -> tuple[Scenario | Hybrid, dict[str, str], dict[str, Any], dict[str, Any]]:
    """The problem, the choices that it was built with, parameters that are fixed and those that are swept."""
    from jourdain import gallery

    if name not in gallery.__all__:
        raise unknown("problem", name, gallery.__all__)
    problem = getattr(gallery, name)
    keywords = inspect.signature(problem).parameters
    fixed, swept = pairs("--set", "PARAMETER=VALUE", settings), pairs("--sweep", AXIS, sweeps)
    for key in swept:
        if key in keywords:
            raise BadArgument(f"'{key}' changes how '{name}' is built, so it cannot be swept; choose it with --set.")
        if key in fixed:
            raise BadArgument(f"'{key}' is given by --set and by --sweep; leave one out.")
    structure, kinds = {key: fixed.pop(key) for key in keywords if key in fixed}, get_type_hints(problem)
    made: Scenario | Hybrid = problem(**{key: structural(key, text, keywords[key].default, kinds[key])
                                         for key, text in structure.items()})  # fmt: skip
    units = units_of(made)
    known = [*made.parameters, *(["until"] if "until" in units else [])]
    for key in (*fixed, *swept):
        if key not in known:
            raise unknown("parameter", key, [*keywords, *known])
    values = {key: setting(key, text, units.get(key, "")) for key, text in fixed.items()}
    return made, structure, values, {key: axis(key, text, units.get(key, "")) for key, text in swept.items()}


def model_of(model: str, settings: Mapping[str, str]) -> tuple[Scenario | Event, dict[str, float]]:
    """A problem of the gallery that is one event, or what FILE.py:NAME is or makes; and its parameters in SI."""
    from jourdain.events.event import Event
    from jourdain.scenarios.scenario import Scenario

    made, kinds = _maker(model)
    left = dict(settings)
    hints = inspect.signature(made).parameters if callable(made) else {}
    structure = {
        key: structural(key, left.pop(key), hints[key].default, kinds.get(key)) for key in hints if key in left
    }
    if callable(made):
        made = _guarded(model, lambda: made(**structure))
    if not isinstance(made, Scenario | Event):
        raise BadArgument(f"'{model}' is not one event (a Scenario or an Event); a log or a testbed needs one.")
    units = made.units if isinstance(made, Scenario) else made.mechanism.units
    for name in left:
        if name not in made.parameters:
            raise unknown("parameter", name, [*hints, *made.parameters])
    return made, {name: setting(name, text, units.get(name, "")) for name, text in left.items()}


def _guarded(model: str, run: Callable[[], Any]) -> Any:
    """What somebody's own file makes; what goes wrong in it is told in one sentence."""
    try:
        return run()
    except Error:
        raise
    except (Exception, SystemExit) as error:
        raise BadArgument(f"'{model}' cannot be run: {type(error).__name__}: {error}") from None


def _maker(model: str) -> tuple[Any, Mapping[str, Any]]:
    """What makes a scenario, and the types of its keywords."""
    from jourdain import gallery

    path, colon, name = model.rpartition(":")
    if not colon or not path.endswith(".py"):
        if model not in gallery.__all__:
            raise unknown("problem", model, gallery.__all__)
        made = getattr(gallery, model)
        return made, get_type_hints(made)
    if not Path(path).is_file():
        raise BadArgument(f"There is no file '{path}'.")
    spec = spec_from_file_location(Path(path).stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    loader = spec.loader
    _guarded(path, lambda: loader.exec_module(module))
    if not hasattr(module, name):
        raise unknown(f"name in '{path}'", name, [one for one in vars(module) if not one.startswith("_")])
    return getattr(module, name), {}
