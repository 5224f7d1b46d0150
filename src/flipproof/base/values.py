"""What users hand in, checked in one place: arrays, truth values, counts, lists, texts, and names to choose from."""

from __future__ import annotations

import numbers
from collections.abc import Collection
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from flipproof.errors import InvalidInputError, not_among

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


def read_only_csr(matrix: Any) -> Any:
    """A sparse matrix whose arrays cannot be written to: it is handed to models again and again."""
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.setflags(write=False)
    return matrix


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A contiguous copy of the array that cannot be written to."""
    copy = np.array(array, order="C")
    copy.setflags(write=False)
    return copy


_T = TypeVar("_T")
_E = TypeVar("_E", bound=StrEnum)


def checked_flag(value: Any, name: str) -> bool:
    """Returns a truth value, or raises with `name` in the message.

    Example:
        >>> checked_flag("no", "directed")
        Traceback (most recent call last):
            ...
        flipproof.errors.InvalidInputError: expected directed to be True or False, got 'no'
    """
    if not isinstance(value, bool | np.bool_):
        raise InvalidInputError(f"expected {name} to be True or False, got {value!r}")
    return bool(value)


def checked_count(value: Any, name: str) -> int:
    """Returns `value` as a non-negative int, or raises with `name` in the message."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 0:
        raise InvalidInputError(f"expected {name} to be a non-negative integer, got {value!r}")
    return int(value)


def checked_kind(value: Any, kind: type[_T], name: str) -> _T:
    """Returns a value of a class, or raises with the names of the argument and of the class."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise InvalidInputError(f"expected {name} to be {article} {kind.__name__}, got {type(value).__name__}")
    return value


def checked_items(values: Any, name: str, what: str) -> tuple[Any, ...]:
    """Returns the items of a list, an array or a generator. A single text is refused.

    Example:
        >>> checked_items(range(3), "sides", "numbers")
        (0, 1, 2)
    """
    try:
        if not isinstance(values, str | bytes):
            return tuple(values)
    except (TypeError, OverflowError):  # what cannot be walked through, or has more items than a list can
        pass
    raise InvalidInputError(f"expected {name} to be a list of {what}, got {values!r}")


def checked_texts(values: Any, name: str) -> tuple[str, ...]:
    """Returns several texts.

    Example:
        >>> checked_texts(["ham", "spam"], "class_names")
        ('ham', 'spam')
    """
    items = checked_items(values, name, "texts")
    wrong = [item for item in items if not isinstance(item, str)]
    if wrong:
        raise InvalidInputError(f"expected {name} to be a list of texts, got one with {wrong[0]!r}")
    return items


def checked_index(value: Any, count: int, name: str) -> int:
    """Returns the index of one of `count` things; negative ones count from the end.

    Example:
        >>> checked_index(-1, 3, "index")
        2
    """
    number = count if isinstance(value, bool) or not isinstance(value, numbers.Integral) else int(value)
    if not -count <= number < count:
        raise InvalidInputError(f"expected {name} to be an integer from 0 to {count - 1}, got {value!r}")
    return number % count


def checked_rows(values: Any, count: int, name: str) -> NDArray[np.int64]:
    """Returns the indices of some of `count` things, given as a list, an array or a generator.

    Example:
        >>> checked_rows((i for i in (2, 0)), 3, "which")
        array([2, 0])
    """
    items = values.tolist() if isinstance(values, np.ndarray) and values.ndim else values
    rows = [checked_index(item, count, f"each of {name}") for item in checked_items(items, name, "numbers")]
    return np.array(rows, dtype=np.int64)


def chosen(kind: type[_E], name: str, what: str) -> _E:
    """The member of an enumeration with this name, or the refusal that lists them all."""
    return kind(one_of(list(kind), name, what))


def one_of(names: Collection[str], name: Any, what: str) -> str:
    """The name, if it is one of these, or the refusal that lists them all."""
    if not isinstance(name, str) or name not in names:
        raise not_among(what, names, name)
    return name


def sorted_rows(matrix: Any) -> Any:
    """The CSR matrix if its rows are in order, as noisy ones are, else a copy of it with rows in order."""
    return matrix if matrix.has_sorted_indices else matrix.sorted_indices()
