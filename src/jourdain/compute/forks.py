"""Forks while other threads work. The child has only the thread that forked: what others held stays locked there.

A fork waits until nobody compiles, imports or is in CasADi, which has many locks: what is half done then is no use to
the child. Locks of ours that are held for moments are made anew in the child.
"""

from __future__ import annotations

import _imp
import ctypes
import functools
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from weakref import WeakSet

COMPILING = threading.RLock()  # held by the thread that compiles
LONGEST_WAIT_S = 60.0  # of a fork
LONG_CALL_S = 1.0  # of compiled code: longer ones hold no lock for long, and a fork does not wait for them
ALONE_S = 0.003  # shorter than the 5 ms after which another thread may ask for Python's lock
CASADI_MUTEXES = "_ZN6casadi6SXElem10mutex_tempE", "_ZN6casadi2MX10mutex_tempE"  # while a graph of SX or MX is sorted

_locks: WeakSet[Any] = WeakSet()
_held = ExitStack()  # during a fork


def new_lock() -> Any:
    """A lock that is free in a forked child."""
    lock = threading.Lock()
    _locks.add(lock)
    return lock


def _before() -> None:
    end = time.monotonic() + LONGEST_WAIT_S
    since: dict[Any, float] = {}  # when what others do was first seen
    while True:
        _hold()
        time.sleep(0.0001)  # after it this thread has some milliseconds of Python for itself, the fork included
        now = time.monotonic()
        while _running() and time.monotonic() < now + ALONE_S:
            pass  # short calls end, and their threads then wait for this one
        since = {one: since.get(one, now) for one in (*_running(), *_calls_of_casadi())}
        short = any(now < start + LONG_CALL_S for start in since.values())
        if now >= end or not (short or _others_import()):
            return
        _held.close()  # what others do may need it
        time.sleep(0.001)


def _hold() -> None:
    """Take every lock that the child will need."""
    _held.enter_context(COMPILING)
    ffi = sys.modules.get("llvmlite.binding.ffi")
    if ffi is not None:  # kernels that are deleted, and other users of LLVM
        _held.enter_context(ffi.lib._lock)
    _held.enter_context(_no_graph_is_sorted())
    _imp.acquire_lock()  # while it is held no import begins
    _held.callback(_imp.release_lock)


def _others_import() -> bool:
    """Whether another thread imports a module, or is about to: the child would wait for it."""
    locks = [reference() for reference in list(getattr(sys.modules["_frozen_importlib"], "_module_locks", {}).values())]
    return any(lock is not None and lock.owner != threading.get_ident() for lock in locks)


def _calls_of_casadi() -> list[Any]:
    """The frames in which other threads are in CasADi, which lets this one run meanwhile."""
    casadi = sys.modules.get("casadi.casadi")
    if casadi is None:
        return []
    current = threading.get_ident()
    frames = [frame for thread, frame in sys._current_frames().items() if thread != current]
    return [frame for frame in frames if frame.f_code.co_filename == casadi.__file__]


def _running() -> list[int]:
    """Other threads that run though this one has Python's lock, on Linux: CasADi lets go of it, as when it deletes."""
    if not sys.platform.startswith("linux"):
        return []
    current = threading.get_native_id()
    threads = [thread.native_id for thread in threading.enumerate()]
    return [thread for thread in threads if thread not in (None, current) and _state(thread) in (b"R", b"D")]


def _state(thread: int) -> bytes:
    """R runs, D waits for the disk, S waits. Read by C functions, because Python's let other threads run."""
    libc, line = ctypes.PyDLL(None), ctypes.create_string_buffer(256)
    file = libc.open(f"/proc/self/task/{thread}/stat".encode(), os.O_RDONLY)
    if file < 0:
        return b""
    libc.read(file, line, len(line) - 1)
    libc.close(file)
    return line.value.rpartition(b") ")[2][:1]


@contextmanager
def _no_graph_is_sorted() -> Iterator[None]:
    """CasADi's locks of its graphs, taken: Function(), jacobian(), symvar() hold them for long."""
    extension = sys.modules.get("_casadi") or sys.modules.get("casadi._casadi")
    if extension is None:
        yield
        return
    library = ctypes.CDLL(extension.__file__)
    mutexes = []
    for name in CASADI_MUTEXES:
        with suppress(ValueError):  # a CasADi without these locks
            mutexes.append(ctypes.byref(ctypes.c_char.in_dll(library, name)))
    for mutex in mutexes:
        library.pthread_mutex_lock(mutex)
    try:
        yield
    finally:
        for mutex in mutexes:
            library.pthread_mutex_unlock(mutex)


def _in_child() -> None:
    _held.close()
    for lock in _locks:
        lock._at_fork_reinit()
    if sys.version_info < (3, 12):  # where a cached property has a lock for all objects of its class
        modules = [module for name, module in list(sys.modules.items()) if name.startswith("jourdain")]
        classes = {one for module in modules for one in vars(module).values() if isinstance(one, type)}
        for attribute in (attribute for one in classes for attribute in vars(one).values()):
            if isinstance(attribute, functools.cached_property):
                vars(attribute)["lock"] = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_held.close, after_in_child=_in_child)
