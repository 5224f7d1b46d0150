"""Tables of categories with labels, where columns may have different numbers of categories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.short_repr import amount, short_repr
from flipproof.base.values import IntArray, checked_count, checked_items, checked_rows, first_place, read_only
from flipproof.datasets.kinds.labels import checked_labels, checked_names, plain_array, plain_names
from flipproof.errors import InvalidInputError
from flipproof.noise.spaces.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class TableDataset:
    """Rows of categories and their labels.

    Attributes:
        name: the name of the dataset.
        values: numbers [rows, columns]; column j has the categories 0, 1, ..., categories[j] - 1.
        categories: the number of categories of each column.
        labels: one per row, from 0.
        column_names: one name per column; by default their numbers.
        class_names: one name per class; by default the numbers.
        value_names: one name per category for every column; by default the numbers of the categories.

    Example:
        >>> data = TableDataset("two", [[0, 2], [1, 0]], [2, 3], [0, 1], ("fever", "age"))
        >>> data.features, data.table([1]).values
        (2, array([[1, 0]], dtype=uint8))
    """

    name: str
    values: NDArray[Any] = field(repr=False)
    categories: tuple[int, ...]
    labels: IntArray
    column_names: tuple[str, ...] = ()
    class_names: tuple[str, ...] = ()
    value_names: tuple[tuple[str, ...], ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        values = plain_array(self.values)
        if values.ndim != 2 or values.dtype.kind not in "biuf":
            raise InvalidInputError(
                f"expected categories [rows, columns] as numbers, got {values.dtype} of shape {list(values.shape)}"
            )
        names = plain_names(self.column_names, "column_names") or tuple(map(str, range(values.shape[1])))
        given = checked_items(self.categories, "categories", "numbers, one per column")
        categories = tuple(checked_count(count, "categories") for count in given)
        for what, given in (("number of categories", categories), ("name", names)):
            if len(given) != values.shape[1]:
                raise InvalidInputError(f"expected a {what} for each of {values.shape[1]} columns, got {len(given)}")
        labels = checked_labels(self.labels, len(values), "row")
        object.__setattr__(self, "values", _checked_values(values, categories, names))
        object.__setattr__(self, "categories", categories)
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "column_names", names)
        object.__setattr__(self, "class_names", checked_names(self.class_names, labels))
        object.__setattr__(self, "value_names", _checked_value_names(self.value_names, categories, names))

    def __repr__(self) -> str:
        return short_repr(
            self,
            repr(self.name),
            amount(len(self.labels), "row"),
            amount(len(self.categories), "column"),
            amount(self.classes, "class"),
        )

    def __len__(self) -> int:
        return len(self.values)

    @property
    def features(self) -> int:
        """The number of columns."""
        return len(self.categories)

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.class_names)

    def table(self, which: Iterable[int] | None = None) -> Table:
        """All rows, or some of them, as `vote` takes them."""
        rows = self.values if which is None else self.values[checked_rows(which, len(self), "which")]
        return Table(rows, self.categories)


def _checked_value_names(
    given: Sequence[Sequence[str]], categories: Sequence[int], names: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    """Returns one name per category for every column, or no names at all."""
    columns = checked_items(given, "value_names", "lists of names")
    value_names = tuple(plain_names(column, "each of value_names") for column in columns)
    if value_names and len(value_names) != len(categories):
        raise InvalidInputError(
            f"expected names of the categories of {len(categories)} columns, got those of {len(value_names)}"
        )
    for column, (found, count) in enumerate(zip(value_names, categories, strict=False)):
        if len(found) != count:
            raise InvalidInputError(
                f"expected a name for each of {count} categories in column {column} ({names[column]}), got {len(found)}"
            )
    return value_names


def _checked_values(values: NDArray[Any], categories: Sequence[int], names: Sequence[str]) -> NDArray[Any]:
    """Returns the values as small integers; an error names the first value outside its column's categories."""
    single = next((j for j, count in enumerate(categories) if count < 2), None)
    if single is not None:
        raise InvalidInputError(
            f"expected at least 2 categories in every column, got {categories[single]} in column {single} "
            f"({names[single]}); leave it out"
        )
    wrong = first_place(~((values >= 0) & (values < np.array(categories)) & (values == np.floor(values))))
    if wrong is not None:
        row, column = wrong
        raise InvalidInputError(
            f"expected categories 0 to {categories[column] - 1} in column {column} ({names[column]}), "
            f"got {values[row, column]} in row {row}"
        )
    return read_only(values.astype(np.min_scalar_type(max(categories, default=1) - 1)))
