"""What is written while something takes long: in a terminal and in a notebook; nothing in pipes or of what is quick."""

from __future__ import annotations

import io
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import jourdain as jd
from jourdain import progress
from jourdain.compute.kernel.tape import Tape
from jourdain.progress import bar, working

pytestmark = pytest.mark.usefixtures("own_cache")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(params=["terminal", "notebook"])
def seen(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> io.StringIO:
    """The standard error that someone watches."""
    stream = Terminal() if request.param == "terminal" else io.StringIO()
    shell = SimpleNamespace(kernel=object() if request.param == "notebook" else None)
    modules = {**sys.modules, "IPython": SimpleNamespace(get_ipython=lambda: shell)}
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream, modules=modules))
    monkeypatch.setattr(progress, "TICK", 0.02)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("JOURDAIN_CACHE", str(tmp_path / "kernels"))
    return stream


def event(k: float) -> jd.Event:
    q, v = ca.SX.sym("q"), ca.SX.sym("v")
    ball = jd.Mechanism.from_casadi(q, v, 2 + ca.cos(k * q))
    return ball.event(inert=[ball.constraint("row", v)])


@pytest.mark.parametrize(("compute", "what"), [
    (lambda e: e.solve(v=np.ones((2000, 1))), r"\w+, \w+, \w+ and \d+ more"),
    (lambda e: e.gradient("v_plus", ["q", "v"], v=np.ones((2000, 1))), "the derivatives of v_plus by q, v"),
])  # fmt: skip
def test_what_compiles_long_is_named(
    seen: io.StringIO,
    monkeypatch: pytest.MonkeyPatch,
    compute: Callable[[jd.Event], Any],
    what: str,
    rng: np.random.Generator,
) -> None:
    monkeypatch.setattr(progress, "WORK_PATIENCE", 0.0)
    compute(event(rng.uniform()))
    assert re.search(rf"\rCompiling \(step \d of 4, 0 s\): {what}, \d+ operations", seen.getvalue())
    assert re.search(rf"Compiling \(\d\.\d s\): {what}, \d+ operations\s*\n", seen.getvalue())


def test_the_operations_of_large_models_are_read_with_a_word(
    seen: io.StringIO, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """Reading the operations of a robot's steps takes seconds too."""
    read = Tape.of

    def slow(*arguments: Any, **more: Any) -> Tape:
        time.sleep(0.2)
        return read(*arguments, **more)

    monkeypatch.setattr(Tape, "of", slow)
    monkeypatch.setattr(progress, "WORK_PATIENCE", 0.05)
    event(rng.uniform()).solve(v=np.ones((2000, 1)))
    assert re.search(r"\rCompiling \(step 1 of 4, 0 s\): \w+, \w+", seen.getvalue())


def test_the_steps_of_a_motion_are_named(seen: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "WORK_PATIENCE", 0.0)
    q, v = ca.SX.sym("q"), ca.SX.sym("v")
    ball = jd.Mechanism.from_casadi(q, v, ca.SX.eye(1), potential=3.21 * q)
    jd.Hybrid(ball, {"flight": []}).simulate([1.0], until=0.1)
    assert re.search(r"Compiling \(\d\.\d s\): the steps of a motion, [\d,]+ operations", seen.getvalue())


def test_nothing_is_written_of_what_is_quick(seen: io.StringIO) -> None:
    assert progress.WORK_PATIENCE == 2.0
    solved = event(0.123)
    solved.solve(v=np.ones((2000, 1)))
    assert seen.getvalue() == ""


def test_nothing_is_written_of_what_was_compiled_before(seen: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    event(0.456).solve(v=np.ones((2000, 1)))
    monkeypatch.setattr(progress, "WORK_PATIENCE", 0.0)
    event(0.456).solve(v=np.ones((2000, 1)))
    assert "Compiling" not in seen.getvalue()


@pytest.mark.parametrize(("slow", "word"), [("jacobian", "Deriving"), ("Function", "Simplifying")])
def test_what_comes_before_compiling_has_a_word_too(
    seen: io.StringIO, monkeypatch: pytest.MonkeyPatch, slow: str, word: str, rng: np.random.Generator
) -> None:
    """The derivatives of a robot take seconds to write down."""
    quickly, made = getattr(ca, slow), event(rng.uniform())

    def slowly(*arguments: Any, **more: Any) -> Any:
        time.sleep(0.2)
        return quickly(*arguments, **more)

    monkeypatch.setattr(ca, slow, slowly)
    monkeypatch.setattr(progress, "WORK_PATIENCE", 0.05)
    made.gradient("v_plus", "q", v=[1.0])
    assert re.search(rf"{word} \(step 1 of 1, 0 s\): the derivatives of v_plus by q", seen.getvalue())


def test_nothing_is_written_where_nobody_watches(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "WORK_PATIENCE", 0.0)
    event(0.789).solve(v=np.ones((2000, 1)))
    with working("Doing", "something", 2) as begin:
        begin()
    assert capsys.readouterr() == ("", "")


def test_steps_and_time_go_on(seen: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "WORK_PATIENCE", 0.01)
    with working("Doing", "something", 2) as begin:
        for _ in range(2):
            begin()
            time.sleep(0.1)
    told = seen.getvalue()
    assert told.index("Doing (step 1 of 2, 0 s): something") < told.index("Doing (step 2 of 2, 0 s): something")
    assert told.endswith("\n")


def test_why_there_is_no_cache_is_told(seen: io.StringIO, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(progress, "WORK_PATIENCE", 0.0)
    monkeypatch.setenv("JOURDAIN_CACHE", str(tmp_path / "file"))
    monkeypatch.setenv("COLUMNS", "1000")
    (tmp_path / "file").touch()
    event(0.321).solve(v=np.ones((2000, 1)))
    assert f"the cache '{tmp_path / 'file'}' is not used: it must be a folder" in seen.getvalue()


def test_work_within_a_bar(seen: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    """One word above it, in a terminal; the bar goes on."""
    monkeypatch.setattr(progress, "WORK_PATIENCE", 0.0)
    with bar("sweep", 10, True) as advance:
        with working("Doing", "something", 1):
            time.sleep(0.1)
        assert advance is not None
        advance(10)
    assert "Doing" in seen.getvalue()
    assert "sweep" in seen.getvalue()
    assert "100%" in seen.getvalue()
    assert not progress._shown


@pytest.mark.parametrize("shell", [None, SimpleNamespace()])
def test_a_terminal_of_ipython_is_no_notebook(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert not progress.in_notebook()
