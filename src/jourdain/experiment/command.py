"""What `jourdain log` and `jourdain testbed` do."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import numpy as np

from jourdain.arguments import setting, structural
from jourdain.errors import BadArgument, BadLog, Error, LogWarning, unknown
from jourdain.event import Event
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
    made, values = model_of(model, settings)
    strikes, warned = [], []
    for path in files:
        before = f"{path}: " if len(files) > 1 else ""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", LogWarning)
            try:
                log = read(path, made, columns, units, normal, values)
                strikes.append(log.strike(number, onset, end, window))
            except BadLog as error:
                raise BadLog(before + as_options(str(error))) from None
        for one in caught:
            if not issubclass(one.category, LogWarning):
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
            else:
                warned.append(before + as_options(str(one.message)))
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
    made, values = model_of(model, left)
    if not isinstance(made, Scenario):
        raise BadArgument(f"'{model}' is an event without a state; a testbed needs a Scenario, which has one.")
    push = own["run"].pop("push", 0.0)
    run = Testbed(made, Surface(**own["surface"]), push).run(**own["run"], **values)
    record = run.record(Sensors(**own["sensors"]), seed)
    told = [
        f"onset {record.onset:.6g} s, end of compression {record.end:.6g} s, {len(record.t)} samples",
        f"T_c⁻ = {run.T_c_minus:.6g} J, T_a⁻ = {run.T_a_minus:.6g} J, T_a⁺ = {run.T_a_plus:.6g} J, ξ = {run.xi:.4g}",
        *(f"impulse along {row}: {value:.6g} {run.rig.impulse_unit(row)}" for row, value in run.impulse.items()),
    ]
    return record, "\n".join(told).replace("-", "−")


def as_options(text: str) -> str:
    """What is said in Python's words, in those of the command line.

    >>> as_options("Say units={'q.a': 'deg', …} or so; strike(number=2) takes the second; give end=.")
    'Say --unit q.a=deg or so; --strike 2 takes the second; give --end.'
    """
    text = re.sub(r"units=\{'([^']*)': '([^']*)'(?:, '([^']*)': '([^']*)')?(?:, …)?\}",
                  lambda m: f"--unit {m[1]}={m[2]}" + (f" --unit {m[3]}={m[4]}" if m[3] else ""), text)  # fmt: skip
    text = re.sub(r"columns=\{'([^']*)': …\}", r"--column \1=HEADER", text)
    text = text.replace("columns={…}", "--column NAME=HEADER").replace("columns=", "--column NAME=HEADER")
    text = re.sub(r"(?:strike\()?number=(\d+)\)?", r"--strike \1", text)
    return re.sub(r"\b(onset|end|window)=", r"--\1", text)


def model_of(model: str, settings: Mapping[str, str]) -> tuple[Scenario | Event, dict[str, float]]:
    """A problem of the gallery that is one event, or what FILE.py:NAME is or makes; and its parameters in SI."""
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
