"""A table that was read as a data frame, with labels: models are asked with frames like the one that was read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import IntArray, checked_kind, checked_rows
from flipproof.datasets.kinds.labels import checked_labels, checked_names
from flipproof.errors import InvalidInputError, one_line
from flipproof.noise.spaces.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class FrameDataset:
    """Rows of a data frame and their labels.

    Attributes:
        name: the name of the dataset.
        rows: all rows, as codes with a book of what they stand for.
        labels: one per row, from 0.
        class_names: one name per class; by default the numbers.
        label_column: the name of the column that had the labels.
        separator: what stood between the cells of its file, or None.
    """

    name: str
    rows: Table = field(repr=False)
    labels: IntArray = field(repr=False)
    class_names: tuple[str, ...] = ()
    label_column: str = "label"
    separator: str | None = None

    def __post_init__(self) -> None:
        if checked_kind(self.rows, Table, "rows").book is None:
            raise InvalidInputError("expected the table of a data frame, got one of numbers")
        labels = checked_labels(self.labels, len(self), "row")
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "label_column", one_line(checked_kind(self.label_column, str, "label_column")))
        object.__setattr__(self, "class_names", checked_names(self.class_names, labels))

    def __len__(self) -> int:
        return len(self.rows.values)

    @property
    def values(self) -> NDArray[Any]:
        """The codes [rows, columns]."""
        return self.rows.values

    @property
    def features(self) -> int:
        """The number of columns."""
        return len(self.rows.categories)

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.class_names)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(map(one_line, self.rows.column_names or ()))

    @property
    def value_names(self) -> tuple[tuple[str, ...], ...]:
        """The names of the categories of every column."""
        return tuple(tuple(map(one_line, names)) for names in self.rows.value_names or ())

    @property
    def class_counts(self) -> dict[str, int]:
        """How many rows each class has."""
        return dict(zip(self.class_names, np.bincount(self.labels, minlength=self.classes).tolist(), strict=True))

    def table(self, which: Iterable[int] | None = None) -> Table:
        """All rows, or some of them, as `vote` takes them."""
        if which is None or self.rows.book is None:
            return self.rows
        rows = self.rows.values[checked_rows(which, len(self), "which")]
        return Table(rows, self.rows.categories, self.rows.columns, replace(self.rows.book, index=None))
