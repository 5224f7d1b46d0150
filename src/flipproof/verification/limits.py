"""Limits on the checker's time and memory: its files are untrusted, and checking one could take years."""

from __future__ import annotations

import contextlib
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar

from flipproof.errors import InvalidInputError, TooLargeError

T = TypeVar("T")

USUAL_MINUTES, OVER = 5.0, "the time for checking is over"
ROOM = 96 * 2**20
"""The total size of all cells in memory, in bytes, is at most this."""

_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


@contextlib.contextmanager
def minutes_at_most(minutes: float) -> Iterator[None]:
    """Within this context, `check_time` raises once the given minutes have passed.

    Example:
        >>> with minutes_at_most(0):
        ...     check_time()
        Traceback (most recent call last):
        flipproof.errors.TooLargeError: the time for checking is over
    """
    before = _deadline.set(time.monotonic() + 60.0 * minutes)
    try:
        yield
    finally:
        _deadline.reset(before)


def checked_minutes(minutes: Any) -> float:
    """Returns a valid number of minutes, or raises an error that names what was given instead."""
    if isinstance(minutes, bool) or not isinstance(minutes, int | float) or not 0.0 <= minutes < math.inf:
        raise InvalidInputError(f"expected minutes to be a non-negative number, got {minutes!r}")
    return float(minutes)


def is_over() -> bool:
    """Whether the time is up."""
    return time.monotonic() >= _deadline.get()


def check_time() -> None:
    """Raises an error once the time is up."""
    if is_over():
        raise TooLargeError(OVER)


class Shelf:
    """A cache of limited size: when it is full, the oldest results are dropped first."""

    def __init__(self, room: int = ROOM) -> None:
        self._room, self._taken = room, 0
        self._kept: OrderedDict[Hashable, tuple[int, Any]] = OrderedDict()

    def get(self, key: Hashable, size: int, make: Callable[[], T]) -> T:
        """Returns the value stored under a key, or makes it; `size` is its approximate size in bytes.

        Example:
            >>> shelf = Shelf(room=10)
            >>> [shelf.get(key, 6, lambda: key * 2) for key in (1, 2, 1)]
            [2, 4, 2]
        """
        if key in self._kept:
            self._kept.move_to_end(key)
            found: T = self._kept[key][1]
            return found
        while self._kept and self._taken + size > self._room:
            self._taken -= self._kept.popitem(last=False)[1][0]
        made = make()
        if size <= self._room:
            self._kept[key], self._taken = (size, made), self._taken + size
        return made


SHELF = Shelf()
"""The cache that the checker uses."""
