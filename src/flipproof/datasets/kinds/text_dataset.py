"""Short texts with labels, as they were written."""

from __future__ import annotations

from dataclasses import dataclass, field

from flipproof.base.values import IntArray
from flipproof.datasets.kinds.labels import checked_labels, checked_names
from flipproof.datasets.kinds.vocabulary import checked_messages, words_of
from flipproof.errors import InvalidInputError


@dataclass(frozen=True, slots=True, eq=False)
class TextDataset:
    """Messages and their labels.

    Example:
        >>> data = TextDataset("two", ("See you at six.", "You won!"), [0, 1], ("ham", "spam"))
        >>> len(data), data.class_names[data.labels[1]]
        (2, 'spam')
    """

    name: str
    messages: tuple[str, ...] = field(repr=False)
    labels: IntArray
    class_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        messages = checked_messages(self.messages)
        labels = checked_labels(self.labels, len(messages), "message")
        object.__setattr__(self, "messages", messages)
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "class_names", checked_names(self.class_names, labels))

    def __len__(self) -> int:
        return len(self.messages)

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.class_names)

    def distinct(self) -> TextDataset:
        """Every text once, with the label of its first occurrence.

        Otherwise a message that appears twice could be both learned from and certified.

        Example:
            >>> TextDataset("three", ("Ok.", "You won!", "Ok."), [0, 1, 0]).distinct().messages
            ('Ok.', 'You won!')
        """
        first = dict(zip(reversed(self.messages), range(len(self) - 1, -1, -1), strict=True))
        return self._some(sorted(first.values()))

    def with_words(self) -> TextDataset:
        """The messages that have at least one word; messages without words cannot be read as sequences.

        Example:
            >>> TextDataset("two", (":-)", "You won!"), [0, 1]).with_words().messages
            ('You won!',)
        """
        return self._some([number for number, message in enumerate(self.messages) if words_of(message)])

    def _some(self, numbers: list[int]) -> TextDataset:
        if not numbers:
            raise InvalidInputError("expected messages with words, got none with any")
        messages = tuple(self.messages[number] for number in numbers)
        return TextDataset(self.name, messages, self.labels[numbers], self.class_names)
