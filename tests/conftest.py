"""Shared by all tests: seeds and the profile of Hypothesis."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices are small: threads would only wait for each other

import sys
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from jourdain import cli, gallery

settings.register_profile("fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
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
