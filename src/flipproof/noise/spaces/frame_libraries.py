"""Data frames of pandas and polars. Neither library is imported unless a user's frame already comes from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from flipproof.base.values import FloatArray, IntArray
from flipproof.errors import InvalidInputError
from flipproof.noise.spaces.frames import MISSING, Frames, Holds, plain_value


def library_of(frame: Any) -> Frames | None:
    """The library that a data frame comes from; None if it is none."""
    kinds = {f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(frame).__mro__}
    if kinds & {"pandas.Series", "polars.Series", "polars.LazyFrame"}:
        how = "collect()" if "polars.LazyFrame" in kinds else "to_frame()"
        raise InvalidInputError(f"expected a data frame, got a {type(frame).__name__}: call its {how}")
    return next((library for name, library in _LIBRARIES.items() if f"{name}.DataFrame" in kinds), None)


@dataclass(frozen=True, slots=True)
class PandasFrames:
    """Frames of pandas."""

    name: str = "pandas"
    leave_out: str = "df.drop(columns=[{}])"

    def names(self, frame: Any) -> list[Any]:
        """The names of the columns, which need not be texts."""
        return list(frame.columns)

    def column(self, frame: Any, place: int) -> Any:
        """The column as an extension array."""
        return frame.iloc[:, place].array

    def dtype(self, column: Any) -> str:
        """The type as pandas writes it."""
        return str(_series(column).dtype)

    def holds(self, column: Any) -> Holds:
        """By type; of objects, by their own types."""
        pandas, dtype = _pandas(), _series(column).dtype
        if isinstance(dtype, pandas.CategoricalDtype):
            return Holds.CATEGORIES
        if getattr(dtype, "kind", "") == "O" and isinstance(dtype, np.dtype):
            return _held_by_objects({type(value) for value in column[~column.isna()]})
        types = pandas.api.types
        for belongs, held in (
            (types.is_bool_dtype, Holds.BOOLEANS),
            (types.is_integer_dtype, Holds.INTEGERS),
            (types.is_float_dtype, Holds.NUMBERS),
            (types.is_string_dtype, Holds.TEXTS),
        ):
            if belongs(dtype):
                return held
        return Holds.OTHERS

    def numbered(self, column: Any) -> IntArray:
        """From `pandas.factorize`."""
        return np.asarray(_pandas().factorize(column)[0], dtype=np.int64)

    def numbers(self, column: Any) -> FloatArray:
        """As float64."""
        return np.asarray(_series(column).to_numpy(dtype=np.float64, na_value=np.nan))

    def plain(self, column: Any) -> list[Any]:
        """Without numpy's scalars."""
        missing = np.asarray(column.isna(), dtype=bool)
        return [None if gone else plain_value(value) for value, gone in zip(column, missing, strict=True)]

    def listed(self, column: Any) -> list[Any] | None:
        """The categories of a categorical column."""
        categories = getattr(column.dtype, "categories", None)
        return None if categories is None else [plain_value(value) for value in categories]

    def take(self, column: Any, places: IntArray) -> Any:
        """An array of the same type."""
        return column.take(places)

    def extended(self, column: Any, values: Sequence[Any]) -> Any:
        """An array of the same type, or of a wider categorical one."""
        pandas, listed = _pandas(), self.listed(column)
        if listed is None:
            added = pandas.array(list(values), dtype=column.dtype)
        else:
            every = [*listed, *(value for value in values if value is not None and value not in listed)]
            dtype = pandas.CategoricalDtype(pandas.Index(every), ordered=column.dtype.ordered)
            column, added = column.set_categories(every), pandas.Categorical(list(values), dtype=dtype)
            column = pandas.Categorical(column, dtype=dtype)
        return pandas.concat([_series(column), _series(added)], ignore_index=True).array

    def contents(self, column: Any) -> tuple[str, bytes]:
        """The bytes of numbers, or the texts that Python shows of other values, categories included."""
        dtype = _series(column).dtype
        plain = isinstance(dtype, np.dtype) and dtype.kind in "biuf"
        values = np.asarray(column).tobytes() if plain else _shown(self.plain(column))
        listed = "" if isinstance(dtype, np.dtype) else f"{self.listed(column)!r} {getattr(dtype, 'ordered', '')}"
        return f"{dtype} {listed}", values


@dataclass(frozen=True, slots=True)
class PolarsFrames:
    """Frames of polars."""

    name: str = "polars"
    leave_out: str = "df.drop({})"

    def names(self, frame: Any) -> list[Any]:
        """The names of the columns."""
        return list(frame.columns)

    def column(self, frame: Any, place: int) -> Any:
        """The column as a series."""
        return frame.to_series(place)

    def dtype(self, column: Any) -> str:
        """The type as polars writes it."""
        return str(column.dtype)

    def holds(self, column: Any) -> Holds:
        """By type."""
        dtype, polars = column.dtype, _polars()
        if dtype in (polars.Categorical, polars.Enum):
            return Holds.CATEGORIES
        if dtype == polars.Boolean:
            return Holds.BOOLEANS
        if dtype == polars.String:
            return Holds.TEXTS
        numeric = Holds.NUMBERS if dtype.is_float() else Holds.OTHERS
        return Holds.INTEGERS if dtype.is_integer() else numeric

    def numbered(self, column: Any) -> IntArray:
        """From dense ranks. NaN counts as missing."""
        if column.dtype == _polars().Object:
            raise TypeError("polars panics when it ranks objects")
        ranks = column.rank(method="dense").fill_null(0).to_numpy().astype(np.int64) - 1
        if column.dtype.is_float():
            ranks[column.is_nan().fill_null(False).to_numpy()] = MISSING  # the highest rank, so that no gap is left
        return np.asarray(ranks)

    def numbers(self, column: Any) -> FloatArray:
        """As float64."""
        return np.asarray(column.cast(_polars().Float64).fill_null(float("nan")).to_numpy())

    def plain(self, column: Any) -> list[Any]:
        """With None for NaN."""
        return [None if value is None or value != value else value for value in column.to_list()]

    def listed(self, column: Any) -> list[Any] | None:
        """The categories of an Enum; those of a Categorical may come from any other column."""
        return column.dtype.categories.to_list() if isinstance(column.dtype, _polars().Enum) else None

    def take(self, column: Any, places: IntArray) -> Any:
        """A series of the same type."""
        return column.gather(places)

    def extended(self, column: Any, values: Sequence[Any]) -> Any:
        """A series of the same type, or of a wider Enum."""
        polars, listed = _polars(), self.listed(column)
        if listed is not None:
            every = [*listed, *(value for value in values if value is not None and value not in listed)]
            column = column.cast(polars.Enum(every))
        return polars.concat([column, polars.Series(column.name, list(values), dtype=column.dtype, strict=True)])

    def contents(self, column: Any) -> tuple[str, bytes]:
        """The bytes of numbers without gaps, or the texts that Python shows of other values."""
        dtype = column.dtype
        whole = column.null_count() == 0 and (dtype.is_integer() or dtype.is_float())
        values = column.to_numpy().tobytes() if whole else _shown(self.plain(column))
        return f"{dtype!r} {self.listed(column)!r}", values


_LIBRARIES: dict[str, Frames] = {"pandas": PandasFrames(), "polars": PolarsFrames()}


def _pandas() -> Any:
    return import_module("pandas")


def _series(column: Any) -> Any:
    """A column of pandas as a series of its very type: from an array of objects pandas would infer another."""
    return _pandas().Series(column, dtype=object if str(column.dtype) == "object" else column.dtype)


def _polars() -> Any:
    return import_module("polars")


def _held_by_objects(kinds: set[type]) -> Holds:
    """What objects of these types are; of several types, which may hold equal values, they are nothing in particular.

    Example:
        >>> _held_by_objects({bool}), _held_by_objects({int, bool})
        (<Holds.BOOLEANS: 'booleans'>, <Holds.OTHERS: 'other values'>)
    """
    found = [
        held
        for kinds_of_one, held in (
            ((bool, np.bool_), Holds.BOOLEANS),
            ((int, np.integer), Holds.INTEGERS),
            ((float, np.floating), Holds.NUMBERS),
            ((str,), Holds.TEXTS),
        )
        if all(issubclass(kind, kinds_of_one) for kind in kinds)
    ]
    return found[0] if found and not (found[0] is Holds.INTEGERS and bool in kinds) else Holds.OTHERS


def _shown(values: list[Any]) -> bytes:
    return "\x1f".join(map(repr, values)).encode("utf-8", "surrogatepass")
