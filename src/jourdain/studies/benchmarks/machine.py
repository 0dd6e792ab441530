"""The machine on which a benchmark ran."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import time
from pathlib import Path

import numpy as np


def machine() -> dict[str, str]:
    """Commit, processor and versions."""
    from importlib.metadata import version

    from jourdain.compute.kernel.target import Target

    target = Target.host()
    return {
        "commit": _commit(),
        "cpu": _cpu(),
        "cores": str(os.cpu_count()),
        "vector": f"{target.width} doubles, {'libmvec' if target.vector_library else 'libm'}",
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "casadi": version("casadi"),
        "llvmlite": version("llvmlite"),
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _commit() -> str:
    """Of the checkout that this file is in, with a mark if something was changed since."""
    git = ["git", "-C", str(Path(__file__).parent)]
    try:
        head, changes = (
            subprocess.run([*git, *what], capture_output=True, text=True, check=True).stdout.strip()
            for what in (("rev-parse", "--short", "HEAD"), ("status", "--porcelain", "--", ":/src"))
        )
    except (OSError, subprocess.CalledProcessError):
        return "not a checkout"
    return head + (" with changes" if changes else "")


def fill_rate(size: int = 1 << 28) -> float:
    """Bytes of new memory that NumPy fills on one thread, per second."""
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        np.empty(size // 8).fill(1.0)
        seconds.append(time.perf_counter() - start)
    return size / statistics.median(seconds)
