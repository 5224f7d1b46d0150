"""Text files with one input per line: a user's own messages, and the SMS Spam Collection.

A file may hold anything, so the length of a line is checked before use.
"""

from __future__ import annotations

import contextlib
import errno
import io
import math
import os
from array import array
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

import numpy as np

from flipproof.base.values import IntArray
from flipproof.datasets.fetching.data_file import Member, gunzipped
from flipproof.datasets.kinds.text_dataset import TextDataset
from flipproof.errors import FileFormatError, FlipproofError
from flipproof.extras import MissingExtraError
from flipproof.files.whole import checked_path, opened

MESSAGES = "text with a label, a tab and a message in every line"
SMS = Member("SMSSpamCollection", 477_907, "7d039a24a6083ed9ef0f806ebad56bbb976e3aeb8de05669173bfdc4996c239d")
_CLASSES = ("ham", "spam")
_MOST_BYTES = 2**29
_LONGEST_LINE = 2**24
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_messages(path: str | os.PathLike[str]) -> TextDataset:
    """The messages of a tsv file. Any word can be a label, quotation marks are plain text, empty lines are skipped."""
    messages, labels = [], CodeBook()
    with reading_content(path, MESSAGES) as content:
        for number, line in enumerate(lines_of(io.BytesIO(content)), 1):
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
def reading_content(path: str | os.PathLike[str], noun: str) -> Iterator[bytes]:
    """The bytes of a file; any problem found here or in the block is a `FileFormatError` with the path."""
    path = checked_path(path)
    check_file(path, noun)
    try:
        with opened(path) as stream:
            size = os.fstat(stream.fileno()).st_size
            if size > _MOST_BYTES:
                raise FileFormatError(f"it has {size:,} bytes, more than {_MOST_BYTES:,}")
            content = stream.read(_MOST_BYTES)
        yield content
    except OSError as error:
        raise FileFormatError(f"expected a readable {noun}, got {path}: {error.strerror or error}") from error
    except MissingExtraError:
        raise
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


def lines_of(stream: IO[bytes]) -> Iterator[str]:
    """The lines of a stream in UTF-8, including their line ends."""
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
