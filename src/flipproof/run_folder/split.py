"""The inputs of a run: which ones a model is trained on, decide when to stop, and test it; labels and predictions."""

from __future__ import annotations

import numbers
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flipproof.base.short_repr import short_repr
from flipproof.base.values import BoolArray, IntArray, checked_count, read_only
from flipproof.errors import FileFormatError, InvalidInputError, one_line
from flipproof.files.archive import reading_archive, write_archive
from flipproof.files.strict_json import FileKind

SPLIT_PARTS = ("train", "validation", "test")
INPUTS_FILE = FileKind("inputs file", "flipproof-inputs", 1)

GIVEN, DRAWN, UNKNOWN = "given", "drawn", "unknown"
"""Where a split comes from: the data have it, training drew it, or nobody said what weights were trained on."""

UNTOLD = "it is not known which inputs the weights were trained on"
NOT_REPORTED = f"not reported: {UNTOLD}"
"""Shown in place of an accuracy."""

_SHOWN_NUMBERS = 12
"""The representation of a split with at most this many inputs lists them."""


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Numbers of inputs for training, for validation and for testing; no input is in two of them.

    Example:
        >>> split = Split.per_class([0, 0, 0, 1, 1, 1], train=1, validation=1, seed=0)
        >>> split.train.size, split.validation.size, split.test.size
        (2, 2, 2)
    """

    train: IntArray
    validation: IntArray
    test: IntArray

    def __post_init__(self) -> None:
        for name in SPLIT_PARTS:
            object.__setattr__(self, name, _checked_numbers(getattr(self, name), name))
        everything = np.concatenate([self.train, self.validation, self.test])
        if np.unique(everything).size < everything.size:
            raise InvalidInputError("expected every input in at most one part of the split, got some twice")

    def __repr__(self) -> str:
        parts = {name: getattr(self, name) for name in SPLIT_PARTS}
        if sum(part.size for part in parts.values()) <= _SHOWN_NUMBERS:
            return short_repr(self, *(f"{name}={part.tolist()}" for name, part in parts.items()))
        return short_repr(self, *(f"{part.size:,} in {name}" for name, part in parts.items()))

    @classmethod
    def nothing(cls) -> Split:
        """A split without inputs, for models whose training data nobody knows."""
        return cls(*(np.zeros(0, dtype=np.int64) for _ in range(3)))

    @classmethod
    def from_masks(cls, train: ArrayLike, validation: ArrayLike, test: ArrayLike) -> Split:
        """The inputs that three masks mark: truth values, one per input; no input may be marked twice.

        Example:
            >>> split = Split.from_masks([True, False, False], [False, False, False], [False, False, True])
            >>> split.train.tolist(), split.validation.tolist(), split.test.tolist()
            ([0], [], [2])
        """
        masks = {"train": train, "validation": validation, "test": test}
        marked = {name: _checked_mask(mask, name) for name, mask in masks.items()}
        if len({mask.size for mask in marked.values()}) > 1:
            lengths = ", ".join(f"{name} {mask.size}" for name, mask in marked.items())
            raise InvalidInputError(f"expected masks of one length, got {lengths}")
        return cls(*map(np.flatnonzero, marked.values()))

    @classmethod
    def per_class(cls, labels: ArrayLike, train: int = 20, validation: int = 20, seed: int = 0) -> Split:
        """A fixed number of inputs of every class, drawn at random; all others are for testing.

        The defaults are those of the paper. The same labels and seed give the same split everywhere.
        """
        train, validation = checked_count(train, "train"), checked_count(validation, "validation")
        classes, shuffled = _shuffled(labels, seed)
        sizes = np.array([members.size for members in shuffled])
        if sizes.min() <= train + validation:
            smallest = classes[sizes.argmin()]
            raise InvalidInputError(
                f"expected more than {train + validation} inputs of every class ({train} to train, {validation} to "
                f"validate), got {sizes.min()} of class {smallest}; ask for fewer per class "
                "(--train-per-class, --validation-per-class)"
            )
        return cls._cut([(members, train, train + validation) for members in shuffled])

    @classmethod
    def by_share(cls, labels: ArrayLike, test: float = 0.1, validation: float = 0.1, seed: int = 0) -> Split:
        """A share of every class for testing, one for validation; all others are for training.

        Shares are rounded, but every class has at least one input to train on. The same labels and seed give the same
        split everywhere.

        Example:
            >>> split = Split.by_share([0] * 63 + [1] * 125, test=0.1, validation=0.1)
            >>> split.train.size, split.validation.size, split.test.size
            (152, 18, 18)
        """
        for name, share in (("test", test), ("validation", validation)):
            if isinstance(share, bool) or not isinstance(share, numbers.Real) or not 0.0 <= share < 1.0:
                raise InvalidInputError(f"expected a {name} share in [0, 1), got {share!r}")
        cuts = []
        for members in _shuffled(labels, seed)[1]:
            train = max(1, members.size - round(test * members.size) - round(validation * members.size))
            cuts.append((members, train, min(members.size, train + round(validation * members.size))))
        return cls._cut(cuts)

    def among(self, inputs: ArrayLike) -> Split:
        """The split of some of the inputs, which are numbered anew in the order given.

        Example:
            >>> Split([0, 1], [], [2]).among(np.array([2, 0])).train
            array([1])
        """
        kept = _checked_numbers(inputs, "inputs")
        return Split(*(np.flatnonzero(np.isin(kept, part)) for part in (self.train, self.validation, self.test)))

    @classmethod
    def _cut(cls, cuts: list[tuple[IntArray, int, int]]) -> Split:
        """Of the inputs of every class, those before the first number, between both, and after."""
        return cls(
            *(
                np.sort(np.concatenate(parts))
                for parts in zip(*(np.split(members, [first, second]) for members, first, second in cuts), strict=True)
            )
        )


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """One row per input.

    Attributes:
        labels: true labels.
        split: which inputs were for what.
        base_label: the prediction of the base classifier for the input itself.
        class_names: one per class.
    """

    labels: IntArray
    split: Split
    base_label: IntArray
    class_names: tuple[str, ...]

    def accuracy(self, right: BoolArray) -> float | None:
        """The share of test inputs for which something is true; None if none is known to be for testing."""
        return float(np.mean(right[self.split.test])) if self.split.test.size else None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file, whole or not at all."""
        arrays = {"labels": self.labels, "base_label": self.base_label}
        parts = {name: getattr(self.split, name) for name in SPLIT_PARTS}
        write_archive(path, INPUTS_FILE, {"class_names": list(self.class_names)}, arrays | parts)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Inputs:
        """Reads what `save` wrote."""
        with reading_archive(path, INPUTS_FILE) as file:
            split = Split(*(file.array(name) for name in SPLIT_PARTS))
            labels, base_label = (label_array(file.array(name), None) for name in ("labels", "base_label"))
            highest = max(part.max(initial=-1) for part in (split.train, split.validation, split.test))
            if labels.ndim != 1 or labels.shape != base_label.shape or highest >= labels.size:
                raise FileFormatError("its arrays do not fit together")
            return cls(
                labels, split, base_label, tuple(one_line(str(name)) for name in file.description["class_names"])
            )


def _shuffled(labels: ArrayLike, seed: int) -> tuple[IntArray, list[IntArray]]:
    """The classes, and the inputs of each in random order."""
    known = checked_labels(labels, None)
    classes = np.unique(known)
    if classes.size < 2:
        raise InvalidInputError(f"expected labels of at least two classes, got {classes.size}")
    rng = np.random.Generator(np.random.Philox(checked_count(seed, "seed")))
    return classes, [rng.permutation(np.flatnonzero(known == label)) for label in classes]


def checked_labels(labels: Any, inputs: int | None) -> IntArray:
    """Class numbers from 0, one per input."""
    known = label_array(labels, inputs)
    if known.size and known.min() < 0:
        raise InvalidInputError(f"expected labels from 0, got {int((known < 0).sum())} below")
    return known


def label_array(labels: Any, inputs: int | None) -> IntArray:
    """Labels as integers, one per input, whatever their values; truth values are 0 and 1."""
    if labels is None:
        raise InvalidInputError("expected a label for every input, got none")
    known = _as_array(labels)
    if known.ndim != 1 or known.dtype.kind not in "biu" or (inputs is not None and known.size != inputs):
        count = "" if inputs is None else f"{inputs} "
        raise InvalidInputError(f"expected {count}integer labels, got {known.dtype} of shape {known.shape}")
    return known.astype(np.int64)


def _as_array(given: Any) -> NDArray[Any]:
    try:
        return np.asarray(given)
    except (ValueError, TypeError):  # such as rows of unequal length
        return np.zeros((0, 0), dtype=object)


def _checked_mask(mask: Any, name: str) -> BoolArray:
    given = _as_array(mask.detach().cpu() if hasattr(mask, "detach") else mask)
    if (given.dtype != bool and given.size) or given.ndim != 1:
        several = f"; choose one of its columns: {name}[:, 0]" if given.dtype == bool and given.ndim == 2 else ""
        raise InvalidInputError(
            f"expected {name} to be a mask of truth values, got {given.dtype} of shape {given.shape}{several}"
        )
    return given.astype(bool)


def _checked_numbers(numbers: Any, name: str) -> IntArray:
    given = _as_array(numbers)
    numbers_fit = not given.size or (given.dtype.kind in "iu" and 0 <= int(given.min()) <= int(given.max()) < 2**63)
    if given.ndim != 1 or not numbers_fit:
        raise InvalidInputError(f"expected {name} to be a list of input numbers, got {given.dtype} {given.shape}")
    return read_only(given.astype(np.int64))
