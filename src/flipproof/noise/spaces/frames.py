"""What is asked of a library of data frames: what a column holds, and which values it has.

A column is an extension array of pandas or a series of polars. It is only ever indexed and extended, so that values
keep their types and their ways to be missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import FloatArray, IntArray
from flipproof.errors import InvalidInputError

MISSING = -1
"""The number that stands for a missing value among the numbers of different values."""


class Holds(Enum):
    """What the values of a column are."""

    BOOLEANS = "booleans"
    INTEGERS = "integers"
    NUMBERS = "numbers"
    TEXTS = "texts"
    CATEGORIES = "categories"
    OTHERS = "other values"

    @property
    def is_numeric(self) -> bool:
        """Whether the values can be put into bins."""
        return self in (Holds.INTEGERS, Holds.NUMBERS)


class Frames(Protocol):
    """What is asked of a library of data frames."""

    @property
    def name(self) -> str:
        """The name of the library."""

    @property
    def leave_out(self) -> str:
        """How to make a frame without a column, with {} for its name."""

    def names(self, frame: Any) -> list[Any]:
        """The names of the columns."""

    def column(self, frame: Any, place: int) -> Any:
        """The column at a place."""

    def dtype(self, column: Any) -> str:
        """The type of a column, in words."""

    def holds(self, column: Any) -> Holds:
        """What the values of a column are."""

    def numbered(self, column: Any) -> IntArray:
        """Numbers 0, 1, ... of the different values, row by row, and `MISSING` where there is none."""

    def numbers(self, column: Any) -> FloatArray:
        """The values of a numeric column, with NaN where there is none."""

    def plain(self, column: Any) -> list[Any]:
        """The values as Python has them, with None where there is none."""

    def listed(self, column: Any) -> list[Any] | None:
        """The categories that the type of the column lists, or None."""

    def take(self, column: Any, places: IntArray) -> Any:
        """The values at some places."""

    def extended(self, column: Any, values: Sequence[Any]) -> Any:
        """The column with further values at its end; its type gets the categories that it lacks."""

    def contents(self, column: Any) -> tuple[str, bytes]:
        """The type and the values, to be hashed."""


def numbered_values(frames: Frames, column: Any, name: str) -> tuple[IntArray, IntArray]:
    """The number of each row's value, in the order of first rows, and the first row of each value.

    A missing value is a value like others.
    """
    try:
        numbers = frames.numbered(column)
    except Exception as error:  # whatever a library raises for values that cannot be compared
        raise InvalidInputError(
            f"expected values that can be compared in column {name!r}, got {frames.dtype(column)}: leave it out with "
            f"{frames.leave_out.format(repr(name))}"
        ) from error
    codes = numbers + 1
    first = np.full(int(codes.max(initial=-1)) + 1, codes.size)
    first[codes[::-1]] = np.arange(codes.size)[::-1]
    order = np.argsort(first, kind="stable")
    order = order[: int(np.count_nonzero(first < codes.size))]
    place = np.zeros(first.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    return place[codes], first[order]


def extended_values(frames: Frames, column: Any, values: Sequence[Any], name: str) -> Any:
    """A column with further values at its end, or a refusal if its type cannot hold them."""
    if not values:
        return column
    try:
        longer = frames.extended(column, values)
        held = frames.plain(longer)[-len(values) :]
    except Exception as error:  # whatever a library raises for values of another type
        raise _not_held(frames, column, values, name) from error
    if frames.plain(longer)[: -len(values)] != frames.plain(column) or not all(map(_same, held, values)):
        raise _not_held(frames, column, values, name)
    return longer


def _not_held(frames: Frames, column: Any, values: Sequence[Any], name: str) -> InvalidInputError:
    return InvalidInputError(
        f"expected values of column {name!r} that its type {frames.dtype(column)} can hold, got {list(values)!r}"
    )


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) and (isinstance(one, str) == isinstance(other, str))


def without_missing(value: Any) -> Any:
    """A value as Python has it, with None for all that means that there is none.

    Example:
        >>> without_missing(float("nan")), without_missing(np.int64(3))
        (None, 3)
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return None
    return plain_value(value)


def plain_value(value: Any) -> Any:
    """A value without numpy's type."""
    return value.item() if isinstance(value, np.generic) and value.dtype.kind in "biufU" else value


def labels_unlike(values: Sequence[Any]) -> tuple[str, ...]:
    """Values as texts, each different from the others: a missing value is "missing" unless that is a text itself.

    Example:
        >>> labels_unlike(["x", None, 3])
        ('x', 'missing', '3')
    """
    missing = "no value" if "missing" in values else "missing"
    return tuple(missing if value is None else str(value) for value in values)


def as_codes(columns: Sequence[IntArray], sizes: Sequence[int]) -> NDArray[Any]:
    """Codes of columns as one array [rows, columns] of the smallest type that holds them."""
    codes = np.empty((columns[0].size, len(columns)), dtype=np.min_scalar_type(max(1, *(size - 1 for size in sizes))))
    for place, column in enumerate(columns):
        codes[:, place] = column
    return codes
