"""Columns of data frames as codes: categories, bins of numbers, or values that are held fixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from flipproof.base.values import BoolArray, FloatArray, IntArray
from flipproof.errors import InvalidInputError
from flipproof.noise.spaces.frames import (
    Frames,
    Holds,
    extended_values,
    labels_unlike,
    numbered_values,
    without_missing,
)

FEW = 32
"""Integers with at most this many different values are categories; more of them must be declared."""


class CodedColumn(Protocol):
    """What the codes of one column stand for: code i looks like value i."""

    @property
    def name(self) -> str:
        """The name of the column, as a text."""

    @property
    def values(self) -> Any:
        """The values, as a column of the frame's library."""

    @property
    def noisy(self) -> bool:
        """Whether noise may touch the column."""

    @property
    def complete(self) -> bool:
        """Whether all values occur in the table: others are not covered, unless they were declared."""

    @property
    def labels(self) -> tuple[str, ...]:
        """A text for each code; none if the column is held fixed."""

    def coded(self, frames: Frames, column: Any) -> tuple[CodedColumn, IntArray]:
        """The codes of another frame's column, and what they stand for."""


@dataclass(frozen=True, slots=True, eq=False)
class HeldColumn:
    """A column that noise leaves alone. Its codes number its different values, by size if they are numbers."""

    name: str
    values: Any
    labels: tuple[str, ...] = ()
    noisy: bool = False
    complete: bool = True

    @classmethod
    def of(cls, frames: Frames, column: Any, name: str) -> tuple[HeldColumn, IntArray]:
        """All values of a column."""
        codes, first = numbered_values(frames, column, name)
        if frames.holds(column).is_numeric:
            order = np.argsort(frames.numbers(frames.take(column, first)), kind="stable")
            codes, first = np.argsort(order)[codes], first[order]
        values = frames.take(column, first)
        if frames.holds(column) is Holds.OTHERS and len(_types(frames, column, values) - {type(None)}) > 1:
            raise InvalidInputError(
                f"expected values of one type in column {name!r}, got several: convert them, or leave it out with "
                f"{frames.leave_out.format(repr(name))}"
            )
        return cls(name, values), codes

    def coded(self, frames: Frames, column: Any) -> tuple[HeldColumn, IntArray]:
        """A fixed column is coded anew: its values need not be known, but they get the type that a model knows."""
        held, codes = HeldColumn.of(frames, column, self.name)
        if held.values.dtype == self.values.dtype:
            return held, codes
        none = frames.take(self.values, np.zeros(0, dtype=np.int64))
        return replace(held, values=extended_values(frames, none, frames.plain(held.values), self.name)), codes


@dataclass(frozen=True, slots=True, eq=False)
class CategoryColumn:
    """A column whose cells flip among its categories; category 0 is the one that noise treats as zero.

    Attributes:
        plain: the categories as Python has them; None is a missing value.
        complete: whether all categories occur in the table.
    """

    name: str
    values: Any
    plain: tuple[Any, ...]
    complete: bool = True
    noisy: bool = True

    @property
    def labels(self) -> tuple[str, ...]:
        """The categories as texts."""
        return labels_unlike(self.plain)

    def coded(self, frames: Frames, column: Any) -> tuple[CategoryColumn, IntArray]:
        """Codes of values that must be among the categories."""
        codes, first = numbered_values(frames, column, self.name)
        known = {value: code for code, value in enumerate(self.plain)}
        found = frames.plain(frames.take(column, first))
        unknown = [value for value in found if value not in known]
        if unknown:
            rows = int(np.isin(codes, [found.index(value) for value in unknown]).sum())
            raise InvalidInputError(
                f"expected values of column {self.name!r} that are known from like=, got {unknown[:5]!r} in {rows} "
                f"rows: name them in categories={{{self.name!r}: {unknown[:5]!r}}}, or leave these rows out"
            )
        return replace(self, complete=False), np.array([known[value] for value in found], dtype=np.int64)[codes]

    def with_categories(self, frames: Frames, more: Sequence[Any]) -> CategoryColumn:
        """The column with further categories, after those that it has."""
        new = [value for value in more if value not in self.plain]
        values = extended_values(frames, self.values, new, self.name)
        return replace(self, values=values, plain=(*self.plain, *new), complete=False)


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


def _types(frames: Frames, column: Any, values: Any) -> set[type]:
    """The types of the values of a column. Objects of several types may be equal, as 1 and True, and look alike."""
    return {type(value) for value in frames.plain(column if str(column.dtype) == "object" else values)}


def bins_of(numbers: FloatArray, cuts: FloatArray) -> IntArray:
    """The bin of every number; missing numbers are in a bin of their own, after all others.

    Example:
        >>> bins_of(np.array([1.0, 2.0, np.nan, 7.5]), np.array([2.0, 5.0])).tolist()
        [0, 1, 3, 2]
    """
    found = np.searchsorted(cuts, numbers, side="right")
    return np.asarray(np.where(np.isnan(numbers), cuts.size + 1, found))


@dataclass(frozen=True, slots=True)
class Declared:
    """What a user says about one column.

    Attributes:
        fixed: whether it gets no noise.
        bins: how many bins, or where they are cut.
        categories: values that may occur.
        zero: the value that becomes category 0, in a tuple; empty if the column's own choice is good.
    """

    fixed: bool = False
    bins: Any = None
    categories: tuple[Any, ...] | None = None
    zero: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Undeclared:
    """Why a column cannot be used unless something is said about it, and whether bins would do."""

    name: str
    reason: str
    numeric: bool


def coded_column(
    frames: Frames, column: Any, name: str, declared: Declared
) -> tuple[CodedColumn, IntArray] | Undeclared:
    """What a column's codes stand for and the codes themselves, or why something has to be declared."""
    holds = frames.holds(column)
    codes, first = numbered_values(frames, column, name)
    listed = frames.listed(column) or []
    known = {*map(without_missing, listed), *(declared.categories or ())}
    constant = first.size < 2 and len(known | set(frames.plain(frames.take(column, first)))) < 2
    if declared.fixed or constant:
        return HeldColumn.of(frames, column, name)
    if declared.bins is not None:
        return _binned(frames, column, name, declared, holds)
    if declared.categories is None and (reason := _why_not(frames, column, holds, codes, first)):
        return Undeclared(name, reason, holds.is_numeric)
    return _categories(frames, column, name, declared, holds, codes, first)


def _why_not(frames: Frames, column: Any, holds: Holds, codes: IntArray, first: IntArray) -> str | None:
    """Why the values of a column are no categories, or None."""
    several = f"{frames.dtype(column)}, {first.size:,} different values"
    if holds is Holds.OTHERS:
        return several
    if holds.is_numeric:
        numbers = frames.numbers(frames.take(column, first))
        integers = np.isnan(numbers) | np.isfinite(numbers) & (numbers == np.floor(numbers))
        return several if first.size > FEW or not integers.all() else None
    return f"{several}, one per row" if first.size > FEW and first.size == codes.size else None


def _categories(
    frames: Frames, column: Any, name: str, declared: Declared, holds: Holds, codes: IntArray, first: IntArray
) -> tuple[CategoryColumn, IntArray]:
    """Categories in order, the one that plays the zero first."""
    found = frames.plain(frames.take(column, first))
    further = [value for value in (*(frames.listed(column) or ()), *(declared.categories or ())) if value not in found]
    further = list(dict.fromkeys(further))
    values = extended_values(frames, frames.take(column, first), further, name)
    plain = [*found, *further]
    order = _in_order(plain, frames.listed(column))
    counts = np.zeros(len(plain), dtype=np.int64)
    counts[: first.size] = np.bincount(codes, minlength=first.size)
    zero = _zero_of(name, plain, order, counts, holds, declared)
    order = [zero, *(place for place in order if place != zero)]
    code_of = np.argsort(order)
    made = CategoryColumn(name, frames.take(values, np.array(order)), tuple(plain[i] for i in order), not further)
    return made, code_of[codes]


def _in_order(values: list[Any], listed: list[Any] | None) -> list[int]:
    """The places of the values in order: as the type lists them, or else sorted; a missing value comes last."""
    rank = {value: place for place, value in enumerate(listed or ())}
    there = [place for place, value in enumerate(values) if value is not None]
    if all(values[place] in rank for place in there):
        there.sort(key=lambda place: rank[values[place]])
    else:
        there.sort(key=lambda place: (rank.get(values[place], len(rank)), str(type(values[place])), values[place]))
    return [*there, *(place for place, value in enumerate(values) if value is None)]


def _zero_of(name: str, plain: list[Any], order: list[int], counts: IntArray, holds: Holds, declared: Declared) -> int:
    """The place of the value that plays the zero: the declared one; 0 or False; else the most frequent value."""
    if declared.zero:
        if declared.zero[0] not in plain:
            raise InvalidInputError(f"expected a value of column {name!r} in zeros, got {declared.zero[0]!r}")
        return plain.index(declared.zero[0])
    if holds in (Holds.BOOLEANS, Holds.INTEGERS, Holds.NUMBERS) and 0 in plain:
        return plain.index(0)
    return max(order, key=lambda place: (counts[place], -order.index(place)))


def _binned(frames: Frames, column: Any, name: str, declared: Declared, holds: Holds) -> tuple[BinnedColumn, IntArray]:
    """Bins in order, the one that plays the zero first."""
    if not holds.is_numeric:
        raise InvalidInputError(f"expected numbers in column {name!r} for bins, got {frames.dtype(column)}")
    numbers = frames.numbers(column)
    cuts = _cuts(np.sort(numbers[~np.isnan(numbers)]), declared.bins, name)
    found = bins_of(numbers, cuts)
    counts = np.bincount(found, minlength=cuts.size + 2)
    bins = [number for number in range(cuts.size + 2) if counts[number]]
    zero = max(bins, key=lambda number: (counts[number], -number))
    if declared.zero:
        zero = int(bins_of(np.array([_number(declared.zero[0], name)]), cuts)[0])
        if zero not in bins:
            raise InvalidInputError(f"expected a value of column {name!r} in zeros, got {declared.zero[0]!r}")
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
