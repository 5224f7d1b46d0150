"""From a name or a path to arrays: find the files or fetch them, check them, read them."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from flipproof.datasets.cards.catalogue import Card, StoredForm
from flipproof.datasets.cards.catalogue import card as card_of
from flipproof.datasets.fetching.data_file import DataFile, MissingDataError, find, folder_to_write, folders
from flipproof.datasets.fetching.download import download as download_file
from flipproof.datasets.kinds.frame_dataset import FrameDataset
from flipproof.datasets.kinds.graph_dataset import GRAPHS_FILE, GraphDataset
from flipproof.datasets.kinds.image_dataset import IMAGES_FILE, ImageDataset
from flipproof.datasets.kinds.node_dataset import NODES_FILE, NodeDataset
from flipproof.datasets.kinds.table_dataset import TableDataset
from flipproof.datasets.kinds.text_dataset import TextDataset
from flipproof.datasets.readers.tables import read_csv_table, read_parquet_table
from flipproof.datasets.readers.text_files import check_file, read_messages
from flipproof.errors import FileFormatError
from flipproof.files.archive import reading_archive
from flipproof.files.strict_json import FileKind
from flipproof.files.whole import opened
from flipproof.run_folder.reading import Reading

Dataset = NodeDataset | GraphDataset | ImageDataset | TextDataset | TableDataset | FrameDataset


def load(name_or_path: str | os.PathLike[str], download: bool = True, reading: Reading | None = None) -> Dataset:
    """Loads a dataset by name, or your own from a file: a table, messages, or a file that a dataset's `save` wrote.

    For a named dataset, `load` searches the folder named by FLIPPROOF_DATA, then the user's cache. It checks every file
    against its checksum before using it.

    Args:
        name_or_path: a name that `names()` lists, or a path. A `.csv` or `.parquet` file is a table with labels in one
            column. A `.tsv` file has lines with a label, a tab and a message. An `.npz` file was written by `save` of
            nodes, graphs or images.
        download: whether missing files may be downloaded from their public home.
        reading: how a table is read, if its labels are not in a column called label or columns need a word.

    Example:
        >>> load("digits-graph").nodes
        1797
    """
    if is_user_file(name_or_path):
        return load_user_file(name_or_path, reading)
    return load_card(card_of(name_or_path), download)


def kind_of_data(name_or_path: str | os.PathLike[str]) -> str:
    """The kind of a dataset's inputs, such as "nodes", "images" or "text". Reads only a little of a file.

    Example:
        >>> kind_of_data("mnist")
        'images'
    """
    return kind_of_file(name_or_path) if is_user_file(name_or_path) else card_of(name_or_path).kind


def load_card(card: Card, download: bool = True) -> Dataset:
    """Loads the dataset that a card describes."""
    form = found_form(card) or _fetched(card, download)
    return cast(Dataset, form.dataset({file.name: _content(file) for file in form.files}))


def found_form(card: Card) -> StoredForm | None:
    """The first form of a dataset whose files are all in the folders, or None."""
    return next((form for form in card.forms if all(find(file.name) for file in form.files)), None)


def _fetched(card: Card, download: bool) -> StoredForm:
    if not download:
        raise _missing(card)
    folder = folder_to_write()
    for file in card.home.files:
        if find(file.name) is None:
            download_file(file, folder)
    return card.home


def _content(file: DataFile) -> bytes:
    path = find(file.name)
    if path is None:
        raise FileFormatError(f"expected {file.name} to stay where it was, got it removed")
    try:
        return file.read(path)
    except FileFormatError as error:
        raise FileFormatError(f"{error} in {path}; delete it, to have it fetched or replaced") from error


def _missing(card: Card) -> MissingDataError:
    """The one-line error that says which file to put where."""
    wanted = next(file for file in card.home.files if find(file.name) is None)
    looked = " or ".join(str(folder) for folder in folders()) or f"{Path('.')}"
    return MissingDataError(
        f"expected {wanted.name} for the dataset {card.name}, got no copy in {looked}; "
        f"put one ({wanted.pin}) there, or allow the download"
    )


_ARCHIVES: dict[str, tuple[FileKind, Callable[[Any], Any]]] = {
    "images": (IMAGES_FILE, ImageDataset.load),
    "graphs": (GRAPHS_FILE, GraphDataset.load),
    "nodes": (NODES_FILE, NodeDataset.load),
}
"""The formats and readers of the datasets that flipproof saves, by kind: these files share one suffix."""
_MARKS = {"train_images.npy": "images", "node_starts.npy": "graphs"}
_READERS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    ".tsv": ("text", read_messages),
}
"""The kind of data in a file and the function that reads it, by suffix."""
_TABLES: dict[str, Callable[[Any, Reading], FrameDataset]] = {".csv": read_csv_table, ".parquet": read_parquet_table}
"""The functions that read tables, by suffix."""


def register_reader(suffix: str, kind: str, read: Callable[[Any], Any]) -> None:
    """Registers a suffix for files of a kind of data; `read` makes a dataset from the path of a file."""
    _READERS[suffix] = (kind, read)


def is_user_file(name_or_path: str | os.PathLike[str]) -> bool:
    """Whether this is the path of a file, not the name of a dataset.

    Example:
        >>> is_user_file("mine.csv"), is_user_file("mnist")
        (True, False)
    """
    return isinstance(name_or_path, os.PathLike) or _suffix(name_or_path) in (*_READERS, *_TABLES, ".npz")


def load_user_file(path: str | os.PathLike[str], reading: Reading | None = None) -> Dataset:
    """Loads the dataset in a file."""
    check_file(Path(path), "dataset")
    if (table := _TABLES.get(_suffix(path))) is not None:
        return table(path, reading or Reading())
    _, read = _READERS.get(_suffix(path)) or _ARCHIVES[_likely_kind(path)]
    return cast(Dataset, read(path))


def kind_of_file(path: str | os.PathLike[str]) -> str:
    """The kind of inputs in a file, such as "nodes", "images" or "text". Reads only a little of the file."""
    check_file(Path(path), "dataset")
    kind = _likely_kind(path)
    if _suffix(path) not in (*_READERS, *_TABLES):
        with reading_archive(path, _ARCHIVES[kind][0], whole=False):
            pass
    return kind


def _suffix(path: str | os.PathLike[str]) -> str:
    return os.path.splitext(str(path))[1].lower()


def _likely_kind(path: str | os.PathLike[str]) -> str:
    """The kind suggested by the suffix or by the names of the arrays in the file; the reader checks the contents."""
    if _suffix(path) in _TABLES:
        return "tables"
    if _suffix(path) in _READERS:
        return _READERS[_suffix(path)][0]
    try:
        with opened(path) as stream, zipfile.ZipFile(stream) as archive:
            names = archive.namelist()
    except Exception:  # a damaged file can make zipfile raise anything; the reader will report it
        names = []
    return next((kind for mark, kind in _MARKS.items() if mark in names), "nodes")
