"""IR to machine code in this process, by llvmlite; compiled objects are kept on disk."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jourdain.compute.forks import COMPILING
from jourdain.compute.kernel import cache, emit
from jourdain.compute.kernel.tape import Tape
from jourdain.compute.kernel.target import Target
from jourdain.progress import working

# (start, stop, inputs, table, stride, flags, flag_stride): see `emit`.
SIGNATURE = ctypes.CFUNCTYPE(None, *(ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64,
                                     ctypes.c_void_p, ctypes.c_int64))  # fmt: skip


@dataclass(frozen=True)
class Compiled:
    run: Any  # of SIGNATURE; releases the GIL
    from_cache: bool
    engine: Any  # owns the code


def compiled(content: bytes, tape: Callable[[], Tape], n_flags: int, target: Target, title: str) -> Compiled:
    """A tape as a function of this process. `content` decides the tape, which is read if it was not compiled before.

    `title`: what is said to be compiled, if it takes long.
    """
    import llvmlite.binding as llvm

    with COMPILING:  # LLVM's global state is built by one thread at a time
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        name = cache.key(content, n_flags, target)
        symbol = f"run_{name}"  # an object says itself which kernel it is
        stored = cache.read(name)
        machine = llvm.Target.from_triple(target.triple).create_target_machine(
            cpu=target.cpu, features=target.features, opt=2, jit=True
        )
        for library, address in target.symbols().items():
            llvm.add_symbol(library, address)
        from_cache = stored is not None and symbol.encode() in stored
        code = stored if stored is not None and from_cache else _object(symbol, tape, n_flags, target, machine, title)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        run = SIGNATURE(engine.get_function_address(symbol))
    if not from_cache:
        cache.write(name, code)
    return Compiled(run, from_cache, engine)


def assembled(text: str) -> Any:
    """IR that needs nothing else, compiled: what owns its functions."""
    import llvmlite.binding as llvm

    with COMPILING:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine(opt=2, jit=True)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
        engine.finalize_object()
    return engine


def _object(symbol: str, read: Callable[[], Tape], n_flags: int, target: Target, machine: Any, title: str) -> bytes:
    import llvmlite.binding as llvm

    refused = cache.refused()
    with working("Compiling", title, 4) as begin:
        begin()
        tape = read()
        begin(f"{title}, {tape.n_operations:,} operations{refused and f'; {refused}'}")
        # The machine's triple is the target's, but for Windows, where llvmlite makes ELF objects.
        text = emit.module(symbol, tape, n_flags, target.width, target.vector_library, target.fma, machine.triple)
        module = llvm.parse_assembly(text, llvm.create_context())  # constants live as long as their context
        begin()
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
        passes = builder.getModulePassManager()
        passes.run(module, builder)
        _free(passes)
        begin()
        return bytes(machine.emit_object(module))


def _free(passes: Any) -> None:
    """Free what passes keep of the module, nearly a megabyte: llvmlite inherits a method that does nothing instead."""
    from llvmlite.binding import ffi, newpassmanagers

    if type(passes)._dispose is ffi.ObjectRef._dispose:
        newpassmanagers.NewPassManager._dispose(passes)
        passes.detach()
