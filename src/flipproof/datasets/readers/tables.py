"""A user's own tables: a csv file or a parquet file becomes a data frame, and the frame becomes codes with labels.

Files may hold anything: bytes, lines and cells are checked and counted here before pandas or pyarrow reads them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import IntArray
from flipproof.datasets.kinds.frame_dataset import FrameDataset
from flipproof.datasets.readers.csv_frames import csv_frame
from flipproof.datasets.readers.parquet_frames import parquet_frame
from flipproof.datasets.readers.text_files import reading_content
from flipproof.errors import FileFormatError, not_among
from flipproof.noise.spaces.frame_book import UndeclaredColumnsError
from flipproof.noise.spaces.table import Table
from flipproof.run_folder.reading import Reading

TABLE = "table with a label in every row"
_LABEL = "label"
_NAMED, _LONG = 5, 60
_FEW_CLASSES = 32
"""So many classes may be as many as there are rows."""


def read_csv_table(path: str | os.PathLike[str], reading: Reading) -> FrameDataset:
    """Reads the table in a csv file as pandas does."""
    with reading_content(path, TABLE) as content:
        frame, separator = csv_frame(content, reading)
        return _dataset(frame, reading, Path(path).stem, separator)


def read_parquet_table(path: str | os.PathLike[str], reading: Reading) -> FrameDataset:
    """Reads the table in a parquet file."""
    with reading_content(path, TABLE) as content:
        for name, given in (("--separator", reading.separator), ("--header", reading.header)):
            if given is not None:
                raise FileFormatError(f"{name} is for csv files only")
        frame, dropped = parquet_frame(content, reading.drop)
        rest = tuple(name for name in reading.drop if name not in dropped)
        return _dataset(frame, replace(reading, drop=rest), Path(path).stem, None)


def _dataset(frame: Any, reading: Reading, name: str, separator: str | None) -> FrameDataset:
    """The codes and labels of a frame, whose columns are dropped, held and binned as the user says."""
    names = [str(column) for column in frame.columns]
    if len(set(names)) < len(names):
        twice = next(each for each in names if names.count(each) > 1)
        raise FileFormatError(f"two columns are called {twice!r}")
    dropped = [_column(names, each, "--drop") for each in reading.drop]
    label = _label_column([each for each in names if each not in dropped], reading.label)
    kept = [each for each in names if each not in dropped and each != label]
    if not kept:
        raise FileFormatError(f"it has no column beside the labels in {label!r}")
    if not len(frame):
        raise FileFormatError("it has no rows")
    labels, class_names = _classes(frame[label], label)
    fixed = [_column(kept, each, "--fixed") for each in reading.fixed]
    bins = {_column(kept, each, "--bins"): given for each, given in reading.bins.items()}
    try:
        rows = Table.from_pandas(frame[kept], fixed=fixed, bins=bins)
    except UndeclaredColumnsError as error:
        raise _not_declared(error, len(frame)) from error
    return FrameDataset(name, rows, labels, class_names, label, separator)


def _column(names: Sequence[str], wanted: str, flag: str) -> str:
    """The column that a flag names; blanks around a name do not count, and without a header a number is enough."""
    called = (wanted, wanted.strip(), f"column {wanted}" if wanted.isdigit() else wanted)
    found = [name for name in names if name == wanted] or [name for name in names if name.strip() in called]
    if len(found) != 1:
        raise not_among(flag, [name.strip() for name in names], wanted)
    return found[0]


def _label_column(names: Sequence[str], wanted: str | None) -> str:
    """The column of labels: the one that the user names, or the one that is called label."""
    if wanted is not None:
        return _column(names, wanted, "--label")
    called = [name for name in names if name.strip().lower() == _LABEL]
    if len(called) == 1:
        return called[0]
    how_many = "no column is" if not called else f"{len(called)} columns are"
    raise FileFormatError(
        f"{how_many} called {_LABEL}; say which one holds the labels with --label NAME; columns are "
        f"{', '.join(name.strip() for name in names)}"
    )


def _classes(column: Any, name: str) -> tuple[IntArray, tuple[str, ...]]:
    """Numbers of classes and their names: numbers by size, truth values as False and True, texts in sorted order."""
    missing = np.flatnonzero(np.asarray(column.isna()))
    if missing.size:
        raise FileFormatError(
            f"{missing.size:,} rows have no label in column {name!r}, first row {missing[0]} (the first is 0); texts "
            "that mean a missing value, such as NA or None, count as none"
        )
    values, numbers = _distinct(column, name)
    if values.dtype.kind == "f":
        fraction = next((value for value in values.tolist() if not math.isfinite(value) or value % 1), None)
        if fraction is not None:
            raise FileFormatError(
                f"the labels in column {name!r} are numbers with fractions, such as {fraction:g}: a regression has no "
                "classes; write a column with the class of each row, or name another one with --label"
            )
        values = values.astype(np.int64) if np.abs(values).max() < 2**53 else values
    if values.size > _FEW_CLASSES and 2 * values.size > numbers.size:
        raise FileFormatError(
            f"column {name!r} has {values.size:,} different labels in {numbers.size:,} rows: these are no classes; "
            "name another column with --label"
        )
    if values.size < 2:
        raise FileFormatError(f"its labels are of {values.size} class; it takes at least two")
    return numbers, tuple(map(str, values.tolist()))


def _distinct(column: Any, name: str) -> tuple[NDArray[Any], IntArray]:
    """The different labels in order, and the number of each row's label."""
    try:
        plain = column.astype(str).to_numpy(dtype=object) if column.dtype.kind not in "biuf" else column.to_numpy()
        values, numbers = np.unique(plain.astype(str) if plain.dtype.kind == "O" else plain, return_inverse=True)
    except Exception as error:  # whatever pandas raises for values that are no labels
        raise FileFormatError(f"expected numbers or words as labels in column {name!r}, got {column.dtype}") from error
    return values, numbers.astype(np.int64)


def _not_declared(error: UndeclaredColumnsError, rows: int) -> FileFormatError:
    """What to say about columns that are no categories, in flags."""
    names = [str(name) for name in error.columns]
    said = ", ".join(f"{str(name)[:_LONG]!r} ({each.reason})" for name, each in [*error.columns.items()][:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    unique = [str(name) for name, each in error.columns.items() if f"{rows:,} different values" in each.reason]
    numeric = next(
        (str(name) for name, each in error.columns.items() if each.numeric and str(name) not in unique), None
    )
    first = names[0]
    advice = [f"--drop {_quoted(unique[0] if unique else first)} leaves a column out, as suits an id"]
    if numeric is not None:
        advice.append(f"--bins {_quoted(numeric)}=10 cuts numbers into bins")
    advice.append(
        f"--fixed {_quoted(numeric or first)} gives a column no noise, so that nothing is claimed about its changes"
    )
    return FileFormatError(f"its columns {said}{more} are no categories: {'; '.join(advice)}")


def _quoted(name: str) -> str:
    return name[:_LONG] if name.isidentifier() else repr(name[:_LONG])
