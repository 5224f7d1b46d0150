"""Numeric columns of data frames in bins: cells flip among bins, and look like their bin's representative."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from flipproof.base.values import BoolArray, FloatArray, IntArray
from flipproof.errors import InvalidInputError
from flipproof.noise.spaces.frames import Frames, without_missing


@dataclass(frozen=True, slots=True, eq=False)
class BinnedColumn:
    """A numeric column whose cells flip among bins. Every cell looks like the representative of its bin.

    Bin i holds the numbers from cut i - 1 up to below cut i; the first and the last bin have no end, so that every
    number is in some bin.

    Attributes:
        cuts: the numbers where a new bin begins.
        bins: the bin of each code; the number after the last bin stands for missing values.
    """

    name: str
    values: Any
    cuts: FloatArray
    bins: tuple[int, ...]
    complete: bool = True
    noisy: bool = True

    @property
    def labels(self) -> tuple[str, ...]:
        """What the bins hold."""
        cuts = [f"{cut:.6g}" for cut in self.cuts]
        inner = [f"{low} to below {high}" for low, high in pairwise(cuts)]
        every = [f"below {cuts[0]}", *inner, f"{cuts[-1]} or more", "missing"]
        return tuple(every[number] for number in self.bins)

    def coded(self, frames: Frames, column: Any) -> tuple[BinnedColumn, IntArray]:
        """Codes of numbers; missing ones must be known."""
        if not frames.holds(column).is_numeric:
            raise InvalidInputError(f"expected numbers in column {self.name!r}, got {frames.dtype(column)}")
        found = bins_of(frames.numbers(column), self.cuts)
        code_of = np.full(self.cuts.size + 2, -1)
        code_of[list(self.bins)] = np.arange(len(self.bins))
        codes = code_of[found]
        if (codes < 0).any():
            raise InvalidInputError(
                f"expected no missing value in column {self.name!r}, as there is none in like=, got "
                f"{int((codes < 0).sum())}: fill them in, or leave these rows out"
            )
        return replace(self, complete=False), codes


def bins_of(numbers: FloatArray, cuts: FloatArray) -> IntArray:
    """The bin of every number; missing numbers are in a bin of their own, after all others.

    Example:
        >>> bins_of(np.array([1.0, 2.0, np.nan, 7.5]), np.array([2.0, 5.0])).tolist()
        [0, 1, 3, 2]
    """
    found = np.searchsorted(cuts, numbers, side="right")
    return np.asarray(np.where(np.isnan(numbers), cuts.size + 1, found))


def binned_column(
    frames: Frames, column: Any, name: str, bins_or_edges: Any, zero_value: tuple[Any, ...]
) -> tuple[BinnedColumn, IntArray]:
    """Bins in order, the one that plays the zero first, and the codes of the column.

    Args:
        frames: the library of the column.
        column: the numbers.
        name: of the column.
        bins_or_edges: how many bins, or where they are cut.
        zero_value: a number in the bin that becomes code 0, in a tuple; empty for the fullest bin.
    """
    if not frames.holds(column).is_numeric:
        raise InvalidInputError(f"expected numbers in column {name!r} for bins, got {frames.dtype(column)}")
    numbers = frames.numbers(column)
    cuts = _cuts(np.sort(numbers[~np.isnan(numbers)]), bins_or_edges, name)
    found = bins_of(numbers, cuts)
    counts = np.bincount(found, minlength=cuts.size + 2)
    bins = [number for number in range(cuts.size + 2) if counts[number]]
    zero = max(bins, key=lambda number: (counts[number], -number))
    if zero_value:
        zero = int(bins_of(np.array([_number(zero_value[0], name)]), cuts)[0])
        if zero not in bins:
            raise InvalidInputError(f"expected a value of column {name!r} in zeros, got {zero_value[0]!r}")
    bins = [zero, *(number for number in bins if number != zero)]
    code_of = np.zeros(cuts.size + 2, dtype=np.int64)
    code_of[bins] = np.arange(len(bins))
    looks = frames.take(column, np.array([_representative(numbers, found == number) for number in bins]))
    return BinnedColumn(name, looks, cuts, tuple(bins)), code_of[found]


def _number(given: Any, name: str) -> float:
    """A number, or NaN for a missing one."""
    value = without_missing(given)
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInputError(f"expected a number for column {name!r}, got {given!r}")
    return float(value)


def _representative(numbers: FloatArray, inside: BoolArray) -> int:
    """The row of the median of a bin; of two numbers in the middle, the lower one, so that it occurs."""
    rows = np.flatnonzero(inside)
    return int(rows[np.argsort(numbers[rows], kind="stable")[(rows.size - 1) // 2]])


def _cuts(ordered: FloatArray, bins: Any, name: str) -> FloatArray:
    """Where new bins begin, each of which holds some number of the column."""
    if not isinstance(bins, int | np.integer) or isinstance(bins, bool):
        cuts = _checked_edges(bins, name)
    elif bins < 2:
        raise InvalidInputError(f"expected at least 2 bins for column {name!r}, got {bins}")
    else:
        places = -(-np.arange(1, int(bins)) * ordered.size // int(bins))
        cuts = np.unique(ordered[places])
    below = np.searchsorted(ordered, cuts, side="left")
    # A bin without numbers belongs to the one below: of cuts with equally many numbers below, the last one counts.
    used = [
        i for i, count in enumerate(below) if 0 < count < ordered.size and (i + 1 == below.size or below[i + 1] > count)
    ]
    if not used:
        raise InvalidInputError(
            f"expected bins that divide the numbers {ordered[0]:g} to {ordered[-1]:g} of column {name!r}, got {bins!r}"
        )
    return np.asarray(cuts[used], dtype=np.float64)


def _checked_edges(bins: Any, name: str) -> FloatArray:
    try:
        edges = np.asarray(list(bins), dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"expected bins of column {name!r} to be a number of bins or a list of edges, got {bins!r}"
        ) from None
    if edges.ndim != 1 or np.isnan(edges).any() or (np.diff(edges) <= 0).any():
        raise InvalidInputError(f"expected ascending edges for column {name!r}, got {bins!r}")
    return edges
