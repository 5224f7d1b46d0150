"""The split that data bring along: which inputs are for training, validation and testing."""

from __future__ import annotations

from typing import Any

import numpy as np

from flipproof.base.arguments import checked_kind
from flipproof.base.arrays import IntArray
from flipproof.datasets.kinds.labels import plain_array
from flipproof.errors import InvalidInputError
from flipproof.files.archive import ArrayArchive
from flipproof.run_folder.split import Split

_PARTS = ("train", "validation", "test")


def checked_split(given: Any, count: int, owner: str) -> Split | None:
    """Returns a split of so many owners ("node", "graph"), or None if there is none."""
    if given is None:
        return None
    split = checked_kind(given, Split, "split")
    highest = max(part.max(initial=-1) for part in (split.train, split.validation, split.test))
    if highest >= count:
        raise InvalidInputError(f"expected a split of {count} {owner}s, got {owner} {highest}")
    return split


def split_of_pyg(data: Any) -> Split | None:
    """The split of a PyTorch Geometric `Data` with masks; without a `val_mask` nothing is for validation."""
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
    """What a file has of a split."""
    return {} if split is None else {name: getattr(split, name) for name in _PARTS}


def read_split(file: ArrayArchive) -> Split | None:
    """The split in a file whose description says that there is one; files of version 1 have none."""
    return Split(*(file.array(name) for name in _PARTS)) if file.description.get("split") is True else None
