"""Labels of nodes, graphs, images and messages, as numbers with names, and the split that the data define."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from flipproof.base.values import IntArray, checked_items, checked_kind, read_only
from flipproof.errors import InvalidInputError, one_line
from flipproof.files.archive import ArrayArchive
from flipproof.run_folder.split import SPLIT_PARTS, Split

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
    """Returns one name per class, each a single plain line; by default the numbers of the classes."""
    classes = int(labels.max(initial=-1)) + 1
    names = plain_names(given, "names") or tuple(map(str, range(classes)))
    if len(names) < classes:
        raise InvalidInputError(f"expected a name for each of {classes} classes, got {len(names)}")
    return names


def plain_names(given: Any, what: str) -> tuple[str, ...]:
    """Names, each as a single plain line; numbers become their text, and a single text becomes its letters.

    Example:
        >>> plain_names([1, "two"], "class_names")
        ('1', 'two')
    """
    names = given if isinstance(given, str) else checked_items(given, what, "names")
    return tuple(one_line(str(name)) for name in names)


def numbered(given: Any) -> tuple[Any, tuple[str, ...]]:
    """Turns labels that are words into numbers, in the order of the sorted words; numbers stay unchanged.

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
    """An array of the given array-like values, of any type; torch tensors are accepted."""
    if hasattr(given, "detach"):
        given = given.detach().cpu()
    try:
        return np.asarray(given)
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"expected an array, got {type(given).__name__}: {error}") from error


def checked_split(given: Any, count: int, owner: str) -> Split | None:
    """Returns a split, whose size must equal the number of owners ("node", "graph"), or None if there is none."""
    if given is None:
        return None
    split = checked_kind(given, Split, "split")
    highest = max(part.max(initial=-1) for part in (split.train, split.validation, split.test))
    if highest >= count:
        raise InvalidInputError(f"expected a split of {count} {owner}s, got {owner} {highest}")
    return split


def split_of_pyg(data: Any) -> Split | None:
    """The split of a PyTorch Geometric `Data` with masks; without a `val_mask`, the validation set is empty."""
    masks: dict[str, Any] = {name: getattr(data, name, None) for name in ("train_mask", "val_mask", "test_mask")}
    there = [name for name, mask in masks.items() if mask is not None]
    if not there:
        return None
    if masks["train_mask"] is None or masks["test_mask"] is None:
        raise InvalidInputError(
            f"expected train_mask and test_mask together, got only {' and '.join(there)}; set the other, or all to None"
        )
    train, validation, test = masks.values()
    nobody = np.zeros_like(plain_array(train), dtype=bool)
    return Split.from_masks(train, nobody if validation is None else validation, test)


def split_arrays(split: Split | None) -> dict[str, IntArray]:
    """The arrays that a file stores for a split."""
    return {} if split is None else {name: getattr(split, name) for name in SPLIT_PARTS}


def read_split(file: ArrayArchive) -> Split | None:
    """The split in a file, or None if its description mentions none; files of version 1 have none."""
    return Split(*(file.array(name) for name in SPLIT_PARTS)) if file.description.get("split") is True else None
