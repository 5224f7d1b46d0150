"""A user's own data in a file: which kind they are, and the dataset."""

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
    """The messages of a tsv file. Labels may be any words, quotation marks mean nothing, empty lines do not count."""
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
"""Datasets that flipproof has saved: one suffix for several kinds."""
_READERS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    ".csv": ("tables", read_table),
    ".tsv": ("text", read_messages),
}
"""By suffix: the kind of data in a file, and what reads it."""


def register_reader(suffix: str, kind: str, read: Callable[[Any], Any]) -> None:
    """Makes files with a suffix known as data of a kind; `read` makes a dataset from the path of one."""
    _READERS[suffix] = (kind, read)


def is_user_file(name_or_path: str | os.PathLike[str]) -> bool:
    """Whether this is the path of a file, not the name of a dataset.

    Example:
        >>> is_user_file("mine.csv"), is_user_file("mnist")
        (True, False)
    """
    return isinstance(name_or_path, os.PathLike) or _suffix(name_or_path) in (*_READERS, ".npz")


def load_user_file(path: str | os.PathLike[str]) -> Any:
    """The dataset in a file."""
    check_file(Path(path), "dataset")
    if _suffix(path) in _READERS:
        return _READERS[_suffix(path)][1](path)
    return _ARCHIVES[_likely_kind(path)](path)


def kind_of_file(path: str | os.PathLike[str]) -> str:
    """What an input is, of the data in a file: "nodes", "images", "text". Reads little of it."""
    check_file(Path(path), "dataset")
    kind = _likely_kind(path)
    if _suffix(path) not in _READERS:
        with reading_archive(path, _FORMATS[kind], whole=False):
            pass
    return kind


def _suffix(path: str | os.PathLike[str]) -> str:
    return os.path.splitext(str(path))[1].lower()


def _likely_kind(path: str | os.PathLike[str]) -> str:
    """The kind by the suffix, or by the arrays in the file; that these are what they seem is for its reader to say."""
    if _suffix(path) in _READERS:
        return _READERS[_suffix(path)][0]
    try:
        with opened(path) as stream, zipfile.ZipFile(stream) as archive:
            names = archive.namelist()
    except Exception:  # whatever a damaged file makes zipfile raise; the reader will say it
        names = []
    return next((kind for mark, kind in _MARKS.items() if mark in names), "nodes")
