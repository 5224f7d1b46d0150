"""A user's own table: a csv file with a header line, whose columns hold categories."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from flipproof.datasets.kinds.table_dataset import TableDataset
from flipproof.datasets.readers.code_book import CodeBook, check_classes
from flipproof.datasets.readers.text_lines import reading_lines
from flipproof.errors import FileFormatError

TABLE = "table with commas between its cells"
_LABEL, _EMPTY = "label", "(empty)"
_MOST_VALUES, _MOST_CLASSES, _MOST_COLUMNS = 256, 2**16, 2**16


def read_table(path: str | os.PathLike[str]) -> TableDataset:
    """Reads the table in a csv file.

    The column called label holds the labels, or else the last column does. The distinct texts of every other column
    are its categories; an empty cell is a category as well. Blanks around a cell are ignored.
    """
    with reading_lines(path, TABLE) as lines:
        rows = _rows(lines)
        _, names = next(rows, (0, []))
        target = _label_column(names)
        books = [CodeBook() for _ in names]
        for line, row in rows:
            _add(books, row, names, target, line)
        labels = books.pop(target)
        names.pop(target)
        _check_columns(books, names)
        check_classes(labels)
        return TableDataset(
            Path(path).stem,
            np.stack([book.numbers().astype(np.uint8) for book in books], axis=1),
            tuple(map(len, books)),
            labels.numbers(),
            tuple(names),
            labels.words(),
            tuple(tuple(word or _EMPTY for word in book.words()) for book in books),
        )


def _rows(lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    """The nonempty rows, each with the number of its last line; blanks around cells are removed."""
    reader = csv.reader(lines, strict=True, skipinitialspace=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num, [cell.strip() for cell in row]
    except csv.Error as error:
        reason = str(error).partition(" - ")[0]  # the rest of the message is for programmers
        raise FileFormatError(f"line {reader.line_num}: {reason}") from error


def _label_column(names: list[str]) -> int:
    """The index of the column of labels."""
    if len(names) < 2:
        raise FileFormatError(f"its first line names {len(names)} columns; it takes labels and one more")
    if len(names) > _MOST_COLUMNS:
        raise FileFormatError(f"it has {len(names):,} columns, more than {_MOST_COLUMNS:,}")
    called = [column for column, name in enumerate(names) if name.lower() == _LABEL]
    if len(called) > 1:
        raise FileFormatError(f"{len(called)} columns are called label")
    return called[0] if called else len(names) - 1


def _add(books: list[CodeBook], row: list[str], names: list[str], target: int, line: int) -> None:
    if len(row) != len(books):
        raise FileFormatError(f"line {line} has {len(row)} cells, the first line {len(books)}")
    if not row[target]:
        raise FileFormatError(f"line {line} has no label")
    for column, (book, cell) in enumerate(zip(books, row, strict=True)):
        book.add(cell)
        most = _MOST_CLASSES if column == target else _MOST_VALUES
        if len(book) > most:
            raise FileFormatError(
                f"column {names[column]!r} has more than {most} different values by line {line}; "
                "cut it into ranges first"
            )


def _check_columns(books: list[CodeBook], names: list[str]) -> None:
    for book, name in zip(books, names, strict=True):
        if not len(book):
            raise FileFormatError("it has no rows below its first line")
        if len(book) == 1:
            raise FileFormatError(f"column {name!r} has one value; leave it out")
