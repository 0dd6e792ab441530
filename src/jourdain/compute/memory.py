"""What fits in memory."""

from __future__ import annotations

from pathlib import Path

from jourdain.errors import TooLarge

MARGIN = 0.9  # of what is free


def refuse_too_large(what: str, n_events: int, n_numbers: int, remedy: str) -> None:
    """Raise TooLarge, with the size and what to do, if the results would not fit."""
    size, free = n_events * (8 * n_numbers + 1), available()
    if size > MARGIN * free:
        numbers = f"{n_numbers} number{'s' * (n_numbers != 1)}"
        raise TooLarge(
            f"{what} has {n_events:,} events of {numbers}, {_bytes(size)}, but {_bytes(free)} are free; {remedy}."
        )


def available() -> float:
    """Bytes that this process may still take: of the machine, and of its control group if it is in one."""
    import psutil

    free = float(psutil.virtual_memory().available)
    group = Path("/sys/fs/cgroup")
    try:
        limit = (group / "memory.max").read_text().strip()
        if limit != "max":
            free = min(free, float(limit) - float((group / "memory.current").read_text()))
    except (OSError, ValueError):
        pass
    return free


def _bytes(size: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} TB"
