"""Columns of data frames as codes: categories, bins of numbers (`frame_bins`), or values that are held fixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from flipproof.base.values import IntArray
from flipproof.errors import InvalidInputError
from flipproof.noise.spaces.frame_bins import binned_column
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


def _types(frames: Frames, column: Any, values: Any) -> set[type]:
    """The types of the values of a column. Objects of several types may be equal, as 1 and True, and look alike."""
    return {type(value) for value in frames.plain(column if str(column.dtype) == "object" else values)}


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
        return binned_column(frames, column, name, declared.bins, declared.zero)
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
