"""What a card says of a dataset before it is loaded (sizes, licence, origin, files), and all cards by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flipproof.base.short_repr import amount, short_repr
from flipproof.datasets.fetching.data_file import DataFile
from flipproof.errors import FileFormatError, FlipproofError, not_among, reason_of


@dataclass(frozen=True, slots=True)
class StoredForm:
    """One way to store a dataset in a folder: its files, and how their contents become arrays."""

    files: tuple[DataFile, ...]
    read: Callable[[Mapping[str, bytes]], Any]

    def dataset(self, contents: Mapping[str, bytes]) -> Any:
        """The dataset in the contents of the files; any problem with them becomes a one-line error."""
        try:
            return self.read(contents)
        except FlipproofError:
            raise
        except Exception as error:  # damaged contents can make a reader raise anything
            raise FileFormatError(
                f"expected {', '.join(contents)} as published, got something else ({reason_of(error)})"
            ) from error

    @property
    def downloadable(self) -> bool:
        """Whether all files of this form can be downloaded from a public home."""
        return all(file.urls for file in self.files)

    @property
    def size(self) -> int:
        """The largest number of bytes that the files take."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True)
class Card:
    """The card of a dataset. Its numbers describe what `load` returns.

    Attributes:
        name: the name that `load` takes.
        kind: "nodes", "graphs", "images", "text", "tables", or a registered kind.
        what: one sentence about the dataset.
        inputs: the number of nodes, graphs, images, messages or rows.
        classes: the number of labels.
        nodes: the number of nodes of all graphs together, if the dataset has graphs.
        edges: the number of undirected edges without self-loops.
        features: the number of binary attributes per node, numbers per image, or columns of a table.
        ones: the number of ones among the attributes of all nodes, or the pixels of all images.
        binary: what makes an attribute or a pixel a one.
        licence: the licence stated by the dataset's home.
        origin: where the dataset comes from.
        citation: the work to cite.
        forms: ways to store the dataset in a folder; the first one found is used. At least one can be downloaded.
    """

    name: str
    kind: str
    what: str
    inputs: int
    classes: int
    nodes: int | None
    edges: int | None
    features: int | None
    ones: int | None
    binary: str | None
    licence: str
    origin: str
    citation: str
    forms: tuple[StoredForm, ...]

    def __repr__(self) -> str:
        return short_repr(self, repr(self.name), self.kind, amount(self.inputs, "input"), amount(self.classes, "class"))

    @property
    def density(self) -> float | None:
        """The share of ones among all attributes or pixels."""
        if self.ones is None or self.features is None:
            return None
        return self.ones / (self.features * (self.inputs if self.nodes is None else self.nodes))

    @property
    def home(self) -> StoredForm:
        """The form that is downloaded."""
        return next(form for form in self.forms if form.downloadable)

    @property
    def built_in(self) -> bool:
        """Whether the dataset needs no files."""
        return any(not form.files for form in self.forms)


_CARDS: dict[str, Card] = {}


def register_card(card: Card) -> None:
    """Registers a dataset under the name on its card."""
    _CARDS[card.name] = card


def names() -> tuple[str, ...]:
    """The names that `load` knows.

    Example:
        >>> names()[:3]
        ('cora_ml', 'citeseer', 'pubmed')
    """
    return tuple(_CARDS)


def cards() -> tuple[Card, ...]:
    """The cards of all datasets."""
    return tuple(_CARDS.values())


def card(name: Any) -> Card:
    """The card of a dataset.

    Example:
        >>> card("cora_ml").edges
        7981
    """
    if isinstance(name, str) and name in _CARDS:
        return _CARDS[name]
    raise not_among("", _CARDS, name)
