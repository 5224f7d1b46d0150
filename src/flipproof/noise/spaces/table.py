"""Tables of categories, one input per row: each column flips within its categories and belongs to a named part."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.short_repr import amount, short_repr
from flipproof.base.values import (
    ADDED_LATER,
    as_array,
    as_integers,
    checked_items,
    checked_texts,
    first_place,
    read_only,
)
from flipproof.errors import InvalidInputError
from flipproof.noise.sampling.samplers import Stream
from flipproof.noise.spaces.frame_book import FrameBook, FrameOptions, read_frame, row_names
from flipproof.noise.spaces.frame_libraries import library_of
from flipproof.noise.spaces.frame_words import frame_words, left_alone
from flipproof.noise.spaces.rows import DenseSampler, dense_sampler
from flipproof.noise.spaces.space import PartCounts, check_categories, noise_of_parts, value_counts
from flipproof.noise.spaces.words import part_words, table_words
from flipproof.theory.law import FlipNoise, JointNoise, Law, Noise
from flipproof.theory.radii import parts_of
from flipproof.theory.scope import Scope


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table of categories, one input per row; column j has the values 0, 1, ..., categories[j] - 1.

    Columns belong to named parts. Each part has its own noise and radii, since the number of categories determines how
    an entry flips. By default the columns with K categories form the part "kK"; `columns` may name the part of
    each column instead, and "" for a column that belongs to no part and is held fixed. `noise` makes a matching noise;
    `vote` makes the same of a `FlipNoise`. `from_pandas` and `from_polars` read data frames.

    Example:
        >>> table = Table([[0, 2, 1], [1, 0, 1]], categories=[2, 3, 2])
        >>> table.noise(p_plus=0.1, p_minus=0.3).parts["k3"]
        FlipNoise(p_plus=0.1, p_minus=0.3, categories=3)
    """

    values: NDArray[Any]
    categories: Sequence[int]
    columns: Sequence[str] | None = None
    book: FrameBook | None = field(default=None, repr=False, metadata={ADDED_LATER: True})
    """What the codes stand for, if the table was a data frame."""

    def __post_init__(self) -> None:
        values = as_array(self.values, "values")
        if values.ndim != 2:
            raise InvalidInputError(f"expected a table of shape [inputs, columns], got shape {values.shape}")
        values = as_integers(values, "values", axis="column")
        if not isinstance(self.categories, Sequence | np.ndarray):
            raise InvalidInputError(f"expected categories to be a list, one number per column, got {self.categories!r}")
        given = checked_items(self.categories, "categories", "numbers, one per column")
        columns = None if self.columns is None else checked_texts(self.columns, "columns")
        held = [not part for part in columns or ()]
        categories = tuple(_checked_count(count, j, j < len(held) and held[j]) for j, count in enumerate(given))
        columns = tuple(f"k{count}" for count in categories) if columns is None else columns
        for name, given in (("categories", categories), ("columns", columns)):
            if len(given) != values.shape[1]:
                raise InvalidInputError(f"expected {name} for {values.shape[1]} columns, got {len(given)}")
        beyond = first_place(values >= np.array(categories, dtype=np.int64))
        if beyond is not None:
            check_categories(values[:, beyond[1]], categories[beyond[1]], f"column {beyond[1]}", owner="it")
        object.__setattr__(self, "values", read_only(values))
        object.__setattr__(self, "categories", categories)
        object.__setattr__(self, "columns", columns)
        self._categories_of_parts()

    def __repr__(self) -> str:
        return short_repr(
            self,
            amount(len(self.values), "row"),
            amount(len(self.categories), "column"),
            f"parts {', '.join(self.parts)}",
        )

    @classmethod
    def from_pandas(
        cls,
        frame: Any,
        *,
        fixed: Sequence[Any] | None = None,
        bins: Mapping[Any, Any] | None = None,
        categories: Mapping[Any, Sequence[Any]] | None = None,
        zeros: Mapping[Any, Any] | None = None,
        groups: Mapping[str, Sequence[Any]] | None = None,
        like: Any = None,
    ) -> Table:
        """The table of a data frame. A model is asked with frames like this one: same columns, types and values.

        Texts, categories, truth values and integers with few values become categories; a missing value is one of them.
        Other columns must be declared as `fixed` or with `bins`, or be left out. A column with a single value is fixed.

        In a column with bins every cell shows the representative of its bin, whether noise has flipped it or not: the
        median of the column's values in the bin, rounded down to one that occurs. So a certified prediction is the one
        for the row with representatives. The first and the last bin have no end, and a bin without values belongs to
        the one below.

        Only values that are known are covered by certificates: those that occur in the column, that its type lists, or
        that are declared. Category 0, the zero of `FlipNoise`, is 0 or False in columns of numbers and truth values,
        else the most frequent value.

        Args:
            frame: a frame of pandas.
            fixed: columns that get no noise: certificates hold only while an attacker leaves them alone.
            bins: by numeric column: how many bins with equally many values, or the ascending edges between them.
            categories: by column: values that may occur, beyond those that do.
            zeros: by column: the value that becomes category 0.
            groups: names of groups of columns, each with noise and radii of its own.
            like: a table or a frame that the model was trained on. Its columns, values and bins are taken, and a frame
                to certify may have no others; `categories` can add some.

        Example:
            >>> import pandas as pd
            >>> frame = pd.DataFrame({"job": ["cook", "smith", None, "cook"], "age": [31.5, 40.0, 22.25, 58.0]})
            >>> table = Table.from_pandas(frame, bins={"age": 2})
            >>> table.values.tolist(), table.parts
            ([[0, 0], [1, 1], [2, 0], [0, 1]], ('k3', 'k2'))
        """
        options = FrameOptions.of(fixed=fixed, bins=bins, categories=categories, zeros=zeros, groups=groups)
        return cls._of_frame(frame, "pandas", options, like)

    @classmethod
    def from_polars(
        cls,
        frame: Any,
        *,
        fixed: Sequence[str] | None = None,
        bins: Mapping[str, Any] | None = None,
        categories: Mapping[str, Sequence[Any]] | None = None,
        zeros: Mapping[str, Any] | None = None,
        groups: Mapping[str, Sequence[str]] | None = None,
        like: Any = None,
    ) -> Table:
        """The table of a frame of polars; the arguments are those of `from_pandas`.

        Example:
            >>> import polars as pl
            >>> Table.from_polars(pl.DataFrame({"job": ["cook", None], "on": [True, False]})).values.tolist()
            [[0, 1], [1, 0]]
        """
        options = FrameOptions.of(fixed=fixed, bins=bins, categories=categories, zeros=zeros, groups=groups)
        return cls._of_frame(frame, "polars", options, like)

    @classmethod
    def of_frame(cls, frame: Any) -> Table | None:
        """The table of a frame of any library, of which nothing is declared; None if it is no frame."""
        frames = library_of(frame)
        return None if frames is None else cls._of_frame(frame, frames.name, FrameOptions(), None)

    @classmethod
    def _of_frame(cls, frame: Any, library: str, options: FrameOptions, like: Any) -> Table:
        frames = library_of(frame)
        if frames is None or frames.name != library:
            raise InvalidInputError(
                f"expected a data frame of {library}, got {type(frame).__module__} {type(frame).__name__}"
            )
        if isinstance(like, Table) and like.book is None:
            raise InvalidInputError("expected a table that was made of a data frame as like=, got one of numbers")
        codes, book = read_frame(frame, options, like.book if isinstance(like, Table) else like)
        return cls(codes, book.sizes, book.parts, book)

    @property
    def column_names(self) -> tuple[str, ...] | None:
        """The names of the columns, if the table was a data frame."""
        return None if self.book is None else tuple(column.name for column in self.book.columns)

    @property
    def value_names(self) -> tuple[tuple[str, ...], ...] | None:
        """The names of the categories of each column, if the table was a data frame."""
        return None if self.book is None else self.book.value_names

    def are_names(self, names: Sequence[Sequence[str]]) -> bool:
        """Whether there is a name for every category; of columns that are held fixed some may lack."""
        return len(names) == len(self.categories) and all(
            len(given) == count or (not part and len(given) < count)
            for given, count, part in zip(names, self.categories, self._column_parts, strict=True)
        )

    @property
    def input_names(self) -> tuple[str, ...] | None:
        """The names of the rows, if the table was a data frame whose rows are named."""
        return None if self.book is None else row_names(self.book.index)

    @property
    def _column_parts(self) -> tuple[str, ...]:
        return tuple(self.columns or ())

    def _categories_of_parts(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for part, count in zip(self._column_parts, self.categories, strict=True):
            if part and found.setdefault(part, count) != count:
                raise InvalidInputError(
                    f"expected the columns of part {part!r} to have equal categories, got {found[part]} and {count}"
                )
        return found

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts, in the order of their first columns."""
        return tuple(self._categories_of_parts())

    def noise(self, p_plus: float, p_minus: float) -> Noise:
        """A noise with equal probabilities in all columns, each with its own number of categories."""
        parts = {name: FlipNoise(p_plus, p_minus, count) for name, count in self._categories_of_parts().items()}
        return next(iter(parts.values())) if len(parts) == 1 else JointNoise(**parts)

    def law_for(self, law: Law) -> Law:
        """The law with the numbers of categories of the parts, wherever it has the default of two.

        A `FlipNoise` becomes the same noise on every part. In a `JointNoise` the name of a group of columns stands for
        all parts that the group was divided into.
        """
        counts = self._categories_of_parts()
        if isinstance(law, FlipNoise):
            return self.noise(law.p_plus, law.p_minus) if law.categories == 2 and [*counts.values()] != [2] else law
        if not isinstance(law, JointNoise):
            return law
        found: dict[str, FlipNoise] = {}
        for name, noise in law.parts.items():
            for part in self._parts_of_group(name):
                count = counts.get(part, noise.categories)
                found[part] = FlipNoise(noise.p_plus, noise.p_minus, count) if noise.categories == 2 else noise
        return JointNoise(**found)

    def _parts_of_group(self, name: str) -> tuple[str, ...]:
        """The parts that a group of columns was divided into; the name itself if it is no such group."""
        if self.book is None or name in self.parts:
            return (name,)
        parts = dict.fromkeys(
            part for part, group in zip(self.book.parts, self.book.groups, strict=True) if group == name
        )
        if not parts and name in map(str, self.book.names):
            raise InvalidInputError(
                f"expected noise on parts {', '.join(self.parts)}, got noise on {name}: make the table with "
                f"groups={{{name!r}: [{name!r}]}} to give a column noise of its own"
            )
        return tuple(parts) or (name,)

    def sampler(self, noise: Noise, seed: int) -> DenseSampler:
        """A sampler that may flip every entry of the columns whose part has a noise."""
        noises = noise_of_parts(noise, self.parts)
        for part, count in self._categories_of_parts().items():
            if part in noises and noises[part].categories != count:
                raise InvalidInputError(
                    f"expected noise with {count} categories for {part!r}, got {noises[part].categories}"
                )
        index = {part: number for number, part in enumerate(noises)}
        law_of = np.array([[index.get(part, -1) for part in self._column_parts]], dtype=np.int16)
        form = None if self.book is None else self.book.form()
        return dense_sampler(self.values, law_of, list(noises.values()), Stream(seed), form)

    def scope(self, noise: Noise) -> Scope:
        """What noise can change: the columns whose part has a noise; all other columns must stay unchanged."""
        noises, of_column = noise_of_parts(noise, self.parts), np.array(self._column_parts)
        nonzeros = np.stack([np.count_nonzero(self.values[:, of_column == part], axis=1) for part in noises], axis=1)
        columns = np.array([np.count_nonzero(of_column == part) for part in noises])
        return Scope(columns - nonzeros, nonzeros, self._left_alone(noises))

    def _left_alone(self, noisy: Collection[str]) -> tuple[str, ...]:
        """What certificates do not cover, as noun phrases: columns without noise, and values that are not known."""
        if self.book is not None:
            return left_alone(self.book, noisy)
        parts = {part: count for part, count in self._categories_of_parts().items() if part not in noisy}
        held = [str(place) for place, part in enumerate(self._column_parts) if not part]
        numbers = (f"the column{'s' if len(held) > 1 else ''} no. {', '.join(held)}",) if held else ()
        return tuple(f"the {part_words(part, count, 'columns')}" for part, count in parts.items()) + numbers

    def words(self, noise: Noise, entries: str | None) -> dict[str, Any]:
        """The words for changes, as fields of a report's subject; `entries` is the user's word for entries."""
        parts = tuple(parts_of(noise))
        if self.book is not None:
            return frame_words(self.book, [name for name, _ in parts], entries or "cells")
        return table_words(parts, entries or "cells")

    def counts(self) -> PartCounts:
        """The number of cells of each part, and the number of cells that are not category 0."""
        of_column = np.array(self._column_parts)
        return {part: value_counts(self.values[:, of_column == part]) for part in self.parts}


def _checked_count(count: Any, column: int, held: bool) -> int:
    if held and count == 1:
        return 1
    if isinstance(count, int | np.integer) and count < 2:
        raise InvalidInputError(
            f"expected at least 2 categories in every column, got {count} in column {column}; "
            "leave out a column that can't vary"
        )
    try:
        return FlipNoise(0.0, 0.0, count).categories
    except InvalidInputError as error:
        raise InvalidInputError(f"{error} in column {column}") from error
