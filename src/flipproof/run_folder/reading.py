"""How data are read where they can be read in several ways: a part of the task of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import Any

from flipproof.base.values import checked_count
from flipproof.errors import InvalidInputError
from flipproof.files.strict_json import is_plain

Bins = int | tuple[float, ...]
"""How many bins with equally many values, or the ascending edges between them."""
_ALWAYS = ("threshold", "one_hot")
"""Fields that every `run.json` has; the others are younger, and left out at their defaults."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How data are read.

    Attributes:
        threshold: of images with noise on pixels: those above become ones.
        one_hot: of graphs: the kind of a node is a row of bits, of which two change when it changes, not one
            entry with several values.
        label: of tables, as all that follow: the column of labels; by default the one called label.
        drop: columns that are left out.
        fixed: columns that get no noise.
        bins: by numeric column: into how many bins it is cut, or the edges between them.
        header: whether the first line has the names of the columns; by default it does, if it does not look like data.
        separator: what stands between cells; by default whatever divides the first lines evenly.
    """

    threshold: int | None = None
    one_hot: bool = False
    label: str | None = None
    drop: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    bins: Mapping[str, Bins] = field(default_factory=dict, hash=False)
    header: bool | None = None
    separator: str | None = None

    def __post_init__(self) -> None:
        if self.threshold is not None:
            checked_count(self.threshold, "threshold")
        if not isinstance(self.one_hot, bool):
            raise InvalidInputError(f"expected one_hot to be True or False, got {self.one_hot!r}")
        if self.header not in (None, True, False):
            raise InvalidInputError(f"expected header to be True, False or None, got {self.header!r}")
        if self.separator is not None and (not isinstance(self.separator, str) or len(self.separator) != 1):
            raise InvalidInputError(f"expected one character between cells, got {self.separator!r}")
        if self.separator in ('"', "\n", "\r", "\0"):
            raise InvalidInputError(f"expected a character that can stand between cells, got {self.separator!r}")
        for name in ("drop", "fixed"):
            object.__setattr__(self, name, _checked_names(getattr(self, name), name))
        if not isinstance(self.bins, Mapping):
            raise InvalidInputError(f"expected bins by column, got {self.bins!r}")
        _checked_names([*self.bins, *([] if self.label is None else [self.label])], "columns")
        object.__setattr__(self, "bins", {name: _checked_bins(name, given) for name, given in self.bins.items()})

    @property
    def given(self) -> tuple[str, ...]:
        """The fields that are not at their defaults."""
        plain = Reading()
        return tuple(each.name for each in fields(self) if getattr(self, each.name) != getattr(plain, each.name))

    def to_record(self) -> dict[str, Any]:
        """JSON values.

        Example:
            >>> Reading(label="fraud", bins={"amount": 10}).to_record()
            {'threshold': None, 'one_hot': False, 'label': 'fraud', 'bins': {'amount': 10}}
        """
        record: dict[str, Any] = {name: getattr(self, name) for name in dict.fromkeys((*_ALWAYS, *self.given))}
        for name in {"drop", "fixed"} & record.keys():
            record[name] = list(record[name])
        if "bins" in record:
            record["bins"] = {
                name: given if isinstance(given, int) else list(given) for name, given in self.bins.items()
            }
        return record


def _checked_names(given: Any, what: str) -> tuple[str, ...]:
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) and is_plain(name) for name in given):
        raise InvalidInputError(f"expected {what} to be names of columns, got {given!r}")
    return tuple(given)


def _checked_bins(name: str, given: Any) -> Bins:
    if isinstance(given, int) and not isinstance(given, bool):
        if given < 2:
            raise InvalidInputError(f"expected at least 2 bins for column {name!r}, got {given}")
        return given
    edges = tuple(given) if isinstance(given, list | tuple) else ()
    numbers = [edge for edge in edges if isinstance(edge, int | float) and not isinstance(edge, bool)]
    ascending = all(low < high for low, high in pairwise(numbers))
    if not edges or len(numbers) < len(edges) or not all(map(math.isfinite, numbers)) or not ascending:
        raise InvalidInputError(f"expected a number of bins or ascending edges for column {name!r}, got {given!r}")
    return tuple(map(float, numbers))
