"""Broken inputs end in a sentence, not in a traceback or a crash, and never in silence.

`make test` tries a few with a fixed seed, `make test-all` 5,000 with a new one, which is printed: FUZZ=seed repeats it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

KINDS = ("mjcf", "urdf", "log", "model", "command")
TESTS = Path(__file__).parents[1]
AT_ONCE, LIMIT = 100, 300  # inputs of one process, and how long it may take, s


def check(folder: Path, kind: str, seed: int, n: int) -> None:
    words = [sys.executable, "-m", "fuzz.child", str(folder), kind, str(seed), str(n)]
    where = f"FUZZ={seed}, {kind}"
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    try:
        ran = subprocess.run(
            words,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=LIMIT,
            env={**os.environ, "PYTHONPATH": path},
        )
    except subprocess.TimeoutExpired:
        pytest.fail(f"{where}: no end at input {_now(folder)}")
    assert ran.returncode == 0, f"{where}: the process ended ({ran.returncode}) at input {_now(folder)}\n{ran.stderr}"
    assert not ran.stdout.strip(), f"{where}:\n{ran.stdout}"


def _now(folder: Path) -> str:
    return (folder / "now").read_text(encoding="utf-8", errors="replace")


@pytest.mark.parametrize("kind", KINDS)
def test_a_few(kind: str, tmp_path: Path) -> None:
    if kind in ("mjcf", "urdf"):
        pytest.importorskip("mujoco")
    check(tmp_path, kind, 1, 25)


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("kind", KINDS)
def test_many(kind: str, part: int, tmp_path: Path) -> None:
    seed = int(os.environ.get("FUZZ", 0)) or time.time_ns() % 10**9
    print(f"FUZZ={seed}")
    check(tmp_path, kind, seed + part, AT_ONCE)
