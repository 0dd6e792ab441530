"""What fits in memory."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from jourdain.errors import TooLarge

MARGIN = 0.9  # of what is free
LARGE = 1 << 28  # bytes; what takes less is not checked
# Of control groups, versions 2 and 1: where they are, limit, use, and the part of it that the system takes back.
_GROUPS = (
    ("", "memory.max", "memory.current", "inactive_file"),
    ("unified", "memory.max", "memory.current", "inactive_file"),
    ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def refuse_too_large(
    what: str, n_events: int, n_numbers: int, remedy: str, n_beside: int = 0, called: str = "events"
) -> None:
    """Raise TooLarge, with the size and what to do, if the results, and so many numbers beside them, would not fit."""
    size, free = n_events * (8 * n_numbers + 1) + 8 * n_beside, available()
    if size > MARGIN * free:
        numbers = f"{n_numbers} number{'s' * (n_numbers != 1)}"
        raise TooLarge(
            f"{what} has {n_events:,} {called} of {numbers}, {_bytes(size)}, but {_bytes(free)} are free; {remedy}."
        )


def check_batch(batch: Sequence[int], n_numbers: int) -> None:
    """Raise TooLarge if so many numbers of every sample would not fit."""
    n = math.prod(batch)
    if 8 * n * n_numbers >= LARGE:
        refuse_too_large("The batch", n, n_numbers, "compute it in parts", called="samples")


def n_entries(values: Any) -> int:
    """How many numbers an array will have that is made of this; nothing is made yet."""
    if hasattr(values, "shape"):
        return math.prod(values.shape)
    try:
        return len(values) if hasattr(values, "__len__") and not isinstance(values, str | bytes) else 1
    except OverflowError:  # of a range
        return sys.maxsize


def available() -> float:
    """Bytes that this process may still take: of the machine, of its own limits and of its control groups."""
    import psutil

    return max(0.0, min([float(psutil.virtual_memory().available), *_own_limits(), *_group_limits()]))


def _own_limits() -> Iterator[float]:
    """What `ulimit` leaves of address space and data."""
    try:
        import resource
    except ImportError:  # Windows
        return
    import psutil

    used = psutil.Process().memory_info()
    for limit, taken in ((resource.RLIMIT_AS, used.vms), (resource.RLIMIT_DATA, getattr(used, "data", 0))):
        allowed = resource.getrlimit(limit)[0]
        if allowed != resource.RLIM_INFINITY:
            yield float(allowed - taken)


def _group_limits(mounted: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> Iterator[float]:
    """What the control groups of this process leave, its own and those above it."""
    try:
        lines = [line.split(":", 2) for line in own.read_text().splitlines() if line.count(":") >= 2]
    except OSError:
        return
    for place, limit, use, given_back in _GROUPS:
        controller = place if place == "memory" else ""  # version 2 names none
        for group in (line[2] for line in lines if controller in line[1].split(",")):
            path = mounted / place / group.strip().lstrip("/")
            for folder in [path, *path.parents]:
                if not folder.is_relative_to(mounted / place):
                    break
                try:  # a limit may be "max", and the folder not be seen from within a container
                    stated = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
                    used = float((folder / use).read_text()) - float(stated.get(given_back, 0))
                    yield float((folder / limit).read_text()) - used
                except (OSError, ValueError):
                    continue


def _bytes(size: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} TB"
