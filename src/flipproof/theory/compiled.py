"""How the loops of this package are compiled: once, cached on disk, without holding the interpreter lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Compiles a function of arrays and numbers when it is first called."""
    return _compiled(function, forceinline=False)


def inlined(function: F) -> F:
    """The same for the insides of loops: a call would keep the loop around it from being vectorised."""
    return _compiled(function, forceinline=True)


def _compiled(function: F, forceinline: bool) -> F:
    try:
        return cast("F", njit(function, cache=True, nogil=True, forceinline=forceinline))
    except RuntimeError:
        # Nowhere to keep a cache (a read-only installation without a home): compile anew in every process.
        return cast("F", njit(function, nogil=True, forceinline=forceinline))
