"""Compiled objects on disk. The cache may always be deleted; what cannot be read or written is done without."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from functools import cache
from pathlib import Path

from jourdain.compute.kernel.target import Target


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
    """The object, or None if it is not there or is not what was written."""
    try:
        stored = (folder() / name).read_bytes()
    except (OSError, RuntimeError):
        return None
    digest, content = stored[:32], stored[32:]
    return content if hashlib.sha256(content).digest() == digest else None


def write(name: str, content: bytes) -> None:
    """Written aside and renamed, so that nobody ever sees half an object."""
    try:
        folder().mkdir(parents=True, exist_ok=True)
        handle, aside = tempfile.mkstemp(dir=folder(), prefix=name[:16], suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(content).digest() + content)
            os.replace(aside, folder() / name)
        except OSError:
            os.unlink(aside)
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
