"""From a name to arrays: find the files or fetch them, check them, read them."""

from __future__ import annotations

import os
from pathlib import Path

from flipproof.datasets.cards.catalogue import card as card_of
from flipproof.datasets.cards.dataset_card import Card, Form
from flipproof.datasets.fetching.data_file import DataFile, MissingDataError
from flipproof.datasets.fetching.download import download as download_file
from flipproof.datasets.fetching.folders import find, folder_to_write, folders
from flipproof.datasets.kinds.graph_dataset import GraphDataset
from flipproof.datasets.kinds.image_dataset import ImageDataset
from flipproof.datasets.kinds.node_dataset import NodeDataset
from flipproof.datasets.kinds.table_dataset import TableDataset
from flipproof.datasets.kinds.text_dataset import TextDataset
from flipproof.datasets.readers.user_files import is_user_file, kind_of_file, load_user_file
from flipproof.errors import FileFormatError

Dataset = NodeDataset | GraphDataset | ImageDataset | TextDataset | TableDataset


def load(name_or_path: str | os.PathLike[str], download: bool = True) -> Dataset:
    """Loads a dataset by name, or your own from a file: a table, messages, or a file that a dataset's `save` wrote.

    For a named dataset, `load` searches the folder named by FLIPPROOF_DATA, then the user's cache. It checks every file
    against its checksum before using it.

    Args:
        name_or_path: a name that `names()` lists, or a path. A `.csv` file is a table with a header line and the labels
            in the column called label, or else in the last column. A `.tsv` file has lines with a label, a tab and a
            message. An `.npz` file was written by `save` of nodes, graphs or images.
        download: whether missing files may be downloaded from their public home.

    Example:
        >>> load("digits-graph").nodes
        1797
    """
    if is_user_file(name_or_path):
        data: Dataset = load_user_file(name_or_path)
        return data
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
    contents = {file.name: _content(file) for file in form.files}
    data: Dataset = form.dataset(contents)
    return data


def found_form(card: Card) -> Form | None:
    """The first form of a dataset whose files are all in the folders, or None."""
    return next((form for form in card.forms if all(find(file.name) for file in form.files)), None)


def _fetched(card: Card, download: bool) -> Form:
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
