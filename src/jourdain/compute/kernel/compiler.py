"""IR to machine code in this process, by llvmlite; compiled objects are kept on disk."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jourdain.compute.kernel import cache, emit
from jourdain.compute.kernel.tape import Tape
from jourdain.compute.kernel.target import Target

# (start, stop, inputs, table, stride, flags, flag_stride): see `emit`.
SIGNATURE = ctypes.CFUNCTYPE(None, *(ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64,
                                     ctypes.c_void_p, ctypes.c_int64))  # fmt: skip
_LOCK = threading.Lock()  # LLVM's global state is built by one thread at a time


@dataclass(frozen=True)
class Compiled:
    run: Any  # of SIGNATURE; releases the GIL
    from_cache: bool
    engine: Any  # owns the code


def compiled(content: bytes, tape: Callable[[], Tape], n_flags: int, target: Target) -> Compiled:
    """A tape as a function of this process. `content` decides the tape, which is read if it was not compiled before."""
    import llvmlite.binding as llvm

    with _LOCK:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        name = cache.key(content, n_flags, target)
        stored = cache.read(name)
        machine = llvm.Target.from_triple(target.triple).create_target_machine(
            cpu=target.cpu, features=target.features, opt=2, jit=True
        )
        code = stored if stored is not None else _object(tape(), n_flags, target, machine)
        for symbol, address in target.symbols().items():
            llvm.add_symbol(symbol, address)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        run = SIGNATURE(engine.get_function_address("run"))
    if stored is None:
        cache.write(name, code)
    return Compiled(run, stored is not None, engine)


def assembled(text: str) -> Any:
    """IR that needs nothing else, compiled: what owns its functions."""
    import llvmlite.binding as llvm

    with _LOCK:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine(opt=2, jit=True)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
        engine.finalize_object()
    return engine


def _object(tape: Tape, n_flags: int, target: Target, machine: Any) -> bytes:
    import llvmlite.binding as llvm

    # The machine's triple is the target's, but for Windows, where llvmlite makes ELF objects.
    text = emit.module(tape, n_flags, target.width, target.vector_library, target.fma, machine.triple)
    module = llvm.parse_assembly(text)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))
