"""How the loops of this package are compiled: once, cached on disk, without holding the interpreter lock."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from llvmlite import ir
from numba import config, njit, types
from numba.core.cgutils import create_struct_proxy
from numba.extending import intrinsic

from flipproof.base.loop_files import loop_cache
from flipproof.base.own_imports import source_of, with_imports
from flipproof.errors import FlipproofError

if getattr(config, "DISABLE_JIT", False):  # Python's integers do not wrap around: there would be other noise, or none
    raise FlipproofError("expected loops that numba may compile, got NUMBA_DISABLE_JIT=1; unset it")

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Compiles a function of arrays and numbers when it is first called."""
    return _compiled(function, forceinline=False)  # which numba would otherwise take over from a caller


def inlined(function: F) -> F:
    """Compiles a function that is inlined into the loops that call it, and makes no arrays.

    A call would keep the loop around it from being vectorised, and counting references to the arrays it is given took a
    tenth of the time.
    """
    return _compiled(function, forceinline=True, _nrt=False)


def _compiled(function: F, **options: bool) -> F:
    compiler: Any = njit  # whose declared options lack one of ours
    made = compiler(function, nogil=True, **options)
    made._cache = loop_cache(function, loop_stamp(function.__module__))
    return cast("F", made)


@functools.cache
def loop_stamp(module: str) -> str:
    """A hash of the sources that the compiled loops of a module are made of: its own, and all of ours that it imports.

    What is kept of a function holds copies of what it calls, and of constants, from other files. By itself numba looks
    only at the file of the function, and at its time: noise could come from a mixture of two versions. Files that are
    installed from an archive, or written after a clock was set back, may differ and yet have the same time and size.
    """
    ours = sorted(with_imports([module]))
    if not ours:  # somebody else's loop, which may use anything of ours
        return source_stamp()
    contents = [(name, source_of(name)) for name in ours]
    return hashlib.sha256(repr(contents).encode()).hexdigest()


@functools.cache
def source_stamp() -> str:
    """A hash of all files of this package."""
    package, contents = Path(__file__).parents[1], hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        contents.update(f"{file.relative_to(package)} {file.stat().st_size}\n".encode() + file.read_bytes())
    return contents.hexdigest()


def _data_address(_: Any, array: Any) -> Any:
    def instruction(context: Any, builder: Any, __: Any, arguments: Any) -> Any:
        proxy: Any = create_struct_proxy(array)  # type: ignore[no-untyped-call]  # numba has no types there
        data = proxy(context, builder, value=arguments[0]).data
        return builder.ptrtoint(data, context.get_value_type(types.uint64))

    return types.uint64(array), instruction


data_address: Any = intrinsic(_data_address)
"""Where the numbers of an array begin. `array.ctypes.data` would count a reference, which is slow in a loop.

An address does not keep an array alive: a loop that uses one must also use the array by its name later on.
"""


def _never_inlined(_: Any) -> Any:
    def instruction(context: Any, builder: Any, __: Any, ___: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.void(), instruction


never_inlined: Any = intrinsic(_never_inlined)
"""Keeps the function in which it is called apart from its callers, so that it has the registers to itself."""


def _fetch_ahead(_: Any, address: Any) -> Any:
    def instruction(context: Any, builder: Any, __: Any, arguments: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        fetch = builder.module.globals.get("llvm.prefetch.p0i8") or ir.Function(
            builder.module, kind, "llvm.prefetch.p0i8"
        )
        first, (reading, keep, data) = builder.inttoptr(arguments[0], byte), (number(0), number(3), number(1))
        for line in range(0, 256, 64):
            builder.call(fetch, [builder.gep(first, [number(line)]), reading, keep, data])
        return context.get_dummy_value()

    return types.void(types.uint64), instruction


fetch_ahead: Any = intrinsic(_fetch_ahead)
"""Asks for the 256 bytes from an address on, which are read a little later; the address need not exist."""
