"""Other engines that tests compare with. A test whose engine cannot be asked is skipped with the reason.

`conftest.py` prints at the end of a run which engines were asked and which were absent.
"""

from __future__ import annotations

import shutil
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import pytest

asked: dict[str, str] = {}  # engine → its version
absent: dict[str, str] = {}  # engine → why it cannot be asked


def skip(engine: str, reason: str) -> NoReturn:
    """Skip the test, or the whole module if called at its top; the summary of the run names the reason."""
    absent[engine] = reason
    pytest.skip(f"{engine} cannot be asked: {reason}", allow_module_level=True)


def imported(engine: str, module: str, source: str) -> ModuleType:
    """The Python module of an engine; skips if it cannot be imported, whatever is missing of it."""
    try:
        found = import_module(module)
    except Exception as error:  # a library that it loads may be missing too
        skip(engine, f"{type(error).__name__}: {error} ({source})")
    asked[engine] = str(getattr(found, "__version__", "")) or "version unknown"
    return found


def pinocchio() -> Any:
    return imported("Pinocchio", "pinocchio", "PyPI: pin")


def mujoco() -> Any:
    return imported("MuJoCo", "mujoco", "PyPI: mujoco, the extra 'robots'")


def robot_files() -> Path:
    """The folder of robots of example-robot-data."""
    for folder in map(Path, sys.path):
        robots = folder / "cmeel.prefix/share/example-robot-data/robots"
        if robots.is_dir():
            asked["robot files"] = "example-robot-data"
            return robots
    skip("robot files", "example-robot-data is not installed (PyPI)")


def find(name: str) -> Path:
    """A URDF of example-robot-data by the end of its path."""
    (found,) = [path for path in robot_files().rglob("*.urdf") if str(path).endswith(f"/{name}")]
    return found


def chromium() -> str:
    """The path of the browser."""
    path = shutil.which("chromium")
    if path is None:
        skip("Chromium", "it is not installed (Debian: chromium, `make browser`)")
    asked["Chromium"] = path
    return path
