"""A machine without the other engines: tests that need them are skipped with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

import engines
from oracles import siconos as siconos_oracle


@pytest.fixture(autouse=True)
def records(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is pretended here is not in the summary of the run."""
    monkeypatch.setattr(engines, "asked", {})
    monkeypatch.setattr(engines, "absent", {})


@pytest.mark.parametrize(
    ("python", "reason"),
    [
        ("", "does not start"),
        ("#!/bin/sh\necho \"ModuleNotFoundError: No module named 'numpy'\" >&2; exit 1", "No module named 'numpy'"),
        ("#!/bin/sh\necho 'ImportError: libsiconos.so: cannot open' >&2; exit 1", "libsiconos.so: cannot open"),
        ("#!/bin/sh\nkill -SEGV $$", "it ended with -11"),
    ],
)
def test_siconos_that_cannot_be_asked(
    python: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "python3"
    if python:
        there.write_text(python)
        there.chmod(0o755)
    monkeypatch.setattr(siconos_oracle, "SYSTEM_PYTHON", there)
    with pytest.raises(pytest.skip.Exception, match=reason):
        siconos_oracle.siconos_moreau_coulomb([[1.0, 0.0], [0.0, 1.0]], [-1.0, 0.0], 0.5)
    assert reason in engines.absent["Siconos"]


def test_siconos_that_fails_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure after it has started is not an absence."""
    there = tmp_path / "python3"
    there.write_text("#!/bin/sh\necho 4.4.0; exit 1")
    there.chmod(0o755)
    monkeypatch.setattr(siconos_oracle, "SYSTEM_PYTHON", there)
    with pytest.raises(siconos_oracle.SiconosFailed, match="ended with 1"):
        siconos_oracle.siconos_moreau_coulomb([[1.0, 0.0], [0.0, 1.0]], [-1.0, 0.0], 0.5)


def test_modules_files_and_browsers_that_are_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "broken_engine.py").write_text("raise OSError('libengine.so.3: cannot open shared object file')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(pytest.skip.Exception, match="libengine"):
        engines.imported("Engine", "broken_engine", "PyPI")
    monkeypatch.setattr("sys.path", [])
    with pytest.raises(pytest.skip.Exception, match="example-robot-data is not installed"):
        engines.robot_files()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(pytest.skip.Exception, match="make browser"):
        engines.chromium()
    assert set(engines.absent) == {"Engine", "robot files", "Chromium"}
