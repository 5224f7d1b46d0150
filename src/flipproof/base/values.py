"""What users hand in, checked in one place: arrays, truth values, counts, lists, texts, and names to choose from."""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection, Sequence, Sized
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flipproof.errors import InvalidInputError, not_among

if TYPE_CHECKING:
    import scipy.sparse

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
RowArray: TypeAlias = "NDArray[Any] | scipy.sparse.csr_array"
"""Numbers of inputs or nodes, one row for each, dense or sparse."""

ADDED_LATER = "added later"
"""The metadata `{ADDED_LATER: True}` of a field that a dataclass of ours got after its first release.

Such a field is left out of fingerprints while it is the default itself, so that values of before keep theirs.
"""

DESCRIPTIVE = "descriptive"
"""The metadata `{DESCRIPTIVE: True}` of a field that only describes, such as names: it is no part of fingerprints."""


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


def checked_names(values: Any, count: int, name: str) -> tuple[str, ...] | None:
    """Returns one text for each of some things, or None if there are no names.

    Example:
        >>> checked_names(["Ann"], 2, "input_names")
        Traceback (most recent call last):
            ...
        flipproof.errors.InvalidInputError: expected input_names to be 2 names, got 1
    """
    if values is None:
        return None
    names = checked_texts(values, name)
    if len(names) != count:
        raise InvalidInputError(f"expected {name} to be {count} names, got {len(names)}")
    return names


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


def as_array(given: Any, name: str) -> NDArray[Any]:
    """Numbers as a numpy array; torch tensors are welcome."""
    if hasattr(given, "detach"):
        given = given.detach().cpu()
        given = given.float() if str(given.dtype) == "torch.bfloat16" else given
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise InvalidInputError(f"expected {name} without masked entries, got {int(given.mask.sum())}; fill them")
    try:
        array = np.asarray(given)
    except (ValueError, TypeError) as error:
        _refuse_ragged(given, name)
        raise InvalidInputError(f"expected {name} to be an array, got {type(given).__name__}: {error}") from error
    if array.dtype.kind not in "biuf":
        got = array.dtype if array.ndim else type(given).__name__
        raise InvalidInputError(f"expected {name} to be numbers, got {got}")
    return array


def _refuse_ragged(given: Any, name: str) -> None:
    """Names the first row that is longer or shorter than the first one."""
    if not isinstance(given, Sequence) or not all(isinstance(row, Sized) for row in given):
        return
    lengths = [len(row) for row in given]
    other = next((row for row, length in enumerate(lengths) if length != lengths[0]), None)
    if other is not None:
        raise InvalidInputError(
            f"expected {name} to be rows of one length, got row {other} of length {lengths[other]} after {lengths[0]}"
        )


def as_integers(given: Any, name: str, axis: str = "position") -> NDArray[Any]:
    """Non-negative integers, however they are written: 0.0 and 1.0 and True are fine, 0.5 is not."""
    array = as_array(given, name)
    if array.dtype.kind == "b":
        return array.astype(np.uint8)
    if array.dtype.kind == "f":
        refuse_first(array, (array != np.floor(array)) | np.isinf(array), f"{name} to be integers", axis)
    if array.size and array.min() < 0:
        refuse_first(array, array < 0, f"{name} to be non-negative", axis)
    if array.size and int(array.max()) >= 2**31:
        refuse_first(array, array >= 2**31, f"{name} below {2**31}", axis)
    return array.astype(np.min_scalar_type(int(array.max(initial=0))))


def first_place(wrong: BoolArray) -> tuple[int, ...] | None:
    """The index of the first entry that is true, row by row, or None.

    Example:
        >>> first_place(np.array([[False, False], [False, True]]))
        (1, 1)
    """
    return tuple(int(i) for i in np.unravel_index(wrong.argmax(), wrong.shape)) if wrong.any() else None


def place_words(index: tuple[int, ...], axis: str = "position") -> str:
    """Where an entry stands, in words; the first number is that of its row.

    Example:
        >>> place_words((3, 7)), place_words((3, 0, 7)), place_words((3,))
        ('row 3, position 7', 'row 3, position (0, 7)', 'row 3')
    """
    row, *rest = index
    if not rest:
        return f"row {row}"
    return f"row {row}, {axis} {rest[0] if len(rest) == 1 else tuple(rest)}"


def refuse_first(values: NDArray[Any], wrong: BoolArray, expected: str, axis: str = "position") -> None:
    """Raises for the first entry that is wrong, and says where it is."""
    index = first_place(wrong)
    if index is not None:
        raise InvalidInputError(f"expected {expected}, got {values[index]} at {place_words(index, axis)}")


def checked_probabilities(values: ArrayLike, name: str, dimensions: int | None = None) -> FloatArray:
    """Returns the values as float64, all in [0, 1], or raises with `name` and the first bad one."""
    try:
        array = np.asarray(values)
    except (ValueError, TypeError):
        raise InvalidInputError(f"expected {name} to be an array of numbers in [0, 1], got {values!r}") from None
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        raise InvalidInputError(f"expected {name} to be float64 numbers in [0, 1], got {values!r}")
    if dimensions is not None and array.ndim != dimensions:
        raise InvalidInputError(f"expected {name} in an array of {dimensions} dimension, got shape {array.shape}")
    array = array.astype(np.float64)
    wrong = ~((array >= 0.0) & (array <= 1.0))
    if wrong.any():
        raise InvalidInputError(f"expected {name} in [0, 1], got {float(array[wrong].flat[0])!r}")
    return array


def checked_probability(value: Any, name: str) -> float:
    """Returns `value` as a float in [0, 1], or raises with `name` in the message."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidInputError(f"expected {name} to be a number in [0, 1], got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isnan(number) or not 0.0 <= number <= 1.0:
        raise InvalidInputError(f"expected {name} in [0, 1], got {number!r}")
    return number
