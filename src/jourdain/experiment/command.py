"""What `jourdain log` and `jourdain testbed` do."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.arguments import setting, structural
from jourdain.errors import BadArgument, LogWarning, unknown
from jourdain.experiment.compare import Comparison, Repeats, average
from jourdain.experiment.logs import read
from jourdain.experiment.sensors import Recording, Sensors
from jourdain.experiment.strike import Strike
from jourdain.experiment.testbed import Surface, Testbed
from jourdain.quantities import QUANTITIES
from jourdain.scenario import Scenario

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

RUN = ("push", "lead", "after")  # words of a testbed besides those of its surface and sensors
RUN_UNITS = {"push": "N", "lead": "s", "after": "s"}


@dataclass(frozen=True)
class Logged:
    """What was found in one or several logs."""

    found: Strike | Repeats
    told: str
    warned: tuple[str, ...]

    def dataset(self) -> xarray.Dataset:
        """Of one log its curves over time; of several, the quantities of each strike."""
        if isinstance(self.found, Strike):
            return self.found.curves
        import xarray

        rows = [one.quantities() for one in self.found.strikes]
        data = {name: ("strike", np.array([row[name] for row in rows]), {"units": self._unit(name)})
                for name in self.found.mean}  # fmt: skip
        return xarray.Dataset(data, {"strike": ("strike", np.arange(1, len(rows) + 1))})

    def _unit(self, address: str) -> str:
        name, _, part = address.partition(".")
        assert isinstance(self.found, Repeats)
        layout = self.found.strikes[0].rig.event.layout
        return layout.unit(name, part) if part else QUANTITIES[name].unit

    def picture(self, title: str) -> Axes:
        from jourdain.plots import strike_plot

        return strike_plot(self.found, title)


def logged(
    files: Sequence[Path],
    model: str,
    settings: Mapping[str, str],
    columns: Mapping[str, str],
    units: Mapping[str, str],
    normal: str | None,
    number: int | None,
    onset: float | None,
    end: float | None,
    window: float | None,
) -> Logged:
    """Split each file, compare with the model, average several."""
    scenario, values = scenario_of(model, settings)
    strikes, warned = [], []
    for path in files:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", LogWarning)
            log = read(path, scenario, columns, units, normal, values)
            strikes.append(log.strike(number, onset, end, window))
        before = f"{path}: " if len(files) > 1 else ""
        for one in caught:
            if not issubclass(one.category, LogWarning):
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
            else:
                warned.append(f"{before}{one.message}")
    if len(strikes) == 1:
        compared: Comparison = strikes[0].compare()
        return Logged(strikes[0], f"{strikes[0]}\n\n{compared}", tuple(warned))
    found = average(strikes)
    return Logged(found, str(found), tuple(warned))


def recorded(model: str, settings: Mapping[str, str], seed: int) -> tuple[Recording, str]:
    """A strike of a model on the testbed, recorded; and what to tell."""
    own: dict[str, dict[str, Any]] = {"surface": {}, "sensors": {}, "run": {}}
    left = {}
    known = {"surface": [f.name for f in fields(Surface)],
             "sensors": [f.name for f in fields(Sensors) if f.name != "rates"]}  # fmt: skip
    for name, text in settings.items():
        part, dot, word = name.partition(".")
        if dot and part in known:
            if word not in known[part]:
                raise unknown(f"number of the {part}", word, known[part])
            own[part][word] = setting(name, text, "")
        elif name in RUN:
            own["run"][name] = setting(name, text, RUN_UNITS[name])
        else:
            left[name] = text
    scenario, values = scenario_of(model, left)
    push = own["run"].pop("push", 0.0)
    run = Testbed(scenario, Surface(**own["surface"]), push).run(**own["run"], **values)
    record = run.record(Sensors(**own["sensors"]), seed)
    told = [
        f"onset {record.onset:.6g} s, end of compression {record.end:.6g} s, {len(record.t)} samples",
        f"T_c⁻ = {run.T_c_minus:.6g} J, T_a⁻ = {run.T_a_minus:.6g} J, T_a⁺ = {run.T_a_plus:.6g} J, ξ = {run.xi:.4g}",
        *(f"impulse along {row}: {value:.6g} {run.rig.impulse_unit(row)}" for row, value in run.impulse.items()),
    ]
    return record, "\n".join(told).replace("-", "−")


def scenario_of(model: str, settings: Mapping[str, str]) -> tuple[Scenario, dict[str, float]]:
    """A problem of the gallery that is one event, or what FILE.py:NAME makes; and its parameters in SI."""
    import inspect

    made, keywords = _maker(model)
    left = dict(settings)
    hints = inspect.signature(made).parameters if callable(made) else {}
    structure = {
        key: structural(key, left.pop(key), hints[key].default, keywords.get(key)) for key in hints if key in left
    }
    scenario = made(**structure) if callable(made) else made
    if not isinstance(scenario, Scenario):
        raise BadArgument(f"'{model}' is not one event at a pose (a Scenario); a log or a testbed needs one.")
    for name in left:
        if name not in scenario.parameters:
            raise unknown("parameter", name, [*hints, *scenario.parameters])
    return scenario, {name: setting(name, text, scenario.units.get(name, "")) for name, text in left.items()}


def _maker(model: str) -> tuple[Any, Mapping[str, Any]]:
    """What makes a scenario, and the types of its keywords."""
    from typing import get_type_hints

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
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise BadArgument(f"'{path}' cannot be run: {type(error).__name__}: {error}") from None
    if not hasattr(module, name):
        raise unknown(f"name in '{path}'", name, [one for one in vars(module) if not one.startswith("_")])
    return getattr(module, name), {}
