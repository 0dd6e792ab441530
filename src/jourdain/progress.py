"""Progress of what takes long, on the standard error, if someone watches: in a terminal or in a notebook."""

from __future__ import annotations

import shutil
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
WORK_PATIENCE = 2.0  # seconds without a word, of work that does not know how far it is
TICK = 1.0  # seconds between two lines about it


def quiet(done: int) -> None:
    """Progress that nobody watches."""


def watched() -> bool:
    """Whether someone sees the standard error while it is written: a terminal, or a notebook."""
    return in_notebook() or bool(sys.stderr is not None and sys.stderr.isatty())


def in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


@contextmanager
def bar(title: str, total: int | None, shown: bool | None) -> Iterator[Progress]:
    """A function that is told what has just been done. `total`: None if unknown. `shown`: None if only when slow."""
    if shown is False or (shown is None and not watched()):
        yield None
        return
    bar = _Bar(title, total, bool(shown))
    try:
        yield bar.advance
    finally:
        bar.stop()


class _Bar:
    """Nothing at first; a bar once it takes long, or at once. In a notebook a line of text."""

    def __init__(self, title: str, total: int | None, at_once: bool) -> None:
        self.title, self.total, self.at_once = title, total, at_once
        self.done, self.started, self.lock = 0, time.monotonic(), threading.Lock()
        self.rich: RichProgress | None = None
        self.line = _Line() if in_notebook() else None
        if at_once:
            self._show()

    def _show(self) -> None:
        if self.line is not None:
            of = "" if not self.total else f" of {self.total:,} ({self.done / self.total:.0%})"
            self.line.write(f"{self.title}: {self.done:,}{of}, {time.monotonic() - self.started:.0f} s")
            return
        if self.rich is None:
            self.rich = self._made()
        self.rich.update(self.rich.task_ids[0], completed=self.done)

    def _made(self) -> RichProgress:
        from rich.console import Console
        from rich.progress import Progress as RichProgress

        rich = RichProgress(console=Console(file=sys.stderr), transient=not self.at_once)
        rich.add_task(self.title, total=self.total)
        rich.start()
        _shown.append(rich)
        return rich

    def advance(self, done: int) -> None:
        with self.lock:
            self.done += done
            if self.at_once or time.monotonic() - self.started > PATIENCE:
                self._show()

    def stop(self) -> None:
        if self.rich is not None:
            _shown.remove(self.rich)
            self.rich.stop()
        if self.line is not None:
            self.line.end()


_shown: list[RichProgress] = []  # bars in the terminal


@contextmanager
def working(act: str, on: str, n_steps: int) -> Iterator[Callable[..., None]]:
    """Work that cannot say how far it is: if it takes long, what it is, its present step and the time are written.

    Yields a function that is called where the next step begins, with a new text of what is worked on if that is known.
    """
    if not watched():
        yield lambda on="": None
        return
    line, step, over, started = _Line(), 0, threading.Event(), time.monotonic()

    def report() -> None:
        ended = over.wait(WORK_PATIENCE)
        while not ended:
            line.write(f"{act} (step {step} of {n_steps}, {time.monotonic() - started:.0f} s): {on}")
            ended = over.wait(TICK)

    def begin(known: str = "") -> None:
        nonlocal step, on
        step, on = step + 1, known or on

    reporter = threading.Thread(target=report, name="jourdain progress", daemon=True)
    reporter.start()
    try:
        yield begin
    finally:
        over.set()
        reporter.join()
        if line.length:
            line.write(f"{act} ({time.monotonic() - started:.1f} s): {on}")
        line.end()


class _Line:
    """One line of text that is written again and again; above a bar, if there is one, only once."""

    def __init__(self) -> None:
        self.length = 0
        self.above = False  # it was written above a bar

    def write(self, text: str) -> None:
        if _shown:
            if not self.above:
                _shown[-1].console.print(text, highlight=False)
            self.above = True
            return
        if not in_notebook():
            text = text[: shutil.get_terminal_size().columns - 1]
        sys.stderr.write(f"\r{text.ljust(self.length)}")
        sys.stderr.flush()
        self.length = len(text)

    def end(self) -> None:
        if self.length:
            sys.stderr.write("\n")
            sys.stderr.flush()
