"""A user's own data in a file: the kind of the data, and the dataset."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flipproof.datasets.kinds.graph_dataset import GraphDataset
from flipproof.datasets.kinds.graph_file import GRAPHS_FILE
from flipproof.datasets.kinds.image_dataset import ImageDataset
from flipproof.datasets.kinds.image_file import IMAGES_FILE
from flipproof.datasets.kinds.node_dataset import NodeDataset
from flipproof.datasets.kinds.node_file import NODES_FILE
from flipproof.datasets.kinds.text_dataset import TextDataset
from flipproof.datasets.readers.code_book import CodeBook, check_classes
from flipproof.datasets.readers.csv_table import read_table
from flipproof.datasets.readers.text_lines import check_file, reading_lines
from flipproof.errors import FileFormatError
from flipproof.files.archive import reading_archive
from flipproof.files.whole import opened

MESSAGES = "text with a label, a tab and a message in every line"


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


_FORMATS = {"images": IMAGES_FILE, "graphs": GRAPHS_FILE, "nodes": NODES_FILE}
_MARKS = {"train_images.npy": "images", "node_starts.npy": "graphs"}
_ARCHIVES: dict[str, Callable[[Any], Any]] = {
    "images": ImageDataset.load,
    "graphs": GraphDataset.load,
    "nodes": NodeDataset.load,
}
"""The readers of the datasets that flipproof saves, by kind: these files share one suffix."""
_READERS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    ".csv": ("tables", read_table),
    ".tsv": ("text", read_messages),
}
"""The kind of data in a file and the function that reads it, by suffix."""


def register_reader(suffix: str, kind: str, read: Callable[[Any], Any]) -> None:
    """Registers a suffix for files of a kind of data; `read` makes a dataset from the path of a file."""
    _READERS[suffix] = (kind, read)


def is_user_file(name_or_path: str | os.PathLike[str]) -> bool:
    """Whether this is the path of a file, not the name of a dataset.

    Example:
        >>> is_user_file("mine.csv"), is_user_file("mnist")
        (True, False)
    """
    return isinstance(name_or_path, os.PathLike) or _suffix(name_or_path) in (*_READERS, ".npz")


def load_user_file(path: str | os.PathLike[str]) -> Any:
    """Loads the dataset in a file."""
    check_file(Path(path), "dataset")
    if _suffix(path) in _READERS:
        return _READERS[_suffix(path)][1](path)
    return _ARCHIVES[_likely_kind(path)](path)


def kind_of_file(path: str | os.PathLike[str]) -> str:
    """The kind of inputs in a file, such as "nodes", "images" or "text". Reads only a little of the file."""
    check_file(Path(path), "dataset")
    kind = _likely_kind(path)
    if _suffix(path) not in _READERS:
        with reading_archive(path, _FORMATS[kind], whole=False):
            pass
    return kind


def _suffix(path: str | os.PathLike[str]) -> str:
    return os.path.splitext(str(path))[1].lower()


def _likely_kind(path: str | os.PathLike[str]) -> str:
    """The kind suggested by the suffix or by the names of the arrays in the file; the reader checks the contents."""
    if _suffix(path) in _READERS:
        return _READERS[_suffix(path)][0]
    try:
        with opened(path) as stream, zipfile.ZipFile(stream) as archive:
            names = archive.namelist()
    except Exception:  # a damaged file can make zipfile raise anything; the reader will report it
        names = []
    return next((kind for mark, kind in _MARKS.items() if mark in names), "nodes")
