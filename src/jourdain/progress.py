"""Progress bars: shown when something takes long and someone watches."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from jourdain.evaluate import Progress

PATIENCE = 1.0  # seconds without a bar


@contextmanager
def bar(title: str, total: int | None, shown: bool | None) -> Iterator[Progress]:
    """A function that is told what has just been done. `total`: None if unknown. `shown`: None if only when slow."""
    if shown is False or (shown is None and not sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as RichProgress

    rich = RichProgress(console=Console(stderr=True), transient=not shown)
    started, lock = time.monotonic(), threading.Lock()
    task = rich.add_task(title, total=total)
    if shown:
        rich.start()

    def advance(done: int) -> None:
        with lock:
            rich.update(task, advance=done)
            if not rich.live.is_started and time.monotonic() - started > PATIENCE:
                rich.start()

    try:
        yield advance
    finally:
        rich.stop()
