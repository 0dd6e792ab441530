"""A file of the user's, and the models in it: Scenarios, Events, Hybrids, and functions that return one."""

from __future__ import annotations

import inspect
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout, suppress
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

from jourdain.errors import BadArgument, Error, shortened, unknown

MODELS = "a Scenario, an Event or a Hybrid"
PACKAGE = Path(__file__).resolve().parents[1]


def split(name: str) -> tuple[str, str] | None:
    """FILE.py and NAME of `FILE.py:NAME`, NAME empty where there is none; None if this is no name of a file.

    >>> split("rig.py:arm"), split("rig.py"), split("walker")
    (('rig.py', 'arm'), ('rig.py', ''), None)
    """
    path, _, wanted = name.rpartition(":")
    if path.endswith(".py"):
        return path, wanted
    return (name, "") if name.endswith(".py") else None


def imported(path: str) -> ModuleType:
    """The file as a module, executed. As for a script, modules beside it can be imported."""
    if not os.path.isfile(path):
        raise BadArgument(f"There is no file '{shortened(path)}'.")
    stem = Path(path).stem
    name = stem if stem not in sys.modules else f"{stem} of the command line"
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module, loader = module_from_spec(spec), spec.loader
    sys.modules[name] = module  # dataclasses look for it there
    sys.path.append(str(Path(path).resolve().parent))  # last: a file of ours is no library
    guarded(path, lambda: loader.exec_module(module))
    return module


def models(module: ModuleType) -> dict[str, Any]:
    """The models of a file, and functions of it that say that they return one or say nothing, by name."""
    own = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    return {name: value for name, value in own.items() if is_model(value) or _makes_model(value, module)}


def is_model(value: Any) -> bool:
    from jourdain.events.event import Event
    from jourdain.motion.hybrid import Hybrid
    from jourdain.scenarios.scenario import Scenario

    return isinstance(value, Scenario | Event | Hybrid)


def _makes_model(value: Any, module: ModuleType) -> bool:
    """Whether this is a function of the file itself that says that it returns a model."""
    if not inspect.isfunction(value) or value.__module__ != module.__name__:
        return False
    returned = str(value.__annotations__.get("return", ""))
    return any(kind in returned for kind in ("Scenario", "Event", "Hybrid"))


def model(name: str) -> Any:
    """What FILE.py:NAME is, as a model or a function that makes one; without NAME the only one of the file."""
    parts = split(name)
    assert parts is not None
    path, wanted = parts
    module = imported(path)
    if not wanted:
        found = list(models(module))
        if len(found) != 1:
            which = f"it has {', '.join(found)}" if found else "none is found in it"
            raise BadArgument(f"Which problem of '{path}' is meant? Write {path}:NAME; {which}.")
        (wanted,) = found
    if not guarded(path, lambda: hasattr(module, wanted)):
        public = [name for name in vars(module) if not name.startswith("_")]
        raise unknown(f"name in '{path}'", wanted, models(module) or public)
    return getattr(module, wanted)


def hints(value: Any) -> Mapping[str, Any]:
    """The types of the keywords of a function; empty where they cannot be told."""
    if not callable(value):
        return {}
    try:
        return get_type_hints(value)
    except Exception:  # names that exist for type checkers only
        own, found = getattr(value, "__globals__", {}), {}
        for name, kind in getattr(value, "__annotations__", {}).items():
            with suppress(Exception):
                found[name] = eval(kind, own) if isinstance(kind, str) else kind  # as get_type_hints does
        return found


def guarded(name: str, run: Callable[[], Any]) -> Any:
    """What the user's own code makes; what goes wrong in it becomes an error of one sentence, with its line.

    What it prints goes to the standard error: the standard output is for the answer.
    """
    try:
        with redirect_stdout(sys.stderr):
            return run()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a person's own file raises, SystemExit included
        where = _place(error, name)
        if isinstance(error, Error):
            if not where:
                raise
            raise BadArgument(f"{error} ({where})") from None
        try:
            said = shortened(" ".join(str(getattr(error, "msg", error)).split()))  # the place is said below
        except Exception:  # its text raises too
            said = ""
        text = f"{type(error).__name__}{': ' if said else ''}{said}"
        raise BadArgument(f"'{name}' cannot be run: {text}{f' ({where})' if where else ''}.") from None


def _place(error: BaseException, name: str) -> str:
    """The line of the user's file, or of one beside it, that raised: the innermost one."""
    path = (split(name) or (name, ""))[0]
    if not path.endswith(".py"):
        return ""
    folder = Path(path).resolve().parent
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if Path(frame.filename).is_file() and _beside(Path(frame.filename), folder)]  # fmt: skip
    if isinstance(error, SyntaxError) and error.filename and _beside(Path(error.filename), folder):
        return f"{Path(error.filename).name}, line {error.lineno}"
    if not frames:
        return ""
    line = f": {shortened(frames[-1].line)}" if frames[-1].line else ""
    return f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}{line}"


def _beside(path: Path, folder: Path) -> bool:
    """Whether a file is the user's: in that folder or below, and not installed there."""
    resolved = path.resolve()
    return folder in resolved.parents and PACKAGE not in resolved.parents and "site-packages" not in resolved.parts
