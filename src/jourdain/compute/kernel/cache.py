"""Compiled objects on disk. The cache may always be deleted; what cannot be trusted, read or written is done without.

An object is machine code that this process will run. So it is read only from a folder and a regular file that belong
to this user and that nobody else can write; its digest binds it to its name.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
from functools import cache
from pathlib import Path

from jourdain.compute.kernel.target import Target

MAX_SIZE = 1 << 28  # bytes of a file that is read
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def key(content: bytes, n_flags: int, target: Target) -> str:
    """What decides the machine code: the tape, the machine, and the code that makes code."""
    parts = [content, str(n_flags).encode(), repr(sorted(target.vector_library)).encode(), _source()]
    parts += [f"{target.triple} {target.cpu} {target.features} {target.width} {target.fma} {target.llvm}".encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


@cache
def _source() -> bytes:
    folder = Path(__file__).parent
    return b"".join((folder / name).read_bytes() for name in ("tape.py", "emit.py", "functions.py", "compiler.py"))


def read(name: str) -> bytes | None:
    """The object, or None if it is not there, is not what was written, or somebody else could have written it."""
    try:
        place = folder()
        if not _trusted(place):
            return None
        handle = os.open(place / name, _FLAGS)
        try:
            file = os.fstat(handle)
            if not stat.S_ISREG(file.st_mode) or not _ours(file) or file.st_nlink != 1 or file.st_size > MAX_SIZE:
                return None
            stored = os.read(handle, file.st_size)
        finally:
            os.close(handle)
    except (OSError, RuntimeError):
        return None
    digest, content = stored[:32], stored[32:]
    return content if _digest(name, content) == digest else None


def write(name: str, content: bytes) -> None:
    """Written aside and renamed, so that nobody ever sees half an object."""
    try:
        place = folder()
        _make(place)
        if not _trusted(place):
            return
        handle, aside = tempfile.mkstemp(dir=place, prefix=name[:16], suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_digest(name, content) + content)
            os.replace(aside, place / name)
        except BaseException:
            os.unlink(aside)
            raise
        for left in place.glob(f"{name[:16]}*.part"):  # by a process that was killed
            left.unlink()
    except (OSError, RuntimeError):
        return


def folder() -> Path:
    """`JOURDAIN_CACHE`, or where the system keeps caches; a RuntimeError for a user without a home."""
    given = os.environ.get("JOURDAIN_CACHE")
    if given:
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "jourdain" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "jourdain"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jourdain"


def refused() -> str:
    """Why the folder is not used, or nothing: it is, or it is not there yet."""
    try:
        place = folder()
        if _trusted(place):
            return ""
        return f"the cache '{place}' is not used: it must be a folder, no link, that only this user can write"
    except (OSError, RuntimeError):
        return ""


def _digest(name: str, content: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\0" + content).digest()


def _make(place: Path) -> None:
    """The folder and the parents that are missing, for this user only."""
    if not place.exists():
        _make(place.parent)
        with contextlib.suppress(FileExistsError):
            place.mkdir(mode=0o700)


def _trusted(place: Path) -> bool:
    """Whether it is a folder, no link, that is ours alone."""
    status = place.lstat()
    return stat.S_ISDIR(status.st_mode) and _ours(status)


def _ours(status: os.stat_result) -> bool:
    """Whether it belongs to this user, and others cannot write it. Windows has no such bits: its folder is private."""
    return not hasattr(os, "geteuid") or (status.st_uid == os.geteuid() and not status.st_mode & _OTHERS_WRITE)
