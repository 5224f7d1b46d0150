"""Names of inputs and of classes: they travel with votes to be shown, and are no part of what is proved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import IntArray, checked_names
from flipproof.errors import FileFormatError, one_line
from flipproof.noise.spaces.space import Space

LONGEST_NAME = 200
Names = tuple[str, ...]


def shown_names(given: Sequence[str] | None, count: int, what: str) -> Names | None:
    r"""One name for each of some things, each on one line and of at most 200 characters; None stays None.

    Example:
        >>> shown_names(["Ann\n", "Bob"], 2, "input_names")
        ('Ann ', 'Bob')
    """
    names = checked_names(given, count, what)
    return None if names is None else tuple(map(_short, names))


def _short(name: str) -> str:
    return one_line(name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 4]} ...")


def names_of_inputs(space: Space, outputs: int, targets: IntArray | None) -> Names | None:
    """The names that a space has for the inputs that were voted on; None if it has none."""
    names: Any = getattr(space, "input_names", None)
    rows = np.arange(outputs) if targets is None else targets
    if names is None or rows.max(initial=-1) >= len(names) or (targets is None and len(names) != outputs):
        return None
    return tuple(str(names[row]) for row in rows)


def names_of_classes(classifier: Any) -> Names | None:
    """The names that a classifier has for its classes; None if it has none, or numbers 0, 1, 2, ..."""
    names: Any = getattr(classifier, "class_names", None)
    if not isinstance(names, Sequence) or isinstance(names, str) or len(names) != classifier.classes:
        return None
    return unless_numbers(names)


def unless_numbers(names: Sequence[Any]) -> Names | None:
    """The names as texts, unless they are just 0, 1, 2, ...

    Example:
        >>> unless_numbers([0, 1]), unless_numbers([1, 2])
        (None, ('1', '2'))
    """
    texts = tuple(map(str, names))
    return None if texts == tuple(map(str, range(len(texts)))) else texts


def names_as_array(names: Names) -> NDArray[np.uint8]:
    """Names as the bytes of a text in UTF-8 with one name on each line."""
    return np.frombuffer("".join(f"{name}\n" for name in names).encode(), dtype=np.uint8)


def names_from_array(array: NDArray[Any], what: str) -> Names:
    """The inverse of `names_as_array`, for files from elsewhere: anything but plain names is refused."""
    if array.dtype != np.uint8 or array.ndim != 1:
        raise FileFormatError(f"{what} is no text but {array.dtype} of shape {array.shape}")
    *names, rest = array.tobytes().decode("utf-8").split("\n")
    if rest or any(len(name) > LONGEST_NAME or not name.isprintable() for name in names):
        raise FileFormatError(f"{what} has a name that is too long or not printable")
    return tuple(names)
