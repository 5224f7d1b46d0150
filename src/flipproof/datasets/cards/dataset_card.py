"""What is known about a dataset before it is loaded: its numbers, its licence, where it comes from, its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flipproof.datasets.fetching.data_file import DataFile
from flipproof.errors import FileFormatError, FlipproofError, reason_of


@dataclass(frozen=True, slots=True)
class Form:
    """One way in which a dataset may lie in a folder: its files, and how their contents become arrays."""

    files: tuple[DataFile, ...]
    read: Callable[[Mapping[str, bytes]], Any]

    def dataset(self, contents: Mapping[str, bytes]) -> Any:
        """The dataset in the contents of the files; whatever is wrong with them is one line."""
        try:
            return self.read(contents)
        except FlipproofError:
            raise
        except Exception as error:  # whatever damaged contents make a reader raise
            raise FileFormatError(
                f"expected {', '.join(contents)} as published, got something else ({reason_of(error)})"
            ) from error

    @property
    def downloadable(self) -> bool:
        """Whether all of its files have a public home."""
        return all(file.urls for file in self.files)

    @property
    def size(self) -> int:
        """How many bytes it takes, at most."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True)
class Card:
    """The card of a dataset. Its numbers are those of what `load` gives.

    Attributes:
        name: what `load` takes.
        kind: "nodes", "graphs", "images", "text", "tables", or one that was registered.
        what: one sentence about it.
        inputs: nodes, graphs, images, messages or rows.
        classes: how many labels there are.
        nodes: nodes of all graphs together, if it has any.
        edges: undirected edges without self-loops.
        features: binary attributes per node, numbers per image, columns of a table.
        ones: how many attributes of all nodes, or pixels of all images, are one.
        binary: what makes an attribute or a pixel a one.
        licence: as stated by its home.
        origin: where it comes from.
        citation: whom to thank.
        forms: how it may lie in a folder; the first one that does is taken. At least one can be downloaded.
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
    forms: tuple[Form, ...]

    @property
    def density(self) -> float | None:
        """The share of ones among all attributes or pixels."""
        if self.ones is None or self.features is None:
            return None
        return self.ones / (self.features * (self.inputs if self.nodes is None else self.nodes))

    @property
    def home(self) -> Form:
        """The form that is fetched."""
        return next(form for form in self.forms if form.downloadable)

    @property
    def built_in(self) -> bool:
        """Whether it needs no files."""
        return any(not form.files for form in self.forms)
