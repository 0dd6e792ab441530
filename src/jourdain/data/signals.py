"""Signals while a file is written: a handler runs after what cannot be interrupted, and part files are removed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def signals_clean_up() -> Iterator[list[Path]]:
    """In the block, SIGTERM and SIGHUP remove the files in this list before they end the process as ever.

    Signals that the program handles or ignores stay as they are.
    """
    parts: list[Path] = []

    def end(number: int, frame: FrameType | None) -> None:
        for part in parts:
            with suppress(OSError):
                part.unlink(missing_ok=True)
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    before = _handlers(lambda number, handler: number in ENDING and handler is signal.SIG_DFL)
    try:
        _install(dict.fromkeys(before, end))
        yield parts
    finally:
        _install(before)


@contextmanager
def signals_held() -> Iterator[None]:
    """In the block no handler of Python runs; the signals that came are raised again behind it.

    For code that hangs if a handler raises in it: xarray keeps its lock if Ctrl-C comes where it lets go of it.
    """
    held: list[int] = []
    before = _handlers(lambda number, handler: callable(handler))
    try:
        _install(dict.fromkeys(before, lambda number, frame: held.append(number)))
        yield
    finally:
        _install(before)
        for number in held[:1]:
            signal.raise_signal(number)


def _handlers(wanted: Any) -> dict[int, Any]:
    """Signal → its handler; none in a thread that gets no signals."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    return {number: handler for number in signal.valid_signals() if wanted(number, handler := signal.getsignal(number))}


def _install(handlers: dict[int, Any]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
