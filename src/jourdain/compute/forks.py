"""Forks while other threads work. The child has only the thread that forked: what others held stays locked there.

A fork waits until nobody compiles or imports, because what is half done then is no use to the child. Locks that are
held for moments are made anew in the child.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
from contextlib import ExitStack
from typing import Any
from weakref import WeakSet

COMPILING = threading.RLock()  # held by the thread that compiles
LONGEST_IMPORT_S = 60.0  # that a fork waits for

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


def _others_import() -> bool:
    """Whether another thread imports a module, which the child would wait for."""
    locks = [reference() for reference in list(getattr(sys.modules["_frozen_importlib"], "_module_locks", {}).values())]
    return any(getattr(lock, "owner", None) not in (None, threading.get_ident()) for lock in locks)


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
