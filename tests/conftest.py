"""Shared by all tests: seeds, the profile of Hypothesis, and which other engines were asked."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices are small: threads would only wait for each other

import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import engines
from jourdain import gallery
from jourdain.cli import main as cli

# "fixed" draws the same cases every time; "new", for `make test-all`, others each time (--hypothesis-seed=N repeats).
usual = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fixed", usual, derandomize=True)
settings.register_profile("new", usual, derandomize=False, database=None, print_blob=True)
settings.load_profile("fixed")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20031115)


@pytest.fixture(scope="module")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Kernels are compiled anew, and leave nothing behind."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JOURDAIN_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def command(monkeypatch, capsys):
    """The command line within this process, problems built once: exit code, output, errors."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["jourdain", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, printed.err

    for name in gallery.__all__:
        monkeypatch.setattr(gallery, name, built_once(getattr(gallery, name)))
    return run


built_once = cache(cache)  # of a problem: the same function, which remembers what it built


# Other engines: each worker of a parallel run reports its own.


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["engines"] = (engines.asked, engines.absent)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    asked, absent = getattr(node, "workeroutput", {}).get("engines", ({}, {}))
    engines.asked.update(asked)
    engines.absent.update(absent)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    seed = config.getoption("--hypothesis-seed")
    if seed is not None:
        terminalreporter.section("random cases")
        terminalreporter.line(f"to repeat them: --hypothesis-profile=new --hypothesis-seed={seed}")
    terminalreporter.section("other engines")
    for engine, version in sorted(engines.asked.items()):
        terminalreporter.line(f"asked   {engine}: {version}")
    for engine, reason in sorted(engines.absent.items()):
        terminalreporter.line(f"absent  {engine}: {reason}")
