"""Forks while other threads work. The child has only the thread that forked: what others held stays locked there.

A fork waits until nobody compiles, imports or sorts an expression graph of CasADi, because what is half done then is no
use to the child. Locks that are held for moments are made anew in the child.
"""

from __future__ import annotations

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
LONGEST_IMPORT_S = 60.0  # that a fork waits for
LONGEST_CALL_S = 0.2  # of CasADi that a fork waits for: longer ones hold no lock of their own
CASADI_MUTEXES = "_ZN6casadi6SXElem10mutex_tempE", "_ZN6casadi2MX10mutex_tempE"  # while a graph of SX or MX is sorted

_locks: WeakSet[Any] = WeakSet()
_held = ExitStack()  # during a fork


def new_lock() -> Any:
    """A lock that is free in a forked child."""
    lock = threading.Lock()
    _locks.add(lock)
    return lock


def _before() -> None:
    end = time.monotonic() + LONGEST_IMPORT_S
    _held.enter_context(COMPILING)
    while _others_import() and time.monotonic() < end:
        _held.close()  # they may need it
        time.sleep(0.001)
        _held.enter_context(COMPILING)
    ffi = sys.modules.get("llvmlite.binding.ffi")
    if ffi is not None:  # kernels that are deleted, and other users of LLVM
        _held.enter_context(ffi.lib._lock)
    end = time.monotonic() + LONGEST_CALL_S
    while _others_call_casadi() and time.monotonic() < end:
        time.sleep(0.0001)
    _held.enter_context(_no_graph_is_sorted())


def _others_import() -> bool:
    """Whether another thread imports a module, which the child would wait for."""
    locks = [reference() for reference in list(getattr(sys.modules["_frozen_importlib"], "_module_locks", {}).values())]
    return any(getattr(lock, "owner", None) not in (None, threading.get_ident()) for lock in locks)


def _others_call_casadi() -> bool:
    """Whether another thread is in CasADi, which lets other threads of Python run meanwhile."""
    casadi = sys.modules.get("casadi.casadi")
    current = threading.get_ident()
    frames = [frame for thread, frame in sys._current_frames().items() if thread != current]
    return casadi is not None and any(frame.f_code.co_filename == casadi.__file__ for frame in frames)


@contextmanager
def _no_graph_is_sorted() -> Iterator[None]:
    """CasADi's locks of its graphs, taken: Function(), jacobian(), symvar() hold them and would hang in the child."""
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
