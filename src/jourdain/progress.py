"""Progress bars: shown when something takes long and someone watches."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

Progress = Callable[[int], None] | None  # takes how many samples have just been done
PATIENCE = 1.0  # seconds without a bar


def quiet(done: int) -> None:
    """Progress that nobody watches."""


@contextmanager
def bar(title: str, total: int | None, shown: bool | None) -> Iterator[Progress]:
    """A function that is told what has just been done. `total`: None if unknown. `shown`: None if only when slow."""
    if shown is False or (shown is None and not sys.stderr.isatty()):
        yield None
        return
    watched = _Bar(title, total, bool(shown))
    try:
        yield watched.advance
    finally:
        watched.stop()


class _Bar:
    """Nothing at first; a bar once it takes long, or at once."""

    def __init__(self, title: str, total: int | None, at_once: bool) -> None:
        self.title, self.total, self.at_once = title, total, at_once
        self.done, self.started, self.lock = 0, time.monotonic(), threading.Lock()
        self.rich: RichProgress | None = self._made() if at_once else None

    def _made(self) -> RichProgress:
        from rich.console import Console
        from rich.progress import Progress as RichProgress

        rich = RichProgress(console=Console(stderr=True), transient=not self.at_once)
        rich.add_task(self.title, total=self.total)
        rich.start()
        return rich

    def advance(self, done: int) -> None:
        with self.lock:
            self.done += done
            if self.rich is None and time.monotonic() - self.started > PATIENCE:
                self.rich = self._made()
            if self.rich is not None:
                self.rich.update(self.rich.task_ids[0], completed=self.done)

    def stop(self) -> None:
        if self.rich is not None:
            self.rich.stop()
