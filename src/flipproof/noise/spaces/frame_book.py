"""Data frames as tables of codes, with a code book that leads back to frames like those that a model was trained on."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import checked_items
from flipproof.errors import InvalidInputError
from flipproof.noise.spaces.frame_columns import (
    CategoryColumn,
    CodedColumn,
    Declared,
    Undeclared,
    coded_column,
)
from flipproof.noise.spaces.frame_form import PandasForm, PolarsForm
from flipproof.noise.spaces.frame_libraries import library_of
from flipproof.noise.spaces.frames import Frames, as_codes, labels_unlike, without_missing

_NAMED_AT_ONCE = 5
_MOST_HELD_NAMES = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class FrameBook:
    """What the codes of a table stand for: its columns, and the names of its rows.

    Attributes:
        library: of the frame: "pandas" or "polars".
        names: the names of the columns, as the library has them.
        columns: what the codes of each column stand for.
        groups: the group of each column: its name, or "" for columns that are grouped by their number of categories.
        index: the names of the rows, or None. They are no part of the data: no model sees them.
    """

    library: Frames
    names: Any
    columns: tuple[CodedColumn, ...]
    groups: tuple[str, ...]
    index: Any = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"FrameBook({self.library.name}, {len(self.columns)} columns)"

    @property
    def fingerprint(self) -> str:
        """A hash of everything that a frame is made of, apart from the codes."""
        total = hashlib.sha256()
        for column, group in zip(self.columns, self.groups, strict=True):
            dtype, values = self.library.contents(column.values)
            cuts = getattr(column, "cuts", np.zeros(0)).tolist()
            about = repr((self.library.name, column.name, type(column).__name__, group, dtype, column.labels, cuts))
            for part in (about.encode("utf-8", "surrogatepass"), values):
                total.update(len(part).to_bytes(8, "little"))
                total.update(part)
        return total.hexdigest()

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of codes of each column."""
        return tuple(len(column.values) for column in self.columns)

    @property
    def parts(self) -> tuple[str, ...]:
        """The part of each column: its group, divided by numbers of categories if they differ; "" if it is held."""
        counts: dict[str, set[int]] = {}
        for column, group, size in zip(self.columns, self.groups, self.sizes, strict=True):
            if column.noisy:
                counts.setdefault(group, set()).add(size)
        return tuple(
            ""
            if not column.noisy
            else f"k{size}"
            if not group
            else group
            if len(counts[group]) == 1
            else f"{group}_k{size}"
            for column, group, size in zip(self.columns, self.groups, self.sizes, strict=True)
        )

    @property
    def value_names(self) -> tuple[tuple[str, ...], ...]:
        """A text for each code of every column; of columns that are held fixed, only for the first codes."""
        return tuple(
            column.labels if column.noisy else labels_unlike(self.library.plain(column.values[:_MOST_HELD_NAMES]))
            for column in self.columns
        )

    def form(self) -> PandasForm | PolarsForm:
        """From codes back to frames."""
        looks = tuple(column.values for column in self.columns)
        return PandasForm(looks, self.names) if self.library.name == "pandas" else PolarsForm(looks, tuple(self.names))


class UndeclaredColumnsError(InvalidInputError):
    """Some columns of a frame are no categories, and nothing is said about them. `columns` has them by name."""

    columns: Mapping[Any, Undeclared] = MappingProxyType({})


def _listed(given: Any, name: str, are_values: bool) -> tuple[Any, ...]:
    return checked_items(given, name, "values") if are_values else _checked_names(given, name)


def _checked_names(given: Any, name: str) -> tuple[Any, ...]:
    """Names of columns: whatever can be the key of a dictionary, and no arrays."""
    names = checked_items(given, name, "names of columns")
    for each in names:
        if getattr(each, "ndim", 0) or not isinstance(each, Hashable) or isinstance(each, np.void):
            raise InvalidInputError(
                f"expected {name} to be a list of names of columns, got {type(each).__name__} in it"
            )
    return names


@dataclass(frozen=True, slots=True)
class FrameOptions:
    """What a user says about the columns of a frame; see `Table.from_pandas`."""

    fixed: Sequence[Any] = ()
    bins: Mapping[Any, Any] = field(default_factory=dict)
    categories: Mapping[Any, Sequence[Any]] = field(default_factory=dict)
    zeros: Mapping[Any, Any] = field(default_factory=dict)
    groups: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, **given: Any) -> FrameOptions:
        """Checks the arguments of a user; None stands for nothing."""
        found: dict[str, Any] = {}
        for name, value in given.items():
            if value is None:
                continue
            if name == "fixed":
                found[name] = _checked_names(value, "fixed")
                continue
            if not isinstance(value, Mapping):
                raise InvalidInputError(f"expected {name} to be a dictionary, got {value!r}")
            listed = name in ("categories", "groups")
            found[name] = {
                key: _listed(each, f"{name}[{key!r}]", name == "categories") if listed else each
                for key, each in value.items()
            }
        return cls(**found)

    def check(self, names: Sequence[Any]) -> None:
        """Refuses names that are no columns, and columns that are declared twice."""
        grouped = [name for members in self.groups.values() for name in members]
        for what, said in (
            ("fixed", self.fixed),
            ("bins", self.bins),
            ("categories", self.categories),
            ("zeros", self.zeros),
            ("groups", grouped),
        ):
            unknown = [name for name in said if name not in names]
            if unknown:
                raise InvalidInputError(f"expected {what} to name columns of the frame, got {unknown[0]!r}")
        for one, other in (
            (self.fixed, self.bins),
            (self.fixed, self.categories),
            (self.fixed, grouped),
            (self.fixed, self.zeros),
            (self.bins, self.categories),
        ):
            twice = [name for name in one if name in other]
            if twice:
                raise InvalidInputError(
                    f"expected each column to be fixed, in bins or of categories, got {twice[0]!r} twice"
                )
        if len(set(grouped)) < len(grouped):
            raise InvalidInputError(f"expected every column in one group, got {self.groups!r}")

    def declared(self, name: Any) -> Declared:
        """What is said about one column."""
        return Declared(
            name in self.fixed,
            self.bins.get(name),
            tuple(map(without_missing, self.categories[name])) if name in self.categories else None,
            (without_missing(self.zeros[name]),) if name in self.zeros else (),
        )

    def group_of(self, name: Any) -> str:
        """The group of a column."""
        return next((group for group, members in self.groups.items() if name in members), "")


def read_frame(frame: Any, options: FrameOptions, like: Any = None) -> tuple[NDArray[Any], FrameBook]:
    """The codes of a frame [rows, columns] and their book; `like` is a frame or book that says what may occur."""
    if like is None:
        return _read(frame, options)
    if not isinstance(like, FrameBook):
        _, like = _read(like, options)
    elif options != FrameOptions(categories=options.categories):
        raise InvalidInputError(
            "expected fixed, bins, zeros and groups where the table of like= was made, got them again"
        )
    else:
        like = _extended(like, options.categories)
    return _read_like(frame, like)


def _read(frame: Any, options: FrameOptions) -> tuple[NDArray[Any], FrameBook]:
    frames, names = _checked_frame(frame)
    options.check(names)
    found = [
        coded_column(frames, frames.column(frame, place), str(name), options.declared(name))
        for place, name in enumerate(names)
    ]
    undeclared = {name: each for name, each in zip(names, found, strict=True) if isinstance(each, Undeclared)}
    if undeclared:
        raise _not_declared(frames, undeclared)
    coded = [each for each in found if not isinstance(each, Undeclared)]
    if not any(column.noisy for column, _ in coded):
        raise InvalidInputError(
            "expected a column that can vary and is not fixed, got none: there is nothing to certify"
        )
    book = FrameBook(
        frames,
        getattr(frame, "columns", names),
        tuple(column for column, _ in coded),
        tuple(options.group_of(name) if column.noisy else "" for name, (column, _) in zip(names, coded, strict=True)),
        getattr(frame, "index", None),
    )
    return as_codes([codes for _, codes in coded], book.sizes), book


def _read_like(frame: Any, like: FrameBook) -> tuple[NDArray[Any], FrameBook]:
    frames, names = _checked_frame(frame)
    if frames.name != like.library.name:
        raise InvalidInputError(f"expected a frame of {like.library.name} as in like=, got one of {frames.name}")
    wanted = list(like.names)
    lacking, further = (
        [name for name in one if name not in other] for one, other in ((wanted, names), (names, wanted))
    )
    if lacking:
        raise InvalidInputError(f"expected the columns of like=, got a frame without {lacking[0]!r}")
    if further:
        out = frames.leave_out.format(repr(further[0]))
        raise InvalidInputError(f"expected the columns of like=, got a frame that also has {further[0]!r}: {out}")
    coded = [
        column.coded(frames, frames.column(frame, names.index(name)))
        for name, column in zip(wanted, like.columns, strict=True)
    ]
    columns = tuple(column for column, _ in coded)
    book = FrameBook(frames, like.names, columns, like.groups, getattr(frame, "index", None))
    return as_codes([codes for _, codes in coded], book.sizes), book


def _extended(book: FrameBook, categories: Mapping[Any, Sequence[Any]]) -> FrameBook:
    """The book with further categories of some columns."""
    names, columns = list(book.names), list(book.columns)
    for name, values in categories.items():
        column = columns[names.index(name)] if name in names else None
        if not isinstance(column, CategoryColumn):
            raise InvalidInputError(f"expected categories of a column of categories of like=, got {name!r}")
        columns[names.index(name)] = column.with_categories(book.library, [without_missing(value) for value in values])
    return FrameBook(book.library, book.names, tuple(columns), book.groups, book.index)


def _checked_frame(frame: Any) -> tuple[Frames, list[Any]]:
    frames = library_of(frame)
    if frames is None:
        raise InvalidInputError(f"expected a data frame of pandas or polars, got {type(frame).__name__}")
    names = frames.names(frame)
    counts = Counter(map(str, names))
    twice = next((text for text, count in counts.items() if count > 1), None)
    if twice is not None:
        raise InvalidInputError(f"expected columns with different names, got {twice!r} twice")
    if not len(frame) or not names:
        raise InvalidInputError(
            f"expected a frame with rows and columns, got {len(frame)} rows of {len(names)} columns"
        )
    return frames, names


def _not_declared(frames: Frames, undeclared: Mapping[Any, Undeclared]) -> UndeclaredColumnsError:
    """What to do about columns that are no categories."""
    names = list(undeclared)
    said = ", ".join(f"{name!r} ({undeclared[name].reason})" for name in names[:_NAMED_AT_ONCE])
    more = f" and {len(names) - _NAMED_AT_ONCE} more" if len(names) > _NAMED_AT_ONCE else ""
    numeric = next((name for name in names if undeclared[name].numeric), None)
    binned = "" if numeric is None else f"bins={{{numeric!r}: 10}} puts numbers into bins, "
    out = frames.leave_out.format(", ".join(map(repr, names)))
    error = UndeclaredColumnsError(
        f"expected columns of categories, got {said}{more}: fp.Table.from_{frames.name}(df, fixed={names!r}) "
        f"gives them no noise, {binned}categories={{{names[0]!r}: [...]}} lists what may occur, and {out} leaves them "
        "out"
    )
    error.columns = undeclared
    return error


def row_names(index: Any) -> tuple[str, ...] | None:
    """The names of rows, unless they are their numbers."""
    if index is None:
        return None
    names = np.asarray(index.map(str) if index.nlevels == 1 else [", ".join(map(str, each)) for each in index])
    return None if names.tolist() == [str(i) for i in range(len(names))] else tuple(names.tolist())
