"""Tables of categories, one input per row: each column flips within its categories and belongs to a named part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import as_array, as_integers, checked_items, checked_texts, first_place, read_only
from flipproof.errors import InvalidInputError
from flipproof.noise.sampling.samplers import Stream
from flipproof.noise.spaces.rows import DenseSampler, dense_sampler
from flipproof.noise.spaces.space import PartCounts, check_categories, noise_of_parts, value_counts
from flipproof.noise.spaces.words import part_words, table_words
from flipproof.theory.law import FlipNoise, JointNoise, Noise
from flipproof.theory.radii import parts_of
from flipproof.theory.scope import Scope


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table of categories, one input per row; column j has the values 0, 1, ..., categories[j] - 1.

    Columns belong to named parts. Each part has its own noise and radii, since the number of categories determines how
    an entry flips. By default the columns with K categories form the part "kK"; `columns` may name the part of
    each column instead. `noise` makes a matching noise.

    Example:
        >>> table = Table([[0, 2, 1], [1, 0, 1]], categories=[2, 3, 2])
        >>> table.noise(p_plus=0.1, p_minus=0.3).parts["k3"]
        FlipNoise(p_plus=0.1, p_minus=0.3, categories=3)
    """

    values: NDArray[Any]
    categories: Sequence[int]
    columns: Sequence[str] | None = None

    def __post_init__(self) -> None:
        values = as_array(self.values, "values")
        if values.ndim != 2:
            raise InvalidInputError(f"expected a table of shape [inputs, columns], got shape {values.shape}")
        values = as_integers(values, "values", axis="column")
        if not isinstance(self.categories, Sequence | np.ndarray):
            raise InvalidInputError(f"expected categories to be a list, one number per column, got {self.categories!r}")
        given = checked_items(self.categories, "categories", "numbers, one per column")
        categories = tuple(_checked_count(count, j) for j, count in enumerate(given))
        columns = (
            tuple(f"k{count}" for count in categories)
            if self.columns is None
            else checked_texts(self.columns, "columns")
        )
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

    @property
    def _column_parts(self) -> tuple[str, ...]:
        return tuple(self.columns or ())

    def _categories_of_parts(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for part, count in zip(self._column_parts, self.categories, strict=True):
            if found.setdefault(part, count) != count:
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
        return dense_sampler(self.values, law_of, list(noises.values()), Stream(seed))

    def scope(self, noise: Noise) -> Scope:
        """What noise can change: the columns whose part has a noise; all other columns must stay unchanged."""
        noises, of_column = noise_of_parts(noise, self.parts), np.array(self._column_parts)
        nonzeros = np.stack([np.count_nonzero(self.values[:, of_column == part], axis=1) for part in noises], axis=1)
        columns = np.array([np.count_nonzero(of_column == part) for part in noises])
        left_alone = {part: count for part, count in self._categories_of_parts().items() if part not in noises}
        fixed = tuple(f"the {part_words(part, count, 'columns')}" for part, count in left_alone.items())
        return Scope(columns - nonzeros, nonzeros, fixed)

    def words(self, noise: Noise, entries: str | None) -> dict[str, Any]:
        """The words for changes, as fields of a report's subject; `entries` is the user's word for entries."""
        return table_words(parts_of(noise), entries or "cells")

    def counts(self) -> PartCounts:
        """The number of cells of each part, and the number of cells that are not category 0."""
        of_column = np.array(self._column_parts)
        return {part: value_counts(self.values[:, of_column == part]) for part in self.parts}


def _checked_count(count: Any, column: int) -> int:
    if isinstance(count, int | np.integer) and count < 2:
        raise InvalidInputError(
            f"expected at least 2 categories in every column, got {count} in column {column}; "
            "leave out a column that can't vary"
        )
    try:
        return FlipNoise(0.0, 0.0, count).categories
    except InvalidInputError as error:
        raise InvalidInputError(f"{error} in column {column}") from error
