"""Labels of nodes, graphs, images and messages: whole numbers from 0, each with the name of its class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from flipproof.base.arguments import checked_items
from flipproof.base.arrays import IntArray, read_only
from flipproof.errors import InvalidInputError, one_line

_MOST_CLASSES = 2**16


def checked_labels(given: Any, count: int, owner: str) -> IntArray:
    """Returns one label per owner ("node", "image") as read-only integers.

    Example:
        >>> checked_labels([[0.0], [2.0]], 2, "node")
        array([0, 2])
    """
    promise = f"expected a label from 0 for every {owner}, got"
    if given is None:
        raise InvalidInputError(f"{promise} none")
    labels = plain_array(given)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.dtype.kind not in "biuf":
        raise InvalidInputError(f"{promise} labels of type {labels.dtype}")
    if labels.shape != (count,):
        raise InvalidInputError(f"{promise} labels of shape {list(labels.shape)} for {count} {owner}s")
    wrong = labels[~((labels >= 0) & (labels < _MOST_CLASSES) & (labels == np.floor(labels)))]
    if wrong.size:
        raise InvalidInputError(f"{promise} the label {wrong[0]}")
    whole: IntArray = read_only(labels.astype(np.int64))
    return whole


def checked_names(given: Sequence[str], labels: IntArray) -> tuple[str, ...]:
    """Returns one name per class, each one plain line; without any, the classes are called by their numbers."""
    classes = int(labels.max(initial=-1)) + 1
    names = plain_names(given, "names") or tuple(map(str, range(classes)))
    if len(names) < classes:
        raise InvalidInputError(f"expected a name for each of {classes} classes, got {len(names)}")
    return names


def plain_names(given: Any, what: str) -> tuple[str, ...]:
    """Names, each as one plain line; numbers and the like are taken as they are written, a text letter by letter.

    Example:
        >>> plain_names([1, "two"], "class_names")
        ('1', 'two')
    """
    names = given if isinstance(given, str) else checked_items(given, what, "names")
    return tuple(one_line(str(name)) for name in names)


def numbered(given: Any) -> tuple[Any, tuple[str, ...]]:
    """Turns labels that are words into numbers, in the order of the sorted words; numbers stay what they are.

    Example:
        >>> numbered(["b", "a", "b"])
        (array([1, 0, 1]), ('a', 'b'))
    """
    if given is None:
        return None, ()
    labels = plain_array(given)
    if labels.dtype.kind == "O" and labels.size and all(isinstance(label, str) for label in labels.flat):
        labels = labels.astype(str)
    if labels.dtype.kind not in "US":
        return labels, ()
    words, numbers = np.unique(labels.astype(str), return_inverse=True)
    return numbers.reshape(labels.shape), tuple(words.tolist())


def plain_array(given: Any) -> Any:
    """Anything array-like as an array of whatever it holds; torch tensors are welcome."""
    if hasattr(given, "detach"):
        given = given.detach().cpu()
    try:
        return np.asarray(given)
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"expected an array, got {type(given).__name__}: {error}") from error
