"""What is known about the inputs of a report apart from their certificates. All of it is optional."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import singledispatch

from flipproof.base.values import IntArray
from flipproof.errors import InvalidInputError
from flipproof.noise.spaces.graph import Graph
from flipproof.noise.spaces.rows import SparseRows
from flipproof.noise.spaces.space import Space, noise_of_parts
from flipproof.noise.spaces.table import Table
from flipproof.noise.spaces.tokens import Tokens
from flipproof.noise.spaces.words import ChangeWords
from flipproof.run_folder.split import Split
from flipproof.theory.law import Noise
from flipproof.theory.radii import Axis


@dataclass(frozen=True, slots=True, eq=False)
class DescribedInputs:
    """How a report names, judges and draws the inputs.

    Attributes:
        unit: what one input is: "node", "image", "message".
        entries: what one entry of a part is, in the plural; the part of a noise without parts is "".
        changes: by axis, what an attacker does, where entries are not just added, deleted or changed.
        where: what an attacker changes: "the observed graph".
        within: how its changes are limited, as a clause: ", each to a value that occurs in the column,".
        caution: a sentence with what else a reader must know about the covered changes.
        class_names: one per class; by default their numbers.
        labels: true labels.
        split: which inputs were for training, validation and testing.
        labels_compared: False if labels and split come from a file that was never compared with the data.
        names: one per input.
        texts: the messages, if inputs are messages.
        space: the observed data, to be drawn.
        image_shape: (height, width) or (height, width, channels), if entries are pixels.
        vocabulary: names of the numbers of tokens, or of the columns of bags of words.
        column_names: names of the columns of a table.
        value_names: names of the categories of every column.
        node_names: names of the kinds of nodes of small graphs.
    """

    unit: str = "input"
    entries: Mapping[str, str] = field(default_factory=dict)
    changes: Mapping[str, ChangeWords] = field(default_factory=dict)
    where: str = "the observed input"
    within: str = ""
    caution: str = ""
    class_names: tuple[str, ...] = ()
    labels: IntArray | None = None
    split: Split | None = None
    labels_compared: bool = True
    names: tuple[str, ...] | None = None
    texts: tuple[str, ...] | None = None
    space: Space | None = None
    image_shape: tuple[int, ...] | None = None
    vocabulary: tuple[str, ...] | None = None
    column_names: tuple[str, ...] | None = None
    value_names: tuple[tuple[str, ...], ...] | None = None
    node_names: tuple[str, ...] | None = None

    @property
    def units(self) -> str:
        """The unit in the plural."""
        return f"{self.unit}s"

    @property
    def one(self) -> str:
        """The unit with its article: "an input"."""
        return f"{'an' if self.unit[0] in 'aeiou' else 'a'} {self.unit}"

    def count(self, number: int) -> str:
        """A number of inputs in words: "1,797 nodes"."""
        return f"{number:,} {self.unit if number == 1 else self.units}"

    @property
    def judged(self) -> IntArray | None:
        """The inputs that accuracies are computed on: those for testing; None: all."""
        return None if self.split is None else self.split.test

    def entries_of(self, part: str | None) -> str:
        """What the entries of a part are called, in the plural."""
        return self.entries.get(part or "", "entries" if part is None else f"entries of part {part}")

    def change_along(self, axis: Axis) -> ChangeWords | None:
        """The words for a kind of change; None if "added", "deleted" or "changed" is enough."""
        part, kind = axis
        return self.changes.get(kind if part is None else f"{part}.{kind}")

    def class_name(self, label: int) -> str:
        """The name of a class, or its number."""
        return self.class_names[label] if label < len(self.class_names) else str(label)

    def check(self, inputs: int, classes: int) -> None:
        """Raises if anything does not fit these numbers of inputs and classes."""
        if self.labels is not None:
            if self.labels.shape != (inputs,):
                raise InvalidInputError(f"expected {inputs} true labels, got shape {self.labels.shape}")
            if inputs and self.labels.max() >= classes:
                raise InvalidInputError(f"expected true labels below {classes}, got {self.labels.max()}")
        if not isinstance(self.unit, str) or not self.unit:
            raise InvalidInputError(f"expected unit to be a word, got {self.unit!r}")
        wrong = next((word for word in self.entries.values() if not isinstance(word, str) or not word), None)
        if wrong is not None:
            raise InvalidInputError(f"expected entries to be a word, got {wrong!r}")
        if self.image_shape is not None and self.space is None:
            raise InvalidInputError("expected the images themselves beside image_shape, got none; give inputs=")
        for name, texts in (("names", self.names), ("texts", self.texts)):
            if texts is not None and len(texts) != inputs:
                raise InvalidInputError(f"expected {inputs} {name}, one per {self.unit}, got {len(texts)}")
        if self.class_names and len(self.class_names) < classes:
            raise InvalidInputError(f"expected {classes} class names, got {len(self.class_names)}")
        _check_split(self.split, inputs)
        _check_shape(self.image_shape)
        for name in ("vocabulary", "column_names", "node_names"):
            _check_texts(getattr(self, name), name)
        for texts in self.value_names or ():
            _check_texts(texts, "value_names")


def singular(entries: str) -> str:
    """The singular of a phrase. Its noun is the last word, or the one before "of" or "with".

    Example:
        >>> singular("colour values"), singular("kinds of nodes"), singular("entries"), singular("edges or attributes")
        ('colour value', 'kind of nodes', 'entry', 'edge or attribute')
    """
    if " or " in entries:
        return " or ".join(map(singular, entries.split(" or ")))
    noun, rest = entries, ""
    for link in (" of ", " with "):
        head, separator, tail = noun.partition(link)
        noun, rest = head, f"{separator}{tail}{rest}"
    if noun.endswith("ies"):
        return f"{noun[:-3]}y{rest}"
    return f"{noun[:-1] if noun.endswith('s') else noun}{rest}"


def joined(words: Sequence[str]) -> str:
    """Items as one phrase.

    Example:
        >>> joined(["edges"]), joined(["edges", "nodes", "words"])
        ('edges', 'edges, nodes and words')
    """
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def _check_texts(texts: object, name: str) -> None:
    if texts is not None and not (isinstance(texts, tuple) and all(isinstance(text, str) for text in texts)):
        raise InvalidInputError(f"expected {name} to be a tuple of texts, got {str(texts)[:60]!r}")


@singledispatch
def inputs_of(space: Space, rows: int) -> int:
    """The number of inputs in data: the rows of their sampler, or the nodes of one graph."""
    return rows


@inputs_of.register
def _(space: Graph, rows: int) -> int:
    return space.nodes


@singledispatch
def check_names(space: Space, described: DescribedInputs, noise: Noise | None) -> None:
    """Raises if names do not fit the data: a word with the name of another would mislead.

    The noise is None if the certificates did not come from `certify`. Other spaces may register a check of their own
    (`check_names.register`); without one, all names pass.
    """


@check_names.register
def _(space: SparseRows, described: DescribedInputs, noise: Noise | None) -> None:
    words = described.vocabulary
    if words is not None and len(words) != space.columns:
        raise InvalidInputError(f"expected vocabulary to name {space.columns} columns, got {len(words)} words")


@check_names.register
def _(space: Tokens, described: DescribedInputs, noise: Noise | None) -> None:
    words = described.vocabulary
    if words is None or noise is None:
        return
    (flips,) = noise_of_parts(noise, space.parts).values()
    known = int(space.values[~space.is_padding].max(initial=-1)) + 1
    tokens = known if space.mask is not None else flips.categories
    if len(words) < tokens:
        raise InvalidInputError(f"expected vocabulary to name {tokens} tokens, got {len(words)} words")


@check_names.register
def _(space: Table, described: DescribedInputs, noise: Noise | None) -> None:
    columns, names = space.values.shape[1], described.column_names
    if names is not None and len(names) != columns:
        raise InvalidInputError(f"expected {columns} column names, got {len(names)}")
    values = described.value_names
    if values is not None and not space.are_names(values):
        raise InvalidInputError("expected a name for every category of every column, got others")


def _check_split(split: Split | None, inputs: int) -> None:
    if split is None:
        return
    highest = max(part.max(initial=-1) for part in (split.train, split.validation, split.test))
    if highest >= inputs:
        raise InvalidInputError(f"expected a split of {inputs} inputs, got input {highest}")


def _check_shape(shape: object) -> None:
    if shape is None:
        return
    if not isinstance(shape, tuple) or len(shape) not in (2, 3) or not all(type(n) is int and n > 0 for n in shape):
        raise InvalidInputError(f"expected image_shape as (height, width) or (height, width, channels), got {shape!r}")
