"""How calls and programs are timed, and under which conditions."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from jourdain.studies.benchmarks.contestant import Contestant

Advance = Callable[[int], None]


def timed(contestants: list[Contestant], repetitions: int, advance: Advance) -> dict[str, float]:
    """Median seconds of each, in turn. Before each time there is one that does not count: memory that was not used for
    a while may have gone back to the host of a virtual machine, and is slow to come again.
    """
    seconds: dict[str, list[float]] = {one.name: [] for one in contestants}
    for _ in range(repetitions):
        for one in contestants:
            one.call()
            start = time.perf_counter()
            one.call()
            seconds[one.name].append(time.perf_counter() - start)
            advance(1)
    return {name: statistics.median(several) for name, several in seconds.items()}


def cold_and_cached(cold: str, cached: str, code: str, folder: str, times: int, chosen: set[str]) -> dict[str, float]:
    """Seconds of a program with an empty cache, `times` times, and with one in a folder that has what it needs."""
    if not {cold, cached} & chosen:
        return {}
    found = {cold: process(code, None, times=times)}
    process(code, folder, times=1)
    return found | {cached: process(code, folder)}


def process(code: str, cache: str | None = None, times: int = 5) -> float:
    """Median seconds of a program in new processes; those that it prints, if it does. `cache`: None is an empty one."""
    seconds = []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as empty:
            environment = {**os.environ, "JOURDAIN_CACHE": cache or empty}
            start = time.perf_counter()
            command = [sys.executable, "-c", code]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            whole = time.perf_counter() - start
        seconds.append(float(done.stdout) if done.stdout else whole)
    return statistics.median(seconds)


def in_new_memory(call: Callable[[], Any]) -> Any:
    """A call that finds no memory of an earlier one."""
    from jourdain.compute.kernel.batch import Room

    Room.spare.clear()
    return call()


def with_threads(n: int, call: Callable[[], Any]) -> Callable[[], Any]:
    """The call on n threads."""

    def limited() -> Any:
        before = os.environ.get("JOURDAIN_THREADS")
        os.environ["JOURDAIN_THREADS"] = str(n)
        try:
            return call()
        finally:
            if before is None:
                del os.environ["JOURDAIN_THREADS"]
            else:
                os.environ["JOURDAIN_THREADS"] = before

    return limited
