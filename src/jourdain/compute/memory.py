"""What fits in memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from jourdain.errors import TooLarge

MARGIN = 0.9  # of what is free
MOST_DIGITS = 10**18  # of a count that is written in full
LARGE = 1 << 28  # bytes; what takes less is not checked
UNLIMITED = 1e18  # bytes; what version 1 of control groups says where there is no limit
# Of control groups, versions 2 and 1: where they are, limit, use, and the part of it that the system takes back.
_GROUPS: tuple[tuple[str, str, str, str], ...] = (
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
        count = f"{n_events:,}" if n_events < MOST_DIGITS else f"{float(min(n_events, UNLIMITED)):.0e}"
        raise TooLarge(
            f"{what} has {count} {called} of {numbers}, {_bytes(size)}, but {_bytes(free)} are free; {remedy}."
        )


def check_batch(batch: Sequence[int], n_numbers: int) -> None:
    """Raise TooLarge if so many numbers of every sample would not fit."""
    n = math.prod(batch)
    if 8 * n * n_numbers >= LARGE:
        refuse_too_large("The batch", n, n_numbers, "compute it in parts", called="samples")


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

    for limit, use in ((resource.RLIMIT_AS, "vms"), (resource.RLIMIT_DATA, "data")):
        allowed = resource.getrlimit(limit)[0]
        if allowed != resource.RLIM_INFINITY:
            yield float(allowed - getattr(psutil.Process().memory_info(), use, 0))


def _group_limits(mounted: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> Iterator[float]:
    """What the control groups of this process leave, its own and those above it."""
    try:
        groups = _groups(mounted, own.read_text())
    except OSError:
        return
    for folder, limit, use, given_back in groups:
        try:  # a limit may be "max", and a group be gone
            allowed = float((folder / limit).read_text())
            if allowed > UNLIMITED:
                continue
            stated = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
            yield allowed - float((folder / use).read_text()) + float(stated.get(given_back, 0))
        except (OSError, ValueError):
            continue


@lru_cache(maxsize=4)
def _groups(mounted: Path, memberships: str) -> list[tuple[Path, str, str, str]]:
    """The folders that limit a process with these memberships, and what their files are called."""
    lines = [line.split(":", 2) for line in memberships.splitlines() if line.count(":") >= 2]
    folders = []
    for place, limit, use, given_back in _GROUPS:
        controller = place if place == "memory" else ""  # version 2 names none
        root = mounted / place
        for group in (line[2].lstrip("/") for line in lines if controller in line[1].split(",")):
            above = [folder for folder in (root / group).parents if folder.is_relative_to(root)]
            # Within a container the folder of the group may not be seen, but that of the root is.
            folders += [
                (folder, limit, use, given_back) for folder in (root / group, *above) if (folder / limit).exists()
            ]
    return folders


def _bytes(size: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} TB"
