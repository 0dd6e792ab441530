"""What the machine offers: vector width, and who computes sin, exp and the like."""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from jourdain.compute.kernel.functions import LIBRARY, vector_symbol

# libmvec's functions that are off by more than 4 ulp somewhere, or wrong at signed zeros: libm does them, lane by lane.
# None in glibc 2.36 (tests/test_kernel_functions.py).
NOT_FROM_LIBMVEC: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Target:
    """Code is made for one of these; everything here is part of the key in the cache."""

    triple: str
    cpu: str
    features: str
    width: int  # lanes in a vector
    vector_library: frozenset[str]  # symbols that take vectors
    fma: bool  # multiplies and adds in one instruction
    llvm: tuple[int, ...]

    @classmethod
    def host(cls, width: int | None = None, libmvec: bool = True, fma: bool | None = None) -> Target:
        """The machine that runs this; the arguments are there for tests of what other machines do."""
        import llvmlite.binding as llvm

        found = llvm.get_host_cpu_features()
        width = width or _width(found)
        names = {vector_symbol(function, width) for function in set(LIBRARY.values()) - NOT_FROM_LIBMVEC}
        there = frozenset(names & _libmvec().keys()) if libmvec and _fits_libmvec(width, found) else frozenset()
        triple, cpu = llvm.get_process_triple(), llvm.get_host_cpu_name()
        if fma is None:
            fma = bool(found.get("fma")) or triple.startswith(("aarch64", "arm64"))
        return cls(triple, cpu, found.flatten(), width, there, fma, tuple(llvm.llvm_version_info))

    def symbols(self) -> Mapping[str, int]:
        """Addresses of every library function that compiled code may call."""
        return {**_libm(), **{name: _libmvec()[name] for name in self.vector_library}}


def _width(features: Mapping[str, bool]) -> int:
    if features.get("avx512f") and features.get("avx512dq") and features.get("avx512vl"):
        return 8
    return 4 if features.get("avx2") and features.get("fma") else 2


def _fits_libmvec(width: int, features: Mapping[str, bool]) -> bool:
    needs = {8: "avx512f", 4: "avx2", 2: "sse4.1"}[width]
    return bool(features.get(needs))


@cache
def _libm() -> dict[str, int]:
    """The C library's scalar functions. Windows has them in the universal runtime, others in libm."""
    name = "ucrtbase" if sys.platform == "win32" else ctypes.util.find_library("m")
    library = ctypes.CDLL(name)
    return {function: _address(library, function) for function in set(LIBRARY.values())}


@cache
def _libmvec() -> dict[str, int]:
    """The vector functions of glibc on x86-64; empty on other systems."""
    try:
        library = ctypes.CDLL("libmvec.so.1")
    except OSError:
        return {}
    names = (vector_symbol(function, width) for function in set(LIBRARY.values()) for width in (2, 4, 8))
    return {name: _address(library, name) for name in names if hasattr(library, name)}


def _address(library: ctypes.CDLL, name: str) -> int:
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
