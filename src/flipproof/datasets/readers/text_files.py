"""Text files with one input per line: a user's own table or messages, and the SMS Spam Collection.

A file may hold anything, so the length of a line is checked before use.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import math
import os
from array import array
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

import numpy as np

from flipproof.base.values import IntArray
from flipproof.datasets.fetching.data_file import Member, gunzipped
from flipproof.datasets.kinds.table_dataset import TableDataset
from flipproof.datasets.kinds.text_dataset import TextDataset
from flipproof.errors import FileFormatError, FlipproofError
from flipproof.files.whole import checked_path, opened

TABLE = "table with commas between its cells"
MESSAGES = "text with a label, a tab and a message in every line"
SMS = Member("SMSSpamCollection", 477_907, "7d039a24a6083ed9ef0f806ebad56bbb976e3aeb8de05669173bfdc4996c239d")
_LABEL, _EMPTY = "label", "(empty)"
_MOST_VALUES, _MOST_CLASSES, _MOST_COLUMNS = 256, 2**16, 2**16
_CLASSES = ("ham", "spam")
_MOST_BYTES = 2**29
_LONGEST_LINE = 2**24
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


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


def read_messages(path: str | os.PathLike[str]) -> TextDataset:
    """The messages of a tsv file. Any word can be a label, quotation marks are plain text, empty lines are skipped."""
    messages, labels = [], CodeBook()
    with reading_lines(path, MESSAGES) as lines:
        for number, line in enumerate(lines, 1):
            text = line.rstrip("\r\n")
            if not text:
                continue
            label, tab, message = text.partition("\t")
            if not tab:
                raise FileFormatError(f"line {number} has no tab")
            if not label.strip():
                raise FileFormatError(f"line {number} has no label")
            if number == 1 and label.strip().lower() == "label":
                raise FileFormatError("line 1 is a header; leave it out")
            labels.add(label.strip())
            messages.append(message)
        if not messages:
            raise FileFormatError("it has no lines")
        check_classes(labels)
        return TextDataset(Path(path).stem, tuple(messages), labels.numbers(), labels.words())


def read_sms_gzip(contents: Mapping[str, bytes]) -> TextDataset:
    """Reads the collection from one gzipped text."""
    return messages_of(gunzipped(contents["sms_spam.tsv.gz"], SMS.size))


def read_sms_zip(contents: Mapping[str, bytes]) -> TextDataset:
    """Reads the collection from the zip file of its public home."""
    return messages_of(SMS.read(contents["sms+spam+collection.zip"]))


def messages_of(text: bytes) -> TextDataset:
    r"""The messages of a text, one per line.

    Example:
        >>> messages_of(b"ham\tSee you at six.\nspam\tYou won!\n").labels
        array([0, 1])
    """
    lines = [line.partition("\t") for line in text.decode("utf-8").split("\n") if line]
    wrong = next((label for label, _, _ in lines if label not in _CLASSES), None)
    if wrong is not None:
        raise FileFormatError(f"expected lines that begin with ham or spam, got {wrong!r}")
    labels = np.array([_CLASSES.index(label) for label, _, _ in lines], dtype=np.int64)
    return TextDataset("sms_spam", tuple(message for _, _, message in lines), labels, _CLASSES)


class CodeBook:
    """A sequence of texts, each stored as the number of its distinct text.

    Example:
        >>> book = CodeBook()
        >>> for text in ("10", "9", "", "10"):
        ...     book.add(text)
        >>> book.numbers().tolist(), book.words()
        ([2, 1, 0, 2], ('', '9', '10'))
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._texts = array("i")

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, text: str) -> None:
        """Adds one text."""
        self._texts.append(self._numbers.setdefault(text, len(self._numbers)))

    def words(self) -> tuple[str, ...]:
        """The distinct texts: an empty one first, then numbers by size if all are numbers, else in sorted order."""
        sizes = {text: _size(text) for text in self._numbers if text}
        numeric = all(map(math.isfinite, sizes.values()))
        return tuple(sorted(self._numbers, key=lambda text: (text != "", sizes.get(text, 0.0) if numeric else 0, text)))

    def numbers(self) -> IntArray:
        """For every text, its index in `words`."""
        places = np.zeros(len(self._numbers), dtype=np.int64)
        for place, word in enumerate(self.words()):
            places[self._numbers[word]] = place
        found: IntArray = places[np.array(self._texts, dtype=np.int64)]
        return found


def check_classes(labels: CodeBook) -> None:
    """Refuses the labels of a file if there is nothing to distinguish."""
    if len(labels) < 2:
        raise FileFormatError(f"its labels are of {len(labels)} class; it takes at least two")


def _size(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


@contextlib.contextmanager
def reading_lines(path: str | os.PathLike[str], noun: str) -> Iterator[Iterator[str]]:
    """The lines of a UTF-8 file; any problem found here or in the block is a `FileFormatError` with the path."""
    path = checked_path(path)
    check_file(path, noun)
    try:
        with opened(path) as stream:
            size = os.fstat(stream.fileno()).st_size
            if size > _MOST_BYTES:
                raise FileFormatError(f"it has {size:,} bytes, more than {_MOST_BYTES:,}")
            yield _lines(stream)
    except OSError as error:
        raise FileFormatError(f"expected a readable {noun}, got {path}: {error.strerror or error}") from error
    except FlipproofError as error:
        raise FileFormatError(f"expected a {noun}, got {path}: {error}") from error


def check_file(path: Path, noun: str) -> None:
    """Refuses a path without a regular file: reading a pipe, for example, might never end."""
    try:
        there = path.exists()
    except (OSError, ValueError):  # too long, or with a character that no path may have
        there = False
    if not there:
        raise FileFormatError(f"expected a readable {noun}, got {path}: {os.strerror(errno.ENOENT)}")
    if not path.is_file():
        raise FileFormatError(f"expected a readable {noun}, got {path}, which is no file")


def _lines(stream: IO[bytes]) -> Iterator[str]:
    """The lines of a stream, including their line ends."""
    number = 0
    while line := stream.readline(_LONGEST_LINE + 1):
        number += 1
        if len(line) > _LONGEST_LINE:
            raise FileFormatError(f"line {number} is longer than {_LONGEST_LINE:,} bytes")
        if b"\0" in line:
            raise FileFormatError(f"line {number} has a NUL byte, as no text in UTF-8 has")
        try:
            yield (line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line).decode("utf-8")
        except UnicodeDecodeError as error:
            raise FileFormatError(f"line {number} is not UTF-8") from error
